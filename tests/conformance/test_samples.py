"""Samples of rows against the rows they are drawn from, and their exact distributions."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from tests.helpers.every import every
from tests.helpers.samples import WAYS, chance_of, host, matrix_of, some_matrix

import semira as gb
from semira.base.settings import override, restore


@every(("replace", "weighted"), WAYS)
@every("k", [1, 5, 40])
def test_samples_are_entries_of_their_rows(device, replace, weighted, k):
    graph = some_matrix()
    A = matrix_of(graph, device)
    rows = np.array([*range(50), 49, 49, 3])
    found = gb.apps.sample_neighbours(A, rows, k, replace=replace, weighted=weighted, seed=1)
    neighbours, entries = host(found.neighbours), host(found.entries)
    assert neighbours.shape == entries.shape == (53, k)
    assert ((neighbours < 0) == (entries < 0)).all()
    for row, columns, places in zip(rows, neighbours, entries, strict=True):
        begin, end = graph.indptr[row], graph.indptr[row + 1]
        possible = np.arange(begin, end)
        if weighted:
            possible = possible[graph.data[begin:end] > 0]
        there = places[places >= 0]
        assert (columns[places >= 0] == graph.indices[there]).all()
        assert np.isin(there, possible).all()
        expected = k if replace and len(possible) else min(k, len(possible))
        assert len(there) == expected
        if not replace:
            assert len(set(there)) == expected
        if len(possible) <= k and not replace:
            assert sorted(there) == possible.tolist()
        assert (places[expected:] == -1).all()


@pytest.mark.parametrize(("replace", "weighted"), WAYS)
def test_every_device_draws_as_the_reference(device, replace, weighted):
    if device == "reference":
        pytest.skip("what the others are compared with")
    graph = some_matrix(60, 60)
    given = {"replace": replace, "weighted": weighted, "seed": 7}
    mine = gb.apps.sample_hops(matrix_of(graph, device), range(0, 60, 6), (7, 3, 35), **given)
    theirs = gb.apps.sample_hops(
        matrix_of(graph, "reference"), range(0, 60, 6), (7, 3, 35), **given
    )
    for hop, expected in zip(mine, theirs, strict=True):
        assert host(hop.neighbours).tolist() == expected.neighbours.tolist()
        assert host(hop.entries).tolist() == expected.entries.tolist()


def _subsets(sample):
    return [tuple(sorted(row[row >= 0].tolist())) for row in host(sample)]


def _chance_of(subset, weights):
    """The probability that drawing one after the other, by weight, gives a set."""
    total = 0.0
    for order in itertools.permutations(subset):
        left, chance = sum(weights.values()), 1.0
        for item in order:
            chance *= weights[item] / left
            left -= weights[item]
        total += chance
    return total


@pytest.mark.parametrize("weighted", [False, True])
def test_sets_have_their_probabilities(weighted):
    weights = {2: 1.0, 3: 5.0, 5: 2.0, 6: 0.5, 8: 3.5}
    made = sp.csr_matrix(([*weights.values()], [*weights], [0, 5]), (1, 9))
    A = matrix_of(made, "cpu")
    given = np.zeros(40_000, np.int64)
    found = gb.apps.sample_neighbours(A, given, 3, weighted=weighted, seed=2)
    drawn = _subsets(found.neighbours)
    sets = list(itertools.combinations(weights, 3))
    chances = np.array(
        [_chance_of(s, weights if weighted else dict.fromkeys(weights, 1)) for s in sets]
    )
    counts = np.array([drawn.count(s) for s in sets])
    assert abs(chances.sum() - 1) < 1e-9
    assert counts.sum() == len(drawn)
    assert chance_of(counts, chances * len(drawn)) > 1e-4


@pytest.mark.parametrize("weighted", [False, True])
def test_draws_with_replacement_have_their_probabilities(weighted):
    weights = np.array([1.0, 5.0, 2.0, 0.5, 3.5])
    A = matrix_of(weights[None], "cpu")
    found = gb.apps.sample_neighbours(
        A, np.zeros(3000, int), 10, replace=True, weighted=weighted, seed=2
    )
    counts = np.bincount(host(found.neighbours).ravel(), minlength=5)
    chances = weights / weights.sum() if weighted else np.full(5, 0.2)
    assert chance_of(counts, chances * counts.sum()) > 1e-4
    pairs = np.zeros((5, 5))
    np.add.at(pairs, (host(found.neighbours)[:, 0], host(found.neighbours)[:, 1]), 1)
    expected = np.outer(chances, chances) * pairs.sum()
    assert chance_of(pairs.ravel(), expected.ravel()) > 1e-4


def test_one_heavy_entry_does_not_hold_others_up(device):
    weights = np.ones((1, 30))
    weights[0, 4] = 1e12
    found = gb.apps.sample_neighbours(matrix_of(weights, device), [0] * 20, 8, weighted=True)
    assert all(4 in row and len(set(row)) == 8 for row in host(found.neighbours).tolist())


def test_hops_continue_from_what_was_drawn(device):
    A = matrix_of(sp.diags([np.ones(5)], [1], (6, 6)), device)
    first, second, third = gb.apps.sample_hops(A, [0, 4], (1, 2, 1))
    assert host(first.neighbours).tolist() == [[1], [5]]
    assert host(second.vertices).tolist() == [1, 5]
    assert host(second.neighbours).tolist() == [[2, -1], [-1, -1]]
    assert host(third.neighbours).tolist() == [[3], [-1], [-1], [-1]]


def test_threads_do_not_matter():
    A = matrix_of(some_matrix(60, 60), "cpu")
    rows = np.arange(60).repeat(400)
    expected = None
    for threads in (1, 2, 7):
        before = override(threads=threads)
        found = gb.apps.sample_neighbours(A, rows, 9, seed=5).neighbours
        restore(before)
        expected = found if expected is None else expected
        assert (found == expected).all()


def test_empty_matrices_and_lists(device):
    A = matrix_of(sp.csr_matrix((3, 3)), device)
    for replace, weighted in WAYS:
        found = gb.apps.sample_neighbours(A, [0, 2], 2, replace=replace, weighted=weighted)
        assert host(found.neighbours).tolist() == [[-1, -1]] * 2
        assert gb.apps.sample_neighbours(A, [], 2).neighbours.shape == (0, 2)
        assert found.to_matrix().nvals == 0
