"""mxm with an operand that has every entry: its values are read where they lie."""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from semira.backends.cpu import threads
from semira.backends.cpu.compressed import EVERYWHERE, Array, Compressed
from semira.backends.cpu.host.mxm_operands import operator_kernels
from semira.backends.cpu.host.mxv import iso_product
from semira.backends.cpu.masks import matrix_mask
from semira.backends.cpu.storage import CpuMatrix, matrix_of
from semira.backends.cpu.whole import is_full, turned, whole_runs
from semira.backends.interpreter import MaskData
from semira.base.dtypes import DataType
from semira.base.memory import empty
from semira.contract import Method, Statement
from semira.formats import offset_dtype
from semira.ops import TypedMonoid, TypedOp

#: Up to so many columns across, loops over a row of the full operand cost more than they read.
_NARROW = 2

#: Terms of such a sum that are added up in the time of one entry of other products.
_TERM_SPEED = 4

_UNLISTED = np.zeros(1, np.int32)


@dataclass(frozen=True, slots=True, eq=False)
class FullOperand:
    """Values of a full matrix: that of (k, j) is ``values[k * step_k + j * step_j]``."""

    values: Array
    step_k: int
    step_j: int


def full_operand(matrix: CpuMatrix, transposed: bool, dtype: DataType | None) -> FullOperand:
    """Return a full matrix as it lies in memory, rows of neighbours preferred.

    A transpose swaps the steps; values that are not read (no `dtype`) have none.
    """
    preferred = matrix.csc if transposed else matrix.csr
    held = matrix.any_orientation() if preferred is None else preferred
    if dtype is None or held.iso:
        return FullOperand(EVERYWHERE if dtype is None else held.values_as(dtype), 0, 0)
    steps = (1, held.nminor) if preferred is None else (held.nminor, 1)
    return FullOperand(held.values_as(dtype), *steps)


@dataclass(frozen=True, slots=True, eq=False)
class _Product:
    """Lines of one operand, each to be multiplied with all of the full one."""

    add: TypedMonoid
    multiply: TypedOp
    #: Rows of the left operand, or columns of the right one if the left one is full (`is_left`):
    #: then the result is made by columns.
    lines: Compressed
    #: Seen from the lines: of (k, position in a line of the result).
    full: FullOperand
    #: Length of a line of the result.
    across: int
    is_left: bool
    #: The one value of every entry of the result.
    iso: Any
    may_exit: bool

    @property
    def reads(self) -> tuple[bool, bool]:
        """Whether values of the lines and of the full operand are read."""
        reads = self.multiply.reads_a, self.multiply.reads_b
        return reads[::-1] if self.is_left else reads

    def line_values(self) -> tuple[Array, int]:
        """Return the values of the lines in the compute dtype, with their stride."""
        if not self.reads[0]:
            return EVERYWHERE, 0
        dtype = self.multiply.type2 if self.is_left else self.multiply.type
        return self.lines.values_as(dtype), self.lines.stride


def compute(
    statement: Statement, method: Method, args: list[Any], mask: MaskData | None, out: CpuMatrix
) -> tuple[CpuMatrix, bool, int] | None:
    """Return what `mxm.compute` does; None if no operand is full, or others do better.

    Every method reads the same entries here, so each may be asked for.
    """
    left, right = args
    is_masked, is_open = (
        mask is not None and method.mask_order != "after",
        mask is not None and mask.complement,
    )
    if is_full(right.any_orientation()):
        product = _beside(statement, left, right, out.ncols, is_left=False)
        pattern = matrix_mask(mask) if is_masked and not is_open else None
        lines, touched = _whole(product) if pattern is None else _named(product, pattern)
        return matrix_of(lines, product.add.type), mask is None or pattern is not None, touched
    # Where a mask is looked at first, rows that it names or leaves open are fewer than all.
    is_free = statement.hints.matrix_storage in (None, "both") and right.lean is None
    if is_masked or not is_free or not is_full(left.any_orientation()):
        return None
    product = _beside(statement, right, left, out.nrows, is_left=True)
    lines, touched = _whole(product)
    made = CpuMatrix(out.nrows, out.ncols, product.add.type, csc=lines)
    return made, mask is None, touched


def _beside(
    statement: Statement, walked: CpuMatrix, whole: CpuMatrix, across: int, *, is_left: bool
) -> _Product:
    """Return lines of one operand beside the other one, which is full: the left one if `is_left`.

    Those are rows of the left operand, or columns of the right one.
    """
    multiply, turned = statement.operator.binaryop, [arg.transposed for arg in statement.args]
    lines = walked.oriented(by_columns=turned[is_left] != is_left)
    held = whole.any_orientation()
    factors = (lines.values, lines.iso), (held.values, held.iso)
    iso = iso_product(statement.operator.monoid, multiply, *factors[:: -1 if is_left else 1])
    reads, dtype = multiply.reads_b, multiply.type2
    if is_left:
        reads, dtype = multiply.reads_a, multiply.type
    dtype = dtype if reads and iso is None else None
    full = full_operand(whole, turned[not is_left] != is_left, dtype)
    return _product(statement, lines, full, across, iso, is_left=is_left)


