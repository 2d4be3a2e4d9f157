"""The CUDA kernels that the conformance suite can ask for: listed, recorded, compared.

``tests/conformance/kernels.jsonl.gz`` holds the programs, one a line, without their plans: the
kernels follow from them by the present planner and lowering, so the list changes only with the
suite. `REMEDY` records it without a GPU in about a minute.

Kernels of Python functions are not listed: their names hold the interpreter's bytecode. Nor are
those of building matrices, which follow from no program, and of huge sides, where the backend makes
programs of its own.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import Any

import pytest
from tests.helpers.program_text import HasNoText, from_line, to_line

from semira.backends import registry
from semira.backends.cuda.backend import CAPABILITIES
from semira.backends.cuda.hosted import is_hosted, prepare_hosted
from semira.backends.cuda.jit import compile
from semira.backends.cuda.jit.cache import digest
from semira.backends.cuda.jit.known import Known
from semira.backends.cuda.jit.linking import functions_in
from semira.backends.cuda.jit.render import BASE, BLOCK, FULL, PROGRAM, STAGED
from semira.backends.cuda.lower import LaunchShape, Lowered, lower_program
from semira.backends.cuda.lower.context import check_dtype
from semira.backends.cuda.lower.program import KERNEL
from semira.backends.cuda.own_launches import ending_of, is_own, own_text
from semira.backends.cuda.staged.block_source import block_source
from semira.backends.cuda.staged.executable import is_staged, is_summed, source_of
from semira.backends.cuda.staged.product_source import full_source
from semira.backends.cuda.wide.store import CudaStore
from semira.backends.reference.backend import ReferenceBackend
from semira.base.errors import NotImplementedException, PlanError
from semira.contract import (
    Capabilities,
    Hints,
    Loop,
    Program,
    alias_values,
    walk_statements,
)
from semira.engine import run
from semira.frontend.ss import tiles
from semira.methods.hot_columns import cuda as hot_columns
from semira.methods.sorted_push.sorts import KERNELS
from semira.plan import Facts, plan_program, weighed_beforehand
from semira.plan.beforehand import WAYS

REMEDY = "record them: pytest tests/conformance --device cuda --kernels record"

LIST = Path(__file__).resolve().parents[1] / "conformance" / "kernels.jsonl.gz"

_NO_FACTS = Facts()

#: What the programs of the suite may need beside their own kernels.
BASE_OFFSETS = ("int", "long long")

#: Of so many products, one is compiled with each pinned merge.
MERGED_PRODUCTS = 10

#: Of so many loops, or single statements, that may read hot columns, one is compiled that way.
HOT_LOOPS, HOT_STATEMENTS = 4, 10


@dataclass(frozen=True)
class Kernel:
    """One translation unit.

    Attributes
    ----------
    root : str
        Kernel file that includes what the source calls.
    offset_type : {"int", "long long"}
    source : str
        What was generated.
    """

    root: str
    offset_type: str
    source: str

    @property
    def key(self) -> str:
        """What identifies it: all but the kernel library, which is one for all."""
        return digest(self.root, self.offset_type, self.source)


def kernels_of(program: Program) -> list[Kernel]:
    """Return what the cuda backend compiles when it prepares a planned program.

    Raises
    ------
    NotImplementedException
        The backend refuses the program.
    """
    if is_hosted(program) and not is_summed(program):
        found: list[Kernel] = []
        prepare_hosted(program, lambda piece: found.extend(kernels_of(piece)), is_summed)
        return found
    for slot in program.slots:
        check_dtype(slot.dtype)
    if is_staged(program):
        return [Kernel(STAGED, "int", source_of(program))]
    if is_own(program):
        root, source = own_text(program)
        return [Kernel(root, "int", source), *kernels_of(ending_of(program))]
    return [Kernel(PROGRAM, "int", lowered(program).source)]


@lru_cache(4096)  # all of the list, which is asked for again by the shape of its kernels
def lowered(program: Program) -> Lowered:
    """Return a lowered program; the same one to all who only look at it."""
    return lower_program(program)


def follows_from_a_program(kernel: Kernel) -> bool:
    """Whether preparing a program asks for it.

    Others belong to building matrices and to huge sides, one for an operator and its dtypes, and
    those of Python functions to one process.
    """
    is_of_a_program = kernel.root in (STAGED, FULL, BLOCK) or KERNEL in kernel.source
    return kernel.root == "planned" or (is_of_a_program and not functions_in(kernel.source))


@cache
def listed_lines() -> frozenset[str]:
    """Return the programs of the list as text; none before the first recording."""
    if not LIST.is_file():
        return frozenset()
    return frozenset(gzip.decompress(LIST.read_bytes()).decode().splitlines())


@cache
def listed_programs() -> tuple[Program, ...]:
    """Return the programs of the list, planned for the cuda backend, in every way they may go."""
    found = (
        (program, replace(facts, way=way))
        for program, facts in map(from_line, sorted(listed_lines()))
        for way in ("", *(WAYS if weighed_beforehand(program, CAPABILITIES) is not None else ()))
    )
    return tuple(plan_program(program, CAPABILITIES, facts=facts) for program, facts in found)


@cache
def required_kernels() -> tuple[Kernel, ...]:
    """Return every kernel that the suite can ask for, each once, and those all programs share."""
    found = {Kernel(root, offset, ""): None for root in BASE for offset in BASE_OFFSETS}
    for program in listed_programs():
        try:
            found.update(dict.fromkeys(kernels_of(program)))
        except NotImplementedException:
            continue
    return tuple(found)


#: Shapes of programs that gather all rows of a large matrix.
_LARGE_SHAPES = (
    LaunchShape.for_many_gathers(),
    *(LaunchShape.for_short_rows(lanes) for lanes in (1, 2)),
)

#: The same that read them as bits.
_DIAGONAL_SHAPES = tuple(replace(shape, variant="diagonals") for shape in _LARGE_SHAPES[1:])


@cache
def hot_kernels() -> tuple[Kernel, ...]:
    """Return kernels that read hot columns from shared memory, of programs of the list.

    The matrices of the suite are too small to ask for them.
    """
    programs = _some_of(_programs_with(_has_hot_columns))
    return tuple(_shaped(hot_columns.SHAPE, each) for each in programs)


@cache
def gathering_kernels() -> tuple[Kernel, ...]:
    """Return kernels of programs of the list for large matrices; half of them for short rows."""
    programs = _some_of(gathering_programs())
    many, one, two = _LARGE_SHAPES
    asked = ((many, programs), (one, programs[::2]), (two, programs[1::2]))
    return tuple(_shaped(shape, each) for shape, some in asked for each in some)


@cache
def diagonal_kernels() -> tuple[Kernel, ...]:
    """Return kernels that read short rows as bits, of programs of the list; half for each shape."""
    programs, (one, two) = _some_of(_programs_with(_has_diagonals)), _DIAGONAL_SHAPES
    asked = ((one, programs[1::2]), (two, programs[::2]))
    return tuple(_shaped(shape, each) for shape, some in asked for each in some)


@cache
def gathering_programs() -> list[Program]:
    """Return the programs of the list that gather whole matrices, one of each kernel."""
    return _programs_with(lambda given: bool(given.sliced))


def _may_have(variant: str, given: Lowered) -> bool:
    """Return whether a pull of a program may have a variant."""
    return any(pull.variant == variant for pull in given.variants)


_has_hot_columns = partial(_may_have, "hot_columns")
_has_diagonals = partial(_may_have, "diagonals")


def _some_of(found: Iterable[Program]) -> tuple[Program, ...]:
    """Return some programs of the list that may have a kernel of another shape.

    One in `HOT_LOOPS` of the programs with a loop, one in `HOT_STATEMENTS` of the others: what
    differs from the ordinary kernel is the same for all.
    """
    kinds: tuple[list[Program], list[Program]] = [], []
    for program in found:
        kinds[any(isinstance(each, Loop) for each in program.body)].append(program)
    alone, loops = kinds
    return (*loops[::HOT_LOOPS], *alone[::HOT_STATEMENTS])


@lru_cache(512)
def _shaped(shape: LaunchShape, program: Program) -> Kernel:
    return Kernel(PROGRAM, "int", lower_program(program, shape).source)


def _programs_with(has: Callable[[Lowered], bool]) -> list[Program]:
    """Return the programs of the list whose kernel has something, one of each kernel."""
    found: dict[str, Program] = {}
    for program in listed_programs():
        if is_hosted(program) or is_staged(program) or is_own(program):
            continue
        try:
            made = lowered(program)
        except NotImplementedException:
            continue
        if has(made):
            found.setdefault(made.source, program)
    return list(found.values())


@cache
def full_kernels() -> tuple[Kernel, ...]:
    """Return what products compile when they meet an operand with every entry, each once.

    Which programs do is a matter of what they are given: here all may.
    """
    found: dict[Kernel, None] = {}
    for program in listed_programs():
        statement, *rest = walk_statements(program.body)
        if statement.op != "mxm" or (is_hosted(program) and not is_summed(program)):
            continue
        if is_staged(program) and (not rest or is_summed(program)):
            source = full_source(program, statement, *rest)
            found.setdefault(Kernel(FULL, "int", source))
    return tuple(found)


@cache
def block_kernels() -> tuple[Kernel, ...]:
    """Return what products compile when they pull into a block of vectors, each once.

    Counts decide which do: here all may.
    """
    found: dict[Kernel, None] = {}
    for program in listed_programs():
        statement = next(walk_statements(program.body))
        plan = statement.plan
        if len(program.body) > 1 or statement.op != "mxm" or plan is None:
            continue
        if plan.methods[-1].name == "pull":
            found.setdefault(Kernel(BLOCK, "int", block_source(program, statement)))
    return tuple(found)


@cache
def merged_kernels() -> tuple[Kernel, ...]:
    """Return kernels of pushes that list their products, and the sorts of all of them.

    The suite runs on every device and pins no merge; here products of the list do.
    """
    found = {Kernel(KERNELS, offset, ""): None for offset in BASE_OFFSETS}
    programs = (from_line(line)[0] for line in sorted(listed_lines()))
    products = [
        program
        for program in programs
        if len(program.body) == 1 and getattr(program.body[0], "op", "") in ("vxm", "mxv")
    ]
    for program in products[::MERGED_PRODUCTS]:
        for merge in alias_values("merge"):
            pinned = replace(program.body[0], hints=Hints(merge=merge))
            try:
                planned = plan_program(replace(program, body=(pinned,)), CAPABILITIES)
                found.update(dict.fromkeys(kernels_of(planned)))
            except (PlanError, NotImplementedException):
                continue
    return tuple(found)


@cache
def refused_programs() -> tuple[str, ...]:
    """Return why the backend refuses programs of the list, each reason once."""
    reasons: dict[str, None] = {}
    for program in listed_programs():
        try:
            kernels_of(program)
        except NotImplementedException as error:
            reasons.setdefault(str(error))
    return tuple(reasons)


@contextmanager
def watched(recorder: Recorder | None) -> Iterator[list[Kernel]]:
    """Yield a list that receives the kernels asked for inside the block.

    By the compiler, or by a recorder of what is planned for a stand-in. What the backend prepares
    for huge sides is left out.
    """
    asked: list[Kernel] = []
    if recorder is not None:
        before = len(recorder.lines)
        yield asked
        new = list(recorder.lines)[before:]
        asked.extend(Kernel("planned", "", line) for line in new if line not in listed_lines())
        return

    inside: list[CudaStore] = []
    plain = CudaStore.run

    def run_of_huge_sides(store: CudaStore, program: Program, bindings: list[Any]) -> Any:
        inside.append(store)
        try:
            return plain(store, program, bindings)
        finally:
            inside.pop()

    def witness(text: Known) -> None:
        if not inside:
            asked.append(Kernel(text.root, text.offset_type, text.source))

    compile.witnesses.append(witness)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CudaStore, "run", run_of_huge_sides)
        try:
            yield asked
        finally:
            compile.witnesses.remove(witness)


@cache
def _listed_keys() -> frozenset[str]:
    return frozenset(
        kernel.key for kernel in (*required_kernels(), *full_kernels(), *block_kernels())
    )


def outside(asked: Iterable[Kernel]) -> list[str]:
    """Return the sources among `asked` that are not in the list."""
    return [one.source for one in asked if follows_from_a_program(one) and not _is_listed(one)]


def _is_listed(kernel: Kernel) -> bool:
    # `watched` has left listed programs out already where programs are only planned.
    is_planned = kernel.root == "planned"
    return not is_planned and (kernel.key in _listed_keys() or _is_for_large(kernel.key))


#: Keys of kernels for large matrices that were asked for, or stand before one that was.
_large_keys: set[str] = set()


def _is_for_large(key: str) -> bool:
    if key not in _large_keys:
        for other in _more_large_keys():
            _large_keys.add(other)
            if other == key:
                break
    return key in _large_keys


@cache
def _more_large_keys() -> Iterator[str]:
    """Yield the keys of all kernels for large matrices, those first that are compiled ahead."""
    ahead = (*_some_of(gathering_programs()), *_some_of(_programs_with(_has_diagonals)))
    for program in dict.fromkeys((*ahead, *gathering_programs())):
        for shape in (*_LARGE_SHAPES, *_DIAGONAL_SHAPES):
            yield _shaped(shape, program).key


# recording ---------------------------------------------------------------------------------------
class StandIn(ReferenceBackend):
    """Plans and lowers as the cuda backend does, and computes as the reference does."""

    name = "cuda"

    def capabilities(self) -> Capabilities:
        """Return what the cuda backend can do, so that programs are planned for it."""
        return CAPABILITIES

    def expect(self, algorithm: str, dtype: str, entries: int) -> None:
        """Expect nothing: all kernels are noted."""


class Recorder:
    """Notes the programs that are prepared for the cuda backend.

    Attributes
    ----------
    lines : dict of str to None
        Programs as text, in the order they were met.
    nameless : dict of str to None
        What kept programs out: Python functions, dtypes of a test's own.
    """

    def __init__(self) -> None:
        self.lines: dict[str, None] = {}
        self.nameless: dict[str, None] = {}

    def note(self, program: Program, facts: Facts) -> None:
        """Add a program."""
        try:
            self.lines.setdefault(to_line(program, facts))
        except HasNoText as reason:
            self.nameless.setdefault(str(reason))

    def plan(
        self, program: Program, capabilities: Capabilities, *, facts: Facts = _NO_FACTS
    ) -> Program:
        """Plan a program as the engine does, and note it."""
        if capabilities.name == "cuda":
            self.note(program, facts)
        return plan_program(program, capabilities, facts=facts)

    def watch(self) -> None:
        """Note what the engine plans from now on."""
        run.plan_program = self.plan  # type: ignore[assignment]

    def write(self, path: Path = LIST) -> None:
        """Write the list, sorted: the same programs give the same bytes."""
        text = "".join(f"{line}\n" for line in sorted(self.lines))
        path.write_bytes(gzip.compress(text.encode(), mtime=0))


class NotListed(Exception):  # noqa: N818 - an answer, not a mistake
    """A program is not in the list."""


class Guard(Recorder):
    """Refuses programs outside of the list before anything is compiled."""

    def note(self, program: Program, facts: Facts) -> None:
        """Check a program.

        Raises
        ------
        NotListed
            It is not in the list.
        """
        try:
            line = to_line(program, facts)
        except HasNoText as reason:
            raise NotListed(str(reason)) from reason
        if line not in listed_lines():
            raise NotListed(line)


def install_stand_in() -> None:
    """Let a `StandIn` be the device ``cuda`` of this process, for good: objects outlive tests.

    Where the frontend states differently what a device does by itself, it does so for this one too.
    """
    registry._open["cuda"] = StandIn()  # type: ignore[assignment]
    tiles.computes_itself = lambda value: value.where == "cuda"  # type: ignore[assignment]
