"""Transformations of edge lists."""

from __future__ import annotations

import numpy as np
import pytest

from semira.base.errors import DimensionMismatch, InvalidValue
from semira.files import ReadOptions, clean, drop_self_loops, random_weights, symmetrise
from semira.formats import EdgeList, coo_to_matrix


def edge_list(rows, cols, values=None, *, n=6) -> EdgeList:
    stored = None if values is None else np.asarray(values)
    return EdgeList(n, n, np.asarray(rows, np.int32), np.asarray(cols, np.int32), stored)


def test_drop_self_loops_keeps_the_rest_in_order():
    edges = drop_self_loops(edge_list([0, 1, 2], [0, 2, 2], [1.0, 2.0, 3.0]))
    assert (edges.rows.tolist(), edges.cols.tolist(), edges.values.tolist()) == ([1], [2], [2.0])


def test_symmetrise_leaves_a_symmetric_list_alone():
    once = symmetrise(edge_list([0, 2], [1, 2]))
    assert once.symmetric is True
    assert once.nnz == 3
    assert symmetrise(once) is once


@pytest.mark.parametrize(
    "merge",
    [
        pytest.param(lambda values, starts: values[starts], id="first"),
        pytest.param(
            lambda values, starts: values[np.append(starts[1:], len(values)) - 1], id="second"
        ),
        pytest.param(np.add.reduceat, id="plus"),
        pytest.param(np.subtract.reduceat, id="minus"),
        pytest.param(np.minimum.reduceat, id="min"),
    ],
)
def test_symmetrise_is_symmetric_whatever_merges_repeats(merge):
    rng = np.random.default_rng(5)
    edges = edge_list(rng.integers(0, 6, 200), rng.integers(0, 6, 200), rng.random(200))
    both = symmetrise(edges)
    matrix = coo_to_matrix(6, 6, both.rows, both.cols, both.values, merge=merge)
    dense = np.zeros((6, 6))
    rows, cols, values = matrix.to_coo()
    dense[rows, cols] = values
    np.testing.assert_array_equal(dense, dense.T)


def test_symmetrise_with_negative_sign_is_skew():
    edges = symmetrise(edge_list([0], [1], [5]), sign=-1)
    assert edges.values.tolist() == [5, -5]
    assert edges.symmetric is False


@pytest.mark.parametrize("change", [drop_self_loops, symmetrise])
def test_rectangles_are_refused(change):
    edges = EdgeList(2, 3, np.array([0]), np.array([2]))
    with pytest.raises(DimensionMismatch, match="2 x 3"):
        change(edges)


def test_random_weights_are_uniform_in_range_and_equal_both_ways():
    rng = np.random.default_rng(1)
    edges = symmetrise(edge_list(rng.integers(0, 900, 20_000), rng.integers(0, 900, 20_000), n=900))
    weights = random_weights(edges, seed=3).values
    counts = np.bincount(weights, minlength=65)
    assert weights.dtype == np.int64
    assert counts[0] == 0
    assert len(counts) == 65
    expected = len(weights) / 64
    # Every edge comes twice, so the variance of a count is twice the binomial one.
    assert np.abs(counts[1:] - expected).max() < 5 * np.sqrt(2 * expected)
    by_pair = {}
    for u, v, weight in zip(
        edges.rows.tolist(), edges.cols.tolist(), weights.tolist(), strict=True
    ):
        assert by_pair.setdefault((min(u, v), max(u, v)), weight) == weight


def test_random_weights_depend_on_the_seed_and_nothing_else():
    edges = edge_list([0, 1, 2, 3, 4], [1, 2, 3, 4, 5])
    shuffled = edge_list([4, 0, 3, 1, 2], [5, 1, 4, 2, 3])
    first = random_weights(edges, seed=1).values
    assert first.tolist() == random_weights(shuffled, seed=1).values[[1, 3, 4, 2, 0]].tolist()
    assert first.tolist() != random_weights(edges, seed=2).values.tolist()
    assert set(random_weights(edges, low=7, high=7).values.tolist()) == {7}


@pytest.mark.parametrize("bounds", [(2, 1), (0, 2**33)])
def test_random_weights_of_a_bad_range_are_refused(bounds):
    with pytest.raises(InvalidValue, match="different values"):
        random_weights(edge_list([0], [1]), low=bounds[0], high=bounds[1])


def test_clean_does_everything_in_order():
    options = ReadOptions(
        drop_self_loops=True, symmetrise=True, random_weights=True, seed=9, dup_op="min"
    )
    edges = edge_list([0, 1], [0, 2])
    cleaned = clean(edges, options)
    assert cleaned.rows.tolist() == [1, 2]
    assert cleaned.values[0] == cleaned.values[1]
    assert cleaned.meta["dup_op"] == "min"
    assert edges.meta == {}
    assert clean(edges, ReadOptions()) is edges
