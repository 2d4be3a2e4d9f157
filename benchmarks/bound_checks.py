"""Checks of eccentricities: the same searches in NumPy, and levels by products in SciPy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.algorithm_checks import (
    MOST_PRODUCTS,
    TooLarge,
    levels_from,
    of_neighbours,
    pattern_of,
)
from semira.bench.graphs import BenchGraph


def check_bounds(
    graph: BenchGraph, result: Any, sources: Sequence[int], searches: int | None = None
) -> dict[str, bool]:
    """Compare with the same searches in NumPy, and levels by products in SciPy.

    Where edges are so few that chains may tell eccentricities, these may be known without them.

    Parameters
    ----------
    graph : BenchGraph
    result : EccentricityResult
        Of `eccentricity`, which searches until the bounds meet, or of `diameter`.
    sources : sequence of int
        Their eccentricities come from products in SciPy.
    searches : int, optional
        Most searches allowed. None: as many as the bounds need to meet.
    """
    true = levels_from(graph, sources).max(axis=1)
    lower, upper = (each.to_dense(-1) for each in (result.lower, result.upper))
    at = list(sources)
    is_whole = result.algorithm == "eccentricity"
    most_searches = searches or graph.n
    least, most, made = _bounds_after(
        graph, searches or result.searches + 1, is_whole, most_searches
    )
    few = pattern_of(graph).nnz <= 2 * graph.n + graph.n // 8
    searched = ~((lower == upper) & few)
    return {
        "a lower bound is too large": bool((lower[at] > true).any()),
        "an upper bound is too small": bool((upper[at] < true).any()),
        "lower bounds are not those of its searches": bool((lower != least)[searched].any()),
        "upper bounds are not those of its searches": bool((upper != most)[searched].any()),
        "the number of searches differs": result.searches != made and searched.any(),
    }


def _bounds_after(
    graph: BenchGraph, searches: int, whole: bool, limit: int
) -> tuple[NDArray[Any], NDArray[Any], int]:
    """Return bounds of every eccentricity after the same searches as `eccentricity` makes.

    After 4, 8, 16, ... of them, at most 128 times as many vertices that are left, and no more than
    `limit` allows, are searched from at once.

    In each component, the next source is in turn the unknown vertex with the lowest lower bound and
    the one with the highest upper bound; ties go to the highest degree, then the smallest number.
    """
    from scipy.sparse.csgraph import connected_components

    pattern, n = pattern_of(graph), graph.n
    count, label = connected_components(pattern, directed=False)
    degree = np.minimum(np.diff(pattern.indptr), n - 1)
    lower, upper = np.zeros(n, np.int64), np.full(n, 2 * n, np.int64)
    for made in range(1, searches + 1):
        if made * pattern.nnz > MOST_PRODUCTS:
            raise TooLarge(f"over {made} searches of {pattern.nnz:,} edges would check it")
        unknown = np.flatnonzero(lower != upper)
        key = lower if made % 2 else -upper
        best = np.lexsort((-degree[unknown], key[unknown], label[unknown]))
        ranked = unknown[best]
        starts = ranked[np.unique(label[ranked], return_index=True)[1]]
        level = _hops(pattern, starts)
        far = np.zeros(count, np.int64)
        np.maximum.at(far, label, level)
        seen = np.flatnonzero(level >= 0)
        hops, ends = level[seen], far[label[seen]]
        lower[seen] = np.maximum(lower[seen], np.maximum(hops, ends - hops))
        upper[seen] = np.minimum(upper[seen], ends + hops)
        if np.array_equal(lower, upper) if whole else lower.max() >= upper.max():
            break
        left = np.flatnonzero(lower != upper if whole else upper > lower.max())
        is_round = made >= 4 and made & (made - 1) == 0
        if is_round and made < limit and len(left) <= min(limit - made, 128 * made):
            lower[left] = upper[left] = _farthest(pattern, left)
            return lower, upper, made + len(left)
    return lower, upper, made


def _hops(pattern: Any, starts: NDArray[Any]) -> NDArray[np.int64]:
    """Return the distance of every vertex from the nearest source, -1 where unreachable."""
    level = np.full(pattern.shape[0], -1, np.int64)
    front, depth = starts, 0
    while len(front):
        level[front] = depth
        begin, degree = pattern.indptr[front], np.diff(pattern.indptr)[front]
        places = np.repeat(begin - (np.cumsum(degree) - degree), degree) + np.arange(degree.sum())
        near = pattern.indices[places]
        front, depth = np.unique(near[level[near] < 0]), depth + 1
    return level


def _farthest(pattern: Any, sources: NDArray[Any]) -> NDArray[np.int64]:
    """Return the largest distance from each source; a bit per source says who reaches a vertex."""
    if len(sources) * pattern.nnz > 64 * MOST_PRODUCTS:
        raise TooLarge(f"{len(sources)} searches of {pattern.nnz:,} edges would check it")
    farthest = np.zeros(len(sources), np.int64)
    for first in range(0, len(sources), 1024):
        starts = sources[first : first + 1024]
        one_hot = np.zeros((pattern.shape[0], len(starts)), bool)
        one_hot[starts, np.arange(len(starts))] = True
        reached, is_new = np.packbits(one_hot, axis=1), np.ones(len(starts), bool)
        while is_new.any():
            before = reached
            reached = before | of_neighbours(pattern, before)
            new = np.bitwise_or.reduce(reached & ~before, axis=0)
            is_new = np.unpackbits(new, count=len(starts)).astype(bool)
            farthest[first : first + 1024] += is_new
    return farthest
