"""The textbook's searches: the same levels by every method, and the tables of their times."""

from __future__ import annotations

from dataclasses import replace

import pytest
from benchmarks.studies.bfs_methods import STUDY, MethodsOptions, methods_table, winners_table

from semira.bench.record import Record
from semira.cli.searches import METHODS


@pytest.fixture(scope="module")
def measured() -> list[Record]:
    return STUDY.run(MethodsOptions(("kron:6", "road:9x9"), trials=1, seconds=0.1))


def test_each_distinct_search_is_measured_once_and_checked(measured: list[Record]) -> None:
    assert [each.plan for each in measured[:4]] == [
        {"direction": "push"}, {"direction": "pull"}, {"matrix_storage": "coo"}, {},
    ]  # fmt: skip
    assert len(measured) == 8
    assert all(each.verified for each in measured)


def test_names_of_the_same_kernels_are_said_to_be(measured: list[Record]) -> None:
    head, rows = methods_table(measured)
    cells = [dict(zip(head, row, strict=True)) for row in rows]
    assert [each["method"] for each in cells[: len(METHODS)]] == list(METHODS)
    same = {each["method"] for each in cells if each["ms"] == "the kernels of vertex-centric push"}
    assert same == {
        "frontier, global queue", "frontier, block queue", "one block for small levels",
    }  # fmt: skip
    assert {each["verified"] for each in cells} == {"yes", ""}


def test_the_fastest_wins_and_the_planner_stands_beside(measured: list[Record]) -> None:
    slow = [replace(each, warm_s=[2e-3]) for each in measured[:4]]
    slow[1] = replace(slow[1], warm_s=[1e-3])
    head, rows = winners_table(slow)
    (row,) = (dict(zip(head, each, strict=True)) for each in rows)
    assert (row["fastest method"], row["ms"]) == ("vertex-centric pull", "1")
    assert row["planner, ms"] == "2"
    slow[0] = replace(slow[0], warm_s=[5e-4])
    best = dict(zip(head, winners_table(slow)[1][0], strict=True))["fastest method"]
    assert best.split(" = ")[0] == "vertex-centric push"
    assert best.count(" = ") == 3


def test_records_of_a_gpu_are_read_without_one(measured: list[Record]) -> None:
    block = replace(measured[0], backend="cuda", plan=METHODS["frontier, block queue"])
    head, rows = methods_table([block])
    assert [dict(zip(head, row, strict=True))["method"] for row in rows] == [
        "frontier, block queue"
    ]
