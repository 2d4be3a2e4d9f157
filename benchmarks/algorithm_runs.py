"""Whole, checked calls of all algorithms, and of other libraries' functions for the same."""

from __future__ import annotations

import functools
import inspect
import math
import multiprocessing
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

from benchmarks import algorithm_checks as checks
from benchmarks.algorithm_peers import SHORT_S, compared_with, measure_peer
from benchmarks.sweep import SweepRequest, keep_graphs
from semira.algorithms.registry import REGISTRY, View
from semira.algorithms.row import Case as Spec
from semira.algorithms.row import Peer, Row, load
from semira.base.errors import GraphblasException, InvalidValue
from semira.bench.device import profile_calls
from semira.bench.graphs import BenchGraph, load_bench_graph
from semira.bench.libraries import KERNELS
from semira.bench.record import Record, without_result
from semira.bench.timer import Budget, TooSlow, measure, time_limit

#: Searches in an estimate and in a block.
SEARCHES = 16

#: Time limit of a Semira call.
_LIMIT_S = 30.0

#: Start of the note of a case whose graph is too large.
NOT_TRIED = "not tried"


@dataclass(frozen=True, slots=True)
class Case:
    """One call of an algorithm that is measured and checked.

    Attributes
    ----------
    row : Row
        The algorithm.
    spec : semira.algorithms.row.Case
    """

    row: Row
    spec: Spec

    @property
    def function(self) -> str:
        """Name of the function."""
        return self.row.name

    @property
    def fields(self) -> tuple[str, ...]:
        """Fields of the result that the call waits for."""
        layout = self.row.layout
        return (layout.main, *(each for each in layout.beside if each != layout.tree[0]))

    @property
    def directed(self) -> bool:
        """Whether it takes the graph as stored; otherwise with every edge in both directions."""
        return self.row.directed and not self.spec.symmetrised

    @property
    def options(self) -> dict[str, Any]:
        """Keyword arguments."""
        is_known = not self.directed and "symmetric" in self.row.parameters
        return {**self.spec.options, **({"symmetric": True} if is_known else {})}

    @property
    def peers(self) -> tuple[Peer, ...]:
        """Functions of other libraries for the same."""
        return self.row.peers if self.spec.peers is None else self.spec.peers

    @property
    def check(self) -> checks.Check:
        """The check of a result: the oracle of the row, with the options that it names."""
        kinds = {"directed": self.directed, "weighted": self.row.weighted}
        if not self.row.oracle:
            if not self.peers:
                raise InvalidValue(f"the row of {self.function} has neither oracle nor peer")
            return compared_with(self.peers[0], self.row.main, **kinds)
        oracle = load(self.row.oracle)
        if self.row.typed in KERNELS:
            return checks.by_kernel(self.row.typed, oracle)
        named = inspect.signature(oracle).parameters
        given = {name: each for name, each in self.options.items() if name in named}
        return functools.update_wrapper(partial(oracle, **given), oracle)

    @property
    def by(self) -> str:
        """The method of the check."""
        return checks.method_of(self.check)

    @property
    def sources(self) -> int:
        """Number of source vertices."""
        if not self.row.start and "sources" not in self.row.parameters:
            return 0
        return self.spec.sources or (1 if self.row.start == "source" else SEARCHES)

    def sources_of(self, graph: BenchGraph, count: int | None = None) -> list[int]:
        """Return `count` vertices: the one with the most edges, then random ones."""
        wanted = max(SEARCHES, self.sources)
        drawn = [*graph.sources(0), *graph.sources(2 * wanted)]
        return list(dict.fromkeys(drawn))[: self.sources if count is None else count]

    def bind(self, matrix: Any, sources: Sequence[int]) -> Callable[[], Any]:
        """Return a call for a matrix, without arguments, that returns the complete result."""
        function, options, places = self.row.function, self.options, []
        fields = self.fields
        if self.row.start:
            places = [sources[0] if self.sources == 1 else list(sources)]
        elif self.sources:
            options["sources"] = list(sources)

        def once() -> Any:
            result = function(matrix, *places, **options)
            for name in fields:
                if hasattr(field := getattr(result, name), "wait"):
                    field.wait()
            return result

        return once

    def call(self, matrix: Any, sources: Sequence[int]) -> Any:
        """Return the complete result."""
        return self.bind(matrix, sources)()


def _cases() -> dict[str, Case]:
    """Return the measured calls; of those that ``semira bench`` measures, the usual one."""
    return {
        spec.name: Case(row, spec)
        for row in REGISTRY.values()
        for spec in row.measured() or (Spec(row.title),)
    }


#: All measured calls by name.
CASES = View(_cases)


@dataclass(frozen=True, slots=True)
class AlgorithmsRequest(SweepRequest):
    """What to measure, in addition to `SweepRequest`.

    Attributes
    ----------
    names : sequence of str
        Keys of `CASES`.
    peers : bool
        Whether other libraries' functions run too, where they are installed.
    limit_s : float
        Seconds after which no further case starts.
    processes : int
        Number of processes that first run every case once, to cache compiled code on disk.
    append : bool
        Keep the records already in the file.
    """

    graphs: Sequence[str] = (
        "minnesota", "delaunay_n10", "delaunay_n16", "coAuthorsDBLP", "kron:16", "soc-Slashdot0902",
    )  # fmt: skip
    trials: int = 3
    seconds: float = 0.5
    names: Sequence[str] = field(default_factory=lambda: tuple(CASES))
    peers: bool = True
    limit_s: float = math.inf
    processes: int = 1
    append: bool = False


