"""The schedules of asynchronous_study.cu, on the emulated GPU beside SciPy's Dijkstra."""

from __future__ import annotations

import ctypes
import functools
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra
from tests.helpers.compile_kernels import complaint
from tests.helpers.emulated import build, driver, studies
from tests.helpers.every import every
from tests.unit.backends.cuda.test_compile import needs_nvrtc

needs_emulation = pytest.mark.skipif(
    not build.has_compiler(), reason="the emulation needs g++ on an x86-64 processor"
)


#: Nanoseconds of the emulated clock.
LIMIT = 60 * 10**9


study = functools.partial(studies.study, "asynchronous_study")
kernels = functools.partial(studies.kernels_of, "asynchronous_study")


class Gpu:
    """Memory and launches of one test."""

    def __init__(self, backwards: bool) -> None:
        self.driver = driver.EmulatedDriver()
        self.driver.backwards = backwards
        self.device = driver.EmulatedDevice(self.driver)
        self.kept: list[Any] = []

    def put(self, values: np.ndarray) -> tuple[int, np.ndarray]:
        """Return the address of a copy, and the copy."""
        buffer = self.device.allocate(max(values.nbytes, 16), stream=None)
        self.kept.append(buffer)
        start = buffer.handle - buffer.memory.ctypes.data
        view = buffer.memory[start : start + values.nbytes].view(values.dtype)
        view[:] = values.ravel()
        return buffer.handle, view

    def start(self, name: str, blocks: int, threads: int, shared: int, word: int) -> None:
        """Run a kernel whose blocks are all there at once."""
        given = (ctypes.c_int64 * driver.WORDS)(word)
        kernel = kernels().get_kernel(name).handle
        (status,) = self.driver._run(kernel, ctypes.addressof(given), (blocks, threads, shared), 1)
        assert not status, status.name


