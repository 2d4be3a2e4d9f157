"""Label propagation in loops of the host: only vertices near a change are looked at."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from semira import Matrix, Vector, ss
from semira.algorithms.checks import vertex_dtype
from semira.kernels import ArrayKernel, rows_of, vector_of

_PLACE = "semira.algorithms.kernels:votes"
_VOTE = ArrayKernel(_PLACE, "vote")
_WAIT = ArrayKernel(_PLACE, "wait")
_MOVE = ArrayKernel(_PLACE, "move")
_SETTLE = ArrayKernel(_PLACE, "settle_few")

#: Edges up to which one thread does an iteration, and the next ones, without a call for each.
_ALONE = 1 << 14

#: A list of at least this share of all vertices is put in order.
_MANY = 1 / 8

#: Labels of neighbours that a thread reads at once, and some more than it counts.
_GATHERED = 2048 + 32

#: Most numbers of labels that are counted, of all threads together.
_COUNTS = 1 << 28


def vote_and_move(
    edges: Matrix, seeds: tuple[int, int], shares: NDArray[np.float64], few: int, limit: int
) -> tuple[Vector, int, bool]:
    """Return labels, iterations, and whether at most `few` vertices want another label at the end.

    Edges go both ways, without self-loops. The random numbers of the `seeds` say which label wins a
    tie, and who moves. Of the vertices that want to move, a share does in each of the first
    iterations, whatever their neighbours want. It stops after `limit` iterations at the latest.
    29 bytes for each vertex, and 4 for each and thread.
    """
    n, rows = edges.nrows, rows_of(edges, values=False)
    number = vertex_dtype(n).np_type
    label, lists = np.arange(n, dtype=number), np.empty(2 * n + 2, number)
    lists[:n] = label
    best, draw, waits = np.full(n, -1, number), np.zeros(n), np.zeros(n, np.bool_)
    margin = np.zeros(n, number)
    room = int(np.diff(rows.indptr).max(initial=1)) + _GATHERED
    blocks = max(1, min(int(ss.about["nthreads"]), _COUNTS // max(n, 1)))
    counts, draws = np.zeros(blocks * n, number), np.empty(blocks * room, np.uint64)
    lines = [np.zeros(blocks * room, number) for _ in range(4)]
    wanted, count, work, turn, begin = few + 1, n, len(rows.indices), 0, 0
    state = np.array([wanted, count, work, turn, begin])
    where, ends = edges.device, rows[:2]
    given, counted = (best, draw, margin), (counts, *lines, draws)
    while turn < limit and wanted > few:
        if work <= _ALONE:
            _SETTLE(
                1, limit, few, _ALONE, shares, lists, *ends, label, *seeds, room, *given, *counted,
                waits, state, device=where,
            )  # fmt: skip
        else:
            turns = [seed + turn for seed in seeds]
            _VOTE(
                blocks, turn == 0, blocks, begin, count, lists, *ends, label, *turns, room, *given,
                *counted, device=where, work=work,
            )  # fmt: skip
            share = float(shares[turn]) if turn < len(shares) else 0.0
            # Few look at their neighbours here, and find one soon.
            _WAIT(count, begin, lists, *ends, share, draw, waits, device=where, work=work // 8)
            after = len(lists) // 2 - begin
            _MOVE(
                1, begin, count, lists, after, *ends, best, draw, waits, label, margin, state,
                device=where,
            )  # fmt: skip
            state[3:] = turn + 1, after
        wanted, count, work, turn, begin = state.tolist()
        if count > n * _MANY and work > _ALONE:
            lists[begin : begin + count] = (margin < 0).nonzero()[0]
    return vector_of(label, device=where), turn, wanted <= few
