"""Strongly connected components: colouring, with scattered colours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

from semira import (
    Matrix,
    ProductOptions,
    Scalar,
    TraceRow,
    Vector,
    binary,
    device,
    fused,
    indexunary,
    monoid,
    repeat,
    semiring,
)
from semira.algorithms.checks import check_square, vertex_dtype
from semira.algorithms.contraction import contracted, vertices
from semira.algorithms.naming import takes_graph
from semira.algorithms.results import Chained, ComponentsResult, finished, products_of
from semira.algorithms.sequential import is_sequential, strong_components

#: Vertices times the first number modulo `_COLOURS` are colours without an order that a graph may
#: have, no two of them equal; times the second one they are the vertices again. (Golden ratio:
#: D. Knuth, The art of computer programming, volume 3, section 6.4.)
_COLOURS = 2**31
_SCATTER = 1327217885
_GATHER = pow(_SCATTER, -1, _COLOURS)

#: Iterations of a loop inside, which is the length of a path, from which on chains are looked for.
_PATIENCE = 256


@takes_graph()
def strongly_connected_components(
    A: Matrix, /, *, algorithm: str = "auto", **opts: Unpack[ProductOptions]
) -> ComponentsResult:
    """Return the strongly connected component of every vertex, named after its smallest one.

    Two vertices belong to one component if there are paths from each to the other.

    Parameters
    ----------
    A : Matrix or Graph, shape (n, n), any dtype
        Entry (i, j), whatever its value, is the edge from i to j. Not modified.
    algorithm : {"auto", "colours", "depth"}
        ``colours`` spreads colours along edges, round by round. ``depth`` is one depth-first
        search, on devices in the host's memory. ``auto``: ``depth`` there, unless there are
        options; else ``colours``.
    **opts
        Options of the products.

    Returns
    -------
    ComponentsResult
        ``label``: INT32, an entry for each vertex; ``count``, ``trace``, ``iterations`` (rows of
        the trace: of the loops inside, 65,536 at most; 1 for ``depth``, and an empty trace).

    Raises
    ------
    DimensionMismatch
        `A` is not square.
    OutOfMemory
        `A` has 2**31 vertices or more.
    InvalidValue
        Unknown `algorithm`, or ``depth`` with options or in memory of a device.

    Notes
    -----
    A round gives every vertex without a component the smallest colour among those vertices that
    reach it; those of its colour that lead back to the vertex that the colour began at are a
    component. Colours are vertex numbers in scattered order, so that numbers along the paths of
    the graph do not make many rounds: a chain of components is split as by quicksort. At worst
    there are n rounds. A round takes as many iterations as paths are long; each costs O(active
    vertices + their edges). The loops are recorded; it waits for their end.

    If that takes more than 256 iterations, it begins anew with a smaller graph: vertices with edges
    in both directions between them become one, and so do chains, trees and cycles along the only
    edge out of a vertex, or into one. That costs O((n + nvals) log n). Long paths that are none of
    these, such as those of a grid with edges to the right and down, take as many iterations as
    they are long. ``depth`` is O(n + nvals).

    References
    ----------
    R. Tarjan, *Depth-first search and linear graph algorithms*, SIAM J. Computing 1(2), 1972;
    S. Orzan, *On distributed verification and verified distribution*, PhD thesis, Vrije
    Universiteit Amsterdam, 2004 (colouring); G. Slota, S. Rajamanickam, K. Madduri, *BFS and
    coloring-based parallel algorithms for strongly connected components and related problems*,
    IPDPS 2014.

    Examples
    --------
    >>> A = Matrix.from_coo([0, 1, 2, 2, 3], [1, 2, 1, 3, 3], nrows=4, ncols=4)
    >>> found = strongly_connected_components(A)
    >>> found.label.to_dense().tolist(), found.count
    ([0, 1, 1, 3], 3)
    """
    check_square(A, "strongly_connected_components", opts)
    if is_sequential(A, algorithm, ("auto", "colours", "depth"), opts):
        return ComponentsResult(1, (), strong_components(A))
    label, trace, is_found = _coloured(A, _PATIENCE, opts)
    if not is_found:
        # Long paths: chains and the like become single vertices first.
        smaller, expand = contracted(A)
        label = own = vertices(A)
        if smaller.nvals:
            label, again, _ = _coloured(smaller, A.nrows, opts)
            trace = Chained(trace, again)
        label = _smallest(own, expand(label), 1)
    # Every iteration of the loops inside has one product.
    return ComponentsResult(products_of(trace), trace, label)


def _coloured(
    A: Matrix, patience: int, opts: ProductOptions
) -> tuple[Vector, Sequence[TraceRow], bool]:
    """Return labels, a trace, and whether no path was longer than `patience`: else no labels."""
    n, limit = A.nrows, max(patience, 1)
    own, mark, component, colour, active = _every_vertex_open(A)
    min_first, max_second = semiring.min_first[mark.dtype], semiring.max_second[mark.dtype]
    with device(A.device):
        late = Scalar.from_value(0, "INT64")

    def spread() -> Any:
        # t<not component> = active min.first A; of t keep what is smaller
        told = active.vxm(A, min_first).new(mask=~component.S, **opts)
        worse = told.ewise_mult(colour, binary.ge).new()
        active(~worse.V, replace=True) << told
        colour(active.S) << active
        return active.nvals > 0

    def lead_back() -> Any:
        component(active.S) << active
        # t<not component> = A max.second active: an edge leads to its own colour or a smaller one
        told = A.mxv(active, max_second).new(mask=~component.S, **opts)
        same = told.ewise_mult(colour, binary.eq).new()
        active(same.V, replace=True) << told
        return active.nvals > 0

    def step() -> Any:
        # colour<not component, replace> = mark
        colour(~component.S, replace=True) << mark
        active << colour
        repeat(spread, max_iterations=limit)
        late << active.nvals
        # What is left of its own colour is where a colour began.
        root = colour.ewise_mult(mark, binary.eq).new()
        active(root.V, replace=True) << colour
        repeat(lead_back, max_iterations=limit)
        late << late + active.nvals
        return component.nvals + n * late < n

    trace = finished(repeat(step, max_iterations=max(n, 1))).trace
    if int(late):
        return component, trace, False
    return _smallest(own, component, _GATHER), trace, True


def _every_vertex_open(A: Matrix) -> tuple[Vector, ...]:
    """Return vertices, their colours, and the loop's vectors: nobody has a component yet."""
    n, number = A.nrows, vertex_dtype(A.nrows)
    with device(A.device):
        own, mark, component, colour, active = (Vector(number, n) for _ in range(5))

    def scatter() -> None:
        own << 0
        own << own.apply(indexunary.index)
        mark << _modulo(own, _SCATTER)

    # Recorded like a loop: one launch, which nothing waits for.
    fused(scatter)
    return own, mark, component, colour, active


def _modulo(v: Vector, factor: int) -> Any:
    """Return ``v * factor`` modulo the number of colours."""
    return v.apply(binary.times["INT64"], right=factor).apply(
        binary.band["INT64"], right=_COLOURS - 1
    )


def _smallest(own: Vector, component: Vector, factor: int) -> Vector:
    """Return the smallest vertex of each vertex' component.

    The name of a component, times `factor`, is one of its vertices.
    """
    root, least = own.dup(), own.dup()
    label: Vector = own.dup()

    def gather() -> None:
        root << _modulo(component, factor)
        least.scatter(root, own, monoid.min)
        label << least.gather(root)

    fused(gather)
    return label
