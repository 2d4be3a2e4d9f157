"""mxv and vxm of matrices that are walked by entries (COO), padded lines (ELL) or positions."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

from semira.backends.cpu import threads, workspace
from semira.backends.cpu.companions import Dense, Padded
from semira.backends.cpu.compressed import Array
from semira.backends.cpu.host.mxv import (
    DUMMY,
    Operand,
    Product,
    collected,
    edge_dtype,
    empty_vector,
    kernel_of,
    looked_up,
    merged,
    pull_bounds,
)
from semira.backends.cpu.host.update import Result
from semira.backends.cpu.masks import UNMASKED, VectorMask, vector_mask
from semira.backends.cpu.storage import CpuMatrix, CpuVector
from semira.backends.interpreter import MaskData
from semira.contract import Method, Statement


def compute(
    statement: Statement, method: Method, args: list[Any], mask: MaskData | None, out: CpuVector
) -> tuple[Result, int]:
    """Return the product and the matrix entries read."""
    vector_first = statement.op == "vxm"
    at = 1 if vector_first else 0
    matrix: CpuMatrix = args[at]
    vector: CpuVector = args[1 - at]
    # Whether the vector's positions are the stored matrix' rows.
    from_rows = vector_first != statement.args[at].transposed
    is_dense = method.storage == "dense"
    by_columns = from_rows if method.name == "pull" else matrix.csr is None
    # Positions are made of any orientation.
    edges = matrix.any_orientation() if is_dense else matrix.oriented(by_columns=by_columns)
    add, multiply = statement.operator.monoid, statement.operator.binaryop
    product = Product(add, multiply, vector_first, edges, vector, out.size)
    if vector.nvals == 0 or edges.nvals == 0:
        return Result(empty_vector(out.size, add.type), exact=True), 0
    test = vector_mask(mask, out.size) if method.mask_order != "after" else None
    exact = mask is None or method.mask_order != "after"
    if method.storage == "coo":
        ends = (edges.kept_majors(), edges.indices)
        result, touched = push_entries(product, ends[:: 1 if from_rows != by_columns else -1], test)
        return Result(result, exact), touched
    if method.operand_reuse and mask is not None and not product.reads_vector:
        product = Product(add, multiply, vector_first, edges, mask.data, out.size)
    lines: Dense | Padded
    if is_dense:
        lines = matrix.dense(by_columns=by_columns)
    else:
        lines = edges.padded(method.storage, "csc" if by_columns else "csr", matrix.dtype)
    result, touched = pull_lines(product, lines, test, may_exit=method.early_exit)
    return Result(result, exact), touched


def _bounds(product: Product, lines: Dense | Padded, rows: Array | None) -> list[int]:
    """Return lines, or some of those listed, between which threads share out about equally."""
    if isinstance(lines, Padded):
        return pull_bounds(product.edges, rows)
    count = product.size if rows is None else len(rows)
    return threads.even_bounds(count, threads.num_chunks(count * lines.width))


def push_entries(
    product: Product, ends: tuple[Array, ...], mask: VectorMask | None
) -> tuple[CpuVector, int]:
    """Return the product by looking at every entry, and how many there are.

    `ends` are the positions of all entries in the vector and in the result.
    """
    iso = product.iso_value()
    flags = (
        ("MASKED", mask is not None),
        ("ISO_RESULT", iso is not None),
        ("FULL", product.vector.storage == "full"),
    )
    kernels = kernel_of("push", product, flags)
    sources, targets = ends
    tests = UNMASKED if mask is None else mask.open()
    operand = Operand(product)
    edge_values, e_stride = product.edge_values()
    size, dtype = product.size, product.add.type

    def scatter(part: int, lo: int, hi: int) -> tuple[Any, ...]:
        del part
        mark = workspace.marks(size)
        acc = DUMMY if iso is not None else workspace.buffer(dtype.array_dtype, size)
        touched = workspace.buffer(targets.dtype, size)
        num, work = kernels.push_entries(
            lo, hi, sources, targets, edge_values, e_stride, operand.present, operand.values,
            operand.stride, *tests, mark, acc, touched,
        )  # fmt: skip
        return num, work, mark, acc, touched

    count = product.edges.nvals
    # Each chunk needs buffers of the result's size.
    chunks = min(threads.num_chunks(count), threads.num_threads())
    parts = threads.run_chunks(scatter, threads.even_bounds(count, chunks))
    operand.close()
    if mask is not None:
        mask.close()
    num, _, mark, acc, touched = merged(kernels, parts, size)
    return collected(size, dtype, num, mark, acc, touched, iso), count


def pull_lines(
    product: Product, lines: Dense | Padded, mask: VectorMask | None, *, may_exit: bool
) -> tuple[CpuVector, int]:
    """Return the product row by row, and the matrix entries read."""
    vector, add = product.vector, product.add
    iso = product.iso_value()
    rows = None if mask is None else mask.writable
    flags = (
        ("MASKED", mask is not None and rows is None),
        ("LISTED", rows is not None),
        ("FULL", vector.storage == "full"),
        lines.flag,
        ("ISO_RESULT", iso is not None),
        ("EXIT_FIRST", may_exit and (add.is_any or iso is not None)),
        ("EXIT_TERMINAL", may_exit and iso is None and not add.is_any and add.terminal is not None),
    )
    kernels: ModuleType = kernel_of(lines.template, product, flags)
    length = product.size if rows is None else len(rows)
    present = np.zeros(length, np.bool_)
    values = DUMMY if iso is not None else np.zeros(length, add.type.array_dtype)
    tests = UNMASKED if mask is None or rows is not None else mask.open()
    operand = Operand(product)
    places, edge_values, e_stride = lines.describe(), DUMMY, 0
    if product.reads_edges:
        edge_values, e_stride = lines.values_as(edge_dtype(product)), lines.stride

    def look_up(part: int, lo: int, hi: int) -> tuple[int, int]:
        del part
        found: tuple[int, int] = kernels.pull(
            lo, hi, DUMMY if rows is None else rows, *places, edge_values, e_stride,
            operand.present, operand.values, operand.stride, *tests, present, values,
        )  # fmt: skip
        return found

    parts = threads.run_chunks(look_up, _bounds(product, lines, rows))
    operand.close()
    if mask is not None:
        mask.close()
    num, work = sum(part[0] for part in parts), sum(part[1] for part in parts)
    return looked_up(product, rows, present, values, num, iso), work
