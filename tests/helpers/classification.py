"""Belief propagation between a graph and a pattern, step by step as the report has it."""

from __future__ import annotations

import numpy as np


def normprob(table):
    """Return the columns with the sum of exponentials made 1."""
    shifted = table - table.max(axis=0)
    return shifted - np.log(np.exp(shifted).sum(axis=0))


def distances(own, other):
    return np.sqrt(((own[:, None, :] - other[None, :, :]) ** 2).sum(axis=2))


def greatest(n, ends, table, null):
    """Return the greatest row of the edges of each vertex, or the null message."""
    found = np.tile(null, (n, 1))
    np.maximum.at(found, ends, table)
    return found


def classify(n, edges, vertices, pattern, pattern_vertices, *, fixed=False, iterations=None):
    """Return the log-probabilities; edges are (sources, targets, features)."""
    s, d, features = edges
    p, r, pattern_features = pattern
    DV, DE = distances(vertices, pattern_vertices), distances(features, pattern_features)
    mu, cv, ce, x0 = normprob(-DV), normprob(DV), normprob(DE), normprob(-DE)
    fmax = greatest(n, d, x0, mu[:, p].max(axis=0))
    rmax = greatest(n, s, x0, mu[:, r].max(axis=0))
    for _ in range(len(pattern_vertices) if iterations is None else iterations):
        VF, VR = mu[:, r] - fmax, mu[:, p] - rmax
        fnull, rnull = VF.max(axis=0), VR.max(axis=0)
        FE = normprob(VR[s] - ce)
        RE = normprob(VF[d if fixed else s] - ce)
        fmax, rmax = greatest(n, d, FE, rnull), greatest(n, s, RE, fnull)
        mu = -cv
        for k in range(len(p)):
            mu[:, r[k]] += fmax[:, k]
            mu[:, p[k]] += rmax[:, k]
        mu = normprob(mu)
    return mu


def golden():
    """Return the small case of the specification: n, edges, vertices, pattern, its vertices."""

    def features(count, step, other, modulus, width=2):
        i, k = np.ogrid[:count, :width]
        return ((step * i + other * k) % modulus) / 2

    s, d = np.array([0, 1, 2, 3, 4, 5, 0, 2]), np.array([1, 2, 3, 4, 5, 0, 3, 5])
    p, r = np.array([0, 1, 2]), np.array([1, 2, 0])
    edges, pattern = (s, d, features(8, 5, 2, 7)), (p, r, features(3, 3, 4, 5))
    return 6, edges, features(6, 7, 3, 11), pattern, features(3, 4, 5, 9)


GOLDEN = """
-9.875542e-01 -1.134486e+00 -3.321487e+00
-4.288717e+00 -3.854640e+00 -2.331740e+00
-1.568693e+00 -1.675868e+00 -1.982941e+00
-5.207707e+00 -1.796764e+00 -7.045720e-01
-3.593105e+00 -3.244259e+00 -1.982941e+00
-9.875542e-01 -1.327069e+00 -2.331740e+00
"""
