"""What the documentation and type checkers say of the algorithms, written from the registry."""

from __future__ import annotations

from pathlib import Path

from semira.algorithms import _OTHERS
from semira.algorithms.registry import homes
from semira.algorithms.row import load

ROOT = Path(__file__).resolve().parents[2]
STUB = ROOT / "src" / "semira" / "algorithms" / "__init__.pyi"


def stub() -> str:
    """Return the names of `semira.algorithms` as type checkers read them."""
    lines = []
    for name, home in (homes() | _OTHERS).items():
        # Classes of results may be shared: where they are defined, not where rows find them.
        module = getattr(load(f"{home}:{name}"), "__module__", home)
        lines.append(f"from {module} import {name} as {name}")
    head = [
        '"""Written by ``python -m tests.docs.tables`` from `semira.algorithms.registry`."""',
        "# ruff: noqa: E501, I001",
        "# fmt: off",
    ]
    return "\n".join([*head, *sorted(lines, key=str.lower), ""])
