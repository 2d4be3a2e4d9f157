"""``explain``: which plan an expression would get, what each alternative would read, and why."""

from __future__ import annotations

import re
from collections.abc import Iterator
from types import CodeType, FunctionType
from typing import Any

from semira.base.errors import InvalidValue
from semira.engine.calls import lean_hints
from semira.engine.explain import explain_call, explain_loop
from semira.engine.values import Value
from semira.frontend.call import require_operator
from semira.frontend.expr import Expression
from semira.frontend.hints import parse_hints
from semira.frontend.mask import as_mask
from semira.frontend.objects import Matrix, Vector
from semira.frontend.repeat import condition_of, limit_of
from semira.frontend.scalar import Scalar


def explain(
    expression: Any,
    *,
    mask: Any = None,
    device: str | None = None,
    max_iterations: Any = None,
    **opts: Any,
) -> Any:
    """Return the plan of an expression and its reasons, or what becomes of a loop.

    Parameters
    ----------
    expression : Matrix-, Vector- or ScalarExpression, or callable
        Nothing is computed. A callable is the body of a loop, as `repeat` takes it.
    mask : Mask or BOOL object, optional
        The mask the expression would be written through.
    device : str, optional
        Plan for that one; ``cuda`` need not be in this machine. None: where the operands are.
    max_iterations : int or Scalar, optional
        Of a loop, as for `repeat`.
    **opts
        Options of the call (``direction="pull"``, ``policy="beamer"``, ...).

    Returns
    -------
    Explanation or ProgramPhases
        ``str()`` is the text; fields hold the figures. Of an expression: each alternative, the
        entries it touches, and the reasons. Of a loop: the methods of each product, what picks one
        and why. On a device that makes one kernel of it, also which statements share a phase,
        which wait for a barrier, and why; where the host runs it, which pieces the device runs,
        and which statements are the reason.

    Raises
    ------
    PlanError
        A pinned choice cannot be met.
    RecordError
        The body of a loop cannot be recorded.
    NotImplementedException
        The device has no kernel for a loop.

    Examples
    --------
    >>> import semira as gb
    >>> A = gb.io.read("grid:9x9")
    >>> f = gb.Vector.from_coo([0], True, size=A.nrows)
    >>> gb.explain(f.vxm(A, "any_pair")).chosen.name
    'push'

    The body of a loop, planned for a GPU:

    >>> total = gb.Vector.from_dense([1.0, 2.0])
    >>> def step():
    ...     half = total.apply("truediv", right=2.0).new()
    ...     total << half.apply("sqrt")
    >>> phase = gb.explain(step, max_iterations=9, device="cuda").loops[0].bodies[0][0]
    >>> [part.statement for part in phase.parts], len(phase.unstored)
    ([0, 1], 1)
    """
    # Objects can be called too: ``w(mask)``.
    if callable(expression) and not hasattr(expression, "_operand"):
        if mask is not None or opts:
            raise InvalidValue("mask and options belong to the statements of a loop's body")
        limit, names = limit_of(max_iterations), names_in(expression)
        return explain_loop(expression, condition_of, limit, device, names)
    if not isinstance(expression, Expression):
        raise InvalidValue(
            f"explain takes an expression or the body of a loop, got {type(expression).__name__}"
        )
    if max_iterations is not None:
        raise InvalidValue("max_iterations is for the body of a loop, not for an expression")
    template = expression._template
    require_operator(template)
    checked = None if mask is None else as_mask(mask)
    out = Value(template.kind, template.dtype, template.shape)
    args = tuple(
        arg._operand() if hasattr(arg, "_operand") else (arg, False) for arg in template.args
    )
    hints = lean_hints(template.op, args, parse_hints(opts))
    triple = None if checked is None else checked.triple
    return explain_call(template, out, args, triple, hints, device)


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
