"""Ordinary objects of the GPU as the layer for huge ones asks for them, with CuPy arrays."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from semira.backends.companions import Companions
from semira.backends.cuda.runtime.companion_kinds import ENTRY_ROWS
from semira.backends.cuda.runtime.device import Runtime
from semira.backends.cuda.runtime.objects import CudaMatrix, CudaVector
from semira.backends.cuda.runtime.primitives import (
    SCAN_TILE,
    Primitives,
    array_library,
    module_of,
    offset_type_of,
    primitives_of,
)
from semira.backends.cuda.runtime.scalars import CudaScalar
from semira.backends.cuda.runtime.transfer import put_matrix, put_vector
from semira.backends.cuda.runtime.vector_memory import STATE_WORDS
from semira.backends.cuda.wide.entry_source import (
    LISTED,
    SEGMENTS,
    listed_source,
    order_source,
    scan_source,
)
from semira.backends.renumbering.objects import Array
from semira.base.dtypes import DataType
from semira.base.recent import Recent
from semira.contract import Backend, Program, Statement
from semira.contract.backend import Arrays, Outcome
from semira.formats import MatrixArrays, ScalarArrays, VectorArrays
from semira.formats.index import WIDE
from semira.ops import TypedMonoid, TypedOp

#: Prepared programs on ordinary objects that are kept; the oldest go first.
_KEPT = 1024


class CudaStore:
    """Ordinary objects of the GPU, and arrays beside them, for the layer of huge objects.

    See `renumbering.objects.Store`. Everything runs on the backend's stream, CuPy's calls too:
    `stream` has to surround each use.
    """

    name = "cuda"

    def __init__(self, backend: Backend, runtime: Runtime) -> None:
        self._backend, self._runtime = backend, runtime
        self._prepared: Recent[Program, Any] = Recent(_KEPT)

    @property
    def library(self) -> Any:
        """CuPy."""
        return array_library()

    @property
    def _primitives(self) -> Primitives:
        return primitives_of(self._runtime)

    def stream(self) -> AbstractContextManager[Any]:
        """Return the context in which CuPy uses the backend's stream."""
        context: AbstractContextManager[Any] = self._primitives.cupy_stream()
        return context

    # what objects are ------------------------------------------------------------------------
    def describe(self, thing: Any) -> tuple[tuple[int, ...], DataType]:
        """Return shape and dtype."""
        is_vector = isinstance(thing, CudaVector)
        return (thing.size,) if is_vector else (thing.nrows, thing.ncols), thing.dtype

    def lists(self, shape: tuple[int, ...], nvals: int) -> tuple[bool, ...]:
        """Return which sides of an object are renumbered: those of 2**31 positions or more."""
        del nvals
        return tuple(side >= WIDE for side in shape)

    def nvals(self, thing: Any) -> int:
        """Return the number of entries; waits for a vector."""
        if isinstance(thing, CudaMatrix):
            return thing.nvals
        return int(self._runtime.download(thing.state, np.int64, STATE_WORDS)[0])

    def places(self, thing: Any) -> tuple[Array, ...]:
        """Return where the entries stand; waits for a vector."""
        if isinstance(thing, CudaVector):
            nvals, plane = thing.read_state()
            _, wide = self._primitives.positions(plane[1], thing.size, nvals)
            return (self._viewed(wide, np.int64, nvals),)
        _, indices, _, rows = self._rows_of(thing)
        lists = (self._viewed(part, np.int32, thing.nvals) for part in (rows, indices))
        return tuple(part.astype(np.int64) for part in lists)

    def _rows_of(self, matrix: CudaMatrix) -> tuple[Any, Any, Any, Any]:
        matrix.need("csr")
        return (*matrix.orientations["csr"], matrix.entry_rows("csr"))

    def values(self, thing: Any) -> Array:
        """Return the values of the entries, in the order of `places`."""
        held = self._picked_bytes(thing, None)
        if len(held) == 0:
            return self.library.zeros(0, thing.dtype.np_type)
        return self.library.ascontiguousarray(held).view(thing.dtype.np_type).ravel()

    def _bytes(self, vector: CudaVector) -> Array:
        """Return the values at all positions of a vector, each as a row of bytes."""
        size, width = vector.size, vector.dtype.itemsize
        _, plane = vector.read_state()
        return self._viewed(plane[0], np.uint8, size * width).reshape(size, width)

    def _viewed(self, buffer: Any, dtype: Any, count: int) -> Array:
        return self._primitives.as_cupy(buffer, dtype, count)

    def _held(self, array: Array, dtype: Any) -> Any:
        flat = self.library.ascontiguousarray(array, dtype=dtype).ravel()
        buffer = self._runtime.allocate(flat.nbytes)
        self._viewed(buffer, dtype, flat.size)[...] = flat
        return buffer

    # new ones --------------------------------------------------------------------------------
    def moved(
        self, thing: Any, shape: tuple[int, ...], places: tuple[Array, ...], entries: Array | None
    ) -> Any:
        """Return an object whose entry e has the value of entry ``entries[e]`` of `thing`.

        It may have another number of sides. None stands for all entries in order.
        """
        if len(shape) == 2:
            return self._matrix(shape, places, thing.dtype, *self._picked(thing, entries))
        return self._vector(shape[0], thing.dtype, places[0], self._picked_bytes(thing, entries))

    def _picked(self, thing: Any, entries: Array | None) -> tuple[Any, bool]:
        """Return values of entries as a buffer, and whether it is a single one for all."""
        if isinstance(thing, CudaVector):
            found = self._picked_bytes(thing, entries)
            return self._held(found, np.uint8), False
        values = self._rows_of(thing)[2]
        if thing.iso or entries is None:
            return values, thing.iso
        order = self.library.ascontiguousarray(entries, dtype=np.int64)
        return self._primitives.reorder(values, order, len(order), thing.dtype.itemsize), False

    def _picked_bytes(self, thing: Any, entries: Array | None) -> Array:
        """Return values of entries, each as a row of bytes."""
        width = thing.dtype.itemsize
        if isinstance(thing, CudaVector):
            (at,) = self.places(thing)
            at = at if entries is None else at[entries]
            return self._bytes(thing)[at] if len(at) else self.library.zeros((0, width), np.uint8)
        stored = 1 if thing.iso else thing.nvals
        if thing.nvals == 0:
            return self.library.zeros((0, width), np.uint8)
        held = self._viewed(self._rows_of(thing)[2], np.uint8, stored * width)
        held = held.reshape(stored, width)
        if thing.iso:
            count = thing.nvals if entries is None else len(entries)
            return held[self.library.zeros(count, np.int64)]
        return held if entries is None else held[entries]

    def _vector(self, size: int, dtype: DataType, at: Array, values: Array) -> CudaVector:
        """Return a vector of entries at rising positions; `values` are rows of bytes."""
        library = self.library
        made = put_vector(self._runtime, VectorArrays.empty(size, dtype))
        if len(at):
            width, plane = dtype.itemsize, made.planes[0]
            self._viewed(plane[0], np.uint8, size * width).reshape(-1, width)[at] = values
            present = library.zeros(32 * made.num_words, np.bool_)
            present[at] = True
            packed = library.packbits(present, bitorder="little")
            self._viewed(plane[1], np.uint8, packed.size)[...] = packed
        # The list of positions is left to the first program that reads it.
        state = np.array([len(at), 0, 0, -1, -1], np.int64)
        self._runtime.upload(state, made.state)
        return made

    def _matrix(
        self, shape: tuple[int, ...], places: tuple[Array, ...], dtype: DataType, values: Any,
        iso: bool,
    ) -> CudaMatrix:  # fmt: skip
        nvals = len(places[0])
        rows, indices = (self._held(at, np.int32) for at in places)
        offsets = offset_type_of(nvals)
        indptr = self._primitives.row_offsets(offsets, rows, nvals, shape[0])
        parts, offset_type = (indptr, indices, values), np.int32 if offsets == "int" else np.int64
        return CudaMatrix(
            self._runtime, shape[0], shape[1], nvals, dtype, iso, None, {"csr": parts},
            np.dtype(offset_type), companions=Companions({(ENTRY_ROWS, "csr"): rows}),
        )  # fmt: skip

    def valued(self, thing: Any, values: Array, dtype: DataType) -> Any:
        """Return an object with the pattern of `thing`."""
        held = self.library.ascontiguousarray(values, dtype=dtype.np_type)
        if isinstance(thing, CudaVector):
            (at,) = self.places(thing)
            as_bytes = held.view(np.uint8).reshape(len(at), dtype.itemsize) if len(at) else held
            return self._vector(thing.size, dtype, at, as_bytes)
        shape, places = (thing.nrows, thing.ncols), self.places(thing)
        return self._matrix(shape, places, dtype, self._held(held, dtype.np_type), False)

    def empty(self, shape: tuple[int, ...], dtype: DataType) -> Any:
        """Return an object without entries."""
        if len(shape) == 1:
            return put_vector(self._runtime, VectorArrays.empty(shape[0], dtype))
        return put_matrix(self._runtime, MatrixArrays.empty(shape[0], shape[1], dtype))

    def duplicate(self, thing: Any) -> Any:
        """Return a copy."""
        return thing.duplicate()

    def take(self, thing: Any, made: Any) -> None:
        """Let an ordinary object hold what another one holds, which is given up."""
        thing.become(made)

    # operators on entries ------------------------------------------------------------------
    def applied(
        self, op: TypedOp, thing: Any, places: tuple[Array, ...], bound: Any, *, left: bool
    ) -> Array:
        """Return an operator's results for the entries of `thing`, told to stand at `places`.

        `bound` is None, or (value, dtype) of the thunk or other operand, which is the `left` one.
        """
        library, runtime = self.library, self._runtime
        value, dtype = (None, None) if bound is None else bound
        text = listed_source(op, thing.dtype, dtype, left=left)
        module = module_of(runtime, LISTED, "listed", text)
        other = None
        if dtype is not None:
            other = runtime.upload(np.array([value], dtype.np_type))
        values, iso = self._picked(thing, None)
        count = len(places[0])
        made = library.empty(count, op.return_type.np_type)
        rows, columns = (library.ascontiguousarray(at, dtype=np.int64) for at in places)
        if count:
            module.launch(
                "int", "semira_listed", count, values, 0 if iso else 1, rows, columns, other, count,
                made,
            )  # fmt: skip
        return made

    def order(self, keys: Array) -> Array:
        """Return the stable order of positions of 64 bits."""
        return self.library.argsort(keys, kind="stable")

    def scanned(self, monoid: TypedMonoid, values: Array, dtype: DataType, heads: Array) -> Array:
        """Return the running results of a monoid over values of `dtype`; a head starts anew."""
        library, count = self.library, len(values)
        out = library.empty(count, monoid.type.np_type)
        if count == 0:
            return out
        source = scan_source(monoid, dtype)
        module = module_of(self._runtime, SEGMENTS, "runs", source)
        tiles = -(-count // SCAN_TILE)
        sums, fresh = library.empty(tiles, monoid.type.np_type), library.empty(tiles, np.bool_)
        items = (library.ascontiguousarray(values), library.ascontiguousarray(heads), count)
        module.launch_blocks("int", "semira_runs_tiles", tiles, *items, sums, fresh)
        module.launch_blocks("int", "semira_runs_sums", 1, sums, fresh, tiles)
        module.launch_blocks("int", "semira_runs_items", tiles, *items, sums, fresh, out)
        return out

    def ranked(
        self, before: TypedOp, values: Array, dtype: DataType, starts: Array, lengths: Array,
        longest: int,
    ) -> Array:  # fmt: skip
        """Return where each value of an order by the comparison `before` is, line by line.

        `starts` and `lengths` tell, for each value, of its line; equal values keep their order.
        """
        library, count = self.library, len(values)
        order = library.arange(count, dtype=np.int64)
        if count == 0:
            return order
        source = order_source(before, dtype)
        module = module_of(self._runtime, SEGMENTS, "order", source)
        given = [library.ascontiguousarray(part) for part in (values, starts, lengths)]
        width = 1
        while width < longest:
            merged = order.copy()
            module.launch("int", "semira_merge_runs", count, *given, order, width, count, merged)
            order, width = merged, 2 * width
        return order

    # to and from the host --------------------------------------------------------------------
    def scalar(self, binding: Any) -> Any:
        """Return the value of a bound scalar, None if it is empty; waits for one on the device."""
        if not isinstance(binding, CudaScalar):
            return binding
        held = self._backend.get(binding)
        assert isinstance(held, ScalarArrays)
        return held.value

    def upload(self, array: Any) -> Array:
        """Return a host array on the device."""
        return self.library.asarray(array)

    def download(self, array: Array) -> Any:
        """Return a device array on the host; waits."""
        self._runtime.statistics.synchronisations += 1
        return self.library.asnumpy(array)

    def put(self, arrays: Arrays) -> Any:
        """Return an ordinary object of host arrays."""
        made = self._backend.put(arrays)
        if isinstance(made, CudaVector):
            # Whoever has it here may fill it without a program.
            made.is_new = False
        return made

    def get(self, thing: Any) -> Arrays:
        """Return the host arrays of an ordinary object."""
        return self._backend.get(thing)

    def need(self, matrix: Any, orientation: str) -> None:
        """Make an orientation of a matrix resident."""
        matrix.need(orientation)

    def run(self, program: Program, bindings: list[Any]) -> tuple[Outcome, Any]:
        """Run a planned statement on ordinary objects; its output is written in place."""
        executable = self._prepared.get(program)
        if executable is None:
            executable = self._prepared[program] = self._backend.prepare(program)
        (statement,) = program.body
        assert isinstance(statement, Statement)
        return self._backend.execute(executable, bindings), bindings[statement.out]
