"""The package grows no larger and no more tangled than pyproject.toml allows."""

from __future__ import annotations

import importlib.util
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOLS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]
LIMITS = TOOLS["semira"]["limits"]

_spec = importlib.util.spec_from_file_location("measures", ROOT / "tools" / "measures.py")
measures = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(measures)


@pytest.fixture(scope="module")
def found():
    return measures.measures()


def test_rooms_stay_within_their_limits(found) -> None:
    rooms, limits = found["rooms"], LIMITS["rooms"]
    assert rooms.keys() == limits.keys()
    larger = {room: (rooms[room], limits[room]) for room in rooms if rooms[room] > limits[room]}
    assert not larger, f"simplify them, or say why they must grow: {larger}"
    smaller = {room: rooms[room] for room in rooms if rooms[room] < 0.95 * limits[room] - 20}
    assert not smaller, f"lower their limits: {smaller}"


def test_tangles_do_not_grow(found) -> None:
    counts = {name: found[name] for name in LIMITS if name != "rooms"}
    worse = {name: count for name, count in counts.items() if count > LIMITS[name]}
    assert not worse, f"{worse}; limits: {LIMITS}"


def test_every_exception_for_siblings_is_part_of_a_circle() -> None:
    contracts = TOOLS["importlinter"]["contracts"]
    (siblings,) = (each for each in contracts if each["type"] == "acyclic_siblings")
    tied = measures.circles_of_siblings()
    needless = []
    for row in siblings["ignore_imports"]:
        package, *pair = measures.siblings_of(*row.split(" -> "))
        if not any({*pair} <= {*circle} for circle in tied.get(package, ())):
            needless.append(row)
    assert not needless, f"no circle holds these imports any more, remove their rows: {needless}"


def test_siblings_are_children_of_the_innermost_package() -> None:
    assert measures.siblings_of("a.b.c.d", "a.b.e") == ("a.b", "a.b.c", "a.b.e")
    assert measures.siblings_of("a.b", "a.b.e") == measures.siblings_of("a.b.e", "a.b") == ("a.b",)


def test_the_measures_see_what_they_count(tmp_path, monkeypatch) -> None:
    (tmp_path / "room").mkdir()
    text = "def f():\n    from semira.base import log\n    import numpy\n    return log, numpy\n"
    (tmp_path / "room" / "one.py").write_text(text)
    (tmp_path / "top.py").write_text("x = 1\n")
    monkeypatch.setattr(measures, "SOURCE", tmp_path)
    assert measures.lines_of_rooms() == {"facades": 1, "room": 4}
    assert measures.deferred_imports() == 1
