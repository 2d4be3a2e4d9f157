"""Checks of arguments, and the messages they give."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from functools import wraps
from typing import Any

from semira.base.config import config
from semira.base.errors import DomainMismatch
from semira.engine import recording

#: How an expression is used as an object when `config` has ``autocompute`` off.
HINT = (
    "Automatic computation is not enabled (option autocompute). "
    "Call `.new()`, or enable automatic computation: "
    "`semira.config.set(autocompute=True)` to automatically compute expressions"
)


def require_autocompute(expression: Any, what: str) -> None:
    """Check that an expression may be computed because it is used as an object.

    Raises DomainMismatch if the option ``autocompute`` is off.
    """
    if not config["autocompute"] and recording.current() is None:
        raise DomainMismatch(
            f"{what} is not enabled for {type(expression).__name__} while autocompute is off. "
            f"{HINT}"
        )


def bad_type(
    given: Any, expected: str, argument: str, where: str, *, literals: bool = False
) -> DomainMismatch:
    """Return the error for an argument of a wrong type.

    `expected` names the types that would do, besides plain numbers if `literals`; `argument` and
    `where` are names of the argument and of the method.
    """
    lines = [
        f"Bad type for argument `{argument}` in {where}(...).",
        f"    - Expected type: {expected}.",
        f"    - Got: {type(given)}.",
    ]
    if literals:
        lines.append("Literal scalars also accepted.")
    if hasattr(given, "_template") and not config["autocompute"]:
        lines.append(HINT)
    return DomainMismatch("\n".join(lines))


def expect(given: Any, kinds: tuple[str, ...], argument: str, where: str) -> None:
    """Check that `given` is an operand of one of `kinds` that may be used now.

    Raises DomainMismatch if it is not, or it is an expression and ``autocompute`` is off.
    """
    if getattr(given, "kind", None) not in kinds:
        raise bad_type(given, ", ".join(kind.capitalize() for kind in kinds), argument, where)
    check_usable = getattr(given, "_require_usable", None)
    if check_usable is not None:
        check_usable(argument, where)


_composing: ContextVar[bool] = ContextVar("semira_composing", default=False)


def is_composing() -> bool:
    """Whether expressions being built are steps of a composition of ours."""
    return _composing.get()


def composing(build: Callable[..., Any]) -> Callable[..., Any]:
    """Let `build` combine expressions without ``autocompute``: they are its own steps."""

    @wraps(build)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        token = _composing.set(True)
        try:
            return build(*args, **kwargs)
        finally:
            _composing.reset(token)

    return wrapped


def check_key(keys: Any) -> None:
    """Check that an index of ``in`` names single positions.

    Raises TypeError if a part of it is a list or a slice.
    """
    for key in keys if isinstance(keys, tuple) else (keys,):
        if not hasattr(key, "__index__"):
            raise TypeError(f"Invalid index for `in`: {keys!r}; give one position")


def as_diagonal(k: Any) -> int:
    """Return the number of a diagonal as an int; raises TypeError if it is not an integer."""
    if not hasattr(k, "__index__"):
        raise TypeError(f"k must be an integer, got {k!r}: the number of a diagonal")
    return int(k.__index__())
