"""Louvain, Leiden, modularity and contraction beside NetworkX, and the same on every device."""

from __future__ import annotations

import itertools

import hypothesis
import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import strategies as st
from tests.helpers import chesapeake
from tests.helpers.communities import groups_of, matrix_of, plain_modularity, planted
from tests.helpers.every import every

import semira as gb
from semira.algorithms.row import load
from semira.apps.communities.files import read_labels
from semira.apps.communities.graph import Workspace
from semira.apps.communities.moving import components, move_in_order, move_vertices, refine
from semira.apps.communities.problem import graph_of
from semira.base import settings
from semira.exceptions import (
    DimensionMismatch,
    DomainMismatch,
    InvalidValue,
    OutOfMemory,
)
from semira.kernels import ArrayKernel, array_module

HOSTS = pytest.mark.parametrize("where", ["reference", "cpu"])
BOTH = pytest.mark.parametrize("name", ["louvain", "leiden"])


def run(name, A, **options):
    return getattr(gb.apps, name)(A, **options)


def known(place):
    """Return a graph that golden runs are known of."""
    if place == "karate":
        return nx.karate_club_graph()
    return nx.Graph(zip(*chesapeake.edges(), strict=True))


# Quality -----------------------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize(
    ("make", "least"),
    [
        (nx.karate_club_graph, 0.415),
        (nx.les_miserables_graph, 0.545),
        (lambda: nx.relaxed_caveman_graph(12, 8, 0.1, seed=2), 0.78),
        (lambda: nx.random_partition_graph([30] * 5, 0.4, 0.02, seed=1), 0.6),
    ],
)
def test_communities_are_as_good_as_those_of_networkx(device, name, make, least):
    graph = nx.convert_node_labels_to_integers(make())
    # NetworkX counts them twice.
    graph.remove_edges_from(list(nx.selfloop_edges(graph)))
    A = matrix_of(graph, device)
    found = run(name, A)
    groups = groups_of(found.host_labels)
    assert found.modularity == pytest.approx(
        nx.community.modularity(graph, groups, weight=None), abs=1e-12
    )
    other = nx.community.louvain_communities(graph, weight=None, seed=1)
    assert found.modularity >= nx.community.modularity(graph, other, weight=None) - 0.02
    assert found.modularity >= least


@BOTH
def test_planted_groups_are_found(device, name):
    A, truth = planted(device, groups=6, size=20, inside=0.7, outside=0.01)
    labels = run(name, A, seed=3).host_labels
    assert len(np.unique(labels)) == 6
    assert len(set(zip(labels.tolist(), truth.tolist(), strict=True))) == 6


@BOTH
def test_weights_decide(device, name):
    # A ring of eight: light edges inside of pairs, heavy ones between them.
    ring = nx.cycle_graph(8)
    for v in range(8):
        ring[v][(v + 1) % 8]["weight"] = 10.0 if v % 2 else 0.125
    heavy = run(name, matrix_of(ring, device, "weight")).host_labels
    assert all(heavy[v] == heavy[(v + 1) % 8] for v in range(1, 8, 2))
    assert all(heavy[v] != heavy[(v + 1) % 8] for v in range(0, 8, 2))
    weighted = run(name, matrix_of(ring, device, "weight"), weighted=False)
    assert weighted.modularity == run(name, matrix_of(ring, device)).modularity


@BOTH
def test_a_higher_resolution_makes_more_communities(device, name):
    A, _ = planted(device, groups=4, size=10, inside=0.7, outside=0.1)
    counts = [run(name, A, resolution=r).num_communities for r in (0.0, 1.0, 4.0)]
    assert counts[0] == 1
    assert counts[1] < counts[2]


@BOTH
def test_one_round_alone_does_less(device, name):
    A, _ = planted(device, groups=6, size=20, inside=0.3, outside=0.02)
    whole = run(name, A)
    short = run(name, A, max_level=1, max_iterations=1, refine=False)
    assert short.modularity < whole.modularity
    assert short.num_levels <= 1


def test_leiden_communities_are_connected(device):
    for seed in range(4):
        graph = nx.random_partition_graph([12] * 6, 0.25, 0.03, seed=seed)
        found = gb.apps.leiden(matrix_of(graph, device), seed=seed, max_iterations=3)
        for group in groups_of(found.host_labels):
            assert nx.is_connected(graph.subgraph(group))


