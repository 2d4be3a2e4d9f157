"""What an operator is: a row with its meaning, spelling, type rule and algebra.

On dtypes made of records and sub-arrays few operators mean something: values can be moved, picked
and compared for equality; positions do not look at them. Everything else takes a Python function
made an operator with ``is_udt=True``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakValueDictionary

from semira.base.dtypes import BOOL, INT64, DataType
from semira.ops.operator import Operator, UserFunction
from semira.ops.record_equality import equality_texts
from semira.ops.typed import TypedMonoid, TypedOp, TypedSemiring
from semira.ops.typerules import TypeRule

#: Expression text, or one text per kind of dtype (``{"F": ..., "IU": ...}``). ``{lo}`` and
#: ``{hi}`` stand for the least and greatest value of the compute dtype, ``{bits}`` for its size.
Text = str | Mapping[str, str]


def _text_for(text: Text, dtype: DataType) -> str:
    if not isinstance(text, str):
        text = next(part for kinds, part in text.items() if dtype.kind in kinds)
    if "{" in text and dtype.kind in "IU":
        text = text.format(lo=int(dtype.smallest), hi=int(dtype.largest), bits=8 * dtype.itemsize)
    return text


#: Operators that return an operand as it is, and which one.
_PICKS = {"first": 0, "second": 1, "any": 0}


@dataclass(frozen=True, eq=False, repr=False)
class UnaryOp(Operator):
    """z = f(a)."""

    python: Text
    cuda: Text
    rule: TypeRule
    positional: bool = False
    reads_a: bool = True
    user: UserFunction | None = None

    opclass = "UnaryOp"

    @property
    def is_positional(self) -> bool:
        """Whether the result is the position of an entry."""
        return self.positional

    def _make_record(self, left: DataType, right: DataType) -> TypedOp:
        """Return a unary operator on records; KeyError if it has no meaning there."""
        del right
        if self.is_positional:
            return self.typed(INT64)  # type: ignore[no-any-return]
        if self.user is not None:
            _, result = self.rule(left)
            return TypedOp(self, self.name, left, result, str(self.python), "", reads_b=False)
        result = {"identity": left, "one": INT64}[self.name]
        return TypedOp(
            self, self.name, left, result, str(self.python), str(self.cuda),
            reads_a=self.reads_a, reads_b=False,
        )  # fmt: skip

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
    user: UserFunction | None = None

    opclass = "BinaryOp"

    def _make_record(self, left: DataType, right: DataType) -> TypedOp:
        """Return a binary operator on dtypes of which at least one is made by the user."""
        if self.is_positional or self.name == "pair":
            return self.typed(INT64)  # type: ignore[no-any-return]
        if self.user is not None:
            result = self.rule(left)[1] if left is right else self.rule.of_pair(left, right)  # type: ignore[attr-defined]
            text, cuda = str(self.python), ""
        elif self.name in _PICKS:
            result = (left, right)[_PICKS[self.name]]
            text, cuda = str(self.python), str(self.cuda)
            if self.name == "any" and left is not right:
                raise KeyError(left)
        elif self.name in ("eq", "ne") and left is right:
            text, cuda = equality_texts(left.array_dtype, "b", negated=self.name == "ne")
            result = BOOL
        else:
            raise KeyError((left, right))
        return TypedOp(
            self, self.name, left, result, text, cuda, reads_a=self.reads_a, reads_b=self.reads_b,
            is_commutative=self.is_commutative and left is right,
            second_type=None if left is right else right,
        )  # fmt: skip

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
        return self if self.is_commutative else self.__dict__.get("_swapped")

    @property
    def monoid(self) -> Monoid | None:
        """The monoid that this operator is the operation of, if there is one."""
        find = self.__dict__.get("_find_monoid")
        return None if find is None else find()

    def belongs_to(self, find: Callable[[], Monoid | None]) -> None:
        """Let `monoid` be what `find` returns, unless the operator has one already."""
        self.__dict__.setdefault("_find_monoid", find)

    def swap_with(self, other: BinaryOp | None, in_products: BinaryOp | None) -> None:
        """Note the operator with swapped operands, and the one of swapped products, if another.

        In a product the entry (i, k) meets (k, j): swapped operands also swap rows and columns.
        """
        self.__dict__["_swapped"] = other
        self.__dict__["_swapped_in_products"] = in_products or other

    @property
    def swapped_in_products(self) -> BinaryOp | None:
        """The operator with f(A @ B) = g(B.T @ A.T).T, if there is one."""
        return self if self.is_commutative else self.__dict__.get("_swapped_in_products")


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
    user: UserFunction | None = None

    opclass = "IndexUnaryOp"

    @property
    def is_positional(self) -> bool:
        """Whether the result depends on positions only."""
        return not self.reads_a

    def _make_record(self, left: DataType, right: DataType) -> TypedOp:
        del right
        text, cuda = self.python, self.cuda
        if self.user is not None:
            result = self.rule(left)[1]
        elif not self.reads_a:
            result = self.rule(INT64)[1]
        elif self.name in ("valueeq", "valuene"):
            text, cuda = equality_texts(left.array_dtype, "t", negated=self.name == "valuene")
            result = BOOL
        else:
            raise KeyError(left)
        return TypedOp(
            self, self.name, left, result, text, cuda, reads_a=self.reads_a, reads_b=False
        )

    def _make_typed(self, dtype: DataType) -> TypedOp:
        compute, result = self.rule(dtype)
        return TypedOp(
            self, self.name, compute, result, self.python, _text_for(self.cuda, compute),
            reads_a=self.reads_a, reads_b=True, is_positional=not self.reads_a,
        )  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class SelectOp(IndexUnaryOp):
    """An index-unary operator used to keep entries; its result is BOOL."""

    opclass = "SelectOp"


@dataclass(frozen=True, eq=False, repr=False)
class Monoid(Operator):
    """A commutative monoid; identity and terminal are functions of the dtype.

    `widen` names the dtype in which a semiring computes where this monoid lacks that of the
    product; `counts_pairs` says that a semiring with ``pair`` counts in INT64 for BOOL
    and for dtypes the monoid lacks.
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

    @property
    def key_name(self) -> str:
        """Name that no other monoid has, anonymous ones included."""
        own = "" if self.binaryop.user is None else f":{self.binaryop.user.name}:{id(self):x}"
        return self.name + own

    @property
    def is_commutative(self) -> bool:
        """Always true."""
        return True

    @property
    def commutes_to(self) -> Monoid:
        """The monoid itself."""
        return self

    def _make_record(self, left: DataType, right: DataType) -> TypedMonoid:
        """Return a monoid on records: ``any``, or one made of a user's function."""
        if left is not right:
            raise KeyError((left, right))
        if not self.is_any and self.binaryop.user is None:
            raise KeyError(left)
        if not self.is_any:
            self.rule(left)
        identity = left.scalar(0 if self.is_any else self.identity(left))
        return TypedMonoid(
            self, self.binaryop.typed(left), identity, None, self.is_any, self.is_idempotent
        )

    def _make_typed(self, dtype: DataType) -> TypedMonoid:
        compute, _ = self.rule(dtype)
        stop = self.terminal(compute)
        return TypedMonoid(
            self,
            self.binaryop.typed(compute),
            compute.scalar(self.identity(compute)),
            None if stop is None else compute.scalar(stop),
            self.is_any,
            self.is_idempotent,
        )

    def claim(self) -> None:
        """Be the monoid of the binary operator, unless that has one already."""
        self.binaryop.belongs_to(lambda: self)

    @property
    def identities(self) -> dict[DataType, Any]:
        """Identity for each dtype."""
        return {dtype: self.typed(dtype).identity for dtype in self.types}


