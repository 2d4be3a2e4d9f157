"""Places in the user's code, as errors name them: ``file:line``."""

from __future__ import annotations

import dis
import sys
from collections.abc import Callable, Iterator
from functools import partial
from inspect import CO_ASYNC_GENERATOR, CO_COROUTINE, CO_GENERATOR, getattr_static
from types import CodeType, FunctionType, MethodType
from typing import Any

#: Packages whose lines no user looks for: ours, and those through which Python calls us.
_NOT_USERS = ("semira", "contextlib", "copy", "functools", "pickle")

#: What stands for a line and is cheaper to note: a code and the offset of an instruction in it, or
#: what finds the line when it is called.
Place = tuple[CodeType, int] | Callable[[], str]

#: Callables within callables that are looked through.
_DEPTH = 16

#: Functions that hand out something else before they return.
_PAUSING = CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR

#: What stands before a return whose value was there earlier: the end of a ``with`` or ``finally``,
#: whose line the return has.
_UNWINDING = ("POP_", "STORE_", "DELETE_")


def user_place(skipped: int = 1) -> Place | None:
    """Return the place of the innermost frame outside of Semira, and of what calls it.

    `skipped` innermost frames are not looked at.
    """
    frame: Any = sys._getframe(skipped)
    while frame is not None:
        names = frame.f_globals
        if not names.get("__name__", "").startswith("semira.") and not _is_ours(names):
            return frame.f_code, frame.f_lasti
        frame = frame.f_back
    return None


def user_line() -> str:
    """Return ``file:line`` of `user_place`."""
    return line_of(user_place())


def line_of(place: Place | None) -> str:
    """Return ``file:line`` of a place."""
    if place is None:
        return "unknown line"
    if callable(place):
        return place()
    code, offset = place
    lines = (line for start, end, line in code.co_lines() if start <= offset < end)
    return f"{code.co_filename}:{next(lines, None) or code.co_firstlineno}"


def body_line(step: Callable[[], Any], returned: Any) -> str:
    """Return ``file:line`` of where a loop body returned something.

    The line of the only ``return`` that it can have been, else the function's first line; the
    line of the call of `repeat` for a body that is not written in Python.
    """
    found: str | None = None
    for function in _functions(step):
        if _is_ours(function.__globals__):
            continue
        code = function.__code__
        constant, computed = _returns(code, returned)
        lines = constant | computed
        line = next(iter(lines)) if len(lines) == 1 else None
        found = f"{code.co_filename}:{line or code.co_firstlineno}"
        if not computed:
            break
    return found or user_line()


def _is_ours(names: dict[str, Any]) -> bool:
    """Whether no user looks for lines of the module with these globals."""
    return names.get("__name__", "").partition(".")[0] in _NOT_USERS


def _functions(step: Any) -> Iterator[FunctionType]:
    """Yield the functions that a body is made of: wrappers first, what they wrap afterwards."""
    for _ in range(_DEPTH):
        inner: Any = None
        if isinstance(step, partial):
            inner = step.func
        elif isinstance(step, MethodType):
            inner = step.__func__
        elif isinstance(step, FunctionType):
            yield step
            inner = step.__dict__.get("__wrapped__")
        elif step is not None:
            # What `functools.cache` makes, or an object that can be called.
            inner = getattr(step, "__dict__", {}).get("__wrapped__")
            inner = inner or getattr_static(type(step), "__call__", None)
        step = inner


def _returns(code: CodeType, returned: Any) -> tuple[set[int | None], set[int | None]]:
    """Return the lines of returns of this constant, and of those of what is computed.

    None in the place of a line that is not known.
    """
    constant: set[int | None] = set()
    computed: set[int | None] = set()
    before: dis.Instruction | None = None
    for one in dis.get_instructions(code):
        if one.opname == "RETURN_CONST":
            _add_constant(constant, one, one.argval, returned)
        elif one.opname == "RETURN_VALUE" and before is not None:
            if before.opname in ("LOAD_CONST", "LOAD_SMALL_INT") and not one.is_jump_target:
                _add_constant(constant, one, before.argval, returned)
            else:
                is_late = before.opname.startswith(_UNWINDING)
                computed.add(None if is_late else _line(one))
        before = one
    return constant, {None} if code.co_flags & _PAUSING else computed


def _add_constant(lines: set[int | None], one: dis.Instruction, value: Any, returned: Any) -> None:
    if value.__class__ is returned.__class__ and value == returned:
        lines.add(_line(one))


def _line(one: dis.Instruction) -> int | None:
    return None if one.positions is None else one.positions.lineno
