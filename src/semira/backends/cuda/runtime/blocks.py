"""Blocks of vectors: matrices with few rows, kept by column, and how they become rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from semira.backends.cuda.runtime.device import Runtime
from semira.backends.cuda.runtime.parts import Buffer
from semira.backends.cuda.runtime.primitives import OFFSET_BYTES, primitives_of

#: Rows of which one word tells whether they have an entry.
WORD = 32


def words_of(rows: int) -> int:
    """Return the words of a column.

    Examples
    --------
    >>> words_of(32), words_of(33)
    (1, 2)
    """
    return -(-rows // WORD)


def present_bytes(rows: int, ncols: int) -> int:
    """Return the bytes of a block's presence."""
    return 4 * words_of(rows) * ncols


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """The entries of a matrix by column."""

    rows: int
    ncols: int
    #: A word for each column and 32 rows: whether they have an entry there.
    present: Buffer
    #: Of entry (i, j) at ``j * rows + i``, or the one that all share; None: nobody has asked for
    #: them yet, and the matrix has them elsewhere.
    values: Buffer | None
    iso: bool
    nvals: int

    @property
    def nbytes(self) -> int:
        """Bytes of device memory."""
        return sum(int(part.size) for part in (self.present, self.values) if part is not None)


def spell_out(
    runtime: Runtime, block: Block, offset_type: str, itemsize: int
) -> tuple[Any, Any, Any, Any]:
    """Return (indptr, indices, values, rows) of a block, in row order.

    Notes
    -----
    Nothing is waited for. Work: a bit for every position, and the entries.
    """
    primitives = primitives_of(runtime)
    rows, ncols, nvals = block.rows, block.ncols, block.nvals
    tiles = words_of(ncols)
    width = OFFSET_BYTES[offset_type]
    turned, counts = (
        runtime.allocate(4 * rows * tiles),
        runtime.allocate(width * (rows * tiles + 1)),
    )
    launch, shape = primitives.module.launch, (ncols, rows)
    items = WORD * tiles * words_of(rows)
    launch(offset_type, "semira_turn_block", items, block.present, *shape, turned, counts)
    primitives.scan(offset_type, counts, rows * tiles)
    indptr = primitives.offsets(offset_type, rows + 1)
    indices, entry_rows = runtime.allocate(4 * nvals), runtime.allocate(4 * nvals)
    origin = None if block.iso else runtime.allocate(8 * nvals)
    launch(
        offset_type, "semira_list_block", max(WORD * rows * tiles, rows + 1), turned, counts,
        *shape, indptr, indices, entry_rows, origin,
    )  # fmt: skip
    values = block.values
    if not block.iso:
        values = primitives.reorder(block.values, origin, nvals, itemsize)
    return indptr, indices, values, entry_rows
