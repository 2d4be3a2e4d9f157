"""Road-like grids: neighbours, removed roads, lengths."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from semira.base import settings
from semira.base.errors import InvalidValue, OutOfMemory
from semira.generators import generate_road


def pairs_of(graph):
    return set(zip(graph.rows.tolist(), graph.cols.tolist(), strict=True))


def test_road_full_grid_of_several_chunks():
    rows, cols = 300, 260
    graph = generate_road(rows, cols, weights=None)
    graph.validate()
    at = np.arange(rows * cols).reshape(rows, cols)
    roads = ((at[:, :-1], at[:, 1:]), (at[:-1], at[1:]))
    pairs = np.concatenate([np.stack([one.ravel(), two.ravel()], 1) for one, two in roads])
    both_ways = {*map(tuple, pairs.tolist()), *map(tuple, pairs[:, ::-1].tolist())}
    assert graph.nnz == len(both_ways)
    assert pairs_of(graph) == both_ways


@pytest.mark.parametrize(("rows", "cols"), [(1, 1), (1, 5), (5, 1), (2, 3), (7, 4)])
def test_road_full_grid_equals_networkx(rows, cols):
    graph = generate_road(rows, cols, weights=None)
    graph.validate()
    expected = {
        (one[0] * cols + one[1], two[0] * cols + two[1])
        for one, two in nx.grid_2d_graph(rows, cols).to_directed().edges
    }
    assert graph.nnz == len(expected)
    assert pairs_of(graph) == expected


def test_road_removed_is_the_share_of_missing_roads():
    full, thinned = (generate_road(300, 200, removed=share) for share in (0.0, 0.3))
    assert pairs_of(thinned) < pairs_of(full)
    assert thinned.nnz / full.nnz == pytest.approx(0.7, abs=0.01)
    assert generate_road(30, 20, removed=1).nnz == 0


def test_road_lengths_are_plausible_distances_equal_both_ways():
    graph = generate_road(40, 50)
    assert graph.values.dtype == np.int32
    # Ends are off the grid by up to 400 in each direction: 200 apart at least.
    assert graph.values.min() >= 200
    assert graph.values.max() <= np.hypot(1800, 800) + 1
    assert graph.values.mean() == pytest.approx(1050, rel=0.1)
    dense = np.zeros((2000, 2000), np.int32)
    dense[graph.rows, graph.cols] = graph.values
    np.testing.assert_array_equal(dense, dense.T)


def test_road_lengths_belong_to_points_of_a_plane():
    # Round a square of the grid, no side is longer than the three others together.
    graph = generate_road(2, 2, seed=8)
    lengths = graph.values[graph.rows < graph.cols]
    assert len(lengths) == 4
    assert 2 * lengths.max() <= lengths.sum() + 4


def test_road_directed_lists_rightwards_and_downwards_only():
    graph = generate_road(3, 3, symmetric=False)
    assert not graph.symmetric
    assert np.all(graph.rows < graph.cols)
    assert graph.nnz == 12


def test_road_does_not_depend_on_threads():
    graphs = []
    for threads in (1, 3):
        before = settings.override(threads=threads)
        try:
            graphs.append(generate_road(500, 400, removed=0.2, seed=6))
        finally:
            settings.restore(before)
    for part in ("rows", "cols", "values"):
        np.testing.assert_array_equal(getattr(graphs[0], part), getattr(graphs[1], part))


@pytest.mark.parametrize(("rows", "cols"), [(0, 0), (0, 4), (4, 0)])
def test_road_without_crossings_is_empty(rows, cols):
    graph = generate_road(rows, cols)
    assert graph.nrows == graph.nnz == 0


@pytest.mark.parametrize(
    ("arguments", "culprit"),
    [
        ({"rows": -1, "cols": 2}, "rows=-1"),
        ({"rows": 2, "cols": "x"}, "cols='x'"),
        ({"rows": 2**40, "cols": 2**40}, "rows \\* cols="),
        ({"rows": 2, "cols": 2, "removed": 1.5}, "removed=1.5"),
        ({"rows": 2, "cols": 2, "weights": "time"}, "weights='time'"),
    ],
)
def test_road_bad_parameter_is_named(arguments, culprit):
    with pytest.raises(InvalidValue, match=culprit):
        generate_road(**arguments)


def test_road_too_large_is_refused_before_allocating():
    with pytest.raises(OutOfMemory, match="bytes"):
        generate_road(2**22, 2**22)
