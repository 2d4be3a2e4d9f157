"""Every text that a planned Program may ask for, without a GPU: what is compiled ahead of time.

The texts, their names and so the files in the cache are those of a later run. Not listed: what
follows from no Program, such as building a matrix from a caller's arrays on the GPU, and offsets
of matrices with 2**31 entries or more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from semira.backends.cuda import array_kernels
from semira.backends.cuda.fixed_point import ROOT as FIXED_POINT
from semira.backends.cuda.fixed_point import fixed_point_source, has_kernel
from semira.backends.cuda.hosted import is_hosted, prepare_hosted
from semira.backends.cuda.jit.compile import Compiled, compile_cached, named
from semira.backends.cuda.jit.render import BASE, BLOCK, FULL, PROGRAM, STAGED
from semira.backends.cuda.lower import LaunchShape, lower_program
from semira.backends.cuda.own_launches import ending_of, is_own, own_text
from semira.backends.cuda.runtime.primitives import name_of_file
from semira.backends.cuda.staged import is_staged, is_summed
from semira.backends.cuda.staged.block_source import block_source
from semira.backends.cuda.staged.executable import narrowed, source_of
from semira.backends.cuda.staged.method_parts import own_part
from semira.backends.cuda.staged.product_source import full_source
from semira.base.dtypes import DataType
from semira.contract import Program, Statement, variant_part, walk_statements
from semira.contract.array_kernels import KernelText, Launch
from semira.ops import TypedSemiring

#: Shapes of programs that gather or scatter in large matrices; the last two where rows are short.
LARGE = (
    LaunchShape.for_many_gathers(),
    LaunchShape.for_short_rows(1),
    LaunchShape.for_short_rows(2),
)


@dataclass(frozen=True, slots=True)
class Text:
    """One translation unit."""

    #: Of the kernel, in the cache.
    name: str
    #: Kernel file that includes what the source calls.
    root: str
    #: What was generated.
    source: str

    def compile(self, arch: str) -> Compiled:
        """Compile it for an architecture, unless the cache has it.

        Raises JitError if it does not compile. Raises DeviceUnavailable if there is no NVRTC on
        this machine.
        """
        return compile_cached(self.source, self.name, arch, "int", self.root)


def base_texts() -> Iterator[Text]:
    """Yield the texts that know nothing of values."""
    return (Text("matrix_base", root, "") for root in BASE)


def texts_of(program: Program, *, large: bool = True) -> Iterator[Text]:
    """Yield what a planned program may ask for, whatever it is given.

    If `large`, graphs of some hundred thousand edges and more are among that. Raises
    NotImplementedException if the backend refuses the program.
    """
    if is_hosted(program) and not is_summed(program):
        pieces: list[Program] = []
        prepare_hosted(program, pieces.append, is_summed)
        for piece in pieces:
            yield from texts_of(piece, large=large)
    elif is_staged(program):
        yield from _staged_texts(program)
    elif is_own(program):
        root, source = own_text(program)
        (statement,) = walk_statements(program.body)
        yield Text(named(statement.op, source), root, source)
        yield from texts_of(ending_of(program), large=large)
    else:
        yield from _program_texts(program, large=large)


def _program_texts(program: Program, *, large: bool) -> Iterator[Text]:
    lowered = lower_program(program)
    name = named("program", lowered.source)
    yield Text(name, PROGRAM, lowered.source)
    if not large or lowered.shape != LaunchShape() or not (lowered.sliced or lowered.scattered):
        return
    shapes = list(LARGE if lowered.sliced else LARGE[:1])
    for variant in dict.fromkeys(pull.variant for pull in lowered.variants):
        part = variant_part(variant, "cuda")
        shapes += part.SHAPES
        yield from (Text(name_of_file(root), root, "") for root in part.MODULES)
    for shape in shapes:
        yield Text(f"{name}-{shape.word}", PROGRAM, lower_program(program, shape).source)


def _staged_texts(program: Program) -> Iterator[Text]:
    statement, *rest = walk_statements(program.body)
    source = source_of(program)
    yield Text(named(statement.op, source), STAGED, source)
    if statement.op != "mxm":
        return
    full = full_source(program, statement, rest[0] if rest else None)
    yield Text(named("full", full), FULL, full)
    if not rest:
        yield from _other_ways(program, statement)


def _other_ways(program: Program, statement: Statement) -> Iterator[Text]:
    """Yield what counts may choose in the place of a product's first method."""
    methods = () if statement.plan is None else statement.plan.methods
    if len(methods) > 1:
        for number in range(len(methods)):
            yield from _staged_texts(narrowed(program, number))
    if methods and methods[-1].name == "pull":
        source = block_source(program, statement)
        yield Text(named("block", source), BLOCK, source)
    part = own_part(statement)
    if part is not None:
        source = part.text(program, statement)
        yield Text(named("own", source), part.ROOT, source)


def array_text(text: KernelText, launch: Launch) -> Text:
    """Return what a kernel over arrays asks for."""
    name, source = array_kernels.text_of(text, launch)
    return Text(name, array_kernels.ROOT, source)


def array_loop_text(
    launches: Sequence[tuple[KernelText, Launch]], before: Sequence[tuple[KernelText, Launch]]
) -> Text:
    """Return what kernels over arrays that run in turn ask for."""
    name, source = array_kernels.loop_text_of(launches, before)
    return Text(name, array_kernels.ROOT, source)


def fixed_point_texts(semiring: TypedSemiring, dtype: DataType) -> Iterator[Text]:
    """Yield what a product that is repeated until nothing changes asks for."""
    if has_kernel(semiring, dtype):
        source = fixed_point_source(semiring, dtype)
        yield Text(named("fixed_point", source), FIXED_POINT, source)
