"""Checks of results by other methods than those that computed them, on host arrays.

Every library's answer comes in one form: levels (-1: unreached), distances (inf: unreached),
ranks, labels of components, or a number of triangles as an array of one element.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira.bench.graphs import BenchGraph

#: Damping and tolerance of every PageRank that is measured.
DAMPING = 0.85
TOLERANCE = 1e-6

#: Multiplications of the product that counts triangles again; more are not worth the wait.
MAX_FLOPS = 300_000_000


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a check found.

    Attributes
    ----------
    ok : bool or None
        None: there was nothing to check against.
    method : str
        How it was checked.
    finding : str
        What is wrong; "" if nothing is.
    """

    ok: bool | None
    method: str
    finding: str = ""


def _verdict(method: str, findings: Mapping[str, bool]) -> Verdict:
    """Return a verdict from statements and whether each is violated."""
    wrong = [text for text, is_violated in findings.items() if is_violated]
    return Verdict(not wrong, method, "; ".join(wrong))


def _has_shape(answer: NDArray[Any], graph: BenchGraph) -> str:
    return "" if answer.shape == (graph.n,) else f"shape {answer.shape} for {graph.n} vertices"


def check_levels(graph: BenchGraph, source: int, level: NDArray[Any]) -> Verdict:
    """Check breadth-first levels by their properties.

    The source alone has level 0; no edge leaves the reached vertices or skips a level; every
    other reached vertex has a neighbour one level before. These determine the levels.
    """
    method = "properties of levels along every edge"
    if wrong := _has_shape(level, graph):
        return Verdict(False, method, wrong)
    level = level.astype(np.int64)
    tails, heads = graph.arrays.entry_major(), graph.arrays.indices
    before, after = level[tails], level[heads]
    has_parent = level <= 0
    has_parent[heads[(before >= 0) & (after == before + 1)]] = True
    return _verdict(
        method,
        {
            "level 0 is not the source alone": np.flatnonzero(level == 0).tolist() != [source],
            "an edge leads out of the reached vertices": bool(np.any((before >= 0) & (after < 0))),
            "an edge skips a level": bool(np.any((before >= 0) & (after > before + 1))),
            "a vertex has no parent": not bool(has_parent.all()),
        },
    )


def check_distances(graph: BenchGraph, source: int, distance: NDArray[Any]) -> Verdict:
    """Check shortest distances by their properties, for positive weights.

    No edge can shorten a distance, and every reached vertex but the source hangs on an edge
    that is tight: with positive weights such edges form paths to the source.
    """
    method = "tight edges"
    if wrong := _has_shape(distance, graph):
        return Verdict(False, method, wrong)
    lengths = graph.arrays.entry_values().astype(np.float64)
    if graph.arrays.nvals and float(lengths.min()) <= 0:
        return Verdict(None, "", "tight edges prove nothing where weights are not positive")
    distance = distance.astype(np.float64)
    tails, heads = graph.arrays.entry_major(), graph.arrays.indices
    through = distance[tails] + lengths
    has_edge = np.isinf(distance)
    has_edge[source] = True
    has_edge[heads[np.isfinite(through) & (through == distance[heads])]] = True
    return _verdict(
        method,
        {
            "the source is not at distance 0": bool(distance[source] != 0),
            "a distance is nan": bool(np.isnan(distance).any()),
            "an edge shortens a distance": bool(np.any(through < distance[heads])),
            "a vertex hangs on no tight edge": not bool(has_edge.all()),
        },
    )


def check_ranks(graph: BenchGraph, _source: int, rank: NDArray[Any]) -> Verdict:
    """Check PageRank by one more iteration with SciPy: it may move the ranks by the tolerance."""
    method = "residual of one more iteration"
    if wrong := _has_shape(rank, graph):
        return Verdict(False, method, wrong)
    residual = float(np.abs(rank_step(graph, rank) - rank).sum())
    total = float(rank.sum())
    return _verdict(
        method,
        {
            f"the ranks sum to {total}": not abs(total - 1) <= TOLERANCE,
            f"one more iteration moves them by {residual:.3g}": not residual <= TOLERANCE,
        },
    )


