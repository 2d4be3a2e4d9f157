"""Delta-stepping: shortest paths bucket by bucket, light edges before heavy ones."""

from __future__ import annotations

from typing import Any, Unpack

from semira import Matrix, ProductOptions, Scalar, Vector, binary, monoid, repeat, select, semiring
from semira.algorithms.checks import check_lengths
from semira.algorithms.moving_window import window_width
from semira.algorithms.results import SSSPResult, finished, products_of


def delta_stepping(
    A: Matrix, source: int, delta: float | None, dtype: Any, **opts: Unpack[ProductOptions]
) -> SSSPResult:
    """Return shortest-path lengths from `source`; see `sssp`, which checks the arguments.

    Parameters
    ----------
    A : Matrix, shape (n, n)
        Lengths of edges, none negative.
    source : int
    delta : float or None
        An edge is light up to this length. None: 32 mean weights / mean degree.
    dtype : DataType
        FP32 or FP64.
    **opts
        Options of the products.

    Raises
    ------
    InvalidWeight, NegativeWeight
        A weight is negative or NaN.
    InvalidValue
        `delta` is not positive.

    Notes
    -----
    A bucket holds the open vertices within `delta` of the nearest open one. Light edges are
    relaxed until the bucket rests, heavy ones once: these cannot lead back into it. Each bucket
    settles a vertex, so there are at most n; the inner loop makes no cycle, so it ends as well.
    Work of an iteration is O(vertices and edges it looks at, plus open vertices).

    References
    ----------
    U. Meyer, P. Sanders, *Delta-stepping: a parallelizable shortest path algorithm*, J.
    Algorithms 49, 2003, section 2; A. Davidson, S. Baxter, M. Garland, J. Owens,
    *Work-efficient parallel GPU methods for single-source shortest paths*, IPDPS 2014.

    Examples
    --------
    >>> from semira import dtypes
    >>> A = Matrix.from_coo([0, 0, 2], [1, 2, 1], [7, 2, 3], nrows=4, ncols=4)
    >>> delta_stepping(A, 0, 2.5, dtypes.FP64).distance.to_dict()
    {0: 0.0, 1: 5.0, 2: 2.0}
    """
    check_lengths(A, "delta_stepping", dtype)
    # A number of the dtype of distances: then `end` and requests along heavy edges round alike.
    delta = window_width(A, delta, dtype)
    n, min_plus = A.nrows, semiring.min_plus[dtype]
    light = A.select(select.valuele, delta).new()
    heavy = A.select(select.valuegt, delta).new()
    distance = Vector.from_coo([source], 0, dtype, size=n)
    waiting, bucket, settled = distance.dup(), Vector(dtype, n), Vector(dtype, n)
    end = Scalar(dtype)

    def relax(edges: Matrix, origin: Vector) -> Any:
        # t = origin min.+ edges; of t keep what is new or shorter, here and in `waiting`
        reached = origin.vxm(edges, min_plus).new(**opts)
        worse = reached.ewise_mult(distance, binary.ge).new()
        bucket(~worse.V, replace=True) << reached
        distance(bucket.S) << bucket
        waiting(bucket.S) << bucket

    def relax_light() -> Any:
        settled(bucket.S) << bucket
        relax(light, bucket)
        bucket << bucket.select(select.valuele, end)
        return bucket.nvals > 0

    def empty_bucket() -> Any:
        # The next bucket: open vertices at most `delta` beyond the nearest one.
        end << waiting.reduce(monoid.min) + delta
        bucket << waiting.select(select.valuele, end)
        settled << bucket
        repeat(relax_light, max_iterations=n)
        waiting(~settled.S, replace=True) << waiting
        relax(heavy, settled)
        return waiting.nvals > 0

    loop = finished(repeat(empty_bucket, max_iterations=n))
    # Every relaxation is one product.
    return SSSPResult(products_of(loop.trace), loop.trace, distance, "delta_stepping", float(delta))
