"""Building compressed formats from entries in any order.

The entries are first dealt out, in order, to blocks of neighbouring rows. Each block is then
sorted by radix (columns, then rows, 16 bits at a time), its repeats are folded, and the result
takes the place of the block's entries: beside the arrays that become the matrix there is only a
row number per entry, and what the few blocks at work need. Blocks are dealt and sorted by several
threads, and are small enough for a core's caches.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from semira.base.dtypes import DataType, lookup_dtype
from semira.base.errors import InvalidValue
from semira.base.memory import require_bytes
from semira.base.settings import settings
from semira.formats.index import index_dtype, offset_dtype
from semira.formats.matrix import MatrixArrays, is_hypersparse
from semira.formats.vector import VectorArrays

#: Folds runs of values that share a position: (values, start of each run) -> one value a run.
Merge = Callable[[NDArray[Any], NDArray[Any]], NDArray[Any]]

#: Entries a block should hold: sorting it stays within a core's cache.
BLOCK_ENTRIES = 2**16

#: Blocks at most; a block's number fits in a byte, which NumPy sorts in one pass.
_MAX_BLOCKS = 128

#: Binary logarithm of the number of equal ranges of rows that blocks are put together from.
_BUCKET_BITS = 12

#: Bits of a key that one pass sorts by; NumPy's stable sort is a radix sort up to there.
_DIGIT_BITS = 16

T = TypeVar("T")


class _Entries(NamedTuple):
    """Entries in any order."""

    rows: NDArray[Any]
    cols: NDArray[Any]
    values: NDArray[Any] | None


class _Sorted(NamedTuple):
    """Entries by key."""

    keys: NDArray[Any]
    #: The given array itself if it was in order.
    values: NDArray[Any] | None
    #: Entries beyond the first with a key.
    num_repeats: int


class _Dealt(NamedTuple):
    """Entries by block, in the order given within each."""

    #: Lowest bits of the rows, as many as tell the rows of a block apart.
    rows: NDArray[Any]
    cols: NDArray[Any]
    values: NDArray[Any] | None
    #: Where each block's entries begin, and the number of entries.
    offsets: list[int]
    #: The first row of each block, and the number of rows.
    firsts: list[int]


class _Lines:
    """Counts entries by row: offsets of every row, or (hypersparse) a list of the rows in use."""

    def __init__(self, nrows: int, count: int) -> None:
        self._is_hyper = is_hypersparse(nrows, count)
        self._indptr: NDArray[Any] = np.zeros(
            1 if self._is_hyper else nrows + 1, offset_dtype(count)
        )
        self._listed: dict[int, tuple[NDArray[Any], NDArray[Any]]] = {}

    def add(self, first: int, rows: NDArray[Any]) -> None:
        """Count sorted rows, numbered from `first` on. Threads may add disjoint ranges of rows."""
        starts = np.flatnonzero(_is_fresh(rows))
        lengths = np.diff(starts, append=len(rows))
        listed = rows[starts].astype(np.int64) + first
        if self._is_hyper:
            self._listed[first] = listed, lengths
        else:
            self._indptr[listed + 1] = lengths

    def finish(self, index: np.dtype[Any]) -> tuple[NDArray[Any], NDArray[Any] | None]:
        """Return offsets and, if hypersparse, the rows they belong to."""
        if not self._is_hyper:
            return np.cumsum(self._indptr, out=self._indptr), None
        parts = [self._listed[first] for first in sorted(self._listed)]
        majors = np.concatenate([majors for majors, _ in parts]).astype(index, copy=False)
        lengths = np.concatenate([self._indptr, *(lengths for _, lengths in parts)])
        return np.cumsum(lengths, dtype=self._indptr.dtype), majors


class _Built(NamedTuple):
    """A csr matrix whose offsets are not summed up yet."""

    lines: _Lines
    indices: NDArray[Any]
    values: NDArray[Any] | None


def _is_fresh(keys: NDArray[Any]) -> NDArray[np.bool_]:
    """Return whether each of the sorted keys differs from the one before it."""
    fresh = np.ones(len(keys), bool)
    np.not_equal(keys[1:], keys[:-1], out=fresh[1:])
    return fresh


def radix_order(keys: NDArray[Any], bits: int) -> NDArray[np.intp]:
    """Return the stable sorting permutation of unsigned keys of `bits` bits."""
    order: NDArray[np.intp] = np.argsort(keys.astype(np.uint16), kind="stable")
    for shift in range(_DIGIT_BITS, bits, _DIGIT_BITS):
        digits = (keys >> shift).astype(np.uint16)[order]
        order = order[np.argsort(digits, kind="stable")]
    return order


def _sort_keys(
    keys: NDArray[Any], bits: int, values: NDArray[Any] | None, merge: Merge | None
) -> _Sorted:
    """Sort entries by key and fold repeats, which stay if there are values and no `merge`."""
    if len(keys) < 2:
        return _Sorted(keys, values, 0)
    if not bool(np.all(keys[1:] >= keys[:-1])):
        order = radix_order(keys, bits)
        keys = keys[order]
        values = None if values is None else values[order]
    fresh = _is_fresh(keys)
    num_repeats = len(keys) - int(np.count_nonzero(fresh))
    if num_repeats and values is None:
        keys = keys[fresh]
    elif num_repeats and values is not None and merge is not None:
        keys, values = keys[fresh], merge(values, np.flatnonzero(fresh))
    return _Sorted(keys, values, num_repeats)


def _sort_block(
    rows: NDArray[Any], cols: NDArray[Any], values: NDArray[Any] | None, merge: Merge | None
) -> tuple[NDArray[Any], NDArray[Any], _Sorted]:
    """Return the rows and columns of the sorted entries, and what `_sort_keys` returns."""
    if len(rows) == 0:
        return rows, cols, _Sorted(rows, values, 0)
    # Neighbouring rows of many graphs meet near columns: a narrow range takes fewer passes.
    left = int(cols.min())
    width = (int(cols.max()) - left).bit_length()
    bits = int(rows.max()).bit_length() + width
    if bits > 64:
        (row_names, rows), (col_names, cols) = (
            np.unique(names, return_inverse=True) for names in (rows, cols)
        )
        rows, cols, made = _sort_block(rows, cols, values, merge)
        return row_names[rows], col_names[cols], made
    keys: NDArray[Any] = rows.astype(np.uint32 if bits <= 32 else np.uint64)
    keys <<= width
    keys |= (cols - left).astype(keys.dtype, copy=False)
    made = _sort_keys(keys, bits, values, merge)
    columns = (made.keys & ((1 << width) - 1)).astype(cols.dtype)
    columns += left
    return made.keys >> width, columns, made


def check_repeats(num_repeats: int, count: int, *, may_fold: bool) -> None:
    """Refuse repeated positions that nothing folds.

    Raises InvalidValue if there are some; the message says how many.
    """
    if num_repeats and not may_fold:
        raise InvalidValue(
            f"Duplicate indices found, must provide `dup_op` BinaryOp "
            f"({num_repeats} of {count} entries repeat a position)"
        )


def _map(task: Callable[[int], T], count: int) -> list[T]:
    """Return ``task(0)``, ``task(1)``, ... from several threads."""
    with ThreadPoolExecutor(max(1, min(settings().threads, count))) as pool:
        return list(pool.map(task, range(count)))


def _deal(given: _Entries, shape: tuple[int, int]) -> _Dealt:
    """Deal entries out to blocks of neighbouring rows with about equally many entries."""
    rows, cols, values = given
    count, nrows = len(rows), shape[0]
    wanted = max(BLOCK_ENTRIES, -(-count // _MAX_BLOCKS))
    parts = [slice(start, start + wanted) for start in range(0, count, wanted)]
    shift = max(0, (nrows - 1).bit_length() - _BUCKET_BITS)
    num_buckets = ((nrows - 1) >> shift) + 1

    def count_buckets(part: int) -> NDArray[Any]:
        buckets = (rows[parts[part]] >> shift).astype(np.intp)
        return np.bincount(buckets, minlength=num_buckets).astype(offset_dtype(wanted))

    tally = np.stack(_map(count_buckets, len(parts)))
    sizes = tally.sum(axis=0, dtype=np.int64)
    # A bucket belongs to the block that its first entry falls into.
    opens = np.flatnonzero(_is_fresh((np.cumsum(sizes) - sizes) // wanted))
    block_of = np.repeat(np.arange(len(opens), dtype=np.uint8), np.diff(opens, append=num_buckets))
    tally = np.add.reduceat(tally, opens, axis=1, dtype=np.int64)
    offsets = [0, *np.cumsum(tally.sum(axis=0)).tolist()]
    firsts = [*(opens << shift).tolist(), nrows]
    # Where the entries of a part go in each block.
    targets = np.array(offsets[:-1]) + np.cumsum(tally, axis=0) - tally

    span = max(after - first for first, after in pairwise(firsts))
    local, index = np.min_scalar_type(span - 1), index_dtype(*shape)
    width = local.itemsize + index.itemsize + (0 if values is None else values.itemsize)
    require_bytes(count * width, f"a matrix of {count} entries, repeats included,")
    out = _Dealt(
        np.empty(count, local),
        np.empty(count, index),
        None if values is None else np.empty_like(values),
        offsets,
        firsts,
    )
    arrays = ((rows, out.rows), (cols, out.cols), (values, out.values))

    def deal(part: int) -> None:
        order = np.argsort(block_of[rows[parts[part]] >> shift], kind="stable")
        moved = [
            (array[parts[part]].astype(to.dtype, copy=False)[order], to)
            for array, to in arrays
            if array is not None and to is not None
        ]
        at = 0
        for block in np.flatnonzero(tally[part]).tolist():
            size, start = int(tally[part, block]), int(targets[part, block])
            for entries, to in moved:
                to[start : start + size] = entries[at : at + size]
            at += size

    _map(deal, len(parts))
    return out


def _close_gaps(array: NDArray[Any], starts: Sequence[int], lengths: Sequence[int]) -> None:
    """Shorten an array, in place, to the runs that start and are as long as told."""
    end = 0
    for start, length in zip(starts, lengths, strict=True):
        if end < start:
            array[end : end + length] = array[start : start + length]
        end += length
    # There are no views left; a debugger's references to finished calls must not count.
    array.resize(end, refcheck=False)


def _compress(
    dealt: _Dealt, stored: NDArray[Any] | None, merge: Merge | None, lines: _Lines
) -> tuple[int, list[int]]:
    """Sort every block in its place; return the number of repeats, and of entries kept of each."""
    offsets, firsts, local = dealt.offsets, dealt.firsts, dealt.rows.dtype
    lowest = (1 << 8 * local.itemsize) - 1

    def sort(block: int) -> tuple[int, int]:
        place = slice(offsets[block], offsets[block + 1])
        rows, cols, made = _sort_block(
            dealt.rows[place] - local.type(firsts[block] & lowest),
            dealt.cols[place],
            None if dealt.values is None else dealt.values[place],
            merge,
        )
        kept = slice(place.start, place.start + len(rows))
        dealt.cols[kept] = cols
        if stored is not None:
            stored[kept] = made.values
        lines.add(firsts[block], rows)
        return made.num_repeats, len(rows)

    done = _map(sort, len(firsts) - 1)
    return sum(repeats for repeats, _ in done), [kept for _, kept in done]


def _build_blocks(
    given: _Entries, shape: tuple[int, int], dtype: np.dtype[Any], merge: Merge | None
) -> _Built:
    """Sort entries block by block; for many of them."""
    count, may_fold = len(given.rows), given.values is None or merge is not None
    lines = _Lines(shape[0], count)
    dealt = _deal(given, shape)
    stored = dealt.values
    if stored is not None and stored.dtype != dtype:
        # Repeats fold in the dtype they came in, so a cast needs another array.
        stored = np.empty(count, dtype)
    num_repeats, kept = _compress(dealt, stored, merge, lines)
    check_repeats(num_repeats, count, may_fold=may_fold)
    offsets, indices = dealt.offsets[:-1], dealt.cols
    del dealt
    for array in (indices, stored):
        if array is not None and num_repeats:
            _close_gaps(array, offsets, kept)
    return _Built(lines, indices, stored)


def _build_one(
    given: _Entries, shape: tuple[int, int], dtype: np.dtype[Any], merge: Merge | None
) -> _Built:
    """Sort few entries, or a single row."""
    count, may_fold = len(given.rows), given.values is None or merge is not None
    lines = _Lines(shape[0], count)
    rows, cols, made = _sort_block(*given, merge)
    check_repeats(made.num_repeats, count, may_fold=may_fold)
    lines.add(0, rows)
    indices = cols.astype(index_dtype(*shape), copy=cols is given.cols)
    return _Built(lines, indices, _own(made.values, given.values, dtype))


def _own(
    array: NDArray[Any] | None, given: NDArray[Any] | None, dtype: np.dtype[Any]
) -> NDArray[Any] | None:
    """Return values of `dtype` that are not the caller's."""
    return None if array is None else array.astype(dtype, copy=array is given)


