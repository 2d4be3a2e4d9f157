"""Building element-wise expressions: ewise_*, apply, select, for every kind of operand."""

from __future__ import annotations

from typing import Any

from semira.base.dtypes import BOOL, INT64, DataType, unify
from semira.base.errors import DimensionMismatch, DomainMismatch
from semira.engine.calls import Literal
from semira.frontend.call import Template, as_literal, expression, operand_or_literal
from semira.frontend.checks import bad_type
from semira.frontend.compose import broadcast
from semira.frontend.kinds import OBJECTS
from semira.frontend.mask import Mask
from semira.frontend.operators import as_apply, as_binary, as_select, type_operator
from semira.frontend.records import bound_scalar, is_record
from semira.ops import BinaryOp, IndexUnaryOp, TypedOp

#: What a missing operand of a difference is.
ZERO = Literal(BOOL, BOOL.scalar(False))


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
    if infix is None or not (pending(left) or pending(right)):
        left, right = _matched(left, right, op, infix)
    elif left.kind == right.kind:
        check_same_shape(left, right, op)
    typed = None if operator is None else as_binary(operator, left.dtype, right.dtype)
    if typed is None and left.dtype is BOOL and right.dtype is BOOL and left.kind == right.kind:
        typed = as_binary("lor" if op == "ewise_add" else "land", BOOL, BOOL)
    dtype = left.dtype if typed is None else typed.return_type
    if op == "ewise_add" and typed is not None:
        _check_passing(typed, left.dtype, right.dtype)
    # A Vector beside a Matrix in a chain is spread when the chain gets its operator.
    place = 1 if right.kind == "matrix" != left.kind else 0
    wide = (left, right)[place]
    return expression(
        Template(
            op, (left, right), wide.kind, dtype, wide.shape, own_dims(wide, place), typed,
            infix=infix,
        )
    )  # fmt: skip


def _check_passing(typed: TypedOp, left: DataType, right: DataType) -> None:
    """Raise DomainMismatch if a record of one side alone has no place in the result of a union."""
    for dtype in (left, right):
        if dtype is not typed.return_type and "V" in (dtype.kind, typed.return_type.kind):
            raise DomainMismatch(
                f"ewise_add with {typed!r}: an entry of {dtype} on one side alone cannot be cast "
                f"to {typed.return_type}; use ewise_mult, or ewise_union with defaults"
            )


def pending(operand: Any) -> str | None:
    """Return the sign of an infix expression whose operator may still come, else None."""
    template = getattr(operand, "_template", None)
    return None if template is None else template.infix


def as_scalar(given: Any) -> Any:
    """Return a Scalar operand as it is, a number as a Scalar."""
    return given if hasattr(given, "_operand") else OBJECTS["scalar"].from_value(given)


def _matched(left: Any, right: Any, op: str, infix: str | None) -> tuple[Any, Any]:
    """Return two operands of one kind and shape, checked; a Vector beside a Matrix is broadcast."""
    where = f"{left.kind.capitalize()}.{op}"
    if left.kind == "scalar" and not hasattr(right, "_operand"):
        right = _number(right, "other", where)
    kinds = ("scalar",) if left.kind == "scalar" else ("matrix", "vector")
    if getattr(right, "kind", None) not in kinds:
        literals = left.kind == "scalar"
        raise bad_type(right, left.kind.capitalize(), "other", where, literals=literals)
    for operand in (left, right):
        if infix is None and hasattr(operand, "_require_usable"):
            operand._require_usable("other" if operand is right else "self", where)
    if left.kind != right.kind:
        left, right = broadcast(left, right, op)
    check_same_shape(left, right, op)
    return left, right


def _number(given: Any, argument: str, where: str) -> Any:
    """Return a scalar operand or a number as a Scalar operand."""
    if getattr(given, "kind", None) == "scalar":
        return given
    try:
        return as_scalar(given)
    except (DomainMismatch, TypeError, ValueError):
        raise bad_type(given, "Scalar", argument, where, literals=True) from None


def _default(given: Any, argument: str, where: str) -> Any:
    if getattr(given, "kind", "scalar") != "scalar":
        raise bad_type(given, "Scalar", argument, where, literals=True)
    try:
        return operand_or_literal(given)
    except DomainMismatch:
        raise bad_type(given, "Scalar", argument, where, literals=True) from None


def ewise_union(left: Any, right: Any, operator: Any, left_default: Any, right_default: Any) -> Any:
    """Return the union in which a missing entry takes its side's default."""
    left, right = _matched(left, right, "ewise_union", None)
    where = f"{left.kind.capitalize()}.ewise_union"
    defaults = (
        _default(left_default, "left_default", where),
        _default(right_default, "right_default", where),
    )
    typed = _union_operator(operator, left.dtype, right.dtype, *(one.dtype for one in defaults))
    args = (left, right, *defaults)
    return expression(
        Template(
            "ewise_union", args, left.kind, typed.return_type, left.shape, own_dims(left), typed
        )
    )


