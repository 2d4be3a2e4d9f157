"""User-defined operators: Python functions, what identifies them, and making rows of them.

A function is known by what it does and captures: its bytecode, *typed* constants, default
values, captured variables and the globals it reads. So two equal lambdas are one operator, and
``x * 1`` and ``x * 1.0`` are two. What cannot be described so is refused, because a kernel kept
under a wrong name would give wrong numbers.
"""

from __future__ import annotations

import builtins
import dis
import hashlib
import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, ModuleType
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from semira.base.dtypes import BOOL, FP64, INT64, UINT64, DataType
from semira.base.errors import UdfParseError
from semira.ops.core import BinaryOp, IndexUnaryOp, SelectOp, UnaryOp
from semira.ops.operator import Operator, UserFunction

#: Dtype a function returns for operands of the given dtypes, None if it takes no such operands.
Inference = Callable[[Callable[..., Any], tuple[DataType, ...]], DataType | None]

_functions: WeakValueDictionary[str, Callable[..., Any]] = WeakValueDictionary()
_anonymous: WeakValueDictionary[tuple[str, str, str], Operator] = WeakValueDictionary()

_KINDS: dict[str, tuple[type[Any], str, tuple[str, ...]]] = {
    "UnaryOp": (UnaryOp, "{}(a)", ("x",)),
    "BinaryOp": (BinaryOp, "{}(a, b)", ("x", "y")),
    "IndexUnaryOp": (IndexUnaryOp, "{}(a, i, j, t)", ("x", "i", "j", "theta")),
    "SelectOp": (SelectOp, "{}(a, i, j, t)", ("x", "i", "j", "theta")),
}


def function_named(name: str) -> Callable[..., Any]:
    """Return the function of a user-defined operator; generated kernels call it."""
    return _functions[name]


def name_of(function: Callable[..., Any]) -> str | None:
    """Return the name under which `function_named` finds a function, None if it does not."""
    name: str = getattr(function, _NAME, "")
    return name if _functions.get(name) is function else None


#: Attribute of a copy that kernels call: its name, which equal functions of other processes have.
_NAME = "semira_name"


def _globals_read(code: CodeType) -> set[str]:
    read = {step.argval for step in dis.get_instructions(code) if step.opname == "LOAD_GLOBAL"}
    return read.union(
        *(_globals_read(part) for part in code.co_consts if isinstance(part, CodeType))
    )


def _describe_code(code: CodeType, scope: dict[str, Any], seen: tuple[int, ...]) -> str:
    constants = ",".join(
        _describe_code(part, scope, seen) if isinstance(part, CodeType) else describe(part, seen)
        for part in code.co_consts
    )
    values = ",".join(
        f"{name}={describe(scope[name], seen)}"
        if name in scope
        else f"{name}={'builtin' if hasattr(builtins, name) else 'undefined'}"
        for name in sorted(_globals_read(code))
    )
    names = (code.co_names, code.co_varnames, code.co_freevars, code.co_argcount)
    return f"code({code.co_code.hex()};{constants};{names};{values})"


def _describe_function(function: FunctionType, seen: tuple[int, ...]) -> str:
    if id(function) in seen:
        return f"itself({seen.index(id(function))})"
    seen = (*seen, id(function))
    captured = [describe(cell.cell_contents, seen) for cell in function.__closure__ or ()]
    defaults = describe(function.__defaults__, seen)
    code = _describe_code(function.__code__, function.__globals__, seen)
    return f"function({code};{captured};{defaults})"


def describe(value: Any, seen: tuple[int, ...] = ()) -> str:
    """Return a text that two values share only if they mean the same, type included.

    Raises UdfParseError if there is no such text for this kind of value.
    """
    if value is None or value is Ellipsis:
        return repr(value)
    if isinstance(value, (bool, int, float, complex, str, bytes)):
        return f"{type(value).__name__}:{value!r}"
    if isinstance(value, np.generic) or (
        isinstance(value, np.ndarray) and value.dtype.kind in "biufc"
    ):
        return f"array:{value.dtype.str}{value.shape}:{value.tobytes().hex()}"
    if isinstance(value, (tuple, list)):
        return f"{type(value).__name__}({','.join(describe(part, seen) for part in value)})"
    if isinstance(value, frozenset):
        return f"frozenset({','.join(sorted(describe(part, seen) for part in value))})"
    if isinstance(value, FunctionType):
        return _describe_function(value, seen)
    if isinstance(getattr(value, "py_func", None), FunctionType):
        return describe(value.py_func, seen)
    if isinstance(value, ModuleType):
        return f"module:{value.__name__}"
    if isinstance(value, (type, BuiltinFunctionType, np.ufunc)):
        return f"{getattr(value, '__module__', 'numpy')}.{value.__name__}"
    raise UdfParseError(
        f"a {type(value).__name__} among what it reads has no lasting identity; capture numbers, "
        "strings, tuples, arrays or functions"
    )


