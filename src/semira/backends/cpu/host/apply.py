"""apply: unary, binary with a bound scalar, index-unary with a thunk."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, partial
from types import ModuleType
from typing import Any

import numpy as np

from semira.backends.cpu import cache, recycled, threads
from semira.backends.cpu.codegen import Header
from semira.backends.cpu.compressed import Array, Compressed
from semira.backends.cpu.host.update import Result
from semira.backends.cpu.masks import thunk_of, value_of
from semira.backends.cpu.storage import CpuMatrix, CpuVector, matrix_of
from semira.backends.interpreter import MaskData
from semira.backends.renumbering.positions import looks_at_positions
from semira.base.dtypes import DataType
from semira.base.memory import empty, repeated
from semira.contract import Statement
from semira.formats import ScalarArrays
from semira.ops import TypedOp
from semira.ops.meaning import cast_array

_NO_VALUES = np.zeros(1, np.int8)


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """An operator with its bound operand in place."""

    op: TypedOp
    #: The bound scalar is the left operand.
    bound_left: bool
    #: NumPy scalar: bound operand or thunk; anything for unary operators.
    bound: Any

    @property
    def reads_value(self) -> bool:
        """Whether the value of an entry matters."""
        return self.op.reads_b if self.bound_left else self.op.reads_a

    @property
    def value_dtype(self) -> DataType:
        """Dtype that an entry is cast to; as it is if it does not matter."""
        return self.op.type2 if self.bound_left else self.op.type

    @property
    def is_positional(self) -> bool:
        """Whether the position of an entry matters."""
        return looks_at_positions(self.op)

    def of_value(self, value: Any) -> Array:
        """Return the result for one value, as an array; not for positional operators."""
        op, opclass = self.op, self.op.parent.opclass
        a, b = (self.bound, value) if self.bound_left else (value, self.bound)
        if opclass == "UnaryOp":
            result = op.scalar_function(a, 0, 0)
        elif opclass == "BinaryOp":
            result = op.scalar_function(a, b, 0, 0, 0)
        else:
            result = op.scalar_function(a, 0, 0, b)
        return np.array([result], op.return_type.array_dtype)

    def kernels(self, *, listed: bool) -> ModuleType:
        """Return the kernels for this operator."""
        return _kernels(self.op, bound_left=self.bound_left, listed=listed)


@lru_cache(cache.KEPT_BY_HOST)
def _kernels(op: TypedOp, *, bound_left: bool, listed: bool) -> ModuleType:
    header = Header(flags={"VALUES": op.reads_b if bound_left else op.reads_a, "LISTED": listed})
    a, b = ("bound", "value") if bound_left else ("value", "bound")
    given = {"a": a, "b": b, "t": "bound"} | position_names(op)
    header.function("call", ("value", "i", "j", "bound"), op, given)
    return cache.load("apply", header, op.name)


def position_names(op: TypedOp) -> dict[str, str]:
    """Return what the operator's position variables stand for at entry (i, j).

    Both operands have the entry at (i, j): `k` is the column of the first, the row of the second.
    """
    k = "i" if op.parent.name.startswith("second") else "j"
    return {"i": "np.int64(i)", "k": f"np.int64({k})", "j": "np.int64(j)"}


def call_of(op: TypedOp, other: ScalarArrays | None, *, left: bool) -> Call:
    """Return the call of an operator; `other` is the thunk, or the operand on the `left` or right.

    Raises EmptyObject if `other` holds no value.
    """
    if other is None:
        return Call(op, False, np.int8(0))
    if op.parent.opclass == "BinaryOp":
        reads, dtype = (op.reads_a, op.type) if left else (op.reads_b, op.type2)
        return Call(op, left, value_of(other, dtype if reads else other.dtype))
    return Call(op, False, thunk_of(op, other))


def compute(statement: Statement, args: list[Any], _mask: MaskData | None, _out: Any) -> Result:
    """Apply to every entry; a result that does not vary stays a single value."""
    at = 1 if statement.param("side") == "left" else 0
    x = args[at]
    other = args[1 - at] if len(args) > 1 else None
    call = call_of(statement.operator, other, left=at == 1)
    if isinstance(x, ScalarArrays):
        return Result(_on_scalar(x, call))
    if isinstance(x, CpuMatrix):
        return Result(_on_matrix(x, call, transposed=statement.args[at].transposed))
    return Result(_on_vector(x, call))


def _on_scalar(x: ScalarArrays, call: Call) -> ScalarArrays:
    value = None
    if x.value is not None:
        value = call.of_value(value_of(x, call.value_dtype if call.reads_value else x.dtype))[0]
    return ScalarArrays(call.op.return_type, value)


def _mapped(values: Array, iso: bool, call: Call) -> tuple[Array, bool] | None:
    """Return results that need no kernel, and whether they are iso; None if one is needed."""
    op = call.op
    if call.is_positional:
        return None
    if iso or not call.reads_value:
        seed = values[:1] if len(values) else np.zeros(1, values.dtype)
        if call.reads_value:
            seed = cast_array(seed, call.value_dtype.array_dtype)
        return call.of_value(seed[0]), True
    if op.python == "a" and not call.bound_left:
        return cast_array(
            cast_array(values, op.type.array_dtype), op.return_type.array_dtype
        ), False
    return None


def _on_vector(x: CpuVector, call: Call) -> CpuVector:
    dtype = call.op.return_type
    mapped = _mapped(x.values, x.iso, call)
    present, count = x.present, x.count
    if present is not None and count is not None:
        present, count = recycled.copied(present), count.copy()
    if mapped is not None:
        values, iso = mapped
        if iso and present is not None:
            values, iso = np.full(x.size, values[0], dtype.array_dtype), False
        elif values is x.values:
            values = recycled.copied(values)
        return CpuVector(x.size, dtype, x.storage, values, x.indices, present, count, iso)
    length = x.size if x.indices is None else x.nvals
    values = _input_values(x.values, x.iso, length, call)
    result = recycled.empty(length, dtype.array_dtype)
    listed = x.indices is not None and call.is_positional
    kernels = call.kernels(listed=listed)

    def run(_part: int, lo: int, hi: int) -> None:
        kernels.entries(lo, hi, x.indices if listed else _NO_VALUES, values, call.bound, result)

    threads.run_chunks(run, threads.pass_bounds(length))
    return CpuVector(x.size, dtype, x.storage, result, x.indices, present, count)


def _input_values(values: Array, iso: bool, length: int, call: Call) -> Array:
    if not call.reads_value:
        return _NO_VALUES
    values = cast_array(values, call.value_dtype.array_dtype)
    return repeated(values, length) if iso else values


def _on_matrix(x: CpuMatrix, call: Call, *, transposed: bool) -> CpuMatrix:
    dtype = call.op.return_type
    if call.is_positional:
        rows = x.oriented(by_columns=transposed)
        return matrix_of(rows.replaced(_by_rows(rows, call), iso=False), dtype)
    # Positions do not matter: whatever orientations there are stay.
    made = x.mapped(partial(_by_entries, call=call), dtype)
    if transposed:
        made.nrows, made.ncols, made.csr, made.csc = made.ncols, made.nrows, made.csc, made.csr
    return made


def _by_entries(stored: Compressed, call: Call) -> Compressed:
    mapped = _mapped(stored.values, stored.iso, call)
    if mapped is not None:
        return stored.replaced(mapped[0], iso=mapped[1])
    values = stored.values_as(call.value_dtype)
    result = empty(stored.nvals, call.op.return_type.array_dtype)
    kernels = call.kernels(listed=False)

    def run(_part: int, lo: int, hi: int) -> None:
        kernels.entries(lo, hi, _NO_VALUES, values, call.bound, result)

    bounds = threads.pass_bounds(stored.nvals)
    threads.run_chunks(run, bounds)
    return stored.replaced(result, iso=False)


def _by_rows(rows: Compressed, call: Call) -> Array:
    values = _input_values(rows.values, rows.iso, rows.nvals, call)
    result = empty(rows.nvals, call.op.return_type.array_dtype)
    kernels = call.kernels(listed=False)

    def run(_part: int, lo: int, hi: int) -> None:
        kernels.rows(lo, hi, rows.indptr, rows.indices, values, call.bound, result)

    threads.run_chunks(run, threads.bounds_by_work(rows.indptr, threads.num_chunks(rows.nvals)))
    return result


def at_positions(values: Array, rows: Array, cols: Array, call: Call) -> Array:
    """Return the results for values that stand at listed rows and columns."""
    values = _input_values(values, False, len(rows), call)
    result = empty(len(rows), call.op.return_type.array_dtype)
    call.kernels(listed=False).pairs(0, len(rows), rows, cols, values, call.bound, result)
    return result
