"""What a `Rearrangement` makes of an object."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from semira.backends.renumbering.objects import (
    Array,
    Store,
    WideObject,
    as_wide,
    from_places,
    thing_of,
    true_places,
    with_values,
)
from semira.base.dtypes import UINT64, DataType
from semira.base.errors import OutOfMemory
from semira.base.locks import cached_property
from semira.contract.rearrange import Rearranged, Rearrangement


def rearrange(
    store: Store, handle: object, request: Rearrangement, *, transposed: bool
) -> list[Rearranged]:
    """Return what is made of an object; see `contract.rearrange`.

    Raises OutOfMemory for a vector with an entry at each of 2**31 positions or more.
    """
    x = as_wide(store, handle)
    if x.everywhere:
        raise OutOfMemory(f"{x.shape[0]} entries one by one (limit: fewer than 2**31)")
    made = _KINDS[request.kind](store, by_rows(store, x, transposed=transposed), request)
    return [Rearranged(thing_of(y), y.shape, y.dtype) for y in made]


def _scan(store: Store, x: WideObject, request: Rearrangement) -> list[WideObject]:
    lines = lines_of(store, x, by_columns=request.by_columns)
    monoid = request.operator
    values = lines.values()
    if monoid.is_any:
        found = values[lines.starts[lines.line]]
    else:
        found = store.scanned(monoid, values, x.dtype, lines.heads)
    in_order = found
    if lines.entries is not None:
        in_order = store.library.empty_like(found)
        in_order[lines.entries] = found
    dtype = x.dtype if monoid.is_any else monoid.return_type
    return [with_values(store, x, in_order, dtype)]


def _ranked(lines: Lines, how: str) -> Array:
    """Return all entries, line by line, the most wanted first."""
    library = lines.store.library
    entries = library.arange(len(lines.major), dtype=np.int64)
    if how == "random":
        drawn = lines.store.upload(np.random.default_rng().random(len(entries)))
        return _sorted(lines, drawn)
    if how in ("smallest", "largest"):
        entries = _sorted(lines, lines.values())
    if how in ("last", "largest"):
        return reversed_along(lines, entries, lines.lengths, lines.line, lines.place)
    return entries


def _sorted(lines: Lines, keys: Array, *, descending: bool = False) -> Array:
    """Return the entries by line, then key, then place."""
    library = lines.store.library
    keys = keys.astype(np.uint8) if keys.dtype == np.bool_ else keys
    if descending:
        # The reverse of a stable sort of the reverse is descending and stable.
        backwards = library.ascontiguousarray(keys[::-1])
        by_key = len(keys) - 1 - library.argsort(backwards, kind="stable")[::-1]
    else:
        by_key = library.argsort(keys, kind="stable")
    return by_key[lines.store.order(lines.line[by_key])]


def _best(lines: Lines, how: str, k: int | None) -> Array:
    """Return the k most wanted entries of each line, line by line."""
    ranked = _ranked(lines, how)
    if k is not None:
        ranked = ranked[lines.store.library.less(lines.place, k)]
    # Which entries is random, not their order.
    return lines.store.library.sort(ranked) if how == "random" else ranked


def _select(store: Store, x: WideObject, request: Rearrangement) -> list[WideObject]:
    lines = lines_of(store, x, by_columns=request.by_columns)
    chosen = store.library.sort(_best(lines, request.how, request.k))
    return [lines.made(chosen, lines.minor[chosen], lines.line_length)]


def _compact(store: Store, x: WideObject, request: Rearrangement) -> list[WideObject]:
    lines = lines_of(store, x, by_columns=request.by_columns)
    length = lines.longest if request.k is None else request.k
    chosen = _best(lines, request.how, request.k)
    kept = store.library.less(lines.place, length)
    line, place = lines.line[kept], lines.place[kept]
    if request.reverse:
        lengths = store.library.minimum(lines.lengths, length)
        chosen = reversed_along(lines, chosen, lengths, line, place)
    if not request.as_index:
        return [lines.made(chosen, place, length)]
    return [lines.made(chosen, place, length, lines.minor[chosen].astype(np.uint64), UINT64)]


def _sort(store: Store, x: WideObject, request: Rearrangement) -> list[WideObject]:
    lines = lines_of(store, x, by_columns=request.by_columns)
    if request.operator is None:
        order = _sorted(lines, lines.values(), descending=request.how == "largest")
    else:
        starts, lengths = lines.starts[lines.line], lines.lengths[lines.line]
        order = store.ranked(
            request.operator, lines.values(), x.dtype, starts, lengths, lines.longest
        )
    origin = lines.minor[order].astype(np.uint64)
    length = lines.line_length
    return [
        lines.made(order, lines.place, length),
        lines.made(order, lines.place, length, origin, UINT64),
    ]


def _reshape(store: Store, x: WideObject, request: Rearrangement) -> list[WideObject]:
    places, by_columns = true_places(store, x), request.by_columns
    numbers = places[0]
    if len(places) == 2:
        outer, inner = places[::-1] if by_columns else places
        numbers = outer * x.shape[0 if by_columns else 1] + inner
    shape = request.shape
    if len(shape) == 1:
        found: tuple[Array, ...] = (numbers,)
    else:
        width = max(1, shape[0] if by_columns else shape[1])
        outer, inner = numbers // width, numbers % width
        found = (inner, outer) if by_columns else (outer, inner)
    entries = None
    if by_columns:
        # Numbers along columns rise along columns: bring them to the order of the new rows.
        entries = store.order(numbers)
        found = tuple(at[entries] for at in found)
        if len(shape) == 2:
            again = store.order(found[0])
            entries, found = entries[again], tuple(at[again] for at in found)
    return [from_places(store, x.small, x.dtype, shape, found, entries)]


_KINDS: dict[str, Callable[[Store, WideObject, Rearrangement], list[WideObject]]] = {
    "scan": _scan,
    "select": _select,
    "compact": _compact,
    "sort": _sort,
    "reshape": _reshape,
}


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
        library = self.store.library
        # CuPy's operators on numbers import half of SciPy; its functions do not.
        return library.subtract(library.cumsum(self.heads, dtype=np.int64), 1)

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
