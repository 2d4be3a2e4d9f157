"""ewise_add, ewise_mult and ewise_union on vectors, matrices and scalars."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from types import ModuleType
from typing import Any

import numpy as np

from semira.backends.cpu import cache, recycled, threads
from semira.backends.cpu.codegen import Header
from semira.backends.cpu.compressed import EVERYWHERE, Array, Compressed
from semira.backends.cpu.host.apply import position_names
from semira.backends.cpu.host.structure import written_rows
from semira.backends.cpu.host.update import Result
from semira.backends.cpu.masks import value_of
from semira.backends.cpu.storage import (
    CpuMatrix,
    CpuVector,
    bitmap_vector,
    matrix_of,
    settled,
    sparse_vector,
    to_dense,
)
from semira.backends.interpreter import MaskData
from semira.backends.renumbering.positions import looks_at_positions
from semira.base.memory import repeated, require_bytes
from semira.contract import Statement
from semira.formats import ScalarArrays
from semira.ops import TypedOp
from semira.ops.meaning import cast_array, cast_scalar

#: A list longer than size / this is joined with another by position instead of by merging.
_DENSE_SHARE = 8


@dataclass(frozen=True, slots=True, eq=False)
class Pairing:
    """An element-wise operation."""

    op: TypedOp
    #: One of "ewise_add", "ewise_mult", "ewise_union".
    kind: str
    #: NumPy scalars: defaults of a missing entry (ewise_union).
    left: Any
    right: Any

    @property
    def union(self) -> bool:
        """Whether entries of one side count."""
        return self.kind != "ewise_mult"

    def kernels(self, *, vector: bool, forms: tuple[bool, ...] = ()) -> ModuleType:
        """Return the kernels of this operation; `forms` are values of `_FORMS`."""
        return _kernels(self.op, self.kind, vector=vector, forms=forms)

    def dense_kernels(self, a: CpuVector, b: CpuVector) -> ModuleType:
        """Return the kernels for two vectors that are no lists."""
        forms = (a.iso, b.iso, a.present is not None, b.present is not None)
        return self.kernels(vector=True, forms=forms)

    def values(self, values: Array, *, read: bool, second: bool = False) -> Array:
        """Return operand values in the compute dtype, or a stand-in if they are not read."""
        if not read and not self.union:
            return EVERYWHERE
        dtype = self.op.type2 if second else self.op.type
        cast: Array = cast_array(values, dtype.array_dtype)
        return cast


#: Flags that fit the kernels without branches to their operands.
_FORMS = ("ISO_A", "ISO_B", "GAPS_A", "GAPS_B")


@lru_cache(cache.KEPT_BY_HOST)
def _kernels(op: TypedOp, kind: str, *, vector: bool, forms: tuple[bool, ...]) -> ModuleType:
    places = looks_at_positions(op)
    header = Header(
        flags={
            "UNION": kind != "ewise_mult",
            "VECTOR": vector and places,
            "READS_A": op.reads_a,
            "READS_B": op.reads_b,
        }
        | dict(zip(_FORMS, forms, strict=False))
    )
    given = position_names(op)
    header.function("combine", ("a", "b", "i", "j"), op, given)
    if kind == "ewise_union":
        # Defaults take the place of the missing operand: the same function under its own names.
        header.parts["only_a"] = "only_a = combine"
        header.parts["only_b"] = "only_b = combine"
    elif kind == "ewise_add":
        passed = header.cast(op.type, op.return_type, "value")
        header.expression("only_a", ("value", "y", "i", "j"), passed)
        header.expression("only_b", ("x", "value", "i", "j"), passed)
    return cache.load("ewise", header, f"{kind}_{op.name}")


def compute(statement: Statement, args: list[Any], _mask: MaskData | None, out: Any) -> Result:
    """Union (entries of one side pass, or meet a default) or intersection."""
    op: TypedOp = statement.operator
    left = right = op.type.scalar(0)
    if statement.op == "ewise_union":
        left, right = value_of(args[2], op.type), value_of(args[3], op.type)
    pairing = Pairing(op, statement.op, left, right)
    if isinstance(out, ScalarArrays):
        return Result(_scalars(pairing, args[0], args[1]))
    if isinstance(out, CpuMatrix):
        first, second = (
            given.oriented(by_columns=arg.transposed)
            for given, arg in zip(args[:2], statement.args[:2], strict=True)
        )
        return Result(matrix_of(_merge_rows(pairing, first, second, vector=False), op.return_type))
    return Result(_vectors(pairing, args[0], args[1]))


def _scalars(pairing: Pairing, a: ScalarArrays, b: ScalarArrays) -> ScalarArrays:
    op = pairing.op
    left, right = a.value, b.value
    if left is None and right is None:
        return ScalarArrays(op.return_type, None)
    if pairing.kind == "ewise_union":
        left = pairing.left if left is None else left
        right = pairing.right if right is None else right
    if left is None or right is None:
        passed = right if left is None else left
        value = cast_scalar(passed, op.return_type.array_dtype) if pairing.union else None
        return ScalarArrays(op.return_type, value)
    if op.reads_a:
        left = cast_scalar(left, op.type.array_dtype)
    if op.reads_b:
        right = cast_scalar(right, op.type2.array_dtype)
    value = op.scalar_function(left, right, 0, 0, 0)
    return ScalarArrays(op.return_type, value)


def _vectors(pairing: Pairing, a: CpuVector, b: CpuVector) -> CpuVector:
    if a.indices is not None and b.indices is not None:
        if (a.nvals + b.nvals) * _DENSE_SHARE <= a.size:
            return _lists(pairing, a, b)
    elif not pairing.union and (a.indices is not None or b.indices is not None):
        return _probed(pairing, a, b)
    if a.storage == "full" and b.storage == "full":
        return _full(pairing, a, b)
    if pairing.kind == "ewise_add" and {a.storage, b.storage} == {"full", "sparse"}:
        return _added_to_full(pairing, a, b)
    a = to_dense(a) if a.indices is not None else a
    b = to_dense(b) if b.indices is not None else b
    op = pairing.op
    if pairing.union and "full" in (a.storage, b.storage):
        require_bytes(a.size * (1 + op.return_type.array_dtype.itemsize), "a vector in full")
    present = np.zeros(a.size, np.bool_)
    values = recycled.zeros(a.size, op.return_type.array_dtype)
    a_values = pairing.values(a.values, read=op.reads_a)
    b_values = pairing.values(b.values, read=op.reads_b, second=True)
    # A user's function sees entries only.
    branchless = not pairing.union and not op.functions
    kernels = pairing.dense_kernels(a, b) if branchless else pairing.kernels(vector=True)

    def pair(_part: int, lo: int, hi: int) -> int:
        if branchless:
            a_present, b_present = a.presence()[0], b.presence()[0]
            return int(
                kernels.common(lo, hi, a_present, a_values, b_present, b_values, present, values)
            )
        num: int = kernels.dense(
            lo, hi, *a.presence(), a_values, a.stride, *b.presence(), b_values, b.stride,
            pairing.left, pairing.right, present, values,
        )  # fmt: skip
        return num

    bounds = threads.pass_bounds(a.size)
    num = sum(threads.run_chunks(pair, bounds))
    return settled(bitmap_vector(op.return_type, present, values, num))


def _full(pairing: Pairing, a: CpuVector, b: CpuVector) -> CpuVector:
    """Join two vectors that have an entry at every position."""
    op = pairing.op
    a_values = pairing.values(a.values, read=op.reads_a)
    b_values = pairing.values(b.values, read=op.reads_b, second=True)
    kernels = pairing.dense_kernels(a, b)
    values = recycled.empty(a.size, op.return_type.array_dtype)

    def pair(_part: int, lo: int, hi: int) -> None:
        kernels.full(lo, hi, a_values, b_values, values)

    threads.run_chunks(pair, threads.pass_bounds(a.size))
    return CpuVector(a.size, op.return_type, "full", values)


def _added_to_full(pairing: Pairing, a: CpuVector, b: CpuVector) -> CpuVector:
    """Join a list with a vector that has an entry everywhere: all of it, then the list's places."""
    other = b if a.indices is not None else a
    dtype = pairing.op.return_type
    # An entry of one side passes through the dtype of the operator.
    passed = cast_array(pairing.values(other.values, read=True), dtype.array_dtype)
    values = repeated(passed, other.size) if other.iso else np.array(passed)
    common = _probed(pairing, a, b)
    values[common.indices] = common.values
    return CpuVector(a.size, dtype, "full", values)


