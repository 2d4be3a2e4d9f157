"""Building compressed formats from entries in any order.

A matrix is sorted by two stable counting sorts (columns, then rows), each one pass of SciPy's
compiled conversion: O(nnz + nrows + ncols), no comparison sort. Many entries are first dealt out,
in order, to blocks of neighbouring rows: a block's scatter targets then stay in the caches, and
the blocks are sorted by several threads.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from semira.base.dtypes import DataType, lookup_dtype
from semira.base.errors import InvalidValue
from semira.base.settings import settings
from semira.formats.index import index_dtype, offset_dtype
from semira.formats.matrix import MatrixArrays, is_hypersparse
from semira.formats.vector import VectorArrays

#: Folds runs of values that share a position: (values, start of each run) -> one value a run.
Merge = Callable[[NDArray[Any], NDArray[Any]], NDArray[Any]]

#: Above this many buckets per entry a comparison sort is cheaper than a counting sort.
_SPARSE_KEYS = 8

#: Entries a block should hold: what it scatters to then fits in a core's share of the cache.
BLOCK_ENTRIES = 2**19

#: More blocks than this, and dealing the entries out costs more than the sorting gains.
_MAX_BLOCKS = 64


class _Sorted(NamedTuple):
    """Entries sorted by row, then column, then order given; repeats are still there."""

    indptr: NDArray[Any]
    indices: NDArray[Any]
    values: NDArray[Any] | None
    #: Rows that have entries, if only these have offsets.
    majors: NDArray[Any] | None
    #: Whether each entry is the first at its position.
    fresh: NDArray[np.bool_]


def _counting_sort(
    rows: NDArray[Any], cols: NDArray[Any], payload: NDArray[Any], shape: tuple[int, int]
) -> Any:
    """Return a SciPy COO array whose conversions keep repeats, in the order they were given."""
    from scipy.sparse import coo_array

    table = coo_array((payload, (rows, cols)), shape=shape)
    table.has_canonical_format = True
    return table


def _stable_order(keys: NDArray[Any], size: int) -> NDArray[Any]:
    """Return the stable sorting permutation of `keys` < `size`."""
    count = len(keys)
    if size > _SPARSE_KEYS * count + 1024:
        return np.argsort(keys, kind="stable")
    positions = np.arange(count, dtype=offset_dtype(count))
    order: NDArray[Any] = (
        _counting_sort(keys, positions, positions, (size, max(count, 1))).tocsr().data
    )
    return order


def _is_fresh(*sorted_keys: NDArray[Any]) -> NDArray[np.bool_]:
    """Return whether each of the sorted (tuples of) keys differs from the one before it."""
    fresh = np.zeros(len(sorted_keys[0]), bool)
    fresh[:1] = True
    for keys in sorted_keys:
        fresh[1:] |= keys[1:] != keys[:-1]
    return fresh


def _merge_runs(values: NDArray[Any], starts: NDArray[Any], merge: Merge | None) -> NDArray[Any]:
    """Fold each run of `values`; nothing to do if every run has one value."""
    num_repeats = len(values) - len(starts)
    if num_repeats == 0:
        return values
    if merge is None:
        raise InvalidValue(
            f"Duplicate indices found, must provide `dup_op` BinaryOp "
            f"({num_repeats} of {len(values)} entries repeat a position)"
        )
    return merge(values, starts)


def _block_shift(nrows: int, ncols: int, count: int) -> int:
    """Return the binary logarithm of the number of rows in a block."""
    # Every block passes once over offsets of all columns: keep that below the work on entries.
    wanted = max(1, min(_MAX_BLOCKS, count // BLOCK_ENTRIES, 2 * count // max(ncols, 1)))
    return max(0, (-(-nrows // wanted) - 1).bit_length())


def _sort_dense(
    rows: NDArray[Any], cols: NDArray[Any], values: NDArray[Any] | None, shape: tuple[int, int]
) -> _Sorted:
    """Sort entries by counting, block by block in threads if there are many."""
    count, (nrows, ncols) = len(rows), shape
    shift = _block_shift(nrows, ncols, count)
    out = _Sorted(
        np.zeros(nrows + 1, offset_dtype(count)),
        np.empty(count, rows.dtype),
        None if values is None else np.empty_like(values),
        None,
        np.zeros(count, bool),
    )

    def sort(first: int, place: slice, rows: Any, cols: Any, values: Any = None) -> None:
        num_rows = min(1 << shift, nrows - first)
        payload = np.ones(len(rows), bool) if values is None else values
        table = _counting_sort(rows - first, cols, payload, (num_rows, ncols)).tocsc().tocsr()
        out.indices[place] = table.indices
        if out.values is not None:
            out.values[place] = table.data
        out.indptr[first + 1 : first + num_rows + 1] = table.indptr[1:] + place.start
        fresh = out.fresh[place]
        fresh[1:] = table.indices[1:] != table.indices[:-1]
        fresh[table.indptr[:-1][table.indptr[:-1] < table.indptr[1:]]] = True

    if nrows <= 1 << shift:
        sort(0, slice(0, count), rows, cols, values)
        return out
    block_of = rows >> shift

    def deal(payload: NDArray[Any]) -> Any:
        return _counting_sort(block_of, cols, payload, (-(-nrows >> shift), ncols)).tocsr()

    def sort_block(block: int) -> None:
        place = slice(int(offsets[block]), int(offsets[block + 1]))
        mine = [payload[place] for payload in payloads]
        sort(block << shift, place, mine[0], minors[place], *mine[1:])

    with ThreadPoolExecutor(settings().threads) as pool:
        dealt = list(pool.map(deal, [rows] if values is None else [rows, values]))
        offsets, minors = dealt[0].indptr, dealt[0].indices
        payloads = [table.data for table in dealt]
        # Every table holds the columns: one copy is enough.
        dealt.clear()
        list(pool.map(sort_block, range(len(offsets) - 1)))
    return out


def _sort_sparse(
    rows: NDArray[Any], cols: NDArray[Any], values: NDArray[Any] | None, nrows: int
) -> _Sorted:
    """Sort few entries of a huge shape by comparison; a hypersparse result lists its rows."""
    order = np.lexsort((cols, rows))
    rows, cols = rows[order], cols[order]
    firsts = np.flatnonzero(_is_fresh(rows))
    majors: NDArray[Any] | None = rows[firsts]
    indptr: NDArray[Any] = np.append(firsts, len(rows)).astype(offset_dtype(len(rows)))
    if not is_hypersparse(nrows, len(rows)):
        counts = np.diff(indptr)
        indptr = np.zeros(nrows + 1, indptr.dtype)
        indptr[rows[firsts] + 1] = counts
        np.cumsum(indptr, out=indptr)
        majors = None
    sorted_values = None if values is None else values[order]
    return _Sorted(indptr, cols, sorted_values, majors, _is_fresh(rows, cols))


def _merge_entries(entries: _Sorted, merge: Merge | None) -> _Sorted:
    """Make each position unique."""
    if entries.fresh.all():
        return entries
    values = entries.values
    if values is not None:
        values = _merge_runs(values, np.flatnonzero(entries.fresh), merge)
    before = np.zeros(len(entries.fresh) + 1, entries.indptr.dtype)
    np.cumsum(entries.fresh, out=before[1:])
    return entries._replace(
        indptr=before[entries.indptr], indices=entries.indices[entries.fresh], values=values
    )


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

    Notes
    -----
    O(nnz + nrows + ncols) time, in ``settings().threads`` threads from about a million entries
    on; about 30 bytes per entry plus the values. The result does not depend on the number of
    threads.

    Examples
    --------
    >>> matrix = coo_to_matrix(2, 3, np.array([1, 0, 1]), np.array([2, 1, 0]), np.array([5, 6, 7]))
    >>> matrix.indptr.tolist(), matrix.indices.tolist(), matrix.values.tolist()
    ([0, 1, 3], [1, 0, 2], [6, 7, 5])
    """
    if dtype is None:
        dtype = lookup_dtype(np.asarray(iso_value).dtype if values is None else values.dtype)
    narrow = index_dtype(nrows, ncols)
    rows, cols = rows.astype(narrow, copy=False), cols.astype(narrow, copy=False)
    if max(nrows, ncols) > _SPARSE_KEYS * len(rows) + 1024:
        entries = _sort_sparse(rows, cols, values, nrows)
    else:
        entries = _sort_dense(rows, cols, values, (nrows, ncols))
    entries = _merge_entries(entries, merge)
    stored = np.full(1, iso_value) if entries.values is None else entries.values
    return MatrixArrays(
        nrows,
        ncols,
        dtype,
        "csr",
        entries.indptr.astype(offset_dtype(len(entries.indices)), copy=False),
        entries.indices,
        stored.astype(dtype.np_type, copy=False),
        values is None,
        majors=entries.majors,
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
    order = _stable_order(indices, size)
    indices = indices[order].astype(index_dtype(size), copy=False)
    starts = np.flatnonzero(_is_fresh(indices))
    stored = np.full(1, iso_value) if values is None else _merge_runs(values[order], starts, merge)
    return VectorArrays.sparse(
        size, dtype, indices[starts], stored.astype(dtype.np_type, copy=False), iso=values is None
    )
