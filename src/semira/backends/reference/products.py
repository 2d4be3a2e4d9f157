"""Products over a semiring: every meeting pair of entries, in index order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from semira.backends.reference.objects import ENTRY_BYTES, Entries, Position
from semira.base.memory import is_free, require_bytes
from semira.ops import TypedSemiring

#: One multiplication: where its result goes, both values, and the positions i, k, j.
Meeting = tuple[Position, Any, Any, tuple[int, int, int]]


def by_row(matrix: Entries) -> dict[int, list[tuple[int, Any]]]:
    """Return the entries of each non-empty row, columns increasing."""
    rows: dict[int, list[tuple[int, Any]]] = {}
    for (i, j), value in matrix.sorted():
        rows.setdefault(i, []).append((j, value))
    return rows


def meetings_mxv(matrix: Entries, vector: Entries) -> Iterator[Meeting]:
    """Yield A_ik meeting u_k."""
    for (i, k), value in matrix.sorted():
        if (k,) in vector.items:
            yield (i,), value, vector.items[(k,)], (i, k, 0)


def meetings_vxm(vector: Entries, matrix: Entries) -> Iterator[Meeting]:
    """Yield u_k meeting A_kj."""
    for (k, j), value in matrix.sorted():
        if (k,) in vector.items:
            yield (j,), vector.items[(k,)], value, (0, k, j)


def meetings_mxm(left: Entries, right: Entries) -> Iterator[Meeting]:
    """Yield A_ik meeting B_kj."""
    rows = by_row(right)
    for (i, k), value in left.sorted():
        for j, other in rows.get(k, ()):
            yield (i, j), value, other, (i, k, j)


MEETINGS = {"mxv": meetings_mxv, "vxm": meetings_vxm, "mxm": meetings_mxm}


def _check_least(left: Entries, right: Entries) -> None:
    """Refuse a product that cannot fit, by a lower bound of its entries.

    A row of the result has at least as many entries as the longest row of `right` that it meets.
    Raises OutOfMemory if the lower bound does not fit.
    """
    if is_free(len(left.items) * len(right.items) * ENTRY_BYTES):
        return
    lengths = Counter(k for k, _ in right.items)
    longest: Counter[int] = Counter()
    for i, k in left.items:
        longest[i] = max(longest[i], lengths[k])
    least = longest.total()
    require_bytes(
        least * ENTRY_BYTES,
        f"a product with at least {least} entries",
        "use smaller operands, or the device 'cpu'",
    )


def fold(
    op: str, semiring: TypedSemiring, left: Entries, right: Entries, shape: Position
) -> Entries:
    """Return the product: multiply every meeting pair and add up what lands on one position.

    ``any`` keeps the first in index order, one of the admissible values.
    """
    multiply, add = semiring.binaryop.meaning, semiring.monoid.op.meaning
    op_typed = semiring.binaryop
    left = left.operand(op_typed.type, is_read=op_typed.reads_a)
    right = right.operand(op_typed.type2, is_read=op_typed.reads_b)
    if op == "mxm":
        _check_least(left, right)
    items: dict[Position, Any] = {}
    for at, a, b, (i, k, j) in MEETINGS[op](left, right):
        product = multiply(a, b, i, k, j)
        items[at] = add(items[at], product, 0, 0, 0) if at in items else product
    return Entries(shape, semiring.return_type, items)
