"""assign: the operand moved to where it goes in the output."""

from __future__ import annotations

from typing import Any

import numpy as np

from semira.backends.cpu.compressed import Array, Compressed
from semira.backends.cpu.host.regions import Region, is_rising, last_of_each, positions_of
from semira.backends.cpu.host.update import Result
from semira.backends.cpu.masks import VectorMask, matrix_mask, vector_mask
from semira.backends.cpu.storage import CpuMatrix, CpuVector, matrix_of, sparse_vector
from semira.backends.interpreter import MaskData
from semira.base.dtypes import DataType
from semira.contract import Statement
from semira.formats import coo_to_matrix, index_dtype


def into_vector(
    statement: Statement,
    x: Any,
    region: Region,
    mask: MaskData | None,
    out: CpuVector,
    submask: bool,
) -> Result:
    """Return the operand of an assignment in the coordinates of a vector."""
    targets = positions_of(region, out.size)
    if targets is None:
        data, covers = _everywhere(x, out)
        return Result(data, shared=isinstance(x, CpuVector), assigned=True, covers=covers)
    if isinstance(x, CpuVector):
        covers = x.nvals == len(targets)
        result = spread(x, targets, out.size, accumulates=statement.accum is not None)
    else:
        covers = x.value is not None
        value = np.array([x.value if covers else 0], x.dtype.array_dtype)
        kept = np.unique(targets) if covers else targets[:0]
        result = sparse_vector(out.size, x.dtype, kept, value, iso=True)
    region_set = targets if is_rising(targets) else np.unique(targets)
    translated = _submask(mask, targets, out.size) if submask else None
    return Result(
        result, assigned=True, covers=covers, region=region_set,
        submask=translated, has_submask=submask,
    )  # fmt: skip


def spread(x: CpuVector, targets: Array, length: int, *, accumulates: bool) -> CpuVector:
    """Return a vector of `length` with entry i of `x` at ``targets[i]``.

    Of a position named several times the last counts: the last entry if an accumulator takes
    only what is there, else the last occurrence, which may bring no entry.
    """
    picked = x.entry_indices()
    values, stride = x.entry_values()
    if is_rising(targets):
        return sparse_vector(length, x.dtype, targets[picked], values, iso=stride == 0)
    if accumulates:
        chosen = last_of_each(targets[picked])
    else:
        number = np.full(len(targets), -1, np.int64)
        number[picked] = np.arange(len(picked))
        chosen = number[last_of_each(targets)]
        chosen = chosen[chosen >= 0]
    values = values[chosen] if stride else values
    return sparse_vector(length, x.dtype, targets[picked[chosen]], values, iso=stride == 0)


def _everywhere(x: Any, out: CpuVector) -> tuple[CpuVector, bool]:
    """Return the operand of an assign to all positions, and whether it has them all."""
    if isinstance(x, CpuVector):
        return x, x.nvals == x.size
    if x.value is None:
        empty = np.empty(0, index_dtype(out.size))
        return sparse_vector(out.size, x.dtype, empty, np.empty(0, x.dtype.array_dtype)), False
    value = np.array([x.value], x.dtype.array_dtype)
    return CpuVector(out.size, x.dtype, "full", value, iso=True), True


def _submask(mask: MaskData | None, targets: Array, size: int) -> VectorMask:
    """Return a mask over the region as a mask over the output."""
    assert mask is not None
    inner = vector_mask(mask, len(targets)) if isinstance(mask.data, CpuVector) else None
    if inner is None:
        return VectorMask(size, False, np.unique(targets))
    if inner.listed is not None:
        set_positions = targets[inner.listed]
    else:
        assert inner.may is not None
        assert inner.truth is not None
        set_positions = targets[inner.may & inner.truth]
    return VectorMask(size, inner.complement, np.unique(set_positions))


def pattern_of(mask: MaskData) -> tuple[Array, Array]:
    """Return rows and columns of a mask's set entries; those of a vector are in column 0."""
    if isinstance(mask.data, CpuVector):
        inner = vector_mask(MaskData(mask.data, mask.structural, False), mask.data.size)
        if inner is None:
            listed = np.arange(mask.data.size)
        elif inner.listed is not None:
            listed = inner.listed
        else:
            listed = np.flatnonzero(inner.may & inner.truth)  # type: ignore[operator]
        return listed, np.zeros(len(listed), listed.dtype)
    rows = matrix_mask(mask)
    assert rows is not None
    return rows.entry_majors(), rows.indices


def rows_from_coo(
    shape: tuple[int, int], rows: Array, cols: Array, values: Array, dtype: DataType, *, iso: bool
) -> CpuMatrix:
    """Return a matrix of entries in any order; the last of several at one position stays."""

    def last(folded: Array, starts: Array) -> Array:
        ends = np.append(starts[1:], len(folded)) - 1
        kept: Array = folded[ends]
        return kept

    one = values[0] if iso and len(values) else dtype.scalar(0)
    arrays = coo_to_matrix(
        shape[0], shape[1], rows, cols, None if iso else values,
        dtype=dtype, iso_value=one, merge=last,
    ).ordinary()  # fmt: skip
    return matrix_of(
        Compressed(shape[0], shape[1], arrays.indptr, arrays.indices, arrays.values, arrays.iso),
        dtype,
    )
