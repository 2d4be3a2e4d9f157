"""Rows as bits, of matrices whose entries lie on few diagonals (kernels/pull.cuh)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira.backends.companions import Kind
from semira.backends.cuda.runtime.device import Runtime
from semira.backends.cuda.runtime.kernel_choice import require_spare
from semira.backends.cuda.runtime.objects import CudaMatrix
from semira.backends.cuda.runtime.primitives import module_of
from semira.base.errors import OutOfMemory
from semira.base.log import logger
from semira.methods.diagonals.plan import ROW

#: What a matrix keeps.
DIAGONALS = Kind(ROW.name, depends_on="pattern")

#: File of the kernels that make the copy.
MAKE = "semira.methods.diagonals.kernels:mark.cuh"

#: Distances that a copy has room for, and of which a byte has a bit for each (kMostDiagonals and
#: kNarrowDiagonals of kernels/bits.cuh).
MOST, NARROW = 32, 8

#: What stands in the place of a distance where there is none.
NO_DISTANCE = np.iinfo(np.int32).min

#: Upper bound on the distances per entry of an average row. Each costs a row some
#: 6 instructions, where an entry of the ordinary walk costs 30: counted, not measured
#: (docs/decisions/0042).
FOR_EACH_ENTRY = 4

_WARP = 32


@dataclass(frozen=True, slots=True)
class Diagonals:
    """What is known of the diagonals on which entries of an orientation lie.

    Attributes
    ----------
    distances : tuple of int
        Columns less their rows (of a csc: the other way round), each once, in rising order; nothing
        if they are too many, or memory was short: then nobody asks again.
    made : buffer or None
        `MOST` distances, then the bits of each row.
    """

    distances: tuple[int, ...] = ()
    made: Any = None

    def describe(self) -> list[int]:
        """Return its words in a CompressedDescriptor."""
        return [0, 0] if self.made is None else [int(self.made.handle), len(self.distances)]

    @property
    def nbytes(self) -> int:
        """Bytes of its buffer."""
        return 0 if self.made is None else int(self.made.size)


def copy_bytes(rows: int, count: int) -> int:
    """Return the bytes of a copy with `count` distances.

    Examples
    --------
    >>> copy_bytes(33, 4), copy_bytes(33, 9)
    (192, 384)
    """
    return 4 * MOST + -(-rows // _WARP) * _WARP * (1 if count <= NARROW else 4)


def make_diagonals(runtime: Runtime, matrix: CudaMatrix, orientation: str) -> Diagonals:
    """Look for the diagonals of a matrix, copy it if they are few, and keep the answer."""
    distances = distances_of(runtime, matrix, orientation)
    if distances is None:
        matrix.keep_companion(DIAGONALS, orientation, Diagonals())
        return Diagonals()
    return make_bits(runtime, matrix, orientation, distances)


def distances_of(
    runtime: Runtime, matrix: CudaMatrix, orientation: str
) -> NDArray[np.int32] | None:
    """Return the distances of all entries in rising order; None: too many, no room. Waits."""
    module, rows = module_of(runtime, MAKE), matrix.sides(orientation)[0]
    indptr, indices, _ = matrix.orientations[orientation]
    try:
        place = runtime.upload(np.full(MOST + 1, NO_DISTANCE, np.int32))
    except OutOfMemory:
        return None
    module.launch(matrix.c_offset, "semira_distances", rows, indptr, indices, rows, place)
    found = runtime.download(place, np.int32, MOST + 1)
    distances = np.sort(found[:MOST][found[:MOST] != NO_DISTANCE])
    count, are_many = len(distances), found[MOST] != NO_DISTANCE
    logger.debug("%d rows on %d diagonals%s", rows, count, " or more" if are_many else "")
    entries = matrix.most
    if not matrix.is_exact:
        # Not `matrix.nvals`, which changes what a launch that is being prepared refers to.
        kind = matrix.offset_type
        entries = int(runtime.download(indptr, kind, 1, rows * kind.itemsize)[0])
    if are_many or not 0 < count * rows <= FOR_EACH_ENTRY * entries:
        return None
    return distances


def make_bits(
    runtime: Runtime, matrix: CudaMatrix, orientation: str, distances: NDArray[np.int32]
) -> Diagonals:
    """Set the bits of each row, and keep the copy; or that there is no room for it."""
    module, rows = module_of(runtime, MAKE), matrix.sides(orientation)[0]
    (indptr, indices, _), count = matrix.orientations[orientation], len(distances)
    try:
        size = copy_bytes(rows, count)
        require_spare(runtime, size)
        made = runtime.allocate(size)
        runtime.upload(np.pad(distances, (0, MOST - count)), made)
        module.launch(matrix.c_offset, "semira_diagonals", rows, indptr, indices, rows, count, made)
        found = Diagonals(tuple(distances.tolist()), made)
    except OutOfMemory as error:
        logger.warning("rows are not kept as bits: %s", error)
        found = Diagonals()
    matrix.keep_companion(DIAGONALS, orientation, found)
    return found
