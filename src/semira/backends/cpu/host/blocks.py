"""mxm whose left operand is a block of vectors: its counts, and the method that pulls.

A block lies by column: 32 rows to a word of presence, so that one look at an entry of the other
matrix serves all of them.
"""

from __future__ import annotations

import functools
from dataclasses import replace
from types import ModuleType
from typing import Any

import numpy as np

from semira.backends.cpu import cache, threads
from semira.backends.cpu.codegen import Header
from semira.backends.cpu.compressed import EVERYWHERE, Array, Compressed, offsets_from_counts
from semira.backends.cpu.host.finish import joined
from semira.backends.cpu.host.mxm_operands import Operands, product_kernels
from semira.backends.cpu.host.mxv import exit_flags
from semira.backends.cpu.masks import matrix_mask
from semira.backends.cpu.storage import CpuMatrix
from semira.backends.cpu.whole import is_full
from semira.backends.interpreter import MaskData
from semira.contract import SHARED, Statement
from semira.formats import index_dtype

#: A block lies dense: a place for each of its rows and each column, of it and of the result. So it
#: has no more rows than fit these bytes, but as many as share a look.
MOST_ROWS, MOST_BYTES = 1024, 1 << 30


def count(
    name: str, statement: Statement, args: list[Any], mask: MaskData | None, out: CpuMatrix
) -> float:
    """Return one of `contract.rule.COUNTS` for a product of matrices: of all rows together."""
    left, right = args[0], args[1]
    rows = out.nrows
    simple = {
        "block": rows,
        "shared": max(1, min(rows, SHARED)),
        "n": left.nrows * left.ncols,
        "rows": rows * out.ncols,
        "cols": out.ncols,
        "nnz": rows * right.nvals,
        "frontier": left.nvals,
    }
    if name in simple:
        return float(simple[name])
    if name == "frontier_edges" and is_full(left.any_orientation()):
        return float(rows * right.nvals)
    if name == "frontier_edges" and is_full(right.any_orientation()):
        return float(left.nvals * out.ncols)
    if name == "frontier_edges":
        entries = left.oriented(by_columns=statement.args[0].transposed).indices
        degrees = right.oriented(by_columns=statement.args[1].transposed).degrees()
        return float(degrees[entries].sum())
    if name == "open_rows":
        return _open(mask, simple["rows"], None)
    if mask is None:
        return float(simple["nnz"])
    columns = right.oriented(by_columns=not statement.args[1].transposed)
    return _open(mask, simple["nnz"], columns.degrees())


def _open(mask: MaskData | None, whole: int, degrees: Array | None) -> float:
    """Return the open positions of all, each counted as often as its column has entries."""
    pattern = matrix_mask(mask)
    if pattern is None:
        return float(whole)
    inside = pattern.nvals if degrees is None else degrees[pattern.indices].sum()
    assert mask is not None
    return float(whole - inside if mask.complement else inside)


@functools.cache
def _helpers(*, values: bool) -> ModuleType:
    return cache.load("block", Header(flags={"VALUES": values}), "values" if values else "bits")


