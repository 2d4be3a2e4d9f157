"""Phases in words: which statements run together, where workers wait, and why."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, Protocol

from semira.base.shown import Shown
from semira.contract import (
    Barrier,
    Cause,
    HostLoop,
    Launch,
    LoopPhases,
    OneByOne,
    Outline,
    Phase,
    Program,
    Statement,
    Why,
    barriers_in,
    walk_statements,
)


class Product(Protocol):
    """What is known of a product in a loop (`plan.explain.Explanation`)."""

    def brief(self, *, is_summed: bool) -> list[str]:
        """Return lines about it; `is_summed`: only its sum is made."""


#: What slots are called where they have a better name than a letter and their number.
Names = Mapping[int, str]


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


@dataclass(frozen=True, slots=True, repr=False)
class ProgramPhases(Shown):
    """How a device runs the statements of a program, ready to print.

    Attributes
    ----------
    program : Program
    steps : tuple of Phase, Barrier or LoopPhases, or of Launch, HostLoop or OneByOne; or None
        Of one kernel, or the pieces that the host starts. None: statements run one by one.
    names : mapping of int to str
        What slots are called; others have a letter for their kind, and their number.
    products : mapping of int to Product
        The plans of products, by the numbers of their statements.
    """

    program: Program
    steps: Outline | None
    names: Names = field(default_factory=dict, hash=False)
    products: Mapping[int, Product] = field(default_factory=dict, hash=False)

    @property
    def loops(self) -> list[LoopPhases | HostLoop]:
        """All loops, an inner one after the one around it."""
        return [] if self.steps is None else list(_loops(self.steps))

    @property
    def launches(self) -> list[Launch]:
        """All launches of a program that is not one kernel."""
        return [] if self.steps is None else list(_launches(self.steps))

    @property
    def is_one_kernel(self) -> bool:
        """Whether the program is one kernel."""
        pieces = (Launch, HostLoop, OneByOne)
        return self.steps is not None and not any(isinstance(s, pieces) for s in self.steps)

    @property
    def statements(self) -> list[str]:
        """The statements by their numbers, as lines of algebra."""
        body = self.program.body
        return [formula(each, self.program, self.names) for each in walk_statements(body)]

    def __str__(self) -> str:
        lines = ["statements", *self._statement_lines()]
        if self.steps is None:
            text = "one by one: the device runs each by itself, so no statements share a phase"
            return "\n".join([*lines, text])
        found = _lines(self.steps, self.names)
        if self.is_one_kernel or len(self.steps) > 1:
            title = "one kernel" if self.is_one_kernel else "in pieces"
            found = [title, *_indented(found)]
        return "\n".join([*lines, *found])

    def _statement_lines(self) -> Iterator[str]:
        """Yield the statements, with the plan below each product."""
        statements, told = self.statements, dict[tuple[str, ...], int]()
        width = len(str(len(statements)))
        summed = {
            launch.apart.statement
            for launch in self.launches
            if launch.apart is not None and launch.apart.why is Why.SUMS_PRODUCT
        }
        for at, text in enumerate(statements):
            yield f"  {at:>{width}}  {text}"
            if at not in self.products:
                continue
            lines = tuple(self.products[at].brief(is_summed=at in summed))
            # Bodies that run in turn have the same products.
            first = told.setdefault(lines, at)
            yield from _indented([f"as statement {first}"] if first != at else lines, width + 6)


def sentence_of(cause: Cause, names: Names | None = None) -> str:
    """Return a cause in words.

    Examples
    --------
    >>> sentence_of(Cause(Why.READS_ELSEWHERE, 5, "v4"))
    'statement 5 reads v4 at other positions'
    """
    operand = "" if cause.operand is None else operand_text(cause.operand, names)
    return cause.why.value.format(s=cause.statement, o=operand)


def operand_text(name: str, names: Names | None = None) -> str:
    """Return an operand in words.

    Examples
    --------
    >>> operand_text("v3"), operand_text("w2"), operand_text("v3.spare")
    ('v3', 'what statement 2 found', 'the old entries of v3')
    >>> operand_text("v3", {3: "frontier"})
    'frontier'
    """
    if name.endswith(".spare"):
        return f"the old entries of {operand_text(name.removesuffix('.spare'), names)}"
    if name.startswith("w"):
        return f"what statement {name[1:].rstrip('m')} found"
    found = re.fullmatch(r"[a-z](\d+)", name)
    return name if found is None or names is None else names.get(int(found[1]), name)


def _phase_lines(phase: Phase, names: Names) -> list[str]:
    roles: dict[int, list[str]] = {}
    for part in phase.parts:
        named = roles.setdefault(part.statement, [])
        if part.role in _ROLES:
            named.append(_ROLES[part.role])
    parts = [f"{at} ({', '.join(named)})" if named else str(at) for at, named in roles.items()]
    lines = [f"{'perhaps a ' * phase.conditional}phase: {', '.join(parts)}"]
    if phase.by_position:
        driver = phase.driver
        listed = "" if driver is None else f"{operand_text(driver, names)} if it is listed, else "
        lines.append(f"  walks {listed}every word")
    if phase.unstored:
        unstored = (operand_text(name, names) for name in phase.unstored)
        lines.append(f"  never stores {', '.join(unstored)}")
    if phase.ended_by is not None and phase.ended_by.why is not Why.ENDS:
        lines.append(f"  ends where {sentence_of(phase.ended_by, names)}")
    return lines


def _lines(steps: Outline, names: Names) -> list[str]:
    lines = []
    for step in steps:
        if isinstance(step, Phase):
            lines += _phase_lines(step, names)
        elif isinstance(step, Barrier):
            kind = "perhaps a barrier:" if step.conditional else "barrier:"
            lines.append(f"{kind} {sentence_of(step.cause, names)}")
        elif isinstance(step, LoopPhases):
            lines += _loop_lines(step, names)
        elif isinstance(step, Launch):
            lines += _launch_lines(step, names)
        elif isinstance(step, HostLoop):
            lines += _host_lines(step, names)
        else:
            why = sentence_of(step.cause, names)
            lines.append(f"one by one: the host starts each statement, because {why}")
    return lines


def _loop_lines(loop: LoopPhases, names: Names) -> list[str]:
    lines = []
    for which, body in enumerate(loop.bodies):
        sure, unsure = barriers_in(body), barriers_in(body, conditional=True)
        count = f"{sure} barrier{'s' * (sure != 1)}"
        count += f" and up to {unsure} where the data ask for them" if unsure else ""
        name = f", body {which}" if len(loop.bodies) > 1 else ""
        lines += [f"loop{name}: {count} an iteration", *_indented(_lines(body, names))]
    if loop.solo is None:
        return [*lines, "all blocks run every iteration"]
    enter, leave = loop.solo.enter, loop.solo.leave
    alone = f"one block runs iterations that walk fewer than {enter:,} items, to over {leave:,}"
    return [*lines, alone]


def _launch_lines(launch: Launch, names: Names) -> list[str]:
    numbers = ", ".join(map(str, launch.statements))
    own = "launches of its own" if len(launch.statements) == 1 else "launches together"
    lines = [f"{'one launch' if launch.is_one else own}: {numbers}"]
    if launch.apart is not None:
        lines.append(f"  because {sentence_of(launch.apart, names)}")
    if launch.unstored:
        unstored = ", ".join(operand_text(name, names) for name in launch.unstored)
        readers = _listed(launch.statements[1:])
        lines.append(f"  never stores {unstored}, because nothing but {readers} reads it")
    if launch.kept is not None:
        assert launch.kept.operand is not None
        made = operand_text(launch.kept.operand, names)
        lines.append(f"  stores {made}, because {sentence_of(launch.kept, names)}")
    return [*lines, *_indented(_lines(launch.steps, names))]


def _host_lines(loop: HostLoop, names: Names) -> list[str]:
    lines = []
    numbers = [cause.statement for cause in loop.apart if cause.statement is not None]
    for which, body in enumerate(loop.bodies):
        name = f", body {which}" if len(loop.bodies) > 1 else ""
        condition = loop.conditions[which]
        asks = ""
        if condition is not None:
            asks = f"; it reads {operand_text(condition, names)} once an iteration"
        lines.append(f"loop{name}: run by the host, because of {_listed(numbers)}{asks}")
        lines += _indented(_lines(body, names))
    return lines


def _listed(numbers: Sequence[int]) -> str:
    """Return statements by their numbers.

    Examples
    --------
    >>> _listed([3]), _listed([1, 2, 4])
    ('statement 3', 'statements 1, 2 and 4')
    """
    *rest, last = map(str, numbers)
    return f"statements {', '.join(rest)} and {last}" if rest else f"statement {last}"


def _indented(lines: Sequence[str], width: int = 2) -> list[str]:
    return [" " * width + line for line in lines]


def _loops(steps: Outline) -> Iterator[LoopPhases | HostLoop]:
    for step in steps:
        if isinstance(step, (LoopPhases, HostLoop)):
            yield step
            for body in step.bodies:
                yield from _loops(body)
        elif isinstance(step, Launch):
            yield from _loops(step.steps)


def _launches(steps: Outline) -> Iterator[Launch]:
    for step in steps:
        if isinstance(step, Launch):
            yield step
        elif isinstance(step, HostLoop):
            for body in step.bodies:
                yield from _launches(body)


#: What JSON calls the kinds of steps, each with the field whose data have that name.
_STEPS = {
    Barrier: ("barrier", "cause"),
    Phase: ("phase", "parts"),
    LoopPhases: ("loop", "bodies"),
    Launch: ("launch", "statements"),
    HostLoop: ("host_loop", "bodies"),
    OneByOne: ("one_by_one", "cause"),
}


def phases_to_data(steps: Outline) -> list[dict[str, object]]:
    """Return steps for JSON."""
    return [_data(step) for step in steps]


def _data(given: Any) -> Any:
    """Return a part of phases for JSON: dataclasses as objects; those of steps name their type."""
    if isinstance(given, tuple):
        return [_data(each) for each in given]
    if isinstance(given, Why):
        return given.name.lower()
    if not is_dataclass(given):
        return given
    found = {each.name: _data(getattr(given, each.name)) for each in fields(given)}
    if type(given) in _STEPS:
        name, main = _STEPS[type(given)]
        found = {name: found.pop(main), **found}
    if isinstance(given, LoopPhases):
        found["barriers"] = [barriers_in(body) for body in given.bodies]
    if isinstance(given, HostLoop):
        found["apart"] = _data(given.apart)
    if isinstance(given, Launch):
        found["phases"] = found.pop("steps")
    return found


#: First letters of slots by their kinds.
_LETTERS = {"matrix": "m", "vector": "v", "scalar": "x", "index": "i"}


def formula(statement: Statement, program: Program, names: Mapping[int, str] | None = None) -> str:
    """Return a statement of a program.

    A slot without a name in `names` has a letter for its kind, and its number.
    """
    kinds = enumerate(slot.kind for slot in program.slots)
    letters = {at: f"{_LETTERS[kind]}{at}" for at, kind in kinds}
    return formula_with(statement, {**letters, **(names or {})})


def formula_with(statement: Statement, names: Mapping[int, str]) -> str:
    """Return a statement with names for its slots."""
    left, flags = names[statement.out], []
    if statement.mask is not None:
        name = names[statement.mask.slot]
        sign, kind = "~" * statement.mask.complement, "S" if statement.mask.structural else "V"
        flags.append(f"{sign}{name}.{kind}")
    if statement.replace:
        flags.append("replace")
    if flags:
        left += f"<{', '.join(flags)}>"
    sign = f"{statement.accum.name}=" if statement.accum is not None else "="
    operands = [names[arg.slot] + (".T" if arg.transposed else "") for arg in statement.args]
    name = statement.operator.name if statement.operator is not None else ""
    if len(operands) == 2 and name:
        right = f"{operands[0]} {name} {operands[1]}"
    else:
        right = f"{name or statement.op}({', '.join(operands)})"
    return f"{statement.op}: {left} {sign} {right}"
