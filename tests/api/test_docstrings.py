"""What docstrings say of parameters is true of the signatures."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2] / "src" / "semira"

#: A parameter whose values are listed: NumPy's style reads the first one as the default.
CHOICES = re.compile(r"^\s*(\w+) : \{(.+?)\}(.*)$", re.MULTILINE)


def false_defaults(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield function, parameter and first value, where that is not the default."""
    if not re.search(r"\w : \{", text):
        return
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        arguments = node.args
        positional = [*arguments.posonlyargs, *arguments.args]
        defaults = [None] * (len(positional) - len(arguments.defaults)) + arguments.defaults
        known = {each.arg: default for each, default in zip(positional, defaults, strict=True)}
        for each, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
            known[each.arg] = default
        for name, values, _ in CHOICES.findall(ast.get_docstring(node) or ""):
            first, default = values.split(", ")[0], known.get(name)
            is_first = default is not None and ast.unparse(default) == first.replace('"', "'")
            if name in known and not is_first:
                yield node.name, name, first


def test_the_first_of_listed_values_is_the_default() -> None:
    found = {
        f"{path.relative_to(SOURCE)}: {function}({name}=) lists {first} first"
        for path in SOURCE.rglob("*.py")
        for function, name, first in false_defaults(path.read_text())
    }
    assert not found, 'write `"a", "b" or "c"` without braces:\n' + "\n".join(sorted(found))


def test_a_false_default_is_seen() -> None:
    lines = '    """Do.\n\n    Parameters\n    ----------\n    kind : {"a", "b"}\n    """\n'
    assert list(false_defaults(f"def f(kind='a'):\n{lines}")) == []
    assert list(false_defaults(f"def f(kind=None):\n{lines}")) == [("f", "kind", '"a"')]
    assert list(false_defaults(f"def f(*, kind):\n{lines}")) == [("f", "kind", '"a"')]
