"""The cuda backend's layer for huge objects, with NumPy and the cpu backend in place of a GPU.

What renumbers is the same code; ordinary objects are the cpu's, each below 2**31 a side.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import numpy as np

import semira as gb
from semira.backends.cpu.backend import CpuBackend
from semira.backends.cuda.rearrange.rearrangements import rearrange
from semira.backends.cuda.wide.exchange import converted, from_arrays, is_huge, to_arrays
from semira.backends.cuda.wide.loops import has_wide, run_program
from semira.backends.cuda.wide.objects import WideObject
from semira.backends.interpreter import Cell
from semira.formats import MatrixArrays, VectorArrays, coo_to_matrix
from semira.formats.index import WIDE
from semira.ops.meaning import cast_array, cast_scalar


def recorded_levels(A: gb.Matrix, source: int) -> gb.Vector:
    """Return hops from `source` by a recorded loop, whatever the size of the matrix."""
    level = gb.Vector(int, A.nrows)
    frontier = gb.Vector.from_coo([source], True, size=A.nrows)
    depth = gb.Scalar.from_value(0)

    def step() -> Any:
        level(frontier.S) << depth
        depth << depth + 1
        frontier(~level.S, replace=True) << frontier.vxm(A, gb.semiring.any_pair)
        return frontier.nvals > 0

    gb.repeat(step)
    return level


class NumpyStore:
    """Ordinary objects of the cpu backend."""

    library = np

    def __init__(self) -> None:
        self.backend = CpuBackend()

    def stream(self) -> Any:
        return nullcontext()

    def describe(self, thing: Any) -> Any:
        arrays = self.get(thing)
        if isinstance(arrays, VectorArrays):
            return (arrays.size,), arrays.dtype
        return (arrays.nrows, arrays.ncols), arrays.dtype

    def nvals(self, thing: Any) -> int:
        return int(self.get(thing).nvals)

    def _by_rows(self, thing: Any) -> Any:
        arrays = self.get(thing)
        if isinstance(arrays, VectorArrays):
            return (arrays.entry_indices().astype(np.int64),), arrays.entry_values()
        rows, cols, values = arrays.to_coo()
        order = np.lexsort((cols, rows))
        return (rows[order].astype(np.int64), cols[order].astype(np.int64)), values[order]

    def places(self, thing: Any) -> Any:
        return self._by_rows(thing)[0]

    def values(self, thing: Any) -> Any:
        return self._by_rows(thing)[1]

    def moved(self, thing: Any, shape: Any, places: Any, entries: Any) -> Any:
        values = self._by_rows(thing)[1]
        values = values if entries is None else values[entries]
        return self._made(shape, places, values, self.get(thing).dtype)

    def valued(self, thing: Any, values: Any, dtype: Any) -> Any:
        return self._made(self.describe(thing)[0], self.places(thing), values, dtype)

    def _made(self, shape: Any, places: Any, values: Any, dtype: Any) -> Any:
        assert max(shape) < WIDE, "memory for every position of a huge axis"
        assert all(len(at) == len(values) for at in places)
        values = np.array(values).astype(dtype.array_dtype)
        if len(shape) == 1:
            arrays = VectorArrays.sparse(shape[0], dtype, places[0].astype(np.int32), values)
        else:
            keys = list(zip(*(at.tolist() for at in places), strict=True))
            assert keys == sorted(set(keys)), "entries out of order"
            arrays = coo_to_matrix(*shape, *places, values, dtype=dtype)
        arrays.validate()
        return self.put(arrays)

    def empty(self, shape: Any, dtype: Any) -> Any:
        made = VectorArrays if len(shape) == 1 else MatrixArrays
        return self.put(made.empty(*shape, dtype))

    def duplicate(self, thing: Any) -> Any:
        return self.backend.convert(thing, "copy")

    def applied(self, op: Any, thing: Any, places: Any, bound: Any, *, left: bool) -> Any:
        values = cast_array(self.values(thing), op.type.array_dtype)
        rows, cols = places
        made = np.empty(len(values), op.return_type.array_dtype)
        for e, (a, i, j) in enumerate(zip(values, rows, cols, strict=True)):
            made[e] = self._one(op, a, i, j, bound, left)
        return made

    @staticmethod
    def _one(op: Any, a: Any, i: Any, j: Any, bound: Any, left: bool) -> Any:
        if bound is None:
            return op.scalar_function(a, i, j)
        if op.opclass == "BinaryOp":
            b = cast_scalar(bound[0], op.type.array_dtype)
            k = i if op.parent.name.startswith("second") else j
            return op.scalar_function(b, a, i, k, j) if left else op.scalar_function(a, b, i, k, j)
        return op.scalar_function(a, i, j, bound[0])

    def scanned(self, monoid: Any, values: Any, dtype: Any, heads: Any) -> Any:
        del dtype
        made = cast_array(values, monoid.type.array_dtype).copy()
        for at in np.flatnonzero(~heads):
            made[at] = monoid.op.scalar_function(made[at - 1], made[at], 0, 0, 0)
        return made

    def ranked(
        self, before: Any, values: Any, dtype: Any, starts: Any, lengths: Any, longest: int
    ) -> Any:
        """Merge runs as `kernels/matrix/segments.cuh` does, one place after the other."""
        del dtype
        values = cast_array(values, before.type.array_dtype)
        order, width = np.arange(len(values)), 1
        while width < longest:
            merged = order.copy()
            for p in range(len(values)):
                self._merge_one(before, values, (starts, lengths), order, width, p, merged)
            order, width = merged, 2 * width
        return order

    @staticmethod
    def _merge_one(
        before: Any, values: Any, lines: Any, order: Any, width: int, p: int, to: Any
    ) -> None:
        start, end = lines[0][p], lines[0][p] + lines[1][p]
        place, mine = p - start, order[p]
        run = place // width
        is_left = run % 2 == 0
        low = base = min(start + (run + 1 if is_left else run - 1) * width, end)
        high = min(low + width, end)
        x = values[mine]
        while low < high:
            middle = (low + high) // 2
            y = values[order[middle]]
            pair = (y, x) if is_left else (x, y)
            if bool(before.scalar_function(*pair, 0, 0, 0)) == is_left:
                low = middle + 1
            else:
                high = middle
        to[start + run // 2 * 2 * width + place % width + low - base] = mine

    def scalar(self, binding: Any) -> Any:
        return binding.data.value if isinstance(binding, Cell) else binding

    def upload(self, array: Any) -> Any:
        return np.array(array)

    def download(self, array: Any) -> Any:
        return np.array(array)

    def put(self, arrays: Any) -> Any:
        return self.backend.put(arrays)

    def get(self, thing: Any) -> Any:
        return self.backend.get(thing)

    def take(self, thing: Any, made: Any) -> None:
        thing.data = made.data

    def run(self, program: Any, bindings: Any) -> Any:
        assert not has_wide(bindings)
        return self.backend.execute(self.backend.prepare(program), bindings)


class WideBackend(CpuBackend):
    """The cpu backend with huge objects handled as the cuda backend does."""

    def __init__(self) -> None:
        self.store = NumpyStore()

    def put(self, arrays: Any) -> Any:
        return from_arrays(self.store, arrays) if is_huge(arrays) else super().put(arrays)

    def get(self, handle: Any) -> Any:
        if isinstance(handle, WideObject):
            return to_arrays(self.store, handle)
        return super().get(handle)

    def convert(self, handle: Any, layout: str) -> Any:
        if isinstance(handle, WideObject):
            return converted(self.store, handle, layout)
        return super().convert(handle, layout)

    def rearrange(self, handle: Any, request: Any, *, transposed: bool) -> Any:
        return rearrange(self.store, handle, request, transposed=transposed)

    def execute(self, executable: Any, bindings: Any) -> Any:
        if not has_wide(bindings):
            return super().execute(executable, bindings)
        return run_program(self.store, executable.program, bindings)

    def release(self, handle: Any) -> None:
        if not isinstance(handle, WideObject):
            super().release(handle)
