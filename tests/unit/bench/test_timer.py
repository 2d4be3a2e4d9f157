"""Clocks: what counts as first, warm and compiling; limits."""

from __future__ import annotations

import gc
import time

import numba
import pytest

from semira.bench.timer import Budget, TooSlow, measure, time_limit


def test_first_call_is_apart_and_trials_are_numbered() -> None:
    seen: list[int] = []
    result, samples = measure(lambda trial: seen.append(trial) or len(seen), Budget(3, 10.0))
    assert result == 1
    assert seen == [0, 0, 1, 2]
    assert len(samples.warm_s) == 3


def test_budget_stops_the_warm_calls_but_leaves_one() -> None:
    _, samples = measure(lambda trial: time.sleep(0.02), Budget(50, 0.0))
    assert len(samples.warm_s) == 1
    assert samples.warm_s[0] >= 0.02


def test_wall_counts_what_is_done_with_results() -> None:
    budget = Budget(50, 10.0, wall=0.03)
    _, samples = measure(lambda trial: None, budget, observe=lambda _: time.sleep(0.02))
    assert len(samples.warm_s) == 2


def test_compiling_is_counted_once_and_lies_in_the_first_call() -> None:
    @numba.njit
    def double(x):
        return 2 * x

    result, samples = measure(lambda trial: double(21), Budget(2, 1.0))
    assert result == 42
    assert samples.compiled == 1
    assert 0 < samples.compile_s <= samples.first_s
    _, samples = measure(lambda trial: double(21), Budget(2, 1.0))
    assert (samples.compiled, samples.compile_s) == (0, 0.0)


def test_collector_is_off_inside_and_back_afterwards() -> None:
    inside = []
    measure(lambda trial: inside.append(gc.isenabled()), Budget(1, 1.0))
    assert inside == [False, False]
    assert gc.isenabled()


def test_time_limit_stops_and_does_not_fire_later() -> None:
    with pytest.raises(TooSlow, match=r"over 0\.02 s"), time_limit(0.02):
        time.sleep(10)
    with time_limit(0.01):
        pass
    time.sleep(0.03)
