"""Operators and Python functions inside of SuiteSparse, and where their exceptions go."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from semira.backends.suitesparse.objects import library
from semira.base import locks
from semira.base.dtypes import BOOL, INT64
from semira.base.errors import NotImplementedException
from semira.contract import Statement
from semira.ops import TypedMonoid, TypedOp, TypedSemiring, helpers

#: The hook below belongs to the process.
_one_at_a_time = locks.rlock()

#: Operators that SuiteSparse lacks and python-graphblas makes of Python functions with results of
#: their own: nothing at all where they divide by zero, wrapped powers, shifts by any count.
REMADE = frozenset(
    {
        *("floordiv", "rfloordiv", "rpow", "numpy.floor_divide", "numpy.fmod"),
        *("numpy.left_shift", "numpy.right_shift", "numpy.reciprocal", "numpy.sign"),
        *("random_bits", "random_uniform", "random_below"),
    }
)


_OPERANDS = {"UnaryOp": ("a",), "BinaryOp": ("a", "b"), "IndexUnaryOp": ("a", "i", "j", "t")}


def calls_python(statement: Statement) -> bool:
    """Return whether SuiteSparse calls a Python function in a statement."""
    named = (statement.operator, statement.accum, statement.param("dup"))
    return any(_is_python(op) for op in named if op is not None)


def _is_python(op: Any) -> bool:
    if isinstance(op, TypedSemiring):
        return _is_python(op.monoid) or _is_python(op.binaryop)
    if isinstance(op, TypedMonoid):
        return _is_python(op.op)
    return getattr(op.parent, "user", None) is not None


def for_suitesparse(function: Callable[..., Any], opclass: str) -> Callable[..., Any]:
    """Return what python-graphblas shall compile in place of a function.

    It compiles for Python's rules, where a division by zero is an exception, and gives positions
    as unsigned numbers. Inside of the function returned, divisions follow IEEE 754 and positions
    are of INT64, as on the other devices.
    """
    import numba

    inner = numba.njit(error_model="numpy")(function)

    def unary(x: Any) -> Any:
        return inner(x)

    def binary(x: Any, y: Any) -> Any:
        return inner(x, y)

    def positional(x: Any, i: Any, j: Any, theta: Any) -> Any:
        return inner(x, np.int64(i), np.int64(j), theta)

    made: dict[str, Callable[..., Any]] = {"UnaryOp": unary, "BinaryOp": binary}
    return made.get(opclass, positional)


def from_meaning(op: TypedOp) -> Callable[..., Any]:
    """Return what an operator that is no select means, as a function for python-graphblas."""
    import numba

    compiled = numba.njit(error_model="numpy")
    scope: dict[str, Any] = {"np": np}
    for name in helpers.NAMES:
        if name in op.python:
            scope[name] = compiled(getattr(helpers, name))
    operands = ", ".join(_OPERANDS[op.parent.opclass])
    meaning: Callable[..., Any] = eval(f"lambda {operands}: ({op.python})", scope)  # noqa: S307
    return for_suitesparse(meaning, op.parent.opclass)


@contextmanager
def reaching_the_caller() -> Iterator[None]:
    """Raise the first exception of a Python function that SuiteSparse called meanwhile.

    Compiled code called from C cannot raise there: it reports each exception as one that nobody
    can catch, and the result goes on as if nothing had been.
    """
    met: list[BaseException] = []
    with _one_at_a_time:
        before, owner = sys.unraisablehook, os.getpid()

        def note(report: Any) -> None:
            # The hook of a thread that a forked child does not have only passes reports on.
            if os.getpid() != owner or not str(report.object).startswith("<numba."):
                before(report)
            elif not met:
                met.append(report.exc_value or report.exc_type())

        sys.unraisablehook = note
        try:
            yield
        finally:
            sys.unraisablehook = before
    if met:
        raise met[0]


_SPACES = {
    "UnaryOp": "unary",
    "BinaryOp": "binary",
    "Monoid": "monoid",
    "Semiring": "semiring",
    "SelectOp": "select",
    "IndexUnaryOp": "indexunary",
}

_found: dict[str, Any] = {}


def operator_of(op: TypedOp | TypedMonoid | TypedSemiring) -> Any:
    """Return SuiteSparse's operator for one of ours.

    Raises NotImplementedException if SuiteSparse has no such operator for the dtype.
    """
    if op.key not in _found:
        try:
            _found[op.key] = _of_truth_values(op) or _parent_of(op)[op.type.name]
        except (AttributeError, KeyError, TypeError) as error:
            raise NotImplementedException(
                f"SuiteSparse has no {op!r} ({error}); move the operands with .to('cpu')"
            ) from error
    return _found[op.key]


def _counts_truth(op: Any) -> bool:
    """Return whether an operator is a Python function that makes integers of truth values."""
    is_python = isinstance(op, TypedOp) and getattr(op.parent, "user", None) is not None
    return is_python and op.type is BOOL and op.return_type is INT64


def _of_truth_values(op: Any) -> Any:
    """Return the operator of such a function, compiled for BOOL alone; None for any other.

    Of functions that are compiled for all dtypes python-graphblas cuts those integers to INT8.
    """
    if not _counts_truth(op):
        return None
    maker = getattr(library().core.operator, op.parent.opclass)
    function = for_suitesparse(op.parent.user.frozen, op.parent.opclass)
    made = maker.register_anonymous(function, op.parent.name, is_udt=True)
    dtype = library().dtypes.BOOL
    return made._compile_udt(dtype, dtype)


def _parent_of(op: Any) -> Any:
    parent = op.parent
    if isinstance(op, TypedSemiring):
        if _counts_truth(op.binaryop):
            raise KeyError(f"{op.binaryop!r} beside a monoid of INT64")
        named = _named("semiring", parent.name)
        if named is not None and op.type.name in named.types:
            return named
        operators = library().core.operator
        return operators.Semiring.register_anonymous(
            _parent_of(op.monoid), _parent_of(op.binaryop), parent.name
        )
    user = getattr(parent, "user", None)
    if user is not None:
        return _registered(parent, for_suitesparse(user.frozen, parent.opclass))
    if isinstance(op, TypedOp) and parent.name in REMADE:
        return _registered(parent, from_meaning(op))
    found = _named(_SPACES[parent.opclass], parent.name)
    if found is None:
        raise KeyError(parent.name)
    return found


def _registered(parent: Any, function: Any) -> Any:
    maker = getattr(library().core.operator, parent.opclass)
    return maker.register_anonymous(function, parent.name)


def _named(space: str, name: str) -> Any:
    table = getattr(library(), space)
    for holder in (table, getattr(table, "ss", None)):
        found = holder
        for part in name.split("."):
            found = getattr(found, part, None)
        if found is not None:
            return found
    return None
