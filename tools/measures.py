"""Measure the size and coupling of the package: lines per room, cycles, deferred imports.

    python tools/measures.py [--json]

``tests/api/test_measures.py`` compares the same numbers with ``[tool.semira.limits]`` in
pyproject.toml, whose limits are lowered whenever a number falls and never raised without a reason.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "semira"
SUFFIXES = (".py", ".pyi", ".cuh", ".cu")

#: A class with more fields than this knows too much.
MANY_FIELDS = 20


def sources() -> Iterator[Path]:
    """Yield the shipped files."""
    for path in sorted(SOURCE.rglob("*")):
        if path.suffix in SUFFIXES and "__pycache__" not in path.parts:
            yield path


def lines_of_rooms() -> dict[str, int]:
    """Return the lines of each folder directly under the package, and of each back end."""
    counted: Counter[str] = Counter()
    for path in sources():
        parts = path.relative_to(SOURCE).parts
        depth = 2 if parts[0] == "backends" and len(parts) > 2 else 1
        room = "/".join(parts[:depth]) if len(parts) > 1 else "facades"
        counted[room] += path.read_text().count("\n")
    return dict(sorted(counted.items()))


def circles() -> list[list[str]]:
    """Return groups of modules that import each other, deferred and typing imports included.

    Names that the root package declares only for type checkers do not count.
    """
    edges = (edge for edge in imports() if edge[0] != "semira")
    return sorted(_circles_among(edges), key=len, reverse=True)


@cache
def imports() -> frozenset[tuple[str, str]]:
    """Return every import as importer and imported, deferred and typing imports included."""
    import grimp

    graph = grimp.build_graph("semira", exclude_type_checking_imports=False)
    return frozenset(
        (one, other)
        for one in graph.modules
        for other in graph.find_modules_directly_imported_by(one)
    )


def circles_of_siblings() -> dict[str, list[list[str]]]:
    """Return groups of files and folders that import each other, for each package with any.

    As import-linter's contract ``acyclic_siblings`` sees them, but without its exceptions.
    """
    edges: dict[str, set[tuple[str, str]]] = {}
    for one, other in imports():
        package, *siblings = siblings_of(one, other)
        if siblings:
            edges.setdefault(package, set()).add((siblings[0], siblings[1]))
    found = {package: _circles_among(among) for package, among in sorted(edges.items())}
    return {package: tied for package, tied in found.items() if tied}


def siblings_of(one: str, other: str) -> tuple[str, ...]:
    """Return the innermost common package of two modules, and its children that contain them.

    If one of the modules is the package itself, return only the package.
    """
    first, second = one.split("."), other.split(".")
    pairs = enumerate(zip(first, second, strict=False))
    depth = next((at for at, (left, right) in pairs if left != right), 0)
    if not depth:
        return (min(one, other, key=len),)
    return ".".join(first[:depth]), ".".join(first[: depth + 1]), ".".join(second[: depth + 1])


def _circles_among(edges: Iterable[tuple[str, str]]) -> list[list[str]]:
    import networkx as nx

    found = nx.strongly_connected_components(nx.DiGraph(edges))
    return [sorted(each) for each in found if len(each) > 1]


def trees(with_text: str) -> Iterator[tuple[Path, ast.Module]]:
    """Yield the shipped Python files in which a pattern is found, parsed."""
    for path in sources():
        if path.suffix == ".py" and re.search(with_text, text := path.read_text(), re.MULTILINE):
            yield path, ast.parse(text)


def statements(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield a tree and all inside of it but expressions: a small part of what `ast.walk` yields."""
    left = [tree]
    while left:
        node = left.pop()
        yield node
        for name in ("body", "orelse", "finalbody", "handlers", "cases"):
            left += vars(node).get(name, ())


def deferred_imports() -> int:
    """Return the number of imports of our own modules inside functions."""
    count = 0
    # Such an import is indented.
    for _, tree in trees(r"^[ \t]+(from|import)\b.*\bsemira\b"):
        inside = {
            node
            for outer in statements(tree)
            if isinstance(outer, (ast.FunctionDef, ast.AsyncFunctionDef))
            for node in statements(outer)
            if isinstance(node, (ast.Import, ast.ImportFrom))
        }
        count += sum(_is_own(node) for node in inside)
    return count


def _is_own(node: ast.Import | ast.ImportFrom) -> bool:
    is_from = isinstance(node, ast.ImportFrom)
    names = [node.module or ""] if is_from else [each.name for each in node.names]
    return any(name == "semira" or name.startswith("semira.") for name in names)


def fat_classes() -> dict[str, int]:
    """Return dataclasses with more than `MANY_FIELDS` fields."""
    found = {}
    for path, tree in trees("dataclass"):
        for node in statements(tree):
            if isinstance(node, ast.ClassDef) and any(
                "dataclass" in ast.unparse(each) for each in node.decorator_list
            ):
                fields = sum(isinstance(each, ast.AnnAssign) for each in node.body)
                if fields > MANY_FIELDS:
                    found[f"{path.relative_to(SOURCE)}::{node.name}"] = fields
    return found


def repeated_names() -> dict[str, int]:
    """Return file names found in more than two folders, without ``__init__``.

    Folders of methods and applications are exempt: their parts are found by name.
    """
    exempt = {"apps", "methods"}
    parts = (path for path in sources() if not exempt & {*path.relative_to(SOURCE).parts})
    names = Counter(path.name for path in parts if path.name != "__init__.py")
    return {name: count for name, count in sorted(names.items()) if count > 2}


def measures() -> dict[str, Any]:
    """Return all measures."""
    rooms = lines_of_rooms()
    tied = circles()
    return {
        "lines": sum(rooms.values()),
        "rooms": rooms,
        "circles": len(tied),
        "largest_circle": max(map(len, tied), default=0),
        "tangled_packages": len(circles_of_siblings()),
        "deferred_imports": deferred_imports(),
        "fat_classes": len(fat_classes()),
        "repeated_names": len(repeated_names()),
    }


def main() -> None:
    """Print the measures."""
    parser = argparse.ArgumentParser(prog="python tools/measures.py", description=__doc__)
    parser.add_argument("--json", action="store_true")
    found = measures()
    if parser.parse_args().json:
        sys.stdout.write(json.dumps(found, indent=2) + "\n")
        return
    rooms = found.pop("rooms")
    for name, value in [*found.items(), *rooms.items()]:
        sys.stdout.write(f"{name:24} {value:>9,}\n")
    for circle in circles():
        sys.stdout.write(f"circle of {len(circle)}: {', '.join(circle)}\n")


if __name__ == "__main__":
    main()
