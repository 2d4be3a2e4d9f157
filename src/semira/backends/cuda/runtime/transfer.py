"""Host arrays to the device and back."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira.backends.cuda.runtime.device import Runtime
from semira.backends.cuda.runtime.objects import CudaMatrix, CudaVector
from semira.backends.cuda.runtime.parts import allocate_parts, upload_parts
from semira.backends.cuda.runtime.primitives import offset_type_of
from semira.backends.cuda.runtime.room import require
from semira.backends.cuda.runtime.scalars import CudaScalar, cell_bytes, scalar_image
from semira.backends.cuda.runtime.vector_memory import (
    NO_ENTRIES,
    STATE,
    STATE_WORDS,
    UPLOADED,
    Form,
    form_of,
    plane_of,
    plane_sizes,
    take_memory,
)
from semira.base.dtypes import DataType
from semira.formats import MatrixArrays, ScalarArrays, VectorArrays

#: Vectors with at most so many entries are uploaded entry by entry.
FEW = 32

#: Vectors of at most so many bytes, both planes together, are uploaded in one piece.
SMALL = 4096

#: Bytes that the driver takes at once from memory which is not page-locked, without a wait.
STAGED = 60 << 10

#: Bytes of values that the device fills with one that entries share, rather than copy each.
FILLED = 1 << 23

#: A position in the list of a vector.
_POSITION = struct.Struct("i")

#: Bytes of the cell of a scalar of at most 8 bytes: the value, and whether there is one.
SHORT_CELL = 16


def put_vector(runtime: Runtime, arrays: VectorArrays) -> CudaVector:
    """Copy a vector below 2**31 positions; of a small one, all but its values in one piece.

    Without many entries of its own, the host sends a few bytes whatever the size.
    """
    size, dtype = arrays.size, arrays.dtype
    form = form_of(size, dtype.itemsize)
    if form.end <= runtime.paired_bytes and not runtime.keeps_apart:
        is_full = arrays.storage == "full"
        uploaded = UPLOADED if is_full else min(UPLOADED * max(1, arrays.nvals), STAGED)
        if form.state > uploaded and (arrays.nvals <= FEW or is_full):
            return _put_filled(runtime, arrays, form)
        return _put_paired(runtime, arrays, form)
    sizes = plane_sizes(size, dtype.itemsize)
    require(runtime, sum(sizes), f"a vector of size {size}")
    parts = allocate_parts(runtime, (*sizes, 8 * STATE_WORDS))
    vector = CudaVector(runtime, size, dtype, [plane_of(parts, 0)], parts[-1])
    _upload_plane(vector, arrays)
    return vector


def _state(arrays: VectorArrays) -> tuple[int, ...]:
    return arrays.nvals, 0, int(arrays.storage == "sparse"), -1, -1


def _put_paired(runtime: Runtime, arrays: VectorArrays, form: Form) -> CudaVector:
    size, dtype, nvals = arrays.size, arrays.dtype, arrays.nvals
    memory = take_memory(runtime, size, dtype.itemsize)
    vector = CudaVector.in_memory(runtime, size, dtype, memory)
    if not nvals:
        runtime.upload_image(form.empty, memory.whole)
        return vector
    is_sparse, is_whole = arrays.storage == "sparse", form.end <= SMALL
    begin = form.listed + 4 * nvals if is_sparse else form.listed
    image = bytearray(form.values + form.sizes[4] if is_whole else begin)
    enter(image, arrays, form, with_values=is_whole)
    runtime.upload_image(image, memory.whole)
    if not is_whole:
        _upload_values(vector, arrays)
    return vector


def enter(
    image: bytearray | memoryview, arrays: VectorArrays, form: Form, *, with_values: bool
) -> None:
    """Enter a vector with entries into the bytes of its form, which are 0 or of one without."""
    if arrays.nvals == 1 and arrays.indices is not None and with_values:
        _enter_one(image, arrays.indices.item(), arrays.values.tobytes(), form)
        return
    STATE.pack_into(image, form.state, *_state(arrays))
    if arrays.storage == "full":
        _enter_all(image, arrays, form, with_values=with_values)
    elif arrays.nvals <= FEW:
        _enter_few(image, arrays, form, with_values=with_values)
    else:
        _enter_many(image, arrays, form, with_values=with_values)


def _put_filled(runtime: Runtime, arrays: VectorArrays, form: Form) -> CudaVector:
    """Copy a large vector that has few entries or all: its words are filled on the device."""
    size, dtype, nvals = arrays.size, arrays.dtype, arrays.nvals
    vector = CudaVector.in_memory(runtime, size, dtype, take_memory(runtime, size, dtype.itemsize))
    # The words of both planes lie before the state.
    runtime.clear(vector.state.whole, 0, form.state)
    is_sparse, is_full = arrays.storage == "sparse", arrays.storage == "full"
    if not nvals:
        runtime.upload_image(bytearray(STATE.pack(*NO_ENTRIES)), vector.state)
        return vector
    indices = [] if is_full else arrays.entry_indices().tolist()
    image = bytearray(form.listed - form.state + (4 * nvals if is_sparse else 0))
    STATE.pack_into(image, 0, *_state(arrays))
    if is_sparse:
        struct.pack_into(f"{nvals}i", image, form.listed - form.state, *indices)
    runtime.upload_image(image, vector.state)
    _upload_values(vector, arrays)
    if is_full:
        fill_words(vector)
    else:
        _upload_words(runtime, vector.planes[0][1], indices)
    return vector


def full_vector(runtime: Runtime, size: int, dtype: DataType) -> CudaVector:
    """Return a vector with an entry at every position, whose values the caller writes."""
    form = form_of(size, dtype.itemsize)
    # Where the last word begins: those before are full, those of the other plane empty.
    last = max(0, 4 * (-(-size // 32) - 1))
    is_paired = form.end <= runtime.paired_bytes and not runtime.keeps_apart
    if not is_paired or form.listed - last > STAGED:
        vector = put_vector(runtime, VectorArrays.empty(size, dtype))
        fill_words(vector)
        runtime.upload_image(bytearray(STATE.pack(size, 0, 0, -1, -1)), vector.state)
        return vector
    memory = take_memory(runtime, size, dtype.itemsize)
    image = bytearray(form.listed - last)
    _enter_every(image, size - 8 * last)
    STATE.pack_into(image, form.state - last, size, 0, 0, -1, -1)
    runtime.clear(memory.whole, 255, last)
    runtime.upload_image(image, memory.whole, last)
    return CudaVector.in_memory(runtime, size, dtype, memory)


def _few(arrays: VectorArrays) -> tuple[list[int], bytes]:
    """Return positions and the bytes of their values, without an array where that can be."""
    if arrays.storage != "sparse":
        return arrays.entry_indices().tolist(), arrays.entry_values().tobytes()
    held = arrays.values.tobytes()
    return arrays.entry_indices().tolist(), held * arrays.nvals if arrays.iso else held


def fill_words(vector: CudaVector) -> None:
    """Let every position of the first plane have an entry."""
    runtime, words = vector.runtime, vector.planes[0][1]
    runtime.clear(words, 255)
    if vector.size % 32:
        last = np.array([(1 << vector.size % 32) - 1], np.uint32)
        runtime.upload(last, words, 4 * (vector.num_words - 1))


def _enter_all(
    image: bytearray | memoryview, arrays: VectorArrays, form: Form, *, with_values: bool
) -> None:
    """Enter a full vector."""
    _enter_every(image, arrays.size)
    if with_values:
        held = np.asarray(arrays.values).tobytes() * (arrays.size if arrays.iso else 1)
        image[form.values : form.values + len(held)] = held


def _enter_every(image: bytearray | memoryview, size: int) -> None:
    """Set the bits of so many positions."""
    whole, rest = divmod(size, 8)
    image[:whole] = b"\xff" * whole
    if rest:
        image[whole] = (1 << rest) - 1


def _enter_one(image: bytearray | memoryview, index: int, held: bytes, form: Form) -> None:
    """Enter the only entry of a sparse vector: most searches begin with one."""
    STATE.pack_into(image, form.state, 1, 0, 1, -1, -1)
    _POSITION.pack_into(image, form.listed, index)
    image[index >> 3] = 1 << (index & 7)
    start = form.values + len(held) * index
    image[start : start + len(held)] = held


def _enter_few(
    image: bytearray | memoryview, arrays: VectorArrays, form: Form, *, with_values: bool
) -> None:
    """Enter entries one by one, which is quicker than arrays of NumPy for a few."""
    width, (indices, held) = arrays.dtype.itemsize, _few(arrays)
    if arrays.storage == "sparse":
        struct.pack_into(f"{len(indices)}i", image, form.listed, *indices)
    for number, index in enumerate(indices):
        image[index >> 3] |= 1 << (index & 7)
        if with_values:
            start = form.values + width * index
            image[start : start + width] = held[width * number : width * (number + 1)]


def _enter_many(
    image: bytearray | memoryview, arrays: VectorArrays, form: Form, *, with_values: bool
) -> None:
    indices = arrays.entry_indices()
    present = np.zeros(8 * form.sizes[0], bool)
    present[indices] = True
    image[: form.sizes[0]] = np.packbits(present, bitorder="little").tobytes()
    if arrays.storage == "sparse":
        listed = np.frombuffer(image, np.int32, len(indices), form.listed)
        listed[:] = indices
    if with_values:
        dtype = arrays.dtype.array_dtype
        np.frombuffer(image, dtype, arrays.size, form.values)[indices] = arrays.entry_values()


def _upload_values(vector: CudaVector, arrays: VectorArrays) -> None:
    runtime, target, dtype = vector.runtime, vector.planes[0][0], vector.dtype
    if arrays.storage == "full":
        if arrays.iso:
            runtime.repeat(arrays.values, target)
        else:
            runtime.upload(arrays.values, target)
        return
    if arrays.iso and arrays.nvals > 1 and target.size <= FILLED:
        # Where there is no entry, any value will do.
        runtime.repeat(arrays.values, target)
        return
    if arrays.nvals <= FEW:
        _upload_each(runtime, target, dtype, *_few(arrays))
        return
    dense = np.zeros(vector.size, dtype.array_dtype)
    dense[arrays.entry_indices()] = arrays.entry_values()
    runtime.upload(dense, target)


def _upload_each(
    runtime: Runtime, target: Any, dtype: DataType, indices: list[int], held: bytes
) -> None:
    width = dtype.itemsize
    for at, index in enumerate(indices):
        one = bytearray(held[at * width : at * width + width])
        runtime.upload_image(one, target, index * width)


def _upload_plane(vector: CudaVector, arrays: VectorArrays) -> None:
    """Upload a vector buffer by buffer, or entry by entry into an empty one."""
    runtime, plane = vector.runtime, vector.planes[0]
    runtime.upload(np.array(_state(arrays), np.int64), vector.state)
    _upload_values(vector, arrays)
    if arrays.storage == "full":
        fill_words(vector)
        return
    indices = arrays.entry_indices()
    if arrays.storage == "sparse":
        runtime.upload(indices.astype(np.int32, copy=False), plane[2])
    if arrays.nvals <= FEW:
        runtime.clear(plane[1])
        _upload_words(runtime, plane[1], indices.tolist())
        return
    present = np.zeros(32 * vector.num_words, bool)
    present[indices] = True
    runtime.upload(np.packbits(present, bitorder="little"), plane[1])


def _upload_words(runtime: Runtime, target: Any, indices: list[int]) -> None:
    """Set the bits of a few positions in presence words that are 0."""
    words: dict[int, int] = {}
    for index in indices:
        words[index // 32] = words.get(index // 32, 0) | 1 << index % 32
    if not words:
        return
    first, end = min(words), max(words) + 1
    if 4 * (end - first) <= min(UPLOADED * len(words), STAGED):
        image = bytearray(4 * (end - first))
        for word, bits in words.items():
            struct.pack_into("<I", image, 4 * (word - first), bits)
        runtime.upload_image(image, target, 4 * first)
        return
    for word, bits in words.items():
        runtime.upload_image(bytearray(bits.to_bytes(4, "little")), target, 4 * word)


def get_vector(vector: CudaVector) -> VectorArrays:
    """Copy a vector to the host: full, bitmap, or sparse where at most 1 in 32 is present."""
    runtime, size, dtype = vector.runtime, vector.size, vector.dtype
    nvals, plane = vector.read_state()
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
    offset_type = np.dtype(np.int32 if offset_type_of(arrays.nvals) == "int" else np.int64)
    held = None
    # An output before its statement has nothing: nobody may ever ask for it.
    if arrays.nvals or arrays.iso or arrays.orientation != "csr":
        held = {arrays.orientation: _upload_compressed(runtime, arrays.ordinary(), offset_type)}
    return CudaMatrix(
        runtime, arrays.nrows, arrays.ncols, arrays.nvals, arrays.dtype, arrays.iso,
        arrays.symmetric, held, offset_type,
    )  # fmt: skip


def put_scalar(runtime: Runtime, arrays: ScalarArrays) -> CudaScalar:
    """Copy a scalar to the device."""
    dtype, value, is_reused = arrays.dtype, arrays.value, not runtime.keeps_apart
    has_value = value is not None
    scalar = CudaScalar.reused(runtime, dtype, has_value=has_value) if is_reused else None
    if scalar is None:
        cell = runtime.allocate(cell_bytes(dtype))
        scalar = CudaScalar(
            runtime, dtype, cell, has_value=has_value, is_reused=is_reused, is_sent=has_value
        )
    if has_value:
        runtime.upload_image(scalar_image(dtype, value), scalar.cell)
    return scalar


def get_scalar(scalar: CudaScalar) -> ScalarArrays:
    """Copy a scalar to the host."""
    dtype = scalar.dtype
    if not scalar.is_sent:
        return ScalarArrays(dtype, None)
    nbytes = cell_bytes(dtype)
    if nbytes <= SHORT_CELL:
        image = scalar.runtime.read_short(scalar.cell, nbytes)
        return ScalarArrays(
            dtype, np.frombuffer(image, dtype.array_dtype, 1)[0] if image[8] else None
        )
    cell = scalar.runtime.download(scalar.cell, np.int64, nbytes // 8)
    held = cell.view(np.uint8)[: dtype.itemsize].view(dtype.array_dtype)
    return ScalarArrays(dtype, held[0] if cell[-1] else None)


def _upload_compressed(
    runtime: Runtime, arrays: MatrixArrays, offset_type: np.dtype[Any]
) -> tuple[Any, Any, Any]:
    needed = arrays.values.nbytes + 4 * arrays.nvals + offset_type.itemsize * (arrays.nmajor + 1)
    require(runtime, needed, f"a matrix of {arrays.nvals} entries")
    offsets = arrays.indptr.astype(offset_type, copy=False)
    if arrays.orientation == "csr" and 0 < arrays.nvals == arrays.nrows * arrays.ncols:
        indptr, values = upload_parts(runtime, offsets, arrays.values)
        return indptr, None, values
    indptr, indices, values = upload_parts(
        runtime, offsets, arrays.indices.astype(np.int32, copy=False), arrays.values
    )
    return indptr, indices, values
