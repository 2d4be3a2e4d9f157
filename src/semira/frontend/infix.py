"""Python's operators on objects and expressions, and the methods every operand has."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar

from semira.base.dtypes import BOOL, DataType
from semira.base.errors import DomainMismatch
from semira.engine.calls import Literal
from semira.engine.values import Value
from semira.frontend import elementwise
from semira.frontend.expr import Expression, expression
from semira.frontend.operators import as_binary, as_semiring
from semira.ops import BinaryOp, Monoid, Semiring, TypedMonoid, TypedOp, TypedSemiring
from semira.ops.registry import binary


def _binary_dunder(name: str, method: str, *, reflected: bool = False) -> Callable[[Any, Any], Any]:
    """Return the method behind ``x sign y``: element-wise, or a bound scalar."""

    def dunder(self: Any, other: Any) -> Any:
        if isinstance(other, (str, bytes)) or other is None:
            return NotImplemented
        operator = binary[name]
        is_scalar = not hasattr(other, "_operand") or (
            other.kind == "scalar" and self.kind != "scalar"
        )
        if is_scalar:
            try:
                bound = {"left": other} if reflected else {"right": other}
                return elementwise.apply(self, operator, **bound)
            except DomainMismatch as error:
                raise TypeError(str(error)) from error
        if self.kind == "scalar" and other.kind != "scalar":
            return elementwise.apply(other, operator, left=self)
        left, right = (other, self) if reflected else (self, other)
        if method == "ewise_union":
            zero = Literal(BOOL, BOOL.np_type.type(False))
            return elementwise.ewise_union(left, right, operator, zero, zero)
        return elementwise.ewise(method, left, right, operator)

    return dunder


class Operand:
    """Anything that can stand in an expression: an object, a transpose, an expression."""

    __slots__ = ()

    kind: ClassVar[str]
    _is_transposed = False

    @property
    def dtype(self) -> DataType:
        """Dtype of the entries."""
        raise NotImplementedError

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of positions in each dimension."""
        raise NotImplementedError

    def _operand(self) -> tuple[Value, bool]:
        raise NotImplementedError

    # --- element-wise methods -----------------------------------------------------------

    def ewise_add(self, other: Any, op: Any = "plus") -> Any:
        """Return ``op`` on the union of entries; entries of one side pass unchanged.

        Raises
        ------
        DimensionMismatch
            Shapes differ.
        """
        return elementwise.ewise("ewise_add", self, other, op)

    def ewise_mult(self, other: Any, op: Any = "times") -> Any:
        """Return ``op`` on the intersection of entries.

        Raises
        ------
        DimensionMismatch
            Shapes differ.
        """
        return elementwise.ewise("ewise_mult", self, other, op)

    def ewise_union(self, other: Any, op: Any, left_default: Any, right_default: Any) -> Any:
        """Return ``op`` on the union, missing entries replaced by the defaults."""
        return elementwise.ewise_union(self, other, op, left_default, right_default)

    def apply(self, op: Any, right: Any = None, *, left: Any = None) -> Any:
        """Return a unary, bound binary or index-unary operator of every entry.

        Parameters
        ----------
        op : operator or str
        right, left : scalar, optional
            The bound operand of a binary operator; ``right`` is the thunk of an index-unary.
        """
        return elementwise.apply(self, op, right, left=left)

    def select(self, op: Any, thunk: Any = None) -> Any:
        """Return the entries that ``op(value, i, j, thunk)`` or a mask keeps."""
        return elementwise.select(self, op, thunk)

    def _apply_operator(self, op: Any, *args: Any, **kwargs: Any) -> Any:
        """Return what ``op(x)`` means: the infix expression retyped, or the operator applied."""
        if isinstance(self, Expression) and self._template.infix is not None:
            if args or kwargs:
                raise TypeError(f"{op!r} takes one infix expression")
            return _retype(self, op)
        opclass = op.opclass if hasattr(op, "opclass") else op.parent.opclass
        if opclass == "SelectOp":
            return self.select(op, *args, **kwargs)
        return self.apply(op, *args, **kwargs)

    # --- Python's operators -------------------------------------------------------------

    __add__ = _binary_dunder("plus", "ewise_add")
    __radd__ = _binary_dunder("plus", "ewise_add", reflected=True)
    __sub__ = _binary_dunder("minus", "ewise_union")
    __rsub__ = _binary_dunder("minus", "ewise_union", reflected=True)
    __mul__ = _binary_dunder("times", "ewise_mult")
    __rmul__ = _binary_dunder("times", "ewise_mult", reflected=True)
    __truediv__ = _binary_dunder("truediv", "ewise_mult")
    __rtruediv__ = _binary_dunder("truediv", "ewise_mult", reflected=True)
    __floordiv__ = _binary_dunder("floordiv", "ewise_mult")
    __rfloordiv__ = _binary_dunder("floordiv", "ewise_mult", reflected=True)
    __xor__ = _binary_dunder("lxor", "ewise_add")
    __eq__ = _binary_dunder("eq", "ewise_mult")
    __ne__ = _binary_dunder("ne", "ewise_mult")
    __lt__ = _binary_dunder("lt", "ewise_mult")
    __le__ = _binary_dunder("le", "ewise_mult")
    __gt__ = _binary_dunder("gt", "ewise_mult")
    __ge__ = _binary_dunder("ge", "ewise_mult")
    __hash__ = None  # type: ignore[assignment]

    def __neg__(self) -> Any:
        return elementwise.negate(self)

    def __abs__(self) -> Any:
        return self.apply("abs")

    def __invert__(self) -> Any:
        if self.dtype is not BOOL:
            raise TypeError(
                f"The invert operator, `~`, is not supported for {self.dtype} dtype.  "
                "It is only supported for BOOL dtype."
            )
        return self.apply("lnot")

    def __or__(self, other: Any) -> Any:
        return elementwise.ewise("ewise_add", self, other, None, infix="add")

    def __and__(self, other: Any) -> Any:
        return elementwise.ewise("ewise_mult", self, other, None, infix="mult")

    def __matmul__(self, other: Any) -> Any:
        from semira.frontend.products import matmul

        return matmul(self, other)

    def __bool__(self) -> bool:
        raise TypeError(
            f"__bool__ not defined for objects of type {type(self)}.  "
            "Perhaps use .nvals attribute instead."
        )

    def __array__(self, dtype: Any = None, *, copy: Any = None) -> Any:
        del dtype, copy
        raise TypeError(
            f"{type(self).__name__} can't be directly converted to a numpy array; perhaps use "
            f"`{getattr(self, 'name', 'expression')}.to_coo()` method instead."
        )


def _retype(infix: Any, op: Any) -> Any:
    """Return an infix expression with another operator."""
    template = infix._template
    # An inner product is a reduction of what its operands have in common.
    operands = template.args[0]._template if template.op == "reduce" else template
    left, right = operands.args[:2]
    if template.infix == "matmul":
        if not isinstance(op, (Semiring, TypedSemiring)):
            raise TypeError(f"`x @ y` takes a semiring, got {op!r}")
        from semira.frontend.products import matmul

        return matmul(left, right, as_semiring(op, left.dtype, right.dtype), infix=None)
    if not isinstance(op, (BinaryOp, Monoid, TypedMonoid, TypedOp)):
        raise TypeError(f"`x {'|' if template.infix == 'add' else '&'} y` takes a binary operator")
    typed = as_binary(op, left.dtype, right.dtype)
    return expression(replace(template, operator=typed, dtype=typed.return_type, infix=None))
