"""Comparing records: ratios, bands, verdicts, cases that come and go."""

from __future__ import annotations

from dataclasses import replace

import pytest

from semira.bench.compare import compare, worsened
from semira.bench.record import Dataset, Record

CASE = Record("algorithm", "bfs", Dataset("ring", 3, 3, "00"), "semira", "cpu", verified=True)


def with_times(*times: float, **changes: object) -> Record:
    return replace(CASE, warm_s=list(times), **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [
        ((1.0, 1.0, 1.0), (1.2, 1.2, 1.2), "slower"),
        ((1.2, 1.2, 1.2), (1.0, 1.0, 1.0), "faster"),
        ((1.0, 1.0, 1.0), (1.04, 1.04, 1.04), "same"),  # below the least change
        ((1.0, 1.5, 2.0), (1.2, 1.8, 2.4), "same"),  # quartiles overlap
    ],
)
def test_verdict_needs_a_change_beyond_the_noise(
    before: tuple[float, ...], after: tuple[float, ...], verdict: str
) -> None:
    (pair,) = compare([with_times(*before)], [with_times(*after)]).pairs
    assert pair.verdict == verdict
    assert pair.low <= pair.ratio <= pair.high


def test_ratio_is_after_over_before_and_the_worst_comes_first() -> None:
    other = {"kernel": "sssp"}
    changes = compare(
        [with_times(2.0), with_times(1.0, **other)], [with_times(1.0), with_times(3.0, **other)]
    )
    assert [(pair.after.kernel, pair.ratio) for pair in changes.pairs] == [
        ("sssp", 3.0),
        ("bfs", 0.5),
    ]
    assert [pair.after.kernel for pair in worsened(changes.pairs)] == ["sssp"]


def test_wrong_result_is_never_faster() -> None:
    (pair,) = compare([with_times(2.0)], [with_times(1.0, verified=False)]).pairs
    assert pair.verdict == "wrong"
    assert worsened([pair]) == [pair]


@pytest.mark.parametrize(
    "change",
    [
        {"dataset": Dataset("ring", 3, 3, "ff")},  # other contents under the same name
        {"plan": {"direction": "pull"}},
        {"library": "scipy"},
        {"backend": "cuda"},
    ],
)
def test_different_cases_are_not_compared(change: dict[str, object]) -> None:
    before, after = with_times(1.0), with_times(1.0, **change)
    changes = compare([before], [after])
    assert (changes.pairs, changes.only_before, changes.only_after) == ([], [before], [after])


def test_case_without_times_after_is_reported_as_lost() -> None:
    before = with_times(1.0)
    changes = compare([before], [with_times()])
    assert (changes.pairs, changes.only_before) == ([], [before])
