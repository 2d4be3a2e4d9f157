"""Kronecker graphs: shape of the distribution, symmetry, determinism, limits."""

from __future__ import annotations

import numpy as np
import pytest
from tests.helpers.every import every

from semira.base import settings
from semira.base.errors import InvalidValue, OutOfMemory
from semira.formats import EdgeList, coo_to_matrix
from semira.generators import generate_kronecker


def degrees_of(graph: EdgeList):
    matrix = coo_to_matrix(graph.nrows, graph.ncols, graph.rows, graph.cols, None)
    return np.diff(matrix.indptr)


def quadrant_shares(graph: EdgeList, level_bit: int):
    row_bit = (graph.rows >> level_bit) & 1
    col_bit = (graph.cols >> level_bit) & 1
    return np.bincount(2 * row_bit + col_bit, minlength=4) / graph.nnz


def test_kronecker_every_level_draws_quadrants_with_given_probabilities():
    a, b, c = 0.5, 0.2, 0.17
    graph = generate_kronecker(
        10, 128, a=a, b=b, c=c, permute=False, symmetric=False, self_loops=True
    )
    assert graph.nnz == 128 * 1024
    for level_bit in range(10):
        # Standard deviation of a share is below sqrt(0.25 / nnz) = 0.0014.
        expected = [a, b, c, 1 - a - b - c]
        np.testing.assert_allclose(quadrant_shares(graph, level_bit), expected, atol=0.007)


def test_kronecker_levels_are_independent():
    graph = generate_kronecker(9, 256, permute=False, symmetric=False, self_loops=True)
    for bit in range(8):
        joint = np.mean(((graph.rows >> bit) & 1) & ((graph.rows >> (bit + 1)) & 1))
        assert joint == pytest.approx(0.24 * 0.24, abs=0.005)


def test_kronecker_has_every_edge_in_both_directions_and_no_self_loop():
    graph = generate_kronecker(10, seed=7)
    graph.validate()
    assert graph.symmetric
    assert not np.any(graph.rows == graph.cols)
    there = np.sort(graph.rows.astype(np.int64) << 10 | graph.cols)
    back = np.sort(graph.cols.astype(np.int64) << 10 | graph.rows)
    np.testing.assert_array_equal(there, back)


def test_kronecker_number_of_edges_is_that_of_graph500():
    graph = generate_kronecker(14, 16)
    loops = 16 * 2**14 * 0.62**14
    assert graph.nnz / 2 == pytest.approx(16 * 2**14 - loops, abs=6 * loops**0.5)


def test_kronecker_degrees_are_skewed_and_permutation_keeps_them():
    straight, shuffled = (
        degrees_of(generate_kronecker(12, seed=5, permute=permute)) for permute in (False, True)
    )
    assert straight.max() > 30 * straight.mean()
    assert np.mean(straight == 0) > 0.1
    np.testing.assert_array_equal(np.sort(straight), np.sort(shuffled))
    # Unpermuted, few set bits mean a high degree: vertex 0 leads.
    assert straight[0] == straight.max()
    assert not np.array_equal(straight, shuffled)


def test_kronecker_without_self_loops_loses_only_those():
    kept = generate_kronecker(6, seed=2, symmetric=False, self_loops=True)
    dropped = generate_kronecker(6, seed=2, symmetric=False)
    apart = kept.rows != kept.cols
    assert not apart.all()
    np.testing.assert_array_equal(dropped.rows, kept.rows[apart])
    np.testing.assert_array_equal(dropped.cols, kept.cols[apart])


@pytest.mark.parametrize("weights", [None, "uniform"])
def test_kronecker_does_not_depend_on_threads(weights):
    graphs = []
    for threads in (1, 3):
        before = settings.override(threads=threads)
        try:
            graphs.append(generate_kronecker(14, 12, seed=9, weights=weights))
        finally:
            settings.restore(before)
    np.testing.assert_array_equal(graphs[0].rows, graphs[1].rows)
    np.testing.assert_array_equal(graphs[0].cols, graphs[1].cols)
    if weights:
        np.testing.assert_array_equal(graphs[0].values, graphs[1].values)


def test_kronecker_seed_decides():
    first, again, other = (generate_kronecker(8, seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.rows, again.rows)
    assert not np.array_equal(first.rows[:100], other.rows[:100])


def test_kronecker_permutation_depends_on_the_seed():
    hubs = {int(np.argmax(degrees_of(generate_kronecker(9, seed=seed)))) for seed in range(5)}
    assert len(hubs) >= 4


def test_kronecker_first_draws_are_frozen():
    # A change here changes every published graph of a seed.
    graph = generate_kronecker(20, 1, permute=False, symmetric=False, seed=42)
    assert graph.rows[:4].tolist() == [1368, 16390, 269440, 2072]
    assert graph.cols[:4].tolist() == [524368, 263760, 757954, 558592]


def test_kronecker_weights_are_uniform_and_equal_both_ways():
    graph = generate_kronecker(11, weights="uniform", seed=3)
    assert graph.values.min() == 1
    assert graph.values.max() == 64
    weight_of = {}
    for row, col, value in zip(
        graph.rows.tolist(), graph.cols.tolist(), graph.values.tolist(), strict=True
    ):
        assert weight_of.setdefault((min(row, col), max(row, col)), value) == value
    counts = np.bincount(list(weight_of.values()), minlength=65)[1:]
    expected = len(weight_of) / 64
    # Chi-squared with 63 degrees of freedom: mean 63, standard deviation 11.2.
    assert ((counts - expected) ** 2 / expected).sum() < 63 + 6 * 11.2


@pytest.mark.parametrize(("scale", "edge_factor"), [(0, 16), (1, 16), (3, 0), (0, 0)])
def test_kronecker_tiny_graphs(scale, edge_factor):
    graph = generate_kronecker(scale, edge_factor)
    graph.validate()
    assert graph.nrows == graph.ncols == 2**scale
    assert graph.nnz == 0 or edge_factor > 0


def test_kronecker_certain_quadrant_is_always_taken():
    graph = generate_kronecker(5, a=0, b=1, c=0, permute=False, symmetric=False)
    assert set(graph.rows.tolist()) == {0}
    assert set(graph.cols.tolist()) == {31}
    loops = generate_kronecker(5, a=1, b=0, c=0, permute=False, self_loops=True)
    assert set(loops.rows.tolist()) == set(loops.cols.tolist()) == {0}


@every(
    "arguments",
    [
        {"scale": -1},
        {"scale": 61},
        {"scale": 3.5},
        {"scale": 4, "edge_factor": -1},
        {"scale": 4, "a": 0.9},
        {"scale": 4, "b": -0.1},
        {"scale": 4, "c": float("nan")},
        {"scale": 4, "seed": -1},
        {"scale": 4, "seed": "x"},
        {"scale": 4, "weights": "distance"},
    ],
)
def test_kronecker_bad_parameter_is_named(arguments):
    culprit = list(arguments)[-1]
    with pytest.raises(InvalidValue, match=f"{culprit}="):
        generate_kronecker(**arguments)


def test_kronecker_too_large_is_refused_before_allocating():
    with pytest.raises(OutOfMemory, match=r"needs \d+ bytes .* available"):
        generate_kronecker(45)
