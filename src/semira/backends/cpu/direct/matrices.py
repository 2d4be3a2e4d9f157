"""Small matrix-matrix products into a new matrix: rows of A, a dense accumulator, one kernel."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from semira.backends.cpu.compressed import EVERYWHERE, Array, Compressed
from semira.backends.cpu.direct import SMALL, SMALL_ENTRIES, Direct
from semira.backends.cpu.host import mxv
from semira.backends.cpu.host.mxm_operands import Operands, product_kernels
from semira.backends.cpu.storage import CpuMatrix, matrix_of
from semira.contract import Program, Statement, TraceRow
from semira.contract.backend import Outcome
from semira.formats import index_dtype, offset_dtype
from semira.ops.meaning import cast_array

#: Products with a full right operand of more terms than this are left to kernels that read it in
#: place, which take longer to reach.
_FEW_TERMS = 4096

_NO_MASK: tuple[Array, Array] = (np.zeros(1, np.int32), np.zeros(1, np.int32))
_NO_KEYS: Array = np.zeros(1, np.int64)


def _is_plain(matrix: Any) -> bool:
    return matrix.__class__ is CpuMatrix and matrix.lean is None


def _is_small(matrix: Any) -> bool:
    return (
        _is_plain(matrix)
        and matrix.nrows <= SMALL
        and matrix.ncols <= SMALL
        and 0 < matrix.nvals <= SMALL_ENTRIES
    )


def product(program: Program, statement: Statement) -> Direct | None:
    """Return the direct way of an unmasked ``mxm``; one that folds into its output has none."""
    plan = statement.plan
    if plan is None or statement.mask is not None or statement.accum is not None:
        return None
    if plan.methods[0].name != "dense" or statement.hints.policy is not None:
        return None
    # Where push and pull would be weighed, small matrices take the one kernel unweighed.
    if statement.hints.switch_point is not None:
        return None
    if plan.methods[0].storage != "compressed":
        return None
    found = _Product(program, statement)
    return found.run


class _Product:
    """What is fixed about one product, and its kernels once they are known."""

    def __init__(self, program: Program, statement: Statement) -> None:
        self.a_slot, self.b_slot = (arg.slot for arg in statement.args)
        self.a_columns, self.b_columns = (arg.transposed for arg in statement.args)
        self.out_slot = statement.out
        self.target = program.slots[statement.out].dtype
        self.add, self.multiply = statement.operator.monoid, statement.operator.binaryop
        self.may_be_iso = self.add.is_idempotent and not self.multiply.is_positional
        self.kernels: dict[bool, Any] = {}

    def run(self, bindings: list[Any]) -> Outcome | None:
        """Run on bindings; None if they are not small."""
        cell = bindings[self.out_slot]
        left, right = bindings[self.a_slot].data, bindings[self.b_slot].data
        if not (_is_small(left) and _is_small(right) and _is_plain(cell.data)):
            return None
        across = right.nrows if self.b_columns else right.ncols
        if left.nvals * across > _FEW_TERMS and right.nvals == right.nrows * right.ncols:
            return None
        start_ns = time.perf_counter_ns()
        a = left.oriented(by_columns=self.a_columns)
        b = right.oriented(by_columns=self.b_columns)
        rows, work = self._multiplied(a, b)
        num = rows.nvals
        if self.add.type is not self.target:
            rows.values = cast_array(rows.values, self.target.array_dtype)
        cell.data = matrix_of(rows, self.target)
        driver, frontier = bindings[self.a_slot], left.nvals
        driver.method = cell.method = 0
        driver.frontier = cell.frontier = frontier
        elapsed_ns = time.perf_counter_ns() - start_ns
        row = TraceRow(0, "mxm", "dense", frontier, work, num, elapsed_ns)
        return Outcome((), (row,))

    def _multiplied(self, a: Compressed, b: Compressed) -> tuple[Compressed, int]:
        add, multiply = self.add, self.multiply
        iso = None
        if self.may_be_iso:
            iso = mxv.iso_product(add, multiply, (a.values, a.iso), (b.values, b.iso))
        kernels = self.kernels.get(iso is not None)
        if kernels is None:
            kernels = self._kernels_for(a, b, iso)
        ncols, dtype = b.nminor, add.type.array_dtype
        room = int(np.add.reduce(b.degrees()[a.indices]))
        counts = np.zeros(a.nmajor + 1, np.int64)
        indices = np.empty(room, index_dtype(a.nmajor, ncols))
        values = np.empty(1 if iso is not None else room, dtype)
        num, work = kernels.row_wise(
            0, a.nmajor, a.indptr, a.indices,
            a.values_as(multiply.type) if multiply.reads_a else EVERYWHERE,
            a.stride if multiply.reads_a else 0,
            b.indptr, b.indices,
            b.values_as(multiply.type2) if multiply.reads_b else EVERYWHERE,
            b.stride if multiply.reads_b else 0,
            *_NO_MASK, False, EVERYWHERE, ncols, np.zeros(ncols, np.bool_), _NO_KEYS, 0,
            np.zeros(1 if iso is not None else ncols, dtype), np.empty(ncols, np.int64),
            counts, indices, values,
        )  # fmt: skip
        indptr = counts.cumsum(dtype=offset_dtype(int(num)))
        values = np.array([iso], dtype) if iso is not None else values[:num].copy()
        rows = Compressed(a.nmajor, ncols, indptr, indices[:num].copy(), values, iso is not None)
        return rows, int(work)

    def _kernels_for(self, a: Compressed, b: Compressed, iso: Any) -> Any:
        operands = Operands(self.add, self.multiply, a, b, None, False, iso)
        found = product_kernels(operands, {"MASKED": False, "HASHED": False})
        self.kernels[iso is not None] = found
        return found
