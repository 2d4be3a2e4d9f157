"""Operators at one dtype."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from semira.base.dtypes import BOOL, DataType
from semira.base.locks import cached_property
from semira.ops.meaning import compile_expression, without_warnings
from semira.ops.operator import Operator, call
from semira.ops.typerules import positional


def _same_dtype(operator: Operator | None, dtype: DataType) -> Any:
    """Return the instance for exactly `dtype`, None if there is none."""
    if operator is not None and dtype.kind == "V":
        return operator.typed(dtype) if dtype in operator else None
    if operator is None or dtype not in operator.types or dtype in operator.coercions:
        return None
    return operator.typed(dtype)


class _Typed:
    """What operators, monoids and semirings at one dtype share."""

    @property
    def opclass(self: Any) -> str:
        """Class of the operator, such as ``"BinaryOp"``."""
        return self.parent.opclass  # type: ignore[no-any-return]

    @property
    def key(self: Any) -> str:
        """Text that identifies the typed operator."""
        return f"{self.opclass}.{self.parent.key_name}[{self.type.name}]"

    @property
    def gb_name(self: Any) -> str:
        """Name of the typed operator in the C API (of our own making where it has none)."""
        return c_api_name(self.opclass, self.parent.name, self.type)

    def _commuted(self: Any) -> Any:
        """Return the instance with swapped operands in this dtype, if there is one."""
        return _same_dtype(getattr(self.parent, "commutes_to", None), self.type)

    def __repr__(self: Any) -> str:
        return f"{self.parent!r}[{self.type}]"

    def __reduce__(self: Any) -> tuple[Any, ...]:
        if self.type2 is not self.type:
            return self.parent.typed_pair, (self.type, self.type2)
        return self.parent.computing_in, (self.type,)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Apply to an expression, in this dtype."""
        return call(self, *args, **kwargs)


@dataclass(frozen=True, eq=False, repr=False)
class TypedOp(_Typed):
    """An operator at one dtype: operands are cast to `type`, the result is a `return_type`."""

    parent: Operator
    #: Name of the meaning in force (``plus`` on BOOL is ``lor``).
    name: str
    type: DataType
    return_type: DataType
    #: Expressions in ``a``, ``b``; index-unary ones in ``a``, ``i``, ``j``, ``t``; positional
    #: binary ones in ``i``, ``k``, ``j`` (entry (i, k) meets entry (k, j)).
    python: str
    cuda: str
    #: Whether the result depends on the value of each operand (structure-only if neither).
    reads_a: bool = True
    reads_b: bool = True
    is_commutative: bool = False
    is_positional: bool = False
    #: Dtype of the second operand, if it is another than `type` (user-defined dtypes only).
    second_type: DataType | None = None

    @property
    def gb_name(self) -> str:
        """Name of the typed operator in the C API (of our own making where it has none)."""
        if self.parent.user is not None:
            return f"{self.parent.name}_{self.type}"
        return super().gb_name

    @property
    def functions(self) -> dict[str, Callable[..., Any]]:
        """Functions the Python text calls by name, for user-defined operators."""
        user = self.parent.user
        return {} if user is None else {user.name: user.frozen}

    @property
    def orig_func(self) -> Callable[..., Any] | None:
        """The Python function a user-defined operator was made of."""
        return self.parent.orig_func

    @property
    def commutes_to(self) -> TypedOp | None:
        """The operator with swapped operands in this dtype, if there is one."""
        return self._commuted()  # type: ignore[no-any-return]

    @property
    def monoid(self) -> TypedMonoid | None:
        """The monoid of the same name in this dtype, if there is one."""
        found: TypedMonoid | None = _same_dtype(getattr(self.parent, "monoid", None), self.type)
        return found

    @property
    def type2(self) -> DataType:
        """Dtype of the second operand."""
        return self.second_type or self.type

    def __repr__(self) -> str:
        second = "" if self.second_type is None else f", {self.second_type}"
        return f"{self.parent!r}[{self.type}{second}]"

    @cached_property
    def scalar_function(self) -> Callable[..., Any]:
        """The meaning as a Python function of NumPy scalars of `type`."""
        return without_warnings(self.meaning)

    @cached_property
    def meaning(self) -> Callable[..., Any]:
        """As `scalar_function`, for many calls inside of one ``np.errstate(all="ignore")``."""
        return compile_expression(self.python, self.opclass, self.return_type, self.functions)


class _Composed(_Typed):
    """What monoids and semirings have from their parents."""

    @property
    def name(self: Any) -> str:
        """Name of the monoid or semiring."""
        return self.parent.name  # type: ignore[no-any-return]

    @property
    def is_commutative(self: Any) -> bool:
        """Whether operands may be swapped, as they may in every monoid."""
        return bool(getattr(self.parent, "is_commutative", False))

    @property
    def is_positional(self: Any) -> bool:
        """Whether results are positions, as those of some multiplications."""
        return self.parent.is_positional  # type: ignore[no-any-return]


