"""``assign``: into a vector, or into a matrix."""

from __future__ import annotations

from typing import Any

from semira.backends.cpu.host.assign import into_vector
from semira.backends.cpu.host.assign_matrix import into_matrix
from semira.backends.cpu.host.update import Result
from semira.backends.cpu.storage import CpuMatrix, CpuVector
from semira.backends.interpreter import MaskData
from semira.contract import Statement


def compute(
    statement: Statement, args: list[Any], mask: MaskData | None, out: CpuVector | CpuMatrix
) -> Result:
    """Return the operand in the output's coordinates; a position named twice takes the last."""
    x, regions = args[0], args[len(statement.args) :]
    submask = bool(statement.param("submask")) and mask is not None
    if isinstance(out, CpuVector):
        return into_vector(statement, x, regions[0] if regions else None, mask, out, submask)
    return into_matrix(statement, x, regions, mask, out)
