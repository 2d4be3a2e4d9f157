"""Kronecker graphs drawn where they are measured; NumPy stands in for the device's arrays."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tests.helpers.every import every

from semira.bench import drawn, graphs, verify
from semira.bench.drawn import draw_kronecker, draw_spec
from semira.bench.graphs import load_bench_graph, rows_of_entries
from semira.bench.ours import semira_library
from semira.bench.runner import Preset, run_kernel
from semira.formats import hash_weights


@pytest.fixture
def small_slices(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Slices of a few draws, and a module of arrays that is not NumPy."""
    monkeypatch.setattr(drawn, "_SLICE", 1000)
    monkeypatch.setattr(drawn, "_PIECE", 1500)
    monkeypatch.setattr(drawn, "FROM_SCALE", 8)
    return SimpleNamespace(**{**vars(np), "random": np.random})


def test_arrays_are_a_symmetric_graph(small_slices: Any) -> None:
    made = draw_kronecker(small_slices, 8, 8)
    rows, cols, values = made.to_coo()
    keys = rows.astype(np.int64) * 256 + cols
    assert np.all(np.diff(keys) > 0)
    assert not np.any(rows == cols)
    there = {*zip(rows.tolist(), cols.tolist(), values.tolist(), strict=True)}
    assert there == {(head, tail, value) for tail, head, value in there}
    assert np.array_equal(values, hash_weights(rows, cols, 0))
    assert made.symmetric is True


