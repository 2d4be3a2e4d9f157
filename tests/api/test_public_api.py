"""Algorithms are written as users could write them: with public names alone."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path

import pytest

import semira as gb

ALGORITHMS = Path(__file__).resolve().parents[2] / "src" / "semira" / "algorithms"
MODULES = gb._MODULES


def imports_in(text: str) -> Iterator[str]:
    """Yield what code imports from us, wherever it does: for type checking, in functions too."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found = [each.name for each in node.names]
        elif isinstance(node, ast.ImportFrom):
            found = [f"{node.module}.{each.name}" for each in node.names]
        else:
            continue
        yield from (name for name in found if name.partition(".")[0] == "semira")


def is_public(name: str) -> bool:
    """Whether a name is one of the package, of its public modules or of the algorithms."""
    _, *path = name.split(".")
    if path[:1] == ["algorithms"]:
        return True
    if len(path) == 1:
        return path[0] in (*gb.__all__, *MODULES)
    module, *rest = path
    # Operators are made when they are asked for.
    return module in MODULES and len(rest) == 1 and hasattr(getattr(gb, module), rest[0])


def test_algorithms_import_public_names_only() -> None:
    files = sorted(ALGORITHMS.glob("*.py"))
    assert len(files) > 25
    hidden = {
        path.name: found
        for path in files
        if (found := [each for each in imports_in(path.read_text("utf-8")) if not is_public(each)])
    }
    assert not hidden


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("if TYPE_CHECKING:\n    from semira.engine.loops import LoopResult", "LoopResult"),
        ("def f():\n    from semira.contract import lost_rows", "lost_rows"),
        ("import semira.formats", "formats"),
        ("from semira import frontend", "frontend"),
        ("from semira import _NAMES", "_NAMES"),
    ],
)
def test_a_name_that_is_not_public_is_seen(code: str, name: str) -> None:
    (found,) = imports_in(code)
    assert found.endswith(name)
    assert not is_public(found)


def test_public_names_are_those_of_their_rooms() -> None:
    for name in gb.__all__:
        assert getattr(gb, name) is getattr(importlib.import_module(gb._NAMES[name]), name)
    assert sorted(gb.__all__) == sorted(gb._NAMES)