def _iso_of(value: Any, dtype: DataType) -> NDArray[Any]:
    return np.full(1, value).astype(dtype.array_dtype, copy=False)


def coo_to_matrix(
    nrows: int,
    ncols: int,
    rows: NDArray[Any],
    cols: NDArray[Any],
    values: NDArray[Any] | None,
    *,
    dtype: DataType | None = None,
    iso_value: Any = 1,
    merge: Merge | None = None,
) -> MatrixArrays:
    """Return the csr matrix of entries in any order.

    Parameters
    ----------
    nrows, ncols : int
        Shape.
    rows, cols : ndarray of integers, shape (nnz,)
        Positions, already checked to lie inside the shape.
    values : ndarray, shape (nnz,), or None
        None makes an iso matrix of `iso_value` whose repeats collapse into one entry.
    dtype : DataType, optional
        Dtype of the result; that of `values` if None.
    iso_value : scalar
        The single value of an iso matrix.
    merge : callable, optional
        Folds the values of repeated positions, in the order they were given.

    Returns
    -------
    MatrixArrays
        Rows sorted, no repeats; hypersparse if `is_hypersparse` says so.

    Raises
    ------
    InvalidValue
        A position repeats, there are values, and `merge` is None.
    OutOfMemory
        The entries do not fit beside those given.

    Notes
    -----
    O(nnz log(nrows ncols)) time, by radix: three or four passes over the entries of most graphs;
    in ``settings().threads`` threads from 2**16 entries on. Besides the given arrays it takes the
    memory of the result before repeats fold and 2 bytes per entry (4 where fewer than one row in
    two has an entry), and 40 bytes for each entry of the blocks at work: one block a thread, of
    2**16 entries, a 128th of all entries, or the longest row. The result does not depend on the
    number of threads.

    Examples
    --------
    >>> matrix = coo_to_matrix(2, 3, np.array([1, 0, 1]), np.array([2, 1, 0]), np.array([5, 6, 7]))
    >>> matrix.indptr.tolist(), matrix.indices.tolist(), matrix.values.tolist()
    ([0, 1, 3], [1, 0, 2], [6, 7, 5])
    """
    if dtype is None:
        dtype = lookup_dtype(np.asarray(iso_value).dtype if values is None else values.dtype)
    # A row is never cut: a single one is one block.
    build = _build_one if len(rows) <= BLOCK_ENTRIES or nrows == 1 else _build_blocks
    lines, indices, kept = build(
        _Entries(rows, cols, values), (nrows, ncols), dtype.array_dtype, merge
    )
    indptr, majors = lines.finish(indices.dtype)
    return MatrixArrays(
        nrows,
        ncols,
        dtype,
        "csr",
        indptr.astype(offset_dtype(len(indices)), copy=False),
        indices,
        _iso_of(iso_value, dtype) if kept is None else kept,
        values is None,
        majors=majors,
    )


def coo_to_vector(
    size: int,
    indices: NDArray[Any],
    values: NDArray[Any] | None,
    *,
    dtype: DataType | None = None,
    iso_value: Any = 1,
    merge: Merge | None = None,
) -> VectorArrays:
    """Return the sparse vector of entries in any order; see `coo_to_matrix`."""
    if dtype is None:
        dtype = lookup_dtype(np.asarray(iso_value).dtype if values is None else values.dtype)
    bits = max(size - 1, 0).bit_length()
    keys = indices.astype(np.uint32 if bits <= 32 else np.uint64)
    made = _sort_keys(keys, bits, values, merge)
    check_repeats(made.num_repeats, len(keys), may_fold=values is None or merge is not None)
    kept = _own(made.values, values, dtype.array_dtype)
    return VectorArrays.sparse(
        size,
        dtype,
        made.keys.astype(index_dtype(size)),
        _iso_of(iso_value, dtype) if kept is None else kept,
        iso=values is None,
    )