def rank_step(graph: BenchGraph, rank: NDArray[Any]) -> NDArray[np.float64]:
    """Return one iteration of PageRank by adding up along a list of edges."""
    out = graph.degrees
    share = np.divide(rank, out, out=np.zeros(graph.n), where=out > 0)
    weights = np.repeat(share, out)
    arrived = np.bincount(graph.arrays.indices, weights, minlength=graph.n)
    lost = float(rank[out == 0].sum())
    step = DAMPING * (arrived + lost / graph.n) + (1 - DAMPING) / graph.n
    return step.astype(np.float64, copy=False)


def check_labels(graph: BenchGraph, _source: int, label: NDArray[Any]) -> Verdict:
    """Check components: equal labels along every edge, and as many labels as SciPy finds.

    Labels that agree along edges are constant on components; as many labels as components
    leaves no two components with the same one.
    """
    from scipy.sparse.csgraph import connected_components

    method = "labels along every edge, and SciPy's number of components"
    if wrong := _has_shape(label, graph):
        return Verdict(False, method, wrong)
    whole = graph.undirected
    tails, heads = whole.arrays.entry_major(), whole.arrays.indices
    expected = connected_components(whole.weighted, directed=False, return_labels=False)
    found = len(np.unique(label))
    return _verdict(
        method,
        {
            "labels differ along an edge": bool(np.any(label[tails] != label[heads])),
            f"{found} components instead of {expected}": found != expected,
        },
    )


def count_flops(lower: Any) -> int:
    """Return the multiplications of ``lower @ lower`` for a SciPy array by rows."""
    return int(np.diff(lower.indptr)[lower.indices].astype(np.int64).sum())


def orient(graph: BenchGraph) -> Any:
    """Return each edge of the undirected graph once, towards its end of higher degree."""
    from scipy.sparse import csr_array, tril

    whole = graph.undirected
    order = np.argsort(-whole.degrees, kind="stable")
    place = np.empty(graph.n, np.int64)
    place[order] = np.arange(graph.n)
    rows, cols = place[whole.arrays.entry_major()], place[whole.arrays.indices]
    pattern = csr_array((np.ones(len(rows), np.int64), (rows, cols)), shape=(graph.n, graph.n))
    return csr_array(tril(pattern, -1))


def count_triangles(graph: BenchGraph) -> int | None:
    """Return the triangles by an unmasked product in SciPy; None if that is too large."""
    lower = orient(graph)
    if count_flops(lower) > MAX_FLOPS:
        return None
    return int((lower @ lower).multiply(lower).sum())


#: Checks by kernel; (graph, source, answer) to a verdict. Triangles have no such properties.
CHECKS: dict[str, Callable[[BenchGraph, int, NDArray[Any]], Verdict]] = {
    "bfs": check_levels,
    "sssp": check_distances,
    "pagerank": check_ranks,
    "cc": check_labels,
}


def verify(
    kernel: str, graph: BenchGraph, source: int, answers: Mapping[str, NDArray[Any]]
) -> dict[str, Verdict]:
    """Check the answers of several libraries.

    Parameters
    ----------
    kernel : {"bfs", "sssp", "pagerank", "cc", "tc"}
    graph : BenchGraph
    source : int
    answers : mapping
        Library to answer.

    Returns
    -------
    dict
        Library to verdict.
    """
    if kernel == "tc":
        return _check_counts(graph, {name: int(each[0]) for name, each in answers.items()})
    return {name: CHECKS[kernel](graph, source, answer) for name, answer in answers.items()}


def _check_counts(graph: BenchGraph, counts: Mapping[str, int]) -> dict[str, Verdict]:
    """Check counts with SciPy, or with each other where SciPy would take too long."""
    expected = count_triangles(graph)
    verdicts = {}
    for name, count in counts.items():
        others = {other: value for other, value in counts.items() if other != name}
        if expected is not None:
            others = {"an unmasked product in SciPy": expected}
        wrong = [f"{count} triangles, {other}: {value}" for other, value in others.items()
                 if value != count]  # fmt: skip
        if others:
            verdicts[name] = Verdict(not wrong, ", ".join(others), "; ".join(wrong))
        else:
            verdicts[name] = Verdict(None, "", "too large for SciPy, and no other library ran")
    return verdicts
