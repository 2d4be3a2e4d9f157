"""Python's operators on objects and expressions, and the methods every operand has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, overload

import numpy as np

from semira.base.dtypes import BOOL, DataType
from semira.engine.values import Value
from semira.frontend import elementwise
from semira.frontend.arithmetic import binary_dunder, call_operator, divmod_dunder, infix_dunder
from semira.frontend.checks import bad_type
from semira.frontend.kinds import Shown
from semira.frontend.products import matmul
from semira.ops.registry import monoid

if TYPE_CHECKING:
    # Type checkers have this module without its being installed; Python 3.13 has the defaults.
    from typing_extensions import TypeVar

    #: The class of expressions that operations make of an operand: one for each kind.
    Made_co = TypeVar("Made_co", default=Any, covariant=True)
    Other = TypeVar("Other")

    # The classes of expressions are defined above this module; a property tells each of them apart.

    class _Scalar(Protocol):
        @property
        def is_cscalar(self) -> bool: ...

    class _Vector(Protocol):
        @property
        def size(self) -> int: ...

    class _Matrix(Protocol):
        @property
        def nrows(self) -> int: ...

    Matrices = TypeVar("Matrices", bound=_Matrix)
else:
    from typing import TypeVar

    Made_co = TypeVar("Made_co", covariant=True)

#: What stands for a scalar.
Number = complex | np.generic


class Operand(Shown, Generic[Made_co]):
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

    # A Vector beside a Matrix is broadcast.
    @overload
    def ewise_add(self: Operand[_Vector], other: Operand[Matrices], op: Any = ...) -> Matrices: ...
    @overload
    def ewise_add(self, other: Operand[Any] | Number, op: Any = ...) -> Made_co: ...

    def ewise_add(self, other: Any, op: Any = monoid["plus"]) -> Any:
        """Return ``op`` on the union of entries; entries of one side pass unchanged.

        The default does not take BOOL: say ``"lor"`` for the union, or ``binary.plus``.

        Raises
        ------
        DimensionMismatch
            Shapes differ.
        """
        return elementwise.ewise("ewise_add", self, other, op)

    @overload
    def ewise_mult(self: Operand[_Vector], other: Operand[Matrices], op: Any = ...) -> Matrices: ...
    @overload
    def ewise_mult(self, other: Operand[Any] | Number, op: Any = ...) -> Made_co: ...

    def ewise_mult(self, other: Any, op: Any = "times") -> Any:
        """Return ``op`` on the intersection of entries.

        Raises
        ------
        DimensionMismatch
            Shapes differ.
        """
        return elementwise.ewise("ewise_mult", self, other, op)

    @overload
    def ewise_union(
        self: Operand[_Vector],
        other: Operand[Matrices],
        op: Any,
        left_default: Any,
        right_default: Any,
    ) -> Matrices: ...
    @overload
    def ewise_union(
        self, other: Operand[Any] | Number, op: Any, left_default: Any, right_default: Any
    ) -> Made_co: ...

    def ewise_union(self, other: Any, op: Any, left_default: Any, right_default: Any) -> Any:
        """Return ``op`` on the union, missing entries replaced by the defaults."""
        return elementwise.ewise_union(self, other, op, left_default, right_default)

    def apply(self, op: Any, right: Any = None, *, left: Any = None) -> Made_co:
        """Return a unary, bound binary or index-unary operator of every entry.

        Parameters
        ----------
        op : operator or str
        right, left : scalar, optional
            The bound operand of a binary operator; ``right`` is the thunk of an index-unary.
        """
        return elementwise.apply(self, op, right, left=left)  # type: ignore[no-any-return]

    def select(self, op: Any, thunk: Any = None) -> Made_co:
        """Return the entries that ``op(value, i, j, thunk)`` or a mask keeps."""
        return elementwise.select(self, op, thunk)  # type: ignore[no-any-return]

    def _apply_operator(self, op: Any, *args: Any, **kwargs: Any) -> Made_co:
        """Return what ``op(x)`` means; see `arithmetic.call_operator`."""
        return call_operator(self, op, *args, **kwargs)  # type: ignore[no-any-return]

    # --- Python's operators -------------------------------------------------------------

    if TYPE_CHECKING:

        @overload
        def _sign(self: Operand[_Scalar], other: Operand[Other]) -> Other: ...
        @overload
        def _sign(self: Operand[_Vector], other: Operand[Matrices]) -> Matrices: ...
        @overload
        def _sign(self, other: Operand[Any] | Number) -> Made_co: ...
        def _sign(self, other: Any) -> Any: ...

        __add__ = __sub__ = __mul__ = __truediv__ = __floordiv__ = __mod__ = __pow__ = _sign
        __radd__ = __rsub__ = __rmul__ = __rtruediv__ = __rfloordiv__ = __rmod__ = __rpow__ = _sign
        __xor__ = __or__ = __and__ = __rxor__ = __ror__ = __rand__ = _sign
        __lt__ = __le__ = __gt__ = __ge__ = _sign

        def __eq__(self, other: object) -> Made_co: ...  # type: ignore[override]
        def __ne__(self, other: object) -> Made_co: ...  # type: ignore[override]
        def __divmod__(self, other: Operand[Any] | Number) -> tuple[Made_co, Made_co]: ...
        def __rdivmod__(self, other: Operand[Any] | Number) -> tuple[Made_co, Made_co]: ...
    else:
        __add__ = binary_dunder("plus", "ewise_add")
        __radd__ = binary_dunder("plus", "ewise_add", reflected=True)
        __sub__ = binary_dunder("minus", "ewise_union")
        __rsub__ = binary_dunder("minus", "ewise_union", reflected=True)
        __mul__ = binary_dunder("times", "ewise_mult")
        __rmul__ = binary_dunder("times", "ewise_mult", reflected=True)
        __truediv__ = binary_dunder("truediv", "ewise_mult")
        __rtruediv__ = binary_dunder("truediv", "ewise_mult", reflected=True)
        __floordiv__ = binary_dunder("floordiv", "ewise_mult")
        __rfloordiv__ = binary_dunder("floordiv", "ewise_mult", reflected=True)
        __mod__ = binary_dunder("numpy.mod", "ewise_mult")
        __rmod__ = binary_dunder("numpy.mod", "ewise_mult", reflected=True)
        __pow__ = binary_dunder("pow", "ewise_mult")
        __rpow__ = binary_dunder("pow", "ewise_mult", reflected=True)
        __xor__ = binary_dunder("lxor", "ewise_add")
        __rxor__ = binary_dunder("lxor", "ewise_add", reflected=True)
        __divmod__ = divmod_dunder()
        __rdivmod__ = divmod_dunder(reflected=True)
        __eq__ = binary_dunder("eq", "ewise_mult")
        __ne__ = binary_dunder("ne", "ewise_mult")
        __lt__ = binary_dunder("lt", "ewise_mult")
        __le__ = binary_dunder("le", "ewise_mult")
        __gt__ = binary_dunder("gt", "ewise_mult")
        __ge__ = binary_dunder("ge", "ewise_mult")
        __or__ = infix_dunder("add")
        __ror__ = infix_dunder("add", reflected=True)
        __and__ = infix_dunder("mult")
        __rand__ = infix_dunder("mult", reflected=True)

        # Matrices and vectors say what comes of it.
        def __matmul__(self, other: Any) -> Any:
            return matmul(self, other)

    # By identity: `==` makes an expression, which tells nothing about being the same object.
    __hash__ = object.__hash__

    def __neg__(self) -> Made_co:
        return self.apply("ainv")

    def __abs__(self) -> Made_co:
        return self.apply("abs")

    def __invert__(self) -> Made_co:
        if self.dtype is not BOOL:
            raise TypeError(
                f"The invert operator, `~`, is not supported for {self.dtype} dtype.  "
                "It is only supported for BOOL dtype."
            )
        return self.apply("lnot")

    def __rmatmul__(self, other: Any) -> Any:
        raise bad_type(other, "Matrix, Vector", "self", f"{type(self).__name__}.__rmatmul__")

    def __bool__(self) -> bool:
        template = getattr(self, "_template", None)
        if template is not None and template.op == "ewise_mult":
            left, right = template.args
            if left is right and template.operator.name == "eq":
                # Weak dictionaries find a key by `x == x`.
                return True
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
