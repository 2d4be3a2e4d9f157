"""Louvain and Leiden: levels of local moves and contraction, down again, and what proves it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from semira.apps.arrays import on_host
from semira.apps.communities.graph import Graph, Workspace, contract, numbering
from semira.apps.communities.moving import move_in_order, move_vertices, refine

#: Rounds of merging at most: half of the vertices that can merge do so in each. A pair of them that
#: merges no more than this share of the vertices is the last one.
_MERGE_ROUNDS, _MERGE_SHARE = 32, 1e-2

#: A level of Leiden that merges less than this share of the vertices with a neighbour in their
#: community is the last one: those above gain little.
_MERGED_SHARE = 0.5

#: Modularity that a round in serial order gains if it is not the last one.
_ROUND_GAIN = 1e-6


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
    in_order : bool
        Whether vertices move one after the other.
    draws : int
        Levels that drew random numbers so far.
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
    in_order: bool = False
    draws: int = 0

    def rule(self, graph: Graph, share: float, most: int) -> tuple[int, int, int, int]:
        """Return seed and number of the next draw, moves that are too few, and most rounds."""
        self.draws += 1
        return self.seed, self.draws, int(share * graph.n), most

    def move(
        self, space: Workspace, graph: Graph, labels: Any, *, alone: bool = False
    ) -> tuple[Any, Any]:
        """Move the vertices of a graph; return the strengths of communities."""
        if self.in_order:
            limits = _ROUND_GAIN, self.max_rounds
            return move_in_order(space, graph, labels, self.pull, limits, alone=alone)[:2]
        rule = self.rule(graph, self.share, self.max_rounds)
        return move_vertices(space, graph, labels, self.pull, rule, alone=alone)

    def refine(
        self, space: Workspace, graph: Graph, groups: Any, within: tuple[Any, Any]
    ) -> tuple[Any, Any, Any, Any]:
        """Return parts of groups, their strengths, and how many vertices could merge."""
        rule = self.rule(graph, _MERGE_SHARE, _MERGE_ROUNDS)
        return refine(space, graph, groups, within, self.pull, rule)

    def quality(self, graph: Graph) -> float:
        """Return the modularity of a contracted graph, whose vertices are the communities."""
        shares = on_host(graph.strengths).astype(np.float64)
        shares_in = on_host(graph.strengths_in).astype(np.float64)
        # On the host and in one order: the same number on every device.
        expected = self.pull * float(np.sum(shares * shares_in))
        return (graph.total - graph.between() - expected) / graph.total

    def told(self, level: int, graph: Graph) -> None:
        """Say which level begins."""
        if self.progress is not None:
            self.progress(level, graph.n)


def run_louvain(run: Run, space: Workspace, labels: Any) -> tuple[Any, list[Any]]:
    """Return labels, and of each level the community of each of its vertices.

    Parameters
    ----------
    labels : array of int32, or None
        To start from; None: every vertex is alone.
    """
    graph, xp = space.graph, space.graph.xp
    levels: list[tuple[Graph, Any]] = []
    quality = -1.0
    while True:
        run.told(len(levels), graph)
        alone = labels is None
        labels = xp.empty(graph.n, xp.int32) if alone else labels
        totals = run.move(space, graph, labels, alone=alone)
        numbers = numbering(space, graph, labels, totals=totals)
        levels.append((graph, numbers.labels))
        if numbers.count == graph.n or len(levels) == run.max_level:
            break
        graph, labels = contract(space, graph, numbers), None
        if run.threshold > 0:
            before, quality = quality, run.quality(graph)
            if quality - before < run.threshold:
                break
    top = xp.arange(numbers.count, dtype=xp.int32)
    # The vertices of the last level have moved already.
    return _taken_apart(run, space, levels, top, range(len(levels) - 1))


def run_leiden(run: Run, space: Workspace, labels: Any, *, again: bool) -> tuple[Any, list[Any]]:
    """Return labels, and of each level the part of each of its vertices; see `run_louvain`.

    Parameters
    ----------
    again : bool
        Another run follows, which begins with moves of the vertices of the first level.
    """
    graph, xp = space.graph, space.graph.xp
    levels: list[tuple[Graph, Any]] = []
    while True:
        run.told(len(levels), graph)
        alone = labels is None
        labels = xp.empty(graph.n, xp.int32) if alone else labels
        within = run.move(space, graph, labels, alone=alone)
        if len(levels) == run.max_level - 1:
            break
        parts, *totals, able = run.refine(space, graph, labels, within)
        # Vertices of a part are of one group.
        numbers = numbering(space, graph, parts, totals=(totals[0], totals[1]), groups=labels)
        merged = graph.n - numbers.count
        # The number is read only if it can matter.
        if merged < _MERGED_SHARE * graph.n and merged < max(1, _MERGED_SHARE * int(able[0])):
            break
        levels.append((graph, numbers.labels))
        labels, graph = numbers.groups, contract(space, graph, numbers)
    return _taken_apart(run, space, levels, labels, range(1 if again else 0, len(levels)))


def _taken_apart(
    run: Run, space: Workspace, levels: list[tuple[Graph, Any]], labels: Any, moving: range
) -> tuple[Any, list[Any]]:
    """Return the labels of the first level from those of the last one.

    Vertices of the levels in `moving` move again, if the run says so.
    """
    for at in range(len(levels) - 1, -1, -1):
        graph, numbers = levels[at]
        labels = labels[numbers]
        if run.refined and at in moving:
            run.told(at, graph)
            run.move(space, graph, labels)
    return labels, [numbers for _, numbers in levels]


def modularity_of(given: Graph, labels: Any, count: int, resolution: float) -> float:
    """Return the modularity of labels below a count, from the graph as it was given."""
    if given.total == 0:
        return 0.0
    out = given.xp.zeros(count, given.strengths.dtype)
    inwards = given.xp.zeros(count, given.strengths.dtype) if given.is_directed else out
    given.add_strengths(labels, out, inwards)
    total = float(given.total)
    shares = on_host(out).astype(np.float64) / total
    shares_in = on_host(inwards).astype(np.float64) / total if given.is_directed else shares
    # On the host and in one order: the same number on every device.
    return given.inner(labels) / total - resolution * float(np.sum(shares * shares_in))
