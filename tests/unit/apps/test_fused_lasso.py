"""The sparse fused lasso against golden values, the taut string, and SciPy's minimisers."""

from __future__ import annotations

import matplotlib.image
import numpy as np
import pytest
from scipy.optimize import minimize

import semira as gb
from semira.apps import fused_lasso
from semira.apps.lasso import memory
from semira.apps.lasso.files import read_values
from semira.apps.lasso.picture import draw, width_of
from semira.base.settings import override, settings
from semira.exceptions import (
    DimensionMismatch,
    DomainMismatch,
    FileFormatError,
    InvalidValue,
    InvalidWeight,
    MissingFile,
    NegativeWeight,
)

SOLVERS = ("cuts", "primal_dual")


@pytest.fixture
def device(device, monkeypatch):
    if device == "suitesparse":
        pytest.skip("its matrices have the kernels of cpu")
    # A GPU would leave networks as small as these to its host.
    monkeypatch.setattr("semira.algorithms.flows.drain._FEW_ARCS", 0)
    with gb.device(device):
        yield device


def matrix(edges, n, weights=1.0):
    rows, columns = np.array(edges, np.int64).reshape(-1, 2).T
    return gb.Matrix.from_coo(rows, columns, weights, nrows=n, ncols=n)


def grid_edges(height, width):
    ids = np.arange(height * width).reshape(height, width)
    across = np.stack([ids[:, :-1].ravel(), ids[:, 1:].ravel()], 1)
    return np.concatenate([across, np.stack([ids[:-1].ravel(), ids[1:].ravel()], 1)])


def objective(x, y, edges, weights, lambda1, lambda2):
    jumps = abs(x[edges[:, 0]] - x[edges[:, 1]])
    return 0.5 * ((x - y) ** 2).sum() + lambda1 * abs(x).sum() + lambda2 * (weights * jumps).sum()


def by_scipy(y, edges, weights, lambda1, lambda2):
    """Return the fit by the dual problem, a quadratic one in a box."""
    n, m = len(y), len(edges)
    D = np.zeros((m, n))
    D[np.arange(m), edges[:, 0]], D[np.arange(m), edges[:, 1]] = 1, -1

    def dual(u):
        left = y - D.T @ u
        return 0.5 * left @ left, -D @ left

    found = minimize(
        dual, np.zeros(m), jac=True, bounds=[(-lambda2 * w, lambda2 * w) for w in weights],
        method="L-BFGS-B", options={"maxiter": 10_000, "maxfun": 100_000, "ftol": 0, "gtol": 1e-11},
    )  # fmt: skip
    left = y - D.T @ found.x
    return np.sign(left) * np.maximum(abs(left) - lambda1, 0)


def by_taut_string(y, price):
    """Return the fit on a path: the derivative of the shortest string in a tube of sums.

    By dynamic programming over the tube's corners: of all strings between the corners the one whose
    pieces are least and greatest slopes that fit.
    """
    n = len(y)
    sums = np.concatenate([[0.0], np.cumsum(y)])
    low, high = sums - price, sums + price
    low[0] = high[0] = 0.0
    low[n] = high[n] = sums[n]
    x = np.empty(n)
    at, place = 0, 0.0
    while at < n:
        most, least = np.inf, -np.inf
        upper = lower = at
        for k in range(at + 1, n + 1):
            up, down = (high[k] - place) / (k - at), (low[k] - place) / (k - at)
            if down > most:  # touches the ceiling first
                x[at:upper], place, at = most, high[upper], upper
                break
            if up < least:
                x[at:lower], place, at = least, low[lower], lower
                break
            if up <= most:
                most, upper = up, k
            if down >= least:
                least, lower = down, k
        else:
            x[at:], at = (sums[n] - place) / (n - at), n
    return x


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_values_of_the_specification(device, solver):
    path = matrix([(i, i + 1) for i in range(5)], 6)
    given = {"solver": solver, "tolerance": 1e-13}
    found = fused_lasso(path, [1, 2, 3, 10, 11, 12], lambda2=1, **given)
    assert np.allclose(found.to_array(), [2, 2, 3, 10, 11, 11], atol=1e-5)
    found = fused_lasso(path, [1, 2, 3, 10, 11, 12], lambda1=0.5, lambda2=1, **given)
    assert np.allclose(found.to_array(), [1.5, 1.5, 2.5, 9.5, 10.5, 10.5], atol=1e-5)
    assert found.objective == pytest.approx(28.75, rel=1e-12)
    grid = matrix(grid_edges(4, 4), 16)
    y = np.array([(7 * i * i + 3 * i) % 13 - 6 for i in range(16)])
    found = fused_lasso(grid, y, lambda2=1.5, **given)
    a = 0.857142857
    assert np.allclose(
        found.to_array(), [-3, a, a, a, -0.5, a, a, -1.5, -0.5, a, a, 1, -1.75, -1.75, 1, 1],
        atol=1e-5,
    )  # fmt: skip
    found = fused_lasso(grid, y, lambda1=1, lambda2=1.5, **given)
    assert found.objective == pytest.approx(103.3125, rel=1e-12)
    assert found.converged


