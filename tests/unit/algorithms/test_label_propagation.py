"""Label propagation against the same moves vertex by vertex, and by its fixed point."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.helpers.data import load_graph
from tests.helpers.every import every
from tests.unit.algorithms import cases

import semira as gb
from semira import exceptions
from semira.algorithms import label_propagation
from semira.algorithms.ballots import vote_in_rounds
from semira.algorithms.voting import vote_and_move
from semira.ops.helpers import philox


def draws(seed: int) -> tuple[int, int]:
    """Return the keys of the first iteration, as the algorithm makes them."""
    words = np.random.SeedSequence(seed).generate_state(2, np.uint64)
    first, second = (int(word) >> 1 for word in words)
    return first, second


def frequent(near: set[int], label: list[int]) -> list[int]:
    """Return the labels that most of some vertices have, in rising order."""
    votes = Counter(label[each] for each in near)
    return sorted(found for found in votes if votes[found] == max(votes.values()))


def uniform(value: int, place: int, key: int) -> float:
    return (int(philox(np.uint64(value), place, 0, key, 0)) >> 11) * 2.0**-53


def propagated(
    graph: cases.Graph, seed: int, iterations: int = 1000
) -> tuple[list[int], int, bool]:
    """Return labels, iterations and whether it ended, of the same moves vertex by vertex."""
    near, label = cases.neighbours(graph), list(range(graph.n))
    tie, turn = draws(seed)
    with np.errstate(all="ignore"):
        for done in range(iterations):
            wants = {}
            for vertex in range(graph.n):
                best = frequent(near[vertex], label)
                if best and label[vertex] not in best:
                    bits = [int(philox(np.uint64(k), vertex, 0, tie + done, 0)) for k in best]
                    wants[vertex] = best[bits.index(max(bits))]
            drawn = {v: uniform(key, v, turn + done) for v, key in wants.items()}
            share = 0 if done >= 32 else (0.75, 0.5)[done % 2]
            for vertex, key in wants.items():
                rivals = (drawn[other] for other in near[vertex] if other in drawn)
                if drawn[vertex] < share or all(drawn[vertex] >= each for each in rivals):
                    label[vertex] = key
            if not wants:
                return label, done + 1, True
    return label, iterations, False


def is_settled(graph: cases.Graph, label: list[int]) -> bool:
    near = cases.neighbours(graph)
    return all(not near[v] or label[v] in frequent(near[v], label) for v in range(graph.n))


def modularity_of(G: nx.Graph, groups: Iterable[set[int]]) -> float:
    """Return what `networkx.community.modularity` gives, in a tenth of its time."""
    label = np.empty(len(G), np.int64)
    for number, group in enumerate(groups):
        label[[*group]] = number
    ends = np.array(G.edges).T
    degrees = np.bincount(label[ends.ravel()])
    inside = np.count_nonzero(label[ends[0]] == label[ends[1]])
    return float(inside / len(ends[0]) - np.square(degrees / ends.size).sum())


def modularity(graph: cases.Graph, label: list[int]) -> float:
    G = nx.Graph()
    G.add_nodes_from(range(graph.n))
    G.add_edges_from((i, j) for i, j, _ in graph.edges if i != j)
    if not G.number_of_edges():
        return 0.0
    groups = [{v for v in range(graph.n) if label[v] == name} for name in set(label)]
    return nx.community.modularity(G, groups)


@cases.shapes
def test_labels(graph, device):
    found = label_propagation(graph.matrix(device))
    label, iterations, ended = propagated(graph, 0)
    assert ended
    assert found.label.to_dense().tolist() == label
    assert (found.iterations, found.converged) == (iterations, True)
    assert found.count == len(set(label))
    assert found.unsettled == 0
    assert is_settled(graph, label)
    assert found.modularity == pytest.approx(modularity(graph, label))
    both = graph.both_ways().matrix(device)
    assert label_propagation(both, symmetric=True).label.isequal(found.label)


@given(graph=cases.graphs(), seed=st.integers(0, 2**70))
@cases.examples(max_examples=25)
def test_labels_of_any_graph(device, graph, seed):
    found = label_propagation(graph.matrix(device), seed=seed)
    label, iterations, ended = propagated(graph, seed)
    assert found.label.to_dense().tolist() == label
    assert (found.iterations, found.converged) == (iterations, ended)
    assert is_settled(graph, label)


@pytest.mark.parametrize("iterations", [1, 2])
def test_iterations_can_be_limited(device, iterations):
    graph = cases.random_graph(60, 140, seed=2)
    assert propagated(graph, 0)[1] > 3
    found = label_propagation(graph.matrix(device), iterations)
    label, *_ = propagated(graph, 0, iterations)
    assert found.label.to_dense().tolist() == label
    assert (found.iterations, found.converged) == (iterations, False)
    near = cases.neighbours(graph)
    left = sum(label[v] not in frequent(near[v], label) for v in range(60) if near[v])
    assert found.unsettled == left > 0


def test_many_iterations_end_with_independent_moves(device):
    """Vertices want to move still when nobody moves at random any more."""
    graph = cases.random_graph(200, 600, seed=3)
    label, iterations, ended = propagated(graph, 1)
    assert ended
    assert iterations > 33
    A = graph.matrix(device)
    for options in ({}, {"deterministic": True}):
        found = label_propagation(A, seed=1, **options)
        assert found.label.to_dense().tolist() == label
        assert (found.iterations, found.converged) == (iterations, True)
    # Options are for products.
    assert found.trace[-1].iteration == iterations - 1


def test_a_tolerance_ends_sooner(device):
    graph = cases.random_graph(300, 700, seed=3)
    exact = label_propagation(graph.matrix(device))
    soon = label_propagation(graph.matrix(device), tolerance=0.1)
    assert soon.converged
    assert soon.iterations < exact.iterations
    assert 0 < soon.unsettled <= 60


def test_dense_groups_are_found(device):
    # Four cliques of six in a ring, one edge between neighbours.
    cliques = [(6 * c + i, 6 * c + j) for c in range(4) for i in range(6) for j in range(i)]
    ring = [(6 * c + 5, 6 * c + 6) for c in range(3)]
    found = label_propagation(cases.unweighted(24, [*cliques, *ring]).matrix(device))
    groups = found.label.to_dense().reshape(4, 6)
    assert (groups == groups[:, :1]).all()
    assert found.count == 4


def test_a_bipartite_graph_does_not_swing(device):
    # Where all vertices move at once, both sides of such a graph swap labels for ever.
    pairs = [(i, j) for i in range(4) for j in range(4, 8)]
    found = label_propagation(cases.unweighted(8, pairs).matrix(device))
    assert found.converged
    assert found.count == 1


@every("dtype", ["BOOL", "INT8", "UINT64", "FP32"])
def test_every_dtype_is_a_graph_and_zeros_are_edges(device, dtype):
    found = label_propagation(cases.Graph(3, ((2, 1, 0.0),)).matrix(device, dtype))
    assert found.label.dtype == "INT32"
    assert found.count == 2


def test_no_vertices(device):
    with gb.device(device):
        found = label_propagation(gb.Matrix("BOOL", 0, 0))
    assert (found.label.size, found.count, found.converged) == (0, 0, True)


@pytest.mark.parametrize(
    "options",
    [
        {"max_iterations": 0},
        {"max_iterations": 1.5},
        {"seed": -1},
        {"seed": "two"},
        {"tolerance": 2},
        {"tolerance": "few"},
        {"tolerance": True},
    ],
)
def test_bad_options(options):
    with pytest.raises(exceptions.InvalidValue, match=next(iter(options))):
        label_propagation(cases.SHAPES["path"].matrix("reference"), **options)


def test_not_square():
    with pytest.raises(exceptions.DimensionMismatch, match=r"\(2, 3\)"):
        label_propagation(gb.Matrix("BOOL", 2, 3))


def test_trace_has_the_products_of_every_iteration(device):
    found = label_propagation(cases.SHAPES["random"].matrix(device), deterministic=True)
    products = [row for row in found.trace if row.op == "mxv"]
    assert len(products) == 2 * found.iterations


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ca-GrQc", "email-Eu-core"])
def test_real_graphs(device, name):
    if device == "reference":
        pytest.skip("the reference is made of dictionaries")
    edges = load_graph(name)
    graph = cases.unweighted(
        edges.nrows, zip(edges.rows.tolist(), edges.cols.tolist(), strict=True)
    )
    with gb.device(device):
        A = gb.Matrix.from_coo(edges.rows, edges.cols, nrows=edges.nrows, ncols=edges.ncols)
    found = label_propagation(A, seed=4)
    label, iterations, ended = propagated(graph, 4)
    np.testing.assert_array_equal(found.label.to_dense(), label)
    assert (found.iterations, found.converged) == (iterations, ended)
    assert found.modularity == pytest.approx(modularity(graph, label))
    assert is_settled(graph, label)


#: Real graphs of many kinds, small enough for NetworkX.
COMPARED = (
    "karate", "dolphins", "jazz", "netscience", "polbooks", "ca-GrQc", "power", "minnesota",
    "polblogs", "add20", "3elt", "cora", "citeseer",
)  # fmt: skip


@pytest.mark.slow
def test_communities_are_as_good_as_those_of_networkx() -> None:
    """Mean modularity over graphs, and our seeds, beside NetworkX's two label propagations."""
    ours, theirs = [], []
    for name in COMPARED:
        edges = load_graph(name)
        G = nx.Graph()
        G.add_nodes_from(range(edges.nrows))
        pairs = zip(edges.rows.tolist(), edges.cols.tolist(), strict=True)
        G.add_edges_from((i, j) for i, j in pairs if i != j)
        with gb.device("cpu"):
            A = gb.Matrix.from_coo(edges.rows, edges.cols, nrows=edges.nrows, ncols=edges.ncols)
        ours.append(np.mean([label_propagation(A, seed=seed).modularity for seed in range(5)]))
        drawn = nx.community.asyn_lpa_communities(G, seed=0)
        in_turns = nx.community.label_propagation_communities(G)
        theirs.append([modularity_of(G, groups) for groups in (drawn, in_turns)])
    assert np.mean(ours) >= np.mean(theirs, axis=0).max()


def test_rounds_make_the_labels_of_lists(device):
    if not gb.device_traits(device).own_memory:
        pytest.skip("its kernels are for GPUs alone")
    # Rows of every kind that a GPU tells apart, one of them with more labels than its table takes.
    random = np.random.default_rng(1)
    ends = [random.integers(0, 2200, (2, 3000))]
    for hub, length in ((0, 2100), (1, 300), (2, 60), (3, 100)):
        ends.append(np.stack([np.full(length, hub), random.permutation(2200)[:length]]))
    rows, cols = np.concatenate(ends, axis=1)
    rows, cols = rows[rows != cols], cols[rows != cols]
    found = []
    for where in (device, "cpu"):
        both = np.r_[rows, cols], np.r_[cols, rows]
        with gb.device(where):
            found.append(gb.Matrix.from_coo(*both, True, nrows=2200, ncols=2200, dup_op="any"))
    label, *rest = vote_in_rounds(found[0], (11, 7), 3, 40)
    expected, *others = vote_and_move(found[1], (11, 7), np.resize((0.75, 0.5), 32), 3, 40)
    assert (label.to_dense().tolist(), rest) == (expected.to_dense().tolist(), others)
