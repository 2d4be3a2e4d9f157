"""Products whose left operand is a block of vectors: push, pull and the rule, on the GPU."""

from __future__ import annotations

import numpy as np
import pytest

import semira as gb
from semira import exceptions

pytestmark = pytest.mark.gpu

N, ENTRIES = 900, 7000
ROWS = [1, 7, 32, 33, 70]
SEMIRINGS = [
    ("any_pair", "BOOL"), ("min_pair", "INT32"), ("lor_land", "BOOL"), ("plus_first", "FP64"),
    ("min_plus", "FP32"), ("plus_times", "INT8"), ("min_secondi", "INT64"),
    ("any_second", "UINT16"), ("plus_times", "FC64"),
]  # fmt: skip
MASKS = [None, (True, True), (True, False), (False, True), (False, False)]


def graph(dtype: str, seed: int, device: str = "cuda"):
    """Return a graph with columns of more than 2,048 entries when `ENTRIES` is drawn to hubs."""
    rng = np.random.default_rng(seed)
    rows, columns = rng.integers(0, N, ENTRIES), (N * rng.random(ENTRIES) ** 3).astype(int)
    values = rng.integers(1, 4, ENTRIES)
    with gb.device(device):
        return gb.Matrix.from_coo(rows, columns, values, dtype, nrows=N, ncols=N, dup_op="first")


def block(rows: int, dtype: str, seed: int, count: int, device: str = "cuda", high: int = 4):
    """Return a matrix of so many rows, the last of them empty where there are several."""
    rng = np.random.default_rng(seed)
    i, j = rng.integers(0, max(1, rows - 1), count), rng.integers(0, N, count)
    values = rng.integers(0, high, count)
    with gb.device(device):
        return gb.Matrix.from_coo(i, j, values, dtype, nrows=rows, ncols=N, dup_op="first")


def mask_of(given, matrix):
    if given is None:
        return None
    structural, complement = given
    mask = matrix.S if structural else matrix.V
    return ~mask if complement else mask


def entries(matrix):
    rows, columns, values = matrix.to_coo()
    return list(zip(rows.tolist(), columns.tolist(), np.asarray(values).tolist(), strict=True))


def both_ways(name: str, dtype: str, rows: int, mask, *, count: int = 300, seed: int = 1) -> None:
    """Compare push and pull on the GPU with the processor."""
    found = {}
    for device, ways in (("cpu", [{}]), ("cuda", [{"direction": "push"}, {"method": "pull"}])):
        A, F = graph(dtype, seed, device), block(rows, dtype, seed + 1, count, device)
        M = block(rows, "INT8", seed + 2, 8 * rows, device, high=2)
        for way in ways:
            made = F.mxm(A, f"{name}").new(mask=mask_of(mask, M), **way)
            found[device, *way.values()] = made.dtype, entries(made)
    if name.startswith("any_") and name != "any_pair":
        # Any of the values will do.
        found = {way: (kind, [e[:2] for e in got]) for way, (kind, got) in found.items()}
    wanted = found.pop(("cpu",))
    for way, got in found.items():
        assert got == wanted, way


@pytest.mark.parametrize(("name", "dtype"), SEMIRINGS)
def test_pull_of_every_kind_of_semiring(name, dtype):
    both_ways(name, dtype, 33, (True, True))


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize(("name", "dtype"), [("any_pair", "BOOL"), ("plus_first", "FP64")])
def test_pull_under_every_mask(name, dtype, mask):
    both_ways(name, dtype, 7, mask)


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize(("name", "dtype"), [("any_pair", "BOOL"), ("min_plus", "FP32")])
def test_pull_of_every_height(name, dtype, rows):
    both_ways(name, dtype, rows, None)


@pytest.mark.parametrize(("name", "dtype"), [("any_pair", "BOOL"), ("plus_first", "FP64")])
def test_long_columns_get_a_block_of_threads(name, dtype, monkeypatch):
    # Every vertex but a few leads to vertex 0.
    n = 2600
    results = []
    for device, way in (("cpu", {}), ("cuda", {"direction": "pull"})):
        with gb.device(device):
            rows = np.r_[np.arange(n), np.arange(n)]
            columns = np.r_[np.zeros(n, int), (np.arange(n) + 1) % n]
            A = gb.Matrix.from_coo(rows, columns, 1, dtype, nrows=n, ncols=n, dup_op="first")
            i, j = np.arange(40), np.arange(40) * 60
            F = gb.Matrix.from_coo(i, j, np.arange(40) + 1, dtype, nrows=40, ncols=n)
        results.append(entries(F.mxm(A, name).new(**way)))
    assert results[0] == results[1]
    assert len([each for each in results[1] if each[1] == 0]) == 40


