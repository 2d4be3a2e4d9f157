"""Walks: chunks of walkers, each in one launch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from semira import free_memory
from semira.apps.arrays import check_room, on_host
from semira.apps.walks.problem import Ground, Walks
from semira.kernels import ArrayKernel

_PLACE = "semira.apps.walks.kernels:walk"
_walk = ArrayKernel(_PLACE, "walk")
_node2vec = ArrayKernel(_PLACE, "node2vec")
_false_moves = ArrayKernel(_PLACE, "false_moves")

#: What `walk` calls the ways to choose.
_MODES = {"uniform": 0, "biased": 1, "stochastic_greedy": 1, "greedy": 2}

#: Bytes of paths from which results are made in parts, if the device has no room for all.
_LARGE = 2**28

#: Bytes of paths of one part where they are counted, or there is a progress line.
_PART = 2**26


def walker_bytes(n: int, length: int, keep: str) -> int:
    """Return the bytes that one walk takes on its device."""
    vertex = 4 if n < 2**31 else 8
    return vertex * (1 if keep == "ends" else length) + 12


def run(
    ground: Ground,
    walks: Walks,
    starts: Any,
    weighted: bool,
    device: str,
    xp: Any,
    progress: Callable[[int, int], None] | None,
) -> tuple[Any, Any, Any]:
    """Return (paths, ends or visit counts; lengths; neighbours seen) of all walks."""
    n, length = len(ground.indptr) - 1, walks.length
    total = len(starts) * walks.walks_per_vertex
    each = walker_bytes(n, length, walks.keep)
    step, on_device = _parts(total, each, walks.keep, device, progress)
    made = _Kept(walks, n, total, on_device, xp)
    for first in range(0, total, step):
        count = min(step, total - first)
        made.take(first, *_part(ground, walks, starts, weighted, device, xp, first, count))
        if progress is not None:
            progress(first + count, total)
    return made.done()


def _parts(total: int, each: int, keep: str, device: str, progress: Any) -> tuple[int, bool]:
    """Return how many walkers go at once, and whether their results stay on the device."""
    if keep == "counts":
        return max(1, _PART // each), True
    if total * each < _LARGE:
        return max(1, total if progress is None else min(total, _PART // each)), True
    free = free_memory(device)
    room = total * each if free is None else free * 3 // 4
    if device == "cuda" and total * each > room:
        check_room(total * each, "cpu", "random_walks: the paths", "keep ends or counts")
        return max(1, min(room // 2, 2**30) // each), False
    check_room(total * each, device, "random_walks: the paths", "keep ends or counts")
    return max(1, total if progress is None else _PART // each), True


class _Kept:
    """Results of parts, joined."""

    def __init__(self, walks: Walks, n: int, total: int, on_device: bool, xp: Any) -> None:
        self._keep, self._xp, self._n = walks.keep, xp, n
        self._total, self._width = total, walks.length if walks.keep == "paths" else 1
        self._home = xp if on_device else np
        self._on_device = on_device
        self._parts: tuple[Any, ...] | None = None
        self._counts = xp.zeros(n, xp.int64) if walks.keep == "counts" else None

    def take(self, first: int, out: Any, lengths: Any, seen: Any) -> None:
        """Add the results of walkers from `first` on."""
        if self._counts is not None:
            # Position 0 counts what walks that ended leave empty.
            shifted = out + 1
            self._counts += self._xp.bincount(shifted, minlength=self._n + 1)[1:]
            out = out[:0]
        if len(lengths) == self._total and self._on_device:
            self._parts = out, lengths, seen
            return
        if self._parts is None:
            sizes = (0 if self._counts is not None else self._total * self._width,) + (
                self._total,
            ) * 2
            self._parts = tuple(
                self._home.empty(size, part.dtype)
                for size, part in zip(sizes, (out, lengths, seen), strict=True)
            )
        for whole, part, width in zip(
            self._parts, (out, lengths, seen), (self._width, 1, 1), strict=True
        ):
            place = whole[first * width : first * width + len(part)]
            if self._on_device:
                place[...] = part
            else:
                place[...] = on_host(part)

    def done(self) -> tuple[Any, Any, Any]:
        """Return all results."""
        xp = self._home
        out, lengths, seen = self._parts or (
            xp.empty(0, xp.int32 if self._n < 2**31 else xp.int64),
            xp.empty(0, xp.int32),
            xp.empty(0, xp.int64),
        )
        if self._counts is not None:
            return self._counts, lengths, seen
        return out if self._keep == "ends" else out.reshape(-1, self._width), lengths, seen


def _part(
    ground: Ground,
    walks: Walks,
    starts: Any,
    weighted: bool,
    device: str,
    xp: Any,
    first: int,
    count: int,
) -> tuple[Any, Any, Any]:
    """Start the walkers from number `first` on."""
    n, length = len(ground.indptr) - 1, walks.length
    keep = walks.keep != "ends"
    out = xp.empty(count * (length if keep else 1), xp.int32 if n < 2**31 else xp.int64)
    lengths, seen = xp.empty(count, xp.int32), xp.empty(count, xp.int64)
    given = (first, length, starts, len(starts), ground.indptr, ground.indices, ground.running)
    rest = (walks.restart, walks.key, keep, out, lengths, seen)
    work = 4 * count * length
    if walks.kind == "node2vec":
        factors = (weighted, 1 / walks.p, 1 / walks.q)
        _node2vec(count, *given, *factors, *rest, device=device, work=work)
    else:
        mode, fallback = _MODES[walks.kind], walks.kind == "stochastic_greedy"
        _walk(count, *given, ground.best, mode, fallback, *rest, device=device, work=work)
    return out, lengths, seen


def false_moves(
    ground: Ground, paths: Any, starts: Any, restart: bool, device: str, xp: Any
) -> Any:
    """Return for each walk how many of its moves are no entry."""
    count, length = paths.shape
    wrong = xp.empty(count, xp.int64)
    given = (length, ground.indptr, ground.indices, starts, len(starts), restart)
    flat = xp.asarray(paths).reshape(-1)
    _false_moves(count, *given, flat, wrong, device=device, work=4 * count * length)
    return wrong
