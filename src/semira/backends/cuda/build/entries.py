"""Entries in any order as compressed lines: sorted by packed keys, repeats folded."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from semira.backends.cuda.build.shop import Shop
from semira.backends.cuda.runtime.parts import Buffer
from semira.backends.cuda.runtime.primitives import offset_type_of
from semira.backends.cuda.runtime.vector_memory import vector_bytes
from semira.base.dtypes import DataType
from semira.formats import RawArrays
from semira.formats.build import check_repeats

#: Bytes per entry at the worst moment of a build beside the given arrays: keys and their sorted
#: copy, twice that in the sort, running sums, positions of the result.
_SORT_FACTOR, _PERMUTATION = 3, 24


class Lines(NamedTuple):
    """Compressed lines of a matrix; of a vector (one line) only `rows` counts."""

    parts: tuple[Any, Any, Any]
    rows: Any
    nvals: int
    is_iso: bool


class Ordered(NamedTuple):
    """Entries sorted by key."""

    keys: Any
    key_type: Any
    #: Entries given, and positions among them.
    given: int
    nvals: int
    #: Where each entry came from, if anybody needs it.
    order: Buffer | None
    #: Where the entries of a position go; no `places` if no position repeats.
    offset_type: str
    places: Any


def bits_of(size: int) -> int:
    """Return the bits that positions below `size` take."""
    return max(size - 1, 0).bit_length()


def key_type_of(bits: int) -> Any:
    """Return the narrowest type of keys of `bits` bits."""
    return np.uint32 if bits <= 32 else np.uint64


def needed_bytes(count: int, bits: int, itemsize: int) -> int:
    """Return the bytes that building takes at most; 0 bytes a value if all share one."""
    key = np.dtype(key_type_of(bits)).itemsize
    places = 4 if offset_type_of(count) == "int" else 8
    permutation = _PERMUTATION if itemsize else 0
    return count * (_SORT_FACTOR * key + permutation + places + 8 + itemsize)


def compress(
    shop: Shop, sides: tuple[int, int], positions: tuple[Any, Any], values: Any, dtype: DataType,
    raw: RawArrays,
) -> Lines:  # fmt: skip
    """Return entries (major, minor) in any order as lines of `sides[0]` majors."""
    major, minor = positions
    count, bits = len(major), bits_of(sides[1])
    total = bits_of(sides[0]) + bits
    needed = needed_bytes(count, total, values.ndim and dtype.itemsize) + 8 * (sides[0] + 1)
    shop.require(needed, f"building a matrix of {count} entries")
    primitives = shop.primitives
    keys = primitives.pack_keys(
        (major, major.itemsize), (minor, minor.itemsize), count, bits, key_type_of(total)
    )
    found = order(shop, keys, count, key_type_of(total), with_origin=values.ndim > 0)
    del keys
    stored = fold(shop, found, values, dtype, raw)
    rows, indices = primitives.unpack_keys(
        found.keys, count, bits, found.key_type, found.places, found.nvals,
        offset_type=found.offset_type,
    )  # fmt: skip
    offset_type = offset_type_of(found.nvals)
    indptr = primitives.row_offsets(offset_type, rows, found.nvals, sides[0])
    return Lines((indptr, indices, stored), rows, found.nvals, values.ndim == 0)


def listed(
    shop: Shop, size: int, positions: Any, values: Any, dtype: DataType, raw: RawArrays
) -> Lines:
    """Return entries at `positions` in any order as those of a vector."""
    count, bits = len(positions), bits_of(size)
    needed = needed_bytes(count, bits, values.ndim and dtype.itemsize)
    shop.require(needed + vector_bytes(size, dtype), f"building a vector of {count} entries")
    keys = shop.primitives.pack_keys((positions, positions.itemsize), None, count, 0, np.uint32)
    found = order(shop, keys, count, np.uint32, with_origin=values.ndim > 0)
    del keys
    stored = fold(shop, found, values, dtype, raw)
    rows, _ = shop.primitives.unpack_keys(
        found.keys, count, 0, np.uint32, found.places, found.nvals, offset_type=found.offset_type
    )
    return Lines((None, None, stored), rows, found.nvals, values.ndim == 0)


def order(shop: Shop, keys: Any, count: int, key_type: Any, *, with_origin: bool) -> Ordered:
    """Sort keys and count those that differ; waits."""
    primitives, origin = shop.primitives, None
    if with_origin:
        origin = primitives.order_of(keys, count, key_type)
        keys = primitives.reorder(keys, origin, count, np.dtype(key_type).itemsize)
    else:
        primitives.sort_in_place(keys, count, key_type)
    kind, places, nvals = primitives.mark_heads(keys, count, key_type)
    return Ordered(keys, key_type, count, nvals, origin, kind, places if nvals < count else None)


def fold(shop: Shop, found: Ordered, values: Any, dtype: DataType, raw: RawArrays) -> Any:
    """Return the values of sorted entries, one per position, in memory of ours.

    Raises InvalidValue if a position repeats and nothing folds its values.
    """
    values = shop.cast(values, dtype)
    if values.ndim == 0:
        return shop.copied(values, dtype.np_type)
    op = None if raw.fold is None else raw.fold(dtype)
    check_repeats(found.given - found.nvals, found.given, may_fold=op is not None)
    primitives, origin, itemsize = shop.primitives, found.order, dtype.itemsize
    if op is None or found.places is None:
        return primitives.reorder(values, origin, found.given, itemsize)
    starts = primitives.heads(found.offset_type, found.places, found.given, found.nvals)
    if op.name in ("first", "any", "second"):
        if op.name == "second":
            # The last entry of every run.
            ends = shop.xp.full(found.nvals, found.given - 1, np.int64)
            ends[:-1] = shop.array(starts, np.int64, found.nvals)[1:] - 1
            starts = ends
        origin = primitives.reorder(origin, starts, found.nvals, 8)
        return primitives.reorder(values, origin, found.nvals, itemsize)
    made = shop.runtime.allocate(itemsize * found.nvals)
    shop.generated.fold(op, dtype, found.nvals, found.given, values, origin, starts, made)
    return made
