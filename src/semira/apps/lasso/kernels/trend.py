"""Steps of both solvers of the fused lasso. Arcs are entries of a symmetric pattern.

`flow[e]` is what an arc carries away from its row; its opposite has the negative number.
"""

import numpy as np

from semira.kernels import atomic_add, atomic_min, helper, kernel


@helper
def soft(x, threshold):
    """Return x drawn towards 0 by a threshold."""
    if x > threshold:
        return x - threshold
    if x < -threshold:
        return x + threshold
    return 0.0


@kernel
def tally(low, high, active, key, rest, sums, counts):
    """Sum what is left of the vertices of each part, and count them."""
    for v in range(low, high):
        if active[v] != 0:
            atomic_add(sums, key[v], rest[v])
            atomic_add(counts, key[v], 1)


@kernel
def close_arcs(low, high, indptr, indices, active, key, capacity, room, closed, flow):
    """Close the arcs between two parts, and keep what they carry, in units."""
    for v in range(low, high):
        if active[v] == 0:
            continue
        for e in range(indptr[v], indptr[v + 1]):
            w = indices[e]
            if active[w] != 0 and key[w] != key[v] and closed[e] == 0:
                closed[e] = 1
                flow[e] = capacity[e] - room[e]
                room[e] = 0


@kernel
def shift(low, high, key, means, fresh, active, rest, value):
    """Move every vertex by the mean of its part; parts without a fresh number are done."""
    for v in range(low, high):
        if active[v] == 0:
            continue
        part = key[v]
        if fresh[part] < 0:
            active[v] = 0
            rest[v] = 0
        else:
            value[v] += means[part]
            rest[v] -= means[part]
            key[v] = fresh[part]


@kernel
def carried(low, high, indptr, capacity, room, closed, limit, unit, flow, units):
    """Turn what arcs carry into numbers, within their limits."""
    for v in range(low, high):
        for e in range(indptr[v], indptr[v + 1]):
            sent = units[e] if closed[e] != 0 else capacity[e] - room[e]
            flow[e] = max(min(np.float64(sent) * unit, limit[e]), -limit[e])


@kernel
def step(
    low, high, n, arcs, indptr, indices, limit, varies, degree, lengths, y, threshold, x, flow,
    betas, at,
):  # fmt: skip
    """Take a projected gradient step from where the momentum leads, and say what it leaves.

    `flow` and `x` have two halves: what step `at` reads, and what it writes. `lengths` has how far
    to go, by the degrees of both ends.
    """
    here, there = at % 2, (at + 1) % 2
    beta, later = betas[at], betas[at + 1]
    for v in range(low, high):
        mine, own, total = x[here * n + v], degree[v], 0.0
        for e in range(indptr[v], indptr[v + 1]):
            w = indices[e]
            old = flow[here * arcs + e]
            ahead = old + beta * (old - flow[there * arcs + e])
            fresh = ahead + (mine - x[here * n + w]) * lengths[own + degree[w]]
            most = limit[e * varies]
            fresh = max(min(fresh, most), -most)
            flow[there * arcs + e] = fresh
            total += fresh + later * (fresh - old)
        x[there * n + v] = soft(y[v] - total, threshold)


@helper
def root_of(key, v):
    """Return the least vertex that is known to be joined with one."""
    while key[v] != v:
        key[v] = key[key[v]]
        v = key[v]
    return v


@kernel
def settle(low, high, indptr, flow, y, threshold, rest, fits, key, sums, counts, state, often):
    """Set each vertex to what its arcs leave of `y`; every vertex is alone."""
    if state[1] % often == 0:
        for v in range(low, high):
            total = 0.0
            for e in range(indptr[v], indptr[v + 1]):
                total += flow[e]
            rest[v] = max(min(y[v] - total, 1.0), -1.0)
            fits[v] = soft(y[v] - total, threshold)
            key[v] = v
            sums[v] = 0
            counts[v] = 0


