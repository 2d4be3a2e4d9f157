"""What a product does besides, for each entry that it finds: writes of the next iteration.

See `ahead` for when that is right. The writes are those of a phase by position
(kernels/ewise/cells.cuh); here a thread owns the position, since it has claimed the entry or pulls
the row.

A pull leaves what it has read, which others read as well. Where the writes of the next iteration
are done, and its barrier with them, the next product finds that where its result goes: `stale`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from semira.backends.cuda.lower.context import Context
from semira.backends.cuda.lower.members import Write
from semira.backends.cuda.lower.pointwise import pointwise_write
from semira.backends.cuda.lower.product_parts import open_product
from semira.backends.cuda.lower.sources import Operand
from semira.contract import Barrier, Loop, Part, Phase, Statement, Step, Why


@dataclass(frozen=True, slots=True)
class Epilogue:
    """Writes of the next iteration, in the product of this one."""

    #: Of the product.
    number: int
    #: C++: whether there will be a next iteration if the product finds anything.
    condition: str
    #: The product's output.
    driver: Operand
    #: Vector that has none of the new entries, because it is the product's mask; or nothing.
    shut_out: str
    writes: tuple[Write, ...]

    @property
    def flag(self) -> str:
        """Register that says whether the next iteration's writes are done."""
        return f"ahead{self.number}"

    @property
    def stale(self) -> str:
        """Register that says whether the driver's spare plane has still to be emptied."""
        return f"stale{self.number}"

    @property
    def outs(self) -> dict[str, Operand]:
        """The vectors that change, by name."""
        return {write.out.name: write.out for write in self.writes}

    @property
    def read(self) -> dict[str, Operand]:
        """The vectors read at the position, by name, but for the driver."""
        named = {each.name: each for write in self.writes for each in write.operands}
        return {name: each for name, each in named.items() if each != self.driver}

    @property
    def counted(self) -> list[str]:
        """Names of vectors whose new entries are not just those of the product."""
        return [name for name in self.outs if name != self.shut_out]

    def touched(self, spare: str) -> tuple[set[str], set[str]]:
        """Return what the product reads and writes besides; the push empties what it walks."""
        return set(self.read), {spare, self.driver.name, *self.outs}

    def note(self, ctx: Context) -> None:
        """Note the phase of the product and of these writes."""
        parts = [Part(self.number, "product")]
        parts += [Part(number, "ahead") for number in sorted({w.number for w in self.writes})]
        ctx.notes.steps.append(Phase(tuple(parts)))

    def open(self, ctx: Context, turn: str) -> None:
        """Append ``claimed``, called for each entry, and what sums up its changes."""
        ctx.emit(f"const bool prepares = {self.condition};")
        ctx.emit(*(f"Changes changes_{name} = {{}};" for name in self.outs))
        given = f"auto by, const Index i, const bool live, const {self.driver.ctype}& value"
        head = f"auto claimed = [&]({given})"
        with ctx.block(f"{head} __attribute__((always_inline))"):
            ctx.emit("if (!prepares) return;", *self._cells())
            for write in self.writes:
                ctx.emit(*write.lines())
            for name, out in self.outs.items():
                cell, changes = out.cell, f"changes_{name}"
                listed = f"{ctx.block_list(0)}, i, {cell}, nullptr, {changes}"
                ctx.emit(
                    "if constexpr (decltype(by)::kRows) {",
                    f"  store_beside(team, {name}.here, i, {cell}, {changes});",
                    "} else {",
                    f"  store_listed<false>(team, {name}, {listed});",
                    "}",
                )
        ctx.lines[-1] += ";"
        if self.counted:
            self._open_sums(ctx, turn)

    def _cells(self) -> list[str]:
        """Return the cells of a position: presence first, then values."""
        driver = self.driver
        lines = [f"const Cell<{driver.ctype}> {driver.cell} = {{{{value}}, live, live, false}};"]
        for name, each in (self.outs | self.read).items():
            shut = name == self.shut_out
            opened = f"empty_cell<{each.ctype}>()" if shut else f"open_cell({each.place}, i, live)"
            lines.append(f"Cell<{each.ctype}> {each.cell} = {opened};")
        valued = {name for write in self.writes for name in write.valued}
        for name in sorted(valued - {driver.name, self.shut_out}):
            each = (self.outs | self.read)[name]
            lines.append(f"fetch({each.cell}, {each.place}, i);")
        return lines

    def _open_sums(self, ctx: Context, turn: str) -> None:
        names = self.counted
        for name in names:
            counters = f"k{self.number}_{name}"
            ctx.table.add_counters(counters)
            ctx.shared[self._now(name)] = (f"__shared__ Counters {self._now(name)};", "")
            ctx.emit(
                f"Counters& sums_{name} = table->{counters}[{turn}];",
                f"zero_next(team, table->{counters}, {turn});",
            )
        with ctx.block("auto sum_claimed = [&]() __attribute__((always_inline))"):
            values = ", ".join(f"changes_{name}.inserted" for name in names)
            places = ", ".join(f"&sums_{name}.inserted" for name in names)
            ctx.emit(
                f"const Count values[{len(names)}] = {{{values}}};",
                f"Count* const places[{len(names)}] = {{{places}}};",
                "add_over_block(values, places);",
                *(f"changes_{name} = {{}};" for name in names),
            )
        ctx.lines[-1] += ";"

    def _now(self, name: str) -> str:
        return f"now{self.number}_{name}"

    @property
    def summed(self) -> str:
        """The call that follows a product."""
        return " sum_claimed();" if self.counted else ""

    @property
    def taken(self) -> tuple[str, ...]:
        """Lines that copy the sums after a barrier."""
        return tuple(
            f"if (threadIdx.x == 0) {self._now(name)} = sums_{name};" for name in self.counted
        )

    def close(self, ctx: Context, wrote: str) -> None:
        """Append what follows the product's barrier; `wrote`: whether its method did the writes."""
        ctx.emit(f"{self.flag} = prepares{'' if wrote == 'true' else f' && ({wrote})'};")
        for name in self.outs:
            now = self._now(name) if name in self.counted else f"now{self.number}"
            ctx.after_barrier(f"if ({self.flag}) refresh({name}, {now}, false);")


