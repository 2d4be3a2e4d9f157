"""Iterations that one block runs alone: what they walk, and how blocks part and meet.

See ``kernels/common/solo.cuh``. Only loops without a loop inside go alone: they are left at their
end, so all blocks are together wherever a loop begins.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from semira.contract import Loop

if TYPE_CHECKING:
    from semira.backends.cuda.lower.context import Context, Hazards


#: Objects up to which a whole launch gets one block: positions of a vector or region, entries of
#: a matrix. First guesses, to be measured.
ALONE_POSITIONS, ALONE_ENTRIES = 2048, 8192

#: Threads of a block where one is likely to be alone nearly always, and the threads' work up to
#: which it is: warps that find nothing to do make those wait that have something. A search on
#: minnesota, one H200: 0.298 ms with 256 threads, 0.313 with 512.
FEW_THREADS, FEW_WORK = 256, 8192


@dataclass(frozen=True, slots=True)
class Edges:
    """What a product walks, whose driver's edges can be counted."""

    #: The vector, and C++ for the degrees of its positions.
    driver: str
    degrees: str
    #: What it walks besides the edges, and what it walks at most, if they are not counted.
    known: tuple[str, ...]
    unknown: tuple[str, ...]


@dataclass(slots=True)
class Work:
    """What one iteration of a loop walks, as far as its head can know.

    An entry born inside the iteration is counted where it is made, not where it is read.
    """

    #: C++ expressions: how often each stands in the sum.
    terms: Counter[str] = field(default_factory=Counter)
    #: By numbers of products.
    edges: dict[int, Edges] = field(default_factory=dict)
    #: Vectors that the iteration has written so far.
    written: set[str] = field(default_factory=set)
    #: Turns that it passes on.
    turns: list[str] = field(default_factory=list)

    def walks(self, *terms: str) -> None:
        """Add items, by their C++ expressions."""
        self.terms.update(terms)

    def walks_entries(self, name: str) -> None:
        """Add the entries of a vector; what a product fills (``t0``) is counted by its edges."""
        if name.startswith("v"):
            self.walks(f"entries_walked({name})")

    def walks_edges(self, number: int, edges: Edges) -> None:
        """Add the edges of a product; all of them if its driver is only made in the iteration."""
        if edges.driver in self.written:
            self.walks(*edges.unknown)
        else:
            self.edges[number] = edges

    def settle(self) -> None:
        """Decide, at the end of the body, whether edges are counted at the head.

        Not where statements look at every position: such an iteration is small on small graphs
        only, and there a bound will do. What a loop carries costs registers.
        """
        counts = not self.rounds
        for edges in self.edges.values():
            self.walks(*(edges.known if counts else edges.unknown))
        if not counts:
            self.edges.clear()

    @property
    def rounds(self) -> int:
        """How often the iteration looks at every position of a vector."""
        return sum(n for term, n in self.terms.items() if re.fullmatch(r"v\d+\.size", term))

    def text(self) -> str:
        """Return the sum of the terms."""
        parts = [(f"static_cast<Count>({term})", n) for term, n in self.terms.items()]
        return " + ".join(f"{n} * {part}" if n > 1 else part for part, n in parts) or "0"


@dataclass(frozen=True, slots=True)
class SoloLoop:
    """A loop whose iterations one block may run."""

    #: Its C++.
    text: str
    #: Slots that its statements write.
    written: frozenset[int]
    #: Of each body the turns that pass on once in every iteration, and so are alike.
    turns: tuple[list[str], ...]


def goes_alone(loop: Loop, works: list[Work]) -> bool:
    """Return whether one block may run iterations of a loop, given what its bodies walk.

    Where statements look at every position, an iteration may be so small that one block can run
    it only if the vectors are, and then the whole launch has one block. (Vectors of a program are
    of one size as a rule; if not, all blocks run it, which is right too.)
    """
    if loop.solo is None or any(isinstance(item, Loop) for body in loop.bodies for item in body):
        return False
    return any(work.rounds * ALONE_POSITIONS < loop.solo.enter for work in works)


