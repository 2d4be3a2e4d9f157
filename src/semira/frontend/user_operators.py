"""register_new and register_anonymous of every namespace, and functions used as operators."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any

from semira.base.dtypes import BOOL, FP64, INT64, DataType
from semira.base.errors import NotImplementedException, UdfParseError
from semira.ops.core import BinaryOp, Monoid, Operator, Semiring
from semira.ops.registry import MODULE_CLASSES, REGISTERED, compose, find_operator, look_up
from semira.ops.user import Parameterized, make_operator

_SPACES = {opclass: space for space, opclass in MODULE_CLASSES.items()}
_CLASS_OF_ARITY = {1: "UnaryOp", 2: "BinaryOp", 4: "IndexUnaryOp"}


def _infer(function: Callable[..., Any], operands: tuple[DataType, ...]) -> DataType | None:
    from semira.backends.cpu.inference import return_dtype

    return return_dtype(function, operands)


def _checked(operator: Operator) -> Operator:
    """Return an operator that compiles for at least one dtype.

    Raises
    ------
    UdfParseError
        It does not; one line says why.
    """
    if any(dtype in operator for dtype in (INT64, FP64, BOOL)) or operator.types:
        return operator
    from semira.backends.cpu.inference import explain_failure

    assert operator.orig_func is not None
    wanted = (FP64,) * len(inspect.signature(operator.orig_func).parameters)
    reason = explain_failure(operator.orig_func, wanted)
    if operator.opclass == "SelectOp" and reason == "it compiles":
        reason = "a select operator must return a bool"
    raise UdfParseError(f"{operator.name} cannot be an operator: {reason}")


class _Lazy:
    """An operator that is made when it is first looked up."""

    is_lazy = True

    def __init__(self, make: Callable[[], Any]) -> None:
        self.make = make


def _check_free(opclass: str, name: str) -> None:
    """Check that a name can be registered.

    Raises
    ------
    AttributeError
        It is taken, or part of its path is an operator.
    """
    space = _SPACES[opclass]
    if not all(part.isidentifier() for part in name.split(".")):
        raise ValueError(f"{name!r} is not a name; use identifiers joined by dots")
    try:
        look_up(opclass, name)
    except KeyError:
        pass
    else:
        raise AttributeError(f"{space}.{name} is already defined")
    inside = f"{name}."
    if name in _RESERVED or any(known.startswith(inside) for known in REGISTERED[opclass]):
        raise AttributeError(f"{space}.{name} is already defined")
    path = name.rpartition(".")[0]
    while path:
        if path in REGISTERED[opclass] or _is_operator(opclass, path):
            raise AttributeError(f"{space}.{path} is already defined. Cannot use as a nested path.")
        path = path.rpartition(".")[0]


_RESERVED = ("numpy", "ss", "from_string", "register_new", "register_anonymous", "get_semiring")


def _is_operator(opclass: str, name: str) -> bool:
    try:
        look_up(opclass, name)
    except KeyError:
        return False
    return True


def _register(opclass: str, name: str, make: Callable[[], Any], *, lazy: bool) -> Any:
    _check_free(opclass, name)
    if lazy:
        REGISTERED[opclass][name] = _Lazy(make)
        return None
    made = REGISTERED[opclass][name] = make()
    return made


def _no_udt(is_udt: bool) -> None:
    if is_udt:
        raise NotImplementedException(
            "is_udt=True: operators on user-defined types are not supported; built-in dtypes are"
        )


def _parameterized(opclass: str, name: str, factory: Any) -> Parameterized:
    if not isinstance(factory, FunctionType):
        raise TypeError(f"UDF argument must be a function, not {type(factory)}")

    def make(*args: Any, **kwargs: Any) -> Operator:
        return _checked(
            make_operator(opclass, factory(*args, **kwargs), name, _infer, anonymous=True)
        )

    made = Parameterized(opclass, name, make)
    made.__signature__ = inspect.signature(factory)
    return made


def function_registrars(opclass: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return ``register_new`` and ``register_anonymous`` for operators made of functions."""

    def register_new(
        name: str, func: Any, *, parameterized: bool = False, is_udt: bool = False,
        lazy: bool = False,
    ) -> Any:  # fmt: skip
        """Make an operator of a Python function and keep it under `name`.

        Parameters
        ----------
        name : str
            May contain dots: ``"my.op"`` becomes ``unary.my.op``.
        func : function
            Of the values (and positions) of an entry; anything Numba compiles.
        parameterized : bool
            `func` returns the function, given parameters that all have defaults.
        is_udt : bool
            Not supported.
        lazy : bool
            Compile when the operator is first looked up.

        Raises
        ------
        AttributeError
            The name is taken.
        UdfParseError
            The function does not compile for any dtype.
        """
        _no_udt(is_udt)
        if parameterized:
            return _register(
                opclass, name,
                lambda: _parameterized(opclass, name, func), lazy=lazy,
            )  # fmt: skip

        def make() -> Operator:
            return _checked(make_operator(opclass, func, name, _infer, anonymous=False))

        return _register(opclass, name, make, lazy=lazy)

    def register_anonymous(
        func: Any, name: str | None = None, *, parameterized: bool = False, is_udt: bool = False
    ) -> Any:
        """Make an operator of a Python function without keeping it under a name."""
        _no_udt(is_udt)
        if parameterized:
            return _parameterized(opclass, name or func.__name__, func)
        return _checked(make_operator(opclass, func, name, _infer, anonymous=True))

    return register_new, register_anonymous


