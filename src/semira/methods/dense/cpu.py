"""Every position on the cpu."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from semira.backends.companions import Companions, Kind
from semira.backends.cpu import threads
from semira.backends.cpu.compressed import EVERYWHERE, Array, Compressed, Valued
from semira.backends.cpu.host.mxv import Product
from semira.backends.cpu.host.walks import Lines, Walk, pull_lines
from semira.backends.cpu.storage import CpuVector
from semira.formats import MatrixArrays
from semira.methods.dense.arrays import DenseArrays, check_positions

#: Positions are made of any orientation.
NEEDS_LINES = False

_PULL = "semira.methods.dense.kernels:pull"


@dataclass(slots=True, eq=False)
class Dense(Valued):
    """One orientation line by line with a place for every position, with casts of its values.

    Attributes
    ----------
    values : ndarray, shape (lines * width,) or (1,)
    present : ndarray of bool or None, shape (lines * width,)
        None: every entry is there.
    iso : bool
    companions : Companions
    """

    values: NDArray[Any]
    present: NDArray[Any] | None
    iso: bool
    companions: Companions = field(default_factory=Companions)

    @property
    def nbytes(self) -> int:
        """Bytes of its arrays; a single value is the orientation's own."""
        held = 0 if self.present is None else self.present.nbytes
        return held + (0 if self.iso else self.values.nbytes) + self.companions.nbytes


#: Variants: line by line, or the other way.
ALONG, ACROSS = "", "across"


def _spread(edges: Compressed, variant: str, walk: Walk) -> Dense:
    """Return a place for every position, run by run or across the runs."""
    shape, lines = (edges.nmajor, edges.nminor), "csr"
    if variant == ACROSS:
        shape, lines = shape[::-1], "csc"
    made = DenseArrays.from_matrix(
        MatrixArrays(
            *shape, walk.matrix.dtype, lines, edges.indptr, edges.indices, edges.values, edges.iso
        )
    )
    present = None if made.present is None else made.present.ravel()
    return Dense(edges.values if made.iso else made.values.ravel(), present, made.iso)


DENSE = Kind("dense", _spread)


def dense_of(walk: Walk) -> Dense:
    """Return a place for every position of the lines, made of whichever orientation there is.

    Raises
    ------
    OutOfMemory
        Nearly all of them would be empty.
    """
    matrix, held = walk.matrix, walk.product.edges
    check_positions((matrix.nrows, matrix.ncols), held.nvals, matrix.dtype, iso=held.iso)
    along, across = (matrix.csc, matrix.csr) if walk.by_columns else (matrix.csr, matrix.csc)
    variant = ALONG
    if matrix.symmetric:
        along = held
    elif across is not None and (along is None or across.companions.get(DENSE, ACROSS) is not None):
        along, variant = across, ACROSS
    assert along is not None
    if along.nvals == along.nmajor * along.nminor and (along.iso or variant == ALONG):
        # Runs without gaps are such values already.
        return Dense(along.values, None, along.iso, along.companions)
    found: Dense = along.companions.need(DENSE, along, variant, walk)
    return found


def _bounds(product: Product, rows: Array | None) -> list[int]:
    count = product.size if rows is None else len(rows)
    return threads.even_bounds(count, threads.num_chunks(count * product.vector.size))


def multiply(walk: Walk) -> tuple[CpuVector, int]:
    """Return the product row by row, and the matrix entries read."""
    held, width = dense_of(walk), walk.product.vector.size
    present = EVERYWHERE if held.present is None else held.present
    flag = ("GAPS_E", held.present is not None)
    lines = Lines(_PULL, flag, (width, present), held, _bounds)
    return pull_lines(walk.product, lines, walk.mask, may_exit=walk.method.early_exit)
