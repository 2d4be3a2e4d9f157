"""Label propagation where objects lie in memory of the device: one launch, no products."""

from __future__ import annotations

from semira import Matrix, Vector
from semira.kernels import ArrayKernel, array_module, rows_of, run_loop

_PLACE = "semira.algorithms.kernels:ballots"
#: Entries of a row for each part of it that waits in a queue, at least: of kernels/ballots.cuh.
_LONG_ROW = 128
_BEGIN = ArrayKernel(_PLACE, "begin_ballots")
_VOTE = ArrayKernel(_PLACE, "vote", lanes=8, skips_hosts=True)
_VOTE_LONG = ArrayKernel(_PLACE, "vote_long", skips_hosts=True)
_SETTLE = ArrayKernel(_PLACE, "settle", lanes=8, skips_hosts=True)
_SETTLE_LONG = ArrayKernel(_PLACE, "settle_long", skips_hosts=True)
_NEXT = ArrayKernel(_PLACE, "next_ballot", lanes=0, skips_hosts=True)


def vote_in_rounds(
    edges: Matrix, keys: tuple[int, int], few: int, limit: int
) -> tuple[Vector, int, bool]:
    """Return labels, iterations, and whether at most `few` vertices want another label at the end.

    Parameters
    ----------
    edges : Matrix, shape (n, n), n < 2**31
        In both directions, without self-loops.
    keys : (int, int)
        Of the random numbers of the first iteration: which label wins a tie, and who moves.
    few, limit : int
        When to stop: vertices, iterations.

    Notes
    -----
    21 bytes for each vertex, and 24 for each 128 entries.
    """
    n = edges.nrows
    with array_module(edges.device) as xp:
        rows = rows_of(edges, values=False)
        edge = rows.indptr, rows.indices
        # Most parts of long rows that wait.
        most = edges.nvals // _LONG_ROW + 1
        label, best = xp.empty(n, xp.int32), xp.empty(n, xp.int32)
        queue, picks = xp.empty(n + most, xp.int32), xp.empty(2 * most, xp.int64)
        tickets = xp.zeros(most, xp.int32)
        draw, active = xp.empty(n, xp.float64), xp.empty(n, xp.int8)
        state = xp.empty(10, xp.int64)

        run_loop(
            state,
            _VOTE.launch(n, *edge, label, best, draw, active, queue, state),
            _VOTE_LONG.launch(1, n, *edge, label, best, draw, queue, state, picks, tickets),
            _SETTLE.launch(n, *edge, label, best, draw, active, queue, state),
            _SETTLE_LONG.launch(1, *edge, label, best, draw, active, queue, state),
            _NEXT.launch(1, state),
            device=edges.device,
            before=[_BEGIN.launch(n, few, limit, *keys, label, best, active, state)],
        )  # fmt: skip
        return Vector.from_dense(label), int(state[1]), bool(state[8])
