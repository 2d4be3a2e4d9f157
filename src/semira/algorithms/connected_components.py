"""Connected components: FastSV with gather and scatter, behind a search or a sample."""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np

from semira import (
    Matrix,
    Scalar,
    Vector,
    VectorProductOptions,
    binary,
    device,
    dtypes,
    indexunary,
    monoid,
    repeat,
    select,
    semiring,
)
from semira.algorithms.checks import check_count, check_square, vertex_dtype
from semira.algorithms.naming import takes_graph
from semira.algorithms.results import Chained, ComponentsResult, finished, products_of
from semira.exceptions import InvalidValue

METHODS = ("auto", "spread", "sample", "search")

#: Edges of each vertex that are sampled, and vertices asked which component most of them are in.
_SAMPLE, _ASKED = 2, 1024

#: Labels that a vertex follows towards its root in an iteration; from so many vertices on, where a
#: pass over them costs more than another label, it follows more. One H200: grid4900 takes 4.7 ms
#: with six (5 iterations), 5.1 with four (6), rgg:20 0.53 and 0.62, USA-road-NE 0.475 and 0.462.
_STEPS, _LARGE, _STEPS_OF_LARGE = 4, 1 << 20, 6

#: Mean degree and number of entries from which on a search comes first, and its levels: where
#: degrees are high and paths are long nevertheless (a mesh in space), labels go further. One H200,
#: milliseconds of the device, spreading and searching: Kronecker graphs of scale 16 (2 M entries)
#: 0.10 and 0.14, 18 (8 M) 0.32 and 0.18, 20 (31 M) 0.57 and 0.32; a second loop costs the host 0.1.
_MEAN_DEGREE, _ENTRIES, _LEVELS = 24, 1 << 24, 64


@takes_graph()
def connected_components(
    A: Matrix,
    /,
    *,
    symmetric: bool = False,
    method: str = "auto",
    sample: int | None = None,
    **opts: Unpack[VectorProductOptions],
) -> ComponentsResult:
    """Return the component of every vertex, which has the number of its smallest vertex.

    Edges count in both directions: the components of a directed graph are the weak ones.

    Parameters
    ----------
    A : Matrix or Graph, shape (n, n), any dtype
        Entry (i, j), whatever its value, connects i and j. Not modified.
    symmetric : bool
        The caller knows that the entries of `A` are symmetric: saves every second product.
    method : {"auto", "spread", "sample", "search"}
        ``spread`` hands labels along all edges at once. ``sample`` does so on a few edges of each
        vertex first: nearly all vertices then lie in one component, and only edges of the others
        are looked at. ``search`` finds the component of a vertex of most edges by a breadth-first
        search, then spreads labels among the others. ``auto``: a search where the mean degree is
        24 or more and there are 16,777,216 entries, else ``spread``; if the search is not over
        after 64 levels, a sample.
    sample : int, optional
        Edges of each vertex that ``sample`` begins with, 1 or more; None: two.
    **opts
        Options of the products.

    Returns
    -------
    ComponentsResult
        ``label``: INT32 (INT64 from 2**31 vertices), an entry for each vertex; ``count``,
        ``iterations``, ``trace``.

    Raises
    ------
    DimensionMismatch
        `A` is not square.
    InvalidValue
        Unknown `method`; `sample` is no positive integer, or given to another method.

    Notes
    -----
    Each iteration costs O(n + nvals); their number is logarithmic in practice. A search costs
    O(n + nvals) in all, and less where it may pull. Labels begin with any neighbour of each vertex,
    and spread until no vertex has a neighbour with a smaller one. It waits for the end of its loops
    (two with a sample or a search); ``auto`` asks for the number of entries. The first search on a
    matrix asks where to begin, which is kept with the matrix.

    References
    ----------
    Y. Zhang, A. Azad, A. Buluç, *Parallel algorithms for finding connected components using
    linear algebra*, J. Parallel and Distributed Computing 144, 2020 (FastSV); M. Sutton,
    T. Ben-Nun, A. Barak, *Optimizing parallel graph connectivity computation via subgraph
    sampling*, IPDPS 2018 (Afforest); G. Slota, S. Rajamanickam, K. Madduri, *BFS and
    coloring-based parallel algorithms for strongly connected components and related problems*,
    IPDPS 2014 (a search for the largest component first).

    Examples
    --------
    >>> A = Matrix.from_coo([4, 2], [1, 3], nrows=5, ncols=5)
    >>> found = connected_components(A)
    >>> found.label.to_dense().tolist(), found.count
    ([0, 1, 2, 2, 1], 3)
    """
    n = check_square(A, "connected_components", opts)
    if method not in METHODS or (sample is not None and method != "sample"):
        raise InvalidValue(
            f"method={method!r} with sample={sample}; choose {', '.join(METHODS)}, of which "
            "'sample' has a number of edges, 1 or more ('spread' samples none)"
        )
    few = min(_SAMPLE if sample is None else check_count(sample, "sample", 1), n)
    way, before = method, None
    if method == "auto":
        way = "search" if A.nvals >= max(_ENTRIES, _MEAN_DEGREE * n) else "spread"
    if way == "search":
        start = A.derived(("vertex of most edges", symmetric), lambda: _most_edges(A, symmetric))
        if start is not None:
            found, before = _search(A, start, symmetric, method, opts)
            if found is not None:
                return found
        way = "sample" if n and method == "auto" else "spread"
    with device(A.device):
        forest = tuple(Vector(vertex_dtype(n), n) for _ in range(3))
    label, ways = forest[0], 1 if symmetric else 2
    if way == "sample" and n:
        trace = _spread(A.first_per_row(few).new(), forest, True, opts)
        joined = _join(A, forest, _largest(label), symmetric, opts)
        iterations = (products_of(trace) - 1) // 2 + products_of(joined) // (2 * ways)
        trace = Chained(trace, joined)
    else:
        trace = _spread(A, forest, not symmetric, opts)
        iterations = (products_of(trace) - 1) // ways
    if before is not None:
        # Levels of a search that took too many, which were run nevertheless.
        iterations, trace = before.iterations + iterations, Chained(before.trace, trace)
    return ComponentsResult(iterations, trace, label)