@pytest.mark.parametrize("seed", range(6))
def test_random_graphs_with_weights_against_scipy(device, seed):
    rng = np.random.default_rng(seed)
    n = 12
    edges = np.array([(i, j) for i in range(n) for j in range(i + 1, n) if rng.random() < 0.3])
    weights, y = rng.random(len(edges)) * 2, rng.normal(0, 3, n)
    lambda1, lambda2 = rng.random(2)
    expected = by_scipy(y, edges, weights, lambda1, lambda2)
    for solver in SOLVERS:
        found = fused_lasso(
            matrix(edges, n, weights), y, lambda1=lambda1, lambda2=lambda2, solver=solver,
            tolerance=1e-13,
        )  # fmt: skip
        assert np.allclose(found.to_array(), expected, atol=1e-5)
        assert found.objective == pytest.approx(
            objective(found.to_array(), y, edges, weights, lambda1, lambda2), rel=1e-13
        )
        assert found.objective <= objective(expected, y, edges, weights, lambda1, lambda2) + 1e-9
        # Weak duality: the gap is what is left to the optimum, or more.
        assert -1e-12 * found.objective <= found.gap <= 1e-12 * found.objective


@pytest.mark.parametrize("price", [0.3, 2.0, 20.0])
def test_paths_against_the_taut_string(device, price):
    n = 60
    y = np.random.default_rng(3).normal(0, 2, n) + np.repeat([0, 5, -2], 20)
    found = fused_lasso(matrix([(i, i + 1) for i in range(n - 1)], n), y, lambda2=price)
    assert np.allclose(found.to_array(), by_taut_string(y, price), atol=1e-9)