def _words(rows: int) -> int:
    return -(-rows // SHARED)


def _packed(matrix: Compressed, values: Array | None) -> tuple[Array, Array]:
    """Return the presence of a matrix by column, and its values if there are any to keep."""
    present = np.zeros((matrix.nminor, _words(matrix.nmajor)), np.uint32)
    dense = np.empty((1, 1)) if values is None else _room(matrix, values.dtype)
    kernels = _helpers(values=values is not None)
    given = EVERYWHERE if values is None else values
    kernels.pack(matrix.nmajor, matrix.indptr, matrix.indices, given, present, dense)
    return present, dense


def _room(matrix: Compressed, dtype: Any) -> Array:
    return np.empty((matrix.nminor, matrix.nmajor), dtype)


def _wanted(operands: Operands) -> Array:
    """Return the open positions of rows that can get something."""
    rows, ncols = operands.a.nmajor, operands.b.nmajor
    driven = np.zeros(SHARED * _words(rows), bool)
    driven[:rows] = operands.a.degrees() > 0
    can = np.packbits(driven, bitorder="little").view("<u4").astype(np.uint32)
    if operands.mask is None:
        return np.tile(can, (ncols, 1))
    named, _ = _packed(operands.mask, None)
    wanted: Array = (~named if operands.complement else named) & can
    return wanted


def pull(operands: Operands, *, may_exit: bool) -> tuple[Compressed, int]:
    """Return the product, and how often an entry of B was looked at.

    More rows than a block has are taken block by block.
    """
    nrows, ncols, height = operands.a.nmajor, operands.b.nmajor, height_of(operands)
    if nrows <= height:
        return pulled_rows(operands, 0, may_exit=may_exit)
    counts = np.zeros(nrows + 1, np.int64)
    parts, touched = [], 0
    for lo in range(0, nrows, height):
        hi = min(nrows, lo + height)
        a, mask = _rows_between(operands.a, lo, hi), operands.mask
        named = None if mask is None else _rows_between(mask, lo, hi)
        rows, looks = pulled_rows(replace(operands, a=a, mask=named), lo, may_exit=may_exit)
        counts[lo + 1 : hi + 1] = rows.degrees()
        parts.append((rows.indices, rows.values))
        touched += looks
    return joined(nrows, ncols, counts, parts, iso=operands.iso is not None), touched


def height_of(operands: Operands) -> int:
    """Return how many rows are pulled at once."""
    size = 1 if operands.iso is not None else operands.add.type.array_dtype.itemsize
    fitting = MOST_BYTES // (size * max(1, operands.a.nminor + operands.b.nmajor))
    return max(SHARED, min(MOST_ROWS, fitting // SHARED * SHARED))


def _rows_between(matrix: Compressed, lo: int, hi: int) -> Compressed:
    begin, end = int(matrix.indptr[lo]), int(matrix.indptr[hi])
    values = matrix.values if matrix.iso else matrix.values[begin:end]
    indptr = matrix.indptr[lo : hi + 1] - matrix.indptr[lo]
    indices = matrix.indices[begin:end]
    return Compressed(hi - lo, matrix.nminor, indptr, indices, values, matrix.iso)


def pulled_rows(operands: Operands, first: int, *, may_exit: bool) -> tuple[Compressed, int]:
    """Return the product of a block, whose first row has the number `first`."""
    a, b, add, iso = operands.a, operands.b, operands.add, operands.iso
    kernels = product_kernels(operands, dict(exit_flags(add, iso, may_exit)), "block")
    (a_values, b_values), (a_stride, b_stride) = operands.values(), operands.strides()
    keeps_values = operands.multiply.reads_a and iso is None and not a.iso
    present, dense = _packed(a, a_values if keeps_values else None)
    if keeps_values:
        a_values = dense.reshape(-1)
    wanted = _wanted(operands)
    found = np.zeros_like(wanted)
    shape = (1, 1) if iso is not None else (b.nmajor, a.nmajor)
    out_values = np.empty(shape, add.type.array_dtype)

    def columns(_part: int, lo: int, hi: int) -> int:
        return int(
            kernels.pull(
                lo, hi, b.indptr, b.indices, b_values, b_stride, wanted, present,
                a_values, a_stride, first, found, out_values,
            )
        )  # fmt: skip

    bounds = threads.bounds_by_work(b.indptr, threads.num_chunks(b.nvals * wanted.shape[1]))
    touched = sum(threads.run_chunks(columns, bounds))
    return _spelled(operands, found, out_values), touched


def _spelled(operands: Operands, found: Array, dense: Array) -> Compressed:
    """Return a block as rows."""
    nrows, ncols, iso = operands.a.nmajor, operands.b.nmajor, operands.iso
    kernels = _helpers(values=iso is None)
    counts = np.zeros(SHARED * found.shape[1] + 1, np.int64)
    kernels.count(found, counts[1:])
    indptr = offsets_from_counts(counts[: nrows + 1])
    nvals = int(indptr[-1])
    indices = np.empty(nvals, index_dtype(nrows, ncols))
    values = np.array([iso], dense.dtype) if iso is not None else np.empty(nvals, dense.dtype)
    kernels.unpack(found, dense, indptr[:-1].astype(np.int64), indices, values)
    return Compressed(nrows, ncols, indptr, indices, values, iso is not None)
