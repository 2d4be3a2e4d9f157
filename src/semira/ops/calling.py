"""Calling operators: ``plus(x | y)``, ``plus(x, 1)``, ``plus(1, x)``, ``sqrt(4)``."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Protocol, TypeVar

#: The expression that an operator makes of an operand.
Made = TypeVar("Made")
Made_co = TypeVar("Made_co", covariant=True)


class Operand(Protocol[Made_co]):
    """What operators are called with: it knows what that means; `frontend.infix.Operand` is one."""

    def _apply_operator(self, op: Any, *args: Any, **kwargs: Any) -> Made_co: ...


def call(op: Any, *args: Any, **kwargs: Any) -> Any:
    """Return ``op(*args)``: the object among the first two arguments knows what that means.

    Raises TypeError if there is no argument, or the first is neither an object nor a number.
    """
    if not args:
        raise TypeError(f"{op!r} is called with an expression or object, such as {op!r}(x)")
    if hasattr(args[0], "_apply_operator"):
        return args[0]._apply_operator(op, *args[1:], **kwargs)
    opclass = getattr(op, "opclass", None) or op.parent.opclass
    if len(args) == 2 and opclass != "SelectOp" and hasattr(args[1], "_apply_operator"):
        return args[1]._apply_operator(op, left=args[0], **kwargs)
    # Imported here: operators know no objects, and may be all that a process has unpickled.
    scalar = import_module("semira.frontend.scalar").Scalar
    return scalar.from_value(args[0])._apply_operator(op, *args[1:], **kwargs)
