"""What ran: the trace of the last executions in this context."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from semira.backends.registry import work_done
from semira.base.shown import Shown
from semira.contract import Program, RowList, TraceRow, Work, lost_rows, trace_html, trace_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from semira.contract.backend import Outcome


@dataclass(frozen=True, slots=True)
class Run:
    """One execution, as listeners see it."""

    program: Program
    #: Of the host, from the start of the call to its end.
    elapsed_ms: float
    #: Of the arrays of all objects that took part, afterwards: what it could read or write.
    num_bytes: int
    #: By how much that grew.
    new_bytes: int
    #: What stopped it.
    error: Exception | None = None


#: Executions whose rows nobody has read: each keeps a little memory that the device wrote.
_MOST_UNREAD = 256

#: Called after each execution.
Listener = Callable[[Run], None]


@dataclass(slots=True, repr=False)
class Trace(Shown):
    """Programs that ran inside a `tracing` block, and their products.

    Attributes
    ----------
    programs : list of Program
        Every executed Program with its plans.
    """

    programs: list[Program] = field(default_factory=list)
    _rows: RowList = field(default_factory=RowList)
    _unread: list[Sequence[TraceRow]] = field(default_factory=list)
    _lost: int = 0
    _started: Work = field(default_factory=work_done)
    _ended: Work | None = None

    @property
    def rows(self) -> RowList:
        """Every matrix product, in order; waits for those of the GPU that have not ended.

        Of one execution, such as a loop, only the last 65,536 are kept: `lost` counts the others.
        """
        for trace in self._unread:
            self._rows.extend(trace)
            self._lost += lost_rows(trace)
        self._unread.clear()
        return self._rows

    @property
    def lost(self) -> int:
        """Products whose rows there was no room for; waits as `rows` does."""
        _ = self.rows
        return self._lost

    def _heading(self) -> str:
        counts = (len(self.programs), "program"), (len(self.rows) + self.lost, "matrix product")
        parts = [f"{count:,} {what}{'s' * (count != 1)}" for count, what in counts]
        work = self.work
        if any(work):
            parts += [f"{work.launches:,} launches", f"{work.synchronisations:,} waits"]
            parts.append(f"{work.bytes_allocated:,} bytes allocated")
        return ", ".join(parts)

    def __str__(self) -> str:
        return f"{self._heading()}\n{trace_text(self.rows)}"

    def _repr_html_(self) -> str:
        return f"<p>{self._heading()}</p>{trace_html(self.rows)}"

    def add(self, trace: Sequence[TraceRow]) -> None:
        """Append the rows of an execution, to be read when somebody asks."""
        self._unread.append(trace)
        if len(self._unread) > _MOST_UNREAD:
            _ = self.rows

    def take(self, inner: Trace) -> None:
        """Append the rows of a block inside of this one."""
        self._unread.append(tuple(inner._rows))
        self._unread.extend(inner._unread)
        self._lost += inner._lost

    @property
    def work(self) -> Work:
        """What devices were made to do since the block began, until now or to its end.

        In every thread of the process. Only the cuda device keeps count: on ``cpu`` and
        ``reference`` results are there when a call returns, and the numbers are 0.
        """
        now = self._ended or work_done()
        return Work(*(late - early for late, early in zip(now, self._started, strict=True)))


_active: ContextVar[Trace | None] = ContextVar("semira_trace", default=None)
_listeners: ContextVar[tuple[Listener, ...]] = ContextVar("semira_listeners", default=())


def listen(listener: Listener) -> None:
    """Call `listener` after every execution in this context, until `stop_listening`."""
    if not is_listening(listener):
        _listeners.set((*_listeners.get(), listener))


def stop_listening(listener: Listener) -> None:
    """Take back `listen`; nothing happens if it was not in force."""
    _listeners.set(tuple(one for one in _listeners.get() if one != listener))


def is_listening(listener: Listener) -> bool:
    """Whether `listener` is called after every execution in this context."""
    return listener in _listeners.get()


@contextmanager
def tracing() -> Iterator[Trace]:
    """Collect plans, trace rows and the devices' work of everything that runs inside the block.

    A block inside another one adds to both. On the GPU the rows of eager products are waited for
    when `Trace.rows` is read. Kernels over arrays, and so the compiled loops of hosts, run no
    product: of a search the result alone has the levels, as its ``trace``.

    Examples
    --------
    >>> import semira as gb
    >>> A = gb.Matrix.from_coo([0, 1], [1, 0], [1.0, 2.0])
    >>> with gb.tracing() as traced:
    ...     w = A.mxv(gb.Vector.from_dense([1.0, 1.0])).new()
    >>> [(row.op, row.produced) for row in traced.rows]
    [('mxv', 2)]
    >>> traced.work
    Work(synchronisations=0, launches=0, bytes_allocated=0)
    """
    collected, outer = Trace(), _active.get()
    token = _active.set(collected)
    try:
        yield collected
    finally:
        collected._ended = work_done()
        _active.reset(token)
        if outer is not None:
            outer.take(collected)
            outer.programs.extend(collected.programs)


def is_watched() -> bool:
    """Whether anybody in this context wants to know what runs."""
    return _active.get() is not None or has_listeners()


def has_listeners() -> bool:
    """Whether anybody listens in this context."""
    return bool(_listeners.get())


def tell(run: Run) -> None:
    """Tell the listeners of an execution."""
    for listener in _listeners.get():
        listener(run)


def note(program: Program, outcome: Outcome) -> None:
    """Add an execution to the trace in force, if any."""
    active = _active.get()
    if active is not None:
        active.programs.append(program)
        active.add(outcome.trace)
