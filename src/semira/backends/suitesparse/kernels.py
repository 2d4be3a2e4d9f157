"""Statements as calls: each operation an expression, written once with mask and accumulator."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np

from semira.backends.interpreter import MaskData, Produced, Undo
from semira.backends.suitesparse.functions import calls_python, operator_of, reaching_the_caller
from semira.backends.suitesparse.objects import (
    dtype_of,
    empty_object,
    library,
    lifted,
    lowered,
    translated,
    vector_of,
)
from semira.base.errors import EmptyObject, IndexOutOfBound
from semira.contract import PRODUCTS, Method, Slot, Statement
from semira.formats import ScalarArrays
from semira.ops.meaning import cast_array, mode_of


@dataclass(frozen=True, slots=True, eq=False)
class Pending:
    """What a statement will write: nothing has run yet, so that SuiteSparse sees the mask."""

    #: Expression, object, or Scalar of python-graphblas.
    expression: Any
    #: Region of an assign.
    keys: Any = None
    #: The mask has the shape of the region.
    submask: bool = False
    #: It must not be accumulated while it is computed (see `_multiplied`).
    apart: bool = False


class SuiteSparseKernels:
    """The interpreter's hooks on objects of python-graphblas and `ScalarArrays`."""

    def scalar(self, arrays: ScalarArrays) -> ScalarArrays:
        """Return the data of a scalar."""
        return arrays

    def empty(self, slot: Slot, shape: tuple[int, ...]) -> Any:
        """Return data without entries for a temporary."""
        return empty_object(shape, slot.dtype)

    def shape(self, data: Any) -> tuple[int, ...]:
        """Return ``()``, ``(size,)`` or ``(nrows, ncols)``."""
        return () if isinstance(data, ScalarArrays) else tuple(data.shape)

    def nvals(self, data: Any) -> int:
        """Return the number of entries; -1 before the statement has run."""
        return -1 if isinstance(data, Pending) else int(data.nvals)

    def counts(
        self, name: str, statement: Statement, args: list[Any], mask: MaskData | None, out: Any
    ) -> float:
        """Never asked: SuiteSparse chooses by itself, so plans hold one method."""
        raise NotImplementedError(name)

    def compute(
        self, statement: Statement, method: Method, args: list[Any], mask: MaskData | None, out: Any
    ) -> Produced:
        """Return the expression of ``op(args)``."""
        del method, mask
        count = len(statement.args)
        operands = [
            given.T if arg.transposed and not isinstance(given, ScalarArrays) else given
            for arg, given in zip(statement.args, args[:count], strict=True)
        ]
        with translated(), _watched(statement):
            made = _OPERATIONS[statement.op](statement, operands, args[count:], out)
        return Produced(made if isinstance(made, Pending) else Pending(made))

    def finish(
        self,
        statement: Statement,
        result: Pending,
        mask: MaskData | None,
        out: Any,
        journal: list[Undo] | None,
    ) -> Any:
        """Write the expression: accumulator, mask and replace in one call."""
        is_scalar = isinstance(out, ScalarArrays)
        keywords: dict[str, Any] = {}
        with translated(), _watched(statement):
            if mask is not None:
                keywords |= {"mask": _mask(mask), "replace": statement.replace}
            if statement.accum is not None:
                if result.apart:
                    result = Pending(result.expression.new(mask=keywords.get("mask")))
                keywords["accum"] = operator_of(statement.accum)
            target = _target(statement, result, keywords, out, journal)
            if result.keys is None:
                target(**keywords) << result.expression
            elif result.submask:
                target[result.keys](**keywords) << result.expression
            else:
                target(**keywords)[result.keys] << result.expression
            target.wait()
            return lowered(target) if is_scalar else target


def _watched(statement: Statement) -> AbstractContextManager[None]:
    return reaching_the_caller() if calls_python(statement) else nullcontext()


def _target(
    statement: Statement,
    result: Pending,
    keywords: dict[str, Any],
    out: Any,
    journal: list[Undo] | None,
) -> Any:
    """Return the object to write: `out`, a copy of it, or an empty one like it."""
    if isinstance(out, ScalarArrays):
        return lifted(out)
    if not keywords and result.keys is None:
        # Nothing of `out` stays. An empty object is also what SuiteSparse 9.4.5 needs: writing
        # `ewise_*` of two full operands into a full object that stores one value for all entries,
        # it writes all values into the room of that one (GB_ewise_fulln).
        return empty_object(out.shape, dtype_of(out))
    # A broken iteration of a loop goes back to the objects it found, and so does a statement whose
    # Python function raises.
    return out if journal is None and not calls_python(statement) else out.dup()


def _mask(mask: MaskData) -> Any:
    chosen = mask.data.S if mask.structural else mask.data.V
    return ~chosen if mask.complement else chosen


