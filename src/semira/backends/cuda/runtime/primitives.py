"""Kernels on matrices that no operator enters: running sums, rows of entries, sorting."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from semira.backends.cuda.jit.compile import named
from semira.backends.cuda.jit.render import BASE, kernels_of
from semira.backends.cuda.runtime import sorts
from semira.backends.cuda.runtime.device import Runtime
from semira.backends.cuda.runtime.errors import reported, unavailable
from semira.backends.cuda.runtime.lines import Occupied
from semira.backends.cuda.runtime.parts import Buffer, Part
from semira.backends.cuda.runtime.scratch import Scratch
from semira.backends.cuda.runtime.shares import ROW_ITEMS, items_of_share
from semira.base.errors import OutOfMemory
from semira.base.recent import Recent
from semira.formats.index import WIDE

if TYPE_CHECKING:
    import cupy

#: Threads of a block, items a block of a scan sums up (kernels/matrix/scan.cuh).
THREADS = 256
SCAN_TILE = 2048

#: Tiles of which each block adds up those before its own, in place of a launch that does: two sums
#: a thread.
FEW_TILES = 512

#: Blocks a multiprocessor gets at most; kernels walk the rest in strides.
BLOCKS_PER_SM = 8

#: Dynamic shared memory that a block gets unasked, beside at most 1 KB of named arrays: the
#: hardware grants 48 KB in all.
DEFAULT_SHARED = 47 << 10

#: Modules that all programs share and that are kept; the oldest go first.
_KEPT = 1024

#: Bytes of an offset, by its type.
OFFSET_BYTES = {"int": 4, "long long": 8}

#: Entries from which offsets need 64 bits. A kernel steps some hundred entries past the end of a
#: row before it compares, which must not overflow.
WIDE_ENTRIES = WIDE - 2**12


def offset_type_of(*counts: int) -> str:
    """Return the C++ type of offsets that counts so large need."""
    return "int" if max(counts, default=0) < WIDE_ENTRIES else "long long"


def transpose_bytes(nvals: int, itemsize: int) -> int:
    """Return the bytes that `Primitives.transpose` takes at most; see there for `itemsize`.

    Keys or columns and the permutation, their copies in the sort; then rows, indices and values.
    """
    return nvals * (8 + (32 + itemsize if itemsize else 24))


class Module:
    """The kernels of one translation unit, compiled once per type of offsets."""

    #: 0: its kernels work in memory of the call.
    workspace_bytes = 0

    def __init__(self, runtime: Runtime, name: str, source: str, root: str) -> None:
        self._runtime, self._name, self._source, self._root = runtime, name, source, root
        #: Of the cubins loaded.
        self.code_bytes = 0
        self._codes: dict[str, Any] = {}
        self._kernels: dict[tuple[str, str], Any] = {}
        self._granted: dict[tuple[str, str], int] = {}

    def load(self, offset_type: str) -> None:
        """Compile, or take from the cache."""
        if offset_type in self._codes:
            return
        code = self._runtime.compile(self._source, self._name, offset_type, self._root)
        with reported(f"loading kernels {self._name}"):
            self._codes[offset_type] = self._runtime.open_code(code, self._name)
        self.code_bytes += len(code)

    def launch(self, offset_type: str, kernel: str, items: int, *arguments: Any) -> None:
        """Start a kernel over `items` items in strides."""
        most = BLOCKS_PER_SM * self._runtime.multiprocessors
        blocks = max(1, min(most, -(-items // THREADS)))
        self.launch_blocks(offset_type, kernel, blocks, *arguments)

    def launch_blocks(
        self,
        offset_type: str,
        kernel: str,
        blocks: int,
        *arguments: Any,
        threads: int = THREADS,
        shared: int = 0,
    ) -> None:
        """Start a kernel with `blocks` blocks, each with `shared` bytes of dynamic memory."""
        key = offset_type, kernel
        found = self._kernels.get(key)
        if found is None:
            found = self._kernels[key] = self._find(offset_type, kernel)
        loaded, function, name = found
        if shared > self._granted.get(key, DEFAULT_SHARED):
            self._runtime.grant_shared(loaded, shared)
            self._granted[key] = shared
        started = self._runtime.mark()
        # Most are numbers or parts of a buffer.
        words = [
            given
            if given.__class__ is int
            else given.handle
            if given.__class__ is Part
            else _argument(given)
            for given in arguments
        ]
        self._runtime.start(function, name, (blocks, threads, shared), words)
        if started is not None:
            self._runtime.note_launch(started, name, loaded, self, blocks, threads, shared)

    def _find(self, offset_type: str, kernel: str) -> tuple[Any, Any, str]:
        """Return a kernel, what the driver launches for it, and its full name."""
        self.load(offset_type)
        name = f"{self._name}:{kernel}"
        with reported(f"loading kernel {name}"):
            loaded = self._codes[offset_type].get_kernel(kernel)
        return loaded, self._runtime.startable(loaded), name


class BaseModule:
    """The base kernels: a `Module` for each file, compiled when one of its kernels is started."""

    def __init__(self, runtime: Runtime) -> None:
        self._by_kernel: dict[str, Module] = {}
        for root in BASE:
            module = Module(runtime, "matrix_base", "", root)
            self._by_kernel |= dict.fromkeys(kernels_of(root), module)

    def launch(self, offset_type: str, kernel: str, items: int, *arguments: Any) -> None:
        """Start a kernel over `items` items in strides."""
        self._by_kernel[kernel].launch(offset_type, kernel, items, *arguments)

    def launch_blocks(
        self, offset_type: str, kernel: str, blocks: int, *arguments: Any, **options: int
    ) -> None:
        """Start a kernel with `blocks` blocks; see `Module.launch_blocks`."""
        self._by_kernel[kernel].launch_blocks(offset_type, kernel, blocks, *arguments, **options)


def _argument(given: Any) -> int:
    """Return a kernel argument: numbers as they are, buffers as their address."""
    if given is None:
        return 0
    if isinstance(given, int):
        return given
    return int(given) if isinstance(given, np.integer) else address(given)


def address(memory: Any) -> int:
    """Return the device address of a buffer or a CuPy array; 0 for None."""
    if memory is None:
        return 0
    return int(memory.handle) if hasattr(memory, "handle") else int(memory.data.ptr)


@dataclass(slots=True)
class Slices:
    """Equal shares of the rows and entries of one orientation of a matrix."""

    #: Row in which each share begins, and where the last one ends; then the entries of the longest
    #: row.
    rows: Buffer
    #: Number of shares, rows and entries of each.
    count: int
    items: int
    #: Entries of the longest row; None as long as nobody has asked.
    longest: int | None = None

    @property
    def nbytes(self) -> int:
        """Bytes of its buffer."""
        return int(self.rows.size)

    def describe(self) -> list[int]:
        """Return its words in a CompressedDescriptor."""
        return [int(self.rows.handle), self.count, self.items]


class Primitives:
    """The base kernels of one runtime."""

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime
        self.module = BaseModule(runtime)
        #: Kernels of builds that dtypes or operators enter, once something was built.
        self.generated: Any = None
        #: What statements work in.
        self.scratch = Scratch(runtime)
        #: Kernels that all programs share: of methods with folders, of arrays, of generated text.
        self.modules: Recent[Any, Module] = Recent(_KEPT)
        #: Kernels over arrays that run in turn, each with the counter of its barrier.
        self.loops: dict[Any, Any] = {}
        #: The runtime's stream as CuPy's, once it was needed.
        self._stream: Any = None

    def offsets(self, offset_type: str, count: int) -> Any:
        """Return uninitialised memory for offsets."""
        return self.runtime.allocate(OFFSET_BYTES[offset_type] * count)

    def scan(self, offset_type: str, items: Any, count: int) -> None:
        """Replace `count` numbers by the sums of those before; one more gets the total."""
        tiles = max(1, -(-count // SCAN_TILE))
        name = f"semira_scan{8 * OFFSET_BYTES[offset_type]}"
        start = self.module.launch_blocks
        if tiles == 1:
            start("int", f"{name}_few", 1, items, count, None)
            return
        sums = self.scratch.take(OFFSET_BYTES[offset_type] * (tiles + 1))
        start("int", f"{name}_tiles", tiles, items, count, sums)
        if tiles <= FEW_TILES:
            start("int", f"{name}_few", tiles, items, count, sums)
            return
        start("int", f"{name}_sums", 1, sums, tiles)
        start("int", f"{name}_items", tiles, items, count, sums)

    def read(self, offset_type: str, items: Any, at: int) -> int:
        """Return one offset; waits."""
        size = OFFSET_BYTES[offset_type]
        dtype = np.int32 if size == 4 else np.int64
        return int(self.runtime.download(items, dtype, 1, size * at)[0])

    def entry_rows(self, offset_type: str, indptr: Any, nrows: int, nvals: int) -> Any:
        """Return the row of every entry."""
        rows = self.runtime.allocate(4 * nvals)
        self.module.launch(offset_type, "semira_entry_rows", nvals, indptr, nrows, nvals, rows)
        return rows

    def row_offsets(self, offset_type: str, rows: Any, nvals: int, nrows: int) -> Any:
        """Return the offsets of rows whose entries lie in order."""
        indptr = self.offsets(offset_type, nrows + 1)
        self.module.launch(offset_type, "semira_row_offsets", nrows + 1, rows, nvals, nrows, indptr)
        return indptr

    def slices(self, offset_type: str, indptr: Any, nrows: int, nvals: int) -> Slices:
        """Return equal shares of the rows and entries, at most `nvals`, of a matrix."""
        items = items_of_share(nrows, nvals, self.runtime.multiprocessors)
        count = -(-(nvals + ROW_ITEMS * nrows) // items)
        rows = self.runtime.allocate(4 * (count + 2))
        self.module.launch(
            offset_type, "semira_slices", count + 1, indptr, nrows, count, items, rows
        )
        longest = address(rows) + 4 * (count + 1)
        self.module.launch(offset_type, "semira_longest", nrows, indptr, nrows, longest)
        return Slices(rows, count, items)

    def occupied(self, offset_type: str, indptr: Any, nrows: int) -> Occupied:
        """Return the rows that have entries; waits for their number."""
        before = self.offsets("int", nrows + 1)
        self.module.launch(offset_type, "semira_nonempty", nrows, indptr, nrows, before)
        return self._listed(before, nrows)

    def occupied_by(self, lengths: Any, nrows: int) -> Occupied:
        """Return the rows that have entries, by their lengths; waits for their number."""
        before = self.offsets("int", nrows + 1)
        self.module.launch("int", "semira_nonzero", nrows, lengths, nrows, before)
        return self._listed(before, nrows)

    def _listed(self, before: Any, nrows: int) -> Occupied:
        """Return the rows that are flagged; `before` becomes running sums of the flags."""
        self.scan("int", before, nrows)
        count = self.read("int", before, nrows)
        if count == nrows:
            return Occupied(count)
        listed = self.runtime.allocate(4 * count)
        self.module.launch("int", "semira_positions", nrows, before, nrows, listed, None)
        return Occupied(count, listed, before)

    def even_offsets(self, offset_type: str, occupied: Occupied, nrows: int, width: int) -> Any:
        """Return the offsets of rows of `width` entries each, or none; kept."""
        if occupied.even is None or occupied.even[:2] != (width, offset_type):
            made = self.offsets(offset_type, nrows + 1)
            self.module.launch(
                offset_type, "semira_even_offsets", nrows + 1, occupied.before, nrows, width, made
            )
            occupied.even = (width, offset_type, made)
        return occupied.even[2]

    def whole_columns(self, nvals: int, ncols: int) -> Any:
        """Return the column of every entry where rows are empty or have every column."""
        columns = self.runtime.allocate(4 * nvals)
        self.module.launch("int", "semira_whole_columns", nvals, nvals, max(ncols, 1), columns)
        return columns

    def line_lengths(self, offset_type: str, indptr: Any, count: int) -> Any:
        """Return the entries of each line, as 32-bit numbers."""
        lengths = self.runtime.allocate(4 * count)
        self.module.launch(offset_type, "semira_line_lengths", count, indptr, count, lengths)
        return lengths

    def count_indices(self, indices: Any, nvals: int, count: int) -> Any:
        """Return how often each of `count` indices occurs, as 32-bit numbers."""
        lengths = self.runtime.zeroed(4 * count)
        self.module.launch("int", "semira_count_indices", nvals, indices, nvals, lengths)
        return lengths

    def sort_keys(self, keys: Any, count: int) -> tuple[Any, Any]:
        """Return sorted 64-bit keys and where each was; equal keys keep their order."""
        cupy = array_library()
        with reported(f"sorting {count} keys"), self.cupy_stream():
            started = self.runtime.mark()
            given = self.as_cupy(keys, np.uint64, count)
            order = cupy.argsort(given)
            ordered = given[order]
            self.runtime.note_launch(started, "cupy argsort")
            return ordered, order

    def pack_keys(
        self, major: Any, minor: Any, nvals: int, bits: int, dtype: Any = np.uint64
    ) -> Any:
        """Return the keys ``major << bits | minor``; without `minor`, of `major` alone.

        Both are (memory, bytes of an index): positions of 4 or 8 bytes, known to be in bounds.
        """
        width = np.dtype(dtype).itemsize
        keys = self.runtime.allocate(width * nvals)
        (first, first_bytes), (second, second_bytes) = major, minor or (None, 4)
        self.module.launch(
            "int", "semira_pack_keys", nvals, first, first_bytes, second, second_bytes, nvals,
            bits, keys, width,
        )  # fmt: skip
        return keys

    def sort_in_place(self, keys: Any, count: int, dtype: Any = np.uint64) -> None:
        """Sort unsigned keys."""
        if count < 2:
            return
        if sorts.is_short(count, dtype):
            sorts.sort(self.runtime, self.module, keys, count, dtype)
            return
        with reported(f"sorting {count} keys"), self.cupy_stream():
            self.as_cupy(keys, dtype, count).sort()

    def order_of(self, keys: Any, count: int, dtype: Any) -> Any:
        """Return the sorting permutation, as 64-bit numbers; equal keys keep their order.

        No key is negative.
        """
        if count < 2:
            return self.runtime.zeroed(8)
        if sorts.is_short(count, dtype) and np.dtype(dtype).itemsize == 4:
            return sorts.order(self.runtime, self.module, keys, count)
        with reported(f"sorting {count} keys"), self.cupy_stream():
            return array_library().argsort(self.as_cupy(keys, dtype, count))

    def mark_heads(self, keys: Any, count: int, dtype: Any) -> tuple[str, Any, int]:
        """Return (offset type, where first copies of sorted keys go, how many they are); waits."""
        kind = offset_type_of(count)
        places = self.offsets(kind, count + 1)
        self.module.launch(
            kind, "semira_key_heads", count, keys, np.dtype(dtype).itemsize, count, places
        )
        self.scan(kind, places, count)
        return kind, places, self.read(kind, places, count)

    def heads(self, offset_type: str, places: Any, count: int, nvals: int) -> Any:
        """Return the 64-bit numbers of the keys that `mark_heads` has found to be first."""
        found = self.runtime.allocate(8 * nvals)
        self.module.launch(offset_type, "semira_positions", count, places, count, None, found)
        return found

    def unpack_keys(
        self, keys: Any, count: int, bits: int, dtype: Any = np.uint64, places: Any = None,
        nvals: int | None = None, *, offset_type: str = "int",
    ) -> tuple[Any, Any]:  # fmt: skip
        """Return the parts of sorted keys; with `places`, of `nvals` keys that differ.

        `places` are running sums of flags, of `offset_type`: where each key's first copy goes.
        """
        nvals = count if nvals is None else nvals
        major, minor = self.runtime.allocate(4 * nvals), self.runtime.allocate(4 * nvals)
        self.module.launch(
            offset_type, "semira_unpack_keys", count, keys, np.dtype(dtype).itemsize, count, bits,
            places, major, minor,
        )  # fmt: skip
        return major, minor

    @contextmanager
    def cupy_stream(self) -> Iterator[None]:
        """Let CuPy work on the runtime's stream and in its memory inside the block.

        Raises OutOfMemory if CuPy was refused memory: its sorts go on without it.
        """
        cupy = array_library()
        refused: list[OutOfMemory] = []

        def allocate(nbytes: int) -> Any:
            try:
                buffer = self.runtime.allocate(nbytes)
            except OutOfMemory as error:
                refused.append(error)
                raise
            return cupy_memory(self.runtime, buffer, buffer.size, buffer)

        if self._stream is None:
            self._stream = cupy.cuda.Stream.from_external(self.runtime.stream)
        try:
            with self._stream, cupy.cuda.using_allocator(allocate):
                yield
        finally:
            # Also where CuPy has turned it into an error of its own.
            if refused:
                raise refused[0]

    def as_cupy(self, buffer: Any, dtype: Any, count: int) -> cupy.ndarray:
        """Return a buffer's memory as a CuPy array, without a copy."""
        place = cupy_memory(self.runtime, buffer, buffer.size, buffer)
        return array_library().ndarray((count,), dtype, place)

    def reorder(self, values: Any, order: Any, count: int, itemsize: int) -> Any:
        """Return ``values[order]``."""
        found = self.runtime.allocate(itemsize * count)
        word = math.gcd(itemsize, 8)
        kernel, size = f"semira_reorder{word}", itemsize // word
        self.module.launch("int", kernel, count * size, values, order, count, size, found)
        return found

    def transpose(
        self, offset_type: str, shape: tuple[int, int], entries: tuple[Any, ...], itemsize: int
    ) -> tuple[Any, ...]:
        """Return (indptr, indices, values, rows) of the transpose of (nrows, ncols).

        `entries` are (nvals, indices, values, rows), with `itemsize` bytes a value; 0 if all
        entries share one, which is passed on.
        """
        (nrows, ncols), (nvals, indices, values, rows) = shape, entries
        if itemsize:
            # The entries are in row order, and a stable sort by column keeps it.
            order = self.order_of(indices, nvals, np.int32)
            new_rows = self.reorder(indices, order, nvals, 4)
            new_indices = self.reorder(rows, order, nvals, 4)
            values = self.reorder(values, order, nvals, itemsize)
        else:
            bits = max(nrows - 1, 0).bit_length()
            keys = self.pack_keys((indices, 4), (rows, 4), nvals, bits)
            self.sort_in_place(keys, nvals)
            new_rows, new_indices = self.unpack_keys(keys, nvals, bits)
        indptr = self.row_offsets(offset_type, new_rows, nvals, ncols)
        return indptr, new_indices, values, new_rows

    def split(self, keys: Any, nvals: int, ncols: int) -> tuple[Any, Any]:
        """Return rows and columns of keys ``row * ncols + column``."""
        rows, indices = self.runtime.allocate(4 * nvals), self.runtime.allocate(4 * nvals)
        self.module.launch(
            "int", "semira_split_keys", nvals, keys, nvals, max(ncols, 1), rows, indices
        )
        return rows, indices

    def narrow(self, numbers: Any, count: int) -> Any:
        """Return 64-bit numbers that fit 32 bits as such."""
        with reported("narrowing numbers"), self.cupy_stream():
            return self.as_cupy(numbers, np.int64, count).astype(np.int32)

    def widen(self, indptr: Any, count: int) -> Any:
        """Return 32-bit offsets as 64-bit ones."""
        wide = self.runtime.allocate(8 * count)
        self.module.launch("int", "semira_widen", count, indptr, count, wide)
        return wide

    def are_equal(self, first: Any, second: Any, nbytes: int) -> bool:
        """Return whether two buffers hold the same bytes; waits."""
        found = self.runtime.zeroed(4)
        # With the kernel that a transpose has started, so that nothing more is compiled.
        self.module.launch("int", "semira_differ", -(-nbytes // 4), first, second, nbytes, found)
        return self.read("int", found, 0) == 0

    def line_faults(self, offsets: Any, lines: int, indices: Any, count: int, length: int) -> int:
        """Return 0 if signed arrays are compressed lines; waits.

        Bit 0: something is out of bounds, or offsets fall. Bit 1: indices of a line do not rise.
        """
        faults = self.runtime.zeroed(4)
        self.module.launch(
            "int", "semira_line_faults", max(count, lines + 1), offsets, offsets.itemsize, lines,
            indices, indices.itemsize, count, length, faults,
        )  # fmt: skip
        return self.read("int", faults, 0)

    def set_presence(self, positions: Any, count: int, words: Any) -> None:
        """Set the bits of listed positions in presence words."""
        self.module.launch("int", "semira_set_presence", count, positions, count, words)

    def positions(self, words: Any, size: int, nvals: int) -> tuple[Any, Any]:
        """Return the positions of a vector's `nvals` entries in order, as 32 and 64 bits."""
        flags = self.scratch.take(4 * (size + 1))
        start = self.module.launch
        start("int", "semira_presence", size, words, size, flags)
        self.scan("int", flags, size)
        found, wide = self.runtime.allocate(4 * nvals), self.runtime.allocate(8 * nvals)
        start("int", "semira_positions", size, flags, size, found, wide)
        return found, wide


def primitives_of(runtime: Runtime) -> Primitives:
    """Return the base kernels of a runtime, made when they are first needed."""
    if runtime.primitives is None:
        runtime.primitives = Primitives(runtime)
    return runtime.primitives


def name_of_file(root: str) -> str:
    """Return the name that the kernels of a file have in the cache."""
    return root.replace(":", "_").replace(".", "_")


def module_of(runtime: Runtime, root: str, kind: str = "", source: str = "") -> Module:
    """Return the kernels of a file, ``package:file`` of a method's folder, or of generated text.

    They are made when they are first needed; `kind` says in the cache what the text is.
    """
    modules = primitives_of(runtime).modules
    found = modules.get((root, source))
    if found is None:
        name = named(kind, source) if source else name_of_file(root)
        found = modules[root, source] = Module(runtime, name, source, root)
    return found


def cupy_memory(runtime: Runtime, buffer: Any, nbytes: int, owner: Any) -> Any:
    """Return a buffer as memory of CuPy's, which keeps `owner` as long as it is used.

    The device is named: CuPy would ask the driver, which knows none where a buffer is empty.
    """
    cuda = array_library().cuda
    device = runtime.device.device_id
    memory = cuda.UnownedMemory(address(buffer), max(1, nbytes), owner, device)
    return cuda.MemoryPointer(memory, 0)


def array_library() -> Any:
    """Return CuPy; raises DeviceUnavailable if it is not installed."""
    try:
        import cupy
    except ImportError as error:
        raise unavailable(f"CuPy is not installed ({error})") from error
    return cupy