@dataclass(frozen=True, eq=False, repr=False)
class Semiring(Operator):
    """A monoid (addition) over a binary operator (multiplication)."""

    monoid: Monoid
    binaryop: BinaryOp

    opclass = "Semiring"

    @property
    def key_name(self) -> str:
        """Name that no other semiring has, anonymous ones included."""
        parts = f"{self.monoid.key_name}_{self.binaryop.key_name}"
        return self.name if self.name == parts else f"{self.name}:{parts}"

    @property
    def is_positional(self) -> bool:
        """Whether the multiplication returns positions."""
        return self.binaryop.is_positional

    @property
    def is_commutative(self) -> bool:
        """Whether the multiplication commutes."""
        return self.binaryop.is_commutative

    @property
    def commutes_to(self) -> Semiring | None:
        """The semiring whose multiplication takes swapped operands, if there is one."""
        swapped = self.binaryop.swapped_in_products
        if swapped is self.binaryop:
            return self
        found = None if swapped is None else Semiring.of(self.monoid, swapped)
        return found if found is not None and found.works() else None

    @classmethod
    def of(cls, add: Monoid, multiply: BinaryOp, name: str | None = None) -> Semiring:
        """Return the semiring of a monoid and a multiplication; the same one every time."""
        found = _semirings.get((add, multiply))
        if found is None:
            made = cls(name or f"{add.name}_{multiply.name}", add, multiply)
            # setdefault: threads that ask at once must get the same object.
            found = _semirings.setdefault((add, multiply), made)
        return found

    def _make_record(self, left: DataType, right: DataType) -> TypedSemiring:
        multiply = self.binaryop.typed_pair(left, right)
        if self.binaryop.name == "pair" and self.monoid.counts_pairs:
            return self.typed(INT64)  # type: ignore[no-any-return]
        if multiply.return_type.kind != "V" and multiply.return_type not in self.monoid:
            raise KeyError((left, right))
        add = self.monoid.typed(multiply.return_type)
        if add.type is not multiply.return_type:
            raise KeyError((left, right))
        return TypedSemiring(self, add, multiply)

    def _make_typed(self, dtype: DataType) -> TypedSemiring:
        if self.binaryop.name == "pair" and self.monoid.counts_pairs:
            dtype = INT64 if dtype is BOOL or dtype not in self.monoid else dtype
        multiply = self.binaryop.typed(dtype)
        if multiply.return_type not in self.monoid:
            multiply = self.binaryop.typed(self.monoid.widen[multiply.return_type])
        add = self.monoid.typed(multiply.return_type)
        if add.type is not multiply.return_type:
            multiply = self.binaryop.typed(add.type)
        return TypedSemiring(self, add, multiply)


_semirings: WeakValueDictionary[tuple[Monoid, BinaryOp], Semiring] = WeakValueDictionary()