def _value(scalar: ScalarArrays, op: Any = None) -> Any:
    if scalar.value is None:
        raise EmptyObject("an empty Scalar was used where a value is needed")
    dtype = scalar.dtype if op is None else op.type
    value = library().Scalar.from_value(scalar.value, scalar.dtype.name)
    return value if dtype is scalar.dtype else value.dup(dtype.name)


def _lift(operand: Any) -> Any:
    return lifted(operand) if isinstance(operand, ScalarArrays) else operand


def _multiplied(expression: Any, op: Any, operands: list[Any]) -> Pending:
    """Return a product, and whether SuiteSparse 9.4.5 may accumulate while it multiplies.

    Where every entry of the output is there, it accumulates dot products in place. If an operand
    is to be cast, that kernel reads its values as if they were of the operator's dtype already
    (GB_AxB_dot4); and if there is nothing to multiply, it forgets to make a result (GB_AxB_dot).
    Sums of rows are products with ones.
    """
    types = (op.type, op.type2)
    is_cast = any(one.dtype != dtype for one, dtype in zip(operands, types, strict=False))
    return Pending(expression, apart=is_cast or not operands[0].shape[-1])


def _product(statement: Statement, x: list[Any], _regions: list[Any], _out: Any) -> Any:
    op = operator_of(statement.operator)
    return _multiplied(getattr(x[0], statement.op)(x[1], op), op, x)


def _ewise(statement: Statement, x: list[Any], _regions: list[Any], _out: Any) -> Any:
    left, right = (_lift(one) for one in x[:2])
    op = operator_of(statement.operator)
    if statement.op == "ewise_union":
        defaults = [_value(one, statement.operator) for one in x[2:]]
        return left.ewise_union(right, op, *defaults)
    return getattr(left, statement.op)(right, op)


def _apply(statement: Statement, x: list[Any], _regions: list[Any], _out: Any) -> Any:
    op, typed = operator_of(statement.operator), statement.operator
    if typed.parent.opclass == "UnaryOp":
        return _lift(x[0]).apply(op)
    if typed.parent.opclass == "BinaryOp":
        if statement.param("side") == "left":
            return _lift(x[1]).apply(op, left=_value(x[0], typed))
        return _lift(x[0]).apply(op, right=_value(x[1], typed))
    return _lift(x[0]).apply(op, _thunk(typed, x[1]))


def _thunk(typed: Any, scalar: ScalarArrays) -> Any:
    value = _value(scalar)
    return value.dup(typed.type.name if typed.parent.thunk_is_value else "INT64")


def _select(statement: Statement, x: list[Any], _regions: list[Any], _out: Any) -> Any:
    operand, typed = _lift(x[0]), statement.operator
    if dtype_of(operand) is typed.type:
        return operand.select(operator_of(typed), _thunk(typed, x[1]))
    # Compared in the operator's dtype, kept in the operand's own.
    seen = operand.dup(typed.type.name).select(operator_of(typed), _thunk(typed, x[1])).new()
    return operand.dup(mask=seen.S)


def _select_k(statement: Statement, x: list[Any], _regions: list[Any], _out: Any) -> Any:
    rows, cols, values = x[0].to_coo()
    ranks = np.zeros(len(rows), np.int64)
    if statement.param("largest"):
        _, numbers = np.unique(values, return_inverse=True)
        # NaN comes last.
        ranks = np.where(np.equal(values, values), -numbers, 1)
    order = np.lexsort((cols, ranks, rows))
    rows, cols, values = rows[order], cols[order], values[order]
    starts = np.searchsorted(rows, rows)
    kept = np.arange(len(rows)) - starts < statement.param("k")
    return library().Matrix.from_coo(
        rows[kept], cols[kept], values[kept], dtype=x[0].dtype, nrows=x[0].nrows, ncols=x[0].ncols
    )


def _reduce_rows(statement: Statement, x: list[Any], _regions: list[Any], _out: Any) -> Any:
    op = operator_of(statement.operator)
    return _multiplied(x[0].reduce_rowwise(op), op, x)


def _mode_rows(statement: Statement, x: list[Any], _regions: list[Any], out: Any) -> Any:
    """Sum by key on the host: SuiteSparse has no such operation."""
    others, monoid = x[2:], statement.operator
    preferred = (
        dict(zip(*_listed(others.pop(0)), strict=True)) if statement.param("prefers") else {}
    )
    seed = None
    if statement.param("draws"):
        seed = others.pop(0).value
        if seed is None:
            raise EmptyObject("an empty Scalar was used where a value is needed")
    places, keys = _listed(x[1])
    key_of = dict(zip(places, keys, strict=True))
    rows, cols, values = x[0].to_coo()
    if statement.param("counts"):
        values = np.ones(len(values), np.int64)
    values = cast_array(values, monoid.type.array_dtype)
    sums: dict[int, dict[int, Any]] = {}
    for i, j, value in zip(rows.tolist(), cols.tolist(), values, strict=True):
        if j in key_of:
            row, key = sums.setdefault(i, {}), key_of[j]
            row[key] = monoid.op.scalar_function(row.get(key, monoid.identity), value, 0, 0, 0)
    found = [mode_of(row, i, preferred.get(i), seed) for i, row in sums.items()]
    dtype = dtype_of(x[1])
    named = np.array(list(sums), np.int64)
    return vector_of(out.size, dtype, named, np.array(found, dtype.array_dtype))


