"""Objects as the kernel of a loop reads and writes them."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from semira.backends.cpu.compressed import EVERYWHERE, Array
from semira.backends.cpu.host import mxv
from semira.backends.cpu.loops.source import ROW, ROWS, WORDS, ProductUse, Source
from semira.backends.cpu.storage import (
    SPARSE_SHARE,
    CpuMatrix,
    CpuVector,
    bitmap_vector,
    copy_vector,
    sparse_vector,
)
from semira.base.dtypes import DataType
from semira.contract.trace import TRACE_ROWS, LateRows, TraceRow
from semira.formats import ScalarArrays, index_dtype

#: A bitmap with fewer entries than size / LISTED_SHARE gets a list of them.
LISTED_SHARE = 4

#: Entries of a matrix whose other orientation is made for a loop that may pull; entries and
#: positions of objects whose frame is kept for the next execution.
SMALL_ENTRIES = 100_000

_NO_ENTRIES = np.zeros(1, np.int32)


class _Vector:
    """The arrays of a vector, and the object that they hold now."""

    __slots__ = ("count", "held", "is_listed", "positions", "present", "size", "values")

    def __init__(self, size: int, dtype: DataType) -> None:
        self.size = size
        self.present: Array = np.zeros(size, np.bool_)
        self.values: Array = np.empty(size, dtype.array_dtype)
        self.positions: Array = np.empty(size, index_dtype(size))
        self.count, self.is_listed = 0, True
        self.held: Any = None


class Frame:
    """What the kernel of a loop works on in one execution, or in several.

    `cells` are bound as by `semira.backends.interpreter`; `size_of` returns the size of a temporary
    vector, by slot; `limit` is the most iterations. `on_gone` is called when a matrix is no longer
    there, for which the frame was made. A loop that `is_whole` is not inside of another, which
    would run it again.
    """

    def __init__(
        self,
        source: Source,
        cells: list[Any],
        size_of: Callable[[int], int],
        limit: int,
        on_gone: Callable[[Any], None],
        *,
        is_whole: bool,
    ) -> None:
        self.source, self.cells = source, cells
        self.state = np.zeros(WORDS + len(source.words), np.int64)
        room = self._rows_of(limit) if is_whole and not source.is_nested else TRACE_ROWS
        self.trace = np.empty((1 << (room - 1).bit_length(), len(ROW)), np.int64)
        slots = source.program.slots
        self.vectors = {
            v: _Vector(size_of(v) if v in source.born else cells[v].data.size, slots[v].dtype)
            for v in source.vectors
        }
        longest = max((vector.size for vector in self.vectors.values()), default=1)
        self.marks = np.zeros(longest, np.bool_)
        self.listed = np.empty(longest, index_dtype(longest))
        self.longest = longest
        #: Whether others may have written objects since the kernel left them.
        self.is_stale = False
        #: Arrays of the matrices, in the order of the kernel's arguments.
        self.walked: list[Array] = []
        self.results = [
            np.empty(longest, argument[1].array_dtype)
            for argument in source.arguments
            if argument[0] == "t"
        ]
        self.scalars = {s: np.zeros(1, slots[s].dtype.array_dtype) for s in source.scalars}
        for use in source.products:
            self._orient(use)
        matrices = {use.matrix: cells[use.matrix].data for use in source.products}
        #: Entries of the matrices.
        self.nvals = sum(data.nvals for data in matrices.values())
        positions = sum(vector.size for vector in self.vectors.values())
        #: No array is that of an object: those of small ones are copied, which takes less time than
        #: to make new arrays, and what is in an object stays until the kernel has ended.
        self.is_own = is_whole and positions + self.nvals <= SMALL_ENTRIES
        self._matrices = [(m, weakref.ref(data, on_gone)) for m, data in matrices.items()]
        # Sizes of temporaries follow from these.
        self._sizes = [(v, each.size) for v, each in self.vectors.items() if v not in source.born]
        self._list()

    def _list(self) -> None:
        """List vectors and scalars with their words in the state, as `enter` and `leave` go on."""
        source, words, slots = self.source, self.source.words, self.source.program.slots
        self._vectors = [
            (v, vector, words["n", v], words["c", v], v in source.born, v in source.written)
            for v, vector in self.vectors.items()
        ]
        self._scalars = [
            (s, room, words["h", s]) for s, room in self.scalars.items() if s not in source.born
        ]
        self._outputs = [
            (s, room, at, slots[s].dtype) for s, room, at in self._scalars if s in source.written
        ]
        self._last = [*self.scalars.values(), *self.walked]

    def _rows_of(self, limit: int) -> int:
        """Return the rows of the trace that an execution fills at most."""
        return min(TRACE_ROWS, max(1, limit * len(self.source.products)))

    # One execution after the other ----------------------------------------------------------

    def suits(self, cells: list[Any], limit: int) -> bool:
        """Return whether objects are as large as those before, and matrices the same."""
        for v, size in self._sizes:
            if cells[v].data.size != size:
                return False
        for m, matrix in self._matrices:
            if cells[m].data is not matrix():
                return False
        return self._rows_of(limit) <= len(self.trace)

    def begin(self, cells: list[Any]) -> None:
        """Work for another execution."""
        self.cells = cells
        self.state[ROWS] = 0
        for use in self.source.products:
            self.set("previous", use.number, -1)
            self.set("last", use.number, -1)

    def end(self) -> None:
        """Hold on to no object."""
        self.cells = []
        for vector in self.vectors.values():
            vector.held = None

    def _orient(self, use: ProductUse) -> None:
        """Note the arrays of a product's matrix, of the orientations that are walked."""
        matrix: CpuMatrix = self.cells[use.matrix].data
        plan = use.statement.plan
        assert plan is not None
        names = [method.name for method in plan.methods]
        pulls = any(each.name == "pull" and each.storage == "compressed" for each in plan.methods)
        other = matrix.csr if use.push_by_columns else matrix.csc
        if len(names) > 1 and other is None and not matrix.symmetric:
            # It would have to be made, for iterations that are small.
            pulls = pulls and matrix.nvals <= SMALL_ENTRIES
        semiring = use.statement.operator
        walked: dict[str, Any] = {}
        if "push" in names:
            walked["push"] = matrix.oriented(by_columns=use.push_by_columns)
        if pulls:
            walked["pull"] = matrix.oriented(by_columns=not use.push_by_columns)
        for way in ("push", "pull"):
            edges = walked.get(way)
            if edges is None:
                edges = next(iter(walked.values()))
            blank = CpuVector(0, semiring.monoid.type, "full", EVERYWHERE)
            product = mxv.Product(
                semiring.monoid, semiring.binaryop, use.statement.op == "vxm", edges, blank, 0
            )
            values, stride = product.edge_values()
            indices = edges.indices if len(edges.indices) else _NO_ENTRIES
            self.walked += (edges.indptr, indices, values if len(values) else EVERYWHERE)
            self.set(f"str_{way}", use.number, stride)
        self.set("nnz", use.number, matrix.nvals)
        self.set("pulls", use.number, int(pulls))
        self.set("previous", use.number, -1)
        self.set("last", use.number, -1)

    def set(self, name: str, number: int, value: int) -> None:
        """Write a word of the state."""
        self.state[self.source.words[name, number]] = value

    def get(self, name: str, number: int) -> int:
        """Return a word of the state."""
        return int(self.state[self.source.words[name, number]])

    # In and out -----------------------------------------------------------------------------

    def enter(self, *, in_place: bool) -> list[Any]:
        """Take objects over; return the arguments of the kernel.

        `in_place`: arrays that belong to an object that is written may be changed.
        """
        state, cells = self.state, self.cells
        arguments = [state, self.trace, self.marks, self.listed, *self.results]
        for v, vector, at_count, at_listed, is_born, is_written in self._vectors:
            data = vector.held if is_born else cells[v].data
            # The interpreter writes into arrays of bitmaps; lists of entries never change.
            if vector.held is not data or (data and self.is_stale and data.indices is None):
                self._take(vector, data, copied=is_written and not in_place)
            state[at_count], state[at_listed] = vector.count, vector.is_listed
            arguments += (vector.present, vector.values, vector.positions)
        for s, room, at in self._scalars:
            value = cells[s].data.value
            room[0] = 0 if value is None else value
            state[at] = value is not None
        self.is_stale = False
        return arguments + self._last

    def _take(self, vector: _Vector, data: CpuVector, *, copied: bool) -> None:
        """Lay an object out."""
        held, count = vector.held, data.nvals
        if self.is_own:
            vector.present.fill(False)
        elif held is not None and (vector.present is held.present or vector.values is held.values):
            # Those of another object.
            vector.present = np.zeros(vector.size, np.bool_)
            vector.values = np.empty(vector.size, vector.values.dtype)
        elif vector.is_listed:
            vector.present[vector.positions[: vector.count]] = False
        else:
            vector.present[:] = False
        vector.held, vector.count = data, count
        if data.indices is not None:
            vector.is_listed = True
            if count == 1:
                # What starts a search.
                at = data.indices.item()
                vector.present[at], vector.positions[0] = True, at
                vector.values[at] = data.values[0]
            elif count:
                vector.present[data.indices] = True
                vector.values[data.indices] = data.values[0] if data.iso else data.values
                vector.positions[:count] = data.indices
            return
        present = data.present
        vector.is_listed = present is not None and count * LISTED_SHARE <= vector.size
        if present is not None and vector.is_listed:
            vector.positions[:count] = np.flatnonzero(present)
        if self.is_own:
            vector.present[:] = True if present is None else present
            vector.values[:] = data.values
            return
        own = copy_vector(data) if copied else data
        vector.present = np.ones(vector.size, np.bool_) if own.present is None else own.present
        vector.values = np.full(vector.size, data.values[0]) if data.iso else own.values

    def leave(self) -> None:
        """Make objects of what the kernel wrote."""
        state, cells, slots = self.state, self.cells, self.source.program.slots
        for v, vector, at_count, at_listed, is_born, is_written in self._vectors:
            if is_written:
                vector.count = state.item(at_count)
                vector.is_listed = state.item(at_listed) != 0
                if not is_born:
                    vector.held = cells[v].data = self._made(vector, slots[v].dtype)
        for s, room, at, dtype in self._outputs:
            cells[s].data = ScalarArrays(dtype, room[0] if state.item(at) else None)

    def _made(self, vector: _Vector, dtype: DataType) -> CpuVector:
        count, present, values = vector.count, vector.present, vector.values
        if count == 0 and (vector.is_listed or self.is_own):
            indices = np.empty(0, vector.positions.dtype)
            return sparse_vector(vector.size, dtype, indices, np.empty(0, values.dtype))
        if count * SPARSE_SHARE <= vector.size:
            if vector.is_listed:
                indices = np.sort(vector.positions[:count])
            else:
                indices = np.flatnonzero(present).astype(vector.positions.dtype)
            return sparse_vector(vector.size, dtype, indices, values[indices])
        if self.is_own:
            present, values = present.copy(), values.copy()
        # Else the arrays are the object's; the kernel goes on with them if it is met again.
        return bitmap_vector(dtype, present, values, count)

    # Trace ----------------------------------------------------------------------------------

    def rows(self, first: int, clock_ns: int) -> tuple[LateRows, int]:
        """Return the rows of the trace from number `first` on, and how many more were lost."""
        last, room = self.state.item(ROWS), len(self.trace)
        lost = max(0, last - first - room)
        begin, end = (first + lost) & (room - 1), last & (room - 1)
        if last == first:
            found = self.trace[:0]
        elif begin < end:
            found = self.trace[begin:end].copy()
        else:
            found = np.concatenate((self.trace[begin:], self.trace[:end]))
        return LateRows(len(found), partial(_decoded, self.source.products, found, clock_ns)), lost


def _decoded(products: list[ProductUse], found: Array, clock_ns: int) -> list[TraceRow]:
    """Return the rows that a kernel has written."""
    names = [
        (use.statement.op, [m.name for m in use.statement.plan.methods])  # type: ignore[union-attr]
        for use in products
    ]
    rows = []
    for done, k, method, frontier, touched, produced, now_ns in found.tolist():
        op, methods = names[k]
        elapsed_ns = now_ns - clock_ns
        rows.append(TraceRow(done, op, methods[method], frontier, touched, produced, elapsed_ns))
        clock_ns = now_ns
    return rows
