"""What a handle of a huge shape holds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from semira.backends.cuda.wide.store import Array, CudaStore
from semira.backends.renumbering.lists import distinct
from semira.base.dtypes import DataType
from semira.formats.index import WIDE


@dataclass(slots=True, eq=False)
class WideObject:
    """A vector or matrix with a side of 2**31 or more; no memory per position of such a side.

    Entry (p, q) of `small` stands at ``(ids[0][p], ids[1][q])``. Sides below 2**31 are not
    renumbered: their ids are None. So an ordinary object is one without ids.

    Attributes
    ----------
    shape : tuple of int
    dtype : DataType
    ids : tuple of (array of int64 or None)
        Rising positions, one list a side; a listed position may be without entries.
    small : object
        An ordinary object of the device, as long as the lists.
    everywhere : bool
        A vector with the one value of `small` at every position; the list is of no meaning.
    """

    shape: tuple[int, ...]
    dtype: DataType
    ids: tuple[Array | None, ...]
    small: Any
    everywhere: bool = False
    device: str = "cuda"

    @property
    def kind(self) -> str:
        """``vector`` or ``matrix``."""
        return "vector" if len(self.shape) == 1 else "matrix"

    @property
    def is_wide(self) -> bool:
        """Whether it is more than its ordinary object."""
        return self.everywhere or any(ids is not None for ids in self.ids)

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


def as_wide(store: CudaStore, thing: Any) -> WideObject:
    """Return a huge object as it is, an ordinary one as an object without ids."""
    if isinstance(thing, WideObject):
        return thing
    shape, dtype = store.describe(thing)
    return WideObject(shape, dtype, (None,) * len(shape), thing)


def true_places(store: CudaStore, x: WideObject) -> tuple[Array, ...]:
    """Return where the entries really stand."""
    pairs = zip(x.ids, store.places(x.small), strict=True)
    return tuple(at if ids is None else ids[at] for ids, at in pairs)


def lengths(shape: tuple[int, ...], lists: tuple[Array | None, ...]) -> tuple[int, ...]:
    """Return the shape of an ordinary object over lists."""
    pairs = zip(shape, lists, strict=True)
    return tuple(side if ids is None else len(ids) for side, ids in pairs)


def from_places(
    store: CudaStore,
    source: Any,
    dtype: DataType,
    shape: tuple[int, ...],
    places: tuple[Array, ...],
    entries: Array | None,
) -> WideObject:
    """Return the object with these entries of `source` at `places`, which are in order."""
    lists: list[Array | None] = []
    small: list[Array] = []
    for side, at in zip(shape, places, strict=True):
        wide = side >= WIDE
        ids, numbers = distinct(store.library, at) if wide else (None, at)
        lists.append(ids)
        small.append(numbers)
    ids = tuple(lists)
    made = store.moved(source, lengths(shape, ids), tuple(small), entries)
    return WideObject(shape, dtype, ids, made)


def settled(store: CudaStore, x: WideObject) -> WideObject:
    """Return a result whose lists name few positions without entries."""
    listed = max((len(ids) for ids in x.ids if ids is not None), default=0)
    if x.everywhere or listed <= 64 or listed <= 2 * store.nvals(x.small):
        return x
    return from_places(store, x.small, x.dtype, x.shape, true_places(store, x), None)


def with_values(store: CudaStore, x: WideObject, values: Array, dtype: DataType) -> WideObject:
    """Return an object with the pattern of `x`."""
    return replace(x, dtype=dtype, small=store.valued(x.small, values, dtype))


def empty_like(store: CudaStore, x: WideObject, dtype: DataType) -> WideObject:
    """Return a huge object without entries."""
    none = store.library.zeros(0, np.int64)
    ids = tuple(none if side >= WIDE else None for side in x.shape)
    return WideObject(x.shape, dtype, ids, store.empty(lengths(x.shape, ids), dtype))
