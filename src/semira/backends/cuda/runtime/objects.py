"""Handles: vectors, matrices and scalars in device memory."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira.backends.cuda.runtime.device import Runtime
from semira.backends.cuda.runtime.parts import Part, allocate_parts
from semira.backends.cuda.runtime.primitives import (
    Slices,
    offset_type_of,
    primitives_of,
    transpose_bytes,
)
from semira.backends.cuda.runtime.room import require
from semira.base.dtypes import DataType
from semira.base.errors import Panic
from semira.formats import MatrixArrays, ScalarArrays, VectorArrays

#: Fields of VectorState (kernels/common/vector.cuh).
STATE_WORDS = 5

#: Stamps of objects: one for each state of the buffers of each object, none twice.
_stamps = count(1)

#: Vectors with at most so many entries are uploaded entry by entry.
FEW = 32

#: Vectors of at most so many bytes, both planes together, are uploaded in one piece.
SMALL = 4096


@dataclass(slots=True, eq=False)
class CudaVector:
    """A vector: two planes, of which the device knows which one is in use.

    Attributes
    ----------
    planes : list of (values, words, list) buffers
        The second plane is made when a program first needs it.
    state : buffer
        Number of entries, plane in use, and whether its list is complete.
    stamp : int
        Changes with the buffers; 0 once they are released.
    """

    runtime: Runtime
    size: int
    dtype: DataType
    planes: list[tuple[Any, Any, Any]]
    state: Any
    device: str = "cuda"
    kind: str = "vector"
    stamp: int = field(default_factory=_stamps.__next__)
    _words: array[int] | None = None

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
            self._words, self.stamp = None, next(_stamps)

    def describe(self) -> array[int]:
        """Return the words of its VectorDescriptor."""
        if self._words is None:
            planes = [*self.planes, self.planes[0]][:2]
            pointers = [int(buffer.handle) for plane in planes for buffer in plane]
            self._words = array("q", [*pointers, int(self.state.handle), self.size])
        return self._words

    def release(self) -> None:
        """Give the buffers back."""
        self.stamp = 0
        for buffer in self.buffers():
            buffer.close(self.runtime.stream)

    def active_plane(self) -> int:
        """Return which plane holds the entries; waits."""
        return int(self.runtime.download(self.state, np.int64, STATE_WORDS)[1])

    def count_entries(self) -> int:
        """Return the number of entries; waits."""
        self.runtime.check_process()
        check_alive(self)
        return int(self.runtime.download(self.state, np.int64, 1)[0])

    def memory_usage(self) -> dict[str, int]:
        """Return the bytes of its buffers, together."""
        return {"buffers": sum(int(buffer.size) for buffer in self.buffers())}

    def buffers(self) -> list[Any]:
        """Return every buffer."""
        return [*(buffer for plane in self.planes for buffer in plane), self.state]

    def duplicate(self) -> CudaVector:
        """Return a copy."""
        buffers = self.buffers()
        parts = allocate_parts(self.runtime, tuple(buffer.size for buffer in buffers))
        for source, target in zip(buffers, parts, strict=True):
            self.runtime.move(source, target, 0, source.size)
        planes = [_plane(parts, 3 * k) for k in range(len(self.planes))]
        return CudaVector(self.runtime, self.size, self.dtype, planes, parts[-1])

    def become(self, other: CudaVector) -> None:
        """Take the buffers of a copy made earlier."""
        self.planes, self.state = other.planes, other.state
        self._words, self.stamp = None, next(_stamps)


@dataclass(slots=True, eq=False)
class CudaMatrix:
    """A matrix: one orientation or both, each (indptr, indices, values)."""

    runtime: Runtime
    nrows: int
    ncols: int
    nvals: int
    dtype: DataType
    iso: bool
    symmetric: bool | None
    orientations: dict[str, tuple[Any, Any, Any]]
    offset_type: np.dtype[Any]
    device: str = "cuda"
    kind: str = "matrix"
    rows: dict[str, Any] = field(default_factory=dict)
    slices: dict[str, Slices] = field(default_factory=dict)
    stamp: int = 0

    def __setattr__(self, name: str, value: Any) -> None:
        # Whoever replaces arrays, or states facts of them, makes it another matrix for a launch.
        object.__setattr__(self, name, value)
        object.__setattr__(self, "stamp", next(_stamps))

    def count_entries(self) -> int:
        """Return the number of entries, which the host knows."""
        return self.nvals

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.nrows, self.ncols

    @property
    def is_wide(self) -> bool:
        """Whether offsets have 64 bits."""
        return self.offset_type == np.int64

    def need(self, orientation: str) -> None:
        """Make an orientation resident: the entries are sorted on the device the first time."""
        if orientation in self.orientations:
            return
        name, found = next(iter(self.orientations.items()))
        if self.symmetric:
            self.orientations[orientation] = found
            return
        _, indices, values = found
        size = 0 if self.iso else self.dtype.itemsize
        nmajor, nminor = self._sides(name)
        require(self.runtime, transpose_bytes(self.nvals, size), f"the {orientation} of a matrix")
        entries = (self.nvals, indices, values, self.entry_rows(name))
        *made, rows = primitives_of(self.runtime).transpose(
            self._c_offset, (nmajor, nminor), entries, size
        )
        self.symmetric = nmajor == nminor and self._are_same(found, tuple(made), size)
        self.orientations[orientation] = found if self.symmetric else (made[0], made[1], made[2])
        if not self.symmetric:
            self.rows[orientation] = rows

    def _are_same(self, first: tuple[Any, ...], second: tuple[Any, ...], size: int) -> bool:
        """Return whether two orientations hold the same bytes; waits."""
        lengths = ((self.nrows + 1) * self.offset_type.itemsize, 4 * self.nvals, size * self.nvals)
        equal = primitives_of(self.runtime).are_equal
        return all(equal(a, b, n) for a, b, n in zip(first, second, lengths, strict=True))

    @property
    def _c_offset(self) -> str:
        return "long long" if self.is_wide else "int"

    def _sides(self, orientation: str) -> tuple[int, int]:
        sides = self.nrows, self.ncols
        return sides if orientation == "csr" else sides[::-1]

    def entry_rows(self, orientation: str) -> Any:
        """Return the row (of a csc: the column) of every entry; kept."""
        if orientation not in self.rows:
            indptr = self.orientations[orientation][0]
            nmajor = self._sides(orientation)[0]
            self.rows[orientation] = primitives_of(self.runtime).entry_rows(
                self._c_offset, indptr, nmajor, self.nvals
            )
        return self.rows[orientation]

    def need_slices(self, orientation: str) -> None:
        """Cut an orientation into equal shares of rows and entries; kept."""
        if orientation in self.slices:
            return
        other = next(iter(self.slices.values()), None)
        if self.symmetric and other is not None:
            self.slices[orientation] = other
            return
        indptr, nmajor = self.orientations[orientation][0], self._sides(orientation)[0]
        self.slices[orientation] = primitives_of(self.runtime).slices(
            self._c_offset, indptr, nmajor, self.nvals
        )

    def widen(self) -> None:
        """Store 64-bit offsets, as a program with a larger matrix beside this one needs."""
        if self.is_wide:
            return
        wide: dict[int, Any] = {}
        for name, (indptr, _, _) in self.orientations.items():
            # A symmetric matrix has one array of offsets under two names.
            if id(indptr) not in wide:
                count = self._sides(name)[0] + 1
                wide[id(indptr)] = primitives_of(self.runtime).widen(indptr, count)
        # All or none: memory may run out in between.
        self.orientations = {
            name: (wide[id(indptr)], indices, values)
            for name, (indptr, indices, values) in self.orientations.items()
        }
        self.offset_type = np.dtype(np.int64)

    def take(
        self, parts: tuple[Any, Any, Any], rows: Any, nvals: int, *, iso: bool, wide: bool
    ) -> None:
        """Replace all entries by a matrix in row order."""
        self.orientations, self.rows, self.slices = {"csr": parts}, {"csr": rows}, {}
        self.nvals, self.iso, self.symmetric = nvals, iso, None
        self.offset_type = np.dtype(np.int64 if wide else np.int32)

    def release(self) -> None:
        """Forget the buffers; another matrix may share them."""
        self.orientations, self.rows, self.slices = {}, {}, {}

    def describe(self) -> list[int]:
        """Return the words of its MatrixDescriptor."""
        words = []
        for name in ("csr", "csc"):
            parts = self.orientations.get(name)
            words += [int(part.handle) for part in parts] if parts else [0, 0, 0]
            words += self.slices[name].describe() if name in self.slices else [0, 0, 0]
        return [*words, self.nrows, self.ncols, self.nvals, 0 if self.iso else 1]

    def memory_usage(self) -> dict[str, int]:
        """Return the bytes of its buffers together, and of what is kept beside them."""
        return {
            "buffers": sum(int(buffer.size) for buffer in self.buffers()),
            "entry_rows": sum(int(rows.size) for rows in self.rows.values()),
            "slices": sum({id(s): int(s.rows.size) for s in self.slices.values()}.values()),
        }

    def buffers(self) -> list[Any]:
        """Return every buffer, once."""
        return list({id(b): b for parts in self.orientations.values() for b in parts}.values())

    def download(self) -> MatrixArrays:
        """Return the first orientation's arrays on the host; waits."""
        name, (indptr, indices, values) = next(iter(self.orientations.items()))
        read, nmajor = self.runtime.download, self.nrows if name == "csr" else self.ncols
        return MatrixArrays(
            self.nrows,
            self.ncols,
            self.dtype,
            name,
            read(indptr, self.offset_type, nmajor + 1),
            read(indices, np.int32, self.nvals),
            read(values, self.dtype.array_dtype, 1 if self.iso else self.nvals),
            self.iso,
            self.symmetric,
        )

    def duplicate(self) -> CudaMatrix:
        """Return a copy. Arrays of matrices never change, so it shares them."""
        return replace(
            self,
            orientations=dict(self.orientations),
            rows=dict(self.rows),
            slices=dict(self.slices),
        )

    def become(self, other: CudaMatrix) -> None:
        """Take the arrays of a copy made earlier."""
        for name in ("orientations", "rows", "slices", "nvals", "iso", "symmetric", "offset_type"):
            setattr(self, name, getattr(other, name))