#: Labels, the labels of those, and the smallest ones that neighbours ever had.
_Forest = tuple[Vector, ...]


def _spread(edges: Matrix, forest: _Forest, both_ways: bool, opts: VectorProductOptions) -> Any:
    """Hand labels along all edges, from every vertex alone until nothing moves; return a trace."""
    label, grand, offer = forest
    step = _stepping(edges, forest, both_ways, opts)
    any_neighbour = semiring.any_secondi[label.dtype]

    def number_and_spread() -> None:
        label << 0
        label << label.apply(indexunary.index)
        grand << label
        offer << label
        # Any neighbour will do to begin with, and costs no walk over all of them: no iteration yet.
        offer(accum=binary.min, **opts) << edges.mxv(grand, any_neighbour)
        label(accum=binary.min) << offer
        repeat(step)

    # One loop around both: one launch.
    return finished(repeat(number_and_spread, max_iterations=1)).trace


def _stepping(edges: Matrix, forest: _Forest, both_ways: bool, opts: VectorProductOptions) -> Any:
    """Return the body of a loop that hands labels along edges among vertices that have one."""
    label, grand, offer = forest
    min_first, min_second = semiring.min_first[label.dtype], semiring.min_second[label.dtype]

    def step() -> Any:
        _jump(label, grand)
        # offer min= edges min.second grand, and against the edges
        offer(accum=binary.min, **opts) << edges.mxv(grand, min_second)
        if both_ways:
            offer(accum=binary.min, **opts) << grand.vxm(edges, min_first)
        return _hook(label, grand, offer, None)

    return step


def _most_edges(A: Matrix, symmetric: bool) -> int | None:
    """Return the first vertex of most edges; None if there is no edge."""
    number = vertex_dtype(A.nrows)
    with device(A.device):
        everyone = Vector.from_scalar(1, A.nrows, number)
    degrees = A.mxv(everyone, semiring.plus_pair[number]).new()
    if not symmetric:
        degrees(accum=binary.plus) << everyone.vxm(A, semiring.plus_pair[number])
    most = degrees.reduce(monoid.max).new().value
    if most is None:
        return None
    found = degrees.select(select.valueeq, most).new()
    return int(found.apply(indexunary.index).reduce(monoid.min).new().value)


def _search(
    A: Matrix, start: int, symmetric: bool, method: str, opts: VectorProductOptions
) -> tuple[ComponentsResult | None, Any]:
    """Find the component of `start` by a search, then those of the others.

    Returns
    -------
    found : ComponentsResult or None
        None if ``auto`` asked and the search takes too many levels.
    searched : LoopResult
        The report of the search alone.
    """
    n, number = A.nrows, vertex_dtype(A.nrows)
    with device(A.device):
        inside, label = Vector(dtypes.BOOL, n), Vector(number, n)
        front = Vector.from_coo([start], True, dtypes.BOOL, size=n)
        behind = front if symmetric else Vector(dtypes.BOOL, n)

    def level() -> Any:
        inside(front.S) << True
        if not symmetric:
            behind(~inside.S, replace=True, **opts) << A.mxv(front, semiring.any_pair)
        # front<not inside, replace> = front any.pair A, and against the edges
        front(~inside.S, replace=True, **opts) << front.vxm(A, semiring.any_pair)
        if not symmetric:
            front << front.ewise_add(behind, binary.any)
        return front.nvals > 0

    searched = finished(repeat(level, max_iterations=_LEVELS if method == "auto" else n))
    if method == "auto" and searched.stopped_by == "limit":
        return None, searched
    trace = _spread_outside(A, inside, label, not symmetric, opts)
    # The products that find out who has edges are no iteration.
    ways = 1 if symmetric else 2
    iterations = searched.iterations + products_of(trace) // ways - 1
    return ComponentsResult(iterations, Chained(searched.trace, trace), label), searched


