"""Do the objects bound to a Program fit together? Kernels index without looking."""

from __future__ import annotations

from typing import Any

from semira.backends.cuda.runtime.objects import CudaMatrix, CudaVector
from semira.base.errors import DimensionMismatch
from semira.contract import Program, Statement, walk_statements


def check_shapes(program: Program, things: list[Any]) -> None:
    """Check every statement's operands against each other.

    Raises
    ------
    DimensionMismatch
        Two sizes that must agree do not; the message names the statement and both.
    """
    for number, statement in enumerate(walk_statements(program.body)):
        if statement.op in ("vxm", "mxv"):
            _check_product(number, statement, things)
        else:
            _check_alike(number, statement, things)
        if statement.mask is not None:
            mask, out = things[statement.mask.slot], things[statement.out]
            _require(number, statement, "mask", mask.size, out.size)


def _check_product(number: int, statement: Statement, things: list[Any]) -> None:
    vector, matrix = statement.args if statement.op == "vxm" else statement.args[::-1]
    bound = things[matrix.slot]
    assert isinstance(bound, CudaMatrix)
    along, across = bound.nrows, bound.ncols
    if (statement.op == "mxv") != matrix.transposed:
        along, across = across, along
    _require(number, statement, "vector", things[vector.slot].size, along)
    _require(number, statement, "output", things[statement.out].size, across)


def _check_alike(number: int, statement: Statement, things: list[Any]) -> None:
    out = things[statement.out]
    if not isinstance(out, CudaVector):
        return
    for arg in statement.args:
        if isinstance(things[arg.slot], CudaVector):
            _require(number, statement, "operand", things[arg.slot].size, out.size)


def _require(number: int, statement: Statement, what: str, found: int, wanted: int) -> None:
    if found != wanted:
        raise DimensionMismatch(
            f"statement {number} ({statement.op}): the {what} has size {found}, not {wanted}"
        )
