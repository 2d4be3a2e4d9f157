"""Waiting for a launch: counted, and open to Ctrl-C."""

from __future__ import annotations

import signal
import threading
import time

# Not `signal.signal`, which looks every handler up among the constants: as long as a launch takes.
from _signal import signal as _set_handler  # type: ignore[import-not-found]
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira.backends.cuda.layout import STOP_WORD
from semira.backends.cuda.runtime.device import Runtime
from semira.backends.cuda.runtime.executable import CudaExecutable

#: As a plain number: an enumeration is looked up in its class.
_SIGINT = int(signal.SIGINT)

#: Seconds the host looks for the end without sleeping, and sleeps between looks after that.
SPIN_S = 1e-2
SLEEP_S = 5e-5


class Interrupt:
    """Lets Ctrl-C end a loop at the end of its iteration; as a block, raises it when that is left.

    What leaves the block says how far the loop came: whoever rebinds names after it needs to know.
    """

    __slots__ = ("_before", "_is_heard", "completed", "seen")

    def __init__(self, *, seen: bool = False) -> None:
        #: Ctrl-C was pressed.
        self.seen = seen
        #: Complete iterations of the outermost loop so far.
        self.completed = 0
        self._is_heard = False

    def note(self, signum: int, frame: Any) -> None:
        """Take the signal."""
        del signum, frame
        self.seen = True

    def __enter__(self) -> Interrupt:
        if threading.get_ident() == threading.main_thread().ident:
            self._before = _set_handler(_SIGINT, self.note)
            self._is_heard = True
        return self

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if self._is_heard:
            before = self._before
            _set_handler(_SIGINT, signal.SIG_DFL if before is None else before)
        if error is None and self.seen:
            error = KeyboardInterrupt()
            error.semira_iterations = self.completed  # type: ignore[attr-defined]
            raise error
        if error is not None:
            error.semira_iterations = self.completed  # type: ignore[attr-defined]


@dataclass(slots=True)
class Stop:
    """Tells a running loop to end after its iteration."""

    runtime: Runtime
    executable: CudaExecutable
    interrupt: Interrupt
    is_passed_on: bool = False

    def pass_on(self) -> None:
        """Write the stop word if Ctrl-C was pressed; again each time: the first may be zeroed."""
        if self.interrupt.seen:
            self.is_passed_on = True
            self.runtime.poke(self.executable.state, 8 * STOP_WORD, _one(self.runtime))

    def clean_up(self) -> None:
        """Leave no stop word to later launches: they get other memory."""
        if self.is_passed_on:
            self.runtime.side_stream.sync()
            self.executable.state = None
            self.executable.frame.forget()


_ones: dict[int, NDArray[np.int64]] = {}


def _one(runtime: Runtime) -> NDArray[np.int64]:
    if id(runtime) not in _ones:
        _ones[id(runtime)] = runtime.pinned(1)
        _ones[id(runtime)][0] = 1
    return _ones[id(runtime)]


def wait(runtime: Runtime, stop: Stop | None) -> None:
    """Wait for the stream: one synchronisation, during which Ctrl-C is noticed."""
    runtime.statistics.synchronisations += 1
    started = time.perf_counter()
    while not runtime.is_idle():
        if stop is not None:
            stop.pass_on()
        if time.perf_counter() - started > SPIN_S:
            time.sleep(SLEEP_S)
    if stop is not None:
        stop.clean_up()
