"""Local clusters against exact PageRank, a dense FISTA, and cuts counted edge by edge."""

from __future__ import annotations

import _thread
import functools
import re
import threading

import numpy as np
import pytest
from tests.helpers import diffusions
from tests.helpers.every import every

import semira as gb
from semira.apps.local_clustering import local_clusters, memory, solve, sweeping
from semira.apps.local_clustering.files import read_seeds
from semira.apps.local_clustering.picture import draw
from semira.base.settings import override, restore
from semira.exceptions import (
    DimensionMismatch,
    DomainMismatch,
    FileFormatError,
    IndexOutOfBound,
    InvalidIndex,
    InvalidValue,
    MissingFile,
)

METHODS = ("push", "fista")


@pytest.fixture
def device(device):
    if device == "suitesparse":
        pytest.skip("runs no kernels over arrays")
    with gb.device(device):
        yield device


def matrix(edges, n):
    rows, columns = np.array(edges).T
    return gb.Matrix.from_coo(rows, columns, 1.0, nrows=n, ncols=n, dup_op="any")


def drawn(n, edges, seed, near=0.9):
    """Two groups, even and odd, with few edges between them."""
    random = np.random.default_rng(seed)
    pairs = random.integers(0, n, (edges, 2))
    near = random.random(edges) < near
    pairs[near, 1] = pairs[near, 1] // 2 * 2 + pairs[near, 0] % 2
    pairs[:n, 0], pairs[:n, 1] = np.arange(n), (np.arange(n) + 2) % n
    return pairs


def values_of(found, problem, n):
    dense = np.zeros(n)
    part = slice(found.indptr[problem], found.indptr[problem + 1])
    dense[found.indices[part]] = found.values[part]
    return dense


# what it computes -------------------------------------------------------------------------------
def test_the_values_of_the_specification(device):
    A = matrix(diffusions.chesapeake(), 39)
    found = local_clusters(A, 0, max_iterations=10)
    assert (found.alpha, found.rho) == pytest.approx((1.54900370881e-4, 3.51468385069e-05))
    assert found.iterations.tolist() == [10]
    assert not found.converged[0]
    assert found.values.sum() == pytest.approx(6.6076184569e-3, rel=1e-9)
    dense = values_of(found, 0, 39)
    assert dense[[38, 0, 35, 34, 37, 7]] == pytest.approx(
        [5.93634490e-4, 5.68983689e-4, 4.70460704e-4, 3.62532866e-4, 2.87368668e-4, 2.76619249e-4],
        rel=1e-8,
    )
    one = local_clusters(A, 0, max_iterations=1)
    assert dict(zip(one.indices, one.values, strict=True)) == {
        0: pytest.approx(1.54840484e-4, rel=1e-8)
    }
    three = values_of(local_clusters(A, 0, max_iterations=3), 0, 39)
    assert three.sum() == pytest.approx(6.12311788e-4, rel=1e-8)
    assert three[[0, 34, 38]] == pytest.approx(
        [3.18579028e-4, 2.76850484e-5, 2.57582687e-5], rel=1e-8
    )
    whole = local_clusters(A, 0)
    assert whole.iterations.tolist() == [922]
    assert whole.converged[0]
    dense = values_of(whole, 0, 39)
    assert dense.sum() == pytest.approx(0.987929606876, rel=1e-9)
    assert dense[[38, 35]] == pytest.approx([0.0958411348, 0.0841851921], rel=1e-8)


@pytest.mark.parametrize("alpha", [0.05, 0.15, 0.6, 1.0])
def test_pushed_mass_is_pagerank_from_below(device, alpha):
    edges = drawn(80, 300, 1)
    dense = diffusions.undirected(edges, 80)
    seeds = [[3], [7, 9, 20], [0]]
    found = local_clusters(matrix(edges, 80), seeds, method="push", alpha=alpha, rho=1e-4)
    for number, each in enumerate(seeds):
        lacking = diffusions.pagerank(dense, each, alpha) - values_of(found, number, 80)
        assert (lacking >= -1e-15).all()
        assert (lacking < 1e-4 * dense.sum(0)).all()
    assert (found.residual < 1).all()
    assert found.converged.all()


