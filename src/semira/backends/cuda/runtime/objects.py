"""Handles: vectors, matrices and scalars in device memory."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira.backends.cuda.runtime.device import Runtime
from semira.backends.cuda.runtime.primitives import primitives_of
from semira.base.dtypes import DataType
from semira.base.errors import NotImplementedException, Panic
from semira.formats import MatrixArrays, ScalarArrays, VectorArrays
from semira.formats.index import WIDE

#: Fields of VectorState (kernels/common/vector.cuh).
STATE_WORDS = 5

#: Vectors with at most so many entries are uploaded entry by entry.
FEW = 32


@dataclass(slots=True, eq=False)
class CudaVector:
    """A vector: two planes, of which the device knows which one is in use.

    Attributes
    ----------
    planes : list of (values, words, list) buffers
        The second plane is made when a program first needs it.
    state : buffer
        Number of entries, plane in use, and whether its list is complete.
    """

    runtime: Runtime
    size: int
    dtype: DataType
    planes: list[tuple[Any, Any, Any]]
    state: Any
    device: str = "cuda"
    kind: str = "vector"

    @property
    def num_words(self) -> int:
        """Presence words."""
        return -(-self.size // 32)

    def add_spare(self) -> None:
        """Make the second plane, empty, unless it is there."""
        if len(self.planes) == 1:
            self.planes.append(empty_plane(self.runtime, self.size, self.dtype))

    def describe(self) -> list[int]:
        """Return the words of its VectorDescriptor."""
        planes = [*self.planes, self.planes[0]][:2]
        pointers = [int(buffer.handle) for plane in planes for buffer in plane]
        return [*pointers, int(self.state.handle), self.size]

    def active_plane(self) -> int:
        """Return which plane holds the entries; waits."""
        return int(self.runtime.download(self.state, np.int64, STATE_WORDS)[1])

    def memory_usage(self) -> dict[str, int]:
        """Return the bytes of its buffers, together."""
        return {"buffers": sum(int(buffer.size) for buffer in self.buffers())}

    def buffers(self) -> list[Any]:
        """Return every buffer."""
        return [*(buffer for plane in self.planes for buffer in plane), self.state]

    def duplicate(self) -> CudaVector:
        """Return a copy."""
        copy = self.runtime.copy
        planes = [(copy(a), copy(b), copy(c)) for a, b, c in self.planes]
        return CudaVector(self.runtime, self.size, self.dtype, planes, copy(self.state))


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

    def widen(self) -> None:
        """Store 64-bit offsets, as a program with a larger matrix beside this one needs."""
        if self.is_wide:
            return
        widened = {}
        for name, (indptr, indices, values) in self.orientations.items():
            count = self._sides(name)[0] + 1
            wide = primitives_of(self.runtime).widen(indptr, count)
            widened[name] = (wide, indices, values)
        # All or none: memory may run out in between.
        self.orientations = widened
        self.offset_type = np.dtype(np.int64)

    def take(
        self, parts: tuple[Any, Any, Any], rows: Any, nvals: int, *, iso: bool, wide: bool
    ) -> None:
        """Replace all entries by a matrix in row order."""
        self.orientations, self.rows = {"csr": parts}, {"csr": rows}
        self.nvals, self.iso, self.symmetric = nvals, iso, None
        self.offset_type = np.dtype(np.int64 if wide else np.int32)

    def release(self) -> None:
        """Forget the buffers; another matrix may share them."""
        self.orientations, self.rows = {}, {}

    def describe(self) -> list[int]:
        """Return the words of its MatrixDescriptor."""
        words = []
        for name in ("csr", "csc"):
            parts = self.orientations.get(name)
            words += [int(part.handle) for part in parts] if parts else [0, 0, 0]
        return [*words, self.nrows, self.ncols, self.nvals, 0 if self.iso else 1]

    def memory_usage(self) -> dict[str, int]:
        """Return the bytes of its buffers together, and of the rows of entries kept beside them."""
        return {
            "buffers": sum(int(buffer.size) for buffer in self.buffers()),
            "entry_rows": sum(int(rows.size) for rows in self.rows.values()),
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
            read(values, self.dtype.np_type, 1 if self.iso else self.nvals),
            self.iso,
            self.symmetric,
        )

    def duplicate(self) -> CudaMatrix:
        """Return a copy. Arrays of matrices never change, so it shares them."""
        return replace(self, orientations=dict(self.orientations), rows=dict(self.rows))


@dataclass(slots=True, eq=False)
class CudaScalar:
    """A scalar: one cell, its value's bytes and whether there is one.

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
    has_value: bool = False

    def describe(self) -> list[int]:
        """Return the words of its ScalarDescriptor."""
        return [int(self.cell.handle), 0, 0]

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


@dataclass(slots=True)
class Literal:
    """A scalar bound by value, or a temporary one."""

    words: list[int]

    def describe(self) -> list[int]:
        """Return the words of its ScalarDescriptor."""
        return [0, *self.words]


CudaObject = CudaVector | CudaMatrix | CudaScalar


def scalar_words(dtype: DataType, value: Any) -> list[int]:
    """Return (bytes of the value as one word, whether there is one)."""
    word = np.zeros(1, np.int64)
    if value is not None:
        word.view(dtype.np_type)[0] = value
    return [int(word[0]), 0 if value is None else 1]