@dataclass(frozen=True, eq=False, repr=False)
class TypedMonoid(_Composed):
    """An associative, commutative operator at one dtype, with identity and terminal value."""

    parent: Operator
    op: TypedOp
    #: A NumPy scalar.
    identity: Any
    #: A NumPy scalar that no further operand changes: reductions may stop there. None: there is
    #: none.
    terminal: Any
    #: Any operand will do: reductions may stop at the first.
    is_any: bool
    is_idempotent: bool

    @property
    def type(self) -> DataType:
        """Dtype of operands and result."""
        return self.op.type

    @property
    def return_type(self) -> DataType:
        """Dtype of the result (that of the operands)."""
        return self.op.type

    @property
    def type2(self) -> DataType:
        """Dtype of the second operand."""
        return self.op.type

    @property
    def binaryop(self) -> TypedOp:
        """The operator."""
        return self.op

    @property
    def commutes_to(self) -> TypedMonoid:
        """The monoid itself."""
        return self

    @property
    def exits_early(self) -> bool:
        """Whether a reduction may stop before its last operand."""
        return self.is_any or self.terminal is not None


@dataclass(frozen=True, eq=False, repr=False)
class TypedSemiring(_Composed):
    """A monoid and a multiplication that returns its dtype."""

    parent: Operator
    monoid: TypedMonoid
    binaryop: TypedOp

    @property
    def type(self) -> DataType:
        """Dtype the operands are cast to."""
        return self.binaryop.type

    @property
    def return_type(self) -> DataType:
        """Dtype of the result."""
        return self.monoid.type

    @property
    def type2(self) -> DataType:
        """Dtype the second operand is cast to."""
        return self.binaryop.type2

    @property
    def commutes_to(self) -> TypedSemiring | None:
        """The semiring whose multiplication takes swapped operands, in this dtype."""
        return self._commuted()  # type: ignore[no-any-return]

    @property
    def has_equal_products(self) -> bool:
        """Whether every product has one value, whatever is multiplied, as of ``pair``."""
        multiply = self.binaryop
        return not (multiply.reads_a or multiply.reads_b or multiply.is_positional)


#: Operators of the specification; all others are extensions, whose names begin with GxB.
_STANDARD = {
    "UnaryOp": "identity ainv minv abs bnot",
    "BinaryOp": (
        "first second min max plus minus times cdiv truediv eq ne gt lt ge le lor land lxor "
        "lxnor band bor bxor bxnor"
    ),
    "Monoid": "plus times min max lor land lxor lxnor",
    "Semiring": (
        "plus_times plus_min min_plus min_times min_first min_second min_max max_plus max_times "
        "max_first max_second max_min lor_land land_lor lxor_land lxnor_lor"
    ),
    "IndexUnaryOp": (
        "rowindex colindex diagindex tril triu diag offdiag colle colgt rowle rowgt valueeq "
        "valuene valuelt valuele valuegt valuege"
    ),
    "SelectOp": (
        "tril triu diag offdiag colle colgt rowle rowgt valueeq valuene valuelt valuele valuegt "
        "valuege"
    ),
}
_STANDARD_NAMES = {opclass: frozenset(names.split()) for opclass, names in _STANDARD.items()}
_WORDS = {"cdiv": "div", "truediv": "div", "rtruediv": "rdiv"}
#: Where the specification has the operator for BOOL only, under a name without a dtype.
_LOGICAL = ("lnot", "lor", "land", "lxor", "lxnor")
#: Of any operand: the name carries no dtype.
_POSITIONS = ("tril", "triu", "diag", "offdiag", "colle", "colgt", "rowle", "rowgt")
#: Where two of our names are one operator in C, and where BOOL has other names.
_SAME = {"index": "rowindex", "indexgt": "rowgt", "indexle": "rowle"}
_MONOID_OF_BOOL = {"max": "lor", "min": "land", "times": "land"}
_OF_OUR_OWN = frozenset(
    ("floordiv", "rfloordiv", "absfirst", "abssecond", "rpow", "binom", "random")
)


def c_api_name(opclass: str, name: str, dtype: DataType) -> str:
    """Return the C name of operator `name` computing in `dtype`; ``name_DTYPE`` if C has none.

    Examples
    --------
    >>> from semira.base.dtypes import FP32
    >>> c_api_name("BinaryOp", "plus", FP32), c_api_name("Semiring", "min_plus", FP32)
    ('GrB_PLUS_FP32', 'GrB_MIN_PLUS_SEMIRING_FP32')
    """
    name = _SAME.get(name, name)
    if name in ("rowindex", "colindex", "diagindex"):
        dtype = positional(dtype)[1]
    if opclass == "Monoid" and dtype is BOOL:
        name = _MONOID_OF_BOOL.get(name, name)
    words = name.split("_")
    if "." in name or ":" in name or not _OF_OUR_OWN.isdisjoint(words):
        return f"{name}_{dtype.name}"
    upper = "_".join(_WORDS.get(word, word) for word in words).upper()
    is_standard = name in _STANDARD_NAMES[opclass] and not dtype.is_complex
    if opclass in ("Monoid", "Semiring"):
        kind = opclass.upper()
        if is_standard:
            return f"GrB_{upper}_{kind}_{dtype.name}"
        return f"GxB_{upper}_{dtype.name}" + ("_MONOID" if opclass == "Monoid" else "")
    if name in _POSITIONS or (name in _LOGICAL and dtype.kind == "B"):
        return f"GrB_{upper}"
    is_standard = is_standard and name not in _LOGICAL
    return f"{'GrB' if is_standard else 'GxB'}_{upper}_{dtype.name}"
