"""Rows or columns as lines of entries, in arrays of the device."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from semira.backends.renumbering.objects import (
    Array,
    Store,
    WideObject,
    from_places,
    true_places,
    with_values,
)
from semira.base.dtypes import DataType
from semira.base.locks import cached_property


@dataclass(eq=False)
class Lines:
    """The entries of an object line by line. Nothing is as long as the object has lines."""

    store: Store
    x: WideObject
    by_columns: bool
    #: Which entry of the object, by rows, each one is; None: they are in that order.
    entries: Array | None
    #: Line of each entry, and position in it.
    major: Array
    minor: Array
    #: Whether each entry is the first of its line.
    heads: Array

    @cached_property
    def starts(self) -> Array:
        """First entry of each line that has entries; waits."""
        return self.store.library.flatnonzero(self.heads)

    @cached_property
    def lengths(self) -> Array:
        """Number of entries of each of these lines."""
        library, count = self.store.library, len(self.heads)
        end = library.full(min(1, count), count, np.int64)
        return library.concatenate([self.starts[1:], end]) - self.starts

    @cached_property
    def line(self) -> Array:
        """Number of each entry's line among those with entries."""
        return self.store.library.cumsum(self.heads, dtype=np.int64) - 1

    @cached_property
    def place(self) -> Array:
        """How many entries of its line come before each entry."""
        return self.store.library.arange(len(self.heads), dtype=np.int64) - self.starts[self.line]

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
        values = self.store.values(self.x.small)
        return values if self.entries is None else values[self.entries]

    def made(
        self,
        chosen: Array,
        minor: Array,
        length: int,
        values: Array | None = None,
        dtype: DataType | None = None,
    ) -> WideObject:
        """Return the object with entries `chosen`, line by line, at other positions in their line.

        The positions `minor` rise along each line of the new `length`. Entries keep their values if
        `values` and `dtype` are None.
        """
        source = chosen if self.entries is None else self.entries[chosen]
        major = self.major[chosen]
        if self.by_columns:
            order = self.store.order(minor)
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


def lines_of(store: Store, x: WideObject, *, by_columns: bool) -> Lines:
    """Return the rows or columns of an object."""
    library = store.library
    places, entries = true_places(store, x), None
    major, minor = places[0], places[-1]
    if len(places) == 1:
        major = library.zeros_like(minor)
    elif by_columns:
        entries = store.order(minor)
        major, minor = minor[entries], major[entries]
    heads = library.ones(len(major), np.bool_)
    heads[1:] = major[1:] != major[:-1]
    return Lines(store, x, by_columns and len(places) == 2, entries, major, minor, heads)


def by_rows(store: Store, x: WideObject, *, transposed: bool) -> WideObject:
    """Return an object as the statement sees it: transposed, its entries in order."""
    if not transposed:
        return x
    rows, cols = true_places(store, x)
    order = store.order(cols)
    places = (cols[order], rows[order])
    return from_places(store, x.small, x.dtype, x.shape[::-1], places, order)


def reversed_along(lines: Lines, chosen: Any, lengths: Array, line: Array, place: Array) -> Array:
    """Return entries turned around in each line.

    `chosen` are entries line by line, `lengths` of them in each. `line` and `place` are, for each
    position in `chosen`, its line, and how many are before it there.
    """
    starts = lines.store.library.cumsum(lengths) - lengths
    return chosen[starts[line] + lengths[line] - 1 - place]
