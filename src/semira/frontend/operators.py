"""Turning what callers pass as an operator into a typed operator."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from types import BuiltinFunctionType, FunctionType
from typing import Any, TypeVar, cast

from semira.base.dtypes import BOOL, INT64, DataType, unify
from semira.base.errors import (
    DomainMismatch,
    DtypeUnsupported,
    InvalidValue,
    MonoidMissing,
    NotImplementedException,
)
from semira.frontend.kinds import AGGREGATORS
from semira.frontend.user_operators import operator_of_function
from semira.ops import (
    BinaryOp,
    IndexUnaryOp,
    Monoid,
    Semiring,
    TypedMonoid,
    TypedOp,
    TypedSemiring,
    UnaryOp,
)
from semira.ops.indexbinary import BoundIndexOp
from semira.ops.registry import binary, equivalent, find_operator, unknown_operator
from semira.ops.user import Parameterized

#: What is an operator for good. A name may be registered anew, a function capture other values.
LASTING = frozenset((BinaryOp, Monoid, Semiring, TypedOp, TypedMonoid, TypedSemiring, UnaryOp))

#: What is a semiring where one is asked for.
SemiringLike = Semiring | TypedSemiring | Parameterized | str

Resolver = TypeVar("Resolver", bound=Callable[..., Any])


def _remembering(resolve: Resolver) -> Resolver:
    """Let `resolve` be one look-up for an operator and dtypes that it has met."""
    known = lru_cache(maxsize=1024)(resolve)

    @wraps(resolve)
    def look_up(op: Any, *rest: Any) -> Any:
        return known(op, *rest) if op.__class__ in LASTING else resolve(op, *rest)

    return cast("Resolver", look_up)


def _typed(op: Any, dtype: Any, what: str) -> Any:
    try:
        return op[dtype]
    except KeyError:
        names = ", ".join(known.name for known in op.types)
        found = " and ".join(map(str, dtype)) if isinstance(dtype, tuple) else dtype
        hint = ""
        if found is BOOL and INT64 in op.types:
            hint = f"; name one of them, as in {op.name}[INT64]"
            if op.name == "plus":
                hint += ", or count entries with agg.count"
        raise DtypeUnsupported(
            f"{what} {op.name} does not work with {found}; it works with {names or 'none'}{hint}"
        ) from None


def _operand_dtype(op: BinaryOp, left: DataType, right: DataType) -> Any:
    """Return the dtype of both operands, or their dtypes if one is user-defined."""
    # `pair` looks at no value: it counts in INT64 whatever the operands are.
    if op.name == "pair":
        return INT64
    return (left, right) if "V" in (left.kind, right.kind) else unify(left, right)


def _check_reads(op: TypedOp, left: DataType, right: DataType) -> None:
    """Raise DomainMismatch if values that are read need a cast from or to a user-defined dtype."""
    for given, wanted, reads in ((left, op.type, op.reads_a), (right, op.type2, op.reads_b)):
        if reads and given is not wanted and "V" in (given.kind, wanted.kind):
            raise DomainMismatch(
                f"{op!r} takes {wanted}, got {given}: user-defined dtypes are cast to nothing else"
            )


def _wrong(op: Any, *opclasses: str) -> DomainMismatch:
    meant = equivalent(op, *opclasses)
    name = getattr(op, "__name__", "")
    if not meant and opclasses == ("Semiring",):
        meant = "; name one, such as 'min_plus', or make one with semiring.register_anonymous"
    elif not meant and opclasses == ("Monoid",) and name in AGGREGATORS:
        meant = f"; use semira.agg.{name}"
    return DomainMismatch(f"Expected type: {', '.join(opclasses)}; got {op!r}{meant}")


#: Python's own functions that stand for an operator.
_BUILTINS: dict[Any, str] = {min: "min", max: "max", abs: "abs"}


def _resolved(op: Any, *opclasses: str) -> Any:
    """Return the operator of a Python function, or of one with parameters left at defaults."""
    if isinstance(op, FunctionType):
        return operator_of_function(op, *opclasses)
    if isinstance(op, BuiltinFunctionType) and op in _BUILTINS:
        return find_operator("UnaryOp" if op is abs else "BinaryOp", _BUILTINS[op])
    return op() if isinstance(op, Parameterized) else op


@_remembering
def as_multiplier(op: Any, left: DataType, right: DataType) -> TypedOp:
    """Return a binary operator typed for two dtypes, of entries at positions of their own.

    So operators see them in products; monoids and strings are accepted.
    """
    if isinstance(op, str):
        op = find_operator("BinaryOp", op)
    op = _resolved(op, "BinaryOp")
    if isinstance(op, TypedMonoid):
        return op.op
    if isinstance(op, Monoid):
        op = _typed(op, unify(left, right), "monoid").op
    if isinstance(op, BinaryOp):
        op = _typed(op, _operand_dtype(op, left, right), "binary operator")
    if isinstance(op, TypedOp) and op.parent.opclass == "BinaryOp":
        _check_reads(op, left, right)
        return op
    raise _wrong(op, "BinaryOp", "Monoid")


@_remembering
def as_binary(op: Any, left: DataType, right: DataType) -> TypedOp:
    """Return a binary operator typed for two dtypes, of two entries at the same position."""
    typed = as_multiplier(op, left, right)
    if isinstance(typed.parent, BoundIndexOp):
        return (typed.parent.in_place or typed.parent).typed(typed.type)  # type: ignore[no-any-return]
    # At the same position secondi is firsti.
    same_place = typed.parent.name.replace("second", "first")
    return binary[same_place][typed.type] if typed.is_positional else typed


def _monoid_called(name: str) -> Any:
    try:
        return find_operator("Monoid", name)
    except InvalidValue:
        if "[" in name or "]" in name:
            raise
        raise unknown_operator(name, "Monoid", others=AGGREGATORS) from None


@_remembering
def as_monoid(op: Any, dtype: DataType) -> TypedMonoid:
    """Return a monoid typed for `dtype`; a binary operator that has a monoid is accepted."""
    if isinstance(op, str):
        op = _monoid_called(op)
    if isinstance(op, FunctionType):
        raise NotImplementedException(
            f"function {op.__name__!r} has no monoid; register one with monoid.register_anonymous"
        )
    op = _resolved(op, "BinaryOp")
    if isinstance(op, TypedOp) and isinstance(op.parent, BinaryOp):
        if op.monoid is None and op.parent.monoid is not None:
            raise DomainMismatch(
                f"Expected type: Monoid; {op!r} is not part of a Monoid for {op.type} datatype"
            )
        op, dtype = op.parent, op.type
    if isinstance(op, BinaryOp):
        if op.monoid is None:
            raise MonoidMissing(
                f"Expected type: Monoid; binary operator {op.name!r} is part of none; make one "
                "with monoid.register_anonymous"
            )
        op = op.monoid
    if isinstance(op, Monoid):
        op = _typed(op, dtype, "monoid")
    if isinstance(op, TypedMonoid):
        _check_reads(op.op, dtype, dtype)
        return op
    if isinstance(op, (Semiring, TypedSemiring)):
        raise DomainMismatch(f"Expected type: Monoid; use `{op!r}.monoid` to get the Monoid")
    raise _wrong(op, "Monoid")


@_remembering
def as_semiring(op: Any, left: DataType, right: DataType) -> TypedSemiring:
    """Return a semiring typed for two dtypes."""
    if isinstance(op, str):
        op = find_operator("Semiring", op)
    op = op() if isinstance(op, Parameterized) else op
    if isinstance(op, Semiring):
        op = _typed(op, _operand_dtype(op.binaryop, left, right), "semiring")
    if isinstance(op, TypedSemiring):
        _check_reads(op.binaryop, left, right)
        return op
    raise _wrong(op, "Semiring")


@_remembering
def fitted(op: Any, out: DataType) -> Any:
    """Return ``any_pair`` typed for the output, any other operator as it is.

    Its result is 1 in every dtype, so nothing is gained by making it in INT64 and casting.
    """
    if isinstance(op, TypedSemiring) and op.monoid.is_any and op.binaryop.name == "pair":
        return op.parent[out]
    return op


def as_select(op: Any) -> Any:
    """Return the select or index-unary operator meant by `op`."""
    if isinstance(op, str):
        op = find_operator("SelectOp", op)
    op = op() if isinstance(op, Parameterized) else op
    if isinstance(op.parent if isinstance(op, TypedOp) else op, IndexUnaryOp):
        return op
    raise _wrong(op, "SelectOp", "IndexUnaryOp")


def as_apply(op: Any) -> Any:
    """Return the operator meant by `op` in an apply: unary, binary or index-unary."""
    if op.__class__ is UnaryOp:
        return op
    classes = ("UnaryOp", "BinaryOp", "IndexUnaryOp")
    if isinstance(op, str):
        for opclass in classes:
            try:
                return find_operator(opclass, op)
            except InvalidValue:
                continue
        raise unknown_operator(op, *classes)
    op = _resolved(op, *classes)
    if isinstance(op, (Monoid, TypedMonoid)):
        return op.binaryop if isinstance(op, Monoid) else op.op
    if isinstance(op, (UnaryOp, BinaryOp, IndexUnaryOp, TypedOp)):
        return op
    raise DomainMismatch(
        "apply only accepts UnaryOp with no scalars or BinaryOp with `left` or `right` scalar, "
        f"and IndexUnaryOp with a thunk; got {op!r}{equivalent(op, *classes)}"
    )


@_remembering
def type_operator(op: Any, dtype: DataType) -> TypedOp:
    """Return `op` typed for `dtype`; typed operators pass."""
    typed: TypedOp = op if isinstance(op, TypedOp) else _typed(op, dtype, "operator")
    _check_reads(typed, dtype, typed.type2)
    return typed


def as_accum(op: Any, out: DataType) -> TypedOp | None:
    """Return an accumulator typed for the output: what is accumulated is cast to it first."""
    return None if op is None else without_index_op(as_binary(op, out, out), "an accumulator")


def without_index_op(op: TypedOp, role: str) -> TypedOp:
    """Return a binary operator that is not made of an index-binary one.

    Raises DomainMismatch if it is: in this role there are no positions to give it.
    """
    if isinstance(op.parent, BoundIndexOp):
        raise DomainMismatch(
            f"{op.name} reads positions and cannot be {role}; use it in a semiring, or in "
            "ewise_mult, ewise_add, ewise_union or apply"
        )
    return op
