"""Lists of products on the GPU: launches of their own; the host waits for two sizes."""

from __future__ import annotations

from typing import Any

import numpy as np

from semira.backends.cuda.own_launches import OwnWalk
from semira.backends.cuda.runtime.objects import CudaVector
from semira.backends.cuda.runtime.primitives import SCAN_TILE, THREADS, primitives_of
from semira.backends.cuda.runtime.room import require
from semira.backends.cuda.runtime.transfer import put_vector
from semira.backends.cuda.runtime.vector_memory import STATE_WORDS
from semira.contract import LateRows, TraceRow
from semira.formats import VectorArrays
from semira.methods.sorted_push.sorts import Sorts, key_bits, sort_bytes
from semira.methods.sorted_push.text import form_of, text

__all__ = ["ROOT", "multiply", "text"]

ROOT = "semira.methods.sorted_push.kernels:push.cuh"


def multiply(walk: OwnWalk) -> tuple[CudaVector, LateRows]:
    """Return the product; waits for the frontier and for the number of products.

    Raises
    ------
    OutOfMemory
        The list, or what sorting it takes, does not fit.
    """
    return _Job(walk).run()


class _Job:
    """One execution.

    Attributes
    ----------
    kind : {"int", "long long"}
        Type of offsets: that of the matrix, which has as many entries as there can be products.
    lists : tuple
        The matrix by the lines that are pushed: offsets, indices, values, stride of values.
    """

    def __init__(self, walk: OwnWalk) -> None:
        self.runtime, self.module, self.statement = walk.runtime, walk.module, walk.statement
        self.primitives = primitives_of(walk.runtime)
        self.form, self.dtype = form_of(walk.statement), walk.statement.operator.monoid.type
        self.u, self.size, matrix = walk.vector, walk.size, walk.matrix
        self.kind = "long long" if matrix.is_wide else "int"
        self.lists = (*matrix.orientations[walk.orientation], 0 if matrix.iso else 1)

    def run(self) -> tuple[CudaVector, LateRows]:
        """Return the product before it is written, and its row of the trace."""
        values, frontier, count = self.frontier()
        starts = self.primitives.offsets("long long", count + 1)
        self.launch("p_degrees", count, frontier, count, self.lists[0], starts)
        self.primitives.scan("long long", starts, count)
        total = self.primitives.read("long long", starts, count)
        require(
            self.runtime,
            self.needed(total),
            f"{total} products merged by merge={self.form.merge!r}",
        )
        result = put_vector(self.runtime, VectorArrays.empty(self.size, self.dtype))
        pushed = frontier, starts, count, total
        if total and self.form.merge == "scatter":
            self.scatter(pushed, values, result)
        elif total:
            self.sort(pushed, values, result)
        return result, self.trace(count, total, result)

    def frontier(self) -> tuple[Any, Any, int]:
        """Return the values of u, the positions of its entries and how many these are; waits.

        A list that a push has made has the order of its threads: where one order is asked for, it
        is made anew.
        """
        state = self.runtime.download(self.u.state, np.int64, STATE_WORDS)
        count, active, is_listed = (int(word) for word in state[:3])
        values, words, listed = self.u.planes[active]
        plan = self.statement.plan
        if is_listed and not (plan is not None and plan.ordered):
            return values, listed, count
        found, _ = self.primitives.positions(words, self.u.size, count)
        return values, found, count

    def needed(self, total: int) -> int:
        """Return the bytes that merging `total` products takes, without the result."""
        width = 0 if self.form.keys_only else self.dtype.itemsize
        offset = 8 if self.kind == "long long" else 4
        if self.form.merge == "scatter":
            return self.size * (4 + (1 if self.form.keys_only else offset))
        tiles = -(-total // SCAN_TILE)
        listed = total * (4 + width + offset) + tiles * (1 + self.dtype.itemsize)
        return int(listed + sort_bytes(total, width))

    def trace(self, count: int, total: int, result: CudaVector) -> LateRows:
        """Return the row of the trace; the result's entries are read if somebody asks."""
        runtime, op = self.runtime, self.statement.op
        state = runtime.allocate(8 * STATE_WORDS)
        runtime.move(result.state, state, 0, 8 * STATE_WORDS)

        def read() -> TraceRow:
            made = int(runtime.download(state, np.int64, 1)[0])
            return TraceRow(0, op, "push", count, total, made)

        return LateRows(1, lambda: [read()])

    # launches ----------------------------------------------------------------------------------
    def launch(self, kernel: str, items: int, *arguments: Any) -> None:
        """Start a kernel of the statement over `items` items."""
        self.module.launch(self.kind, kernel, items, *arguments)

    def blocks(self, kernel: str, blocks: int, *arguments: Any) -> None:
        """Start a kernel of the statement with `blocks` blocks."""
        self.module.launch_blocks(self.kind, kernel, blocks, *arguments, threads=THREADS)

    def scatter(self, pushed: tuple[Any, ...], values: Any, result: CudaVector) -> None:
        """Let one product stay at each place, and list the places."""
        runtime, size, total = self.runtime, self.size, pushed[3]
        width = 1 if self.form.keys_only else 8 if self.kind == "long long" else 4
        marks = runtime.zeroed(width * size)
        self.launch("p_mark", total, *pushed, *self.lists[:2], marks)
        places = self.primitives.offsets("int", size + 1)
        self.launch("p_flag", size, marks, size, places)
        self.primitives.scan("int", places, size)
        self.launch(
            "p_enter", size, *pushed, *self.lists, values, marks, places, size, *_parts(result)
        )

    def sort(self, pushed: tuple[Any, ...], values: Any, result: CudaVector) -> None:
        """List the products by column, and fold those of each column."""
        runtime, primitives, total = self.runtime, self.primitives, pushed[3]
        width = 0 if self.form.keys_only else self.dtype.itemsize
        keys = runtime.allocate(4 * total)
        items = runtime.allocate(width * total) if width else None
        self.launch("p_gather", total, *pushed, *self.lists, values, keys, items)
        sorts = Sorts(runtime)
        if self.form.merge == "radix":
            bits = key_bits(self.size)
            keys, items = sorts.by_digits(keys, items, total, width, bits)
        else:
            keys, items = sorts.by_merging(keys, items, total, width)
        places = primitives.offsets(self.kind, total + 1)
        primitives.module.launch(self.kind, "semira_key_heads", total, keys, 4, total, places)
        primitives.scan(self.kind, places, total)
        listed = keys, items, total
        if not self.form.folds:
            self.launch("p_enter", total, *listed, places, *_parts(result))
            return
        tiles = -(-total // SCAN_TILE)
        folds = runtime.allocate(self.dtype.itemsize * tiles), runtime.allocate(tiles)
        self.blocks("p_fold_tiles", tiles, *listed, *folds)
        self.blocks("p_fold_sums", 1, *folds, tiles)
        self.blocks("p_fold_items", tiles, *listed, *folds, places, *_parts(result))


def _parts(result: CudaVector) -> tuple[Any, ...]:
    """Return where the kernels enter results: values, presence and list of a new vector, state."""
    return *result.planes[0], result.state
