"""Builds of the cuda backend on the host: NumPy in place of CuPy and of its kernels."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from semira.backends.cuda.build.shop import Shop
from semira.backends.cuda.runtime.parts import Part
from semira.backends.cuda.runtime.spare import Spares
from semira.base.errors import OutOfMemory
from semira.ops.meaning import cast_array


class Memory:
    """Bytes with the attributes of a buffer; poisoned, as memory of a device is."""

    is_closed = False

    def __init__(self, nbytes: int) -> None:
        self.data = np.full(nbytes, 0xA5, np.uint8)
        self.size = nbytes
        self.handle = self.data.ctypes.data


def data_of(memory: Memory | Part) -> np.ndarray:
    """Return the bytes of memory, or of a part of it."""
    if isinstance(memory, Part):
        return memory.whole.data[memory.offset : memory.offset + memory.size]
    return memory.data


def items(memory: Any, dtype: Any, count: int) -> np.ndarray:
    """Return memory, or an array, as an array."""
    raw = data_of(memory) if hasattr(memory, "handle") else memory.reshape(-1).view(np.uint8)
    return raw[: np.dtype(dtype).itemsize * count].view(dtype)


class HostRuntime:
    """Memory of the host."""

    keeps_apart = False
    paired_bytes = 1 << 20

    def __init__(self) -> None:
        self.statistics = SimpleNamespace(synchronisations=0)
        self.spares = Spares()

    def allocate(self, nbytes: int) -> Memory:
        return Memory(nbytes)

    def zeroed(self, nbytes: int) -> Memory:
        made = Memory(nbytes)
        made.data[:] = 0
        return made

    def upload(self, array: np.ndarray, target: Any = None, offset: int = 0) -> Memory:
        target = Memory(array.nbytes) if target is None else target
        raw = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        data_of(target)[offset : offset + array.nbytes] = raw
        return target

    def upload_image(self, image: bytearray, target: Memory | Part, offset: int = 0) -> None:
        data_of(target)[offset : offset + len(image)] = np.frombuffer(image, np.uint8)

    def clear(self, target: Memory | Part, byte: int = 0, nbytes: int | None = None) -> None:
        data_of(target)[:nbytes] = byte


class HostPrimitives:
    """What the kernels of `Primitives` compute."""

    def __init__(self) -> None:
        self.runtime = HostRuntime()

    def as_cupy(self, memory: Any, dtype: Any, count: int) -> np.ndarray:
        return items(memory, dtype, count)

    def pack_keys(self, major, minor, nvals, bits, dtype=np.uint64):
        key = items(major[0], f"u{major[1]}", nvals).astype(np.uint64)
        if minor is not None:
            key = key << np.uint64(bits) | items(minor[0], f"u{minor[1]}", nvals)
        return self.runtime.upload(key.astype(dtype))

    def sort_in_place(self, keys, count, dtype=np.uint64):
        items(keys, dtype, count).sort()

    def order_of(self, keys, count, dtype):
        return np.argsort(items(keys, dtype, count), kind="stable")

    def reorder(self, values, order, count, itemsize):
        rows = items(values, np.uint8, values.size * getattr(values, "itemsize", 1))
        return self.runtime.upload(rows.reshape(-1, itemsize)[items(order, np.int64, count)])

    def mark_heads(self, keys, count, dtype):
        keys = items(keys, dtype, count)
        flags = np.ones(count, np.int32)
        flags[1:] = keys[1:] != keys[:-1]
        places = np.concatenate(([0], np.cumsum(flags))).astype(np.int32)
        return "int", self.runtime.upload(places), int(places[-1])

    def heads(self, offset_type, places, count, nvals):
        assert offset_type == "int"
        found = np.flatnonzero(np.diff(items(places, np.int32, count + 1)))
        assert len(found) == nvals
        return self.runtime.upload(found.astype(np.int64))

    def unpack_keys(self, keys, count, bits, dtype, places=None, nvals=None, *, offset_type="int"):
        assert offset_type == "int"
        keys = items(keys, dtype, count).astype(np.uint64)
        if places is not None:
            keys = keys[np.diff(items(places, np.int32, count + 1)) > 0]
        assert nvals in (None, len(keys))
        low = keys & np.uint64((1 << bits) - 1)
        major = (keys >> np.uint64(bits)).astype(np.int32)
        return self.runtime.upload(major), self.runtime.upload(low.astype(np.int32))

    def row_offsets(self, offset_type, rows, nvals, nrows):
        dtype = {"int": np.int32, "long long": np.int64}[offset_type]
        starts = np.searchsorted(items(rows, np.int32, nvals), np.arange(nrows + 1))
        return self.runtime.upload(starts.astype(dtype))

    def entry_rows(self, offset_type, indptr, nrows, nvals):
        dtype = {"int": np.int32, "long long": np.int64}[offset_type]
        lengths = np.diff(items(indptr, dtype, nrows + 1))
        assert lengths.sum() == nvals
        return self.runtime.upload(np.repeat(np.arange(nrows, dtype=np.int32), lengths))

    def line_faults(self, offsets, lines, indices, count, length):
        assert (len(offsets), len(indices)) == (lines + 1, count)
        if list(offsets[[0, -1]]) != [0, count] or (np.diff(offsets) < 0).any():
            return 1
        rows = np.repeat(np.arange(lines), np.diff(offsets))
        is_wrong = count and not 0 <= indices.min() <= indices.max() < length
        is_unsorted = ((np.diff(indices) <= 0) & (np.diff(rows) == 0)).any()
        return int(is_wrong) + 2 * int(is_unsorted)

    def set_presence(self, positions, count, words):
        at = items(positions, np.int32, count)
        np.bitwise_or.at(
            data_of(words).view(np.uint32), at // 32, np.uint32(1) << (at % 32).astype("u4")
        )


class HostGenerated:
    """What generated kernels compute."""

    def cast(self, given, wanted, values, count, out) -> None:
        cast = cast_array(items(values, given.np_type, count), wanted.np_type)
        items(out, wanted.np_type, count)[:] = cast

    def fold(self, op, dtype, runs, count, values, order, starts, out) -> None:
        values = items(values, dtype.np_type, count)[items(order, np.int64, count)]
        bounds = [*items(starts, np.int64, runs).tolist(), count]
        folded = items(out, dtype.np_type, runs)
        for run in range(runs):
            total = values[bounds[run]]
            for value in values[bounds[run] + 1 : bounds[run + 1]]:
                total = op.scalar_function(total, value, 0, 0, 0)
            folded[run] = total


def host_shop(free: int = 2**40) -> Shop:
    """Return the tools of a build on the host, where so many bytes are free."""

    def require(needed: int, what: str) -> None:
        if needed > free:
            raise OutOfMemory(f"{what} needs {needed} bytes on the GPU and {free} are free")

    primitives: Any = HostPrimitives()
    runtime: Any = primitives.runtime
    generated: Any = HostGenerated()
    return Shop(np, runtime, primitives, generated, require)


def read_vector(vector: Any) -> tuple[list[int], list[Any]]:
    """Return positions and values of a vector that was built on the host."""
    nvals, plane, listed = items(vector.state, np.int64, 5)[:3].tolist()
    memory, words, room = vector.planes[plane]
    bits = np.unpackbits(data_of(words), bitorder="little")[: vector.size]
    positions = np.flatnonzero(bits)
    assert len(positions) == nvals
    assert bits.sum() == np.unpackbits(data_of(words)).sum()
    if listed:
        assert sorted(items(room, np.int32, nvals).tolist()) == positions.tolist()
    values = items(memory, vector.dtype.np_type, vector.size)
    return positions.tolist(), values[positions].tolist()


def read_matrix(matrix: Any) -> SimpleNamespace:
    """Return the arrays of a matrix that was built on the host."""
    ((name, (indptr, indices, values)),) = matrix.orientations.items()
    lines = matrix.nrows if name == "csr" else matrix.ncols
    count = 1 if matrix.iso else matrix.nvals
    return SimpleNamespace(
        orientation=name,
        indptr=items(indptr, matrix.offset_type, lines + 1),
        indices=items(indices, np.int32, matrix.nvals),
        values=items(values, matrix.dtype.np_type, count),
    )