@dataclass(slots=True, eq=False)
class CudaScalar:
    """A scalar: one cell, its value's bytes in whole words and whether there is one.

    Attributes
    ----------
    has_value : bool
        The host knows that there is one; False: only the device knows.
    """

    runtime: Runtime
    dtype: DataType
    cell: Any
    device: str = "cuda"
    kind: str = "scalar"
    stamp: int = field(default_factory=_stamps.__next__)
    has_value: bool = False

    def know(self, has_value: bool) -> None:
        """Note whether there is a value for sure; launches that relied on it are filled anew."""
        if self.has_value and not has_value:
            self.stamp = next(_stamps)
        self.has_value = has_value

    def describe(self) -> list[int]:
        """Return the words of its ScalarDescriptor."""
        return [int(self.cell.handle), 0, 0]

    def release(self) -> None:
        """Give the cell back."""
        self.stamp = 0
        self.cell.close(self.runtime.stream)

    def memory_usage(self) -> dict[str, int]:
        """Return the bytes of its buffers, together."""
        return {"buffers": sum(int(buffer.size) for buffer in self.buffers())}

    def buffers(self) -> list[Any]:
        """Return every buffer."""
        return [self.cell]

    def duplicate(self) -> CudaScalar:
        """Return a copy."""
        cell = self.runtime.copy(self.cell)
        return CudaScalar(self.runtime, self.dtype, cell, has_value=self.has_value)

    def become(self, other: CudaScalar) -> None:
        """Take the cell of a copy made earlier."""
        self.cell, self.has_value, self.stamp = other.cell, other.has_value, next(_stamps)


