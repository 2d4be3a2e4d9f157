"""Random streams by chunk, so that a result depends on its seed and never on the threads."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from semira.base.settings import settings

T = TypeVar("T")

#: Items a stream serves: a chunk's temporaries fit in a core's cache.
CHUNK = 2**16


def open_stream(seed: int, *path: int) -> np.random.PCG64DXSM:
    """Return the bit generator of one chunk of a graph with a seed.

    The `path` says what the numbers are for (one number a stage), then which chunk.
    """
    return np.random.PCG64DXSM(np.random.SeedSequence(seed, spawn_key=path))


def draw_words(bits: np.random.PCG64DXSM, count: int) -> NDArray[np.uint32]:
    """Return `count` uniform 32-bit words, the same ones whatever the byte order."""
    words = bits.random_raw((count + 1) // 2).astype("<u8", copy=False).view("<u4")
    return words[:count].astype(np.uint32, copy=False)


def draw_unit(bits: np.random.PCG64DXSM, count: int) -> NDArray[np.float64]:
    """Return `count` uniform numbers of 53 bits in [0, 1)."""
    words: NDArray[np.uint64] = bits.random_raw(count)
    return np.ldexp((words >> np.uint64(11)).astype(np.float64), -53)


def draw_permutation(
    num_vertices: int, dtype: np.dtype[Any], seed: int, stage: int
) -> NDArray[Any]:
    """Return a uniform permutation of ``range(num_vertices)``."""
    order = np.arange(num_vertices, dtype=dtype)
    np.random.Generator(open_stream(seed, stage)).shuffle(order)
    return order


def map_chunks(task: Callable[[int, int, int], T], count: int, size: int = CHUNK) -> list[T]:
    """Return ``task(chunk, start, stop)`` for each chunk of ``range(count)``, in order.

    Chunks run in ``settings().threads`` threads; NumPy works outside the interpreter lock.
    """
    spans = [(chunk, lo, min(lo + size, count)) for chunk, lo in enumerate(range(0, count, size))]
    if len(spans) <= 1 or settings().threads == 1:
        return [task(*span) for span in spans]
    with ThreadPoolExecutor(settings().threads) as pool:
        return list(pool.map(lambda span: task(*span), spans))
