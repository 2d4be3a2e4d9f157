"""Matrices to draw from, and what was drawn on the host."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.special import chdtrc

import semira as gb

#: With replacement or without, by weight or not.
WAYS = [(False, False), (True, False), (False, True), (True, True)]


def host(array):
    return array.get() if hasattr(array, "get") else np.asarray(array)


def chance_of(counts, expected):
    """Return how often counts are as far from those expected, or farther, by chi-squared.

    As by `scipy.stats`, which takes a second to import.
    """
    assert np.isclose(counts.sum(), expected.sum(), rtol=1e-8)
    return chdtrc(len(counts) - 1, ((counts - expected) ** 2 / expected).sum())


def matrix_of(scipy_matrix, device):
    made = sp.csr_matrix(scipy_matrix)
    with gb.device(device):
        return gb.Matrix.from_csr(made.indptr, made.indices, made.data, ncols=made.shape[1])


def some_matrix(rows=50, columns=70):
    """Rows of 0 to 50 entries; some weights are 0."""
    rng = np.random.default_rng(3)
    share = np.linspace(0, 0.7, rows)[:, None]
    dense = (rng.random((rows, columns)) < share) * rng.integers(1, 9, (rows, columns))
    made = sp.csr_matrix(dense.astype(float))
    made.data[::5] = 0
    return made
