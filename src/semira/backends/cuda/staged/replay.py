"""A sum of masked products that is asked for again: its one launch is started as it was.

What is kept are words: addresses, numbers, the kernel. All of them follow from the objects that
were bound and from their stamps (`runtime.scalars.stamps`), so objects with the same stamps need no
look at their shapes and arrays. Nothing of a result is kept.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from semira.backends.cuda.runtime.device import Runtime
from semira.backends.cuda.runtime.objects import CudaMatrix
from semira.backends.cuda.runtime.primitives import Module, address
from semira.backends.cuda.runtime.scalars import CudaScalar
from semira.backends.cuda.staged.executable import StagedExecutable
from semira.backends.cuda.staged.text import SCALAR_AT
from semira.contract import LateRows, Statement, TraceRow
from semira.contract.backend import Binding, Outcome

if TYPE_CHECKING:
    from semira.backends.cuda.staged.job import Job
    from semira.backends.cuda.staged.pieces import Launch


#: Bytes of a SumTally (kernels/mxm/sums.cuh): entries, and two times.
_TALLY = 24


class Tally:
    """Memory on the device for what a row tells; another run's once nobody can read it."""

    __slots__ = ("_free", "buffer")

    def __init__(self, buffer: Any, free: list[Any]) -> None:
        self.buffer, self._free = buffer, free

    def __del__(self) -> None:
        self._free.append(self.buffer)


def take_tally(runtime: Runtime, executable: StagedExecutable, nbytes: int = _TALLY) -> Tally:
    """Return memory for what a row tells: entries that a product would have had, and its times.

    One executable asks for the same number of bytes each time.
    """
    free = executable.tallies
    return Tally(free.pop() if free else runtime.allocate(nbytes), free)


def row_of_sum(things: list[Any], product: Statement, tally: Tally) -> LateRows:
    """Return the trace of a sum; its numbers are read when somebody reads the row."""
    assert product.mask is not None
    a, mask = things[product.args[0].slot], things[product.mask.slot]
    runtime = a.runtime
    driving, touched = _entries_of(a), _entries_of(mask)

    def row() -> TraceRow:
        made, begun_ns, ended_ns = runtime.download(tally.buffer, np.int64, 3).tolist()
        return TraceRow(0, "mxm", "dot", driving(), touched(), made, ended_ns - begun_ns)

    return LateRows(1, lambda: [row()])


def _entries_of(matrix: CudaMatrix) -> Callable[[], int]:
    """Return what tells the number of entries that a matrix has now."""
    if matrix.is_exact:
        known = matrix.most
        return lambda: known
    (name, (indptr, _, _)), *_ = matrix.orientations.items()
    runtime, dtype, at = matrix.runtime, matrix.offset_type, matrix.sides(name)[0]
    return lambda: int(runtime.download(indptr, dtype, 1, at * dtype.itemsize)[0])


@dataclass(slots=True, eq=False)
class Replay:
    """The launch of a sum."""

    executable: StagedExecutable
    #: Of the kernel.
    module: Module
    #: "int" or "long long".
    offset_type: str
    #: Its arguments are words.
    launch: Launch
    #: Slot and stamp of each matrix, and the matrix, which this does not keep in memory.
    bound: tuple[tuple[int, int, weakref.ref[CudaMatrix]], ...]
    #: Slot of the scalar.
    out: int
    #: Where the table says that it is.
    place: int
    #: Whether it has a value then, whatever there is to sum up.
    is_sure: bool

    @classmethod
    def of(cls, job: Job, out: int, launch: Launch, is_sure: bool) -> Replay | None:
        """Return what was just started, None if something follows from more than stamps."""
        stage, product = job.stage, job.statement
        unbound = (product.out, out)
        things = [None if number in unbound else thing for number, thing in enumerate(job.things)]
        if not all(thing is None or isinstance(thing, CudaMatrix) for thing in things):
            return None
        words = tuple(
            given if isinstance(given, int) else address(given)
            for given in (stage.table(), *launch.given)
        )
        executable = stage.executable
        module = executable.module_of(stage.runtime, launch.of)
        bound = tuple(
            (number, thing.stamp, weakref.ref(thing))
            for number, thing in enumerate(things)
            if isinstance(thing, CudaMatrix)
        )
        place = int(job.things[out].cell.handle)
        kept = replace(launch, given=words)
        return cls(executable, module, stage.offset_type, kept, bound, out, place, is_sure)

    def holds(self, bindings: list[Binding]) -> bool:
        """Return whether the same matrices are bound, as they were."""
        for number, stamp, kept in self.bound:
            matrix = kept()
            if matrix is None or bindings[number] is not matrix or matrix.stamp != stamp:
                return False
        scalar: Any = bindings[self.out]
        return scalar.__class__ is CudaScalar and scalar.stamp != 0

    def again(self, bindings: list[Binding]) -> Outcome:
        """Start it for the scalar that is bound now."""
        out, executable, launch = bindings[self.out], self.executable, self.launch
        assert isinstance(out, CudaScalar)
        place = int(out.cell.handle)
        if place != self.place:
            self._move(out.runtime, place)
        tally = take_tally(out.runtime, executable)
        self.module.launch_blocks(
            self.offset_type, launch.kernel, launch.blocks, *launch.given,
            int(tally.buffer.handle), threads=launch.threads, shared=launch.shared,
        )  # fmt: skip
        out.know(self.is_sure)
        return Outcome((), row_of_sum(bindings, executable.statement, tally))

    def _move(self, runtime: Runtime, place: int) -> None:
        """Write another scalar's place into the table on the device."""
        (words, memory), self.executable.table = self.executable.table, (None, None)
        words[SCALAR_AT] = place
        runtime.statistics.uploads += 1
        runtime.upload_image(bytearray(words), memory)
        self.executable.table, self.place = (words, memory), place
