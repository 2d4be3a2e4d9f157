"""Measure loop bodies that differ slightly from breadth-first search, per iteration.

Another semiring, levels as values, one more statement, two frontiers, a Python function as
multiply: each uses the public API and is checked, and its iteration is compared with the plain
one. Speed must not depend on the name of an algorithm. Two frontiers are two products.

Examples
--------
python -m benchmarks variants --quick
python -m benchmarks variants --device cuda --out bench/results/variants.jsonl
python -m benchmarks variants --graphs kron:20,grid4900 --device cuda
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from benchmarks.harness import Options, Study, option, time_of
from semira.bench.device import QUEUED_S, profile_calls
from semira.bench.graphs import BenchGraph
from semira.bench.libraries import dense
from semira.bench.record import Record
from semira.bench.report import checked, figure
from semira.bench.timer import Budget, measure
from semira.bench.verify import Verdict, check_levels

#: Most time of a variant's iteration, divided by the plain body's.
GOAL = 1.5

#: Graphs for a quick look.
QUICK = ("kron:10", "road:20x20")

#: Dtype of all levels.
_LEVEL = "INT32"


@dataclass(frozen=True, slots=True)
class VariantsOptions(Options):
    """Options of the study."""

    graphs: Sequence[str] = option(("kron:20", "road:1000x1000,removed=0.05"), quick=QUICK)


@dataclass(slots=True)
class Search:
    """A search, ready to run.

    Attributes
    ----------
    step : callable
        The body of its loop.
    levels : list of (int, Vector)
        Sources, and the vectors of their levels at the end.
    check : callable
        (graph, levels of the first source) -> a further fault; "" if there is none.
    iterations : int
        Of the last run.
    """

    step: Callable[[], Any]
    levels: list[tuple[int, Any]]
    check: Callable[[BenchGraph, Any], str] = lambda _graph, _levels: ""
    iterations: int = 0

    def run(self, most: int) -> Search:
        """Run the loop, and wait."""
        from semira import repeat

        result = repeat(self.step, max_iterations=most)
        self.iterations = result.iterations
        for _, level in self.levels:
            level.wait()
        return self


def _start(matrix: Any, source: int, value: Any = True, dtype: Any = bool) -> tuple[Any, Any]:
    """Return empty levels and the frontier of one vertex, on the matrix's device."""
    import semira as gb

    level = gb.Vector(_LEVEL, matrix.nrows).to(matrix.device)
    frontier = gb.Vector.from_coo([source], value, dtype, size=matrix.nrows).to(matrix.device)
    return level, frontier


# the bodies --------------------------------------------------------------------------------------
def _with_semiring(name: str) -> Callable[[Any, list[int]], Search]:
    def make(matrix: Any, sources: list[int]) -> Search:
        import semira as gb

        level, frontier = _start(matrix, sources[0])
        depth = gb.Scalar.from_value(0, _LEVEL)

        def step() -> Any:
            level(frontier.S) << depth
            depth << depth + 1
            frontier(~level.S, replace=True) << frontier.vxm(matrix, name)
            return frontier.nvals > 0

        return Search(step, [(sources[0], level)])

    return make


def _levels_as_values(matrix: Any, sources: list[int]) -> Search:
    """Use the frontier's values as levels; they grow by one before each product."""
    level, frontier = _start(matrix, sources[0], 0, _LEVEL)

    def step() -> Any:
        level(frontier.S) << frontier
        frontier << frontier.apply("plus", right=1)
        frontier(~level.S, replace=True) << matrix.T.mxv(frontier, f"min_second[{_LEVEL}]")
        return frontier.nvals > 0

    return Search(step, [(sources[0], level)])


def _counting(matrix: Any, sources: list[int]) -> Search:
    """Count the visited vertices as well."""
    import semira as gb

    level, frontier = _start(matrix, sources[0])
    depth, visited = gb.Scalar.from_value(0, _LEVEL), gb.Scalar.from_value(0)

    def step() -> Any:
        level(frontier.S) << depth
        visited << visited + frontier.nvals
        depth << depth + 1
        frontier(~level.S, replace=True) << frontier.vxm(matrix, "any_pair")
        return frontier.nvals > 0

    def check(_graph: BenchGraph, levels: Any) -> str:
        reached = int((levels >= 0).sum())
        return "" if visited.value == reached else f"{visited.value} counted, {reached} reached"

    return Search(step, [(sources[0], level)], check)


def _with_parents(matrix: Any, sources: list[int]) -> Search:
    """Record the parent of each vertex as well: the frontier carries its number."""
    import semira as gb

    level, frontier = _start(matrix, sources[0], sources[0], _LEVEL)
    parent = gb.Vector(_LEVEL, matrix.nrows).to(matrix.device)
    depth = gb.Scalar.from_value(0, _LEVEL)

    def step() -> Any:
        level(frontier.S) << depth
        parent(frontier.S) << frontier
        depth << depth + 1
        frontier(~level.S, replace=True) << frontier.vxm(matrix, f"any_secondi[{_LEVEL}]")
        return frontier.nvals > 0

    def check(graph: BenchGraph, levels: Any) -> str:
        children, parents = (graph.xp.asarray(each) for each in parent.to_coo())
        is_source = children == sources[0]
        wrong = levels[parents] != levels[children] - 1
        return "a parent is not one level before" if bool((wrong & ~is_source).any()) else ""

    return Search(step, [(sources[0], level)], check)


