"""What a `Rearrangement` makes of an object."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from semira.backends.renumbering.lines import Lines, by_rows, lines_of, reversed_along
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
from semira.base.dtypes import UINT64
from semira.base.errors import OutOfMemory
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
        ranked = ranked[lines.place < k]
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
    kept = lines.place < length
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