def test_leiden_splits_what_is_not_connected(device):
    # Moves of Leiden never make it; labels to start from that nothing gains to leave do.
    pairs = nx.Graph([(0, 1), (2, 3)])
    labels = gb.apps.leiden(matrix_of(pairs, device), initial=[5, 5, 5, 5]).host_labels
    assert labels.tolist() == [0, 0, 1, 1]
    zero = gb.apps.leiden(matrix_of(pairs, device), initial=[5, 5, 5, 5], resolution=0.0)
    assert zero.host_labels.tolist() == [0, 0, 1, 1]


@BOTH
@pytest.mark.parametrize(
    ("place", "alone", "serial"),
    [("chesapeake", -0.038374, 0.262439), ("karate", -0.049803, 0.418803)],
)
def test_known_graphs_come_close_to_one_vertex_after_the_other(device, name, place, alone, serial):
    A = matrix_of(known(place), device)
    assert gb.apps.modularity(A, np.arange(A.nrows)) == pytest.approx(alone, abs=5e-7)
    for seed in range(3):
        assert run(name, A, seed=seed).modularity >= serial - 0.02


# One vertex after the other -----------------------------------------------------------------------


@HOSTS
@pytest.mark.parametrize(
    ("place", "quality", "sizes"),
    [("chesapeake", 0.262439, [39, 6, 3]), ("karate", 0.418803, [34, 6, 4])],
)
def test_serial_order_makes_the_golden_runs(where, place, quality, sizes):
    A = matrix_of(known(place), where)
    found = gb.apps.louvain(A, order="serial", threshold=1e-4, refine=False)
    assert found.modularity == pytest.approx(quality, abs=5e-7)
    assert [len(level) for level in found.levels[:3]] == sizes
    assert found.num_communities == sizes[-1]
    again = gb.apps.louvain(A, order="serial", threshold=1e-4, refine=False, seed=9)
    assert again.host_labels.tolist() == found.host_labels.tolist()
    moved = gb.apps.louvain(A, order="serial")
    assert moved.modularity >= found.modularity - 1e-12


@HOSTS
@pytest.mark.parametrize("directed", [False, True])
def test_serial_gains_add_up_to_the_modularity(where, directed):
    A = noisy(where, directed)
    alone = np.arange(A.nrows)
    with array_module(where) as xp:
        _, graph, _ = graph_of(xp, A, weighted=True, directed=directed)
        labels = xp.empty(graph.n, xp.int32)
        *_, gained = move_in_order(
            Workspace(graph), graph, labels, 1 / graph.total, (1e-6, 50), alone=True
        )
    before = gb.apps.modularity(A, alone, directed=directed)
    after = gb.apps.modularity(A, labels, directed=directed)
    assert gained > 0.1
    assert after - before == pytest.approx(gained, abs=1e-9)


@HOSTS
def test_serial_order_takes_the_first_of_equal_communities(where):
    # Vertex 0 gains as much from 2 as from 1, and its row names 1 first.
    square = matrix_of(nx.Graph([(0, 2), (0, 1), (1, 3), (2, 3)]), where)
    found = gb.apps.louvain(square, order="serial", max_level=1, max_iterations=1, refine=False)
    assert found.host_labels.tolist() == [0, 0, 1, 1]
    assert (found.rounds, found.num_levels) == (1, 1)


def test_serial_order_needs_a_host(device):
    A, _ = planted(device, groups=2, size=5, inside=0.9, outside=0.1)
    with pytest.raises(InvalidValue, match="order='any'; choose halves, serial"):
        gb.apps.louvain(A, order="any")
    if gb.device_traits(device).own_memory:
        with pytest.raises(InvalidValue, match=r"order='serial' runs on the host.*\.to\('cpu'\)"):
            gb.apps.louvain(A, order="serial")
    else:
        assert gb.apps.louvain(A, order="serial").num_communities == 2


# The same labels everywhere -----------------------------------------------------------------------


def noisy(device, directed=False):
    """Return a matrix with float weights of many sizes, hubs among its rows."""
    rng = np.random.default_rng(5)
    n = 160
    graph = sp.random(n, n, 0.04, "csr", random_state=rng, data_rvs=rng.random)
    graph = graph.tolil()
    graph[0, 1:150] = 0.1 + rng.random(149)
    graph = graph.tocsr()
    if not directed:
        graph = graph + graph.T
    graph = graph.tocoo()
    with gb.device(device):
        return gb.Matrix.from_coo(graph.row, graph.col, graph.data, nrows=n, ncols=n)


