"""Kernels, rules and plans know no algorithm: what is fast is fast for every body like it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.helpers.every import every

SOURCE = Path(__file__).resolve().parents[2] / "src" / "semira"
ROOMS = ("backends", "contract", "engine", "plan")

#: Words of names. Docstrings and comments may cite algorithms, code may not.
NAMES = re.compile(
    r"bfs|breadth|dfs|sssp|bellman|dijkstra|delta_?stepping|page_?rank|fast_?sv|connected|components?"
    r"|triangles?|betweenness|louvain|k_?core|k_?truss|clustering",
    re.IGNORECASE,
)
#: Sources of constants, given as text: papers and measurements that a number comes from.
CITED = {"plan/policy.py": {"breadth"}}

_BETWEEN_STRINGS = re.compile(r"""["']\s*[a-z]{0,2}["']""", re.IGNORECASE)
_C_COMMENTS = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


def docstrings(tree: ast.AST) -> set[int]:
    """Return the ids of constants that only document."""
    return {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }


def names_in_code(text: str) -> set[str]:
    """Return the names of algorithms among the identifiers and string constants of Python code."""
    # Most code has none even in its comments. Strings side by side are one.
    if not NAMES.search(_BETWEEN_STRINGS.sub("", text)):
        return set()
    return named_in(texts_in(ast.parse(text)))


def texts_in(tree: ast.AST) -> Iterator[str]:
    """Yield identifiers and string constants of Python code."""
    documents = docstrings(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant):
            if isinstance(node.value, str) and id(node) not in documents:
                yield node.value
            continue
        for name in ("id", "attr", "arg", "name", "asname", "module"):
            found = getattr(node, name, None)
            if isinstance(found, str):
                yield found
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            yield from node.names


def named_in(texts: Iterator[str]) -> set[str]:
    """Return the names of algorithms among the words of texts."""
    return {found[0].lower() for text in texts for found in re.finditer(NAMES, text)
            if is_word(text, found)}  # fmt: skip


def is_word(text: str, found: re.Match[str]) -> bool:
    """Whether a match is a word, or a part of an identifier, and not a piece of another word."""
    before, after = text[: found.start()][-1:], text[found.end() :][:1]
    begins = not before.isalpha() or (found[0][0].isupper() and before.islower())
    return begins and not after.islower()


def python_files() -> list[Path]:
    return sorted(path for room in ROOMS for path in (SOURCE / room).rglob("*.py"))


def test_python_code_names_no_algorithm():
    found = {
        str(path.relative_to(SOURCE)): names
        for path in python_files()
        if (names := names_in_code(path.read_text("utf-8")))
    }
    assert found == CITED


def test_kernels_name_no_algorithm():
    files = sorted(path for room in ROOMS for path in (SOURCE / room).rglob("*.cu*"))
    assert len(files) > 20
    found = {
        str(path.relative_to(SOURCE)): names
        for path in files
        if (names := named_in(iter([_C_COMMENTS.sub("", path.read_text("utf-8"))])))
    }
    assert not found


def test_names_of_files_are_no_algorithms():
    names = (str(path.relative_to(SOURCE)) for path in python_files())
    assert not named_in(names)


@every(
    ("code", "names"),
    [
        ("def bfs(): pass", {"bfs"}),
        ("x = 'fast_sssp'", {"sssp"}),
        ("class PageRankKernel: pass", {"pagerank"}),
        ("from a.pagerank import b", {"pagerank"}),
        ("f(triangle=1).bfs_step", {"bfs", "triangle"}),
        ('def f():\n    """As pagerank does."""  # and bfs\n    return "unconnected"', set()),
        ("subfs = disconnected", set()),
        ("s = f'a {x} bfs'", {"bfs"}),
        ("s = (\n    'page'\n    'rank'\n)", {"pagerank"}),
    ],
)
def test_what_counts_as_a_name(code, names):
    assert names_in_code(code) == names
