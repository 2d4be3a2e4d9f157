"""Distances from sets of seeds, and who is nearest."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira import (
    Matrix,
    Vector,
    binary,
    device,
    device_traits,
    dtypes,
    free_memory,
    monoid,
    repeat,
    select,
    semiring,
    ss,
    unary,
)
from semira.algorithms.checks import check_exact_sums
from semira.algorithms.multi_source_bfs import advance, from_all
from semira.algorithms.results import finished
from semira.algorithms.sssp import bellman_ford
from semira.algorithms.sssp_choice import choose
from semira.apps.arrays import on_host
from semira.apps.products.filtered import filtered_product
from semira.apps.vertex_nomination.problem import Problem
from semira.apps.vertex_nomination.result import Nomination, Ranks, joined
from semira.kernels import array_module, rows_of

#: Bytes of a vertex in the search from a set: a distance and a frontier with their indices.
SET_BYTES = 32

#: Entries from which hosts find lengths set by set. 32 sets of 5 seeds, milliseconds of processor
#: time as rows of a matrix and one by one: 9,600 entries 17 and 72, 368 thousand (email-Enron) 315
#: and 250, 2 million (coAuthorsDBLP) 3,980 and 1,530. A GPU would be idle for the most part.
_LARGE = 250_000


def solved(problem: Problem) -> Nomination:
    """Return the nominations of a checked call."""
    single = len(problem.sets) == 1 and problem.weights is None and not problem.top
    # A vector becomes a row when somebody asks: a search alone may take less time than that.
    made, rounds, ranks = _one_lazily(problem) if single else _searched(problem)
    check = None
    if problem.weights is None and made is not None:
        check = partial(wrong_of, problem)

    def rank(distance: Matrix | None) -> Ranks:
        if distance is None:
            return joined(ranks)
        return ranked(problem, distance, 0, len(problem.sets))

    count = 1 if problem.weights is not None else len(problem.sets)
    seeds = sum(len(each) for each in problem.sets)
    return Nomination(count, seeds, rounds, made, rank, check)


def _one_lazily(problem: Problem) -> tuple[Callable[[], Matrix], int, list[Ranks]]:
    """Return what makes the distances of the only set a matrix, and the iterations."""
    with device(problem.graph.device):
        found, rounds = _from_one(problem, problem.sets[0])
    return partial(_row_of, problem, found), rounds, []


def _row_of(problem: Problem, found: Vector) -> Matrix:
    with device(problem.graph.device):
        row = Matrix(problem.dtype, 1, found.size)
        row[0, :] << found
    return row


def _searched(problem: Problem) -> tuple[Callable[[], Matrix] | None, int, list[Ranks]]:
    """Return what gives the distances, if they are kept; the most iterations; ranks, if not."""
    kept: list[Matrix] = []
    ranks: list[Ranks] = []
    rounds = 0
    for first, last in pairwise(_bounds(problem)):
        found, iterations = _distances(problem, first, last)
        rounds = max(rounds, iterations)
        if problem.weights is None and problem.top:
            ranks.append(ranked(problem, found, first, last))
        else:
            kept.append(found)
    if ranks:
        return None, rounds, ranks
    distance: Matrix = kept[0] if len(kept) == 1 else ss.concat([[each] for each in kept])
    if problem.weights is not None:
        distance = _combined(problem, distance)
        if problem.top:
            return None, rounds, [ranked(problem, distance, 0, 1)]
    return lambda: distance, rounds, []


def _bounds(problem: Problem) -> list[int]:
    """Return the borders of the sets that are searched from at once."""
    count, n = len(problem.sets), problem.graph.nrows
    budget = problem.memory
    if budget is None:
        budget = (free_memory(problem.graph.device) or 1 << 34) // 4
    step = max(1, min(count, budget // max(SET_BYTES * n, 1)))
    return [*range(0, count, step), count]


def _seeds_of(problem: Problem, first: int, last: int) -> tuple[NDArray[np.int64], Any]:
    sets = problem.sets[first:last]
    return np.repeat(np.arange(len(sets)), [len(each) for each in sets]), np.concatenate(sets)


def _distances(problem: Problem, first: int, last: int) -> tuple[Matrix, int]:
    """Return the distances from some sets, a row each, and the iterations that they took."""
    A, n = problem.graph, problem.graph.nrows
    with device(A.device):
        if last - first == 1:
            found, rounds = _from_one(problem, problem.sets[first])
            return _row_of(problem, found), rounds
        of, seeds = _seeds_of(problem, first, last)
        shape: dict[str, Any] = {"nrows": last - first, "ncols": n}
        distance = Matrix.from_coo(of, seeds, 0, problem.dtype, **shape)
        if problem.by_hops:
            frontier = Matrix.from_coo(of, seeds, True, **shape)
            return distance, advance(A, frontier, distance, max(n, 1), {}).iterations
        if A.nvals >= _LARGE and not device_traits(A.device).own_memory:
            return _one_by_one(problem, first, last, distance)
        rounds = _lengths(A, distance.dup(), distance)
        check_exact_sums(A, lambda: [distance.reduce_scalar(monoid.max).get(0)], "nominate")
        return distance, rounds


def _one_by_one(problem: Problem, first: int, last: int, distance: Matrix) -> tuple[Matrix, int]:
    """Return the distances of several sets, each found by itself."""
    rounds = 0
    for number in range(first, last):
        found, iterations = _from_one(problem, problem.sets[number])
        distance[number - first, :] << found
        rounds = max(rounds, iterations)
    return distance, rounds


def _from_one(problem: Problem, seeds: NDArray[np.int64]) -> tuple[Vector, int]:
    A = problem.graph
    if problem.by_hops:
        level, iterations, _ = from_all(A, seeds, A.nrows, {})
        return level, iterations
    made = choose(A, seeds, problem.dtype, "auto", None, {}, bellman_ford)
    check_exact_sums(A, lambda: [made.distance.reduce(monoid.max).get(0)], "nominate")
    return made.distance, made.iterations


def _lengths(A: Matrix, frontier: Matrix, distance: Matrix) -> int:
    """Relax the edges of all vertices whose distance fell, until none does."""
    min_plus = semiring.min_plus[distance.dtype]

    def step() -> Any:
        # T = F min.+ A
        reached = frontier.mxm(A, min_plus).new()
        # Keep of T what is new or shorter: F<not (T >= D), replace> = T
        worse = reached.ewise_mult(distance, binary.ge).new()
        frontier(~worse.V, replace=True) << reached
        # D<F> = F
        distance(frontier.S) << frontier
        return frontier.nvals > 0

    return finished(repeat(step, max_iterations=max(A.nrows, 1))).iterations


def _combined(problem: Problem, distance: Matrix) -> Matrix:
    """Return the weighted sums of the distances of vertices that all sets reach, as one row."""
    assert problem.weights is not None
    if distance.dtype.kind == "F":
        # Vertices that no set reaches: 0 times infinity would be NaN.
        distance = distance.select(select.valuelt, np.inf).new()
    count = distance.nrows
    with device(distance.device):
        row = Matrix.from_coo(
            np.zeros(count, np.int64), np.arange(count), problem.weights, nrows=1, ncols=count
        )
    # s = w D, where as many sets are met as there are
    total = filtered_product(row, distance)
    met = filtered_product(row, distance, "pair").select(select.valueeq, count).new()
    found: Matrix = total.dup(mask=met.S)
    return found


def ranked(problem: Problem, distance: Matrix, first: int, last: int) -> Ranks:
    """Return the vertices of some sets by score, then by number, without their seeds."""
    n, count = problem.graph.nrows, distance.nrows
    sets = problem.sets if problem.weights is not None else problem.sets[first:last]
    of = np.repeat(np.arange(len(sets)), [len(each) for each in sets])
    if problem.weights is not None:
        of[:] = 0
    with device(distance.device):
        scores = distance
        if problem.content is not None:
            content = Vector.from_dense(problem.content)
            scores = scores.ewise_mult(content, binary.plus).new(dtypes.FP64)
        if problem.top and not device_traits(distance.device).own_memory:
            # Less to sort, which is no work for a GPU: a block of it would walk a whole row. Seeds
            # are left out below, wherever they stand. The greatest of what is negative: the least.
            most = problem.top + int(np.bincount(of).max())
            less = scores.apply(unary.ainv).new()
            scores = less.largest_per_row(most).new().apply(unary.ainv).new()
    with array_module(distance.device) as xp:
        rows = rows_of(scores)
        places = xp.arange(len(rows.indices))
        row = xp.searchsorted(rows.indptr, places, side="right") - 1
        keys = row * n + rows.indices
        # Entries of a row are by number already, and stay so where scores are equal.
        order = xp.argsort(rows.values, kind="stable")
        if count > 1:
            order = order[xp.argsort(row[order], kind="stable")]
        seeds = xp.asarray(of * n + np.concatenate(sets))
        stays = xp.ones(len(keys) + 1, bool)
        found = xp.searchsorted(keys, seeds)
        stays[xp.where(xp.append(keys, -1)[found] == seeds, found, len(keys))] = False
        order = order[stays[order]]
        indptr = xp.searchsorted(row[order], xp.arange(count + 1))
        if problem.top:
            order = order[xp.arange(len(order)) - indptr[row[order]] < problem.top]
            indptr = xp.searchsorted(row[order], xp.arange(count + 1))
        # Copies: on a host, arrays may be those of the matrix.
        parts = indptr, rows.indices[order], rows.values[order]
        return Ranks(*(np.array(on_host(part)) for part in parts))


def wrong_of(problem: Problem, distance: Matrix) -> int:
    """Return how many distances are not the least over the edges that arrive: 0."""
    A, n = problem.graph, problem.graph.nrows
    of, seeds = _seeds_of(problem, 0, len(problem.sets))
    with device(A.device):
        zero = Matrix.from_coo(of, seeds, 0, distance.dtype, nrows=distance.nrows, ncols=n)
    if problem.by_hops:
        least = distance.mxm(A, semiring.min_first[distance.dtype]).new()
        least << least.apply(binary.plus, right=1)
    else:
        least = distance.mxm(A, semiring.min_plus[distance.dtype]).new()
    least(binary.min) << zero
    same = least.ewise_mult(distance, binary.eq).new()
    right = int(same.reduce_scalar(monoid.plus[dtypes.INT64]).get(0))
    return int(max(least.nvals, distance.nvals)) - right