@dataclass(slots=True)
class Literal:
    """A scalar bound by value, or a temporary one.

    Attributes
    ----------
    word : int
        Bytes of a value that fits one.
    has : bool
    cell : buffer or None
        Holds a value that needs more than a word.
    """

    word: int
    has: bool
    cell: Any = None

    @classmethod
    def bound(cls, runtime: Runtime | None, dtype: DataType, value: Any) -> Literal:
        """Return the literal of a value; None stands for an empty one.

        `runtime` may be None for values of at most `LITERAL_BYTES`.
        """
        if value is None:
            return cls(0, has=False)
        words = scalar_words(dtype, dtype.scalar(value))
        if len(words) > CELL_WORDS:
            assert runtime is not None, "a value that needs a cell needs memory for it"
            return cls(0, has=True, cell=runtime.upload(words))
        return cls(int(words[0]), has=True)

    def describe(self) -> list[int]:
        """Return the words of its ScalarDescriptor."""
        return [0 if self.cell is None else int(self.cell.handle), self.word, int(self.has)]


CudaObject = CudaVector | CudaMatrix | CudaScalar


#: Words of the cell of a value that fits one word.
CELL_WORDS = 2

#: Bytes of a value that a literal holds itself; a larger one gets a cell.
LITERAL_BYTES = 8


