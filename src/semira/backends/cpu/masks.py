"""Masks as kernels test them: two bool arrays for a vector, a pattern of rows for a matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from semira.backends.cpu import workspace
from semira.backends.cpu.compressed import EVERYWHERE, Array, Compressed
from semira.backends.cpu.storage import CpuMatrix, CpuVector
from semira.backends.interpreter import MaskData
from semira.base.dtypes import INT64, DataType
from semira.base.errors import EmptyObject
from semira.formats import ScalarArrays
from semira.ops import IndexUnaryOp, TypedOp
from semira.ops.meaning import cast_scalar

#: What a kernel without a mask is handed in the mask's place.
UNMASKED = (EVERYWHERE, EVERYWHERE, False)

_EMPTY = np.empty(0, np.int32)

#: Stands for a mask that lets everything through.
_OPEN = object()


@dataclass(slots=True, eq=False)
class VectorMask:
    """A vector mask: position p may be written if ``(may[p] and truth[p]) != complement``."""

    size: int
    complement: bool
    #: The positions that are set, sorted, if the mask is a list of entries.
    listed: Array | None = None
    #: Presence and truth otherwise; while open, of a list as well.
    may: Array | None = None
    truth: Array | None = None

    def open(self) -> tuple[Array, Array, bool]:
        """Return ``(may, truth, complement)``; costs O(entries of the list)."""
        if self.may is None:
            assert self.listed is not None
            self.may = self.truth = workspace.marks(self.size)
            self.may[self.listed] = True
        assert self.truth is not None
        return self.may, self.truth, self.complement

    def close(self) -> None:
        """Clean what `open` borrowed."""
        if self.listed is not None and self.may is not None:
            if self.size >= workspace.SHORT:
                self.may[self.listed] = False
                workspace.give_marks(self.may)
            self.may = self.truth = None

    @property
    def writable(self) -> Array | None:
        """The positions that may be written, if they are known as a list."""
        return None if self.complement else self.listed

    def num_open(self) -> int:
        """Return how many positions may be written; presence stands in for truth."""
        if self.listed is not None:
            num_set = len(self.listed)
        else:
            assert self.may is not None
            num_set = int(np.count_nonzero(self.may))
        return self.size - num_set if self.complement else num_set


def vector_mask(mask: MaskData | None, size: int) -> VectorMask | None:
    """Return the mask of a vector of `size`, or None if every position may be written."""
    if mask is None:
        return None
    if mask.tests is None:
        mask.tests = _vector_mask(mask, size) or _OPEN
    return None if mask.tests is _OPEN else mask.tests


def _vector_mask(mask: MaskData, size: int) -> VectorMask | None:
    vector: CpuVector = mask.data
    structural = mask.structural
    if not structural and vector.iso:
        if not vector.values[0]:
            vector = CpuVector(size, vector.dtype, "sparse", vector.values, _EMPTY)
        structural = True
    if vector.indices is not None:
        listed = vector.indices if structural else vector.indices[vector.values != 0]
        return VectorMask(size, mask.complement, listed)
    if vector.present is None and structural:
        return VectorMask(size, False, _EMPTY) if mask.complement else None
    if structural:
        return VectorMask(size, mask.complement, None, vector.present, vector.present)
    truth = vector.values if vector.dtype.kind == "B" else vector.values != 0
    may = truth if vector.present is None else vector.present
    return VectorMask(size, mask.complement, None, may, truth)


def matrix_mask(mask: MaskData | None) -> Compressed | None:
    """Return the rows of the entries that are set in a matrix mask; None without a mask."""
    if mask is None:
        return None
    matrix: CpuMatrix = mask.data
    rows = matrix.rows()
    if mask.structural or rows.nvals == 0:
        return rows
    if rows.iso:
        if rows.values[0]:
            return rows
        true = np.zeros(rows.nvals, np.bool_)
    else:
        true = rows.values != 0
    before = np.zeros(rows.nvals + 1, rows.indptr.dtype)
    np.cumsum(true, out=before[1:])
    indices = rows.indices[true]
    return Compressed(rows.nmajor, rows.nminor, before[rows.indptr], indices, EVERYWHERE, True)


def thunk_of(op: TypedOp, scalar: ScalarArrays) -> Any:
    """Return the thunk of an index-unary operator: a value of its dtype, or an INT64."""
    is_value = isinstance(op.parent, IndexUnaryOp) and op.parent.thunk_is_value
    return value_of(scalar, op.type if is_value else INT64)


def value_of(scalar: ScalarArrays, dtype: DataType) -> Any:
    """Return the value of a scalar operand cast to `dtype`.

    Raises EmptyObject if the scalar holds no value.
    """
    if scalar.value is None:
        raise EmptyObject("an empty Scalar was used where a value is needed; give it a value first")
    return cast_scalar(scalar.value, dtype.array_dtype)
