"""Projections and filtered products against NetworkX, SciPy, and plain Python."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from tests.helpers import chesapeake
from tests.helpers.every import every

import semira as gb
from semira.apps import (
    filtered_product,
    product_blocks,
    product_trace,
    project,
    project_blocks,
)
from semira.apps.projections import memory, picture
from semira.base.settings import override, restore
from semira.exceptions import (
    DimensionMismatch,
    DomainMismatch,
    InvalidValue,
    InvalidWeight,
    OutOfMemory,
)

BIPARTITE = nx.algorithms.bipartite


@pytest.fixture(autouse=True)
def on_device(device):
    with gb.device(device):
        yield


def drawn(rows, columns, density=0.2, seed=0, kind=np.int64):
    random = np.random.default_rng(seed)
    there = random.random((rows, columns)) < density
    values = random.integers(1, 6, (rows, columns)) * there
    return sp.csr_array(values.astype(kind))


def matrix(scipy_matrix):
    found = sp.csr_array(scipy_matrix)
    found.sort_indices()
    return gb.Matrix.from_csr(found.indptr, found.indices, found.data, ncols=found.shape[1])


def dense(made):
    return made.to_dense(fill_value=0)


def graph_of(bipartite):
    rows, columns = bipartite.nonzero()
    graph = nx.Graph()
    graph.add_nodes_from(("r", i) for i in range(bipartite.shape[0]))
    graph.add_nodes_from(("c", j) for j in range(bipartite.shape[1]))
    graph.add_edges_from((("r", i), ("c", j)) for i, j in zip(rows, columns, strict=True))
    return graph


ORACLES = {
    "none": BIPARTITE.projected_graph,
    "count": BIPARTITE.weighted_projected_graph,
    "ratio": lambda g, nodes: BIPARTITE.weighted_projected_graph(g, nodes, ratio=True),
    "overlap": lambda g, nodes: BIPARTITE.overlap_weighted_projected_graph(g, nodes, jaccard=False),
    "jaccard": BIPARTITE.overlap_weighted_projected_graph,
    "collaboration": BIPARTITE.collaboration_weighted_projected_graph,
}


@every("onto", ["rows", "columns"])
@every("weight", ORACLES)
def test_weights_are_those_of_networkx(weight, onto):
    given = drawn(17, 23)
    side, n = ("r", 17) if onto == "rows" else ("c", 23)
    expected = ORACLES[weight](graph_of(given), [(side, i) for i in range(n)])
    found = project(matrix(given), onto, weight=weight)
    wanted = nx.to_numpy_array(expected, [(side, i) for i in range(n)])
    assert found.matrix.nvals == 2 * expected.number_of_edges()
    assert dense(found.matrix) == pytest.approx(wanted, rel=1e-14)
    assert found.matrix.dtype == {"none": "BOOL", "count": "INT64"}.get(weight, "FP64")


FUNCTIONS = {
    "product": lambda a, b: a * b,
    "first": lambda a, b: a,
    "quotient": lambda a, b: a / b,
    "share": lambda a, b: a / (a + b),
    "min": min,
}


@every("kind", [np.int64, np.float64])
@every("weight", FUNCTIONS)
def test_weights_by_values_are_sums_in_order(weight, kind):
    given = drawn(11, 9, 0.4, kind=kind)
    values = given.toarray().tolist()
    expected = np.zeros((9, 9))
    for u in range(9):
        for v in range(9):
            pairs = [(row[u], row[v]) for row in values if row[u] and row[v] and u != v]
            # Not `sum`, which makes up for rounding from Python 3.12 on.
            for pair in pairs:
                expected[u, v] += FUNCTIONS[weight](*pair)
    found = project(matrix(given), weight=weight).matrix
    assert dense(found).tolist() == expected.tolist()


def test_cosine_is_that_of_columns():
    given = drawn(12, 8, 0.5, kind=np.float64)
    full = given.toarray()
    lengths = np.sqrt((full**2).sum(0))
    expected = full.T @ full / np.outer(lengths, lengths)
    found = project(matrix(given), weight="cosine", keep_diagonal=True).matrix
    assert dense(found) == pytest.approx(expected, rel=1e-13)


def test_a_function_is_summed_and_filtered():
    given = drawn(11, 9, 0.4)
    named = project(matrix(given), weight="product", top=2, threshold=3)
    for function in (lambda a, b: a * b, gb.binary.times):
        found = project(matrix(given), function=function, top=2, threshold=3)
        assert found.matrix.isequal(named.matrix)
        blocks = list(project_blocks(matrix(given), function=function, memory=800))
        assert sum(block.nvals for _, block in blocks) == project(matrix(given)).matrix.nvals
        assert len(blocks) > 1
    assert found.weight == "function"


def test_the_counts_of_the_specification():
    A = gb.Matrix.from_coo(*chesapeake.edges(), 1, nrows=39, ncols=39)
    found = project(A)
    assert found.matrix.nvals == 1372
    assert found.facts()["lost_pairs"] == 0
    told = {(0, 1): 9, (0, 2): 1, (0, 3): 2, (38, 35): 28, (38, 36): 2, (38, 37): 18}
    assert {place: found.matrix.get(*place) for place in told} == told
    assert found.matrix.reduce_scalar(gb.monoid.plus).new().value == 4096
    whole = project(A, keep_diagonal=True)
    assert (whole.matrix.nvals, whole.facts()["lost_pairs"]) == (1411, 0)
    assert project(A, "rows").matrix.isequal(found.matrix)


# filters ------------------------------------------------------------------------------------------
def kept(row, columns, top, threshold):
    """Return the columns that a row keeps: the greatest values, of equal ones the first columns."""
    order = sorted(columns, key=lambda j: (-row[j], j))
    return sorted([j for j in order if row[j] >= threshold][:top])


@every("kind", [np.int64, np.float64])
@every("top", [1, 3, 100])
@every("width", [7, 70, 2100])
def test_a_row_keeps_its_greatest_entries(width, top, kind):
    left, right = drawn(6, 30, 0.5, 1, kind), drawn(30, width, 40 / (width + 100), 2, kind)
    left.data -= 2
    right.data -= 1
    full = left.toarray() @ right.toarray()
    pattern = [
        sorted({j for k in left.indices[slice(*left.indptr[i : i + 2])]
                for j in right.indices[slice(*right.indptr[k : k + 2])]})
        for i in range(6)
    ]  # fmt: skip
    for threshold in (-np.inf, 2):
        found = filtered_product(
            matrix(left), matrix(right), top=top, threshold=threshold, drop_diagonal=True
        )
        for i in range(6):
            columns = [j for j in pattern[i] if j != i]
            expected = kept(full[i], columns, top, threshold)
            indices, values = found[i, :].new().to_coo()
            assert indices.tolist() == expected
            assert values.tolist() == full[i][expected].tolist()


def test_a_threshold_alone():
    given = drawn(40, 50, 0.2)
    full = (given.T @ given).toarray()
    np.fill_diagonal(full, 0)
    found = project(matrix(given), weight="product", threshold=30).matrix
    assert dense(found).tolist() == np.where(full >= 30, full, 0).tolist()


def test_blocks_are_the_rows_of_the_whole():
    given = drawn(30, 40, 0.2)
    whole = project(matrix(given)).matrix
    blocks = list(project_blocks(matrix(given), memory=5_000))
    assert len(blocks) > 2
    assert [first for first, _ in blocks] == np.cumsum([0, *(b.nrows for _, b in blocks)])[
        :-1
    ].tolist()
    for first, block in blocks:
        assert block.isequal(whole[first : first + block.nrows, :].new())
    limited = list(project_blocks(matrix(given), memory=3_000, top=2))
    best = project(matrix(given), top=2).matrix
    assert sum(block.nvals for _, block in limited) == best.nvals
    with pytest.raises(OutOfMemory, match=r"row 0 of the product takes \d+ bytes"):
        next(project_blocks(matrix(given), memory=400))


def test_a_result_that_does_not_fit_is_refused(device, monkeypatch):
    if device != "cpu":
        pytest.skip("counts as the others do")
    A = gb.Matrix.from_coo(np.zeros(2500, int), np.arange(2500), 1, nrows=1, ncols=2500)
    monkeypatch.setattr("semira.apps.arrays.free_memory", lambda _device: 1 << 20)
    told = (
        r"rows of the product take 74,9\d\d,\d+ bytes, and 1,048,576 are free on cpu: keep less wi"
    )
    with pytest.raises(OutOfMemory, match=told):
        project(A)
    assert project(A, top=2).matrix.nvals == 5000


def test_any_number_of_threads_makes_the_same(device):
    if device != "cpu":
        pytest.skip("has no threads to set")
    given = drawn(300, 400, 0.05, kind=np.float64)
    given.data /= 7
    found = []
    for threads in (1, 2, 7):
        before = override(threads=threads)
        try:
            found.append(project(matrix(given), weight="product", top=20).matrix)
        finally:
            restore(before)
    assert found[0].isequal(found[1])
    assert found[0].isequal(found[2])


@every("shape", [(0, 0), (1, 1), (0, 3), (3, 0), (5, 4)])
def test_matrices_without_entries(shape):
    A = gb.Matrix(int, *shape)
    for weight in ("count", "none", "jaccard", "collaboration", "cosine", "product"):
        found = project(A, "rows", weight=weight)
        assert (found.matrix.shape, found.matrix.nvals) == ((shape[0], shape[0]), 0)
        assert len(found.table()["vertex"]) == 0
    assert list(project_blocks(A, "rows", top=1)) == [] or shape[0] > 0


def test_one_entry_and_an_iso_matrix():
    A = gb.Matrix.from_coo([0], [0], 3, nrows=1, ncols=1)
    assert project(A).matrix.nvals == 0
    assert project(A, weight="product", keep_diagonal=True).matrix.to_dicts() == {0: {0: 9}}
    B = gb.Matrix.from_coo([0, 0, 1], [0, 1, 1], 2)
    assert project(B, weight="product").matrix.to_dicts() == {0: {1: 4}, 1: {0: 4}}


def test_large_integers_stay_exact():
    A = gb.Matrix.from_coo([0, 0], [0, 1], [2**31 + 1, 2**31 + 3])
    assert project(A, weight="product").matrix.get(0, 1) == (2**31 + 1) * (2**31 + 3)


def test_the_result_tells_itself(tmp_path):
    found = project(matrix(drawn(6, 5, 0.5)))
    assert repr(found).startswith("Projection(vertices=5, edges=")
    table = found.table()
    assert list(table) == ["vertex", "neighbour", "weight"]
    assert found.matrix.symmetric
    assert list(project(matrix(drawn(6, 5, 0.5)), weight="none").table()) == ["vertex", "neighbour"]
    picture.draw(found, None, str(tmp_path / "a.svg"))
    assert (tmp_path / "a.svg").stat().st_size > 1000
    assert memory(matrix(drawn(6, 5)), top=3) > memory(matrix(drawn(6, 5)))


# what is refused ----------------------------------------------------------------------------------
@every(
    ("options", "message"),
    [
        ({"onto": "both"}, "'both' must be 'columns' or 'rows'"),
        ({"weight": "number"}, "weight='number' must be one of count, none"),
        ({"function": 3}, "multiply=3 must be a name, a function"),
        ({"top": 0}, "top=0 must be from 1"),
        ({"threshold": "much"}, "threshold='much' must be a number"),
        ({"threshold": np.nan}, "threshold=nan must be a number"),
        ({"memory": -1}, "memory=-1 must be from 1"),
        ({"weight": "none", "top": 3}, "leaves nothing for top= and threshold="),
    ],
)
def test_what_is_out_of_range_is_refused(options, message):
    with pytest.raises(InvalidValue, match=message):
        project(matrix(drawn(6, 5)), **options)


def test_operands_that_do_not_fit_are_refused():
    A = matrix(drawn(6, 5))
    with pytest.raises(DimensionMismatch, match="5 columns of the left operand meet 6 rows"):
        filtered_product(A, A)
    with pytest.raises(DomainMismatch, match="project needs a Matrix, got list"):
        project([[1]])
    with pytest.raises(InvalidWeight, match="a value is NaN"):
        project(gb.Matrix.from_coo([0, 0], [0, 1], [np.nan, 1]), weight="product", top=1)
    large = gb.Matrix.from_coo([0, 0], [0, 1], np.array([2**63, 1], np.uint64))
    with pytest.raises(InvalidValue, match="a value is 9223372036854775808, but sums of integers"):
        project(large, weight="product")
    with pytest.raises(InvalidValue, match="belong together"):
        filtered_product(A, A.T.new(), weigh="overlap")
    with pytest.raises(InvalidValue, match="weigh='sum' must be one of overlap"):
        filtered_product(A, A.T.new(), weigh="sum")
    with pytest.raises(DimensionMismatch, match=r"left has shape \(5,\); it needs 6 numbers"):
        filtered_product(A, A.T.new(), weigh="overlap", left=np.ones(5), right=np.ones(6))
    with pytest.raises(InvalidValue, match="leaves nothing to compare"):
        next(product_blocks(A, A.T.new(), "exists", top=1))


# sums ---------------------------------------------------------------------------------------------
def test_the_trace_of_a_product():
    X, Y = drawn(7, 9, 0.4, 1), drawn(7, 9, 0.4, 2)
    assert product_trace(matrix(X), matrix(Y)) == np.trace((X @ Y.T).toarray())
    assert product_trace(gb.Matrix(int, 3, 3), gb.Matrix(int, 3, 3)) == 0
    with pytest.raises(DimensionMismatch, match="shapes"):
        product_trace(matrix(X), matrix(Y.T))
    with pytest.raises(DomainMismatch, match="product_trace needs a Matrix"):
        product_trace([1], [1])


def test_a_function_over_no_rows_makes_no_rows(device):
    with gb.device(device):
        A = gb.Matrix("FP64", 0, 3)
        found = filtered_product(A, gb.Matrix("FP64", 3, 4), lambda x, y: x + y)
        assert (found.shape, found.nvals) == ((0, 4), 0)
        assert project(A, "rows", function=lambda x, y: x * y).matrix.shape == (0, 0)
