"""A prepared statement that writes a matrix: its kernels and what they are called with."""

from __future__ import annotations

from dataclasses import dataclass

from semira.backends.cuda.jit import cache
from semira.backends.cuda.jit.render import STAGED
from semira.backends.cuda.runtime.device import Runtime
from semira.backends.cuda.runtime.primitives import Module
from semira.backends.cuda.staged.source import staged_source
from semira.contract import Program, Statement, walk_statements


@dataclass(slots=True, eq=False)
class StagedExecutable:
    """An Executable of one statement.

    Attributes
    ----------
    program : Program
    statement : Statement
    module : Module
    """

    program: Program
    statement: Statement
    module: Module


def is_staged(program: Program) -> bool:
    """Return whether a statement of the program writes a matrix."""
    outputs = {statement.out for statement in walk_statements(program.body)}
    return any(program.slots[slot].kind == "matrix" for slot in outputs)


def prepare_staged(runtime: Runtime, program: Program) -> StagedExecutable:
    """Generate and compile the kernels of a program of one statement.

    Raises
    ------
    NotImplementedException
        The statement has no kernel here.
    JitError
        The compiler refuses.
    """
    (statement,) = walk_statements(program.body)
    source = staged_source(program, statement)
    name = f"{statement.op}-{cache.digest(source)[:12]}"
    module = Module(runtime, name, source, STAGED)
    module.load("int")
    return StagedExecutable(program, statement, module)
