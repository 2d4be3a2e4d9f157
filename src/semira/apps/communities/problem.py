"""What is given: a matrix, options, labels; checked, and as arrays of the device."""

from __future__ import annotations

import math
from typing import Any

import semira as gb
from semira.apps.arrays import check_real, on_host, per_vertex
from semira.apps.communities.graph import Graph, grouped
from semira.exceptions import InvalidValue, OutOfMemory
from semira.kernels import ArrayKernel, rows_of

_measure = ArrayKernel("semira.apps.communities.kernels:graphs", "measure", lanes=32)

#: Sums of weights stay below 2**62: integers of 64 bits hold differences of them.
_MOST_BITS = 62
#: Sums that integers of 32 bits hold, which GPUs add faster.
_NARROW = 1 << 30


def is_serial(A: Any, order: str) -> bool:
    """Return whether vertices move one after the other.

    Raises
    ------
    InvalidValue
        There is no such order, or only hosts have it.
    """
    if order not in ("halves", "serial"):
        raise InvalidValue(f"order={order!r}; choose halves, serial")
    if order == "serial" and gb.device_traits(A.device).own_memory:
        raise InvalidValue(
            f"order='serial' runs on the host, and the matrix is on {A.device}; move it by "
            ".to('cpu'), or choose 'halves'"
        )
    return order == "serial"


def graph_of(
    xp: Any, A: Any, *, weighted: bool, directed: bool, for_moves: bool = True
) -> tuple[Graph, Graph, float]:
    """Return the graph as given, a symmetric one for moves, and the scale of their weights.

    Raises
    ------
    DomainMismatch
        Weights are no real numbers.
    InvalidValue
        A weight is negative or not finite, or the matrix is not symmetric and not `directed`.
    OutOfMemory
        The sum of the weights does not fit.
    """
    if weighted:
        check_real(A, "communities")
    indptr, indices, values, _ = rows_of(A, values=weighted and A.dtype.name != "BOOL")
    weights, scale, most = integer_weights(xp, values, len(indices))
    is_iso = len(weights) == 1
    n = A.nrows
    # Both directions of each edge.
    dtype = xp.int32 if most * max(1, len(indices)) * (1 + directed) < _NARROW else xp.int64
    weights = weights.astype(dtype)
    strengths = xp.empty(n, dtype)
    strengths_in = xp.zeros(n, dtype) if directed else strengths
    sums = xp.zeros(2, xp.int64)
    _measure(
        n, indptr, indices, weights, is_iso, strengths, strengths_in, directed, sums,
        device=A.device, work=indptr,
    )  # fmt: skip
    total, odd = on_host(sums).tolist()
    if odd != 0 and not directed:
        raise InvalidValue(
            "the matrix is not symmetric; add its transpose (semira --symmetrise), or pass "
            "directed=True (semira --directed) for the modularity of directed graphs"
        )
    given = Graph(
        xp, A.device, n, indptr, indices, weights, is_iso, strengths, strengths_in, directed, total
    )
    return given, symmetric(given) if directed and for_moves else given, scale


def symmetric(graph: Graph) -> Graph:
    """Return the graph whose weights are those of both directions; strengths stay."""
    xp, n = graph.xp, graph.n
    forward = graph.keys(xp.arange(n, dtype=xp.int32), n, keeps_own=False)
    weights = xp.full(graph.nvals, 1, xp.int64) if graph.is_iso else graph.weights
    # The greatest key, of loops, stays the greatest.
    backward = xp.where(forward == forward.dtype.type((1 << 63) - 1), forward,
                        forward % max(n, 1) * n + forward // max(n, 1))  # fmt: skip
    keys, weights = xp.concatenate([forward, backward]), xp.concatenate([weights, weights])
    rows = grouped(graph, keys, weights, n, graph.strengths.dtype)
    return Graph(
        xp, graph.device, n, *rows, False, graph.strengths, graph.strengths_in, True, graph.total
    )


def integer_weights(
    xp: Any, values: Any, nvals: int, *, signed: bool = False
) -> tuple[Any, float, int]:
    """Return values as integers, what they were multiplied by, and the greatest size of one.

    Equal weights are a single 1: modularity does not depend on their size. Integers stay as they
    are. Others are multiplied by a power of two, so that no sum reaches 2**62, and rounded: each is
    off by less than ``nvals * max(|values|) / 2**60``.

    Raises
    ------
    InvalidValue
        A value is not finite, or negative and not `signed`.
    OutOfMemory
        The sum of integers may exceed 2**62.
    """
    if values is None or nvals == 0:
        return xp.ones(1, xp.int64), 1.0, 1
    if values.dtype == bool:
        values = values.astype(xp.int8)
    low, high = values.min().item(), values.max().item()
    if not (math.isfinite(low) and math.isfinite(high)):
        raise InvalidValue(f"values from {low} to {high}: only finite ones can be summed")
    if low < 0 and not signed:
        raise InvalidValue(f"a weight of {low}: communities need weights from 0 on")
    if low == high >= 0 and not signed:
        # All of weight 0: a graph without edges.
        return xp.full(1, int(high > 0), xp.int64), 1.0 / high if high else 1.0, 1
    size = max(high, -low)
    room = _MOST_BITS - nvals.bit_length()
    if values.dtype.kind in "iu":
        if int(size).bit_length() > room:
            raise OutOfMemory(
                f"{nvals} values up to {size}: their sum may exceed 2**62; scale them"
            )
        return values.astype(xp.int64), 1.0, int(size)
    if size < 2.0 ** min(room, 53) and bool((values == xp.floor(values)).all()):
        return values.astype(xp.int64), 1.0, int(size)
    # frexp: size < 2**exponent. Powers of two that doubles do not have are left out.
    exponent = min(room - math.frexp(size)[1], 1000)
    scaled = xp.rint(values.astype(xp.float64) * math.ldexp(1.0, exponent))
    return scaled.astype(xp.int64), math.ldexp(1.0, exponent), 1 << room


def labels_of(xp: Any, graph: Graph, given: Any, name: str) -> Any:
    """Return labels, any integers, as int32 below n on the device; see `numbered`."""
    return numbered(xp, graph, given, name)[0]


def numbered(xp: Any, graph: Graph, given: Any, name: str) -> tuple[Any, int]:
    """Return labels, any integers, as 0, 1, 2, ... on the device, and how many there are.

    Labels below a few times n are marked and counted, others sorted. Raises what
    `semira.apps.arrays.per_vertex` raises of what are no integers, one for each vertex.
    """
    labels = per_vertex(given, graph.n, name, xp, graph.device, kinds="iu")
    least, most = (int(labels.min()), int(labels.max())) if graph.n else (0, 0)
    if least < 0 or most > 4 * graph.n:
        found, numbers = xp.unique(labels, return_inverse=True)
        return numbers.astype(xp.int32), len(found)
    marks = xp.zeros(most + 1, xp.int32)
    labels = labels.astype(xp.int64, copy=False)
    marks[labels] = 1
    numbers = xp.subtract(xp.cumsum(marks, dtype=xp.int32), 1)
    return numbers[labels], int(numbers[-1]) + 1 if graph.n else 0
