"""Monoids and semirings made of operators, with and without parameters."""

from __future__ import annotations

import copyreg
import inspect
from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any

import numpy as np

from semira.base.dtypes import DataType
from semira.base.errors import DimensionMismatch, DomainMismatch, InvalidValue
from semira.frontend.user_operators import keep
from semira.ops.core import BinaryOp, Monoid, Semiring
from semira.ops.operator import Operator
from semira.ops.registry import compose, find_operator, pickled_parameterized
from semira.ops.user import Parameterized

_CLASSES: dict[str, type[Operator]] = {"BinaryOp": BinaryOp, "Monoid": Monoid}


def _is(opclass: str, given: Any) -> bool:
    return isinstance(given, _CLASSES[opclass]) or _is_parameterized(given, opclass)


def _is_parameterized(given: Any, opclass: str) -> bool:
    return isinstance(given, Parameterized) and given.opclass == opclass


def _part(opclass: str, given: Any, what: str) -> Any:
    """Return an operator given by itself or by name; TypeError for one of another class."""
    found = find_operator(opclass, given) if isinstance(given, str) else given
    if not _is(opclass, found):
        raise TypeError(f"{what} must be a {opclass}, not {found!r}")
    return found


def _check_signatures(first: Any, second: Any, what: str) -> None:
    def shape(given: Any) -> list[tuple[str, Any, Any]]:
        return [(p.name, p.kind, p.default) for p in inspect.signature(given).parameters.values()]

    if shape(first) != shape(second):
        raise ValueError(
            f"Signatures of {what} must be the same, got {inspect.signature(first)} and "
            f"{inspect.signature(second)}"
        )


# --- monoids ----------------------------------------------------------------------------------


