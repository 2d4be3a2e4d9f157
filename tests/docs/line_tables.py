"""The table of algorithms: lines of code of each file, and of the files that it calls."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path

from semira.algorithms.registry import REGISTRY
from semira.apps.registry import rows as applications_by_name
from semira.bench.report import markdown_table

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "src" / "semira" / "algorithms"
PACKAGE = "semira.algorithms"

#: What nearly all share, and no column counts.
SHARED = ("checks", "naming", "renamed", "results", "run", "shown")

#: Lines of C++ in Ligra, Gunrock and GraphBLAST, from Table 7.11 of the thesis.
_CPP = {
    "bfs": (29, 2732, 25),
    "sssp": (55, 857, 25),
    "pagerank": (74, 2006, 27),
    "triangle_count": (55, 555, 6),
}


def _file(name: str) -> Path:
    """Return the file of a module of the folder, or of one with its full name."""
    path = FOLDER / f"{name}.py"
    return path if path.exists() else Path(str(import_module(name).__file__))


@cache
def lines_of_code(name: str) -> int:
    """Return the lines of an algorithm's file with code but for docstrings and imports."""
    return _code_lines(_file(name).read_text("utf-8"))


def _code_lines(text: str) -> int:
    skipped: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if is_text or isinstance(node, ast.Import | ast.ImportFrom):
            skipped.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    lines = enumerate(text.splitlines(), 1)
    code = (at for at, line in lines if line.strip() and not line.lstrip().startswith("#"))
    return sum(at not in skipped for at in code)


def _cuda_lines(text: str) -> int:
    lines = (line.strip() for line in text.splitlines())
    return sum(bool(line) and not line.startswith(("//", "#")) for line in lines)


def applications() -> str:
    """Return the applications with their commands, pages and lines of code."""
    rows = []
    for row in applications_by_name().values():
        home = Path(str(import_module(row.module).__file__)).parent
        python, cuda = (
            sum(count(path.read_text("utf-8")) for path in home.rglob(f"*.{suffix}"))
            for suffix, count in (("py", _code_lines), ("cuh", _cuda_lines))
        )
        page = f"[{_begun(row.title)}]({row.page})"
        command = f"`semira run {row.typed}`"
        rows.append([page, _begun(row.summary), command, str(python), str(cuda)])
    head = ["application", "answers", "command", "lines of Python", "of CUDA C++"]
    return markdown_table(head, sorted(rows))


def _begun(text: str) -> str:
    return text[:1].upper() + text[1:]


@cache
def _imported(name: str) -> frozenset[str]:
    """Return the files of the folder that one of them imports."""
    return frozenset(_each_imported(name))


def _each_imported(name: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(_file(name).read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module == PACKAGE:
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith(f"{PACKAGE}."):
            yield str(node.module).rpartition(".")[2]
        elif isinstance(node, ast.Import):
            inside = [alias.name for alias in node.names if alias.name.startswith(f"{PACKAGE}.")]
            yield from (each.rpartition(".")[2] for each in inside)


@cache
def called_by(name: str) -> frozenset[str]:
    """Return the other files of the folder that an algorithm runs, but for those of `SHARED`."""
    found: set[str] = set()
    left = [name]
    while left:
        new = _imported(left.pop()) - found - {name, *SHARED}
        found |= new
        left += new
    return frozenset(found)


def algorithms() -> str:
    """Return the algorithms with their pages and lines of code."""
    rows = []
    for name, page in sorted(
        {row.home.removeprefix(f"{PACKAGE}."): row.page for row in REGISTRY.values()}.items()
    ):
        own = lines_of_code(name)
        whole = own + sum(map(lines_of_code, called_by(name)))
        others = [str(count) for count in _CPP.get(name, ())] or ["", "", ""]
        rows.append([f"[{name}]({page})", str(own), str(whole), *others])
    head = ["algorithm", "own file", "with those it calls", "Ligra", "Gunrock", "GraphBLAST"]
    *most, last = (f"{lines_of_code(name)} of `{name}.py`" for name in SHARED)
    sizes = f"{', '.join(most)} and {last}"
    shared = f"In neither column: {sizes}."
    return "\n\n".join([markdown_table(head, rows), shared])
