"""Phases: how a backend that makes one kernel of a whole Program runs its statements together.

A *phase* is work that all workers share without waiting for each other; a *barrier* is where they
wait. A Program that cannot be one kernel is *pieces*: launches, and loops that the host runs.
Statements are numbered as `walk_statements` yields them. An operand is ``v3`` for the vector
in slot 3, ``m2`` for a matrix, ``x4`` for a scalar, or ``w2`` for what statement 2 fills before its
result is written.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, unique
from typing import Protocol

from semira.contract.backend import Capabilities
from semira.contract.program import Program, Solo


@unique
class Why(Enum):
    """Reasons for a phase to end and for workers to wait: a sentence each.

    ``{s}`` is the statement, ``{o}`` the operand.
    """

    # A statement of the program meets what others did.
    READS_WRITTEN = "statement {s} reads {o}, which was written before"
    WRITES_READ = "statement {s} writes {o}, which was read before"
    WRITES_WRITTEN = "statement {s} writes {o}, which was written before"
    NEEDS_SUM = "statement {s} needs {o}, a sum over all positions"
    NEEDS_VALUE = "statement {s} cannot run if {o} is empty: the program would end before it"
    OVERWRITES_SCALAR = "statement {s} overwrites {o}, which the phase reads"
    # It cannot share the phase of the statements before it.
    READS_ELSEWHERE = "statement {s} reads {o} at other positions"
    WRITES_READ_ELSEWHERE = "statement {s} writes {o}, which the phase reads at other positions"
    OTHER_SIZE = "the vectors of statement {s} may be of another size"
    TOO_WIDE = "the values of statement {s} are too wide for registers"
    OUTSIDE_OF_DRIVER = "statement {s} may change positions outside of {o}"
    READS_SENT = "statement {s} needs {o}, which is complete when all have sent their values"
    SENDS_USED = "statement {s} sends values to {o}, which the phase uses"
    # Within a statement.
    FILLED = "statement {s} goes on when all its results are there"
    CHECKED = "statement {s} reads elsewhere once all positions in {o} are known to be valid"
    SUMMED = "statement {s} adds up what all have summed"
    LONG_ROWS = "statement {s} has rows that several share"
    EMPTIES = "statement {s} fills a place that an iteration before the last left full"
    COUNTS_EDGES = "statement {s} does not know the edges of its operand yet"
    BUILDS_LIST = "statement {s} pushes a vector without a list of its entries"
    FILLS_TABLE = "statement {s} reads values that are put side by side"
    NOT_AHEAD = "the product of the iteration before did not do this"
    NOT_IN_PLACE = "{o} lacks entries: what statement {s} sends to it is merged later"
    PUSHED = "statement {s} pushed, so that its result is not in its place yet"
    # Before the loop.
    BLANKED = "where {o} has no entry its value becomes NaN, which no comparison prefers"
    # Of the iteration.
    ENDS = "the numbers of entries and the sums have to be known to all"
    # It is no part of a kernel with others.
    WRITES_MATRIX = (
        "statement {s} writes {o}, a matrix with room for all it may hold: a size is read above "
        "256 MB alone"
    )
    SUMS_PRODUCT = (
        "statement {s} multiplies matrices: its dot products are added up as they are computed"
    )
    OWN_LAUNCHES = "the method of statement {s} has launches of its own"
    HUGE = "{o} has a side of 2^31 or more"
    READS_SIZE = (
        "statement {s} writes {o}, a matrix; multiplied row by row, the host reads its size"
    )
    COUNTS_ENTRIES = "statement {s} writes {o}, a matrix; the host reads its size"
    # A product of which the next statement takes the sum is stored all the same.
    READ_AGAIN = "statement {s}, which sums it up, is not all that reads it"
    FIXED_ORDER = "statement {s} adds up in an order that is the same in every run"
    NO_DOTS = "statement {s} multiplies row by row, not by dot products"


@dataclass(frozen=True, slots=True)
class Cause:
    """Why a phase ends, or why workers wait."""

    why: Why
    #: The statement that asks for it.
    statement: int | None = None
    operand: str | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """What a statement does in a phase."""

    statement: int
    #: One of "whole", "product", "fill", "merge", "prune", "sum", "check", "reset", "ahead".
    #: ``product`` and ``fill`` write to memory apart, which ``merge`` reads and ``reset`` empties;
    #: ``prune`` deletes what a mask keeps out; ``ahead`` is done for the next iteration.
    role: str = "whole"


@dataclass(frozen=True, slots=True)
class Phase:
    """Statements that run together, without a barrier between them."""

    parts: tuple[Part, ...]
    #: Whether all of them work position by position.
    by_position: bool = False
    #: Operand outside of which nothing changes: where it has a list, only that is walked.
    driver: str | None = None
    #: Temporaries that never reach memory.
    unstored: tuple[str, ...] = ()
    #: What kept further statements out.
    ended_by: Cause | None = None
    #: Whether only iterations have it for which nothing was done ahead, products that push, or rows
    #: that are not short.
    conditional: bool = False


@dataclass(frozen=True, slots=True)
class Barrier:
    """All workers wait for each other."""

    cause: Cause
    #: Whether only where the data ask for it.
    conditional: bool = False


@dataclass(frozen=True, slots=True)
class LoopPhases:
    """What an iteration of a loop is."""

    #: In the order in which they run.
    bodies: tuple[tuple[Step, ...], ...]
    #: When one worker runs an iteration alone; None: never.
    solo: Solo | None = None


#: What a kernel is made of.
Step = Phase | Barrier | LoopPhases


@dataclass(frozen=True, slots=True)
class Launch:
    """Statements that the host starts together, where a Program is pieces."""

    statements: tuple[int, ...]
    #: What their kernel is made of; () where it is not made of phases.
    steps: tuple[Step, ...] = ()
    #: Why they are no part of a kernel with other statements.
    apart: Cause | None = None
    #: Temporaries that never reach memory: no other statement reads them.
    unstored: tuple[str, ...] = ()
    #: Whether they are one launch; else a few, one after the other.
    is_one: bool = True
    #: Why a product is stored though the next statement takes its sum.
    kept: Cause | None = None


@dataclass(frozen=True, slots=True)
class HostLoop:
    """A loop that the host runs, because a statement in it is no part of a kernel."""

    #: In the order in which they run.
    bodies: tuple[tuple[HostStep, ...], ...]
    #: The scalar that the host reads after each body; None: it need not ask.
    conditions: tuple[str | None, ...]

    @property
    def apart(self) -> tuple[Cause, ...]:
        """Why the loop is not on the device: of each statement that is no part of a kernel."""
        found: list[Cause] = []
        for piece in (piece for body in self.bodies for piece in body):
            if isinstance(piece, HostLoop):
                found += piece.apart
            elif piece.apart is not None:
                found.append(piece.apart)
        return tuple(found)


@dataclass(frozen=True, slots=True)
class OneByOne:
    """The host runs loops and starts every statement by itself."""

    cause: Cause


#: What a Program is made of that is not one kernel.
HostStep = Launch | HostLoop

#: What becomes of a Program: steps of one kernel, or pieces.
Outline = tuple[Step | HostStep | OneByOne, ...]


def barriers_in(body: tuple[Step, ...], *, conditional: bool = False) -> int:
    """Return how many barriers stand in a body, those of inner loops not counted."""
    return sum(isinstance(s, Barrier) and s.conditional == conditional for s in body)


def phases_in(body: tuple[Step, ...], *, conditional: bool = False) -> int:
    """Return how many phases stand in a body, those of inner loops not counted."""
    return sum(isinstance(s, Phase) and s.conditional == conditional for s in body)


class PhasesOf(Protocol):
    """What a backend makes of a planned Program."""

    def __call__(self, program: Program, sides: Mapping[int, int] | None = None) -> Outline | None:
        """Return the steps of its kernel, or its pieces; None where statements run one by one.

        `sides` are the longest sides of what slots are bound to, where known. Raises
        NotImplementedException if the backend refuses a statement.
        """
        ...


@dataclass(frozen=True, slots=True)
class Preview:
    """How a device would run programs: known without the device."""

    #: What its plans follow from.
    capabilities: Capabilities
    phases_of: PhasesOf
