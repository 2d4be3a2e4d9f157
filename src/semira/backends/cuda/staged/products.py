"""Products of two matrices: dot products under a mask, else row by row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, overload

import numpy as np

from semira.backends.cuda.runtime.scalars import CudaScalar
from semira.backends.cuda.staged.dots import dots, summed_dots
from semira.backends.cuda.staged.full import full_times, is_full, times_full
from semira.backends.cuda.staged.pieces import Pieces, Stage
from semira.backends.cuda.staged.rowwise import rowwise
from semira.backends.cuda.staged.text import has_dots
from semira.base.errors import PlanError
from semira.contract import Statement, TraceRow

if TYPE_CHECKING:
    from semira.backends.cuda.staged.run import Job


def mxm(job: Job) -> Pieces:
    """Return ``A (+).(*) B``; under a plain mask only what the mask lets through."""
    by_dots = has_dots(job.statement)
    if by_dots:
        result, touched = dots(job)
        job.is_masked = True
    else:
        result, touched = _unmasked(job)
    _note(job, "dot" if by_dots else "hash", touched, lambda: job.stage.count(result))
    return result


def _unmasked(job: Job) -> tuple[Pieces, Callable[[], int]]:
    if is_full(job, 1):
        return times_full(job)
    balance = job.statement.hints.balance
    if balance is not None:
        raise PlanError(
            f"mxm: balance={balance!r} shares out a product whose right operand has every entry, "
            f"and this one has {job.things[job.statement.args[1].slot].nvals}; leave the pin out"
        )
    return full_times(job) if is_full(job, 0) else rowwise(job)


def mxm_sum(job: Job, total: Statement, out: CudaScalar) -> None:
    """Sum up ``A (+).(*) B`` under a plain mask, without a matrix in between."""
    stage = job.stage
    entries = summed_dots(job, out.describe(), total.operator.type.itemsize)
    mask: Pieces = stage.operands["mask"]

    def made() -> int:
        return int(stage.runtime.download(entries, np.int64, 1)[0])

    _note(job, "dot", lambda: stage.count(mask), made)
    has_value = total.accum is not None and not total.param("new") and out.has_value
    out.know(bool(total.param("identity")) or has_value)


def _note(job: Job, method: str, touched: Callable[[], int], made: Callable[[], int]) -> None:
    job.trace = LateTrace(job.stage, method, job.stage.operands["a"], touched, made)


class LateTrace(Sequence[TraceRow]):
    """The row of a product; what only the device knows is read when somebody reads the row."""

    def __init__(
        self,
        stage: Stage,
        method: str,
        a: Pieces,
        touched: Callable[[], int],
        made: Callable[[], int],
    ) -> None:
        self._stage, self._method, self._touched = stage, method, touched
        self._a, self._produced = a, made
        self._row: TraceRow | None = None

    def __len__(self) -> int:
        return 1

    @overload
    def __getitem__(self, index: int) -> TraceRow: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[TraceRow]: ...

    def __getitem__(self, index: int | slice) -> TraceRow | Sequence[TraceRow]:
        # Only the device may know, and knows it once.
        if self._row is None:
            entries = self._stage.count(self._a)
            self._row = TraceRow(0, "mxm", self._method, entries, self._touched(), self._produced())
        return (self._row,)[index]
