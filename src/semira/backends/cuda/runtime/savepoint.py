"""Copies of objects as they were before statements that may turn out to be impossible."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from semira.backends.cuda.runtime.device import Runtime
from semira.backends.cuda.runtime.objects import CudaMatrix, CudaObject, CudaVector
from semira.backends.cuda.runtime.parts import ALIGNMENT, Part, allocate_parts
from semira.backends.cuda.runtime.scalars import CudaScalar
from semira.backends.cuda.runtime.vector_memory import NO_ENTRIES

#: Bytes of allocations that are copied with all that lies in them, lists too: a copy more would
#: take as long to start. By counting.
WHOLE = 4 << 20

#: Where `listed` lies in a VectorState (kernels/common/vector.cuh).
_LISTED = 16
_NO_LIST = np.zeros(1, np.int64)
_EMPTY = np.array(NO_ENTRIES, np.int64)


class Span(NamedTuple):
    """Bytes on the device, in one piece."""

    handle: int
    size: int


@dataclass(slots=True)
class _Copy:
    """An object and what it held."""

    thing: CudaObject
    spans: list[Span]
    parts: list[Part]
    planes: int
    has_value: bool = False
    matrix: CudaMatrix | None = None


class Savepoint:
    """What objects held when it was set; its memory is used again each time.

    Of vectors that are new nothing is copied.

    Long lists of positions are not copied: a vector that is restored has none, and a program that
    needs one builds it from the presence words.
    """

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._memory: list[tuple[tuple[int, ...], list[Part]]] = []
        self._copies: list[_Copy] = []

    @property
    def nbytes(self) -> int:
        """Bytes of device memory that it keeps."""
        return sum(sum(sizes) for sizes, _ in self._memory)

    def set(self, things: Iterable[CudaObject]) -> None:
        """Copy what objects hold now, on the device, in the order of the stream.

        Raises OutOfMemory if the copies do not fit; the objects are as they were.
        """
        self.drop()
        for thing in things:
            self._copies.append(self._copied(thing))

    def restore(self) -> None:
        """Let the objects hold again what they held; may be called more than once."""
        for copy in self._copies:
            if copy.matrix is not None:
                assert isinstance(copy.thing, CudaMatrix)
                # Its next statements replace arrays of the object, not those of the copy.
                copy.thing.become(copy.matrix.duplicate())
                continue
            for span, part in zip(copy.spans, copy.parts, strict=True):
                self._runtime.move(part, span, 0, span.size)
            if isinstance(copy.thing, CudaScalar):
                copy.thing.know(copy.has_value)
            elif isinstance(copy.thing, CudaVector):
                if copy.parts:
                    self._runtime.upload(_NO_LIST, copy.thing.state, _LISTED)
                else:
                    self._runtime.upload(_EMPTY, copy.thing.state)
                for _, words, _ in copy.thing.planes[copy.planes :]:
                    self._runtime.clear(words)

    def drop(self) -> None:
        """Forget the objects; the memory stays."""
        self._copies = []

    def _copied(self, thing: CudaObject) -> _Copy:
        if not isinstance(thing, CudaVector | CudaScalar):
            # Arrays of matrices never change.
            return _Copy(thing, [], [], 0, matrix=thing.duplicate())
        if isinstance(thing, CudaVector) and thing.is_new:
            # It was empty: presence of all planes is cleared again.
            return _Copy(thing, [], [], 0)
        spans = spans_of(thing)
        parts = self._take(tuple(span.size for span in spans))
        for span, part in zip(spans, parts, strict=True):
            self._runtime.move(span, part, 0, span.size)
        if isinstance(thing, CudaScalar):
            return _Copy(thing, spans, parts, 0, thing.has_value)
        return _Copy(thing, spans, parts, len(thing.planes))

    def _take(self, sizes: tuple[int, ...]) -> list[Part]:
        """Return memory for the next object: that of last time, if it fits."""
        number = len([copy for copy in self._copies if copy.parts])
        if number < len(self._memory):
            held, parts = self._memory[number]
            if held == sizes:
                return parts
            del self._memory[number:]
        parts = allocate_parts(self._runtime, sizes)
        self._memory.append((sizes, parts))
        return parts


def spans_of(thing: CudaVector | CudaScalar) -> list[Span]:
    """Return where values, presence and state lie: in as few pieces as is worth it."""
    if isinstance(thing, CudaScalar):
        thing.send()
        return [Span(int(thing.cell.handle), int(thing.cell.size))]
    state = thing.state
    whole = state.whole
    if whole.size <= WHOLE and all(values.whole is whole for values, _, _ in thing.planes):
        return [Span(int(whole.handle), int(whole.size))]
    parts = [state, *(part for values, words, _ in thing.planes for part in (values, words))]
    return _joined(parts)


def _joined(parts: list[Part]) -> list[Span]:
    """Return the pieces of memory that parts are in; those that follow each other are one."""
    spans: list[Span] = []
    before = None
    for part in sorted(parts, key=lambda part: int(part.handle)):
        start, end = int(part.handle), int(part.handle) + part.size
        joins = before is not None and part.whole is before.whole
        if joins and start <= sum(spans[-1]) + ALIGNMENT:
            spans[-1] = Span(spans[-1].handle, end - spans[-1].handle)
        else:
            spans.append(Span(start, end - start))
        before = part
    return spans