def test_a_block_stays_a_block_from_product_to_product():
    A, F = graph("BOOL", 1), block(32, "BOOL", 2, 32)
    G = block(32, "BOOL", 2, 32, "cpu")
    B = graph("BOOL", 1, "cpu")
    with gb.tracing() as run:
        for _ in range(4):
            F = F.mxm(A, "any_pair").new(direction="pull")
    for _ in range(4):
        G = G.mxm(B, "any_pair").new()
    assert [row.direction for row in run.rows] == ["pull"] * 4
    assert "block" in F.memory_usage()
    assert entries(F) == entries(G)
    # Rows are made of the block, and pushed.
    assert entries(F.mxm(A, "any_pair").new(direction="push")) == entries(
        G.mxm(B, "any_pair").new()
    )


def test_other_statements_read_what_was_pulled():
    A, F = graph("FP64", 1), block(32, "FP64", 2, 64)
    B, G = graph("FP64", 1, "cpu"), block(32, "FP64", 2, 64, "cpu")
    F(accum="plus") << F.mxm(A, "plus_first").new(direction="pull")
    G(accum="plus") << G.mxm(B, "plus_first").new()
    assert entries(F) == entries(G)
    F(accum="plus", direction="pull") << F.mxm(A, "plus_first")
    G(accum="plus") << G.mxm(B, "plus_first")
    assert entries(F) == entries(G)
    turned = F.T.new()
    assert entries(turned.T.mxm(A, "plus_first").new(direction="pull")) == entries(
        G.mxm(B, "plus_first").new()
    )


def test_an_empty_operand_or_result_has_nothing():
    A = graph("BOOL", 1)
    with gb.device("cuda"):
        nothing = gb.Matrix("BOOL", 8, N)
        full = gb.Matrix.from_coo(
            np.repeat(np.arange(8), N), np.tile(np.arange(N), 8), True, nrows=8, ncols=N
        )
    assert nothing.mxm(A, "any_pair").new(direction="pull").nvals == 0
    assert full.mxm(A, "any_pair").new(mask=~full.S, direction="pull").nvals == 0


def test_the_rule_switches_and_keeps_its_way_in_between():
    with gb.device("cuda"):
        A = graph("BOOL", 1)
        frontier = gb.Matrix.from_coo(np.arange(4), np.arange(4) * 100, True, nrows=4, ncols=N)
    seen = frontier.dup()
    ways = []
    while frontier.nvals:
        with gb.tracing() as run:
            frontier = frontier.mxm(A, "any_pair").new(mask=~seen.S)
        seen(frontier.S) << True
        ways += [row.direction for row in run.rows]
    assert ways[0] == "push"
    assert "pull" in ways


def test_a_pinned_pull_that_does_not_fit_is_refused(monkeypatch):
    from semira.backends.cuda.staged import blocks

    def refuse(*_given):
        raise exceptions.OutOfMemory("blocks of vectors need more")

    monkeypatch.setattr(blocks, "require", refuse)
    A, F = graph("BOOL", 1), block(4, "BOOL", 2, 600)
    with pytest.raises(exceptions.OutOfMemory):
        F.mxm(A, "any_pair").new(direction="pull")
    with gb.tracing() as run:
        F.mxm(A, "any_pair").new()
    assert [row.direction for row in run.rows] == ["push"]


def test_many_named_results_are_pulled_where_there_is_memory(monkeypatch):
    from semira.backends.cuda.staged import blocks

    A, F = graph("FP64", 1), block(4, "FP64", 2, 600)
    many, few = block(4, "BOOL", 3, 4 * N), block(4, "BOOL", 4, 40)

    def methods() -> list[str]:
        with gb.tracing() as run:
            found.extend(F.mxm(A, "plus_times").new(mask=mask.S) for mask in (many, few))
        return [row.method for row in run.rows]

    def refuse(*_given):
        raise exceptions.OutOfMemory("blocks of vectors need more")

    found: list = []
    assert methods() == ["pull", "dot"]
    monkeypatch.setattr(blocks, "require", refuse)
    assert methods() == ["dot", "dot"]
    assert found[0].isclose(found[2])
    assert found[1].isequal(found[3])


def test_walks_see_how_frontiers_are_stored():
    from benchmarks.studies.block_levels import Levels, walk_centrality, walk_searches

    A = graph("BOOL", 1)
    for walk in (walk_searches, walk_centrality):
        levels = Levels("cuda", 1, walk is walk_searches)
        walk(A, [3, 40, 800], levels)
        assert all(row["agree"] for row in levels.rows)
        made = {(row["auto"]["method"] == "pull", row["made"]) for row in levels.rows}
        # A product without entries is made of nothing, in rows.
        assert (True, "block") in made
        assert (False, "block") not in made
