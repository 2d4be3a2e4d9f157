"""Scan statistics against sums over induced subgraphs, edge by edge."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from tests.helpers import chesapeake
from tests.helpers.every import every

import semira as gb
from semira.apps import local_scan, scan_series
from semira.apps.scan_statistics import memory, picture
from semira.base.settings import override, restore
from semira.exceptions import DimensionMismatch, DomainMismatch, InvalidValue, InvalidWeight

MODES = ("undirected", "out", "in", "all")

GOLDEN = """33 42 17 6 6 8 36 44 22 12 19 25 17 20 23 11 8 23 23 6 10 44 30 6 12 16 24 13 12 16 12
19 19 4 51 85 6 38 104"""


@pytest.fixture(autouse=True)
def on_device(device):
    with gb.device(device):
        yield


def drawn(n, density, seed, *, both=False, loops=True, floats=False):
    random = np.random.default_rng(seed)
    dense = random.integers(1, 9, (n, n)) * (random.random((n, n)) < density)
    if floats:
        dense = dense / 7
    if both:
        dense = np.triu(dense) + np.triu(dense, 1).T
    if not loops:
        np.fill_diagonal(dense, 0)
    return dense


def matrix(dense):
    rows, columns = np.nonzero(dense)
    return gb.Matrix.from_coo(rows, columns, dense[rows, columns], nrows=len(dense),
                              ncols=dense.shape[1])  # fmt: skip


def reached(dense, k, mode):
    """Return the vertices within k steps of each vertex, by loops."""
    steps = {"out": dense, "in": dense.T}.get(mode, dense + dense.T) != 0
    found = []
    for v in range(len(dense)):
        near = {v}
        for _ in range(k):
            near |= {int(b) for a in near for b in np.flatnonzero(steps[a])}
        found.append(near)
    return found


def edges_of(dense, mode):
    """Return each edge once, with its weight."""
    rows, columns = np.nonzero(dense)
    if mode != "undirected":
        return [(int(i), int(j), dense[i, j]) for i, j in zip(rows, columns, strict=True)]
    pairs = {(min(i, j), max(i, j)) for i, j in zip(rows.tolist(), columns.tolist(), strict=True)}
    return [(i, j, max(dense[i, j], dense[j, i])) for i, j in sorted(pairs)]


def by_hand(dense, them, k, mode, weighted):
    edges = edges_of(dense if them is None else them, mode)
    total = [0] * len(dense)
    if k == 0:
        both = {pair[:2] for pair in edges_of(dense, mode)}
        for i, j, w in edges:
            if (i, j) not in both:
                continue
            ends = {"out": {i}, "in": {j}}.get(mode, {i, j})
            for v in ends:
                total[v] += w if weighted else 1
        return total
    for v, near in enumerate(reached(dense, k, mode)):
        total[v] = sum((w if weighted else 1) for i, j, w in edges if i in near and j in near)
    return total


@every("other", [False, True])
@every("weighted", [False, True])
@every("mode", MODES)
@every("k", [0, 1, 2, 3])
def test_edges_within_neighbourhoods(k, mode, weighted, other):
    both = mode == "undirected"
    dense = drawn(24, 0.12, k, both=both)
    them = drawn(24, 0.15, 7, both=both) if other else None
    given = None if them is None else matrix(them)
    found = local_scan(matrix(dense), given, k, mode=mode, weighted=weighted)
    assert found.values.tolist() == by_hand(dense, them, k, mode, weighted)
    assert found.statistic.dtype == "INT64"


@every("k", [0, 1, 2])
@every("mode", ["undirected", "out"])
def test_weights_that_are_floats(k, mode):
    dense = drawn(20, 0.2, 3, both=mode == "undirected", floats=True)
    found = local_scan(matrix(dense), k=k, mode=mode, weighted=True)
    assert found.statistic.dtype == "FP64"
    assert found.values == pytest.approx(by_hand(dense, None, k, mode, True), rel=1e-14)


def test_one_direction_is_enough_for_an_undirected_edge():
    dense = drawn(20, 0.2, 3, both=True, loops=False)
    upper = np.triu(dense)
    whole = local_scan(matrix(dense), weighted=True)
    assert local_scan(matrix(upper), weighted=True).statistic.isequal(whole.statistic)
    told = local_scan(matrix(dense), weighted=True, symmetric=True)
    assert told.statistic.isequal(whole.statistic)


def test_the_values_of_the_specification():
    A = gb.Matrix.from_coo(*chesapeake.edges(), 1, nrows=39, ncols=39)
    found = local_scan(A)
    assert found.values.tolist() == list(map(int, GOLDEN.split()))
    assert (found.greatest, found.vertex) == (104, 38)
    assert found.facts()["at_vertex"] == 38
    degrees = local_scan(A, k=0).values
    assert (found.values - degrees).sum() == 3 * 194


def test_hubs_and_many_triangles():
    n = 150
    graph = nx.barabasi_albert_graph(n, 10, seed=1)
    A = gb.Matrix.from_coo(*np.array(graph.edges).T, 1, nrows=n, ncols=n)
    triangles = nx.triangles(graph)
    expected = [triangles[v] + graph.degree[v] for v in range(n)]
    assert local_scan(A).values.tolist() == expected
    # By the products with weights, and neighbourhood by neighbourhood.
    assert local_scan(A, weighted=True).values.tolist() == expected
    assert local_scan(A, A).values.tolist() == expected


def test_a_graph_with_loops_may_lie_elsewhere():
    with gb.device("reference"):
        A = matrix(drawn(6, 0.5, 1))
        expected = local_scan(A).values
    with gb.device("cpu"):
        assert local_scan(A).values.tolist() == expected.tolist()


def test_given_neighbourhoods():
    dense = drawn(15, 0.3, 4)
    sets = [[0, 3, 4, 7], [], [14], list(range(15))]
    rows = np.repeat(range(4), [len(each) for each in sets])
    chosen = gb.Matrix.from_coo(rows, np.concatenate(sets).astype(int), True, nrows=4, ncols=15)
    found = local_scan(matrix(dense), mode="out", neighbourhoods=chosen)
    expected = [(dense[np.ix_(each, each)] != 0).sum() for each in sets]
    assert found.values.tolist() == expected


def test_graphs_without_edges():
    for n in (0, 1, 4):
        for k in (0, 1, 2):
            for mode in MODES:
                found = local_scan(gb.Matrix(int, n, n), k=k, mode=mode, weighted=True)
                assert found.values.tolist() == [0] * n
    empty = local_scan(gb.Matrix(int, 0, 0))
    assert (empty.vertex, empty.greatest) == (-1, 0)
    assert local_scan(gb.Matrix.from_coo([0], [0], 1, nrows=1, ncols=1)).values.tolist() == [1]


def test_any_number_of_threads_makes_the_same(device):
    if device != "cpu":
        pytest.skip("has no threads to set")
    A = matrix(drawn(400, 0.2, 5, floats=True))
    found = []
    for threads in (1, 2, 7):
        before = override(threads=threads)
        try:
            found.append(local_scan(A, mode="out", weighted=True).statistic)
        finally:
            restore(before)
    assert found[0].isequal(found[1])
    assert found[0].isequal(found[2])


# series -------------------------------------------------------------------------------------------
def standard(value, before):
    if not before:
        return value
    deviation = np.std(before, ddof=1) if len(before) > 1 else 1.0
    return (value - np.mean(before)) / max(deviation, 1.0)


@every("locality", ["us", "them"])
@every(("tau", "ell"), [(0, 0), (1, 0), (3, 0), (2, 1), (3, 3), (0, 2)])
def test_a_series_beside_loops(tau, ell, locality):
    series = [drawn(12, 0.2, t, both=True, loops=False) for t in range(9)]
    found = scan_series(map(matrix, series), tau, ell, locality=locality)
    greatest = []
    for t in range(9):
        if t < tau:
            greatest.append(np.nan)
            assert found.vertices[t] == -1
            continue
        now = by_hand(series[t], None, 1, "undirected", False)
        past = [
            by_hand(series[t if locality == "them" else s], series[s], 1, "undirected", False)
            for s in range(t - tau, t)
        ]
        local = [standard(now[v], [each[v] for each in past]) for v in range(12)]
        greatest.append(max(local))
        assert found.vertices[t] == int(np.argmax(local))
    assert found.greatest == pytest.approx(greatest, rel=1e-12, nan_ok=True)
    expected = [
        np.nan if t < tau + ell else standard(greatest[t], greatest[t - ell : t]) for t in range(9)
    ]
    assert found.statistic == pytest.approx(expected, rel=1e-9, abs=1e-12, nan_ok=True)
    assert found.facts()["times"] == 9
    assert list(found.table()) == ["time", "statistic", "greatest", "vertex"]


def test_a_series_finds_the_group_that_starts_to_talk():
    quiet = [nx.gnm_random_graph(60, 90, seed=t) for t in range(12)]
    quiet[9].add_edges_from(nx.complete_graph(range(20, 27)).edges)
    graphs = [gb.Matrix.from_coo(*np.array(each.edges).T, 1, nrows=60, ncols=60) for each in quiet]
    told = []
    found = scan_series(graphs, 4, 3, progress=lambda done, total: told.append((done, total)))
    assert found.time == 9
    assert 20 <= found.vertices[9] < 27
    assert told[-1] == (12, 12)
    assert repr(found).startswith("ScanSeries(times=12, time=9")


# what is refused ----------------------------------------------------------------------------------
def test_wrong_input_is_refused():
    A = matrix(drawn(5, 0.5, 1))
    with pytest.raises(InvalidValue, match="mode='both' must be one of undirected"):
        local_scan(A, mode="both")
    with pytest.raises(InvalidValue, match="k=-1 must be an integer >= 0"):
        local_scan(A, k=-1)
    with pytest.raises(DimensionMismatch, match="them has 4 vertices, the graph 5"):
        local_scan(A, gb.Matrix(int, 4, 4))
    with pytest.raises(DimensionMismatch, match="square"):
        local_scan(gb.Matrix(int, 4, 5))
    with pytest.raises(DimensionMismatch, match="neighbourhoods have 4 columns for 5 vertices"):
        local_scan(A, neighbourhoods=gb.Matrix(int, 2, 4))
    with pytest.raises(DomainMismatch, match="needs a Matrix"):
        local_scan([[1]])
    with pytest.raises(InvalidWeight, match="has two weights"):
        local_scan(matrix(np.array([[0, 1], [2, 0]])), weighted=True)
    with pytest.raises(InvalidWeight, match="not a finite number"):
        local_scan(matrix(np.array([[0, np.inf], [0, 0]])), weighted=True, mode="out")
    with pytest.raises(DomainMismatch, match="are no weights"):
        local_scan(matrix(np.array([[0, 1j], [0, 0]])), weighted=True, mode="out")
    with pytest.raises(InvalidValue, match="there is no graph"):
        scan_series([])
    with pytest.raises(InvalidValue, match="locality='all'"):
        scan_series([A], locality="all")
    with pytest.raises(DimensionMismatch, match=r"graph 1 has shape \(4, 4\)"):
        scan_series([A, gb.Matrix(int, 4, 4)])


def test_the_result_tells_itself(tmp_path):
    A = matrix(drawn(30, 0.2, 1))
    found = local_scan(A)
    assert repr(found).startswith("LocalScan(vertices=30, greatest=")
    assert list(found.table()) == ["vertex", "statistic"]
    picture.draw(found, A, str(tmp_path / "a.svg"))
    assert (tmp_path / "a.svg").stat().st_size > 1000
    assert memory(A) == 270


def test_sums_that_integers_do_not_hold_are_refused(device):
    for dtype, value in (("UINT64", 2**64 - 1), ("INT64", 2**62), ("INT64", -(2**63))):
        with gb.device(device):
            A = gb.Matrix.from_coo([0], [1], [value], dtype, nrows=2, ncols=2)
        for mode in ("out", "undirected"):
            with pytest.raises(InvalidWeight, match=r"2\*\*62"):
                local_scan(A, weighted=True, mode=mode)
    with gb.device(device):
        A = gb.Matrix.from_coo([0], [1], [2**61 - 1024], "UINT64", nrows=2, ncols=2)
    assert local_scan(A, weighted=True).values.tolist() == [2**61 - 1024] * 2


def test_any_radius_and_graphs_without_vertices(device):
    with gb.device(device):
        A = gb.Matrix.from_coo([0, 1], [1, 2], nrows=3, ncols=3)
        empty = gb.Matrix("INT64", 0, 0)
    found = local_scan(A, k=10**30)
    assert (found.values.tolist(), found.k) == ([2, 2, 2], 10**30)
    series = scan_series([empty, empty, empty])
    assert (series.time, series.vertices.tolist()) == (-1, [-1, -1, -1])


def test_a_large_radius_ends_where_nothing_new_is_near(device):
    if device != "cpu":
        pytest.skip("the reference walks over every item anyway")
    n = 400_000
    A = gb.Matrix.from_coo(np.arange(0, n, 2), np.arange(1, n, 2), nrows=n, ncols=n)
    local_scan(A, k=2)
    # A step for each vertex from each vertex would take minutes.
    assert local_scan(A, k=2**40).values.tolist() == [1] * n


def test_a_function_is_called_with_the_subgraph_of_each_neighbourhood():
    dense, other = drawn(12, 0.2, 3), drawn(12, 0.3, 4)
    for mode in MODES:
        for k in (0, 1, 2):
            near = reached(dense, k, mode)
            both = mode == "undirected"
            edges = (other + other.T != 0) * 1 if both else (other != 0) * 1
            found = local_scan(
                matrix(dense), matrix(other), k, mode=mode,
                function=lambda A: A.nvals + 100 * A.nrows,
            )  # fmt: skip
            expected = [edges[np.ix_([*each], [*each])].sum() + 100 * len(each) for each in near]
            assert found.values.tolist() == expected
    weighted = drawn(12, 0.3, 5, both=True, floats=True)
    sums = local_scan(
        matrix(weighted), weighted=True, function=lambda A: A.reduce_scalar("plus").get(0.0)
    )
    sets = [sorted(each) for each in reached(weighted, 1, "undirected")]
    assert sums.values == pytest.approx([weighted[np.ix_(each, each)].sum() for each in sets])
    given = gb.Matrix.from_coo([0, 0, 2], [1, 4, 3], nrows=3, ncols=12)
    found = local_scan(matrix(dense), neighbourhoods=given, function=lambda A: A.nrows)
    assert found.values.tolist() == [2, 0, 1]


def test_what_a_function_returns_is_checked():
    A = matrix(drawn(3, 0.9, 1))
    for function, error, text in (
        (7, DomainMismatch, "function=7 cannot be called"),
        (lambda _: "much", DomainMismatch, "returned a str for neighbourhood 0"),
        (lambda _: np.nan, InvalidValue, "returned NaN for neighbourhood 0"),
    ):
        with pytest.raises(error, match=text):
            local_scan(A, function=function)
