"""Tests of many cases: none is left out, and each that fails is named."""

from __future__ import annotations

import inspect

import pytest
from tests.helpers import every as module
from tests.helpers.every import every


def notes(error: BaseException) -> list[str]:
    return [note for each in getattr(error, "exceptions", [error]) for note in each.__notes__]


def test_every_combination_runs() -> None:
    seen = []

    @every("a", [1, 2])
    @every(("b", "c"), [(3, 4), (5, 6)])
    def test(a, b, c):
        seen.append((a, b, c))

    test()
    assert seen == [(1, 3, 4), (1, 5, 6), (2, 3, 4), (2, 5, 6)]
    assert module.count(test) == 4
    assert module.count(test_every_combination_runs) == 1


def test_fixtures_alone_are_asked_of_pytest() -> None:
    @every("a, b", [(1, 2)])
    def test(device, a, b): ...

    assert list(inspect.signature(test).parameters) == ["device"]
    with pytest.raises(AssertionError, match=r"takes no \{'c'\}"):
        every("c", [1])(lambda a: None)


def test_all_that_fail_are_named_and_the_others_have_run() -> None:
    seen = []

    @every("a", range(4))
    def test(a):
        seen.append(a)
        assert a % 2 == 0, f"{a} is odd"

    with pytest.raises(BaseExceptionGroup, match="2 of 4 cases failed") as caught:
        test()
    assert notes(caught.value) == ["case: a=1", "case: a=3"]
    assert seen == [0, 1, 2, 3]


def test_one_failure_is_raised_as_it_is() -> None:
    @every("a", [0, 1], ids=["none", "one"])
    def test(a):
        if a:
            pytest.fail("one")

    with pytest.raises(pytest.fail.Exception, match="one") as caught:
        test()
    assert notes(caught.value) == ["case: one"]


def test_it_is_skipped_only_where_every_case_is() -> None:
    def body(a, last):
        if a < last:
            pytest.skip(f"{a}")

    every("a", [0, 1])(body)(last=1)
    with pytest.raises(pytest.skip.Exception, match="0"):
        every("a", [0, 1])(body)(last=2)


def test_cases_can_be_chosen(monkeypatch) -> None:
    seen = []

    @every("a", ["x", "y"])
    @every("b", [1, 2])
    def test(a, b):
        seen.append((a, b))

    monkeypatch.setattr(module, "chosen", "a='y', b=2")
    test()
    assert seen == [("y", 2)]


def test_a_case_leaves_nothing_to_the_next(monkeypatch, tmp_path) -> None:
    @every("a", [1, 2])
    def test(a, monkeypatch, tmp_path):
        assert module.chosen == ""
        monkeypatch.setattr(module, "chosen", "x")
        tmp_path.joinpath("file").touch(exist_ok=False)

    test(monkeypatch=monkeypatch, tmp_path=tmp_path)
