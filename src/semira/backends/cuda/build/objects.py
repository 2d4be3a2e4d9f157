"""Vectors and matrices of arrays that a caller gave."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from semira.backends.companions import Companions
from semira.backends.cuda.build.entries import Lines, compress
from semira.backends.cuda.build.exchange import adopted, borrowed
from semira.backends.cuda.build.generated import Generated
from semira.backends.cuda.build.shop import Shop, check_side, parts
from semira.backends.cuda.lower.context import check_dtype, unsupported
from semira.backends.cuda.runtime.companion_kinds import ENTRY_ROWS
from semira.backends.cuda.runtime.device import Runtime
from semira.backends.cuda.runtime.errors import reported
from semira.backends.cuda.runtime.objects import CudaMatrix, CudaVector
from semira.backends.cuda.runtime.primitives import array_library, offset_type_of, primitives_of
from semira.backends.cuda.runtime.room import require
from semira.backends.cuda.runtime.transfer import full_vector, put_vector
from semira.backends.cuda.runtime.vector_memory import vector_bytes
from semira.base.dtypes import DataType, lookup_dtype
from semira.base.errors import DimensionMismatch, InvalidObject, InvalidValue
from semira.formats import RawArrays, VectorArrays
from semira.formats.index import WIDE, check_range

#: numpy's type of offsets by their C++ type.
OFFSETS: dict[str, np.dtype[Any]] = {"int": np.dtype(np.int32), "long long": np.dtype(np.int64)}


def build(runtime: Runtime, raw: RawArrays) -> CudaVector | CudaMatrix:
    """Check arrays on the device and build an object of them; waits for the number of entries.

    Raises IndexOutOfBound, InvalidIndex, InvalidValue, InvalidObject or DimensionMismatch if the
    arrays do not make an object, NotImplementedException for a size of 2**31 or more, or a dtype
    that the device lacks, and OutOfMemory if building takes more memory than there is; nothing
    was allocated for it.
    """
    what = "building an object of arrays"
    with reported(what), borrowed(runtime, [*raw.indices, raw.values]) as arrays:
        return build_with(shop_of(runtime), raw, arrays[:-1], arrays[-1])


def shop_of(runtime: Runtime) -> Shop:
    """Return the tools for a build on the device."""
    primitives = primitives_of(runtime)
    if primitives.generated is None:
        primitives.generated = Generated(runtime)
    room = partial(require, runtime)
    return Shop(array_library(), runtime, primitives, primitives.generated, room)


def build_with(shop: Shop, raw: RawArrays, indices: list[Any], values: Any) -> Any:
    """Build an object of readable arrays."""
    dtype = raw.dtype or lookup_dtype(values.dtype)
    check_dtype(dtype)
    if dtype.kind == "V":
        unsupported(f"arrays of {dtype} that lie there")
    kind = "vector" if len(raw.shape) == 1 else "matrix"
    layout = "lines" if raw.layout in ("csr", "csc") else raw.layout
    return _BUILDERS[kind, layout](shop, raw, indices, values, dtype)


# entries -----------------------------------------------------------------------------------------
def _vector_of_entries(
    shop: Shop, raw: RawArrays, indices: list[Any], values: Any, dtype: DataType
) -> CudaVector:
    positions = shop.indices(indices[0], "indices")
    size = shop.size(positions, raw.shape[0], "indices")
    lines = compress(shop, (size, 1), (positions, None), values, dtype, raw)
    return _vector(shop, size, dtype, lines)


def _matrix_of_entries(
    shop: Shop, raw: RawArrays, indices: list[Any], values: Any, dtype: DataType
) -> CudaMatrix:
    rows, columns = (
        shop.indices(one, name) for one, name in zip(indices, ("rows", "columns"), strict=True)
    )
    if len(rows) != len(columns):
        raise DimensionMismatch(f"{len(rows)} rows for {len(columns)} columns")
    shape = (shop.size(rows, raw.shape[0], "rows"), shop.size(columns, raw.shape[1], "columns"))
    lines = compress(shop, shape, (rows, columns), values, dtype, raw)
    return _matrix(shop, "csr", shape, dtype, lines)


def _vector(shop: Shop, size: int, dtype: DataType, lines: Lines) -> CudaVector:
    """Return the vector with entries at the sorted positions `lines.rows`."""
    vector, nvals = put_vector(shop.runtime, VectorArrays.empty(size, dtype)), lines.nvals
    memory, words, room = vector.planes[0]
    word, per = words_of(dtype.itemsize)
    target = shop.array(memory, word, size * per).reshape(size, per)
    target[...] = 0
    if nvals:
        count = 1 if lines.is_iso else nvals
        positions = shop.array(lines.rows, np.int32, nvals)
        target[positions] = shop.array(lines.parts[2], word, count * per).reshape(count, per)
        shop.array(room, np.int32, size)[:nvals] = positions
        shop.primitives.set_presence(lines.rows, nvals, words)
    state = np.array([nvals, 0, 1, -1, -1], np.int64)
    shop.runtime.upload(state, vector.state)
    vector.built = nvals
    return vector


def words_of(itemsize: int) -> tuple[np.dtype[Any], int]:
    """Return the widest unsigned integer that values are made of, and how many make one."""
    width = next(width for width in (8, 4, 2, 1) if itemsize % width == 0)
    return np.dtype(f"u{width}"), itemsize // width


def _matrix(
    shop: Shop, orientation: str, sides: tuple[int, int], dtype: DataType, lines: Lines
) -> CudaMatrix:
    """Return the matrix of compressed lines; `sides` are those of the lines."""
    nrows, ncols = sides if orientation == "csr" else sides[::-1]
    rows = {} if lines.rows is None else {(ENTRY_ROWS, orientation): lines.rows}
    return CudaMatrix(
        shop.runtime, nrows, ncols, lines.nvals, dtype, lines.is_iso, None,
        {orientation: lines.parts}, OFFSETS[offset_type_of(lines.nvals)],
        companions=Companions(rows),
    )  # fmt: skip


# compressed lines --------------------------------------------------------------------------------
def _matrix_of_lines(
    shop: Shop, raw: RawArrays, indices: list[Any], values: Any, dtype: DataType
) -> CudaMatrix:
    offsets, minor = shop.indices(indices[0], "indptr"), shop.indices(indices[1], "indices")
    sides, rises = _check_lines(shop, raw, offsets, minor)
    count, kind = len(minor), offset_type_of(len(minor))
    itemsize = dtype.itemsize if values.ndim else 0
    needed = (4 + itemsize) * count + OFFSETS[kind].itemsize * (sides[0] + 1)
    shop.require(0 if raw.owned else needed, f"a matrix of {count} entries")
    if rises:
        keep = partial(adopted, shop.runtime) if raw.owned else None
        parts = (
            _taken(shop, offsets, OFFSETS[kind], keep),
            _taken(shop, minor, np.dtype(np.int32), keep),
            _taken(shop, shop.cast(values, dtype), dtype.np_type, keep if values.ndim else None),
        )
        return _matrix(shop, raw.layout, sides, dtype, Lines(parts, None, count, not values.ndim))
    starts = shop.array(shop.copied(offsets, OFFSETS[kind]), OFFSETS[kind], len(offsets))
    rows = shop.primitives.entry_rows(kind, starts, sides[0], count)
    major = shop.array(rows, np.int32, count)
    lines = compress(shop, sides, (major, minor), values, dtype, raw)
    return _matrix(shop, raw.layout, sides, dtype, lines)


def _taken(shop: Shop, array: Any, dtype: Any, keep: Callable[[Any], Any] | None) -> Any:
    """Return an array as memory of ours: itself if it may be kept and has the dtype."""
    if keep is not None and array.dtype == dtype and array.size:
        return keep(array)
    return shop.copied(array, dtype)


def _check_lines(
    shop: Shop, raw: RawArrays, offsets: Any, minor: Any
) -> tuple[tuple[int, int], bool]:
    """Check compressed lines; return their number and length, and whether indices rise; waits."""
    lines = len(offsets) - 1
    nmajor, nminor = raw.shape if raw.layout == "csr" else raw.shape[::-1]
    is_signed = offsets.dtype.kind == minor.dtype.kind == "i"
    if is_signed and nmajor == lines and nminor is not None and max(lines, nminor) < WIDE:
        faults = shop.primitives.line_faults(offsets, lines, minor, len(minor), nminor)
        if not faults:
            return (lines, nminor), True
    sides = _check_each(shop, raw, offsets, minor)
    return sides, _rises(shop, offsets, minor)


def _check_each(shop: Shop, raw: RawArrays, offsets: Any, minor: Any) -> tuple[int, int]:
    """Return the number of lines and their length; say what is wrong, if it is. Waits."""
    count = len(minor)
    ends = (shop.read(offsets[0]), shop.read(offsets[-1])) if len(offsets) else None
    if ends != (0, count):
        raise InvalidValue(f"indptr must start at 0 and end at {count}, the number of indices")
    if shop.read((offsets[1:] < offsets[:-1]).any()):
        raise InvalidValue("indptr must not decrease")
    nmajor, nminor = raw.shape if raw.layout == "csr" else raw.shape[::-1]
    lines = len(offsets) - 1
    if nmajor is not None and nmajor != lines:
        name = "nrows" if raw.layout == "csr" else "ncols"
        raise InvalidValue(f"{name} must be {lines}, the length of indptr less 1; got {nmajor}")
    low, high = shop.span(minor)
    length = high + 1 if nminor is None else nminor
    if length <= high:
        raise InvalidObject(f"an index reaches {high}, the size there is {length}")
    if count:
        check_range(low, high, length, "indices")
    check_side(lines)
    check_side(length)
    return lines, length


def _rises(shop: Shop, offsets: Any, minor: Any) -> bool:
    count = len(minor)
    if count < 2:
        return True
    falls = shop.xp.zeros(count, bool)
    for part in parts(count - 1):
        after = slice(part.start + 1, part.stop + 1)
        falls[after] = minor[after] <= minor[part]
    starts = offsets[:-1]
    falls[starts[starts < count]] = False
    return not any(shop.read(falls[part].any()) for part in parts(count))


# dense -------------------------------------------------------------------------------------------
def _keeps(shop: Shop, raw: RawArrays, values: Any) -> Any:
    """Return whether each position of a dense array has an entry, None if all have."""
    missing = raw.missing
    if missing is None:
        return None
    is_nan = isinstance(missing, float) and math.isnan(missing)
    return ~shop.xp.isnan(values) if is_nan else values != missing


def _dense_vector(
    shop: Shop, raw: RawArrays, _indices: list[Any], values: Any, dtype: DataType
) -> CudaVector:
    size = values.shape[0]
    check_side(size)
    shop.require(vector_bytes(size, dtype), f"a vector of size {size}")
    values = shop.cast(values, dtype)
    keep = _keeps(shop, raw, values)
    if keep is not None:
        positions = shop.xp.flatnonzero(keep)
        rows = shop.copied(positions, np.int32)
        stored = shop.copied(values[positions], dtype.np_type)
        return _vector(
            shop, size, dtype, Lines((None, None, stored), rows, len(positions), is_iso=False)
        )
    vector = full_vector(shop.runtime, size, dtype)
    shop.array(vector.planes[0][0], dtype.np_type, size)[...] = values
    vector.built = size
    return vector


def _dense_matrix(
    shop: Shop, raw: RawArrays, _indices: list[Any], values: Any, dtype: DataType
) -> CudaMatrix:
    nrows, ncols = values.shape
    check_side(nrows)
    check_side(ncols)
    shop.require(values.size * (dtype.itemsize + 24), f"a {nrows} x {ncols} matrix")
    flat = shop.cast(values, dtype).ravel()
    keep = _keeps(shop, raw, flat)
    at = shop.xp.arange(flat.size) if keep is None else shop.xp.flatnonzero(keep)
    count = len(at)
    rows = shop.copied(at // max(ncols, 1), np.int32)
    columns = shop.copied(at % max(ncols, 1), np.int32)
    kind = offset_type_of(count)
    indptr = shop.primitives.row_offsets(kind, rows, count, nrows)
    stored = shop.copied(flat if keep is None else flat[at], dtype.np_type)
    lines = Lines((indptr, columns, stored), rows, count, is_iso=False)
    return _matrix(shop, "csr", (nrows, ncols), dtype, lines)


_BUILDERS: dict[tuple[str, str], Callable[..., Any]] = {
    ("vector", "coo"): _vector_of_entries, ("matrix", "coo"): _matrix_of_entries,
    ("matrix", "lines"): _matrix_of_lines, ("vector", "dense"): _dense_vector,
    ("matrix", "dense"): _dense_matrix,
}  # fmt: skip
