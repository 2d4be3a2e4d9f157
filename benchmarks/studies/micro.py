"""Measure single operations next to python-graphblas, also on objects of eight entries.

Examples
--------
python -m benchmarks micro --quick
python -m benchmarks micro --graphs kron:16 --only mxm,mxv
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np

from benchmarks.harness import Options, Say, Study, graphs, option
from benchmarks.studies.micro_cases import CASES, TINY_CASES, Case, Operands, make_operands
from benchmarks.studies.selection import choose_cases
from semira.base.settings import settings
from semira.bench.environment import version_of
from semira.bench.graphs import BenchGraph
from semira.bench.record import Record
from semira.bench.timer import Budget, measure
from semira.formats import EdgeList

#: Calls averaged in one sample of overhead.
_CALLS = 200

#: Relative error allowed for sums in different orders, per rounded addition of a long sum.
_RTOL = 1e-9


@dataclass(frozen=True, slots=True)
class MicroOptions(Options):
    """Options of the study."""

    graphs: Sequence[str] = option(("kron:14", "kron:16"), quick=("kron:10",))
    only: Sequence[str] = option((), "Parts of names of operations.")
    peers: bool = option(True, "Run python-graphblas too, to check the results.")
    overhead: bool = option(True, "Measure calls on eight entries.")
    trials: int = option(7, quick=3)
    seconds: float = option(1.0, quick=0.2)
    calls: int = option(_CALLS, "Calls averaged in one sample of overhead.", least=1)


def tiny_graph() -> BenchGraph:
    """Return a ring of eight vertices."""
    from semira.io import arrays_of, from_edges

    ring = np.arange(8, dtype=np.int32)
    edges = EdgeList(8, 8, ring, (ring + 1) % 8, (ring + 1).astype(np.int32))
    matrix = from_edges(edges, name="ring of 8")
    return BenchGraph("ring of 8", matrix, arrays_of(matrix), 0.0, 0.0)


def _modules(options: MicroOptions, say: Callable[[str], None]) -> dict[str, Any]:
    import semira

    found: dict[str, Any] = {"semira": semira}
    if not options.peers:
        return found
    if version_of("python-graphblas") is None:
        say("peer suitesparse: not installed; results are not checked")
        return found
    from semira.bench.peers.suitesparse import open_graphblas

    return found | {"suitesparse": open_graphblas(settings().threads)}


def points(options: MicroOptions, xp: Any, say: Say) -> Iterator[tuple[str, BenchGraph, Any]]:
    """Yield the graphs and a tiny one, each with the kind of its records and the libraries.

    Raises
    ------
    InvalidValue
        No operation has a requested name.
    """
    _cases(options)
    modules = _modules(options, say)
    found = (("operation", graph, modules) for graph in graphs(options, xp, say))
    return chain(found, [("overhead", tiny_graph(), modules)] if options.overhead else [])


def _cases(options: MicroOptions) -> dict[str, Case]:
    """Return the chosen operations."""
    known = CASES | TINY_CASES if options.overhead else CASES
    return choose_cases(known, options.only, "operation")


def trial(options: MicroOptions, point: tuple[str, BenchGraph, Any]) -> Iterator[Record]:
    """Measure the operations on a graph by each library; they check each other."""
    import semira

    kind, graph, modules = point
    with semira.device(options.device):
        operands = {name: make_operands(module, graph.arrays) for name, module in modules.items()}
        operands["semira"] = place_operands(operands["semira"], options.device)
        for name, case in _cases(options).items():
            if name not in TINY_CASES or kind == "overhead":
                blank = Record(kind, name, graph.dataset, "")
                yield from _run_case(blank, case, modules, operands, options)


def place_operands(operands: Operands, device: str) -> Operands:
    """Return Semira's operands on a device."""
    names = ("A", "B", "L", "pattern", "dense", "other", "sparse")
    return replace(operands, **{name: getattr(operands, name).to(device) for name in names})


def _run_case(
    blank: Record,
    case: Case,
    modules: dict[str, Any],
    operands: dict[str, Operands],
    options: MicroOptions,
) -> list[Record]:
    budget = Budget(options.trials, options.seconds)
    records, results = [], {}
    for library, module in modules.items():
        result, record = _measure_one(
            replace(blank, library=library), case, module, operands[library], budget, options
        )
        results[library] = result
        records.append(record)
    if len(results) < 2:
        return [replace(record, note="not checked: no other library") for record in records]
    is_equal = same_result(results["semira"], results["suitesparse"])
    others = {"semira": "suitesparse", "suitesparse": "semira"}
    note = "" if is_equal else "the two libraries differ"
    return [
        replace(record, verified=is_equal, verified_by=others[record.library], note=note)
        for record in records
    ]


def _measure_one(
    blank: Record,
    case: Case,
    module: Any,
    operands: Operands,
    budget: Budget,
    options: MicroOptions,
) -> tuple[Any, Record]:
    calls = options.calls if blank.kind == "overhead" else 1

    def call_once() -> Any:
        return case(module, operands).wait()

    def call(_trial: int) -> Any:
        for _ in range(calls):
            call_once()

    result, samples = measure(call, budget, first=call_once)
    is_ours = blank.library == "semira"
    record = replace(
        blank,
        backend=options.device if is_ours else "",
        dtype=result.dtype.name,
        first_s=samples.first_s,
        compile_s=samples.compile_s if is_ours else None,
        compiled=samples.compiled if is_ours else 0,
        warm_s=[sample / calls for sample in samples.warm_s],
    )
    return result, record


def same_result(ours: Any, theirs: Any, rtol: float = _RTOL) -> bool:
    """Return whether two objects have equal entries, up to rounding of values."""
    if getattr(ours, "ndim", 0) == 0:
        return bool(np.isclose(ours.value, theirs.value, rtol=rtol))
    mine, other = _sorted(ours.to_coo()), _sorted(theirs.to_coo())
    places = all(np.array_equal(a, b) for a, b in zip(mine[:-1], other[:-1], strict=True))
    return places and bool(np.allclose(mine[-1], other[-1], rtol=rtol, atol=0))


def _sorted(coo: tuple[Any, ...]) -> tuple[Any, ...]:
    order = np.lexsort(coo[-2::-1])
    return tuple(part[order] for part in coo)


STUDY = Study(__doc__, MicroOptions, trial, points=points)