def head_of(ctx: Context, loop: Loop, entry: Hazards, done: str, holds: str) -> list[str]:
    """Return the lines at the head of an iteration, for the `Work` of each body.

    `entry` are the hazards there and `holds` says in C++ whether there is another iteration.
    """
    assert loop.solo is not None
    enter, leave = loop.solo.enter, loop.solo.leave
    before, ctx.lines = ctx.lines, []
    ctx.emit(f"bool goes_on = {holds};", "Count work = 0;")
    several = len(ctx.loop_work) > 1
    for which, work in enumerate(ctx.loop_work):
        with ctx.block(f"if (goes_on && {done} % {len(ctx.loop_work)} == {which})"
                       if several else "if (goes_on)"):  # fmt: skip
            ctx.emit(f"work = {work.text()};")
            for number, edges in work.edges.items():
                with ctx.block(f"if (work <= {leave})"):
                    _know_edges(ctx, number, edges, entry)
                    ctx.emit(f"work += edges{number};")
    ctx.emit(f"const Turn turn = next_turn(barrier, goes_on, work, {enter}, {leave});")
    ctx.emit("if (turn == Turn::kLeave) hand_over(false);")
    with ctx.block("if (turn == Turn::kEnter)"):
        # Nobody may still be busy with what stands before.
        ctx.emit("barrier.wait();")
        with ctx.block("if (block_number() == 0)"):
            ctx.emit("barrier.blocks = 1;")
        with ctx.block("else"):
            ctx.emit("if (take_over()) return;", f"goes_on = {holds};")
    ctx.emit(
        "if (!goes_on) break;",
        "const Team team = team_of(barrier.blocks);",
        "if (barrier.is_alone() && team.thread == 0) atomicAdd(&table->alike->alone, 1ull);",
    )
    lines, ctx.lines = ctx.lines, before
    return lines


def _know_edges(ctx: Context, number: int, edges: Edges, entry: Hazards) -> None:
    """Append the count of a product's edges, which the product then need not do itself.

    One hub may have more edges than all of an average frontier, so no average will do.
    """
    with ctx.block(f"if (!edges_known{number})"):
        if edges.driver in entry.writes:
            ctx.emit("barrier.wait();")
        # Every block for itself: it has few entries, or nobody would ask.
        ctx.emit(
            f"edges{number} = count_degrees({edges.driver}, {edges.degrees});",
            f"edges_known{number} = true;",
        )


