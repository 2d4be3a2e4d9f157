"""Extract, assign, gather and scatter along huge axes: which positions a region comes down to.

A region of a huge axis becomes a list of numbers on the axis' list. What is not on it has no
entry: it is sent to one number past the end, where there never is one.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from semira.backends.renumbering.axes import Task, Use
from semira.backends.renumbering.lists import (
    Region,
    checked,
    distinct,
    image,
    joined_ids,
    located,
    places_of,
    region_length,
)
from semira.backends.renumbering.objects import Array, Store, with_values
from semira.base.dtypes import INT64
from semira.base.errors import OutOfMemory
from semira.base.memory import require_bytes
from semira.formats.index import WIDE

#: Letters of the indexed object's axes, and of the axes of its region.
_INDEXED, _REGION = "pq", "rs"


def letter(task: Task) -> None:
    """Give every use its letters."""
    is_extract = task.statement.op == "extract"
    indexed: Use = task.args[0] if is_extract else task.out
    indexed.letters, region = _letters(task, len(indexed.x.shape))
    is_outside = not is_extract and not task.statement.param("submask")
    if task.mask is not None:
        task.mask.letters = indexed.letters if is_outside else region
    other = task.out if is_extract else task.args[0]
    if isinstance(other, Use):
        other.letters = region


def prepare(store: Store, task: Task) -> list[Any]:
    """List the axes of regions, and return the compact regions.

    Raises IndexOutOfBound if a region names a position that its axis does not have. Raises
    OutOfMemory if a value would be written to 2**31 positions or more.
    """
    return _extract(store, task) if task.statement.op == "extract" else _assign(store, task)


def _letters(task: Task, sides: int) -> tuple[str, str]:
    """Return the letters of the indexed object and of its region; a whole axis is one axis."""
    specs = task.statement.indices
    indexed = _INDEXED[:sides]
    region = "".join(
        indexed[axis] if spec.slot is None else _REGION[axis]
        for axis, spec in enumerate(specs)
        if spec.kind != "one"
    )
    return indexed, region


def _ids_along(use: Use | None, letter: str) -> Array | None:
    """Return the list of a use along one of its axes; None if it has none there."""
    if use is None or letter not in use.letters or use.x.everywhere:
        return None
    ids: Array | None = use.x.flipped(use.transposed)[use.letters.index(letter)]
    return ids


def _listed(uses: list[Use | None], letter: str) -> list[Array]:
    """Return the lists that some uses have along an axis."""
    found = (_ids_along(use, letter) for use in uses)
    return [ids for ids in found if ids is not None]


def _members(store: Store, region: Region, length: int) -> Array:
    """Return every position of a region shorter than 2**31."""
    if not isinstance(region, tuple):
        return store.upload(checked(np.asarray(region), length).astype(np.int64))
    count = region_length(region, length)
    require_bytes(8 * count, f"a list of {count} positions")
    start, stop, step = region
    return store.library.arange(start, stop, step, dtype=np.int64)


# extract -----------------------------------------------------------------------------------------
def _extract(store: Store, task: Task) -> list[Any]:
    source: Use = task.args[0]
    shape = source.x.shape[::-1] if source.transposed else source.x.shape
    made = []
    for axis, (length, given) in enumerate(zip(shape, task.regions, strict=True)):
        wide = given is not None and source.letters[axis] in task.listed
        made.append(_read_through(store, task, axis, length) if wide else given)
    return made


def _read_through(store: Store, task: Task, axis: int, length: int) -> Array:
    """Return where the members of a region stand on the source's list."""
    library, region = store.library, task.regions[axis]
    source: Use = task.args[0]
    letter = source.letters[axis]
    ids = _ids_along(source, letter)
    inner = _REGION[axis]
    if not isinstance(region, tuple) or (
        inner not in task.listed and region_length(region, length) < WIDE
    ):
        members = _members(store, region, length)
        _list_whole(store, task, inner, len(members))
    elif ids is None:
        raise OutOfMemory(f"{length} entries one by one (limit: fewer than 2**31); name positions")
    else:
        numbers = located(library, region, ids, length)[0]
        others = _listed([task.mask, task.out], inner)
        task.lists[inner] = joined_ids(library, *others, numbers, library.zeros(1, np.int64))
        members = image(region, task.lists[inner])
    if ids is None:
        # The same value everywhere.
        ids = distinct(library, members)[0]
    at, found = places_of(library, ids, members)
    past = library.full(1, length, np.int64)
    is_there = len(ids) > 0 and bool(found.all())
    task.lists[letter] = ids if is_there else library.concatenate([ids, past])
    return store.download(library.where(found, at, len(ids)))


