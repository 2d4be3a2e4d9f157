"""Samples of neighbours: against the rows they are drawn from, and exact distributions."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.stats

import semira as gb
from semira.base.settings import override, restore
from semira.exceptions import (
    DomainMismatch,
    IndexOutOfBound,
    InvalidValue,
    InvalidWeight,
    NegativeWeight,
    OutOfMemory,
)

WAYS = [(False, False), (True, False), (False, True), (True, True)]


def host(array):
    return array.get() if hasattr(array, "get") else np.asarray(array)


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


@pytest.mark.parametrize(("replace", "weighted"), WAYS)
@pytest.mark.parametrize("k", [1, 5, 40])
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
    assert scipy.stats.chisquare(counts, chances * len(drawn)).pvalue > 1e-4


@pytest.mark.parametrize("weighted", [False, True])
def test_draws_with_replacement_have_their_probabilities(weighted):
    weights = np.array([1.0, 5.0, 2.0, 0.5, 3.5])
    A = matrix_of(weights[None], "cpu")
    found = gb.apps.sample_neighbours(
        A, np.zeros(3000, int), 10, replace=True, weighted=weighted, seed=2
    )
    counts = np.bincount(host(found.neighbours).ravel(), minlength=5)
    chances = weights / weights.sum() if weighted else np.full(5, 0.2)
    assert scipy.stats.chisquare(counts, chances * counts.sum()).pvalue > 1e-4
    pairs = np.zeros((5, 5))
    np.add.at(pairs, (host(found.neighbours)[:, 0], host(found.neighbours)[:, 1]), 1)
    expected = np.outer(chances, chances) * pairs.sum()
    assert scipy.stats.chisquare(pairs.ravel(), expected.ravel()).pvalue > 1e-4


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


def test_matrices_of_samples_are_parts_of_the_matrix(device):
    graph = some_matrix(60, 60)
    graph.data += 1
    found = gb.apps.sample_neighbours(matrix_of(graph, device), [3, 50, 50, 20], 4, seed=1)
    part = found.to_matrix()
    assert part.shape == (60, 60)
    i, j, x = part.to_coo()
    assert set(i.tolist()) <= {3, 50, 20}
    assert (graph.toarray()[i.astype(int), j.astype(int)] == x).all()
    table = found.table()
    assert len(set(zip(table["vertex"], table["neighbour"], strict=True))) == part.nvals
    assert found.facts() == {"rows": 4, "k": 4, "drawn": len(table["entry"])}


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


def test_memory_is_what_the_arrays_take(device):
    from semira.apps.sampling import memory

    A = matrix_of(some_matrix(), device)
    found = gb.apps.sample_neighbours(A, range(50), 6)
    assert memory(A, 50, 6) == host(found.neighbours).nbytes + host(found.entries).nbytes


BAD = [
    ({"k": 0}, InvalidValue, "k=0 must be from 1"),
    ({"k": 1.5}, InvalidValue, "must be an integer"),
    ({"vertices": [50]}, IndexOutOfBound, "vertex 50 is not one of the 50"),
    ({"vertices": ["a"]}, InvalidValue, "vertex numbers"),
    ({"seed": "x"}, InvalidValue, "seed='x'"),
]


@pytest.mark.parametrize(("options", "error", "text"), BAD)
def test_bad_arguments_are_named(device, options, error, text):
    given = {"vertices": [1], "k": 2} | options
    with pytest.raises(error, match=text):
        gb.apps.sample_neighbours(matrix_of(some_matrix(), device), **given)


def test_bad_matrices_are_named(device):
    with pytest.raises(DomainMismatch, match="got NoneType"):
        gb.apps.sample_neighbours(None, [0], 2)
    with pytest.raises(InvalidValue, match="square"):
        gb.apps.sample_hops(matrix_of(np.ones((2, 3)), device), [0], (2, 2))
    for value, error in ((-1.0, NegativeWeight), (np.nan, InvalidWeight)):
        weights = matrix_of(np.array([[1, value]]), device)
        with pytest.raises(error, match="weights must"):
            gb.apps.sample_neighbours(weights, [0], 1, weighted=True)
    A = matrix_of(some_matrix(60, 60), "cpu")
    with pytest.raises(OutOfMemory, match="the samples take"):
        gb.apps.sample_hops(A, range(60), (2**20, 2**20))


class TestLoader:
    """Batches: what PyTorch Geometric's loader promises."""

    @pytest.fixture
    def graph(self):
        return some_matrix(60, 60)

    def batches(self, graph, device, fanouts=(4, 3), **options):
        loader = gb.apps.neighbour_loader(
            matrix_of(graph, device), fanouts, output="arrays", **options
        )
        return loader, list(loader)

    @pytest.mark.parametrize("bulk", [1, 3, None])
    @pytest.mark.parametrize("incoming", [False, True])
    def test_batches_are_parts_of_the_graph(self, device, graph, bulk, incoming):
        x = np.arange(120).reshape(60, 2)
        seeds = np.arange(59, 20, -1)
        _, batches = self.batches(
            graph, device, seeds=seeds, batch_size=16, bulk=bulk, incoming=incoming, x=x, y=x[:, 0]
        )
        pattern = sp.csr_matrix((np.ones(graph.nnz), graph.indices, graph.indptr)).toarray() > 0
        walked = graph.T.tocsr() if incoming else graph
        assert [batch.batch_size for batch in batches] == [16, 16, 7]
        for batch in batches:
            n_id, (source, target) = host(batch.n_id), host(batch.edge_index)
            assert len(set(n_id.tolist())) == len(n_id) == batch.num_nodes
            assert n_id[: batch.batch_size].tolist() == seeds[host(batch.input_id)].tolist()
            a, b = n_id[source], n_id[target]
            assert (pattern[a, b] if incoming else pattern[b, a]).all()
            assert (walked.indices[host(batch.e_id)] == a).all()
            assert sum(batch.num_sampled_nodes) == len(n_id)
            assert sum(batch.num_sampled_edges) == len(source)
            assert (batch.x == x[n_id]).all()
            assert (batch.y == x[n_id, 0]).all()
            self.check_hops(batch, walked)

    def check_hops(self, batch, walked):
        """Vertices first met at hop h have all of their draws at hop h + 1."""
        _, target = host(batch.edge_index)
        n_id, fanouts = host(batch.n_id), (4, 3)
        nodes = np.cumsum([0, *batch.num_sampled_nodes])
        edges = np.cumsum([0, *batch.num_sampled_edges])
        degrees = np.diff(walked.indptr)
        for hop, k in enumerate(fanouts):
            mine = target[edges[hop] : edges[hop + 1]]
            expected = np.minimum(degrees[n_id[nodes[hop] : nodes[hop + 1]]], k)
            counts = np.bincount(mine, minlength=nodes[hop + 1])
            assert counts[nodes[hop] :].tolist() == expected.tolist()
            assert not counts[: nodes[hop]].any()
            fresh = n_id[nodes[hop + 1] : nodes[hop + 2]]
            assert (np.diff(fresh) > 0).all()

    @pytest.mark.parametrize(("replace", "weighted"), WAYS)
    def test_every_device_makes_the_batches_of_the_reference(
        self, device, graph, replace, weighted
    ):
        options = {"batch_size": 7, "seed": 3, "replace": replace, "weighted": weighted}
        _, mine = self.batches(graph, device, **options, shuffle=True)
        _, theirs = self.batches(graph, "reference", **options, shuffle=True)
        for batch, expected in zip(mine, theirs, strict=True):
            assert host(batch.n_id).tolist() == expected.n_id.tolist()
            assert host(batch.edge_index).tolist() == expected.edge_index.tolist()
            assert host(batch.e_id).tolist() == expected.e_id.tolist()

    def test_how_many_batches_go_at_once_does_not_matter(self, graph, device):
        for replace, weighted in WAYS:
            given = {"batch_size": 7, "replace": replace, "weighted": weighted}
            _, expected = self.batches(graph, device, bulk=1, **given)
            for bulk in (2, 100):
                _, found = self.batches(graph, device, bulk=bulk, **given)
                for batch, other in zip(found, expected, strict=True):
                    assert host(batch.n_id).tolist() == host(other.n_id).tolist()
                    assert host(batch.e_id).tolist() == host(other.e_id).tolist()

    def test_a_vertex_of_two_batches_draws_anew(self, device):
        # Everybody's neighbours are 8, 9, ..., 39.
        dense = np.zeros((40, 40))
        dense[:, 8:] = 1
        _, batches = self.batches(
            sp.csr_matrix(dense), device, (5, 5), batch_size=1, seeds=[*range(8)], incoming=False
        )
        drawn = {}
        for batch in batches:
            n_id, (source, target) = host(batch.n_id), host(batch.edge_index)
            for vertex in n_id[1:6]:
                of = tuple(n_id[source[n_id[target] == vertex]].tolist())
                drawn.setdefault(vertex, []).append(of)
        repeated = [sets for sets in drawn.values() if len(sets) > 1]
        assert repeated
        assert sum(len(set(sets)) > 1 for sets in repeated) == len(repeated)

    def test_sorting_and_looking_through_the_table_agree(self, graph, monkeypatch, device):
        from semira.apps.sampling import groups

        _, expected = self.batches(graph, device, batch_size=5)
        for looks in (0, 10**9):
            monkeypatch.setattr(groups, "_LOOKS", looks)
            _, found = self.batches(graph, device, batch_size=5)
            for batch, other in zip(found, expected, strict=True):
                assert host(batch.n_id).tolist() == host(other.n_id).tolist()
                assert host(batch.edge_index).tolist() == host(other.edge_index).tolist()

    def test_epochs_differ_and_repeat_with_the_seed(self, graph):
        loader, first = self.batches(graph, "cpu", seed=5, shuffle=True, batch_size=9)
        second = list(loader)
        _, again = self.batches(graph, "cpu", seed=5, shuffle=True, batch_size=9)
        assert first[0].input_id.tolist() == again[0].input_id.tolist()
        assert first[0].input_id.tolist() != second[0].input_id.tolist()
        assert sorted(np.concatenate([b.input_id for b in second])) == [*range(60)]
        assert loader.epoch == 2

    def test_the_last_batch_may_be_left_out(self, graph):
        loader, batches = self.batches(graph, "cpu", batch_size=16, drop_last=True)
        assert len(loader) == len(batches) == 3
        loader, batches = self.batches(graph, "cpu", batch_size=16)
        assert len(loader) == len(batches) == 4
        loader, batches = self.batches(graph, "cpu", seeds=[])
        assert len(loader) == len(batches) == 0

    def test_bad_arguments_are_named(self, graph):
        A = matrix_of(graph, "cpu")
        with pytest.raises(InvalidValue, match="seeds repeat"):
            gb.apps.neighbour_loader(A, seeds=[1, 1])
        with pytest.raises(InvalidValue, match="fanouts is empty"):
            gb.apps.neighbour_loader(A, ())
        with pytest.raises(InvalidValue, match="one of auto, torch, arrays"):
            gb.apps.neighbour_loader(A, output="jax")
        with pytest.raises(ValueError, match="x has 3 rows for 60"):
            gb.apps.neighbour_loader(A, x=np.ones(3))
        with pytest.raises(IndexOutOfBound, match="vertex 60"):
            gb.apps.neighbour_loader(A, seeds=[60])
        with pytest.raises(InvalidValue, match="batch_size=0"):
            gb.apps.neighbour_loader(A, batch_size=0)
