"""The textbook's searches by name: the same levels by each, and what a device makes of it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.helpers.every import every
from tests.unit.algorithms import cases

from semira.algorithms import bfs
from semira.backends.cuda.backend import CAPABILITIES
from semira.backends.registry import backend_for
from semira.base.errors import InvalidValue
from semira.cli.searches import METHODS, pins_on


@every("name", METHODS)
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


PAGE = Path(__file__).resolve().parents[2] / "docs" / "algorithms" / "bfs.md"


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
