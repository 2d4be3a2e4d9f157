"""Loops whose products write for the next iteration, pushes and pulls in turn, on the GPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import semira as gb
from semira import binary, semiring

pytestmark = pytest.mark.gpu

#: They change direction on small graphs.
POLICIES = ["ligra", "gunrock", "beamer"]

#: Words that several warps share, and words of one.
SIZES = [40, 333, 2112, 40_000]


def edges_of(size: int, seed: int = 5) -> np.ndarray:
    """Return drawn edges, three a vertex, and a star."""
    rng = np.random.default_rng(seed)
    drawn = rng.integers(0, size, (3 * size, 2))
    star = np.stack([np.full(size // 4, size // 2), rng.integers(0, size, size // 4)], axis=1)
    return np.unique(np.concatenate([drawn, star]), axis=0)


class Search:
    """The objects of a search on a device, and what is in them after loops."""

    def __init__(self, device: str, size: int) -> None:
        at = edges_of(size)
        self.device, self.depth = device, 0
        with gb.device(device):
            self.graph = gb.Matrix.from_coo(at[:, 0], at[:, 1], True, nrows=size, ncols=size)
            self.level = gb.Vector("INT64", size)
            self.front = gb.Vector.from_coo([size // 2], 1, "INT64", size=size)
            self.others = gb.Vector("INT64", size)

    def repeat(self, body: Callable[[Search], Any], most: int, times: int = 1) -> list[str]:
        """Run loops of a body one after the other; return the directions of all products."""
        ran: list[str] = []
        with gb.device(self.device):
            for _ in range(times):
                ran += [row.method for row in gb.repeat(lambda: body(self), most).trace]
        return ran

    @property
    def state(self) -> list[Any]:
        """What the vectors hold."""
        found = (self.level, self.front, self.others)
        return [tuple(map(list, each.to("cpu").to_coo())) for each in found]


def agree(size: int, body: Callable[[Search], Any], most: int, times: int = 1) -> list[str]:
    """Compare loops with those of the cpu; return the directions on the GPU."""
    ours, theirs = Search("cuda", size), Search("cpu", size)
    ran = ours.repeat(body, most, times)
    theirs.repeat(body, most, times)
    assert ours.state == theirs.state
    with gb.device("cuda"):
        again = ours.front.vxm(ours.graph, semiring.plus_pair["INT64"]).new()
    with gb.device("cpu"):
        wanted = theirs.front.vxm(theirs.graph, semiring.plus_pair["INT64"]).new()
    assert again.to("cpu").isequal(wanted)
    return ran


def searching(policy: str, product: Any = semiring.any_pair) -> Callable[[Search], Any]:
    """Return the body of a search."""

    def body(s: Search) -> Any:
        s.level(s.front.S) << 7
        s.front(~s.level.S, replace=True, policy=policy) << s.front.vxm(s.graph, product)
        return s.front.nvals > 0

    return body


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("policy", POLICIES)
def test_searches_change_direction(policy, size):
    ran = set(agree(size, searching(policy), 50))
    assert "pull" in ran
    assert "push" in ran or size == 40


@pytest.mark.parametrize("most", [1, 2, 3, 4])
def test_loops_that_end_behind_a_pull_leave_nothing(most):
    ran = agree(333, searching("ligra"), most, times=3)
    assert "pull" in ran


@pytest.mark.parametrize("masked", [True, False])
@pytest.mark.parametrize("size", SIZES[:3])
def test_a_list_that_another_push_has_built_behind_a_pull(size, masked):
    def body(s: Search) -> Any:
        s.level(s.front.S) << 7
        # Needs the list of what was pulled, in the place of the product behind it.
        pushed = s.front.vxm(s.graph, semiring.plus_pair["INT64"])
        s.others(accum=binary.plus, direction="push") << pushed
        given = {"mask": ~s.level.S, "replace": True} if masked else {}
        s.front(policy="ligra", **given) << s.front.vxm(s.graph, semiring.any_pair)
        return s.front.nvals > 0

    assert {"push", "pull"} <= set(agree(size, body, 12))


def test_several_writes_of_which_one_accumulates():
    def body(s: Search) -> Any:
        s.level(s.front.S) << 7
        s.others(mask=s.front.S, accum=binary.plus) << s.front
        s.front(~s.level.S, replace=True, policy="ligra") << s.front.vxm(
            s.graph, semiring.any_secondi["INT64"]
        )
        return s.front.nvals > 0

    ours, theirs = Search("cuda", 333), Search("cpu", 333)
    assert "pull" in ours.repeat(body, 50)
    theirs.repeat(body, 50)
    # Any parent will do, so that only the places are the same.
    assert [each[0] for each in ours.state] == [each[0] for each in theirs.state]
    assert ours.state[0] == theirs.state[0]


def test_a_front_that_is_filled_again_behind_an_inner_loop():
    def inner(s: Search) -> Any:
        searching("gunrock")(s)
        s.others << s.front
        return s.front.nvals > 0

    def body(s: Search) -> Any:
        gb.repeat(lambda: inner(s), 300)
        s.front(~s.level.S, replace=True, direction="push") << s.level.vxm(
            s.graph, semiring.any_pair
        )
        s.level << s.level.select("rowle", 199)

    agree(333, body, 3)


def test_a_search_inside_of_a_loop():
    def body(s: Search) -> Any:
        gb.repeat(lambda: searching("ligra")(s), 3)
        s.front << s.level.select("rowle", 60)
        s.level << s.level.select("rowgt", 300)

    agree(333, body, 3)
