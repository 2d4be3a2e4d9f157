"""What surrounds every compilation: a line for whoever waits, and silence of the compiler."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from semira.base import locks
from semira.base.status import StatusLine

_line = StatusLine()
_lock = locks.lock()
_count = 0
_quiet = 0
_was_unset = False


@contextmanager
def compiling() -> Iterator[None]:
    """Surround the compilation of a kernel that is not in the cache.

    A terminal or a notebook shows how many kernels this process has compiled, while it does.

    Examples
    --------
    >>> with compiling():
    ...     pass
    """
    global _count
    with _lock:
        _count += 1
        count = _count
    _line.show(f"compiling kernels for the first use ({count})...")
    try:
        with quiet_numba():
            yield
    finally:
        _line.clear()


@contextmanager
def quiet_numba() -> Iterator[None]:
    """Keep Numba from logging each step of a compilation, unless a level was set for its logger.

    It writes thousands of lines where an application logs at the level DEBUG.
    """
    global _quiet, _was_unset
    log = logging.getLogger("numba")
    with _lock:
        if not _quiet:
            _was_unset = log.level == logging.NOTSET
            if _was_unset:
                log.setLevel(logging.WARNING)
        _quiet += 1
    try:
        yield
    finally:
        with _lock:
            _quiet -= 1
            if not _quiet and _was_unset:
                log.setLevel(logging.NOTSET)
