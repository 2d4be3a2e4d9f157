"""Objects of the reference backend: a dictionary from position to value.

A scalar has the one position ``()``, a vector positions ``(i,)``, a matrix ``(i, j)``: with
that, element-wise operations, masks and accumulation are written once for all three.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

import numpy as np

from semira.base.dtypes import DataType
from semira.base.memory import require_bytes
from semira.contract.backend import Arrays
from semira.formats import MatrixArrays, ScalarArrays, VectorArrays, coo_to_matrix, index_dtype
from semira.ops.meaning import cast_array

Position = tuple[int, ...]

#: Bytes of an entry at the least: its position, which is a tuple, and its place in the dictionary.
ENTRY_BYTES = 80


@dataclass(slots=True, eq=False)
class Entries:
    """A scalar, vector or matrix."""

    #: ``()``, ``(size,)`` or ``(nrows, ncols)``.
    shape: Position
    dtype: DataType
    #: Values are NumPy scalars of the dtype.
    items: dict[Position, Any] = field(default_factory=dict)

    @property
    def value(self) -> Any:
        """The value of a scalar, None if empty (what the interpreter reads)."""
        return self.items.get(())

    def memory_usage(self) -> dict[str, int]:
        """Return the bytes of the values; what a dictionary needs beside them is not counted."""
        return {"values": len(self.items) * self.dtype.itemsize}

    def sorted(self) -> list[tuple[Position, Any]]:
        """Return the entries in index order."""
        return sorted(self.items.items(), key=itemgetter(0))

    def cast(self, dtype: DataType) -> Entries:
        """Return the entries in another dtype."""
        if dtype is self.dtype:
            return self
        values = np.array([*self.items.values()], self.dtype.array_dtype)
        cast = cast_array(values, dtype.array_dtype)
        return Entries(self.shape, dtype, dict(zip(self.items, cast, strict=True)))

    def operand(self, dtype: DataType, *, is_read: bool) -> Entries:
        """Return the entries as an operator takes them: what it does not read stays as it is."""
        return self.cast(dtype) if is_read else self

    def transposed(self) -> Entries:
        """Return the transpose of a matrix."""
        items: dict[Position, Any] = {at[::-1]: value for at, value in self.items.items()}
        return Entries((self.shape[1], self.shape[0]), self.dtype, items)


def from_arrays(arrays: Arrays) -> Entries:
    """Return the entries of arrays."""
    items: dict[Position, Any]
    if isinstance(arrays, ScalarArrays):
        items = {} if arrays.value is None else {(): arrays.value}
        return Entries((), arrays.dtype, items)
    require_bytes(
        arrays.nvals * ENTRY_BYTES,
        f"a dictionary of {arrays.nvals} entries",
        "use smaller objects, or the device 'cpu'",
    )
    if isinstance(arrays, VectorArrays):
        pairs = zip(arrays.entry_indices().tolist(), arrays.entry_values(), strict=True)
        return Entries((arrays.size,), arrays.dtype, {(i,): value for i, value in pairs})
    rows, cols, values = arrays.to_coo()
    triples = zip(rows.tolist(), cols.tolist(), values, strict=True)
    items = {(i, j): value for i, j, value in triples}
    return Entries(arrays.shape, arrays.dtype, items)


def to_arrays(entries: Entries) -> Arrays:
    """Return the arrays of entries."""
    if not entries.shape:
        return ScalarArrays(entries.dtype, entries.value)
    entries_by_place = entries.sorted()
    positions = [at for at, _ in entries_by_place]
    values = np.array([value for _, value in entries_by_place], entries.dtype.array_dtype)
    if len(entries.shape) == 1:
        (size,) = entries.shape
        indices = np.array([at[0] for at in positions], index_dtype(size))
        return VectorArrays.sparse(size, entries.dtype, indices, values)
    nrows, ncols = entries.shape
    rows = np.array([at[0] for at in positions], np.int64)
    cols = np.array([at[1] for at in positions], np.int64)
    arrays = coo_to_matrix(nrows, ncols, rows, cols, values, dtype=entries.dtype)
    assert isinstance(arrays, MatrixArrays)
    return arrays
