"""Bytes that each storage format takes, as functions of the matrix' numbers alone."""

from __future__ import annotations

from collections.abc import Iterable

from semira.formats.index import index_dtype, offset_dtype


def coo_bytes(nrows: int, ncols: int, nvals: int, value_bytes: int, *, iso: bool = False) -> int:
    """Return the bytes of coordinate entries: two indices and a value each.

    Examples
    --------
    >>> coo_bytes(1000, 1000, 5000, 8)
    80000
    """
    return 2 * nvals * _index_bytes(nrows, ncols) + _values(nvals, value_bytes, iso)


def csr_bytes(nrows: int, ncols: int, nvals: int, value_bytes: int, *, iso: bool = False) -> int:
    """Return the bytes of compressed rows: an offset for each row, an index and a value an entry.

    Examples
    --------
    >>> csr_bytes(1000, 1000, 5000, 8)
    64004
    """
    offsets = (nrows + 1) * offset_dtype(nvals).itemsize
    return offsets + nvals * _index_bytes(nrows, ncols) + _values(nvals, value_bytes, iso)


def csc_bytes(nrows: int, ncols: int, nvals: int, value_bytes: int, *, iso: bool = False) -> int:
    """Return the bytes of compressed columns: those of the transpose's rows."""
    return csr_bytes(ncols, nrows, nvals, value_bytes, iso=iso)


def ell_bytes(
    nrows: int,
    ncols: int,
    widths: Iterable[int],
    value_bytes: int,
    *,
    slice_rows: int | None = None,
    lengths: bool = False,
    iso: bool = False,
) -> int:
    """Return the bytes of ELL: `slice_rows` times the width of each slice, an index and a value.

    Parameters
    ----------
    nrows, ncols : int
    widths : iterable of int
        Entries of the longest row of each slice, rounded up if rows are padded; whole-matrix ELL
        has one slice (none if there are no rows).
    value_bytes : int
    slice_rows : int, optional
        Rows of a slice; None: all.
    lengths : bool
        Each row's number of entries is kept (ELL-R).
    iso : bool
        All entries share one value.

    Examples
    --------
    >>> ell_bytes(1000, 1000, [12], 8), ell_bytes(64, 64, [12, 3], 8, slice_rows=32)
    (144008, 5772)
    """
    given = list(widths)
    slots = max(1, nrows if slice_rows is None else slice_rows) * sum(given)
    index = _index_bytes(nrows, ncols)
    starts = (len(given) + 1) * offset_dtype(slots).itemsize
    return starts + slots * index + nrows * index * lengths + _values(slots, value_bytes, iso)


def dense_bytes(
    nrows: int,
    ncols: int,
    value_bytes: int,
    *,
    full: bool = True,
    iso: bool = False,
    bits: bool = False,
) -> int:
    """Return the bytes of a dense matrix: a value for each position, and its presence.

    Parameters
    ----------
    nrows, ncols : int
    value_bytes : int
    full : bool
        Every entry is there: presence is not kept.
    iso : bool
        All entries share one value.
    bits : bool
        Presence is a bit each, of every row in words of 32, as on the GPU; else a byte.

    Examples
    --------
    >>> dense_bytes(1000, 1000, 8), dense_bytes(1000, 1000, 8, full=False)
    (8000000, 9000000)
    >>> dense_bytes(1000, 1000, 8, full=False, bits=True)
    8128000
    """
    presence = 4 * nrows * -(-ncols // 32) if bits else nrows * ncols
    return _values(nrows * ncols, value_bytes, iso) + (0 if full else presence)


def _index_bytes(nrows: int, ncols: int) -> int:
    return index_dtype(nrows, ncols).itemsize


def _values(count: int, value_bytes: int, iso: bool) -> int:
    return value_bytes * (1 if iso else count)
