"""Other formats of a matrix on the device: made when a program first asks, kept with the matrix."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from semira.backends.companions import Kind
from semira.backends.cuda.runtime.objects import CudaMatrix
from semira.backends.cuda.runtime.primitives import primitives_of
from semira.backends.cuda.runtime.room import require
from semira.formats.dense import check_positions
from semira.formats.ell import KINDS, check_padding, most_slots
from semira.formats.index import WIDE

#: What to do where every position has no room.
_REMEDY = "use compressed rows (no pin) or coordinate entries (matrix_storage='coo')"

#: Lines of a slice whose width a warp finds (kernels/matrix/padded.cuh).
WARP = 32


@dataclass(frozen=True, slots=True)
class Padded:
    """One orientation with its lines padded; see `semira.formats.EllArrays`.

    Attributes
    ----------
    starts, indices, values : buffer
        Offsets in 64 bits.
    lengths : buffer or None
    height : int
        Lines of a slice.
    slots, nvals : int
    """

    starts: Any
    indices: Any
    values: Any
    lengths: Any
    height: int
    slots: int
    nvals: int

    def describe(self, value_stride: int) -> list[int]:
        """Return the words of its EllDescriptor."""
        lengths = 0 if self.lengths is None else int(self.lengths.handle)
        parts = (int(part.handle) for part in (self.starts, self.indices, self.values))
        return [*parts, lengths, self.height, value_stride, self.nvals]

    @property
    def nbytes(self) -> int:
        """Bytes of its buffers."""
        parts = (self.starts, self.indices, self.values, self.lengths)
        return sum(int(part.size) for part in parts if part is not None)


@dataclass(frozen=True, slots=True)
class Dense:
    """One orientation line by line with a place for every position (kernels/vxm/dense.cuh).

    Attributes
    ----------
    values : buffer
    present : buffer or None
        A bit for each position, every line in whole words; None: all have entries.
    width : int
        Positions of a line.
    slots : int
        Positions.
    is_own : bool
        Whether values are not the matrix' own.
    """

    values: Any
    present: Any
    width: int
    slots: int
    is_own: bool

    def describe(self, value_stride: int) -> list[int]:
        """Return the words of its DenseDescriptor."""
        present = 0 if self.present is None else int(self.present.handle)
        return [int(self.values.handle), present, self.width, value_stride, self.slots]

    @property
    def nbytes(self) -> int:
        """Bytes of what is not the matrix' own."""
        parts = (self.values if self.is_own else None, self.present)
        return sum(int(part.size) for part in parts if part is not None)


def need_format(matrix: CudaMatrix, storage: str, orientation: str) -> None:
    """Make a format resident.

    ``coo`` is any orientation that is there with the line of each entry, and ``dense`` is made of
    any; lines are padded on the device, and the host waits for the number of slots.

    Raises
    ------
    OutOfMemory
        Nearly all of it would be padding or empty, or it does not fit.
    """
    if storage == "coo":
        name = next(iter(matrix.orientations))
        # Whole rows may have no indices yet.
        matrix.need(name)
        matrix.entry_rows(name)
        return
    found = matrix.need_companion(FORMATS[storage], orientation)
    if found.slots >= WIDE:
        matrix.widen()


def padded_lines(matrix: CudaMatrix, storage: str, orientation: str) -> Padded:
    """Return an orientation with its lines padded, made if it is not there.

    Raises
    ------
    OutOfMemory
        As `need_format`.
    """
    need_format(matrix, storage, orientation)
    found = matrix.companion(storage, orientation)
    assert isinstance(found, Padded)
    return found


def positions_walked(matrix: CudaMatrix, storage: str, orientation: str) -> int:
    """Return how many positions of a dense matrix a product walks; 0 of other formats."""
    if storage != "dense":
        return 0
    return int(matrix.companion(storage, orientation).slots)


