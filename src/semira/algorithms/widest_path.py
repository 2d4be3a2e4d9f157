"""Widest paths: Bellman-Ford with a sparsified active set over max.min."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Unpack

from semira import Matrix, ProductOptions, Vector, binary, monoid, repeat, semiring
from semira.algorithms.checks import check_no_nan, check_ordered, check_square, check_vertex
from semira.algorithms.naming import Vertex, takes_graph, vertex
from semira.algorithms.results import finished
from semira.algorithms.routes import tree_of
from semira.algorithms.run import Layout, Route


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class WidestPathResult(Route):
    """Result of `widest_path`.

    Attributes
    ----------
    width : Vector, shape (n,), dtype of the matrix
        Width of a widest path from the source; no entry where unreachable.
    predecessor : Vector, shape (n,), or None
        The vertex before each one on a widest path (the source: itself). None unless asked for.
    """

    layout = Layout(
        "width",
        ("predecessor",),
        ("predecessor",),
        ("reached",),
        tree=("predecessor", "predecessors"),
    )

    width: Vector
    predecessor: Vector | None = None

    @property
    def reached(self) -> int:
        """Number of vertices with a width, the source included. Synchronises."""
        return int(self.width.nvals)


@takes_graph(source=vertex)
def widest_path(
    A: Matrix, /, source: Vertex, *, predecessors: bool = False, **opts: Unpack[ProductOptions]
) -> WidestPathResult:
    """Return the width of a widest path from `source` to every vertex.

    A path is as wide as its narrowest edge (bottleneck paths).

    Parameters
    ----------
    A : Matrix or Graph, shape (n, n), BOOL, integers or floats
        Entry (i, j) is the width of the edge from i to j; zero and negative numbers are widths
        too. Not modified.
    source : int, 0 <= source < n; a name in a Graph with labels
        Its own width is the greatest number of the dtype: the path without edges has no bottleneck.
    predecessors : bool
        Also return a tree of widest paths; `WidestPathResult.path_to` follows it.
    **opts
        Options of the product (``direction="push"``, ...).

    Returns
    -------
    WidestPathResult
        ``width``: the dtype of `A`, no entry where unreachable; ``predecessor``, ``reached``,
        ``iterations``, ``trace``. Widths are values of `A`, so they are exact.

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
    tree = None
    if predecessors:
        tree = tree_of(A, width, [source], semiring.any_min, semiring.any_gt)
    return WidestPathResult(loop.iterations, loop.trace, width, tree)
