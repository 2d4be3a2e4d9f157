"""Rows that have entries, and rows cut into pieces so that no thread has much more to do."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from semira.backends.cuda.runtime.parts import Buffer

#: Pieces of a row from which on a block adds them up (kernels/mxm/pieces.cuh).
FEW_SLOTS = 64


@dataclass(frozen=True, slots=True)
class LinePieces:
    """Pieces of the lines of an orientation that have entries, in their order."""

    #: Entries that a piece has at most.
    length: int
    #: Pieces; lines of more than one, and of more than `FEW_SLOTS`; pieces of long lines.
    count: int
    num_long: int = 0
    num_many: int = 0
    slots: int = 0
    #: Of each piece: its first entry (one number more), its line or the complement of its slot, its
    #: row. None, as all that follow, where no line is long.
    begins: Buffer | None = None
    owners: Buffer | None = None
    rows: Buffer | None = None
    #: Of each long line: which it is, its first slot (one number more).
    lines: Buffer | None = None
    starts: Buffer | None = None
    #: Long lines of more than `FEW_SLOTS`.
    many: Buffer | None = None

    @property
    def nbytes(self) -> int:
        """Bytes of all lists."""
        parts = (self.begins, self.owners, self.rows, self.lines, self.starts, self.many)
        return sum(int(part.size) for part in parts if part is not None)

    def describe(self, sums: Any) -> tuple[Any, ...]:
        """Return the arguments of the kernels that know of pieces."""
        return (
            self.begins, self.owners, self.rows, self.count, self.lines, self.starts,
            self.num_long, self.many, self.num_many, sums,
        )  # fmt: skip


@dataclass(slots=True)
class Occupied:
    """The rows of an orientation that have entries."""

    count: int
    #: Which they are; None: all.
    listed: Buffer | None = None
    #: How many come before each row; None: as many as there are rows before it.
    before: Buffer | None = None
    #: The rows cut into pieces, by the entries that a piece has at most.
    pieces: dict[int, LinePieces] = field(default_factory=dict)
    #: Entries of each of the rows in a whole matrix, the type of its offsets, and they, as they
    #: were asked for last.
    even: tuple[int, str, Buffer] | None = None

    @property
    def nbytes(self) -> int:
        """Bytes of all lists."""
        parts = [self.listed, self.before, None if self.even is None else self.even[2]]
        kept = sum(pieces.nbytes for pieces in self.pieces.values())
        return kept + sum(int(part.size) for part in parts if part is not None)