def user_function(function: Any, opclass: str, expected: tuple[str, ...]) -> UserFunction:
    """Return a Python function with its identity.

    Raises TypeError if `function` is not a Python function. Raises UdfParseError if it does not
    take the expected parameters, or captures what cannot be described.
    """
    if not isinstance(function, FunctionType):
        raise TypeError(f"UDF argument must be a function, not {type(function)}")
    parameters = inspect.signature(function).parameters.values()
    for one in parameters:
        if one.kind not in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD):
            raise UdfParseError(
                f"Unable to parse function using Numba: {function.__name__}: the parameter {one} "
                "is given by keyword or stands for several; make it one that is given by position"
            )
    required = [one for one in parameters if one.default is one.empty]
    if len(required) != len(expected):
        raise UdfParseError(
            f"a {opclass} is made of a function of {len(expected)} parameters "
            f"({', '.join(expected)}); {function.__name__} takes {len(required)}"
        )
    try:
        text = describe(function)
    except UdfParseError as error:
        raise UdfParseError(
            f"Unable to parse function using Numba: {function.__name__}: {error}"
        ) from None
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    name = f"user_{digest}"
    frozen = _functions.setdefault(name, _frozen(function))
    setattr(frozen, _NAME, name)
    return UserFunction(name, function, frozen)


def _kept(value: Any) -> Any:
    return value.copy() if isinstance(value, np.ndarray) else value


def _frozen(function: FunctionType) -> FunctionType:
    """Return a copy of a function that later assignments to what it captured do not change."""
    needed = {"__builtins__", *_globals_read(function.__code__)}
    scope = {name: _kept(value) for name, value in function.__globals__.items() if name in needed}
    cells = tuple(CellType(_kept(cell.cell_contents)) for cell in function.__closure__ or ())
    # Compiled kernels on disk name the module of every function they call, and another process
    # may have an equal function without having that module: so it is this one for all of them.
    scope["__name__"] = __name__
    made = FunctionType(
        function.__code__, scope, function.__name__, function.__defaults__, cells or None
    )
    made.__module__ = __name__
    return made


@dataclass(eq=False)
class _InferredRule:
    """Type rule of a user function: inferred once per dtype, narrow results kept narrow."""

    function: Callable[..., Any]
    opclass: str
    infer: Inference
    takes_records: bool = False
    found: dict[DataType, DataType | None] = field(default_factory=dict)

    def __call__(self, dtype: DataType) -> tuple[DataType, DataType]:
        self._check_records(dtype)
        result = self.result(dtype)
        if result is None or (self.opclass == "SelectOp" and result is not BOOL):
            raise KeyError(dtype)
        return dtype, result

    def _operands(self, dtype: DataType) -> tuple[DataType, ...]:
        if self.opclass in ("IndexUnaryOp", "SelectOp"):
            return dtype, INT64, INT64, dtype
        return (dtype,) * len(_KINDS[self.opclass][2])

    def of_pair(self, left: DataType, right: DataType) -> DataType:
        """Return the dtype for operands of two dtypes.

        Raises KeyError if the function takes no such operands.
        """
        self._check_records(left, right)
        found = self.infer(self.function, (left, right))
        if found is None:
            raise KeyError((left, right))
        return found

    def _check_records(self, *dtypes: DataType) -> None:
        """Check that the function may see records; sub-arrays reach no compiled function."""
        if any(dtype.kind == "V" for dtype in dtypes) and (
            not self.takes_records or any(dtype.np_type.subdtype for dtype in dtypes)
        ):
            raise KeyError(dtypes)

    def result(self, dtype: DataType) -> DataType | None:
        if dtype not in self.found:
            self.found[dtype] = self.infer(self.function, self._operands(dtype))
            self.found[dtype] = self._narrowed(dtype, self.found[dtype])
        return self.found[dtype]

    def _narrowed(self, dtype: DataType, result: DataType | None) -> DataType | None:
        """Undo the widening of a compiler that computes in 64 bits: users mean "the same"."""
        if result is None or result is dtype:
            return result
        kinds = {dtype.kind, result.kind}
        if kinds <= {"I", "U"} or kinds in ({"F"}, {"C"}):
            return dtype
        if dtype is UINT64 and result is FP64 and self.result(INT64) is INT64:
            return dtype
        # Sums of truth values are numbers that no narrow dtype was chosen for: INT64.
        return result