def empty_plane(runtime: Runtime, size: int, dtype: DataType) -> tuple[Any, Any, Any]:
    """Return values, zeroed presence words and room for the list.

    Values fill whole words: those of 1 and 2 bytes are swapped with their neighbours (see
    kernels/common/atomics.cuh).
    """
    words = runtime.zeroed(4 * -(-size // 32))
    values = runtime.allocate(4 * -(-size * dtype.itemsize // 4))
    return values, words, runtime.allocate(4 * size)


def put_vector(runtime: Runtime, arrays: VectorArrays) -> CudaVector:
    """Copy a vector to the device."""
    size, dtype = arrays.size, arrays.dtype
    if size >= WIDE:
        raise NotImplementedException(
            f"a vector of size {size} has no place on device 'cuda' yet (limit {WIDE - 1}); "
            "use device='cpu'"
        )
    listed = arrays.storage == "sparse"
    state = np.array([arrays.nvals, 0, int(listed), -1, -1], np.int64)
    plane = empty_plane(runtime, size, dtype)
    vector = CudaVector(runtime, size, dtype, [plane], runtime.upload(state))
    indices, values = arrays.entry_indices(), arrays.entry_values()
    if listed:
        runtime.upload(indices.astype(np.int32, copy=False), plane[2])
    if arrays.nvals <= FEW:
        _upload_entries(runtime, plane, dtype, indices, values)
    else:
        dense = np.zeros(size, dtype.np_type)
        dense[indices] = values
        present = np.zeros(32 * vector.num_words, bool)
        present[indices] = True
        runtime.upload(dense, plane[0])
        runtime.upload(np.packbits(present, bitorder="little"), plane[1])
    return vector


def _upload_entries(
    runtime: Runtime, plane: tuple[Any, Any, Any], dtype: DataType, indices: Any, values: Any
) -> None:
    words: dict[int, int] = {}
    for index, value in zip(indices.tolist(), values, strict=True):
        runtime.upload(np.array([value], dtype.np_type), plane[0], index * dtype.itemsize)
        words[index // 32] = words.get(index // 32, 0) | 1 << index % 32
    for word, bits in words.items():
        runtime.upload(np.array([bits], np.uint32), plane[1], 4 * word)


def get_vector(vector: CudaVector) -> VectorArrays:
    """Copy a vector to the host: full, bitmap, or sparse where at most 1 in 32 is present."""
    runtime, size, dtype = vector.runtime, vector.size, vector.dtype
    state = runtime.download(vector.state, np.int64, STATE_WORDS)
    nvals, plane = int(state[0]), vector.planes[int(state[1])]
    values = runtime.download(plane[0], dtype.np_type, size)
    if nvals == size:
        return VectorArrays.full(dtype, values)
    words = runtime.download(plane[1], np.uint8, 4 * vector.num_words)
    present: NDArray[np.bool_] = np.unpackbits(words, count=size, bitorder="little").view(bool)
    if nvals > size // 32:
        return VectorArrays(size, dtype, "bitmap", values, None, present, nvals)
    indices = np.flatnonzero(present).astype(np.int32)
    return VectorArrays.sparse(size, dtype, indices, values[indices])


def put_matrix(runtime: Runtime, arrays: MatrixArrays) -> CudaMatrix:
    """Copy a matrix to the device."""
    if max(arrays.nrows, arrays.ncols) >= WIDE:
        raise NotImplementedException(
            f"a {arrays.nrows} x {arrays.ncols} matrix has no place on device 'cuda' yet "
            f"(limit {WIDE - 1} a side); use device='cpu'"
        )
    arrays = arrays.ordinary()
    offset_type = np.dtype(np.int32 if arrays.nvals < WIDE else np.int64)
    parts = _upload_compressed(runtime, arrays, offset_type)
    return CudaMatrix(
        runtime, arrays.nrows, arrays.ncols, arrays.nvals, arrays.dtype, arrays.iso,
        arrays.symmetric, {arrays.orientation: parts}, offset_type,
    )  # fmt: skip


def put_scalar(runtime: Runtime, arrays: ScalarArrays) -> CudaScalar:
    """Copy a scalar to the device."""
    words = np.array(scalar_words(arrays.dtype, arrays.value), np.int64)
    cell = runtime.upload(words)
    return CudaScalar(runtime, arrays.dtype, cell, has_value=arrays.value is not None)


def get_scalar(scalar: CudaScalar) -> ScalarArrays:
    """Copy a scalar to the host."""
    cell = scalar.runtime.download(scalar.cell, np.int64, 2)
    value = cell[:1].view(scalar.dtype.np_type)[0] if cell[1] else None
    return ScalarArrays(scalar.dtype, value)


def check_alive(thing: CudaObject) -> None:
    """Raise if an object was released."""
    buffers = thing.buffers()
    if not buffers or any(buffer.is_closed for buffer in buffers):
        raise Panic(f"a released {thing.kind} was used")


def _upload_compressed(
    runtime: Runtime, arrays: MatrixArrays, offset_type: np.dtype[Any]
) -> tuple[Any, Any, Any]:
    return (
        runtime.upload(arrays.indptr.astype(offset_type, copy=False)),
        runtime.upload(arrays.indices.astype(np.int32, copy=False)),
        runtime.upload(arrays.values),
    )
