"""Steps of a diffusion on all vertices, and of a sweep over most of them."""

import numpy as np

from semira.kernels import kernel


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
def slopes_all(low, high, indptr, sums, y, shared, alpha, slopes):
    """Compute the gradient per root of the degree; 0 where there are no edges."""
    for v in range(low, high):
        degree = np.float64(indptr[v + 1] - indptr[v])
        slopes[v] = 0.0
        if degree > 0.0:
            around = np.float64(sums[v]) * 1.734723475976807e-18 / degree
            slopes[v] = (
                (1.0 + alpha) * 0.5 * y[v] - (1.0 - alpha) * 0.5 * around - shared[v] / degree
            )


@kernel
def step_all(low, high, slopes, steps, ends, threshold, alpha, x, y, units):
    """Take a proximal step with momentum; at the end only return to `x`."""
    beta = (1.0 - np.sqrt(alpha)) / (1.0 + np.sqrt(alpha))
    for v in range(low, high):
        if ends:
            y[v] = x[v]
        else:
            z = y[v] - slopes[v]
            new = 0.0
            if z >= threshold:
                new = z - threshold
            elif z <= -threshold:
                new = z + threshold
            y[v] = new if steps == 0 else new + beta * (new - x[v])
            x[v] = new
        units[v] = np.int64(y[v] * 576460752303423488.0)


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
