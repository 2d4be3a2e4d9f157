"""Waiting for a launch: counted, and open to Ctrl-C."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira.backends.cuda.runtime.device import Runtime
from semira.backends.cuda.runtime.errors import reported
from semira.backends.cuda.runtime.executable import CudaExecutable

#: Seconds the host looks for the end without sleeping, and sleeps between looks after that.
SPIN_S = 2e-3
SLEEP_S = 5e-5


@dataclass(slots=True)
class Interrupt:
    """Whether Ctrl-C was pressed."""

    seen: bool = False


@dataclass(slots=True)
class Stop:
    """Tells a running loop to end after its iteration."""

    runtime: Runtime
    executable: CudaExecutable
    interrupt: Interrupt

    def pass_on(self) -> None:
        """Write the stop word if Ctrl-C was pressed."""
        if self.interrupt.seen:
            self.runtime.poke(self.executable.table, 8, _one(self.runtime))


_ones: dict[int, NDArray[np.int64]] = {}


def _one(runtime: Runtime) -> NDArray[np.int64]:
    if id(runtime) not in _ones:
        _ones[id(runtime)] = runtime.pinned(1)
        _ones[id(runtime)][0] = 1
    return _ones[id(runtime)]


def wait(runtime: Runtime, event: Any, stop: Stop | None) -> None:
    """Wait for an event: one synchronisation, during which Ctrl-C is noticed."""
    runtime.statistics.synchronisations += 1
    started = time.perf_counter()
    with reported("waiting for the GPU"):
        while not event.is_done:
            if stop is not None:
                stop.pass_on()
            if time.perf_counter() - started > SPIN_S:
                time.sleep(SLEEP_S)


@contextmanager
def held_interrupt(held: bool) -> Iterator[Interrupt]:
    """Let Ctrl-C end a loop at the end of its iteration; then raise KeyboardInterrupt."""
    interrupt = Interrupt()
    if not held or threading.current_thread() is not threading.main_thread():
        yield interrupt
        return
    before = signal.getsignal(signal.SIGINT)

    def note(signum: int, frame: Any) -> None:
        del signum, frame
        interrupt.seen = True

    signal.signal(signal.SIGINT, note)
    try:
        yield interrupt
    finally:
        signal.signal(signal.SIGINT, before)
    if interrupt.seen:
        raise KeyboardInterrupt
