"""What an operator is: a row with its meaning, spelling, type rule and algebra."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from semira.base.dtypes import ALL_DTYPES, BOOL, INT64, DataType, lookup_dtype, unify
from semira.ops.typerules import TypeRule

#: Expression text, or one text per kind of dtype (``{"F": ..., "IU": ...}``). ``{lo}`` and
#: ``{hi}`` stand for the least and greatest value of the compute dtype.
Text = str | Mapping[str, str]


def _text_for(text: Text, dtype: DataType) -> str:
    if not isinstance(text, str):
        text = next(part for kinds, part in text.items() if dtype.kind in kinds)
    if "{" in text and dtype.kind in "IU":
        text = text.format(lo=int(dtype.smallest), hi=int(dtype.largest))
    return text


@dataclass(frozen=True, eq=False, repr=False)
class Operator:
    """Common part of every operator: a name, typed instances by dtype, and being called."""

    name: str

    opclass = "Operator"

    def __repr__(self) -> str:
        return f"{self.opclass.lower().removesuffix('op')}.{self.name}"

    def __reduce__(self) -> tuple[Any, ...]:
        from semira.ops.registry import find_operator

        return find_operator, (self.opclass, self.name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Apply to an expression: ``min_plus(A @ B)``, ``plus(v | w)``, ``sqrt(v)``."""
        if not args or not hasattr(args[0], "_apply_operator"):
            raise TypeError(
                f"{self!r} is called with an expression or object, such as "
                f"{self!r}(x); got {args[0] if args else 'nothing'!r}"
            )
        return args[0]._apply_operator(self, *args[1:], **kwargs)

    def typed(self, dtype: DataType) -> Any:
        """Return the instance for `dtype`; KeyError if there is none."""
        cache: dict[DataType, Any] = self.__dict__.setdefault("_by_dtype", {})
        if dtype not in cache:
            # setdefault: threads that ask at once must get the same object.
            cache.setdefault(dtype, self._make_typed(dtype))
        return cache[dtype]

    def _make_typed(self, dtype: DataType) -> Any:
        raise NotImplementedError

    def __getitem__(self, key: Any) -> Any:
        """Return the instance for a dtype, or for the unification of two."""
        dtype = unify(*key) if isinstance(key, tuple) else lookup_dtype(key)
        try:
            return self.typed(dtype)
        except KeyError:
            raise KeyError(f"{self.name} does not work with {dtype}") from None

    def __contains__(self, key: Any) -> bool:
        try:
            self[key]
        except KeyError:
            return False
        return True

    @cached_property
    def types(self) -> dict[DataType, DataType]:
        """Result dtype for each dtype that needs no coercion of its operands."""
        pairs = ((dtype, self.typed(dtype)) for dtype in ALL_DTYPES if dtype in self)
        return {dtype: typed.return_type for dtype, typed in pairs if typed.type is dtype}

    @cached_property
    def coercions(self) -> dict[DataType, DataType]:
        """Compute dtype for each dtype whose values are cast first."""
        pairs = ((dtype, self.typed(dtype)) for dtype in ALL_DTYPES if dtype in self)
        return {dtype: typed.type for dtype, typed in pairs if typed.type is not dtype}


