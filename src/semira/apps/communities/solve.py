"""Louvain and Leiden: levels of local moves and contraction, down again, and what proves it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from semira.apps.communities.graph import Graph, dense
from semira.apps.communities.moving import draw, move_vertices, refine
from semira.apps.communities.problem import host

#: Rounds of merging at most: half of the vertices that can merge do so in each.
_MERGE_ROUNDS = 32


@dataclass(slots=True)
class Run:
    """What a run does, and what it did.

    Attributes
    ----------
    resolution : float
    seed : int
    share : float
        A pair of rounds that moves no more than this share of the vertices is the last one.
    max_level, max_rounds : int
    threshold : float
        A level that gains less modularity is the last one.
    refined : bool
        Whether vertices move again when communities are taken apart, level by level.
    progress : callable, optional
        Called with the level and its vertices.
    pull : float
        ``resolution / total`` of weights: what is expected of a pair of strengths 1.
    draws : int
        Levels that drew random numbers so far.
    states : list of arrays
        Of the loops of moves: rounds and moves, on the device.
    """

    resolution: float
    seed: int
    share: float
    max_level: int
    max_rounds: int
    threshold: float
    refined: bool
    progress: Callable[[int, int], None] | None = None
    pull: float = 0.0
    draws: int = 0
    states: list[Any] = field(default_factory=list)

    def move(self, graph: Graph, labels: Any) -> tuple[Any, Any]:
        """Move the vertices of a graph; return the strengths of communities."""
        few = int(self.share * graph.n)
        self.draws += 1
        ranks = draw(graph, self.seed, self.draws)
        totals, totals_in, state = move_vertices(
            graph, labels, self.pull, ranks, few, self.max_rounds
        )
        self.states.append(state)
        return totals, totals_in

    def refine(self, graph: Graph, groups: Any, within: tuple[Any, Any]) -> Any:
        """Return parts of groups."""
        self.draws += 1
        ranks = draw(graph, self.seed, self.draws)
        few = int(self.share * graph.n)
        return refine(graph, groups, within, self.pull, ranks, few, _MERGE_ROUNDS)

    def quality(self, graph: Graph) -> float:
        """Return the modularity of a contracted graph, whose vertices are the communities."""
        shares = host(graph.strengths).astype(np.float64)
        shares_in = host(graph.strengths_in).astype(np.float64)
        # On the host and in one order: the same number on every device.
        expected = self.pull * float(np.sum(shares * shares_in))
        return (graph.total - graph.between() - expected) / graph.total

    def told(self, level: int, graph: Graph) -> None:
        """Say which level begins."""
        if self.progress is not None:
            self.progress(level, graph.n)


def run_louvain(run: Run, graph: Graph, labels: Any) -> tuple[Any, list[Any]]:
    """Return labels, and of each level the community of each of its vertices."""
    levels: list[tuple[Graph, Any]] = []
    quality = -1.0
    while True:
        run.told(len(levels), graph)
        run.move(graph, labels)
        numbers, count = dense(graph, labels, graph.n)
        levels.append((graph, numbers))
        if count == graph.n or len(levels) == run.max_level:
            break
        graph = graph.contract(numbers, count)
        labels = graph.xp.arange(count, dtype=graph.xp.int32)
        before, quality = quality, run.quality(graph)
        if quality - before < run.threshold:
            break
    top = graph.xp.arange(count, dtype=graph.xp.int32)
    # The vertices of the last level have moved already.
    return _taken_apart(run, levels, top, len(levels) - 1)


def run_leiden(run: Run, graph: Graph, labels: Any) -> tuple[Any, list[Any]]:
    """Return labels, and of each level the part of each of its vertices."""
    levels: list[tuple[Graph, Any]] = []
    while True:
        run.told(len(levels), graph)
        within = run.move(graph, labels)
        if len(levels) == run.max_level - 1:
            break
        numbers, count = dense(graph, run.refine(graph, labels, within), graph.n)
        if count == graph.n:
            break
        levels.append((graph, numbers))
        groups = graph.xp.empty(count, graph.xp.int32)
        # Vertices of a part are of one group: it does not matter which of them is written last.
        groups[numbers] = labels
        labels, _ = dense(graph, groups, graph.n)
        graph = graph.contract(numbers, count)
    return _taken_apart(run, levels, labels, len(levels))


def _taken_apart(
    run: Run, levels: list[tuple[Graph, Any]], labels: Any, still: int
) -> tuple[Any, list[Any]]:
    """Return the labels of the first level from those of the last one.

    Vertices of levels below `still` move again, if the run says so.
    """
    for at in range(len(levels) - 1, -1, -1):
        graph, numbers = levels[at]
        labels = labels[numbers]
        if run.refined and at < still:
            run.told(at, graph)
            run.move(graph, labels)
    return labels, [numbers for _, numbers in levels]


def modularity_of(given: Graph, labels: Any, resolution: float) -> float:
    """Return the modularity of labels below n, from the graph as it was given."""
    if given.total == 0:
        return 0.0
    out, inwards = given.sums_by(labels)
    total = float(given.total)
    shares = host(out).astype(np.float64) / total
    shares_in = host(inwards).astype(np.float64) / total if given.is_directed else shares
    # On the host and in one order: the same number on every device.
    return given.inner(labels) / total - resolution * float(np.sum(shares * shares_in))
