"""Files and functions stay short; whatever does not needs a reason in the lists below."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.api.test_measures import measures

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("src", "tests", "benchmarks", "examples")
SUFFIXES = (".py", ".cuh", ".cu")
FILE_LINES = 600
FUNCTION_LINES = 60

# path -> why it may be longer
LONG_FILES: dict[str, str] = {
    "benchmarks/scripts/spmv_study.cu": "the kernels that one study compares are one unit",
}
# path::function -> why it may be longer
LONG_FUNCTIONS: dict[str, str] = {}


def sources() -> Iterator[Path]:
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in SUFFIXES and "__pycache__" not in path.parts:
                yield path


def function_lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of a function from `def` to its end, its docstring not counted."""
    lines = node.end_lineno - node.lineno + 1
    if ast.get_docstring(node, clean=False) is not None:
        docstring = node.body[0]
        lines -= docstring.end_lineno - docstring.lineno + 1
    return lines


def long_functions(text: str, limit: int = FUNCTION_LINES) -> dict[str, int]:
    """Name -> lines of every function in `text` that is longer than `limit`."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    functions = [node for node in measures.statements(ast.parse(text)) if isinstance(node, kinds)]
    sizes = [(node.name, function_lines(node)) for node in functions]
    return {name: lines for name, lines in sizes if lines > limit}


def test_files_are_short() -> None:
    lines = {str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in sources()}
    assert "src/semira/__init__.py" in lines
    found = {name: count for name, count in lines.items() if count > FILE_LINES}
    assert found.keys() == LONG_FILES.keys(), f"limit {FILE_LINES}: {found}; listed: {LONG_FILES}"


def test_functions_are_short() -> None:
    found = {
        f"{path.relative_to(ROOT)}::{name}": lines
        for path in sources()
        if path.suffix == ".py"
        for name, lines in long_functions(path.read_text()).items()
    }
    listed = LONG_FUNCTIONS
    assert found.keys() == listed.keys(), f"limit {FUNCTION_LINES}: {found}; listed: {listed}"


def test_a_long_function_is_seen_and_its_docstring_is_not_counted() -> None:
    body = "    x = 1\n" * 4
    docstring = '    """Say.\n\n    More.\n    """\n'
    assert long_functions(f"def short():\n{docstring}{body}", limit=5) == {}
    assert long_functions(f"def long():\n{docstring}{body}    y = 2\n", limit=5) == {"long": 6}
