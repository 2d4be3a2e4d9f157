"""Single-source shortest paths: Bellman-Ford with a sparsified active set."""

from __future__ import annotations

from typing import Any

from semira import Matrix, Vector, binary, repeat, semiring
from semira.algorithms.checks import check_square, check_vertex, check_weights, distance_dtype
from semira.algorithms.delta_stepping import delta_stepping
from semira.algorithms.results import SSSPResult, finished
from semira.exceptions import InvalidValue, NegativeCycle


def sssp(
    A: Matrix,
    source: int,
    *,
    method: str = "bellman_ford",
    delta: float | None = None,
    dtype: Any = None,
    **opts: Any,
) -> SSSPResult:
    """Return the length of a shortest path from `source` to every vertex.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Entry (i, j) is the length of the edge from i to j; zero is a length, and a pattern has
        the lengths it stores. Not modified.
    source : int, 0 <= source < n
    method : {"bellman_ford", "delta_stepping"}
        ``bellman_ford`` takes negative weights; ``delta_stepping`` does not, and saves work
        where weights or degrees vary widely and paths are long.
    delta : float, optional
        Width of a bucket of delta-stepping, > 0; None derives one from means over the graph.
    dtype : {"FP32", "FP64"}, optional
        Of the distances. None: FP32 for FP32 weights, else FP64, in which distances over
        integers are exact below 2**53 and cannot overflow.
    **opts
        Options of the product (``direction="push"``, ...).

    Returns
    -------
    SSSPResult
        ``distance``: no entry where unreachable; ``reached``, ``iterations``, ``trace``.

    Raises
    ------
    DimensionMismatch
        `A` is not square.
    IndexOutOfBound
        `source` is not a vertex.
    NegativeWeight
        A weight is NaN or minus infinity; with delta-stepping, also if it is negative.
    NegativeCycle
        Bellman-Ford still improved distances after n iterations.
    DomainMismatch
        `dtype` is no floating-point dtype.
    InvalidValue
        Unknown `method`, or `delta` is not positive.

    Notes
    -----
    Bellman-Ford: at most n iterations of O(active vertices + their edges), O(n nvals) in all;
    only vertices whose distance improved stay active. The first call on a matrix checks its
    weights: one or two synchronisations before the loop; none inside.

    References
    ----------
    C. Yang, *High-performance linear algebra-based graph framework on the GPU*, 2019, section
    7.5.2 (its second optimisation), Figure 7.6.

    Examples
    --------
    >>> A = Matrix.from_coo([0, 0, 2], [1, 2, 1], [7, 2, 3], nrows=4, ncols=4)
    >>> sssp(A, 0).distance.to_dict()
    {0: 0.0, 1: 5.0, 2: 2.0}
    """
    n = check_square(A, "sssp")
    source = check_vertex(source, n)
    number = distance_dtype(A, dtype, "sssp")
    if method == "delta_stepping":
        return delta_stepping(A, source, delta, number, **opts)
    if method != "bellman_ford" or delta is not None:
        raise InvalidValue(
            f"method={method!r} with delta={delta}; choose 'bellman_ford' (which has no delta) "
            "or 'delta_stepping'"
        )
    check_weights(A, "sssp", allow_negative=True)
    active = Vector.from_coo([source], 0, number, size=n)
    distance = active.dup()

    def step() -> Any:
        # t = active min.+ A
        reached = active.vxm(A, semiring.min_plus[number]).new(**opts)
        # Keep of t what is new or shorter: active<not (t >= distance), replace> = t
        worse = reached.ewise_mult(distance, binary.ge).new()
        active(~worse.V, replace=True) << reached
        # distance<active> = active
        distance(active.S) << active
        return active.nvals > 0

    loop = finished(repeat(step, max_iterations=n))
    if loop.stopped_by == "limit":
        raise NegativeCycle(
            f"a cycle of negative length is reachable from vertex {source}: distances still fell "
            f"in iteration {n}, the number of vertices. Shortest paths do not exist"
        )
    return SSSPResult(loop.iterations, loop.trace, distance, method)