def run_algorithms(
    request: AlgorithmsRequest,
    *,
    out: Path | None = None,
    say: Callable[[str], None] = lambda _text: None,
    done: Callable[[Record], None] = lambda _record: None,
) -> list[Record]:
    """Measure and check every case and its peers on every graph that is small enough.

    Raises
    ------
    InvalidValue
        A name is not that of a case; the message lists all cases.
    DeviceUnavailable
        This machine lacks the device.
    MissingFile
        A graph is absent.
    FileWriteError
        `out` cannot be written.
    """
    for name in request.names:
        if name not in CASES:
            raise InvalidValue(f"no case is called {name!r}; choose among {', '.join(CASES)}")
    start_s = time.perf_counter()
    if request.processes > 1:
        _compile(request)
        say(f"compiled in {time.perf_counter() - start_s:.1f} s")

    def of_graph(graph: BenchGraph) -> Iterator[Record]:
        for name in request.names:
            if time.perf_counter() - start_s > request.limit_s:
                say(f"{graph.name}, {name}: left out, {request.limit_s:g} s are over")
            else:
                yield from _of_case(request, name, graph)

    return keep_graphs(request, of_graph, out, done, append=request.append)


def _compile(request: AlgorithmsRequest) -> None:
    """Run every case once, in separate processes."""
    alone = [replace(request, names=[name], processes=0) for name in request.names]
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(request.processes, context) as pool:
        list(pool.map(_try_once, alone))


def _try_once(request: AlgorithmsRequest) -> None:
    """Run one case on every graph and ignore errors: the measurement reports them."""
    (name,) = request.names
    for each in request.graphs:
        _, matrix, sources = _given(request, CASES[name], _loaded(each, request.data))
        if matrix is not None:
            with suppress(Exception):
                CASES[name].call(matrix, sources)


@cache
def _loaded(name: str, data: Path | None) -> BenchGraph:
    """Return a graph; a process reads it once for all of its cases."""
    return load_bench_graph(name, data)


def _given(
    request: AlgorithmsRequest, case: Case, graph: BenchGraph
) -> tuple[BenchGraph, Any, list[int]]:
    """Return the graph a case takes, its matrix on the device (None: too large), and sources."""
    used = graph if case.directed else graph.undirected
    if case.spec.most is not None and used.n > case.spec.most:
        return used, None, []
    return used, used.matrix.to(request.device), case.sources_of(used)


def _of_case(request: AlgorithmsRequest, name: str, graph: BenchGraph) -> Iterator[Record]:
    case = CASES[name]
    used, matrix, sources = _given(request, case, graph)
    blank = Record(
        "algorithms", name, used.dataset, "semira", request.device, options=case.options,
        load_s=graph.load_s, build_s=used.build_s, sources=sources,
    )  # fmt: skip
    if matrix is None:
        yield replace(blank, note=f"{NOT_TRIED}: over {case.spec.most:,} vertices")
        return
    yield _measured(request, case, used, matrix, sources, blank)
    for peer in case.peers if request.peers else ():
        yield measure_peer(
            peer, used, sources, replace(blank, backend="", options={}),
            Budget(request.trials, request.seconds, least=SHORT_S), directed=case.directed,
            weighted=case.row.weighted,
        )  # fmt: skip


def _measured(
    request: AlgorithmsRequest, case: Case, graph: BenchGraph, matrix: Any, sources: list[int],
    blank: Record,
) -> Record:  # fmt: skip
    once = case.bind(matrix, sources)

    def call(_trial: int = 0) -> Any:
        signal.setitimer(signal.ITIMER_REAL, _LIMIT_S)
        found = once()
        signal.setitimer(signal.ITIMER_REAL, 0)
        return found

    budget = Budget(request.trials, request.seconds, least=SHORT_S)
    try:
        with time_limit(_LIMIT_S):
            result, samples = measure(call, budget)
    except (TooSlow, MemoryError) as error:
        return without_result(blank, error)
    except GraphblasException as error:
        # An unexpected failure counts as a wrong result, not as a gap in a table.
        return replace(without_result(blank, error), verified=False)
    # Without a source, the check still needs a start vertex.
    starts = sources or case.sources_of(graph, SEARCHES)
    verdict = checks.judge(case.check, case.by, graph, result, starts)
    facts = {
        name: getattr(result, name)
        for name in ("converged", "searches", "is_exact", "method", "block")
        if hasattr(result, name)
    }
    return replace(
        blank, dtype=_dtype_of(getattr(result, case.fields[0])), iterations=result.iterations,
        first_s=samples.first_s, warm_s=samples.warm_s, compile_s=samples.compile_s,
        compiled=samples.compiled, ran=dict(Counter(row.method for row in result.trace)),
        touched=sum(row.touched for row in result.trace), verified=verdict.ok,
        verified_by=verdict.method, note=verdict.finding, facts=facts,
        **_times_on(request.device, once, samples.warm_s),
    )  # fmt: skip


def _dtype_of(found: Any) -> str:
    """Return the name of the dtype of a field; a number has none."""
    return str(found.dtype.name) if hasattr(found, "dtype") else ""


def _times_on(device: str, call: Callable[[], Any], warm_s: Sequence[float]) -> dict[str, Any]:
    """Return ``device_s`` where the device has a clock and calls are short."""
    if min(warm_s) > 1:
        return {}
    return {name: found for name, found in profile_calls(device, call).items() if name != "kernels"}
