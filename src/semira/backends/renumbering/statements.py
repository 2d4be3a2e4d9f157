"""Running statements on huge objects: renumber, run the ordinary kernels, number back."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from semira.backends.renumbering import positional, regions
from semira.backends.renumbering.axes import (
    Task,
    Use,
    check_listable,
    compact,
    find_huge,
    give_lists,
    letter_all,
    list_axes,
)
from semira.backends.renumbering.objects import (
    Store,
    WideObject,
    as_wide,
    empty_object,
    settled,
    thing_of,
)
from semira.base.dtypes import INT64, DataType
from semira.contract import PRODUCTS, Program, Statement
from semira.contract.backend import Binding, Outcome
from semira.formats.index import WIDE
from semira.ops import TypedMonoid


def run_statement(store: Store, program: Program, bindings: list[Binding]) -> tuple[Outcome, Any]:
    """Run a program of one statement; return its new output as well.

    That is the output that was bound, changed, where it is an ordinary object. Raises OutOfMemory
    if the result would have an entry at each of 2**31 positions or more. Raises
    NotImplementedException if the operator reads values and positions at once.
    """
    (statement,) = program.body
    assert isinstance(statement, Statement)
    task = _task(store, program, statement, bindings)
    outcome = Outcome()
    step = task
    for step in _steps(store, task):
        outcome = _run(store, step)
    return outcome, thing_of(step.out.x) if isinstance(step.out, Use) else step.out[1]


def _task(store: Store, program: Program, statement: Statement, bindings: list[Binding]) -> Task:
    def use(slot: int, transposed: bool = False) -> Any:
        given = program.slots[slot]
        if given.kind == "scalar":
            return given.dtype, bindings[slot]
        return Use(as_wide(store, bindings[slot]), "", transposed)

    args = [use(arg.slot, arg.transposed) for arg in statement.args]
    mask = None if statement.mask is None else use(statement.mask.slot)
    given = [None if spec.slot is None else bindings[spec.slot] for spec in statement.indices]
    return Task(statement, args, mask, use(statement.out), given)


def _steps(store: Store, task: Task) -> list[Task]:
    """Return the statement as statements without positions in their operators."""
    if not any(use.x.is_wide for use in task.uses()):
        return [task]
    made = positional.result_of(store, task)
    if made is not None:
        return [_written(task, made)]
    if task.statement.op in PRODUCTS:
        positional.follow_product(store, task)
    return positional.steps_of(store, task) or [task]


def _written(task: Task, made: Use) -> Task:
    statement = replace(task.statement, op="copy", operator=None, params=(), indices=())
    return Task(statement, [made], task.mask, task.out, [])


def _run(store: Store, task: Task) -> Outcome:
    if task.statement.op == "nvals" and task.args[0].x.everywhere:
        # The count of a vector's entries is a copy of its size.
        task.args = [(INT64, np.int64(task.args[0].x.shape[0]))]
        task.statement = replace(task.statement, op="copy")
    everywhere = _is_everywhere(task)
    if isinstance(task.out, Use) and task.out.x.everywhere and _is_overwritten(task):
        task.out.x = empty_object(store, task.out.x.shape, task.out.x.dtype)
    if task.statement.op in ("extract", "assign"):
        regions.letter(task)
    else:
        letter_all(store, task)
    find_huge(task)
    given = task.regions
    if everywhere:
        task.lists["i"] = store.library.zeros(1, np.int64)
    else:
        check_listable(task)
        if _ends_in_ordinary_vector(task):
            return _run_through_list(store, task)
        give_lists(store, task)
        given = _renumbered(store, task)
    list_axes(store, task)
    program, bound = compact(store, task, given)
    outcome, made = store.run(program, bound)
    if isinstance(task.out, Use):
        task.out.x = _result(store, task, made, everywhere=everywhere)
    else:
        task.out = (task.out[0], made)
    return outcome


def _result(store: Store, task: Task, made: Any, *, everywhere: bool) -> WideObject:
    """Return the new output, numbered back."""
    ids = tuple(task.lists.get(letter) for letter in task.out.letters)
    there = everywhere and store.nvals(made) > 0
    return settled(store, replace(task.out.x, ids=ids, small=made, everywhere=there))


def _ends_in_ordinary_vector(task: Task) -> bool:
    """Whether a matrix has a list along the axis of an output that has none."""
    out = task.out
    if not isinstance(out, Use) or out.x.kind != "vector" or out.x.shape[0] >= WIDE:
        return False
    return out.letters in task.listed and out.x.ids[0] is None


def _run_through_list(store: Store, task: Task) -> Outcome:
    """Compute on a list; an ordinary statement writes the result: mask, accumulator and all."""
    bare = replace(task.statement, mask=None, accum=None, replace=False)
    listed = empty_object(store, task.out.x.shape, _dtype_of(task), listed=(True,))
    made = Use(listed, "")
    outcome = _run(store, Task(bare, task.args, None, made, task.regions))
    _run(store, _written(task, made))
    return outcome


def _dtype_of(task: Task) -> DataType:
    """Return the dtype of a vector that is made of matrices, before it is written."""
    operator = task.statement.operator
    if task.statement.op in ("mxv", "vxm"):
        operator = operator.monoid
    dtype: DataType = task.args[-1 if task.statement.op == "mode_rows" else 0].x.dtype
    return operator.type if isinstance(operator, TypedMonoid) else dtype


def _renumbered(store: Store, task: Task) -> list[Any]:
    """Return the regions of a statement over the lists of their axes."""
    if task.statement.op in ("extract", "assign"):
        return regions.prepare(store, task)
    if task.statement.op in ("gather", "scatter"):
        regions.follow_indices(store, task)
    return task.regions


# vectors with an entry at every position ---------------------------------------------------------
def _is_overwritten(task: Task) -> bool:
    """Whether nothing of what the output held can stay."""
    statement = task.statement
    whole = statement.op != "assign" or all(region is None for region in task.regions)
    return task.mask is None and statement.accum is None and whole


def _is_everywhere(task: Task) -> bool:
    """Whether every position of the result has the same value, or none has one."""
    statement, out = task.statement, task.out
    if not isinstance(out, Use) or out.x.kind != "vector" or not out.x.is_wide:
        return False
    if task.mask is not None or (statement.accum is not None and not out.x.everywhere):
        return False
    if any(region is not None for region in task.regions):
        return False
    vectors = [arg for arg in task.args if isinstance(arg, Use)]
    if not all(arg.x.everywhere for arg in vectors):
        return False
    return statement.op == "assign" or (bool(vectors) and statement.op in _POINTWISE)


_POINTWISE = ("copy", "apply", "select", "ewise_add", "ewise_mult", "ewise_union", "extract")
