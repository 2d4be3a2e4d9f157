"""register_new and register_anonymous of ``indexbinary``."""

from __future__ import annotations

from typing import Any

from semira.backends.registry import infer_dtype
from semira.base.dtypes import BOOL, FP64, INT64, DataType
from semira.base.errors import UdfParseError
from semira.frontend.user_operators import infer, keep, no_udt
from semira.ops.indexbinary import IndexBinaryOp, make_index_binary
from semira.ops.user import Parameterized


def _made(func: Any, name: str | None) -> IndexBinaryOp:
    made = make_index_binary(func, name, infer)
    if any(dtype in made for dtype in (INT64, FP64, BOOL)) or made.types:
        return made
    operands: tuple[DataType, ...] = (FP64, INT64, INT64, FP64, INT64, INT64, FP64)
    reason = infer_dtype(func, operands)
    raise UdfParseError(f"Unable to parse function using Numba: {made.name}: {reason}")


def register_new(
    name: str, func: Any, *, parameterized: bool = False, is_udt: bool = False, lazy: bool = False
) -> Any:
    """Make an index-binary operator of a Python function and keep it under `name`.

    Parameters
    ----------
    name : str
        May contain dots: ``"my.op"`` becomes ``indexbinary.my.op``.
    func : function
        ``f(x, ix, jx, y, iy, jy, theta)``: the two values, their rows and columns, and what the
        operator is called with; anything Numba compiles.
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
    no_udt(is_udt)

    def make() -> Any:
        return _parameterized(name, func) if parameterized else _made(func, name)

    return keep("IndexBinaryOp", name, make, lazy=lazy)


def register_anonymous(
    func: Any, name: str | None = None, *, parameterized: bool = False, is_udt: bool = False
) -> Any:
    """Make an index-binary operator of a Python function without keeping it under a name."""
    no_udt(is_udt)
    if parameterized:
        return _parameterized(name or func.__name__, func)
    return _made(func, name)


def _parameterized(name: str, factory: Any) -> Parameterized:
    return Parameterized(
        "IndexBinaryOp", name, lambda *args, **keys: _made(factory(*args, **keys), name),
        source=factory,
    )  # fmt: skip
