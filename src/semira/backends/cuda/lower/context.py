"""What lowering carries along: text, pending hazards, and facts about the program."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NoReturn

from semira.backends.cuda.jit.operators import (
    monoid_name,
    monoid_struct,
    operator_name,
    operator_struct,
    semiring_name,
    semiring_struct,
)
from semira.backends.cuda.layout import TableLayout
from semira.backends.cuda.lower.fusion import GroupWriter
from semira.backends.cuda.lower.groups import Group
from semira.backends.cuda.lower.members import Member
from semira.backends.cuda.lower.notes import Notes, clash
from semira.backends.cuda.lower.solo import SoloLoop, Work
from semira.backends.cuda.lower.sources import Driver, Operand
from semira.backends.cuda.lower.variants import VariantPull
from semira.base.dtypes import DataType
from semira.base.errors import NotImplementedException
from semira.contract import Cause, Loop, Program, Statement, Why, part_of
from semira.ops import TypedMonoid, TypedOp, TypedSemiring

if TYPE_CHECKING:
    from semira.backends.cuda.lower.epilogue import Epilogue
    from semira.backends.cuda.lower.joined import Joinable


def last_turn(turn: str) -> str:
    """Return the turn before `turn`."""
    return f"{turn} == 0 ? 2 : {turn} - 1"


def unsupported(what: str) -> NoReturn:
    """Raise the error for what this backend has no kernel for."""
    raise NotImplementedException(
        f"the cuda backend has no kernel for {what} yet; move the operands with .to('cpu') and "
        "run it there"
    )


@dataclass(frozen=True, slots=True)
class Made:
    """What a method walks in the place of a matrix: made of it before the launch."""

    slot: int
    #: Of the method.
    name: str
    #: Of the lines; of the end that entries are read from, if it has none.
    orientation: str
    parameters: tuple[tuple[str, Any], ...] = ()
    #: What is walked has no values, and the product reads them: all entries must share one.
    needs_one: bool = False

    @property
    def label(self) -> str:
        """Its part of a C++ name."""
        given = "".join(f"_{value}" for _, value in self.parameters)
        one = "_one" if self.needs_one else ""
        return f"{self.slot}_{self.name}{given}_{self.orientation}{one}"


#: Lists that blocks gather in shared memory, 4 KiB each; a phase with more writes the others
#: to device memory at once.
_LISTS = 4

#: Bytes of the largest value: the sums of a block's warps lie in 48 KiB of shared memory.
LARGEST_VALUE = 1024


def check_dtype(dtype: DataType) -> None:
    """Check that values of a dtype can be on the device.

    Raises NotImplementedException if they are too large.
    """
    if dtype.itemsize > LARGEST_VALUE:
        unsupported(f"values of {dtype.itemsize} bytes (at most {LARGEST_VALUE}), dtype {dtype}")


#: Operations that move values of their first argument, and change at most the dtype.
_MOVES = frozenset({"assign", "copy", "diag", "extract", "gather", "scatter", "select"})


def is_one_loop(program: Program) -> bool:
    """Return whether a program is a loop and nothing else, as all that are recorded are."""
    return len(program.body) == 1 and isinstance(program.body[0], Loop)


def check_moves(program: Program, statement: Statement) -> None:
    """Check that no record is to become a value of another dtype: nothing is cast to or from one.

    Raises NotImplementedException if one is to.
    """
    source, target = (program.slots[s].dtype for s in (statement.args[0].slot, statement.out))
    if statement.op in _MOVES and source is not target and "V" in (source.kind, target.kind):
        unsupported(f"{statement.op} of values of dtype {source} to dtype {target}")


@dataclass(frozen=True, slots=True)
class Workspace:
    """Memory a statement needs besides its operands."""

    #: Field of the table.
    name: str
    #: One of "plane", "queue", "partials", "carries" and "handed".
    kind: str
    #: Values of a plane, of partial sums, of carries or of what is handed over.
    dtype: DataType | None
    #: Slot whose object gives the size: a vector (plane) or a matrix (queue, carries, handed).
    slot: int
    #: Value of a plane's absent entries.
    identity: object = None


@dataclass(slots=True)
class Hazards:
    """What was read and written since the last barrier, and what is to follow the next."""

    reads: frozenset[str] = frozenset()
    writes: frozenset[str] = frozenset()
    #: Lines for one thread of each block.
    refresh: tuple[str, ...] = ()
    #: Lines for all threads at the same time: what they find lies in shared memory.
    finds: tuple[str, ...] = ()
    #: Lines for all threads, after those.
    phases: tuple[str, ...] = ()
    #: What these lines write.
    phase_writes: frozenset[str] = frozenset()

    @property
    def is_pending(self) -> bool:
        """Whether something waits for a barrier."""
        return bool(self.refresh or self.finds or self.phases)

    def facts(self) -> tuple[object, ...]:
        """Return everything that it holds."""
        lines = self.refresh, self.finds, self.phases
        return self.reads, self.writes, self.phase_writes, *lines

    def merged(self, other: Hazards) -> Hazards:
        """Return both together; nothing waits at a loop's back edge."""
        return replace(self, reads=self.reads | other.reads, writes=self.writes | other.writes)


