"""The sides of a statement's objects: which are one axis, and which positions of it count.

A statement names each axis by a letter, like a sum of products: ``mxm`` is ``ik, kj -> ij``. All
objects along a huge axis are brought to one list, the union of theirs: nothing else can have an
entry, lose one or forbid one. Along the axis over which a product sums the shortest list is enough.
Regions have letters of their own (`regions`).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from semira.backends.renumbering.lists import joined_ids, places_of
from semira.backends.renumbering.objects import (
    Array,
    Store,
    WideObject,
    lengths,
    restricted,
    with_lists,
)
from semira.base.dtypes import INT64
from semira.base.errors import NotImplementedException, OutOfMemory
from semira.contract import Arg, IndexSpec, Mask, Program, Slot, Statement
from semira.formats.index import WIDE

#: The axis over which a product sums.
_SUMMED = "k"

#: Axes of regions, and of what is indexed: one is not huge without the other, but short ranges.
_WITHIN = (("r", "p"), ("s", "q"))

#: A range of more positions is not listed in full.
_LONG = 1 << 16

#: Operations that read of a vector what the entries of a matrix name.
_READING = ("mxv", "vxm", "mode_rows")

#: Letters of operands and output; element-wise operations take the output's.
_LETTERS: dict[str, tuple[tuple[str, ...], str]] = {
    "mxm": (("ik", "kj"), "ij"),
    "mxv": (("ik", "k"), "i"),
    "vxm": (("k", "kj"), "j"),
    "reduce_rows": (("ij",), "i"),
    "mode_rows": (("ij", "j", "i"), "i"),
    "gather": (("p", "i"), "i"),
    "scatter": (("i", "i"), "p"),
}


@dataclass(slots=True, eq=False)
class Use:
    """An object where a statement uses it."""

    x: WideObject
    #: Its axes as the statement sees them, after transposing.
    letters: str
    transposed: bool = False


@dataclass(slots=True, eq=False)
class Parts:
    """The slots of a program of one statement, and what they are bound to."""

    slots: list[Slot] = field(default_factory=list)
    bound: list[Any] = field(default_factory=list)

    def add(self, kind: str, dtype: Any, binding: Any, role: str = "input") -> int:
        """Return the number of another slot."""
        self.slots.append(Slot(kind, dtype, role))
        self.bound.append(binding)
        return len(self.slots) - 1


@dataclass(slots=True, eq=False)
class Task:
    """A statement with what it is bound to, taken apart by use."""

    statement: Statement
    #: Each a Use, or (dtype, binding) for a scalar; so is `out`.
    args: list[Any]
    mask: Use | None
    out: Any
    #: None, (start, stop, step) or an array, one for each of the statement's index specs.
    regions: list[Any]
    #: Positions of each huge axis that count.
    lists: dict[str, Array | None] = field(default_factory=dict)
    #: The huge axes.
    listed: set[str] = field(default_factory=set)

    def uses(self) -> list[Use]:
        """Return the uses of vectors and matrices."""
        given = [*self.args, self.mask, self.out]
        return [use for use in given if isinstance(use, Use)]

    @property
    def is_confined(self) -> bool:
        """Whether a plain mask lists all that can be written."""
        mask = self.mask
        return mask is not None and not self.complements and not mask.x.everywhere

    @property
    def complements(self) -> bool:
        """Whether the mask is complemented."""
        return self.statement.mask is not None and self.statement.mask.complement


def letter_all(store: Store, task: Task) -> None:
    """Give every use its letters, but for the operations on regions.

    Raises NotImplementedException if row numbers count, and rows have others here.
    """
    statement = task.statement
    if statement.op == "mode_rows" and statement.param("draws"):
        raise NotImplementedException(
            f"mode_rowwise with a seed draws by row number, which the {store.name} backend has for "
            "fewer than 2**31 rows and columns alone; leave the seed out"
        )
    out = "ij"[: len(task.out.x.shape)] if isinstance(task.out, Use) else ""
    letters = _LETTERS.get(statement.op)
    for number, use in enumerate(task.args):
        if isinstance(use, Use):
            use.letters = letters[0][number] if letters else "ij"[: len(use.x.shape)]
    for use in (task.out, task.mask):
        if isinstance(use, Use):
            use.letters = letters[1] if letters else out


def find_huge(task: Task) -> None:
    """Find the huge axes: those along which an object has a list or 2**31 positions."""
    for use in task.uses():
        shape = use.x.shape[::-1] if use.transposed else use.x.shape
        lists = use.x.flipped(use.transposed)
        for letter, side, ids in zip(use.letters, shape, lists, strict=True):
            if side >= WIDE or ids is not None:
                task.listed.add(letter)
    for (part, whole), region in zip(_WITHIN, task.regions, strict=False):
        is_long = isinstance(region, tuple) and len(range(*region)) > _LONG
        if part in task.listed:
            task.listed.add(whole)
        elif whole in task.listed and is_long:
            task.listed.add(part)


def give_lists(store: Store, task: Task) -> None:
    """Give each object a list along each huge axis, but for a vector that is only read.

    Of such a vector a product reads what the list of the other operand names.
    """
    for use in task.uses():
        is_read = task.statement.op in _READING and use.x.kind == "vector" and use is not task.out
        if not is_read or use.x.shape[0] >= WIDE:
            wanted = [letter in task.listed for letter in use.letters]
            use.x = with_lists(store, use.x, wanted[::-1] if use.transposed else wanted)


def list_axes(store: Store, task: Task) -> None:
    """List the positions of every huge axis that has no list yet."""
    found: dict[str, list[Array]] = {letter: [] for letter in task.listed}
    for use in task.uses():
        for letter, ids in zip(use.letters, use.x.flipped(use.transposed), strict=True):
            if ids is not None and not use.x.everywhere:
                found[letter].append(ids)
    for letter, lists in found.items():
        if letter not in task.lists:
            shortest = [min(lists, key=len)] if letter == _SUMMED and lists else lists
            ids = joined_ids(store.library, *shortest)
            task.lists[letter] = ids if len(ids) else store.library.zeros(1, np.int64)


def narrowed(store: Store, use: Use, lists: dict[str, Array | None]) -> Any:
    """Return the ordinary object over the lists of its axes, numbered by them.

    The object's own if the lists are; O(entries + lengths of the lists) otherwise.
    """
    wanted = tuple(lists.get(letter) for letter in use.letters)
    wanted = wanted[::-1] if use.transposed else wanted
    x = use.x
    if x.everywhere:
        ids = wanted[0]
        assert ids is not None
        return _repeated(store, x.small, len(ids))
    if all(ids is own for ids, own in zip(wanted, x.ids, strict=True)):
        return x.small
    if x.kind == "vector":
        return restricted(store, x, wanted[0])
    library = store.library
    places, kept = list(store.places(x.small)), None
    for side, (ids, own) in enumerate(zip(wanted, x.ids, strict=True)):
        if ids is own or ids is None or own is None:
            continue
        numbers, found = places_of(library, ids, own)
        here = found[places[side]]
        kept = here if kept is None else kept & here
        places[side] = numbers[places[side]]
    entries = None
    if kept is not None and not bool(kept.all()):
        entries = library.flatnonzero(kept)
        places = [at[entries] for at in places]
    return store.moved(x.small, lengths(x.shape, wanted), tuple(places), entries)


def _repeated(store: Store, one: Any, count: int) -> Any:
    """Return a vector with the value of position 0 everywhere."""
    library = store.library
    if store.nvals(one) == 0:
        return store.moved(one, (count,), (library.zeros(0, np.int64),), None)
    every = library.arange(count, dtype=np.int64)
    return store.moved(one, (count,), (every,), library.zeros(count, np.int64))


def check_listable(task: Task) -> None:
    """Check that no object with an entry everywhere is asked for its entries one by one.

    Raises OutOfMemory if the statement needs each of them.
    """
    op = task.statement.op
    for use in task.uses():
        if not use.x.everywhere or use is task.mask:
            continue
        met = op in ("mxv", "vxm", "gather", "extract") and use is not task.out
        if op == "ewise_mult" and use is not task.out:
            met = not all(arg.x.everywhere for arg in task.args)
        if not (met or (task.is_confined and use is not task.out)):
            raise OutOfMemory(
                f"a vector of size {use.x.shape[0]} with an entry everywhere takes part in an "
                "operation that needs its entries one by one (limit: fewer than 2**31); select a "
                "region or use a mask"
            )


def compact(store: Store, task: Task, regions: list[Any]) -> tuple[Program, list[Any]]:
    """Return the program of a task on ordinary objects, and its bindings.

    Every use gets a slot of its own, in the order in which the engine hands them out; the output
    is a copy unless it is an ordinary object, which may be written in place.
    """
    parts, out = Parts(), task.out
    add, bound = parts.add, parts.bound
    target = out[1] if not isinstance(out, Use) else out.x.small
    if isinstance(out, Use) and out.x.is_wide:
        target = narrowed(store, out, task.lists)
        target = store.duplicate(target) if target is out.x.small else target

    def own(use: Use) -> Any:
        given = narrowed(store, use, task.lists)
        return (
            store.duplicate(given) if any(given is other for other in (*bound, target)) else given
        )

    args = []
    for use in task.args:
        if isinstance(use, Use):
            slot = add(use.x.kind, use.x.dtype, own(use))
            args.append(Arg(slot, use.transposed))
        else:
            args.append(Arg(add("scalar", use[0], use[1])))
    specs = []
    for spec, region in zip(task.statement.indices, regions, strict=True):
        named = region is not None
        specs.append(IndexSpec(_kind(spec, region), add("index", INT64, region)) if named else spec)
    mask = None
    given = task.statement.mask
    if task.mask is not None and given is not None:
        slot = add(task.mask.x.kind, task.mask.x.dtype, own(task.mask))
        mask = Mask(slot, given.structural, given.complement)
    if isinstance(out, Use):
        slot = add(out.x.kind, out.x.dtype, target, "inout")
    else:
        slot = add("scalar", out[0], out[1], "inout")
    params = tuple(pair for pair in task.statement.params if pair[0] != "new")
    statement = replace(
        task.statement, out=slot, args=tuple(args), mask=mask, indices=tuple(specs), params=params
    )
    return Program(tuple(parts.slots), (statement,)), bound


def _kind(spec: IndexSpec, region: Any) -> str:
    if spec.kind == "one":
        return "one"
    return "range" if isinstance(region, tuple) else "list"
