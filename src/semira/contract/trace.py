"""What an execution reports: the rows of a trace and the outcome of a loop."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, overload

from semira.base.log import logger
from semira.base.shown import Shown, seconds_text, table_html, table_text

#: Rows that a trace keeps: the last ones. A power of two, so that a device finds a place by a mask.
TRACE_ROWS = 65_536

#: Rows up to which a trace is shown whole; of a longer one the first and the last ones are.
_SHOWN = 40

#: The columns of that table: the fields of `TraceRow`.
TRACE_COLUMNS = ("iteration", "op", "method", "frontier", "touched", "produced", "time")


class TraceRow(NamedTuple):
    """One matrix product that ran, or what a loop of the host did in its place.

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


def trace_cells(rows: Sequence[TraceRow]) -> list[tuple[str, ...]]:
    """Return rows of a trace as the cells of a table; a dash for an unknown time.

    Examples
    --------
    >>> trace_cells([TraceRow(0, "vxm", "push", 1, 6, 1206, 4200)])
    [('0', 'vxm', 'push', '1', '6', '1,206', '4.2 us')]
    """
    return [
        (str(row.iteration), row.op, row.method, *(f"{count:,}" for count in row[3:6]),
         seconds_text(row.elapsed_ns / 1e9 if row.elapsed_ns else None))
        for row in rows
    ]  # fmt: skip


def _shown(rows: Sequence[TraceRow]) -> tuple[list[tuple[str, ...]], str]:
    """Return the cells that are shown, and a line about the rows that are not."""
    lost = lost_rows(rows)
    notes = [f"{lost:,} earlier rows are lost"] * bool(lost)
    if len(rows) <= _SHOWN:
        return trace_cells(rows), "; ".join(notes)
    half = _SHOWN // 2
    notes.append(f"{len(rows) - 2 * half:,} rows in the middle are not shown")
    gap = ("...",) * len(TRACE_COLUMNS)
    cells = [*trace_cells(rows[:half]), gap, *trace_cells(rows[len(rows) - half :])]
    return cells, "; ".join(notes)


def trace_text(rows: Sequence[TraceRow]) -> str:
    """Return rows of a trace as a table, of a long one the first and the last.

    Examples
    --------
    >>> print(trace_text([TraceRow(0, "vxm", "push", 1, 6, 6, 4200)]))
    iteration  op   method  frontier  touched  produced  time
            0  vxm  push           1        6         6  4.2 us
    """
    if not len(rows):
        return "no matrix product ran"
    cells, note = _shown(rows)
    return table_text(TRACE_COLUMNS, cells) + (f"\n{note}" if note else "")


def trace_html(rows: Sequence[TraceRow]) -> str:
    """Return the same as HTML."""
    if not len(rows):
        return "<p>no matrix product ran</p>"
    cells, note = _shown(rows)
    return table_html(TRACE_COLUMNS, cells) + (f"<p>{note}</p>" if note else "")


class ShownRows(Shown):
    """Rows that are shown as a table."""

    __slots__ = ()

    def __str__(self) -> str:
        return trace_text(self)  # type: ignore[arg-type]

    def _repr_html_(self) -> str:
        return trace_html(self)  # type: ignore[arg-type]


class RowList(ShownRows, list[TraceRow]):
    """A list of rows, shown as a table."""


class Rows(ShownRows, tuple[TraceRow, ...]):
    """Rows of a trace, shown as a table; `lost` are older ones that there was no room for."""

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


#: What an execution without products returns.
NO_ROWS = Rows()


class UnreadRows(ShownRows, Sequence[TraceRow]):
    """Rows that somebody has to ask for."""

    def made(self) -> Rows:
        """Return the rows; those that are read first are made then."""
        raise NotImplementedError

    def __len__(self) -> int:
        return len(self.made())

    @overload
    def __getitem__(self, place: int) -> TraceRow: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[TraceRow]: ...
    def __getitem__(self, place: int | slice) -> TraceRow | Sequence[TraceRow]:
        return self.made()[place]

    def __iter__(self) -> Iterator[TraceRow]:
        return iter(self.made())

    def __eq__(self, other: object) -> bool:
        return self.made() == other if isinstance(other, tuple) else self is other

    __hash__ = None  # type: ignore[assignment]


class LateRows(UnreadRows):
    """Rows that are made when somebody reads them.

    Parameters
    ----------
    count : int
        How many there are.
    make : callable
        Returns them.
    lost : int
        Older rows that there was no room for.

    Examples
    --------
    >>> rows = LateRows(1, lambda: [TraceRow(7, "mxv", "pull", 1, 2, 3)])
    >>> len(rows), rows[0].produced
    (1, 3)
    """

    def __init__(self, count: int, make: Callable[[], Sequence[TraceRow]], lost: int = 0) -> None:
        self._count, self.lost = count, lost
        self._make: Callable[[], Sequence[TraceRow]] | None = make
        self._rows: Rows | None = None

    def made(self) -> Rows:
        """Return the rows, made once."""
        make = self._make
        if self._rows is None and make is not None:
            self._rows = Rows.after(self.lost, make())
            self._make = None
        assert self._rows is not None
        return self._rows

    def __len__(self) -> int:
        return self._count

    def __reduce__(self) -> tuple[Any, ...]:
        return Rows.after, (self.lost, tuple(self))


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
    """Collects the last `TRACE_ROWS` rows of an execution on the host."""

    most = TRACE_ROWS
    lost: int = 0
    _rows: deque[TraceRow] = field(default_factory=deque)
    _late: LateRows | None = None

    def extend(self, rows: Sequence[TraceRow], lost: int) -> None:
        """Append rows that came after `lost` ones, which somebody else had no room for.

        The first ones are not made as long as no others come, if they are `LateRows`.
        """
        is_first = not (lost or self.lost or self._rows or self._late is not None)
        if is_first and isinstance(rows, LateRows) and len(rows) <= self.most:
            self._late = rows
            return
        self._settle()
        self.lost += lost
        for row in rows:
            self.add(row)

    def _settle(self) -> None:
        late, self._late = self._late, None
        self._rows.extend(late or ())

    def add(self, row: TraceRow) -> None:
        """Append a row; where there is no room, the time of the oldest one goes to the next."""
        if self._late is not None:
            self._settle()
        self._rows.append(row)
        if len(self._rows) > self.most:
            elapsed_ns = self._rows.popleft().elapsed_ns + self._rows[0].elapsed_ns
            self._rows[0] = self._rows[0]._replace(elapsed_ns=elapsed_ns)
            self.lost += 1

    def rows(self) -> Rows:
        """Return the rows so far."""
        if self._late is not None:
            self._settle()
        return Rows.after(self.lost, tuple(self._rows)) if self._rows else NO_ROWS

    def unread(self) -> Rows | LateRows:
        """Return the rows so far, some of which may be made when they are read."""
        return self.rows() if self._late is None else self._late


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


class LoopReport(NamedTuple):
    """How a loop ended."""

    #: Bodies completed.
    iterations: int
    #: One of "condition", "limit".
    stopped_by: str