def _fits(operator: BinaryOp, dtype: DataType, identity: Any) -> bool:
    """Return whether an identity keeps its meaning in a dtype.

    Integers may wrap (-1 of ``x + y + 1`` is 255 in UINT8): then the function decides, on samples.
    """
    if dtype.kind == "V":
        try:
            dtype.scalar(identity)
        except (DomainMismatch, InvalidValue, DimensionMismatch):
            return False
        return True
    if isinstance(identity, int) and dtype.is_integer:
        least, largest = int(dtype.smallest), int(dtype.largest)
        if least <= identity <= largest:
            return True
        size = dtype.scalar
        wrapped = size((identity - least) % (largest - least + 1) + least)
        function = operator.orig_func
        if function is None:
            return False
        with np.errstate(all="ignore"):
            samples = [size(value) for value in (0, 1, 2, 7, largest // 3, largest)]
            return all(size(function(wrapped, value)) == value for value in samples)
    if np.ndim(identity):
        return False
    with np.errstate(all="ignore"):
        try:
            cast = dtype.scalar(identity)
        except (TypeError, ValueError, OverflowError):
            return False
    return bool(cast == identity)


def _make_monoid(
    operator: BinaryOp, identity: Any, name: str | None, is_idempotent: bool
) -> Monoid:
    by_dtype = (
        {str(dtype): value for dtype, value in identity.items()}
        if isinstance(identity, Mapping)
        else None
    )

    def identity_of(dtype: DataType) -> Any:
        value = identity if by_dtype is None else by_dtype[dtype.name]
        return np.asarray(value).astype(dtype.array_dtype)[()] if dtype.is_integer else value

    def rule(dtype: DataType) -> tuple[DataType, DataType]:
        value = identity if by_dtype is None else by_dtype[dtype.name]
        typed = operator.typed(dtype)
        is_closed = typed.type is dtype and typed.return_type is dtype
        if not is_closed or not _fits(operator, dtype, value):
            raise KeyError(dtype)
        return dtype, dtype

    made = Monoid(name or operator.name, operator, identity_of, rule, is_idempotent=is_idempotent)
    if not getattr(operator.rule, "takes_records", False) and not made.works():
        raise DomainMismatch(
            f"{operator!r} gives no monoid: for no dtype does it return the dtype it takes and "
            f"hold the identity {identity!r}"
        )
    made.claim()
    made.__dict__["recipe"] = (_make_monoid, (operator, identity, name, is_idempotent))
    return made


class ParameterizedMonoid(Parameterized):
    """A monoid chosen by the parameters of its binary operator.

    Parameters
    ----------
    name : str
    binaryop : Parameterized
        A parameterised BinaryOp.
    identity : scalar, dict of dtype to scalar, or function
        A function takes the parameters of `binaryop` and returns the identity.
    is_idempotent : bool

    Raises
    ------
    TypeError
        `binaryop` takes no parameters.
    ValueError
        The function `identity` takes other parameters than `binaryop`.
    """

    def __init__(
        self, name: str, binaryop: Any, identity: Any, *, is_idempotent: bool = False
    ) -> None:
        if not _is_parameterized(binaryop, "BinaryOp"):
            raise TypeError("binaryop must be parameterized")
        computed = isinstance(identity, FunctionType)
        if computed:
            _check_signatures(binaryop, identity, "binaryop and identity")

        def make(*args: Any, **kwargs: Any) -> Monoid:
            value = identity(*args, **kwargs) if computed else identity
            return _make_monoid(binaryop(*args, **kwargs), value, name, is_idempotent)

        super().__init__("Monoid", name, make, signature=inspect.signature(binaryop))
        self.binaryop, self.is_idempotent = binaryop, is_idempotent
        self.recipe = (_monoid, (binaryop, identity, name, is_idempotent))
        if binaryop.monoid is None:
            binaryop.belongs_to(self, self._or_none)

    def _or_none(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return self(*args, **kwargs)
        except Exception:  # noqa: BLE001 - the user's function may raise anything
            return None


def _monoid(binaryop: Any, identity: Any, name: str | None, is_idempotent: bool) -> Any:
    operator = _part("BinaryOp", binaryop, "binaryop")
    if isinstance(operator, Parameterized):
        return ParameterizedMonoid(
            name or operator.name, operator, identity, is_idempotent=is_idempotent
        )
    return _make_monoid(operator, identity, name, is_idempotent)


def register_monoid(
    name: str, binaryop: Any, identity: Any, *, is_idempotent: bool = False, lazy: bool = False
) -> Any:
    """Make a monoid of an associative, commutative binary operator and keep it under `name`.

    Parameters
    ----------
    name : str
    binaryop : BinaryOp, parameterised BinaryOp or str
    identity : scalar, dict of dtype to scalar, or function
        A function only for a parameterised `binaryop`, whose parameters it takes.
    is_idempotent : bool
    lazy : bool

    Raises
    ------
    AttributeError
        The name is taken.
    DomainMismatch
        No dtype fits.
    TypeError
        `binaryop` is no binary operator.
    """
    return keep("Monoid", name, lambda: _monoid(binaryop, identity, name, is_idempotent), lazy=lazy)


def anonymous_monoid(
    binaryop: Any, identity: Any, name: str | None = None, *, is_idempotent: bool = False
) -> Any:
    """Make a monoid without keeping it under a name."""
    return _monoid(binaryop, identity, name, is_idempotent)


# --- semirings --------------------------------------------------------------------------------


class ParameterizedSemiring(Parameterized):
    """A semiring chosen by the parameters of its monoid, its binary operator, or both.

    Parameters
    ----------
    name : str
    monoid : Monoid or ParameterizedMonoid
    binaryop : BinaryOp or parameterised BinaryOp

    Raises
    ------
    TypeError
        One of them is of another class, or neither takes parameters.
    ValueError
        Both take parameters, and not the same.
    """

    def __init__(self, name: str, monoid: Any, binaryop: Any) -> None:
        if not _is("Monoid", monoid):
            raise TypeError(f"monoid must be of type Monoid, not {monoid!r}")
        if not _is("BinaryOp", binaryop):
            raise TypeError(f"binaryop must be of type BinaryOp, not {binaryop!r}")
        chosen = [part for part in (monoid, binaryop) if isinstance(part, Parameterized)]
        if not chosen:
            raise TypeError("At least one of monoid and binaryop must be parameterized")
        if len(chosen) == 2:
            _check_signatures(monoid, binaryop, "monoid and binaryop")

        def make(*args: Any, **kwargs: Any) -> Semiring:
            parts: list[Any] = [
                part(*args, **kwargs) if isinstance(part, Parameterized) else part
                for part in (monoid, binaryop)
            ]
            return Semiring(name, *parts)

        super().__init__("Semiring", name, make, signature=inspect.signature(chosen[0]))
        self.monoid, self.binaryop = monoid, binaryop
        self.recipe = (ParameterizedSemiring, (name, monoid, binaryop))


for _cls in (ParameterizedMonoid, ParameterizedSemiring):
    copyreg.pickle(_cls, pickled_parameterized)


def _semiring(monoid: Any, binaryop: Any, name: str | None, make: Callable[..., Any]) -> Any:
    add = _part("Monoid", monoid, "monoid")
    multiply = _part("BinaryOp", binaryop, "binaryop")
    if isinstance(add, Parameterized) or isinstance(multiply, Parameterized):
        return ParameterizedSemiring(name or f"{add.name}_{multiply.name}", add, multiply)
    return make(add, multiply, name)


def get_semiring(monoid: Any, binaryop: Any, name: str | None = None) -> Any:
    """Return the semiring of a monoid and a binary operator (or their names).

    The binary operator of a monoid may stand for it, and a monoid for its binary operator, but
    not both at once.
    """
    add: Any = find_operator("Monoid", monoid) if isinstance(monoid, str) else monoid
    multiply: Any = find_operator("BinaryOp", binaryop) if isinstance(binaryop, str) else binaryop
    if _is("BinaryOp", add) and _is("Monoid", multiply):
        raise TypeError(
            f"expected a Monoid and a BinaryOp, got {add!r} and {multiply!r}; switch them"
        )
    if _is("Monoid", multiply):
        multiply = multiply.binaryop
    if _is("BinaryOp", add) and add.monoid is not None:
        add = add.monoid
    return _semiring(add, multiply, name, compose)


def register_semiring(name: str, monoid: Any, binaryop: Any, *, lazy: bool = False) -> Any:
    """Make a semiring of a monoid and a multiplication and keep it under `name`.

    Raises
    ------
    AttributeError
        The name is taken.
    TypeError
        One of them is of another class.
    """

    def make() -> Any:
        return _semiring(
            monoid, binaryop, name, lambda add, multiply, _: Semiring(name, add, multiply)
        )

    return keep("Semiring", name, make, lazy=lazy)


def anonymous_semiring(monoid: Any, binaryop: Any, name: str | None = None) -> Any:
    """Make a semiring without keeping it under a name."""
    return _semiring(monoid, binaryop, name, compose)
