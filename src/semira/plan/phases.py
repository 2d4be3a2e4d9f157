"""Phases in words: which statements run together, where workers wait, and why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from semira.contract import (
    Barrier,
    Cause,
    LoopPhases,
    Phase,
    Program,
    Step,
    Why,
    barriers_in,
    walk_statements,
)
from semira.plan.formulas import formula

#: One sentence per reason; ``{s}`` is the statement, ``{o}`` the operand.
SENTENCES: dict[Why, str] = {
    Why.READS_WRITTEN: "statement {s} reads {o}, which was written before",
    Why.WRITES_READ: "statement {s} writes {o}, which was read before",
    Why.WRITES_WRITTEN: "statement {s} writes {o}, which was written before",
    Why.NEEDS_SUM: "statement {s} needs {o}, a sum over all positions",
    Why.NEEDS_VALUE: "statement {s} cannot run if {o} is empty: the program would end before it",
    Why.OVERWRITES_SCALAR: "statement {s} overwrites {o}, which the phase reads",
    Why.READS_ELSEWHERE: "statement {s} reads {o} at other positions",
    Why.WRITES_READ_ELSEWHERE: "statement {s} writes {o}, which the phase reads at other positions",
    Why.OTHER_SIZE: "the vectors of statement {s} may be of another size",
    Why.TOO_WIDE: "the values of statement {s} are too wide for registers",
    Why.OUTSIDE_OF_DRIVER: "statement {s} may change positions outside of {o}",
    Why.READS_SENT: "statement {s} needs {o}, which is complete when all have sent their values",
    Why.SENDS_USED: "statement {s} sends values to {o}, which the phase uses",
    Why.FILLED: "statement {s} goes on when all its results are there",
    Why.CHECKED: "statement {s} reads elsewhere once all positions in {o} are known to be valid",
    Why.SUMMED: "statement {s} adds up what all have summed",
    Why.LONG_ROWS: "statement {s} has rows that several share",
    Why.COUNTS_EDGES: "statement {s} does not know the edges of its operand yet",
    Why.BUILDS_LIST: "statement {s} pushes a vector without a list of its entries",
    Why.GATHERS_HOT: "statement {s} reads values at frequent columns side by side",
    Why.NOT_AHEAD: "the product of the iteration before did not do this",
    Why.NOT_IN_PLACE: "{o} lacks entries: what statement {s} sends to it is merged later",
    Why.PUSHED: "statement {s} pushed, so that its result is not in its place yet",
    Why.BLANKED: "where {o} has no entry its value becomes NaN, which no comparison prefers",
    Why.ENDS: "the numbers of entries and the sums have to be known to all",
}

#: What a part of a statement is called; "whole" and "reset" need no name.
_ROLES = {
    "product": "product",
    "fill": "sums",
    "merge": "result",
    "prune": "mask",
    "sum": "sum",
    "check": "check",
    "ahead": "for the next iteration",
}


@dataclass(frozen=True, slots=True)
class ProgramPhases:
    """How a device runs the statements of a program, ready to print.

    Attributes
    ----------
    program : Program
    steps : tuple of Phase, Barrier or LoopPhases, or None
        None: statements run one by one.
    """

    program: Program
    steps: tuple[Step, ...] | None

    @property
    def loops(self) -> list[LoopPhases]:
        """All loops, an inner one after the one around it."""
        return [] if self.steps is None else list(_loops(self.steps))

    @property
    def statements(self) -> list[str]:
        """The statements by their numbers, as lines of algebra."""
        return [formula(each, self.program) for each in walk_statements(self.program.body)]

    def __str__(self) -> str:
        """Return the phases as lines of text."""
        width = len(str(len(self.statements)))
        lines = ["statements"]
        lines += [f"  {at:>{width}}  {text}" for at, text in enumerate(self.statements)]
        if self.steps is None:
            return "\n".join([*lines, "one by one: no statements share a phase"])
        return "\n".join([*lines, "one kernel", *_indented(_step_lines(self.steps))])


def sentence_of(cause: Cause) -> str:
    """Return a cause in words.

    Examples
    --------
    >>> sentence_of(Cause(Why.READS_ELSEWHERE, 5, "v4"))
    'statement 5 reads v4 at other positions'
    """
    operand = "" if cause.operand is None else operand_text(cause.operand)
    return SENTENCES[cause.why].format(s=cause.statement, o=operand)


def operand_text(name: str) -> str:
    """Return an operand in words.

    Examples
    --------
    >>> operand_text("v3"), operand_text("w2"), operand_text("v3.spare")
    ('v3', 'what statement 2 found', 'the old entries of v3')
    """
    if name.endswith(".spare"):
        return f"the old entries of {name.removesuffix('.spare')}"
    if name.startswith("w"):
        return f"what statement {name[1:].rstrip('m')} found"
    return name


def _phase_lines(phase: Phase) -> list[str]:
    roles: dict[int, list[str]] = {}
    for part in phase.parts:
        named = roles.setdefault(part.statement, [])
        if part.role in _ROLES:
            named.append(_ROLES[part.role])
    parts = [f"{at} ({', '.join(named)})" if named else str(at) for at, named in roles.items()]
    lines = [f"{'perhaps a ' * phase.conditional}phase: {', '.join(parts)}"]
    if phase.by_position:
        driver = phase.driver
        listed = "" if driver is None else f"{operand_text(driver)} if it is listed, else "
        lines.append(f"  walks {listed}every word")
    if phase.unstored:
        lines.append(f"  never stores {', '.join(phase.unstored)}")
    if phase.ended_by is not None and phase.ended_by.why is not Why.ENDS:
        lines.append(f"  ends where {sentence_of(phase.ended_by)}")
    return lines


def _step_lines(steps: tuple[Step, ...]) -> list[str]:
    lines = []
    for step in steps:
        if isinstance(step, Phase):
            lines += _phase_lines(step)
        elif isinstance(step, Barrier):
            kind = "perhaps a barrier:" if step.conditional else "barrier:"
            lines.append(f"{kind} {sentence_of(step.cause)}")
        else:
            lines += _loop_lines(step)
    return lines


def _loop_lines(loop: LoopPhases) -> list[str]:
    lines = []
    for which, body in enumerate(loop.bodies):
        sure, unsure = barriers_in(body), barriers_in(body, conditional=True)
        count = f"{sure} barrier{'s' * (sure != 1)}"
        count += f" and up to {unsure} where the data ask for them" if unsure else ""
        name = f", body {which}" if len(loop.bodies) > 1 else ""
        lines += [f"loop{name}: {count} an iteration", *_indented(_step_lines(body))]
    if loop.solo is None:
        return [*lines, "all blocks run every iteration"]
    enter, leave = loop.solo.enter, loop.solo.leave
    alone = f"one block runs iterations that walk fewer than {enter:,} items, to over {leave:,}"
    return [*lines, alone]


def _indented(lines: list[str]) -> list[str]:
    return [f"  {line}" for line in lines]


def _loops(steps: tuple[Step, ...]) -> Iterator[LoopPhases]:
    for step in steps:
        if isinstance(step, LoopPhases):
            yield step
            for body in step.bodies:
                yield from _loops(body)


def phases_to_data(steps: tuple[Step, ...]) -> list[dict[str, object]]:
    """Return steps for JSON."""
    return [_step_data(step) for step in steps]


def _step_data(step: Step) -> dict[str, object]:
    if isinstance(step, Barrier):
        return {"barrier": _cause_data(step.cause), "conditional": step.conditional}
    if isinstance(step, LoopPhases):
        solo = step.solo
        return {
            "loop": [phases_to_data(body) for body in step.bodies],
            "barriers": [barriers_in(body) for body in step.bodies],
            "solo": None if solo is None else {"enter": solo.enter, "leave": solo.leave},
        }
    return {
        "phase": [{"statement": part.statement, "role": part.role} for part in step.parts],
        "by_position": step.by_position,
        "driver": step.driver,
        "conditional": step.conditional,
        "unstored": list(step.unstored),
        "ended_by": None if step.ended_by is None else _cause_data(step.ended_by),
    }


def _cause_data(cause: Cause) -> dict[str, object]:
    return {"why": cause.why.name.lower(), "statement": cause.statement, "operand": cause.operand}
