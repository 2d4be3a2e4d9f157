"""Running statements on huge objects: renumber, run the ordinary kernels, number back."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from semira.backends.cuda.wide import positions, regions
from semira.backends.cuda.wide.axes import (
    Task,
    Use,
    check_listable,
    compact,
    letter_all,
    list_axes,
)
from semira.backends.cuda.wide.objects import as_wide, empty_like, settled
from semira.backends.cuda.wide.store import CudaStore
from semira.base.dtypes import INT64
from semira.contract import PRODUCTS, Program, Statement
from semira.contract.backend import Binding, Outcome


def run_statement(store: CudaStore, program: Program, bindings: list[Binding]) -> Outcome:
    """Run a program of one statement; the output is replaced at the end.

    Raises
    ------
    OutOfMemory
        The result would have an entry at each of 2**31 positions or more.
    NotImplementedException
        The operator reads values and positions at once.
    """
    (statement,) = program.body
    assert isinstance(statement, Statement)
    task = _task(store, program, statement, bindings)
    outcome = Outcome()
    for step in _steps(store, task):
        outcome = _run(store, step)
    return outcome


def _task(
    store: CudaStore, program: Program, statement: Statement, bindings: list[Binding]
) -> Task:
    def use(slot: int, transposed: bool = False) -> Any:
        given = program.slots[slot]
        if given.kind == "scalar":
            return given.dtype, bindings[slot]
        return Use(as_wide(store, bindings[slot]), "", transposed)

    args = [use(arg.slot, arg.transposed) for arg in statement.args]
    mask = None if statement.mask is None else use(statement.mask.slot)
    given = [None if spec.slot is None else bindings[spec.slot] for spec in statement.indices]
    return Task(statement, args, mask, use(statement.out), given)


def _steps(store: CudaStore, task: Task) -> list[Task]:
    """Return the statement as statements without positions in their operators."""
    if not any(use.x.is_wide for use in task.uses()):
        return [task]
    made = positions.result_of(store, task)
    if made is not None:
        return [_written(task, made)]
    if task.statement.op in PRODUCTS:
        positions.follow_product(store, task)
    return positions.steps_of(store, task) or [task]


def _written(task: Task, made: Use) -> Task:
    """Return the task that writes a result."""
    statement = replace(task.statement, op="copy", operator=None, params=())
    return replace(task, statement=statement, args=[made])


def _run(store: CudaStore, task: Task) -> Outcome:
    if task.statement.op == "nvals" and task.args[0].x.everywhere:
        task = _counted(task)
    handle = task.out.x if isinstance(task.out, Use) else None
    everywhere = _is_everywhere(task)
    if handle is not None and handle.everywhere and _is_overwritten(task):
        task = replace(task, out=Use(empty_like(store, handle, handle.dtype), ""))
    given = task.regions
    if everywhere:
        letter_all(task)
        task.lists["i"] = store.library.zeros(1, np.int64)
    else:
        check_listable(task)
        given = _lettered(store, task)
    list_axes(store, task)
    program, bound, target = compact(store, task, given)
    outcome = store.run(program, bound)
    if handle is not None and handle.is_wide:
        ids = tuple(task.lists.get(letter) for letter in task.out.letters)
        there = everywhere and store.nvals(target) > 0
        handle.take(settled(store, replace(handle, ids=ids, small=target, everywhere=there)))
    return outcome


def _lettered(store: CudaStore, task: Task) -> list[Any]:
    """Give every use its letters; return the regions over the lists of their axes."""
    if task.statement.op in ("extract", "assign"):
        return regions.prepare(store, task)
    letter_all(task)
    if task.statement.op in ("gather", "scatter"):
        regions.follow_indices(store, task)
    return task.regions


# vectors with an entry at every position ---------------------------------------------------------
def _counted(task: Task) -> Task:
    """Return the count of a vector's entries, which is its size, as a copy."""
    count = (INT64, np.int64(task.args[0].x.shape[0]))
    return replace(task, statement=replace(task.statement, op="copy"), args=[count])


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
