"""Linear assignment against SciPy's, and the proof of each result against the costs themselves."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment as scipys
from scipy.sparse.csgraph import min_weight_full_bipartite_matching
from tests.helpers.every import every

import semira as gb
from semira.algorithms import linear_sum_assignment
from semira.apps.assignment import memory, solve
from semira.base.settings import override, restore
from semira.exceptions import DimensionMismatch, DomainMismatch, InvalidValue, OutOfMemory, Panic

METHODS = ("paths", "auction")


@pytest.fixture
def device(device):
    if device == "suitesparse":
        pytest.skip("its kernels are those of cpu")
    with gb.device(device):
        yield device


@pytest.fixture(params=METHODS)
def method(request, device):
    if device == "cuda" and request.param == "paths":
        pytest.skip("one path after the other is for hosts")
    return request.param


def prove(found, costs, maximize=False):
    """Check a result by its dual values, without another solver."""
    rows, columns = costs.shape
    assert found.row_ind.dtype == found.col_ind.dtype == np.int64
    assert (np.diff(found.row_ind) > 0).all()
    assert len(set(found.col_ind.tolist())) == len(found) == min(rows, columns)
    assert np.array_equal(found.costs, costs[found.row_ind, found.col_ind])
    sign, finite = (-1 if maximize else 1), np.isfinite(costs)
    scale = np.abs(costs[finite]).max(initial=0.0)
    slack = sign * (costs - found.u[:, None] - found.v)[finite]
    assert slack.min(initial=0.0) >= -1e-9 * scale
    # Who is left over has no share, and nobody pays for more than there is.
    if rows != columns:
        longer, taken = (found.u, found.row_ind) if rows > columns else (found.v, found.col_ind)
        assert (sign * longer).max(initial=0.0) <= 1e-9 * scale
        assert np.abs(np.delete(longer, taken)).max(initial=0.0) <= 1e-9 * scale
    assert found.bound == found.u.sum() + found.v.sum()
    assert found.gap == abs(found.costs.sum() - found.bound)
    assert found.gap <= 1e-9 * (np.abs(found.costs).sum() + scale)


def drawn(kind, shape, seed=0):
    random = np.random.default_rng(seed)
    if kind == "uniform":
        return random.random(shape)
    if kind == "few values":
        return random.integers(-3, 4, shape)
    if kind == "products":
        return np.outer(np.arange(shape[0]) - 2.0, np.arange(shape[1]) + 1.0)
    if kind == "single":
        return random.random(shape).astype(np.float32) * 1e-20
    return random.integers(-(2**40), 2**40, shape)


KINDS = ("uniform", "few values", "products", "single", "wide")
SHAPES = ((1, 1), (1, 4), (5, 1), (6, 6), (4, 11), (11, 4), (12, 12))


@pytest.mark.parametrize("maximize", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_sums_are_those_of_scipy(device, method, kind, maximize):
    for number, shape in enumerate(SHAPES):
        costs = drawn(kind, shape, number)
        found = linear_sum_assignment(costs, maximize, method=method)
        rows, columns = scipys(costs, maximize)
        assert found.cost == pytest.approx(float(costs[rows, columns].sum()), rel=1e-9)
        assert found.method == method
        prove(found, costs, maximize)


def test_the_only_best_pairs_are_found_everywhere(device, method):
    costs = np.random.default_rng(5).random((25, 25))
    row_ind, col_ind = linear_sum_assignment(costs, method=method)
    rows, columns = scipys(costs)
    assert row_ind.tolist() == rows.tolist()
    assert col_ind.tolist() == columns.tolist()


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_small_costs_are_assigned_as_by_scipy(data):
    rows, columns = (data.draw(st.integers(1, 6)) for _ in range(2))
    values = st.integers(-4, 4) | st.just(np.inf)
    costs = np.array(
        data.draw(st.lists(values, min_size=rows * columns, max_size=rows * columns)), float
    ).reshape(rows, columns)
    try:
        best = costs[scipys(costs)].sum()
    except ValueError:
        best = None
    with gb.device("cpu"):
        for method in METHODS:
            if best is None:
                with pytest.raises(InvalidValue, match="infeasible"):
                    linear_sum_assignment(costs, method=method)
            else:
                found = linear_sum_assignment(costs, method=method)
                assert found.cost == best
                prove(found, costs)


@pytest.mark.parametrize("maximize", [False, True])
@pytest.mark.parametrize("shape", [(14, 14), (9, 14), (14, 9)])
def test_entries_that_are_not_there_cost_nothing(device, method, shape, maximize):
    given = sp.random(*shape, 0.3, "csr", random_state=2, data_rvs=lambda k: np.arange(k) % 7 - 3.0)
    A = gb.Matrix.from_csr(given.indptr, given.indices, given.data, ncols=shape[1])
    dense = given.toarray()
    found = linear_sum_assignment(A, maximize, method=method)
    assert found.cost == dense[scipys(dense, maximize)].sum()
    prove(found, dense, maximize)


@pytest.mark.parametrize("shape", [(12, 12), (8, 12), (12, 8)])
def test_entries_that_are_not_there_may_be_forbidden(device, method, shape):
    given = sp.random(*shape, 0.5, "csr", random_state=1, data_rvs=lambda k: np.arange(k) % 5 + 1.0)
    A = gb.Matrix.from_csr(given.indptr, given.indices, given.data, ncols=shape[1])
    for maximize in (False, True):
        found = linear_sum_assignment(A, maximize, absent="forbidden", method=method)
        rows, columns = min_weight_full_bipartite_matching(given, maximize)
        assert found.cost == given[rows, columns].sum()
        dense = np.where(given.toarray() == 0, -np.inf if maximize else np.inf, given.toarray())
        prove(found, dense, maximize)


def test_full_matrices_are_costs_of_all_pairs(device, method):
    costs = drawn("few values", (7, 9))
    found = linear_sum_assignment(gb.Matrix.from_dense(costs), method=method)
    assert found.cost == costs[scipys(costs)].sum()
    as_bool = linear_sum_assignment(costs > 0, method=method)
    assert as_bool.cost == (costs > 0)[scipys(costs > 0)].sum()


def test_what_must_not_be_chosen_is_not(device, method):
    costs = np.full((5, 5), np.inf)
    costs[np.arange(5), [1, 2, 3, 4, 0]] = 7
    costs[0, :3] = 1
    assert linear_sum_assignment(costs, method=method).col_ind.tolist() == [1, 2, 3, 4, 0]
    assert linear_sum_assignment(-costs, True, method=method).cost == -29
    costs[4] = costs[3]
    with pytest.raises(InvalidValue, match="cost matrix is infeasible"):
        linear_sum_assignment(costs, method=method)
    with pytest.raises(InvalidValue, match="infeasible"):
        linear_sum_assignment(gb.Matrix(float, 3, 3), absent="forbidden", method=method)


def test_nothing_to_assign(device, method):
    for shape in ((0, 0), (0, 3), (3, 0)):
        found = linear_sum_assignment(np.zeros(shape), method=method)
        assert (len(found), found.cost, found.gap) == (0, 0.0, 0.0)
        assert (len(found.u), len(found.v)) == shape
    empty = linear_sum_assignment(gb.Matrix(float, 4, 4), method=method)
    assert sorted(empty.col_ind.tolist()) == [0, 1, 2, 3]


@pytest.mark.parametrize("kind", ["uniform", "few values"])
def test_auctions_have_the_same_bits_everywhere(device, kind):
    # A list of a GPU has 64 columns.
    shapes = ((20, 26), (26, 70), (12, 200)) if device == "cuda" else ((30, 30), (20, 26))
    for shape in shapes:
        costs = drawn(kind, shape, 7)
        found = linear_sum_assignment(costs, method="auction")
        with gb.device("cpu"):
            expected = linear_sum_assignment(costs, method="auction")
        assert found.col_ind.tolist() == expected.col_ind.tolist()
        assert found.v.tolist() == expected.v.tolist()
        assert found.u.tolist() == expected.u.tolist()
        assert found.steps == expected.steps


def test_hosts_agree_and_threads_do_not_matter():
    costs = drawn("few values", (60, 70))
    for method in METHODS:
        found = []
        for threads in (1, 2, 7):
            with gb.device("cpu"):
                before = override(threads=threads)
                try:
                    found.append(linear_sum_assignment(costs, method=method))
                finally:
                    restore(before)
        with gb.device("reference"):
            found.append(linear_sum_assignment(costs[:20, :25], method=method))
        with gb.device("cpu"):
            small = linear_sum_assignment(costs[:20, :25], method=method)
        for other in found[1:3]:
            assert np.array_equal(other.col_ind, found[0].col_ind)
            assert np.array_equal(other.v, found[0].v)
        assert np.array_equal(small.col_ind, found[3].col_ind)
        assert np.array_equal(small.v, found[3].v)


def test_lists_that_are_too_short_are_made_again(monkeypatch):
    costs = np.random.default_rng(2).random((150, 150))
    best = costs[scipys(costs)].sum()
    for listed, many in ((2, 10**6), (2, 0), (150, 1)):
        monkeypatch.setattr(solve, "_LISTED", listed)
        monkeypatch.setattr(solve, "_MANY", many)
        with gb.device("cpu"):
            found = linear_sum_assignment(costs, method="paths")
        assert found.cost == pytest.approx(best, rel=1e-12)
        prove(found, costs)


def test_costs_too_far_apart_for_an_auction_are_refused():
    costs = np.random.default_rng(1).random((30, 30)) + 1e12 * (np.eye(30) > 0)
    with gb.device("cpu"):
        with pytest.raises(InvalidValue, match=r"half of them are below .*: use method='auto'"):
            linear_sum_assignment(costs, method="auction")
        found = linear_sum_assignment(costs, method="paths")
        assert found.cost == pytest.approx(costs[scipys(costs)].sum())
        finite = np.where(costs > 1e9, np.inf, costs)
        assert linear_sum_assignment(finite, method="auction").cost == pytest.approx(found.cost)
        whole = np.rint(costs * 8)
        exact = linear_sum_assignment(whole, method="auction")
        assert exact.cost == whole[scipys(whole)].sum()


def test_tiny_costs():
    costs = np.arange(9.0).reshape(3, 3)[::-1] ** 2 * 5e-324
    with gb.device("cpu"):
        assert linear_sum_assignment(costs).cost == costs[scipys(costs)].sum()
        with pytest.raises(InvalidValue, match="rounds costs to"):
            linear_sum_assignment(costs, method="auction")
        costs = costs * 2.0**200
        assert linear_sum_assignment(costs, method="auction").cost == costs[scipys(costs)].sum()


def test_prices_that_overflow_are_tried_with_fewer_bits(monkeypatch):
    monkeypatch.setattr(solve, "_BITS", 61)
    costs = np.where(np.eye(9, k=-1) + np.eye(9) > 0, np.arange(81).reshape(9, 9) / 3, np.inf)
    with gb.device("cpu"):
        found = linear_sum_assignment(costs, method="auction")
    assert found.cost == pytest.approx(costs[scipys(costs)].sum())


def test_a_result_reads_like_scipys(device):
    found = linear_sum_assignment([[4, 1, 3], [2, 0, 5], [3, 2, 2]])
    rows, columns = found
    assert found[0] is rows
    assert found[1] is columns
    assert found.facts() == {
        "pairs": 3, "cost": 5.0, "gap": 0.0, "method": found.method, "steps": found.steps,
    }  # fmt: skip
    assert found.table()["cost"].tolist() == [1, 2, 2]
    assert repr(found).startswith("AssignmentResult(pairs=3, cost=5")


@every(
    ("costs", "options", "error", "text"),
    [
        ([1.0, 2.0], {}, DimensionMismatch, "two dimensions; these have 1"),
        ([[1j]], {}, DomainMismatch, "real numbers, not complex128"),
        ([["a"]], {}, DomainMismatch, "real numbers"),
        ([[np.nan]], {}, InvalidValue, r"invalid numeric entries \(NaN\)"),
        ([[-np.inf]], {}, InvalidValue, r"\(-inf\); only inf"),
        ([[np.inf]], {"maximize": True}, InvalidValue, r"\(inf\); only -inf"),
        ([[1]], {"absent": "no"}, InvalidValue, "absent='no' is none of zero, forbidden"),
        ([[1]], {"method": "no"}, InvalidValue, "method='no' is none of auto, paths, auction"),
    ],
)
def test_what_is_refused(costs, options, error, text):
    with gb.device("cpu"), pytest.raises(error, match=text):
        linear_sum_assignment(costs, **options)


def test_transposes_and_paths_on_gpus_are_refused(monkeypatch):
    A = gb.Matrix(float, 2, 2)
    for other in (A.T, gb.Vector(float, 2)):
        with pytest.raises(DomainMismatch, match="needs a Matrix or an array"):
            linear_sum_assignment(other)
    monkeypatch.setattr(solve, "device_traits", lambda _: type("T", (), {"own_memory": True}))
    with gb.device("cpu"), pytest.raises(InvalidValue, match="on hosts alone"):
        linear_sum_assignment([[1]], method="paths")


def test_what_does_not_fit_is_refused(monkeypatch):
    monkeypatch.setattr("semira.apps.arrays.free_memory", lambda _: 100)
    with gb.device("cpu"), pytest.raises(OutOfMemory, match=r"take .* bytes, and 100 are free"):
        linear_sum_assignment(np.ones((30, 30)))
    assert memory(1000, 2000) == memory(2000, 1000)
    assert memory(1000, 1000, method="auction") == 880_000


def test_a_wrong_assignment_would_be_noticed(monkeypatch):
    kept = solve._by_paths

    def wrong(*given):
        columns, *others = kept(*given)
        return columns[::-1].copy(), *others

    monkeypatch.setattr(solve, "_by_paths", wrong)
    with gb.device("cpu"), pytest.raises(Panic, match="not proven"):
        linear_sum_assignment(np.random.default_rng(0).random((9, 9)))


def test_costs_without_a_finite_sum_are_refused(device):
    for sign in (1, -1):
        costs = np.full((3, 3), sign * 1e308)
        with pytest.raises(InvalidValue, match="divide the costs"):
            linear_sum_assignment(costs)
    assert linear_sum_assignment(np.full((3, 3), 1e307)).cost == 3e307


def test_what_is_no_array_of_costs_is_told_from_one():
    with pytest.raises(DomainMismatch, match="from_scipy_sparse"):
        linear_sum_assignment(sp.csr_array(np.eye(3)))
    with pytest.raises(InvalidValue, match="method='x'"):
        linear_sum_assignment(np.zeros((0, 3)), method="x")


def of_many_magnitudes(seed):
    random = np.random.default_rng(seed)
    return random.random((60, 80)) * 10.0 ** random.integers(-8, 8, (60, 80))


def test_costs_of_many_magnitudes_are_assigned(device):
    costs = of_many_magnitudes(0)[:12, :15]
    best = costs[scipys(costs)].sum()
    found = linear_sum_assignment(costs)
    assert found.method == "paths"
    assert found.cost == pytest.approx(best, rel=1e-12)
    prove(found, costs)
    entries = gb.Matrix.from_dense(np.where(costs < 1e-4, 0, costs)).select("!=", 0).new()
    dense = entries.to_dense(fill_value=0)
    found = linear_sum_assignment(entries)
    assert found.cost == pytest.approx(dense[scipys(dense)].sum(), rel=1e-12)
    prove(found, dense)


def test_auctions_of_many_magnitudes_are_exact_or_left_to_paths(monkeypatch):
    left = 0
    # Of the second ones, rounded prices make columns seem to be worth something that are left over.
    heavy = (np.random.default_rng(seed).pareto(0.3, (40, 12)) for seed in (8, 18, 35, 38))
    # Half of them are 1e17, which no best sum has: duals as large would hide what others lose.
    rng = np.random.default_rng(7)
    small = rng.integers(0, 9, (12, 4, 5)).astype(float)
    beside = np.where(rng.random(small.shape) < 0.45, 1e17, small)
    for costs in (*map(of_many_magnitudes, range(4)), *heavy, *beside):
        best = pytest.approx(costs[scipys(costs)].sum(), rel=1e-9)
        with gb.device("cpu"):
            assert linear_sum_assignment(costs, method="paths").cost == best
            with monkeypatch.context() as patched:
                patched.setattr(solve, "check_method", lambda *_: "auction")
                found = linear_sum_assignment(costs)
            assert found.cost == best
            prove(found, costs)
            left += found.method == "paths"
            if found.method == "paths":
                with pytest.raises(InvalidValue, match="auction rounds costs"):
                    linear_sum_assignment(costs, method="auction")
    assert left


def test_fractions_beside_a_large_part_in_common_decide():
    fractions = np.random.default_rng(20).random((20, 20))
    with gb.device("cpu"):
        found = linear_sum_assignment(fractions + 1e8, method="auction")
    assert np.array_equal(found.col_ind, scipys(fractions)[1])


def test_auctions_of_few_rows_bid_little():
    with gb.device("cpu"):
        for shape in ((40, 900), (300, 340)):
            costs = drawn("uniform", shape, 3)
            found = linear_sum_assignment(costs, method="auction")
            assert found.cost == pytest.approx(costs[scipys(costs)].sum())
            assert found.steps < 80 * shape[0]
            prove(found, costs)


def test_auctions_of_integers_end_with_integers():
    with gb.device("cpu"):
        for shape in ((60, 60), (40, 70), (70, 40)):
            costs = np.random.default_rng(1).integers(0, 1000, shape)
            found = linear_sum_assignment(costs, method="auction")
            assert found.gap == 0
            assert (found.u == np.rint(found.u)).all()
            assert (costs - found.u[:, None] - found.v).min() == 0
            prove(found, costs)
