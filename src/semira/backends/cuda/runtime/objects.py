"""Handles: vectors and matrices in device memory."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np

from semira.backends.companions import Companions, Kind
from semira.backends.cuda.runtime import turning
from semira.backends.cuda.runtime.blocks import Block, spell_out
from semira.backends.cuda.runtime.companion_kinds import ENTRY_ROWS, OCCUPIED, SLICES
from semira.backends.cuda.runtime.device import Runtime
from semira.backends.cuda.runtime.lines import Occupied
from semira.backends.cuda.runtime.parts import Buffer, MadeRows, allocate_parts
from semira.backends.cuda.runtime.primitives import (
    Slices,
    offset_type_of,
    primitives_of,
    transpose_bytes,
)
from semira.backends.cuda.runtime.room import require
from semira.backends.cuda.runtime.scalars import CudaScalar, stamps
from semira.backends.cuda.runtime.shares import lanes_of_rows
from semira.backends.cuda.runtime.vector_memory import (
    STATE_WORDS,
    VectorMemory,
    descriptor,
    empty_plane,
    plane_of,
    take_memory,
)
from semira.base.dtypes import DataType
from semira.base.errors import Panic
from semira.contract import VARIANTS, variant_part
from semira.formats import MatrixArrays

#: A bound that has grown by this factor over the last number that the host knew is replaced by a
#: number; small ones never are.
GROWN, LEAST_BASE = 4, 1 << 16

#: See `CudaMatrix.driven`: no product yet.
UNDRIVEN = (-1, -1)

#: Bytes of indices that a bound may waste.
WASTED = 1 << 20


@dataclass(slots=True, eq=False)
class CudaVector:
    """A vector: two planes, of which the device knows which one is in use."""

    runtime: Runtime
    size: int
    dtype: DataType
    #: (values, words, list) of each; the second plane is made when a program first needs it.
    planes: list[tuple[Buffer, Buffer, Buffer]]
    #: Number of entries, plane in use, and whether its list is complete.
    state: Buffer
    #: The backend made it without entries, and no program has written it since.
    is_new: bool = False
    #: Entries that it was built of where they lie; statements since do not count.
    built: int = 0
    device: str = "cuda"
    kind: str = "vector"
    #: Changes with the buffers; 0 once they are released.
    stamp: int = field(default_factory=stamps.__next__)
    _words: array[int] | None = None
    _memory: VectorMemory | None = None
    #: What its memory is part of with that of other objects, and where (`bundle.Bundle`).
    bundle: Any = None
    place: int = 0

    @classmethod
    def in_memory(
        cls, runtime: Runtime, size: int, dtype: DataType, memory: VectorMemory
    ) -> CudaVector:
        """Return a vector in memory that goes back to `Runtime.spares` when it is released.

        It is the one that left the memory, if that had the same dtype: launches bound to it need no
        other words.
        """
        last, memory.last = memory.last, None
        if last is not None and last.dtype is dtype:
            last._memory, last.stamp, last.is_new, last.built = memory, memory.stamp, False, 0
            return last
        return cls(
            runtime, size, dtype, list(memory.planes), memory.state,
            _words=memory.words, _memory=memory,
        )  # fmt: skip

    @property
    def shape(self) -> tuple[int]:
        """Its one size."""
        return (self.size,)

    @property
    def num_words(self) -> int:
        """Presence words."""
        return -(-self.size // 32)

    def add_spare(self) -> None:
        """Make the second plane, empty, unless it is there."""
        if len(self.planes) == 1:
            self.planes.append(empty_plane(self.runtime, self.size, self.dtype))
            self._words, self.stamp = None, next(stamps)

    def describe(self) -> array[int]:
        """Return the words of its VectorDescriptor."""
        if self._words is None:
            self._words = descriptor(self.planes, self.state, self.size)
        return self._words

    def release(self) -> None:
        """Give the buffers back, once."""
        if not self.stamp:
            return
        stamp, self.stamp = self.stamp, 0
        if self.bundle is not None:
            self.bundle.take_back(self.runtime, self.place, (self, stamp))
            return
        memory, self._memory = self._memory, None
        stream = self.runtime.stream
        if memory is not None:
            memory.last, memory.stamp = self, stamp
            if self.runtime.spares.give(memory.key, memory, memory.whole, stream):
                return
        for buffer in self.buffers():
            buffer.close(stream)

    def read_state(self) -> tuple[int, tuple[Any, Any, Any]]:
        """Return the number of entries and the plane that holds them; waits."""
        state = self.runtime.download(self.state, np.int64, STATE_WORDS)
        return int(state[0]), self.planes[int(state[1])]

    def count_entries(self) -> int:
        """Return the number of entries; waits."""
        self.runtime.check_process()
        check_alive(self)
        return int(self.runtime.download(self.state, np.int64, 1)[0])

    def known_entries(self) -> int:
        """Return a number of entries that the host knew when it was built."""
        return self.built

    def memory_usage(self) -> dict[str, int]:
        """Return the bytes of its buffers, together."""
        return {"buffers": sum(int(buffer.size) for buffer in self.buffers())}

    def buffers(self) -> list[Any]:
        """Return every buffer."""
        return [*(buffer for plane in self.planes for buffer in plane), self.state]

    def duplicate(self) -> CudaVector:
        """Return a copy."""
        if self._memory is not None:
            memory = take_memory(self.runtime, self.size, self.dtype.itemsize)
            self.runtime.move(self._memory.whole, memory.whole, 0, memory.whole.size)
            return CudaVector.in_memory(self.runtime, self.size, self.dtype, memory)
        buffers = self.buffers()
        parts = allocate_parts(self.runtime, tuple(buffer.size for buffer in buffers))
        for source, target in zip(buffers, parts, strict=True):
            self.runtime.move(source, target, 0, source.size)
        planes = [plane_of(parts, 3 * k) for k in range(len(self.planes))]
        return CudaVector(self.runtime, self.size, self.dtype, planes, parts[-1])

    def become(self, other: CudaVector) -> None:
        """Take the buffers of a copy made earlier."""
        self.planes, self.state, self.is_new = other.planes, other.state, False
        self._words, self._memory, self.stamp, self.bundle = None, None, next(stamps), None


@dataclass(slots=True, weakref_slot=True, eq=False)
class CudaMatrix:
    """A matrix: one orientation or both, each (indptr, indices, values)."""

    runtime: Runtime
    nrows: int
    ncols: int
    #: Entries there is room for; as many as there are if `is_exact`.
    most: int
    dtype: DataType
    iso: bool
    symmetric: bool | None
    #: Orientations that are there; None: no entries, and nobody has asked for arrays of them. The
    #: indices of a csr may be None: its rows are whole (empty, or with every column), and nobody
    #: has walked it yet.
    held: dict[str, tuple[Any, Any, Any]] | None
    offset_type: np.dtype[Any]
    device: str = "cuda"
    kind: str = "matrix"
    #: Everything that was made of the entries so far.
    companions: Companions = field(default_factory=Companions)
    #: The entries by column as well; all there is if nothing is `held`.
    block: Block | None = None
    #: Method of the last product that it was the left operand or the result of, by its index in the
    #: plan, and entries then if they were counted.
    driven: tuple[int, int] = UNDRIVEN
    #: Whether the host knows the number of entries; the device does by the last offset.
    is_exact: bool = True
    #: Entries of what it was made of, when the host last knew a number.
    base: int = 0
    #: Changes with the arrays and with what is known of them; 0 once they are released.
    stamp: int = field(default_factory=stamps.__next__)
    #: Its arrays as they were handed out without a copy, by layout.
    lent: dict[Any, Any] = field(default_factory=dict)

    @property
    def orientations(self) -> dict[str, tuple[Any, Any, Any]]:
        """Arrays by orientation."""
        if self.held is None and self.block is not None:
            *parts, rows = spell_out(self.runtime, self.block, self.c_offset, self.dtype.itemsize)
            self.held = {"csr": (parts[0], parts[1], parts[2])}
            self.companions.keep(ENTRY_ROWS, "csr", rows)
            self._change()
        if self.held is None:
            # Most outputs of statements are replaced before anybody asks.
            parts = allocate_parts(self.runtime, (self._offset_bytes, 0, 0))
            self.runtime.clear(parts[0])
            self.held = {"csr": (parts[0], parts[1], parts[2])}
        return self.held

    @property
    def _offset_bytes(self) -> int:
        return (self.nrows + 1) * self.offset_type.itemsize

    def _change(self) -> None:
        """Be another matrix for a launch, and to whoever asks for the arrays."""
        self.stamp = next(stamps)
        self.lent.clear()

    @property
    def nvals(self) -> int:
        """Number of entries; waits where only the device knows, the first time."""
        if not self.is_exact:
            # A result that nobody has asked: it has one orientation.
            (indptr, _, _) = self.orientations["csr"]
            at = self.nrows * self.offset_type.itemsize
            self.most = int(self.runtime.download(indptr, self.offset_type, 1, at)[0])
            self.is_exact, self.base = True, self.most
            # Before arrays go: a launch that was kept must not find them, whatever happens.
            self._change()
            self._trim()
        return self.most

    def known_entries(self) -> int:
        """Return a number of entries that the host knows or knew of what this was made of."""
        return self.most if self.is_exact else self.base

    def count_entries(self) -> int:
        """Return the number of entries; waits where only the device knows."""
        return self.nvals

    def _trim(self) -> None:
        """Give back what a bound took too much, if that is a lot."""
        indptr, indices, values = self.orientations["csr"]
        if indices.size < WASTED + 8 * self.most:
            return
        indices = _shortened(self.runtime, indices, 4 * self.most)
        if not self.iso:
            values = _shortened(self.runtime, values, self.dtype.itemsize * self.most)
        self.orientations["csr"] = (indptr, indices, values)
        rows = self.companions.get(ENTRY_ROWS, "csr")
        if rows is not None:
            rows = _shortened(self.runtime, rows, 4 * self.most)
            self.companions.keep(ENTRY_ROWS, "csr", rows)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.nrows, self.ncols

    @property
    def is_wide(self) -> bool:
        """Whether offsets have 64 bits."""
        return self.offset_type == np.int64

    def need(self, orientation: str) -> None:
        """Make an orientation resident: the entries are sorted the first time, few on the host."""
        if orientation in self.orientations:
            self._spell_out(orientation)
            return
        count = self.nvals
        name, (_, _, values) = next(iter(self.orientations.items()))
        self._change()
        if self.symmetric:
            self._share(name, orientation)
            return
        if count + self.nrows + self.ncols <= turning.FEW and not self.runtime.keeps_apart:
            turned = turning.turn(self.runtime, self.download(), values)
            self.symmetric = turned is None
            if turned is None:
                self._share(name, orientation)
            else:
                self.orientations[orientation] = turned.parts
                self.companions.keep(ENTRY_ROWS, orientation, turned.rows)
            return
        self._spell_out(name)
        found = _, indices, values = self.orientations[name]
        size = 0 if self.iso else self.dtype.itemsize
        nmajor, nminor = self.sides(name)
        require(self.runtime, transpose_bytes(count, size), f"the {orientation} of a matrix")
        entries = (count, indices, values, self.entry_rows(name))
        primitives = primitives_of(self.runtime)
        *made, rows = primitives.transpose(self.c_offset, (nmajor, nminor), entries, size)
        lengths, equal = (self._offset_bytes, 4 * count, size * count), primitives.are_equal
        self.symmetric = nmajor == nminor and all(map(equal, found, made, lengths))
        self.orientations[orientation] = found if self.symmetric else (made[0], made[1], made[2])
        if not self.symmetric:
            self.companions.keep(ENTRY_ROWS, orientation, rows)

    def state_symmetric(self, symmetric: bool | None) -> None:
        """Believe it from now on; of two orientations the first stays, without companions."""
        if self.held and len(self.held) > 1:
            name = next(iter(self.held))
            self.held, self.companions = {name: self.held[name]}, Companions()
        self.symmetric = symmetric
        self._change()

    def _share(self, name: str, other: str) -> None:
        """Let the other orientation of a symmetric matrix be the same arrays."""
        self._spell_out(name)
        self.orientations[other] = self.orientations[name]

    def _spell_out(self, name: str) -> None:
        """Make the indices of whole rows, unless they are there."""
        indptr, indices, values = self.orientations[name]
        if indices is None:
            made = primitives_of(self.runtime).whole_columns(self.most, self.ncols)
            self.held = {**self.orientations, name: (indptr, made, values)}
            self._change()

    def is_full(self) -> bool:
        """Return whether every entry is there; waits where only the device knows and it may be."""
        full = self.nrows * self.ncols
        # Only a bound that leaves it open is worth a wait.
        return 0 < full <= self.most and self.nvals == full

    def occupied_lines(self, orientation: str) -> Occupied:
        """Return the lines of an orientation that have entries; waits the first time."""
        known: Occupied | None = self.companions.get(OCCUPIED, orientation)
        if known is not None:
            return known
        primitives, nmajor = primitives_of(self.runtime), self.sides(orientation)[0]
        if orientation in self.orientations:
            indptr = self.orientations[orientation][0]
            found = primitives.occupied(self.c_offset, indptr, nmajor)
        else:
            lengths = self.line_lengths("csc" if orientation == "csr" else "csr")
            found = primitives.occupied_by(lengths, nmajor)
        self.companions.keep(OCCUPIED, orientation, found)
        return found

    @property
    def c_offset(self) -> str:
        """The C++ type of its offsets."""
        return "long long" if self.is_wide else "int"

    def sides(self, orientation: str) -> tuple[int, int]:
        """Return the numbers of rows and columns, of a csc the other way round."""
        sides = self.nrows, self.ncols
        return sides if orientation == "csr" else sides[::-1]

    def entry_rows(self, orientation: str) -> Any:
        """Return the row (of a csc: the column) of every entry; cached."""
        found = self.companions.get(ENTRY_ROWS, orientation)
        if found is None:
            indptr, nmajor = self.orientations[orientation][0], self.sides(orientation)[0]
            made = primitives_of(self.runtime).entry_rows(self.c_offset, indptr, nmajor, self.most)
            found = self.companions.keep(ENTRY_ROWS, orientation, made)
        return found

    def need_slices(self, orientation: str) -> Slices:
        """Return an orientation cut into equal shares of rows and entries; cached."""
        found: Slices | None = self.companions.get(SLICES, orientation)
        if found is None and self.symmetric:
            found = self.companions.any_of(SLICES)
        if found is None:
            indptr, nmajor = self.orientations[orientation][0], self.sides(orientation)[0]
            found = primitives_of(self.runtime).slices(self.c_offset, indptr, nmajor, self.most)
        self.companions.keep(SLICES, orientation, found)
        return found

    def lanes_of_lines(self, orientation: str) -> int:
        """Return how many lanes sum each line of an orientation that is cut into shares; 0: a warp.

        The longest line is asked for once, which waits; while a graph is captured nobody waits.
        """
        if self.runtime.is_capturing() and not self.knows_longest(orientation):
            return 0
        longest = self.longest_line(orientation)
        return lanes_of_rows(longest, self.sides(orientation)[0], self.most)

    def knows_longest(self, orientation: str) -> bool:
        """Return whether `longest_line` need not wait."""
        found: Slices | None = self.companions.get(SLICES, orientation)
        return found is not None and found.longest is not None

    def longest_line(self, orientation: str) -> int:
        """Return the entries of the longest line of an orientation; waits the first time."""
        found = self.need_slices(orientation)
        if found.longest is None:
            longest = primitives_of(self.runtime).read("int", found.rows, found.count + 1)
            found.longest = int(longest)
        return found.longest

    def companion(self, name: str, orientation: str) -> Any:
        """Return a companion, or None; a symmetric matrix has one for both orientations."""
        made = self.companions
        return made.any_of(name) if self.symmetric else made.get(name, orientation)

    def keep_companion(self, kind: Kind, orientation: str, made: Any) -> None:
        """Keep a companion that launches refer to, in the place of the one before."""
        if self.symmetric:
            self.companions.drop(kind)
        self.companions.keep(kind, orientation, made)
        self._change()

    def line_lengths(self, orientation: str) -> Any:
        """Return the entries of each column (of a csc: row) of an orientation."""
        count = self.sides(orientation)[1]
        primitives, other = primitives_of(self.runtime), "csc" if orientation == "csr" else "csr"
        if self.symmetric or other in self.orientations:
            name = other if other in self.orientations else orientation
            return primitives.line_lengths(self.c_offset, self.orientations[name][0], count)
        return primitives.count_indices(self.orientations[orientation][1], self.nvals, count)

    def widen(self) -> None:
        """Store 64-bit offsets, as a program with a larger matrix beside this one needs."""
        if self.is_wide:
            return
        wide: dict[int, Any] = {}
        for name, (indptr, _, _) in self.orientations.items():
            # A symmetric matrix has one array of offsets under two names.
            if id(indptr) not in wide:
                count = self.sides(name)[0] + 1
                wide[id(indptr)] = primitives_of(self.runtime).widen(indptr, count)
        # All or none: memory may run out in between.
        self.held = {
            name: (wide[id(indptr)], indices, values)
            for name, (indptr, indices, values) in self.orientations.items()
        }
        self.offset_type = np.dtype(np.int64)
        self._change()

    def take(self, made: MadeRows) -> None:
        """Replace all entries by a matrix in row order; waits if its bound has grown far."""
        rows = {} if made.rows is None else {(ENTRY_ROWS, "csr"): made.rows}
        self.held, self.companions = {"csr": made.parts}, Companions(rows)
        self.most, self.is_exact, self.iso = made.most, made.is_exact, made.iso
        self.symmetric, self.base = None, made.most if made.is_exact else made.base
        self.offset_type, self.block = np.dtype(np.int64 if made.wide else np.int32), None
        self._change()
        if not self.is_exact and self.most > GROWN * max(self.base, LEAST_BASE):
            self.count_entries()

    def take_block(self, block: Block) -> None:
        """Replace all entries by a block; rows are made of it when somebody asks."""
        self.held, self.companions, self.block = None, Companions(), block
        self.most, self.is_exact, self.iso = block.nvals, True, block.iso
        self.symmetric, self.base = None, block.nvals
        is_wide = offset_type_of(block.nvals) != "int"
        self.offset_type = np.dtype(np.int64 if is_wide else np.int32)
        self._change()

    def release(self) -> None:
        """Forget the buffers; another matrix may share them."""
        self.held, self.companions, self.block = {}, Companions(), None
        self.stamp, self.lent = 0, {}

    def describe(self) -> list[int]:
        """Return the words of its MatrixDescriptor."""
        words = []
        for name in ("csr", "csc"):
            parts = self.orientations.get(name)
            words += [0 if part is None else int(part.handle) for part in parts or [None] * 3]
            slices = self.companions.get(SLICES, name)
            words += [0, 0, 0] if slices is None else slices.describe()
            for kept, count in _variant_words():
                found = self.companion(kept, name)
                words += [0] * count if found is None else found.describe()
        return [*words, self.nrows, self.ncols, 0 if self.iso else 1]

    def memory_usage(self) -> dict[str, int]:
        """Return the bytes of its buffers together, and of what is kept beside them."""
        return {
            "buffers": sum(int(buffer.size) for buffer in self.buffers()),
            **dict.fromkeys((ENTRY_ROWS, OCCUPIED, SLICES), 0),
            **dict.fromkeys(VARIANTS, 0),
            **self.companions.memory_usage(),
            **({} if self.block is None else {"block": self.block.nbytes}),
        }

    def buffers(self) -> list[Any]:
        """Return every buffer, once."""
        parts = (b for parts in (self.held or {}).values() for b in parts if b is not None)
        return list({id(buffer): buffer for buffer in parts}.values())

    def download(self, orientation: str | None = None) -> MatrixArrays:
        """Return the arrays of an orientation, by default the first one, on the host; waits."""
        nvals = self.nvals
        # After the number was read, which may have shortened the arrays.
        name = orientation or next(iter(self.orientations))
        indptr, indices, values = self.orientations[name]
        nmajor = self.sides(name)[0]
        count = 1 if self.iso else nvals
        wanted = [(indptr, self.offset_type, nmajor + 1), (values, self.dtype.array_dtype, count)]
        if indices is None:
            offsets, held = self.runtime.download_all(*wanted)
            minors = np.resize(np.arange(self.ncols, dtype=np.int32), nvals)
        else:
            offsets, held, minors = self.runtime.download_all(*wanted, (indices, np.int32, nvals))
        return MatrixArrays(
            self.nrows, self.ncols, self.dtype, name, offsets, minors, held, self.iso,
            self.symmetric,
        )  # fmt: skip

    def duplicate(self) -> CudaMatrix:
        """Return a copy. Arrays of matrices never change, so it shares them."""
        return replace(
            self,
            held=None if self.held is None else dict(self.held),
            companions=self.companions.copy(),
            stamp=next(stamps),
            lent={},
        )

    def become(self, other: CudaMatrix) -> None:
        """Take the arrays of a copy made earlier."""
        for name in (
            "held", "companions", "most", "is_exact", "base", "iso", "symmetric", "offset_type",
            "block",
        ):  # fmt: skip
            setattr(self, name, getattr(other, name))
        self._change()


CudaObject = CudaVector | CudaMatrix | CudaScalar


@cache
def _variant_words() -> tuple[tuple[str, int], ...]:
    """Return what variants of pulls keep, and its words in a CompressedDescriptor, in order."""
    return tuple((name, variant_part(name, "cuda").WORDS) for name in VARIANTS)


def _shortened(runtime: Runtime, buffer: Any, nbytes: int) -> Any:
    """Return a copy of the first bytes of a buffer."""
    made = runtime.allocate(nbytes)
    runtime.move(buffer, made, 0, nbytes)
    return made


def check_alive(thing: CudaObject) -> None:
    """Raise if an object was released."""
    if not thing.stamp:
        raise Panic(f"a released {thing.kind} was used")
