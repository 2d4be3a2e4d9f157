"""What only a device with its own clock can say: times of launches, kernels, cached copies."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from semira.backends.registry import backend_for
from semira.bench.environment import version_of
from semira.bench.graphs import BenchGraph
from semira.bench.record import Record
from semira.bench.timer import clock

#: Calls that are profiled apart from the warm ones, whose events cost time of the host: so many,
#: or fewer if they take longer than so many seconds.
PROFILED, PROFILED_S = 3, 2.0

#: Calls that are profiled where ways of 20 us are compared to a tenth.
STEADY = 9

#: Times that a copy is built again, or fewer if that takes longer than so many seconds.
_BUILDS, _BUILD_S = 3, 2.0


def array_module(device: str) -> Any:
    """Return NumPy, or what computes like NumPy on `device`: results are checked with it."""
    found = getattr(backend_for(device), "array_module", None)
    return np if found is None else found()


def free_memory(xp: Any) -> None:
    """Give back what checks have used on the device; Semira's memory is not the same pool."""
    pool = getattr(xp, "get_default_memory_pool", None)
    if pool is not None:
        pool().free_all_blocks()


#: Seconds that a device is held at least, in which the host queues a call of few launches.
LEAST_HELD_S = 1e-3


def held_for(calls_s: Sequence[float]) -> float:
    """Return for how long to hold a device, in which the host queues a call of these seconds.

    Examples
    --------
    >>> round(held_for([3e-3, 2e-3, 9e-3]), 6)
    0.007
    """
    return 2 * statistics.median(calls_s) + LEAST_HELD_S


def device_seconds(
    device: str, call: Callable[[], Any], *, held_s: float | None = None
) -> float | None:
    """Return the seconds of the launches of a call; None on a device without a clock of its own.

    `held_s` is that of `profile_calls`.
    """
    profiled = getattr(backend_for(device), "profiled", None)
    if profiled is None:
        return None
    with profiled() as profile:
        if held_s is not None:
            _hold(device, held_s)
        call()
    return float(profile.device_ms) / 1e3


def profile_calls(
    device: str, call: Callable[[], Any], *, held_s: float | None = None, times: int = PROFILED
) -> dict[str, Any]:
    """Return ``device_s`` of a few calls and the ``kernels`` of the last, as records have them.

    Empty on a device without a profile. Events round a launch of a few microseconds also time the
    host's next step, unless the device was held for `held_s` until all was queued.
    """
    profiled = getattr(backend_for(device), "profiled", None)
    if profiled is None:
        return {}
    device_s, kernels = [], []
    for _ in range(times):
        with profiled() as profile:
            if held_s is not None:
                _hold(device, held_s)
            call()
        device_s.append(profile.device_ms / 1e3)
        kernels = [asdict(use) for use in profile.kernels()]
        if sum(device_s) >= PROFILED_S:
            break
    return {"device_s": device_s, "kernels": kernels}


def _hold(device: str, seconds: float) -> None:
    """Keep Semira's stream busy, where there is something to do it with."""
    xp = array_module(device)
    if hasattr(xp, "RawKernel"):
        from semira.bench.peers.cupy import hold

        backend: Any = backend_for(device)
        hold(xp.cuda.Stream.from_external(backend.runtime.stream), seconds)


def measure_copies(graph: BenchGraph, device: str, blank: Record) -> list[Record]:
    """Return records of what a matrix keeps on the device: rows, columns, the row of each entry.

    Columns are made as of a matrix that nobody knows to be symmetric: they are sorted, then
    compared with the rows. Each copy is made at a matrix that has its rows alone; ``arrays_bytes``
    is what stays, with what else was made on the way.
    """
    backend: Any = backend_for(device)
    arrays = replace(graph.arrays.ordinary(), symmetric=None)
    steps: dict[str, Callable[[Any], Any]] = {
        "make columns": lambda handle: backend.convert(handle, "csc"),
        "entry rows": lambda handle: handle.entry_rows("csr"),
    }
    samples: dict[str, list[float]] = {"put rows": [], **{name: [] for name in steps}}
    kept: dict[str, int] = {}
    start_s = time.perf_counter()
    for build in range(1 + _BUILDS):
        if build > 1 and time.perf_counter() - start_s > _BUILD_S:
            break
        for name, step in steps.items():
            handle, put_s = clock(lambda: _complete(backend, lambda _: backend.put(arrays), None))
            if name == "make columns":
                samples["put rows"].append(put_s)
            kept["put rows"] = sum(handle.memory_usage().values())
            _, step_s = clock(lambda step=step, at=handle: _complete(backend, step, at))  # type: ignore[misc]
            samples[name].append(step_s)
            kept[name] = sum(handle.memory_usage().values()) - kept["put rows"]
            backend.release(handle)
    return [
        replace(
            blank, kind="copy", kernel=name, library="semira", backend=device,
            first_s=times[0], warm_s=times[1:], arrays_bytes=kept[name],
        )
        for name, times in samples.items()
    ]  # fmt: skip


def _complete(backend: Any, step: Callable[[Any], Any], handle: Any) -> Any:
    made = step(handle)
    backend.synchronise()
    return made


def product_peer(
    device: str, say: Callable[[str], None], *, cusparse: Any, scipy: Any, wanted: bool = True
) -> Any:
    """Return what times a peer's product: cuSPARSE's on the GPU, SciPy's on the host, or None."""
    if not wanted:
        return None
    if device != "cuda":
        return scipy
    if version_of("cupy-cuda13x") is None:
        say("peer cupy: not installed")
        return None
    return cusparse
