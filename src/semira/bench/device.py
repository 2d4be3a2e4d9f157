"""What only a device with its own clock can say: times of launches, kernels."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import numpy as np

from semira.backends.registry import backend_for

#: Calls that are profiled apart from the warm ones, whose events cost time of the host: so many,
#: or fewer if they take longer than so many seconds.
PROFILED, PROFILED_S = 3, 2.0


def array_module(device: str) -> Any:
    """Return NumPy, or what computes like NumPy on `device`: results are checked with it."""
    found = getattr(backend_for(device), "array_module", None)
    return np if found is None else found()


def free_memory(xp: Any) -> None:
    """Give back what checks have used on the device; Semira's memory is not the same pool."""
    pool = getattr(xp, "get_default_memory_pool", None)
    if pool is not None:
        pool().free_all_blocks()


#: Seconds that a device is held while the host queues a warm call of an algorithm.
QUEUED_S = 2e-3

#: Seconds that a device is held at least, in which the host queues a call of few launches.
LEAST_HELD_S = 1e-3


def device_seconds(
    device: str, call: Callable[[], Any], *, held_s: float | None = None
) -> float | None:
    """Return the seconds of the launches of a call; None on a device without a clock of its own.

    `held_s` is that of `profile_calls`.
    """
    seconds = profile_calls(device, call, held_s=held_s, times=1).get("device_s")
    return float(seconds[0]) if seconds else None


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


#: Keeps one thread busy for so many nanoseconds.
_HOLD = r"""
extern "C" __global__ void semira_hold(unsigned long long duration) {
  unsigned long long start, now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(start));
  do {
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  } while (now - start < duration);
}
"""

#: Longest time that a device is held.
_MOST_HELD_S = 0.25


@functools.cache
def _holding(xp: Any) -> Any:
    return xp.RawKernel(_HOLD, "semira_hold")


def hold(xp: Any, stream: Any, seconds: float) -> None:
    """Keep a stream of CuPy busy: what is launched on it next queues up, and runs without gaps."""
    duration = np.uint64(1e9 * min(max(seconds, LEAST_HELD_S), _MOST_HELD_S))
    with stream:
        _holding(xp)((1,), (1,), (duration,))


def _hold(device: str, seconds: float) -> None:
    """Keep Semira's stream busy, where there is something to do it with."""
    xp = array_module(device)
    if hasattr(xp, "RawKernel"):
        backend: Any = backend_for(device)
        hold(xp, xp.cuda.Stream.from_external(backend.runtime.stream), seconds)
