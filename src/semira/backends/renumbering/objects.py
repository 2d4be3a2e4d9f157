"""Objects of huge shapes, and what a device has for the ordinary objects they are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from semira.backends.renumbering.lists import distinct, places_of
from semira.base.dtypes import DataType
from semira.contract import Program
from semira.contract.backend import Arrays, Outcome
from semira.formats.index import WIDE
from semira.ops import TypedMonoid, TypedOp

#: An array of the device's library.
Array = Any


class Store(Protocol):
    """Ordinary objects of a device, as this layer asks for them.

    *Places* are 64-bit positions of entries by row, then column, one array a side.
    """

    name: str

    @property
    def library(self) -> Any:
        """NumPy or CuPy."""
        ...

    def lists(self, shape: tuple[int, ...], nvals: int) -> tuple[bool, ...]:
        """Return which sides of an object are renumbered: those from 2**31 on at least."""
        ...

    def describe(self, thing: Any) -> tuple[tuple[int, ...], DataType]:
        """Return shape and dtype."""
        ...

    def nvals(self, thing: Any) -> int:
        """Return the number of entries."""
        ...

    def places(self, thing: Any) -> tuple[Array, ...]:
        """Return where the entries stand."""
        ...

    def values(self, thing: Any) -> Array:
        """Return the values of the entries, in the order of `places`."""
        ...

    def moved(
        self, thing: Any, shape: tuple[int, ...], places: tuple[Array, ...], entries: Array | None
    ) -> Any:
        """Return an object whose entry e has the value of entry ``entries[e]`` of `thing`.

        It may have another number of sides. None stands for all entries in order.
        """
        ...

    def valued(self, thing: Any, values: Array, dtype: DataType) -> Any:
        """Return an object with the pattern of `thing`."""
        ...

    def empty(self, shape: tuple[int, ...], dtype: DataType) -> Any:
        """Return an object without entries."""
        ...

    def duplicate(self, thing: Any) -> Any:
        """Return a copy."""
        ...

    def applied(
        self, op: TypedOp, thing: Any, places: tuple[Array, ...], bound: Any, *, left: bool
    ) -> Array:
        """Return an operator's results for the entries of `thing`, told to stand at `places`.

        `bound` is None, or (value, dtype) of the thunk or other operand, which is the `left` one.
        """
        ...

    def order(self, keys: Array) -> Array:
        """Return the stable order of positions of 64 bits."""
        ...

    def scanned(self, monoid: TypedMonoid, values: Array, dtype: DataType, heads: Array) -> Array:
        """Return the running results of a monoid over values of `dtype`; a head starts anew."""
        ...

    def ranked(
        self,
        before: TypedOp,
        values: Array,
        dtype: DataType,
        starts: Array,
        lengths: Array,
        longest: int,
    ) -> Array:
        """Return where each value of an order by the comparison `before` is, line by line.

        `starts` and `lengths` tell, for each value, of its line; equal values keep their order.
        """
        ...

    def scalar(self, binding: Any) -> Any:
        """Return the value of a bound scalar, None if it is empty."""
        ...

    def upload(self, array: Any) -> Array:
        """Return a host array on the device."""
        ...

    def download(self, array: Array) -> Any:
        """Return a device array on the host."""
        ...

    def put(self, arrays: Arrays) -> Any:
        """Return an ordinary object of host arrays."""
        ...

    def get(self, thing: Any) -> Arrays:
        """Return the host arrays of an ordinary object."""
        ...

    def need(self, matrix: Any, orientation: str) -> None:
        """Make an orientation of an ordinary matrix resident."""
        ...

    def take(self, thing: Any, made: Any) -> None:
        """Let an ordinary object hold what another one holds, which is given up."""
        ...

    def run(self, program: Program, bindings: list[Any]) -> tuple[Outcome, Any]:
        """Run a planned statement on ordinary objects; return its new output as well."""
        ...


#: Positions without entries that a list of a result may name.
_FEW = 64


@dataclass(slots=True, eq=False)
class WideObject:
    """A vector or matrix with renumbered sides; no memory per position of such a side.

    Entry (p, q) of `small` stands at ``(ids[0][p], ids[1][q])``. `Store.lists` says which sides are
    renumbered; the ids of the others are None. So an ordinary object is one without ids.
    """

    shape: tuple[int, ...]
    dtype: DataType
    #: Rising positions (int64), one list a side, or None; a listed position may be without entries.
    ids: tuple[Array | None, ...]
    #: An ordinary object of the device, as long as the lists.
    small: Any
    #: A vector with the one value of `small` at every position; the list is of no meaning.
    everywhere: bool = False
    device: str = ""

    @property
    def kind(self) -> str:
        """``vector`` or ``matrix``."""
        return "vector" if len(self.shape) == 1 else "matrix"

    @property
    def is_wide(self) -> bool:
        """Whether it is more than its ordinary object."""
        return self.everywhere or any(ids is not None for ids in self.ids)

    @property
    def lean(self) -> str | None:
        """The only orientation that is kept, None if both may be."""
        found: str | None = getattr(self.small, "lean", None)
        return found

    def flipped(self, flip: bool) -> tuple[Array | None, ...]:
        """Return the ids, of the transpose if `flip`."""
        return self.ids[::-1] if flip else self.ids

    def memory_usage(self) -> dict[str, int]:
        """Return the bytes of its lists and of what the ordinary object holds."""
        names = ("ids",) if len(self.ids) == 1 else ("row_ids", "col_ids")
        pairs = zip(names, self.ids, strict=True)
        held = {name: int(ids.nbytes) for name, ids in pairs if ids is not None}
        small: dict[str, int] = self.small.memory_usage()
        return held | small

    def take(self, made: WideObject) -> None:
        """Replace the contents."""
        self.ids, self.small, self.everywhere = made.ids, made.small, made.everywhere


def thing_of(x: WideObject) -> Any:
    """Return a huge object as it is, and the ordinary object of one without ids."""
    return x if x.is_wide else x.small


def as_wide(store: Store, thing: Any) -> WideObject:
    """Return a huge object as it is, an ordinary one as an object without ids."""
    if isinstance(thing, WideObject):
        return thing
    shape, dtype = store.describe(thing)
    return WideObject(shape, dtype, (None,) * len(shape), thing)


def true_places(store: Store, x: WideObject) -> tuple[Array, ...]:
    """Return where the entries really stand."""
    pairs = zip(x.ids, store.places(x.small), strict=True)
    return tuple(at if ids is None else ids[at] for ids, at in pairs)


def lengths(shape: tuple[int, ...], lists: tuple[Array | None, ...]) -> tuple[int, ...]:
    """Return the shape of an ordinary object over lists."""
    pairs = zip(shape, lists, strict=True)
    return tuple(side if ids is None else len(ids) for side, ids in pairs)


def from_places(
    store: Store,
    source: Any,
    dtype: DataType,
    shape: tuple[int, ...],
    places: tuple[Array, ...],
    entries: Array | None,
) -> WideObject:
    """Return the object with these entries of `source` at `places`, which are in order."""
    lists: list[Array | None] = []
    small: list[Array] = []
    for wide, at in zip(store.lists(shape, len(places[0])), places, strict=True):
        ids, numbers = distinct(store.library, at) if wide else (None, at)
        lists.append(ids)
        small.append(numbers)
    ids = tuple(lists)
    made = store.moved(source, lengths(shape, ids), tuple(small), entries)
    return WideObject(shape, dtype, ids, made)


def settled(store: Store, x: WideObject) -> WideObject:
    """Return a result with lists where one is needed, of few positions without entries."""
    if x.everywhere or not x.is_wide:
        return x
    pairs = [(ids, side) for ids, side in zip(x.ids, x.shape, strict=True) if ids is not None]
    most, least = max(len(ids) for ids, _ in pairs), min(side for _, side in pairs)
    if most <= _FEW and least >= WIDE:
        return x
    nvals = store.nvals(x.small)
    is_listed = tuple(ids is not None for ids in x.ids)
    if most <= max(_FEW, 2 * nvals) and store.lists(x.shape, nvals) == is_listed:
        return x
    return from_places(store, x.small, x.dtype, x.shape, true_places(store, x), None)


def with_values(store: Store, x: WideObject, values: Array, dtype: DataType) -> WideObject:
    """Return an object with the pattern of `x`."""
    return replace(x, dtype=dtype, small=store.valued(x.small, values, dtype))


def empty_object(
    store: Store, shape: tuple[int, ...], dtype: DataType, *, listed: Sequence[bool] | None = None
) -> WideObject:
    """Return an object without entries; `listed` tells which sides have a list."""
    none = store.library.zeros(0, np.int64)
    wide = store.lists(shape, 0) if listed is None else listed
    ids = tuple(none if each else None for each in wide)
    return WideObject(shape, dtype, ids, store.empty(lengths(shape, ids), dtype))


def with_lists(store: Store, x: WideObject, wanted: Sequence[bool]) -> WideObject:
    """Return an object with lists of the positions with entries, for the sides `wanted`."""
    pairs = zip(x.ids, wanted, strict=True)
    missing = [side for side, (ids, wants) in enumerate(pairs) if wants and ids is None]
    if x.everywhere or not missing:
        return x
    ids, places = list(x.ids), list(store.places(x.small))
    for side in missing:
        at = places[side]
        in_order = x.kind == "vector"
        ids[side], places[side] = (
            (at, store.library.arange(len(at))) if in_order else distinct(store.library, at)
        )
    made = tuple(ids)
    return replace(
        x, ids=made, small=store.moved(x.small, lengths(x.shape, made), tuple(places), None)
    )


def restricted(store: Store, x: WideObject, ids: Array) -> Any:
    """Return the entries of a vector at listed positions, numbered by the list."""
    library = store.library
    at, found = places_of(library, true_places(store, x)[0], ids)
    numbers = library.flatnonzero(found)
    return store.moved(x.small, (len(ids),), (numbers,), at[numbers])
