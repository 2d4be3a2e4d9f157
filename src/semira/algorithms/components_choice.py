"""Which way connected components are found: labels along all edges, a sample first, or a search."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from semira import (
    Matrix,
    TraceRow,
    Vector,
    VectorProductOptions,
    binary,
    device,
    device_traits,
    fused,
    indexunary,
    monoid,
    repeat,
    select,
    semiring,
)
from semira.algorithms.checks import check_count, check_square, vertex_dtype
from semira.algorithms.components_search import Forest, MakeBody, most_edges, search_first
from semira.algorithms.results import Chained, ComponentsResult, finished, products_of
from semira.algorithms.sequential import components, is_sequential
from semira.exceptions import InvalidValue

ALGORITHMS = ("auto", "spread", "sample", "search", "union")

#: Edges of each vertex that are sampled, and vertices asked which component most of them are in.
_SAMPLE, _ASKED = 2, 1024

#: Labels that a vertex follows towards its root in an iteration. On graphs of at least `_LARGE`
#: vertices a pass costs more than another label, so it follows more. One H200: grid4900 takes
#: 4.7 ms with six (5 iterations), 5.1 with four (6), rgg:20 0.53 and 0.62, USA-road-NE 0.475 and
#: 0.462.
_STEPS, _LARGE, _STEPS_OF_LARGE = 4, 1 << 20, 6

#: Mean degree and number of entries from which on a search comes first, and its levels: where
#: degrees are high and paths are long nevertheless (a mesh in space), labels go further. One H200,
#: milliseconds of the device, spreading and searching: Kronecker graphs of scale 16 (2 M entries)
#: 0.10 and 0.14, 18 (8 M) 0.32 and 0.18, 20 (31 M) 0.57 and 0.32; a second loop costs the host 0.1.
_MEAN_DEGREE, _ENTRIES, _LEVELS = 24, 1 << 24, 64


def checked(A: Matrix, algorithm: str, sample: Any, opts: Any) -> int:
    """Check the arguments of `connected_components`; return the edges of a vertex to sample."""
    n = check_square(A, "connected_components", opts)
    if algorithm not in ALGORITHMS or (sample is not None and algorithm != "sample"):
        raise InvalidValue(
            f"algorithm={algorithm!r} with sample={sample}; choose {', '.join(ALGORITHMS)}, of "
            "which 'sample' has a number of edges, 1 or more ('spread' samples none)"
        )
    return min(_SAMPLE if sample is None else check_count(sample, "sample", 1), n)


def choose(
    A: Matrix, symmetric: bool, algorithm: str, few: int, opts: VectorProductOptions, body: MakeBody
) -> ComponentsResult:
    """Return the components by the algorithm asked for, or by what is fastest on this graph."""
    if is_sequential(A, algorithm, ALGORITHMS, opts):
        return ComponentsResult(1, (), components(A, symmetric))
    n, way, before = A.nrows, algorithm, None
    if algorithm == "auto":
        way = "search" if A.nvals >= max(_ENTRIES, _MEAN_DEGREE * n) else "spread"
    if way == "search":
        start = A.derived(("vertex of most edges", symmetric), lambda: most_edges(A, symmetric))
        if start is not None:
            levels = _LEVELS if algorithm == "auto" else n
            found, before = search_first(A, start, symmetric, levels, opts, body)
            if found is not None:
                return found
        way = "sample" if n and algorithm == "auto" else "spread"
    with device(A.device):
        forest = tuple(Vector(vertex_dtype(n), n) for _ in range(3))
    label, ways = forest[0], 1 if symmetric else 2
    if way == "sample" and n:
        trace = _spread(A.first_per_row(few).new(), forest, True, opts, body)
        joined = _join(A, forest, _largest(label), symmetric, opts)
        iterations = (products_of(trace) - 1) // 2 + products_of(joined) // (2 * ways)
        trace = Chained(trace, joined)
    else:
        trace = _spread(A, forest, not symmetric, opts, body)
        iterations = (products_of(trace) - 1) // ways
    if before is not None:
        # Levels of a search that took too many, which were run nevertheless.
        iterations, trace = before.iterations + iterations, Chained(before.trace, trace)
    return ComponentsResult(iterations, trace, label)


def _spread(
    edges: Matrix, forest: Forest, both_ways: bool, opts: VectorProductOptions, body: MakeBody
) -> Sequence[TraceRow]:
    """Hand labels along all edges, from every vertex alone until nothing moves; return a trace."""
    label, grand, offer = forest
    opts = _pulled(edges, opts)
    step = body(edges, forest, both_ways, opts)
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
    return finished(fused(number_and_spread)).trace


def _pulled(A: Matrix, opts: VectorProductOptions) -> VectorProductOptions:
    """Return options of products whose vectors have an entry for each vertex.

    They pull in any case. A kernel that might push as well takes a GPU's compiler twice as long.
    """
    if not device_traits(A.device).own_memory or A.memory == "lean" or opts.keys() - {"bits"}:
        return opts
    return {"direction": "pull", **opts}


def _join(
    A: Matrix, forest: Forest, largest: Any, symmetric: bool, opts: VectorProductOptions
) -> Sequence[TraceRow]:
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
        jump(label, grand)
        # The vertices outside hear their neighbours, and tell them:
        # offer<outside> min= A min.second grand, offer min= told min.first A
        told(outside.S) << grand
        offer(mask=outside.S, accum=binary.min, **opts) << A.mxv(grand, min_second)
        offer(accum=binary.min, **opts) << told.vxm(A, min_first)
        if not symmetric:
            offer(mask=outside.S, accum=binary.min, **opts) << grand.vxm(A, min_first)
            offer(accum=binary.min, **opts) << A.mxv(told, min_second)
        label.scatter(grand, offer, monoid.min)
        least = offer.ewise_add(grand, binary.min).new()
        label(mask=~kept.S, accum=binary.min) << least
        return offer.ewise_mult(grand, binary.lt).new().reduce(monoid.lor)

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

    return finished(fused(join)).trace


def jump(label: Vector, grand: Vector) -> None:
    """Point `grand` at what every vertex's label leads to."""
    # A few steps towards the root at once: they cost no more than waiting for each other.
    fresh = label.gather(label).new()
    for _ in range((_STEPS if label.size < _LARGE else _STEPS_OF_LARGE) - 1):
        fresh = label.gather(fresh).new()
    grand << fresh


def _largest(label: Vector) -> Any:
    """Return the label that most vertices of a sample have, as a Scalar."""
    n, number = label.size, label.dtype
    asked = Vector.from_dense(np.linspace(0, n - 1, min(n, _ASKED)).astype(number.np_type))
    answers = label.gather(asked).new()
    sizes = Vector(number, n)
    sizes.scatter(answers, Vector.from_scalar(1, asked.size, number), monoid.plus)
    most = sizes.select(select.valueeq, sizes.reduce(monoid.max)).new()
    return most.apply(indexunary.index).reduce(monoid.min).new()
