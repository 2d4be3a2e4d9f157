"""Extract of a region of a matrix, and assign to one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira.backends.cuda.runtime.objects import CudaVector
from semira.backends.cuda.runtime.regions import BoundRegion
from semira.backends.cuda.runtime.room import require
from semira.backends.cuda.staged.job import Job
from semira.backends.cuda.staged.pieces import Pieces
from semira.formats.index import each_once


def extract(job: Job) -> Pieces:
    """Return ``A[rows, columns]``."""
    stage = job.stage
    a = job.operand(0, "a")
    rows, columns = (_positions(job, axis) for axis in range(2))
    num_rows = job.shape[0]
    row_list = _uploaded(job, rows)
    starts = stage.counts(num_rows + 1)
    stage.launch("t_rows", num_rows, row_list, num_rows, starts)
    work = stage.sum_up(starts, num_rows)
    numbers = (None, None) if columns is None else _numbers(job, columns, a.shape[1])
    places = stage.counts(work + 1)
    stage.launch("t_count", work, row_list, num_rows, starts, *numbers, places)
    nvals = stage.sum_up(places, work)
    if job.widens(nvals):
        a = job.operand(0, "a")
    keys, origin = stage.scratch.take(8 * nvals), stage.scratch.take(8 * nvals)
    stage.launch(
        "t_place", work, row_list, num_rows, starts, *numbers, places, job.shape[1], keys, origin
    )
    return stage.moved(job.shape, keys, origin, nvals, a, sort=not _rises(columns))


def assign(job: Job) -> Pieces:
    """Return the operand at its final positions; `Job.numbers` says what the region is."""
    statement, stage = job.statement, job.stage
    lists = [_positions(job, axis) for axis in range(2)]
    numbers = [
        _inverse(job, positions, size) for positions, size in zip(lists, job.shape, strict=True)
    ]
    job.numbers = (numbers[0], numbers[1])
    thing = job.things[statement.args[0].slot]
    if stage.executable.program.slots[statement.args[0].slot].kind == "scalar":
        return _scalar(job, thing, lists)
    a = job.line(thing) if isinstance(thing, CudaVector) else job.operand(0, "a")
    if not isinstance(thing, CudaVector) and all(part is None for part in lists):
        return a
    stage.enter("a", a)
    row_list, column_list = (_uploaded(job, positions) for positions in lists)
    flags = stage.flags(a.most)
    stage.launch("t_flags", a.most, row_list, column_list, *numbers, flags)
    stage.scan(flags, a.most)
    rises = _rises(lists[0]) and _rises(lists[1])
    # Where no position is named twice, every entry has its own.
    nvals = a.most if rises and a.is_exact else stage.total(flags, a.most)
    keys, origin = stage.scratch.take(8 * nvals), stage.scratch.take(8 * nvals)
    stage.launch("t_place", a.most, row_list, column_list, flags, job.shape[1], keys, origin)
    return stage.moved(job.shape, keys, origin, nvals, a, sort=not rises)


def _scalar(job: Job, thing: Any, lists: list[NDArray[np.int64] | None]) -> Pieces:
    """Return the scalar everywhere in the region, or where a plain mask has entries."""
    stage, mask = job.stage, job.statement.mask
    if not job.has_value(thing):
        return job.nothing(job.dtype)
    value = _cell(job, thing)
    if mask is None or mask.complement or job.statement.param("submask"):
        return _filled(job, lists, value)
    open_entries: Pieces = stage.operands["mask"]
    flags = stage.flags(open_entries.most)
    stage.launch("t_flags", open_entries.most, *job.numbers, flags)
    return stage.filled("t", open_entries, None, job.dtype, flags, None, shared=value)


def _cell(job: Job, thing: Any) -> Any:
    """Return device memory that starts with the scalar's value."""
    words = thing.describe()
    if words[0]:
        return thing.cell
    return job.stage.runtime.upload(np.array([words[1]], np.int64))


def _filled(job: Job, lists: list[NDArray[np.int64] | None], value: Any) -> Pieces:
    stage = job.stage
    distinct = [None if p is None else each_once(p) for p in lists]
    counts = [
        size if positions is None else len(positions)
        for positions, size in zip(distinct, job.shape, strict=True)
    ]
    nvals = counts[0] * counts[1]
    job.widens(nvals)
    # Keys, rows, indices.
    require(stage.runtime, 16 * nvals, f"one value at {nvals} positions")
    keys = stage.scratch.take(8 * nvals)
    row_list, column_list = (_uploaded(job, positions) for positions in distinct)
    stage.primitives.module.launch(
        "int", "semira_cross_keys", nvals, row_list, column_list, *counts,
        job.shape[1], keys,
    )  # fmt: skip
    return stage.from_keys(job.shape, keys, nvals, job.dtype, value, iso=True)


# positions on the host ---------------------------------------------------------------------------
def _positions(job: Job, axis: int) -> NDArray[np.int64] | None:
    if not job.statement.indices:
        return None
    slot = job.statement.indices[axis].slot
    if slot is None:
        return None
    region = job.things[slot]
    assert isinstance(region, BoundRegion)
    return region.positions()


def _rises(positions: NDArray[np.int64] | None) -> bool:
    return positions is None or bool(np.all(positions[1:] > positions[:-1]))


def _uploaded(job: Job, positions: NDArray[Any] | None) -> Any:
    if positions is None:
        return None
    listed, stage = positions.astype(np.int32), job.stage
    return stage.runtime.upload(listed, stage.scratch.take(listed.nbytes))


def _numbers(job: Job, positions: NDArray[np.int64], size: int) -> tuple[Any, Any]:
    """Return offsets and list of the numbers that every position has inside a region.

    Made on the device: a permutation of a large graph has as many positions as the graph rows.
    """
    primitives, count = job.stage.primitives, len(positions)
    listed = _uploaded(job, positions)
    order = primitives.order_of(listed, count, np.int32)
    ordered = primitives.reorder(listed, order, count, 4)
    return primitives.row_offsets("int", ordered, count, size), primitives.narrow(order, count)


def _inverse(job: Job, positions: NDArray[np.int64] | None, size: int) -> Any:
    """Return the number of every position inside a region, the last one if it has several."""
    if positions is None:
        return None
    numbers = np.full(size, -1, np.int32)
    numbers[positions] = np.arange(len(positions), dtype=np.int32)
    return job.stage.runtime.upload(numbers, job.stage.scratch.take(numbers.nbytes))
