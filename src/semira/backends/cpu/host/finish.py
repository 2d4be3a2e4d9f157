"""The end of every statement that writes a vector.

With few entries in the result and no `replace`, the output is changed in place at those positions;
two lists of entries are merged; everything else is one pass over all positions into new arrays.
"""

from __future__ import annotations

import numpy as np

from semira.backends.cpu import recycled, threads, workspace
from semira.backends.cpu.compressed import EVERYWHERE, Array, Compressed, offsets_from_counts
from semira.backends.cpu.host.structure import written_rows
from semira.backends.cpu.host.update import Update
from semira.backends.cpu.masks import UNMASKED
from semira.backends.cpu.storage import (
    CpuMatrix,
    CpuVector,
    bitmap_vector,
    cast_vector,
    copy_vector,
    matrix_of,
    settled,
    sparse_vector,
    to_dense,
)
from semira.backends.interpreter import Undo
from semira.formats import index_dtype
from semira.ops.meaning import cast_array

#: A list of entries that outgrows size / this becomes a bitmap, to be written in place.
_MERGE_SHARE = 256

#: Merging lists beats a pass over everything while they hold fewer than size / this entries.
_DENSE_SHARE = 8


def finish_vector(
    update: Update, *, exact: bool, shared: bool, journal: list[Undo] | None
) -> CpuVector:
    """Return the output's new data; see `KernelSet.finish`.

    O(entries of result, output and mask list), or O(entries of the result) in place; O(size) only
    where one of them is dense or entries must be deleted under an open mask.
    """
    out: CpuVector = update.out
    result: CpuVector = update.result
    if _replaces_everything(update, exact=exact):
        taken = cast_vector(result, out.dtype)
        if (shared and taken.values is result.values) or (shared and taken.present is not None):
            taken = copy_vector(taken)
        return settled(taken, update.storage)
    if exact and not update.replace:
        # A result inside the mask needs no test, if what the mask lets through is not deleted.
        update.mask = update.mask if not update.union else None
    targets = None if update.replace else _targets(update)
    if targets is not None and _in_place_pays(update, targets):
        changed = _scattered(update, targets, journal)
        return changed if update.storage == "auto" else settled(changed, update.storage)
    if targets is not None and result.storage != "sparse":
        update.result = _restricted(result, targets)
    changed = _merged(update) if _both_listed(update) else settled(_passed_over(update))
    return changed if update.storage == "auto" else settled(changed, update.storage)


def _replaces_everything(update: Update, *, exact: bool) -> bool:
    """Return whether the result simply becomes the output."""
    empty = update.out.nvals == 0
    if update.mask is not None and not (exact and (update.replace or empty)):
        return False
    if update.region is not None and not (empty and update.mask is None):
        return False
    return empty or not update.union


def _targets(update: Update) -> Array | None:
    """Return all positions that can change, if they are known as a list; no `replace`."""
    result, mask = update.result, update.mask
    if update.union:
        if result.indices is not None:
            return result.indices  # type: ignore[no-any-return]
    elif update.region is not None:
        return update.region  # type: ignore[no-any-return]
    return None if mask is None or update.submask else mask.writable


def _in_place_pays(update: Update, targets: Array) -> bool:
    out: CpuVector = update.out
    if out.storage == "sparse":
        listed = len(targets) + out.nvals
        return update.storage == "bitmap" or listed * _MERGE_SHARE > out.size
    return True


def _restricted(vector: CpuVector, positions: Array) -> CpuVector:
    """Return the entries of `vector` at sorted `positions`, as a list."""
    given, values, stride = vector.entries_at(positions)
    if given is not None:
        positions, values = positions[given], values[given] if stride else values
    return sparse_vector(vector.size, vector.dtype, positions, values, iso=stride == 0)


def _scattered(update: Update, targets: Array, journal: list[Undo] | None) -> CpuVector:
    """Change the output at `targets` only."""
    given, values, stride = update.result.entries_at(targets)
    if update.union and given is not None:
        targets, values, given = targets[given], values[given] if stride else values, None
    deletes = given is not None
    out: CpuVector = update.out
    if out.iso or out.storage == "sparse" or (deletes and out.storage == "full"):
        # New arrays: what was there before needs no undoing.
        update.out = out = to_dense(
            out, "bitmap" if deletes else out.storage.replace("sparse", "bitmap")
        )
        journal = None
    source = update.result.dtype
    if update.accum is None:
        values, source = cast_array(values, out.dtype.array_dtype), out.dtype
    mask = update.mask
    tested = mask is not None and mask.writable is not targets
    kernels = update.kernels(source, {"MASKED": tested, "DELETES": deletes})
    tests = mask.open() if tested else UNMASKED
    present, p_stride = out.presence()
    count = np.zeros(1, np.int64) if out.count is None else out.count
    if journal is not None:
        journal.append(_undo(out, targets))
    kernels.scatter(
        targets, EVERYWHERE if given is None else given, values, stride, *tests,
        present, p_stride, out.values, count,
    )  # fmt: skip
    if tested:
        mask.close()
    if out.present is not None and out.nvals == out.size:
        return bitmap_vector(out.dtype, out.present, out.values, out.size)
    return out


