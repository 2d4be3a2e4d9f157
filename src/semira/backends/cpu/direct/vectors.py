"""Statements that write a small vector entry by entry: element-wise, apply, assign."""

from __future__ import annotations

from typing import Any

import numpy as np

from semira.backends.cpu.compressed import Array
from semira.backends.cpu.direct import SMALL, Direct
from semira.backends.cpu.direct.ending import Ending, by_position
from semira.backends.cpu.host.apply import Call
from semira.backends.cpu.host.ewise import Pairing
from semira.backends.cpu.storage import CpuVector, bitmap_vector
from semira.backends.interpreter import Cell
from semira.contract import Program, Statement
from semira.contract.backend import Outcome
from semira.ops import TypedOp
from semira.ops.meaning import cast_array

_DONE = Outcome()


def _kinds(program: Program, statement: Statement) -> tuple[str, ...]:
    """Return the kinds of the output and the arguments."""
    slots = (statement.out, *(arg.slot for arg in statement.args))
    return tuple(program.slots[slot].kind for slot in slots)


def _is_small(vector: Any) -> bool:
    return vector.__class__ is CpuVector and 0 < vector.size <= SMALL


def ewise(program: Program, statement: Statement) -> Direct | None:
    """Union or intersection of two vectors, by position."""
    if _kinds(program, statement) != ("vector", "vector", "vector"):
        return None
    op: TypedOp = statement.operator
    a_slot, b_slot = (arg.slot for arg in statement.args)
    out_slot, dtype = statement.out, op.return_type
    ending = Ending(program, statement, dtype, exact=False)
    zero = op.type.scalar(0)
    pairing = Pairing(op, statement.op, zero, zero)
    kernels: Any = None

    def run(bindings: list[Any]) -> Outcome | None:
        nonlocal kernels
        a, b, cell = bindings[a_slot].data, bindings[b_slot].data, bindings[out_slot]
        if not (_is_small(a) and _is_small(b)):
            return None
        if kernels is None:
            kernels = pairing.kernels(vector=True)
        a, b = by_position(a), by_position(b)
        size = a.size
        present, values = np.zeros(size, np.bool_), np.zeros(size, dtype.array_dtype)
        num = kernels.dense(
            0, size, *a.presence(), pairing.values(a.values, read=op.reads_a), a.stride,
            *b.presence(), pairing.values(b.values, read=op.reads_b, second=True), b.stride,
            zero, zero, present, values,
        )  # fmt: skip
        result = bitmap_vector(dtype, present, values, int(num))
        cell.data = ending.finished(cell.data, result, ending.tests(bindings, size))
        return _DONE

    return run


def apply(program: Program, statement: Statement) -> Direct | None:
    """Apply a unary operator that looks at values only to every entry of a vector."""
    if _kinds(program, statement) != ("vector", "vector"):
        return None
    op: TypedOp = statement.operator
    call = Call(op, False, np.int8(0))
    if call.is_positional or not op.reads_a or op.python == "a":
        return None
    x_slot, out_slot, dtype = statement.args[0].slot, statement.out, op.return_type
    ending = Ending(program, statement, dtype, exact=False)
    no_indices: Array = np.zeros(1, np.int8)
    kernels: Any = None

    def run(bindings: list[Any]) -> Outcome | None:
        nonlocal kernels
        x, cell = bindings[x_slot].data, bindings[out_slot]
        if not _is_small(x) or x.iso or x.nvals == 0:
            return None
        if kernels is None:
            kernels = call.kernels(listed=False)
        given = cast_array(x.values, op.type.array_dtype)
        values = np.empty(len(given), dtype.array_dtype)
        kernels.entries(0, len(given), no_indices, given, call.bound, values)
        present, count = x.present, x.count
        if present is not None:
            present, count = present.copy(), count.copy()
        result = CpuVector(x.size, dtype, x.storage, values, x.indices, present, count)
        if x.indices is not None and not ending.takes_over(cell.data):
            result = by_position(result)
        cell.data = ending.finished(cell.data, result, ending.tests(bindings, x.size))
        return _DONE

    return run


def assign(program: Program, statement: Statement) -> Direct | None:
    """Write a scalar to every position of a vector, or where the mask lets through."""
    everywhere = all(index.kind == "all" for index in statement.indices)
    if _kinds(program, statement) != ("vector", "scalar") or not everywhere:
        return None
    x_slot, out_slot = statement.args[0].slot, statement.out
    source, target = program.slots[x_slot].dtype, program.slots[out_slot].dtype
    ending = Ending(program, statement, source, exact=False)

    def run(bindings: list[Any]) -> Outcome | None:
        x, cell = bindings[x_slot], bindings[out_slot]
        value = x.data.value if x.__class__ is Cell else x
        out = cell.data
        if value is None or not _is_small(out):
            return None
        values = np.array([value], source.array_dtype)
        if ending.mask is None and statement.accum is None:
            if source is not target:
                values = cast_array(values, target.array_dtype)
            cell.data = CpuVector(out.size, target, "full", values, iso=True)
            return _DONE
        full = CpuVector(out.size, source, "full", values, iso=True)
        cell.data = ending.finished(out, full, ending.tests(bindings, out.size))
        return _DONE

    return run
