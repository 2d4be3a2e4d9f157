"""Clocks: the first call, the compiling in it, and the warm calls, each on its own."""

from __future__ import annotations

import gc
import math
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any


class TooSlow(Exception):  # noqa: N818 - says what happened, and is no fault
    """A call was stopped at its time limit."""


@dataclass(frozen=True, slots=True)
class Budget:
    """How long to measure one case."""

    #: Warm calls.
    trials: int
    #: No further warm call starts once the warm calls took so long together.
    seconds: float
    #: The same for the calls and what is done with their results.
    wall: float = math.inf
    #: More than `trials` warm calls start until they took so long together: the first ones of a
    #: short call meet cold caches.
    least: float = 0.0


@dataclass(slots=True)
class Samples:
    """Times of one case, in seconds."""

    first_s: float
    warm_s: list[float] = field(default_factory=list)
    #: Part of `first_s`.
    compile_s: float = 0.0
    #: Functions compiled in the first call.
    compiled: int = 0


@dataclass(slots=True)
class _Compiling:
    seconds: float = 0.0
    functions: int = 0


@contextmanager
def watch_compiler() -> Iterator[_Compiling]:
    """Count what Numba compiles inside of the block; what it finds on disk does not count."""
    from numba.core import event

    seen = _Compiling()
    with (
        event.install_listener("numba:compile", event.TimingListener()) as clock,
        event.install_recorder("numba:compile") as recorder,
    ):
        yield seen
    seen.seconds = clock.duration if clock.done else 0.0
    seen.functions = sum(each.is_start for _, each in recorder.buffer)


@contextmanager
def quiet_collector() -> Iterator[None]:
    """Keep Python's garbage collector out of the block."""
    gc.collect()
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@contextmanager
def time_limit(seconds: float | None) -> Iterator[None]:
    """Stop Python code after a while.

    Only in the main thread of a system with timers; elsewhere there is no limit. Compiled code is
    stopped when it returns. Raises TooSlow if the time is over.
    """
    is_main = threading.current_thread() is threading.main_thread()
    if seconds is None or not is_main or not hasattr(signal, "setitimer"):
        yield
        return

    def stop(_signal: int, _frame: Any) -> None:
        raise TooSlow(f"over {seconds:g} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def clock(call: Callable[[], Any]) -> tuple[Any, float]:
    """Return what `call` returns and the seconds it took."""
    start_s = time.perf_counter()
    result = call()
    return result, time.perf_counter() - start_s


def measure(
    call: Callable[[int], Any],
    budget: Budget,
    *,
    first: Callable[[], Any] | None = None,
    observe: Callable[[Any], None] = lambda _result: None,
) -> tuple[Any, Samples]:
    """Call once, then warm until the budget is used, at least once; the first result comes along.

    `call` takes the number of the trial and returns when its result is complete; `first` is the
    first call, if that is not like the others. `observe` takes the result of each warm call, while
    no clock runs.
    """
    with quiet_collector():
        with watch_compiler() as compiling:
            result, first_s = clock(first or (lambda: call(0)))
        samples = Samples(first_s, [], compiling.seconds, compiling.functions)
        start_s, total_s = time.perf_counter(), 0.0
        for trial in count():
            if trial >= budget.trials and total_s >= budget.least:
                break
            found, warm_s = clock(lambda trial=trial: call(trial))  # type: ignore[misc]
            samples.warm_s.append(warm_s)
            observe(found)
            total_s += warm_s
            spent_s = time.perf_counter() - start_s
            if total_s >= budget.seconds or spent_s >= budget.wall:
                break
    return result, samples
