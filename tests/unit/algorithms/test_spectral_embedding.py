"""Eigenpairs of the normalised Laplacian against dense and sparse solvers of NumPy and SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from scipy.sparse import csgraph, csr_array, eye_array
from scipy.sparse.linalg import eigsh, lobpcg
from tests.helpers.data import load_graph
from tests.unit.algorithms import cases

import semira as gb
from semira import exceptions
from semira.algorithms import spectral_embedding

#: An eigenvalue is off by at most its residual; residuals stop at 1e-6, sums round at 1e-15.
CLOSE = {"rtol": 0, "atol": 2e-6}


def laplacian(A: gb.Matrix) -> csr_array:
    """Return SciPy's normalised Laplacian of the graph with both directions added up."""
    rows, cols, values = A.to_coo()
    positions = rows.astype(np.int32), cols.astype(np.int32)
    S = csr_array((values.astype(np.float64), positions), A.shape)
    return csr_array(csgraph.laplacian(S + S.T, normed=True))


def check(A: gb.Matrix, found, expected) -> None:
    """Compare values, and look at vectors by what they must satisfy: signs are free."""
    L, X = laplacian(A), found.vectors.to_dense()
    assert found.converged
    np.testing.assert_allclose(found.values, expected, **CLOSE)
    np.testing.assert_allclose(X.T @ X, np.eye(X.shape[1]), atol=1e-10)
    residuals = np.linalg.norm(L @ X - X * found.values, axis=0)
    assert residuals.max() <= 1.1e-6
    np.testing.assert_allclose(found.residuals, residuals, atol=1e-10)


def smallest(A: gb.Matrix, k: int) -> np.ndarray:
    return np.linalg.eigvalsh(laplacian(A).toarray())[:k]


@cases.shapes
def test_eigenpairs(graph, device):
    A = graph.matrix(device)
    k = min(3, graph.n)
    check(A, spectral_embedding(A, k), smallest(A, k))


@given(graph=cases.graphs())
@cases.examples(max_examples=25)
def test_eigenpairs_of_any_graph(device, graph):
    A = graph.matrix(device)
    k = min(2, graph.n)
    check(A, spectral_embedding(A, k), smallest(A, k))


def test_every_eigenpair(device):
    A = cases.SHAPES["grid"].matrix(device)
    check(A, spectral_embedding(A, 9), smallest(A, 9))


def test_a_cycle_has_known_values(device):
    # 1 - cos(2 pi j / n): twice each but the first.
    n = 12
    graph = cases.unweighted(n, [(i, (i + 1) % n) for i in range(n)])
    found = spectral_embedding(graph.matrix(device), 5)
    expected = 1 - np.cos(2 * np.pi * np.array([0, 1, 1, 2, 2]) / n)
    np.testing.assert_allclose(found.values, expected, **CLOSE)


def test_components_are_values_of_zero(device):
    # Two triangles and a single vertex; vectors of value 0 are constant times roots of degrees.
    A = cases.SHAPES["two triangles"].matrix(device)
    found = spectral_embedding(A, 4)
    np.testing.assert_allclose(found.values, [0, 0, 0, 1.5], **CLOSE)
    X = found.vectors.to_dense()[:, :3]
    for members in ([0, 2, 4], [1, 3, 5]):
        np.testing.assert_allclose(X[members], X[members][[0, 0, 0]], atol=1e-6)


def test_weights_and_both_directions_count(device):
    graph = cases.Graph(4, ((0, 1, 9.0), (1, 2, 0.5), (3, 2, 9.0), (2, 3, 1.0), (1, 1, 7.0)))
    A = graph.matrix(device)
    found = spectral_embedding(A, 2)
    check(A, found, smallest(A, 2))
    # The second vector separates what the light edge connects.
    x = found.vectors.to_dense()[:, 1]
    assert x[0] * x[1] > 0 > x[1] * x[2]
    assert x[2] * x[3] > 0


@pytest.mark.parametrize("dtype", ["BOOL", "INT8", "FP32"])
def test_every_real_dtype_is_a_graph(device, dtype):
    A = cases.SHAPES["grid"].matrix(device, dtype)
    found = spectral_embedding(A, 2)
    assert found.vectors.dtype == "FP64"
    np.testing.assert_allclose(found.values, smallest(A, 2), **CLOSE)


