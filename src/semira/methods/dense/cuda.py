"""Every position on the GPU: made there of whichever orientation there is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from semira.backends.cuda.lower.context import Made
from semira.backends.cuda.lower.walks import PullWalk
from semira.backends.cuda.runtime.objects import CudaMatrix
from semira.backends.cuda.runtime.primitives import module_of
from semira.backends.cuda.runtime.room import require
from semira.methods.dense.arrays import check_positions

DESCRIPTOR = ("DenseDescriptor", 5)
HEADERS = ("pull.cuh",)
NEEDS_LINES = False

_MAKE = "semira.methods.dense.kernels:make.cuh"

#: What to do where every position has no room.
_REMEDY = "use compressed rows (no pin) or coordinate entries (method='coo')"


@dataclass(frozen=True, slots=True)
class Dense:
    """One orientation line by line with a place for every position (pull.cuh).

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

    @property
    def positions(self) -> int:
        """See `semira.backends.cuda.runtime.made.DeviceArrays`."""
        return self.slots

    def describe(self, matrix: CudaMatrix) -> list[int]:
        """Return the words of its DenseDescriptor."""
        present = 0 if self.present is None else int(self.present.handle)
        return [int(self.values.handle), present, self.width, 0 if matrix.iso else 1, self.slots]

    @property
    def nbytes(self) -> int:
        """Bytes of what is not the matrix' own."""
        parts = (self.values if self.is_own else None, self.present)
        return sum(int(part.size) for part in parts if part is not None)


def opened(a_type: str, place: str, made: Made) -> tuple[str, str]:
    """Return the C++ type of what is walked, and the arguments that make it."""
    del made
    return f"Dense<{a_type}>", place


def pull(walk: PullWalk) -> None:
    """Write the pull."""
    walk.call("spmv_pull_dense")


def make(matrix: CudaMatrix, made: Made) -> Dense:
    """Return a place for every position, by rows or columns, made of what is there."""
    runtime, orientation = matrix.runtime, made.orientation
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
        module_of(runtime, _MAKE).launch(
            matrix.c_offset, f"semira_fill_positions{word}", nvals, indptr,
            None if is_full else indices, values, nvals, *matrix.sides(name), int(turned),
            size // word, found, present,
        )  # fmt: skip
    return Dense(values if found is None else found, present, width, lines * width, not matrix.iso)
