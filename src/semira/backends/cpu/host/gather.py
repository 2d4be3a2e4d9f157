"""gather and scatter: a vector of positions as the way in or out."""

from __future__ import annotations

from typing import Any

import numpy as np

from semira.backends.cpu.host import mxv
from semira.backends.cpu.host.finish_vector import looked_up
from semira.backends.cpu.host.update import Result
from semira.backends.cpu.storage import Array, Compressed, CpuVector, bitmap_vector, sparse_vector
from semira.backends.interpreter import MaskData
from semira.base.errors import IndexOutOfBound
from semira.contract import Statement
from semira.formats import index_dtype
from semira.ops import TypedMonoid
from semira.ops.meaning import cast_array
from semira.ops.registry import binary


def _positions(index: CpuVector, size: int, what: str) -> Array:
    """Return the positions that entries of `index` name, in index order, after checking them."""
    values, stride = index.entry_values()
    if index.nvals == 0:
        return np.empty(0, index_dtype(size))
    low, high = int(values.min()), int(values.max())
    if low < 0 or high >= size:
        raise IndexOutOfBound(
            f"{what} index {low if low < 0 else high} is outside [0, {size}); nothing was written"
        )
    positions = values.astype(index_dtype(size), copy=False)
    return positions if stride else np.repeat(positions[:1], index.nvals)


def gather(statement: Statement, args: list[Any], mask: MaskData | None, out: Any) -> Result:
    """w_i = u[index_i], wherever index has an entry and u has one there.

    O(entries of index), plus O(size) where index is not a list.
    """
    del statement, mask
    u: CpuVector = args[0]
    index: CpuVector = args[1]
    positions = _positions(index, u.size, "gather")
    given, values, stride = looked_up(u, positions)
    if stride == 0:
        values = np.repeat(values[:1], len(positions))
    if given is None and index.storage == "full":
        return Result(bitmap_vector(u.dtype, np.ones(out.size, np.bool_), values, out.size))
    at = index.entry_indices()
    if given is not None:
        at, values = at[given], values[given]
    return Result(sparse_vector(out.size, u.dtype, at, values))


def scatter(statement: Statement, args: list[Any], mask: MaskData | None, out: Any) -> Result:
    """w_{index_i} = u_i, equal targets folded by `dup` in index order.

    A push along a matrix whose row i holds the one entry index_i.
    """
    del mask
    u: CpuVector = args[0]
    index: CpuVector = args[1]
    dup: TypedMonoid = statement.param("dup")
    positions = _positions(index, out.size, "scatter")
    if index.storage == "full" and u.storage == "full":
        values, stride = u.values, u.stride
    else:
        at = index.entry_indices()
        given, values, stride = looked_up(u, at)
        if given is not None:
            positions, values = positions[given], values[given] if stride else values
    if len(positions) == 0:
        return Result(mxv.empty_vector(out.size, dup.type))
    number = len(positions)
    edges = Compressed(number, out.size, np.arange(number + 1), positions, np.ones(1), True)
    values = cast_array(values, dup.type.np_type)
    vector = CpuVector(number, dup.type, "full", values[:number], iso=stride == 0)
    product = mxv.Product(dup, binary["first"].typed(dup.type), True, edges, vector, out.size)
    return Result(mxv.push(product, None)[0])
