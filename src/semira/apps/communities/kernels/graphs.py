"""Weights as integers, symmetric graphs, contraction, and what proves a result."""

import numpy as np

from semira.algorithms.kernels.trees import joined, shared_root
from semira.kernels import atomic_add, helper, kernel


@helper
def mixed(a, b):
    """Return bits of a pair of numbers; sums of them tell whether two sets of pairs differ."""
    x = np.uint64(a) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(b) * np.uint64(0xC2B2AE3D27D4EB4F)
    x = (x ^ (x >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93)
    x = (x ^ (x >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93)
    return x ^ (x >> np.uint64(32))


@kernel
def measure(
    low, high, indptr, indices, weights, is_iso, strengths, strengths_in, is_directed, sums
):
    """Sum the weights of each row, of each column if directed, and of all.

    ``sums[1]`` is 0 if the matrix is symmetric (and, but for one in 2**64, only then).
    """
    total = np.int64(0)
    odd = np.uint64(0)
    for i in range(low, high):
        strength = np.int64(0)
        for p in range(indptr[i], indptr[i + 1]):
            j = np.int64(indices[p])
            weight = np.int64(weights[0 if is_iso else p])
            strength += weight
            if is_directed:
                atomic_add(strengths_in, j, weight)
            elif i != j:
                bits = mixed(min(i, j) * np.int64(0x100000000) + max(i, j), weight)
                if i < j:
                    odd += bits
                else:
                    odd -= bits
        strengths[i] = strength
        total += strength
    atomic_add(sums, 0, total)
    atomic_add(sums, 1, np.int64(odd))


@kernel
def pair_keys(low, high, indptr, indices, labels, count, keeps_own, keys):
    """Write ``row label * count + column label`` of each entry; the greatest key if equal."""
    for i in range(low, high):
        row = np.int64(labels[i])
        for p in range(indptr[i], indptr[i + 1]):
            column = np.int64(labels[indices[p]])
            if row == column and not keeps_own:
                keys[p] = np.int64(0x7FFFFFFFFFFFFFFF)
            else:
                keys[p] = row * count + column


@kernel
def inner_weights(low, high, indptr, indices, weights, is_iso, labels, sums):
    """Sum the weights of entries between vertices of one community."""
    total = np.int64(0)
    for i in range(low, high):
        for p in range(indptr[i], indptr[i + 1]):
            if labels[i] == labels[indices[p]]:
                total += np.int64(weights[0 if is_iso else p])
    atomic_add(sums, 0, total)


@kernel
def add_by_label(low, high, labels, values, sums):
    """Add each value to the sum of its label."""
    for i in range(low, high):
        atomic_add(sums, np.int64(labels[i]), np.int64(values[i]))


@kernel
def unite(low, high, indptr, indices, labels, parents):
    """Unite the trees of neighbours with the same label: the larger root below the smaller one."""
    for v in range(low, high):
        for p in range(indptr[v], indptr[v + 1]):
            u = np.int64(indices[p])
            if u >= v or labels[u] != labels[v]:
                continue
            a = shared_root(parents, np.int64(v))
            b = shared_root(parents, u)
            if a != b:
                joined(parents, a, b)


@kernel
def flatten(low, high, parents):
    """Hang every vertex below its root."""
    for v in range(low, high):
        root = np.int64(parents[v])
        while parents[root] != root:
            root = np.int64(parents[root])
        parents[v] = root