def _listed(vector: Any) -> tuple[list[int], list[Any]]:
    places, values = vector.to_coo()
    return places.tolist(), values.tolist()


def _single(dtype: Any, value: Any) -> Any:
    return lifted(ScalarArrays(dtype, value))


def _reduce(statement: Statement, x: list[Any], _regions: list[Any], _out: Any) -> Any:
    monoid, operand = statement.operator, _lift(x[0])
    method = operand.reduce if operand.ndim == 1 else operand.reduce_scalar
    total = method(operator_of(monoid)).new().value
    if total is None and statement.param("identity"):
        total = monoid.identity
    return _single(monoid.type, total)


def _copy(_statement: Statement, x: list[Any], _regions: list[Any], _out: Any) -> Any:
    return _lift(x[0])


def _nvals(_statement: Statement, x: list[Any], _regions: list[Any], out: Any) -> Any:
    return _single(out.dtype, x[0].nvals)


def _key(kind: str, region: Any, *, as_list: bool = False) -> Any:
    if region is None:
        return slice(None)
    if isinstance(region, tuple):
        start, stop, step = region
        if start < 0:
            return np.empty(0, np.int64)  # the reverse of nothing; of a list it knows no dtype
        return slice(start, None if stop < 0 else stop, step)
    region = np.asarray(region)
    return int(region[0]) if kind == "one" and not as_list else region


def _keys(statement: Statement, regions: list[Any], *, as_list: bool = False) -> Any:
    pairs = zip(statement.indices, regions, strict=True)
    keys = tuple(_key(spec.kind, region, as_list=as_list) for spec, region in pairs)
    return keys[0] if len(keys) == 1 else keys


def _extract(statement: Statement, x: list[Any], regions: list[Any], out: Any) -> Any:
    taken = x[0][_keys(statement, regions)]
    if isinstance(out, ScalarArrays):
        return _single(dtype_of(x[0]), taken.new().value)
    return taken


def _assign(statement: Statement, x: list[Any], regions: list[Any], out: Any) -> Any:
    given, is_value = x[0], isinstance(x[0], ScalarArrays)
    if isinstance(out, ScalarArrays):
        return _lift(given)
    if is_value:
        given = library().Scalar.from_value(given.value, given.dtype.name)
    # A value goes to a list of one position; a vector to a single row or column, and so does a
    # value under a mask that is a vector.
    submask = bool(statement.param("submask"))
    keys = _keys(statement, regions, as_list=is_value and not submask)
    if not statement.indices:
        keys = slice(None) if out.ndim == 1 else (slice(None), slice(None))
    return Pending(given, keys, submask)


def _checked(positions: Any, size: int, what: str = "gather / scatter index") -> Any:
    beyond = positions[(positions < 0) | (positions >= size)]
    if len(beyond):
        raise IndexOutOfBound(f"{what} {beyond[0]} is outside [0, {size})")
    return positions


def _gather(_statement: Statement, x: list[Any], _regions: list[Any], out: Any) -> Any:
    u, (places, positions) = x[0], x[1].to_coo()
    numbers, values = u[_checked(positions, u.size)].new().to_coo()
    return vector_of(out.size, dtype_of(u), places[numbers], values)


def _scatter(statement: Statement, x: list[Any], _regions: list[Any], out: Any) -> Any:
    dup = statement.param("dup")
    places, positions = x[1].to_coo()
    _checked(positions, out.size)
    here, values = x[0].dup(dup.type.name).to_coo()
    _, mine, theirs = np.intersect1d(here, places, assume_unique=True, return_indices=True)
    return vector_of(
        out.size, dup.type, positions[theirs], values[mine], operator_of(dup.op)
    )  # fmt: skip


def _diag(statement: Statement, x: list[Any], _regions: list[Any], out: Any) -> Any:
    if statement.param("by_value"):
        places, values = x[0].to_coo()
        columns = _checked(values, out.ncols, "one_hot value")
        shape = {"nrows": out.nrows, "ncols": out.ncols}
        return library().Matrix.from_coo(places, columns, True, **shape)
    k = statement.param("k", 0)
    return (x[0].new() if statement.args[0].transposed else x[0]).diag(k)


_OPERATIONS: dict[str, Callable[[Statement, list[Any], list[Any], Any], Any]] = {
    **dict.fromkeys(PRODUCTS, _product),
    **dict.fromkeys(("ewise_add", "ewise_mult", "ewise_union"), _ewise),
    **{
        call.__name__[1:]: call
        for call in (
            _apply, _select, _select_k, _reduce_rows, _mode_rows, _reduce, _copy, _assign,
            _extract, _gather, _scatter, _nvals, _diag,
        )
    },
}  # fmt: skip
