"""Measurements of single operations, and of what a call costs on objects of eight entries."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.studies.micro_cases import CASES, TINY_CASES, Case, Operands, make_operands
from benchmarks.studies.selection import choose_cases
from semira.base.settings import settings
from semira.bench.environment import describe_environment, version_of
from semira.bench.graphs import BenchGraph, load_bench_graph
from semira.bench.record import Record, keep_records
from semira.bench.timer import Budget, measure
from semira.formats import EdgeList

#: Calls that one sample of overhead averages over.
_CALLS = 200

#: Relative error allowed to sums in different orders, per rounded addition of a long sum.
_RTOL = 1e-9


@dataclass(frozen=True, slots=True)
class MicroRequest:
    """What to measure.

    Attributes
    ----------
    graphs : sequence of str
    only : sequence of str
        Parts of names of operations; empty: all.
    peer : bool
        Whether python-graphblas runs beside, and checks.
    overhead : bool
        Whether calls on tiny objects are measured.
    trials : int
    seconds : float
        Budget of the warm calls of one case.
    device : str
    data : Path or None
    """

    graphs: Sequence[str] = ("kron:14", "kron:16")
    only: Sequence[str] = ()
    peer: bool = True
    overhead: bool = True
    trials: int = 7
    seconds: float = 1.0
    device: str = "cpu"
    data: Path | None = None
    calls: int = field(default=_CALLS)

    def cases(self) -> dict[str, Any]:
        """Return the chosen operations.

        Raises
        ------
        InvalidValue
            None has such a name.
        """
        known = CASES | TINY_CASES if self.overhead else CASES
        return choose_cases(known, self.only, "operation")


def tiny_graph() -> BenchGraph:
    """Return a ring of eight vertices."""
    from semira.io import arrays_of, from_edges

    ring = np.arange(8, dtype=np.int32)
    edges = EdgeList(8, 8, ring, (ring + 1) % 8, (ring + 1).astype(np.int32))
    matrix = from_edges(edges, name="ring of 8")
    return BenchGraph("ring of 8", matrix, arrays_of(matrix), 0.0, 0.0)


def _modules(request: MicroRequest, say: Callable[[str], None]) -> dict[str, Any]:
    import semira

    found: dict[str, Any] = {"semira": semira}
    if not request.peer:
        return found
    if version_of("python-graphblas") is None:
        say("peer suitesparse: not installed; results are not checked")
        return found
    from semira.bench.peers.suitesparse import open_graphblas

    return found | {"suitesparse": open_graphblas(settings().threads)}


def run_micro(
    request: MicroRequest,
    *,
    out: Path | None = None,
    say: Callable[[str], None] = lambda _text: None,
    done: Callable[[Record], None] = lambda _record: None,
) -> list[Record]:
    """Measure, check and record; see `semira.bench.suite.run_suite`.

    Raises
    ------
    InvalidValue
        No operation has a name asked for.
    MissingFile
        A graph is absent.
    FileWriteError
        `out` cannot be written.
    """
    cases = request.cases()
    environment = describe_environment()
    made = _measure_all(request, cases, _modules(request, say))
    return keep_records((replace(each, environment=environment) for each in made), out, done)


def _measure_all(
    request: MicroRequest, cases: dict[str, Any], modules: dict[str, Any]
) -> Iterator[Record]:
    from semira import device

    graphs: list[tuple[str, BenchGraph]] = [
        ("operation", load_bench_graph(name, request.data)) for name in request.graphs
    ]
    if request.overhead:
        graphs.append(("overhead", tiny_graph()))
    with device(request.device):
        for kind, graph in graphs:
            operands = {
                name: make_operands(module, graph.arrays) for name, module in modules.items()
            }
            operands["semira"] = place_operands(operands["semira"], request.device)
            for name, case in cases.items():
                if name in TINY_CASES and kind != "overhead":
                    continue
                blank = Record(kind, name, graph.dataset, "")
                yield from _run_case(blank, case, modules, operands, request)


def place_operands(operands: Operands, device: str) -> Operands:
    """Return our operands on a device."""
    names = ("A", "B", "L", "pattern", "dense", "other", "sparse")
    return replace(operands, **{name: getattr(operands, name).to(device) for name in names})


def _run_case(
    blank: Record,
    case: Case,
    modules: dict[str, Any],
    operands: dict[str, Operands],
    request: MicroRequest,
) -> list[Record]:
    budget = Budget(request.trials, request.seconds)
    records, results = [], {}
    for library, module in modules.items():
        result, record = _measure_one(
            replace(blank, library=library), case, module, operands[library], budget, request
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
    request: MicroRequest,
) -> tuple[Any, Record]:
    calls = request.calls if blank.kind == "overhead" else 1

    def call_once() -> Any:
        return case(module, operands).wait()

    def call(_trial: int) -> Any:
        for _ in range(calls):
            call_once()

    result, samples = measure(call, budget, first=call_once)
    is_ours = blank.library == "semira"
    record = replace(
        blank,
        backend=request.device if is_ours else "",
        dtype=result.dtype.name,
        first_s=samples.first_s,
        compile_s=samples.compile_s if is_ours else None,
        compiled=samples.compiled if is_ours else 0,
        warm_s=[sample / calls for sample in samples.warm_s],
    )
    return result, record


def same_result(ours: Any, theirs: Any, rtol: float = _RTOL) -> bool:
    """Return whether two objects have equal entries, values up to rounding."""
    if getattr(ours, "ndim", 0) == 0:
        return bool(np.isclose(ours.value, theirs.value, rtol=rtol))
    mine, other = _sorted(ours.to_coo()), _sorted(theirs.to_coo())
    places = all(np.array_equal(a, b) for a, b in zip(mine[:-1], other[:-1], strict=True))
    return places and bool(np.allclose(mine[-1], other[-1], rtol=rtol, atol=0))


def _sorted(coo: tuple[Any, ...]) -> tuple[Any, ...]:
    order = np.lexsort(coo[-2::-1])
    return tuple(part[order] for part in coo)
