"""Draws entries of rows."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from operator import mul
from typing import Any, NamedTuple

from semira.apps.arrays import check_room
from semira.apps.sampling.result import NeighbourSample
from semira.apps.sampling.weights import running_totals
from semira.kernels import ArrayKernel, rows_of, workspace

_PLACE = "semira.apps.sampling.kernels:draw"
_with = ArrayKernel(_PLACE, "with_replacement")
_without = ArrayKernel(_PLACE, "without_replacement", lanes=32)
_weighted_without = ArrayKernel(_PLACE, "weighted_without_replacement", threads=64)


class Source(NamedTuple):
    """The rows of a matrix, ready to be drawn from.

    Attributes
    ----------
    indptr, indices, values : arrays
        `values` is None if nobody asked for weights.
    running : array of int64
        Running totals of the weights; one 0 without weights.
    weighted : bool
    device : str
    """

    indptr: Any
    indices: Any
    running: Any
    weighted: bool
    device: str


def source_of(A: Any, xp: Any, *, weighted: bool) -> Source:
    """Return the rows of a matrix, with running totals of its values if they are weights.

    Raises
    ------
    NegativeWeight, InvalidWeight
        A weight is negative, or no finite number.
    """
    rows = rows_of(A, values=weighted)
    if weighted:
        running = running_totals(xp, rows.indptr, rows.values, "weights", A.device)
    else:
        running = A.derived("no running totals", lambda: xp.zeros(1, xp.int64))
    return Source(rows.indptr, rows.indices, running, weighted, A.device)


def draw(
    source: Source, vertices: Any, k: int, key: int, xp: Any, *, replace: bool, batches: Any = None
) -> tuple[Any, Any]:
    """Return (neighbours, entries) of k draws from each row, -1 where there is none.

    Parameters
    ----------
    vertices : array of int
        Rows; -1 has no entries.
    key : int
        Of the random numbers: those of row i are a function of i, or, with batches, of its batch
        and vertex.
    batches : array of int, optional
        The batch of each row; in a batch the rows are different.

    Returns
    -------
    array of shape (len(vertices) * k,), twice
        Vertices, and positions in the arrays of the rows.
    """
    work = len(vertices) * k
    out = workspace(xp, ((work,), source.indices.dtype), ((work,), source.indptr.dtype))
    _draw_into(source, vertices, k, key, out, replace=replace, batches=batches)
    return out[0], out[1]


def _draw_into(
    source: Source, vertices: Any, k: int, key: int, to: Sequence[Any], *, replace: bool,
    batches: Any = None,
) -> None:  # fmt: skip
    """Write k draws from each row, which `draw` describes, into neighbours and entries."""
    count, indptr, indices = len(vertices), source.indptr, source.indices
    given: tuple[Any, ...]
    rows = (0, k, vertices, vertices if batches is None else batches, batches is not None)
    out, work = (key, *to), count * k
    if replace:
        given = (*rows, indptr, indices, source.running, source.weighted, False)
        _with(work, *given, *out, device=source.device, work=4 * work)
    elif source.weighted:
        given = (*rows, indptr, indices, source.running)
        _weighted_without(count, *given, *out, device=source.device, work=8 * work)
    else:
        given = (*rows, indptr, indices)
        _without(count, *given, *out, device=source.device, work=4 * work)


def draw_hops(
    A: Any,
    source: Source,
    rows: Any,
    fanouts: Sequence[int],
    keys: Sequence[int],
    xp: Any,
    *,
    replace: bool,
) -> tuple[NeighbourSample, ...]:
    """Return entries of rows, then of the rows that these name, and so on; nothing waits.

    Raises
    ------
    OutOfMemory
        They do not fit.
    """
    counts = [*accumulate(fanouts, mul, initial=len(rows))][1:]
    dtypes = source.indices.dtype, source.indptr.dtype
    needed = sum(counts) * sum(dtype.itemsize for dtype in dtypes)
    check_room(needed, source.device, "the samples", "pass fewer vertices at once")
    parts = workspace(xp, *(((count,), dtype) for count in counts for dtype in dtypes))
    found = []
    for hop, (k, key) in enumerate(zip(fanouts, keys, strict=True)):
        out = neighbours, entries = parts[2 * hop : 2 * hop + 2]
        _draw_into(source, rows, k, key, out, replace=replace)
        shaped = neighbours.reshape(-1, k), entries.reshape(-1, k)
        found.append(NeighbourSample(rows, *shaped, matrix=A))
        rows = neighbours
    return tuple(found)


def draw_or_stay(source: Source, vertices: Any, k: int, key: int, xp: Any, *, first: int) -> Any:
    """Return k neighbours of each vertex, drawn with replacement; itself if it has none."""
    work = len(vertices) * k
    neighbours = xp.empty(work, source.indices.dtype)
    rows = (first, k, vertices, vertices, False, source.indptr, source.indices)
    given = (*rows, source.running, source.weighted)
    out = (True, key, neighbours, neighbours)
    _with(work, *given, *out, device=source.device, work=4 * work)
    return neighbours
