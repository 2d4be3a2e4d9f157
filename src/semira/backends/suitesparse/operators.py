"""Our operators as SuiteSparse has them: by name, composed, or registered Python functions."""

from __future__ import annotations

from typing import Any

from semira.backends.suitesparse.functions import REMADE, for_suitesparse, from_meaning
from semira.backends.suitesparse.objects import library
from semira.base.dtypes import BOOL, INT64
from semira.base.errors import NotImplementedException
from semira.ops import TypedMonoid, TypedOp, TypedSemiring

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
