"""Objects as the kernel of a loop reads and writes them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
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
from semira.contract.trace import TRACE_ROWS, TraceRow
from semira.formats import ScalarArrays, index_dtype

#: A bitmap with fewer entries than size / LISTED_SHARE gets a list of them.
LISTED_SHARE = 4

#: Entries of a matrix whose other orientation is made for a loop that may pull.
SMALL_ENTRIES = 100_000

_NO_ENTRIES = np.zeros(1, np.int32)


@dataclass(slots=True)
class _Vector:
    """The arrays of a vector, and the object that they hold now."""

    size: int
    present: Array
    values: Array
    positions: Array
    count: int = 0
    is_listed: bool = True
    held: Any = None


class Frame:
    """What the kernel of a loop works on in one execution.

    Parameters
    ----------
    source : Source
    cells : list
        Of the slots, as `semira.backends.interpreter` binds them.
    size_of : callable
        Returns the size of a temporary vector, by slot.
    limit : int
        Most iterations.
    is_whole : bool
        The loop is not inside of another, which would run it again.
    """

    def __init__(
        self,
        source: Source,
        cells: list[Any],
        size_of: Callable[[int], int],
        limit: int,
        *,
        is_whole: bool,
    ) -> None:
        self.source, self.cells = source, cells
        self.state = np.zeros(WORDS + len(source.words), np.int64)
        most = min(TRACE_ROWS, max(1, limit * len(source.products)))
        most = TRACE_ROWS if source.is_nested or not is_whole else most
        self.trace = np.empty((1 << (most - 1).bit_length(), len(ROW)), np.int64)
        self.vectors = {v: self._empty(v, size_of) for v in source.vectors}
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
        self.scalars = {
            s: np.zeros(1, source.program.slots[s].dtype.array_dtype) for s in source.scalars
        }
        for use in source.products:
            self._orient(use)

    def _empty(self, v: int, size_of: Callable[[int], int]) -> _Vector:
        data = self.cells[v].data
        size = size_of(v) if v in self.source.born else data.size
        dtype = self.source.program.slots[v].dtype.array_dtype
        return _Vector(
            size, np.zeros(size, np.bool_), np.empty(size, dtype),
            np.empty(size, index_dtype(size)),
        )  # fmt: skip

    def _orient(self, use: ProductUse) -> None:
        """Note the arrays of a product's matrix, of the orientations that are walked."""
        matrix: CpuMatrix = self.cells[use.matrix].data
        plan = use.statement.plan
        assert plan is not None
        names = [method.name for method in plan.methods]
        pulls = "pull" in names
        other = matrix.csr if use.push_by_columns else matrix.csc
        if len(names) > 1 and other is None and not matrix.symmetric:
            # It would have to be made, for iterations that are small.
            pulls = matrix.nvals <= SMALL_ENTRIES
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
        source = self.source
        for v, vector in self.vectors.items():
            data = self.cells[v].data if v not in source.born else vector.held
            # The interpreter writes into arrays of bitmaps; lists of entries never change.
            if vector.held is not data or (data and self.is_stale and data.indices is None):
                self._take(vector, data, copied=v in source.written and not in_place)
            self.set("n", v, vector.count)
            self.set("c", v, int(vector.is_listed))
        for s, room in self.scalars.items():
            data = self.cells[s].data
            value = None if data is None else data.value
            room[0] = 0 if value is None else value
            self.set("h", s, int(value is not None))
        arguments = [self.state, self.trace, self.marks, self.listed, *self.results]
        for vector in self.vectors.values():
            arguments += (vector.present, vector.values, vector.positions)
        self.is_stale = False
        return [*arguments, *self.scalars.values(), *self.walked]

    def _take(self, vector: _Vector, data: CpuVector, *, copied: bool) -> None:
        """Lay an object out."""
        held = vector.held
        if held is not None and (vector.present is held.present or vector.values is held.values):
            # Those of another object.
            vector.present = np.zeros(vector.size, np.bool_)
            vector.values = np.empty(vector.size, vector.values.dtype)
        elif vector.is_listed:
            vector.present[vector.positions[: vector.count]] = False
        else:
            vector.present[:] = False
        vector.held, vector.count = data, data.nvals
        if data.indices is not None:
            vector.present[data.indices] = True
            if data.iso and vector.values.size and data.nvals:
                vector.values[data.indices] = data.values[0]
            elif data.nvals:
                vector.values[data.indices] = data.values
            vector.positions[: data.nvals] = data.indices
            vector.is_listed = True
            return
        own = copy_vector(data) if copied else data
        if own.present is None:
            vector.present = np.ones(vector.size, np.bool_)
            vector.is_listed = False
        else:
            vector.present = own.present
            vector.is_listed = data.nvals * LISTED_SHARE <= vector.size
            if vector.is_listed:
                vector.positions[: data.nvals] = np.flatnonzero(own.present)
        vector.values = np.full(vector.size, data.values[0]) if data.iso else own.values

    def leave(self) -> None:
        """Make objects of what the kernel wrote."""
        source = self.source
        for v, vector in self.vectors.items():
            if v not in source.written:
                continue
            vector.count, vector.is_listed = self.get("n", v), bool(self.get("c", v))
            if v not in source.born:
                vector.held = self.cells[v].data = self._made(vector, v)
        for s, room in self.scalars.items():
            if s in source.written:
                dtype = source.program.slots[s].dtype
                value = dtype.scalar(room[0]) if self.get("h", s) else None
                self.cells[s].data = ScalarArrays(dtype, value)

    def _made(self, vector: _Vector, v: int) -> CpuVector:
        dtype, count = self.source.program.slots[v].dtype, vector.count
        if count * SPARSE_SHARE <= vector.size or (vector.is_listed and count == 0):
            if vector.is_listed:
                indices = np.sort(vector.positions[:count])
            else:
                indices = np.flatnonzero(vector.present).astype(vector.positions.dtype)
            return sparse_vector(vector.size, dtype, indices, vector.values[indices])
        # The arrays are the object's; the kernel goes on with them if it is met again.
        return bitmap_vector(dtype, vector.present, vector.values, count)

    # Trace ----------------------------------------------------------------------------------

    def rows(self, first: int, clock_ns: int) -> tuple[list[TraceRow], int]:
        """Return the rows of the trace from number `first` on, and how many more were lost."""
        last, room = int(self.state[ROWS]), len(self.trace)
        lost = max(0, last - first - room)
        begin, end = (first + lost) & (room - 1), last & (room - 1)
        if begin < end:
            found = self.trace[begin:end].tolist()
        else:
            found = self.trace[begin:].tolist() + self.trace[:end].tolist()
        if last == first:
            return [], 0
        names = [
            (use.statement.op, [m.name for m in use.statement.plan.methods])  # type: ignore[union-attr]
            for use in self.source.products
        ]
        rows = []
        for done, k, method, frontier, touched, produced, now_ns in found:
            op, methods = names[k]
            elapsed_ns = now_ns - clock_ns
            rows.append(
                TraceRow(done, op, methods[method], frontier, touched, produced, elapsed_ns)
            )
            clock_ns = now_ns
        return rows, lost
