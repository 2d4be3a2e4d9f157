"""Random walks: against plain Python, exact distributions, the golden walks of chesapeake."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from tests.helpers.every import every
from tests.helpers.samples import chance_of

import semira as gb
from semira.base.settings import override, restore
from semira.exceptions import (
    DimensionMismatch,
    DomainMismatch,
    IndexOutOfBound,
    InvalidValue,
    InvalidWeight,
    NegativeWeight,
    OutOfMemory,
)

#: Neighbours j > i of the vertices of chesapeake (DIMACS10).
CHESAPEAKE = """\
0: 6 7 10 11 12 21 22 33 34 36 38;1: 6 7 8 10 11 12 21 22 34 35 38;2: 13 14 15 16 17 35 38
3: 16 35 36 38;4: 5 33 34 38;5: 6 34 38;6: 7 8 10 11 12 34 38;7: 8 9 19 20 21 22 23 34 37 38
8: 9 34 35 38;9: 34 35 38;10: 18 34 35 38;11: 18 25 34 35 37 38;12: 34 35 37 38
13: 24 25 26 27 28 35 38;14: 18 24 25 26 27 28 35 38;15: 18 26 35 38;16: 35 38
17: 18 24 25 26 28 31 35 38;18: 32 35 37 38;19: 35 37 38;20: 32 35 37 38
21: 26 27 29 30 31 32 34 35 37 38;22: 29 31 32 34 35 37 38;23: 35 37 38;24: 35 37 38
25: 35 37 38;26: 29 35 37 38;27: 35 37 38;28: 35 37 38;29: 35 37 38;30: 31 35 37 38
31: 35 37 38;32: 35 37 38;33: 36;34: 35 36"""

KINDS = ("uniform", "greedy", "stochastic_greedy", "biased", "node2vec")


def matrix_of(scipy_matrix, device):
    made = sp.csr_matrix(scipy_matrix)
    with gb.device(device):
        return gb.Matrix.from_csr(made.indptr, made.indices, made.data, ncols=made.shape[1])


def host(array):
    return array.get() if hasattr(array, "get") else np.asarray(array)


def some_graph(n=60, seed=1, directed=False):
    rng = np.random.default_rng(seed)
    made = sp.random(n, n, 0.1, "csr", random_state=rng)
    made.data = rng.integers(1, 9, made.nnz).astype(float)
    return made if directed else made.maximum(made.T)


def walks_of(A, kind, scores, *, starts=None, **options):
    needed = {"scores": scores} if "greedy" in kind else {}
    return gb.apps.random_walks(A, starts, kind=kind, **needed, **options)


def chesapeake():
    edges = [
        (int(line.split(":")[0]), int(j))
        for line in CHESAPEAKE.replace("\n", ";").split(";")
        for j in line.split(":")[1].split()
    ]
    i, j = np.array(edges).T
    made = sp.coo_matrix((np.ones(len(i)), (i, j)), (39, 39))
    return made + made.T


def test_greedy_walks_of_chesapeake_are_those_of_the_specification(device):
    A = matrix_of(chesapeake(), device)
    assert A.nvals == 340
    scores = [((37 * i) % 41) / 41 for i in range(39)]
    found = gb.apps.random_walks(A, [0, 2, 36, 38], 10, kind="greedy", scores=scores)
    assert found.paths.tolist() == [
        [0, 21, 31, 21, 31, 21, 31, 21, 31, 21],
        [2, 13, 2, 13, 2, 13, 2, 13, 2, 13],
        [36, 33, 4, 33, 4, 33, 4, 33, 4, 33],
        [38, 31, 21, 31, 21, 31, 21, 31, 21, 31],
    ]
    degrees = np.diff(sp.csr_matrix(chesapeake()).indptr)
    assert found.steps == 36
    assert found.neighbours_seen == degrees[found.paths[:, :-1]].sum()
    assert found.facts()["false_moves"] == 0


def test_the_best_of_equal_neighbours_is_the_first(device):
    A = matrix_of(np.array([[0, 1, 1, 1], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]]), device)
    found = gb.apps.random_walks(A, [0], 2, kind="greedy", scores=[0, 5, 7, 7])
    assert found.paths.tolist() == [[0, 2]]
    found = gb.apps.random_walks(A, [0], 2, kind="greedy", scores=[-9, -1.5, -1.5, -2])
    assert found.paths.tolist() == [[0, 1]]


def test_the_best_neighbour_in_long_rows_is_that_of_numpy(device):
    rng = np.random.default_rng(3)
    dense = rng.random((40, 200)) < 0.7
    whole = np.zeros((200, 200), bool)
    whole[:40] = dense
    scores = rng.integers(0, 20, 200).astype(float)
    A = matrix_of(sp.csr_matrix(whole.astype(float)), device)
    found = gb.apps.random_walks(A, range(40), 2, kind="greedy", scores=scores)
    expected = np.where(dense, scores, -1).argmax(axis=1)
    assert found.paths[:, 1].tolist() == expected.tolist()


@every("kind", KINDS)
@every("directed", [False, True])
def test_moves_are_entries_and_walks_end_where_nothing_leaves(device, kind, directed):
    graph = some_graph(directed=directed)
    graph = sp.csr_matrix(graph)
    graph.data[graph.indptr[7] : graph.indptr[8]] = 0
    graph.eliminate_zeros()
    A = matrix_of(graph, device)
    scores = np.random.default_rng(5).random(60)
    found = walks_of(A, kind, scores, length=12, walks_per_vertex=2, seed=9)
    assert found.paths.shape == (120, 12)
    assert found.false_moves == 0
    dense = graph.toarray() > 0
    for path, length in zip(found.paths, host(found.lengths), strict=True):
        assert (path[length:] == -1).all()
        assert dense[path[: length - 1], path[1:length]].all()
        assert length == 12 or not dense[path[length - 1]].any()
    assert found.paths[:, 0].tolist() == [*range(60)] * 2
    assert found.facts()["ended_early"] == (host(found.lengths) < 12).sum() > 0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("restart", [0.0, 0.3])
def test_every_device_walks_as_the_reference(device, kind, restart):
    if device == "reference":
        pytest.skip("what the others are compared with")
    graph, scores = some_graph(), np.random.default_rng(5).random(60)
    options = {"length": 9, "walks_per_vertex": 3, "seed": 4, "restart": restart}
    if kind == "node2vec":
        options |= {"p": 0.4, "q": 2.5}
    found = walks_of(matrix_of(graph, device), kind, scores, **options)
    expected = walks_of(matrix_of(graph, "reference"), kind, scores, **options)
    assert found.paths.tolist() == expected.paths.tolist()
    assert host(found.seen).tolist() == expected.seen.tolist()
    assert found.neighbours_seen == expected.neighbours_seen


@pytest.mark.parametrize("spread", ["even", "steep", "rough"])
@pytest.mark.parametrize("kind", ["biased", "node2vec"])
def test_long_rows_are_searched_as_by_the_reference(device, spread, kind):
    rng = np.random.default_rng(3)
    n = 3000
    chance = {"even": 0.3, "steep": 0.4 * np.exp(-np.arange(n) / 600), "rough": 0.3}[spread]
    rows = np.repeat([*range(6), 2999], n)
    columns = np.tile(np.arange(n), 7)
    keep = rng.random(len(rows)) < np.tile(np.broadcast_to(chance, n), 7)
    rows, columns = rows[keep], columns[keep]
    weights = rng.integers(1, 64, len(rows)).astype(float)
    if spread == "rough":
        weights = np.exp(rng.normal(0, 8, len(rows)))
    made = sp.csr_matrix((weights, (rows, columns)), (n, n))
    made = made + made.T
    options = {"length": 12, "kind": kind, "seed": 4, "p": 0.1, "q": 3}
    options["walks_per_vertex"] = 15 if device == "reference" else 60
    found = gb.apps.random_walks(matrix_of(made, device), range(6), **options)
    expected = gb.apps.random_walks(matrix_of(made, "cpu"), range(6), **options)
    assert found.paths.tolist() == expected.paths.tolist()
    assert found.false_moves == 0


@pytest.mark.parametrize("keep", ["ends", "counts"])
@pytest.mark.parametrize("kind", KINDS)
def test_ends_and_counts_are_those_of_the_paths(device, keep, kind):
    A, scores = matrix_of(some_graph(directed=True), device), np.arange(60)
    paths = walks_of(A, kind, scores, length=7, seed=2, walks_per_vertex=4)
    found = walks_of(A, kind, scores, length=7, seed=2, walks_per_vertex=4, keep=keep)
    assert found.steps == paths.steps
    if keep == "ends":
        assert found.ends.tolist() == paths.ends.tolist()
    else:
        assert found.counts.to_dense().tolist() == paths.counts.to_dense().tolist()
        assert found.counts.to_dense().sum() == (paths.paths >= 0).sum()
    with pytest.raises(AttributeError, match="keeps no paths"):
        _ = found.paths
    with pytest.raises(AttributeError, match="keeps no paths"):
        _ = found.false_moves


def _fits(observed, probabilities):
    """Whether counts are those of a distribution, by chi-squared."""
    there = probabilities > 0
    assert not observed[~there].any()
    if there.sum() == 1:
        return True
    expected = probabilities[there] * observed.sum()
    return chance_of(observed[there], expected) > 1e-4


@pytest.mark.parametrize("kind", ["uniform", "biased", "stochastic_greedy"])
def test_neighbours_have_their_probabilities(kind):
    graph = sp.csr_matrix(some_graph(20, seed=2, directed=True))
    graph.data[::3] = 0.25
    scores = np.random.default_rng(6).random(20)
    scores[3] = 0
    # Zeros that are stored.
    graph.data[5] = 0
    A = matrix_of(graph, "cpu")
    found = walks_of(A, kind, scores, length=2, walks_per_vertex=4000, seed=12)
    for v in range(20):
        row = slice(graph.indptr[v], graph.indptr[v + 1])
        columns = graph.indices[row]
        weights = {
            "uniform": np.ones(len(columns)),
            "biased": graph.data[row],
            "stochastic_greedy": scores[columns],
        }[kind]
        ends = found.paths[v::20, 1]
        if len(columns) == 0:
            assert (ends == -1).all()
            continue
        probabilities = np.zeros(20)
        probabilities[columns] = weights / weights.sum()
        assert _fits(np.bincount(ends, minlength=20), probabilities)


@pytest.mark.parametrize(("p", "q"), [(0.25, 4.0), (4.0, 0.25), (1.0, 1.0), (0.5, 0.5), (3.0, 2.0)])
@pytest.mark.parametrize("weighted", [False, True])
def test_node2vec_has_the_probabilities_of_its_definition(p, q, weighted):
    graph = sp.csr_matrix(some_graph(12, seed=8))
    dense = graph.toarray()
    A = matrix_of(graph, "cpu")
    found = gb.apps.random_walks(
        A, length=3, walks_per_vertex=8_000, kind="node2vec", p=p, q=q, weighted=weighted, seed=5
    )
    counts = np.zeros((12, 12, 12), int)
    whole = found.paths[found.lengths == 3]
    np.add.at(counts, tuple(whole.T), 1)
    tested = 0
    for t, v in np.argwhere(dense):
        if counts[t, v].sum() < 200:
            continue
        bias = np.where(dense[t] > 0, 1, 1 / q)
        bias[t] = 1 / p
        weights = (dense[v] if weighted else dense[v] > 0) * bias
        assert _fits(counts[t, v], weights / weights.sum())
        tested += 1
    assert tested > 5


def test_node2vec_with_factors_of_one_is_a_biased_walk_in_distribution():
    graph = some_graph(10, seed=3)
    dense = graph.toarray()
    A = matrix_of(graph, "cpu")
    found = gb.apps.random_walks(A, length=40, walks_per_vertex=200, kind="node2vec", seed=1)
    paths = found.paths[found.lengths == 40]
    for v in range(10):
        if dense[v].any():
            after = paths[:, 1:][paths[:, :-1] == v]
            assert _fits(np.bincount(after, minlength=10), dense[v] / dense[v].sum())


def test_restarts_come_with_their_probability_and_leave_no_dead_end(device):
    # A path: without restarts every walk ends.
    A = matrix_of(sp.diags([np.ones(9)], [1], (10, 10)), device)
    found = gb.apps.random_walks(A, [0], 200, walks_per_vertex=20, restart=0.25, seed=3)
    assert (found.paths >= 0).all()
    assert found.false_moves == 0
    moves = found.paths[:, 1:][found.paths[:, :-1] < 9]
    assert abs((moves == 0).mean() - 0.25) < 0.03
    ended = gb.apps.random_walks(A, [0], 200, walks_per_vertex=20, seed=3)
    assert host(ended.lengths).tolist() == [10] * 20


def test_false_moves_are_counted(device):
    A = matrix_of(some_graph(), device)
    found = gb.apps.random_walks(A, length=6, seed=1)
    found.kept[3, 2] = 3  # no vertex has a self-loop that it could have taken
    dense = some_graph().toarray() > 0
    path = host(found.kept)[3]
    assert found.false_moves == (~dense[path[1:3], path[2:4]]).sum() + (not dense[path[1], 3]) - (
        not dense[path[1], path[2]]
    )
    assert found.false_moves > 0


def test_ranks_of_visits_agree_with_personalised_pagerank():
    graph = nx.karate_club_graph()
    A = matrix_of(nx.to_scipy_sparse_array(graph, weight=None, dtype=float), "cpu")
    found = gb.apps.random_walks(
        A, [0], 100, walks_per_vertex=3000, restart=0.15, seed=7, keep="counts"
    )
    visits = found.counts.to_dense() / found.counts.to_dense().sum()
    expected = nx.pagerank(graph, 0.85, personalization={0: 1}, weight=None)
    # The first vertex of each walk is its start, so the start has a little more.
    assert np.abs(visits - [expected[v] for v in range(34)]).sum() < 0.03


@pytest.mark.parametrize("kind", ["uniform", "node2vec"])
def test_threads_and_parts_do_not_matter(kind, monkeypatch):
    from semira.apps.walks import solve

    monkeypatch.setattr("semira.backends.cpu.threads.PARALLEL_ENTRIES", 1000)
    A = matrix_of(some_graph(400), "cpu")
    options = {"length": 20, "walks_per_vertex": 5, "kind": kind, "seed": 3}
    expected = None
    for threads in (1, 2, 7):
        before = override(threads=threads)
        found = gb.apps.random_walks(A, **options).paths
        restore(before)
        expected = found if expected is None else expected
        assert (found == expected).all()
    monkeypatch.setattr(solve, "_PART", 16_000)
    told = []
    found = gb.apps.random_walks(A, **options, progress=lambda *given: told.append(given))
    assert (found.paths == expected).all()
    assert told[-1] == (2000, 2000)
    assert len(told) > 5
    counted = gb.apps.random_walks(A, **options, keep="counts")
    assert (counted.counts.to_dense() == np.bincount(expected.ravel(), minlength=400)).all()


def test_paths_that_the_gpu_cannot_hold_go_to_the_host_in_parts(device, monkeypatch):
    from semira.apps.walks import solve

    if device != "cuda":
        pytest.skip("a device with memory of its own")
    A = matrix_of(some_graph(), device)
    expected = gb.apps.random_walks(A, length=10, walks_per_vertex=5, seed=1).paths
    monkeypatch.setattr(solve, "_LARGE", 0)
    monkeypatch.setattr(solve, "free_memory", lambda device: 4000)
    found = gb.apps.random_walks(A, length=10, walks_per_vertex=5, seed=1)
    assert type(found.kept) is np.ndarray
    assert (found.paths == expected).all()
    assert found.false_moves == 0


@every("kind", KINDS)
def test_graphs_without_edges_and_without_vertices(device, kind):
    for n in (0, 1, 3):
        A = matrix_of(sp.csr_matrix((n, n)), device)
        found = walks_of(A, kind, np.zeros(n), length=4)
        assert found.paths.tolist() == [[v, -1, -1, -1] for v in range(n)]
        facts = found.facts()
        assert (facts["walks"], facts["steps"], facts["false_moves"]) == (n, 0, 0)
    A = matrix_of(np.array([[2.0]]), device)
    assert walks_of(A, kind, [1.0], length=3).paths.tolist() == [[0, 0, 0]]


def test_a_sum_of_scores_of_zero_leaves_every_neighbour_alike(device):
    A = matrix_of(np.array([[0, 1, 1], [0, 0, 0], [0, 0, 0]]), device)
    found = gb.apps.random_walks(
        A, [0], 2, kind="stochastic_greedy", scores=np.zeros(3), walks_per_vertex=100
    )
    assert set(found.paths[:, 1].tolist()) == {1, 2}
    zeros = matrix_of(sp.csr_matrix(([0.0, 0.0], [1, 2], [0, 2, 2, 2]), (3, 3)), device)
    biased = gb.apps.random_walks(zeros, [0], 3, kind="biased")
    assert biased.paths.tolist() == [[0, -1, -1]]


def test_weights_far_apart(device):
    weights = np.array([[0, 1e-300, 1e300], [1, 0, 0], [1, 0, 0]])
    found = gb.apps.random_walks(matrix_of(weights, device), [0], 2, kind="biased")
    assert found.paths.tolist() == [[0, 2]]
    tiny = gb.apps.random_walks(matrix_of(weights * 0 + 5e-324, device), [0], 9, kind="biased")
    assert tiny.false_moves == 0


def test_starts_may_be_arrays_and_repeat(device):
    A = matrix_of(some_graph(), device)
    as_list = gb.apps.random_walks(A, [5, 5, 2], 6, seed=3)
    assert as_list.paths[0].tolist() != as_list.paths[1].tolist()
    for starts in (np.array([5, 5, 2], np.uint8), np.array([5, 5, 2]), (5, 5, 2)):
        assert gb.apps.random_walks(A, starts, 6, seed=3).paths.tolist() == as_list.paths.tolist()
    assert gb.apps.random_walks(A, 5, 6, seed=3).paths.tolist() == [as_list.paths[0].tolist()]
    assert gb.apps.random_walks(A, [], 6).paths.shape == (0, 6)


def test_the_transpose_is_walked_backwards(device):
    A = matrix_of(sp.diags([np.ones(4)], [1], (5, 5)), device)
    assert gb.apps.random_walks(A.T, [4], 5).paths.tolist() == [[4, 3, 2, 1, 0]]


def test_tables_have_columns_of_one_length(device):
    A = matrix_of(some_graph(), device)
    for keep in ("paths", "ends", "counts"):
        table = gb.apps.random_walks(A, length=3, keep=keep).table()
        assert len({len(column) for column in table.values()}) == 1


def test_memory_is_what_the_arrays_take(device):
    from semira.apps.walks import memory

    A = matrix_of(some_graph(), device)
    found = gb.apps.random_walks(A, length=30, walks_per_vertex=2)
    assert memory(A, 120, 30) == sum(
        host(part).nbytes for part in (found.kept, found.lengths, found.seen)
    )


BAD = [
    ({"kind": "drunk"}, InvalidValue, "one of uniform, greedy"),
    ({"keep": "all"}, InvalidValue, "one of paths"),
    ({"length": 0}, InvalidValue, "length=0 must be from 1"),
    ({"length": 2.5}, InvalidValue, "must be an integer"),
    ({"walks_per_vertex": -1}, InvalidValue, "walks_per_vertex=-1"),
    ({"restart": 1.0}, InvalidValue, "restart=1.0"),
    ({"restart": float("nan")}, InvalidValue, "restart=nan"),
    ({"p": 0}, InvalidValue, "p=0"),
    ({"q": 1e9}, InvalidValue, "q trials"),
    ({"q": "2"}, InvalidValue, "must be a number"),
    ({"seed": -1}, InvalidValue, "seed=-1"),
    ({"starts": [60]}, IndexOutOfBound, "vertex 60 is not one of the 60"),
    ({"starts": [-1]}, IndexOutOfBound, "vertex -1"),
    ({"starts": [0.5]}, InvalidValue, "vertex numbers"),
    ({"starts": [[0, 1]]}, InvalidValue, "vertex numbers"),
    ({"scores": np.ones(60)}, InvalidValue, "reads no scores"),
    ({"kind": "greedy"}, InvalidValue, "needs scores="),
    ({"kind": "greedy", "scores": np.ones(59)}, DimensionMismatch, r"scores has shape \(59,\)"),
    ({"kind": "greedy", "scores": ["a"] * 60}, DomainMismatch, "real numbers"),
    ({"kind": "greedy", "scores": [np.nan] * 60}, InvalidWeight, r"scores\[0\]=nan"),
    ({"kind": "stochastic_greedy", "scores": -np.ones(60)}, NegativeWeight, "scores must not be"),
]


@every(("options", "error", "text"), BAD)
def test_bad_arguments_are_named(device, options, error, text):
    with pytest.raises(error, match=text):
        gb.apps.random_walks(matrix_of(some_graph(), device), **options)


def test_bad_matrices_are_named(device):
    graph = sp.csr_matrix(some_graph())
    for value, error in ((-1, NegativeWeight), (np.nan, InvalidWeight), (np.inf, InvalidWeight)):
        graph.data[4] = value
        with pytest.raises(error, match="weights must"):
            gb.apps.random_walks(matrix_of(graph, device), kind="biased")
    with pytest.raises(InvalidValue, match="square"):
        gb.apps.random_walks(matrix_of(np.ones((2, 3)), device))
    with pytest.raises(DomainMismatch, match="got list"):
        gb.apps.random_walks([[1]])
    A = matrix_of(some_graph(), device)
    few = gb.Vector.from_coo([1, 2, 3], [1.0, 1.0, 1.0], size=60)
    with pytest.raises(InvalidValue, match="scores lacks 57 of 60"):
        gb.apps.random_walks(A, kind="greedy", scores=few)


def test_what_cannot_fit_is_refused_before_it_starts():
    A = matrix_of(some_graph(), "cpu")
    with pytest.raises(OutOfMemory, match=r"the paths take .* keep ends or counts"):
        gb.apps.random_walks(A, length=2**31 - 1, walks_per_vertex=2**20)


def test_suitesparse_walks_as_the_cpu():
    pytest.importorskip("graphblas")
    mine, expected = (
        gb.apps.random_walks(matrix_of(some_graph(), device), kind="node2vec", p=0.3)
        for device in ("suitesparse", "cpu")
    )
    assert mine.paths.tolist() == expected.paths.tolist()
