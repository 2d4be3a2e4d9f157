"""Iterations of belief propagation: messages over the edges, added to the scores of vertices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from semira.apps.classification import kernels
from semira.apps.classification.problem import WIDTH, Lists, Problem, pieces_of


class Rows:
    """Pieces of the rows of tables, and the sums of their columns."""

    def __init__(self, problem: Problem, xp: Any) -> None:
        self.n, self.device, self.xp = problem.n, problem.device, xp
        self.span, self.pieces = pieces_of(problem.n)

    def totals(self, table: Any, width: int) -> Any:
        """Return the maximum of each column, then the log-sum-exp of each."""
        partial = self.xp.empty(2 * width * self.pieces)
        totals = self.xp.empty(2 * width)
        kernels.columns(
            self.pieces, self.span, self.n, width, table, partial, device=self.device,
            work=8 * self.n * width,
        )  # fmt: skip
        kernels.total(width, self.pieces, width, partial, totals, device=self.device)
        return totals


class Messages:
    """The messages over some edges of the pattern.

    Parameters
    ----------
    problem : Problem
    low, high : int
        Range of edges of the pattern.
    spare : array of float64
        Room for a table, shared with others.
    both : bool
        Whether messages back read the target of an edge, not its source.
    """

    def __init__(
        self, problem: Problem, low: int, high: int, spare: Any, *, both: bool, xp: Any
    ) -> None:
        self._problem, self._both, self._xp = problem, both, xp
        self._width = high - low
        pattern = problem.pattern
        self._sources = xp.asarray(pattern.sources[low:high])
        self._targets = xp.asarray(pattern.targets[low:high])
        self._features = xp.asarray(pattern.edges[low:high].T.ravel())
        size = problem.n * self._width
        # What weighs messages, and the nearest edge that leaves each vertex.
        self._own, self._nearest = self._weights(problem.leaving, spare[:size])
        self._other = self._own
        if both:
            self._nearest = self._own
            self._other = self._weights(problem.entering, spare[:size])[0]
        self._forward, self._reverse = xp.empty(size), xp.empty(size)
        self._terms = xp.empty(4 * self._width)

    def send(self, rows: Rows, mu: Any, totals: Any, penalty: float, *, first: bool) -> None:
        """Turn what was received into what is sent, and sum it up."""
        width, device, count = self._width, rows.device, len(self._problem.pattern.vertices)
        partial = self._xp.empty(6 * width * rows.pieces)
        kernels.send(
            rows.pieces, rows.span, rows.n, width, first, count, mu, totals, self._sources,
            self._targets, self._own, self._other, self._forward, self._reverse, partial,
            device=device, work=16 * rows.n * width,
        )  # fmt: skip
        kernels.settle(
            width, rows.pieces, width, first, penalty, count, totals, self._sources,
            self._targets, partial, self._terms, device=device,
        )  # fmt: skip

    def receive(self, mu: Any, spare: Any, *, first: bool) -> Any:
        """Add what is received to the scores; return the room that is left over."""
        problem, count = self._problem, len(self._problem.pattern.vertices)
        ahead = spare[: len(self._forward)]
        self._pull(problem.entering, self._reverse, ahead)
        sent, back = self._forward, self._reverse
        if self._both:
            # What was sent forward is not read again.
            self._pull(problem.leaving, sent, back)
        kernels.receive(
            problem.n, self._width, first, count, self._sources, self._targets, self._terms,
            self._both, self._nearest, sent, ahead, back, mu, device=problem.device,
            work=problem.n * self._width,
        )  # fmt: skip
        if len(ahead) == len(spare):
            self._forward = spare
            return sent
        self._forward[:] = ahead
        return spare

    def _pull(self, lists: Lists, messages: Any, out: Any, has_messages: bool = True) -> None:
        out.fill(-np.inf)
        problem = self._problem
        kernels.pull(
            problem.n, *self._sizes(), lists.indptr, lists.near, lists.edges, lists.is_listed,
            problem.edges.ravel(), self._features, messages, has_messages, out,
            device=problem.device, work=lists.indptr, host_scratch=self._scratch,
        )  # fmt: skip

    def _weights(self, lists: Lists, sums: Any) -> tuple[Any, Any]:
        """Return log sum exp(-distance) of the edges of each vertex, and its greatest term."""
        xp, problem, size = self._xp, self._problem, len(sums)
        nearest, out = xp.empty(size), xp.empty(size)
        self._pull(lists, nearest, nearest, has_messages=False)
        longest = int(xp.diff(lists.indptr).max()) if problem.n else 1
        unit = 2.0 ** (61 - max(longest, 1).bit_length())
        units = sums.view(xp.int64)
        units.fill(0)
        kernels.weigh(
            problem.n, *self._sizes(), lists.indptr, lists.edges, lists.is_listed,
            problem.edges.ravel(), self._features, nearest, unit, units,
            device=problem.device, work=lists.indptr, host_scratch=self._scratch,
        )  # fmt: skip
        kernels.close(size, nearest, units, unit, out, device=problem.device, work=8 * size)
        return out, nearest

    def _sizes(self) -> tuple[int, int]:
        return self._problem.edges.shape[1], self._width

    def _scratch(self) -> list[tuple[str, int, None]]:
        return [("float64", self._width, None)]


def scores(
    problem: Problem,
    xp: Any,
    *,
    iterations: int,
    penalty: float,
    both: bool,
    progress: Callable[[int, int], None] | None,
) -> Any:
    """Return the log-probabilities, a row for each vertex of the graph."""
    pattern, n = problem.pattern, problem.n
    count, edges = len(pattern.vertices), len(pattern.edges)
    rows = Rows(problem, xp)
    base = xp.empty(n * count)
    kernels.distances(
        n, problem.vertices.shape[1], count, problem.vertices.ravel(),
        xp.asarray(pattern.vertices.T.ravel()), base, device=problem.device,
        work=n * count * 4, host_scratch=lambda: [("float64", count, None)],
    )  # fmt: skip
    mu = base.copy()
    spare = xp.empty(n * min(edges, WIDTH))
    blocks = [
        Messages(problem, low, min(low + WIDTH, edges), spare, both=both, xp=xp)
        for low in range(0, edges, WIDTH)
    ]
    # mu = normprob(-DV), whose totals are taken off where it is read.
    totals = rows.totals(mu, count)
    for done in range(iterations + 1 if blocks else 0):
        first = done == 0
        for each in blocks:
            each.send(rows, mu, totals, penalty, first=first)
        if not first:
            mu[:] = base
        for each in blocks:
            spare = each.receive(mu, spare, first=first)
        if not first:
            totals = rows.totals(mu, count)
            if progress is not None:
                progress(done, iterations)
    made = mu.reshape(n, count)
    made -= totals[count:]
    return made
