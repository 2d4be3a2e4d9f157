"""Joins of partial matches with the neighbours of what is matched, in pieces that fit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

import semira as gb
from semira import device_traits
from semira.apps.arrays import on_host
from semira.apps.subgraph_matching import kernels
from semira.apps.subgraph_matching.problem import Step
from semira.exceptions import DomainMismatch, InvalidValue, OutOfMemory
from semira.kernels import rows_of

#: Matches of a piece at most, unless one match alone has more successors.
ROOM = 1 << 22

#: The same where the search stops at some matches.
FEW = 1 << 14

#: Matches that a host makes longer before Ctrl-C takes effect.
_BATCH = 1 << 16


def memory(
    vertices: int,
    edges: int,
    pattern_vertices: int,
    *,
    labels: bool = False,
    limit: int = 1000,
    room: int = ROOM,
) -> int:
    """Return the bytes that `subgraph_match` takes at most beside the graph.

    `room` is the number of matches of a piece, each with counts and sums for every vertex of the
    pattern; beside them are the matches that are listed, labels, and the columns of the graph if
    its rows are not enough.

    Examples
    --------
    >>> memory(1000, 5000, 3)
    402787184
    """
    room = max(min(room, (vertices + edges) ** pattern_vertices), vertices)
    pieces = sum(room * (4 * depth + 24) for depth in range(1, pattern_vertices + 1))
    listed = 8 * 3 * limit * pattern_vertices
    return pieces + listed + vertices * (14 + 16 * labels) + 8 * (vertices + edges)


def room_of(A: Any, pattern_vertices: int, labels: bool, limit: int, most: int) -> int:
    """Return the matches of a piece, `most` or as many as fit into the memory that is free.

    Raises OutOfMemory if few of them do not fit.
    """
    free = gb.free_memory(A.device)
    room = most
    while True:
        needed = memory(A.nrows, A.nvals, pattern_vertices, labels=labels, limit=limit, room=room)
        if free is None or needed <= free:
            return room
        if room <= FEW:
            break
        room //= 2
    raise OutOfMemory(
        f"subgraph_match: a pattern of {pattern_vertices} vertices and {limit} listed matches need "
        f"{needed:,} bytes on {A.device}, of which {free:,} are free; list fewer matches, or use a "
        "device with more memory"
    )


class Matcher:
    """A graph in arrays of the device, and matches that grow in it, in pieces of `room`."""

    def __init__(
        self, A: Any, labels: Any, dtype: Any, steps: list[Step], room: int, xp: Any
    ) -> None:
        self._xp, self._n, self._device, self._room = xp, A.nrows, A.device, room
        self._steps = steps
        rows = rows_of(A, values=dtype is not None, dtype=dtype)
        self._rows = rows
        self._has_values = dtype is not None
        none = xp.zeros(1, xp.int64)
        self._values = none if rows.values is None else xp.ascontiguousarray(rows.values)
        self._labels = none if labels is None else labels
        # Where an edge to an earlier vertex is the only one, its neighbours are those of a column.
        self._has_columns = any(
            (step.rules & 1).any() and not (step.rules & 2).any() for step in steps[1:]
        )
        turned = rows_of(A.T.new(), values=False) if self._has_columns else None
        self._columns = (none, none) if turned is None else (turned.indptr, turned.indices)
        self._wanted = [xp.asarray(step.wanted) for step in steps]
        self._rules = [xp.asarray(step.rules) for step in steps]
        self.count = 0
        self.kept: list[Any] = []

    def run(
        self, limit: int, is_counting: bool, progress: Callable[[int, int], None] | None
    ) -> None:
        """Count all matches, if `is_counting`, and keep some."""
        xp, step = self._xp, self._steps[0]
        fits = xp.zeros(self._n, xp.bool_)
        kernels.begin(
            self._n, self._rows.indptr, self._rows.indices, self._values, self._has_values,
            *self._kind(step), self._wanted[0], fits, device=self._device, work=self._n,
        )  # fmt: skip
        firsts = xp.flatnonzero(fits).astype(xp.int32)
        self._limit, self._is_counting = limit, is_counting
        size = max(1, min(self._room, len(firsts)))
        for low in range(0, len(firsts), size):
            self._grow(firsts[low : low + size], 1)
            if progress is not None:
                progress(min(low + size, len(firsts)), len(firsts))

    def _has_enough(self) -> bool:
        return not self._is_counting and self.count >= self._limit

    def _grow(self, table: Any, depth: int) -> None:
        """Make the matches of a table longer, up to the whole pattern."""
        items = len(table) // depth
        if not items or self._has_enough():
            return
        if depth == len(self._steps):
            self._keep(table, items)
            return
        xp = self._xp
        counts = xp.zeros(items, xp.int64)
        self._extend(table, depth, counts)
        ends = xp.cumsum(counts)
        total = int(ends[-1])
        is_last = depth + 1 == len(self._steps)
        if is_last and self.count >= self._limit:
            self.count += total
            return
        for low, high, before, size in self._pieces(ends, total):
            if self._has_enough():
                return
            if is_last and self.count >= self._limit:
                self.count += size
                continue
            longer = xp.empty(size * (depth + 1), xp.int32)
            starts = ends[low:high] - counts[low:high] - before
            self._extend(table[low * depth : high * depth], depth, starts, longer)
            self._grow(longer, depth + 1)

    def _pieces(self, ends: Any, total: int) -> list[tuple[int, int, int, int]]:
        """Return ranges of matches, the successors before each, and their number."""
        if total <= self._room:
            return [(0, len(ends), 0, total)] if total else []
        sums = on_host(ends)
        pieces, low, before = [], 0, 0
        while low < len(sums):
            high = int(np.searchsorted(sums, before + self._room, side="right"))
            high = max(high, low + 1)
            end = int(sums[high - 1])
            if end > before:
                pieces.append((low, high, before, end - before))
            low, before = high, end
        return pieces

    def _keep(self, table: Any, items: int) -> None:
        depth = len(self._steps)
        left = min(max(self._limit - self.count, 0), items)
        if left:
            self.kept.append(table[: left * depth].reshape(left, depth).copy())
        self.count += items

    def _kind(self, step: Step) -> tuple[Any, ...]:
        has_label = step.label is not None
        return self._labels, step.label or 0, has_label, step.degree, step.loop

    def _extend(self, table: Any, depth: int, starts: Any, out: Any = None) -> None:
        step, is_writing = self._steps[depth], out is not None
        starts = self._xp.ascontiguousarray(starts)
        items = len(table) // depth
        at_once = items if device_traits(self._device).own_memory else _BATCH
        for low in range(0, items, max(at_once, 1)):
            part = slice(low, min(low + at_once, items))
            size = part.stop - low
            known = table[low * depth : part.stop * depth]
            kernels.extend(
                size, depth, self._n, known, self._rows.indptr, self._rows.indices,
                *self._columns, self._has_columns, self._values, self._has_values,
                *self._kind(step), self._rules[depth], self._wanted[depth], starts[part],
                is_writing, out if is_writing else known, device=self._device, work=16 * size,
            )  # fmt: skip

    def matches(self, order: list[int]) -> NDArray[np.int64]:
        """Return the matches that were kept on the host, columns by vertex of the pattern."""
        if not self.kept:
            return np.zeros((0, len(order)), np.int64)
        found = on_host(self._xp.concatenate(self.kept)).astype(np.int64)
        made: NDArray[np.int64] = np.empty_like(found)
        made[:, order] = found
        return made


def frequencies(labels: Any, n: int, xp: Any) -> dict[int | None, int]:
    """Return how many vertices have each label; those without a label count as all."""
    found: dict[int | None, int] = {None: n}
    if labels is not None and n:
        names, counts = xp.unique(labels, return_counts=True)
        found |= dict(zip(on_host(names).tolist(), on_host(counts).tolist(), strict=True))
    return found


def value_dtype(A: Any, pattern: Any) -> Any:
    """Return the dtype in which values of edges are compared.

    Raises DomainMismatch if they are no real numbers, and InvalidValue if unsigned ones do not fit
    to signed ones.
    """
    kinds = {A.dtype.kind, pattern.dtype.kind}
    if not kinds <= set("BIUF"):
        raise DomainMismatch(
            f"subgraph_match: values of {A.dtype} and {pattern.dtype} are not compared; pass "
            "matrices of real numbers, or match_values=False"
        )
    if not kinds <= set("BIU"):
        return np.float64
    for each in (A, pattern) if "I" in kinds else ():
        largest = int(each.reduce_scalar(gb.monoid.max).get(0))
        if largest >= 2**63:
            raise InvalidValue(
                f"subgraph_match: a value of {each.dtype} is {largest}, and those of the other "
                "matrix are signed; make both UINT64, or FP64 to compare them rounded"
            )
    return np.int64
