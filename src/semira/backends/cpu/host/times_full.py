"""mxm of a matrix by its columns, or by what a method with a folder makes of it, and a full one."""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from semira.backends.companions import Kind
from semira.backends.cpu import threads
from semira.backends.cpu.compressed import EVERYWHERE, Array, Compressed, Valued
from semira.backends.cpu.host.mxm_full import FullOperand, full_operand
from semira.backends.cpu.host.mxm_operands import operator_kernels
from semira.backends.cpu.host.mxv import iso_product
from semira.backends.cpu.storage import CpuMatrix, empty_matrix, matrix_of
from semira.backends.cpu.whole import whole_runs
from semira.backends.interpreter import MaskData
from semira.base.memory import empty
from semira.contract import COLUMNS, Method, Statement, part_of
from semira.formats import MatrixArrays
from semira.formats.full import check_full_operand
from semira.ops import TypedSemiring


@dataclass(frozen=True, slots=True, eq=False)
class FullWalk:
    """A product with a full matrix, as the folder of a method gets it."""

    method: Method
    semiring: TypedSemiring
    left: CpuMatrix
    #: Whether lines of `a` are columns of `left`.
    by_columns: bool
    #: Rows of the left operand, transposed if the statement says so; its columns for `COLUMNS`.
    a: Compressed
    b: FullOperand
    #: Rows of the result, with room for all values; those of `a` without entries have none.
    out: Compressed

    def need(self, kind: Kind) -> Any:
        """Return what is kept with the matrix; made the first time, of the `lines`."""
        return self.a.companions.need(kind, self.a, self.method.parameters, self)

    def lines(self) -> MatrixArrays:
        """Return the lines as arrays: rows of a csr, or columns of a csc."""
        return self.left.arrays_of(self.a, by_columns=self.by_columns)

    def values_of(self, held: Valued) -> tuple[Array, int]:
        """Return values of the left operand in the compute dtype, with their stride."""
        multiply = self.semiring.binaryop
        if not multiply.reads_a:
            return EVERYWHERE, 0
        return held.values_as(multiply.type), held.stride

    def bounds(self) -> list[int]:
        """Return rows between which threads share out about equally many multiplications."""
        chunks = threads.num_chunks(self.a.nvals * self.out.nminor)
        return threads.bounds_by_work(self.a.indptr, chunks)

    def kernels(self, template: str) -> ModuleType:
        """Return the kernels of a template for the operators."""
        return operator_kernels(template, self.semiring.monoid, self.semiring.binaryop)


def compute(
    statement: Statement, method: Method, args: list[Any], mask: MaskData | None, out: CpuMatrix
) -> tuple[CpuMatrix, bool, int]:
    """Return the product, whether the mask has been applied to it, and entries read.

    Raises PlanError if the right operand lacks an entry.
    """
    left, right = args
    add, multiply = statement.operator.monoid, statement.operator.binaryop
    pin = "matrix_storage" if statement.hints.matrix_storage is not None else "method"
    pinned = str(getattr(statement.hints, pin))
    check_full_operand(pin, pinned, right.nvals, (right.nrows, right.ncols))
    if left.nvals == 0 or right.nvals == 0:
        return empty_matrix(out.nrows, out.ncols, add.type), True, 0
    by_columns = statement.args[0].transposed != (method.storage == COLUMNS)
    a = left.oriented(by_columns=by_columns)
    held = right.any_orientation()
    iso = iso_product(add, multiply, (a.values, a.iso), (held.values, held.iso))
    rows = whole_runs(_row_lengths(a, method.storage), out.ncols)
    if iso is not None:
        rows.values, rows.iso = np.array([iso], add.type.array_dtype), True
        return matrix_of(rows, add.type), mask is None, 0
    rows.values = empty(rows.nvals, add.type.array_dtype, f"a product of {rows.nvals} entries")
    dtype = multiply.type2 if multiply.reads_b else None
    b = full_operand(right, statement.args[1].transposed, dtype)
    walk = FullWalk(method, statement.operator, left, by_columns, a, b, rows)
    if method.storage == COLUMNS:
        _multiply_columns(walk)
    else:
        part_of(method.storage, "cpu").times_full(walk)
    return matrix_of(rows, add.type), mask is None, a.nvals * out.ncols


def _row_lengths(a: Compressed, storage: str) -> Array:
    """Return the entries of each row of the left operand, of which `a` has rows or columns."""
    if storage == COLUMNS:
        return np.bincount(a.indices[: a.nvals], minlength=a.nminor)
    return a.degrees()


def _multiply_columns(walk: FullWalk) -> None:
    """Share out the columns of the result: each is one thread's, with sums in the order of k."""
    a, b, out = walk.a, walk.b, walk.out
    (values, stride), kernels = walk.values_of(a), walk.kernels("spmm")

    def multiply_columns(_part: int, lo: int, hi: int) -> None:
        kernels.by_column(
            lo, hi, a.indptr, a.indices, values, stride, b.values, b.step_k, b.step_j,
            np.zeros(a.nminor, np.bool_), out.indptr, out.values,
        )  # fmt: skip

    chunks = min(out.nminor, threads.num_chunks(a.nvals * out.nminor))
    bounds = np.linspace(0, out.nminor, chunks + 1).astype(np.int64).tolist()
    threads.run_chunks(multiply_columns, bounds)
