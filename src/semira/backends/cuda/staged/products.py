"""Products of two matrices: dot products under a mask, else expansion, sort and fold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from semira.backends.cuda.runtime.primitives import offset_type_of
from semira.backends.cuda.staged.pieces import Pieces
from semira.backends.cuda.staged.source import DOT_GROUPS
from semira.contract import TraceRow

if TYPE_CHECKING:
    from semira.backends.cuda.staged.run import Job

#: Partial products of one round of an expansion: about 40 bytes each while they are sorted.
ROUND = 1 << 28


def mxm(job: Job) -> Pieces:
    """Return ``A (+).(*) B``; under a plain mask only what the mask lets through."""
    plan = job.statement.plan
    names = [method.name for method in plan.methods] if plan is not None else ["hash"]
    mask = job.statement.mask
    by_dots = names[0] == "dot" and mask is not None and not mask.complement
    result, touched = _dots(job) if by_dots else _expanded(job)
    job.trace = (
        TraceRow(0, "mxm", names[0], job.stage.operands["a"].nvals, touched, result.nvals),
    )
    return result


def _dots(job: Job) -> tuple[Pieces, int]:
    stage = job.stage
    a, b = job.operand(0, "a"), job.operand(1, "b", flipped=True)
    mask: Pieces = stage.operands["mask"]
    found = stage.runtime.allocate(job.dtype.itemsize * mask.nvals)
    flags = stage.offsets(mask.nvals + 1)
    mean = min(a.nvals / max(1, a.shape[0]), b.nvals / max(1, b.shape[0]))
    group = DOT_GROUPS[0] if mean <= DOT_GROUPS[0] * 2 else DOT_GROUPS[1]
    stage.launch(f"t_dot{group}", mask.nvals * group, found, flags)
    result = stage.filled("t", mask, None, job.dtype, flags, None, found)
    return result, mask.nvals


def _expanded(job: Job) -> tuple[Pieces, int]:
    stage = job.stage
    a, _ = job.operand(0, "a"), job.operand(1, "b")
    starts = stage.counts(a.nvals + 1)
    stage.launch("t_count", a.nvals, 0, a.nvals, starts)
    total = stage.sum_up(starts, a.nvals)
    if stage.offset_type == "int" and offset_type_of(total) != "int":
        # The result may have as many entries.
        job.widen()
        a, _ = job.operand(0, "a"), job.operand(1, "b")
    if total == 0:
        return job.nothing(job.dtype), 0
    parts = [_round(job, first, count) for first, count in _rounds(stage, a, starts, total)]
    keys, values, nvals = _joined(stage, parts, job.dtype.itemsize)
    return stage.from_keys(job.shape, keys, nvals, job.dtype, values, iso=False), total


def _rounds(stage: Any, a: Pieces, starts: Any, total: int) -> list[tuple[int, int]]:
    """Return (first entry, number of entries) of rounds of whole rows of A."""
    if total <= ROUND:
        return [(0, a.nvals)]
    runtime, nrows = stage.runtime, a.shape[0]
    sums = runtime.allocate(8 * (nrows + 1))
    stage.primitives.module.launch(
        stage.offset_type, "semira_pick", nrows + 1, starts, a.indptr, nrows + 1, sums
    )
    work = runtime.download(sums, np.int64, nrows + 1)
    kind = np.int32 if stage.offset_type == "int" else np.int64
    places = runtime.download(a.indptr, kind, nrows + 1)
    rounds, row = [], 0
    while row < nrows:
        last = int(np.searchsorted(work, work[row] + ROUND, side="right")) - 1
        last = min(nrows, max(row + 1, last))
        rounds.append((int(places[row]), int(places[last] - places[row])))
        row = last
    return [part for part in rounds if part[1]]


def _round(job: Job, first: int, count: int) -> tuple[Any, Any, int]:
    """Return the keys and values of the products of some rows of A."""
    stage, size = job.stage, job.dtype.itemsize
    starts = stage.counts(count + 1)
    stage.launch("t_count", count, first, count, starts)
    work = stage.sum_up(starts, count)
    keys, values = stage.runtime.allocate(8 * work), stage.runtime.allocate(size * work)
    stage.launch("t_expand", work, first, count, starts, job.shape[1], keys, values)
    ordered, order = stage.primitives.sort_keys(keys, work)
    heads = stage.counts(work + 1)
    stage.launch("t_heads", work, ordered, work, heads)
    nvals = stage.sum_up(heads, work)
    out_keys, out_values = stage.runtime.allocate(8 * nvals), stage.runtime.allocate(size * nvals)
    stage.launch("t_fold", work, ordered, order, values, work, heads, out_keys, out_values)
    return out_keys, out_values, nvals


def _joined(stage: Any, parts: list[tuple[Any, Any, int]], size: int) -> tuple[Any, Any, int]:
    """Return the rounds' results one after the other."""
    if len(parts) == 1:
        return parts[0]
    runtime, nvals = stage.runtime, sum(part[2] for part in parts)
    keys, values = runtime.allocate(8 * nvals), runtime.allocate(size * nvals)
    at = 0
    for part_keys, part_values, count in parts:
        runtime.move(part_keys, keys, 8 * at, 8 * count)
        runtime.move(part_values, values, size * at, size * count)
        at += count
    return keys, values, nvals
