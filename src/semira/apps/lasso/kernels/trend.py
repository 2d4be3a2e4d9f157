"""Steps of both solvers of the fused lasso. Arcs are entries of a symmetric pattern.

`flow[e]` is what an arc carries away from its row; its opposite has the negative number.
"""

import numpy as np

from semira.kernels import atomic_add, helper, kernel


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
def place(low, high, indptr, flow, y, threshold, x, state, often):
    """Set each vertex to what is left of `y` after what its arcs carry away, drawn to 0.

    Only every so many steps.
    """
    if state[1] % often == 0:
        for v in range(low, high):
            total = 0.0
            for e in range(indptr[v], indptr[v + 1]):
                total += flow[e]
            x[v] = soft(y[v] - total, threshold)


@kernel
def step(low, high, indptr, indices, limit, x, ahead, flow, pace):
    """Take a projected gradient step from `ahead`, and look ahead by the momentum."""
    beta = pace[1]
    for v in range(low, high):
        mine, degree = x[v], np.float64(indptr[v + 1] - indptr[v])
        for e in range(indptr[v], indptr[v + 1]):
            w = indices[e]
            joined = degree + np.float64(indptr[w + 1] - indptr[w])
            fresh = ahead[e] + (mine - x[w]) / joined
            fresh = max(min(fresh, limit[e]), -limit[e])
            ahead[e] = fresh + beta * (fresh - flow[e])
            flow[e] = fresh


@kernel
def energies(low, high, n, indptr, indices, limit, flow, y, threshold, x, parts, state, often):
    """Sum objective and duality gap over ranges of vertices, every so many steps.

    `x` is what `flow` leaves, here: a feasible pair.
    """
    if state[1] % often == 0:
        for part in range(low, high):
            first, last = part * n // 1024, (part + 1) * n // 1024
            objective, gap = 0.0, 0.0
            for v in range(first, last):
                total, jumps = 0.0, 0.0
                for e in range(indptr[v], indptr[v + 1]):
                    total += flow[e]
                    jumps += limit[e] * abs(x[v] - x[indices[e]])
                off = x[v] - y[v]
                mine = 0.5 * off * off + threshold * abs(x[v]) + 0.5 * jumps
                drawn = soft(y[v] - total, threshold)
                objective += mine
                gap += mine - 0.5 * (y[v] * y[v] - drawn * drawn)
            parts[part] = objective
            parts[1024 + part] = gap


@kernel
def judge(low, high, parts, state, pace, often, most, tolerance):
    """Count a step; end the loop if the gap is small, or after the most steps.

    `pace` holds: t, momentum, objective, gap, smallest gap.
    """
    for _ in range(low, high):
        steps = state[1]
        if steps % often == 0:
            objective, gap = 0.0, 0.0
            for part in range(1024):
                objective += parts[part]
                gap += parts[1024 + part]
            pace[2] = objective
            pace[3] = gap
            if gap <= tolerance * objective:
                state[0] = 1
                state[2] = 1
            elif steps >= most:
                state[0] = 1
            if gap > pace[4]:
                pace[0] = 1.0
                state[3] += 1
            pace[4] = min(gap, pace[4])
        t = pace[0]
        after = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * t * t))
        pace[1] = (t - 1.0) / after
        pace[0] = after
        state[1] = steps + 1
