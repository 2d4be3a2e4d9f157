"""Products row by row: which rows fit into memory at once, and where their entries go."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from semira import device_traits, free_memory
from semira.apps.arrays import check_room, on_host
from semira.apps.products.problem import Product
from semira.apps.sampling.problem import index_dtype
from semira.base.settings import settings
from semira.exceptions import OutOfMemory
from semira.kernels import ArrayKernel

_PLACE = "semira.apps.products.kernels:rows"
_THREADS, _NEAR_THREADS = 256, 1024
_multiply = ArrayKernel(_PLACE, "multiply_rows", lanes=_THREADS, threads=_THREADS)
_multiply_near = ArrayKernel(_PLACE, "multiply_rows", lanes=_NEAR_THREADS, threads=_NEAR_THREADS)
_count = ArrayKernel(_PLACE, "count_rows", lanes=_THREADS, threads=_THREADS)
_work = ArrayKernel(_PLACE, "row_work", lanes=32)
_pack = ArrayKernel(_PLACE, "pack_rows", lanes=8)

#: Blocks of threads on a GPU: as many as its cache holds the sums of, within these limits.
_FEWEST, _MOST, _CACHED_BYTES = 264, 1056, 32 << 20

#: Bytes of shared memory that the template declares, at most.
_DECLARED_BYTES = 1024

#: No entry is so far to the left of the diagonal.
_NO_DIAGONAL = -(1 << 62)

#: The number of the only bit of a word, by the upper bits of its product with a de Bruijn word.
_LOWEST = np.zeros(64, np.int64)
for _bit in range(64):
    _LOWEST[((0x03F79D71B4CB0A89 << _bit) & (2**64 - 1)) >> 58] = _bit


@dataclass(slots=True)
class Part:
    """Rows of a product as compressed rows; `values` is None where there is only a pattern."""

    first: int
    indptr: Any
    indices: Any
    values: Any


def worker_bytes(width: int, top: int, counts: bool) -> int:
    """Return the bytes of a thread of the host, or a block of a GPU, for rows of some columns."""
    sums = 24 * width if top else (4 if counts else 8) * width
    return sums + width // 7 + 256


class Rows:
    """The rows of one product, computed in parts."""

    def __init__(self, product: Product, device: str, xp: Any, memory: int | None) -> None:
        self._product, self._device, self._xp = product, device, xp
        self._memory = memory
        self.nrows, self.width = len(product.left.indptr) - 1, product.width
        self._pairs = xp.empty(self.nrows, xp.int64)
        left, right = product.left, product.right
        given = (left.indptr, left.indices, right.indptr, self._pairs)
        _work(self.nrows, *given, device=device, work=left.indptr)
        self._sizes: Any = None

    @property
    def entry_bytes(self) -> int:
        """Bytes of an entry of the result."""
        index = index_dtype(self.width).itemsize
        return index + (self._product.dtype.itemsize if self._product.valued else 0)

    def sizes(self) -> Any:
        """Return how many entries each row has; with `top` at most."""
        if self._sizes is None:
            xp, product = self._xp, self._product
            if product.top:
                most = min(product.top, self.width)
                self._sizes = xp.minimum(self._pairs, most)
            else:
                self._sizes = xp.zeros(self.nrows, xp.int64)
                if product.threshold == -np.inf:
                    self._count(self._sizes)
                else:
                    dummy = xp.empty(1, index_dtype(self.width)), xp.empty(1, product.dtype)
                    self._run(0, self.nrows, 0, self._sizes, dummy, self._sizes)
        return self._sizes

    def part(self, first: int, last: int) -> Part:
        """Return the entries of some rows."""
        xp, product = self._xp, self._product
        count = last - first
        room = self.sizes()[first:last]
        place = xp.zeros(count + 1, xp.int64)
        place[1:] = xp.cumsum(room)
        total = int(place[-1])
        columns = xp.empty(total, index_dtype(self.width))
        values = xp.empty(total if product.valued else 1, product.dtype)
        writes = 2 if product.valued else 1
        indptr = place
        if total:
            sizes = xp.zeros(count, xp.int64)
            self._run(first, count, writes, place, (columns, values), sizes)
            if product.top:
                indptr, columns, values = self._packed(place, columns, values, sizes)
        return Part(first, indptr, columns, values if product.valued else None)

    def _packed(self, place: Any, columns: Any, values: Any, sizes: Any) -> tuple[Any, Any, Any]:
        """Return rows that stand behind one another."""
        xp = self._xp
        indptr = xp.zeros(len(place), xp.int64)
        indptr[1:] = xp.cumsum(sizes)
        total = int(indptr[-1])
        if total == len(columns):
            return indptr, columns, values
        valued = self._product.valued
        new = xp.empty(total, columns.dtype), xp.empty(total if valued else 1, values.dtype)
        if total:
            given = (place, columns, values, valued, indptr)
            _pack(len(sizes), *given, *new, device=self._device, work=indptr)
        return indptr, *new

    def parts(self) -> Iterator[Part]:
        """Yield the rows in parts that fit into the budget."""
        bounds = self.bounds()
        for first, last in pairwise(bounds):
            yield self.part(first, last)

    def bounds(self) -> list[int]:
        """Return the borders of parts that fit into the budget.

        Raises OutOfMemory if one row does not.
        """
        budget = self._memory
        if budget is None:
            free = free_memory(self._device)
            budget = (1 << 30) if free is None else free // 4
        each = worker_bytes(self.width, self._product.top, self._product.counts)
        # A GPU has as many blocks as fit; a host has its threads.
        count = 1 if self._device == "cuda" else min(settings().threads, self.nrows)
        spare = budget - count * each
        # Packing copies, and so does whoever takes the part away.
        most = max(spare, 0) // ((2 if self._product.top else 1) * self.entry_bytes)
        ends = np.zeros(self.nrows + 1, np.int64)
        sizes = self.sizes()
        np.cumsum(on_host(sizes), out=ends[1:])
        bounds = [0]
        while bounds[-1] < self.nrows:
            first = bounds[-1]
            last = int(np.searchsorted(ends, ends[first] + most, side="right")) - 1
            if last <= first:
                needed = int(ends[first + 1] - ends[first]) * self.entry_bytes
                raise OutOfMemory(
                    f"row {first} of the product takes {needed:,} bytes, and of {budget:,} bytes "
                    f"{max(spare, 0):,} are left for rows: give more memory=, or a top="
                )
            bounds.append(last)
        return bounds

    def whole(self) -> Part:
        """Return all rows; raises OutOfMemory if they do not fit on the device."""
        # Rows with room for `top` entries are packed: a copy.
        copies = 2 if self._product.top else 1
        needed = int(self.sizes().sum()) * self.entry_bytes * copies + 8 * self.nrows
        remedy = "keep less with top= or threshold=, or take it in blocks of rows"
        check_room(needed, self._device, "all rows of the product", remedy)
        return self.part(0, self.nrows)

    def _task(self, first: int, writes: int, workers: int, near: int = 0) -> Any:
        """Return the numbers of a launch, in the order of the kernels."""
        product = self._product
        diagonal = _NO_DIAGONAL if product.diagonal is None else product.diagonal
        steps = (int(len(each) > 1) for each in (product.left_values, product.right_values))
        return np.array([
            first, product.kind, product.weigh, *steps, diagonal, product.top, writes,
            self.width, workers, near,
        ])  # fmt: skip

    def _count(self, sizes: Any) -> None:
        left, right, xp = self._product.left, self._product.right, self._xp
        given = (left.indptr, left.indices, right.indptr, right.indices, sizes)
        if self._device == "cuda":
            workers = self._workers(self.nrows, self.width // 7 + 256)
            task = xp.asarray(self._task(0, 0, workers))
            order, marks = self._order(0, self.nrows), self._marks(workers)
            _count(self.nrows, task, order, *given, marks, device=self._device)
            return
        task = self._task(0, 0, 0)
        _count(
            self.nrows, task, task, *given, sizes, device=self._device,
            work=self._running(0, self.nrows), host_scratch=self._bits,
        )  # fmt: skip

    def _run(
        self, first: int, count: int, writes: int, place: Any, out: tuple[Any, Any], sizes: Any
    ) -> None:
        xp, product = self._xp, self._product
        sums = np.dtype(np.int32) if product.counts else product.dtype
        left, right = product.left, product.right
        given = (
            left.indptr, left.indices, product.left_values,
            right.indptr, right.indices, product.right_values,
            product.left_weights, product.right_weights, product.threshold, place, *out, sizes,
        )  # fmt: skip
        if self._device == "cuda":
            each = worker_bytes(self.width, product.top, product.counts)
            near = self._near_bytes(sums)
            workers = min(self._workers(count, each), _FEWEST if near else _MOST)
            words = 3 * self.width * (8 // sums.itemsize) if product.top else self.width
            room = xp.zeros(1 if near and not product.top else max(workers * words, 1), sums)
            task = xp.asarray(self._task(first, writes, workers, near))
            order, marks = self._order(first, count), self._marks(workers)
            run = _multiply_near if near else _multiply
            run(count, task, order, *given, task, room, marks, device=self._device, shared=near)
            return
        kept = min(product.top, self.width) + 1

        def scratch() -> list[tuple[Any, int, Any]]:
            return [(sums, self.width + 1, 0), *self._bits(), (sums, kept, None)]

        task = self._task(first, writes, 0)
        _multiply(
            count, task, task, *given, _LOWEST, task, task, device=self._device,
            work=self._running(first, count), host_scratch=scratch,
        )  # fmt: skip

    def _near_bytes(self, sums: Any) -> int:
        """Return the bytes of the sums of a row if these fit into a block's memory, or 0."""
        if not self._product.counts:
            return 0
        needed = int(sums.itemsize) * self.width
        room = device_traits(self._device).block_memory - _DECLARED_BYTES
        return needed if needed <= room else 0

    def _bits(self) -> list[tuple[Any, int, Any]]:
        """Return the bits of a thread of the host."""
        words = self.width // 64 + 1
        return [(np.uint64, words, 0), (np.uint64, words // 64 + 1, 0)]

    def _running(self, first: int, count: int) -> Any:
        """Return running totals of the work of rows."""
        work = np.zeros(count + 1, np.int64)
        np.cumsum(self._pairs[first : first + count], out=work[1:])
        return work

    def _order(self, first: int, count: int) -> Any:
        """Return rows in the order in which blocks of threads take them: the longest first."""
        return self._xp.ascontiguousarray(self._xp.argsort(-self._pairs[first : first + count]))

    def _marks(self, workers: int) -> Any:
        groups = (self.width + 1023) // 1024
        words = workers * (33 * groups + (groups + 31) // 32)
        return self._xp.zeros(1 + words, self._xp.uint32)

    def _workers(self, count: int, each: int) -> int:
        """Return how many blocks of threads of a GPU work, which take `each` bytes."""
        budget = self._memory or (free_memory(self._device) or 1 << 34) // 4
        workers = min(_MOST, max(_FEWEST, _CACHED_BYTES // each))
        return max(1, min(workers, budget // (2 * each), count))
