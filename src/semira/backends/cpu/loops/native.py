"""When iterations run natively, and what becomes of the loop around them."""

from __future__ import annotations

import time
from typing import Any

from semira.backends.cpu import cache
from semira.backends.cpu.codegen import digest_of
from semira.backends.cpu.compiler import arguments
from semira.backends.cpu.compiler.kernels import Kernels
from semira.backends.cpu.loops.frames import SMALL_ENTRIES, Frame
from semira.backends.cpu.loops.kernel import source_of
from semira.backends.cpu.loops.source import (
    BUDGET,
    DONE,
    ENDED,
    FAILED,
    LARGE,
    LIMIT,
    MOST,
    ROWS,
    Source,
    UnsupportedLoopError,
)
from semira.backends.cpu.storage import CpuMatrix, CpuVector
from semira.backends.cpu.threads import PARALLEL_ENTRIES
from semira.base import interrupts
from semira.base.log import logger
from semira.contract import Loop, Program

#: Work after which the kernel returns, so that Ctrl-C takes effect: some 30 ms.
_BUDGET = 20_000_000

_FOREVER = 1 << 62

#: Iterations that the interpreter runs at first after one that was too large.
_FIRST_PAUSE, _LONGEST_PAUSE = 1, 32


def native_loops(program: Program) -> dict[int, NativeLoop]:
    """Return the loops of a program that can run natively, by the identity of each `Loop`."""
    found: dict[int, NativeLoop] = {}
    if arguments.is_usable():
        _collect(program, program.body, found)
    return found


def _collect(program: Program, body: tuple[Any, ...], found: dict[int, NativeLoop]) -> None:
    for item in body:
        if isinstance(item, Loop):
            for inner in item.bodies:
                _collect(program, inner, found)
            found[id(item)] = NativeLoop(program, item)


class NativeLoop:
    """A loop with the kernel that runs its small iterations."""

    def __init__(self, program: Program, loop: Loop) -> None:
        self._program, self._loop = program, loop
        self._is_supported: bool | None = None
        #: The frame of the last execution on small objects, while none uses it.
        self._spares: list[Frame] = []

    def _write(self) -> bool:
        """Write the kernel when it is first asked for; return whether there is one."""
        try:
            self.source: Source = source_of(self._program, self._loop)
        except UnsupportedLoopError as reason:
            self.refuse(reason)
            return False
        slots, source = self._program.slots, self.source
        self._bound = [s for s in (*source.vectors, *source.scalars) if slots[s].role != "temp"]
        self._vectors = [v for v in source.vectors if v not in source.born]
        self._matrices = [use.matrix for use in source.products]
        self._sure = [s for s in source.sure if s not in source.born]
        name = f"loop-{digest_of(self.source.text)}"
        self.kernels: Any = Kernels(
            name, self.source.text, digest_of, cache.compiled, _no_other, vectorise=False
        )
        return True

    def start(
        self, run: Any, size_of: Any, before: Iterations | None, *, in_place: bool
    ) -> Iterations | None:
        """Return what runs iterations on the objects of a run; None if they do not suit.

        `before` ran the same loop earlier in this run, in an iteration of a loop around it;
        `size_of` gives the size of a temporary vector; `in_place` says that outputs may be changed
        where they are, since no iteration around this loop may have to be undone.
        """
        if self._is_supported is None:
            self._is_supported = self._write()
        if not self._is_supported:
            return None
        cells = run.cells
        if not self._suits(cells):
            return None
        found = Iterations(self, run, size_of, in_place=in_place)
        if before is not None:
            # The arrays are large enough again, and hold what nobody has changed meanwhile.
            found.frame = before.frame
        return found

    def _suits(self, cells: list[Any]) -> bool:
        """Return whether the objects are plain ones, each with a slot of its own."""
        for v in self._vectors:
            data = cells[v].data
            if type(data) is not CpuVector:
                return False
        for m in self._matrices:
            data = cells[m].data
            if type(data) is not CpuMatrix or data.lean:
                return False
        for s in self._sure:
            data = cells[s].data
            if data is None or data.value is None:
                return False
        if len({id(cells[slot]) for slot in self._bound}) != len(self._bound):
            return False
        return not (self.source.is_nested and self._size(cells) > SMALL_ENTRIES)

    def _size(self, cells: list[Any]) -> int:
        """Return the entries of the matrices and the positions of the vectors."""
        sizes = [cells[m].data.nvals for m in set(self._matrices)]
        return int(sum(sizes + [cells[v].data.size for v in self._vectors]))

    def spare(self, cells: list[Any], limit: int) -> Frame | None:
        """Return the frame of an execution before, if it serves for these objects too."""
        try:
            frame = self._spares.pop()
        except IndexError:
            return None
        if not frame.suits(cells, limit):
            return None
        frame.begin(cells)
        return frame

    def keep(self, frame: Frame) -> None:
        """Keep a frame for the next execution."""
        frame.end()
        self._spares[:] = [frame]

    def drop(self, _: Any = None) -> None:
        """Give back what is kept."""
        self._spares.clear()

    def refuse(self, reason: Exception) -> None:
        """Leave the loop to the interpreter from now on."""
        logger.debug("a loop is interpreted on the cpu: %s", reason)
        self._is_supported = False


