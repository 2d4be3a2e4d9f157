"""What lower modules ask of higher ones, which enter it here when they are imported.

`semira.frontend` imports all of them, so that these tables are complete.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from semira.engine.values import Value

Function = TypeVar("Function", bound=Callable[..., Any])

#: kind -> expression class
EXPRESSIONS: dict[str, Any] = {}

#: kind -> object class
OBJECTS: dict[str, Any] = {}

#: name -> aggregator
AGGREGATORS: dict[str, Any] = {}

#: name -> function of a higher module
PROVIDED: dict[str, Callable[..., Any]] = {}


def provides(function: Function) -> Function:
    """Enter a function into `PROVIDED` under its name."""
    PROVIDED[function.__name__] = function
    return function


def wrap(value: Value, name: str | None = None) -> Any:
    """Return the Matrix, Vector or Scalar of a value."""
    return OBJECTS[value.kind]._wrap(value, name)


class Shown:
    """Base of what is printed as a table or an expression; see `display`."""

    __slots__ = ()

    def __repr__(self) -> str:
        return PROVIDED["object_text"](self)  # type: ignore[no-any-return]

    def _repr_html_(self) -> str:
        return PROVIDED["object_html"](self)  # type: ignore[no-any-return]
