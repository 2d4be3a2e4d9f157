"""A network as arrays of its device: arcs in both directions, capacities as 64-bit integers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from semira import Matrix, binary, dtypes, free_memory, select
from semira.algorithms.checks import check_ordered, check_square, check_vertex, check_weights
from semira.exceptions import InvalidValue, OutOfMemory
from semira.kernels import ArrayKernel, rows_of

_PLACE = "semira.algorithms.flows.kernels:arcs"
_OPPOSITES = ArrayKernel(_PLACE, "opposites")
_IMBALANCE = ArrayKernel(_PLACE, "imbalance")

#: Lists of vertices have 32-bit numbers.
_WIDE = 2**31

#: Bytes of an arc and of a vertex.
_ARC_BYTES, _VERTEX_BYTES = 48, 40

#: What leaves the source, and what a given flow carries over all arcs, has fewer than 2**59 units:
#: all excess that there can be stays below `ENDLESS`.
_BITS = 59

#: What the source and the sink have, or take, at least: more than all flow.
ENDLESS = 1 << 62

#: A unit is 2**-1100 at least: of the least floats 26 bits are left.
_LEAST_UNIT = 1100


@dataclass(frozen=True, slots=True)
class Network:
    """A network; arcs are entries of a symmetric pattern, row by row, columns sorted."""

    #: NumPy or CuPy.
    xp: Any
    device: str
    n: int
    #: `indptr`, `indices`: array of int32 or int64.
    indptr: Any
    indices: Any
    #: Array of int32 or int64. Place of the opposite of each arc.
    back: Any
    #: Capacities as the matrix has them; 0 where only the opposite is an entry.
    given: Any
    #: Array of int64. Capacities in units, clipped to more than any flow has.
    capacity: Any
    #: The greatest capacity there is; a cut has none that was clipped to it.
    clip: int
    #: A unit is ``2**-shift``.
    shift: int
    #: Infinite capacities leave the source and reach the sink: flow of ``clip - 1`` or more passes
    #: them alone.
    endless: bool

    def arcs_of(self, vertex: int) -> slice:
        """Return the places of the arcs of a vertex. Synchronises."""
        return slice(int(self.indptr[vertex]), int(self.indptr[vertex + 1]))

    def imbalance(self, room: Any) -> Any:
        """Return what flows into each vertex less what flows out; `room` is what arcs have left."""
        excess = self.xp.empty(self.n, self.xp.int64)
        _IMBALANCE(
            self.n, self.indptr, self.capacity, room, excess, device=self.device,
            work=len(self.indices),
        )  # fmt: skip
        return excess


def check_ends(A: Any, source: Any, sink: Any, name: str) -> tuple[int, int]:
    """Check a matrix of capacities; return source and sink as numbers.

    Raises DomainMismatch, DimensionMismatch, InvalidIndex or IndexOutOfBound if they are none;
    NegativeWeight or InvalidWeight if a capacity is negative, or NaN; InvalidValue if source and
    sink are the same vertex, or there are 2**31 vertices or more; OutOfMemory if the arrays do not
    fit.
    """
    n = check_square(A, name)
    check_ordered(A, name)
    check_weights(A, name)
    source, sink = check_vertex(source, n), check_vertex(sink, n, "sink")
    if source == sink:
        raise InvalidValue(f"{name}: source and sink are both {source}; name two vertices")
    if n >= _WIDE:
        raise InvalidValue(f"{name}: a network has fewer than 2**31 vertices, not {n}")
    needed, free = memory(n, A.nvals), free_memory(A.device)
    if free is not None and needed > free:
        raise OutOfMemory(
            f"{name} of {n:,} vertices and {A.nvals:,} edges takes {needed:,} bytes, and {free:,} "
            "are free; use a smaller graph or a device with more memory"
        )
    return source, sink


def memory(vertices: int, edges: int) -> int:
    """Return the bytes that a flow works with at most, beside the matrix.

    Examples
    --------
    >>> memory(1_000_000, 3_998_000) // 2**20
    404
    """
    return _VERTEX_BYTES * vertices + 2 * _ARC_BYTES * edges


def arcs_both_ways(A: Matrix) -> Matrix:
    """Return the capacities of arcs and their opposites, 0 where there is no entry; no loops.

    It stays with `A` (`Matrix.derived`) and is not to be written.
    """
    number = {"F": dtypes.FP64, "U": dtypes.UINT64}.get(A.dtype.kind, dtypes.INT64)

    def both_ways() -> Matrix:
        arcs = A.select(select.offdiag).new(number)
        # Of an infinite capacity too the opposite has 0.
        arcs << arcs.ewise_add(arcs.T.apply(binary.second, right=0).new(), binary.plus)
        return arcs

    found: Matrix = A.derived("arcs both ways", both_ways)
    return found


def back_of(A: Matrix, arcs: Matrix, xp: Any) -> Any:
    """Return the place of the opposite of each arc; it stays with `A`."""

    def opposites() -> list[Any]:
        rows = rows_of(arcs, values=False)
        back = xp.empty(len(rows.indices), rows.indptr.dtype)
        _OPPOSITES(
            A.nrows, rows.indptr, rows.indices, back, device=A.device, work=len(rows.indices)
        )
        return [back]

    return A.derived("opposite arcs", opposites)[0]


def network_of(A: Matrix, source: int, sink: int, xp: Any, name: str, net: Any = None) -> Network:
    """Return the network of a matrix of capacities; call inside of `array_module`.

    A flow to start from, over each arc, is `net`; its sums are to be exact too. Raises InvalidValue
    if integers leave the source, or reach the sink, whose sum is 2**59 or more; or those of `net`.
    """
    arcs = arcs_both_ways(A)
    rows, back = rows_of(arcs), back_of(A, arcs, xp)
    given = rows.values
    ends = slice(*map(int, rows.indptr[source : source + 2]))
    others = slice(*map(int, rows.indptr[sink : sink + 2]))
    out, into = given[ends].astype(xp.float64), given[back[others]].astype(xp.float64)
    bound, endless = min(float(out.sum()), float(into.sum())), False
    if not np.isfinite(bound):
        bound, endless = float(given[xp.isfinite(given)].sum()), True
    if bound == 0 and A.dtype.kind == "F":
        # Nothing flows, and what is not 0 still has room: units are as small as the least of it.
        positive = xp.minimum(given[given > 0], 1.0)
        bound = float(positive.min()) if len(positive) else 0.0
    # More than all flow, rounding of the sum included.
    bound *= 1 + 2.0**-30
    supply = max(float(xp.minimum(out, bound).sum()), bound)
    carried = 0.0
    if net is not None:
        carried = float(xp.minimum(abs(net.astype(xp.float64)), bound).sum())
    shift = 0
    if A.dtype.kind == "F":
        most = max(supply, carried)
        shift = min(_BITS - int(np.frexp(most)[1]), _LEAST_UNIT) if bound else 0
        clip = int(np.ldexp(bound, shift) + 2.0)
        most = 2.0 * float(np.ldexp(float(clip), -shift))
        scaled = xp.ldexp(xp.minimum(given, most), xp.int32(shift))
        capacity = xp.minimum(xp.rint(scaled), float(clip)).astype(xp.int64)
    else:
        if max(supply, carried) >= 2.0**_BITS:
            told = "capacities" if supply >= carried else "flows of initial"
            raise InvalidValue(
                f"{name}: {told} of {max(supply, carried):.6g} are to be summed, and integers are "
                "exact below 2**59; divide the capacities, or make them floating-point numbers "
                'with A.dup("FP64")'
            )
        clip = int(bound) + 2
        capacity = xp.minimum(given, clip).astype(xp.int64)
    return Network(
        xp, A.device, A.nrows, rows.indptr, rows.indices, back, given, capacity, clip,
        shift, endless,
    )  # fmt: skip
