"""Label propagation in rounds of all vertices: those that are active vote, then some of them move.

The state: whether it is done; rounds; vertices that want another label; how few of them end it;
most rounds; keys of the random numbers, of ties and of turns; rows in the queues of a GPU; whether
few vertices want another label; long rows of a GPU that want another one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from semira.kernels import atomic_add, helper, kernel, philox


@helper
def winner(used, distinct, counts, most, v, tie):
    """Return the label that was counted most; of several the one with the greatest number."""
    best = np.int64(-1)
    best_draw = np.uint64(0)
    is_drawn = False
    for k in range(distinct):
        key = np.int64(used[k])
        if counts[key] != most:
            continue
        if best < 0:
            best = key
            continue
        if not is_drawn:
            best_draw = philox(best, v, 0, tie, 0)
            is_drawn = True
        mine = philox(key, v, 0, tie, 0)
        if mine > best_draw or (mine == best_draw and key < best):
            best = key
            best_draw = mine
    return best


@kernel
def begin_ballots(
    low: Any, high: Any, few: Any, limit: Any, tie: Any, turn: Any, label: Any, best: Any,
    active: Any, state: Any,
) -> None:  # fmt: skip
    """Give each vertex a label of its own."""
    for v in range(low, high):
        label[v] = v
        best[v] = -1
        active[v] = 1
        if v == 0:
            for k in range(10):
                state[k] = 0
            state[3] = few
            state[4] = limit
            state[5] = tie
            state[6] = turn


@kernel
def vote(
    low: Any, high: Any, indptr: Any, indices: Any, label: Any, best: Any, draw: Any, active: Any,
    queue: Any, state: Any, counts: Any, used: Any,  # noqa: ARG001 - hosts leave no rows
) -> None:  # fmt: skip
    """Write the label that each active vertex wants, or -1, and a number of those that want one."""
    for v in range(low, high):
        if active[v] == 0:
            continue
        active[v] = 0
        distinct = np.int64(0)
        most = np.int64(0)
        for p in range(indptr[v], indptr[v + 1]):
            key = np.int64(label[indices[p]])
            found = np.int64(counts[key]) + 1
            counts[key] = found
            most = max(most, found)
            if found == 1:
                used[distinct] = key
                distinct += 1
        best[v] = -1
        if distinct > 0 and counts[np.int64(label[v])] != most:
            best[v] = winner(used, distinct, counts, most, v, state[5])
            bits = philox(np.int64(best[v]), v, 0, state[6], 0)
            draw[v] = np.float64(bits >> np.uint64(11)) * 1.1102230246251565e-16
        for d in range(distinct):
            counts[np.int64(used[d])] = 0


@kernel
def settle(
    low: Any, high: Any, indptr: Any, indices: Any, label: Any, best: Any, draw: Any, active: Any,
    queue: Any, state: Any,  # noqa: ARG001 - hosts leave no rows
) -> None:  # fmt: skip
    """Move who draws less than the share, or no less than neighbours that want to move too.

    Those that wanted to are active next, and the neighbours of those that move.
    """
    share = 0.0
    if state[1] < 32:
        share = 0.5 if state[1] & 1 else 0.75
    wanted = 0
    for v in range(low, high):
        if best[v] < 0:
            continue
        wanted += 1
        waits = False
        if draw[v] >= share:
            for p in range(indptr[v], indptr[v + 1]):
                u = np.int64(indices[p])
                if best[u] >= 0 and draw[u] > draw[v]:
                    waits = True
        active[v] = 1
        if waits:
            continue
        label[v] = best[v]
        for p in range(indptr[v], indptr[v + 1]):
            active[indices[p]] = 1
    if wanted > 0:
        atomic_add(state, 2, wanted)


@kernel
def next_ballot(low: Any, high: Any, state: Any) -> None:
    """Go on with other random numbers, unless few vertices want another label."""
    for _ in range(low, high):
        state[1] += 1
        state[5] += 1
        state[6] += 1
        state[7] = 0
        if state[2] <= state[3]:
            state[0] = 1
            state[8] = 1
        elif state[1] >= state[4]:
            state[0] = 1
        state[2] = 0
