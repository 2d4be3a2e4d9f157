"""Checks of results by other methods than those that computed them, on arrays of the graph's `xp`.

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
from semira.bench.triangles import count_triangles

#: Damping and tolerance of every PageRank that is measured.
DAMPING = 0.85
TOLERANCE = 1e-6

#: Edges that a check of levels looks at together.
_SLICE = 1 << 27

#: How far the ranks of a fixed number of iterations may lie from ours, summed: by rounding of the
#: sums over the longest rows, far below what one lost edge or iteration moves.
_ROUNDING = {"float64": 1e-10, "float32": 1e-4}


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a check found."""

    #: None: there was nothing to check against.
    ok: bool | None
    #: How it was checked.
    method: str
    #: What is wrong; "" if nothing is.
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
    xp = graph.xp
    level = xp.asarray(level).astype(np.int64)
    has_parent = level <= 0
    leads_out = skips = False
    # Slice by slice: half of the memory of a GPU may be the graph itself.
    for tails, heads in graph.edges_by(_SLICE):
        before, after = level[tails], level[heads]
        is_reached = before >= 0
        has_parent[heads[is_reached & (after == before + 1)]] = True
        leads_out |= bool(xp.any(is_reached & (after < 0)))
        skips |= bool(xp.any(is_reached & (after > before + 1)))
    return _verdict(
        method,
        {
            "level 0 is not the source alone": xp.flatnonzero(level == 0).tolist() != [source],
            "an edge leads out of the reached vertices": leads_out,
            "an edge skips a level": skips,
            "a vertex has no parent": not bool(has_parent.all()),
        },
    )


def check_distances(graph: BenchGraph, source: int, distance: NDArray[Any]) -> Verdict:
    """Check shortest distances by their properties, for positive weights.

    No edge can shorten a distance, and every reached vertex but the source hangs on an edge
    that is tight: with positive weights such edges form paths to the source. Lengths are added in
    the dtype of the distances, whose rounding a right result shares.
    """
    method = "tight edges"
    if wrong := _has_shape(distance, graph):
        return Verdict(False, method, wrong)
    xp, heads, lengths = graph.xp, graph.heads, graph.lengths
    if graph.arrays.nvals and float(lengths.min()) <= 0:
        return Verdict(None, "", "tight edges prove nothing where weights are not positive")
    dtype = distance.dtype if distance.dtype.kind == "f" else np.dtype(np.float64)
    distance = xp.asarray(distance).astype(dtype)
    through = distance[graph.tails] + lengths.astype(dtype)
    has_edge = xp.isinf(distance)
    has_edge[source] = True
    has_edge[heads[xp.isfinite(through) & (through == distance[heads])]] = True
    return _verdict(
        method,
        {
            "the source is not at distance 0": bool(distance[source] != 0),
            "a distance is nan": bool(xp.isnan(distance).any()),
            "an edge shortens a distance": bool(xp.any(through < distance[heads])),
            "a vertex hangs on no tight edge": not bool(has_edge.all()),
        },
    )


def check_ranks(graph: BenchGraph, _source: int, rank: NDArray[Any]) -> Verdict:
    """Check PageRank by one more iteration with SciPy: it may move the ranks by the tolerance."""
    method = "residual of one more iteration"
    if wrong := _has_shape(rank, graph):
        return Verdict(False, method, wrong)
    rank = graph.xp.asarray(rank)
    residual = float(abs(rank_step(graph, rank) - rank).sum())
    total = float(rank.sum())
    return _verdict(
        method,
        {
            f"the ranks sum to {total}": not abs(total - 1) <= TOLERANCE,
            f"one more iteration moves them by {residual:.3g}": not residual <= TOLERANCE,
        },
    )


def check_iterations(graph: BenchGraph, rank: NDArray[Any], iterations: int) -> Verdict:
    """Check PageRank after so many iterations by as many steps in FP64."""
    method = f"{iterations} steps in FP64"
    if wrong := _has_shape(rank, graph):
        return Verdict(False, method, wrong)
    xp = graph.xp
    expected = xp.full(graph.n, 1 / graph.n)
    for _ in range(iterations):
        expected = rank_step(graph, expected)
    apart = float(abs(xp.asarray(rank) - expected).sum())
    is_wrong = not apart <= _ROUNDING[rank.dtype.name]
    return _verdict(method, {f"the ranks differ by {apart:.3g}": is_wrong})