def _lists(pairing: Pairing, a: CpuVector, b: CpuVector) -> CpuVector:
    """Merge two lists of entries, as the only rows of two matrices."""
    first, second = (
        Compressed(1, x.size, np.array([0, x.nvals]), x.entry_indices(), x.values, x.iso)
        for x in (a, b)
    )
    rows = _merge_rows(pairing, first, second, vector=True)
    return sparse_vector(a.size, pairing.op.return_type, rows.indices, rows.values)


def _probed(pairing: Pairing, a: CpuVector, b: CpuVector) -> CpuVector:
    """Intersect a list with a vector that is looked up by position; O(entries of the list)."""
    listed, other = (a, b) if a.indices is not None else (b, a)
    indices, values, stride = listed.entry_indices(), listed.values, listed.stride
    if other.present is not None:
        here = other.present[indices]
        indices, values = indices[here], values[here] if stride else values
    found = other.values if other.iso else other.values[indices]
    op = pairing.op
    sides = [(values, stride), (found, other.stride)]
    if listed is b:
        sides.reverse()
    (a_values, a_stride), (b_values, b_stride) = sides
    a_values = pairing.values(a_values, read=op.reads_a)
    b_values = pairing.values(b_values, read=op.reads_b, second=True)
    result = np.empty(len(indices), op.return_type.array_dtype)
    pairing.kernels(vector=True).listed(
        0, len(indices), indices, a_values, a_stride, b_values, b_stride, result
    )
    return sparse_vector(a.size, op.return_type, indices, result)


def _merge_rows(pairing: Pairing, a: Compressed, b: Compressed, *, vector: bool) -> Compressed:
    op = pairing.op
    a_values = _row_values(pairing, a, read=op.reads_a)
    b_values = _row_values(pairing, b, read=op.reads_b, second=True)
    kernels = pairing.kernels(vector=vector)

    def room_of(lo: int, hi: int) -> int:
        rooms = a.room(lo, hi), b.room(lo, hi)
        return sum(rooms) if pairing.union else min(rooms)

    def merge(lo: int, hi: int, counts: Array, indices: Array, values: Array) -> int:
        num: int = kernels.rows(
            lo, hi, a.indptr, a.indices, a_values, a.stride, b.indptr, b.indices, b_values,
            b.stride, pairing.left, pairing.right, counts, indices, values,
        )  # fmt: skip
        return num

    offsets = a.indptr if a.nvals > b.nvals else b.indptr
    bounds = threads.bounds_by_work(offsets, threads.num_chunks(a.nvals + b.nvals))
    least = max(a.nvals, b.nvals) if pairing.union else 0
    return written_rows((a.nmajor, a.nminor), bounds, room_of, merge, op.return_type, least=least)


def _row_values(pairing: Pairing, rows: Compressed, *, read: bool, second: bool = False) -> Array:
    if not read and not pairing.union:
        return EVERYWHERE
    return rows.values_as(pairing.op.type2 if second else pairing.op.type)