@pytest.mark.parametrize("rho", [1e-3, 1e-5])
def test_fista_is_that_of_dense_vectors(device, rho):
    edges = drawn(60, 200, 2)
    dense = diffusions.undirected(edges, 60)
    seeds = [[3], [7, 8], [30], [1, 2, 3, 5]]
    found = local_clusters(
        matrix(edges, 60), seeds, alpha=0.1, rho=rho, tolerance=1e-4, max_iterations=60
    )
    for number, each in enumerate(seeds):
        expected, steps = diffusions.fista(dense, each, 0.1, rho, 1e-4, 60)
        assert found.iterations[number] == steps
        assert values_of(found, number, 60) == pytest.approx(expected, rel=1e-9, abs=1e-14)


def test_a_tight_tolerance_meets_the_conditions_of_an_optimum(device):
    edges = drawn(60, 200, 2)
    found = local_clusters(matrix(edges, 60), [4, 5], alpha=0.2, rho=1e-3, tolerance=0.0,
                           max_iterations=400)  # fmt: skip
    assert (found.residual < 1e-4).all()
    loose = local_clusters(matrix(edges, 60), [4, 5], alpha=0.2, rho=1e-3, max_iterations=3)
    assert (loose.residual > found.residual).all()
    assert not loose.converged.any()


@pytest.mark.parametrize("method", METHODS)
def test_the_sweep_cuts_where_conductance_is_least(device, method):
    edges = drawn(70, 220, 3)
    dense = diffusions.undirected(edges, 70)
    found = local_clusters(matrix(edges, 70), [1, 2, [5, 6]], method=method, alpha=0.1, rho=1e-4)
    degrees = dense.sum(0)
    for number in range(3):
        part = slice(found.indptr[number], found.indptr[number + 1])
        vertices, values = found.indices[part], found.values[part]
        order = np.lexsort((vertices, -values / degrees[vertices]))
        assert (order == np.arange(len(order))).all()
        profile = diffusions.profile(dense, vertices)
        assert found.profile(number) == pytest.approx(profile, rel=1e-15)
        size = int(np.argmin(profile)) + 1
        assert found.sizes[number] == size
        assert found.cluster(number).tolist() == vertices[:size].tolist()
        assert found.volumes[number] == degrees[vertices[:size]].sum()
        assert found.conductance[number] == profile[size - 1]


def test_planted_groups_are_found(device):
    A = matrix(drawn(40, 400, 4, near=0.98), 40)
    found = local_clusters(A, [10, 11], method="push", alpha=0.02, rho=1e-4)
    for number in range(2):
        assert sorted(found.cluster(number).tolist()) == list(range(number, 40, 2))


def test_the_greatest_values_first(device):
    edges = drawn(70, 220, 3)
    found = local_clusters(
        matrix(edges, 70), [1, 40], method="push", alpha=0.3, rho=1e-3, top=50, sweep=False
    )
    assert found.top_indices.shape == found.top_values.shape == (2, 50)
    for number in range(2):
        dense = values_of(found, number, 70)
        order = np.lexsort((np.arange(70), -dense))[: np.count_nonzero(dense)][:50]
        expected = np.full(50, -1)
        expected[: len(order)] = order
        assert found.top_indices[number].tolist() == expected.tolist()
        assert found.top_values[number, : len(order)].tolist() == dense[order].tolist()
        assert not found.top_values[number, len(order) :].any()


# the same everywhere -----------------------------------------------------------------------------
def answers(edges, n, **options):
    found = local_clusters(matrix(edges, n), [1, 2, [5, 6], 9, 1], top=5, **options)
    return [
        *(array.tolist() for array in (found.indptr, found.indices, found.values, found.profiles)),
        *(array.tolist() for array in (found.sizes, found.cuts, found.iterations, found.edges)),
        *(array.tolist() for array in (found.residual, found.top_indices, found.top_values)),
    ]


@pytest.mark.parametrize("method", METHODS)
def test_every_device_gives_the_same_bits(device, method):
    if device == "reference":
        pytest.skip("what the others are compared with")
    edges = drawn(90, 400, 5)
    options = {"method": method, "alpha": 0.07, "rho": 3e-5}
    found = answers(edges, 90, **options)
    assert found == bits_of_reference(method)


@functools.cache
def bits_of_reference(method):
    with gb.device("reference"):
        return answers(drawn(90, 400, 5), 90, method=method, alpha=0.07, rho=3e-5)


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_the_number_of_threads_changes_nothing(threads):
    edges = drawn(90, 400, 5)
    options = {"method": "push", "alpha": 0.07, "rho": 3e-5}
    before = override(threads=threads)
    try:
        with gb.device("cpu"):
            found = answers(edges, 90, **options)
    finally:
        restore(before)
    assert found == bits_of_reference("push")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("lacking", ["table", "device", "pool", "both", "sort"])
