"""gather and scatter: a vector of positions as the way in or out."""

from __future__ import annotations

from functools import cache
from types import ModuleType
from typing import Any

import numpy as np

from semira.backends.cpu import cache as caching
from semira.backends.cpu import recycled, threads
from semira.backends.cpu.codegen import Header
from semira.backends.cpu.compressed import Array, Compressed
from semira.backends.cpu.host import mxv
from semira.backends.cpu.host.update import Result, Update
from semira.backends.cpu.storage import CpuVector, bitmap_vector, sparse_vector
from semira.backends.interpreter import MaskData
from semira.backends.renumbering.lists import checked
from semira.base.memory import repeated
from semira.contract import Statement
from semira.formats import index_dtype
from semira.ops import TypedMonoid
from semira.ops.meaning import cast_array
from semira.ops.registry import binary

#: Positions from which on a kernel of its own looks values up, sooner than NumPy.
_LONG = 1 << 12


def _positions(index: CpuVector, size: int, what: str) -> Array:
    """Return the positions that entries of `index` name, in index order, after checking them."""
    values, stride = index.entry_values()
    if index.nvals == 0:
        return np.empty(0, index_dtype(size))
    checked(values, size, f"{what} index")
    positions = values.astype(index_dtype(size), copy=False)
    return positions if stride else np.repeat(positions[:1], index.nvals)


def gather(_statement: Statement, args: list[Any], _mask: MaskData | None, out: Any) -> Result:
    """w_i = u[index_i], wherever index has an entry and u has one there.

    O(entries of index), plus O(size) where index is not a list.
    """
    u: CpuVector = args[0]
    index: CpuVector = args[1]
    looked_up = _looked_up(u, index)
    if looked_up is not None:
        return Result(CpuVector(out.size, u.dtype, "full", looked_up))
    positions = _positions(index, u.size, "gather")
    given, values, stride = u.entries_at(positions)
    if stride == 0:
        values = np.repeat(values[:1], len(positions))
    if given is None and index.storage == "full":
        return Result(bitmap_vector(u.dtype, np.ones(out.size, np.bool_), values, out.size))
    at = index.entry_indices()
    if given is not None:
        at, values = at[given], values[given]
    return Result(sparse_vector(out.size, u.dtype, at, values))


def _looked_up(u: CpuVector, index: CpuVector) -> Array | None:
    """Return the values at all positions of a long full vector; None to look closer.

    The positions are checked on the way, and threads share the work.
    """
    is_plain = u.storage == index.storage == "full" and not (u.iso or index.iso)
    if not is_plain or index.size < _LONG or u.dtype.kind == "V" or index.dtype.kind != "I":
        return None
    found = recycled.empty(index.size, u.dtype.array_dtype)
    kernels = _kernels()

    def look_up(_part: int, lo: int, hi: int) -> bool:
        is_whole: bool = kernels.gather(lo, hi, index.values, u.values, found)
        return is_whole

    bounds = threads.even_bounds(index.size, threads.num_chunks(index.size))
    return found if all(threads.run_chunks(look_up, bounds)) else None


@cache
def _kernels() -> ModuleType:
    return caching.load("gather", Header(), "gather")


def _folds_into(statement: Statement, u: CpuVector, out: CpuVector) -> bool:
    """Return whether values may go into the output one by one instead of folded beforehand."""
    dup: TypedMonoid = statement.param("dup")
    same = statement.accum is dup.op and u.dtype is dup.type and out.dtype is dup.type
    exact = dup.is_idempotent or dup.type.is_integer
    return same and exact and statement.mask is None and out.storage == "full"


def scatter(statement: Statement, args: list[Any], _mask: MaskData | None, out: Any) -> Result:
    """w_{index_i} = u_i, equal targets folded by `dup` in index order.

    A push along a matrix whose row i holds the one entry index_i.
    """
    u: CpuVector = args[0]
    index: CpuVector = args[1]
    dup: TypedMonoid = statement.param("dup")
    positions = _positions(index, out.size, "scatter")
    if index.storage == "full" and u.storage == "full":
        values, stride = u.values, u.stride
    else:
        at = index.entry_indices()
        given, values, stride = u.entries_at(at)
        if given is not None:
            positions, values = positions[given], values[given] if stride else values
    if _folds_into(statement, u, out):
        new_values = repeated(out.values, out.size) if out.iso else out.values.copy()
        update = Update(out, None, None, False, statement.accum, True, False, None, False)
        update.kernels(out.dtype, {}).fold_into(positions, values, stride, new_values)
        return Result(CpuVector(out.size, out.dtype, "full", new_values), accumulated=True)
    if len(positions) == 0:
        return Result(mxv.empty_vector(out.size, dup.type))
    number, size = len(positions), out.size
    edges = Compressed(number, size, np.arange(number + 1), positions, np.ones(1), True)
    values = cast_array(values, dup.type.array_dtype)
    vector = CpuVector(number, dup.type, "full", values[:number], iso=stride == 0)
    product = mxv.Product(dup, binary["first"].typed(dup.type), True, edges, vector, size)
    return Result(mxv.push(product, None)[0])
