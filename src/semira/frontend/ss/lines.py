"""Rows or columns as *lines* of entries: what the extensions ask a device to rearrange."""

from __future__ import annotations

from typing import Any

import numpy as np

from semira.base.memory import tells_shortage
from semira.contract.rearrange import Rearrangement
from semira.engine.rearranging import rearrange
from semira.engine.values import Value
from semira.formats import MatrixArrays, VectorArrays, coo_to_matrix, offset_dtype
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


def oriented(arrays: MatrixArrays, orientation: str) -> MatrixArrays:
    """Return the matrix by rows (``csr``) or columns (``csc``), sorted anew if it is not."""
    if arrays.orientation == orientation:
        return arrays
    value = arrays.values[0] if len(arrays.values) else arrays.dtype.scalar(0)
    made = coo_to_matrix(
        arrays.nminor, arrays.nmajor, arrays.indices, arrays.entry_major(),
        None if arrays.iso else arrays.values,
        dtype=arrays.dtype if arrays.iso else None, iso_value=value,
    )  # fmt: skip
    return made if orientation == "csr" else made.flipped()


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
