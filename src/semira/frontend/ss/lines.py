"""Rows or columns as *lines* of entries: what the extensions ask a device to rearrange."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira.base.errors import InvalidValue
from semira.base.memory import tells_shortage
from semira.base.record_dtypes import visible
from semira.contract.rearrange import Rearrangement
from semira.engine.rearranging import rearrange
from semira.engine.values import Value
from semira.formats import MatrixArrays, VectorArrays, offset_dtype
from semira.frontend import reading
from semira.frontend.kinds import OBJECTS


@tells_shortage("a rearrangement")
def rearranged(item: Any, request: Rearrangement, what: str) -> list[Value]:
    """Return what is made of an object, on its device.

    `what` is the name of the method, for messages. Raises RecordError inside a recorded loop body.
    """
    value, transposed = item._operand()
    return rearrange(value, request, what, transposed=transposed)


def one_line(arrays: VectorArrays) -> MatrixArrays:
    """Return a vector as the matrix of one row; shares its arrays if it is sparse."""
    values = arrays.values[:1] if arrays.iso else arrays.entry_values()
    indptr = np.array([0, arrays.nvals], offset_dtype(arrays.nvals))
    return MatrixArrays(
        1, arrays.size, arrays.dtype, "csr", indptr, arrays.entry_indices(), values, arrays.iso
    )


def placed(item: Any, arrays: Any, name: str | None = None) -> Any:
    """Return the Matrix or Vector of `arrays` (or of a value), placed where `item` is placed."""
    if isinstance(arrays, Value):
        return OBJECTS[arrays.kind]._wrap(arrays, name)
    kind = "matrix" if isinstance(arrays, MatrixArrays) else "vector"
    made = OBJECTS[kind]._of(arrays, name)
    device = item._operand()[0].device
    if device is not None:
        made._value.place(device)
    return made


#: Entries turned into Python objects at a time.
_BATCH = 2**16


def _columns(item: Any, what: str, parts: str) -> tuple[list[NDArray[Any]], Any]:
    """Return the arrays of the wanted parts (positions, values) and of the object."""
    arrays = reading.host_arrays(item, what)
    columns: list[NDArray[Any]] = []
    if "k" in parts:
        if item.kind == "vector":
            columns.append(arrays.entry_indices())
        else:
            columns.extend(arrays.to_coo()[:2])
    if "v" in parts:
        columns.append(visible(arrays.entry_values()))
    return columns, arrays


def _first_entry(arrays: Any, seek: int) -> int:
    """Return the first entry at or after `seek`, counted from the end if negative."""
    is_counted_by_position = getattr(arrays, "storage", None) in ("bitmap", "full")
    length = arrays.size if is_counted_by_position else arrays.nvals
    start = max(0, seek + length) if seek < 0 else min(seek, length)
    present = getattr(arrays, "present", None)
    return start if present is None else int(np.count_nonzero(present[:start]))


def iterate(item: Any, seek: int, parts: str, what: str) -> Iterator[Any]:
    """Return an iterator over keys (``"k"``), values (``"v"``) or items (``"kv"``).

    Keys are indices, or pairs of row and column; numbers are Python's. Raises InvalidValue if
    `seek` is not an integer.
    """
    if isinstance(seek, bool) or not hasattr(seek, "__index__"):
        raise InvalidValue(f"seek must be an integer, got {seek!r}")
    columns, arrays = _columns(item, what, parts)
    return _batches(columns, _first_entry(arrays, int(seek)), arrays.nvals)


def _batches(columns: list[NDArray[Any]], start: int, stop: int) -> Iterator[Any]:
    for first in range(start, stop, _BATCH):
        lists = [column[first : min(first + _BATCH, stop)].tolist() for column in columns]
        yield from lists[0] if len(lists) == 1 else zip(*lists, strict=True)


def head(item: Any, n: Any, dtype: Any, what: str) -> tuple[NDArray[Any], ...]:
    """Return positions (uint64) and values of the first `n` stored entries.

    Raises InvalidValue if `n` is negative or not an integer.
    """
    if isinstance(n, bool) or not hasattr(n, "__index__") or int(n) < 0:
        raise InvalidValue(f"n must be an integer >= 0, got {n!r}")
    columns, arrays = _columns(item, what, "k")
    keys = (column[: int(n)].astype(np.uint64) for column in columns)
    return *keys, reading.cast_values(arrays.entry_values()[: int(n)], dtype)
