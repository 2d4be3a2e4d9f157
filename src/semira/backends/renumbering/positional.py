"""Statements on huge objects whose operator looks at positions: those stand on the lists."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from semira.backends.renumbering import positions
from semira.backends.renumbering.axes import Task, Use
from semira.backends.renumbering.lists import checked
from semira.backends.renumbering.objects import (
    Array,
    Store,
    WideObject,
    empty_object,
    from_places,
    true_places,
    with_values,
)
from semira.base.dtypes import BOOL
from semira.base.errors import EmptyObject, OutOfMemory
from semira.ops import TypedOp

_ELEMENTWISE = ("ewise_add", "ewise_mult", "ewise_union")


def follow_product(store: Store, task: Task) -> None:
    """Let an operand of a product take its positions as values, if the multiplication asks."""
    taking = positions.product(task.statement)
    if taking is None:
        return
    op = task.statement.operator.binaryop
    task.statement, which, names = taking
    use: Use = task.args[which]
    use.x = _as_values(store, use, op, names)


def _effective(store: Store, use: Use) -> tuple[Array, ...]:
    """Return where entries stand as the statement sees them: rows, columns."""
    places = true_places(store, use.x)
    if len(places) == 1:
        return (*places, store.library.zeros_like(places[0]))
    return places[::-1] if use.transposed else places


def _as_values(store: Store, use: Use, op: TypedOp, names: str) -> WideObject:
    """Return the operand with the results of `op` on its positions as values."""
    rows, cols = _effective(store, use)
    values = positions.values_at(op, names, rows, cols)
    return with_values(store, use.x, values.astype(op.return_type.np_type), op.return_type)


def _is_positional(task: Task) -> bool:
    operator = task.statement.operator
    return isinstance(operator, TypedOp) and positions.looks_at_positions(operator)


def result_of(store: Store, task: Task) -> Use | None:
    """Return the result of a statement that is computed from positions; None for all others.

    It is what ``apply``, ``select`` and ``diag`` leave to be written. Raises EmptyObject if the
    thunk or bound operand is empty.
    """
    op = task.statement.op
    if op == "diag":
        return Use(_diagonal(store, task), "")
    if op not in ("apply", "select") or not _is_positional(task):
        return None
    use = next(arg for arg in task.args if isinstance(arg, Use))
    if use.x.everywhere:
        raise OutOfMemory(f"the positions of {use.x.shape[0]} entries (limit: fewer than 2**31)")
    operator = task.statement.operator
    values = store.applied(
        operator,
        use.x.small,
        _effective(store, use),
        _bound(store, task),
        left=task.args[0] is not use,
    )
    if op == "apply":
        made = with_values(store, use.x, values, operator.return_type)
    else:
        made = _kept(store, use.x, store.library.flatnonzero(values))
    return Use(made, "", use.transposed)


def _bound(store: Store, task: Task) -> Any:
    """Return the scalar beside an operand and its dtype; None if there is none."""
    given = [arg for arg in task.args if not isinstance(arg, Use)]
    if not given:
        return None
    dtype, binding = given[0]
    value = store.scalar(binding)
    if value is None:
        raise EmptyObject("a scalar that has to have a value is empty")
    return value, dtype


def _kept(store: Store, x: WideObject, entries: Array) -> WideObject:
    """Return some of the entries of an object."""
    places = tuple(at[entries] for at in store.places(x.small))
    shape = store.describe(x.small)[0]
    return replace(x, small=store.moved(x.small, shape, places, entries))


def _diagonal(store: Store, task: Task) -> WideObject:
    """Return the k-th diagonal of a matrix, or the matrix with a vector on it."""
    use: Use = task.args[0]
    k = int(task.statement.param("k", 0))
    down, right = max(-k, 0), max(k, 0)
    shape = task.out.x.shape
    if use.x.kind == "vector":
        if use.x.everywhere:
            raise OutOfMemory(
                f"a diagonal of {use.x.shape[0]} entries (limit: fewer than 2**31); use a vector "
                "without an entry at every position"
            )
        (at,) = true_places(store, use.x)
        if task.statement.param("by_value"):
            values = checked(store.values(use.x.small), shape[1], "one_hot value")
            placed = (at, values.astype("int64"))
            made = from_places(store, use.x.small, use.x.dtype, shape, placed, None)
            return with_values(store, made, store.library.ones(len(at), bool), BOOL)
        placed = (at + down, at + right)
        return from_places(store, use.x.small, use.x.dtype, shape, placed, None)
    rows, cols = _effective(store, use)
    here = store.library.flatnonzero(cols - rows == k)
    at = rows[here] - down
    if use.transposed:
        order = store.library.argsort(at)
        here, at = here[order], at[order]
    return from_places(store, use.x.small, use.x.dtype, shape, (at,), here)


def steps_of(store: Store, task: Task) -> list[Task] | None:
    """Return an element-wise statement on positions as several without; None for all others.

    The output of each step but the last is an operand of the next one.
    """
    statement = task.statement
    if statement.op not in _ELEMENTWISE or not _is_positional(task):
        return None
    op = statement.operator
    names = positions.pair_names(op)
    join, meet = positions.join_and_meet(statement)
    a, b = task.args[:2]
    taken = Use(_as_values(store, a, op, names), "", a.transposed)
    if statement.op == "ewise_mult":
        return [replace(task, statement=meet, args=[taken, b])]
    if statement.op == "ewise_union":
        other = Use(_as_values(store, b, op, names), "", b.transposed)
        return [replace(task, statement=join, args=[taken, other])]

    def alone(step: Any, left: Use, right: Use) -> Task:
        made = empty_object(store, task.out.x.shape, op.return_type)
        bare = replace(step, mask=None, accum=None, replace=False)
        return Task(bare, [left, right], None, Use(made, ""), [])

    both = alone(meet, taken, b)
    joined = alone(join, both.out, a)
    return [both, joined, replace(task, statement=join, args=[joined.out, b])]
