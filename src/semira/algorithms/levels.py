"""Breadth-first search in a compiled loop of the host, level by level, without products.

Vertices of a level push along a queue, or all vertices without a level pull (S. Beamer,
K. Asanović, D. Patterson, *Direction-optimizing breadth-first search*, SC 2012). One thread pushes;
all of them pull.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira import LateRows, Matrix, TraceRow, Vector
from semira.algorithms.checks import vertex_dtype
from semira.algorithms.searches import backward
from semira.algorithms.sequential import runs_loops
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
_HEAD, _ROW = 12, 5

#: Where the limit is among them, and how to begin: in levels that hold anything, or -1 everywhere.
_LIMIT, _BEGIN, _ANEW, _CLEAN = 10, 11, 1, 2

#: More than there are.
_NEVER = 1 << 62

#: Levels up to which a search from one vertex works in the numbers of its room.
_FEW_LEVELS = 64

#: Most vertices of a matrix that keeps rooms: 48 MB.
_KEPT = 1 << 22


class _Room:
    """Where a search works; if that lists what it found, another one after it, in any thread."""

    def __init__(self, A: Matrix) -> None:
        rows = rows_of(A, values=False)
        n = self.size = rows.shape[0]
        self.rows, self.device, self.begin = rows[:2], A.device, _ANEW
        number = vertex_dtype(n).np_type
        self.level, self.queue = np.empty(n, number), np.empty(2 * n + 2, number)
        self.bits, self.none = np.empty(-(-n // 64), np.uint64), np.empty(0, number)
        self.limits = (_NEVER if A.memory == "lean" else _MANY), _SMALL, _BUDGET
        source, self.state = np.empty(1, np.int64), _numbers(_FEW_LEVELS)
        # Items of an array are numbers of NumPy, which take longer to make.
        self.source, self.told = source.data, self.state.data
        given = self.arguments(source, self.none, self.bits, self.state)
        self.push_from_one = _PUSH.bound(*given, device=self.device)

    def arguments(self, sources: Any, parent: Any, bits: Any, state: Any) -> tuple[Any, ...]:
        """Return the arguments of a search."""
        rest = self.level, parent, self.queue, bits, state
        return 1, *self.rows, sources, *self.limits, *rest

    @property
    def nbytes(self) -> int:
        """Bytes that stay with the matrix."""
        return self.level.nbytes + self.queue.nbytes + self.bits.nbytes


def _numbers(levels: int) -> NDArray[np.int64]:
    return np.empty(_HEAD + _ROW * max(1, min(levels, _ROWS)), np.int64)


def search_rooms(A: Matrix, opts: Any = ()) -> list[_Room] | None:
    """Return the rooms of searches that stay with a matrix; None where products search it."""
    if opts:
        return None
    return A.derived("rooms of searches", lambda: [] if runs_loops(A) else None)


def search_levels(
    A: Matrix,
    rooms: list[_Room],
    sources: int | NDArray[np.int64],
    limit: int,
    parents: bool = False,
) -> tuple[Vector, Vector | None, int, LateRows]:
    """Search from a vertex, or from different ones together, up to a limit of levels.

    Returns
    -------
    level : Vector
        Hops from the nearest source.
    parent : Vector or None
        The vertex each one was found from, a source itself; where `parents` are wanted.
    iterations, trace
        The levels that were expanded.

    Notes
    -----
    O(n + edges of the vertices found) at most; O(edges of the vertices found) where they are few
    and an earlier search of the matrix found few. Parents do not depend on the number of threads.
    """
    room = rooms.pop() if rooms else _Room(A)
    n, where, queue, bits = room.size, room.device, room.queue, room.bits
    if limit <= _FEW_LEVELS and sources.__class__ is int and not parents:
        state, told, parent, push = room.state, room.told, room.none, room.push_from_one
        room.source[0] = sources
    else:
        sources, state = np.atleast_1d(sources), _numbers(limit)
        told = state.data
        parent = np.empty(n, queue.dtype) if parents else room.none
        push = partial(_PUSH, *room.arguments(sources, parent, bits, state), device=where)
    told[_LIMIT], told[_BEGIN] = limit, room.begin
    while True:
        push()
        found, depth, held = told[0], told[3], told[5]
        if held == _LISTED or told[1] == told[2] or depth == limit:
            break
        if held:
            bits = _pull(A, room.rows[0], room.level, parent, bits, state)
            given = room.arguments(np.atleast_1d(sources), parent, bits, state)
            push = partial(_PUSH, *given, device=where)
        told[_BEGIN] = 0
    there, level, trace = None, room.level, _trace(told, depth)
    if held == _LISTED:
        there = queue[:found].copy()
        level = queue[n + 1 : n + 1 + found].copy()
        parent = parent[there] if parents else parent
        if n <= _KEPT:
            # Everything was copied: another thread may take it at once.
            room.begin = _CLEAN
            rooms.append(room)
    elif found < n:
        there = level >= 0
    tree = vector_of(parent, there, size=n, device=where) if parents else None
    levels = vector_of(level, there, size=n, device=where)
    return levels, tree, depth, trace


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


def _trace(state: memoryview, count: int) -> LateRows:
    """Return the levels as rows of a trace.

    Of each one there are the frontier, the edges read, the vertices found, whether they pulled, and
    when it ended.
    """
    room = (len(state) - _HEAD) // _ROW
    lost = max(0, count - room)
    # Not the room for many, and not that of the next search.
    kept = state[: _HEAD + _ROW * count].tobytes()

    def made() -> list[TraceRow]:
        numbers = np.frombuffer(kept, np.int64)
        levels = numbers[_HEAD:].reshape(-1, _ROW)
        levels = np.roll(levels, -(lost % max(1, len(levels))), axis=0)
        levels[:, 4] = np.diff(levels[:, 4], prepend=numbers[9])
        return [
            TraceRow(k, "vxm", "pull" if pulls else "push", frontier, touched, produced, elapsed_ns)
            for k, (frontier, touched, produced, pulls, elapsed_ns) in enumerate(
                levels.tolist(), lost
            )
        ]

    return LateRows(count - lost, made, lost)