def _spread_outside(
    A: Matrix, inside: Vector, label: Vector, both_ways: bool, opts: VectorProductOptions
) -> Any:
    """Give all inside the smallest of their numbers; spread labels among the others."""
    n, number = A.nrows, label.dtype
    with device(A.device):
        # Those that have no edge keep their number, and nobody looks at them again.
        linked, own, grand, offer = (Vector(number, n) for _ in range(4))
        smallest = Scalar(number)
    count = semiring.plus_pair[number]
    step = _stepping(A, (own, grand, offer), both_ways, opts)

    def number_and_spread() -> None:
        label << 0
        label << label.apply(indexunary.index)
        linked(~inside.S, replace=True) << A.mxv(label, count)
        if both_ways:
            linked(~inside.S, accum=binary.plus) << label.vxm(A, count)
        own(inside.S, replace=True) << label
        smallest << own.reduce(monoid.min)
        label(inside.S) << smallest
        own(linked.S, replace=True) << label
        grand << own
        offer << own
        repeat(step)
        label(grand.S) << grand

    return finished(repeat(number_and_spread, max_iterations=1)).trace


def _join(
    A: Matrix, forest: _Forest, largest: Any, symmetric: bool, opts: VectorProductOptions
) -> Any:
    """Hand labels along the edges that have an end outside, until nothing moves.

    Edges with both ends inside are not looked at. So the vertices inside keep to their root, which
    alone moves for them: on their own they could leave for another tree, and nothing would bring
    the two together again.
    """
    label, grand, offer = forest
    min_first, min_second = semiring.min_first[label.dtype], semiring.min_second[label.dtype]

    with device(A.device):
        outside, kept, told = (Vector(label.dtype, label.size) for _ in range(3))

    def step() -> Any:
        _jump(label, grand)
        # The vertices outside hear their neighbours, and tell them:
        # offer<outside> min= A min.second grand, offer min= told min.first A
        told(outside.S) << grand
        offer(mask=outside.S, accum=binary.min, **opts) << A.mxv(grand, min_second)
        offer(accum=binary.min, **opts) << told.vxm(A, min_first)
        if not symmetric:
            offer(mask=outside.S, accum=binary.min, **opts) << grand.vxm(A, min_first)
            offer(accum=binary.min, **opts) << A.mxv(told, min_second)
        return _hook(label, grand, offer, kept)

    def join() -> None:
        outside << label.select(select.valuene, largest)
        told << outside
        # The root has the smallest number of its component.
        kept << label.select(select.valueeq, largest)
        kept << kept.select(select.indexgt, largest)
        repeat(step)
        # Those that were kept, or hear of the root alone, may point at a root of before still; that
        # points at the last one.
        label << label.gather(label)

    return finished(repeat(join, max_iterations=1)).trace


def _jump(label: Vector, grand: Vector) -> None:
    """Point `grand` at what every vertex's label leads to."""
    # A few steps towards the root at once: they cost no more than waiting for each other.
    fresh = label.gather(label).new()
    for _ in range((_STEPS if label.size < _LARGE else _STEPS_OF_LARGE) - 1):
        fresh = label.gather(fresh).new()
    grand << fresh


def _hook(label: Vector, grand: Vector, offer: Vector, kept: Vector | None) -> Any:
    """Let grandparents, then vertices, hook onto their offers; return whether one was better.

    If no offer is better than what its vertex has, both ends of every edge have the same, and
    nothing more can move. Vertices of `kept` do not hook themselves.
    """
    label.scatter(grand, offer, monoid.min)
    least = offer.ewise_add(grand, binary.min).new()
    if kept is None:
        label(accum=binary.min) << least
    else:
        label(mask=~kept.S, accum=binary.min) << least
    return offer.ewise_mult(grand, binary.lt).new().reduce(monoid.lor)


def _largest(label: Vector) -> Any:
    """Return the label that most vertices of a sample have, as a Scalar."""
    n, number = label.size, label.dtype
    asked = Vector.from_dense(np.linspace(0, n - 1, min(n, _ASKED)).astype(number.np_type))
    answers = label.gather(asked).new()
    sizes = Vector(number, n)
    sizes.scatter(answers, Vector.from_scalar(1, asked.size, number), monoid.plus)
    most = sizes.select(select.valueeq, sizes.reduce(monoid.max)).new()
    return most.apply(indexunary.index).reduce(monoid.min).new()
