"""The stubs that tell type checkers and editors the names in ``semira.binary`` and others.

``python -m tests.helpers.operator_names`` writes them anew; tests/api/test_types.py compares them
with the operators that there are.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from collections import defaultdict
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import semira as gb
from semira.frontend.namespaces import SubNamespace
from semira.ops.registry import REGISTERED

MODULES = (
    "agg", "binary", "indexbinary", "indexunary", "monoid", "op", "select", "semiring", "unary",
)  # fmt: skip

_HEAD = '"""Written by ``python -m tests.helpers.operator_names``."""\n\n# fmt: off\n'

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

#: Types of sub-namespaces, each with the module and the name that stubs import.
_SPACES = {
    ModuleType: ("types", "ModuleType"),
    SubNamespace: (SubNamespace.__module__, "SubNamespace"),
}


#: A stub without a module: the semirings, which two modules have.
SEMIRINGS = "_semirings"


def path_of(module: str) -> Path:
    """Return the stub of a module of operators."""
    return Path(gb.__file__).with_name(f"{module}.pyi")


def built_in(module: str) -> set[str]:
    """Return the names of a module of operators but those that users, or tests, registered."""
    registered = {name.partition(".")[0] for table in REGISTERED.values() for name in table}
    return set(dir(getattr(gb, module))) - registered


def names(module: str) -> dict[type, list[str]]:
    """Return the names of the built-in operators of a module, by their class."""
    found = defaultdict(list)
    space = getattr(gb, module)
    for name in sorted(built_in(module)):
        kind = type(getattr(space, name))
        if kind.__name__ in _OPERATORS:
            found[kind].append(name)
    return dict(found)


def _others(module: str) -> tuple[set[str], list[str]]:
    """Return imports, and lines that declare what is no operator: functions, sub-namespaces."""
    space: Any = getattr(gb, module)
    imports, lines = {"from typing import Any"}, []
    for name in sorted({*built_in(module), *getattr(space, "__all__", ())}):
        found = getattr(space, name)
        if isinstance(found, ModuleType):
            home, own = _SPACES[type(found)]
            imports.add(f"from {home} import {own}")
            lines.append(f"{name}: {own}")
        elif isinstance(found, FunctionType):
            made_here = found.__module__ == space.__name__ or "<locals>" in found.__qualname__
            own = found.__name__
            if made_here:
                signature = re.sub(r"['\"]", "", str(inspect.signature(found)))
                lines.append(f"def {name}{signature}: ...")
            elif own == name:
                imports.add(f"from {found.__module__} import {name} as {name}")
            else:
                imports.add(f"from {found.__module__} import {own}")
                lines.append(f"{name} = {own}")
        elif isinstance(found, type):
            imports.add(f"from {found.__module__} import {name} as {name}")
    return imports, lines


def written(module: str) -> str:
    """Return the text of a module's stub with the names as they are now."""
    is_shared = module == SEMIRINGS
    imports, lines = (set(), []) if is_shared else _others(module)
    for kind, listed in names("semiring" if is_shared else module).items():
        own = kind.__name__
        if own == "Semiring" and not is_shared:
            imports.add(f"from semira.{SEMIRINGS} import *  # noqa: F403 - hundreds of names")
            continue
        if is_shared or own not in getattr(gb, module).__dict__.get("__all__", ()):
            imports.add(f"from {kind.__module__} import {own}")
        variable = f"_{own.lower()}s"
        lines += ["", f"{variable}: list[{own}]", "("]
        lines += textwrap.wrap(
            ", ".join(listed) + ",", 98, initial_indent="    ", subsequent_indent="    ",
            break_on_hyphens=False,
        )  # fmt: skip
        lines += [f") = {variable}"]
    return _HEAD + "\n".join([*sorted(imports), *[""] * (not is_shared), *lines]) + "\n"


if __name__ == "__main__":
    for each in (*MODULES, SEMIRINGS):
        path_of(each).write_text(written(each), encoding="utf-8")