@dataclass(slots=True)
class Context:
    """State of one lowering."""

    program: Program
    table: TableLayout = field(default_factory=TableLayout)
    #: Vector slot -> class of vectors that are known to be of one size.
    axes: dict[int, int] = field(default_factory=dict)
    #: Slot -> numbers of the statements that name it.
    uses: dict[int, set[int]] = field(default_factory=dict)
    #: Vector slot -> products it drives whose rule counts its edges: their numbers, and the C++
    #: object that counts.
    driven: dict[int, list[tuple[int, str]]] = field(default_factory=dict)
    #: Statements that share a phase which is not written out yet.
    group: Group | None = None
    #: Statement number of a reduction in `group` -> lines that make its result.
    totals: dict[int, list[str]] = field(default_factory=dict)
    #: Slot of a scalar that such a reduction writes -> statement number.
    awaited: dict[int, int] = field(default_factory=dict)
    structs: dict[str, str] = field(default_factory=dict)
    workspaces: dict[str, Workspace] = field(default_factory=dict)
    swapped: set[int] = field(default_factory=set)
    orientations: set[tuple[int, str]] = field(default_factory=set)
    sliced: set[tuple[int, str]] = field(default_factory=set)
    scattered: set[int] = field(default_factory=set)
    made: dict[Made, None] = field(default_factory=dict)
    headers: dict[str, None] = field(default_factory=dict)
    #: Whether its threads have few registers: phases that would spill are not made one.
    is_tight: bool = False
    #: Lanes that sum each row of what pulls by equal shares walk; 0 if not all rows are short.
    short: int = 0
    #: Which variant the kernel has of pulls that may have it; empty: none.
    variant: str = ""
    #: Variants that pulls may have, by name, slot and orientation.
    variants: dict[tuple[str, int, str], VariantPull] = field(default_factory=dict)
    #: Whether a product that fills before the next barrier has filled a table.
    has_table: bool = False
    #: Slots of the limits of the loops around what is lowered now.
    limits: tuple[int, ...] = ()
    #: Scalar slots that must not be empty.
    valued: set[int] = field(default_factory=set)
    #: Scalar slots that no statement writes.
    constants: frozenset[int] = frozenset()
    #: Whether what is lowered now will run, whatever is bound.
    is_certain: bool = True
    #: Scalar slots looked at before the first statement -> statement that needs their value.
    checks: dict[int, int] = field(default_factory=dict)
    products: dict[int, tuple[str, tuple[str, ...]]] = field(default_factory=dict)
    #: Declarations of what every thread holds for itself, by name.
    registers: dict[str, str] = field(default_factory=dict)
    #: Declaration and first value of what lies in shared memory, by name.
    shared: dict[str, tuple[str, str]] = field(default_factory=dict)
    #: Vector slots whose list of positions a statement may walk.
    list_readers: frozenset[int] = frozenset()
    #: Whether only the device can see that a statement is impossible.
    may_fail: bool = False
    #: Whether the iteration has changed what outlives it, so far.
    has_changed: bool = False
    #: Whether the program may end inside of an iteration that has.
    may_break: bool = False
    epilogue: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    hazards: Hazards = field(default_factory=Hazards)
    #: Hazards at the heads of loops, and `may_break`, by loop and what came before it.
    loop_heads: dict[tuple[object, ...], tuple[Hazards, bool]] = field(default_factory=dict)
    depth: int = 2
    statements: int = 0
    loops: int = 0
    iteration: str = "0"
    #: What the iteration walks that is being lowered.
    work: Work = field(default_factory=Work)
    #: The same for each body of the loop.
    loop_work: list[Work] = field(default_factory=list)
    #: Loops whose iterations one block may run alone.
    solo_loops: list[SoloLoop] = field(default_factory=list)
    #: Phases and barriers written so far.
    notes: Notes = field(default_factory=Notes)
    #: What the product that is being lowered does for the next iteration.
    ahead: Epilogue | None = None
    #: The pull lowered last, if the group behind it may take it into its phase.
    joinable: Joinable | None = None
    #: Register that says whether the spare plane of a vector is to be emptied at the end, by slot.
    behind: dict[int, str] = field(default_factory=dict)

    @property
    def carries(self) -> bool:
        """Whether shares of a matrix carry sums of rows to another phase."""
        return self.is_tight and not self.short

    # text ------------------------------------------------------------------------------------
    def emit(self, *lines: str) -> None:
        """Append lines at the present indentation."""
        self.lines.extend("  " * self.depth + line if line else "" for line in lines)

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """Append ``head {`` ... ``}``."""
        self.emit(f"{head} {{" if head else "{")
        self.depth += 1
        yield
        self.depth -= 1
        self.emit("}")

    def begin(self, statement: Statement) -> int:
        """Start the next statement; return its number."""
        number = self.statements
        self.statements += 1
        check_moves(self.program, statement)
        self.emit("", f"// {number}: {statement.op} -> slot {statement.out}")
        for arg in statement.args:
            self.resolve(arg.slot)
        return number

    # operators -------------------------------------------------------------------------------
    def operator(self, op: TypedOp | TypedMonoid) -> str:
        """Return the struct's name of an operator (of a monoid: its operator's)."""
        typed = op.op if isinstance(op, TypedMonoid) else op
        name = operator_name(typed)
        if name not in self.structs:
            self.structs[name] = operator_struct(typed)
        return name

    def monoid(self, monoid: TypedMonoid) -> str:
        """Return the struct's name of a monoid."""
        self.operator(monoid)
        name = monoid_name(monoid)
        if name not in self.structs:
            self.structs[name] = monoid_struct(monoid)
        return name

    def semiring(self, semiring: TypedSemiring, *, vector_first: bool) -> str:
        """Return the struct's name of a semiring in one kind of product."""
        self.operator(semiring.binaryop)
        self.monoid(semiring.monoid)
        name = semiring_name(semiring, vector_first=vector_first)
        if name not in self.structs:
            self.structs[name] = semiring_struct(semiring, vector_first=vector_first)
        return name

    # statements that share a phase -----------------------------------------------------------
    def join(self, member: Member, slot: int, driver: Driver | None = None) -> None:
        """Add a statement to the group, or start another with it.

        `slot` is a vector of the statement's size, `driver` that of a group that starts here.
        """
        axis = self.axes[slot]
        if self.group is not None:
            refused = self.refusal(member, slot)
            if refused is not None:
                self.flush(refused)
        if self.group is None:
            within = set() if driver is None else {driver.operand.name}
            self.group = Group(axis, f"v{slot}.size", driver, within=within)
        self.group.append(member)

    def refusal(self, member: Member, slot: int, group: Group | None = None) -> Cause | None:
        """Return why a statement may not join a group, by default the present one."""
        chosen = self.group if group is None else group
        assert chosen is not None
        named = member.operands if member.written is None else [*member.operands, member.written]
        vectors = [self.program.slots[int(each.name[1:])] for each in named if each.is_vector]
        sizes = [slot.dtype.itemsize for slot in vectors]
        return chosen.refusal(member, self.axes[slot], max(sizes, default=0))

    def flush(self, cause: Cause) -> None:
        """Write the group out, if there is one, and note why no more can join it."""
        group, self.group = self.group, None
        if group is not None:
            GroupWriter(self, group).run(cause)

    def resolve(self, slot: int) -> None:
        """Make sure that a scalar has its value, and that nobody still needs the one before."""
        cause = self.cause(Why.NEEDS_SUM, f"x{slot}")
        if slot in self.awaited:
            self.flush(cause)
        if slot in self.awaited:
            self.barrier(cause)

    @property
    def is_alone(self) -> bool:
        """Whether the program is a statement and nothing else, as those that run at once are."""
        return len(self.program.body) == 1 and isinstance(self.program.body[0], Statement)

    def cause(self, why: Why, operand: str | None = None) -> Cause:
        """Return why the present statement does what it does."""
        return Cause(why, self.statements - 1, operand)

    # hazards ---------------------------------------------------------------------------------
    def touch(
        self, reads: set[str], writes: set[str], toucher: Callable[[str], int] | None = None
    ) -> None:
        """Note a phase's accesses; put a barrier before it if it meets an earlier one.

        `toucher` says which statement accesses a plane, if it is not the present one.
        """
        self.meet(reads, writes, toucher)
        now = self.hazards
        self.hazards = replace(now, reads=now.reads | reads, writes=now.writes | writes)

    def meet(
        self, reads: set[str], writes: set[str], toucher: Callable[[str], int] | None = None
    ) -> None:
        """Put a barrier here if accesses meet earlier ones."""
        if self.group is not None:
            met = clash(reads, writes, self.group.reads, self.group.writes)
            if met is not None:
                self.flush(self.cause(*met))
        met = clash(reads, writes, self.hazards.reads, self.hazards.writes)
        if met is not None:
            cause = self.cause(*met)
            self.barrier(cause if toucher is None else replace(cause, statement=toucher(met[1])))

    def barrier(self, cause: Cause) -> None:
        """Append a barrier and the lines that waited for it."""
        self.emit("barrier.wait();")
        self.notes.barrier(cause)
        self.settled()

    def wait(self, why: Why, operand: str | None = None, *, conditional: bool = False) -> None:
        """Append a barrier inside of a statement, `conditional` if in an ``if`` of its own."""
        self.emit("barrier.wait();")
        self.notes.barrier(self.cause(why, operand), conditional=conditional)

    def fill_table(self, call: str, *, conditional: bool) -> None:
        """Append what fills a table that a pull reads, and the barrier behind it."""
        if self.has_table:
            # Another pull between the same barriers may still read its table, or the same one.
            self.wait(Why.FILLS_TABLE, conditional=conditional)
        self.emit(call)
        self.wait(Why.FILLS_TABLE, conditional=conditional)
        self.has_table = True

    def settled(self) -> None:
        """Append what waited for a barrier just emitted; forget the hazards."""
        now, self.hazards = self.hazards, Hazards(writes=self.hazards.phase_writes)
        self._emit_pending(now)
        self.awaited = {s: n for s, n in self.awaited.items() if n in self.totals}

    def _emit_pending(self, now: Hazards) -> None:
        """Append lines that waited: one thread of each block changes what lies in shared memory."""
        if now.refresh:
            with self.block("if (threadIdx.x == 0)"):
                self.emit(*now.refresh)
        self.emit(*now.finds)
        if now.refresh or now.finds:
            self.emit("__syncthreads();")
        self.emit(*now.phases)

    def after_barrier(self, *lines: str) -> None:
        """Let one thread of each block run `lines` after the next barrier."""
        self.hazards = replace(self.hazards, refresh=self.hazards.refresh + lines)

    def find_after_barrier(self, *lines: str) -> None:
        """Let all threads run `lines` after the next barrier, before a barrier of the block."""
        self.hazards = replace(self.hazards, finds=self.hazards.finds + lines)

    def after_barrier_all(self, *lines: str, writes: Iterable[str] = ()) -> None:
        """Let all threads run `lines` after the next barrier and what one thread does there."""
        now = self.hazards
        self.hazards = replace(
            now, phases=now.phases + lines, phase_writes=now.phase_writes | frozenset(writes)
        )

    def may_end(self) -> None:
        """Note that the program may end here, with an error."""
        self.may_break = self.may_break or self.has_changed

    def undoes_errors(self) -> bool:
        """Return whether the iteration has changed what an error here takes back anyway.

        Then a position that is bad may be found in the phase that uses it: the copies that undo
        the iteration are needed without it.
        """
        return self.has_changed and is_one_loop(self.program)

    def changes(self, slot: int) -> None:
        """Note that a slot is written; a temporary ends with the iteration."""
        self.has_changed = self.has_changed or self.program.slots[slot].role != "temp"

    def need_value(self, slot: int, number: int) -> None:
        """End the program before a statement whose scalar operand is empty."""
        self.valued.add(slot)
        if slot in self.constants and self.is_certain:
            # Looked at once, before anything has changed.
            self.checks.setdefault(slot, number)
            return
        self.may_end()
        if not self.undoes_errors():
            self.flush(self.cause(Why.NEEDS_VALUE, f"x{slot}"))
        with self.block(f"if (!x{slot}.has)"):
            if self.hazards.is_pending:
                self.wait(Why.NEEDS_VALUE, f"x{slot}", conditional=True)
                self._emit_pending(self.hazards)
            self.emit(f"journal.missing_value(team, {number});", "return;")

    # names -----------------------------------------------------------------------------------
    def ctype(self, slot: int) -> str:
        """Return the C++ type of a slot's values."""
        return self.program.slots[slot].dtype.cuda_type

    def kind(self, slot: int) -> str:
        """Return the kind of a slot."""
        return self.program.slots[slot].kind

    def counters(self, number: int, suffix: str = "") -> tuple[str, str]:
        """Return field and turn register of a statement's counters."""
        name, turn = f"k{number}{suffix}", f"turn{number}{suffix}"
        self.table.add_counters(name)
        self.registers[turn] = f"int {turn} = 0;"
        return name, turn

    def last_counters(self, name: str, turn: str) -> str:
        """Return the counters of the turn just passed on."""
        return f"last_of(table->{name}, {turn})"

    def next_turn(self, turn: str) -> None:
        """Pass the turn on; `last_turn` is the one just used."""
        self.emit(*self.turn_lines(turn))

    def turn_lines(self, turn: str) -> list[str]:
        """Return the line that passes the turn on; once for each statement and iteration."""
        self.work.turns.append(turn)
        return [f"{turn} = {turn} == 2 ? 0 : {turn} + 1;"]

    def workspace(self, spec: Workspace, struct: str) -> str:
        """Reserve memory and its field in the table; return the field."""
        self.table.add(spec.name, struct)
        self.workspaces[spec.name] = spec
        return spec.name

    def block_list(self, which: int = _LISTS) -> str:
        """Return the shared memory where a block gathers positions for a list; by default none."""
        name, room = f"list{which}", "kListed" if which < _LISTS else "0"
        self.shared[name] = (f"__shared__ BlockList<{room}> {name};", f"{name}.reset();")
        return name

    def place_of(self, made: Made) -> str:
        """Ask for what a method walks; return its field in the table."""
        part = part_of(made.name, "cuda")
        self.table.add(f"s{made.label}", *part.DESCRIPTOR)
        self.made[made] = None
        self.headers.update(
            dict.fromkeys(f"{part.__package__}.kernels:{each}" for each in part.HEADERS)
        )
        return f"table->s{made.label}"

    def forget_edges(self, slot: int) -> None:
        """Say that a vector's edges have to be counted anew."""
        for product, _ in self.driven.get(slot, ()):
            self.emit(f"edges_known{product} = false;")

    def operand(self, slot: int) -> Operand:
        """Return a vector as an operand."""
        return Operand(f"v{slot}", self.ctype(slot))