def make_operator(
    opclass: str,
    function: Any,
    name: str | None,
    infer: Inference,
    *,
    anonymous: bool,
    is_udt: bool = False,
) -> Operator:
    """Return the operator of a Python function; equal anonymous functions share one.

    It takes 1, 2 or 4 scalars, and records as well if `is_udt`; `infer` says which dtype it
    returns. Without a name the operator has the function's. Raises TypeError if `function` is not a
    Python function. Raises UdfParseError if it takes another number of parameters, or captures what
    cannot be described.
    """
    user = user_function(function, opclass, _KINDS[opclass][2])
    name = function.__name__ if name is None else name
    key = (opclass, name, f"{user.name}{'+' * is_udt}")
    cls, text, _ = _KINDS[opclass]
    facts: dict[str, Any] = {"user": user}
    if issubclass(cls, IndexUnaryOp):
        facts |= {"reads_a": True, "thunk_is_value": True}
    rule = _InferredRule(user.frozen, opclass, infer, is_udt)
    made: Operator = cls(name, text.format(user.name), "", rule, **facts)
    if not anonymous:
        return made
    again = partial(make_operator, anonymous=True, is_udt=is_udt)
    made.__dict__["recipe"] = (again, (opclass, function, name, infer))
    return _anonymous.setdefault(key, made)


def is_importable(function: Any) -> bool:
    """Return whether another process finds a function by the names of its module and itself."""
    found: Any = sys.modules.get(function.__module__)
    for part in function.__qualname__.split("."):
        found = getattr(found, part, None)
    return found is function


class Parameterized:
    """An operator that is chosen by calling it with parameters: ``binary.isclose(rel_tol=1e-5)``.

    `factory` takes the parameters and returns the operator; all have defaults, which stand for the
    operator where it is used without being called.
    """

    is_positional = False
    is_idempotent = False

    def __init__(
        self,
        opclass: str,
        name: str,
        factory: Callable[..., Operator],
        *,
        signature: inspect.Signature | None = None,
        source: Callable[..., Any] | None = None,
        is_commutative: bool = False,
    ) -> None:
        self.opclass, self.name, self.factory = opclass, name, factory
        self.orig_func, self.is_commutative = source, is_commutative
        self.__signature__ = signature or inspect.signature(factory)
        self._made: dict[str, Operator] = {}
        self.monoid: Any = None
        self._monoid_for: Callable[..., Any] | None = None
        self.recipe: tuple[Any, ...] | None = None

    @property
    def commutes_to(self) -> Parameterized | None:
        """The operator with swapped operands: itself, or none that is known."""
        return self if self.is_commutative else None

    def belongs_to(self, monoid: Any, find: Callable[..., Any]) -> None:
        """Let operators made from now on have the monoid that `find` returns for the parameters."""
        self.monoid, self._monoid_for = monoid, find
        self._made.clear()

    def __call__(self, *args: Any, **kwargs: Any) -> Operator:
        """Return the operator for these parameters; the same one every time."""
        key = describe((args, tuple(sorted(kwargs.items()))))
        if key not in self._made:
            made = self._made.setdefault(key, self.factory(*args, **kwargs))
            made.__dict__["recipe"] = (partial(self, *args, **kwargs), ())
            find = self._monoid_for
            if find is not None and isinstance(made, BinaryOp):
                made.belongs_to(partial(find, *args, **kwargs))
        return self._made[key]

    def __getitem__(self, dtype: Any) -> Any:
        return self()[dtype]

    def __contains__(self, dtype: Any) -> bool:
        return dtype in self()

    def __repr__(self) -> str:
        return f"{self.opclass.lower().removesuffix('op')}.{self.name}"