def _spread(matrix: CudaMatrix, orientation: str) -> Dense:
    """Return a place for every position, by rows or columns, made of what is there."""
    runtime = matrix.runtime
    nvals, (lines, width) = matrix.nvals, matrix.sides(orientation)
    check_positions(matrix.shape, nvals, matrix.dtype, iso=matrix.iso, bits=True)
    names, is_full = matrix.orientations, nvals == lines * width
    name = orientation if orientation in names else next(iter(names))
    # Of a symmetric matrix rows are columns.
    turned = name != orientation and not matrix.symmetric
    if not is_full:
        # Whole rows may have no indices yet.
        matrix.need(name)
    indptr, indices, values = matrix.orientations[name]
    if is_full and (matrix.iso or not turned):
        return Dense(values, None, width, lines * width, is_own=False)
    size = 0 if matrix.iso else matrix.dtype.itemsize
    bits = 0 if is_full else 4 * lines * -(-width // 32)
    require(runtime, lines * width * size + bits, "the dense copy of a matrix", _REMEDY)
    present = None if is_full else runtime.zeroed(bits)
    found = None if matrix.iso else runtime.zeroed(lines * width * size)
    word = math.gcd(size, 8) if size else 4
    if nvals:
        primitives_of(runtime).module.launch(
            matrix.c_offset, f"semira_fill_positions{word}", nvals, indptr,
            None if is_full else indices, values, nvals, *matrix.sides(name), int(turned),
            size // word, found, present,
        )  # fmt: skip
    return Dense(values if found is None else found, present, width, lines * width, not matrix.iso)


def _pad(matrix: CudaMatrix, orientation: str, storage: str) -> Padded:
    """Return an orientation with its lines padded; waits for the number of slots."""
    runtime, primitives = matrix.runtime, primitives_of(matrix.runtime)
    sliced, has_lengths = KINDS[storage].get("slice_lines"), storage == "ellr"
    lines, nvals = matrix.sides(orientation)[0], matrix.nvals
    indptr, indices, values = matrix.orientations[orientation]
    height = max(1, sliced or lines)
    slices = -(-lines // height)
    starts, slots = _starts(matrix, indptr, lines, KINDS[storage])
    if slots > most_slots(nvals):
        widths = np.diff(runtime.download(starts, np.int64, slices + 1)) // height
        check_padding(
            matrix.shape, orientation, nvals, matrix.dtype, widths, sliced, lengths=has_lengths,
            iso=matrix.iso,
        )  # fmt: skip
    size = 0 if matrix.iso else matrix.dtype.itemsize
    require(runtime, slots * (4 + size) + 4 * lines, f"the {storage} of a matrix")
    padded = runtime.allocate(4 * slots)
    found = None if matrix.iso else runtime.allocate(size * slots)
    word = math.gcd(size, 8) if size else 4
    primitives.module.launch(
        matrix.c_offset, f"semira_pad_lines{word}", slots, indptr, indices, values, starts, lines,
        slices, height, size // word, padded, found,
    )  # fmt: skip
    lengths = primitives.line_lengths(matrix.c_offset, indptr, lines) if has_lengths else None
    # A single value is there already.
    return Padded(starts, padded, values if found is None else found, lengths, height, slots, nvals)


def _starts(matrix: CudaMatrix, indptr: Any, lines: int, kind: dict[str, Any]) -> tuple[Any, int]:
    """Return the first slot of each slice, and how many slots there are; waits."""
    runtime, primitives = matrix.runtime, primitives_of(matrix.runtime)
    sliced, multiple = kind.get("slice_lines"), kind.get("multiple", 1)
    if not lines:
        return runtime.zeroed(8), 0
    if sliced is None:
        longest = runtime.zeroed(4)
        primitives.module.launch(matrix.c_offset, "semira_longest", lines, indptr, lines, longest)
        width = -(-primitives.read("int", longest, 0) // multiple) * multiple
        slots = lines * width
        return runtime.upload(np.array([0, slots], np.int64)), slots
    assert (sliced, multiple) == (WARP, 1), "a warp finds the width of a slice"
    slices = -(-lines // sliced)
    starts = runtime.allocate(8 * (slices + 1))
    primitives.module.launch(
        matrix.c_offset, "semira_slice_slots", lines, indptr, lines, slices, starts
    )
    primitives.scan("long long", starts, slices)
    return starts, primitives.read("long long", starts, slices)


def describe_format(matrix: CudaMatrix, storage: str, orientation: str) -> list[int]:
    """Return the words of a format's descriptor; `need_format` has made it."""
    stride = 0 if matrix.iso else 1
    if storage != "coo":
        words: list[int] = matrix.companion(storage, orientation).describe(stride)
        return words
    name, (indptr, indices, values) = next(iter(matrix.orientations.items()))
    ends = [int(matrix.entry_rows(name).handle), int(indices.handle)]
    rows, columns = ends if name == "csr" else ends[::-1]
    last = int(indptr.handle) + matrix.offset_type.itemsize * matrix.sides(name)[0]
    return [rows, columns, int(values.handle), last, stride]


def _padded(matrix: CudaMatrix, orientation: str, storage: str) -> Padded:
    """Return an orientation with its lines padded, once for both of a symmetric matrix."""
    matrix.need(orientation)
    found: Padded | None = matrix.companion(storage, orientation)
    return _pad(matrix, orientation, storage) if found is None else found


#: What is kept for a storage, by its name; ``coo`` needs `companion_kinds.ENTRY_ROWS` alone.
FORMATS = {
    "dense": Kind("dense", _spread),
    **{storage: Kind(storage, partial(_padded, storage=storage)) for storage in KINDS},
}
