"""Push-relabel in rounds: all vertices with excess at once, and breadth-first searches for heights.

A turn of the loop is `act`, `settle` and `commit`. What a vertex does depends on the state before
the turn alone, and integers are summed: any number of threads computes the same flow.

`state` holds: end, mode, side of the current list, its copy, lengths of both lists, length of the
current list, level, rounds since heights were distances, most of them, searches, rounds, turns,
copy of the mode, rounds for each four levels, vertices with excess that a search looks for. Modes
are 0 reset, 1 search, 2 collect, 3 push.

A turn searches four levels. A search ends once it has found all vertices with excess that may reach
a taker: others are farther than its last level. Who cannot reach a taker never can again; its
height is n + 1 then.
"""

import numpy as np

from semira.kernels import atomic_add, atomic_max, atomic_min, helper, kernel


@helper
def share(at, count, n):
    """Return where a worker begins in a list: its part of all items is that of the list."""
    return np.int64(at) * np.int64(count) // np.int64(n)


@helper
def spread(
    first, last, level, n, aside, indptr, indices, back, room, excess, height, lists, current,
    other, counter, state,
):  # fmt: skip
    """Give a level to whom arcs with room lead from to vertices of a list; list the next level.

    Whoever gives a level to a vertex goes on from it at once. A vertex that was thought to be one
    farther stays in the list without effect.
    """
    for i in range(first, last):
        v = lists[current + i]
        for e in range(indptr[v], indptr[v + 1]):
            u = indices[e]
            if height[u] <= level or height[u] > n or room[back[e]] == 0 or u == aside:
                continue
            before = atomic_min(height, u, level)
            if before <= level:
                continue
            if before == n and excess[u] > 0:
                atomic_add(state, 15, -1)
            for f in range(indptr[u], indptr[u + 1]):
                t = indices[f]
                is_new = height[t] == n and room[back[f]] > 0 and t != aside
                if is_new and atomic_min(height, t, level + 1) == n:
                    lists[other + atomic_add(state, counter, 1)] = t
                    if excess[t] > 0:
                        atomic_add(state, 15, -1)


@helper
def push(v, stamp, n, indptr, indices, back, room, excess, incoming, height, mark, lists, other,
         counter, state):  # fmt: skip
    """Send the excess of a vertex along arcs that lead down; list who has some now."""
    mine, h = excess[v], height[v]
    if mine <= 0 or h >= n:
        return
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
def act(
    low, high, n, aside, indptr, indices, back, room, excess, incoming, height, mark, lists, state
):  # fmt: skip
    """Reset heights, search on by two levels, collect vertices with excess, or let them push."""
    mode, side, count = state[1], state[2], state[6]
    current, other, counter = side * n, (1 - side) * n, 5 - side
    first, last = share(low, count, n), share(high, count, n)
    if mode == 0:
        for v in range(low, high):
            height[v] = n + 1 if height[v] >= n else n
            if excess[v] > 0 and height[v] == n:
                atomic_add(state, 15, 1)
            if excess[v] < 0:
                height[v] = 0
                lists[other + atomic_add(state, counter, 1)] = v
    elif mode == 1:
        spread(
            first, last, state[7] + 1, n, aside, indptr, indices, back, room, excess, height, lists,
            current, other, counter, state,
        )  # fmt: skip
    elif mode == 2:
        for v in range(low, high):
            if state[15] != 0:
                if height[v] < n:
                    atomic_max(state, 7, height[v])
            elif height[v] == n:
                height[v] = min(state[7] + 1, n)
            if excess[v] > 0 and height[v] < n:
                lists[other + atomic_add(state, counter, 1)] = v
    else:
        for i in range(first, last):
            push(
                lists[current + i], state[12] + 1, n, indptr, indices, back, room, excess, incoming,
                height, mark, lists, other, counter, state,
            )  # fmt: skip


@kernel
def settle(
    low, high, n, aside, indptr, indices, back, room, excess, incoming, height, fresh, lists, state
):  # fmt: skip
    """Add what came in; who cannot push finds a new height. Or search on."""
    mode, side = state[1], state[2]
    if low == 0:
        state[3] = side
        state[13] = mode
    count, other = state[5 - side], (1 - side) * n
    first, last = share(low, count, n), share(high, count, n)
    if mode == 1:
        spread(
            first, last, state[7] + 3, n, aside, indptr, indices, back, room, excess, height, lists,
            other, side * n, 4 + side, state,
        )  # fmt: skip
    elif mode == 3:
        for i in range(first, last):
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


@helper
def turn(side, mode, state):
    """Decide what the next turn does, and empty the lists that it does not read."""
    found = state[5 - side]
    state[2] = 1 - side
    state[12] += 1
    if mode == 0:
        state[1] = 1
        state[7] = 0
        state[10] += 1
        state[5 - side] = 0
        # Without vertices to look for, the search finds all distances: it is the last one.
        if state[15] == 0:
            state[15] = -1
    elif mode == 1:
        # Twice two levels: the last is where the list was that the first came from.
        state[2] = side
        state[7] += 4
        found = state[4 + side]
        state[5 - side] = 0
        if state[15] == 0:
            state[1] = 2
        elif found == 0:
            # All distances are known: the greatest one is told by who collects.
            state[1] = 2
            state[7] = 0
            state[15] = -1
    elif mode == 2:
        state[1] = 3
        state[8] = 0
        state[9] = max(16, state[14] * state[7] // 4)
        state[0] = 1 - min(found, 1)
        state[15] = 0
    else:
        state[8] += 1
        state[11] += 1
        if found == 0 or state[8] >= state[9]:
            state[1] = 0
    state[4 + side] = 0
    state[6] = found


@kernel
def commit(low, high, n, height, fresh, lists, state):
    """Write new heights; the first item turns the page."""
    side, mode = state[3], state[13]
    if mode == 3:
        count, other = state[5 - side], (1 - side) * n
        for i in range(share(low, count, n), share(high, count, n)):
            height[lists[other + i]] = fresh[i]
    if low == 0:
        turn(side, mode, state)
