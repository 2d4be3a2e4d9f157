"""The five algorithms on every real graph, against SciPy and properties that determine results.

Patterns get lengths from 1 to 64; lengths that are not positive lose their sign, or become 1. Of a
bipartite graph the columns are numbered after the rows.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.helpers.data import data_folder
from tests.helpers.every import every

from semira.bench.device import array_module
from semira.bench.graphs import BenchGraph, build_bench_graph
from semira.bench.libraries import FROM_SOURCE, KERNELS, UNDIRECTED
from semira.bench.ours import VARIANTS, semira_library
from semira.bench.verify import verify
from semira.files import read_edges
from semira.formats import EdgeList

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.hardware(reason="real graphs take minutes each"),
]

FOLDER = data_folder()
FILES = sorted(FOLDER.glob("*.npz")) if FOLDER is not None else []
CASES = [(kernel, options) for kernel in KERNELS for options in ({}, *VARIANTS.get(kernel, ()))]


def square(edges: EdgeList) -> EdgeList:
    """Return the same edges between vertices of one set, with positive lengths if any."""
    values = edges.values
    if values is not None:
        values = np.where(values == 0, np.ones_like(values), np.abs(values))
    if edges.nrows == edges.ncols:
        return replace(edges, values=values)
    n = edges.nrows + edges.ncols
    return EdgeList(n, n, edges.rows.astype(np.int32), edges.cols.astype(np.int32) + edges.nrows,
                    values)  # fmt: skip


def load(path: Path) -> BenchGraph:
    return build_bench_graph(path.stem, square(read_edges(path, progress=False)))


def check(graph: BenchGraph, device: str, kernel: str, options: dict[str, object]) -> None:
    """Run an algorithm and fail unless another method finds its result right."""
    entry = semira_library(device, None, {kernel: options}).entries[kernel]
    used = graph.undirected if kernel in UNDIRECTED else graph
    source = used.sources(0)[0]
    result = entry.run(entry.prepare(used), source if kernel in FROM_SOURCE else 0)
    answer = np.atleast_1d(entry.answer(result, used))
    limit = options.get("max_iterations")
    verdict = verify(kernel, used, source, {"semira": answer}, limit)["semira"]
    if verdict.ok is None and kernel == "tc":
        # Too many triangles for SciPy.
        used = replace(used, xp=array_module(device))
        verdict = verify(kernel, used, source, {"semira": answer})["semira"]
    assert verdict.ok is True, f"{graph.name} {kernel} {options}: {verdict}"


@pytest.mark.skipif(not FILES, reason="no real graphs here; set SEMIRA_TEST_DATA to their folder")
@every("path", FILES, ids=lambda path: path.stem)
def test_every_algorithm_is_right_on(path: Path) -> None:
    graph = load(path)
    for kernel, options in CASES:
        check(graph, "cuda", kernel, options)