@dataclass(frozen=True, eq=False, repr=False)
class TypedOp:
    """An operator at one dtype: operands are cast to `type`, the result is a `return_type`.

    Attributes
    ----------
    parent : Operator
    name : str
        Name of the meaning in force (``plus`` on BOOL is ``lor``).
    type, return_type : DataType
    python, cuda : str
        Expressions in ``a``, ``b``; index-unary ones in ``a``, ``i``, ``j``, ``t``;
        positional binary ones in ``i``, ``k``, ``j`` (entry (i, k) meets entry (k, j)).
    reads_a, reads_b : bool
        Whether the result depends on the value of each operand (structure-only if neither).
    """

    parent: Operator
    name: str
    type: DataType
    return_type: DataType
    python: str
    cuda: str
    reads_a: bool = True
    reads_b: bool = True
    is_commutative: bool = False
    is_positional: bool = False

    @property
    def key(self) -> str:
        """Text that identifies the typed operator."""
        return f"{self.parent.opclass}.{self.parent.name}[{self.type.name}]"

    @property
    def type2(self) -> DataType:
        """Dtype of the second operand."""
        return self.type

    def __repr__(self) -> str:
        return f"{self.parent!r}[{self.type}]"

    def __reduce__(self) -> tuple[Any, ...]:
        return self.parent.typed, (self.type,)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Apply to an expression, in this dtype."""
        return args[0]._apply_operator(self, *args[1:], **kwargs)

    @cached_property
    def scalar_function(self) -> Callable[..., Any]:
        """The meaning as a Python function of NumPy scalars of `type`."""
        from semira.ops.meaning import compile_expression

        return compile_expression(self)


@dataclass(frozen=True, eq=False, repr=False)
class UnaryOp(Operator):
    """z = f(a)."""

    python: Text
    cuda: Text
    rule: TypeRule
    positional: bool = False
    bool_name: str | None = None
    reads_a: bool = True

    opclass = "UnaryOp"

    def _make_typed(self, dtype: DataType) -> TypedOp:
        compute, result = self.rule(dtype)
        return TypedOp(
            self, self.name, compute, result,
            _text_for(self.python, compute), _text_for(self.cuda, compute),
            reads_a=self.reads_a and not self.positional, reads_b=False,
            is_positional=self.positional,
        )  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class BinaryOp(Operator):
    """z = f(a, b), with the algebra that planning relies on.

    Attributes
    ----------
    on_bool : str or None
        Python and CUDA text used for BOOL instead (``plus`` is a logical or).
    reads_a, reads_b : bool
        Whether the value of an operand matters.
    commutes_to : str or None
        Name of the operator g with f(a, b) = g(b, a).
    """

    python: Text
    cuda: Text
    rule: TypeRule
    is_commutative: bool = False
    commutes_to_name: str | None = None
    reads_a: bool = True
    reads_b: bool = True
    is_positional: bool = False
    on_bool: tuple[str, str] | None = None

    opclass = "BinaryOp"

    def _make_typed(self, dtype: DataType) -> TypedOp:
        compute, result = self.rule(dtype)
        if self.on_bool and compute is BOOL:
            python, cuda = self.on_bool
        else:
            python, cuda = _text_for(self.python, compute), _text_for(self.cuda, compute)
        return TypedOp(
            self, self.name, compute, result, python, cuda,
            reads_a=self.reads_a and not self.is_positional,
            reads_b=self.reads_b and not self.is_positional,
            is_commutative=self.is_commutative, is_positional=self.is_positional,
        )  # fmt: skip

    @property
    def commutes_to(self) -> BinaryOp | None:
        """The operator with swapped operands, if there is one."""
        from semira.ops.registry import binary

        name = self.name if self.is_commutative else self.commutes_to_name
        return None if name is None else binary[name]

    @property
    def monoid(self) -> Monoid | None:
        """The monoid of the same name, if there is one."""
        from semira.ops.registry import monoid

        return monoid.get(self.name)


@dataclass(frozen=True, eq=False, repr=False)
class IndexUnaryOp(Operator):
    """z = f(a, i, j, t): of a value, its position and a thunk.

    ``reads_a`` says whether the value matters; `thunk_is_value` whether the thunk has the
    dtype of the values (else INT64).
    """

    python: str
    cuda: str
    rule: TypeRule
    reads_a: bool = False
    thunk_is_value: bool = False

    opclass = "IndexUnaryOp"

    def _make_typed(self, dtype: DataType) -> TypedOp:
        compute, result = self.rule(dtype)
        return TypedOp(
            self, self.name, compute, result, self.python, self.cuda,
            reads_a=self.reads_a, reads_b=True, is_positional=not self.reads_a,
        )  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class SelectOp(IndexUnaryOp):
    """An index-unary operator used to keep entries; its result is BOOL."""

    opclass = "SelectOp"


@dataclass(frozen=True, eq=False, repr=False)
class TypedMonoid:
    """An associative, commutative operator at one dtype, with identity and terminal value.

    Attributes
    ----------
    parent : Monoid
    op : TypedOp
    identity : numpy scalar
    terminal : numpy scalar or None
        A value that no further operand changes: reductions may stop there.
    is_any : bool
        Any operand will do: reductions may stop at the first.
    is_idempotent : bool
    """

    parent: Monoid
    op: TypedOp
    identity: Any
    terminal: Any
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
    def name(self) -> str:
        """Name of the monoid."""
        return self.parent.name

    @property
    def key(self) -> str:
        """Text that identifies the typed monoid."""
        return f"Monoid.{self.parent.name}[{self.type.name}]"

    @property
    def exits_early(self) -> bool:
        """Whether a reduction may stop before its last operand."""
        return self.is_any or self.terminal is not None

    def __repr__(self) -> str:
        return f"monoid.{self.parent.name}[{self.type}]"

    def __reduce__(self) -> tuple[Any, ...]:
        return self.parent.typed, (self.type,)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Apply to an expression, in this dtype."""
        return args[0]._apply_operator(self, *args[1:], **kwargs)


