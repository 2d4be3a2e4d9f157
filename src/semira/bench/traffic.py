"""The bytes that products must move at least, from the trace of what ran.

One formula for each way to compute a product. Entries of the matrix, of the operand and of the
result count once each time a product looks at them; caches, repeated passes, masks, presence
bits and every statement between two products are left out, so that the real traffic is larger.
Shortest paths without iterations have no products to count: the matrix and the vectors count once.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from semira.contract import TraceRow

#: Bytes a second that a copy on the H200 reads and writes, measured.
ROOF = 4.2e12


#: Method of shortest paths that has no iterations; `Record.ran` names it in the place of products.
ASYNCHRONOUS = "asynchronous"


@dataclass(frozen=True, slots=True)
class Widths:
    """Bytes of what a product reads and writes."""

    #: `matrix`, `operand`, `result`: of a value; 0 where it is not looked at.
    matrix: int
    operand: int
    result: int
    index: int = 4
    offset: int = 4


#: Kernel to whether its products look at the values of (matrix, operand).
_LOOKS_AT = {
    "bfs": (False, False),
    "sssp": (True, True),
    "pagerank": (False, True),
    "cc": (False, True),
    "tc": (False, False),
}


def widths_of(kernel: str, weight_bytes: int, result_bytes: int, nvals: int) -> Widths:
    """Return the widths of an algorithm's products.

    Given are the bytes of a value of the matrix and of the result, whose dtype operands have. The
    number of entries decides about the offsets.
    """
    weights, operand = _LOOKS_AT[kernel]
    return Widths(
        weight_bytes if weights else 0,
        result_bytes if operand else 0,
        result_bytes,
        offset=4 if nvals < 2**31 else 8,
    )


def bytes_of(row: TraceRow, widths: Widths) -> int:
    """Return the bytes of one product.

    Examples
    --------
    >>> bytes_of(TraceRow(0, "mxv", "pull", 10, 100, 10), Widths(0, 4, 4))
    524
    """
    listed = widths.index + widths.result
    entries = row.touched * (widths.index + widths.matrix)
    if row.op == "mxm":
        return entries + row.frontier * (widths.index + widths.matrix) + row.produced * listed
    if row.method == "pull":
        # Offsets of the rows with a result; the operand and the result are indexed, not listed.
        offsets = (row.produced + 1) * widths.offset
        return entries + offsets + row.frontier * widths.operand + row.produced * widths.result
    per_vertex = widths.index + 2 * widths.offset + widths.operand
    return entries + row.frontier * per_vertex + row.produced * listed


def least_bytes(trace: Iterable[TraceRow], widths: Widths) -> int:
    """Return the bytes that the products of a run must move.

    Examples
    --------
    Twenty iterations of PageRank in FP32 over 50 entries and 10 vertices, each with an in-edge:

    >>> rows = [TraceRow(i, "mxv", "pull", 10, 50, 10) for i in range(20)]
    >>> least_bytes(rows, widths_of("pagerank", 4, 4, 50)) == 20 * (4 * 50 + 12 * 10 + 4)
    True
    """
    return sum(bytes_of(row, widths) for row in trace)


def settled_bytes(vertices: int, entries: int, widths: Widths) -> int:
    """Return the bytes without which no lengths can be settled: matrix once, vectors once.

    A lower bound of what a run without iterations must move, by however much it reads edges again:
    nobody counts how often. Each vertex that is reached has its offsets and the entries of its row,
    and its length is read and written.

    Examples
    --------
    A matrix in FP32 with lengths in FP32, ten vertices with five edges each:

    >>> settled_bytes(10, 50, widths_of("sssp", 4, 4, 50)) == 50 * (4 + 4) + 4 * 11 + 10 * (4 + 4)
    True
    """
    offsets = (vertices + 1) * widths.offset
    lengths = vertices * (widths.operand + widths.result)
    return entries * (widths.index + widths.matrix) + offsets + lengths
