"""What the objects of a loop body are called in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from types import CodeType, FunctionType
from typing import Any

from semira.engine.values import Value
from semira.frontend.objects import Matrix, Vector
from semira.frontend.scalar import Scalar

#: Names that could be taken for those of slots, such as ``v3``.
_OF_SLOTS = re.compile(r"[a-z]\d+")


def names_in(step: Any) -> dict[Value, str]:
    """Return the names of objects in a function and in functions that it names, each its first.

    Empty for what is no function of Python. Two objects never share a name: of an outer function's
    and an inner one's the outer one has it.

    Examples
    --------
    >>> ranks = Vector(float, 3)
    >>> list(names_in(lambda: ranks.nvals > 0).values())
    ['ranks']
    """
    found: dict[Value, str] = {}
    waiting, met = [getattr(step, "__func__", step)], set()
    for function in waiting:
        if not isinstance(function, FunctionType) or function in met:
            continue
        met.add(function)
        for name, given in _variables(function):
            if _OF_SLOTS.fullmatch(name):
                continue
            if isinstance(given, FunctionType):
                waiting.append(given)
            elif isinstance(given, (Matrix, Vector, Scalar)) and name not in found.values():
                found.setdefault(given._value, name)
    return found


def _variables(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """Yield the variables that a function and those inside of it may read from outside."""
    code, here = function.__code__, function.__globals__
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        try:
            yield name, cell.cell_contents
        except ValueError:
            # A name that has no value yet.
            continue
    for name in _global_names(code):
        if name in here:
            yield name, here[name]


def _global_names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _global_names(constant)
