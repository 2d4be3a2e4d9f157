"""Pulls that run inside of the phase of the statements behind them.

A pull of short rows (kernels/vxm/short.cuh) has every row finished by one warp, whose lanes hold 32
neighbouring results: as a phase by position takes them. So a group that merges what a pull fills
can take it from there: no plane apart, no barrier between. Where rows are longer, the pull
stays a phase of its own; the device knows which, alike in all blocks.

What makes that right:

1. *The pull moves behind what stood between it and the group*, which is nothing but statements on
   scalars: no phase, no barrier, and nothing was pending when the pull began.
2. *Nobody sees the group's writes too early.* The pull reads its operand, at any position, and its
   mask, at its own. The group does not write the mask. If it writes the operand, then all entries
   of it, and into the plane that the operand has not; at the barrier the two change roles.
3. *The plane left behind is not empty*, as everybody else may expect of it. So nobody else writes
   that vector in this program, and at the program's end it is emptied.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from semira.contract import Barrier, Phase, Step, Why, walk_statements

if TYPE_CHECKING:
    from semira.backends.cuda.lower.context import Context
    from semira.backends.cuda.lower.fusion import Group


#: A pull that also takes short rows, and the same for others alone (kernels/vxm/merge.cuh).
_EITHER, _SHARES = "spmv_pull_merge<", "spmv_pull_shares<"


@dataclass(slots=True)
class Joinable:
    """A pull that was lowered last, and how it may run elsewhere.

    Attributes
    ----------
    number : int
        Of the product.
    driver : int
        Slot of its operand.
    mask : int or None
        Slot of its mask.
    test : str
        C++: whether its rows are short.
    open : tuple of str
        Lines that make its operands.
    given : str
        C++ arguments of the sum of its rows, but for the last two.
    counters, turn : str
    block : int
        The line at which its own phase begins.
    steps : tuple of int
        Where its notes begin and end.
    """

    number: int
    driver: int
    mask: int | None
    test: str
    open: tuple[str, ...]
    given: str
    counters: str
    turn: str
    block: int
    steps: tuple[int, int]

    @property
    def flag(self) -> str:
        """Register that says whether it runs in the group's phase."""
        return f"joined{self.number}"

    @property
    def reads(self) -> set[str]:
        """Planes that it reads."""
        return {f"v{self.driver}"} | (set() if self.mask is None else {f"v{self.mask}"})

    def fits(self, ctx: Context, group: Group, replaced: set[str]) -> bool:
        """Return whether a group, which is to be written out now, may take the pull in.

        `replaced` are the vectors of which it makes all entries.
        """
        if len(ctx.notes.steps) != self.steps[1] or group.driver is not None:
            return False
        if not any(m.role == "reset" and m.number == self.number for m in group.members):
            return False
        if any(member.role == "check" or member.by_warp for member in group.members):
            return False
        written = self.reads & group.writes
        numbers = {member.number for member in group.members}
        writers = {
            number
            for number, statement in enumerate(walk_statements(ctx.program.body))
            if statement.out == self.driver
        }
        operand = f"v{self.driver}"
        is_behind = operand in replaced and writers <= numbers and self.mask != self.driver
        return not written or (written == {operand} and is_behind)

    def take_out(self, ctx: Context) -> None:
        """Make the pull's own phase, which is written already, one for rows that are not short."""
        depth = ctx.lines[self.block].removesuffix("{")
        ctx.lines[self.block] = f"{depth}if (!{self.flag}) {{"
        call = next(k for k in range(self.block, len(ctx.lines)) if _EITHER in ctx.lines[k])
        ctx.lines[call] = ctx.lines[call].replace(_EITHER, _SHARES)
        ctx.lines.insert(self.block, f"{depth}const bool {self.flag} = {self.test};")
        begin, end = self.steps
        ctx.notes.steps[begin:end] = [_sometimes(step) for step in ctx.notes.steps[begin:end]]

    def walk(self, at: str) -> list[str]:
        """Return the lines that sum the rows and call ``at`` with each."""
        sums = f"sums{self.number}"
        return [
            f"Counters& {sums} = table->{self.counters}[{self.turn}];",
            f"zero_next(team, table->{self.counters}, {self.turn});",
            *self.open,
            "auto finish = [&](const Index i, const bool live, const auto& sum, Count&) {",
            f"  {at}(given_sum(sum), i, live);",
            "};",
            f"sum_short_rows({self.given}, finish, &{sums});",
        ]


def _sometimes(step: Step) -> Step:
    if isinstance(step, Barrier):
        return (
            step
            if step.conditional
            else Barrier(replace(step.cause, why=Why.NOT_SHORT), conditional=True)
        )
    assert isinstance(step, Phase)
    return replace(step, conditional=True)
