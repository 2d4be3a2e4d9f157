"""Host arrays to the device and back."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira.backends.cuda.runtime.device import Runtime
from semira.backends.cuda.runtime.objects import (
    STATE_WORDS,
    CudaMatrix,
    CudaScalar,
    CudaVector,
    plane_of,
    plane_sizes,
    scalar_words,
)
from semira.backends.cuda.runtime.parts import allocate_parts
from semira.backends.cuda.runtime.primitives import offset_type_of
from semira.backends.cuda.runtime.room import require
from semira.base.dtypes import DataType
from semira.formats import MatrixArrays, ScalarArrays, VectorArrays

#: Vectors with at most so many entries are uploaded entry by entry.
FEW = 32

#: Vectors of at most so many bytes, both planes together, are uploaded in one piece.
SMALL = 4096


def put_vector(runtime: Runtime, arrays: VectorArrays) -> CudaVector:
    """Copy a vector below 2**31 positions; a small one with its second plane in one piece."""
    size, dtype = arrays.size, arrays.dtype
    sizes = plane_sizes(size, dtype)
    require(runtime, sum(sizes), f"a vector of size {size}")
    is_small = 2 * sum(sizes) <= SMALL and not runtime.keeps_apart
    parts = allocate_parts(runtime, (*sizes, *(sizes if is_small else ()), 8 * STATE_WORDS))
    planes = [plane_of(parts, 0), plane_of(parts, 3)] if is_small else [plane_of(parts, 0)]
    vector = CudaVector(runtime, size, dtype, planes, parts[-1])
    if is_small:
        _upload_whole(vector, arrays)
    else:
        _uploadplane_of(vector, arrays)
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


def _uploadplane_of(vector: CudaVector, arrays: VectorArrays) -> None:
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


def _upload_compressed(
    runtime: Runtime, arrays: MatrixArrays, offset_type: np.dtype[Any]
) -> tuple[Any, Any, Any]:
    if arrays.nvals == 0:
        # An output before its statement, as a rule: nothing is worth sending.
        indptr = runtime.zeroed(offset_type.itemsize * (arrays.nmajor + 1))
        return indptr, runtime.allocate(0), runtime.upload(arrays.values)
    return (
        runtime.upload(arrays.indptr.astype(offset_type, copy=False)),
        runtime.upload(arrays.indices.astype(np.int32, copy=False)),
        runtime.upload(arrays.values),
    )
