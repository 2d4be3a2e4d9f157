"""Connected components behind a search for the largest one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from semira import (
    LoopResult,
    Matrix,
    Scalar,
    TraceRow,
    Vector,
    VectorProductOptions,
    binary,
    device,
    dtypes,
    fused,
    indexunary,
    monoid,
    repeat,
    select,
    semiring,
)
from semira.algorithms.checks import vertex_dtype
from semira.algorithms.results import Chained, ComponentsResult, finished, products_of

#: Labels, the labels of those, and the smallest ones that neighbours ever had.
Forest: TypeAlias = tuple[Vector, ...]

#: Makes the body of a loop that hands labels along edges, in both directions or one.
MakeBody: TypeAlias = Callable[[Matrix, Forest, bool, VectorProductOptions], Callable[[], Any]]


def most_edges(A: Matrix, symmetric: bool) -> int | None:
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


def search_first(
    A: Matrix, start: int, symmetric: bool, levels: int, opts: VectorProductOptions, body: MakeBody
) -> tuple[ComponentsResult | None, LoopResult]:
    """Find the component of `start` by a search, then those of the others.

    There are none if the search takes more levels. The report is of the search alone.
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

    searched = finished(repeat(level, max_iterations=levels))
    if searched.stopped_by == "limit":
        return None, searched
    trace = _spread_outside(A, inside, label, not symmetric, opts, body)
    # The products that find out who has edges are no iteration.
    ways = 1 if symmetric else 2
    iterations = searched.iterations + products_of(trace) // ways - 1
    return ComponentsResult(iterations, Chained(searched.trace, trace), label), searched


def _spread_outside(
    A: Matrix,
    inside: Vector,
    label: Vector,
    both_ways: bool,
    opts: VectorProductOptions,
    body: MakeBody,
) -> Sequence[TraceRow]:
    """Give all inside the smallest of their numbers; spread labels among the others."""
    n, number = A.nrows, label.dtype
    with device(A.device):
        # Those that have no edge keep their number, and nobody looks at them again.
        linked, own, grand, offer = (Vector(number, n) for _ in range(4))
        smallest = Scalar(number)
    count = semiring.plus_pair[number]
    step = body(A, (own, grand, offer), both_ways, opts)

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

    return finished(fused(number_and_spread)).trace