def _no_other() -> Any:
    raise UnsupportedLoopError("types of arrays that loops are not written for")


class Iterations:
    """Runs iterations of one execution of a loop natively while they are small."""

    def __init__(self, loop: NativeLoop, run: Any, size_of: Any, *, in_place: bool) -> None:
        self.loop, self.run, self.size_of, self.in_place = loop, run, size_of, in_place
        self.frame: Frame | None = None
        self.wait, self.pause = 0, _FIRST_PAUSE

    def advance(self, done: int, limit: int) -> tuple[int, bool]:
        """Run iterations from number `done` on; return how many are done, and if the loop ended.

        Nothing is half done: an iteration that would fail is left to the interpreter.
        """
        if self.wait > 0:
            self.wait -= 1
            return done, False
        frame = self._framed(limit)
        if frame is None:
            return done, False
        begun = done
        while True:
            code, done = self._run(frame, done, limit)
            if code == FAILED:
                # The interpreter meets the error where it is.
                self.wait = _FOREVER
                return done, False
            if code == ENDED or done >= limit:
                if frame.is_own:
                    self.loop.keep(frame)
                    self.frame = None
                return done, code == ENDED
            if code == LARGE:
                short = done - begun <= 1
                self.pause = min(2 * self.pause, _LONGEST_PAUSE) if short else _FIRST_PAUSE
                self.wait = self.pause - 1
                return done, False
            interrupts.check()

    def _framed(self, limit: int) -> Frame | None:
        """Return what the kernel works on; None if the next iteration is too large for it."""
        if self.frame is None and self.in_place:
            self.frame = self.loop.spare(self.run.cells, limit)
        if self._is_large():
            return None
        if self.frame is None:
            self.frame = Frame(
                self.loop.source, self.run.cells, self.size_of, limit, self.loop.drop,
                is_whole=self.in_place,
            )  # fmt: skip
        self.frame.is_stale = True
        return self.frame

    def _run(self, frame: Frame, done: int, limit: int) -> tuple[int, int]:
        """Run the kernel; return why it ended, and how many iterations are done."""
        state = frame.state
        arguments = frame.enter(in_place=self.in_place)
        state[DONE], state[LIMIT], state[BUDGET] = done, limit, _BUDGET
        # From this work on threads do an iteration faster: they pass over vectors. Not one with
        # loops inside, whose objects are small, whatever its iterations come to.
        most = max(PARALLEL_ENTRIES, frame.longest // 2)
        state[MOST] = _FOREVER if self.loop.source.is_nested else most
        rows = state.item(ROWS)
        keeps = frame.is_own or not self.loop.source.may_fail
        before = [] if keeps else self._snapshot(frame)
        try:
            code = self.loop.kernels.run(*arguments)
        except UnsupportedLoopError as reason:
            self.loop.refuse(reason)
            return FAILED, done
        if code == FAILED:
            for v, present, values, positions in before:
                vector = frame.vectors[v]
                vector.present[:], vector.values[:] = present, values
                vector.positions[:] = positions
            return FAILED, done
        frame.leave()
        self._report(frame, rows)
        return code, state.item(DONE)

    def _is_large(self) -> bool:
        """Return whether a product has more to do than one thread should."""
        if self.frame is not None and self.frame.nvals <= PARALLEL_ENTRIES:
            return False
        for use in self.loop.source.products:
            vector, matrix = self.run.cells[use.vector].data, self.run.cells[use.matrix].data
            if vector is None or vector.size == 0:
                continue
            most = max(PARALLEL_ENTRIES, vector.size // 2)
            if vector.nvals * (matrix.nvals / vector.size) > most:
                return True
        return False

    def _report(self, frame: Frame, first: int) -> None:
        rows, lost = frame.rows(first, self.run.clock_ns)
        if len(rows):
            self.run.trace.extend(rows, lost)
            self.run.clock_ns = time.perf_counter_ns()

    def _snapshot(self, frame: Frame) -> list[Any]:
        return [
            (v, part.present.copy(), part.values.copy(), part.positions.copy())
            for v, part in frame.vectors.items()
            if v in self.loop.source.written
        ]
