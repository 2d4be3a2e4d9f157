"""Padded lines on the cpu."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any

from numpy.typing import NDArray

from semira.backends.companions import Companions, Kind
from semira.backends.cpu import threads
from semira.backends.cpu.compressed import Compressed, Valued
from semira.backends.cpu.host.mxv import DUMMY
from semira.backends.cpu.host.times_full import FullWalk
from semira.backends.cpu.host.walks import Lines, Walk, pull_lines
from semira.backends.cpu.storage import CpuVector
from semira.methods.ell.arrays import KINDS, EllArrays

NEEDS_LINES = True

_PULL = "semira.methods.ell.kernels:pull"
_TIMES_FULL = "spmm+semira.methods.ell.kernels:times_full"


@dataclass(slots=True, eq=False)
class Padded(Valued):
    """One orientation with its lines padded: `EllArrays` with casts of its values."""

    height: int
    starts: NDArray[Any]
    indices: NDArray[Any]
    values: NDArray[Any]
    lengths: NDArray[Any] | None
    iso: bool
    companions: Companions = field(default_factory=Companions)

    @property
    def nbytes(self) -> int:
        """Bytes of its arrays; a single value is the orientation's own."""
        parts = (self.starts, self.indices, self.lengths, None if self.iso else self.values)
        return sum(part.nbytes for part in parts if part is not None) + self.companions.nbytes


def _pad(edges: Compressed, variant: Any, walk: Walk | FullWalk, *, storage: str) -> Padded:
    """Return runs with their lines padded, as a storage says."""
    del edges, variant
    return Padded(*EllArrays.from_matrix(walk.lines(), **KINDS[storage]))


PADDED = {storage: Kind(storage, partial(_pad, storage=storage)) for storage in KINDS}


def multiply(walk: Walk) -> tuple[CpuVector, int]:
    """Return the product row by row, and the matrix entries read."""
    held: Padded = walk.need(PADDED[walk.method.storage])
    lengths = DUMMY if held.lengths is None else held.lengths
    places = (held.height, held.starts, lengths, held.indices)
    lines = Lines(_PULL, ("LENGTHS", held.lengths is not None), places, held)
    return pull_lines(walk.product, lines, walk.mask, may_exit=walk.method.early_exit)


def times_full(walk: FullWalk) -> None:
    """Multiply a full matrix: threads take rows."""
    held: Padded = walk.need(PADDED[walk.method.storage])
    b, out = walk.b, walk.out
    values, stride = walk.values_of(held)
    kernels = walk.kernels(_TIMES_FULL)

    def multiply_rows(_part: int, lo: int, hi: int) -> None:
        kernels.by_padded_row(
            lo, hi, held.height, held.starts, held.indices, values, stride,
            b.values, b.step_k, b.step_j, out.indptr, out.nminor, out.values,
        )  # fmt: skip

    threads.run_chunks(multiply_rows, walk.bounds())
