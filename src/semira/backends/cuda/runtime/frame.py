"""The filled table of a prepared Program, kept from run to run: what is the same stays written."""

from __future__ import annotations

import ctypes
from array import array
from collections.abc import Sequence
from typing import Any

from semira.backends.cuda.layout import START, TableLayout
from semira.backends.cuda.runtime.scalars import LITERAL_BYTES, Literal
from semira.base.dtypes import DataType
from semira.contract import Program

#: Number of blocks that nobody asks for.
EXPIRED = -1


class Frame:
    """A table with what was bound when it was filled.

    Objects are known again by identity and stamp: an object gets a new stamp whenever its buffers
    change or are released, and no stamp is ever used twice.
    """

    __slots__ = (
        "_alive", "_asked", "_bound", "_dtypes", "_indirect", "_lengths", "_literals",
        "_objects", "_offsets", "_pointers", "_regions", "blocks", "kernel", "known",
        "parameters", "shared", "threads", "waits", "words",
    )  # fmt: skip

    def __init__(self, program: Program, table: TableLayout) -> None:
        #: The table; its memory never moves.
        self.words = array("q", bytes(8 * table.size))
        self._offsets = [table.offsets.get(f"s{k}") for k in range(len(program.slots))]
        self._dtypes: list[DataType] = [slot.dtype for slot in program.slots]
        self._indirect = ctypes.c_uint64(0)
        self._pointers = (ctypes.c_void_p * 1)(self.words.buffer_info()[0])
        #: Address of the kernel's parameters, for the driver.
        self.parameters = ctypes.addressof(self._pointers)
        #: Kernel for the offsets of what is bound.
        self.kernel: Any = None
        #: Blocks of the launch, threads and bytes of dynamic shared memory of each.
        self.blocks, self.threads, self.shared = 0, 0, 0
        #: Whether the host waits for the end to learn if it failed.
        self.waits = False
        #: Scalars that the program writes, and whether they have a value for sure then.
        self.known: tuple[tuple[int, bool], ...] = ()
        self.forget()

    @property
    def alive(self) -> list[Any]:
        """Memory that the words name; it lasts for as long as somebody holds this list."""
        return self._alive

    @property
    def address(self) -> int:
        """Where the words lie on the host."""
        return self.words.buffer_info()[0]

    def point_to(self, place: int) -> None:
        """Give the kernel the address of a table in device memory instead of its words."""
        self._indirect.value = place
        self._pointers[0] = ctypes.addressof(self._indirect)

    def forget(self) -> None:
        """Take nothing for bound: the next run enters everything anew."""
        self._bound: list[Any] = []
        self._asked: int | None = None
        # Slot, stamp, and what of the object the launch relies on (`_relied_on`).
        self._objects: list[tuple[int, int, int]] = []
        self._literals: list[int] = []
        self._regions: list[int] = []
        self._lengths: dict[int, int] = {}
        # Memory made for this filling. Freed in the order of the stream: after its launches.
        self._alive: list[Any] = []

    def expire(self) -> None:
        """Serve this run and no other: the next one enters everything anew."""
        self._asked = EXPIRED

    def enter(self, offset: int, described: Sequence[int]) -> None:
        """Write the words of one field."""
        self.words[offset : offset + len(described)] = (
            described if isinstance(described, array) else array("q", described)
        )

    def fill(
        self, bindings: list[Any], things: list[Any], lengths: dict[int, int], asked: int | None
    ) -> None:
        """Write the words of all slots, and note what they belong to.

        `lengths` are those of the axes that regions index.
        """
        self.forget()
        self._lengths = lengths
        for number, (given, thing) in enumerate(zip(bindings, things, strict=True)):
            offset = self._offsets[number]
            if offset is not None:
                self.enter(offset, thing.describe())
            if isinstance(thing, Literal):
                self._literals.append(number)
                self._alive.append(thing.cell)
            elif hasattr(thing, "stamp"):
                # Of a temporary: it is the program's own and changes with the sizes only.
                if given is not None:
                    self._objects.append((number, thing.stamp, _relied_on(thing)))
            else:
                self._regions.append(number)
                self._alive.append(thing.lists)
        self._bound, self._asked = list(bindings), asked

    def holds(self, bindings: list[Any], asked: int | None) -> bool:
        """Whether the words fit what is bound now, after what is new and alike was entered.

        False also where it is cheaper to fill anew than to find out: other matrices, lists of
        positions, empty scalars.
        """
        if not self._bound or asked != self._asked:
            return False
        return (
            self._holds_objects(bindings)
            and (not self._regions or self._holds_regions(bindings))
            and (not self._literals or self._holds_literals(bindings))
        )

    def _holds_objects(self, bindings: list[Any]) -> bool:
        bound, objects = self._bound, self._objects
        may_exchange = False
        for which, (number, stamp, relied_on) in enumerate(objects):
            given = bindings[number]
            if given is bound[number] and given.stamp == stamp:
                continue
            if not may_exchange:
                # One object in two slots: whether that is allowed has to be looked at.
                if len({id(bindings[slot]) for slot, _, _ in objects}) < len(objects):
                    return False
                may_exchange = True
            if not self._can_exchange(bound[number], given, relied_on):
                return False
            self._change(number, given, given.describe())
            objects[which] = number, given.stamp, relied_on
        return True

    def _holds_regions(self, bindings: list[Any]) -> bool:
        for number in self._regions:
            given, before = bindings[number], self._bound[number]
            are_ranges = given.__class__ is before.__class__ is tuple
            if not (given == before if are_ranges else self._move(number, given)):
                return False
        return True

    def _holds_literals(self, bindings: list[Any]) -> bool:
        bound = self._bound
        for number in self._literals:
            given = bindings[number]
            if given is not bound[number]:
                dtype = self._dtypes[number]
                if given is None or bound[number] is None or hasattr(given, "stamp"):
                    return False
                if dtype.itemsize > LITERAL_BYTES:
                    return False
                self._change(number, given, Literal.bound(None, dtype, given).describe())
        return True

    def _move(self, number: int, given: Any) -> bool:
        """Enter another single position; False if it is more, or not there."""
        before = self._bound[number]
        if tuple in (given.__class__, before.__class__) or len(given) != 1 or len(before) != 1:
            return False
        position, offset = int(given[0]), self._offsets[number]
        if offset is None or not 0 <= position < self._lengths[number]:
            return False
        self.words[offset + START] = position
        return True

    def _can_exchange(self, before: Any, given: Any, relied_on: int) -> bool:
        """Whether it is another vector of the same size, or another scalar, and nothing follows."""
        if given.__class__ is not before.__class__ or not given.stamp:
            return False
        if given.kind == "vector":
            return given.size == before.size and len(given.planes) >= relied_on
        return given.kind == "scalar" and given.has_value == relied_on

    def _change(self, number: int, given: Any, described: Sequence[int]) -> None:
        """Bind a slot to something else; to nothing if Ctrl-C comes in between."""
        offset = self._offsets[number]
        self._bound[number] = None
        if offset is not None:
            self.enter(offset, described)
        self._bound[number] = given


def _relied_on(thing: Any) -> int:
    """Return a vector's planes, or whether the host knows that a scalar has a value.

    As they were when the table was filled: what was bound then may have changed since.
    """
    if thing.kind == "vector":
        return len(thing.planes)
    return int(thing.kind == "scalar" and thing.has_value)
