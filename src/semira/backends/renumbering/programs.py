"""Programs with huge objects; loops go statement by statement through the interpreter."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from semira.backends import interpreter
from semira.backends.interpreter import Cell, Interpreted, MaskData, Produced, Undo
from semira.backends.renumbering.axes import Parts
from semira.backends.renumbering.objects import Store, WideObject, as_wide, empty_object, thing_of
from semira.backends.renumbering.statements import run_statement
from semira.base.dtypes import INT64
from semira.contract import Arg, IndexSpec, Mask, Method, Program, Slot, Statement
from semira.contract.backend import Binding, Outcome
from semira.contract.rule import Const
from semira.formats import ScalarArrays


def has_wide(bindings: list[Binding]) -> bool:
    """Whether a huge object is among what is bound."""
    # A plain loop: every execution asks.
    for given in bindings:  # noqa: SIM110
        if type(given) is WideObject:
            return True
    return False


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
