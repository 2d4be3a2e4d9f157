"""Algorithms read like the textbook: short loops in files of their own, on whatever device."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ALGORITHMS = Path(__file__).resolve().parents[2] / "src" / "semira" / "algorithms"

#: Lines of code that the file of a recorded loop may have; what tunes it lies beside.
CODE_LINES = 40
TEXTBOOK = ("bfs", "connected_components", "pagerank", "sssp", "triangle_count")

DEVICES = {"cpu", "cuda", "reference", "suitesparse"}

_NO_CODE = {
    tokenize.COMMENT, tokenize.DEDENT, tokenize.ENDMARKER, tokenize.INDENT, tokenize.NEWLINE,
    tokenize.NL,
}  # fmt: skip


def documents(tree: ast.AST) -> Iterator[ast.Constant]:
    """Yield the docstrings."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.walk(tree):
        if isinstance(node, kinds) and ast.get_docstring(node, clean=False) is not None:
            yield node.body[0].value


def code_lines(text: str) -> int:
    """Return the lines with code: imports and signatures too, no docstrings and comments."""
    lines = {
        line
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type not in _NO_CODE
        for line in range(token.start[0], token.end[0] + 1)
    }
    for each in documents(ast.parse(text)):
        lines -= set(range(each.lineno, each.end_lineno + 1))
    return len(lines)


def recorded_loops(text: str) -> int:
    """Return how many functions inside of others, which take nothing, have a matrix product."""
    return sum(
        any(
            isinstance(call, ast.Call) and getattr(call.func, "attr", "") in ("mxm", "mxv", "vxm")
            for call in ast.walk(inner)
        )
        for outer in ast.walk(ast.parse(text))
        if isinstance(outer, ast.FunctionDef)
        for inner in outer.body
        if isinstance(inner, ast.FunctionDef) and not inner.args.args
    )


def asks_for_devices(text: str) -> list[str]:
    """Return the lines that look at the name of a device: comparisons, and names of devices."""
    tree = ast.parse(text)
    documented = {id(each) for each in documents(tree)}
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant):
            is_named = isinstance(node.value, str) and node.value in DEVICES
            is_hit = is_named and id(node) not in documented
        elif isinstance(node, (ast.Compare, ast.Match)):
            parts = [node.left, *node.comparators] if isinstance(node, ast.Compare) else [
                node.subject
            ]  # fmt: skip
            is_hit = any(getattr(part, "attr", "") == "device" for part in parts)
        else:
            continue
        if is_hit:
            found.append(f"{node.lineno}: {ast.unparse(node)}")
    return found


@pytest.mark.parametrize("name", TEXTBOOK)
def test_a_textbook_loop_has_a_short_file_of_its_own(name) -> None:
    text = (ALGORITHMS / f"{name}.py").read_text("utf-8")
    assert recorded_loops(text) == 1
    assert code_lines(text) <= CODE_LINES, "move what tunes the loop into a file beside it"


def test_no_algorithm_looks_at_the_name_of_a_device() -> None:
    texts = {path.name: path.read_text("utf-8") for path in sorted(ALGORITHMS.glob("*.py"))}
    assert len(texts) > 25
    found = {name: asked for name, text in texts.items() if (asked := asks_for_devices(text))}
    assert not found, f"ask `device_traits` what it is good at, or leave it to the planner: {found}"


def test_code_is_counted_and_what_explains_it_is_not() -> None:
    statement = "# Why.\nx = [\n    1,  # one\n]\n"
    function = 'def f():\n    """Say.\n\n    More."""\n    return """a\nb"""\n'
    assert code_lines(f'"""Say."""\n\n{statement}\n\n{function}') == 3 + 1 + 2


def test_loops_are_found() -> None:
    loop = "def f(A, v):\n    def step():\n        v << A.mxv(v)\n    repeat(step)\n"
    assert recorded_loops(loop) == 1
    assert recorded_loops(loop.replace("mxv", "apply")) == 0


@pytest.mark.parametrize(
    "code",
    [
        'if A.device == "cuda":\n    pass',
        "x = where != A.device",
        "x = A.device in GPUS",
        'GPUS = ("cuda",)',
        "match A.device:\n    case _:\n        pass",
    ],
)
def test_questions_for_a_device_are_found(code) -> None:
    assert asks_for_devices(code)


@pytest.mark.parametrize(
    "code",
    ["with device(A.device):\n    pass", '"""Of ``cuda``."""', "f(A.device).own_memory"],
)
def test_other_uses_of_a_device_are_not(code) -> None:
    assert asks_for_devices(code) == []
