"""Vertex nomination against Dijkstra's algorithm from a vertex joined to all seeds."""

from __future__ import annotations

import heapq

import numpy as np
import pytest
from tests.helpers import chesapeake

import semira as gb
from semira.apps import nominate
from semira.apps.sampling import files as samples
from semira.apps.vertex_nomination import memory, picture, solve
from semira.apps.vertex_nomination.files import read_weights
from semira.exceptions import (
    DimensionMismatch,
    DomainMismatch,
    FileFormatError,
    FileReadError,
    IndexOutOfBound,
    InvalidIndex,
    InvalidValue,
    InvalidWeight,
    MissingFile,
    NegativeWeight,
)


@pytest.fixture(autouse=True)
def on_device(device):
    with gb.device(device):
        yield


def drawn(n, edges, seed, kind=np.int64):
    random = np.random.default_rng(seed)
    rows, columns = random.integers(0, n, (2, edges))
    weights = random.integers(0, 20, edges).astype(kind)
    if kind != np.int64:
        weights /= 7
    return gb.Matrix.from_coo(rows, columns, weights, nrows=n, ncols=n, dup_op="min")


def dijkstra(A, seeds, by_hops=False):
    """Return the distance from the nearest seed of each vertex that one reaches."""
    rows, columns, values = map(list, A.to_coo())  # FP32 is added up as such
    leaving = {}
    for i, j, w in zip(rows, columns, values, strict=True):
        leaving.setdefault(i, []).append((j, 1 if by_hops else w))
    found = {}
    waiting = [(0, seed) for seed in seeds]
    heapq.heapify(waiting)
    while waiting:
        d, v = heapq.heappop(waiting)
        if v in found:
            continue
        found[v] = d
        for u, w in leaving.get(v, ()):
            heapq.heappush(waiting, (d + w, u))
    return found


def ranking(distances, seeds):
    others = [v for v in distances if v not in seeds]
    return sorted(others, key=lambda v: (distances[v], v))


@pytest.mark.parametrize("kind", [np.int64, np.float32, np.float64])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("edges", [60, 200])
def test_ranks_are_by_distance_then_number(edges, weighted, kind):
    A = drawn(60, edges, edges, kind)
    sets = [[3], [3, 9, 9, 41], [0, 1, 2], [59]]
    together = nominate(A, sets, weighted=weighted)
    for number, seeds in enumerate(sets):
        expected = dijkstra(A, seeds, not weighted)
        order = ranking(expected, seeds)
        alone = nominate(A, seeds, weighted=weighted)
        for found, at in ((alone, 0), (together, number)):
            assert found.vertices(at).tolist() == order
            assert found.scores(at) == pytest.approx([expected[v] for v in order], rel=1e-6)
            row = found.distance[at, :].new().to_coo()
            assert row[0].tolist() == sorted(expected)
        best = nominate(A, seeds, weighted=weighted, top=5)
        assert best.vertices().tolist() == order[:5]
        assert best.scores().tolist() == alone.scores().tolist()[:5]
    assert together.facts()["wrong_distances"] == 0
    assert together.facts()["seeds"] == 8
    best = nominate(A, sets, weighted=weighted, top=5)
    for number in range(4):
        assert best.vertices(number).tolist() == together.vertices(number).tolist()[:5]


def test_the_values_of_the_specification():
    A = gb.Matrix.from_coo(*chesapeake.edges(), 1, nrows=39, ncols=39)
    cases = (
        ("21 15 5 23 3 29 22 26 33 4", "111000112222211011122000220120111011111"),
        ("21 19 3 28 20 25 23 26 13 38", "111011111111101111100010100101111211110"),
    )
    for seeds, distances in cases:
        found = nominate(A, list(map(int, seeds.split())), weighted=False)
        assert found.distance.to_dense()[0].tolist() == list(map(int, distances))
        # The last one is empty.
        assert found.iterations == 3


