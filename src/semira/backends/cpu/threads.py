"""Chunks of work on a pool of threads; kernels run without the GIL.

There is no Numba threading layer: nothing aborts when two Python threads call at once, and a
forked child simply makes its own pool.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira.base import interrupts, locks
from semira.base.settings import settings

#: Entries below which one thread is faster than handing work out (handing out costs 40 to 110 us).
PARALLEL_ENTRIES = 100_000

#: Positions that a pass over a vector does in the time of one entry of a product.
_PASS_SPEED = 4

#: Chunks per thread: rows differ in cost, late chunks even out the threads.
_CHUNKS_PER_THREAD = 4

#: Entries of the longest chunk, about 0.1 s: Ctrl-C takes effect between chunks.
_LONGEST_CHUNK = 1 << 24

#: Seconds after which the main thread looks whether Ctrl-C was noted.
_PATIENCE_S = 0.1

_pool: ThreadPoolExecutor | None = None
_pool_owner = (0, 0)
_lock = locks.lock()


def _workers() -> ThreadPoolExecutor:
    """Return the pool of this process, made anew after a fork or a change of the settings."""
    global _pool, _pool_owner
    owner = (os.getpid(), settings().threads)
    if _pool is None or _pool_owner != owner:
        with _lock:
            if _pool is None or _pool_owner != owner:
                _pool = ThreadPoolExecutor(owner[1], thread_name_prefix="semira-cpu")
                _pool_owner = owner
    return _pool


def num_threads() -> int:
    """Return how many chunks can run at once."""
    return settings().threads


def num_chunks(entries: int) -> int:
    """Return into how many chunks work on `entries` entries is cut."""
    if entries < PARALLEL_ENTRIES and entries < _LONGEST_CHUNK:
        return 1
    threads = settings().threads
    least = max(1, entries // _LONGEST_CHUNK)
    if threads == 1 or entries < PARALLEL_ENTRIES:
        return least
    wanted = min(threads * _CHUNKS_PER_THREAD, entries // (PARALLEL_ENTRIES // 4))
    return max(wanted, least)


def even_bounds(length: int, chunks: int) -> list[int]:
    """Return the borders of `chunks` pieces of about equal length."""
    return [length * part // chunks for part in range(chunks + 1)]


def pass_bounds(length: int) -> list[int]:
    """Return the borders of pieces of a pass over `length` positions that cost about the same."""
    if length < PARALLEL_ENTRIES:
        return [0, length]
    return even_bounds(length, num_chunks(length // _PASS_SPEED))


def bounds_by_work(offsets: NDArray[Any], chunks: int) -> list[int]:
    """Return borders of row chunks with about equal entries; `offsets` are running totals."""
    length = len(offsets) - 1
    if chunks == 1:
        return [0, length]
    first, last = int(offsets[0]), int(offsets[-1])
    targets = [first + (last - first) * part // chunks for part in range(1, chunks)]
    # Targets of another dtype would have the offsets copied.
    inner = np.searchsorted(offsets, np.array(targets, offsets.dtype), side="left")
    return [0, *np.clip(inner, 0, length).tolist(), length]


def run_chunks(function: Callable[[int, int, int], Any], bounds: Sequence[int]) -> list[Any]:
    """Return ``function(part, lo, hi)`` of every chunk, in order.

    After Ctrl-C or an error no further chunk is started, and the call is left once those that run
    have ended, so that no thread writes into arrays afterwards.
    """
    if len(bounds) == 2:
        return [function(0, bounds[0], bounds[1])]
    pieces = [(part, bounds[part], bounds[part + 1]) for part in range(len(bounds) - 1)]
    results: list[Any] = [None] * len(pieces)
    waiting = iter(pieces)

    def drain() -> None:
        # Whoever is free takes the next chunk: taking one is a single step under the GIL.
        try:
            for piece in waiting:
                results[piece[0]] = function(*piece)
                interrupts.check()
        except BaseException:
            for _ in waiting:
                pass
            raise

    pool = _workers()
    # The caller works as well: handing a chunk to it costs nothing.
    futures: list[Future[Any]] = []
    # Where there is no room for the stack of another thread, those that there are do the work.
    with suppress(RuntimeError):
        futures.extend(pool.submit(drain) for _ in range(min(num_threads(), len(pieces)) - 1))
    try:
        drain()
    finally:
        _wait_for_all(futures)
    for future in futures:
        future.result()
    return results


def run_watched(
    function: Callable[[int, int, int], Any], bounds: Sequence[int], stop: NDArray[np.int64]
) -> None:
    """Run chunks that may be long, as `run_chunks` does; Ctrl-C writes 1 to ``stop[0]`` at once.

    The chunks look at it and return. The main thread only waits: while it is inside of a kernel,
    Python hears of no signal.
    """
    if threading.current_thread() is not threading.main_thread():
        run_chunks(function, bounds)
        return
    try:
        future = _workers().submit(run_chunks, function, bounds)
    except RuntimeError:  # No room for the stack of another thread
        run_chunks(function, bounds)
        return
    try:
        while not future.done():
            wait((future,), _PATIENCE_S)
            interrupts.check()
    except BaseException:
        stop[0] = 1
        _wait_for_all([future])
        raise
    future.result()


def _wait_for_all(futures: list[Future[Any]]) -> None:
    interrupted: KeyboardInterrupt | None = None
    while True:
        try:
            wait(futures)
            break
        except KeyboardInterrupt as error:
            interrupted = error
    if interrupted is not None:
        raise interrupted
