"""Samples of neighbours as parts of a matrix, and batches of them.

What is drawn: tests/conformance/test_samples.py.
"""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from tests.helpers.every import every
from tests.helpers.samples import WAYS, host, matrix_of, some_matrix

import semira as gb
from semira.exceptions import (
    DomainMismatch,
    IndexOutOfBound,
    InvalidValue,
    InvalidWeight,
    NegativeWeight,
    OutOfMemory,
)


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


@every(("options", "error", "text"), BAD)
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
            # New vertices are numbered in the order in which they were drawn.
            sources = host(batch.edge_index)[0][edges[hop] : edges[hop + 1]]
            met = [*dict.fromkeys(sources[sources >= nodes[hop + 1]].tolist())]
            assert met == [*range(nodes[hop + 1], nodes[hop + 2])]

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

    def test_tables_are_cleared_in_both_ways(self, graph, monkeypatch, device):
        from semira.apps.sampling import groups

        _, expected = self.batches(graph, device, batch_size=5)
        for ratio in (0, 10**9):
            monkeypatch.setattr(groups, "_CLEARED_AT_ONCE", ratio)
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

    def test_samples_of_a_loader_are_hops(self, graph, device):
        A = matrix_of(graph, device)
        loader = gb.apps.neighbour_loader(A, (4, 3), incoming=False, replace=True, output="arrays")
        hops, again, other = loader.sample([5, 50]), loader.sample([5, 50]), loader.sample([50], 1)
        assert [host(hop.neighbours).shape for hop in hops] == [(2, 4), (8, 3)]
        assert host(hops[1].neighbours).tolist() == host(again[1].neighbours).tolist()
        assert host(hops[0].neighbours)[1].tolist() != host(other[0].neighbours)[0].tolist()
        there = host(hops[1].neighbours) >= 0
        assert (
            graph.indices[host(hops[1].entries)[there]] == host(hops[1].neighbours)[there]
        ).all()
        with pytest.raises(IndexOutOfBound, match="vertex 60"):
            loader.sample([60])

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
        with pytest.raises(InvalidValue, match="pass a smaller bulk"):
            gb.apps.neighbour_loader(A, (2**16, 2**16), bulk=1)
        with pytest.raises(InvalidValue, match="batch_size=0"):
            gb.apps.neighbour_loader(A, batch_size=0)