def test_too_little_room_changes_nothing(device, monkeypatch, method, lacking):
    if device == "reference" and (method, lacking) not in (("push", "both"), ("fista", "sort")):
        pytest.skip("Python takes a second for each, and runs what the cpu compiles")
    edges = drawn(90, 400, 5)
    options = {"method": method, "alpha": 0.07, "rho": 3e-5}
    expected = bits_of_reference(method)
    if lacking in ("table", "both", "device"):
        # The second table does for some problems, the whole device for the others, or for all.
        limits = {1 << 16: 20, 1 << 18: 85, 4096: 85}
        monkeypatch.setattr(solve, "_sizes", lambda n, slots: (4096, limits[slots]))
        monkeypatch.setattr(solve, "MOST_SLOTS", 1 << 18)
    if lacking in ("table", "both"):
        monkeypatch.setattr(solve, "_FEW", 0)
        limits[1 << 20] = 0
    if lacking in ("pool", "both"):
        monkeypatch.setattr(solve, "_room", lambda limit, problems: 4)
    if lacking == "sort":
        monkeypatch.setattr(sweeping, "MOST_ROOM", 16)
    assert answers(edges, 90, **options) == expected


def test_one_problem_that_spreads_takes_a_whole_gpu(device, monkeypatch):
    A, taken = matrix(drawn(90, 400, 5), 90), []
    options = {"alpha": 0.07, "rho": 3e-5}
    expected = local_clusters(A, [9, 5], **options)
    monkeypatch.setattr(solve, "_sizes", lambda n, slots: (4096, 20 if slots == 1 << 13 else n))
    whole = solve.fista_everywhere
    monkeypatch.setattr(solve, "fista_everywhere", lambda *given: taken.append(1) or whole(*given))
    found = local_clusters(A, [9], **options)
    part = expected._part(0)
    assert found.indices.tolist() == expected.indices[part].tolist()
    assert found.values.tolist() == expected.values[part].tolist()
    assert taken == [1] * gb.device_traits(A.device).own_memory


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("workers", [1000, 3])
def test_many_problems_are_drawn_by_few_workers(device, monkeypatch, method, workers):
    A = matrix(drawn(30, 60, 9), 30)
    options = {"method": method, "alpha": 0.3, "rho": 1e-2, "max_iterations": 5}
    monkeypatch.setattr(solve, "_LAUNCH_BYTES", workers * solve._SLOT_BYTES * 4096)
    seeds = np.arange(150) % 30
    many = local_clusters(A, seeds, **options)
    alone = local_clusters(A, range(30), **options)
    assert len(many) == 150
    for number in range(150):
        part, whole = many._part(number), alone._part(number % 30)
        assert many.indices[part].tolist() == alone.indices[whole].tolist()
        assert many.values[part].tolist() == alone.values[whole].tolist()
        assert many.sizes[number] == alone.sizes[number % 30]


@pytest.mark.parametrize("method", METHODS)
def test_rows_too_long_for_a_warp_on_the_whole_device(device, monkeypatch, method):
    if device == "reference":
        pytest.skip("has no warps, and takes a minute")
    ring = np.arange(2600)
    edges = np.concatenate(
        [[(0, i) for i in range(2, 2600)], np.column_stack([ring, (ring + 1) % 2600])]
    )
    options = {"method": method, "alpha": 0.3, "rho": 1e-5, "max_iterations": 4}
    expected = local_clusters(matrix(edges, 2600), [9, [0, 5]], **options)
    monkeypatch.setattr(solve, "_sizes", lambda n, slots: (4096, 2))
    found = local_clusters(matrix(edges, 2600), [9, [0, 5]], **options)
    assert len(found.indices) > 1000
    for name in ("indptr", "indices", "values", "sizes", "cuts", "iterations", "edges", "residual"):
        assert getattr(found, name).tolist() == getattr(expected, name).tolist(), name


