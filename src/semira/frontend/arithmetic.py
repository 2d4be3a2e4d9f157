"""What Python's operators mean: ``x + y``, ``x | y``, ``binary.plus(x | y)``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from semira.base.dtypes import BOOL
from semira.base.errors import DomainMismatch
from semira.frontend import elementwise
from semira.frontend.call import require_operator
from semira.frontend.checks import bad_type
from semira.frontend.elementwise import pending
from semira.frontend.operators import as_semiring
from semira.frontend.products import matmul
from semira.ops import BinaryOp, Monoid, Semiring, TypedMonoid, TypedOp, TypedSemiring
from semira.ops.registry import find_operator

_SIGNS = {"add": "|", "mult": "&", "matmul": "@"}

Dunder = Callable[[Any, Any], Any]


def binary_dunder(name: str, method: str, *, reflected: bool = False) -> Dunder:
    """Return the method behind ``x sign y``: element-wise, or a bound scalar."""

    def dunder(self: Any, other: Any) -> Any:
        if isinstance(other, (str, bytes)) or other is None:
            return NotImplemented
        operator = find_operator("BinaryOp", name)
        if name == "lxor":
            require_bool("^", self, other)
        is_scalar = not hasattr(other, "_operand") or (
            other.kind == "scalar" and self.kind != "scalar"
        )
        if is_scalar:
            left, right = (other, self) if reflected else (self, other)
            try:
                if self.kind == "scalar" and method != "ewise_mult":
                    return elementwise.with_number(method, left, right, operator)
                bound = {"left": other} if reflected else {"right": other}
                return elementwise.apply(self, operator, **bound)
            except DomainMismatch as error:
                raise TypeError(str(error)) from error
        if self.kind == "scalar" and other.kind != "scalar":
            return elementwise.apply(other, operator, left=self)
        left, right = (other, self) if reflected else (self, other)
        if method == "ewise_union":
            return elementwise.ewise_union(
                left, right, operator, elementwise.ZERO, elementwise.ZERO
            )
        return elementwise.ewise(method, left, right, operator)

    return dunder


def require_bool(sign: str, *operands: Any) -> None:
    """Check that the operands of a logical sign are BOOL.

    Raises TypeError if one is not; the message names its dtype.
    """
    for operand in operands:
        dtype = getattr(operand, "dtype", BOOL if isinstance(operand, bool) else None)
        if dtype is not BOOL:
            raise TypeError(
                f"The infix operator, `x {sign} y`, is not supported for "
                f"{dtype or type(operand).__name__} dtype. It is only supported for BOOL dtype."
            )


def divmod_dunder(*, reflected: bool = False) -> Dunder:
    """Return the method behind ``divmod(x, y)``: floored quotient and remainder."""
    quotient = binary_dunder("floordiv", "ewise_mult", reflected=reflected)
    remainder = binary_dunder("numpy.mod", "ewise_mult", reflected=reflected)
    return lambda self, other: (quotient(self, other), remainder(self, other))


def infix_dunder(infix: str, *, reflected: bool = False) -> Dunder:
    """Return the method behind ``x | y`` or ``x & y``, whose operator may come later."""
    op = "ewise_add" if infix == "add" else "ewise_mult"

    def dunder(self: Any, other: Any) -> Any:
        if not hasattr(other, "_operand"):
            if hasattr(other, "triple"):
                return NotImplemented  # a mask knows what to do
            if self.kind != "scalar":
                where = f"{type(self).__name__}.__{_SIGNS[infix]}__"
                raise bad_type(other, self.kind.capitalize(), "other", where)
            other = elementwise.as_scalar(other)
        for operand in (self, other):
            _refuse_mixing(operand, infix)
        left, right = (other, self) if reflected else (self, other)
        return elementwise.ewise(op, left, right, None, infix=infix)

    return dunder


def _refuse_mixing(operand: Any, infix: str) -> None:
    found = pending(operand)
    if found not in (None, infix, "matmul"):
        raise TypeError(
            f"`{_SIGNS[found or '']}` and `{_SIGNS[infix]}` do not mix in one infix expression: "
            "one operator could not serve both. Name the operator of the inner part"
        )


def in_place_infix(sign: str, name: str) -> Dunder:
    """Return the method behind ``x |= y`` and ``x &= y``, for BOOL only."""

    def update(self: Any, other: Any) -> Any:
        require_bool(sign, self, other)
        operator = find_operator("BinaryOp", name)
        if hasattr(other, "_operand") and not (other.kind == "scalar" != self.kind):
            method = "ewise_add" if sign == "|" else "ewise_mult"
            self.update(elementwise.ewise(method, self, other, operator))
        else:
            self.update(elementwise.apply(self, operator, right=other))
        return self

    return update


def call_operator(x: Any, op: Any, *args: Any, **kwargs: Any) -> Any:
    """Return what ``op(x)`` means: an infix expression with `op`, or `op` applied to x.

    Raises TypeError if `op` is of a class that does not fit the expression, or an argument is
    unknown.
    """
    opclass = op.opclass if hasattr(op, "opclass") else op.parent.opclass
    if pending(x) is not None and opclass in ("BinaryOp", "Monoid", "Semiring"):
        if args:
            raise TypeError(
                f"Bad types when calling {op!r}. Bad dtype or number of arguments: it takes one "
                "infix expression"
            )
        return _with_operator(x, op, **kwargs)
    if opclass == "Semiring":
        types = ", ".join(str(type(arg)) for arg in (x, *args))
        raise TypeError(
            f"Bad type{'s' if args else ''} when calling {op!r}. "
            f"Expected an infix expression, such as {op!r}(A @ B); got {types}"
        )
    if opclass == "UnaryOp" and (args or kwargs):
        raise TypeError(f"__call__ of {op!r} takes one operand, got {1 + len(args) + len(kwargs)}")
    if opclass in ("BinaryOp", "Monoid"):
        return _call_binary(x, op, *args, **kwargs)
    if pending(x) is not None:
        require_operator(x._template)
    if "thunk" in kwargs:
        kwargs["right"] = kwargs.pop("thunk")
    if opclass == "SelectOp":
        return x.select(op, *args, *kwargs.values())
    return x.apply(op, *args, **kwargs)


def _call_binary(x: Any, op: Any, *args: Any, **kwargs: Any) -> Any:
    """Return ``op(x, y)`` with one of the two a scalar."""
    unknown = sorted(set(kwargs) - {"left", "right"})
    if unknown:
        raise TypeError(f"{op!r} got an unexpected keyword argument {unknown[0]!r}")
    if len(args) + len(kwargs) != 1:
        raise TypeError(
            f"Bad type when calling {op!r}: give an infix expression, such as {op!r}(x & y), or "
            f"one object and one scalar, such as {op!r}(x, 1)"
        )
    if kwargs:
        return x.apply(op, **kwargs)
    y = args[0]
    if x.kind == "scalar" and getattr(y, "kind", "scalar") != "scalar":
        return y.apply(op, left=x)
    if getattr(y, "kind", "scalar") != "scalar":
        raise TypeError(
            f"Bad type for keyword argument `right=` when calling {op!r}: expected a scalar, got "
            f"{type(y)}. For two objects write {op!r}(x & y) or {op!r}(x | y)"
        )
    return x.apply(op, right=y)


def _with_operator(infix: Any, op: Any, **defaults: Any) -> Any:
    """Return an infix expression with its operator; chains take it at every step."""
    template = infix._template
    if template.infix == "matmul":
        return _product(infix, op, **defaults)
    if isinstance(op, (Semiring, TypedSemiring)):
        sign = _SIGNS[template.infix]
        raise TypeError(f"Bad type when calling {op!r}: `x {sign} y` takes a binary operator")
    if not isinstance(op, (BinaryOp, Monoid, TypedMonoid, TypedOp)):
        raise TypeError(f"`x {_SIGNS[template.infix]} y` takes a binary operator, got {op!r}")
    left, right = (_settled(arg, op, **defaults) for arg in template.args[:2])
    if defaults:
        if template.infix != "add" or set(defaults) != {"left_default", "right_default"}:
            unknown = sorted(set(defaults) - {"left_default", "right_default"})
            raise TypeError(
                f"{op!r}(x {_SIGNS[template.infix]} y) got an unexpected keyword argument "
                f"{unknown[0]!r}"
                if unknown
                else f"{op!r} takes both left_default and right_default, for `x | y` only"
            )
        ends = defaults["left_default"], defaults["right_default"]
        return elementwise.ewise_union(left, right, op, *ends)
    return elementwise.ewise(template.op, left, right, op)


def _settled(arg: Any, op: Any, **defaults: Any) -> Any:
    """Return an operand of a chain, computed with the same operator if it still waits."""
    return _with_operator(arg, op, **defaults).new() if pending(arg) is not None else arg


def _product(infix: Any, op: Any, **unknown: Any) -> Any:
    if not isinstance(op, (Semiring, TypedSemiring)) or unknown:
        raise TypeError(f"Bad type when calling {op!r}: `x @ y` takes a semiring and nothing else")
    template = infix._template
    # An inner product is a reduction of what its operands have in common.
    operands = template.args[0].source._template if template.op == "reduce" else template
    left, right = (_settled(arg, op) for arg in operands.args[:2])
    return matmul(left, right, as_semiring(op, left.dtype, right.dtype), infix=None)
