"""Entries of a matrix on the device, and how a stage is given its operands."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field, replace
from typing import Any

from semira.backends.cuda.runtime.device import Runtime
from semira.backends.cuda.runtime.parts import JOINED, Buffer, allocate_parts
from semira.backends.cuda.runtime.primitives import (
    OFFSET_BYTES,
    THREADS,
    Module,
    Primitives,
    address,
)
from semira.backends.cuda.runtime.scratch import Scratch
from semira.backends.cuda.staged.executable import StagedExecutable
from semira.backends.cuda.staged.text import ENTRIES, ENTRIES_WORDS, SCALARS
from semira.base.dtypes import DataType

#: Words of an EntriesDescriptor and of a ScalarDescriptor of nothing.
_NO_ENTRIES, _NO_SCALAR = (0,) * ENTRIES_WORDS, (0,) * 3

#: Bytes of a result for which its size is read before memory is taken: the wait is then short
#: beside the work, and a bound may be many times too large.
BOUND_BYTES = 1 << 28


@dataclass(frozen=True, slots=True)
class Pieces:
    """A matrix in row order."""

    shape: tuple[int, int]
    #: Entries there is room for; as many as there are if `is_exact`. The device knows their number
    #: by the last offset.
    most: int
    dtype: DataType
    #: `rows` names the row of every entry; None where no kernel asks for it. Without `indices` rows
    #: are whole: empty, or with every column.
    indptr: Buffer
    indices: Buffer
    rows: Buffer
    values: Buffer
    #: `values` is a single one.
    iso: bool = False
    is_exact: bool = True

    @property
    def mean(self) -> int:
        """Entries of a row on average, rounded up."""
        return -(-self.most // max(1, self.shape[0]))

    def describe(self) -> list[int]:
        """Return the words of its EntriesDescriptor."""
        parts = (self.indptr, self.indices, self.values, self.rows)
        return [*map(address, parts), self.shape[0], self.most, 0 if self.iso else 1]


@dataclass(frozen=True, slots=True)
class Launch:
    """One launch of a kernel of a statement."""

    kernel: str
    blocks: int
    threads: int
    shared: int
    #: Its arguments; who starts it may add others.
    given: tuple[Any, ...]
    #: Of which kernels of the statement it is; see `StagedExecutable.module_of`.
    of: str = ""
    #: Whether the same arguments do the same in the statement's next execution on the same
    #: operands: it uses no memory that is cut anew.
    is_lasting: bool = False


@dataclass(slots=True)
class Stage:
    """One execution of a staged statement."""

    runtime: Runtime
    primitives: Primitives
    executable: StagedExecutable
    #: "int" or "long long".
    offset_type: str
    #: Name in the table -> `Pieces`, or the words of a scalar.
    operands: dict[str, Any] = field(default_factory=dict)
    #: The table on the device; None once an operand has changed.
    sent: Buffer | None = None

    @property
    def scratch(self) -> Scratch:
        """Memory that is needed until the statement is launched."""
        scratch: Scratch = self.primitives.scratch
        return scratch

    def enter(self, name: str, given: Any) -> None:
        """Give the kernels an operand."""
        self.operands[name], self.sent = given, None

    def table(self) -> Any:
        """Return the table of operands on the device, uploaded if one has changed.

        The statement's next execution finds it there: a warm call has the operands of the last one.
        """
        if self.sent is not None:
            return self.sent
        words = array("q")
        for name in ENTRIES:
            given = self.operands.get(name)
            words.extend(_NO_ENTRIES if given is None else given.describe())
        for name in SCALARS:
            words.extend(self.operands.get(name, _NO_SCALAR))
        before, memory = self.executable.table
        if memory is None:
            memory = self.runtime.allocate(words.itemsize * len(words))
        if words != before:
            self.executable.table = None, None
            self.runtime.statistics.uploads += 1
            self.runtime.upload_image(bytearray(words), memory)
            self.executable.table = words, memory
        self.sent = memory
        return memory

    def launch(self, kernel: str, items: int, *arguments: Any, of: str = "") -> None:
        """Start a kernel of the statement on the present operands."""
        module = self.executable.module_of(self.runtime, of)
        module.launch(self.offset_type, kernel, items, self.table(), *arguments)

    def launch_blocks(
        self, kernel: str, blocks: int, *arguments: Any, of: str = "", threads: int = THREADS,
        shared: int = 0,
    ) -> None:  # fmt: skip
        """Start `blocks` blocks, each with `shared` bytes of memory of its own."""
        self.executable.module_of(self.runtime, of).launch_blocks(
            self.offset_type, kernel, blocks, self.table(), *arguments,
            threads=threads, shared=shared,
        )  # fmt: skip

    def start(self, one: Launch, *more: Any) -> None:
        """Start a launch with more arguments."""
        self.launch_blocks(
            one.kernel, one.blocks, *one.given, *more,
            of=one.of, threads=one.threads, shared=one.shared,
        )  # fmt: skip

    def own_module(self) -> Module:
        """Return the kernels that the folder of a method brings."""
        return self.executable.module_of(self.runtime, "own")

    def flags(self, count: int) -> Any:
        """Return memory for `count` flags and their sum, which are offsets in the end."""
        return self.scratch.take(OFFSET_BYTES[self.offset_type] * (count + 1))

    def offsets(self, count: int) -> Any:
        """Return memory for `count` offsets, to be kept."""
        return self.primitives.offsets(self.offset_type, count)

    def scan(self, items: Any, count: int) -> None:
        """Replace counts by running sums; one more item gets the total."""
        self.primitives.scan(self.offset_type, items, count)

    def spelled_out(self, pieces: Pieces) -> Pieces:
        """Return whole rows with their indices, and with the row of every entry."""
        if pieces.indices is not None:
            return pieces
        primitives, (nrows, ncols) = self.primitives, pieces.shape
        indices = primitives.whole_columns(pieces.most, ncols)
        rows = primitives.entry_rows(self.offset_type, pieces.indptr, nrows, pieces.most)
        return replace(pieces, indices=indices, rows=rows)

    def total(self, items: Any, count: int) -> int:
        """Return the last running sum; waits."""
        return self.primitives.read(self.offset_type, items, count)

    def count(self, pieces: Pieces) -> int:
        """Return the number of entries; waits where only the device knows."""
        if pieces.is_exact:
            return pieces.most
        return self.total(pieces.indptr, pieces.shape[0])

    def counts(self, count: int) -> Any:
        """Return memory for counts whose sum may need 64 bits."""
        return self.scratch.take(8 * count)

    def sum_up(self, items: Any, count: int) -> int:
        """Replace 64-bit counts by running sums and return their total; waits."""
        self.primitives.scan("long long", items, count)
        return self.primitives.read("long long", items, count)

    def merged(
        self, prefix: str, x: Pieces, y: Pieces | None, dtype: DataType, *extra: Any,
        shared: Any = None,
    ) -> Pieces:  # fmt: skip
        """Run the kernels of a merge; `shared` is the one value of all entries."""
        kept_x = self.flags(x.most)
        kept_y = None if y is None else self.flags(y.most)
        items = max(x.most, y.most if y is not None else 0)
        self.launch(f"{prefix}_flags", items, *extra, kept_x, kept_y)
        return self.filled(prefix, x, y, dtype, kept_x, kept_y, *extra, shared=shared)

    def filled(
        self, prefix: str, x: Pieces, y: Pieces | None, dtype: DataType, kept_x: Any, kept_y: Any,
        *extra: Any, shared: Any = None,
    ) -> Pieces:  # fmt: skip
        """Run the scans and ``<prefix>_fill``, given the flags.

        Memory is taken for all entries that may stay, so that nothing is waited for, unless that
        is much: then the number of those that do is read first.
        """
        self.scan(kept_x, x.most)
        most, items = x.most, max(x.most, x.shape[0] + 1)
        if y is not None:
            self.scan(kept_y, y.most)
            most, items = most + y.most, max(items, y.most)
        most = min(most, x.shape[0] * x.shape[1])
        size = 8 if shared is not None else 8 + dtype.itemsize
        is_exact = most * size > BOUND_BYTES
        if is_exact:
            most = self.total(kept_x, x.most)
            most += 0 if y is None else self.total(kept_y, y.most)
        made = self.blank(x.shape, most, dtype, shared, is_exact=is_exact)
        values = None if shared is not None else made.values
        self.launch(
            f"{prefix}_fill", items, *extra, kept_x, kept_y, x.shape[0], made.indptr,
            made.indices, made.rows, values,
        )  # fmt: skip
        return made

    def blank_sizes(
        self, shape: tuple[int, int], most: int, dtype: DataType
    ) -> tuple[int, int, int, int]:
        """Return the bytes of each array that `blank` takes for values that differ."""
        indptr = OFFSET_BYTES[self.offset_type] * (shape[0] + 1)
        return indptr, 4 * most, 4 * most, dtype.itemsize * most

    def blank(
        self, shape: tuple[int, int], most: int, dtype: DataType, shared: Any, *,
        is_exact: bool = True,
    ) -> Pieces:  # fmt: skip
        """Return memory for a result, a small one's in one piece."""
        sizes = self.blank_sizes(shape, most, dtype)[: 3 if shared is not None else 4]
        if sum(sizes) <= JOINED:
            made: list[Any] = [*allocate_parts(self.runtime, sizes)]
        else:
            made = [self.runtime.allocate(size) for size in sizes]
        indptr, indices, rows, values = (*made, shared)[:4]
        return Pieces(
            shape, most, dtype, indptr, indices, rows, values, shared is not None, is_exact
        )

    def from_keys(
        self, shape: tuple[int, int], keys: Any, nvals: int, dtype: DataType, values: Any, *,
        iso: bool,
    ) -> Pieces:  # fmt: skip
        """Return the matrix of sorted keys ``row * ncols + column``, no two of them equal."""
        rows, indices = self.primitives.split(keys, nvals, shape[1])
        indptr = self.primitives.row_offsets(self.offset_type, rows, nvals, shape[0])
        return Pieces(shape, nvals, dtype, indptr, indices, rows, values, iso)

    def moved(
        self, shape: tuple[int, int], keys: Any, origin: Any, nvals: int, source: Pieces, sort: bool
    ) -> Pieces:
        """Return the matrix whose entries have these keys and come from entries of `source`."""
        if sort and nvals > 1:
            keys, order = self.primitives.sort_keys(keys, nvals)
            origin = self.primitives.reorder(origin, order, nvals, 8)
        values = source.values
        if not source.iso:
            size = source.dtype.itemsize
            values = self.primitives.reorder(source.values, origin, nvals, size)
        return self.from_keys(shape, keys, nvals, source.dtype, values, iso=source.iso)
