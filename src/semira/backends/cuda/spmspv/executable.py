"""A prepared push that lists its products: its kernels, and the program that writes the result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from semira.backends.cuda.jit import cache
from semira.backends.cuda.jit.render import SPMSPV
from semira.backends.cuda.lower.apart import lists_products
from semira.backends.cuda.runtime.device import Runtime
from semira.backends.cuda.runtime.primitives import Module
from semira.backends.cuda.spmspv.source import merged_source
from semira.contract import Arg, Method, Plan, Program, Slot, Statement


@dataclass(slots=True, eq=False)
class MergedExecutable:
    """An Executable of one product.

    Attributes
    ----------
    program : Program
    statement : Statement
    module : Module
    ending : executable
        Of `ending_of`: writes the result, a vector of its own, as the statement says.
    written : tuple of int
        Slots of the product that the ending is given, before the result.
    """

    program: Program
    statement: Statement
    module: Module
    ending: Any
    written: tuple[int, ...]


def is_merged(program: Program) -> bool:
    """Return whether a program is one push that lists its products."""
    (item, *rest) = program.body
    return not rest and isinstance(item, Statement) and lists_products(item)


def written_slots(statement: Statement) -> tuple[int, ...]:
    """Return the slots of output and mask, each once."""
    found = [statement.out] if statement.mask is None else [statement.out, statement.mask.slot]
    return tuple(dict.fromkeys(found))


def ending_of(program: Program, statement: Statement) -> Program:
    """Return the program that writes a product's result: ``w<mask, replace> accum= t``.

    Its slots are those of `written_slots`, then the result's.
    """
    written = written_slots(statement)
    slots = tuple(program.slots[slot] for slot in written)
    result = Slot("vector", statement.operator.monoid.type)
    mask = statement.mask
    storage = "auto" if statement.plan is None else statement.plan.out_storage
    ending = replace(
        statement,
        op="copy",
        out=0,
        args=(Arg(len(slots)),),
        operator=None,
        mask=None if mask is None else replace(mask, slot=written.index(mask.slot)),
        plan=Plan("copy", (Method("direct", balance="edges"),), out_storage=storage),
    )
    return Program((*slots, result), (ending,))


def prepare_merged(
    runtime: Runtime, program: Program, prepare: Callable[[Program], Any]
) -> MergedExecutable:
    """Generate and compile the kernels of a program of one push that lists its products.

    Raises
    ------
    NotImplementedException
        Its values cannot be sorted.
    JitError
        The compiler refuses.
    """
    (statement,) = program.body
    assert isinstance(statement, Statement)
    source = merged_source(program, statement)
    module = Module(runtime, f"{statement.op}-{cache.digest(source)[:12]}", source, SPMSPV)
    module.load("int")
    ending = prepare(ending_of(program, statement))
    return MergedExecutable(program, statement, module, ending, written_slots(statement))
