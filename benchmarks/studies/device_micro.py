"""Measurements of single operations on the GPU, and of what a call costs the host there."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.studies.micro import MicroRequest, place_operands, same_result, tiny_graph
from benchmarks.studies.micro_cases import TINY_CASES, Case, Operands, make_operands
from benchmarks.studies.probes import PROBES, Probe, Probed, probe_bytes, probed
from benchmarks.studies.selection import choose_cases
from semira.backends.registry import backend_for
from semira.bench.device import profile_calls
from semira.bench.environment import describe_environment, version_of
from semira.bench.graphs import BenchGraph, load_bench_graph
from semira.bench.record import Record, keep_records
from semira.bench.timer import Budget, measure

#: Entries beyond which heavy probes are left out.
HEAVY_ENTRIES = 4_000_000

#: Calls on tiny objects: so many batches of so many, each without a wait inside. More calls would
#: fill the queue of launches, and the host would wait for the device after all.
BATCHES, BATCH = 8, 250

#: Relative error allowed to sums in different orders, by the precision of the values.
_RTOL = {"FP32": 1e-4}
_RTOL_ELSE = 1e-9


@dataclass(frozen=True, slots=True)
class DeviceRequest(MicroRequest):
    """What to measure.

    Attributes
    ----------
    check : bool
        Whether the cpu backend computes everything again; the peer is CuPy.
    """

    graphs: Sequence[str] = ("kron:16", "kron:20")
    trials: int = 10
    device: str = "cuda"
    check: bool = True

    def cases(self) -> dict[str, Any]:
        """Return the chosen operations, as `MicroRequest.cases`."""
        known: dict[str, Any] = PROBES | TINY_CASES if self.overhead else dict(PROBES)
        return choose_cases(known, self.only, "operation")


def run_device_micro(
    request: DeviceRequest,
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
    DeviceUnavailable
        This machine lacks the device; `out` is left as it is.
    FileWriteError
        `out` cannot be written.
    """
    cases = request.cases()
    environment = describe_environment(request.device)
    made = _measure_all(request, cases, _peer(request, say))
    return keep_records((replace(each, environment=environment) for each in made), out, done)


def _peer(request: DeviceRequest, say: Callable[[str], None]) -> Any:
    if not request.peer or request.device != "cuda":
        return None
    if version_of("cupy-cuda13x") is None:
        say("peer cupy: not installed")
        return None
    from benchmarks import cupy_calls as cupy

    return cupy


def _measure_all(request: DeviceRequest, cases: dict[str, Any], peer: Any) -> Iterator[Record]:
    import semira as gb

    chosen = {name: case for name, case in cases.items() if name in PROBES}
    with gb.device(request.device):
        for name in request.graphs if chosen else ():
            yield from _measure_graph(request, load_bench_graph(name, request.data), chosen, peer)
        tiny = {name: case for name, case in cases.items() if name in TINY_CASES}
        if tiny:
            graph = tiny_graph()
            operands = place_operands(make_operands(gb, graph.arrays), request.device)
            for name, case in tiny.items():
                blank = Record("overhead", name, graph.dataset, "semira", request.device)
                yield measure_overhead(blank, case, operands)


def _measure_graph(
    request: DeviceRequest, graph: BenchGraph, cases: dict[str, Probe], peer: Any
) -> Iterator[Record]:
    import semira as gb

    expected = None
    if request.check:
        with gb.device("cpu"):
            expected = probed(gb, graph, "cpu")
    operands = probed(gb, graph, request.device)
    theirs = None if peer is None else peer.cupy_operands(graph)
    for name, probe in cases.items():
        if probe.is_heavy and graph.arrays.nvals > HEAVY_ENTRIES:
            continue
        blank = Record("operation", name, graph.dataset, "semira", request.device)
        result, record = _measure_probe(blank, probe, operands, request)
        if expected is not None:
            with gb.device("cpu"):
                other = probe.run(gb, expected)
            is_right = same_result(result, other, rtol_of(result))
            note = "" if is_right else "the cpu backend differs"
            record = replace(record, verified=is_right, verified_by="the cpu backend", note=note)
        yield record
        if theirs is not None and probe.peer is not None:
            yield _measure_peer(record, probe, peer, theirs, result, request)


def rtol_of(result: Any) -> float:
    """Return the relative error allowed to a result."""
    return rtol_in(result.dtype.name)


def rtol_in(dtype: str) -> float:
    """Return the relative error allowed to results of a dtype."""
    return _RTOL.get(dtype, _RTOL_ELSE)


def _measure_probe(
    blank: Record, probe: Probe, operands: Probed, request: DeviceRequest
) -> tuple[Any, Record]:
    import semira as gb

    def call(_trial: int = 0) -> Any:
        return probe.run(gb, operands).wait()

    result, samples = measure(call, Budget(request.trials, request.seconds))
    with gb.tracing() as trace:
        call()
    record = replace(
        blank,
        dtype=result.dtype.name,
        first_s=samples.first_s,
        warm_s=samples.warm_s,
        least_bytes=probe_bytes(probe, operands, result, list(trace.rows)),
        **profile_calls(request.device, call),
    )
    return result, record


def _measure_peer(
    ours: Record, probe: Probe, peer: Any, theirs: Any, result: Any, request: DeviceRequest
) -> Record:
    assert probe.peer is not None
    made, walls, times = peer.run_timed(lambda: probe.peer(theirs), request.trials)
    is_equal = agrees(result, peer.to_host(made))
    return replace(
        ours, library="cupy", backend="", first_s=None, warm_s=walls, device_s=times, kernels=[],
        verified=is_equal, verified_by="semira", note="" if is_equal else "differs from Semira",
    )  # fmt: skip


def agrees(ours: Any, theirs: Any) -> bool:
    """Return whether an object of ours has the values of a NumPy array or of sorted entries."""
    rtol = rtol_of(ours)
    if isinstance(theirs, tuple):
        mine = ours.to_coo()
        places = all(np.array_equal(a, b) for a, b in zip(mine[:2], theirs[:2], strict=True))
        return places and bool(np.allclose(mine[2], theirs[2], rtol=rtol, atol=0))
    found = ours.value if ours.ndim == 0 else ours.to_dense(0)
    return bool(np.allclose(found, theirs, rtol=rtol, atol=0))


def measure_overhead(blank: Record, case: Case, operands: Operands) -> Record:
    """Return the host's time of a call on tiny objects, nobody waiting for the device.

    The note has the time until the device has finished, which bounds a loop of such calls.
    """
    import semira as gb

    wait = backend_for(blank.backend).synchronise
    start_s = time.perf_counter()
    result = case(gb, operands)
    wait()
    first_s = time.perf_counter() - start_s
    submitted, finished = [], []
    for _ in range(BATCHES):
        start_s = time.perf_counter()
        for _ in range(BATCH):
            case(gb, operands)
        submitted.append((time.perf_counter() - start_s) / BATCH)
        wait()
        finished.append((time.perf_counter() - start_s) / BATCH)
    return replace(
        blank,
        dtype=result.dtype.name,
        first_s=first_s,
        warm_s=submitted,
        note=f"finished after {1e6 * statistics.median(finished):.1f} us a call",
    )