def test_the_gap_bounds_what_is_left_after_few_steps(device):
    rng = np.random.default_rng(0)
    edges, y = grid_edges(7, 6), rng.normal(0, 1, 42)
    best = fused_lasso(matrix(edges, 42), y, lambda1=0.1, lambda2=0.5, solver="cuts").objective
    for steps in (1, 50, 51):
        found = fused_lasso(
            matrix(edges, 42), y, lambda1=0.1, lambda2=0.5, solver="primal_dual", tolerance=0,
            max_iterations=steps,
        )  # fmt: skip
        assert best <= found.objective + 1e-12
        assert found.objective - best <= found.gap * (1 + 1e-12) + 1e-12
        assert not found.converged
        assert found.iterations == 50 * -(-steps // 50)


@pytest.mark.parametrize("solver", SOLVERS)
def test_edges_count_once_and_loops_never(device, solver):
    y = [1.0, 2.0, 6.0]
    once = fused_lasso(matrix([(0, 1), (1, 2)], 3, [2.0, 1.0]), y, solver=solver)
    twice = matrix([(0, 1), (1, 0), (2, 1), (1, 2), (1, 1)], 3, [2.0, 0.5, 1.0, 1.0, 9.0])
    assert fused_lasso(twice, y, solver=solver).objective == once.objective
    plain = fused_lasso(twice, y, solver=solver, weighted=False)
    assert plain.objective == fused_lasso(matrix([(0, 1), (1, 2)], 3), y, solver=solver).objective


@pytest.mark.parametrize("solver", SOLVERS)
def test_limits_of_the_prices(device, solver):
    edges, y = grid_edges(4, 5), np.random.default_rng(1).normal(2, 1, 20)
    A = matrix(edges, 20)
    free = fused_lasso(A, y, lambda2=0, solver=solver)
    assert np.allclose(free.to_array(), y, atol=1e-12)
    fused = fused_lasso(A, y, lambda2=1e6, solver=solver, tolerance=1e-12)
    assert np.allclose(fused.to_array(), y.mean(), atol=1e-5)
    if solver == "cuts":
        assert fused.levels == 1
        assert fused.iterations == 1
    none = fused_lasso(A, y, lambda1=100, lambda2=0.1, solver=solver)
    assert not none.to_array().any()
    assert none.facts()["zeros"] == 20


@pytest.mark.parametrize("solver", SOLVERS)
def test_small_and_empty_graphs(device, solver):
    assert fused_lasso(matrix([], 1), [3.0], lambda1=1, solver=solver).to_array().tolist() == [2.0]
    assert fused_lasso(matrix([], 3), [3.0, -1, 0], solver=solver).to_array().tolist() == [3, -1, 0]
    assert fused_lasso(matrix([], 0), [], solver=solver).objective == 0
    zeros = fused_lasso(matrix([(0, 1)], 2), [0, 0], solver=solver)
    assert zeros.converged
    assert zeros.relative_gap == 0


@pytest.mark.parametrize("scale", [1e-200, 1e-9, 1e12, 1e150])
def test_scales(device, scale):
    edges, y = grid_edges(4, 5), np.random.default_rng(1).normal(2, 1, 20)
    for solver, tolerance in (("cuts", 1e-12), ("primal_dual", 1e-7)):
        one = fused_lasso(matrix(edges, 20), y, lambda2=0.5, solver=solver)
        other = fused_lasso(matrix(edges, 20), y * scale, lambda2=0.5 * scale, solver=solver)
        assert np.allclose(other.to_array(), one.to_array() * scale, rtol=tolerance, atol=0)
        assert one.iterations == other.iterations
        assert other.relative_gap <= 1e-6


def test_kinds_of_values(device):
    A = matrix([(0, 1), (1, 2)], 3)
    expected = fused_lasso(A, [1, 5, 3]).to_array()
    for y in (np.array([1, 5, 3], np.int8), gb.Vector.from_dense([1, 5, 3]), (1.0, 5.0, 3.0)):
        assert fused_lasso(A, y).to_array().tolist() == expected.tolist()
    found = fused_lasso(A, [1, 5, 3])
    assert found.x.to_dense().tolist() == expected.tolist()
    assert found.table()["given"].tolist() == [1, 5, 3]
    assert "cuts" in repr(found) or "primal_dual" in repr(found)


def test_every_device_and_number_of_threads_computes_the_same_cuts():
    rng = np.random.default_rng(5)
    edges, y = grid_edges(60, 70), rng.normal(0, 1, 4200)
    before, found = settings(), []
    for threads in (1, 2, 7):
        override(threads=threads)
        with gb.device("cpu"):
            found.append(fused_lasso(matrix(edges, 4200), y, lambda2=0.3).to_array().tobytes())
    override(threads=before.threads)
    assert found[0] == found[1] == found[2]


def test_devices_agree_with_the_reference(device):
    edges, y = grid_edges(9, 8), np.random.default_rng(2).normal(0, 1, 72)
    weights = np.random.default_rng(3).random(len(edges)) + 0.5
    for given in ({"solver": "cuts"}, {"solver": "primal_dual", "tolerance": 1e-4}):
        for weight in (1.0, weights):
            with gb.device("reference"):
                expected = fused_lasso(matrix(edges, 72, weight), y, lambda2=0.3, **given)
            found = fused_lasso(matrix(edges, 72, weight), y, lambda2=0.3, **given)
            assert found.to_array().tobytes() == expected.to_array().tobytes()
            # The cuts of a GPU find another flow.
            assert found.gap == expected.gap or found.solver == "cuts"


def test_primal_dual_steps_find_the_parts_of_the_cuts(device):
    """Parts of equal values are exactly those of the cuts, long before single values are equal."""
    rng = np.random.default_rng(7)
    edges, y = grid_edges(10, 10), np.repeat([0.0, 2, -1, 4], 25) + rng.normal(0, 0.3, 100)
    cuts, steps = (
        fused_lasso(matrix(edges, 100), y, lambda1=0.05, lambda2=0.5, solver=solver)
        for solver in SOLVERS
    )
    assert 1 < steps.levels == cuts.levels < 50
    assert np.allclose(steps.to_array(), cuts.to_array(), atol=1e-3)
    assert steps.converged


def test_wrong_input(device):
    A = matrix([(0, 1), (1, 2)], 3)
    with pytest.raises(DimensionMismatch, match="4"):
        fused_lasso(A, [1, 2, 3, 4])
    with pytest.raises(InvalidValue, match=r"y\[1\]=nan"):
        fused_lasso(A, [1, np.nan, 3])
    with pytest.raises(DomainMismatch, match="y is of"):
        fused_lasso(A, ["a", "b", "c"])
    with pytest.raises(InvalidValue, match="lacks 1"):
        fused_lasso(A, gb.Vector.from_coo([0, 2], [1.0, 2.0], size=3))
    with pytest.raises(InvalidValue, match="lambda2=-1"):
        fused_lasso(A, [1, 2, 3], lambda2=-1)
    with pytest.raises(InvalidValue, match="lambda1='x'"):
        fused_lasso(A, [1, 2, 3], lambda1="x")
    with pytest.raises(InvalidValue, match="solver='admm'"):
        fused_lasso(A, [1, 2, 3], solver="admm")
    with pytest.raises(InvalidValue, match="max_iterations"):
        fused_lasso(A, [1, 2, 3], max_iterations=0)
    with pytest.raises(NegativeWeight):
        fused_lasso(matrix([(0, 1)], 3, -1.0), [1, 2, 3])
    with pytest.raises(InvalidWeight):
        fused_lasso(matrix([(0, 1)], 3, np.nan), [1, 2, 3])
    with pytest.raises(InvalidValue, match="infinite"):
        fused_lasso(matrix([(0, 1)], 3, np.inf), [1, 2, 3])
    with pytest.raises(DimensionMismatch):
        fused_lasso(gb.Matrix("FP64", 2, 3), [1, 2])
    with pytest.raises(DomainMismatch):
        fused_lasso(np.eye(3), [1, 2, 3])


def test_what_does_not_fit_is_refused(monkeypatch):
    monkeypatch.setattr("semira.apps.arrays.free_memory", lambda _: 10)
    with pytest.raises(gb.exceptions.OutOfMemory, match="10 are free"):
        fused_lasso(matrix([(0, 1)], 2), [1, 2])
    assert memory(10, 20) > memory(10, 10) > memory(5, 10)


def test_files(tmp_path):
    def read(text, size, labels=None, name="y.txt"):
        path = tmp_path / name
        path.write_text(text)
        return read_values(str(path), size, labels).tolist()

    assert read("# image\n1 2.5\n-3,4e0\n", 4) == [1, 2.5, -3, 4]
    names = np.array(["a", "b"], object)
    assert read("b 2\na, 1\n", 2, names) == [1, 2]
    assert read("3\n4\n", 2, names) == [3, 4]
    np.save(tmp_path / "y.npy", np.arange(6).reshape(2, 3))
    assert read_values(str(tmp_path / "y.npy"), 6).tolist() == [0, 1, 2, 3, 4, 5]
    for text, size, told in (
        ("1 2", 3, "2 values"), ("1\nx\n", 2, "line 2: 'x'"), ("1 2 3", 2, "3 values"),
    ):  # fmt: skip
        with pytest.raises(FileFormatError, match=told):
            read(text, size)
    with pytest.raises(FileFormatError, match="1 of 2 names"):
        read("a 1\n", 2, names)
    with pytest.raises(MissingFile):
        read_values(str(tmp_path / "none"), 1)


def test_pictures(tmp_path):
    with gb.device("cpu"):
        grid = matrix(grid_edges(5, 7), 35)
        assert width_of(grid) == 7
        path = matrix([(i, i + 1) for i in range(9)], 10)
        assert width_of(path) == 0
        assert width_of(matrix([(0, 1), (1, 2), (2, 3), (0, 3)], 4)) == 0
        for name, A in (("grid", grid), ("path", path)):
            found = fused_lasso(A, np.arange(A.nrows) % 5, lambda2=0.4)
            draw(found, A, str(tmp_path / f"{name}.png"))
            assert matplotlib.image.imread(tmp_path / f"{name}.png").std() > 0.01


@pytest.mark.parametrize("size", [5e-324, 1e-300, 1e300])
def test_values_at_the_ends_of_the_floats_warn_of_nothing(device, size):
    with gb.device(device):
        A = gb.Matrix.from_coo([0], [1], 1.0, nrows=2, ncols=2)
    for solver in ("cuts", "primal_dual"):
        found = gb.apps.fused_lasso(A, [size, 0.0], lambda2=size / 4, solver=solver)
        assert found.to_array() == pytest.approx([0.75 * size, 0.25 * size], rel=1e-3, abs=5e-324)
