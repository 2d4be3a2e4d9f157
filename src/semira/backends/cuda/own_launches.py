"""Products with a vector that are launches of their own: a method's folder brings them.

Its ``cuda`` module has ``ROOT``, the kernel file that its text calls, and two functions:
``text(program, statement)`` returns the C++ of the launches, and ``multiply(walk)`` the result as a
vector of its own, and what tells about it. Output, mask and accumulator are none of its business.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

from semira.backends.cuda.jit.compile import named
from semira.backends.cuda.lower.product_parts import open_product
from semira.backends.cuda.lower.uses import brings_launches
from semira.backends.cuda.runtime.device import Runtime
from semira.backends.cuda.runtime.launch import bind
from semira.backends.cuda.runtime.objects import CudaMatrix, CudaVector
from semira.backends.cuda.runtime.primitives import Module, primitives_of
from semira.backends.cuda.runtime.shapes import check_shapes
from semira.contract import Arg, Method, Plan, Program, Slot, Statement, part_of, walk_statements
from semira.contract.backend import Binding, Outcome


@dataclass(frozen=True, slots=True)
class OwnWalk:
    """A product with a vector, as the folder of a method gets it."""

    runtime: Runtime
    #: The kernels of its ``text``.
    module: Module
    statement: Statement
    vector: CudaVector
    matrix: CudaMatrix
    #: "csr" or "csc": the lines of the matrix that the core method walks; they are there.
    orientation: str
    #: Of the result.
    size: int


@dataclass(slots=True, eq=False)
class OwnExecutable:
    """An Executable of one product."""

    program: Program
    statement: Statement
    #: Of the method's folder.
    part: ModuleType
    module: Module
    #: The executable of `ending_of`: writes the result as the statement says.
    ending: Any


def is_own(program: Program) -> bool:
    """Return whether a program is one statement that brings launches of its own."""
    (item, *rest) = program.body
    return not rest and isinstance(item, Statement) and brings_launches(item)


def own_text(program: Program) -> tuple[str, str]:
    """Return the kernel file that the launches of a program of one product call, and their C++.

    Raises NotImplementedException if the method cannot multiply these values.
    """
    (statement,) = walk_statements(program.body)
    part = _part(statement)
    return part.ROOT, part.text(program, statement)


def _part(statement: Statement) -> ModuleType:
    assert statement.plan is not None
    (method,) = statement.plan.methods
    return part_of(method.storage, "cuda")


def written_slots(statement: Statement) -> tuple[int, ...]:
    """Return the slots of output and mask, each once."""
    found = [statement.out] if statement.mask is None else [statement.out, statement.mask.slot]
    return tuple(dict.fromkeys(found))


def ending_of(program: Program) -> Program:
    """Return the program that writes a product's result: ``w<mask, replace> accum= t``.

    Its slots are those of `written_slots`, then the result's.
    """
    (statement,) = walk_statements(program.body)
    written = written_slots(statement)
    slots = tuple(program.slots[slot] for slot in written)
    result = Slot("vector", statement.operator.monoid.type)
    mask = statement.mask
    storage = "auto" if statement.plan is None else statement.plan.out_storage
    ending = replace(
        statement, op="copy", out=0, args=(Arg(len(slots)),), operator=None,
        mask=None if mask is None else replace(mask, slot=written.index(mask.slot)),
        plan=Plan("copy", (Method("direct", balance="edges"),), out_storage=storage),
    )  # fmt: skip
    return Program((*slots, result), (ending,))


def prepare_own(
    runtime: Runtime, program: Program, prepare: Callable[[Program], Any]
) -> OwnExecutable:
    """Generate and compile the kernels of a program of one product.

    Raises NotImplementedException if the method cannot multiply these values. Raises JitError if
    the compiler refuses.
    """
    (statement,) = walk_statements(program.body)
    root, source = own_text(program)
    module = Module(runtime, named(statement.op, source), source, root)
    module.load("int")
    return OwnExecutable(program, statement, _part(statement), module, prepare(ending_of(program)))


def execute_own(
    runtime: Runtime, executable: OwnExecutable, bindings: list[Binding],
    execute: Callable[[Any, list[Binding]], Outcome],
) -> Outcome:  # fmt: skip
    """Run the launches, then write the output.

    Raises OutOfMemory if what they take does not fit; nothing was written.
    """
    things = bind(runtime, executable.program, bindings)
    check_shapes(executable.program, things)
    primitives_of(runtime).scratch.begin()
    statement = executable.statement
    product = open_product(0, statement)
    matrix: CudaMatrix = things[product.matrix]
    orientation = product.orientation(product.methods[0])
    matrix.need(orientation)
    walk = OwnWalk(
        runtime, executable.module, statement, things[product.driver], matrix, orientation,
        things[statement.out].size,
    )  # fmt: skip
    result, trace = executable.part.multiply(walk)
    try:
        execute(executable.ending, [*(bindings[slot] for slot in written_slots(statement)), result])
    finally:
        result.release()
    return Outcome((), trace)
