"""Backends by name, imported when first asked for."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from semira.base import locks
from semira.base.dtypes import DataType
from semira.base.errors import DeviceUnavailable, Panic
from semira.base.settings import DEVICES
from semira.contract import Backend, Capabilities, Preview, Work

_open: dict[str, Backend] = {}
_lock = locks.lock()


def backend_for(name: str) -> Backend:
    """Return the backend called `name`, opening it on first use.

    Raises DeviceUnavailable if there is none, or this machine lacks what it needs; the message says
    what to do.
    """
    if name not in _open:
        if name not in DEVICES:
            raise DeviceUnavailable(f"no device {name!r}; choose one of {', '.join(DEVICES)}")
        with _lock:
            if name not in _open:
                module = importlib.import_module(f"semira.backends.{name}.backend")
                _open[name] = module.open_backend()
    return _open[name]


def stand_in(name: str, backend: Backend) -> None:
    """Let a backend take the place of another as long as this process lives: its objects may.

    Raises Panic if the other one is open: its objects would meet this one's.
    """
    with _lock:
        if _open.setdefault(name, backend) is not backend:
            raise Panic(f"the device {name!r} is open; nothing can take its place")


def preview_of(name: str) -> Preview | None:
    """Return how the device `name` would run programs; None if it runs statements one by one.

    The device itself is not opened: this machine may lack it. Raises DeviceUnavailable if there is
    no such backend, or it cannot be imported.
    """
    if name not in DEVICES:
        raise DeviceUnavailable(f"no device {name!r}; choose one of {', '.join(DEVICES)}")
    try:
        module = importlib.import_module(f"semira.backends.{name}.backend")
    except ImportError as error:
        raise DeviceUnavailable(f"the backend of {name} cannot be imported: {error}") from error
    return getattr(module, "PREVIEW", None)


def capabilities_of(name: str) -> Capabilities:
    """Return what a device can do; if that is known without opening it, it may be absent.

    Raises DeviceUnavailable if there is no such backend, or this machine lacks what it needs to be
    asked.
    """
    preview = preview_of(name)
    return backend_for(name).capabilities() if preview is None else preview.capabilities


def infer_dtype(function: Callable[..., Any], operands: tuple[DataType, ...]) -> DataType | str:
    """Return the dtype of ``function(*operands)``, or a line that says why it does not compile.

    The host compiles Python functions, whatever device calls them.
    """
    host = importlib.import_module("semira.backends.cpu.inference")
    found: DataType | str = host.infer_dtype(function, operands)
    return found


def work_done() -> Work:
    """Return what the open devices were made to do so far, all together.

    A backend that keeps count has a method ``statistics``. Those in host memory keep none: their
    results are there when a call returns, and no kernel is started in between.
    """
    kept = [backend.statistics() for backend in _open.values() if hasattr(backend, "statistics")]
    return Work(*(sum(getattr(one, name) for one in kept) for name in Work._fields))
