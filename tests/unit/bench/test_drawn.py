"""Kronecker graphs drawn where they are measured; NumPy stands in for the device's arrays."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from semira.bench import drawn, graphs
from semira.bench.drawn import draw_kronecker, draw_spec
from semira.bench.graphs import load_bench_graph, rows_of_entries
from semira.bench.ours import semira_library
from semira.bench.runner import Preset, run_kernel
from semira.formats import hash_weights


@pytest.fixture
def small_slices(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Slices of a few draws, and a module of arrays that is not NumPy."""
    monkeypatch.setattr(drawn, "_SLICE", 1000)
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
