"""Locks that are free in a forked child.

A child has only the thread that forked. A lock that another thread of the parent held at that
moment would stay locked there for ever, so every lock of the package is made here and renewed in
the child. What a lock guards must be usable at every step of a change: the child may see the state
between two of them.
"""

from __future__ import annotations

import functools
import logging  # noqa: F401 - before the registration below, see `wait_at_fork`
import os
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, TypeVar
from weakref import WeakSet

T = TypeVar("T")

_made: WeakSet[Any] = WeakSet()
_waited_for: list[AbstractContextManager[Any]] = []
_held: list[AbstractContextManager[Any]] = []


def lock() -> threading.Lock:
    """Return a new lock.

    Examples
    --------
    >>> guard = lock()
    >>> with guard:
    ...     guard.locked()
    True
    """
    made = threading.Lock()
    _made.add(made)
    return made


def rlock() -> threading.RLock:
    """Return a new lock that its owner may take again."""
    made = threading.RLock()
    _made.add(made)
    return made


def wait_at_fork(guard: AbstractContextManager[Any], *, is_outer: bool = False) -> None:
    """Let every fork wait until `guard` is free, and hold it meanwhile.

    For locks of other libraries whose state is not usable in the middle of a change. Whoever holds
    one may log meanwhile: `logging`, which locks itself for a fork too, must do so after us. What
    was registered last runs first, so `logging` is imported above. An outer one, whose owner may
    take others, comes before them.
    """
    _waited_for.insert(0 if is_outer else len(_waited_for), guard)


class cached_property(functools.cached_property[T]):  # noqa: N801 - as in functools
    """`functools.cached_property`, whose lock (Python 3.11 has one) is free in a forked child."""

    def __init__(self, function: Callable[[Any], T]) -> None:
        super().__init__(function)
        if hasattr(self, "lock"):
            self.lock = rlock()


def _before_fork() -> None:
    for guard in _waited_for:
        guard.__enter__()
        _held.append(guard)


def _release() -> None:
    while _held:
        _held.pop().__exit__(None, None, None)


def _renew() -> None:
    _release()
    for made in _made:
        # What `threading` itself and `logging` do with their locks.
        made._at_fork_reinit()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_release, after_in_child=_renew)
