"""GraphSAGE: embeddings of vertices from sampled neighbourhoods of two hops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from semira import Matrix
from semira.apps.named import takes_graph
from semira.apps.sage.problem import Aggregator, network_of, samples_of
from semira.apps.sage.result import SageResult
from semira.apps.sage.solve import embed
from semira.apps.sampling.problem import check_int, keys_of, matrix_of
from semira.apps.sampling.solve import source_of
from semira.kernels import array_module

__all__ = ["SageResult", "memory", "sage_embedding"]


def memory(
    A: Matrix,
    feature_columns: int = 64,
    dims: int = 128,
    *,
    children: int = 10,
    leaves: int | None = None,
    batch: int = 65536,
    half: bool = False,
) -> int:
    """Return the bytes that embeddings take beside the matrix, features and products included.

    `half`: features are of float16.

    Examples
    --------
    >>> import semira as gb
    >>> memory(gb.Matrix(int, 1000, 1000), batch=100)
    3116000
    """
    n, size = A.nrows, min(batch, A.nrows)
    deep = children if leaves is None else leaves
    features = (2 if half else 4) * feature_columns
    row = features + 4 * dims * (4 if 4 * dims < features else 3)
    each = children * (feature_columns + dims + 1 + deep) + 10 * dims
    return n * row + 4 * size * each


@takes_graph()
def sage_embedding(
    A: Matrix,
    /,
    features: Any = None,
    *,
    Wf1: Any = None,
    Wa1: Any = None,
    Wf2: Any = None,
    Wa2: Any = None,
    feature_columns: int = 64,
    dims: int = 128,
    children: int = 10,
    leaves: int | None = None,
    batch: int = 65536,
    aggregator: Aggregator = "mean",
    weighted: bool = False,
    samples: tuple[Any, Any] | None = None,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> SageResult:
    """Return an embedding of each vertex, from a sample of its neighbours and of theirs.

    For each vertex s, `children` neighbours c are drawn with replacement, and for each of them
    `leaves` of its neighbours (a vertex without neighbours draws itself)::

        h_c = l2norm(relu([X_c Wf1, aggregate(X_leaf) Wa1]))
        h_s = l2norm(relu([X_s Wf1, aggregate(X_c) Wa1]))
        z_s = l2norm(relu([h_s Wf2, aggregate(h_c) Wa2]))

    Parameters
    ----------
    A : Matrix or Graph, shape (n, n), any dtype
        Entry (i, j): j is a neighbour of i. Not modified.
    features : array of float, shape (n, F), optional
        Kept as float32, or as float16 if they are: half the memory, sums in float32. None: random
        numbers from 0 to 1.
    Wf1, Wa1 : arrays, shape (F, d), optional
    Wf2, Wa2 : arrays, shape (h, d), optional
        h is the number of columns of `Wf1` and `Wa1` together. None: random (Glorot).
    feature_columns : int >= 1
        F, if `features` is None.
    dims : int >= 1
        Columns of each weight that is None.
    children, leaves : int >= 1
        Neighbours drawn; `leaves` is `children` if None.
    batch : int >= 1
        Vertices at once. It changes time and memory, not the samples.
    aggregator : {"mean", "max", "sum"} or callable
        A function makes (b, columns) of an array (b, k, d) of the device.
    weighted : bool
        Draw neighbours by the values of the entries.
    samples : (array, shape (n, C); array, shape (n, C, L)), optional
        Children and leaves, in place of drawn ones.
    seed : int >= 0
        Of samples and of random features and weights. The same samples on every device.
    progress : callable of (done, total), optional
        Called after each batch.

    Returns
    -------
    SageResult
        ``kept`` on the device, shape (n, columns of `Wf2` and `Wa2`), float32; rows have length 1,
        or are 0 where all of it was cut off. ``embedding`` on the host.

    Raises
    ------
    InvalidValue
        Numbers are not finite, a parameter is out of range, `A` is not square, or a function
        returns another shape.
    DimensionMismatch
        Shapes of features, weights or samples do not fit.
    NegativeWeight, InvalidWeight
        A weight of an entry is negative, or no finite number.
    OutOfMemory
        A batch, or the result, does not fit.

    Notes
    -----
    X Wf1 is computed once for all vertices where there is room. A mean of products is the product
    of the mean, so rows of X or of X Wa1 are gathered, whichever are shorter: n (1 + children)
    leaves of them. Products are NumPy's or cuBLAS', in float32. If the result has no room on the
    GPU, batches go to the host.

    References
    ----------
    W. Hamilton, R. Ying, J. Leskovec, *Inductive representation learning on large graphs*, NeurIPS
    2017, algorithm 2 with K = 2; J. Johnson et al., *HIVE Year 1 report*, GraphSAGE.

    Examples
    --------
    >>> import numpy as np
    >>> import semira as gb
    >>> A = gb.Matrix.from_coo([0, 1, 1, 2], [1, 0, 2, 1])
    >>> found = gb.apps.sage_embedding(A, np.eye(3), dims=4, children=2)
    >>> found.embedding.shape, found.facts()["zero_rows"]
    ((3, 8), 0)
    """
    A = matrix_of(A, "sage_embedding")
    wide = check_int(children, "children", 1)
    deep = wide if leaves is None else check_int(leaves, "leaves", 1)
    size = check_int(batch, "batch", 1)
    keys = keys_of(seed, 2)
    weights = {"Wf1": Wf1, "Wa1": Wa1, "Wf2": Wf2, "Wa2": Wa2}
    n = A.nrows
    with array_module(A.device) as xp:
        given = (n, features, weights, feature_columns, dims, aggregator, seed, xp)
        network = network_of(*given)
        lists = samples_of(samples, n, xp)
        if lists is not None:
            wide, deep = lists[1].shape[1:]
        source = source_of(A, xp, weighted=weighted)
        size = min(size, max(1, n))
        kept = embed(network, source, lists, wide, deep, size, keys, xp, progress)
    return SageResult(kept, A.device, -(-n // size))