# what all blocks have alike ----------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Alike:
    """The variables that every block holds alike, and that loops of one block may change."""

    #: Name -> type, of what each thread and of what each block holds.
    registers: dict[str, str]
    shared: dict[str, str]
    #: Register -> an earlier one that has the same value at the head of every such loop.
    same: dict[str, str]

    @classmethod
    def of(cls, ctx: Context, shared: list[str]) -> Alike:
        """Collect what loops of one block mention, of all that is declared."""
        slots = ctx.program.slots
        text = "\n".join(loop.text for loop in ctx.solo_loops)
        mentioned = set(re.findall(r"\w+", text)) - _OF_ONE_THREAD
        declared = [*ctx.registers.values()]
        for number, slot in enumerate(slots):
            # Temporaries are born anew in each iteration.
            if slot.kind == "scalar" and slot.role != "temp":
                declared.append(f"Scalar<{slot.dtype.cuda_type}> x{number};")
        written = {f"x{slot}" for loop in ctx.solo_loops for slot in loop.written}
        registers = {
            name: ctype
            for name, ctype in map(_taken_apart, declared)
            if name in (written if ctype.startswith("Scalar<") else mentioned)
        }
        # What methods walk is opened once.
        walked = {f"m{made.label}" for made in ctx.made}
        changing = [
            line
            for line in shared
            if not line.startswith(_CONSTANT) and _taken_apart(line)[0] not in walked
        ]
        same = {
            turn: turns[0]
            for loop in ctx.solo_loops
            for turns in loop.turns
            for turn in turns[1:]
            if turn != turns[0]
        }
        return cls(registers, dict(_taken_apart(line) for line in changing), same)

    def struct(self, ctx: Context) -> str:
        """Return the C++ struct, with its room in the memory that a launch writes."""
        members = self._saved() | self.shared
        words = 4 + sum(map(_most_words, members.values()))
        ctx.table.add_state("alike", "Alike", words)
        lines = "".join(f"  {ctype} {name};\n" for name, ctype in members.items())
        return (
            "// What all blocks have alike, and how many iterations one ran alone.\n"
            f"struct Alike {{\n{lines}"
            "  long long num_rows;\n  Count alone;\n  bool has_ended;\n};\n"
            f'static_assert(sizeof(Alike) <= {8 * words}, "host and device disagree");\n'
        )

    def functions(self) -> list[str]:
        """Return the lambdas that write it, in the one block, and that take it, in the others."""
        return [
            "// To all blocks from the one that was alone, and there; has the program ended?",
            f"auto hand_over = [&](bool has_ended) {_INLINE} {{",
            "  if (threadIdx.x == 0) {",
            "    Alike& to = *table->alike;",
            "    to.has_ended = has_ended;",
            "    to.num_rows = journal.num_rows;",
            # At the end nobody asks for more, and keeping it until then costs registers.
            "    if (!has_ended) {",
            *(f"      to.{name} = {name};" for name in self._saved() | self.shared),
            "    }",
            "  }",
            "  barrier.blocks = gridDim.x;",
            "  barrier.wait();",
            "};",
            f"auto take_over = [&]() {_INLINE} {{",
            "  barrier.meet<true>();",
            "  const Alike& from = *table->alike;",
            "  journal.num_rows = from.num_rows;",
            "  if (from.has_ended) return true;",
            *(f"  {name} = from.{name};" for name in self._saved()),
            # Told so, the compiler keeps one register for all of them.
            *(f"  {name} = {first};" for name, first in self.same.items()),
            "  if (threadIdx.x == 0) {",
            *(f"    {name} = from.{name};" for name in self.shared),
            "  }",
            "  __syncthreads();",
            "  return false;",
            "};",
        ]

    def ending(self) -> list[str]:
        """Return what follows the phases; the count before a barrier, after which it is zeroed."""
        return [
            "if (team.thread == 0) control.result->solo = table->alike->alone;",
            "if (barrier.is_alone()) hand_over(true);",
        ]

    def _saved(self) -> dict[str, str]:
        return {name: ctype for name, ctype in self.registers.items() if name not in self.same}


#: Called in several places, but a call would put every register into memory.
_INLINE = "__attribute__((always_inline))"

#: What lies in shared memory and is the same at every head: it does not change, or is empty there,
#: or has been read by all.
_CONSTANT = tuple(
    f"__shared__ {kind}"
    for kind in (
        *("Control ", "Compressed<", "BlockList<"),
        *("BlockPieces ", "WarpSums<", "Scalar<", "KeptRows "),
    )
)

#: Read and published by one thread, which is always the same.
_OF_ONE_THREAD = {"stop_word"}


def _taken_apart(declaration: str) -> tuple[str, str]:
    """Return name and type of a declaration with or without a first value."""
    plain = declaration.removeprefix("__shared__ ").rstrip(";")
    ctype, _, name = plain.partition(" = ")[0].rpartition(" ")
    return name, ctype


def _most_words(ctype: str) -> int:
    """Return a bound of the 8-byte words of a type; the compiler checks the sum."""
    kind = re.match(r"\w+", ctype)
    assert kind is not None
    if kind[0] == "Scalar":
        record = re.search(r"Record<(\d+)", ctype)
        return 4 + (int(record[1]) // 8 + 2 if record else 2)
    return {"Vector": 9, "Plane": 3, "Counters": 8}.get(kind[0], 1)
