"""Breadth-first search in a compiled loop of the host, level by level, without products.

Vertices of a level push along a queue, or all vertices without a level pull (S. Beamer,
K. Asanović, D. Patterson, *Direction-optimizing breadth-first search*, SC 2012). One thread pushes;
all of them pull.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from semira import LateRows, Matrix, TraceRow, Vector
from semira.algorithms.checks import vertex_dtype
from semira.algorithms.searches import backward
from semira.kernels import ArrayKernel, now, rows_of, vector_of

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

#: Vertices up to which those found are always listed: it takes no time then. In a larger graph they
#: are if they are few.
_SMALL = 1 << 14

#: The queue has all vertices found, in order, and their levels.
_LISTED = 2

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


class _Room:
    """Where a search works; in a small graph, another one of the same thread or a later one too."""

    def __init__(self, A: Matrix) -> None:
        rows = rows_of(A, values=False)
        n = self.size = rows.shape[0]
        self.rows, self.device = rows[:2], A.device
        self.many = _NEVER if A.memory == "lean" else _MANY
        number = vertex_dtype(n).np_type
        self.level, self.queue = np.empty(n, number), np.empty(2 * n + 2, number)
        self.bits, self.none = np.empty(-(-n // 64), np.uint64), np.empty(0, number)

    @property
    def nbytes(self) -> int:
        """Bytes that stay with the matrix."""
        return self.level.nbytes + self.queue.nbytes + self.bits.nbytes


def search_levels(
    A: Matrix, sources: NDArray[np.int64], limit: int, parents: bool = False
) -> Levels:
    """Return the hops from the nearest of different vertices, up to a limit, and maybe a tree.

    O(n + edges of the vertices found) at most. Parents do not depend on the number of threads.
    """
    rooms: list[_Room] = A.derived("rooms of searches", list)
    room = rooms.pop() if rooms else _Room(A)
    n, where, level, queue, bits = room.size, room.device, room.level, room.queue, room.bits
    parent = np.empty(n, level.dtype) if parents else room.none
    state = np.empty(_HEAD + _ROW * max(1, min(limit, _ROWS)), np.int64)
    begins = 1
    while True:
        _PUSH(
            1, *room.rows, sources, begins, limit, room.many, _SMALL, _BUDGET, level, parent,
            queue, bits, state, device=where,
        )  # fmt: skip
        found, begin, end, depth, _, held = state[:6].tolist()
        if held == _LISTED or begin == end or depth == limit:
            break
        if held:
            bits = _pull(A, room.rows[0], level, parent, bits, state)
        begins = 0
    there = None
    if held == _LISTED:
        there = queue[:found].copy()
        level = queue[n + 1 : n + 1 + found].copy()
        parent = parent[there] if parents else parent
        if n <= _SMALL:
            rooms.append(room)
    elif found < n:
        there = level >= 0
    tree = vector_of(parent, there, size=n, device=where) if parents else None
    levels = vector_of(level, there, size=n, device=where)
    return Levels(levels, tree, depth, _trace(state, depth))


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
    if count < room:
        # Not the room for many.
        state, room = state[: _HEAD + _ROW * count].copy(), count

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
