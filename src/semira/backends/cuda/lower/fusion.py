"""Neighbouring position-by-position statements as one phase, without a barrier between them.

Statements that read and write at the position of their result can share a phase: each position is
loaded into cells, the statements run on these one after the other, and what changed is stored
once. A temporary that no other statement reads never reaches memory. Which statements those are is
said in groups.py; here their phase is written.

A group may have a *driver*, a plane outside of whose entries nothing changes. If the driver has a
list of its entries when the phase runs, only these are visited, else every word.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from semira.backends.cuda.lower.groups import Group
from semira.backends.cuda.lower.joined import Joinable
from semira.backends.cuda.lower.members import NO_ACCUM, Check, Reset, Stored, Sum, Write
from semira.backends.cuda.lower.sends import merge_sends, open_sends
from semira.backends.cuda.lower.sources import Operand
from semira.contract import Cause, Part, Phase

if TYPE_CHECKING:
    from semira.backends.cuda.lower.context import Context

#: Lanes of a warp.
_LANES = 32


class GroupWriter:
    """Writes the phase of a group, and what follows after the next barrier."""

    def __init__(self, ctx: Context, group: Group) -> None:
        self.ctx, self.group, self.driver = ctx, group, group.driver
        self.numbers = {member.number for member in group.members}
        # A check stands for a statement that reads elsewhere, in a phase of its own.
        checks = {
            member.number
            for member in group.members
            if isinstance(member, Check) and not member.rides
        }
        self.whole = self.numbers - checks
        self.present, self.valued, self.defined = self._analyse()
        self.unstored = {
            member.out.name
            for member in group.members
            if isinstance(member, Write) and self._is_passing(member.out)
        }
        self.stored = self._stored()
        self.joined = self._taken_in()
        first = group.members[0]
        self.flag = f"listed_{first.number}{getattr(first, 'suffix', 's')}"

    def _analyse(self) -> tuple[dict[str, Operand], set[str], set[str]]:
        """Return whose presence and values are loaded, and what is replaced before it is read."""
        present: dict[str, Operand] = {}
        valued: set[str] = set()
        defined: set[str] = set()
        for member in self.group.members:
            for operand in member.operands:
                if operand.name not in defined:
                    present[operand.name] = operand
            valued |= member.valued - defined
            if isinstance(member, Write) and member.out.name not in defined:
                if member.replaces_all and member.out.name not in present:
                    defined.add(member.out.name)
                elif not member.replaces_all:
                    present[member.out.name] = member.out
        return present, valued, defined

    def _is_passing(self, operand: Operand) -> bool:
        """Whether a temporary is born here and read nowhere else."""
        slot = int(operand.name[1:])
        is_temp = self.ctx.program.slots[slot].role == "temp"
        return is_temp and operand.name in self.defined and self.ctx.uses[slot] <= self.whole

    def _stored(self) -> list[Stored]:
        found: dict[str, Stored] = {}
        for member in self.group.members:
            if not isinstance(member, Write) or member.out.name in self.unstored:
                continue
            name, slot = member.out.name, int(member.out.name[1:])
            replaced = member.replaces_all or (name in found and found[name].replaced)
            if name in found:
                found[name].replaced = replaced
                continue
            counters, turn = self.ctx.counters(member.number, member.suffix)
            degrees = tuple(self.ctx.driven.get(slot, ()))
            found[name] = Stored(slot, member.out, replaced, counters, turn, degrees)
        return list(found.values())

    def _taken_in(self) -> Joinable | None:
        """Return the pull that runs in this phase, if one does."""
        joinable, self.ctx.joinable = self.ctx.joinable, None
        replaced = {each.operand.name for each in self.stored if each.replaced}
        fits = joinable is not None and joinable.fits(self.ctx, self.group, replaced)
        return joinable if fits else None

    def _is_behind(self, name: str) -> bool:
        """Whether a vector is written to its spare plane: the pull still reads the other."""
        return self.joined is not None and name == f"v{self.joined.driver}"

    def _is_given(self, operand: Operand) -> bool:
        return self.joined is not None and operand.name == f"w{self.joined.number}"

    def run(self, cause: Cause) -> None:
        """Append the phase, and note it; nothing if it would leave no trace."""
        ctx = self.ctx
        if not self.stored and all(isinstance(member, Write) for member in self.group.members):
            return
        if self.joined is not None:
            self.joined.take_out(ctx)
        writes = self.group.writes - self.unstored
        if self.driver is not None:
            writes |= {f"{each.operand.name}.spare" for each in self.stored if each.replaced}
        reads = self.group.reads | (set() if self.joined is None else self.joined.reads)
        ctx.touch(reads - self.unstored, writes, self.group.toucher)
        ctx.notes.steps.append(self._noted(cause))
        if self.driver is None:
            ctx.work.walks(self.group.size)
        else:
            ctx.work.walks_entries(self.driver.operand.name)
            ctx.registers[self.flag] = f"bool {self.flag} = false;"
        numbers = ", ".join(map(str, sorted(self.numbers)))
        ctx.emit(f"// position by position: {numbers}")
        with ctx.block(""):
            self._open()
            self._positions()
            self._walk()
            self._close()
        self._afterwards()
        merge_sends(ctx, self.group.sends)

    def _noted(self, cause: Cause) -> Phase:
        parts = tuple(dict.fromkeys(Part(each.number, each.role) for each in self.group.members))
        driver = None if self.driver is None else self.driver.operand.name
        unstored = tuple(sorted(self.unstored))
        return Phase(parts, True, driver, unstored, cause)

    # the phase -------------------------------------------------------------------------------
    def _open(self) -> None:
        for each in self.stored:
            self.ctx.emit(
                f"Counters& {each.sums} = table->{each.counters}[{each.turn}];",
                f"zero_next(team, table->{each.counters}, {each.turn});",
                f"Changes {each.changes} = {{}};",
            )
        open_sends(self.ctx, self.group.sends)
        for member in self.group.members:
            if isinstance(member, Sum):
                total = f"sum{member.number}"
                self.ctx.emit(f"{member.monoid}::T {total}{{}};", f"bool has_{total} = false;")
            if isinstance(member, Check):
                self.ctx.emit(
                    f"zero_next(team, table->{member.counters}, {member.turn});",
                    f"Count bad{member.number} = 0;",
                )

    def _full(self, operand: Operand) -> str:
        """Return the arguments that say whether every position has an entry, or none, if known."""
        if not self._entries(operand):
            return ""
        none = f", none_{operand.name}" if self._may_be_empty(operand.name) else ""
        return f", full_{operand.name}{none}"

    def _may_be_empty(self, name: str) -> bool:
        """Whether the copy of a walk for full operands serves where this one has no entry at all.

        It counts for sums alone: where it decided about what is stored, a test would stay there.
        """
        return self._is_copied and name not in self._deciding

    @property
    def _deciding(self) -> set[str]:
        """Operands that decide, by way of temporaries too, where what is stored has entries."""
        found = {each.operand.name for each in self.stored}
        for member in reversed(self.group.members):
            if isinstance(member, Write) and member.out.name in found:
                found |= {operand.name for operand in member.operands}
        return found

    @property
    def _overwritten(self) -> set[str]:
        """Vectors that a write gives values which do not depend on their own."""
        writes = [each for each in self.group.members if isinstance(each, Write)]
        anew = (each for each in writes if each.accum == NO_ACCUM)
        return {each.out.name for each in anew if each.out not in each.source.operands}

    @property
    def _is_copied(self) -> bool:
        """Whether a copy of the walk runs where no operand lacks an entry here and there."""
        joined = self.joined
        return joined is not None and joined.mask is None and bool(joined.full)

    def _entries(self, operand: Operand) -> str:
        """Return the C++ expression of an operand's number of entries; empty if none is known."""
        if operand.is_vector:
            return f"{operand.name}.nvals"
        filled = f"now{operand.name.removeprefix('w')}"
        return f"static_cast<Index>({filled}.inserted)" if filled in self.ctx.shared else ""

    @property
    def _opened(self) -> dict[str, Operand]:
        return {each.operand.name: each.operand for each in self.stored} | self.present

    def _countable(self) -> list[tuple[str, str]]:
        """Return what is opened and has a known number of entries, and that number."""
        found = ((name, self._entries(operand)) for name, operand in self._opened.items())
        return [(name, n) for name, n in found if n and not self._is_given(self._opened[name])]

    def _fullness(self) -> list[str]:
        """Return C++ conditions under which no operand lacks an entry; empty if none are needed."""
        if not self._is_copied:
            return []
        full = [
            f"(full_{name} || none_{name})" if self._may_be_empty(name) else f"full_{name}"
            for name, _ in self._countable()
        ]
        return [*full, *(f"x{slot}.has" for slot in sorted(self.group.scalars))]

    def _positions(self) -> None:
        ctx = self.ctx
        for name, entries in self._countable():
            ctx.emit(f"const bool full_{name} = {entries} == {self.group.size};")
            if self._may_be_empty(name):
                ctx.emit(f"const bool none_{name} = {entries} == 0;")
        for each in filter(self._stays_full, self.stored):
            ctx.registers[f"full{each.slot}"] = f"bool full{each.slot} = false;"
            ctx.emit(f"full{each.slot} = full_{each.operand.name};")
        if self.joined is not None:
            self._position_in_two_parts()
            return
        self._position("const bool live")

    def _position(self, live: str) -> None:
        ctx = self.ctx
        with ctx.block(f"auto at = [&](auto by_list, const Index i, {live})"):
            if self.driver is not None:
                ctx.emit("constexpr bool kList = decltype(by_list)::kOn;")
            self._load()
            self._make()
            self._fetch()
            self._compute()
            self._store()
        ctx.lines[-1] += ";"

    def _position_in_two_parts(self) -> None:
        """Append what begins a position, and gives back what ends it when its row is summed.

        What the memory is asked for in the first part is on its way meanwhile.
        """
        ctx = self.ctx
        cells = [each.cell for each in self._opened.values() if not self._is_given(each)]
        with ctx.block("auto begin = [&](const Index i, const auto live)"):
            self._load()
            self._fetch()
            taken = ", ".join(["i", "live", *cells])
            with ctx.block(f"return [&, {taken}](const auto& sum, Count&) mutable"):
                self._make()
                self._compute()
                self._store()
            ctx.lines[-1] += ";"
        ctx.lines[-1] += ";"

    def _compute(self) -> None:
        for by_warp, members in groupby(self.group.members, lambda each: each.by_warp):
            lines = [line for member in members for line in member.lines()]
            if by_warp:
                self.ctx.emit(*lines)
                continue
            with self.ctx.block("if (live)"):
                self.ctx.emit(*lines)

    def _store(self) -> None:
        ctx = self.ctx
        by_words = [self._store_word(each) for each in self.stored] + self._resets("false")
        listed = [] if self.driver is None else [self._store_listed(each) for each in self.stored]
        by_list = listed + self._resets("true")
        # Before the stores, which no load may pass.
        for each in self.stored:
            if each.degrees and each.replaced:
                degree = f"{each.degrees[0][1]}(i)"
                if self.driver is not None:
                    degree = f"(kList ? degree_{each.operand.name} : {degree})"
                count = f"{each.changes}.edges += static_cast<Count>({degree});"
                full = f"!full_{each.operand.name} && " if self._stays_full(each) else ""
                ctx.emit(f"if ({full}{each.operand.cell}.present) {count}")
        if self.driver is None:
            ctx.emit(*by_words)
        elif by_list:
            with ctx.block("if constexpr (kList)"):
                ctx.emit(*by_list)
            with ctx.block("else"):
                ctx.emit(*by_words)

    def _stays_full(self, each: Stored) -> bool:
        """Whether the edges of a vector are not counted where it had every entry before.

        It mostly has them afterwards, and then drives all edges there are; the degrees of a large
        matrix are as many bytes as a vector.
        """
        known = self.ctx.is_tight and self.driver is None and each.replaced and each.degrees
        return bool(known) and each.operand.name in dict(self._countable())

    def _load(self) -> None:
        """Append the cells that are opened: their presence."""
        ctx, driver = self.ctx, self.driver
        for name, operand in self._opened.items():
            if self._is_given(operand):
                continue
            cell = f"Cell<{operand.ctype}> {operand.cell}"
            opened = f"open_cell({operand.place}, i, live{self._full(operand)})"
            if driver is not None and operand == driver.operand:
                listed = f"listed_cell({operand.place}, live)"
                ctx.emit(f"{cell} = kList ? {listed} : {opened};")
                if not any(each.replaced for each in self.stored):
                    ctx.emit(
                        "if constexpr (!kList) {",
                        f"  if (!__any_sync(kAllLanes, {operand.cell}.present)) return;",
                        "}",
                    )
            elif name in self.present or driver is None:
                ctx.emit(f"{cell} = {opened};")
            else:
                ctx.emit(f"{cell} = kList ? empty_cell<{operand.ctype}>() : {opened};")

    def _make(self) -> None:
        """Append the cells of what the pull brings, and of temporaries."""
        ctx = self.ctx
        for operand in filter(self._is_given, self._opened.values()):
            made = f"filled_cell<{operand.ctype}>(given_sum(sum))"
            ctx.emit(f"Cell<{operand.ctype}> {operand.cell} = {made};")
        writes = [member.out for member in self.group.members if isinstance(member, Write)]
        # A temporary may be written more than once.
        for out in dict.fromkeys(each for each in writes if each.name in self.unstored):
            ctx.emit(f"auto {out.cell} = empty_cell<{out.ctype}>();")

    def _fetch(self) -> None:
        """Append the loads of values, after all presence."""
        ctx = self.ctx
        for each in self.stored:
            if each.degrees and each.replaced and self.driver is not None:
                # Under way with the values; where all words are walked, most have no entry.
                degree = f"kList && live ? {each.degrees[0][1]}(i) : Offset{{0}}"
                ctx.emit(f"const Offset degree_{each.operand.name} = {degree};")
        overwritten = self._overwritten
        for name in sorted(self.valued):
            operand = self.present[name]
            if not self._is_given(operand):
                fetch = "fetch_replaced" if name in overwritten else "fetch"
                ctx.emit(f"{fetch}({operand.cell}, {operand.place}, i);")

    def _store_word(self, each: Stored) -> str:
        given = f"i, {each.operand.cell}, {each.changes});"
        if self._is_behind(each.operand.name):
            return f"store_behind(team, v{each.slot}.spare, {given}"
        return f"store_word(team, {each.operand.place}, {given}"

    def _store_listed(self, each: Stored) -> str:
        which = self.stored.index(each)
        given = f"team, v{each.slot}, {self.ctx.block_list(which)}, i, {each.operand.cell}"
        if each.replaced:
            return f"store_spare({given}, &{each.sums}.inserted);"
        appends = str(each.slot in self.ctx.list_readers).lower()
        return f"store_listed<{appends}>({given}, &{each.sums}.inserted, {each.changes});"

    def _lists(self) -> list[str]:
        """Return what appends the gathered positions to the lists, each warp one list."""
        takes, writes = [], []
        for which, each in enumerate(self.stored):
            vector = f"v{each.slot}"
            if each.replaced:
                place = f"{vector}.spare.list, 0"
            elif each.slot in self.ctx.list_readers:
                place = f"kept_list({vector}), {vector}.nvals"
            else:
                continue
            thread = f"{which} * kWarp % blockDim.x"
            takes.append(f"  if (threadIdx.x == {thread}) list{which}.take(&{each.sums}.inserted);")
            writes.append(f"  list{which}.write({place});")
        meets = ["  __syncthreads();"] if takes else []
        return [*meets, *takes, *meets, *writes]

    def _resets(self, by_list: str) -> list[str]:
        return [
            f"reset_cell<{by_list}>(team, {m.operand.place}, i, {m.operand.cell}, {m.identity});"
            for m in self.group.members
            if isinstance(m, Reset) and not self._is_given(m.operand)
        ]

    def _walk(self) -> None:
        if self.joined is not None:
            self._walk_joined(self.joined)
            return
        words, driver = self._words(), self.driver
        if driver is None:
            self._walk_full()
            self.ctx.emit(words)
            return
        self.ctx.emit(
            f"{self.flag} = {driver.listed};",
            f"if ({self.flag}) {{",
            f"  walk_list(team, {driver.operand.place}.list, {driver.nvals}, at);",
            *self._lists(),
            "} else {",
            f"  {words}",
            "}",
        )

    def _walk_joined(self, joined: Joinable) -> None:
        """Append the walk over the pull's rows, which hands each to the group.

        Where all of the group's operands have an entry everywhere, or nowhere, a copy of the walk
        runs over the words that have 32 rows: presence folds away in it, which is most of the
        instructions of PageRank on short rows.
        """
        ctx, full = self.ctx, self._fullness()
        ctx.emit(*joined.opening())
        if not full:
            ctx.emit(joined.call, *joined.closing())
            return
        names = [name for name, each in self._opened.items() if not self._is_given(each)]
        ctx.emit("unsigned done = 0;", *(f"auto& any_{name} = {name};" for name in names))
        driver = f"v{joined.driver}"
        with ctx.block(f"if ({' && '.join([f'{driver}.nvals == {driver}.size', *full])})"):
            for name in names:
                if self._may_be_empty(name):
                    ctx.emit(f"const auto {name} = in_registers(any_{name});")
                else:
                    self._shadow(name, f"full_{name}")
            self._position_in_two_parts()
            ctx.emit(*joined.full_walk(ctx))
        later_call = joined.call.replace(");", ", done);")  # from the word `done` on
        ctx.emit(later_call, *joined.closing())

    def _walk_full(self) -> None:
        """Append a copy of the walk for where no vector that it reads or writes lacks an entry.

        It takes the words that have all of their positions; the other walk goes on behind them.
        """
        ctx, names = self.ctx, self._read_full()
        if not names:
            return
        ctx.emit("unsigned done = 0;", *(f"auto& any_{name} = {name};" for name in names))
        with ctx.block(f"if ({' && '.join(names.values())})"):
            for name, is_full in names.items():
                self._shadow(name, is_full)
            self._position("const Always live")
            ctx.emit(
                f"walk_full_words(team, {self.group.size}, at);",
                f"done = static_cast<unsigned>({self.group.size}) / kWarp;",
            )

    def _shadow(self, name: str, is_full: str) -> None:
        """Append a vector's or plane's namesake in registers, and that it is full, as constants."""
        self.ctx.emit(f"const auto {name} = as_full(any_{name});")
        if is_full.isidentifier():
            self.ctx.emit(f"constexpr bool {is_full} = true;")

    def _read_full(self) -> dict[str, str]:
        """Return whose copy a walk for full operands has, and when each is full; or nothing.

        Kernels for large graphs have such walks, and those of loops: there instructions add up, of
        which small graphs wait for half of the time. Others are compiled in less time without.
        """
        in_loop = self.ctx.iteration != "0"
        counts = dict(self._countable())
        if not (self.ctx.is_tight or in_loop) or set(counts) != set(self._opened):
            return {}
        found = {name: f"full_{name}" for name in counts}
        for member in self.group.members:
            # In one order, or the text and with it the compiled kernel would differ by process.
            others = sorted(member.elsewhere - set(found))
            found |= {name: f"{name}.nvals == {name}.size" for name in others}
        return found | {name: f"whole_{name}" for name in self.group.sends}

    def _words(self) -> str:
        """Return the walk by words, without those of which it is clear that nothing happens."""
        reach, begun = self._reach(), ", done" if self.driver is None and self._read_full() else ""
        if reach is None:
            return f"walk_words(team, {self.group.size}, at{begun});"
        filled = []
        for name in sorted(reach):
            operand = reach[name]
            full = f"full_{name} || " if self._entries(operand) else ""
            filled.append(f"{full}{operand.place}.words[w] != 0")
        test = f"[&](unsigned w) {{ return {' || '.join(filled)}; }}"
        return f"walk_filled(team, {self.group.size}, {test}, at{begun});"

    def _reach(self) -> dict[str, Operand] | None:
        """Return planes outside of all of which nothing happens; None if there may be more."""
        found: dict[str, Operand] = {}
        inner: dict[str, dict[str, Operand]] = {}
        for member in self.group.members:
            bounds = member.bounds()
            if not bounds:
                return None
            # Of planes each of which bounds it, one is enough.
            name = min(bounds)
            reach = inner.get(name) or {name: self._opened[name]}
            if isinstance(member, Write):
                if member.out.name in self.unstored:
                    inner[member.out.name] = inner.get(member.out.name, {}) | reach
                    continue
                if member.replaces_all:
                    reach = reach | {member.out.name: member.out}
            found |= reach
        return found

    def _close(self) -> None:
        values, sums = [], []
        for each in self.stored:
            fields = ["inserted", "deleted"]
            fields += ["edges"] if each.degrees and each.replaced else []
            values += [f"{each.changes}.{field}" for field in fields]
            sums += [f"&{each.sums}.{field}" for field in fields]
        for member in self.group.members:
            if isinstance(member, Check):
                values.append(f"bad{member.number}")
                sums.append(f"&table->{member.counters}[{member.turn}].queued")
        if self.joined is not None:
            for field in ("inserted", "touched", "edges"):
                values.append(f"{self.joined.tally}.{field}")
                sums.append(f"&sums{self.joined.number}.{field}")
        totals = [member for member in self.group.members if isinstance(member, Sum)]
        for member in totals:
            kept, total = f"kept{member.number}", f"sum{member.number}"
            self.ctx.shared[kept] = (f"__shared__ WarpSums<{member.monoid}> {kept};", "")
            self.ctx.emit(f"{kept}.keep({total}, has_{total});")
        # A warp has a lane for each.
        for few in range(0, len(values), _LANES):
            given, taken = values[few : few + _LANES], sums[few : few + _LANES]
            with self.ctx.block(""):
                self.ctx.emit(
                    f"const Count values[{len(given)}] = {{{', '.join(given)}}};",
                    f"Count* const sums[{len(taken)}] = {{{', '.join(taken)}}};",
                    "add_over_block(values, sums);",
                )
        if totals and not values:
            self.ctx.emit("__syncthreads();")
        for which, member in enumerate(totals, 1):
            where = f"team, table->{member.partials}, {member.turn}"
            kept = f"kept{member.number}, {which}"
            self.ctx.emit(f"store_sum<{member.monoid}>({where}, {kept});")

    # after the barrier -----------------------------------------------------------------------
    def _afterwards(self) -> None:
        ctx = self.ctx
        if self.joined is not None:
            self.joined.finish(ctx, any(self._is_behind(each.operand.name) for each in self.stored))
        for each in self.stored:
            ctx.next_turn(each.turn)
            last = ctx.last_counters(each.counters, each.turn)
            vector, appended = f"v{each.slot}", "false"
            if self.driver is not None and not each.replaced:
                appended = self.flag if each.slot in ctx.list_readers else "false"
            refreshed = f"refresh({vector}, {last}, {appended});"
            if self.driver is not None and each.replaced:
                ctx.swapped.add(each.slot)
                taken = f"{vector}.take_spare(static_cast<Index>({last}.inserted), true);"
                refreshed = f"if ({self.flag}) {taken} else {refreshed}"
                cleared = f"if ({self.flag}) clear_spare(team, {vector});"
                ctx.after_barrier_all(cleared, writes={f"{vector}.spare"})
            ctx.after_barrier(refreshed)
            self._count_edges(each, last)
        totals = [member for member in self.group.members if isinstance(member, Sum)]
        for which, total in enumerate(totals, 1):
            found = f"found{total.number}"
            ctx.shared[found] = (f"__shared__ Scalar<{total.monoid}::T> {found};", "")
            where = f"team, table->{total.partials}, {total.turn}"
            ctx.find_after_barrier(f"find_total<{total.monoid}>({where}, {found}, {which});")
            ctx.after_barrier_all(*ctx.totals.pop(total.number))
        for member in self.group.members:
            if isinstance(member, Check) and member.rides:
                ctx.next_turn(member.turn)
                last = ctx.last_counters(member.counters, member.turn)
                ctx.after_barrier_all(*member.ending(last))

    def _count_edges(self, each: Stored, last: str) -> None:
        ctx = self.ctx
        ctx.forget_edges(each.slot)
        if not each.replaced:
            return
        counted = each.degrees[0][1] if each.degrees else ""
        known = f"!full{each.slot}" if self._stays_full(each) else "true"
        for product, degrees in each.degrees:
            if degrees == counted:
                ctx.after_barrier_all(
                    f"edges{product} = {last}.edges;", f"edges_known{product} = {known};"
                )
