"""Bytes that compressed rows and columns take, as functions of the matrix' numbers alone."""

from __future__ import annotations

from semira.formats.index import index_dtype, offset_dtype


def csr_bytes(nrows: int, ncols: int, nvals: int, value_bytes: int, *, iso: bool = False) -> int:
    """Return the bytes of compressed rows: an offset for each row, an index and a value an entry.

    Examples
    --------
    >>> csr_bytes(1000, 1000, 5000, 8)
    64004
    """
    offsets = (nrows + 1) * offset_dtype(nvals).itemsize
    return offsets + nvals * index_bytes(nrows, ncols) + values_bytes(nvals, value_bytes, iso)


def index_bytes(nrows: int, ncols: int) -> int:
    """Return the bytes of an index."""
    return index_dtype(nrows, ncols).itemsize


def values_bytes(count: int, value_bytes: int, iso: bool) -> int:
    """Return the bytes of `count` values, or of the one that all share."""
    return value_bytes * (1 if iso else count)
