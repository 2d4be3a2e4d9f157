"""Triangles by kernels: rows of every length meet, by merges and by searches."""

from __future__ import annotations

import numpy as np
from tests.helpers.every import every

import semira as gb
from semira.algorithms import k_truss, local_clustering_coefficient, triangle_kernels
from semira.kernels import array_module


def drawn(clique):
    """Return weights of a clique with a tail."""
    weights = np.triu(np.random.default_rng(1).integers(1, 9, (clique + 3, clique + 3)), 1)
    weights[clique:] = weights[:, clique:] = 0
    weights[0, clique] = weights[1, clique] = weights[0, clique + 1] = 1
    return weights + weights.T


@every("alike", [0, 2, 32])
def test_rows_of_every_length_meet(device, monkeypatch, alike):
    monkeypatch.setattr(triangle_kernels, "_ALIKE", alike)
    # On a GPU rows are longer than what one thread searches for.
    clique = 45 if device == "cuda" else 7
    dense = drawn(clique)
    rows, cols = np.nonzero(dense)
    with gb.device(device):
        A = gb.Matrix.from_coo(rows, cols, dense[rows, cols], nrows=len(dense), ncols=len(dense))
    lower = A.select(gb.select.tril, -1).new()
    linked = (dense > 0).astype(np.int64)
    for weights, weighted in ((linked, False), (dense, True)):
        for times in (0, 1):
            with array_module(device) as xp:
                counts = xp.zeros(len(dense), xp.int64)
                triangle_kernels.add_corners(lower, counts, times=times, weighted=weighted)
                found = counts.tolist()
            # Sides opposite to v: both ends are neighbours of v.
            expected = [(n[:, None] * n * weights).sum() // 2 for n in linked]
            assert found == (expected + times * weights.sum(axis=1)).tolist()
    assert local_clustering_coefficient(A).coefficient.get(2) == 1
    truss = k_truss(A, clique).truss
    assert truss.nvals == clique * (clique - 1)
    assert truss.reduce_scalar("min").value == truss.reduce_scalar("max").value == clique - 2