def test_sets_go_in_parts_that_fit():
    A = drawn(50, 150, 4)
    sets = [[v, (v + 7) % 50] for v in range(9)]
    whole = nominate(A, sets)
    for options in ({}, {"top": 3}):
        parts = nominate(A, sets, memory=4 * memory(A), **options)
        for number in range(9):
            count = len(parts.vertices(number)) if options else None
            assert parts.vertices(number).tolist() == whole.vertices(number).tolist()[:count]
            assert not options or count == min(3, len(whole.vertices(number)))
    assert nominate(A, sets, memory=1).distance.isequal(whole.distance)


def test_sets_one_by_one_are_the_same(monkeypatch):
    A = drawn(60, 200, 8, np.float64)
    sets = [[3, 4], [10], [30, 31]]
    whole = nominate(A, sets)
    monkeypatch.setattr(solve, "_LARGE", 0)
    alone = nominate(A, sets)
    assert alone.distance.isequal(whole.distance)
    assert alone.facts()["wrong_distances"] == 0


def test_contexts_are_weighed():
    A = drawn(60, 200, 8)
    sets, weights = [[3, 4], [10], [30, 31]], [1.0, 0.5, 2.0]
    found = nominate(A, sets, weights=weights)
    each = [dijkstra(A, seeds) for seeds in sets]
    known = {v for seeds in sets for v in seeds}
    scores = {
        v: sum(w * d[v] for w, d in zip(weights, each, strict=True))
        for v in range(60)
        if all(v in d for d in each) and v not in known
    }
    order = sorted(scores, key=lambda v: (scores[v], v))
    assert len(found) == 1
    assert found.vertices().tolist() == order
    assert found.scores().tolist() == [scores[v] for v in order]
    best = nominate(A, sets, weights=weights, top=4)
    assert best.vertices().tolist() == order[:4]


def test_content_is_added():
    A = drawn(60, 200, 8)
    content = np.random.default_rng(1).integers(0, 30, 60) / 4
    expected = dijkstra(A, [5])
    scores = {v: d + content[v] for v, d in expected.items() if v != 5}
    order = sorted(scores, key=lambda v: (scores[v], v))
    for given in (content, gb.Vector.from_dense(content)):
        found = nominate(A, [5], content=given)
        assert found.vertices().tolist() == order
        assert found.scores().tolist() == [scores[v] for v in order]
        assert nominate(A, [5], content=given, top=7).vertices().tolist() == order[:7]


def test_small_graphs():
    one = gb.Matrix(int, 1, 1)
    found = nominate(one, [0])
    assert (found.vertices().tolist(), len(found.table()["vertex"])) == ([], 0)
    assert found.facts()["nominated"] == 0
    assert nominate(gb.Matrix(float, 4, 4), [[0], [1, 2]], top=3).ranks.indptr.tolist() == [0, 0, 0]
    pattern = gb.Matrix.from_coo([0, 1], [1, 2], True, nrows=3, ncols=3)
    assert nominate(pattern, [0]).scores().tolist() == [1, 2]
    assert nominate(pattern, 0).vertices().tolist() == [1, 2]


def test_the_result_tells_itself(tmp_path):
    A = drawn(30, 90, 2)
    found = nominate(A, [[0], [1]])
    assert repr(found).startswith("Nomination(rankings=2, seeds=2, nominated=")
    table = found.table()
    assert list(table) == ["ranking", "rank", "vertex", "score"]
    second = table["ranking"] == 1
    assert table["rank"][second].tolist() == list(range(1, second.sum() + 1))
    assert table["vertex"][second].tolist() == found.vertices(1).tolist()
    picture.draw(found, None, str(tmp_path / "a.svg"))
    assert (tmp_path / "a.svg").stat().st_size > 1000
    with pytest.raises(InvalidValue, match="ranks alone"):
        nominate(A, [0], top=1).distance  # noqa: B018
    with pytest.raises(IndexOutOfBound, match="ranking 2 of 2"):
        found.vertices(2)


