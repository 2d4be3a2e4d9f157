"""Long rows cut into pieces, so that no thread has much more to do than another."""

from __future__ import annotations

from typing import Any

from semira.backends.cuda.runtime.lines import FEW_SLOTS, LinePieces, Occupied
from semira.backends.cuda.runtime.primitives import Primitives


def row_pieces(
    primitives: Primitives, offset_type: str, indptr: Any, occupied: Occupied, length: int
) -> LinePieces:
    """Return the rows in pieces of at most `length` entries; cached; waits the first time."""
    found = occupied.pieces.get(length)
    if found is None:
        found = _cut(primitives, offset_type, indptr, occupied, length)
        occupied.pieces[length] = found
    return found


def _cut(
    primitives: Primitives, offset_type: str, indptr: Any, occupied: Occupied, length: int
) -> LinePieces:
    """Cut the rows that have entries into pieces; waits."""
    n, runtime = occupied.count, primitives.runtime
    counts = [primitives.offsets("int", n + 1) for _ in range(4)]
    given = (indptr, occupied.listed, n, length)
    primitives.module.launch(
        offset_type, "semira_count_pieces", n, *given, FEW_SLOTS, *counts
    )  # fmt: skip
    for each in counts:
        primitives.scan("int", each, n)
    count, slots, num_long, num_many = (primitives.read("int", each, n) for each in counts)
    if not num_long:
        return LinePieces(length, count)
    sizes = (8 * (count + 1), 4 * count, 4 * count, 4 * num_long, 4 * (num_long + 1), 4 * num_many)
    parts = [runtime.allocate(max(size, 4)) for size in sizes]
    primitives.module.launch(offset_type, "semira_cut_pieces", count, *given, *counts, *parts)
    return LinePieces(length, count, num_long, num_many, slots, *parts)
