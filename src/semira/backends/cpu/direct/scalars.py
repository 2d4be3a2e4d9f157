"""Statements that write a scalar: reduce and nvals."""

from __future__ import annotations

from typing import Any

from semira.backends.cpu.direct import Direct
from semira.backends.cpu.host import reduce as folding
from semira.backends.cpu.storage import CpuMatrix, CpuVector
from semira.contract import Program, Statement
from semira.contract.backend import Outcome
from semira.formats import ScalarArrays
from semira.ops.meaning import cast_scalar

_DONE = Outcome()


def _is_plain(statement: Statement) -> bool:
    return statement.accum is None and statement.mask is None


def reduce(program: Program, statement: Statement) -> Direct | None:
    """Fold all entries of a vector or a matrix, of any size."""
    if not _is_plain(statement):
        return None
    x_slot, out_slot = statement.args[0].slot, statement.out
    target = program.slots[out_slot].dtype

    def run(bindings: list[Any]) -> Outcome | None:
        x = bindings[x_slot].data
        if x.__class__ is not CpuVector and x.__class__ is not CpuMatrix:
            return None
        folded: ScalarArrays = folding.reduce(statement, [x], None, None).data
        if folded.dtype is not target:
            value = folded.value
            if value is not None:
                value = cast_scalar(value, target.array_dtype)
            folded = ScalarArrays(target, value)
        bindings[out_slot].data = folded
        return _DONE

    return run


def nvals(program: Program, statement: Statement) -> Direct | None:
    """Count the entries of a vector or a matrix."""
    if not _is_plain(statement):
        return None
    x_slot, out_slot = statement.args[0].slot, statement.out
    dtype = program.slots[out_slot].dtype
    as_number = dtype.scalar

    def run(bindings: list[Any]) -> Outcome | None:
        x = bindings[x_slot].data
        if x.__class__ is not CpuVector and x.__class__ is not CpuMatrix:
            return None
        bindings[out_slot].data = ScalarArrays(dtype, as_number(x.nvals))
        return _DONE

    return run
