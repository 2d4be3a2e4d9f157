"""Entries on the GPU: any orientation that is there, with the line of each entry."""

from __future__ import annotations

from dataclasses import dataclass

from semira.backends.cuda.lower.context import Made
from semira.backends.cuda.lower.walks import PushWalk
from semira.backends.cuda.runtime.objects import CudaMatrix

DESCRIPTOR = ("EntriesDescriptor", 5)
HEADERS = ("push.cuh",)
NEEDS_LINES = False


@dataclass(frozen=True, slots=True)
class CudaEntries:
    """Nothing of its own: the matrix keeps the rows of its entries as a companion."""

    slots: int = 0
    positions: int = 0
    nbytes: int = 0

    def describe(self, matrix: CudaMatrix) -> list[int]:
        """Return the words of an EntriesDescriptor."""
        name, (indptr, indices, values) = next(iter(matrix.orientations.items()))
        ends = [int(matrix.entry_rows(name).handle), int(indices.handle)]
        rows, columns = ends if name == "csr" else ends[::-1]
        last = int(indptr.handle) + matrix.offset_type.itemsize * matrix.sides(name)[0]
        return [rows, columns, int(values.handle), last, 0 if matrix.iso else 1]


def make(matrix: CudaMatrix, made: Made) -> CudaEntries:
    """Make the rows of the entries; see `semira.backends.cuda.runtime.made`."""
    del made
    name = next(iter(matrix.orientations))
    # Whole rows may have no indices yet.
    matrix.need(name)
    matrix.entry_rows(name)
    return CudaEntries()


def opened(a_type: str, place: str, made: Made) -> tuple[str, str]:
    """Return the C++ type of what is walked, and the arguments that make it."""
    # Which end the vector stands at is where pushing would begin.
    return f"Entries<{a_type}>", f"{place}, {str(made.orientation == 'csr').lower()}"


def push(walk: PushWalk) -> None:
    """Write the push."""
    walk.emit(f"spmspv_push_entries(team, {walk.driver}, {walk.scatter}, {walk.lines});")
