"""Erdős-Rényi graphs: exact size, no repeats, every edge equally likely."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from tests.helpers.every import every

from semira.base import settings
from semira.base.errors import InvalidValue, OutOfMemory
from semira.generators import generate_erdos_renyi


@every("symmetric", [True, False])
@every("degree", [0, 0.5, 3, 40, 60, 98, 99])
def test_erdos_renyi_has_exactly_the_edges_asked_for(degree, symmetric):
    graph = generate_erdos_renyi(100, degree, symmetric=symmetric)
    graph.validate()
    assert graph.nnz == 100 * degree
    assert len(set(zip(graph.rows.tolist(), graph.cols.tolist(), strict=True))) == graph.nnz
    assert not np.any(graph.rows == graph.cols)
    if symmetric:
        dense = np.zeros((100, 100), bool)
        dense[graph.rows, graph.cols] = True
        np.testing.assert_array_equal(dense, dense.T)


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("degree", [2, 4])
def test_erdos_renyi_every_position_is_equally_likely(degree, symmetric):
    seeds, num_vertices = 600, 6
    counts: Counter[tuple[int, int]] = Counter()
    for seed in range(seeds):
        graph = generate_erdos_renyi(num_vertices, degree, seed=seed, symmetric=symmetric)
        counts.update(zip(graph.rows.tolist(), graph.cols.tolist(), strict=True))
    chance = degree / (num_vertices - 1)
    deviation = (seeds * chance * (1 - chance)) ** 0.5
    assert len(counts) == num_vertices * (num_vertices - 1)
    for count in counts.values():
        assert abs(count - seeds * chance) < 5 * deviation


def test_erdos_renyi_degrees_are_binomial():
    graph = generate_erdos_renyi(50_000, 8)
    degrees = np.bincount(graph.rows, minlength=50_000)
    assert degrees.mean() == 8
    assert degrees.var() == pytest.approx(8, rel=0.05)


def test_erdos_renyi_does_not_depend_on_threads():
    graphs = []
    for threads in (1, 3):
        before = settings.override(threads=threads)
        try:
            graphs.append(generate_erdos_renyi(50_000, 10, seed=6, weights="uniform"))
        finally:
            settings.restore(before)
    for part in ("rows", "cols", "values"):
        np.testing.assert_array_equal(getattr(graphs[0], part), getattr(graphs[1], part))


def test_erdos_renyi_weights_are_equal_both_ways():
    graph = generate_erdos_renyi(50, 20, weights="uniform")
    dense = np.zeros((50, 50), int)
    dense[graph.rows, graph.cols] = graph.values
    np.testing.assert_array_equal(dense, dense.T)
    assert 1 <= graph.values.min() < graph.values.max() <= 64


@pytest.mark.parametrize("num_vertices", [0, 1])
def test_erdos_renyi_tiny_graphs(num_vertices):
    graph = generate_erdos_renyi(num_vertices, 0)
    graph.validate()
    assert graph.nrows == num_vertices
    assert graph.nnz == 0


@pytest.mark.parametrize(
    ("arguments", "culprit"),
    [
        ({"num_vertices": -1, "degree": 0}, "num_vertices=-1"),
        ({"num_vertices": 2**40, "degree": 1}, "num_vertices="),
        ({"num_vertices": 10, "degree": 10}, r"degree=10.0 must .* \[0, 9\]"),
        ({"num_vertices": 10, "degree": float("nan")}, "degree=nan"),
        ({"num_vertices": 10, "degree": 2, "seed": 1.5}, "seed=1.5"),
    ],
)
def test_erdos_renyi_bad_parameter_is_named(arguments, culprit):
    with pytest.raises(InvalidValue, match=culprit):
        generate_erdos_renyi(**arguments)


def test_erdos_renyi_too_large_is_refused_before_allocating():
    with pytest.raises(OutOfMemory, match="bytes"):
        generate_erdos_renyi(2**31, 10_000)


def test_the_default_degree_fits_few_vertices():
    for size, degree in ((0, 0), (1, 0), (10, 9), (16, 15), (100, 16)):
        assert generate_erdos_renyi(size).nnz == size * degree
