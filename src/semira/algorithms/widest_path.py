"""Widest paths: Bellman-Ford with a sparsified active set over max.min."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Unpack

from semira import Matrix, ProductOptions, Vector, binary, monoid, repeat, semiring
from semira.algorithms.checks import check_no_nan, check_ordered, check_square, check_vertex
from semira.algorithms.results import Run, finished


@dataclass(frozen=True, slots=True, eq=False)
class WidestPathResult(Run):
    """Result of `widest_path`.

    Attributes
    ----------
    width : Vector, shape (n,), dtype of the matrix
        Width of a widest path from the source; no entry where unreachable.
    """

    width: Vector

    @property
    def reached(self) -> int:
        """Number of vertices with a width, the source included. Synchronises."""
        return int(self.width.nvals)


def widest_path(A: Matrix, source: int, **opts: Unpack[ProductOptions]) -> WidestPathResult:
    """Return the width of a widest path from `source` to every vertex.

    A path is as wide as its narrowest edge (bottleneck paths).

    Parameters
    ----------
    A : Matrix, shape (n, n), BOOL, integers or floats
        Entry (i, j) is the width of the edge from i to j; zero and negative numbers are widths
        too. Not modified.
    source : int, 0 <= source < n
        Its own width is the greatest number of the dtype: the path without edges has no bottleneck.
    **opts
        Options of the product (``direction="push"``, ...).

    Returns
    -------
    WidestPathResult
        ``width``: the dtype of `A`, no entry where unreachable; ``reached``, ``iterations``,
        ``trace``. Widths are values of `A`, so they are exact.

    Raises
    ------
    DimensionMismatch
        `A` is not square.
    IndexOutOfBound
        `source` is not a vertex.
    DomainMismatch
        Values of the dtype have no order (complex numbers, records).
    InvalidValue
        A width is NaN.

    Notes
    -----
    At most n iterations of O(active vertices + their edges), O(n nvals) in all; only vertices
    whose path became wider stay active. The first call on a matrix of floats looks for NaN: one
    synchronisation before the loop; none inside.

    References
    ----------
    M. Pollack, *The maximum capacity through a network*, Operations Research 8, 1960; J. Kepner,
    J. Gilbert (eds.), *Graph algorithms in the language of linear algebra*, SIAM 2011, chapter 5
    (paths as products over other semirings).

    Examples
    --------
    >>> A = Matrix.from_coo([0, 0, 2], [1, 2, 1], [2, 7, 3], nrows=4, ncols=4)
    >>> widest_path(A, 0).width.to_dict()
    {0: 9223372036854775807, 1: 3, 2: 7}
    """
    n = check_square(A, "widest_path", opts)
    source = check_vertex(source, n)
    number = check_ordered(A, "widest_path")
    check_no_nan(A, "widest_path")
    active = Vector.from_coo([source], monoid.min[number].identity, number, size=n)
    width = active.dup()

    def step() -> Any:
        # t = active max.min A
        reached = active.vxm(A, semiring.max_min[number]).new(**opts)
        # Keep of t what is new or wider: active<not (t <= width), replace> = t
        narrow = reached.ewise_mult(width, binary.le).new()
        active(~narrow.V, replace=True) << reached
        # width<active> = active
        width(active.S) << active
        return active.nvals > 0

    loop = finished(repeat(step, max_iterations=n))
    return WidestPathResult(loop.iterations, loop.trace, width)