def rank_step(graph: BenchGraph, rank: Any) -> Any:
    """Return one iteration of PageRank by adding up along a list of edges."""
    xp, out = graph.xp, graph.out_degrees
    share = rank.astype(np.float64) / xp.maximum(out, 1)
    arrived = xp.bincount(graph.heads, share[graph.tails], minlength=graph.n)
    lost = float(rank[out == 0].sum())
    step = DAMPING * (arrived + lost / graph.n) + (1 - DAMPING) / graph.n
    return step.astype(np.float64, copy=False)


def check_labels(graph: BenchGraph, _source: int, label: NDArray[Any]) -> Verdict:
    """Check components: equal labels along every edge, and as many labels as another count.

    Labels that agree along edges are constant on components; as many labels as components
    leaves no two components with the same one.
    """
    whole, xp = graph.undirected, graph.xp
    counted_by = "SciPy's" if xp is np else "a hooking program's"
    method = f"labels along every edge, and {counted_by} number of components"
    if wrong := _has_shape(label, graph):
        return Verdict(False, method, wrong)
    label = xp.asarray(label)
    expected = _count_by_scipy(whole) if xp is np else count_by_hooking(whole)
    found = len(xp.unique(label))
    return _verdict(
        method,
        {
            "labels differ along an edge": bool(xp.any(label[whole.tails] != label[whole.heads])),
            f"{found} components instead of {expected}": found != expected,
        },
    )


def _count_by_scipy(graph: BenchGraph) -> int:
    from scipy.sparse.csgraph import connected_components

    return int(connected_components(graph.weighted, directed=False, return_labels=False))


def count_by_hooking(graph: BenchGraph) -> int:
    """Return the number of components, by hooking trees of vertices onto smaller neighbours."""
    xp = graph.xp
    root = xp.arange(graph.n, dtype=np.int32)
    while True:
        mine, theirs = root[graph.tails], root[graph.heads]
        is_smaller = theirs < mine
        if not bool(is_smaller.any()):
            return len(xp.unique(root))
        xp.minimum.at(root, mine[is_smaller], theirs[is_smaller])
        above = root[root]
        while bool((above != root).any()):
            root, above = above, above[above]


#: Checks by kernel; (graph, source, answer) to a verdict. Triangles have no such properties.
CHECKS: dict[str, Callable[[BenchGraph, int, NDArray[Any]], Verdict]] = {
    "bfs": check_levels,
    "sssp": check_distances,
    "pagerank": check_ranks,
    "cc": check_labels,
}


def verify(
    kernel: str,
    graph: BenchGraph,
    source: int,
    answers: Mapping[str, NDArray[Any]],
    iterations: int | None = None,
) -> dict[str, Verdict]:
    """Return the verdict on the answer of each library.

    PageRank made so many `iterations`; None: it ran until it converged.
    """
    if kernel == "tc":
        return _check_counts(graph, {name: int(each[0]) for name, each in answers.items()})
    if kernel == "pagerank" and iterations is not None:
        return {name: check_iterations(graph, each, iterations) for name, each in answers.items()}
    return {name: CHECKS[kernel](graph, source, answer) for name, answer in answers.items()}


def _check_counts(graph: BenchGraph, counts: Mapping[str, int]) -> dict[str, Verdict]:
    """Check counts with another method, or with each other where that would take too long."""
    expected, method = count_triangles(graph)
    verdicts = {}
    for name, count in counts.items():
        others = {other: value for other, value in counts.items() if other != name}
        if expected is not None:
            others = {method: expected}
        wrong = [f"{count} triangles, {other}: {value}" for other, value in others.items()
                 if value != count]  # fmt: skip
        if others:
            verdicts[name] = Verdict(not wrong, ", ".join(others), "; ".join(wrong))
        else:
            verdicts[name] = Verdict(None, "", "too large for SciPy, and no other library ran")
    return verdicts