@pytest.mark.parametrize("method", ["fista", "push"])
def test_ctrl_c_ends_one_long_seed(method):
    # A ring: either method would take minutes.
    n = 5000
    ring = [(v, (v + 1) % n) for v in range(n)]
    A = matrix(ring, n)
    options = {"fista": {"alpha": 1e-4, "rho": 1e-9, "tolerance": 0.0, "max_iterations": 10**9},
               "push": {"alpha": 1e-9, "rho": 1e-13}}[method]  # fmt: skip
    # What it compiles is there when the clock begins.
    expected = local_clusters(A, 3, method=method, alpha=0.1, rho=1e-3).indices
    timer = threading.Timer(0.2, _thread.interrupt_main)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        local_clusters(A, 3, method=method, **options)
    timer.join()
    found = local_clusters(A, 3, method=method, alpha=0.1, rho=1e-3).indices
    assert found.tolist() == expected.tolist()


def test_progress_is_told(device):
    told = []
    local_clusters(
        matrix(drawn(40, 90, 6), 40), [1, 2, 3], method="push", alpha=0.1, rho=1e-2,
        progress=lambda done, total: told.append((done, total)),
    )  # fmt: skip
    assert told[-1] == (3, 3)


# what is given -----------------------------------------------------------------------------------
def test_loops_directions_and_values_are_no_matter(device):
    edges = drawn(50, 120, 7)
    options = {"method": "push", "alpha": 0.1, "rho": 1e-4}
    plain = local_clusters(matrix(edges, 50), [3, 4], **options)
    loops = np.concatenate([edges, edges[:, ::-1], np.repeat(np.arange(50), 2).reshape(50, 2)])
    both = gb.Matrix.from_coo(*loops.T, np.arange(len(loops)), nrows=50, ncols=50, dup_op="first")
    for symmetric in (False, True):
        found = local_clusters(both, [3, 4], symmetric=symmetric, **options)
        assert found.indices.tolist() == plain.indices.tolist()
        assert found.values.tolist() == plain.values.tolist()
        assert found.conductance.tolist() == plain.conductance.tolist()


def test_two_vertices(device):
    found = local_clusters(matrix([(0, 1)], 2), 0, method="push", alpha=0.5, rho=1e-3)
    assert found.cluster().tolist() == [0]
    assert found.conductance.tolist() == [1.0]


def test_so_large_a_threshold_that_nothing_moves(device):
    A = matrix(drawn(50, 120, 7), 50)
    for method in METHODS:
        found = local_clusters(A, [3, 4], method=method, alpha=0.5, rho=1.0, top=2)
        assert len(found.indices) == 0
        assert found.sizes.tolist() == [0, 0]
        assert found.conductance.tolist() == [2.0, 2.0]
        assert found.top_indices.tolist() == [[-1, -1], [-1, -1]]
        assert found.diffusion(1).nvals == 0


def test_phi_and_volume_are_other_names_of_alpha_and_rho(device):
    A = matrix(diffusions.chesapeake(), 39)
    found = local_clusters(A, 0, phi=0.25, volume=10, max_iterations=2)
    assert found.alpha == pytest.approx(0.25**2 / (225 * np.log(100 * np.sqrt(170))))
    assert found.rho == pytest.approx(2 ** -(1 + np.log2(10)) / (48 * np.log2(170)))
    large = local_clusters(A, 0, volume=1e6, max_iterations=2)
    assert large.rho == pytest.approx(1 / 170 / (48 * np.log2(170)))


@every(
    ("seeds", "options", "error", "words"),
    [
        ([], {}, InvalidValue, "seeds is empty"),
        ([[1], []], {}, InvalidValue, "set 1 of seeds is empty"),
        ([1, 99], {}, IndexOutOfBound, "99"),
        ([1.5], {}, InvalidIndex, "1.5"),
        ("a", {}, InvalidIndex, "a"),
        ([1, 49], {}, InvalidValue, "seed 49 has no neighbours .1 of 2"),
        ([1], {"method": "heat"}, InvalidValue, "'fista' or 'push'"),
        ([1], {"alpha": 0.0}, InvalidValue, "alpha=0.0 must be greater"),
        ([1], {"alpha": np.nan}, InvalidValue, "alpha=nan"),
        ([1], {"alpha": 1.5}, InvalidValue, "alpha=1.5"),
        ([1], {"rho": -1.0}, InvalidValue, "rho=-1.0"),
        ([1], {"rho": 1e-20}, InvalidValue, "larger rho"),
        ([1], {"alpha": 0.1, "phi": 0.5}, InvalidValue, "alpha and phi"),
        ([1], {"rho": 0.1, "volume": 5}, InvalidValue, "rho and volume"),
        ([1], {"volume": 0}, InvalidValue, "volume=0"),
        ([1], {"tolerance": -1}, InvalidValue, "tolerance=-1"),
        ([1], {"max_iterations": 0}, InvalidValue, "max_iterations"),
        ([1], {"top": 0}, InvalidValue, "top"),
    ],
)
def test_wrong_input_is_refused(device, seeds, options, error, words):
    A = matrix([*drawn(40, 90, 8), (41, 42)], 50)
    with pytest.raises(error, match=words):
        local_clusters(A, seeds, **options)


