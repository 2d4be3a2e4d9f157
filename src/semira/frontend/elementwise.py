"""Building element-wise expressions: ewise_*, apply, select, for every kind of operand."""

from __future__ import annotations

from typing import Any

from semira.base.dtypes import BOOL, INT64, DataType, unify
from semira.base.errors import DimensionMismatch, DomainMismatch
from semira.engine.calls import Literal
from semira.frontend.expr import Template, as_literal, expression, operand_or_literal
from semira.frontend.mask import Mask
from semira.frontend.operators import as_apply, as_binary, as_select, type_operator
from semira.ops import BinaryOp, IndexUnaryOp, TypedOp
from semira.ops.registry import unary


def own_dims(operand: Any, argument: int = 0) -> tuple[Any, ...]:
    """Return dims saying "the shape of argument number `argument`", transposed if it is."""
    axes = range(len(operand.shape))
    if operand._is_transposed:
        axes = reversed(axes)  # type: ignore[assignment]
    return tuple((argument, axis) for axis in axes)


def check_same_shape(left: Any, right: Any, what: str) -> None:
    """Raise DimensionMismatch unless both operands have the same kind and shape."""
    if left.kind != right.kind or left.shape != right.shape:
        raise DimensionMismatch(
            f"{what} needs operands of one shape, got {left.kind} {left.shape} and "
            f"{right.kind} {right.shape}"
        )


def ewise(op: str, left: Any, right: Any, operator: Any, *, infix: str | None = None) -> Any:
    """Return ``left op right`` on the union (``ewise_add``) or intersection (``ewise_mult``)."""
    if not hasattr(right, "_operand"):
        raise DomainMismatch(f"{op} needs a {left.kind}, got {type(right).__name__}")
    check_same_shape(left, right, op)
    typed = None if operator is None else as_binary(operator, left.dtype, right.dtype)
    if typed is None and left.dtype is BOOL and right.dtype is BOOL:
        typed = as_binary("lor" if op == "ewise_add" else "land", BOOL, BOOL)
    dtype = left.dtype if typed is None else typed.return_type
    return expression(
        Template(
            op, (left, right), left.kind, dtype, left.shape, own_dims(left), typed, infix=infix
        )
    )


def ewise_union(left: Any, right: Any, operator: Any, left_default: Any, right_default: Any) -> Any:
    """Return the union in which a missing entry takes its side's default."""
    check_same_shape(left, right, "ewise_union")
    defaults = (operand_or_literal(left_default), operand_or_literal(right_default))
    typed = _union_operator(operator, left.dtype, right.dtype, *(one.dtype for one in defaults))
    args = (left, right, *defaults)
    return expression(
        Template(
            "ewise_union", args, left.kind, typed.return_type, left.shape, own_dims(left), typed
        )
    )


def _union_operator(
    operator: Any, left: DataType, right: DataType, left_default: DataType, right_default: DataType
) -> TypedOp:
    """Return the operator that serves both a pair of entries and an entry with a default."""
    first = as_binary(operator, left, right_default)
    second = as_binary(operator, left_default, right)
    return first if first is second else as_binary(operator, first.type, second.type)


def apply(x: Any, op: Any, right: Any = None, *, left: Any = None) -> Any:
    """Return a unary operator, a bound binary operator or an index-unary operator of `x`."""
    operator = as_apply(op)
    parent = operator.parent if isinstance(operator, TypedOp) else operator
    if left is not None and right is not None:
        raise TypeError("apply takes `left` or `right`, not both")
    params: tuple[tuple[str, Any], ...] = ()
    args: tuple[Any, ...]
    if isinstance(parent, BinaryOp):
        if left is None and right is None:
            raise TypeError(f"{parent.name} is binary: give `left=` or `right=`")
        bound = operand_or_literal(right if left is None else left)
        _check_scalar(bound)
        if left is None:
            typed = as_binary(operator, x.dtype, bound.dtype)
            args, params = (x, bound), (("side", "right"),)
        else:
            typed = as_binary(operator, bound.dtype, x.dtype)
            args, params = (bound, x), (("side", "left"),)
        place = 0 if left is None else 1
    elif isinstance(parent, IndexUnaryOp):
        typed, thunk = _with_thunk(operator, x.dtype, right)
        args, place = (x, thunk), 0
    else:
        if left is not None or right is not None:
            raise TypeError(f"{parent.name} is unary: it takes no `left` or `right`")
        typed, args, place = type_operator(operator, x.dtype), (x,), 0
    dims = own_dims(x, place)
    return expression(
        Template("apply", args, x.kind, typed.return_type, x.shape, dims, typed, params=params)
    )


def _check_scalar(bound: Any) -> None:
    if not isinstance(bound, Literal) and bound.kind != "scalar":
        raise TypeError(f"a bound operand must be a scalar, got a {bound.kind}")


def _with_thunk(op: Any, dtype: DataType, given: Any) -> tuple[TypedOp, Any]:
    """Return an index-unary operator, typed for values of `dtype` and a thunk, and the thunk."""
    given = False if given is None else given
    thunk = operand_or_literal(given)
    _check_scalar(thunk)
    parent: Any = op.parent if isinstance(op, TypedOp) else op
    typed = type_operator(op, dtype)
    if parent.thunk_is_value or typed.return_type is not BOOL:
        typed = type_operator(op, unify(dtype, thunk.dtype))
    if isinstance(thunk, Literal) and not parent.thunk_is_value:
        thunk = as_literal(given, INT64)
    return typed, thunk


def select(x: Any, op: Any, thunk: Any = None) -> Any:
    """Return the entries of `x` that an operator, or a mask, keeps."""
    if isinstance(op, Mask) or (getattr(op, "dtype", None) is BOOL and hasattr(op, "V")):
        return _select_mask(x, op if isinstance(op, Mask) else op.V)
    if callable(op) and not hasattr(op, "opclass") and not isinstance(op, TypedOp):
        raise TypeError(f"Invalid mask: {type(op)}")
    typed, thunk = _with_thunk(as_select(op), x.dtype, thunk)
    if typed.return_type is not BOOL:
        raise DomainMismatch(f"select needs an operator that returns BOOL, got {typed!r}")
    return expression(Template("select", (x, thunk), x.kind, x.dtype, x.shape, own_dims(x), typed))


def _select_mask(x: Any, mask: Mask) -> Any:
    check_same_shape(x, mask.parent, "select with a mask")
    if mask.complement:
        kept = x.dup(mask=mask)
        return expression(Template("copy", (kept,), x.kind, x.dtype, x.shape, own_dims(kept)))
    first = as_binary("first", x.dtype, x.dtype)
    kept = mask.parent if mask.structure else select(mask.parent, "!=", False)
    return expression(
        Template("ewise_mult", (x, kept), x.kind, x.dtype, x.shape, own_dims(x), first)
    )


def negate(x: Any) -> Any:
    """Return -x."""
    return apply(x, unary["ainv"])
