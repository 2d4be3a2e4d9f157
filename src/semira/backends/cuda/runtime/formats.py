"""Other formats of a matrix on the device: made when a program first asks, kept with the matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from semira.backends.cuda.runtime.room import require
from semira.formats import EllArrays
from semira.formats.ell import KINDS
from semira.formats.index import WIDE

if TYPE_CHECKING:
    from semira.backends.cuda.runtime.objects import CudaMatrix


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


def need_format(matrix: CudaMatrix, storage: str, orientation: str) -> None:
    """Make a format resident.

    ``coo`` is any orientation that is there with the line of each entry; lines are padded on the
    host, which waits.

    Raises
    ------
    OutOfMemory
        Nearly all of it would be padding, or it does not fit.
    """
    if storage == "coo":
        name = next(iter(matrix.orientations))
        # Whole rows may have no indices yet.
        matrix.need(name)
        matrix.entry_rows(name)
        return
    key = _key(matrix, storage, orientation)
    if key not in matrix.formats:
        matrix.need(orientation)
        key = _key(matrix, storage, orientation)
    if key not in matrix.formats:
        made = EllArrays.from_matrix(matrix.download(orientation), **KINDS[storage])
        require(matrix.runtime, made.nbytes, f"the {storage} of a matrix")
        matrix.formats[key] = _uploaded(matrix, made)
    if matrix.formats[key].slots >= WIDE:
        matrix.widen()


def padded_lines(matrix: CudaMatrix, storage: str, orientation: str) -> Padded:
    """Return an orientation with its lines padded, made if it is not there.

    Raises
    ------
    OutOfMemory
        As `need_format`.
    """
    need_format(matrix, storage, orientation)
    found: Padded = matrix.formats[_key(matrix, storage, orientation)]
    return found


def _uploaded(matrix: CudaMatrix, made: EllArrays) -> Padded:
    upload = matrix.runtime.upload
    # A single value is there already.
    values = matrix.orientations[made.orientation][2] if made.iso else upload(made.values)
    return Padded(
        upload(made.starts.astype(np.int64, copy=False)),
        upload(made.indices.astype(np.int32, copy=False)),
        values,
        None if made.lengths is None else upload(made.lengths.astype(np.int32, copy=False)),
        made.height,
        made.slots,
        made.nvals,
    )


def describe_format(matrix: CudaMatrix, storage: str, orientation: str) -> list[int]:
    """Return the words of a format's descriptor; `need_format` has made it."""
    stride = 0 if matrix.iso else 1
    if storage != "coo":
        padded: Padded = matrix.formats[_key(matrix, storage, orientation)]
        return padded.describe(stride)
    name, (indptr, indices, values) = next(iter(matrix.orientations.items()))
    ends = [int(matrix.entry_rows(name).handle), int(indices.handle)]
    rows, columns = ends if name == "csr" else ends[::-1]
    last = int(indptr.handle) + matrix.offset_type.itemsize * matrix.sides(name)[0]
    return [rows, columns, int(values.handle), last, stride]


def _key(matrix: CudaMatrix, storage: str, orientation: str) -> str:
    """Return the key of padded lines; those of a symmetric matrix are one for both orientations."""
    return storage if matrix.symmetric else f"{storage}.{orientation}"
