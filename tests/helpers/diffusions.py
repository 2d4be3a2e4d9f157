"""Local clustering, written for clarity: dense vectors, exact solutions, cuts edge by edge."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

#: Neighbours j > i of the 39 vertices of chesapeake (DIMACS10).
_CHESAPEAKE = """
0: 6 7 10 11 12 21 22 33 34 36 38; 1: 6 7 8 10 11 12 21 22 34 35 38
2: 13 14 15 16 17 35 38; 3: 16 35 36 38; 4: 5 33 34 38; 5: 6 34 38; 6: 7 8 10 11 12 34 38
7: 8 9 19 20 21 22 23 34 37 38; 8: 9 34 35 38; 9: 34 35 38; 10: 18 34 35 38
11: 18 25 34 35 37 38; 12: 34 35 37 38; 13: 24 25 26 27 28 35 38
14: 18 24 25 26 27 28 35 38; 15: 18 26 35 38; 16: 35 38; 17: 18 24 25 26 28 31 35 38
18: 32 35 37 38; 19: 35 37 38; 20: 32 35 37 38; 21: 26 27 29 30 31 32 34 35 37 38
22: 29 31 32 34 35 37 38; 23: 35 37 38; 24: 35 37 38; 25: 35 37 38; 26: 29 35 37 38
27: 35 37 38; 28: 35 37 38; 29: 35 37 38; 30: 31 35 37 38; 31: 35 37 38; 32: 35 37 38
33: 36; 34: 35 36
"""


def chesapeake():
    """Return its edges."""
    rows = [row.split(":") for row in _CHESAPEAKE.replace("\n", ";").split(";") if row]
    return [(int(i), int(j)) for i, given in rows for j in given.split()]


def undirected(edges, n):
    """Return the 0/1 matrix of edges, in both directions and without loops."""
    rows, columns = np.array(edges).T
    made = sp.coo_array((np.ones(len(rows)), (rows, columns)), shape=(n, n)).toarray()
    made = ((made + made.T) > 0).astype(float)
    np.fill_diagonal(made, 0)
    return made


def pagerank(A, seeds, alpha):
    """Return personalised PageRank of the lazy walk, exactly: p = a s + (1 - a) p W."""
    n, degrees = len(A), A.sum(0)
    alive = degrees > 0
    walk = (np.eye(n) + A / np.where(alive, degrees, 1)) / 2
    start = np.zeros(n)
    start[list(seeds)] = 1 / len(seeds)
    return np.linalg.solve(np.eye(n) - (1 - alpha) * walk, alpha * start)


def fista(A, seeds, alpha, rho, tolerance, most):
    """Return p = |D^(1/2) q| and the number of steps, as the specification states it."""
    degrees = A.sum(0)
    roots = np.sqrt(degrees)
    normal = A / np.outer(roots, roots)
    source = np.zeros(len(A))
    source[list(seeds)] = alpha / len(seeds) / roots[list(seeds)]
    q, y, gradient = np.zeros(len(A)), np.zeros(len(A)), -source
    beta = (1 - np.sqrt(alpha)) / (1 + np.sqrt(alpha))
    threshold = rho * alpha * roots
    for t in range(most):
        z, old = y - gradient, q
        q = np.sign(z) * np.maximum(np.abs(z) - threshold, 0)
        y = q if t == 0 else q + beta * (q - old)
        gradient = (1 + alpha) / 2 * y - (1 - alpha) / 2 * normal @ y - source
        if t > 0 and np.max(np.abs(gradient / roots)) <= rho * alpha * (1 + tolerance):
            break
    return np.abs(q * roots), t + 1


def profile(A, vertices):
    """Return the conductance of each prefix; 2 for all vertices that have edges."""
    degrees, total, found = A.sum(0), A.sum(), []
    for size in range(1, len(vertices) + 1):
        inside = np.zeros(len(A), bool)
        inside[vertices[:size]] = True
        cut, volume = A[inside][:, ~inside].sum(), degrees[inside].sum()
        found.append(cut / min(volume, total - volume) if volume < total else 2.0)
    return np.array(found)
