"""What an execution reports: the rows of a trace and the outcome of a loop."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from semira.base.log import logger

#: Rows that a trace keeps: the last ones. A power of two, so that a device finds a place by a mask.
TRACE_ROWS = 65_536


class TraceRow(NamedTuple):
    """One matrix product that ran.

    Attributes
    ----------
    iteration : int
        0-based iteration of the innermost loop; 0 outside of loops.
    op : str
        ``mxv``, ``vxm`` or ``mxm``.
    method : str
        Chosen method (``push``, ``pull``, ``dot``, ...).
    direction : str, derived
        ``push`` or ``pull``: what the method is, of products of matrices as well.
    frontier : int
        Entries of the driving operand.
    touched : int
        Matrix entries read (with early exit: those really read).
    produced : int
        Entries of the result before accumulation.
    elapsed_ns : int
        Nanoseconds since the row before it, or since its execution began: the product, and what
        ran between the two. Of the first row after lost ones, since the execution began. By the
        clock of the GPU, which may advance in steps of a microsecond, where the loop is one launch
        there, or one iteration of a product that is only summed; else by that of the host. 0: not
        known, as of an eager product that the GPU makes in several launches.
    """

    iteration: int
    op: str
    method: str
    frontier: int
    touched: int
    produced: int
    elapsed_ns: int = 0

    @property
    def direction(self) -> str:
        """Whether entries of the driving operand were expanded, or positions gathered theirs."""
        return "pull" if self.method in ("pull", "dot") else "push"


class Rows(tuple[TraceRow, ...]):
    """Rows of a trace.

    Attributes
    ----------
    lost : int
        Older rows that there was no room for.
    """

    lost = 0

    @classmethod
    def after(cls, lost: int, rows: Sequence[TraceRow]) -> Rows:
        """Return rows that came after lost ones; says so to the log."""
        made = cls(rows)
        made.lost = lost
        if lost:
            logger.warning(
                "the trace keeps the last %d of %d products", len(made), lost + len(made)
            )
        return made


def lost_rows(trace: Sequence[TraceRow]) -> int:
    """Return how many rows a trace has lost.

    Examples
    --------
    >>> row = TraceRow(7, "mxv", "pull", 1, 2, 3)
    >>> lost_rows(Rows.after(7, [row])), lost_rows([row])
    (7, 0)
    """
    return int(getattr(trace, "lost", 0))


@dataclass(slots=True)
class LastRows:
    """Collects the last `TRACE_ROWS` rows of an execution on the host.

    Attributes
    ----------
    lost : int
    """

    most = TRACE_ROWS
    lost: int = 0
    _rows: deque[TraceRow] = field(default_factory=deque)

    def extend(self, rows: Sequence[TraceRow], lost: int) -> None:
        """Append rows that came after `lost` ones, which somebody else had no room for."""
        self.lost += lost
        for row in rows:
            self.add(row)

    def add(self, row: TraceRow) -> None:
        """Append a row; where there is no room, the time of the oldest one goes to the next."""
        self._rows.append(row)
        if len(self._rows) > self.most:
            elapsed_ns = self._rows.popleft().elapsed_ns + self._rows[0].elapsed_ns
            self._rows[0] = self._rows[0]._replace(elapsed_ns=elapsed_ns)
            self.lost += 1

    def rows(self) -> Rows:
        """Return the rows so far."""
        return Rows.after(self.lost, tuple(self._rows))


class Work(NamedTuple):
    """What devices were made to do.

    Attributes
    ----------
    synchronisations : int
        Times the host waited for a device.
    launches : int
        Kernels started.
    bytes_allocated : int
        Device memory asked for, whatever was given back since.
    """

    synchronisations: int = 0
    launches: int = 0
    bytes_allocated: int = 0


@dataclass(frozen=True, slots=True)
class LoopReport:
    """How a loop ended.

    Attributes
    ----------
    iterations : int
        Bodies completed.
    stopped_by : {"condition", "limit"}
    """

    iterations: int
    stopped_by: str