def search(
    graph: csr_array,
    variant: Any,
    start: int = 0,
    *,
    labels: bool = False,
    limit: int = LIMIT,
    backwards: bool = False,
) -> tuple[np.ndarray, dict[str, Any]]:
    """Return distances and outcome, launched as the script does on so many multiprocessors."""
    gpu, n = Gpu(backwards), graph.shape[0]
    blocks, words = variant.layout(n, driver.MULTIPROCESSORS)
    parts = {
        "indptr": graph.indptr.astype(np.int32),
        "indices": graph.indices.astype(np.int32),
        "weights": graph.data.astype(np.float32),
        "distance": np.full(n, np.nan, np.float32),
        "dirty": np.full(n // 32 + 1, 0xFFFFFFFF, np.uint32),
        "nearest": np.zeros(study().MOST_BLOCKS, np.uint32),
        "claimed": np.full(n, 1, np.uint32),
        "lists": np.full(2 * n, -1, np.int32),
        "control": np.zeros(study().CONTROL_BYTES // 8, np.uint64),
    }
    put = {name: gpu.put(part) for name, part in parts.items()}
    numbers = {name: place for name, (place, _) in put.items()}
    numbers |= {"vertices": n, "source": start, "limit": limit, "labels": int(labels)}
    problem, _ = gpu.put(study().members(variant, words, 1.0, numbers))
    gpu.start("prepare", 2, 64, 0, problem)
    gpu.start(variant.kind, blocks, variant.threads, variant.shared_bytes(words), problem)
    found = put["distance"][1].view(np.uint32 if labels else np.float32)
    return found.copy(), study().outcome(put["control"][1])


def weighted(n: int, edges: Any, seed: int = 0) -> csr_array:
    """Return a graph of edges with weights from 1 to 64, the lightest of parallel ones."""
    rows, cols = np.asarray(edges).T
    keys = np.unique(rows * n + cols)
    weights = np.random.default_rng(seed).integers(1, 65, len(keys)).astype(np.float64)
    return csr_array((weights, (keys // n, keys % n)), shape=(n, n))


def random_graph(n: int = 700, count: int = 2_500) -> csr_array:
    """Return a directed graph: loops, a row of many edges, vertices that are not reached."""
    rng = np.random.default_rng(n)
    edges = rng.integers(0, n - 20, (count, 2))
    fan = np.stack([np.full(150, 3), rng.integers(0, n - 20, 150)], axis=1)
    return weighted(n, np.concatenate([edges, fan, [[0, 3], [5, 5]]]))


def grid(side: int) -> csr_array:
    """Return a square grid, both ways."""
    at = np.arange(side * side).reshape(side, side)
    pairs = np.concatenate(
        [
            np.stack([at[:, :-1].ravel(), at[:, 1:].ravel()], axis=1),
            np.stack([at[:-1].ravel(), at[1:].ravel()], axis=1),
        ]
    )
    return weighted(side * side, np.concatenate([pairs, pairs[:, ::-1]]))


def shapes() -> list[Any]:
    variant = study().Variant
    return [
        variant("synchronous", 64, 2),
        variant("synchronous", 96, 1, ask=False),
        variant("local_rounds", 64, 2, 1, 64),
        variant("local_rounds", 32, 2, 1_000_000, 0),
        variant("local_rounds", 64, 1, 3, 200, ask=False),
        variant("free_running", 64, 2, 0, 64),
        variant("free_running", 32, 1, 0, 0),
        variant("free_running", 64, 1, 0, 300, ask=False, fences=False),
    ]


@needs_emulation
@pytest.mark.parametrize("number", range(8))
@pytest.mark.parametrize("backwards", [False, True], ids=["forwards", "backwards"])
def test_distances(number: int, backwards: bool) -> None:
    variant = shapes()[number]
    # The last has fewer words than blocks.
    for graph, start in ((random_graph(), 7), (grid(12), 60), (weighted(40, [[1, 2], [2, 39]]), 1)):
        found, facts = search(graph, variant, start, backwards=backwards)
        expected = dijkstra(graph, indices=start)
        assert facts["end"] == "done"
        np.testing.assert_array_equal(found, expected)
        reached = np.isfinite(expected)
        assert facts["vertices"] >= reached.sum()
        assert facts["edges"] >= np.diff(graph.indptr)[reached].sum()
        assert 0 < facts["longest"] <= facts["rounds"]


@needs_emulation
@every("number", range(8))
def test_labels(number: int) -> None:
    variant = replace(shapes()[number], width=0)
    both = random_graph(count=500)
    both = (both + both.T).tocsr()
    for graph in (both, grid(12)):
        found, facts = search(graph, variant, labels=True)
        assert facts["end"] == "done"
        given = SimpleNamespace(weighted=graph)
        np.testing.assert_array_equal(found, study().by_scipy("components", given, 0))
        assert facts["vertices"] >= graph.shape[0]
    assert len(np.unique(study().by_scipy("components", SimpleNamespace(weighted=both), 0))) > 20


@needs_emulation
def test_vertices_without_room_on_the_list_stay_open() -> None:
    # Blocks have one range of 300 words, or two, and a list of 4,096 vertices.
    n = 9_600
    leaves = np.arange(1, n)
    graph = weighted(n, np.stack([np.zeros_like(leaves), leaves], axis=1))
    expected = dijkstra(graph, indices=0)
    for variant in (
        study().Variant("synchronous", 64, 1),
        study().Variant("local_rounds", 64, 1, 2, 8),
        study().Variant("local_rounds", 64, 1, 8, 0),
        study().Variant("free_running", 64, 1, 0, 8),
        study().Variant("free_running", 64, 1, 0, 0),
    ):
        found, facts = search(graph, variant)
        assert facts["end"] == "done"
        np.testing.assert_array_equal(found, expected)


@needs_emulation
def test_a_window_reads_less() -> None:
    graph = grid(24)
    edges = [
        search(graph, study().Variant("local_rounds", 64, 2, 1_000_000, width))[1]["edges"]
        for width in (32, 0)
    ]
    assert graph.nnz <= edges[0] < edges[1]


@needs_emulation
@pytest.mark.parametrize("number", [0, 2, 5])
def test_kernels_give_up(number: int) -> None:
    graph = grid(12)
    found, facts = search(graph, shapes()[number], limit=0)
    assert facts["end"] == "gave up"
    assert (found >= dijkstra(graph, indices=0)).all()


@needs_nvrtc
def test_the_compiler_has_no_complaints() -> None:
    assert complaint(study().source(), "sm_90", hurry=False) == ""


def test_ranges_cover_all_vertices_with_blocks_that_fit() -> None:
    variants = [*study().VARIANTS, *study().sweep()]
    assert len({variant.title for variant in study().VARIANTS}) == len(study().VARIANTS)
    for variant in variants:
        for vertices in (1, 2_642, 1_524_453, 24_010_000):
            blocks, words = variant.layout(vertices, 132)
            assert (blocks - (variant.kind == "free_running")) * words * 32 >= vertices
            assert blocks <= study().MOST_BLOCKS
            # A multiprocessor has 65,536 registers, 64 a thread, and 227 KB, 17 of them for lists.
            assert variant.threads * variant.blocks <= 1024
            assert variant.blocks * (variant.shared_bytes(words) + (18 << 10)) <= 227 << 10


def test_wrong_distances_are_noticed() -> None:
    graph = grid(5)
    expected = dijkstra(graph, indices=3).astype(np.float32)
    matrix = graph.tocoo()
    given = SimpleNamespace(tails=matrix.row, heads=matrix.col, xp=np)
    assert study().why_not_shortest(given, graph.data, expected, 3) == ""
    assert study().why_not_shortest(given, graph.data, expected, 4) == "the source is not at 0"
    for change, why in ((1, "lowers"), (-1, "explains"), (np.inf, "lowers")):
        wrong = expected.copy()
        wrong[24] += change
        assert why in study().why_not_shortest(given, graph.data, wrong, 3)
