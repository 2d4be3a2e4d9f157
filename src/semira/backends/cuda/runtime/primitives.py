"""Kernels on matrices that no operator enters: running sums, rows of entries, sorting."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from semira.backends.cuda.jit.compile import compile_cached
from semira.backends.cuda.jit.render import BASE
from semira.backends.cuda.runtime.device import Runtime
from semira.backends.cuda.runtime.errors import reported, unavailable
from semira.base.errors import OutOfMemory

if TYPE_CHECKING:
    import cupy

#: Threads of a block, items a block of a scan sums up (kernels/matrix/scan.cuh).
THREADS = 256
SCAN_TILE = 2048

#: Blocks a multiprocessor gets at most; kernels walk the rest in strides.
BLOCKS_PER_SM = 8

_OFFSET_BYTES = {"int": 4, "long long": 8}


class Module:
    """The kernels of one translation unit, compiled once per type of offsets."""

    def __init__(self, runtime: Runtime, name: str, source: str, root: str) -> None:
        self._runtime, self._name, self._source, self._root = runtime, name, source, root
        self._codes: dict[str, Any] = {}
        self._kernels: dict[tuple[str, str], Any] = {}

    def load(self, offset_type: str) -> None:
        """Compile, or take from the cache."""
        if offset_type in self._codes:
            return
        from cuda.core import ObjectCode

        runtime = self._runtime
        compiled = compile_cached(self._source, self._name, runtime.arch, offset_type, self._root)
        if compiled.was_cached:
            runtime.statistics.loaded += 1
        else:
            runtime.statistics.compiled += 1
        with reported(f"loading kernels {self._name}"):
            self._codes[offset_type] = ObjectCode.from_cubin(compiled.code, name=self._name)

    def launch(self, offset_type: str, kernel: str, items: int, *arguments: Any) -> None:
        """Start a kernel over `items` items in strides."""
        most = BLOCKS_PER_SM * self._runtime.multiprocessors
        blocks = max(1, min(most, -(-items // THREADS)))
        self.launch_blocks(offset_type, kernel, blocks, *arguments)

    def launch_blocks(self, offset_type: str, kernel: str, blocks: int, *arguments: Any) -> None:
        """Start a kernel with so many blocks."""
        from cuda.core import LaunchConfig, launch

        self.load(offset_type)
        key = offset_type, kernel
        if key not in self._kernels:
            self._kernels[key] = self._codes[offset_type].get_kernel(kernel)
        with reported(f"starting kernel {kernel} of {self._name} with {blocks} blocks"):
            launch(
                self._runtime.stream,
                LaunchConfig(grid=blocks, block=THREADS),
                self._kernels[key],
                *(_argument(given) for given in arguments),
            )
        self._runtime.statistics.launches += 1


def _argument(given: Any) -> Any:
    """Return a kernel argument: numbers as 64-bit integers, buffers as their address."""
    if given is None:
        return np.int64(0)
    if isinstance(given, (int, np.integer)):
        return np.int64(given)
    return np.int64(address(given))


def address(memory: Any) -> int:
    """Return the device address of a buffer or a CuPy array; 0 for None."""
    if memory is None:
        return 0
    return int(memory.handle) if hasattr(memory, "handle") else int(memory.data.ptr)


class Primitives:
    """The base kernels of one runtime."""

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime
        self.module = Module(runtime, "matrix_base", "", BASE)

    def offsets(self, offset_type: str, count: int) -> Any:
        """Return uninitialised memory for offsets."""
        return self.runtime.allocate(_OFFSET_BYTES[offset_type] * count)

    def scan(self, offset_type: str, items: Any, count: int) -> None:
        """Replace `count` numbers by the sums of those before; one more gets the total."""
        tiles = max(1, -(-count // SCAN_TILE))
        sums = self.offsets(offset_type, tiles + 1)
        name = f"semira_scan{8 * _OFFSET_BYTES[offset_type]}"
        start = self.module.launch_blocks
        start("int", f"{name}_tiles", tiles, items, count, sums)
        start("int", f"{name}_sums", 1, sums, tiles)
        start("int", f"{name}_items", tiles, items, count, sums)

    def read(self, offset_type: str, items: Any, at: int) -> int:
        """Return one offset; waits."""
        size = _OFFSET_BYTES[offset_type]
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

    def sort_keys(self, keys: Any, count: int) -> tuple[Any, Any]:
        """Return sorted 64-bit keys and where each was; equal keys keep their order."""
        cupy = _cupy()
        with reported(f"sorting {count} keys"), self.cupy_stream():
            given = self.as_cupy(keys, np.uint64, count)
            order = cupy.argsort(given)
            return given[order], order

    @contextmanager
    def cupy_stream(self) -> Iterator[None]:
        """Let CuPy work on the runtime's stream and in its memory inside the block.

        Raises
        ------
        OutOfMemory
            CuPy was refused memory; its sorts go on without what they were refused.
        """
        cupy = _cupy()
        refused: list[OutOfMemory] = []

        def allocate(nbytes: int) -> Any:
            try:
                buffer = self.runtime.allocate(nbytes)
            except OutOfMemory as error:
                refused.append(error)
                raise
            memory = cupy.cuda.UnownedMemory(address(buffer), max(1, buffer.size), buffer)
            return cupy.cuda.MemoryPointer(memory, 0)

        stream = cupy.cuda.Stream.from_external(self.runtime.stream)
        with stream, cupy.cuda.using_allocator(allocate):
            yield
        if refused:
            raise refused[0]

    def as_cupy(self, buffer: Any, dtype: Any, count: int) -> cupy.ndarray:
        """Return a buffer's memory as a CuPy array, without a copy."""
        cupy = _cupy()
        place = cupy.cuda.UnownedMemory(address(buffer), max(1, buffer.size), buffer)
        return cupy.ndarray((count,), dtype, cupy.cuda.MemoryPointer(place, 0))

    def reorder(self, values: Any, order: Any, count: int, itemsize: int) -> Any:
        """Return ``values[order]``."""
        found = self.runtime.allocate(itemsize * count)
        kernel = f"semira_reorder{itemsize}"
        self.module.launch("int", kernel, count, values, order, count, found)
        return found

    def transpose(
        self, offset_type: str, shape: tuple[int, int], entries: tuple[Any, ...], itemsize: int
    ) -> tuple[Any, ...]:
        """Return (indptr, indices, values, rows) of the transpose.

        Parameters
        ----------
        shape : (nrows, ncols)
        entries : (nvals, indices, values, rows)
            `itemsize` bytes a value; 0 if all entries share one, which is passed on.
        """
        (nrows, ncols), (nvals, indices, values, rows) = shape, entries
        keys = self.runtime.allocate(8 * nvals)
        start = self.module.launch
        start(offset_type, "semira_transposed_keys", nvals, rows, indices, nvals, nrows, keys)
        keys, order = self.sort_keys(keys, nvals)
        new_rows, new_indices = self.split(keys, nvals, nrows)
        indptr = self.row_offsets(offset_type, new_rows, nvals, ncols)
        flipped = self.reorder(values, order, nvals, itemsize) if itemsize else values
        return indptr, new_indices, flipped, new_rows

    def split(self, keys: Any, nvals: int, ncols: int) -> tuple[Any, Any]:
        """Return rows and columns of keys ``row * ncols + column``."""
        rows, indices = self.runtime.allocate(4 * nvals), self.runtime.allocate(4 * nvals)
        self.module.launch(
            "int", "semira_split_keys", nvals, keys, nvals, max(ncols, 1), rows, indices
        )
        return rows, indices

    def widen(self, indptr: Any, count: int) -> Any:
        """Return 32-bit offsets as 64-bit ones."""
        wide = self.runtime.allocate(8 * count)
        self.module.launch("int", "semira_widen", count, indptr, count, wide)
        return wide

    def are_equal(self, first: Any, second: Any, nbytes: int) -> bool:
        """Return whether two buffers hold the same bytes; waits."""
        if nbytes == 0:
            return True
        with reported("comparing buffers"), self.cupy_stream():
            left, right = (self.as_cupy(b, np.uint8, nbytes) for b in (first, second))
            same = bool((left == right).all())
        self.runtime.statistics.synchronisations += 1
        return same

    def positions(self, words: Any, size: int) -> tuple[Any, Any, int]:
        """Return the positions of a vector's entries in order, as 32 and 64 bits; waits."""
        flags = self.offsets("int", size + 1)
        start = self.module.launch
        start("int", "semira_presence", size, words, size, flags)
        self.scan("int", flags, size)
        nvals = self.read("int", flags, size)
        found, wide = self.runtime.allocate(4 * nvals), self.runtime.allocate(8 * nvals)
        start("int", "semira_positions", size, flags, size, found, wide)
        return found, wide, nvals


def primitives_of(runtime: Runtime) -> Primitives:
    """Return the base kernels of a runtime, made when they are first needed."""
    if runtime.primitives is None:
        runtime.primitives = Primitives(runtime)
    return runtime.primitives


def _cupy() -> Any:
    try:
        import cupy
    except ImportError as error:
        raise unavailable(f"CuPy is not installed ({error})") from error
    return cupy