def open_flags(ctx: Context, number: int, product: Statement | Loop) -> None:
    """Reset the registers of a product that may write for the next iteration."""
    assert isinstance(product, Statement)
    flags = [f"ahead{number}"]
    if open_product(number, product).prepares_by_rows:
        flags.append(f"stale{number}")
    for flag in flags:
        ctx.registers[flag] = f"bool {flag} = false;"
        ctx.emit(f"{flag} = false;")


def empty_stale(ctx: Context, number: int, product: Statement | Loop) -> None:
    """Append what empties, behind a loop, the plane that its last pull has left.

    Nobody has touched it since the last barrier but who empties it as well, so nobody is waited
    for; who fills it next has to wait.
    """
    assert isinstance(product, Statement)
    if open_product(number, product).prepares_by_rows:
        ctx.emit(f"if (stale{number}) clear_spare(team, v{product.out});")
        emptied = frozenset({f"v{product.out}.spare"})
        ctx.hazards = replace(ctx.hazards, writes=ctx.hazards.writes | emptied)


def epilogue_of(
    ctx: Context, head: dict[int, Statement], number: int, product: Statement, tests: list[str]
) -> Epilogue:
    """Return what the product of a loop's body does for the next iteration.

    Statements of the head are given by their numbers, the product with its own; `tests` say in C++
    whether another iteration follows if the product finds anything.
    """
    scalars = [a.slot for each in head.values() for a in each.args if ctx.kind(a.slot) == "scalar"]
    for slot in scalars:
        ctx.resolve(slot)
    # What is assigned from an empty scalar is deleted: not here.
    tests = [*tests, *(f"x{slot}.has" for slot in dict.fromkeys(scalars))]
    mask, outs = product.mask, {each.out for each in head.values()}
    shut_out = f"v{mask.slot}" if mask is not None and mask.slot in outs else ""
    writes = tuple(pointwise_write(ctx, at, each) for at, each in head.items())
    return Epilogue(number, " && ".join(tests), ctx.operand(product.out), shut_out, writes)


@contextmanager
def head_apart(ctx: Context, number: int, driver: int) -> Iterator[None]:
    """Put statements, which end with a barrier, into iterations for which no product did them.

    `number` is the product's. Behind it the old entries of `driver` are cleared only if it prepared
    nothing: then this barrier lies between that and the next product, and so it does for what was
    cleared before the loop.
    """
    cleared = frozenset({f"v{driver}.spare"})
    before, steps, turns = ctx.hazards, len(ctx.notes.steps), len(ctx.work.turns)
    with ctx.block(f"if (!ahead{number})"):
        yield
    # They do not pass on in every iteration.
    del ctx.work.turns[turns:]
    ctx.notes.steps[steps:] = [conditional(step) for step in ctx.notes.steps[steps:]]
    ctx.hazards = replace(before, writes=before.writes - cleared).merged(ctx.hazards)


def conditional(step: Step, why: Why = Why.NOT_AHEAD) -> Step:
    """Return a phase or barrier as one that only some iterations have, and `why` they do."""
    if isinstance(step, Barrier):
        return Barrier(replace(step.cause, why=why), conditional=True)
    assert isinstance(step, Phase)
    return replace(step, conditional=True)
