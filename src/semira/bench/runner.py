"""One kernel on one graph by several libraries: measure, check, record."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira.base.errors import GraphblasException
from semira.bench.graphs import BenchGraph
from semira.bench.libraries import FROM_SOURCE, KERNELS, UNDIRECTED, Entry, Library
from semira.bench.record import Record
from semira.bench.timer import Budget, TooSlow, clock, measure, time_limit
from semira.bench.verify import Verdict, verify


@dataclass(frozen=True, slots=True)
class Preset:
    """How often each kernel is measured, and where searches start."""

    #: By kernel.
    trials: dict[str, int]
    #: Budget of the warm calls of one case.
    seconds: float
    #: Different start vertices, drawn at random; 0: the vertex with most edges alone.
    sources: int = 0
    #: As that of `Budget`.
    wall: float = math.inf


#: The default; a quick look; the trials of the GAP benchmark suite (Beamer, Asanović and
#: Patterson 2015, section 5), which start searches at 64 vertices.
PRESETS = {
    "default": Preset(dict.fromkeys(KERNELS, 5), 6.0),
    "quick": Preset(dict.fromkeys(KERNELS, 3), 1.0),
    "gap": Preset({"bfs": 64, "sssp": 64, "pagerank": 16, "cc": 16, "tc": 3}, 600.0, 64),
}


#: A case that was computed: its record so far, and the answer to check.
_Run = tuple[Record, NDArray[Any] | None]


def run_kernel(
    kernel: str,
    graph: BenchGraph,
    libraries: Sequence[Library],
    preset: Preset,
    *,
    trials: int | None = None,
    seconds: float | None = None,
    environment: dict[str, Any] | None = None,
    both_ways: bool = False,
    done: Callable[[Record], None] = lambda _record: None,
) -> list[Record]:
    """Measure a kernel with each library, then check every answer; return a record for each.

    `trials` and `seconds` take the place of the preset's; `environment` is put into every record.
    `both_ways` gives the undirected graph to every kernel, not only to those that need it. `done`
    is called with each checked record. A library without the kernel, or one that refuses the graph,
    has a record without times whose note says why.
    """
    budget = Budget(trials or preset.trials[kernel], seconds or preset.seconds, preset.wall)
    used = graph.undirected if both_ways or kernel in UNDIRECTED else graph
    sources = used.sources(preset.sources if kernel in FROM_SOURCE else 0)
    blank = Record(
        "algorithm", kernel, used.dataset, "",
        load_s=graph.load_s, build_s=used.build_s, environment=environment or {},
    )  # fmt: skip
    runs = [
        _run(library, replace(blank, library=library.name), kernel, used, sources, budget)
        for library in libraries
    ]
    answers = {record.library: answer for record, answer in runs if answer is not None}
    options = libraries[0].options.get(kernel, {}) if libraries else {}
    try:
        verdicts = verify(kernel, used, sources[0], answers, options.get("max_iterations"))
    except MemoryError as error:
        # Not checked is not wrong; what was measured stays.
        unchecked = Verdict(None, "", f"no memory to check it: {error}")
        verdicts = dict.fromkeys(answers, unchecked)
    records = []
    for computed, _ in runs:
        record, verdict = computed, verdicts.get(computed.library)
        if verdict is not None:
            record = replace(
                record, verified=verdict.ok, verified_by=verdict.method,
                note="; ".join(text for text in (record.note, verdict.finding) if text),
            )  # fmt: skip
        done(record)
        records.append(record)
    return records


def _run(
    library: Library,
    blank: Record,
    kernel: str,
    graph: BenchGraph,
    sources: Sequence[int],
    budget: Budget,
) -> _Run:
    """Measure one library; what goes wrong becomes the note of a record."""
    entry = library.entries.get(kernel)
    blank = replace(
        blank, backend=library.backend, dtype=library.dtypes.get(kernel, ""),
        options=dict(library.options.get(kernel, {})),
    )  # fmt: skip
    if entry is None:
        return replace(blank, note="has no such algorithm"), None
    refusal = entry.refuse(graph)
    if refusal is not None:
        return replace(blank, note=f"not tried: {refusal}"), None
    edges: list[int] = []

    def count_edges(result: Any) -> None:
        edges.append(visited_edges(kernel, graph, np.atleast_1d(entry.answer(result, graph))))

    try:
        with time_limit(entry.limit_s):
            objects, convert_s = clock(lambda: entry.prepare(graph))
        call = _caller(entry, objects, sources)
        result, samples = measure(call, budget, observe=count_edges)
        answer = np.atleast_1d(entry.answer(result, graph))
    except (TooSlow, MemoryError) as error:
        return replace(blank, note=f"stopped: {str(error) or 'out of memory'}"), None
    except GraphblasException as error:
        # A library that fails where it should not is a wrong result, not a gap in a table.
        return replace(blank, verified=False, note=f"{type(error).__name__}: {error}"), None
    starts = [sources[trial % len(sources)] for trial in range(len(samples.warm_s))]
    is_ours = library.backend != ""
    record = replace(
        blank,
        plan=dict(library.plan),
        convert_s=convert_s,
        compile_s=samples.compile_s if is_ours else None,
        compiled=samples.compiled if is_ours else 0,
        first_s=samples.first_s,
        warm_s=samples.warm_s,
        sources=starts if kernel in FROM_SOURCE else [],
        edges=edges,
        # The first warm call starts where the first call did.
        **library.inspect(kernel, result, objects, edges[0]),
        **library.profile(lambda: call(0)),
        facts=library.fresh(kernel, graph, sources[0]),
    )
    return record, answer


def visited_edges(kernel: str, graph: BenchGraph, answer: NDArray[Any]) -> int:
    """Return the edges of TEPS: degrees of the vertices that a search reached, else all."""
    if kernel not in FROM_SOURCE or answer.shape != (graph.n,):
        return graph.arrays.nvals
    is_reached = np.isfinite(answer) & (answer >= 0)
    return int(graph.degrees[is_reached].sum())


def _caller(entry: Entry, objects: Any, sources: Sequence[int]) -> Callable[[int], Any]:
    def call(trial: int) -> Any:
        with time_limit(entry.limit_s):
            return entry.run(objects, sources[trial % len(sources)])

    return call