def operator_of_function(function: Callable[..., Any], *opclasses: str) -> Operator:
    """Return the anonymous operator of a function given where an operator is expected.

    Raises
    ------
    UdfParseError
        No class of operators takes its number of parameters, or it does not compile.
    """
    count = len(inspect.signature(function).parameters)
    opclass = _CLASS_OF_ARITY.get(count, "")
    if opclass not in opclasses:
        raise UdfParseError(
            f"{function.__name__} takes {count} parameters; functions of "
            f"{sorted(n for n, known in _CLASS_OF_ARITY.items() if known in opclasses)} are "
            "accepted here"
        )
    return _checked(make_operator(opclass, function, None, _infer, anonymous=True))


def _as_operator(opclass: str, given: Any) -> Any:
    found = find_operator(opclass, given) if isinstance(given, str) else given
    if isinstance(found, Parameterized):
        found = found()
    expected = {"BinaryOp": BinaryOp, "Monoid": Monoid}[opclass]
    if not isinstance(found, expected):
        raise TypeError(f"expected a {opclass}, got {given!r}")
    return found


def _make_monoid(binaryop: Any, identity: Any, name: str | None, is_idempotent: bool) -> Monoid:
    operator: BinaryOp = _as_operator("BinaryOp", binaryop)
    by_dtype = (
        {str(dtype): value for dtype, value in identity.items()}
        if isinstance(identity, Mapping)
        else None
    )

    def identity_of(dtype: DataType) -> Any:
        return identity if by_dtype is None else by_dtype[dtype.name]

    def rule(dtype: DataType) -> tuple[DataType, DataType]:
        missing = by_dtype is not None and dtype.name not in by_dtype
        if missing or operator.types.get(dtype) is not dtype:
            raise KeyError(dtype)
        if dtype.np_type.type(identity_of(dtype)) != identity_of(dtype):
            raise KeyError(dtype)
        return dtype, dtype

    made = Monoid(name or operator.name, operator, identity_of, rule, is_idempotent=is_idempotent)
    if not made.types:
        raise UdfParseError(
            f"{operator!r} gives no monoid: for no dtype does it return the dtype it takes and "
            f"hold the identity {identity!r}"
        )
    return made


def register_monoid(
    name: str, binaryop: Any, identity: Any, *, is_idempotent: bool = False, lazy: bool = False
) -> Any:
    """Make a monoid of an associative, commutative binary operator and keep it under `name`.

    Parameters
    ----------
    name : str
    binaryop : BinaryOp or str
    identity : scalar, or dict of dtype to scalar
    is_idempotent : bool
    lazy : bool

    Raises
    ------
    AttributeError
        The name is taken.
    UdfParseError
        No dtype fits.
    """
    return _register(
        "Monoid", name, lambda: _make_monoid(binaryop, identity, name, is_idempotent), lazy=lazy
    )


def anonymous_monoid(
    binaryop: Any, identity: Any, name: str | None = None, *, is_idempotent: bool = False
) -> Monoid:
    """Make a monoid without keeping it under a name."""
    return _make_monoid(binaryop, identity, name, is_idempotent)


def get_semiring(monoid: Any, binaryop: Any, name: str | None = None) -> Semiring:
    """Return the semiring of a monoid and a binary operator (or their names)."""
    return compose(_as_operator("Monoid", monoid), _as_operator("BinaryOp", binaryop), name)


def register_semiring(name: str, monoid: Any, binaryop: Any, *, lazy: bool = False) -> Any:
    """Make a semiring of a monoid and a multiplication and keep it under `name`.

    Raises
    ------
    AttributeError
        The name is taken.
    """

    def make() -> Semiring:
        return Semiring(name, _as_operator("Monoid", monoid), _as_operator("BinaryOp", binaryop))

    return _register("Semiring", name, make, lazy=lazy)


def anonymous_semiring(monoid: Any, binaryop: Any, name: str | None = None) -> Semiring:
    """Make a semiring without keeping it under a name."""
    return get_semiring(monoid, binaryop, name)