def test_what_is_no_square_matrix_is_refused(device):
    with pytest.raises(DimensionMismatch, match="square"):
        local_clusters(gb.Matrix.from_coo([0], [1], 1.0, nrows=2, ncols=3), 0)
    with pytest.raises(DomainMismatch, match="Matrix"):
        local_clusters(np.eye(3), 0)
    empty = gb.Matrix("FP64", 3, 3)
    with pytest.raises(InvalidValue, match="no neighbours"):
        local_clusters(empty, 0)
    with pytest.raises(IndexOutOfBound):
        local_clusters(gb.Matrix("FP64", 0, 0), 0)


def test_what_was_not_asked_for_is_refused(device):
    found = local_clusters(matrix([(0, 1), (1, 2)], 3), 0, alpha=0.5, rho=1e-3, sweep=False)
    for ask in (found.cluster, found.profile, lambda: found.top_indices, lambda: found.conductance):
        with pytest.raises(InvalidValue, match="call local_clusters with"):
            ask()
    with pytest.raises(IndexOutOfBound, match="problem 1 of 1"):
        found.diffusion(1)


# what is told ------------------------------------------------------------------------------------
def test_facts_and_a_table(device):
    found = local_clusters(
        matrix(drawn(50, 120, 7), 50), [3, 4], method="push", alpha=0.1, rho=1e-3
    )
    facts = found.facts()
    assert facts["problems"] == facts["converged"] == 2
    assert facts["values"] == len(found.indices)
    assert facts["least_conductance"] == found.conductance.min()
    table = found.table()
    assert {len(column) for column in table.values()} == {facts["values"]}
    for number in range(2):
        inside = (table["problem"] == number) & table["in_cluster"]
        assert table["vertex"][inside].tolist() == found.cluster(number).tolist()
        dense = found.diffusion(number)
        assert dense.device == device
        assert dense.to_dense(0).tolist() == values_of(found, number, 50).tolist()
    assert "least_conductance" in repr(found)


def test_seeds_in_files(tmp_path):
    path = tmp_path / "seeds.txt"
    path.write_text("# two problems\n3\n\n4, 5 6\n")
    assert read_seeds(str(path), 10) == [[3], [4, 5, 6]]
    names = np.array(["a", "b", "c"], object)
    path.write_text("b\na c\n")
    assert read_seeds(str(path), 3, names) == [[1], [0, 2]]
    for text, words, labels in (
        ("1\n10\n", r"line 2: vertex 10 is outside \[0, 9\]", None),
        ("-1\n", r"vertex -1 is outside \[0, 9\]", None),
        ("1 x\n", "line 1: 'x' is no vertex number", None),
        ("a\nd\n", "line 2: 'd' is no vertex of the graph", names),
    ):
        path.write_text(text)
        with pytest.raises(FileFormatError, match=words):
            read_seeds(str(path), 10, labels)
    with pytest.raises(MissingFile, match="no such file"):
        read_seeds(str(tmp_path / "none"), 3)


@pytest.mark.parametrize("problems", [1, 3, 9])
def test_a_picture_of_sweeps(tmp_path, problems):
    pytest.importorskip("matplotlib")
    A = matrix(drawn(50, 120, 7), 50)
    found = local_clusters(A, range(problems), method="push", alpha=0.1, rho=1e-3)
    path = tmp_path / "sweep.svg"
    draw(found, A, str(path))
    text = path.read_text()
    assert "</svg>" in text
    if problems != 3:
        return
    draw(found, A, str(path))
    ids = re.compile(r'(id|href)="[^"]*"|url[(][^)]*[)]')
    assert ids.sub("", path.read_text()) == ids.sub("", text)


def test_the_row_is_that_of_the_function():
    row = gb.apps.rows()["local_clusters"]
    assert gb.apps.local_clusters is local_clusters
    assert row.module == local_clusters.__module__


def test_memory_grows_with_problems_and_stays_small_on_small_graphs():
    assert memory(10**7, 2) == 2 * memory(10**7, 1)
    assert memory(30, 1) < memory(10**6, 1)
