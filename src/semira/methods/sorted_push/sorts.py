"""Stable sorts of 32-bit columns with values of any type beside them: kernels/sorts.cuh."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from semira.backends.cuda.runtime.device import Runtime
from semira.backends.cuda.runtime.primitives import module_of, offset_type_of, primitives_of

#: The kernels, compiled once for all.
KERNELS = "semira.methods.sorted_push.kernels:sorts.cuh"

#: Items of a tile, which one block sorts; threads of a block.
TILE, THREADS = 2048, 256

#: Most bits of a digit.
MOST_BITS = 8

#: Bytes of a value that may lie beside a key; 0: none does.
WIDTHS = (0, 1, 2, 4, 8, 16)


def digits_of(bits: int) -> list[tuple[int, int]]:
    """Return (first bit, number of bits) of each pass over keys of `bits` bits, as even as can be.

    Examples
    --------
    >>> digits_of(21)
    [(0, 7), (7, 7), (14, 7)]
    >>> digits_of(10), digits_of(0)
    ([(0, 5), (5, 5)], [])
    """
    passes = -(-bits // MOST_BITS)
    borders = [bits * k // passes for k in range(passes + 1)] if passes else []
    return [(first, end - first) for first, end in pairwise(borders)]


def key_bits(count: int) -> int:
    """Return the bits of the numbers below `count`.

    Examples
    --------
    >>> key_bits(2**21), key_bits(2**21 + 1), key_bits(1)
    (21, 22, 0)
    """
    return max(count - 1, 0).bit_length()


def sort_bytes(count: int, width: int) -> int:
    """Return the bytes that a sort takes at most beside what it is given."""
    tiles = -(-count // TILE)
    return count * (4 + width) + 8 * ((tiles << MOST_BITS) + 1)


class Sorts:
    """The sorts of one runtime.

    What they are given is overwritten: the result lies there, or in memory that a sort takes.
    """

    def __init__(self, runtime: Runtime) -> None:
        self._runtime, self._primitives = runtime, primitives_of(runtime)
        self._module = module_of(runtime, KERNELS)

    def by_digits(
        self, keys: Any, words: Any, count: int, width: int, bits: int
    ) -> tuple[Any, Any]:
        """Return keys below ``2**bits`` in order, and what lay beside them.

        Parameters
        ----------
        keys, words : device memory
            `words` is None where `width` is 0.
        count, width : int
            Number of keys, bytes of each value.
        """
        if count < 2 or bits == 0:
            return keys, words
        tiles, kind = -(-count // TILE), offset_type_of(count)
        there = self._room(count, width)
        counts = self._primitives.offsets(kind, (tiles << MOST_BITS) + 1)
        here = keys, words
        for shift, size in digits_of(bits):
            self._start(kind, "semira_count_digits", tiles, here[0], count, shift, size, counts)
            self._primitives.scan(kind, counts, tiles << size)
            name = f"semira_place_digits{width}"
            self._start(kind, name, tiles, *here, count, shift, size, counts, *there)
            here, there = there, here
        return here

    def by_merging(self, keys: Any, words: Any, count: int, width: int) -> tuple[Any, Any]:
        """Return keys below ``2**31 - 1`` in order, and what lay beside them; see `by_digits`."""
        if count < 2:
            return keys, words
        tiles, there = -(-count // TILE), self._room(count, width)
        self._start("int", f"semira_sort_tiles{width}", tiles, keys, words, count, *there)
        here, there = there, (keys, words)
        run = TILE
        while run < count:
            name = f"semira_merge_tiles{width}"
            self._start("int", name, tiles, *here, count, run, *there)
            here, there = there, here
            run *= 2
        return here

    def _room(self, count: int, width: int) -> tuple[Any, Any]:
        words = self._runtime.allocate(width * count) if width else None
        return self._runtime.allocate(4 * count), words

    def _start(self, kind: str, name: str, tiles: int, *arguments: Any) -> None:
        self._module.launch_blocks(kind, name, tiles, *arguments, threads=THREADS)