def _two_frontiers(matrix: Any, sources: list[int]) -> Search:
    """Search from two vertices in one loop: two products per iteration."""
    import semira as gb

    (level, frontier), (other_level, other) = (_start(matrix, source) for source in sources[:2])
    depth = gb.Scalar.from_value(0, _LEVEL)

    def step() -> Any:
        level(frontier.S) << depth
        other_level(other.S) << depth
        depth << depth + 1
        frontier(~level.S, replace=True) << frontier.vxm(matrix, "any_pair")
        other(~other_level.S, replace=True) << other.vxm(matrix, "any_pair")
        return (frontier.nvals > 0) | (other.nvals > 0)

    return Search(step, [(sources[0], level), (sources[1], other_level)])


def one_more(level: Any, _edge: Any) -> Any:
    """Multiply as a user might write it: an edge leads one level further."""
    return level + 1


@cache
def _any_one_more() -> Any:
    """Return the semiring, the same object for every call, to compile it only once."""
    import semira as gb

    return gb.semiring.register_anonymous(gb.monoid.any, gb.binary.register_anonymous(one_more))


def _user_defined(matrix: Any, sources: list[int]) -> Search:
    """Multiply by a Python function; any level of a row will do, since they are equal."""
    level, frontier = _start(matrix, sources[0], 0, _LEVEL)
    product = _any_one_more()

    def step() -> Any:
        level(frontier.S) << frontier
        frontier(~level.S, replace=True) << frontier.vxm(matrix, product)
        return frontier.nvals > 0

    return Search(step, [(sources[0], level)])


#: The baseline of all comparisons.
PLAIN = "any_pair"

#: name -> (makes it from a matrix and sources, products per iteration)
VARIANTS: dict[str, tuple[Callable[[Any, list[int]], Search], int]] = {
    PLAIN: (_with_semiring("any_pair"), 1),
    "lor_land": (_with_semiring("lor_land"), 1),
    "min_second, levels as values": (_levels_as_values, 1),
    "count of visited": (_counting, 1),
    "parents": (_with_parents, 1),
    "two frontiers": (_two_frontiers, 2),
    "multiply in Python": (_user_defined, 1),
}


# measuring ---------------------------------------------------------------------------------------
def trial(options: VariantsOptions, graph: BenchGraph) -> Iterator[Record]:
    """Measure and check every body on a graph."""
    import semira as gb

    graph = graph.undirected
    # The vertex with the most edges, and another one.
    first = graph.sources(0)[0]
    sources = [first, next((v for v in graph.sources(8) if v != first), first)]
    with gb.device(options.device):
        matrix = graph.matrix_in(_LEVEL).to(options.device)
        for name in VARIANTS:
            yield _measured(options, graph, matrix, name, sources)


def _measured(
    options: VariantsOptions, graph: BenchGraph, matrix: Any, name: str, sources: list[int]
) -> Record:
    import semira as gb

    make, products = VARIANTS[name]

    def call(_trial: int = 0) -> Search:
        return make(matrix, sources).run(graph.n)

    search, samples = measure(call, Budget(options.trials, options.seconds))
    with gb.tracing() as trace:
        call()
    verdict = _verify(graph, search)
    return Record(
        "variant", name, graph.dataset, "semira", options.device, _LEVEL,
        options={"products": products},
        ran=dict(Counter(row.method for row in trace.rows)),
        touched=sum(row.touched for row in trace.rows),
        iterations=search.iterations,
        compile_s=samples.compile_s, compiled=samples.compiled,
        first_s=samples.first_s, warm_s=samples.warm_s,
        sources=sources[: len(search.levels)],
        verified=verdict.ok, verified_by=verdict.method, note=verdict.finding,
        **profile_calls(options.device, call, held_s=QUEUED_S),
    )  # fmt: skip


def _verify(graph: BenchGraph, search: Search) -> Verdict:
    """Check the levels of every source, and further results of a body."""
    found = []
    for source, level in search.levels:
        indices, values = level.to_coo()
        levels = dense(indices, values, graph.n, -1, np.int64)
        verdict = check_levels(graph, source, levels)
        found.append(verdict.finding)
        if level is search.levels[0][1]:
            found.append(search.check(graph, graph.xp.asarray(levels)))
    return replace(verdict, ok=not any(found), finding="; ".join(each for each in found if each))


# the table ---------------------------------------------------------------------------------------
def iteration_s(record: Record) -> float | None:
    """Return the seconds per iteration: by the device's clock if any, else of the call."""
    taken_s = time_of(record)
    return taken_s / record.iterations if taken_s and record.iterations else None


def variants_table(records: Sequence[Record]) -> tuple[list[str], list[list[str]]]:
    """Return the header and rows: time per iteration of each body and of the plain one."""
    head = [
        "graph", "device", "body", "iterations", "products an iteration", "us an iteration",
        "times plain", f"within {GOAL:g}", "products", "entries read", "verified",
    ]  # fmt: skip
    variants = [record for record in records if record.kind == "variant"]
    plain = {
        (record.dataset.name, record.backend): iteration_s(record)
        for record in variants
        if record.kernel == PLAIN
    }
    rows = []
    for record in variants:
        taken_s, base_s = iteration_s(record), plain.get((record.dataset.name, record.backend))
        times = taken_s / base_s if taken_s and base_s else None
        products = record.options.get("products", 1)
        ran = ", ".join(f"{method} x{count}" for method, count in record.ran.items())
        rows.append(
            [
                record.dataset.name, record.backend, record.kernel, str(record.iterations),
                str(products), figure(1e6 * taken_s if taken_s else None), figure(times),
                _judged(times, products), ran, f"{record.touched:,}", checked(record),
            ]
        )  # fmt: skip
    return head, rows


def _judged(times: float | None, products: int) -> str:
    """Return whether a body is within the goal; twice the products may take twice the time."""
    if times is None:
        return "-"
    within = "yes" if times <= GOAL * products else "no"
    return within if products == 1 else f"{within}, of {products} x plain"


STUDY = Study(__doc__, VariantsOptions, trial, {"Bodies beside the plain one": variants_table})
