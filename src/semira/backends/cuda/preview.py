"""What becomes of a planned Program, without a GPU: one kernel, or pieces, and why."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from semira.backends.cuda.hosted import HostedLoop, Piece, count_uses, is_hosted, prepare_hosted
from semira.backends.cuda.lower import lower_program
from semira.backends.cuda.own_launches import ending_of, is_own, own_text
from semira.backends.cuda.staged import is_staged, is_summed
from semira.backends.cuda.staged.executable import source_of
from semira.backends.cuda.staged.method_parts import dots_part
from semira.backends.cuda.staged.text import has_dots
from semira.contract import (
    Barrier,
    Cause,
    HostLoop,
    HostStep,
    Launch,
    LoopPhases,
    OneByOne,
    Outline,
    Program,
    Statement,
    Step,
    Why,
    walk_statements,
)
from semira.formats.index import WIDE

#: An operand of a cause: a letter, a number, and what else there is.
_OPERAND = re.compile(r"([a-z])(\d+)(.*)")


def phases_of(program: Program, sides: Mapping[int, int] | None = None) -> Outline:
    """Return the steps of a planned program's kernel; of several launches, the pieces.

    `sides` has the longest side of what a slot is bound to; None: all are below 2**31. Raises
    NotImplementedException if a statement has no kernel on this backend.
    """
    for slot, side in (sides or {}).items():
        if side >= WIDE:
            return (OneByOne(Cause(Why.HUGE, None, _name_of(program, slot))),)
    if is_hosted(program) and not is_summed(program):
        pieces = prepare_hosted(program, lambda piece: piece, is_summed)
        return _Outliner(program).pieces(pieces.body)
    if is_staged(program) or is_own(program):
        return (_Outliner(program).launch(program, tuple(range(len(program.slots)))),)
    return lower_program(program).phases


def _name_of(program: Program, slot: int) -> str:
    return f"{'m' if program.slots[slot].kind == 'matrix' else program.slots[slot].kind[0]}{slot}"


class _Outliner:
    """Tells what pieces are, by the numbers that statements and slots have in the whole program."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.uses = count_uses(program)
        self.statements = tuple(walk_statements(program.body))
        #: Statements met so far: pieces come in the order of the program.
        self.number = 0

    def pieces(self, items: tuple[Any, ...]) -> tuple[HostStep, ...]:
        found: list[HostStep] = []
        for item, after in zip(items, (*items[1:], None), strict=True):
            if isinstance(item, HostedLoop):
                conditions = tuple(
                    None if slot is None else f"x{slot}" for slot in item.loop.conditions
                )
                bodies = tuple(self.pieces(body) for body in item.bodies)
                found.append(HostLoop(bodies, conditions))
            else:
                is_followed = isinstance(after, Piece) and not after.is_loop
                found.append(self.launch(item.executable, item.slots, is_followed=is_followed))
        return tuple(found)

    def launch(
        self, piece: Program, slots: tuple[int, ...], *, is_followed: bool = False
    ) -> Launch:
        """Return what a piece is, whose slots are those of the whole at `slots`.

        `is_followed` says whether the next statement of the whole stands in the same body. Raises
        NotImplementedException if a statement has no kernel on this backend.
        """
        first = self.number
        self.number += sum(1 for _ in walk_statements(piece.body))
        numbers = tuple(range(first, self.number))
        if is_staged(piece):
            # Refuses what has no kernel.
            source_of(piece)
            return self._staged(numbers, is_followed=is_followed)
        if is_own(piece):
            own_text(piece)
            lower_program(ending_of(piece))
            return Launch(numbers, apart=Cause(Why.OWN_LAUNCHES, first), is_one=False)
        return Launch(numbers, _renumbered(lower_program(piece).phases, first, slots))

    def _staged(self, numbers: tuple[int, ...], *, is_followed: bool) -> Launch:
        """Return what a statement is that writes a matrix, or a product with its sum."""
        first = numbers[0]
        statement = self.statements[first]
        made = _name_of(self.program, statement.out)
        if len(numbers) > 1:
            apart = Cause(Why.SUMS_PRODUCT, first, made)
            # A method's folder may have a launch for rows of each length.
            is_one = dots_part(statement) is None
            return Launch(numbers, apart=apart, unstored=(made,), is_one=is_one)
        methods = () if statement.plan is None else statement.plan.methods
        by_row = any(method.name == "hash" for method in methods)
        why = Why.COUNTS_ENTRIES if self._is_counted(statement) else Why.WRITES_MATRIX
        apart = Cause(Why.READS_SIZE if by_row else why, first, made)
        kept = self._kept(first, made) if is_followed else None
        return Launch(numbers, apart=apart, is_one=False, kept=kept)

    def _is_counted(self, statement: Statement) -> bool:
        """Return whether the host reads how many entries the result has, whatever the operands."""
        if statement.op == "assign":
            is_scalar = self.program.slots[statement.args[0].slot].kind == "scalar"
            return not is_scalar and any(spec.kind != "all" for spec in statement.indices)
        return statement.op in ("extract", "diag")

    def _kept(self, number: int, made: str) -> Cause | None:
        """Return why a product is written of which the next statement takes the sum."""
        product, total = self.statements[number : number + 2]
        is_summed_up = total.op == "reduce" and total.args[0].slot == product.out
        is_temporary = self.program.slots[product.out].role == "temp"
        if product.op != "mxm" or not (is_summed_up and is_temporary):
            return None
        if self.uses[product.out] != 2:
            return Cause(Why.READ_AGAIN, number + 1, made)
        if not has_dots(product):
            return Cause(Why.NO_DOTS, number, made)
        if any(one.plan is not None and one.plan.ordered for one in (product, total)):
            return Cause(Why.FIXED_ORDER, number + 1, made)
        return Cause(Why.TOO_WIDE, number + 1, made)


def _renumbered(steps: tuple[Step, ...], first: int, slots: tuple[int, ...]) -> tuple[Step, ...]:
    """Return the steps of a piece with the numbers of the whole program.

    `first` is the number of its first statement; `slots` are those of the whole that its slots are.
    """

    def operand(name: str | None) -> str | None:
        if name is None:
            return None
        found = _OPERAND.fullmatch(name)
        assert found is not None, name
        letter, number, rest = found[1], int(found[2]), found[3]
        return f"{letter}{number + first if letter == 'w' else slots[number]}{rest}"

    def cause(given: Cause) -> Cause:
        number = None if given.statement is None else given.statement + first
        return Cause(given.why, number, operand(given.operand))

    def step(given: Step) -> Step:
        if isinstance(given, Barrier):
            return replace(given, cause=cause(given.cause))
        if isinstance(given, LoopPhases):
            return replace(
                given, bodies=tuple(tuple(step(each) for each in body) for body in given.bodies)
            )
        return replace(
            given,
            parts=tuple(replace(part, statement=part.statement + first) for part in given.parts),
            driver=operand(given.driver),
            unstored=tuple(str(operand(name)) for name in given.unstored),
            ended_by=None if given.ended_by is None else cause(given.ended_by),
        )

    return tuple(step(each) for each in steps)