@BOTH
@pytest.mark.parametrize("directed", [False, True])
def test_labels_are_those_of_the_reference(device, name, directed):
    if device == "reference":
        pytest.skip("what the others are compared with")
    expected = run(name, noisy("reference", directed), directed=directed, seed=7)
    found = run(name, noisy(device, directed), directed=directed, seed=7)
    assert found.host_labels.tolist() == expected.host_labels.tolist()
    assert repr(found).startswith("Communities(communities=")
    assert found.facts() == expected.facts()
    assert [each.tolist() for each in found.levels] == [each.tolist() for each in expected.levels]


@BOTH
@pytest.mark.parametrize("kind", ["bool", "int64", "float64"])
def test_threads_do_not_matter(name, kind, monkeypatch):
    monkeypatch.setattr("semira.backends.cpu.threads.PARALLEL_ENTRIES", 1000)
    graph = nx.barabasi_albert_graph(400, 20, seed=1)
    rng = np.random.default_rng(2)
    for u, v in graph.edges:
        graph[u][v]["weight"] = rng.random() if kind == "float64" else int(rng.integers(1, 9))
    A = matrix_of(graph, "cpu", None if kind == "bool" else "weight")
    before, found = settings.settings(), []
    for threads in (1, 2, 7):
        settings.override(threads=threads)
        found.append(run(name, A).host_labels.tolist())
    settings.override(threads=before.threads)
    assert found[0] == found[1] == found[2]


@BOTH
def test_seeds_matter_and_repeat(device, name):
    A, _ = planted(device, groups=4, size=12, inside=0.4, outside=0.08)
    labels = [run(name, A, seed=seed).host_labels.tolist() for seed in (1, 1, 2, -5)]
    assert labels[0] == labels[1]
    assert labels[0] != labels[2]


@BOTH
def test_long_rows_meet_every_size_of_table(device, name):
    # Rows of 8, 9, 128, 129 and of more entries than a block's table has places.
    n = 2600
    sizes = {0: 8, 1: 9, 2: 128, 3: 129, 4: n - 10}
    ends = [(v, u) for v, size in sizes.items() for u in range(8, 8 + size)]
    graph = nx.Graph(ends + [(u, u + 1) for u in range(8, n - 1)])
    graph.add_nodes_from(range(n))
    options = {"max_level": 2, "max_iterations": 6}
    if device == "reference":
        pytest.skip("takes a minute in Python")
    expected = run(name, matrix_of(graph, "cpu"), **options)
    found = run(name, matrix_of(graph, device), **options)
    assert found.host_labels.tolist() == expected.host_labels.tolist()


def one_group_and_all_alone(device, n, weight, directed):
    """Return what moves make of single vertices, and merges of one group, next to a great hub."""
    rng = np.random.default_rng(6)
    # Half of the vertices next to the hub are labels to merge with: more than 1,536 of 5,000.
    graph = nx.Graph([(0, v) for v in range(1, n)] + [(v, v + 1) for v in range(1, n - 1)])
    graph.add_edges_from((1, v) for v in range(3, 200))
    for u, v in graph.edges:
        graph[u][v]["weight"] = float(rng.random())
    A = matrix_of(graph, device, weight)
    with array_module(device) as xp:
        _, given, _ = graph_of(xp, A, weighted=True, directed=directed)
        space, pull, rule = Workspace(given), 1 / given.total, (5, 1, 0, 4)
        labels = xp.arange(n, dtype=xp.int32)
        totals = move_vertices(space, given, labels, pull, rule, alone=False)
        made = [labels.tolist(), *(each.tolist() for each in totals)]
        groups, within = xp.zeros(n, xp.int32), xp.zeros(n, given.strengths.dtype)
        within_in = xp.zeros(n, given.strengths.dtype) if directed else within
        given.add_strengths(groups, within, within_in)
        parts = refine(space, given, groups, (within, within_in), pull, rule)
        return [*made, *(each.tolist() for each in parts), space.states[0][:2].tolist()]


