"""Algorithms that drive blocks of vectors: same results whichever way their products go."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csgraph, csr_array

import semira as gb
from semira.algorithms import (
    all_pairs_shortest_paths,
    betweenness_centrality,
    multi_source_bfs,
)

#: Vertices and searches: few enough searches to be a block.
N, SOURCES = 70, [0, 31, 47, 5]
WAYS = [{"policy": "auto"}, {"direction": "push"}, {"direction": "pull"}, {"policy": "graphblast"}]

ways = pytest.mark.parametrize("opts", WAYS, ids=str)


def random_graph(device: str, dtype: str):
    rng = np.random.default_rng(7)
    rows, columns = rng.integers(0, N, 6 * N), rng.integers(0, N, 6 * N)
    values = np.ones(6 * N) if dtype == "BOOL" else rng.integers(1, 9, 6 * N)
    with gb.device(device):
        return gb.Matrix.from_coo(rows, columns, values, dtype, nrows=N, ncols=N, dup_op="first")


def directions(trace) -> list[str]:
    return [row.direction for row in trace]


@ways
def test_searches_from_many_sources(device, opts):
    A = random_graph(device, "BOOL")
    found = multi_source_bfs(A, SOURCES, **opts)
    expected = [multi_source_bfs(A, [source], together=True).level.to_dict() for source in SOURCES]
    assert found.level.to_dicts() == dict(enumerate(expected))
    ran = directions(found.trace)
    assert len(ran) == found.iterations
    if "direction" in opts:
        assert set(ran) == {opts["direction"]}
    else:
        # Few entries push, many pull.
        assert ran[0] == "push"
        assert "pull" in ran


@ways
def test_betweenness_in_batches(device, opts):
    A = random_graph(device, "BOOL")
    found = betweenness_centrality(A, sources=SOURCES, batch=4, normalized=False, **opts)
    wanted = betweenness_centrality(A, sources=SOURCES, batch=1, normalized=False)
    np.testing.assert_allclose(
        found.centrality.to_dense(fill_value=0), wanted.centrality.to_dense(fill_value=0)
    )
    searches = directions(found.trace)
    assert opts.get("direction") or {"push", "pull"} <= set(searches)


@ways
def test_shortest_paths_from_blocks_of_sources(device, opts):
    A = random_graph(device, "FP64")
    found = all_pairs_shortest_paths(A, algorithm="sources", block=4, **opts)
    edges = csr_array(A.to_dense(fill_value=0))
    np.testing.assert_array_equal(
        found.distance.to_dense(fill_value=np.inf), csgraph.shortest_path(edges)
    )
    ran = set(directions(found.trace))
    if "direction" in opts:
        assert ran == {opts["direction"]}
    elif opts or device != "cpu":
        # Small products without a mask have one way on the processor.
        assert ran == {"push", "pull"}


def test_a_loop_records_a_product_under_a_complemented_mask(device):
    A = random_graph(device, "BOOL")
    with gb.device(device):
        frontier = gb.Matrix.from_coo([0, 1], [3, 9], True, nrows=2, ncols=N)
    seen = frontier.dup()

    def step():
        frontier(~seen.S, replace=True) << frontier.mxm(A, "any_pair")
        seen(frontier.S) << True
        return frontier.nvals > 0

    loop = gb.repeat(step)
    assert loop.stopped_by == "condition"
    assert len(loop.trace) == loop.iterations
    assert seen.nvals == multi_source_bfs(A, [3, 9]).reached


def test_a_loop_takes_products_whose_size_nothing_bounds(device):
    A = random_graph(device, "INT64")
    in_loop, alone = A.dup(), A.dup()

    def step():
        longer = in_loop.mxm(A, "min_plus").new()
        in_loop(accum=gb.binary.min) << longer

    loop = gb.repeat(step, max_iterations=3)
    for _ in range(3):
        alone(accum=gb.binary.min) << alone.mxm(A, "min_plus").new()
    assert loop.iterations == 3
    assert in_loop.nvals > A.nvals
    assert in_loop.isequal(alone)


def test_explain_says_that_the_host_reads_a_size(device):
    A = random_graph(device, "INT64")
    B, C = A.dup(), A.dup()

    def open_step():
        B << B.mxm(A, "min_plus")

    def masked():
        C(A.S, replace=True, method="dot") << A.mxm(A.T, "plus_pair")

    assert "the host reads its size" in str(gb.explain(open_step, max_iterations=2, device="cuda"))
    assert "reads its size" not in str(gb.explain(masked, max_iterations=2, device="cuda"))


def test_many_named_results_of_a_block_are_pulled_by_column(device):
    """Few are gathered one by one; what comes of it is the same."""
    A, rng = random_graph(device, "FP64"), np.random.default_rng(5)
    found = {}
    for share in (0.1, 0.9):
        named = np.argwhere(rng.random((4, N)) < share).T
        with gb.device(device):
            mask = gb.Matrix.from_coo(*named, True, nrows=4, ncols=N)
            F = gb.Matrix.from_coo(
                np.arange(4).repeat(9),
                rng.integers(0, N, 36),
                2.0,
                nrows=4,
                ncols=N,
                dup_op="first",
            )
        for opts in ({}, {"direction": "pull"}, {"method": "dot"}, {"direction": "push"}):
            with gb.tracing() as run:
                got = F.mxm(A, "plus_times").new(mask=mask.S, **opts)
            (row,) = run.rows
            found[share, str(opts)] = row.method
            wanted = np.where(mask.to_dense(False), F.to_dense(0) @ A.to_dense(0), 0)
            np.testing.assert_allclose(got.to_dense(0), wanted)
    assert {found[0.1, "{}"], found[0.1, str({"direction": "pull"})]} == {"dot"}
    assert {found[0.9, "{}"], found[0.9, str({"direction": "pull"})]} == {"pull"}
    assert found[0.9, str({"direction": "push"})] in ("dense", "hash")
