"""Entries at other places on a device that computes them itself."""

from __future__ import annotations

from semira.backends.registry import backend_for
from semira.contract.rearrange import Rearrangement
from semira.engine import recording
from semira.engine.values import Value


def rearrange(
    value: Value, request: Rearrangement, what: str, *, transposed: bool
) -> list[Value] | None:
    """Return what a device makes of a value, there; None if the host has to compute it.

    Raises
    ------
    RecordError
        Inside a recorded loop body.
    """
    recording.refuse_host_read(f"{what} rearranges entries at once", "do it before the loop")
    device = value.where
    made = getattr(backend_for(device), "rearrange", None)
    if made is None:
        return None
    found = made(value.handle_on(device), request, transposed=transposed)
    return [Value.held(each.handle, each.dtype, each.shape, value) for each in found]


def computes_itself(value: Value) -> bool:
    """Whether a value is on a device whose objects the host does not rearrange."""
    return hasattr(backend_for(value.where), "rearrange")
