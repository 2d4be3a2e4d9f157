"""Programs with huge objects: statements run on small ones in their place, loops one by one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from semira.backends import interpreter
from semira.backends.interpreter import Cell, Interpreted, MaskData, Produced, Undo
from semira.backends.renumbering import positional, regions
from semira.backends.renumbering.axes import (
    Parts,
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
from semira.contract import PRODUCTS, Arg, IndexSpec, Mask, Method, Program, Slot, Statement
from semira.contract.backend import Binding, Outcome
from semira.contract.rule import Const
from semira.formats import ScalarArrays
from semira.formats.index import WIDE
from semira.ops import TypedMonoid


def run_program(store: Store, program: Program, bindings: list[Binding]) -> Outcome:
    """Run a program with huge objects: a statement as a whole, anything else through the loops."""
    if len(program.body) == 1 and isinstance(program.body[0], Statement):
        outcome, made = run_statement(store, program, bindings)
        handle = bindings[program.body[0].out]
        if made is not handle:
            _give_back(store, handle, made)
        return outcome
    return _run_loops(store, program, bindings)


def _run_loops(store: Store, program: Program, bindings: list[Binding]) -> Outcome:
    """Run a program of several statements or loops; what was bound holds the results after."""
    cells: list[Any] = []
    for slot, given in zip(program.slots, bindings, strict=True):
        is_handle = slot.kind in ("vector", "matrix") and given is not None
        if slot.kind == "scalar" and hasattr(given, "kind"):
            cells.append(Cell(store.name, "scalar", store.get(given)))
        else:
            cells.append(Cell(store.name, slot.kind, given) if is_handle else given)
    before = [cell.data if isinstance(cell, Cell) else None for cell in cells]
    try:
        return interpreter.execute(Interpreted(program), cells, HugeKernels(store), store.name)
    finally:
        for cell, given, old in zip(cells, bindings, before, strict=True):
            if isinstance(cell, Cell) and cell.data is not old:
                _give_back(store, given, cell.data)


def _give_back(store: Store, handle: Any, data: Any) -> None:
    """Let a handle hold what its cell holds."""
    if isinstance(handle, WideObject):
        handle.take(as_wide(store, data))
    else:
        store.take(handle, store.put(data) if isinstance(data, ScalarArrays) else data)


class HugeKernels:
    """The interpreter's hooks: data never change, every statement makes new ones."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def scalar(self, arrays: ScalarArrays) -> ScalarArrays:
        """Return the data of a scalar: in a loop, scalars are on the host."""
        return arrays

    def empty(self, slot: Slot, shape: tuple[int, ...]) -> Any:
        """Return data without entries for a temporary."""
        if not shape:
            return ScalarArrays(slot.dtype, None)
        return thing_of(empty_object(self._store, shape, slot.dtype))

    def shape(self, data: Any) -> tuple[int, ...]:
        """Return ``()``, ``(size,)`` or ``(nrows, ncols)``."""
        return () if isinstance(data, ScalarArrays) else as_wide(self._store, data).shape

    def nvals(self, data: Any) -> int:
        """Return the number of entries."""
        if isinstance(data, ScalarArrays):
            return data.nvals
        x = as_wide(self._store, data)
        return x.shape[0] if x.everywhere else self._store.nvals(x.small)

    def counts(
        self, name: str, statement: Statement, args: list[Any], mask: MaskData | None, out: Any
    ) -> float:
        """Return a bound for one of `contract.rule.COUNTS`; every method costs the same here."""
        del mask
        if name == "block":
            # Too many vectors for anything to be weighed.
            return float("inf")
        vector, matrix = args[:2] if statement.op == "vxm" else args[1::-1]
        if name in ("n", "rows", "open_rows"):
            return float(self.shape(vector if name == "n" else out)[0])
        return float(self.nvals(vector if name == "frontier" else matrix))

    def compute(
        self, statement: Statement, method: Method, args: list[Any], mask: MaskData | None, out: Any
    ) -> Produced:
        """Return the output's new data: the statement is run as a whole, on a copy."""
        store = self._store
        parts = Parts()

        def add(data: Any, role: str = "input") -> int:
            if isinstance(data, ScalarArrays):
                return parts.add("scalar", data.dtype, data.value, role)
            x = as_wide(store, data)
            return parts.add(x.kind, x.dtype, data, role)

        given = tuple(
            Arg(add(data), arg.transposed) for data, arg in zip(args, statement.args, strict=False)
        )
        specs = tuple(
            spec if region is None else IndexSpec(spec.kind, parts.add("index", INT64, region))
            for spec, region in zip(statement.indices, args[len(given) :], strict=True)
        )
        tested = None
        if mask is not None:
            tested = Mask(add(mask.data), mask.structural, mask.complement)
        number = add(out, "inout")
        parts.bound[number] = self._copy(out)
        plan = statement.plan
        if plan is not None:
            plan = replace(plan, methods=(method,), rule=Const(0.0))
        single = replace(statement, out=number, args=given, mask=tested, indices=specs, plan=plan)
        outcome, made = run_statement(store, Program(tuple(parts.slots), (single,)), parts.bound)
        touched = outcome.trace[-1].touched if len(outcome.trace) else 0
        return Produced(store.get(made) if isinstance(out, ScalarArrays) else made, touched)

    def _copy(self, out: Any) -> Any:
        if isinstance(out, ScalarArrays):
            return self._store.put(out)
        return replace(out) if isinstance(out, WideObject) else self._store.duplicate(out)

    def finish(
        self,
        statement: Statement,
        result: Any,
        mask: MaskData | None,
        out: Any,
        journal: list[Undo] | None,
    ) -> Any:
        """Return the new data, which `compute` has finished."""
        del statement, mask, out, journal
        return result


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
