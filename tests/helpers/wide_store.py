"""The cuda backend's ways with huge objects, on NumPy and the cpu backend in place of a GPU."""

from __future__ import annotations

from typing import Any

import numpy as np

import semira as gb
from semira.backends.cpu.backend import CpuBackend
from semira.backends.cpu.huge import CpuStore
from semira.backends.cuda.rearrange.rearrangements import rearrange
from semira.backends.interpreter import Cell
from semira.contract.rearrange import Rearranged
from semira.ops.meaning import cast_array


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


class NumpyStore(CpuStore):
    """Ordinary objects of the cpu backend, each of which is checked."""

    def moved(self, thing: Any, shape: Any, places: Any, entries: Any) -> Any:
        made = super().moved(thing, shape, places, entries)
        self.get(made).validate()
        return made

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


class WideBackend(CpuBackend):
    """The cpu backend with entries rearranged as the cuda backend does."""

    def rearrange(self, handle: Any, request: Any, *, transposed: bool) -> Any:
        made = rearrange(NumpyStore(), handle.data, request, transposed=transposed)
        return [
            Rearranged(
                Cell("cpu", handle.kind if len(y.shape) == 2 else "vector", y.handle),
                y.shape,
                y.dtype,
            )
            for y in made
        ]
