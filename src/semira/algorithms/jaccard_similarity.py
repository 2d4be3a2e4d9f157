"""Jaccard similarity of the neighbourhoods of pairs of vertices."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np

from semira import Matrix, ProductOptions, Vector, binary, device, dtypes, fused, semiring
from semira.algorithms.checks import check_square, check_vertices
from semira.algorithms.naming import Vertex, pairs_of, takes_graph
from semira.algorithms.results import finished
from semira.algorithms.run import Layout, Run
from semira.algorithms.sequential import runs_loops
from semira.algorithms.triangle_kernels import overlaps
from semira.exceptions import DimensionMismatch, InvalidValue


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class JaccardResult(Run):
    """Result of `jaccard_similarity`.

    Attributes
    ----------
    similarity : Matrix, shape (n, n), FP64
        An entry for each pair asked for.
    """

    layout = Layout("similarity")

    similarity: Matrix


@takes_graph(pairs=pairs_of)
def jaccard_similarity(
    A: Matrix,
    /,
    pairs: Matrix | Iterable[tuple[Vertex, Vertex]] | None = None,
    **opts: Unpack[ProductOptions],
) -> JaccardResult:
    """Return how alike the neighbourhoods of two vertices are, for given or all adjacent pairs.

    ``J_ij = |N_i and N_j| / |N_i or N_j|``, where N_i are the columns with an entry in row i: of
    a directed graph the heads of the edges that leave i. Two empty neighbourhoods have the
    similarity 0.

    Parameters
    ----------
    A : Matrix or Graph, shape (n, n), any dtype
        Entry (i, j), whatever its value, is the edge from i to j; with an entry (i, i) vertex i
        is a neighbour of its own. Not modified.
    pairs : Matrix of shape (n, n), iterable of pairs of vertices, or None
        The entries of the matrix, whatever their values, or these pairs, of names in a
        Graph with labels; a pair named twice is
        one entry. None: the entries of `A`.
    **opts
        Options of the product (``method="dot"``, ...).

    Returns
    -------
    JaccardResult
        ``similarity``: numbers from 0 to 1 at exactly those pairs; ``trace``.

    Raises
    ------
    DimensionMismatch
        `A` is not square, or `pairs` is a matrix of another shape.
    InvalidIndex, IndexOutOfBound
        A pair names what is no vertex.
    InvalidValue
        `pairs` holds something that is no pair.

    Notes
    -----
    ``C<P> = A plus.pair A'`` counts common neighbours and ``S<P> = d any.plus d'`` adds up the
    degrees, so that the union has S - C. Work: the sum over pairs of both degrees. The body is
    recorded; a device that runs loops by itself lets the host start its pieces, because it writes
    matrices. Where hosts compile loops, and without options, no product runs: the neighbours of a
    vertex are marked, and looked for among those of the others of its pairs.

    References
    ----------
    P. Jaccard, *The distribution of the flora in the alpine zone*, New Phytologist 11, 1912;
    D. Liben-Nowell, J. Kleinberg, *The link-prediction problem for social networks*, J. American
    Society for Information Science and Technology 58, 2007, section 3.

    Examples
    --------
    >>> A = Matrix.from_coo([0, 0, 1, 1, 2, 2, 2, 3], [1, 2, 0, 2, 0, 1, 3, 2], nrows=4, ncols=4)
    >>> jaccard_similarity(A, [(0, 1), (0, 3)]).similarity.to_dicts()
    {0: {1: 0.3333333333333333, 3: 0.5}}
    """
    n = check_square(A, "jaccard_similarity", opts)
    number, plus_pair = dtypes.INT64, semiring.plus_pair["INT64"]
    with device(A.device):
        P = A if pairs is None else _as_matrix(pairs, n)
        if runs_loops(A, opts) and runs_loops(P, opts):
            return JaccardResult(1, (), overlaps(A, P))
        degree, column = Vector(number, n), Matrix(number, n, 1)
        ones, similarity = Vector.from_scalar(True, n), Matrix(dtypes.FP64, n, n)
    # A column of the degrees, zeros included.
    degree << 0
    degree(accum=binary.plus) << A.mxv(ones, plus_pair)
    column[:, 0] << degree

    def step() -> None:
        # C<P> = A plus.pair A'; S<P> = d any.plus d'
        common = A.mxm(A.T, plus_pair).new(mask=P.S, **opts)
        both = column.mxm(column.T, semiring.any_plus[number]).new(mask=P.S)
        # J = C / (S - C), and 0 where nothing is common
        union = both.ewise_mult(common, binary.minus).new()
        similarity(P.S) << 0
        similarity(common.S) << common.ewise_mult(union, binary.truediv)

    loop = finished(fused(step))
    return JaccardResult(1, loop.trace, similarity)


def _as_matrix(pairs: Any, n: int) -> Matrix:
    if isinstance(pairs, Matrix):
        if pairs.shape != (n, n):
            raise DimensionMismatch(
                f"jaccard_similarity: pairs has shape {pairs.shape}, the graph {(n, n)}"
            )
        return pairs
    if not isinstance(pairs, Iterable):
        raise InvalidValue(f"jaccard_similarity: pairs={pairs!r} must be a Matrix or vertex pairs")
    listed = [tuple(pair) if isinstance(pair, Iterable) else (pair,) for pair in pairs]
    for pair in listed:
        if len(pair) != 2:
            raise InvalidValue(f"jaccard_similarity: {pair} is no pair of vertices")
    ends = check_vertices([end for pair in listed for end in pair], n, "a vertex of a pair")
    left, right = np.reshape(ends, (-1, 2)).T
    return Matrix.from_coo(left, right, True, nrows=n, ncols=n, dup_op=binary.any)
