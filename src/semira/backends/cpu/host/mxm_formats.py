"""mxm of a matrix walked by entries (COO), padded lines (ELL) or columns, and a full one."""

from __future__ import annotations

from functools import lru_cache
from types import ModuleType
from typing import Any

import numpy as np

from semira.backends.cpu import cache, threads
from semira.backends.cpu.codegen import Header
from semira.backends.cpu.host.mxm_full import FullOperand, full_operand
from semira.backends.cpu.host.mxv import iso_product
from semira.backends.cpu.storage import (
    EVERYWHERE,
    Array,
    Compressed,
    CpuMatrix,
    empty_matrix,
    matrix_of,
)
from semira.backends.cpu.whole import whole_runs
from semira.backends.interpreter import MaskData
from semira.base.memory import empty
from semira.contract import COLUMNS, Method, Statement
from semira.formats.dense import check_full_operand
from semira.ops import TypedMonoid, TypedOp


@lru_cache(cache.KEPT_BY_HOST)
def _kernels_of(add: TypedMonoid, multiply: TypedOp) -> ModuleType:
    header = Header(flags={"READS_A": multiply.reads_a, "READS_B": multiply.reads_b})
    given = {name: f"np.int64({name})" for name in ("i", "k", "j")}
    header.function("multiply", ("a", "b", "i", "k", "j"), multiply, given, add.type)
    header.function("add", ("a", "b"), add.op, {})
    return cache.load("spmm", header, f"{add.name}_{multiply.name}")


def compute(
    statement: Statement, method: Method, args: list[Any], mask: MaskData | None, out: CpuMatrix
) -> tuple[CpuMatrix, bool, int]:
    """Return the product, whether the mask has been applied to it, and entries read.

    Raises
    ------
    PlanError
        The right operand lacks an entry.
    """
    left, right = args
    add, multiply = statement.operator.monoid, statement.operator.binaryop
    pinned = str(statement.hints.matrix_storage)
    check_full_operand("matrix_storage", pinned, right.nvals, (right.nrows, right.ncols))
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
    if method.storage == "coo":
        _multiply_entries(_kernels_of(add, multiply), a, b, rows, multiply)
    elif method.storage == COLUMNS:
        _multiply_columns(_kernels_of(add, multiply), a, b, rows, multiply)
    else:
        orientation = "csc" if by_columns else "csr"
        padded = a.padded(method.storage, orientation, left.dtype)
        _multiply_padded(_kernels_of(add, multiply), (a, padded), b, rows, multiply)
    return matrix_of(rows, add.type), mask is None, a.nvals * out.ncols


def _row_lengths(a: Compressed, storage: str) -> Array:
    """Return the entries of each row of the left operand, of which `a` has rows or columns."""
    if storage == COLUMNS:
        return np.bincount(a.indices[: a.nvals], minlength=a.nminor)
    return a.degrees()


def _bounds(a: Compressed, ncols: int) -> list[int]:
    """Return rows between which threads share out about equally many multiplications."""
    return threads.bounds_by_work(a.indptr, threads.num_chunks(a.nvals * ncols))


def _multiply_entries(
    kernels: ModuleType, a: Compressed, b: FullOperand, out: Compressed, multiply: TypedOp
) -> None:
    values, stride = EVERYWHERE, 0
    if multiply.reads_a:
        values, stride = a.values_as(multiply.type), a.stride
    rows = a.kept_majors()

    def multiply_share(part: int, lo: int, hi: int) -> None:
        del part
        kernels.by_entry(
            int(a.indptr[lo]), int(a.indptr[hi]), rows, a.indices, values, stride,
            b.values, b.step_k, b.step_j, out.indptr, out.nminor, out.values,
        )  # fmt: skip

    threads.run_chunks(multiply_share, _bounds(a, out.nminor))


def _multiply_columns(
    kernels: ModuleType, a: Compressed, b: FullOperand, out: Compressed, multiply: TypedOp
) -> None:
    """Share out the columns of the result: each is one thread's, with sums in the order of k."""
    values, stride = EVERYWHERE, 0
    if multiply.reads_a:
        values, stride = a.values_as(multiply.type), a.stride

    def multiply_columns(part: int, lo: int, hi: int) -> None:
        del part
        kernels.by_column(
            lo, hi, a.indptr, a.indices, values, stride, b.values, b.step_k, b.step_j,
            np.zeros(a.nminor, np.bool_), out.indptr, out.values,
        )  # fmt: skip

    chunks = min(out.nminor, threads.num_chunks(a.nvals * out.nminor))
    bounds = np.linspace(0, out.nminor, chunks + 1).astype(np.int64).tolist()
    threads.run_chunks(multiply_columns, bounds)


def _multiply_padded(
    kernels: ModuleType,
    held: tuple[Compressed, Any],
    b: FullOperand,
    out: Compressed,
    multiply: TypedOp,
) -> None:
    a, padded = held
    values, stride = EVERYWHERE, 0
    if multiply.reads_a:
        values, stride = padded.values_as(multiply.type), padded.stride

    def multiply_rows(part: int, lo: int, hi: int) -> None:
        del part
        kernels.by_padded_row(
            lo, hi, padded.height, padded.starts, padded.indices, values, stride,
            b.values, b.step_k, b.step_j, out.indptr, out.nminor, out.values,
        )  # fmt: skip

    threads.run_chunks(multiply_rows, _bounds(a, out.nminor))
