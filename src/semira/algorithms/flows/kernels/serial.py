"""Push-relabel by highest label, with gaps and global relabelling: for one thread of a host.

A vertex with positive excess sends it along arcs with room; one with negative excess takes it. What
cannot reach a taker stays where it is.
"""

from semira.kernels import helper, kernel


@helper
def relabel_all(
    n,
    aside,
    indptr,
    indices,
    back,
    room,
    excess,
    height,
    current,
    active,
    after,
    layer,
    following,
    preceding,
    queue,
    state,
):
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
    highest = -1
    for k in range(end):
        v = queue[k]
        h = height[v]
        current[v] = indptr[v]
        first = layer[h]
        following[v] = first
        preceding[v] = -1
        if first >= 0:
            preceding[first] = v
        layer[h] = v
        if excess[v] > 0:
            after[v] = active[h]
            active[h] = v
            highest = h
    state[1] = highest
    state[2] = height[queue[end - 1]] if end > 0 else -1
    state[3] = 0
    state[5] += 1


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


@kernel
def drain(
    low,
    high,
    n,
    aside,
    indptr,
    indices,
    back,
    room,
    excess,
    height,
    current,
    active,
    after,
    layer,
    following,
    preceding,
    queue,
    state,
    often,
    budget,
):
    """Send excess to takers; `state[0]` is 1 at the end, else call again.

    `state` has then: highest active height, highest height, work since heights were distances,
    relabels, global relabellings, pushes.
    """
    for _ in range(low, high):
        left = budget
        if state[5] == 0:
            relabel_all(
                n,
                aside,
                indptr,
                indices,
                back,
                room,
                excess,
                height,
                current,
                active,
                after,
                layer,
                following,
                preceding,
                queue,
                state,
            )
        while left > 0:
            h = state[1]
            if h < 0:
                state[0] = 1
                break
            v = active[h]
            if v < 0:
                state[1] = h - 1
                continue
            active[h] = after[v]
            mine = excess[v]
            begin, end = indptr[v], indptr[v + 1]
            e = current[v]
            while True:
                while e < end:
                    free = room[e]
                    if free > 0:
                        w = indices[e]
                        if height[w] == h - 1:
                            sent = free if free < mine else mine
                            room[e] = free - sent
                            room[back[e]] += sent
                            had = excess[w]
                            excess[w] = had + sent
                            if had <= 0 and had + sent > 0:
                                after[w] = active[h - 1]
                                active[h - 1] = w
                            mine -= sent
                            if mine == 0:
                                break
                    e += 1
                if mine == 0:
                    break
                # Relabel.
                best, place = n, begin
                for f in range(begin, end):
                    if room[f] > 0 and height[indices[f]] < best:
                        best = height[indices[f]]
                        place = f
                state[4] += 1
                state[3] += end - begin + 12
                left -= end - begin + 12
                best += 1
                # Those it sent to may be active one below.
                state[1] = h
                if leave_layer(v, h, layer, following, preceding):
                    # Nothing at h: who is above cannot reach a taker.
                    top = state[2]
                    for g in range(h + 1, top + 1):
                        u = layer[g]
                        while u >= 0:
                            height[u] = n
                            u = following[u]
                        layer[g] = -1
                        active[g] = -1
                    state[2] = h - 1
                    state[1] = h - 1
                    best = n
                if best >= n:
                    height[v] = n
                    break
                h = best
                height[v] = h
                first = layer[h]
                following[v] = first
                preceding[v] = -1
                if first >= 0:
                    preceding[first] = v
                layer[h] = v
                if h > state[2]:
                    state[2] = h
                e = place
            excess[v] = mine
            current[v] = e
            if mine == 0:
                state[1] = h
            if state[3] > often:
                relabel_all(
                    n,
                    aside,
                    indptr,
                    indices,
                    back,
                    room,
                    excess,
                    height,
                    current,
                    active,
                    after,
                    layer,
                    following,
                    preceding,
                    queue,
                    state,
                )
