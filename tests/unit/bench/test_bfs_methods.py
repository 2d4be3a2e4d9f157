"""The textbook's searches: the same levels by every method, and the tables of their times."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from tests.unit.algorithms import cases
from typer.testing import CliRunner

from semira.algorithms import bfs
from semira.backends.cuda.backend import CAPABILITIES
from semira.backends.registry import backend_for
from semira.base.errors import InvalidValue
from semira.bench.bfs_methods import (
    METHODS,
    MethodsRequest,
    methods_table,
    pins_on,
    run_methods,
    winners_table,
)
from semira.bench.record import Record, read_records
from semira.cli.main import app


@pytest.mark.parametrize("name", METHODS)
@cases.shapes
def test_levels_are_the_same(graph: cases.Graph, device: str, name: str) -> None:
    pins = pins_on(name, backend_for(device).capabilities())
    for source in sorted({0, graph.n // 2}):
        found = bfs(graph.matrix(device), source, **pins)
        assert found.level.to_dict() == cases.levels(graph, source)
        ran = {row.method for row in found.trace}
        if "matrix_storage" in pins or pins.get("direction") == "push":
            assert ran <= {"push"}
        if name == "one block for small levels" or pins.get("direction") == "pull":
            assert len(ran) <= 1


PAGE = Path(__file__).resolve().parents[3] / "docs" / "algorithms" / "bfs.md"


@pytest.mark.parametrize("text", [bfs.__doc__, PAGE.read_text("utf-8")], ids=["docstring", "page"])
def test_the_options_of_each_method_are_told(text: str) -> None:
    rows = re.findall(r"^ *\| (.+?) \| `(\w+=.+?)` \|$", text, re.MULTILINE)
    told = {name: eval(f"dict({options})") for name, options in rows}
    assert told == {name: pins for name, pins in METHODS.items() if pins}


def test_a_gpu_has_a_kernel_for_each_name() -> None:
    pins = [pins_on(name, CAPABILITIES) for name in METHODS]
    assert pins == list(METHODS.values())
    assert len({str(each) for each in pins}) == len(METHODS)


def test_others_run_what_is_left() -> None:
    able = backend_for("cpu").capabilities()
    assert {name: pins_on(name, able) for name in METHODS} == {
        "vertex-centric push": {"direction": "push"},
        "vertex-centric pull": {"direction": "pull"},
        "edge-centric": {"matrix_storage": "coo"},
        "frontier, global queue": {"direction": "push"},
        "frontier, block queue": {"direction": "push"},
        "one block for small levels": {"direction": "push"},
        "planner": {},
    }
    with pytest.raises(InvalidValue, match="choose one of vertex-centric push"):
        pins_on("random walk", able)


@pytest.fixture(scope="module")
def measured() -> list[Record]:
    return run_methods(MethodsRequest(("kron:6", "road:9x9"), trials=1, seconds=0.1))


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


def test_command_writes_what_it_prints(tmp_path: Path) -> None:
    out = tmp_path / "methods.jsonl"
    args = ["bench", "bfs-methods", "kron:5", "--quick", "--out", str(out)]
    result = CliRunner().invoke(app, args)
    assert result.exit_code == 0, result.output
    assert "Which wins where" in result.stdout
    assert [each.plan for each in read_records(out)][-1] == {}
