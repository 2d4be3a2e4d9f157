"""What an operator is: a row with its meaning, spelling, type rule and algebra."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, overload

import numpy as np

from semira.base.dtypes import ALL_DTYPES, BOOL, INT64, DataType, lookup_dtype, unify
from semira.base.locks import cached_property
from semira.ops.calling import Made, Operand, call
from semira.ops.record_rows import (
    binary_instance,
    indexunary_instance,
    monoid_instance,
    semiring_instance,
    unary_instance,
)
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


@dataclass(frozen=True, eq=False, repr=False)
class Operator:
    """Common part of every operator: a name, typed instances by dtype, and being called."""

    name: str

    opclass = "Operator"

    @property
    def is_positional(self) -> bool:
        """Whether results depend on the positions of entries rather than on their values."""
        return False

    @property
    def user(self) -> UserFunction | None:
        """The Python function behind a user-defined operator."""
        return None

    @property
    def orig_func(self) -> Callable[..., Any] | None:
        """The Python function a user-defined operator was made of, None for built-in ones."""
        return None if self.user is None else self.user.function

    @property
    def key_name(self) -> str:
        """Name that no other operator of the class has, anonymous ones included."""
        return self.name if self.user is None else f"{self.name}:{self.user.name}"

    def __repr__(self) -> str:
        return f"{self.opclass.lower().removesuffix('op')}.{self.name}"

    def __reduce__(self) -> tuple[Any, ...]:
        from semira.ops.registry import pickled

        return pickled(self)

    @overload
    def __call__(self, x: Operand[Made], /, *args: Any, **kwargs: Any) -> Made: ...
    @overload
    def __call__(self, x: complex | np.generic, y: Operand[Made], /) -> Made: ...
    @overload
    def __call__(self, x: complex | np.generic, /, *args: Any) -> Any: ...

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Apply to an expression: ``min_plus(A @ B)``, ``plus(v | w)``, ``sqrt(v)``."""
        return call(self, *args, **kwargs)

    def typed(self, dtype: DataType) -> Any:
        """Return the instance for `dtype`; KeyError if there is none."""
        cache: dict[DataType, Any] = self.__dict__.setdefault("_by_dtype", {})
        if dtype not in cache:
            # setdefault: threads that ask at once must get the same object.
            is_record = dtype.kind == "V"
            made = self._make_record(dtype, dtype) if is_record else self._make_typed(dtype)
            cache.setdefault(dtype, self._shared(made))
        if cache[dtype] is None:
            raise KeyError(dtype)
        return cache[dtype]

    def typed_pair(self, left: DataType, right: DataType) -> Any:
        """Return the instance for operands of two dtypes, at least one of them user-defined.

        Raises
        ------
        KeyError
            There is none.
        """
        if left is right:
            return self.typed(left)
        if "V" not in (left.kind, right.kind):
            return self.typed(unify(left, right))
        cache: dict[Any, Any] = self.__dict__.setdefault("_by_dtype", {})
        if (left, right) not in cache:
            cache.setdefault((left, right), self._make_record(left, right))
        return cache[left, right]

    def _make_record(self, left: DataType, right: DataType) -> Any:
        """Return the instance for user-defined dtypes (see `ops.record_rows`)."""
        raise KeyError((left, right))

    def _shared(self, made: Any) -> Any:
        """Return the instance made for another dtype whose values are cast to the same one."""
        wanted = (made.type, made.type2, made.return_type)
        others = [other for other in self.__dict__["_by_dtype"].values() if other is not None]
        same = (other for other in others if (other.type, other.type2, other.return_type) == wanted)
        return next(same, made)

    def computing_in(self, dtype: DataType) -> Any:
        """Return the instance that casts its operands to `dtype`: how typed ones are unpickled."""
        if dtype not in self:
            # Only casts lead there: `ldexp` takes integers and computes in FP64.
            dtype = next(given for given, used in self.coercions.items() if used is dtype)
        return self.typed(dtype)

    def _make_typed(self, dtype: DataType) -> Any:
        raise NotImplementedError

    def __getitem__(self, key: Any) -> Any:
        """Return the instance for a dtype, or for the unification of two."""
        dtypes = [lookup_dtype(one) for one in (key if isinstance(key, tuple) else (key, key))]
        try:
            return self.typed_pair(*dtypes)
        except KeyError:
            named = " and ".join(dict.fromkeys(map(str, dtypes)))
            raise KeyError(f"{self.name} does not work with {named}") from None

    def __delitem__(self, key: Any) -> None:
        """Remove a dtype from a user-defined operator, for good.

        Raises
        ------
        KeyError
            The operator does not work with the dtype.
        TypeError
            The operator is built in.
        """
        if self.user is None:
            raise TypeError(f"{self!r} is built in; only user-defined operators lose dtypes")
        self.__dict__["_by_dtype"][self[key].type] = None
        for cached in ("types", "coercions"):
            self.__dict__.pop(cached, None)

    def __contains__(self, key: Any) -> bool:
        try:
            self[key]
        except KeyError:
            return False
        return True

    @cached_property
    def types(self) -> dict[DataType, DataType]:
        """Result dtype for each dtype of operands, those that are cast first included."""
        return {dtype: self.typed(dtype).return_type for dtype in ALL_DTYPES if dtype in self}

    @cached_property
    def coercions(self) -> dict[DataType, DataType]:
        """Compute dtype for each dtype whose values are cast first."""
        pairs = ((dtype, self.typed(dtype)) for dtype in ALL_DTYPES if dtype in self)
        return {dtype: typed.type for dtype, typed in pairs if typed.type is not dtype}


@dataclass(frozen=True, eq=False)
class UserFunction:
    """A Python function that gives an operator its meaning.

    Attributes
    ----------
    name : str
        Identifier made of what the function does and captures (see `ops.user`).
    function : callable
        As the user wrote it.
    frozen : callable
        The same with what it captured when the operator was made.
    """

    name: str
    function: Callable[..., Any]
    frozen: Callable[..., Any]


@dataclass(frozen=True, eq=False, repr=False)
class UnaryOp(Operator):
    """z = f(a)."""

    python: Text
    cuda: Text
    rule: TypeRule
    positional: bool = False
    bool_name: str | None = None
    reads_a: bool = True
    user: UserFunction | None = None

    opclass = "UnaryOp"

    @property
    def is_positional(self) -> bool:
        """Whether the result is the position of an entry."""
        return self.positional

    def _make_record(self, left: DataType, right: DataType) -> TypedOp:
        del right
        return unary_instance(self, left)

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
        return binary_instance(self, left, right)

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

        if self.is_commutative:
            return self
        return None if self.commutes_to_name is None else binary[self.commutes_to_name]

    @property
    def monoid(self) -> Monoid | None:
        """The monoid that this operator is the operation of, if there is one."""
        from semira.ops.registry import monoid_of

        return monoid_of(self)


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
        return indexunary_instance(self, left)

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
        return monoid_instance(self, left, right)

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
        from semira.ops.registry import commuted_semiring

        return commuted_semiring(self)

    def _make_record(self, left: DataType, right: DataType) -> TypedSemiring:
        return semiring_instance(self, left, right)

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
