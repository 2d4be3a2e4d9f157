"""Pulls that run inside of the phase of the statements behind them.

A pull by equal shares (kernels/vxm/tiles.cuh) has every row finished by one warp, whose lanes hold
32 neighbouring results: as a phase by position takes them. So a group that merges what a pull fills
can take it from there: no plane apart, no barrier between. Only where registers are few and rows
are not short (`Context.carries`) the pull stays a phase of its own.

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

from dataclasses import dataclass
from typing import TYPE_CHECKING

from semira.contract import walk_statements

if TYPE_CHECKING:
    from semira.backends.cuda.lower.context import Context
    from semira.backends.cuda.lower.groups import Group


@dataclass(slots=True)
class Joinable:
    """A pull that was lowered last, and how it may run elsewhere."""

    #: Of the product.
    number: int
    #: Slot of its operand.
    driver: int
    #: Slot of its mask.
    mask: int | None
    #: Lines that make its operands.
    open: tuple[str, ...]
    #: C++: the sum of its rows, each of which goes to what ``begin`` returns.
    call: str
    #: The same where operands have no gaps, of no mask; leaves in ``done`` which words it did.
    #: Nothing if there is no such copy.
    full: tuple[str, ...]
    counters: str
    turn: str
    #: Where its own phase begins and ends, in lines and in notes.
    lines: tuple[int, int]
    steps: tuple[int, int]

    @property
    def tally(self) -> str:
        """The C++ variable of what it counts."""
        return f"tally{self.number}"

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
        """Delete the pull's own phase, which is written already."""
        del ctx.lines[slice(*self.lines)]
        del ctx.notes.steps[slice(*self.steps)]
        # The table keeps it for kernels of another shape.
        del ctx.shared[f"w{self.number}"]

    def opening(self) -> list[str]:
        """Return the lines before the walk over the rows, which calls ``begin`` before each.

        How many rows have sums, and of how many entries, is counted once: a walk over all rows
        for an operand without gaps comes to the same each time.
        """
        number, sums = self.number, f"sums{self.number}"
        again = []
        if self.mask is None:
            again = [
                f"same{number} = known{number} && gather.present == nullptr;",
                f"known{number} = gather.present == nullptr;",
            ]
        return [
            f"Counters& {sums} = table->{self.counters}[{self.turn}];",
            f"zero_next(team, table->{self.counters}, {self.turn});",
            *self.open,
            *again,
            f"Tally {self.tally} = {{}};",
        ]

    def closing(self) -> list[str]:
        """Return the lines behind the walk."""
        return [f"if (same{self.number}) {self.tally} = Tally{{}};"] if self.mask is None else []

    def full_walk(self, ctx: Context) -> tuple[str, ...]:
        """Return ``full``, and make room for the rows that it keeps."""
        rows = f"rows{self.number}"
        if any(f"&{rows}" in line for line in self.full):
            ctx.shared[rows] = (f"__shared__ KeptRows {rows};", "")
            ctx.registers[f"has_{rows}"] = f"bool has_{rows} = false;"
        return self.full

    def finish(self, ctx: Context, is_behind: bool) -> None:
        """Append what the pull's own phase would have done behind its barrier.

        `is_behind`: the operand's new entries lie in its spare plane.
        """
        number, turn = self.number, self.turn
        vector, now = f"v{self.driver}", f"now{number}"
        ctx.emit(f"{turn} = {turn} == 2 ? 0 : {turn} + 1;")
        flags = [f"known{number}", f"same{number}"] if self.mask is None else []
        for flag in flags:
            ctx.registers[flag] = f"bool {flag} = false;"
        ctx.after_barrier(
            f"{f'if (!same{number}) ' if self.mask is None else ''}"
            f"{now} = {ctx.last_counters(self.counters, turn)};",
            # As many as drove it: the vector itself may be another one now.
            f"{now}.driver_edges = static_cast<Count>({vector}.nvals);",
        )
        if is_behind:
            ctx.swapped.add(self.driver)
            ctx.behind[self.driver] = flag = f"behind{self.driver}"
            ctx.registers[flag] = f"bool {flag} = false;"
            ctx.emit(f"{flag} = true;")
            ctx.after_barrier(f"{vector}.turn_over();")
        frontier = f"static_cast<Index>({now}.driver_edges)"
        row = f"{frontier}, {now}.touched, static_cast<Index>({now}.inserted)"
        ctx.after_barrier_all(f"journal.row(team, {ctx.iteration}, {number}, 0, {row});")