def test_wrong_input_is_refused(tmp_path):
    A = drawn(10, 30, 1)
    with pytest.raises(InvalidValue, match="set 0 of seeds is empty"):
        nominate(A, [])
    with pytest.raises(InvalidValue, match="set 1 of seeds is empty"):
        nominate(A, [[0], []])
    with pytest.raises(IndexOutOfBound, match="seeds 10 is outside"):
        nominate(A, [10])
    with pytest.raises(InvalidIndex, match="must be the number of a vertex"):
        nominate(A, ["ann"])
    with pytest.raises(InvalidValue, match="top=0"):
        nominate(A, [0], top=0)
    with pytest.raises(
        DimensionMismatch, match=r"weights has shape \(1,\); pass one for each of the 2 sets"
    ):
        nominate(A, [[0], [1]], weights=[1])
    with pytest.raises(NegativeWeight, match="-1 is negative"):
        nominate(A, [[0], [1]], weights=[1, -1])
    with pytest.raises(InvalidWeight, match=r"weights\[1\]=nan"):
        nominate(A, [[0], [1]], weights=[1, np.nan])
    with pytest.raises(DimensionMismatch, match=r"content has shape \(2,\)"):
        nominate(A, [0], content=[1, 2])
    with pytest.raises(DimensionMismatch, match="square"):
        nominate(gb.Matrix(int, 2, 3), [0])
    with pytest.raises(DomainMismatch, match="needs a Matrix"):
        nominate([[1]], [0])
    with pytest.raises(NegativeWeight, match="one is -1; remove such edges, or count edges with"):
        nominate(gb.Matrix.from_coo([0], [1], -1, nrows=2, ncols=2), [0])
    path = tmp_path / "weights"
    path.write_text("# of the sets\n1.5\n\n2\n")
    assert read_weights(str(path)) == [1.5, 2.0]
    path.write_text("1.5\nmany\n")
    with pytest.raises(FileFormatError, match="line 2: 'many' is no number"):
        read_weights(str(path))
    with pytest.raises(MissingFile):
        read_weights(str(tmp_path / "none"))


def test_who_is_infinitely_far_gets_no_weighted_score(device):
    with gb.device(device):
        A = gb.Matrix.from_coo([0, 1, 2], [1, 2, 0], [1, np.inf, 2.0])
    for weights in ([0, 1], [1, 1]):
        found = nominate(A, [[0], [1]], weights=weights)
        assert found.vertices().tolist() == []
    with pytest.raises(InvalidValue, match="content lacks 2 of 3"):
        nominate(A, [0], content=gb.Vector.from_coo([0], [1.0], size=3))


def test_distances_that_would_be_rounded_are_refused(device):
    with gb.device(device):
        A = gb.Matrix.from_coo([0, 1, 2], [1, 2, 3], [2**52, 2**52, 5], nrows=4, ncols=4)
        great = gb.Matrix.from_coo([0], [1], 2**53, nrows=2, ncols=2)
    for seeds in ([0], [[0], [1]]):
        with pytest.raises(InvalidValue, match=r"nominate: a distance is .*A.dup\(\"FP64\"\)"):
            nominate(A, seeds)
    with pytest.raises(InvalidValue, match=r"nominate: a weight is .*A.dup\(\"FP64\"\)"):
        nominate(great, [0])
    assert nominate(A.dup("FP64"), [0]).distance[0, 3].value == 2.0**53 + 5


def test_numbers_of_vertices_from_files(tmp_path):
    np.save(tmp_path / "complex.npy", [1j, 2])
    np.save(tmp_path / "half.npy", [0.5, 1])
    np.save(tmp_path / "objects.npy", np.array([None, "a"], object), allow_pickle=True)
    np.save(tmp_path / "numbers.npy", np.array([3, 4], np.uint64))
    (tmp_path / "bytes.txt").write_bytes(b"\xff\xfe")
    assert samples.numbers(f"{tmp_path}/numbers.npy", 2).tolist() == [3, 4]
    assert samples.vertices(f"{tmp_path}/numbers.npy").tolist() == [3, 4]
    for name in ("complex.npy", "objects.npy", "bytes.txt"):
        with pytest.raises(FileFormatError, match=name):
            samples.numbers(f"{tmp_path}/{name}", 2)
    with pytest.raises(FileFormatError, match="float64; give int64"):
        samples.vertices(f"{tmp_path}/half.npy")
    with pytest.raises(FileReadError, match="is a directory"):
        samples.numbers(f"{tmp_path}", 2)
