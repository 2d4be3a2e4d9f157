"""Push-relabel in rounds: all vertices with excess at once, and breadth-first searches for heights.

A turn of the loop is `act`, `settle` and `commit`. What a vertex does depends on the state before
the turn alone, and integers are summed: any number of threads computes the same flow.

`state` holds: end, mode, side of the current list, its copy, lengths of both lists, length of the
current list, level, rounds since heights were distances, most of them, searches, rounds, turns,
copy of the mode, rounds for each level. Modes are 0 reset, 1 search, 2 collect, 3 push.
"""

import numpy as np

from semira.kernels import atomic_add, atomic_max, atomic_min, helper, kernel


@helper
def share(at, count, n):
    """Return where a worker begins in a list: its part of all items is that of the list."""
    return np.int64(at) * np.int64(count) // np.int64(n)


@kernel
def act(
    low, high, n, aside, indptr, indices, back, room, excess, incoming, height, mark, lists, state
):
    """Reset heights, search on by a level, collect vertices with excess, or let them push."""
    mode, side, count = state[1], state[2], state[6]
    current, other, counter = side * n, (1 - side) * n, 5 - side
    if mode == 0:
        for v in range(low, high):
            height[v] = n
            if excess[v] < 0:
                height[v] = 0
                lists[other + atomic_add(state, counter, 1)] = v
    elif mode == 1:
        level = state[7] + 1
        for i in range(share(low, count, n), share(high, count, n)):
            v = lists[current + i]
            for e in range(indptr[v], indptr[v + 1]):
                u = indices[e]
                is_new = height[u] == n and room[back[e]] > 0 and u != aside
                if is_new and atomic_min(height, u, level) == n:
                    lists[other + atomic_add(state, counter, 1)] = u
    elif mode == 2:
        for v in range(low, high):
            if excess[v] > 0 and height[v] < n:
                lists[other + atomic_add(state, counter, 1)] = v
    else:
        stamp = state[12] + 1
        for i in range(share(low, count, n), share(high, count, n)):
            v = lists[current + i]
            mine, h = excess[v], height[v]
            if mine <= 0 or h >= n:
                continue
            for e in range(indptr[v], indptr[v + 1]):
                w = indices[e]
                if height[w] != h - 1 or room[e] == 0:
                    continue
                sent = min(room[e], mine)
                room[e] -= sent
                room[back[e]] += sent
                mine -= sent
                atomic_add(incoming, w, sent)
                if atomic_max(mark, w, stamp) < stamp:
                    lists[other + atomic_add(state, counter, 1)] = w
                if mine == 0:
                    break
            excess[v] = mine
            if mine > 0 and atomic_max(mark, v, stamp) < stamp:
                lists[other + atomic_add(state, counter, 1)] = v


@kernel
def settle(low, high, n, indptr, indices, room, excess, incoming, height, fresh, lists, state):
    """Add what came in; who cannot push finds a new height."""
    side = state[2]
    if low == 0:
        state[3] = side
        state[13] = state[1]
    if state[1] == 3:
        count, other = state[5 - side], (1 - side) * n
        for i in range(share(low, count, n), share(high, count, n)):
            v = lists[other + i]
            mine, h = excess[v] + incoming[v], height[v]
            excess[v] = mine
            incoming[v] = 0
            if mine > 0 and h < n:
                least = n
                for e in range(indptr[v], indptr[v + 1]):
                    if room[e] > 0:
                        least = min(least, height[indices[e]])
                if least >= h:
                    h = min(least + 1, n)
            fresh[i] = h


@kernel
def commit(low, high, n, height, fresh, lists, state):
    """Write new heights; the first item turns the page."""
    side, mode = state[3], state[13]
    count = state[5 - side]
    if mode == 3:
        other = (1 - side) * n
        for i in range(share(low, count, n), share(high, count, n)):
            height[lists[other + i]] = fresh[i]
    if low == 0:
        state[2] = 1 - side
        state[4 + side] = 0
        state[6] = count
        state[12] += 1
        if mode == 0:
            state[1] = 1
            state[7] = 0
            state[10] += 1
        elif mode == 1:
            if count > 0:
                state[7] += 1
            else:
                state[1] = 2
        elif mode == 2:
            state[1] = 3
            state[8] = 0
            state[9] = max(16, state[14] * state[7])
            if count == 0:
                state[0] = 1
        else:
            state[8] += 1
            state[11] += 1
            if count == 0 or state[8] >= state[9]:
                state[1] = 0
