"""Prepared Programs: their kernels by size class and the memory they work in."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira.backends.cuda.lower import Lowered
from semira.backends.cuda.runtime.device import Runtime
from semira.backends.cuda.runtime.frame import Frame
from semira.backends.cuda.runtime.kernels import Kernels
from semira.backends.cuda.runtime.objects import CudaVector
from semira.backends.cuda.runtime.parts import Buffer
from semira.backends.cuda.runtime.savepoint import Savepoint
from semira.backends.cuda.runtime.vector_memory import NO_ENTRIES
from semira.base.recent import Recent
from semira.contract import TRACE_ROWS, Loop, Program, walk_statements

#: Reports of loops that one execution keeps.
REPORTS = 256

#: Words of a TraceRow, and of a Result before its reports.
ROW_WORDS = 6
RESULT_WORDS = 10

#: Words of Control (kernels/common/control.cuh): the result, the rows on device and host.
RESULT = 2
ROWS = 3

#: Word of a Result with the complete iterations of the outermost loop; with those of one block.
COMPLETED = 7

#: Words of a Result with the rows that were written, and with the time from which they count.
WRITTEN, BEGUN = 1, 9

#: A Result before its launch.
_FRESH = np.array([0, 0, -1, -1, -1, 0, 0, 0, 0, 0], np.int64)

#: Combinations of sizes that an executable remembers to fit together.
_CHECKED = 256


@dataclass(slots=True, eq=False)
class CudaExecutable:
    """A lowered Program, its kernels, and the memory they work in."""

    program: Program
    lowered: Lowered
    name: str
    #: The table as it was filled last.
    frame: Frame = field(init=False)
    #: Whether a statement names positions.
    has_regions: bool = field(init=False)
    #: Slot of the limit, if the program is a loop that nothing but its limit ends.
    once: int | None = field(init=False)
    #: Whether its results are long, and all such programs take turns with them.
    shares_results: bool = field(init=False)
    #: Rows of the trace that fit, a power of two: later ones take the places of the first.
    row_capacity: int = field(init=False)
    kernels: Kernels = field(init=False)
    memory: dict[str, tuple[int, tuple[Any, ...]]] = field(default_factory=dict)
    temporaries: dict[int, CudaVector] = field(default_factory=dict)
    #: Sizes that fit together.
    checked: Recent[tuple[tuple[int, ...], ...], None] = field(init=False)
    #: Whether an error takes a broken iteration back; not if the host takes more back than that.
    keeps: bool = True
    #: Copies of what the program writes, if it may end inside of an iteration.
    savepoint: Savepoint | None = None
    #: The table on the device, where it is too long for a parameter.
    table: Buffer | None = None
    rows: Any = None
    #: What a launch writes for itself: zero between launches.
    state: Buffer | None = None
    results: list[NDArray[np.int64]] = field(default_factory=list)
    _placed: NDArray[np.int64] | None = None

    def __post_init__(self) -> None:
        self.kernels = Kernels(self.program, self.lowered, self.name)
        self.frame, self.checked = Frame(self.program, self.lowered.table), Recent(_CHECKED)
        self.has_regions = any(
            spec.slot is not None
            for statement in walk_statements(self.program.body)
            for spec in statement.indices
        )
        self.once = _limit_of_plain_loop(self.program)
        products = len(self.lowered.products)
        self.shares_results = self.lowered.has_loop and products > 0
        self.row_capacity = TRACE_ROWS if self.shares_results else power_above(products)

    @property
    def code_bytes(self) -> int:
        """Bytes of machine code of its kernels."""
        return self.kernels.code_bytes

    @property
    def workspace_bytes(self) -> int:
        """Bytes of device memory that it keeps between executions."""
        buffers = [buffer for _, made in self.memory.values() for buffer in made]
        buffers += [b for vector in self.temporaries.values() for b in vector.buffers()]
        kept = (self.table, self.rows, self.state)
        buffers += [buffer for buffer in kept if buffer is not None]
        copies = 0 if self.savepoint is None else self.savepoint.nbytes
        return copies + sum(int(buffer.size) for buffer in buffers)

    def empty_planes(self, runtime: Runtime) -> None:
        """Empty its own planes and temporaries, as a launch expects them.

        One that ends inside of an iteration leaves what was pushed there and not yet merged.
        """
        for spec in self.lowered.workspaces:
            if spec.kind == "plane" and spec.name in self.memory:
                assert spec.dtype is not None
                need, (values, words, _) = self.memory[spec.name]
                runtime.clear(words)
                rest = np.full(need, spec.identity, spec.dtype.array_dtype)
                runtime.upload(rest, values)
        for vector in self.temporaries.values():
            for _, words, _ in vector.planes:
                runtime.clear(words)
            runtime.upload(np.array(NO_ENTRIES, np.int64), vector.state)

    def take_result(self, runtime: Runtime, is_read: bool) -> NDArray[np.int64]:
        """Return host memory for one execution's result; `give_result` takes it back.

        A program without products has one result for all its runs: who waits reads it at once, and
        nobody else reads it.
        """
        results = runtime.results if self.shares_results else self.results
        if results:
            result = results.pop() if self.lowered.products else results[0]
        else:
            words = RESULT_WORDS + 2 * REPORTS + ROW_WORDS * self.row_capacity
            result = runtime.pinned(words)
            if not self.lowered.products:
                self.results.append(result)
        if result is not self._placed:
            control, place = self.lowered.table.offsets["control"], result.ctypes.data
            self.frame.words[control + RESULT] = place
            self.frame.words[control + ROWS + 1] = place + 8 * (RESULT_WORDS + 2 * REPORTS)
            self._placed = result
        if is_read:
            reset_result(result)
        return result

    def give_result(self, runtime: Runtime, result: NDArray[np.int64]) -> None:
        """Allow the memory to be used by later executions, which run after this one."""
        (runtime.results if self.shares_results else self.results).append(result)


def _limit_of_plain_loop(program: Program) -> int | None:
    """Return the slot of a loop's limit if that alone ends it, and the loop is all there is."""
    loop = program.body[0]
    if len(program.body) > 1 or not isinstance(loop, Loop) or len(loop.bodies) > 1:
        return None
    # An inner loop may reach its own limit, which is an error.
    has_inner = any(isinstance(item, Loop) for item in loop.bodies[0])
    is_plain = loop.explicit_limit and loop.conditions[0] is None and not has_inner
    return loop.limit if is_plain else None


def power_above(count: int) -> int:
    """Return the least power of two that is not below a count.

    Examples
    --------
    >>> [power_above(count) for count in (0, 1, 2, 3, 8, 9)]
    [1, 1, 2, 4, 8, 16]
    """
    return 1 << max(0, count - 1).bit_length()


def reset_result(result: NDArray[np.int64]) -> None:
    """Make a result what a launch expects to find."""
    result[:RESULT_WORDS] = _FRESH
