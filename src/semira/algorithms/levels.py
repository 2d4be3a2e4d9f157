"""Breadth-first search in a compiled loop of the host, level by level, without products.

Vertices of a level push along a queue, or all vertices without a level pull (S. Beamer,
K. Asanović, D. Patterson, *Direction-optimizing breadth-first search*, SC 2012). One thread pushes;
all of them pull.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from semira import LateRows, Matrix, TraceRow, Vector, device
from semira.algorithms.checks import vertex_dtype
from semira.algorithms.searches import backward
from semira.kernels import ArrayKernel, now, rows_of

_PUSH = ArrayKernel("semira.algorithms.kernels:levels", "push_levels")
_PULL = ArrayKernel("semira.algorithms.kernels:levels", "pull_level")

#: Edges of a level from which on vertices may pull: starting that takes some 20 us.
_MANY = 50_000

#: Threads share a pull that costs at least this many times what makes them share other work.
_ALONE = 4

#: Edges after which the search looks whether Ctrl-C was noted, some 0.1 s.
_BUDGET = 1 << 24

#: Levels that a trace keeps, the last ones.
_ROWS = 65_536

#: A search returns a sparse vector if the graph has at least 16 vertices for each one found, or at
#: most 16,384 vertices: listing them then takes no time.
_LISTED, _SMALL = 16, 1 << 14

#: Numbers of a search, and of each of its levels.
_HEAD, _ROW = 10, 5

#: More than there are.
_NEVER = 1 << 62


class Levels(NamedTuple):
    """What a search found."""

    #: Hops from the nearest source.
    level: Vector
    #: The vertex each one was found from; a source itself.
    parent: Vector | None
    #: Levels that were expanded.
    iterations: int
    #: The levels.
    trace: LateRows


def search_levels(
    A: Matrix, sources: NDArray[np.int64], limit: int, parents: bool = False
) -> Levels:
    """Return the hops from the nearest of different vertices, up to a limit, and maybe a tree.

    O(n + edges of the vertices found) at most. Parents do not depend on the number of threads.
    """
    n, rows = A.nrows, rows_of(A, values=False)
    number = vertex_dtype(n).np_type
    level, queue = np.full(n, -1, number), np.empty(n + 1, number)
    parent = np.full(n, -1, number) if parents else queue[:0]
    bits = np.empty(-(-n // 64), np.uint64)
    state = np.empty(_HEAD + _ROW * max(1, min(limit, _ROWS)), np.int64)
    state[:_HEAD] = 0
    many = _NEVER if A.memory == "lean" else _MANY
    given = rows.indptr, rows.indices, sources, limit, many, _BUDGET
    while True:
        _PUSH(1, *given, level, parent, queue, bits, state, device=A.device)
        found, begin, end, depth, _, pulls = state[:6].tolist()
        if begin == end or depth == limit:
            break
        if pulls:
            bits = _pull(A, rows.indptr, level, parent, bits, state)
    there = None if found == n else _places(level, queue, found, end)
    tree = _vector(A, parent, there) if parents else None
    return Levels(_vector(A, level, there), tree, depth, _trace(state, depth))


def _pull(
    A: Matrix, outward: NDArray[Any], level: NDArray[Any], parent: NDArray[Any],
    front: NDArray[Any], state: NDArray[np.int64],
) -> NDArray[Any]:  # fmt: skip
    """Let all vertices without a level pull; return the bits of those that found theirs."""
    inward = rows_of(backward(A), values=False)
    found, begin, end, depth, done, _, ahead, cost = state[:8].tolist()
    bits = np.empty_like(front)
    state[6:9] = 0
    given = outward, inward.indptr, inward.indices, depth + 1, level, parent, front, bits, state
    _PULL(len(bits), *given, device=A.device, work=cost // _ALONE)
    new, read = state[7:9].tolist()
    row = _HEAD + _ROW * (depth % ((len(state) - _HEAD) // _ROW))
    state[row : row + _ROW] = end - begin, read, new, 1, now()
    state[:5] = found + new, 0, new, depth + 1, done + ahead
    return bits


def _trace(state: NDArray[np.int64], count: int) -> LateRows:
    """Return the levels as rows of a trace.

    Of each one there are the frontier, the edges read, the vertices found, whether they pulled, and
    when it ended.
    """
    room = (len(state) - _HEAD) // _ROW
    lost = max(0, count - room)
    # Where levels are few, not the room for many.
    state, room = state[: _HEAD + _ROW * count].copy(), min(count, room)

    def made() -> list[TraceRow]:
        levels = np.roll(state[_HEAD:].reshape(room, _ROW), -(lost % max(1, room)), axis=0)
        levels[:, 4] = np.diff(levels[:, 4], prepend=state[9])
        return [
            TraceRow(k, "vxm", "pull" if pulls else "push", frontier, touched, produced, elapsed_ns)
            for k, (frontier, touched, produced, pulls, elapsed_ns) in enumerate(
                levels.tolist(), lost
            )
        ]

    return LateRows(count - lost, made, lost)


def _places(level: NDArray[Any], queue: NDArray[Any], found: int, end: int) -> NDArray[Any]:
    """Return where there are levels: which vertices, in order, or a flag for each."""
    n = len(level)
    if found * _LISTED < n and found == end:
        # After a pull the queue has not all of them.
        return np.sort(queue[:found])
    there = level >= 0
    return there if n > _SMALL and found * _LISTED >= n else there.nonzero()[0].astype(level.dtype)


def _vector(A: Matrix, values: NDArray[Any], there: NDArray[Any] | None) -> Vector:
    if there is None:
        return Vector.from_dense(values, device=A.device)
    if there.dtype != np.bool_:
        return Vector.from_coo(there, values[there], size=len(values), device=A.device)
    with device(A.device):
        made: Vector = Vector.ss.import_bitmap(bitmap=there, values=values, take_ownership=True)
    return made
