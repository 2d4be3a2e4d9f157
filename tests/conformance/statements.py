"""The operations of the drawn suite: one row each, written once for both libraries.

Shapes are given by letters, as in Einstein's notation: ``ij,j`` is a matrix and a vector whose
sizes agree. The output takes the shape of the expression.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from tests.helpers.pgb import UNDEFINED, find, result_dtype, works

from semira.base.dtypes import lookup_dtype
from semira.ops.registry import binary, indexunary, monoid, select, unary

#: Operators whose results are rounded by the C library: the last digits may differ.
EXACT_UNARY = (
    "identity", "ainv", "minv", "abs", "one", "lnot", "bnot", "signum", "isnan", "isinf",
    "isfinite", "round", "floor", "ceil", "trunc", "sqrt", "conj", "creal", "cimag",
    "positioni", "positioni1", "positionj", "positionj1",
)  # fmt: skip
ROUNDED_BINARY = ("atan2", "hypot", "pow", "truediv", "rtruediv", "cdiv", "rdiv", "fmod", "rpow")
#: Multiplications whose products of the drawn values are exact, so that sums are too.
EXACT_PRODUCTS = (
    "times", "plus", "minus", "rminus", "first", "second", "pair", "min", "max", "oneb",
    "eq", "ne", "lt", "le", "gt", "ge", "land", "lor", "lxor", "lxnor", "iseq", "isne", "isgt",
    "islt", "isge", "isle",
)  # fmt: skip
#: Compiled by python-graphblas itself; SuiteSparse 9.4 crashes on them for complex dtypes.
_CRASHES = ("absfirst", "abssecond")
_ROUNDING_STEPS = 8


@dataclass(frozen=True)
class Operation:
    """One statement form.

    Attributes
    ----------
    shapes : str
        Letters of the operands, ``"ik,kj"``.
    out : {"scalar", "vector", "matrix"}
    express : callable
        ``(library, op, operands, extra) -> expression``; `op` is None without a `space`.
    space : str
        Namespace of the operator; empty without one.
    extra : callable
        ``(rng, operator, dtype, shapes) -> object``: bound values, thunks, index keys.
    write : callable or None
        ``(out, keywords, expression, extra)`` where it is not ``out(**keywords) << expression``.
    region : bool
        The mask is about the region (its shape is the expression's, the output's is `target`).
    target : str
        Letters of the output where its shape is not the expression's.
    one_value : bool
        Semirings are drawn whose products are all equal and add up to themselves.
    full_right : bool
        The right operand has every entry.
    """

    shapes: str
    out: str
    express: Callable[..., Any]
    space: str = ""
    extra: Callable[..., Any] | None = None
    write: Callable[..., None] | None = None
    region: bool = False
    target: str = ""
    wide: bool = True
    can_alias: bool = True
    one_value: bool = False
    full_right: bool = False

    @property
    def arguments(self) -> tuple[str, ...]:
        """Letters of each operand."""
        return tuple(self.shapes.split(",")) if self.shapes else ()


def _method(name: str) -> Callable[..., Any]:
    return lambda library, op, args, extra: getattr(args[0], name)(*args[1:], op)


def _bound(rng: Any, operator: str, dtype: str, shapes: Any) -> Any:
    del operator, shapes
    return lookup_dtype(dtype).np_type.type(rng.integers(0, 4))


def _thunk(rng: Any, operator: str, dtype: str, shapes: Any) -> Any:
    # A thunk of another dtype makes SuiteSparse 9.4 compare garbage.
    number = int(rng.integers(0, 3) if operator.startswith("value") else rng.integers(-1, 3))
    return number, dtype if operator.startswith("value") else "INT64"


def _as_scalar(library: Any, extra: Any) -> Any:
    return library.Scalar.from_value(*extra)


def _keys(rng: Any, size: int) -> Any:
    """Return an index of one axis: everything, a slice, or a list without repeats."""
    kind = rng.integers(4)
    if kind == 0:
        return slice(None)
    if size >= 2**31 or kind == 1:
        # A list: positions that the operands of wide shapes hold, too.
        pool = np.unique(np.array([0, 1, 5, size // 3, size - 1]) % max(size, 1))
        pool = pool[pool < size]
        return rng.permutation(pool)[: int(rng.integers(0, len(pool) + 1))]
    start, stop = sorted(int(x) for x in rng.integers(0, size + 1, 2))
    return slice(start, stop, 2) if kind == 2 else slice(start, stop)


def _index(rng: Any, operator: str, dtype: str, shapes: Any) -> Any:
    del operator, dtype
    keys = tuple(_keys(rng, size) for size in shapes[0])
    return keys[0] if len(keys) == 1 else keys


def _offsets(rng: Any, operator: str, dtype: str, shapes: Any) -> Any:
    del operator, dtype
    return tuple(int(x) for x in rng.integers(-2, 3, len(shapes[0])))


def _assign(out: Any, keywords: dict[str, Any], given: Any, extra: Any) -> None:
    out(**keywords)[extra] << given


def _assign_sub(out: Any, keywords: dict[str, Any], given: Any, extra: Any) -> None:
    out[extra](**keywords) << given


def _evaluated(out: Any, keywords: dict[str, Any], expression: Any, extra: Any) -> None:
    # python-graphblas assigns a part of an output that exists; ours writes all of it.
    del extra
    out(**keywords) << expression.new()


def _union(library: Any, op: Any, args: Any, extra: Any) -> Any:
    defaults = (library.Scalar.from_value(extra), library.Scalar.from_value(extra + extra))
    return args[0].ewise_union(args[1], op, *defaults)


def _ones(rng: Any, operator: str, dtype: str, shapes: Any) -> Any:
    del rng, operator, shapes
    return lookup_dtype(dtype).np_type.type(1)


def _flag(rng: Any, operator: str, dtype: str, shapes: Any) -> Any:
    del operator, dtype, shapes
    return bool(rng.integers(2))


def _power(rng: Any, operator: str, dtype: str, shapes: Any) -> Any:
    del operator, dtype, shapes
    return int(rng.integers(1, 4))


def _diagonal(rng: Any, operator: str, dtype: str, shapes: Any) -> Any:
    del operator, dtype, shapes
    return int(rng.integers(-2, 3))


def _both_ranks(name: str, **options: Any) -> dict[str, Operation]:
    """Return an operation on vectors and one on matrices of the same form."""
    count = options.pop("operands", 1)
    vector = ",".join(["i"] * count)
    matrix = ",".join(["ij"] * count)
    return {
        f"{name}-vector": Operation(vector, "vector", **options),
        f"{name}-matrix": Operation(matrix, "matrix", **options),
    }


def _literal(library: Any, op: Any, args: Any, extra: Any) -> Any:
    del library, op, args
    return extra


OPERATIONS: dict[str, Operation] = {
    "mxv": Operation("ij,j", "vector", _method("mxv"), "semiring"),
    "vxm": Operation("i,ij", "vector", _method("vxm"), "semiring"),
    "mxm": Operation("ik,kj", "matrix", _method("mxm"), "semiring"),
    **_both_ranks("ewise_add", express=_method("ewise_add"), space="binary", operands=2),
    **_both_ranks("ewise_mult", express=_method("ewise_mult"), space="binary", operands=2),
    **_both_ranks("ewise_union", express=_union, space="binary", extra=_ones, operands=2),
    **_both_ranks("apply", express=_method("apply"), space="unary"),
    **_both_ranks(
        "apply_left", space="binary", extra=_bound,
        express=lambda library, op, args, extra: args[0].apply(op, left=extra),
    ),
    **_both_ranks(
        "apply_right", space="binary", extra=_bound,
        express=lambda library, op, args, extra: args[0].apply(op, right=extra),
    ),
    **_both_ranks(
        "apply_index", space="indexunary", extra=_thunk,
        express=lambda library, op, args, extra: args[0].apply(op, _as_scalar(library, extra)),
    ),
    **_both_ranks(
        "select", space="select", extra=_thunk,
        express=lambda library, op, args, extra: args[0].select(op, _as_scalar(library, extra)),
    ),
    "reduce_rowwise": Operation("ij", "vector", _method("reduce_rowwise"), "monoid"),
    "reduce_columnwise": Operation("ij", "vector", _method("reduce_columnwise"), "monoid"),
    "reduce_matrix": Operation(
        "ij", "scalar", space="monoid", extra=_flag,
        express=lambda library, op, args, extra: args[0].reduce_scalar(op, allow_empty=extra),
    ),
    "reduce_vector": Operation(
        "i", "scalar", space="monoid", extra=_flag,
        express=lambda library, op, args, extra: args[0].reduce(op, allow_empty=extra),
    ),
    **_both_ranks("copy", express=lambda library, op, args, extra: args[0]),
    **_both_ranks(
        "extract", extra=_index, express=lambda library, op, args, extra: args[0][extra]
    ),
    **_both_ranks(
        "assign_number", express=_literal, extra=_bound, can_alias=False, wide=False
    ),
    "assign-vector": Operation(
        "i", "vector", lambda library, op, args, extra: args[0], extra=_index,
        write=_assign, target="i",
    ),
    "assign-matrix": Operation(
        "ij", "matrix", lambda library, op, args, extra: args[0], extra=_index,
        write=_assign, target="ij",
    ),
    "subassign-vector": Operation(
        "i", "vector", lambda library, op, args, extra: args[0], extra=_index,
        write=_assign_sub, target="i", region=True,
    ),
    "subassign-matrix": Operation(
        "ij", "matrix", lambda library, op, args, extra: args[0], extra=_index,
        write=_assign_sub, target="ij", region=True,
    ),
    "diag-vector": Operation(
        "i", "matrix", extra=_diagonal, express=lambda library, op, args, extra: args[0].diag(extra)
    ),
    "diag-matrix": Operation(
        "ij", "vector", extra=_diagonal,
        express=lambda library, op, args, extra: args[0].diag(extra),
    ),
    **_both_ranks(
        "reposition", extra=_offsets, write=_evaluated,
        express=lambda library, op, args, extra: args[0].reposition(*extra),
    ),
    "inner": Operation("i,i", "scalar", _method("inner"), "semiring"),
    "outer": Operation("i,j", "matrix", _method("outer"), "binary"),
    "kronecker": Operation("ij,kl", "matrix", _method("kronecker"), "binary", wide=False),
    "power": Operation(
        "ii", "matrix", space="semiring", extra=_power,
        express=lambda library, op, args, extra: args[0].power(extra, op),
    ),
    # Products that some methods are for alone.
    "vxm-one_value": Operation("i,ij", "vector", _method("vxm"), "semiring", one_value=True),
    "mxm-full": Operation(
        "ik,kj", "matrix", _method("mxm"), "semiring", wide=False, full_right=True
    ),
    "mxm-one_value": Operation("ik,kj", "matrix", _method("mxm"), "semiring", one_value=True),
}  # fmt: skip

_TABLES = {
    "unary": unary, "binary": binary, "monoid": monoid, "select": select,
    "indexunary": indexunary,
}  # fmt: skip


def draw_operator(row: Operation, dtype: str, rng: np.random.Generator) -> str | None:
    """Return an operator that SuiteSparse has for the dtype, None if there is none.

    Left out: ``any`` (compared by membership, see test_any), and what python-graphblas compiles
    itself with Numba, whose meaning differs from SuiteSparse's on purpose or by accident.
    """
    space = row.space
    left_out = (*UNDEFINED, "any", *(_CRASHES if dtype.startswith("FC") else ()))
    if space != "semiring":
        names = [name for name in _TABLES[space] if name not in left_out]
        for name in rng.permutation(names):
            if works(space, str(name), dtype):
                return str(name)
        return None
    adds, multiplies = list(monoid), [name for name in binary if name not in left_out]
    if row.one_value:
        adds = [name for name in adds if monoid[name].is_any or monoid[name].is_idempotent]
        multiplies = ["pair"]
    for _ in range(400):
        add, multiply = str(rng.choice(adds)), str(rng.choice(multiplies))
        if add == "any" and multiply != "pair":
            continue
        if works("semiring", f"{add}_{multiply}", dtype):
            return f"{add}_{multiply}"
    return None


def natural_dtype(operation: Operation, operator: str | None, dtype: str) -> str:
    """Return the dtype of the operation's result."""
    if operator is None or operation.space == "select":
        return dtype
    return result_dtype(operation.space, operator, dtype)


def rounding(operation: Operation, operator: str | None, dtype: str, natural: str) -> int:
    """Return how many roundings a result of 40 terms may differ by; 0 demands equality.

    Order of summation is the only licence for sums and products; operators of the C library may
    differ in their last digits.
    """
    if operator is None or not natural.startswith(("FP", "FC")):
        return 0
    space = operation.space
    if space in ("semiring", "monoid"):
        add, _, multiply = operator.partition("_")
        exact = add not in ("plus", "times") or (
            add == "plus" and (space == "monoid" or multiply in EXACT_PRODUCTS)
        )
        exact = exact and (space == "monoid" or multiply not in ROUNDED_BINARY)
        exact = exact and not natural.startswith("FC")
        return 0 if exact else 512
    if space == "unary":
        return 0 if operator in EXACT_UNARY else _ROUNDING_STEPS
    inexact = operator in ROUNDED_BINARY or dtype.startswith("FC")
    return _ROUNDING_STEPS if space == "binary" and inexact else 0


def find_operator(library: Any, operation: Operation, operator: str | None) -> Any:
    """Return the operator as `library` names it."""
    return None if operator is None else find(library, operation.space, operator)
