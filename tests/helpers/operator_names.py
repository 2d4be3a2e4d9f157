"""The names of operators that type checkers and editors know, in ``semira.binary`` and others.

``python -m tests.helpers.operator_names`` writes them anew; tests/api/test_types.py compares them
with the operators that there are.
"""

from __future__ import annotations

import re
import textwrap
from collections import defaultdict
from pathlib import Path

import semira as gb
from semira.ops.registry import REGISTERED

MODULES = ("agg", "binary", "indexunary", "monoid", "op", "select", "semiring", "unary")

#: What stands between the condition and the end of the names.
_BLOCK = re.compile(r"(?<=\nif TYPE_CHECKING:\n    # Written by ).*?(?=\nelse:\n)", re.DOTALL)

_OPERATORS = (
    "Aggregator",
    "BinaryOp",
    "IndexUnaryOp",
    "Monoid",
    "Parameterized",
    "SelectOp",
    "Semiring",
    "UnaryOp",
)


def path_of(module: str) -> Path:
    """Return the file of a module of operators."""
    return Path(gb.__file__).with_name(f"{module}.py")


def names(module: str) -> dict[str, list[str]]:
    """Return the names of the built-in operators of a module, by their class."""
    found = defaultdict(list)
    space = getattr(gb, module)
    registered = {name for table in REGISTERED.values() for name in table}
    for name in sorted(set(dir(space)) - registered):
        kind = type(getattr(space, name)).__name__
        if kind in _OPERATORS:
            found[kind].append(name)
    return dict(found)


def declared(module: str) -> str:
    """Return the text that declares the names of a module."""
    lines = ["`python -m tests.helpers.operator_names`: the names for type checkers."]
    if module != "agg":
        lines += ["    numpy: SubNamespace", "    ss: SubNamespace"]
    for kind, listed in names(module).items():
        targets = textwrap.wrap(", ".join(listed) + ",", 92, break_on_hyphens=False)
        variable = f"_{kind.lower()}s"
        lines += [f"    {variable}: list[{kind}] = []", "    ("]
        lines += [f"        {line}" for line in targets]
        lines += [f"    ) = {variable}  # fmt: skip"]
    return "\n".join(lines)


def written(module: str) -> str:
    """Return the text of a module's file with the names as they are now."""
    text, count = _BLOCK.subn(lambda _: declared(module), path_of(module).read_text("utf-8"))
    assert count == 1, f"{module}: {count} places for names"
    return text


if __name__ == "__main__":
    for each in MODULES:
        path_of(each).write_text(written(each), encoding="utf-8")
