"""Sorts of short lists by kernels of ours.

CuPy's sorts load a library and compile a kernel in every process, which takes 80 ms of a first call
on an H200's host. Of up to 100,000 keys ours take less in later calls, too, beyond 2^18 more.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from semira.backends.cuda.runtime.device import Runtime

#: Longest list that is sorted here.
SHORT = 1 << 18

#: Least and most keys that a block sorts (kernels/base/order.cuh); powers of two.
_LEAST_RUN, _RUN = 64, 1024


def is_short(count: int, dtype: Any) -> bool:
    """Return whether a list of keys is sorted here: of one that has two or more, and is short.

    Keys are unsigned, or signed ones of which none is negative.
    """
    return 2 <= count <= SHORT and np.dtype(dtype).itemsize in (4, 8)


def sort(runtime: Runtime, base: Any, keys: Any, count: int, dtype: Any) -> None:
    """Sort keys in place, by the base kernels."""
    width = np.dtype(dtype).itemsize
    found = _sorted(runtime, base, keys, count, width, is_numbered=False)
    if width == 4:
        base.launch("int", "semira_low_words", count, found, count, width, keys)
    else:
        runtime.move(found, keys, 0, width * count)


def order(runtime: Runtime, base: Any, keys: Any, count: int) -> Any:
    """Return the sorting permutation of 4-byte keys, as 64-bit numbers.

    Equal keys keep their order.
    """
    found = _sorted(runtime, base, keys, count, 4, is_numbered=True)
    base.launch("int", "semira_low_words", count, found, count, 8, found)
    return found


def _sorted(
    runtime: Runtime, base: Any, keys: Any, count: int, width: int, *, is_numbered: bool
) -> Any:
    """Return keys as sorted 64-bit numbers, in memory of their own."""
    found, other = runtime.allocate(8 * count), runtime.allocate(8 * count)
    length = min(_RUN, max(_LEAST_RUN, 1 << (count - 1).bit_length()))
    base.launch_blocks(
        "int", "semira_sort_runs", -(-count // length), keys, width, int(is_numbered), count,
        found, threads=length // 2,
    )  # fmt: skip
    while length < count:
        base.launch("int", "semira_merge_runs", count, found, count, length, other)
        found, other, length = other, found, 2 * length
    return found
