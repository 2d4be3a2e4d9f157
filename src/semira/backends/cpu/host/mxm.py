"""mxm: masked dot products, row by row with a dense or a hashed accumulator, or by blocks."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from semira.backends.cpu import threads, workspace
from semira.backends.cpu.compressed import EVERYWHERE, Array, Compressed
from semira.backends.cpu.host import blocks, mxm_full, times_full
from semira.backends.cpu.host.finish import joined
from semira.backends.cpu.host.mxm_operands import Operands, product_kernels
from semira.backends.cpu.host.mxv import exit_flags, iso_product
from semira.backends.cpu.host.structure import written_rows
from semira.backends.cpu.masks import matrix_mask
from semira.backends.cpu.storage import CpuMatrix, empty_matrix, matrix_of
from semira.backends.interpreter import MaskData
from semira.base.memory import is_free, require_bytes
from semira.contract import COLUMNS, Method, Statement, part_of
from semira.formats import index_dtype
from semira.ops.registry import binary

#: Rows are computed in chunks of at most about this many multiplications: what bounds the room
#: that is set aside for their entries.
_CHUNK_FLOPS = 2**24

#: From this many columns on a dense accumulator falls out of the caches: hash if free to choose.
_WIDE_COLUMNS = 2**22

_NO_MASK = (np.zeros(1, np.int32), np.zeros(1, np.int32))


def compute(
    statement: Statement, method: Method, args: list[Any], mask: MaskData | None, out: CpuMatrix
) -> tuple[CpuMatrix, bool, int]:
    """Return the product, whether the mask has been applied to it, and entries read."""
    has_folder = method.storage not in ("compressed", COLUMNS)
    by_lines = getattr(part_of(method.storage, "cpu"), "mxm", None) if has_folder else None
    if by_lines is None and method.storage != "compressed":
        return times_full.compute(statement, method, args, mask, out)
    left, right = args
    add, multiply = statement.operator.monoid, statement.operator.binaryop
    if left.nvals == 0 or right.nvals == 0:
        return empty_matrix(out.nrows, out.ncols, add.type), True, 0
    found = None if has_folder else mxm_full.compute(statement, method, args, mask, out)
    if found is not None:
        return found
    exact = mask is None or method.mask_order != "after"
    pattern = matrix_mask(mask) if exact else None
    complement = mask is not None and mask.complement
    a = left.oriented(by_columns=statement.args[0].transposed)
    name = _method_name(method.name, a, right, pattern, complement=complement)
    if by_lines is not None:
        # Lines of columns are counted where a mask names the results, whatever is pinned.
        name = "dense" if pattern is None or complement else "dot"
    if name in ("dot", "pull") and add.type.kind == "V":
        # Numba's functions return no record beside other values, as a dot product would.
        name = "dense" if right.ncols < _WIDE_COLUMNS else "hash"
    by_columns = statement.args[1].transposed != (name in ("dot", "pull"))
    b = right.oriented(by_columns=by_columns)
    iso = iso_product(add, multiply, (a.values, a.iso), (b.values, b.iso))
    operands = Operands(add, multiply, a, b, pattern, complement, iso)
    may_exit = method.early_exit or method.name == "direct"
    if by_lines is not None:
        other = partial(right.oriented, by_columns=not by_columns)
        rows, touched = by_lines(method, operands, other)
    elif name == "dot":
        rows, touched = _dot(operands, may_exit=may_exit)
    elif name == "pull":
        rows, touched = blocks.pull(operands, may_exit=may_exit)
    else:
        rows, touched = _row_wise(operands, hashed=name == "hash")
    return matrix_of(rows, add.type), exact, touched


def _method_name(
    wanted: str, a: Compressed, right: CpuMatrix, mask: Compressed | None, *, complement: bool
) -> str:
    """Return the method to use: dot products need a mask that lists positions."""
    selective = mask is not None and not complement
    if wanted == "dot" and not selective:
        return "dense"
    if wanted != "direct":
        return wanted
    b = right.any_orientation()
    mean_degree = 1 + b.nvals // max(1, b.nmajor)
    if mask is not None and selective and mask.nvals <= 2 * a.nvals * mean_degree:
        return "dot"
    return "hash" if b.nminor >= _WIDE_COLUMNS else "dense"


def _counts_pairs(operands: Operands) -> bool:
    """Return whether a result is the number of pairs that meet."""
    plus, pair = operands.add.op.parent, operands.multiply.parent
    return operands.iso is None and plus is binary["plus"] and pair is binary["pair"]


def _dot(operands: Operands, *, may_exit: bool) -> tuple[Compressed, int]:
    a, b, mask, iso = operands.a, operands.b, operands.mask, operands.iso
    assert mask is not None
    add = operands.add
    flags = {"COUNTS": _counts_pairs(operands), **dict(exit_flags(add, iso, may_exit))}
    kernels = product_kernels(operands, flags)
    (a_values, b_values), (a_stride, b_stride) = operands.values(), operands.strides()
    # Offsets within a row: columns bound them. Without values of A one byte tells membership.
    where_type = np.bool_
    if operands.multiply.reads_a and iso is None:
        where_type = index_dtype(a.nminor)  # type: ignore[assignment]
    touched: list[int] = []

    def multiply_rows(lo: int, hi: int, counts: Array, indices: Array, values: Array) -> int:
        where = workspace.zeros(where_type, a.nminor)
        num, work = kernels.dot(
            lo, hi, mask.indptr, mask.indices, a.indptr, a.indices, a_values, a_stride,
            b.indptr, b.indices, b_values, b_stride, where, counts, indices, values,
        )  # fmt: skip
        workspace.give_zeros(where)
        touched.append(int(work))
        return int(num)

    mean_degree = 1 + b.nvals // max(1, b.nmajor)
    bounds = threads.bounds_by_work(mask.indptr, threads.num_chunks(mask.nvals * mean_degree))
    values = add.type if iso is None else np.array([iso], add.type.array_dtype)
    shape = a.nmajor, b.nmajor
    return written_rows(shape, bounds, mask.room, multiply_rows, values), sum(touched)


def _row_wise(operands: Operands, *, hashed: bool) -> tuple[Compressed, int]:
    a, b, mask, iso = operands.a, operands.b, operands.mask, operands.iso
    kernels = product_kernels(operands, {"MASKED": mask is not None, "HASHED": hashed})
    (a_values, b_values), (a_stride, b_stride) = operands.values(), operands.strides()
    lengths = b.degrees()[a.indices]
    total = int(np.add.reduce(lengths, dtype=np.int64))
    _check_least(operands, lengths, total)
    bounds, most = [0, a.nmajor], None
    if hashed or total >= threads.PARALLEL_ENTRIES:
        bounds, most = _row_bounds(operands, lengths, total)
    mask_arrays = _NO_MASK if mask is None else (mask.indptr, mask.indices)
    counts = np.zeros(a.nmajor + 1, np.int64)

    def multiply_rows(_part: int, lo: int, hi: int) -> tuple[Array, Array, int]:
        room = total if most is None else int(most[lo:hi].sum())
        longest = b.nminor if most is None else int(most[lo:hi].max(initial=0))
        indices = np.empty(room, index_dtype(a.nmajor, b.nminor))
        values = operands.room(room)
        scratch = _Accumulator(operands, longest, hashed=hashed)
        num, work = kernels.row_wise(
            lo, hi, a.indptr, a.indices, a_values, a_stride,
            b.indptr, b.indices, b_values, b_stride, *mask_arrays, operands.complement,
            scratch.mark, b.nminor, scratch.state, scratch.keys, scratch.slots_mask,
            scratch.acc, scratch.touched, counts, indices, values,
        )  # fmt: skip
        scratch.give_back()
        return indices[:num].copy(), values if iso is not None else values[:num].copy(), work

    parts = threads.run_chunks(multiply_rows, bounds)
    pairs = [part[:2] for part in parts]
    rows = joined(a.nmajor, b.nminor, counts, pairs, iso=iso is not None)
    if iso is not None:
        rows.values = np.array([iso], operands.add.type.array_dtype)
    return rows, sum(part[2] for part in parts)


def _row_bounds(operands: Operands, lengths: Array, total: int) -> tuple[list[int], Array]:
    """Return borders of chunks of rows, and the most entries that each row can have."""
    a, mask = operands.a, operands.mask
    chunks = max(threads.num_chunks(total), min(a.nmajor, total // _CHUNK_FLOPS), 1)
    flops = np.zeros(a.nvals + 1, np.int64)
    np.cumsum(lengths, out=flops[1:])
    flops = flops[a.indptr]
    most = np.minimum(np.diff(flops), operands.b.nminor)
    if mask is not None and not operands.complement:
        most = np.minimum(most, mask.degrees())
    return threads.bounds_by_work(flops, chunks), most


def _check_least(operands: Operands, lengths: Array, flops: int) -> None:
    """Refuse a product that cannot fit, before it is begun.

    A row of the result has at least as many entries as the longest row of B that it is made of
    (`lengths`: of the one that each entry of A meets). `flops` is an upper bound and refuses
    nothing. Raises OutOfMemory if even the least does not fit.
    """
    a, b, mask = operands.a, operands.b, operands.mask
    width = index_dtype(a.nmajor, b.nminor).itemsize
    width += 0 if operands.iso is not None else operands.add.type.array_dtype.itemsize
    # The chunks of rows are there while they are put together.
    width *= 2
    if (mask is not None and not operands.complement) or is_free(flops * width):
        return
    starts = a.indptr[:-1][a.degrees() > 0]
    least = int(np.maximum.reduceat(lengths, starts).sum(dtype=np.int64))
    least -= 0 if mask is None else mask.nvals
    require_bytes(
        least * width,
        f"a product of {a.nmajor} x {b.nminor} with at least {least} entries",
        "use a mask, or multiply a few rows at a time (A[lo:hi, :])",
    )


class _Accumulator:
    """Scratch of one chunk of rows: dense by column, or a table for `most` entries."""

    def __init__(self, operands: Operands, most: int, *, hashed: bool) -> None:
        ncols, dtype = operands.b.nminor, operands.add.type.array_dtype
        self.dense = not hashed
        self.mark = EVERYWHERE if operands.mask is None else workspace.marks(ncols)
        self.state = EVERYWHERE
        self.keys = np.zeros(1, np.int64)
        self.slots_mask = 0
        if self.dense:
            self.state = workspace.marks(ncols)
            length = ncols
        else:
            length = 1 << max(3, (2 * most).bit_length())
            self.slots_mask = length - 1
            self.keys = np.full(length, -1, np.int64)
        self.acc = (
            np.zeros(1, dtype) if operands.iso is not None else workspace.buffer(dtype, length)
        )
        self.touched = workspace.buffer(np.int64, length)

    def give_back(self) -> None:
        """Keep what the next chunk can use."""
        if self.mark is not EVERYWHERE:
            workspace.give_marks(self.mark)
        if self.dense:
            workspace.give_marks(self.state)
        if len(self.acc) > 1:
            workspace.give_buffer(self.acc)
        workspace.give_buffer(self.touched)
