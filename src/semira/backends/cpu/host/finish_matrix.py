"""The end of every statement that writes a matrix: a merge of rows into new arrays."""

from __future__ import annotations

import numpy as np

from semira.backends.cpu import threads, workspace
from semira.backends.cpu.compressed import EVERYWHERE, Array, Compressed, offsets_from_counts
from semira.backends.cpu.host.structure import written_rows
from semira.backends.cpu.host.update import Update
from semira.backends.cpu.storage import CpuMatrix, matrix_of
from semira.ops.meaning import cast_array

_NO_MASK = (np.zeros(1, np.int32), np.zeros(1, np.int32))


def finish_matrix(update: Update, *, exact: bool) -> CpuMatrix:
    """Return the new data of the output: O(rows + entries of output, result and mask)."""
    out, result = update.out, update.result
    empty = out.nvals == 0
    free = update.mask is None or (exact and (update.replace or empty))
    no_region = update.region is None or (empty and update.mask is None)
    if free and no_region and (empty or not update.union):
        return cast_matrix(result, update)
    if exact and update.union and not update.replace:
        update.mask = None
    return matrix_of(_merged_rows(update, out.rows(), result.rows()), out.dtype)


def cast_matrix(matrix: CpuMatrix, update: Update) -> CpuMatrix:
    """Return `matrix` in the output's dtype; patterns are shared."""
    target = update.out.dtype

    def cast(stored: Compressed) -> Compressed:
        if matrix.dtype is target:
            return stored
        return stored.replaced(cast_array(stored.values, target.array_dtype), iso=stored.iso)

    return matrix.mapped(cast, target)


def _merged_rows(update: Update, old: Compressed, new: Compressed) -> Compressed:
    """Merge the rows of output and result under the mask."""
    masked, flags = update.mask is not None, update.flags()
    kernels = update.kernels(update.result.dtype, flags)
    mask_arrays = (update.mask.indptr, update.mask.indices) if masked else _NO_MASK
    inside = update.region if flags["REGION"] else (EVERYWHERE, EVERYWHERE)

    def room_of(lo: int, hi: int) -> int:
        return old.room(lo, hi) + new.room(lo, hi)

    def merge(lo: int, hi: int, counts: Array, indices: Array, values: Array) -> int:
        mark = workspace.marks(old.nminor) if masked else EVERYWHERE
        num: int = kernels.rows(
            lo, hi, 0, old.indptr, old.indices, old.values, old.stride,
            new.indptr, new.indices, new.values, new.stride, *mask_arrays, update.complement,
            mark, *inside, counts, indices, values,
        )  # fmt: skip
        if masked:
            workspace.give_marks(mark)
        return num

    offsets = old.indptr if old.nvals > new.nvals else new.indptr
    bounds = threads.bounds_by_work(offsets, threads.num_chunks(old.nvals + new.nvals))
    return written_rows((old.nmajor, old.nminor), bounds, room_of, merge, update.out.dtype)


def joined(
    nmajor: int, nminor: int, counts: Array, parts: list[tuple[Array, Array]], *, iso: bool = False
) -> Compressed:
    """Put the entries of consecutive chunks of rows together; `counts[1:]` are row lengths."""
    indptr = offsets_from_counts(counts)
    if len(parts) == 1:
        indices, values = parts[0]
        return Compressed(nmajor, nminor, indptr, indices, values, iso)
    indices = np.concatenate([part[0] for part in parts])
    values = parts[0][1] if iso else np.concatenate([part[1] for part in parts])
    return Compressed(nmajor, nminor, indptr, indices, values, iso)
