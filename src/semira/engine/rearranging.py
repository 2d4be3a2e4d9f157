"""Entries at other places on a device that computes them itself."""

from __future__ import annotations

from typing import Any

from semira.backends.registry import backend_for
from semira.contract.rearrange import Rearrangement
from semira.engine import recording
from semira.engine.values import Value, common_device
from semira.formats.index import WIDE
from semira.ops import TypedOp, TypedSemiring


def rearrange(value: Value, request: Rearrangement, what: str, *, transposed: bool) -> list[Value]:
    """Return what a device makes of a value, there; the cpu makes it for those that cannot.

    Raises RecordError inside a recorded loop body.
    """
    recording.refuse_host_read(f"{what} rearranges entries at once", "do it before the loop")
    device = value.where
    made = getattr(backend_for(device), "rearrange", None)
    if made is not None:
        found = made(value.handle_on(device), request, transposed=transposed)
        return [Value.held(each.handle, each.dtype, each.shape, value) for each in found]
    host: Any = backend_for("cpu")
    found = host.rearrange(host.put(value.read()), request, transposed=transposed)
    values = [Value.of(host.get(each.handle)) for each in found]
    if value.device is not None:
        for each in values:
            each.place(value.device)
    return values


def kronecker(left: tuple[Value, bool], right: tuple[Value, bool], op: TypedOp) -> Value | None:
    """Return the Kronecker product that a device makes, there; None if the host has to.

    So it has where a side of the result, or of an operand, is 2**31 or more. Each operand comes
    with whether it is transposed. Raises RecordError inside a recorded loop body.
    """
    recording.refuse_host_read("kronecker makes a matrix at once", "do it before the loop")
    values = (left[0], right[0])
    device = common_device(values)
    made = getattr(backend_for(device), "kronecker", None)
    shapes = [
        value.shape[::-1] if transposed else value.shape for value, transposed in (left, right)
    ]
    sides = [a * b for a, b in zip(*shapes, strict=True)]
    if made is None or max(*sides, *shapes[0], *shapes[1]) >= WIDE:
        return None
    handles = [(value.handle_on(device), transposed) for value, transposed in (left, right)]
    found = made(*handles, op)
    like = next((value for value in values if value.device is not None), values[0])
    return Value.held(found.handle, found.dtype, found.shape, like)


def fixed_point(
    value: Value, matrix: tuple[Value, bool], op: TypedSemiring, width: float
) -> tuple[Value, int] | None:
    """Return the fixed point of a product that a device computes without a loop, and its rounds.

    None if it cannot, or values had not settled after many rounds. It begins at `value`, which is
    not changed; the matrix comes with whether it is transposed. `width` is that of the window, 0:
    none.
    """
    device = common_device((value, matrix[0]))
    made = getattr(backend_for(device), "fixed_point", None)
    if made is None:
        return None
    given = matrix[0].handle_on(device), matrix[1]
    result = made(value.handle_on(device), given, op, width)
    if result is None:
        return None
    found, rounds = result
    return Value.held(found.handle, found.dtype, found.shape, value), rounds


def has_fixed_points(values: tuple[Value, ...]) -> bool:
    """Whether the device that values are on computes fixed points without a loop."""
    return hasattr(backend_for(common_device(values)), "fixed_point")


def computes_itself(value: Value) -> bool:
    """Whether a value is on a device with memory of its own."""
    return backend_for(value.where).capabilities().own_memory
