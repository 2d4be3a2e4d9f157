"""Backends by name, imported when first asked for."""

from __future__ import annotations

import importlib
import threading

from semira.base.errors import DeviceUnavailable
from semira.base.settings import DEVICES
from semira.contract import Backend

_open: dict[str, Backend] = {}
_lock = threading.Lock()


def backend_for(name: str) -> Backend:
    """Return the backend called `name`, opening it on first use.

    Raises
    ------
    DeviceUnavailable
        No such backend, or this machine lacks what it needs; the message says what to do.
    """
    if name not in _open:
        if name not in DEVICES:
            raise DeviceUnavailable(f"no device {name!r}; choose one of {', '.join(DEVICES)}")
        with _lock:
            if name not in _open:
                module = importlib.import_module(f"semira.backends.{name}.backend")
                _open[name] = module.open_backend()
    return _open[name]
