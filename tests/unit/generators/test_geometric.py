"""Random geometric graphs against the O(n^2) definition and the DIMACS density."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.helpers.every import every

from semira.base import settings
from semira.base.errors import InvalidValue, OutOfMemory
from semira.generators import generate_geometric


@every("num_vertices", [2, 10, 300])
@every("radius", [0.01, 0.07, 0.25, 1 / 3, 0.5, 0.9])
def test_geometric_edges_are_exactly_the_close_pairs(num_vertices, radius):
    # With a radius beyond the diagonal every pair is listed, so all distances are known.
    everything = generate_geometric(num_vertices, 1.5, seed=4, weights="distance", symmetric=False)
    assert everything.nnz == num_vertices * (num_vertices - 1) // 2
    # Numbers follow the cells, whose width follows the radius: compare lengths, not numbers.
    graph = generate_geometric(num_vertices, radius, seed=4, weights="distance", symmetric=False)
    assert np.all(graph.rows < graph.cols)
    expected = np.sort(everything.values[everything.values < np.float32(radius)])
    np.testing.assert_array_equal(np.sort(graph.values), expected)


def test_geometric_uniform_density_matches_theory():
    num_vertices, radius = 20_000, 0.02
    graph = generate_geometric(num_vertices, radius, seed=1)
    # Area of the disc, less what the border of the square cuts off: pi r^2 - 8/3 r^3 + r^4 / 2.
    chance = math.pi * radius**2 - 8 / 3 * radius**3 + radius**4 / 2
    assert graph.nnz / num_vertices == pytest.approx(chance * (num_vertices - 1), rel=0.02)


def test_geometric_default_radius_has_the_size_of_rgg_n_2_15():
    # The DIMACS graph of 2**15 points, drawn with another generator, has 160,240 edges.
    graph = generate_geometric(2**15)
    assert graph.nnz / 2 == pytest.approx(160_240, rel=0.02)


def test_geometric_lists_both_directions_once_without_self_loops():
    graph = generate_geometric(3000, seed=2, weights="distance")
    graph.validate()
    assert graph.symmetric
    length_of = dict(
        zip(
            zip(graph.rows.tolist(), graph.cols.tolist(), strict=True),
            graph.values.tolist(),
            strict=True,
        )
    )
    assert len(length_of) == graph.nnz
    for (row, col), length in length_of.items():
        assert row != col
        assert length_of[col, row] == length


def test_geometric_neighbours_have_close_numbers():
    graph = generate_geometric(10_000)
    assert np.abs(graph.rows.astype(np.int64) - graph.cols).max() < 1000


def test_geometric_does_not_depend_on_threads():
    graphs = []
    for threads in (1, 3):
        before = settings.override(threads=threads)
        try:
            graphs.append(generate_geometric(80_000, seed=6, weights="uniform"))
        finally:
            settings.restore(before)
    for part in ("rows", "cols", "values"):
        np.testing.assert_array_equal(getattr(graphs[0], part), getattr(graphs[1], part))


@every("num_vertices", [0, 1, 2])
@every("radius", [None, 0.0, 1e-320, 1.5, 1e300])
def test_geometric_tiny_graphs(num_vertices, radius):
    graph = generate_geometric(num_vertices, radius)
    graph.validate()
    assert graph.nrows == num_vertices
    assert graph.nnz <= num_vertices * (num_vertices - 1)


@pytest.mark.parametrize(
    ("arguments", "culprit"),
    [
        ({"num_vertices": -1}, "num_vertices=-1"),
        ({"num_vertices": 1.5}, "num_vertices=1.5"),
        ({"num_vertices": 10, "radius": -0.1}, "radius=-0.1"),
        ({"num_vertices": 10, "radius": math.nan}, "radius=nan"),
        ({"num_vertices": 10, "weights": "euclid"}, "weights='euclid'"),
    ],
)
def test_geometric_bad_parameter_is_named(arguments, culprit):
    with pytest.raises(InvalidValue, match=culprit):
        generate_geometric(**arguments)


@pytest.mark.parametrize("arguments", [(2**45,), (10**7, 1.0)])
def test_geometric_too_large_is_refused_before_allocating(arguments):
    with pytest.raises(OutOfMemory, match="bytes"):
        generate_geometric(*arguments)