def scalar_words(dtype: DataType, value: Any) -> NDArray[np.int64]:
    """Return the words of a scalar's cell: the value's bytes, then whether there is one."""
    words = np.zeros(-(-dtype.itemsize // 8) + 1, np.int64)
    if value is not None:
        held = np.array(value, dtype.array_dtype).tobytes()
        words.view(np.uint8)[: len(held)] = np.frombuffer(held, np.uint8)
        words[-1] = 1
    return words


def empty_plane(runtime: Runtime, size: int, dtype: DataType) -> tuple[Any, Any, Any]:
    """Return values, zeroed presence words and room for the list."""
    plane = _plane(allocate_parts(runtime, _plane_sizes(size, dtype)), 0)
    runtime.clear(plane[1])
    return plane


def _plane_sizes(size: int, dtype: DataType) -> tuple[int, int, int]:
    """Return the bytes of values, presence words and list.

    Values fill whole words: those of 1 and 2 bytes are swapped with their neighbours (see
    kernels/common/atomics.cuh).
    """
    return 4 * -(-size * dtype.itemsize // 4), 4 * -(-size // 32), 4 * size


def _plane(parts: list[Part], first: int) -> tuple[Any, Any, Any]:
    return parts[first], parts[first + 1], parts[first + 2]


def vector_bytes(size: int, dtype: DataType) -> int:
    """Return the bytes of one plane of a vector: values, presence words, list of positions."""
    return size * (dtype.itemsize + 4) + 4 * -(-size // 32)


def put_vector(runtime: Runtime, arrays: VectorArrays) -> CudaVector:
    """Copy a vector below 2**31 positions; a small one with its second plane in one piece."""
    size, dtype = arrays.size, arrays.dtype
    sizes = _plane_sizes(size, dtype)
    require(runtime, sum(sizes), f"a vector of size {size}")
    is_small = 2 * sum(sizes) <= SMALL and not runtime.keeps_apart
    parts = allocate_parts(runtime, (*sizes, *(sizes if is_small else ()), 8 * STATE_WORDS))
    planes = [_plane(parts, 0), _plane(parts, 3)] if is_small else [_plane(parts, 0)]
    vector = CudaVector(runtime, size, dtype, planes, parts[-1])
    if is_small:
        _upload_whole(vector, arrays)
    else:
        _upload_plane(vector, arrays)
    return vector


def _state(arrays: VectorArrays) -> list[int]:
    return [arrays.nvals, 0, int(arrays.storage == "sparse"), -1, -1]


def _upload_whole(vector: CudaVector, arrays: VectorArrays) -> None:
    """Upload a vector whose planes and state lie in one allocation."""
    end = vector.state.offset + vector.state.size
    if not arrays.nvals and arrays.storage == "sparse":
        vector.runtime.upload(_empty_image(vector.state.offset), vector.state.whole)
        return
    image = np.zeros(end, np.uint8)
    image[vector.state.offset :].view(np.int64)[:] = _state(arrays)
    if arrays.nvals:
        values, words, listed = (
            image[part.offset : part.offset + part.size] for part in vector.planes[0]
        )
        indices = arrays.entry_indices()
        values.view(vector.dtype.array_dtype)[indices] = arrays.entry_values()
        present = np.zeros(8 * len(words), bool)
        present[indices] = True
        words[:] = np.packbits(present, bitorder="little")
        if arrays.storage == "sparse":
            listed.view(np.int32)[: len(indices)] = indices
    vector.runtime.upload(image, vector.state.whole)


@lru_cache(maxsize=256)
def _empty_image(offset: int) -> NDArray[np.int64]:
    """Return the memory of a vector without entries whose state lies at `offset`."""
    image = np.zeros(offset // 8 + STATE_WORDS, np.int64)
    image[-STATE_WORDS:] = 0, 0, 1, -1, -1
    return image


def _upload_plane(vector: CudaVector, arrays: VectorArrays) -> None:
    """Upload a vector buffer by buffer, or entry by entry into an empty one."""
    runtime, plane, dtype = vector.runtime, vector.planes[0], vector.dtype
    runtime.upload(np.array(_state(arrays), np.int64), vector.state)
    if arrays.storage == "full":
        if arrays.iso:
            runtime.repeat(arrays.values, plane[0])
        else:
            runtime.upload(arrays.values, plane[0])
        runtime.clear(plane[1], 255)
        if vector.size % 32:
            last = np.array([(1 << vector.size % 32) - 1], np.uint32)
            runtime.upload(last, plane[1], 4 * (vector.num_words - 1))
        return
    indices, values = arrays.entry_indices(), arrays.entry_values()
    if arrays.storage == "sparse":
        runtime.upload(indices.astype(np.int32, copy=False), plane[2])
    if arrays.nvals <= FEW:
        runtime.clear(plane[1])
        _upload_entries(runtime, plane, dtype, indices, values)
        return
    dense = np.zeros(vector.size, dtype.array_dtype)
    dense[indices] = values
    present = np.zeros(32 * vector.num_words, bool)
    present[indices] = True
    runtime.upload(dense, plane[0])
    runtime.upload(np.packbits(present, bitorder="little"), plane[1])


def _upload_entries(
    runtime: Runtime, plane: tuple[Any, Any, Any], dtype: DataType, indices: Any, values: Any
) -> None:
    words: dict[int, int] = {}
    for at, index in enumerate(indices.tolist()):
        runtime.upload(values[at : at + 1], plane[0], index * dtype.itemsize)
        words[index // 32] = words.get(index // 32, 0) | 1 << index % 32
    for word, bits in words.items():
        runtime.upload(np.array([bits], np.uint32), plane[1], 4 * word)


def get_vector(vector: CudaVector) -> VectorArrays:
    """Copy a vector to the host: full, bitmap, or sparse where at most 1 in 32 is present."""
    runtime, size, dtype = vector.runtime, vector.size, vector.dtype
    state = runtime.download(vector.state, np.int64, STATE_WORDS)
    nvals, plane = int(state[0]), vector.planes[int(state[1])]
    values = runtime.download(plane[0], dtype.array_dtype, size)
    if nvals == size:
        return VectorArrays.full(dtype, values)
    words = runtime.download(plane[1], np.uint8, 4 * vector.num_words)
    present: NDArray[np.bool_] = np.unpackbits(words, count=size, bitorder="little").view(bool)
    if nvals > size // 32:
        return VectorArrays(size, dtype, "bitmap", values, None, present, nvals)
    indices = np.flatnonzero(present).astype(np.int32)
    return VectorArrays.sparse(size, dtype, indices, values[indices])


def put_matrix(runtime: Runtime, arrays: MatrixArrays) -> CudaMatrix:
    """Copy a matrix with sides below 2**31 to the device."""
    arrays = arrays.ordinary()
    offset_type = np.dtype(np.int32 if offset_type_of(arrays.nvals) == "int" else np.int64)
    needed = arrays.values.nbytes + 4 * arrays.nvals + offset_type.itemsize * (arrays.nmajor + 1)
    require(runtime, needed, f"a matrix of {arrays.nvals} entries")
    parts = _upload_compressed(runtime, arrays, offset_type)
    return CudaMatrix(
        runtime, arrays.nrows, arrays.ncols, arrays.nvals, arrays.dtype, arrays.iso,
        arrays.symmetric, {arrays.orientation: parts}, offset_type,
    )  # fmt: skip


def put_scalar(runtime: Runtime, arrays: ScalarArrays) -> CudaScalar:
    """Copy a scalar to the device."""
    words = scalar_words(arrays.dtype, arrays.value)
    cell = runtime.upload(words)
    return CudaScalar(runtime, arrays.dtype, cell, has_value=arrays.value is not None)


def get_scalar(scalar: CudaScalar) -> ScalarArrays:
    """Copy a scalar to the host."""
    dtype = scalar.dtype
    cell = scalar.runtime.download(scalar.cell, np.int64, -(-dtype.itemsize // 8) + 1)
    held = cell.view(np.uint8)[: dtype.itemsize].view(dtype.array_dtype)
    return ScalarArrays(dtype, held[0] if cell[-1] else None)


def check_alive(thing: CudaObject) -> None:
    """Raise if an object was released."""
    if not (thing.orientations if isinstance(thing, CudaMatrix) else thing.stamp):
        raise Panic(f"a released {thing.kind} was used")


def _upload_compressed(
    runtime: Runtime, arrays: MatrixArrays, offset_type: np.dtype[Any]
) -> tuple[Any, Any, Any]:
    return (
        runtime.upload(arrays.indptr.astype(offset_type, copy=False)),
        runtime.upload(arrays.indices.astype(np.int32, copy=False)),
        runtime.upload(arrays.values),
    )
