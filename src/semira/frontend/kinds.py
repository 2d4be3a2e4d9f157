"""Which class stands for which kind of value; filled in by the classes themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from semira.engine.values import Value

#: kind -> expression class
EXPRESSIONS: dict[str, Any] = {}

#: kind -> object class
OBJECTS: dict[str, Any] = {}


def wrap(value: Value, name: str | None = None) -> Any:
    """Return the Matrix, Vector or Scalar of a value."""
    return OBJECTS[value.kind]._wrap(value, name)