def _product(
    statement: Statement, lines: Compressed, full: FullOperand, across: int, iso: Any,
    *, is_left: bool,
) -> _Product:  # fmt: skip
    add, multiply = statement.operator.monoid, statement.operator.binaryop
    may_exit = statement.hints.early_exit is not False
    return _Product(add, multiply, lines, full, across, is_left, iso, may_exit)


def _kernels_of(product: _Product) -> ModuleType:
    add, is_any = product.add, product.add.is_any
    is_terminal = product.may_exit and not is_any and add.terminal is not None
    flags = ("EXIT_FIRST", product.may_exit and is_any), ("EXIT_TERMINAL", is_terminal)
    # Kernels hand over the entry of a line first, and the line's number.
    return operator_kernels("full", add, product.multiply, flags, turned=product.is_left)


def _whole(product: _Product) -> tuple[Compressed, int]:
    """Return the product, of which a line is whole or empty, and the entries read."""
    lines, add, across = product.lines, product.add, product.across
    made = whole_runs(lines.degrees(), across)
    if product.iso is not None:
        made.values, made.iso = np.array([product.iso], add.type.array_dtype), True
        return made, 0
    made.values = empty(made.nvals, add.type.array_dtype, f"a product of {made.nvals} entries")
    kernels = _kernels_of(product)
    (values, stride), rows = product.line_values(), rows_across(product)

    def multiply_lines(_part: int, lo: int, hi: int) -> int:
        given = lo, hi, lines.indptr, lines.indices, values, stride
        if rows is not None:
            read = kernels.by_row(
                *given, rows.values, rows.step_k, across, made.indptr, made.values
            )
            return int(read) * across
        full = product.full
        read = kernels.by_position(
            *given, full.values, full.step_k, full.step_j,
            made.indptr, False, _UNLISTED, made.values,
        )  # fmt: skip
        return int(read)

    bounds = threads.bounds_by_work(lines.indptr, _num_chunks(lines.nvals * across))
    return made, sum(threads.run_chunks(multiply_lines, bounds))


def rows_across(product: _Product) -> FullOperand | None:
    """Return the full operand with each row's values side by side; None: read it as it lies."""
    full, across = product.full, product.across
    if across <= _NARROW:
        return None
    if full.step_j == 1 or not product.reads[1]:
        return full
    if full.step_k == 0:
        return FullOperand(np.repeat(full.values, across), 0, 1)
    inner = len(full.values) // across
    if product.lines.nvals < inner:
        return None
    # Read once here, and for every entry otherwise, each time from another line of memory.
    return FullOperand(turned(full.values, across, inner), across, 1)


def _num_chunks(terms: int) -> int:
    return threads.num_chunks(terms // _TERM_SPEED)


def _named(product: _Product, wanted: Compressed) -> tuple[Compressed, int]:
    """Return the product at the positions that a mask names, and the entries read."""
    lines, add = product.lines, product.add
    pattern = _in_lines(wanted, lines.degrees() > 0)
    if product.iso is not None:
        return pattern.replaced(np.array([product.iso], add.type.array_dtype), iso=True), 0
    values = np.empty(pattern.nvals, add.type.array_dtype)
    kernels, full = _kernels_of(product), product.full
    line_values, stride = product.line_values()

    def multiply_lines(_part: int, lo: int, hi: int) -> int:
        work = kernels.by_position(
            lo, hi, lines.indptr, lines.indices, line_values, stride, full.values, full.step_k,
            full.step_j, pattern.indptr, True, pattern.indices, values,
        )  # fmt: skip
        return int(work)

    work = np.zeros(lines.nmajor + 1, np.int64)
    np.cumsum(pattern.degrees() * lines.degrees().astype(np.int64), out=work[1:])
    bounds = threads.bounds_by_work(work, _num_chunks(int(work[-1])))
    touched = sum(threads.run_chunks(multiply_lines, bounds))
    return pattern.replaced(values, iso=False), touched


def _in_lines(pattern: Compressed, occupied: Array) -> Compressed:
    """Return the positions of a pattern that lie in lines with entries."""
    lengths = np.where(occupied, pattern.degrees(), 0)
    indptr = np.zeros(pattern.nmajor + 1, offset_dtype(pattern.nvals))
    np.cumsum(lengths, out=indptr[1:])
    if indptr[-1] == pattern.nvals:
        return pattern
    inside = np.repeat(occupied, pattern.degrees())
    return Compressed(
        pattern.nmajor, pattern.nminor, indptr, pattern.indices[inside], EVERYWHERE, True
    )