@pytest.mark.parametrize(
    ("weight", "directed"), [(None, False), ("weight", False), ("weight", True)]
)
def test_rows_of_more_labels_than_a_table_are_walked_in_parts(device, weight, directed):
    n = 500 if device == "reference" else 5000  # it has no tables
    found = one_group_and_all_alone(device, n, weight, directed)
    expected = one_group_and_all_alone("cpu", n, weight, directed)
    assert found == expected
    assert len(set(found[0])) < n
    assert len(set(found[3])) < n


def test_components_are_those_of_scipy(device):
    # Paths in an order that makes deep trees.
    n = 700 if device == "reference" else 4000
    order = np.random.default_rng(3).permutation(n)
    graph = nx.Graph(zip(order[:-1].tolist(), order[1:].tolist(), strict=True))
    labels = np.empty(n, np.int32)
    labels[order] = np.arange(n) // (n // 5) % 2
    inside = [(u, v) for u, v in graph.edges if labels[u] == labels[v]]
    ends = np.array(inside).T
    both = sp.coo_matrix((np.ones(len(inside)), ends), (n, n))
    _, numbers = sp.csgraph.connected_components(both, directed=False)
    smallest = np.full(n, n)
    np.minimum.at(smallest, numbers, np.arange(n))
    A = matrix_of(graph, device)
    with array_module(device) as xp:
        given, _, _ = graph_of(xp, A, weighted=False, directed=False)
        for _ in range(3):
            found = components(given, xp.asarray(labels))
            assert found.tolist() == smallest[numbers].tolist()


def test_a_thread_flattens_its_own_vertices_alone(device):
    # Only vertex 0 is asked for: another thread may have written the rest already.
    flatten = ArrayKernel("semira.apps.communities.kernels:graphs", "flatten")
    with array_module(device) as xp:
        parents = xp.asarray(np.array([1, 2, 3, 4, 4], np.int32))
        flatten(1, parents, device=device, work=1)
        assert parents.tolist() == [4, 2, 3, 4, 4]


# Levels, labels to start from ---------------------------------------------------------------------


@BOTH
def test_levels_lead_from_vertices_to_communities(device, name):
    A, _ = planted(device, groups=8, size=15, inside=0.4, outside=0.02)
    found = run(name, A)
    reached = np.arange(A.nrows)
    for level in found.levels:
        assert sorted(set(level.tolist())) == list(range(level.max() + 1))
        assert len(level) == reached.max() + 1
        reached = level[reached]
    assert reached.tolist() == found.host_labels.tolist()


@BOTH
def test_labels_to_start_from_are_kept_where_nothing_gains(device, name):
    A, truth = planted(device, groups=5, size=12, inside=0.9, outside=0.01)
    again = run(name, A, initial=truth * 1000 - 7)
    assert len(set(zip(again.host_labels.tolist(), truth.tolist(), strict=True))) == 5
    with gb.device(device):
        vector = gb.Vector.from_dense(truth)
    assert run(name, A, initial=vector).host_labels.tolist() == again.host_labels.tolist()


def test_progress_is_told(device):
    A, _ = planted(device, groups=4, size=10, inside=0.5, outside=0.05)
    told = []
    gb.apps.louvain(A, progress=lambda *each: told.append(each))
    assert told[0] == (0, 40)


# Modularity ---------------------------------------------------------------------------------------


@every("directed", [False, True])
@every("weight", [None, "weight"])
@every("resolution", [1.0, 0.3])
def test_modularity_is_that_of_networkx(device, directed, weight, resolution):
    rng = np.random.default_rng(1)
    graph = nx.gnp_random_graph(40, 0.1, seed=1, directed=directed)
    for u, v in graph.edges:
        graph[u][v]["weight"] = float(rng.random())
    labels = rng.integers(0, 5, 40)
    expected = nx.community.modularity(graph, groups_of(labels), weight, resolution)
    A = matrix_of(graph, device, weight)
    found = gb.apps.modularity(A, labels * 3 - 4, resolution=resolution, directed=directed)
    assert found == pytest.approx(expected, abs=1e-12)