@dataclass(frozen=True, eq=False, repr=False)
class Monoid(Operator):
    """A commutative monoid; identity and terminal are functions of the dtype.

    `widen` names the dtype in which a semiring computes where this monoid lacks that of the
    product; `counts_pairs` says that a semiring with ``pair`` counts BOOL operands in INT64.
    """

    binaryop: BinaryOp
    identity: Callable[[DataType], Any]
    rule: TypeRule
    terminal: Callable[[DataType], Any] = field(default=lambda dtype: None)
    is_idempotent: bool = False
    is_any: bool = False
    widen: Mapping[DataType, DataType] = field(default_factory=dict)
    counts_pairs: bool = False

    opclass = "Monoid"

    def _make_typed(self, dtype: DataType) -> TypedMonoid:
        compute, _ = self.rule(dtype)
        stop = self.terminal(compute)
        return TypedMonoid(
            self,
            self.binaryop.typed(compute),
            compute.np_type.type(self.identity(compute)),
            None if stop is None else compute.np_type.type(stop),
            self.is_any,
            self.is_idempotent,
        )

    @property
    def identities(self) -> dict[DataType, Any]:
        """Identity for each dtype."""
        return {dtype: self.typed(dtype).identity for dtype in self.types}


@dataclass(frozen=True, eq=False, repr=False)
class TypedSemiring:
    """A monoid and a multiplication that returns its dtype."""

    parent: Semiring
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
    def name(self) -> str:
        """Name of the semiring."""
        return self.parent.name

    @property
    def key(self) -> str:
        """Text that identifies the typed semiring."""
        return f"Semiring.{self.parent.name}[{self.type.name}]"

    def __repr__(self) -> str:
        return f"semiring.{self.parent.name}[{self.type}]"

    def __reduce__(self) -> tuple[Any, ...]:
        return self.parent.typed, (self.type,)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Apply to an expression, in this dtype."""
        return args[0]._apply_operator(self, *args[1:], **kwargs)


@dataclass(frozen=True, eq=False, repr=False)
class Semiring(Operator):
    """A monoid (addition) over a binary operator (multiplication)."""

    monoid: Monoid
    binaryop: BinaryOp

    opclass = "Semiring"

    def _make_typed(self, dtype: DataType) -> TypedSemiring:
        if self.binaryop.name == "pair" and dtype is BOOL and self.monoid.counts_pairs:
            dtype = INT64
        multiply = self.binaryop.typed(dtype)
        if multiply.return_type not in self.monoid:
            multiply = self.binaryop.typed(self.monoid.widen[multiply.return_type])
        add = self.monoid.typed(multiply.return_type)
        if add.type is not multiply.return_type:
            multiply = self.binaryop.typed(add.type)
        return TypedSemiring(self, add, multiply)
