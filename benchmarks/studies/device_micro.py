"""Measure single operations on the GPU: device times, bytes, CuPy, and the host's part.

Calls on eight entries do not wait: they measure the cost of a call in Python.

Examples
--------
python -m benchmarks cuda-micro --quick
python -m benchmarks cuda-micro --graphs kron:20 --only mxv,vxm --out results/cuda_micro.jsonl
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np

from benchmarks.harness import Say, Study, graphs, option
from benchmarks.studies.micro import MicroOptions, place_operands, same_result, tiny_graph
from benchmarks.studies.micro_cases import TINY_CASES, Case, Operands, make_operands
from benchmarks.studies.probes import PROBES, Probe, Probed, probe_bytes, probed
from benchmarks.studies.selection import choose_cases
from semira.backends.registry import backend_for
from semira.bench.device import profile_calls
from semira.bench.environment import version_of
from semira.bench.graphs import BenchGraph
from semira.bench.record import Record
from semira.bench.timer import Budget, measure

#: Most entries for heavy probes.
HEAVY_ENTRIES = 4_000_000

#: Batches of calls on tiny objects, and calls per batch, without waits inside. More calls would
#: fill the launch queue, and the host would wait for the device after all.
BATCHES, BATCH = 8, 250

#: Relative error allowed for sums in different orders, by the precision of the values.
_RTOL = {"FP32": 1e-4}
_RTOL_ELSE = 1e-9


@dataclass(frozen=True, slots=True)
class DeviceOptions(MicroOptions):
    """Options of the study."""

    graphs: Sequence[str] = option(("kron:16", "kron:20"), quick=("kron:12",))
    trials: int = option(10, quick=3)
    device: str = option("cuda")
    peers: bool = option(True, "Run CuPy too.")
    check: bool = option(True, "Recompute everything on the cpu.")


def points(options: DeviceOptions, _xp: Any, say: Say) -> Iterator[Any]:
    """Yield the graphs, then a tiny one, each with its operations and peer.

    Raises
    ------
    InvalidValue
        No operation has a requested name.
    """
    known: dict[str, Any] = PROBES | TINY_CASES if options.overhead else dict(PROBES)
    cases = choose_cases(known, options.only, "operation")
    chosen = {name: case for name, case in cases.items() if name in PROBES}
    tiny = {name: case for name, case in cases.items() if name in TINY_CASES}
    peer = _peer(options, say)
    # Checks compute on the host.
    found = graphs(options, np, say) if chosen else iter(())
    return chain(
        ((graph, chosen, peer) for graph in found),
        [(tiny_graph(), tiny, None)] if tiny else [],
    )


def _peer(options: DeviceOptions, say: Say) -> Any:
    if not options.peers or options.device != "cuda":
        return None
    if version_of("cupy-cuda13x") is None:
        say("peer cupy: not installed")
        return None
    from benchmarks import cupy_calls

    return cupy_calls


def trial(options: DeviceOptions, point: tuple[BenchGraph, Any, Any]) -> Iterator[Record]:
    """Measure and check the operations on a graph."""
    import semira as gb

    graph, cases, peer = point
    with gb.device(options.device):
        if cases.keys() <= PROBES.keys():
            yield from _measure_graph(options, graph, cases, peer)
            return
        operands = place_operands(make_operands(gb, graph.arrays), options.device)
        for name, case in cases.items():
            blank = Record("overhead", name, graph.dataset, "semira", options.device)
            yield measure_overhead(blank, case, operands)


def _measure_graph(
    options: DeviceOptions, graph: BenchGraph, cases: dict[str, Probe], peer: Any
) -> Iterator[Record]:
    import semira as gb

    expected = None
    if options.check:
        with gb.device("cpu"):
            expected = probed(gb, graph, "cpu")
    operands = probed(gb, graph, options.device)
    theirs = None if peer is None else peer.cupy_operands(graph)
    for name, probe in cases.items():
        if probe.is_heavy and graph.arrays.nvals > HEAVY_ENTRIES:
            continue
        blank = Record("operation", name, graph.dataset, "semira", options.device)
        result, record = _measure_probe(blank, probe, operands, options)
        if expected is not None:
            with gb.device("cpu"):
                other = probe.run(gb, expected)
            is_right = same_result(result, other, rtol_of(result))
            note = "" if is_right else "the cpu backend differs"
            record = replace(record, verified=is_right, verified_by="the cpu backend", note=note)
        yield record
        if theirs is not None and probe.peer is not None:
            yield _measure_peer(record, probe, peer, theirs, result, options)


def rtol_of(result: Any) -> float:
    """Return the relative error allowed for a result."""
    return rtol_in(result.dtype.name)


def rtol_in(dtype: str) -> float:
    """Return the relative error allowed for results of a dtype."""
    return _RTOL.get(dtype, _RTOL_ELSE)


def _measure_probe(
    blank: Record, probe: Probe, operands: Probed, options: DeviceOptions
) -> tuple[Any, Record]:
    import semira as gb

    def call(_trial: int = 0) -> Any:
        return probe.run(gb, operands).wait()

    result, samples = measure(call, Budget(options.trials, options.seconds))
    with gb.tracing() as trace:
        call()
    record = replace(
        blank,
        dtype=result.dtype.name,
        first_s=samples.first_s,
        warm_s=samples.warm_s,
        least_bytes=probe_bytes(probe, operands, result, list(trace.rows)),
        **profile_calls(options.device, call),
    )
    return result, record


def _measure_peer(
    ours: Record, probe: Probe, peer: Any, theirs: Any, result: Any, options: DeviceOptions
) -> Record:
    assert probe.peer is not None
    made, walls, times = peer.run_timed(lambda: probe.peer(theirs), options.trials)
    is_equal = agrees(result, peer.to_host(made))
    return replace(
        ours, library="cupy", backend="", first_s=None, warm_s=walls, device_s=times, kernels=[],
        verified=is_equal, verified_by="semira", note="" if is_equal else "differs from Semira",
    )  # fmt: skip


def agrees(ours: Any, theirs: Any) -> bool:
    """Return whether a Semira object has the values of a NumPy array or of sorted entries."""
    rtol = rtol_of(ours)
    if isinstance(theirs, tuple):
        mine = ours.to_coo()
        places = all(np.array_equal(a, b) for a, b in zip(mine[:2], theirs[:2], strict=True))
        return places and bool(np.allclose(mine[2], theirs[2], rtol=rtol, atol=0))
    found = ours.value if ours.ndim == 0 else ours.to_dense(0)
    return bool(np.allclose(found, theirs, rtol=rtol, atol=0))


def measure_overhead(blank: Record, case: Case, operands: Operands) -> Record:
    """Return the host's time of a call on tiny objects, without waiting for the device.

    The note has the time until the device finished, which bounds a loop of these calls.
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


STUDY = Study(__doc__, DeviceOptions, trial, points=points)