def with_number(method: str, left: Any, right: Any, operator: Any) -> Any:
    """Return ``left op right`` of a Scalar and a number, which stays where the Scalar is empty.

    By ``ewise_add`` the number is passed unchanged, by ``ewise_union`` it meets a zero (``-1`` of
    ``empty - 1``).
    """
    left, right = operand_or_literal(left), operand_or_literal(right)
    if method == "ewise_union":
        return filled(left, right, operator, ZERO, ZERO)
    typed = as_binary(operator, left.dtype, right.dtype)
    return expression(
        Template("ewise_add", (left, right), "scalar", typed.return_type, (), (), typed)
    )


def filled(left: Any, right: Any, operator: Any, left_default: Any, right_default: Any) -> Any:
    """Return `ewise_union` of Scalars, any of which may be a literal."""
    args = (left, right, left_default, right_default)
    typed = _union_operator(operator, *(one.dtype for one in args))
    return expression(Template("ewise_union", args, "scalar", typed.return_type, (), (), typed))


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
        raise TypeError("Cannot provide both `left` and `right` to apply: bind one operand")
    params: tuple[tuple[str, Any], ...] = ()
    args: tuple[Any, ...]
    if isinstance(parent, BinaryOp):
        if left is None and right is None:
            raise TypeError(f"{parent.name} is binary: give `left=` or `right=`")
        bound = right if left is None else left
        bound = bound_scalar(bound, x.dtype) if is_record(x.dtype) else operand_or_literal(bound)
        _check_scalar(bound)
        if left is None:
            typed = as_binary(operator, x.dtype, bound.dtype)
            args, params = (x, bound), (("side", "right"),)
        else:
            typed = as_binary(operator, bound.dtype, x.dtype)
            args, params = (bound, x), (("side", "left"),)
        place = 0 if left is None else 1
    elif isinstance(parent, IndexUnaryOp):
        if left is not None:
            raise TypeError(f"{parent.name} takes its thunk as `right`; `left` is for binary ops")
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
    try:
        if is_record(dtype):
            return _with_record_thunk(op, dtype, given)
        thunk = operand_or_literal(given)
    except DomainMismatch as error:
        raise DomainMismatch(f"thunk: {error}") from None
    _check_scalar(thunk)
    parent: Any = op.parent if isinstance(op, TypedOp) else op
    typed = type_operator(op, dtype)
    if parent.thunk_is_value or typed.return_type is not BOOL:
        typed = type_operator(op, unify(dtype, thunk.dtype))
    if isinstance(thunk, Literal) and not parent.thunk_is_value:
        thunk = as_literal(given, INT64)
    return typed, thunk


def _with_record_thunk(op: Any, dtype: DataType, given: Any) -> tuple[TypedOp, Any]:
    """Return an operator on records and its thunk, which is a record if it is compared with one."""
    typed = type_operator(op, dtype)
    is_value = typed.parent.thunk_is_value  # type: ignore[attr-defined]
    thunk = bound_scalar(given, dtype) if is_value else operand_or_literal(given)
    _check_scalar(thunk)
    if isinstance(thunk, Literal) and not is_value:
        thunk = as_literal(given, INT64)
    return typed, thunk


def select(x: Any, op: Any, thunk: Any = None) -> Any:
    """Return the entries of `x` that an operator, or a mask, keeps."""
    is_expression = hasattr(op, "_template")
    is_bool = getattr(op, "dtype", None) is BOOL and (is_expression or hasattr(op, "V"))
    if is_bool or isinstance(op, Mask):
        if thunk is not None:
            raise TypeError(f"select with a mask takes no thunk, got {thunk!r}")
        given = op.new() if is_expression else op
        return _select_mask(x, given if isinstance(given, Mask) else given.V)
    if callable(op) and not hasattr(op, "opclass") and not isinstance(op, TypedOp):
        raise TypeError(
            f"Invalid mask: {type(op)}; select takes a mask, a comparison such as '>' with a "
            "thunk, or select.register_anonymous of a function of (value, row, column, thunk)"
        )
    typed, thunk = _with_thunk(as_select(op), x.dtype, thunk)
    if typed.return_type is not BOOL:
        raise DomainMismatch(f"select needs an operator that returns BOOL, got {typed!r}")
    return expression(Template("select", (x, thunk), x.kind, x.dtype, x.shape, own_dims(x), typed))


def _select_mask(x: Any, mask: Mask) -> Any:
    if mask.parent.kind != x.kind:
        raise DomainMismatch(
            f"Mask object must be type {x.kind.capitalize()}; got {mask.parent.kind.capitalize()}"
        )
    check_same_shape(x, mask.parent, "select with a mask")
    if mask.complement:
        kept = x.dup(mask=mask)
        return expression(Template("copy", (kept,), x.kind, x.dtype, x.shape, own_dims(kept)))
    first = as_binary("first", x.dtype, x.dtype)
    kept = mask.parent if mask.structure else select(mask.parent, "!=", False)
    return expression(
        Template("ewise_mult", (x, kept), x.kind, x.dtype, x.shape, own_dims(x), first)
    )