@hypothesis.settings(max_examples=30, deadline=None)
@hypothesis.given(
    st.integers(1, 12),
    st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11), st.integers(0, 9)), max_size=40),
    st.booleans(),
)
@hypothesis.example(
    6, [(0, 1, 5), (0, 3, 4), (0, 8, 2), (1, 1, 3), (1, 4, 3), (2, 8, 3), (3, 4, 6)], False
)
def test_results_prove_themselves(n, ends, directed):
    dense = np.zeros((n, n))
    for i, j, weight in ends:
        dense[i % n, j % n] += weight / 4
    if not directed:
        dense = dense + dense.T
    rows, columns = np.nonzero(dense)
    with gb.device("cpu"):
        A = gb.Matrix.from_coo(rows, columns, dense[rows, columns], nrows=n, ncols=n)
    for name in ("louvain", "leiden"):
        found = run(name, A, directed=directed)
        assert found.modularity == pytest.approx(
            plain_modularity(dense, found.host_labels), abs=1e-9
        )
        # Never worse than the start, though of moves at once each alone gains.
        assert found.modularity >= plain_modularity(dense, np.arange(n)) - 1e-9
        start = np.arange(n) // 2
        found = run(name, A, directed=directed, initial=start)
        assert found.modularity >= plain_modularity(dense, start) - 1e-9


def test_self_loops_count_as_they_are_stored(device):
    dense = np.array([[3.0, 1, 0], [1, 0, 2], [0, 2, 0]])
    rows, columns = np.nonzero(dense)
    with gb.device(device):
        A = gb.Matrix.from_coo(rows, columns, dense[rows, columns])
    labels = np.array([0, 1, 1])
    assert gb.apps.modularity(A, labels) == pytest.approx(plain_modularity(dense, labels))
    found = gb.apps.louvain(A)
    assert found.modularity == pytest.approx(plain_modularity(dense, found.host_labels))


def test_contraction_keeps_weights_and_modularity(device):
    A = noisy(device)
    labels = np.random.default_rng(1).integers(0, 9, A.nrows)
    small = gb.apps.contract(A, labels)
    assert small.reduce_scalar().value == pytest.approx(A.reduce_scalar().value, rel=1e-12)
    expected = gb.apps.modularity(A, labels)
    assert gb.apps.modularity(small, np.arange(9)) == pytest.approx(expected, abs=1e-12)


# Small and wrong input ----------------------------------------------------------------------------


@BOTH
def test_graphs_without_edges(device, name):
    with gb.device(device):
        for n in (0, 1, 5):
            found = run(name, gb.Matrix("float64", n, n))
            assert found.num_communities == n
            assert found.modularity == 0.0
            assert found.host_labels.tolist() == list(range(n))
            assert found.facts()["alone"] == n
        loop = run(name, gb.Matrix.from_coo([0], [0], [2.0], nrows=1, ncols=1))
        assert (loop.num_communities, loop.modularity) == (1, 0.0)
        zeros = run(name, gb.Matrix.from_coo([0, 1], [1, 0], [0.0, 0.0]))
        assert zeros.num_communities == 2


@BOTH
def test_wrong_input_is_refused(device, name):
    with gb.device(device):
        pair = gb.Matrix.from_coo([0, 1], [1, 0], [1.0, 1.0])
        with pytest.raises(DimensionMismatch, match=r"shape \(2, 3\)"):
            run(name, gb.Matrix("bool", 2, 3))
        with pytest.raises(TypeError, match=r"needs a Matrix or a gb\.io\.Graph, got list"):
            run(name, [[0, 1], [1, 0]])
        with pytest.raises(DomainMismatch, match="FC64 are no weights"):
            run(name, gb.Matrix.from_coo([0, 1], [1, 0], [1j, 1j]))
        with pytest.raises(InvalidValue, match=r"not symmetric.*directed=True"):
            run(name, gb.Matrix.from_coo([0], [1], True, nrows=2, ncols=2))
        with pytest.raises(InvalidValue, match="not symmetric"):
            run(name, gb.Matrix.from_coo([0, 1], [1, 0], [1.0, 1.5]))
        with pytest.raises(InvalidValue, match=r"a weight of -1\.0"):
            run(name, gb.Matrix.from_coo([0, 1], [1, 0], [-1.0, -1.0]))
        for bad in (np.nan, np.inf):
            with pytest.raises(InvalidValue, match="finite"):
                run(name, gb.Matrix.from_coo([0, 1, 1], [1, 0, 1], [bad, bad, 1.0]))
        big = gb.Matrix.from_coo([0, 1, 1], [1, 0, 1], [2**61, 2**61, 1])
        with pytest.raises(OutOfMemory, match="scale them"):
            run(name, big)
        for options, words in (
            ({"resolution": -1}, "resolution=-1"),
            ({"resolution": np.nan}, "resolution=nan"),
            ({"max_level": 0}, "max_level=0"),
            ({"max_iterations": 1.5}, "max_iterations=1.5"),
            ({"seed": 2**63}, "seed="),
        ):
            with pytest.raises(InvalidValue, match=words):
                run(name, pair, **options)
        with pytest.raises(DimensionMismatch, match=r"initial has shape.*each of the 2 vertices"):
            run(name, pair, initial=[0, 1, 2])
        with pytest.raises(DomainMismatch, match="initial is of float64; pass integers"):
            run(name, pair, initial=[0.5, 1.0])
        with pytest.raises(InvalidValue, match="initial lacks 1 of 2"):
            run(name, pair, initial=gb.Vector.from_coo([0], [1], size=2))


