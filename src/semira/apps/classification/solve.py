"""Iterations of belief propagation: messages over the edges, added to the scores of vertices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from semira.apps.classification import kernels
from semira.apps.classification.problem import Lists, Problem, pieces_of
from semira.kernels import ArrayKernel, run_loop

#: Messages (edges of the graph times edges of the pattern) up to which all iterations are one
#: launch of a GPU. With more, starting the kernels takes less time than they do, and in launches of
#: their own they have the whole device.
_ONE_LAUNCH = 1 << 24

#: Kernels of such a launch at most.
_MOST_KERNELS = 24


class Call(NamedTuple):
    """A call of a kernel that can be repeated."""

    kernel: ArrayKernel
    items: int
    arguments: tuple[Any, ...]
    options: dict[str, Any]


class Totals:
    """The pieces of the rows of tables, and the sums of the columns of the scores."""

    def __init__(self, problem: Problem, mu: Any, xp: Any) -> None:
        self.span, self.pieces = pieces_of(problem.n)
        self.count = len(problem.pattern.vertices)
        self.mu, self.n = mu, problem.n
        self._partial = xp.empty(2 * self.count * self.pieces)
        #: The maximum of each column, then the log-sum-exp of each.
        self.values = xp.empty(2 * self.count)

    def calls(self) -> list[Call]:
        """Return what sums up the columns."""
        count, pieces = self.count, self.pieces
        rows = self.span, self.n, count, pieces, self.mu, self._partial
        return [
            Call(kernels.columns, pieces, rows, {"work": 8 * self.n * count}),
            Call(kernels.total, count, (pieces, count, self._partial, self.values), {}),
        ]


class Messages:
    """The messages over some edges of the pattern, those from `low` to `high`.

    `raw` is room for a table, shared with others, which is minus infinity between their calls.
    Messages back read the target of an edge if they go `both` ways: they are weighed by what enters
    a vertex.
    """

    def __init__(
        self, problem: Problem, low: int, high: int, raw: Any, *, both: bool, xp: Any
    ) -> None:
        self._problem, self._xp = problem, xp
        self._width = high - low
        pattern = problem.pattern
        self._sources = xp.asarray(pattern.sources[low:high])
        self._targets = xp.asarray(pattern.targets[low:high])
        self._features = xp.asarray(pattern.edges[low:high].T.ravel())
        size = problem.n * self._width
        self._raw = raw[:size]
        # What weighs messages, and the nearest edge that leaves each vertex.
        self._own, self._nearest = self._weights(problem.leaving)
        self._other = self._own
        if problem.walks_back:
            self._nearest = self._own  # not read
        if both:
            self._other = self._weights(problem.entering)[0]
        self._forward, self._reverse = xp.empty(size), xp.empty(size)
        self._terms = xp.empty(4 * self._width)
        self._partial = xp.empty(6 * self._width * pieces_of(problem.n)[1])
        kernels.clear(size, self._raw, device=problem.device)

    def send(self, totals: Totals, penalty: float, *, first: bool) -> list[Call]:
        """Return what turns received messages into those sent, and sums them up."""
        n, width, pieces, count = self._problem.n, self._width, totals.pieces, totals.count
        sent = (
            totals.span, n, width, pieces, first, count, totals.mu, totals.values, self._sources,
            self._targets, self._own, self._other, self._forward, self._reverse, self._partial,
        )  # fmt: skip
        settled = (
            pieces, width, first, penalty, count, totals.values, self._sources, self._targets,
            self._partial, self._terms,
        )  # fmt: skip
        return [
            Call(kernels.send, pieces, sent, {"work": 16 * n * width}),
            Call(kernels.settle, width, settled, {}),
        ]

    def receive(self, totals: Totals, *, first: bool) -> list[Call]:
        """Return what receives messages and adds them to the scores."""
        problem, size = self._problem, len(self._raw)
        calls = [self._pull(problem.entering, self._reverse, self._raw)]
        if problem.walks_back:
            # What was sent forward is not read again.
            calls.append(Call(kernels.clear, size, (self._reverse,), {"work": size}))
            calls.append(self._pull(problem.leaving, self._forward, self._reverse))
        received = (
            self._width, first, totals.count, self._sources, self._targets, self._terms,
            problem.walks_back, self._nearest, self._raw, self._forward, self._reverse, totals.mu,
        )  # fmt: skip
        calls.append(Call(kernels.receive, problem.n, received, {"work": size}))
        return calls

    def _pull(self, lists: Lists, messages: Any, out: Any, has_messages: bool = True) -> Call:
        problem = self._problem
        arguments = (
            *self._sizes(), lists.indptr, lists.near, lists.edges, lists.is_listed,
            problem.edges.ravel(), self._features, messages, has_messages, out,
        )  # fmt: skip
        options = {"work": lists.indptr, "host_scratch": self._scratch}
        return Call(kernels.pull, problem.n, arguments, options)

    def _weights(self, lists: Lists) -> tuple[Any, Any]:
        """Return log sum exp(-distance) of the edges of each vertex, and its greatest term."""
        xp, problem, size = self._xp, self._problem, len(self._raw)
        device = problem.device
        nearest, out = xp.empty(size), xp.empty(size)
        kernels.clear(size, nearest, device=device)
        run([self._pull(lists, nearest, nearest, has_messages=False)], device)
        longest = int(xp.diff(lists.indptr).max()) if problem.n else 1
        unit = 2.0 ** (61 - max(longest, 1).bit_length())
        units = self._raw.view(xp.int64)
        units.fill(0)
        kernels.weigh(
            problem.n, *self._sizes(), lists.indptr, lists.edges, lists.is_listed,
            problem.edges.ravel(), self._features, nearest, unit, units, device=device,
            work=lists.indptr, host_scratch=self._scratch,
        )  # fmt: skip
        kernels.close(size, nearest, units, unit, out, device=device, work=8 * size)
        return out, nearest

    def _sizes(self) -> tuple[int, int]:
        return self._problem.edges.shape[1], self._width

    def _scratch(self) -> list[tuple[str, int, None]]:
        return [("float64", self._width, None)]


def run(calls: list[Call], device: str) -> None:
    """Start kernels one after the other."""
    for call in calls:
        call.kernel(call.items, *call.arguments, device=device, **call.options)


def _distances(problem: Problem, out: Any, xp: Any) -> Call:
    """Return what writes the negative distances of vertices."""
    n, count = problem.n, len(problem.pattern.vertices)
    pattern = xp.asarray(problem.pattern.vertices.T.ravel())
    arguments = problem.vertices.shape[1], count, problem.vertices.ravel(), pattern, out
    scratch = [("float64", count, None)]
    return Call(
        kernels.distances, n, arguments, {"work": 4 * n * count, "host_scratch": lambda: scratch}
    )


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
    n, count, device = problem.n, len(problem.pattern.vertices), problem.device
    # mu = normprob(-DV), whose totals are taken off where it is read.
    totals = Totals(problem, xp.empty(n * count), xp)
    begun = _distances(problem, totals.mu, xp)
    run([begun, *totals.calls()], device)
    widths = problem.widths
    raw = xp.empty(n * max(widths, default=0))
    blocks = [
        Messages(problem, sum(widths[:k]), sum(widths[: k + 1]), raw, both=both, xp=xp)
        for k in range(len(widths))
    ]
    if blocks and n:
        first, again = (
            [
                *(call for each in blocks for call in each.send(totals, penalty, first=is_first)),
                *([] if is_first else [begun]),
                *(call for each in blocks for call in each.receive(totals, first=is_first)),
            ]
            for is_first in (True, False)
        )
        run(first, device)
        _repeat([*again, *totals.calls()], iterations, problem, progress, xp)
    made = totals.mu.reshape(n, count)
    made -= totals.values[count:]
    return made


def _repeat(
    calls: list[Call],
    iterations: int,
    problem: Problem,
    progress: Callable[[int, int], None] | None,
    xp: Any,
) -> None:
    """Run the calls of an iteration, again and again."""
    device = problem.device
    is_small = problem.m * len(problem.pattern.edges) <= _ONE_LAUNCH
    if progress is None and is_small and len(calls) < _MOST_KERNELS and iterations:
        state = xp.zeros(2, xp.int64)
        launches = [
            each.kernel.launch(each.items, *each.arguments, **each.options) for each in calls
        ]
        run_loop(state, *launches, kernels.advance.launch(1, iterations, state), device=device)
        return
    for done in range(iterations):
        run(calls, device)
        if progress is not None:
            progress(done + 1, iterations)
