"""Graph matching against dense formulas, permutations by brute force, and SciPy's FAQ."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import quadratic_assignment
from tests.helpers.data import graph_path
from tests.helpers.every import every

import semira as gb
from semira.apps import graph_match
from semira.apps.graph_matching import memory, problem, solve
from semira.apps.graph_matching.files import read_other, read_pairs
from semira.apps.graph_matching.gradient import Atom, Gradients
from semira.exceptions import (
    DeviceMismatch,
    DimensionMismatch,
    DomainMismatch,
    FileFormatError,
    IndexOutOfBound,
    InvalidIndex,
    InvalidValue,
    InvalidWeight,
    MissingFile,
    OutOfMemory,
)


@pytest.fixture
def device(device):
    if device == "suitesparse":
        pytest.skip("its kernels are those of cpu")
    with gb.device(device):
        yield device


def matrix(dense):
    rows, columns = np.nonzero(dense)
    return gb.Matrix.from_coo(
        rows, columns, dense[rows, columns], nrows=len(dense), ncols=dense.shape[1]
    )


def drawn(n, share, seed, directed=False, weighted=False):
    random = np.random.default_rng(seed)
    dense = (random.random((n, n)) < share).astype(float)
    if weighted:
        dense *= random.integers(1, 6, (n, n))
    np.fill_diagonal(dense, 0)
    return dense if directed else np.triu(dense) + np.triu(dense).T


def shuffled(dense, seed):
    """A graph with other numbers, and the number of each vertex there."""
    order = np.random.default_rng(seed).permutation(len(dense))
    return dense[np.ix_(order, order)], np.argsort(order)


def padded(dense, n):
    return np.pad(dense, (0, n - len(dense)))


def check_counts(found, A, B):
    """Check what a result tells of edges, pair by pair."""
    known = found.match >= 0
    n = max(len(A), len(B))
    order = np.concatenate((found.match[known], np.setdiff1d(np.arange(n), found.match[known])))
    place = np.concatenate(
        (np.flatnonzero(known), np.setdiff1d(np.arange(n), np.flatnonzero(known)))
    )
    laid, A, B = np.zeros((n, n)), padded(A, n), padded(B, n)
    laid[np.ix_(place, place)] = B[np.ix_(order, order)]
    assert len(set(found.match[known].tolist())) == known.sum()
    assert found.objective == pytest.approx((A * laid).sum())
    assert found.common == ((A != 0) & (laid != 0)).sum()
    assert found.disagreements == ((A != 0) != (laid != 0)).sum()
    assert found.distance == pytest.approx(((A - laid) ** 2).sum())


# what it finds ----------------------------------------------------------------------------------
@pytest.mark.parametrize("initial", ["barycentre", "seeds"])
def test_a_graph_with_other_numbers_is_found(device, initial):
    n, seeds = (256, 20) if device == "cpu" else (40, 8)
    A = drawn(n, 0.05 if device == "cpu" else 0.25, 1)
    B, number = shuffled(A, 2)
    pairs = np.stack((np.arange(seeds), number[:seeds]), 1)
    found = graph_match(matrix(A), matrix(B), seeds=pairs, initial=initial)
    assert found.match.tolist() == number.tolist()
    assert (found.disagreements, found.distance, found.converged) == (0, 0, True)
    assert found.is_seed.sum() == seeds
    check_counts(found, A, B)


def test_the_run_of_the_specification():
    """n = 256, G(n, 0.05), 20 seeds: the second permutation is right, the third step ends it."""
    A = drawn(256, 0.05, 0)
    B, number = shuffled(A, 1)
    order = np.concatenate((number[:20], np.setdiff1d(np.arange(256), number[:20])))
    B = B[np.ix_(order, order)]
    with gb.device("cpu"):
        found = graph_match(matrix(A), matrix(B), num_seeds=20, initial="seeds")
    assert found.disagreements == 0
    assert found.match[:20].tolist() == list(range(20))
    assert found.iterations.tolist() in ([2], [3])


@pytest.mark.parametrize("weighted", [False, True])
def test_directed_graphs_are_found(device, weighted):
    A = drawn(24, 0.2, 4, directed=True, weighted=weighted)
    B, number = shuffled(A, 5)
    pairs = np.stack((np.arange(5), number[:5]), 1)
    found = graph_match(matrix(A), matrix(B), seeds=pairs)
    assert found.match.tolist() == number.tolist()
    check_counts(found, A, B)


def test_small_graphs_have_the_best_of_all_permutations():
    best = []
    for seed in range(6):
        A, B = drawn(6, 0.5, seed), drawn(6, 0.5, seed + 100)
        most = max((A * B[np.ix_(p, p)]).sum() for p in map(list, permutations(range(6))))
        with gb.device("cpu"):
            found = graph_match(matrix(A), matrix(B), restarts=8)
        check_counts(found, A, B)
        assert found.objective <= most
        assert found.objective == found.objectives.max()
        best.append(found.objective == most)
    assert sum(best) >= 5


def test_it_is_as_good_as_scipys(device):
    n = 60 if device == "cpu" else 18
    A, B = drawn(n, 0.2, 7, True, True), drawn(n, 0.2, 8, True, True)
    pairs = np.repeat(np.arange(6)[:, None], 2, 1)
    options = {"maximize": True, "partial_match": pairs, "rng": np.random.default_rng(1)}
    best = quadratic_assignment(A, B, options=options).fun
    found = graph_match(matrix(A), matrix(B), num_seeds=6, tolerance=0.03)
    assert found.objective >= 0.97 * best
    check_counts(found, A, B)


# the parts --------------------------------------------------------------------------------------
def dense_gradient(A, B, P):
    return A @ P @ B.T + A.T @ P @ B


def dense_of(atom, m):
    found = np.zeros((m, m))
    known = np.flatnonzero(~atom.lone)
    found[known, atom.of[known]] = 1
    if atom.spread and atom.lone.any():
        found[np.ix_(atom.lone, atom.left)] = 1 / atom.lone.sum()
    return found


def dense_of_gradient(gradient):
    X, Y = gradient.factors
    return gradient.S.to_dense(0.0) + X @ Y.T


@pytest.mark.parametrize("padding", ["naive", "adopted"])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("sizes", [(9, 9), (9, 12), (12, 9)])
def test_gradients_are_those_of_the_formula(device, padding, directed, sizes):
    A, B = (drawn(size, 0.4, size + k, directed) for k, size in enumerate(sizes))
    n = max(sizes)
    likeness = np.random.default_rng(0).integers(0, 3, sizes).astype(float)
    given = problem.checked(
        matrix(A), matrix(B), [(2, 5), (7, 0)], 0, None, matrix(likeness), padding
    )
    if padding == "adopted":
        A, B = 2 * A - 1, 2 * B - 1
    A, B, m = padded(A, n), padded(B, n), n - 2
    random = np.random.default_rng(3)
    part = random.permutation(m)
    part[random.random(m) < 0.5] = -1
    none = np.full(m, -1)
    atoms = (
        Atom(none, True), Atom(part, True), Atom(part), Atom(random.permutation(m)),
        Atom(none), Atom(part[::-1].copy(), True),
    )  # fmt: skip
    gradients = Gradients(given)
    made = []
    with gb.kernels.array_module(device) as xp:
        for atom in atoms:
            P = np.zeros((n, n))
            P[2, 5] = P[7, 0] = 1
            inner = dense_of(atom, m)
            P[np.ix_(given.rest_a, given.rest_b)] = inner
            expected = dense_gradient(A, B, P)
            expected[: sizes[0], : sizes[1]] += likeness
            expected = expected[np.ix_(given.rest_a, given.rest_b)]
            found = gradients.at(atom)
            dense = dense_of_gradient(found)
            assert np.allclose(dense, expected)
            made.append((found, inner, expected))
            for other in atoms:
                along = found.along(other, xp)
                assert along == pytest.approx((expected * dense_of(other, m)).sum())
    (one, _, a), (two, _, b) = made[0], made[-1]
    mixed = one.mixed(two, 0.25)
    assert np.allclose(dense_of_gradient(mixed), 0.75 * a + 0.25 * b)
    assert len(mixed.terms) <= 8
    assert one.mixed(two, 1) is two


def test_overlaps_are_sums_of_products():
    random = np.random.default_rng(2)
    whole = Atom(random.permutation(9))
    part = random.permutation(9)
    part[:4] = -1
    soft = Atom(part, True)
    for atom in (whole, soft, Atom(np.full(9, -1), True), Atom(part)):
        dense = dense_of(atom, 9)
        assert atom.overlap(whole) == pytest.approx((dense * dense_of(whole, 9)).sum())
        assert atom.overlap(atom) == pytest.approx((dense**2).sum())


@pytest.mark.parametrize(
    ("slope", "bend", "share"),
    [(1, 1, 1), (1, -1, 0.5), (4, -1, 1), (0, 0, 0), (0, -1, 0), (-1, 0.5, 0), (0, 2, 1)],
)
def test_steps_are_the_best_of_a_parabola(slope, bend, share):
    assert solve._share(slope, bend, 1.0) == share
    at = np.linspace(0, 1, 101)
    assert slope * share + bend * share**2 == pytest.approx((slope * at + bend * at**2).max())


def test_the_line_search_of_the_report():
    """Its printed values: c = gPP + gtT - gtP - gT, d = gtP + gT - 2 gtT, alpha = -d / 2 c."""
    gpp, gt, gtp, gtt = 393_620, 16_124_208, 407_896, 15_879_704
    # The report weighs P by alpha; we weigh T by 1 - alpha.
    bend, slope = gpp + gtt - gtp - gt, (gt - gpp) + (gtp - gpp)
    alpha = -(gtp + gt - 2 * gtt) / (2 * bend)
    assert alpha == pytest.approx(-29.4213314)
    assert 1 - alpha == pytest.approx(-slope / (2 * bend))
    assert bend * alpha**2 + (gtp + gt - 2 * gtt) * alpha == pytest.approx(224_003_776, rel=1e-6)
    assert gpp - gtt == -15_486_084
    # A parabola that is highest beyond T: the whole step.
    assert solve._share(slope, bend, gpp) == 1.0


# options ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("padding", ["naive", "adopted"])
def test_graphs_of_unequal_size(device, padding):
    B = drawn(20, 0.3, 11)
    inside = np.sort(np.random.default_rng(1).permutation(20)[:14])
    A = B[np.ix_(inside, inside)]
    pairs = [(k, inside[k]) for k in range(5)]
    found = graph_match(matrix(A), matrix(B), seeds=pairs, padding=padding)
    check_counts(found, A, B)
    assert len(found.pairs) == 14
    if padding == "adopted":
        assert found.match.tolist() == inside.tolist()
    back = graph_match(matrix(B), matrix(A), seeds=[(b, a) for a, b in pairs], padding=padding)
    check_counts(back, B, A)
    assert (back.match < 0).sum() == 6
    assert len(back.pairs) == 14
    assert back.table()["match"].min() == -1


def test_soft_seeds_and_starts(device):
    A = drawn(22, 0.25, 3)
    B, number = shuffled(A, 9)
    pairs = np.stack((np.arange(22), number), 1)
    wrong = pairs.copy()
    wrong[[0, 1], 1] = wrong[[1, 0], 1]
    for options in (
        {"soft_seeds": pairs[:12]},
        {"soft_seeds": pairs[:12], "initial": "seeds"},
        {"initial": number},
        {"initial": wrong[:, 1]},
        {"soft_seeds": wrong},
        {"seeds": pairs[:3], "soft_seeds": pairs[4:12], "restarts": 2},
    ):
        found = graph_match(matrix(A), matrix(B), **options)
        assert found.match.tolist() == number.tolist()
        assert found.is_seed.sum() == len(options.get("seeds", ()))


def test_similarity_decides_where_edges_do_not(device):
    likeness = np.random.default_rng(1).random((8, 8))
    nothing = gb.Matrix(float, 8, 8)
    found = graph_match(nothing, nothing, similarity=matrix(likeness))
    best = gb.algorithms.linear_sum_assignment(likeness, maximize=True)
    assert found.match.tolist() == best.col_ind.tolist()
    assert found.objective == pytest.approx(best.cost)


def test_restarts_are_drawn_by_the_seed(device):
    A, B = drawn(16, 0.3, 1), drawn(16, 0.3, 2)
    one, two = (graph_match(matrix(A), matrix(B), restarts=4, seed=3) for _ in range(2))
    assert one.match.tolist() == two.match.tolist()
    assert one.objectives.tolist() == two.objectives.tolist()
    assert one.objective == one.objectives.max()
    assert len(one.iterations) == 4
    calls = []
    graph_match(matrix(A), matrix(B), restarts=3, progress=lambda *at: calls.append(at))
    assert calls == [(1, 3), (2, 3), (3, 3)]


def test_an_early_end_is_projected(device):
    A, B = drawn(20, 0.3, 1, True), drawn(20, 0.3, 2, True)
    for most in (1, 2, 3):
        for options in ({}, {"initial": "seeds", "num_seeds": 3}):
            found = graph_match(matrix(A), matrix(B), max_iterations=most, tolerance=0, **options)
            assert sorted(found.match.tolist()) == list(range(20))
            assert len(found.steps) <= most
            check_counts(found, A, B)


@pytest.mark.parametrize("options", [{}, {"initial": "seeds"}, {"restarts": 2}])
def test_devices_agree_by_auction(device, options):
    A, B = drawn(16, 0.3, 1, True), drawn(19, 0.3, 2, True)
    given = {"num_seeds": 2, "method": "auction", **options}
    found = graph_match(matrix(A), matrix(B), **given)
    with gb.device("cpu"):
        expected = graph_match(matrix(A), matrix(B), **given)
    assert found.match.tolist() == expected.match.tolist()
    assert found.steps == expected.steps


def test_hosts_agree():
    A, B = drawn(20, 0.3, 1, True), drawn(20, 0.3, 2, True)
    found = []
    for name in ("reference", "cpu"):
        with gb.device(name):
            found += [
                graph_match(matrix(A), matrix(B), num_seeds=2, method=method)
                for method in ("auction", "paths")
            ]
    assert found[0].match.tolist() == found[2].match.tolist()
    assert found[1].match.tolist() == found[3].match.tolist()


@pytest.mark.parametrize("n", [0, 1, 2])
def test_graphs_with_little_to_match(device, n):
    A = gb.Matrix(float, n, n)
    found = graph_match(A, A)
    assert sorted(found.match.tolist()) == list(range(n))
    assert (found.objective, found.disagreements) == (0, 0)
    assert graph_match(A, A, num_seeds=n).match.tolist() == list(range(n))


@every("dtype", ["BOOL", "INT8", "UINT16", "INT64", "FP32"])
def test_dtypes_of_weights(device, dtype):
    A = matrix(drawn(7, 0.5, 1)).dup(dtype)
    found = graph_match(A, A, num_seeds=4)
    assert found.disagreements == 0
    assert found.objective == A.nvals


def test_what_is_given_is_not_changed(device):
    A, B = matrix(drawn(8, 0.4, 1)), matrix(drawn(11, 0.4, 2))
    before = A.dup(), B.dup()
    graph_match(A, B)
    assert A.isequal(before[0])
    assert B.isequal(before[1])


# real graphs ------------------------------------------------------------------------------------
def loaded(name):
    with np.load(graph_path(name)) as z:
        n = int(z["n"])
        dense = np.zeros((n, n))
        dense[z["row"], z["col"]] = z["weight"]
    return dense


def test_the_two_sides_of_a_brain():
    left, right = loaded("drosophila-mb-left"), loaded("drosophila-mb-right")
    pairs = np.repeat(np.arange(100)[:, None], 2, 1)
    options = {"maximize": True, "partial_match": pairs, "rng": np.random.default_rng(1)}
    best = quadratic_assignment(padded(left, len(right)), right, options=options)
    with gb.device("cpu"):
        found = graph_match(matrix(left), matrix(right), num_seeds=100)
    check_counts(found, left, right)
    assert found.objective >= 0.995 * best.fun


# what is refused --------------------------------------------------------------------------------
TWO = gb.Matrix(float, 2, 2)
THREE = gb.Matrix(float, 3, 3)


@every(
    ("given", "options", "error", "text"),
    [
        ((TWO, np.ones((2, 2))), {}, DomainMismatch, "Matrix"),
        ((gb.Matrix(float, 2, 3), TWO), {}, DimensionMismatch, "2 x 3|square"),
        ((TWO, TWO), {"padding": "x"}, InvalidValue, "padding='x' is none of naive, adopted"),
        ((TWO, TWO), {"initial": "x"}, InvalidValue, "initial='x' is none of barycentre, seeds"),
        ((TWO, TWO), {"initial": [0]}, DimensionMismatch, "each of the 2 vertices"),
        ((TWO, TWO), {"initial": [0, 0]}, InvalidValue, "another partner among 0 to 1"),
        ((TWO, TWO), {"initial": [0, 1], "seeds": [(0, 1)]}, InvalidValue, "than seeds does"),
        ((TWO, TWO), {"seeds": [0, 1]}, DimensionMismatch, r"shape \(k, 2\), not \(2,\)"),
        ((TWO, TWO), {"seeds": [(0.5, 1)]}, InvalidIndex, "seeds are vertex numbers"),
        ((TWO, THREE), {"seeds": [(2, 2)]}, IndexOutOfBound, r"\(2, 2\): A has the vertices"),
        ((TWO, THREE), {"soft_seeds": [(1, 3)]}, IndexOutOfBound, "the other graph has"),
        ((TWO, TWO), {"seeds": [(0, 1), (1, 1)]}, InvalidValue, "vertex 1 of the other graph"),
        ((TWO, TWO), {"seeds": [(0, 1)], "num_seeds": 1}, InvalidValue, "not both"),
        ((TWO, THREE), {"num_seeds": 3}, InvalidValue, "num_seeds=3 of 2 vertices"),
        ((TWO, THREE), {"similarity": THREE}, DimensionMismatch, "Matrix of 2 x 3"),
        ((TWO, TWO), {"restarts": 0}, InvalidValue, "restarts"),
        ((TWO, TWO), {"max_iterations": 0}, InvalidValue, "max_iterations"),
        ((TWO, TWO), {"tolerance": -1}, InvalidValue, "tolerance"),
        ((TWO, TWO), {"method": "x"}, InvalidValue, "method='x' is none of"),
        ((matrix(np.full((2, 2), np.nan)), TWO), {}, InvalidWeight, "entry of A is NaN"),
        ((TWO, matrix(np.full((2, 2), -np.inf))), {}, InvalidWeight, "other is infinite"),
        ((matrix(np.full((2, 2), -1e200)), TWO), {}, InvalidWeight, "is 1e.200, and its"),
        ((matrix(np.full((2, 2), 1j)), TWO), {}, DomainMismatch, "entries of A are FC64"),
    ],
)  # fmt: skip
def test_what_is_refused(given, options, error, text):
    with pytest.raises(error, match=text):
        graph_match(*given, **options)


def test_graphs_of_two_devices_are_refused():
    with gb.device("reference"):
        A = gb.Matrix(float, 2, 2)
    with gb.device("cpu"):
        B = gb.Matrix(float, 2, 2)
    with pytest.raises(DeviceMismatch, match="A is on reference, other on cpu"):
        graph_match(A, B)


def test_what_does_not_fit_is_refused(monkeypatch):
    monkeypatch.setattr("semira.apps.arrays.free_memory", lambda _: 100)
    with pytest.raises(OutOfMemory, match="2 vertices with 0 and 0 entries"):
        graph_match(TWO, TWO)
    assert memory(4000, 10**6, 10**6) > memory(4000, 10**5, 10**5)


# files ------------------------------------------------------------------------------------------
def test_pairs_are_read(tmp_path: Path):
    path = tmp_path / "pairs.txt"
    path.write_text("# a b\n0 3\n1, 2\n\n% no\n  4\t5\n")
    assert read_pairs(str(path)).tolist() == [[0, 3], [1, 2], [4, 5]]
    path.write_text("")
    assert read_pairs(str(path)).shape == (0, 2)
    for text in ("1 2 3", "1", "1 x", "1 -2"):
        path.write_text(f"0 0\n{text}\n")
        with pytest.raises(FileFormatError, match=r"line 2: .* is no pair"):
            read_pairs(str(path))
    with pytest.raises(MissingFile):
        read_pairs(str(tmp_path / "none"))
    assert read_other("grid:2x2").size == 4
