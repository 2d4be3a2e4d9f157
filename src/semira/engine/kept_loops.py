"""A loop that stays with the matrix it works on: recorded and prepared once, run many times.

Nothing of it changes from run to run but the objects. All but the matrix are made anew for each
run, as handles on the device: those of results become values, the others are given back when the
loop has ended. So two threads may run one at the same time. It holds no matrix.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from semira.base.errors import InvalidValue
from semira.base.memory import raise_with_figures
from semira.contract.backend import Arrays, Outcome
from semira.engine import run, trace
from semira.engine.values import Value, put_on
from semira.engine.warm import Asked, Found


@dataclass(frozen=True, slots=True, eq=False)
class KeptLoop:
    """A prepared loop, and what its slots are bound to."""

    found: Found
    device: str
    #: Literals and regions by slot; None in the places of objects.
    bound: list[Any]
    #: Slot of the matrix.
    matrix: int
    #: Slots of the other objects, and what these begin with.
    slots: tuple[int, ...]
    starts: tuple[Arrays, ...]
    #: Which of the others are given for each run, which are results, and which the device is to
    #: forget after it.
    given: tuple[int, ...]
    results: tuple[int, ...]
    inner: tuple[int, ...]

    @classmethod
    def of(
        cls, found: Found, asked: Asked, matrix: Value, given: list[Value], results: list[Value]
    ) -> KeptLoop:
        """Return the loop of what it was recorded with, which holds what objects begin with.

        Raises InvalidValue if it has another matrix, or writes this one; if something given or a
        result is not part of it; or if something given begins empty.
        """
        others = [value for value in asked.numbers if value is not matrix]
        is_known = all(value in others for value in (*given, *results))
        is_read = matrix in asked.numbers and asked.numbers[matrix] not in found.written
        if not (is_known and is_read) or any(value.kind == "matrix" for value in others):
            raise InvalidValue(
                "a kept loop reads the one matrix that it is kept with, and what is given and "
                "results are vectors and scalars of its body"
            )
        starts = tuple(value.read() for value in others)
        chosen, made = tuple(map(others.index, given)), tuple(map(others.index, results))
        if not all(starts[each].nvals for each in chosen):
            raise InvalidValue("what is given to a kept loop has entries")
        bound = [None if isinstance(each, Value) else each for each in asked.bound]
        has_memory = found.backend.capabilities().own_memory
        inner = [each for each in range(len(others)) if has_memory and each not in made]
        slots = tuple(asked.numbers[value] for value in others)
        return cls(
            found, asked.device, bound, asked.numbers[matrix], slots, starts, chosen, made,
            tuple(inner),
        )  # fmt: skip

    def run(self, matrix: Value, given: Sequence[Arrays]) -> tuple[Outcome, list[Value]]:
        """Run it with a matrix and contents of what is given; return the outcome and the results.

        Raises what `run.run_loop` raises.
        """
        listed = list(self.starts)
        for which, arrays in zip(self.given, given, strict=True):
            listed[which] = arrays
        try:
            handle = matrix.handle_on(self.device)
            return self._run(matrix, handle, listed)
        except MemoryError as error:
            raise_with_figures(error, self.device, run.REMEDY)

    def _run(self, matrix: Value, handle: Any, listed: list[Arrays]) -> tuple[Outcome, list[Value]]:
        backend, executable = self.found.backend, self.found.executable
        handles = put_on(backend, listed)
        if trace.has_listeners():
            return self._told(matrix, listed, handles)
        # Before it runs: they give their handles back if it fails.
        made = [
            Value.held(handles[k], listed[k].dtype, listed[k].shape, matrix) for k in self.results
        ]
        bindings = self.bound.copy()
        bindings[self.matrix] = handle
        for slot, each in zip(self.slots, handles, strict=True):
            bindings[slot] = each
        assert executable is not None
        try:
            outcome = backend.execute(executable, bindings)
        finally:
            for k in self.inner:
                backend.release(handles[k])
        trace.note(executable.program, outcome)
        return outcome, made

    def _told(
        self, matrix: Value, listed: list[Arrays], handles: list[Any]
    ) -> tuple[Outcome, list[Value]]:
        """Run it with a value for each object: who listens counts their bytes."""
        values = [
            Value.held(each, arrays.dtype, arrays.shape, matrix)
            for each, arrays in zip(handles, listed, strict=True)
        ]
        numbers = dict(zip((matrix, *values), (self.matrix, *self.slots), strict=True))
        bound = self.bound.copy()
        for value, slot in numbers.items():
            bound[slot] = value
        return run.carry_out(self.found, Asked(bound, numbers)), [values[k] for k in self.results]
