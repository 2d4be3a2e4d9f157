"""Do the objects bound to a Program fit together? Kernels index without looking."""

from __future__ import annotations

from typing import Any

from semira.backends.cuda.lower.sizes import agreements
from semira.backends.cuda.runtime.objects import CudaMatrix, CudaVector
from semira.base.errors import DimensionMismatch
from semira.contract import Program, Statement, walk_statements

Shape = tuple[int, ...]


def check_shapes(program: Program, things: list[Any]) -> None:
    """Check every statement's operands against each other.

    Raises DimensionMismatch if two sizes that must agree do not; the message names the statement
    and both.
    """

    def shape(slot: int, transposed: bool) -> Shape:
        thing = things[slot]
        if isinstance(thing, CudaMatrix):
            return (thing.ncols, thing.nrows) if transposed else (thing.nrows, thing.ncols)
        return (thing.size,) if isinstance(thing, CudaVector) else ()

    for number, statement in enumerate(walk_statements(program.body)):
        pairs = agreements(statement, shape, lambda slot: things[slot].count)
        if statement.op == "diag":
            (arg,), out = statement.args, shape(statement.out, False)
            pairs = iter([_of_diagonal(statement, out, shape(arg.slot, arg.transposed)), *pairs])
        for what, found, wanted in pairs:
            # Scalars fit every shape, but no mask fits a scalar.
            if found and found != wanted and (wanted or what == "mask"):
                is_line = isinstance(things[statement.out], CudaVector) and wanted
                sizes = (found[0], wanted[0]) if is_line else (found, wanted)
                raise DimensionMismatch(
                    f"statement {number} ({statement.op}): the {what} has size {sizes[0]}, not "
                    f"{sizes[1]}"
                )


def _of_diagonal(statement: Statement, out: Shape, given: Shape) -> tuple[str, Shape, Shape]:
    k = int(statement.param("k", 0))
    if len(out) == 1:
        length = max(0, min(given[0] - max(-k, 0), given[1] - max(k, 0)))
        return "output", out, (length,)
    return "operand", given, out[:1] if statement.param("by_value") else (out[0] - abs(k),)
