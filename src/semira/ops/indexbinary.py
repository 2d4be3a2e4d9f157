"""Index-binary operators: z = f(x, ix, jx, y, iy, jy, theta), of two entries and their positions.

They are made of Python functions only. Calling one with a theta gives a binary operator, which
multiplies in semirings and combines entries element by element:

- in a product the entry x at (i, k) meets the entry y at (k, j);
- element by element both are at (i, j); a vector's entries are in column 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any
from weakref import WeakValueDictionary

from semira.base.dtypes import INT64, DataType, infer_dtype
from semira.base.errors import DomainMismatch
from semira.ops.core import BinaryOp
from semira.ops.meaning import literal
from semira.ops.operator import Operator, UserFunction
from semira.ops.typed import TypedOp
from semira.ops.user import Inference, describe, user_function

_IN_PRODUCTS = "{name}(a, i, k, b, k, j, {theta})"
_AT_ONE_PLACE = "{name}(a, i, k, b, i, k, {theta})"


@dataclass(frozen=True, eq=False, repr=False)
class BoundIndexOp(BinaryOp):
    """A binary operator that also sees where its operands are."""

    #: The same for two entries at one position.
    in_place: BoundIndexOp | None = None
    theta: Any = None
    theta_type: DataType = INT64
    #: Whether it is such an operator.
    is_in_place: bool = False

    @property
    def key_name(self) -> str:
        """Name that no other operator has: its text names the function and the theta."""
        return f"{self.name}:{self.python}"

    def _make_typed(self, dtype: DataType) -> TypedOp:
        compute, result = self.rule(dtype)
        assert isinstance(self.python, str)
        return TypedOp(self, self.name, compute, result, self.python, "", is_positional=True)

    def _make_record(self, left: DataType, right: DataType) -> TypedOp:
        raise KeyError((left, right))


@dataclass(frozen=True, eq=False, repr=False)
class IndexBinaryOp(Operator):
    """A function of two entries, their positions and a theta; call it with the theta.

    Examples
    --------
    >>> import semira as gb
    >>> def nearer(x, ix, jx, y, iy, jy, theta):
    ...     return x + y if abs(ix - jx) <= theta else x
    >>> op = gb.indexbinary.register_anonymous(nearer)
    >>> A = gb.Matrix.from_coo([0, 0], [0, 5], [1, 2])
    >>> A.ewise_mult(A, op(1)).new().to_coo()[2].tolist()
    [2, 2]
    """

    function: UserFunction
    infer: Inference

    opclass = "IndexBinaryOp"

    @property
    def user(self) -> UserFunction:
        """The Python function."""
        return self.function

    @property
    def is_positional(self) -> bool:
        """Always true."""
        return True

    def __call__(self, theta: Any) -> BoundIndexOp:  # type: ignore[override]
        """Return the binary operator for a theta; the same one every time.

        Parameters
        ----------
        theta : number or Scalar

        Raises
        ------
        DomainMismatch
            It is neither, or an empty Scalar.
        """
        value = getattr(theta, "value", theta)
        if value is None or hasattr(value, "_operand"):
            raise DomainMismatch(f"theta of {self!r} must be a number, got {theta!r}")
        dtype = infer_dtype(value)
        made: dict[str, BoundIndexOp] = self.__dict__.setdefault("_by_theta", {})
        return made.setdefault(describe(value), self._bound(dtype, value))

    def _bound(self, dtype: DataType, theta: Any) -> BoundIndexOp:
        texts = [
            text.format(name=self.function.name, theta=literal(dtype, theta))
            for text in (_IN_PRODUCTS, _AT_ONE_PLACE)
        ]
        make = partial(
            BoundIndexOp, f"{self.name}({theta})", cuda="", rule=self.rule_for(dtype),
            is_positional=True, user=self.function, theta=theta, theta_type=dtype,
        )  # fmt: skip
        bound = make(python=texts[0], in_place=make(python=texts[1], is_in_place=True))
        bound.__dict__["recipe"] = (_bind, (self, theta, False))
        assert bound.in_place is not None
        bound.in_place.__dict__["recipe"] = (_bind, (self, theta, True))
        return bound

    def rule_for(self, theta: DataType) -> Callable[[DataType], tuple[DataType, DataType]]:
        """Return the type rule for a dtype of theta."""

        def rule(dtype: DataType) -> tuple[DataType, DataType]:
            operands = (dtype, INT64, INT64, dtype, INT64, INT64, theta)
            result = self.infer(self.function.frozen, operands)
            if result is None:
                raise KeyError(dtype)
            return dtype, dtype if result.kind == dtype.kind else result

        return rule

    def _make_typed(self, dtype: DataType) -> TypedIndexBinaryOp:
        return TypedIndexBinaryOp(self, dtype, self.rule_for(dtype)(dtype)[1])


@dataclass(frozen=True, eq=False, repr=False)
class TypedIndexBinaryOp:
    """An index-binary operator at one dtype of operands and theta."""

    parent: IndexBinaryOp
    type: DataType
    return_type: DataType

    opclass = "IndexBinaryOp"

    @property
    def name(self) -> str:
        """Name of the operator."""
        return self.parent.name

    @property
    def type2(self) -> DataType:
        """Dtype of the second operand."""
        return self.type

    def __repr__(self) -> str:
        return f"{self.parent!r}[{self.type}]"

    def __reduce__(self) -> tuple[Any, ...]:
        return self.parent.typed, (self.type,)

    def __call__(self, theta: Any) -> TypedOp:
        """Return the binary operator for a theta, in this dtype."""
        typed: TypedOp = self.parent(theta).typed(self.type)
        return typed


def _bind(op: IndexBinaryOp, theta: Any, is_in_place: bool) -> BoundIndexOp | None:
    return op(theta).in_place if is_in_place else op(theta)


def make_index_binary(function: Any, name: str | None, infer: Inference) -> IndexBinaryOp:
    """Return the operator of a Python function of seven parameters.

    Raises TypeError if `function` is not a Python function. Raises UdfParseError if it takes
    another number of parameters, or captures what cannot be described.
    """
    user = user_function(function, "IndexBinaryOp", _PARAMETERS)
    made = IndexBinaryOp(name or function.__name__, user, infer)
    made.__dict__["recipe"] = (make_index_binary, (function, name, infer))
    return _made.setdefault((made.name, user.name), made)


_made: WeakValueDictionary[tuple[str, str], IndexBinaryOp] = WeakValueDictionary()


_PARAMETERS = ("x", "ix", "jx", "y", "iy", "jy", "theta")