def _undo(out: CpuVector, positions: Array) -> Undo:
    """Return what puts the present contents of `positions` back."""
    values = out.values[positions]
    present = None if out.present is None else out.present[positions]
    num = out.nvals

    def undo() -> None:
        out.values[positions] = values
        if out.present is not None and out.count is not None:
            out.present[positions] = present
            out.count[0] = num

    return undo


def _both_listed(update: Update) -> bool:
    out: CpuVector = update.out
    result: CpuVector = update.result
    if out.storage != "sparse" or result.storage != "sparse":
        return False
    return (out.nvals + result.nvals) * _DENSE_SHARE <= out.size


def _merged(update: Update) -> CpuVector:
    """Merge two lists of entries."""
    out, result = update.out, update.result
    kernels = update.kernels(result.dtype, update.flags())
    tests = UNMASKED if update.mask is None else update.mask.open()
    inside = _opened_region(update)
    room = out.nvals + result.nvals
    indices = np.empty(room, index_dtype(out.size))
    values = np.empty(room, out.dtype.array_dtype)
    num = kernels.segment(
        out.indices, out.values, out.stride, result.indices, result.values, result.stride,
        *tests, inside, indices, values,
    )  # fmt: skip
    _close(update, inside)
    return sparse_vector(out.size, out.dtype, indices[:num].copy(), values[:num].copy())


def _passed_over(update: Update) -> CpuVector:
    """Decide every position; new arrays."""
    out, result = update.out, update.result
    if update.mask is None and update.region is None and out.storage == "full":
        return _onto_full(update, to_dense(result) if result.storage == "sparse" else result)
    old = to_dense(out) if out.storage == "sparse" else out
    new = to_dense(result) if result.storage == "sparse" else result
    if update.accum is None and update.region is None and update.mask is not None:
        return _overwritten(update, old, new)
    kernels = update.kernels(result.dtype, update.flags())
    tests = UNMASKED if update.mask is None else update.mask.open()
    inside = _opened_region(update)
    present = np.zeros(out.size, np.bool_)
    values = np.zeros(out.size, out.dtype.array_dtype)

    def decide(_part: int, lo: int, hi: int) -> int:
        found = kernels.dense(
            lo, hi, *new.presence(), new.values, new.stride, *tests, inside,
            *old.presence(), old.values, old.stride, present, values,
        )  # fmt: skip
        return int(found)

    bounds = threads.pass_bounds(out.size)
    num = sum(threads.run_chunks(decide, bounds))
    _close(update, inside)
    return bitmap_vector(out.dtype, present, values, num)


def _onto_full(update: Update, result: CpuVector) -> CpuVector:
    """Accumulate into an output that has an entry everywhere; new values."""
    out: CpuVector = update.out
    present = result.present
    flags = {"FULL": present is None, "ISO_A": out.iso, "ISO_B": result.iso}
    kernels = update.kernels(result.dtype, flags)
    values = recycled.empty(out.size, out.dtype.array_dtype)

    def accumulate(_part: int, lo: int, hi: int) -> None:
        given = EVERYWHERE if present is None else present
        kernels.full(lo, hi, given, result.values, out.values, values)

    threads.run_chunks(accumulate, threads.pass_bounds(out.size))
    return CpuVector(out.size, out.dtype, "full", values)


def _overwritten(update: Update, old: CpuVector, new: CpuVector) -> CpuVector:
    """Take the result where the mask lets it through; new arrays."""
    flags = {
        "REPLACE": update.replace, "ISO_A": old.iso, "ISO_B": new.iso,
        "GAPS_A": old.present is not None, "GAPS_B": new.present is not None,
    }  # fmt: skip
    kernels = update.kernels(new.dtype, flags)
    tests = update.mask.open()
    old_present, new_present = old.presence()[0], new.presence()[0]
    present = recycled.empty(old.size, np.bool_)
    values = recycled.empty(old.size, old.dtype.array_dtype)

    def decide(_part: int, lo: int, hi: int) -> int:
        num: int = kernels.overwrite(
            lo, hi, new_present, new.values, *tests, old_present, old.values, present, values
        )
        return num

    num = sum(threads.run_chunks(decide, threads.pass_bounds(old.size)))
    update.mask.close()
    return bitmap_vector(old.dtype, present, values, num)


def _opened_region(update: Update) -> Array:
    if update.region is None:
        return EVERYWHERE
    inside = workspace.marks(update.out.size)
    inside[update.region] = True
    return inside


def _close(update: Update, inside: Array) -> None:
    if update.mask is not None:
        update.mask.close()
    if update.region is not None:
        inside[update.region] = False
        workspace.give_marks(inside)


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