def test_slices_change_nothing_but_the_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is sorted is cut anywhere; equal seeds give equal graphs."""
    whole = draw_kronecker(np, 8, 8, seed=3)
    again = draw_kronecker(np, 8, 8, seed=3)
    assert np.array_equal(whole.indices, again.indices)
    other = draw_kronecker(np, 8, 8, seed=4)
    assert not np.array_equal(whole.indices[:100], other.indices[:100])
    keys = np.sort(np.random.default_rng(0).integers(0, 50, 1000))
    monkeypatch.setattr(drawn, "_SLICE", 7)
    parts = [drawn._first_of_each(np, keys, first) for first in range(0, 1000, 7)]
    assert np.array_equal(np.concatenate(parts), np.unique(keys))


@pytest.mark.parametrize("piece", [1, 100, 4095])
@pytest.mark.parametrize("weights", [True, False])
def test_sorting_in_pieces_changes_nothing(
    monkeypatch: pytest.MonkeyPatch, piece: int, weights: bool
) -> None:
    whole = draw_kronecker(np, 8, 8, seed=3, weights=weights)
    monkeypatch.setattr(drawn, "_PIECE", piece)
    parts = draw_kronecker(np, 8, 8, seed=3, weights=weights)
    for name in ("indptr", "indices", "values"):
        assert np.array_equal(getattr(parts, name), getattr(whole, name))
        assert getattr(parts, name).dtype == getattr(whole, name).dtype


def test_pieces_are_ranges_of_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawn, "_PIECE", 100)
    monkeypatch.setattr(drawn, "_SLICE", 64)
    keys = np.random.default_rng(0).integers(0, 1 << 12, 790)
    pieces = [*drawn._sorted_pieces(np, keys.copy(), 6)]
    assert len(pieces) == 8
    assert max(map(len, pieces)) < 130
    assert np.array_equal(np.concatenate(pieces), np.sort(keys))
    rows = [{*(piece >> 6).tolist()} for piece in pieces]
    assert sum(map(len, rows)) == len(set().union(*rows)), "no row is in two"


def test_the_distribution_is_the_hosts() -> None:
    """As many entries, and hubs as large, within what other random numbers change."""
    from semira.generators import generate
    from semira.io import arrays_of, from_edges

    host = arrays_of(from_edges(generate("kron:12,ef=16"), dup_op="min"))
    ours = draw_kronecker(np, 12, 16, weights=False)
    assert ours.nvals == pytest.approx(host.nvals, rel=0.01)
    degrees = [np.sort(np.diff(each.indptr))[::-1] for each in (host, ours)]
    np.testing.assert_allclose(degrees[0][:20], degrees[1][:20], rtol=0.25)
    assert np.count_nonzero(degrees[1]) == pytest.approx(np.count_nonzero(degrees[0]), rel=0.03)


def test_large_kronecker_graphs_alone_are_drawn(small_slices: Any) -> None:
    assert draw_spec("kron:9", np) is None
    for spec in ("kron:7", "kron:9,self_loops=yes", "kron:9,symmetric=no", "rgg:9"):
        assert draw_spec(spec, small_slices) is None
    made = draw_spec("rmat:9,ef=4,weights=uniform", small_slices)
    assert made is not None
    assert (made.nrows, made.dtype.name) == (512, "INT32")
    pattern = draw_spec("kron:9", small_slices, weights=False)
    assert pattern is not None
    assert (pattern.iso, pattern.dtype.name) == (True, "BOOL")


def test_algorithms_are_right_on_drawn_graphs(small_slices: Any) -> None:
    freed: list[int] = []
    pool = SimpleNamespace(free_all_blocks=lambda: freed.append(1))
    small_slices.get_default_memory_pool = lambda: pool
    graph = load_bench_graph("kron:8,ef=8", None, small_slices)
    assert freed, "memory of sorting is given back before anything is measured"
    graph.xp = np
    preset = Preset(dict.fromkeys(("bfs", "sssp", "cc"), 1), 1.0)
    for kernel in ("bfs", "sssp", "cc"):
        (record,) = run_kernel(kernel, graph, [semira_library("cpu")], preset, both_ways=True)
        assert (record.verified, record.note) == (True, "")


def test_rows_of_entries_are_those_of_the_host(small_slices: Any) -> None:
    graph = load_bench_graph("er:50,degree=1")
    indptr = graph.arrays.ordinary().indptr
    assert np.array_equal(rows_of_entries(np, indptr), graph.tails)
    assert len(rows_of_entries(np, np.array([0, 0, 0]))) == 0


@every("size", [1, 7, 60, 10_000])
@every("spec", ["er:50,degree=1", "kron:6", "grid:6x6"])
def test_slices_of_a_large_graph_are_its_edges(
    monkeypatch: pytest.MonkeyPatch, spec: str, size: int
) -> None:
    graph = load_bench_graph(spec)
    kept = [*graph.edges_by(size)]
    monkeypatch.setattr(graphs, "_KEPT", 0)
    made = [*graph.edges_by(size)]
    assert [len(tails) for tails, _ in made] == [len(tails) for tails, _ in kept]
    for which, expected in enumerate((graph.tails, graph.heads)):
        assert np.array_equal(np.concatenate([pair[which] for pair in made]), expected)


def test_levels_are_checked_by_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    import semira as gb

    monkeypatch.setattr(graphs, "_KEPT", 0)
    monkeypatch.setattr(verify, "_SLICE", 13)
    graph = load_bench_graph("kron:6")
    source = graph.sources(0)[0]
    with gb.device("cpu"):
        level = gb.algorithms.bfs(graph.matrix, source).level.to_dense(fill_value=-1)
    assert verify.check_levels(graph, source, level).ok
    assert "tails" not in vars(graph), "the ends of all edges were not made at once"
    last = int(np.argmax(level))
    level[last] += 1
    assert not verify.check_levels(graph, source, level).ok


def test_checksum_of_parts_follows_the_contents(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graphs, "_HASHED_IN_PARTS", 10)
    monkeypatch.setattr(graphs, "_HASHED_PART", 100)
    one, same, other = (load_bench_graph(f"kron:5,seed={seed}").checksum for seed in (1, 1, 2))
    assert one == same != other
    pattern = load_bench_graph("kron:5,seed=1", weights=False)
    assert pattern.checksum != one
    graph = load_bench_graph("kron:5,seed=1")
    graph.arrays.values[-1] += 1
    assert graph.checksum != one
