"""Push-relabel by highest label, with gaps and global relabelling: for one thread of a host.

A vertex with positive excess sends it along arcs with room; one with negative excess takes it. What
cannot reach a taker stays where it is.
"""

from semira.kernels import helper, kernel


@helper
def enter_layer(v, h, layer, following, preceding):
    """Put a vertex onto the list of its height."""
    first = layer[h]
    following[v] = first
    preceding[v] = -1
    if first >= 0:
        preceding[first] = v
    layer[h] = v


@helper
def leave_layer(v, h, layer, following, preceding):
    """Take a vertex off the list of its height; return whether the list is empty now."""
    one, other = preceding[v], following[v]
    if one >= 0:
        following[one] = other
    else:
        layer[h] = other
    if other >= 0:
        preceding[other] = one
    return layer[h] < 0


@helper
def search(
    n, aside, indptr, indices, back, room, excess, height, current, active, after, layer,
    following, preceding, queue, state,
):  # fmt: skip
    """Set heights to distances to takers, `n` if there is no way, and list vertices by height."""
    for h in range(n + 1):
        active[h] = -1
        layer[h] = -1
    end = 0
    for v in range(n):
        height[v] = n
        if excess[v] < 0:
            height[v] = 0
            queue[end] = v
            end += 1
    at = 0
    while at < end:
        v = queue[at]
        at += 1
        h = height[v] + 1
        for e in range(indptr[v], indptr[v + 1]):
            u = indices[e]
            if height[u] == n and room[back[e]] > 0 and u != aside:
                height[u] = h
                queue[end] = u
                end += 1
    state[1] = -1
    for k in range(end):
        v = queue[k]
        h = height[v]
        current[v] = indptr[v]
        enter_layer(v, h, layer, following, preceding)
        if excess[v] > 0:
            after[v] = active[h]
            active[h] = v
            state[1] = h
    state[2] = height[queue[end - 1]] if end > 0 else -1
    state[3] = 0
    state[5] += 1


@helper
def close_gap(h, n, height, active, layer, following, state):
    """Nobody is at a height: who is above cannot reach a taker."""
    for g in range(h + 1, state[2] + 1):
        u = layer[g]
        while u >= 0:
            height[u] = n
            u = following[u]
        layer[g] = -1
        active[g] = -1
    state[1] = h - 1
    state[2] = h - 1


@helper
def lift(v, h, n, indptr, indices, room, height, active, layer, following, preceding, state):
    """Relabel a vertex; return its height, and the first arc that may be open."""
    begin, end = indptr[v], indptr[v + 1]
    least, place = n, begin
    for e in range(begin, end):
        if room[e] > 0 and height[indices[e]] < least:
            least = height[indices[e]]
            place = e
    state[4] += 1
    state[3] += end - begin + 12
    # Those it sent to may be active one below.
    state[1] = h
    if leave_layer(v, h, layer, following, preceding):
        close_gap(h, n, height, active, layer, following, state)
        least = n
    h = least + 1 if least < n - 1 else n
    height[v] = h
    if h < n:
        enter_layer(v, h, layer, following, preceding)
        state[2] = max(state[2], h)
    return h, place


@kernel
def drain(
    low, high, n, aside, indptr, indices, back, room, excess, height, current, active, after, layer,
    following, preceding, queue, state, often, budget,
):  # fmt: skip
    """Send excess to takers; `state[0]` is 1 at the end, else call again.

    `state` has then: highest active height, highest height, work since heights were distances,
    relabels, searches. At the end heights are distances.
    """
    for _ in range(low, high):
        last = state[4] + budget
        while state[4] < last:
            if state[5] == 0 or state[3] > often or (state[1] < 0 and state[3] > 0):
                search(
                    n, aside, indptr, indices, back, room, excess, height, current, active, after,
                    layer, following, preceding, queue, state,
                )  # fmt: skip
            h = state[1]
            if h < 0:
                if state[3] == 0:
                    state[0] = 1
                    break
                continue
            v = active[h]
            if v < 0:
                state[1] = h - 1
                continue
            active[h] = after[v]
            mine, e, end = excess[v], current[v], indptr[v + 1]
            while mine > 0 and h < n:
                while e < end:
                    free = room[e]
                    if free > 0 and height[indices[e]] == h - 1:
                        w = indices[e]
                        sent = min(free, mine)
                        room[e] = free - sent
                        room[back[e]] += sent
                        had = excess[w]
                        excess[w] = had + sent
                        if had <= 0 and had + sent > 0:
                            after[w] = active[h - 1]
                            active[h - 1] = w
                        state[3] += 1
                        mine -= sent
                        if mine == 0:
                            break
                    e += 1
                if mine > 0:
                    h, e = lift(
                        v, h, n, indptr, indices, room, height, active, layer, following,
                        preceding, state,
                    )  # fmt: skip
            excess[v] = mine
            current[v] = e
            if mine == 0:
                state[1] = h