def test_too_few_iterations_are_told(device):
    A = cases.unweighted(40, [(i, i + 1) for i in range(39)]).matrix(device)
    found = spectral_embedding(A, 3, max_iterations=2)
    assert (found.iterations, found.converged) == (2, False)
    assert found.residuals.max() > 1e-6
    # The residuals are those of what is returned all the same.
    L, X = laplacian(A), found.vectors.to_dense()
    residuals = np.linalg.norm(L @ X - X * found.values, axis=0)
    np.testing.assert_allclose(found.residuals, residuals, atol=1e-10)


def test_the_seed_decides(device):
    A = cases.SHAPES["random"].matrix(device)
    first, again = (spectral_embedding(A, 2, seed=3, max_iterations=1) for _ in range(2))
    other = spectral_embedding(A, 2, seed=4, max_iterations=1)
    # Sums on several threads may be added in another order.
    np.testing.assert_allclose(first.residuals, again.residuals, rtol=1e-9)
    assert np.abs(first.residuals - other.residuals).max() > 1e-4


def test_graph_is_not_modified_and_products_are_told(device):
    A = cases.SHAPES["grid"].matrix(device)
    before = A.dup()
    found = spectral_embedding(A)
    assert A.isequal(before, check_dtype=True)
    assert {row.op for row in found.trace} == {"mxm"}
    assert found.vectors.device == device


@pytest.mark.parametrize(
    "options",
    [
        {"dimensions": 0},
        {"dimensions": 7},
        {"dimensions": 1.5},
        {"tol": -1},
        {"tol": np.nan},
        {"max_iterations": 0},
        {"seed": -1},
    ],
)
def test_bad_options(options):
    with pytest.raises(exceptions.InvalidValue):
        spectral_embedding(cases.SHAPES["path"].matrix("reference"), **options)


def test_bad_graphs():
    with pytest.raises(exceptions.DimensionMismatch, match=r"\(2, 3\)"):
        spectral_embedding(gb.Matrix("FP64", 2, 3))
    with pytest.raises(exceptions.InvalidValue, match=r"\[1, 0\]"):
        spectral_embedding(gb.Matrix("FP64", 0, 0))
    for weight, error in (
        (-1.0, "NegativeWeight"),
        (np.nan, "InvalidWeight"),
        (np.inf, "InvalidWeight"),
    ):
        A = cases.Graph(3, ((0, 1, weight),)).matrix("reference")
        with pytest.raises(exceptions.InvalidValue) as raised:
            spectral_embedding(A)
        assert raised.type.__name__ == error
    with pytest.raises(exceptions.DomainMismatch, match="FC64"):
        spectral_embedding(cases.SHAPES["path"].matrix("reference").dup("FC64"))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["karate", "jazz"])
def test_residuals_fall_to_rounding(device, name):
    if device == "reference":
        pytest.skip("the reference device is too slow for real graphs")
    A = gb.io.from_edges(load_graph(name)).to(device)
    for seed in range(4):
        found = spectral_embedding(A, 4, tol=1e-11, max_iterations=60, seed=seed)
        assert found.converged
        assert found.residuals.max() <= 1e-11


@pytest.mark.slow
@pytest.mark.parametrize("name", ["karate", "jazz", "email-Eu-core", "delaunay_n10"])
def test_real_graphs(device, name):
    if device == "reference":
        pytest.skip("the reference device is too slow for real graphs")
    A = gb.io.from_edges(load_graph(name))
    L, k = laplacian(A), 4
    # Shift and invert: the smallest values are the ones that it finds best.
    expected = np.sort(eigsh(L + 1e-3 * eye_array(A.nrows), k, sigma=0)[0]) - 1e-3
    found = spectral_embedding(A.to(device), k)
    check(A, found, expected)
    if A.nrows < 5 * (k + 4):
        return  # SciPy's would solve the dense problem instead, and warn
    start = np.random.default_rng(0).standard_normal((A.nrows, k + 4))
    theirs = lobpcg(L.tocsr(), start, largest=False, tol=1e-6, maxiter=500)[0]
    np.testing.assert_allclose(found.values, np.sort(theirs)[:k], **CLOSE)
