"""Ctrl-C where it does no harm: it waits inside of a block, and takes effect between its steps.

Loops promise that every object holds what it held after the last complete iteration, and a
compiler that is left half way keeps its locks. While a `deferred` block runs in the main thread,
Ctrl-C is only noted; `check` stands where the work can be left.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

try:
    # What `signal` wraps: its enumerations take 8 us of each block.
    import _signal  # type: ignore[import-not-found]
except ImportError:
    _signal = signal

#: What Ctrl-C does outside of the block; None while nothing waits for it.
_before: Any = None
_is_asked = False

#: Blocks of `held` that the main thread is in.
_held = 0


def _note(signum: int, frame: Any) -> None:
    global _is_asked
    del signum, frame
    _is_asked = True


def check() -> None:
    """Let Ctrl-C that was noted in a `deferred` block take effect: its handler runs."""
    global _is_asked
    if _is_asked and not _held and threading.current_thread() is threading.main_thread():
        _is_asked = False
        _before(signal.SIGINT, None)


def deferred() -> _Deferred:
    """Let Ctrl-C take effect at `check` only, and when the block is left or another one entered.

    Does nothing outside of the main thread, inside of another block (but for the checks), and
    where Ctrl-C is ignored.

    Examples
    --------
    >>> with deferred():
    ...     check()
    """
    return _Deferred()


@contextmanager
def held() -> Iterator[None]:
    """Let checks do nothing: what is half done inside of the block could be seen after it.

    Stands inside of a `deferred` block, with a `check` behind it.

    Examples
    --------
    >>> with deferred(), held():
    ...     check()
    """
    global _held
    is_main = threading.current_thread() is threading.main_thread()
    _held += is_main
    try:
        yield
    finally:
        _held -= is_main


class _Deferred:
    __slots__ = ("_handler",)

    _handler: Any

    def __enter__(self) -> None:
        global _before
        handler = _signal.getsignal(signal.SIGINT)
        is_main = threading.current_thread() is threading.main_thread()
        if _before is not None or not is_main or not callable(handler):
            self._handler = None
            check()
            return
        self._handler = _before = handler
        _signal.signal(signal.SIGINT, _note)

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        global _before, _is_asked
        try:
            if kind is None:
                check()
        finally:
            if self._handler is not None:
                _signal.signal(signal.SIGINT, self._handler)
                _before, _is_asked = None, False
