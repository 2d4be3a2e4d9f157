"""Label propagation in loops of the host: only vertices near a change are looked at."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from semira import Matrix, Vector, ss
from semira.algorithms.checks import vertex_dtype
from semira.kernels import ArrayKernel, rows_of

_PLACE = "semira.algorithms.kernels:votes"
_VOTE = ArrayKernel(_PLACE, "vote")
_WAIT = ArrayKernel(_PLACE, "wait")
_MOVE = ArrayKernel(_PLACE, "move")

#: A list of at least this share of all vertices is put in order.
_MANY = 1 / 8

#: Most numbers of labels that are counted, of all threads together.
_COUNTS = 1 << 28


def vote_and_move(
    edges: Matrix, keys: tuple[int, int], shares: NDArray[np.float64], few: int, limit: int
) -> tuple[Vector, int, bool]:
    """Return labels, iterations, and whether at most `few` vertices want another label at the end.

    Edges go both ways, without self-loops. The random numbers of `keys` say which label wins a tie,
    and who moves. Of the vertices that want to move, a share does in each of the first iterations,
    whatever their neighbours want. It stops after `limit` iterations at the latest. 24 bytes for
    each vertex, and 4 for each and thread.
    """
    n, rows = edges.nrows, rows_of(edges, values=False)
    number = vertex_dtype(n).np_type
    label = np.arange(n, dtype=number)
    best, draw, waits = np.full(n, -1, number), np.zeros(n), np.zeros(n, np.bool_)
    active, after = np.arange(n + 1, dtype=number), np.empty(n + 1, number)
    seen = np.zeros(n, number)
    longest = int(np.diff(rows.indptr).max(initial=1))
    blocks = max(1, min(int(ss.about["nthreads"]), _COUNTS // max(n, 1)))
    counts, used = np.zeros(blocks * n, number), np.empty(blocks * longest + 1, number)
    state = np.array([0, n, edges.nvals])
    where, lists = edges.device, rows[:2]
    is_over, turn = False, 0
    while turn < limit and not is_over:
        _, count, work = state.tolist()
        tie, draws = (key + turn for key in keys)
        _VOTE(
            blocks, blocks, count, active, *lists, label, tie, draws, longest, best, draw, counts,
            used, device=where, work=work,
        )  # fmt: skip
        share = float(shares[turn]) if turn < len(shares) else 0.0
        # Few look at their neighbours here, and find one soon.
        _WAIT(count, active, *lists, share, best, draw, waits, device=where, work=work // 8)
        turn += 1
        given = best, waits, label, seen, after, state
        _MOVE(1, count, turn, active, *lists, *given, device=where)
        active, after = after, active
        is_over = state[0] <= few
        if state[1] > n * _MANY:
            active[: state[1]] = (seen == turn).nonzero()[0]
    return Vector.from_dense(label, device=where), turn, bool(is_over)
