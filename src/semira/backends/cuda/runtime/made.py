"""What methods walk in the place of a matrix: made when a program first asks, kept with it."""

from __future__ import annotations

from typing import Any, Protocol

from semira.backends.companions import Kind
from semira.backends.cuda.lower.context import Made
from semira.backends.cuda.runtime.objects import CudaMatrix
from semira.base.errors import PlanError
from semira.contract import no_values, part_of
from semira.formats.index import WIDE


class DeviceArrays(Protocol):
    """What a method's ``make`` returns."""

    #: Places for entries, padding included; more than 2**31 need offsets of 64 bits.
    slots: int
    #: Places that a product walks beside the entries of the matrix; decides how many threads run.
    positions: int

    @property
    def nbytes(self) -> int:
        """Bytes of its own buffers."""
        ...

    def describe(self, matrix: CudaMatrix) -> list[int]:
        """Return the words of its descriptor."""
        ...


def need_made(matrix: CudaMatrix, made: Made) -> DeviceArrays:
    """Return what a method walks, made if it is not there.

    Raises OutOfMemory if it does not fit, or the method refuses. Raises PlanError if it has no
    values, the product reads them, and they differ.
    """
    if made.needs_one and not matrix.iso:
        raise PlanError(no_values(made.name))
    found = _found(matrix, made)
    if found is None:
        part = part_of(made.name, "cuda")
        if part.NEEDS_LINES:
            matrix.need(made.orientation)
            # It may have turned out to be symmetric, with the other orientation there.
            found = _found(matrix, made)
        if found is None:
            found = part.make(matrix, made)
            matrix.companions.keep(Kind(_name(made)), made.orientation, found)
    if found.slots >= WIDE:
        matrix.widen()
    return found


def describe_made(matrix: CudaMatrix, made: Made) -> list[int]:
    """Return the words of a descriptor; `need_made` has made what it describes."""
    return _found(matrix, made).describe(matrix)


def positions_walked(matrix: CudaMatrix, made: Made) -> int:
    """Return how many places a product walks beside the entries of the matrix."""
    return int(_found(matrix, made).positions)


def _name(made: Made) -> str:
    given = ", ".join(f"{name}={value!r}" for name, value in made.parameters)
    return f"{made.name}({given})" if given else made.name


def _found(matrix: CudaMatrix, made: Made) -> Any:
    """Return what was made before, or None."""
    return matrix.companion(_name(made), made.orientation)
