"""Rows or columns as lines of entries, in arrays of the device."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from semira.backends.cuda.wide.store import CudaStore
from semira.backends.renumbering.objects import (
    Array,
    WideObject,
    from_places,
    true_places,
    with_values,
)
from semira.base.dtypes import DataType


@dataclass(slots=True, eq=False)
class Lines:
    """The entries of an object line by line. Nothing is as long as the object has lines.

    Attributes
    ----------
    store : CudaStore
    x : WideObject
    by_columns : bool
    entries : array
        Which entry of the object, by rows, each one is.
    major, minor : array
        Line of each entry, and position in it.
    line : array
        Number of its line among those with entries.
    starts, lengths : array
        First entry and number of entries of each of these lines.
    place : array
        How many entries of its line come before each entry.
    """

    store: CudaStore
    x: WideObject
    by_columns: bool
    entries: Array
    major: Array
    minor: Array
    line: Array
    starts: Array
    lengths: Array
    place: Array

    @property
    def longest(self) -> int:
        """Entries of the fullest line; waits."""
        return int(self.lengths.max()) if len(self.lengths) else 0

    @property
    def line_length(self) -> int:
        """Positions of a line."""
        return self.x.shape[0 if self.by_columns else -1]

    def values(self) -> Array:
        """Return the values line by line."""
        return self.store.values(self.x.small)[self.entries]

    def made(
        self,
        chosen: Array,
        minor: Array,
        length: int,
        values: Array | None = None,
        dtype: DataType | None = None,
    ) -> WideObject:
        """Return the object with entries `chosen`, line by line, at other positions in their line.

        Parameters
        ----------
        minor : array
            The new positions, rising along each line.
        length : int
            The new length of a line.
        values, dtype : optional
            Their new values; they keep theirs if None.
        """
        source, major = self.entries[chosen], self.major[chosen]
        if self.by_columns:
            order = self.store.library.argsort(minor, kind="stable")
            source, major, minor = source[order], major[order], minor[order]
            values = None if values is None else values[order]
        shape: tuple[int, ...]
        places: tuple[Array, ...]
        if self.x.kind == "vector":
            shape, places = (length,), (minor,)
        elif self.by_columns:
            shape, places = (length, self.x.shape[1]), (minor, major)
        else:
            shape, places = (self.x.shape[0], length), (major, minor)
        made = from_places(self.store, self.x.small, self.x.dtype, shape, places, source)
        if values is None or dtype is None:
            return made
        return with_values(self.store, made, values, dtype)


def lines_of(store: CudaStore, x: WideObject, *, by_columns: bool) -> Lines:
    """Return the rows or columns of an object; waits for the number of lines."""
    library = store.library
    places = true_places(store, x)
    entries = library.arange(len(places[0]), dtype=np.int64)
    major, minor = places[0] * 0, places[-1]
    if len(places) == 2 and by_columns:
        entries = library.argsort(places[1], kind="stable")
        major, minor = places[1][entries], places[0][entries]
    elif len(places) == 2:
        major = places[0]
    count = len(major)
    heads = library.ones(count, np.bool_)
    heads[1:] = major[1:] != major[:-1]
    starts = library.flatnonzero(heads)
    ends = library.concatenate([starts[1:], library.full(min(1, count), count, np.int64)])
    line = library.cumsum(heads, dtype=np.int64) - 1
    place = library.arange(count, dtype=np.int64) - starts[line]
    is_columns = by_columns and x.kind == "matrix"
    return Lines(store, x, is_columns, entries, major, minor, line, starts, ends - starts, place)


def by_rows(store: CudaStore, x: WideObject, *, transposed: bool) -> WideObject:
    """Return an object as the statement sees it: transposed, its entries in order."""
    if not transposed:
        return x
    rows, cols = true_places(store, x)
    order = store.library.argsort(cols, kind="stable")
    places = (cols[order], rows[order])
    return from_places(store, x.small, x.dtype, x.shape[::-1], places, order)


def reversed_along(lines: Lines, chosen: Any, lengths: Array, line: Array, place: Array) -> Array:
    """Return entries turned around in each line.

    Parameters
    ----------
    chosen : array
        Entries, line by line.
    lengths : array
        How many of each line there are.
    line, place : array
        Of each position in `chosen`: its line, and how many are before it there.
    """
    starts = lines.store.library.cumsum(lengths) - lengths
    return chosen[starts[line] + lengths[line] - 1 - place]
