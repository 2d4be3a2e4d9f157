"""HITS against eigenvectors, dense iterations and recorded scores."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.helpers.data import load_graph, load_reference
from tests.helpers.every import every
from tests.unit.algorithms import cases

import semira as gb
from semira import exceptions
from semira.algorithms import hits


def dense(graph: cases.Graph, *, weighted: bool) -> np.ndarray:
    A = np.zeros((graph.n, graph.n))
    for i, j, w in graph.edges:
        A[i, j] = w if weighted else 1.0
    return A


def summing_to_one(scores: np.ndarray) -> np.ndarray:
    total = scores.sum()
    return scores / total if total else scores


def limit(A: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return hubs and authorities: equal scores, seen from the leading eigenvectors of A A'."""
    values, vectors = np.linalg.eigh(A @ A.T)
    leading = vectors[:, values > values[-1] * (1 - 1e-9) - 1e-12]
    hub = leading @ (leading.T @ np.ones(len(A)))
    if not values[-1] > 1e-12:
        hub[:] = 0
    return summing_to_one(hub), summing_to_one(A.T @ hub)


@every("weighted", [False, True])
@cases.shapes
def test_scores(graph, device, weighted):
    found = hits(graph.matrix(device), tol=1e-13, max_iterations=500, weighted=weighted)
    assert found.converged
    hub, authority = limit(dense(graph, weighted=weighted))
    # The slowest of these graphs shrinks errors by 2/3 an iteration: 2e-13 are left, and rounding.
    np.testing.assert_allclose(found.hub.to_dense(), hub, atol=1e-12)
    np.testing.assert_allclose(found.authority.to_dense(), authority, atol=1e-12)


@given(graph=cases.graphs(), weighted=st.booleans(), iterations=st.integers(1, 9))
@cases.examples(max_examples=40)
def test_iterations_of_any_graph(device, graph, weighted, iterations):
    A = dense(graph, weighted=weighted)
    hub = np.full(graph.n, 1 / graph.n)
    done = 0
    change = np.inf
    while done < iterations and change > 0:
        authority = summing_to_one(A.T @ hub)
        hub, before = summing_to_one(A @ authority), hub
        change = np.abs(hub - before).sum()
        done += 1
    found = hits(graph.matrix(device), 0, iterations, weighted=weighted)
    # Sums in another order: a few units of the last place in each of at most nine iterations.
    np.testing.assert_allclose(found.hub.to_dense(), hub, atol=1e-13)
    np.testing.assert_allclose(found.authority.to_dense(), authority, atol=1e-13)


def test_iterations_can_be_fixed(device):
    found = hits(cases.SHAPES["random"].matrix(device), tol=0, max_iterations=4)
    assert (found.iterations, found.converged, len(found.trace)) == (4, False, 8)
    assert found.last_change.value > 0


def test_it_pulls_unless_told_otherwise(device):
    A = cases.SHAPES["random"].matrix(device)
    assert {row.method for row in hits(A).trace} == {"pull"}
    pushed = hits(A, direction="push")
    assert {row.method for row in pushed.trace} == {"push"}
    assert pushed.hub.isclose(hits(A).hub, rel_tol=1e-12)


def test_values_are_not_read_unless_weighted(device):
    with gb.device(device):
        A = gb.Matrix.from_coo([0, 1, 1], [1, 0, 2], [-5.0, np.nan, 0.0], nrows=3, ncols=3)
        B = gb.Matrix.from_coo([0, 1, 1], [1, 0, 2], nrows=3, ncols=3)
    assert hits(A).hub.isclose(hits(B).hub)
    with pytest.raises(exceptions.InvalidWeight, match="nan"):
        hits(A, weighted=True)
    with pytest.raises(exceptions.NegativeWeight, match="-2"):
        hits(cases.Graph(2, ((0, 1, -2.0),)).matrix(device, "INT16"), weighted=True)


@pytest.mark.parametrize("dtype", ["BOOL", "INT8", "FP32"])
def test_every_dtype_is_a_graph(device, dtype):
    graph = cases.SHAPES["grid"]
    found = hits(graph.matrix(device, dtype), tol=1e-12, max_iterations=500)
    assert found.hub.dtype == "FP64"
    np.testing.assert_allclose(
        found.hub.to_dense(), limit(dense(graph, weighted=False))[0], atol=1e-10
    )


def test_single_precision(device):
    graph = cases.SHAPES["random"]
    found = hits(graph.matrix(device), tol=1e-5, dtype="FP32")
    assert found.converged
    assert found.hub.dtype == found.authority.dtype == "FP32"
    # Errors shrink by 0.56 an iteration: 1.3e-5 are left, and rounding of numbers below 1.
    np.testing.assert_allclose(
        found.hub.to_dense(), limit(dense(graph, weighted=False))[0], atol=2e-5
    )


def test_no_vertices(device):
    with gb.device(device):
        found = hits(gb.Matrix("BOOL", 0, 0))
    assert found.hub.size == found.authority.size == 0


@pytest.mark.parametrize(
    "options",
    [{"tol": -1e-3}, {"tol": float("nan")}, {"max_iterations": 0}, {"max_iterations": 2.5}],
)
def test_bad_options(options):
    with pytest.raises(exceptions.InvalidValue):
        hits(cases.SHAPES["path"].matrix("reference"), **options)


def test_bad_dtype_and_shape():
    with pytest.raises(exceptions.DomainMismatch, match="INT64"):
        hits(cases.SHAPES["path"].matrix("reference"), dtype="INT64")
    with pytest.raises(exceptions.DimensionMismatch, match=r"\(2, 3\)"):
        hits(gb.Matrix("BOOL", 2, 3))


def test_no_host_reads(monkeypatch):
    A = cases.SHAPES["random"].matrix("reference")
    with cases.loops_without_host_reads(monkeypatch) as loops:
        found = hits(A)
    assert len(loops) == 2
    assert found.converged


@pytest.mark.slow
def test_recorded_scores(device):
    # GraphScope's scores of the undirected graph, which are right to a few 1e-9.
    if device == "reference":
        pytest.skip("the reference is made of dictionaries")
    edges = load_graph("p2p-31")
    recorded = load_reference("p2p-31-ref")["gs_hits"]
    with gb.device(device):
        A = gb.Matrix.from_coo(edges.rows, edges.cols, nrows=edges.nrows, ncols=edges.ncols)
    found = hits(A.ewise_add(A.T, "any").new(), tol=1e-9, max_iterations=500)
    np.testing.assert_allclose(found.hub.to_dense(), recorded[:, 0], atol=5e-9)
    np.testing.assert_allclose(found.authority.to_dense(), recorded[:, 1], atol=5e-9)