@kernel
def join(low, high, indptr, indices, limit, varies, flow, key, state, often):
    """Join the ends of the arcs that could carry more: they have equal values in the end."""
    if state[1] % often == 0:
        for v in range(low, high):
            for e in range(indptr[v], indptr[v + 1]):
                w = indices[e]
                if w < v and abs(flow[e]) < limit[e * varies]:
                    a, b = root_of(key, w), root_of(key, v)
                    while a != b:
                        if a > b:
                            a, b = b, a
                        old = atomic_min(key, b, a)
                        b = a if old == b else root_of(key, old)
                        a = root_of(key, a)


@kernel
def gather(low, high, scale, rest, key, parts, sums, counts, state, often):
    """Sum what is left over the vertices that are joined, in units, and count them.

    Threads that are on their way through a vertex still shorten its way in `key`.
    """
    if state[1] % often == 0:
        for v in range(low, high):
            part = root_of(key, v)
            parts[v] = part
            atomic_add(sums, part, np.int64(np.floor(rest[v] * scale + 0.5)))
            atomic_add(counts, part, 1)


@kernel
def level(low, high, n, scale, threshold, parts, sums, counts, fits, state, often):
    """Set vertices that are joined to their mean, the second fit."""
    if state[1] % often == 0:
        for v in range(low, high):
            mean = np.float64(sums[parts[v]]) / np.float64(counts[parts[v]]) / scale
            fits[n + v] = soft(mean, threshold)


@kernel
def energies(
    low, high, n, count, indptr, indices, limit, varies, flow, y, threshold, fits, parts, state,
    often,
):  # fmt: skip
    """Sum objective and duality gap of two fits over ranges of vertices."""
    if state[1] % often == 0:
        for part in range(low, high):
            first, last = part * n // count, (part + 1) * n // count
            objective, gap, objective2, gap2 = 0.0, 0.0, 0.0, 0.0
            for v in range(first, last):
                total, jumps, jumps2 = 0.0, 0.0, 0.0
                x, x2 = fits[v], fits[n + v]
                for e in range(indptr[v], indptr[v + 1]):
                    w, most = indices[e], limit[e * varies]
                    total += flow[e]
                    jumps += most * abs(x - fits[w])
                    jumps2 += most * abs(x2 - fits[n + w])
                off, off2 = x - y[v], x2 - y[v]
                own = 0.5 * off * off + threshold * abs(x) + 0.5 * jumps
                own2 = 0.5 * off2 * off2 + threshold * abs(x2) + 0.5 * jumps2
                drawn = soft(y[v] - total, threshold)
                dual = 0.5 * (y[v] * y[v] - drawn * drawn)
                objective += own
                objective2 += own2
                gap += own - dual
                gap2 += own2 - dual
            parts[4 * part] = objective
            parts[4 * part + 1] = gap
            parts[4 * part + 2] = objective2
            parts[4 * part + 3] = gap2


@kernel
def fold(low, high, count, groups, parts, folded, state, often):
    """Sum the sums of ranges, over a quarter of a group each."""
    if state[1] % often == 0:
        for at in range(low, high):
            group, total = at // 4, 0.0
            for part in range(group * count // groups, (group + 1) * count // groups):
                total += parts[4 * part + at % 4]
            folded[at] = total


@kernel
def judge(low, high, groups, folded, state, pace, betas, steps, often, most, tolerance):
    """Count steps; end the loop if a gap is small, or after the most steps.

    `pace` holds: t, objective, gap, dual objective.
    """
    for _ in range(low, high):
        if state[1] % often == 0:
            objective, gap, objective2, gap2 = 0.0, 0.0, 0.0, 0.0
            for at in range(groups):
                objective += folded[4 * at]
                gap += folded[4 * at + 1]
                objective2 += folded[4 * at + 2]
                gap2 += folded[4 * at + 3]
            dual = objective - gap
            state[2] = 0
            if objective2 < objective:
                objective, gap = objective2, gap2
                state[2] = 1
            pace[1] = objective
            pace[2] = gap
            if gap <= tolerance * objective or state[1] >= most:
                state[0] = 1
            if dual < pace[3]:
                pace[0] = 1.0
                state[3] += 1
            pace[3] = dual
        betas[0] = betas[steps]
        for at in range(steps):
            t = pace[0]
            after = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * t * t))
            betas[at + 1] = (t - 1.0) / after
            pace[0] = after
        state[1] += steps