def _list_whole(store: Store, task: Task, letter: str, length: int) -> None:
    """List every position of a region whose axis is huge elsewhere."""
    if letter in task.listed:
        task.lists[letter] = store.library.arange(length, dtype=np.int64)


# assign ------------------------------------------------------------------------------------------
def _assign(store: Store, task: Task) -> list[Any]:
    out: Use = task.out
    if not isinstance(task.args[0], Use) and not task.is_confined:
        # Before the positions are listed.
        _check_room(task, task.regions, is_submask=True)
    made = []
    for axis, length in enumerate(out.x.shape):
        wide = out.letters[axis] in task.listed
        made.append(_write_through(store, task, axis, length) if wide else task.regions[axis])
    if not isinstance(task.args[0], Use):
        _check_room(task, made, is_submask=bool(task.statement.param("submask")))
    return made


def _write_through(store: Store, task: Task, axis: int, length: int) -> Array | None:
    """Return where the members of a region that count stand on the output's list."""
    library, region = store.library, task.regions[axis]
    letter, out = task.out.letters[axis], task.out
    given = task.args[0] if isinstance(task.args[0], Use) else None
    count = region_length(region, length)
    if given is None and count >= WIDE and not task.is_confined:
        raise OutOfMemory(
            f"a value for {count} positions along one axis (limit: fewer than 2**31); name the "
            "positions, or use a mask that lists them"
        )
    if region is None:
        return None
    others = _listed([out, task.mask], letter)
    inner = _REGION[axis]
    masked_inside = task.mask is not None and inner in task.mask.letters
    is_wanted = given is not None or task.is_confined
    few = isinstance(region, tuple) and (
        count >= WIDE
        or (given is None and task.is_confined and not masked_inside)
        or (inner in task.listed and is_wanted)
    )
    if few:
        inside = _listed([given, task.mask], inner)
        inside += [located(library, region, ids, length)[0] for ids in others]
        numbers = joined_ids(library, *inside, library.zeros(1 if count else 0, np.int64))
        task.lists[inner] = numbers
        members = image(region, numbers)
    else:
        members = _members(store, region, length)
        _list_whole(store, task, inner, len(members))
    if not len(members):
        task.lists[letter] = joined_ids(library, *others, library.zeros(1, np.int64))
        return store.download(members)
    task.lists[letter] = joined_ids(library, *others, distinct(library, members)[0])
    return store.download(places_of(library, task.lists[letter], members)[0])


def _check_room(task: Task, regions: list[Any], *, is_submask: bool) -> None:
    """Check that a scalar has room: it takes the whole region, or what a full mask lists."""
    lists = [task.lists.get(letter) for letter in task.out.letters]
    sides = [
        side if ids is None else len(ids) for side, ids in zip(task.out.x.shape, lists, strict=True)
    ]
    pairs = zip(regions, sides, strict=True)
    count = prod(region_length(region, side) for region, side in pairs)
    everything = all(region is None for region in task.regions)
    listed = task.is_confined and not is_submask and everything
    if not listed and count >= WIDE:
        raise OutOfMemory(
            f"a value for {count} positions (limit: fewer than 2**31); name fewer rows or columns"
        )


# gather and scatter ------------------------------------------------------------------------------
def follow_indices(store: Store, task: Task) -> None:
    """Renumber the positions that an index vector holds as its values.

    Raises IndexOutOfBound if one of them is outside the axis.
    """
    library = store.library
    target: Use = task.args[0] if task.statement.op == "gather" else task.out
    (length,) = target.x.shape
    if length < WIDE:
        return
    index: Use = task.args[1]
    values = store.values(index.x.small).astype(np.int64)
    checked(values, length)
    if index.x.everywhere:
        raise OutOfMemory(f"{index.x.shape[0]} positions one by one (limit: fewer than 2**31)")
    others = _listed([task.out, task.mask], "p") if target is task.out else []
    ids = joined_ids(library, *others, *_listed([target], "p"), distinct(library, values)[0])
    task.lists["p"] = ids if len(ids) else library.zeros(1, np.int64)
    numbers = places_of(library, ids, values)[0]
    index.x = with_values(store, index.x, numbers, INT64)
