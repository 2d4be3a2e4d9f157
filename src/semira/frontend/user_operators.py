"""register_new and register_anonymous of every namespace, and functions used as operators."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import FunctionType
from typing import Any

from semira.backends.registry import infer_dtype
from semira.base.dtypes import BOOL, FP64, INT64, DataType
from semira.base.errors import InvalidValue, NotImplementedException, UdfParseError
from semira.ops.indexbinary import make_index_binary
from semira.ops.operator import Operator
from semira.ops.registry import MODULE_CLASSES, REGISTERED, is_known
from semira.ops.user import Parameterized, make_operator

_SPACES = {opclass: space for space, opclass in MODULE_CLASSES.items()}
_CLASS_OF_ARITY = {1: "UnaryOp", 2: "BinaryOp", 4: "IndexUnaryOp"}


def infer(function: Callable[..., Any], operands: tuple[DataType, ...]) -> DataType | None:
    """Return the dtype of ``function(*operands)``; None if it takes no such operands."""
    found = infer_dtype(function, operands)
    return found if isinstance(found, DataType) else None


def _checked(operator: Operator) -> Operator:
    """Return an operator that compiles for at least one dtype.

    Raises UdfParseError if it does not; one line says why. Raises InvalidValue if a select operator
    returns something else than a bool.
    """
    if any(dtype in operator for dtype in (INT64, FP64, BOOL)) or operator.works():
        return operator
    assert operator.orig_func is not None
    wanted: tuple[DataType, ...] = (FP64, INT64, INT64, FP64, INT64, INT64, FP64)
    if operator.opclass != "IndexBinaryOp":
        wanted = (FP64,) * len(inspect.signature(operator.orig_func).parameters)
    reason = infer_dtype(operator.orig_func, wanted)
    if operator.opclass == "SelectOp" and isinstance(reason, DataType):
        raise InvalidValue(
            f"SelectOp must have BOOL return type; {operator.name} returns something else: compare "
            "its result, as in `return ... > 0`"
        )
    raise UdfParseError(f"Unable to parse function using Numba: {operator.name}: {reason}")


class _Lazy:
    """An operator that is made when it is first looked up."""

    is_lazy = True

    def __init__(self, make: Callable[[], Any]) -> None:
        self.make = make


def _check_free(opclass: str, name: str) -> None:
    """Check that a name can be registered.

    Raises AttributeError if it is taken, or part of its path is an operator.
    """
    space = _SPACES[opclass]
    if not all(part.isidentifier() for part in name.split(".")):
        raise ValueError(f"{name!r} is not a name; use identifiers joined by dots")
    inside = f"{name}."
    is_taken = name in _RESERVED or is_known(opclass, name)
    if is_taken or any(known.startswith(inside) for known in REGISTERED[opclass]):
        raise AttributeError(f"{space}.{name} is already defined")
    path = name.rpartition(".")[0]
    while path:
        if path in REGISTERED[opclass] or is_known(opclass, path):
            raise AttributeError(f"{space}.{path} is already defined. Cannot use as a nested path.")
        path = path.rpartition(".")[0]


_RESERVED = ("numpy", "ss", "from_string", "register_new", "register_anonymous", "get_semiring")


def keep(opclass: str, name: str, make: Callable[[], Any], *, lazy: bool) -> Any:
    """Keep what `make` returns under a name, made now or when it is first looked up.

    Raises AttributeError if the name is taken.
    """
    _check_free(opclass, name)
    if lazy:
        REGISTERED[opclass][name] = _Lazy(make)
        return None
    made = REGISTERED[opclass][name] = make()
    return made


def _made(
    opclass: str, func: Any, name: str | None, *, anonymous: bool = False,
    parameterized: bool = False, is_udt: bool = False,
) -> Any:  # fmt: skip
    if parameterized:
        return _parameterized(opclass, name or func.__name__, func, is_udt)
    if opclass == "IndexBinaryOp":
        made: Operator = make_index_binary(func, name, infer)
    else:
        made = make_operator(opclass, func, name, infer, anonymous=anonymous, is_udt=is_udt)
    return made if is_udt else _checked(made)


def _parameterized(opclass: str, name: str, factory: Any, is_udt: bool = False) -> Parameterized:
    if not isinstance(factory, FunctionType):
        raise TypeError(f"UDF argument must be a function, not {type(factory)}")

    def make(*args: Any, **kwargs: Any) -> Any:
        return _made(opclass, factory(*args, **kwargs), name, is_udt=is_udt)

    made = Parameterized(opclass, name, make, signature=inspect.signature(factory), source=factory)
    made.recipe = (_parameterized, (opclass, name, factory, is_udt))
    return made


def function_registrars(opclass: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return ``register_new`` and ``register_anonymous`` for operators made of functions."""

    def checked(parameterized: bool, is_udt: bool) -> dict[str, bool]:
        if is_udt and opclass == "IndexBinaryOp":
            raise NotImplementedException(
                "is_udt=True: index-binary operators on user-defined dtypes are not supported; use "
                "a binary operator, or built-in dtypes"
            )
        return {"parameterized": parameterized, "is_udt": is_udt}

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
            Of the values (and positions) of an entry; anything Numba compiles. An index-binary one
            is ``f(x, ix, jx, y, iy, jy, theta)``: the two values, their rows and columns, and what
            the operator is called with.
        parameterized : bool
            `func` returns the function, given parameters that all have defaults.
        is_udt : bool
            `func` takes records too (``x["field"]``); whether it compiles is asked for each dtype.
            Not supported for index-binary operators.
        lazy : bool
            Compile when the operator is first looked up.

        Raises
        ------
        AttributeError
            The name is taken.
        UdfParseError
            The function does not compile for any dtype.
        """
        how = checked(parameterized, is_udt)
        made = keep(opclass, name, lambda: _made(opclass, func, name, **how), lazy=lazy)
        if opclass == "SelectOp" and not is_known("IndexUnaryOp", name):
            # A select operator is an index-unary one too.
            function_registrars("IndexUnaryOp")[0](name, func, lazy=lazy, **how)
        return made

    def register_anonymous(
        func: Any, name: str | None = None, *, parameterized: bool = False, is_udt: bool = False
    ) -> Any:
        """Make an operator of a Python function without keeping it under a name."""
        how = checked(parameterized, is_udt)
        return _made(opclass, func, name, anonymous=True, **how)

    return register_new, register_anonymous


def operator_of_function(function: Callable[..., Any], *opclasses: str) -> Operator:
    """Return the anonymous operator of a function given where an operator is expected.

    Raises UdfParseError if no class of operators takes its number of parameters, or it does not
    compile.
    """
    count = len(inspect.signature(function).parameters)
    opclass = _CLASS_OF_ARITY.get(count, "")
    if opclass not in opclasses:
        raise UdfParseError(
            f"{function.__name__} takes {count} parameters; functions of "
            f"{sorted(n for n, known in _CLASS_OF_ARITY.items() if known in opclasses)} are "
            "accepted here"
        )
    return _checked(make_operator(opclass, function, None, infer, anonymous=True))
