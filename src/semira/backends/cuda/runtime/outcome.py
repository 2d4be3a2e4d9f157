"""What a finished launch left in host memory: trace, loops, errors."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from semira.backends.cuda.lower.program import STOPPED_BY
from semira.backends.cuda.runtime.device import Runtime
from semira.backends.cuda.runtime.executable import (
    BEGUN,
    REPORTS,
    RESULT_WORDS,
    ROW_WORDS,
    WRITTEN,
    CudaExecutable,
)
from semira.base.errors import EmptyObject, IndexOutOfBound, InvalidValue, IterationLimit
from semira.contract import LoopReport, Rows, TraceRow, UnreadRows
from semira.contract.backend import Outcome

#: What an empty scalar operand is answered with.
EMPTY = "an empty Scalar was used where a value is needed"


class DeviceTrace(UnreadRows):
    """A trace that costs nothing until somebody reads it.

    The trace of an eager statement waits for the device when it is first read; the trace of a
    loop, whose end the host has seen, is only decoded then.
    """

    def __init__(
        self, runtime: Runtime, executable: CudaExecutable, result: NDArray[np.int64]
    ) -> None:
        self._runtime, self._executable = runtime, executable
        self._result: NDArray[np.int64] | None = result
        self._raw: NDArray[np.int64] | None = None
        self._lost = 0
        self._begun_ns = 0
        self._rows: Rows | None = None

    def __del__(self) -> None:
        if self._result is not None:
            self._executable.give_result(self._runtime, self._result)

    def keep(self, written: int, begun_ns: int) -> None:
        """Copy the rows of a finished launch, so that its memory can be used again.

        `written` is their number, and `begun_ns` the time from which they count.
        """
        if self._result is not None:
            self._begun_ns = begun_ns
            self._raw = _words_of_rows(self._executable, self._result, written)
            self._lost = written - len(self._raw)
            self._executable.give_result(self._runtime, self._result)
            self._result = None

    def __len__(self) -> int:
        return len(self._words())

    @property
    def lost(self) -> int:
        """Older rows that there was no room for."""
        self._words()
        return self._lost

    def _words(self) -> NDArray[np.int64]:
        """Return what the rows are decoded from: their number is known without that."""
        if self._raw is None:
            self._runtime.synchronise()
            assert self._result is not None
            self.keep(int(self._result[WRITTEN]), int(self._result[BEGUN]))
        assert self._raw is not None
        return self._raw

    def made(self) -> Rows:
        """Return the rows, decoded once."""
        if self._rows is None:
            raw, products = self._words(), self._executable.lowered.products
            elapsed = np.diff(raw[:, -1], prepend=self._begun_ns).tolist()
            rows = [
                TraceRow(iteration, *_names(products, code), frontier, touched, produced, time_ns)
                for (iteration, code, frontier, touched, produced, _), time_ns in zip(
                    raw.tolist(), elapsed, strict=True
                )
            ]
            self._rows = Rows.after(self._lost, rows)
        return self._rows


def _names(products: dict[int, tuple[str, tuple[str, ...]]], code: int) -> tuple[str, str]:
    op, methods = products[code >> 8]
    return op, methods[code & 255]


def _words_of_rows(
    executable: CudaExecutable, result: NDArray[np.int64], written: int
) -> NDArray[np.int64]:
    """Return the rows in the ring, oldest first, a line of words each."""
    most = executable.row_capacity
    start = RESULT_WORDS + 2 * REPORTS
    ring = result[start : start + ROW_WORDS * min(written, most)].reshape(-1, ROW_WORDS)
    return ring.copy() if written <= most else np.roll(ring, -(written % most), axis=0)


def _report(done: int, code: int) -> LoopReport:
    reason = STOPPED_BY[code]
    return LoopReport(done, "limit" if reason == "interrupt" else reason)


def has_broken(result: NDArray[np.int64]) -> bool:
    """Return whether a program that is one loop ended with an error inside of it."""
    reports, _, limit, empty, outside, _, bad_limit, *_ = result[:RESULT_WORDS].tolist()
    return not reports and (max(limit, empty, outside) >= 0 or bad_limit != 0)


def read_outcome(words: list[int], result: NDArray[np.int64], trace: DeviceTrace | None) -> Outcome:
    """Return the outcome of a finished launch; `words` are those of its result and one report.

    Raises EmptyObject if a statement needed the value of an empty scalar. Raises IndexOutOfBound if
    an index vector of a gather or scatter names a position that is not there. Raises InvalidValue
    if the limit of a loop is below 1. Raises IterationLimit if a loop reached its default limit.
    """
    loops, written, limit, empty, outside, number, bad_limit, _, solo, begun, done, reason = words
    if empty >= 0:
        raise EmptyObject(f"{EMPTY} (statement {empty} of the program)")
    if outside >= 0:
        raise IndexOutOfBound(
            f"gather / scatter index {number} is outside of the vector it points into "
            f"(statement {outside} of the program)"
        )
    if bad_limit:
        given = number if bad_limit == 1 else None
        raise InvalidValue(f"max_iterations={given} must be at least 1: a body runs at least once")
    if limit >= 0:
        raise IterationLimit.by_default(limit)
    if loops == 1:
        reports: tuple[LoopReport, ...] = (_report(done, reason),)
    else:
        listed = result[RESULT_WORDS : RESULT_WORDS + 2 * min(loops, REPORTS)].tolist()
        reports = tuple(map(_report, listed[::2], listed[1::2]))
    if trace is None:
        return Outcome(reports, solo=solo)
    trace.keep(written, begun)
    return Outcome(reports, trace, solo)
