"""Loops whose statements a backend may run in the product of the iteration before: same results."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
from tests.helpers.every import every

import semira as gb
from semira import binary, monoid, semiring, unary

#: Small; and large enough for several blocks, with a vertex whose edges many threads share.
SIZES = [40, 2600]


@pytest.fixture
def on(device):
    with gb.device(device):
        yield device


def edges_of(size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a path with a hub at its end, random edges behind it, and vertices nobody reaches."""
    rng = np.random.default_rng(size)
    reached, hub = size * 3 // 4, 12
    path = np.arange(hub)
    far = np.arange(hub + 1, reached - 4)
    rows = np.concatenate([path, np.full(len(far) // 2, hub), far, [reached - 3, 0]])
    heads = rng.integers(hub, reached - 4, len(far))
    cols = np.concatenate([path + 1, far[: len(far) // 2], heads, [reached - 2, 0]])
    return rows, cols


def matrix(size: int) -> Any:
    rows, cols = edges_of(size)
    return gb.Matrix.from_coo(rows, cols, True, nrows=size, ncols=size)


#: Of a walk that comes back, which need not end.
MOST_STEPS = 20


@functools.cache
def frontiers(size: int, *, masked: bool = True) -> list[np.ndarray]:
    """Return the vertices of each level, or of each step of a walk that may come back."""
    rows, cols = edges_of(size)
    seen, now, found = {0}, {0}, []
    for _ in range(size if masked else MOST_STEPS):
        found.append(np.array(sorted(now)))
        ahead = {int(c) for c in cols[np.isin(rows, found[-1])]}
        now = ahead - seen if masked else ahead
        seen |= now
        if not now:
            break
    return found


def levels_after(size: int, iterations: int) -> dict[int, int]:
    steps = frontiers(size)[:iterations]
    return {int(v): depth for depth, step in enumerate(steps) for v in step}


class Search:
    """Vectors of a search from vertex 0, and the statements that its bodies share."""

    def __init__(self, size: int, dtype: Any = gb.dtypes.INT64, **pins: Any) -> None:
        self.A, self.size, self.pins = matrix(size), size, pins
        self.level = gb.Vector(gb.dtypes.INT64, size)
        self.frontier = gb.Vector.from_coo([0], [0], size=size, dtype=dtype)
        self.depth = gb.Scalar.from_value(0)

    def mark(self) -> None:
        self.level(self.frontier.S) << self.depth
        self.depth << self.depth + 1

    def advance(self, by: Any = semiring.any_pair) -> None:
        place = self.frontier(~self.level.S, replace=True, **self.pins)
        place << self.frontier.vxm(self.A, by)

    def check(self, iterations: int) -> None:
        """The levels of so many iterations are there, and the frontier is the next one."""
        expected, steps = levels_after(self.size, iterations), frontiers(self.size)
        assert self.level.to_dict() == expected
        assert self.level.nvals == len(expected)
        ahead = steps[iterations].tolist() if iterations < len(steps) else []
        assert self.frontier.to_coo()[0].tolist() == ahead
        assert self.frontier.nvals == len(ahead)
        assert self.depth.value == iterations


PINS = [{}, {"direction": "push"}, {"direction": "pull"}]
BALANCES = [{"direction": "push", "balance": name} for name in ("thread", "warp", "block")]


@every("pins", PINS, ids=["auto", "push", "pull"])
@every("size", SIZES)
@every("limit", [1, 2, 5, 13, 14, 1000])
def test_a_search_ends_where_it_is_told_to(on, size, limit, pins):
    search = Search(size, gb.dtypes.BOOL, **pins)

    def step():
        search.mark()
        search.advance()
        return search.frontier.nvals > 0

    result = gb.repeat(step, max_iterations=limit)
    last = len(frontiers(size))
    assert result.iterations == min(limit, last)
    assert result.stopped_by == ("limit" if limit < last else "condition")
    search.check(result.iterations)


@pytest.mark.parametrize("pins", BALANCES, ids=lambda pins: pins["balance"])
def test_every_balance_of_a_push(device, pins):
    if device != "cuda":
        pytest.skip("one balance of pushes")
    with gb.device(device):
        search = Search(2600, gb.dtypes.BOOL, **pins)

        def step():
            search.mark()
            search.advance()
            return search.frontier.nvals > 0

        search.check(gb.repeat(step).iterations)


@pytest.mark.parametrize("size", SIZES)
def test_a_loop_without_a_condition(on, size):
    search = Search(size, direction="push")

    def step():
        search.mark()
        search.advance()

    assert gb.repeat(step, max_iterations=6).iterations == 6
    search.check(6)
    # From where it stands, and beyond the end.
    gb.repeat(step, max_iterations=len(frontiers(size)) + 2)
    assert search.level.to_dict() == levels_after(size, size)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("most", [1, 2, 9])
def test_a_condition_that_ends_with_entries_left(on, size, most):
    search = Search(size, direction="push")

    def step():
        search.mark()
        search.advance()
        return search.frontier.nvals > most

    result = gb.repeat(step)
    steps = [*[len(found) for found in frontiers(size)][1:], 0]
    assert result.iterations == next(at for at, n in enumerate(steps, 1) if n <= most)
    search.check(result.iterations)


@pytest.mark.parametrize("size", SIZES)
def test_an_empty_scalar_deletes_what_it_is_assigned_to(on, size):
    search = Search(size, direction="push")
    nothing = gb.Scalar(gb.dtypes.INT64)
    other = gb.Vector.from_coo(np.arange(size), 7, size=size)

    def step():
        other(search.frontier.S) << nothing
        search.mark()
        search.advance()
        return search.frontier.nvals > 0

    gb.repeat(step, max_iterations=5)
    kept = set(range(size)) - levels_after(size, 5).keys()
    assert set(other.to_coo()[0].tolist()) == kept
    search.check(5)


@every("pins", PINS, ids=["auto", "push", "pull"])
@every("size", SIZES)
@every("limit", [3, 1000])
def test_the_head_reads_values_of_the_new_entries(on, size, limit, pins):
    search = Search(size, **pins)
    parent = gb.Vector.from_coo([0, size - 1], [-5, -6], size=size)
    below = gb.Vector(gb.dtypes.INT64, size)

    def step():
        parent(search.frontier.S) << search.frontier
        below(search.frontier.S) << search.frontier.apply(unary.ainv)
        search.mark()
        search.advance(semiring.any_secondi)
        return search.frontier.nvals > 0

    result = gb.repeat(step, max_iterations=limit)
    search.check(result.iterations)
    level, found = search.level.to_dict(), parent.to_dict()
    assert found.pop(size - 1) == -6
    assert parent.nvals == len(level) + 1
    assert below.to_dict() == {v: -p for v, p in found.items()}
    assert found.keys() == level.keys()
    assert found.pop(0) == 0
    edges = set(zip(*(each.tolist() for each in edges_of(size)), strict=True))
    assert all((p, v) in edges and level[p] == level[v] - 1 for v, p in found.items())


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("limit", [1, 4, 16])
def test_walks_that_come_back_are_counted(on, size, limit):
    A = matrix(size)
    here = gb.Vector.from_coo([0], True, size=size)
    visits, scores = gb.Vector(gb.dtypes.INT64, size), gb.Vector(gb.dtypes.INT64, size)
    worth = gb.Vector.from_coo(np.arange(0, size, 2), np.arange(0, size, 2) + 1, size=size)

    def step():
        visits(binary.plus, mask=here.S) << 1
        scores(binary.plus, mask=here.S) << worth
        here(direction="push") << here.vxm(A, semiring.any_pair)
        return here.nvals > 0

    assert limit < MOST_STEPS
    result = gb.repeat(step, max_iterations=limit)
    steps = frontiers(size, masked=False)
    assert result.iterations == min(limit, len(steps))
    counts = np.zeros(size, np.int64)
    for found in steps[: result.iterations]:
        counts[found] += 1
    assert visits.to_dict() == {int(v): int(counts[v]) for v in np.flatnonzero(counts)}
    even = [int(v) for v in np.flatnonzero(counts) if v % 2 == 0]
    assert scores.to_dict() == {v: int(counts[v]) * (v + 1) for v in even}
    assert (visits.nvals, scores.nvals) == ((counts > 0).sum(), len(even))


@pytest.mark.parametrize("size", SIZES)
def test_a_sum_that_is_final_only_at_the_end(on, size):
    """The least of the vertices before: no entry has its value before all have added to it."""
    search = Search(size, direction="push")
    least = gb.Vector(gb.dtypes.INT64, size)

    def step():
        least(search.frontier.S) << search.frontier
        search.mark()
        search.advance(semiring.min_secondi)
        return search.frontier.nvals > 0

    search.check(gb.repeat(step).iterations)
    level, (rows, cols) = search.level.to_dict(), edges_of(size)
    expected = {0: 0}
    for i, j in zip(rows.tolist(), cols.tolist(), strict=True):
        if i in level and level[j] == level[i] + 1:
            expected[j] = min(i, expected.get(j, size))
    assert least.to_dict() == expected


@pytest.mark.parametrize("size", SIZES)
def test_statements_between_see_the_present_iteration(on, size):
    search = Search(size, direction="push")
    sums, open_before = gb.Scalar.from_value(0), gb.Scalar.from_value(0)
    ones = gb.Vector.from_coo(np.arange(size), 1, size=size)
    untouched = gb.Vector(gb.dtypes.INT64, size)

    def step():
        search.mark()
        sums(binary.plus) << search.frontier.reduce(monoid.plus)
        untouched(~search.level.S, replace=True) << ones
        open_before(binary.plus) << untouched.reduce(monoid.plus)
        search.advance(semiring.any_secondi)
        return search.frontier.nvals > 0

    result = gb.repeat(step, max_iterations=5)
    search.check(5)
    steps = [len(found) for found in frontiers(size)]
    assert open_before.value == sum(size - sum(steps[: t + 1]) for t in range(5))
    # Along the path a vertex's value is the number of the one before.
    assert result.iterations == 5
    assert sums.value == sum(range(4))


@pytest.mark.parametrize("size", SIZES)
def test_a_sum_of_what_a_product_then_replaces(on, size):
    """The sum waits to share a phase; the product must not swap the vector under it."""
    A = matrix(size)
    u = gb.Vector.from_coo([0], [3], size=size)
    seen = gb.Vector.from_coo([0], [1], size=size)
    before, after = gb.Scalar.from_value(0), gb.Scalar.from_value(0)

    def step():
        before << u.reduce(monoid.plus)
        u(~seen.S, replace=True, direction="push") << u.vxm(A, semiring.any_pair)
        after << u.reduce(monoid.plus)

    gb.repeat(step, max_iterations=1)
    assert (before.value, after.value) == (3, 1)


@pytest.mark.parametrize("size", SIZES)
def test_searches_inside_of_a_loop(on, size):
    search = Search(size, direction="push")
    rounds = gb.Scalar.from_value(0)

    def step():
        search.mark()
        search.advance()
        return search.frontier.nvals > 0

    def outer():
        gb.repeat(step, max_iterations=3)
        rounds << rounds + 1
        return rounds < 3

    gb.repeat(outer)
    search.check(9)
