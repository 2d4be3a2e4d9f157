"""Steps of a diffusion on all vertices, and of a sweep over most of them."""

import numpy as np

from semira.kernels import atomic_add, kernel


@kernel
def take_all(low, high, indptr, keep, least, rest, kept, share):
    """Keep a part of each residual of `least` units an edge or more; share the rest out."""
    for v in range(low, high):
        degree = np.int64(indptr[v + 1]) - np.int64(indptr[v])
        share[v] = 0
        if degree > 0 and np.float64(rest[v]) >= least * np.float64(degree):
            left = rest[v]
            stays = min(np.int64(np.float64(left) * keep), left)
            left -= stays
            kept[v] += stays
            share[v] = left // degree
            rest[v] = left - share[v] * degree


@kernel
def slopes_all(low, high, indptr, sums, y, shared, alpha, bound, slopes, state):
    """Compute the gradient per root of the degree, 0 without edges; note one beyond `bound`."""
    for v in range(low, high):
        degree = np.float64(indptr[v + 1] - indptr[v])
        found = 0.0
        if degree > 0.0:
            around = np.float64(sums[v]) * 1.734723475976807e-18 / degree
            found = (1.0 + alpha) * 0.5 * y[v] - (1.0 - alpha) * 0.5 * around - shared[v] / degree
        slopes[v] = found
        if abs(found) > bound:
            state[3] = 1


@kernel
def step_all(low, high, indptr, slopes, most, threshold, alpha, x, y, units, state):
    """Take a proximal step with momentum; at the end only return to `x`."""
    beta = (1.0 - np.sqrt(alpha)) / (1.0 + np.sqrt(alpha))
    steps = state[1]
    ends = steps == most or (steps > 1 and state[3] == 0)
    edges = np.int64(0)
    for v in range(low, high):
        mine = x[v]
        if not ends:
            z = y[v] - slopes[v]
            new = 0.0
            if z >= threshold:
                new = z - threshold
            elif z <= -threshold:
                new = z + threshold
            mine = new if steps == 0 else new + beta * (new - x[v])
            x[v] = new
        y[v] = mine
        units[v] = np.int64(mine * 576460752303423488.0)
        if units[v] != 0:
            edges += np.int64(indptr[v + 1]) - np.int64(indptr[v])
    atomic_add(state, 4, edges)


@kernel
def sums_all(low, high, indptr, indices, units, long, count, sums):  # noqa: ARG001 - GPUs alone
    """Add up the units of the neighbours of each vertex; on GPUs long rows take a block each."""
    for v in range(low, high):
        total = np.int64(0)
        for e in range(indptr[v], indptr[v + 1]):
            total += units[indices[e]]
        sums[v] = total


@kernel
def count_step(low, high, most, state):
    """Count a step, or end the loop."""
    for _ in range(low, high):
        steps = state[1]
        stopped = steps > 1 and state[3] == 0
        if stopped:
            state[2] = 1
        if stopped or steps == most:
            state[0] = 1
        else:
            state[1] = steps + 1
        state[3] = 0


@kernel
def earlier(low, high, vertices, indptr, indices, rank, bound, found):
    """Count the neighbours of smaller rank than a vertex's own, or than a positive `bound`."""
    for i in range(low, high):
        v = np.int64(vertices[i])
        limit = np.int64(i)
        if bound > 0:
            limit = np.int64(bound)
        count = np.int64(0)
        for e in range(indptr[v], indptr[v + 1]):
            if rank[indices[e]] < limit:
                count += 1
        found[i] = count