def test_labels_may_be_any_integers(device):
    with gb.device(device):
        A = gb.Matrix.from_coo([0, 1, 2], [1, 2, 0], [1, 2, 4])
        expected = gb.apps.contract(A, [0, 0, 1]).to_dense(fill_value=0).tolist()
        assert expected == [[1, 2], [4, 0]]
        for labels in ([3, 3, 9], [-5, -5, 2], [7, 7, 2**62], np.array([8, 8, 11], np.uint64)):
            for given in (labels, gb.Vector.from_dense(labels)):
                found = gb.apps.contract(A, given).to_dense(fill_value=0)
                assert found.tolist() == expected


@BOTH
def test_what_does_not_fit_is_refused_before_it_starts(monkeypatch, device, name):
    A, _ = planted(device, groups=2, size=5, inside=0.9, outside=0.1)
    monkeypatch.setattr("semira.apps.arrays.free_memory", lambda device: 1000)
    with pytest.raises(OutOfMemory, match=r"beside the matrix take .* bytes, and 1,000 are free"):
        run(name, A)


def test_tables_have_a_row_a_vertex(device):
    A, _ = planted(device, groups=3, size=6, inside=0.9, outside=0.02)
    found = gb.apps.louvain(A)
    columns = found.table()
    assert columns["vertex"].tolist() == list(range(18))
    assert columns["community"].tolist() == found.host_labels.tolist()
    assert found.sizes.sum() == 18
    assert all(a != b for a, b in itertools.pairwise(np.unique(found.host_labels)))


@pytest.mark.parametrize(
    "text", ["5\n-1\n5\n", "vertex,community\n2,5\n0,5\n1,-1\n", "\n1 -1\n0 5\n\n2 5\n"]
)
def test_labels_are_read_from_text(tmp_path, text):
    path = tmp_path / "labels.csv"
    path.write_text(text)
    assert read_labels(path, 3).tolist() == [5, -1, 5]


def test_labels_are_read_from_arrays(tmp_path):
    np.save(tmp_path / "labels.npy", np.array([5, -1, 5]))
    assert read_labels(tmp_path / "labels.npy", 3).tolist() == [5, -1, 5]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("0,1\n0,2\n2,3\n", "each of 0 to 2 once"),
        ("0,1\n2\n", "every line"),
        ("0,1\n1,x\n2,0\n", "integers"),
    ],
)
def test_files_that_are_no_labels_are_refused(tmp_path, text, words):
    path = tmp_path / "labels.csv"
    path.write_text(text)
    with pytest.raises(InvalidValue, match=words):
        read_labels(path, 3)


def test_a_picture_has_the_entries_by_community(tmp_path):
    pytest.importorskip("matplotlib")
    A = gb.io.read("kron:6")
    load(gb.apps.rows()["louvain"].plot)(gb.apps.louvain(A), A, str(tmp_path / "blocks.svg"))
    told = (tmp_path / "blocks.svg").read_text()
    assert told.startswith("<?xml")
    assert len(told) > 10_000


def test_the_registry_has_the_rows():
    rows = gb.apps.rows()
    assert {"louvain", "leiden"} <= rows.keys()
    for name in ("louvain", "leiden"):
        assert rows[name].files["initial"].endswith("files:read_labels")
    with pytest.raises(AttributeError, match=r"did you mean 'semira\.apps\.louvain'"):
        gb.algorithms.louvain  # noqa: B018
