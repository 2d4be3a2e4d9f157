"""Tiles of a matrix, a line of tiles at a time; `words.py` comes before it.

`seen` has a bit for each tile of a line, `summary` one for each word of `seen`: tiles come out in
order without a sort.
"""

import numpy as np

from semira.backends.cpu.kernels.slots import kernel
from semira.methods.b2sr.kernels.words import first_bit


@kernel
def count_tiles(lo, hi, indptr, indices, lines, shift, counts, seen):
    """Count the tiles of each line of tiles."""
    one, side = np.uint64(1), np.uint64(shift)
    for t in range(np.uint64(lo), np.uint64(hi)):
        begin = np.uint64(indptr[t << side])
        end = np.uint64(indptr[min(np.uint64(lines), (t + one) << side)])
        num = np.uint64(0)
        for p in range(begin, end):
            tile = np.uint64(indices[p]) >> side
            place = tile >> np.uint64(6)
            bit = (seen[place] >> (tile & np.uint64(63))) & one
            num += one - bit
            seen[place] |= one << (tile & np.uint64(63))
        for p in range(begin, end):
            seen[np.uint64(indices[p]) >> (side + np.uint64(6))] = 0
        counts[t + one] = num


@kernel
def fill_tiles(
    lo, hi, indptr, indices, lines, shift, words_per_tile, tile_indptr, tile_indices, words,
    seen, summary, slots,
):  # fmt: skip
    """Set the bits of each line of tiles; all bits are 0 before."""
    zero, one, six, rest = np.uint64(0), np.uint64(1), np.uint64(6), np.uint64(63)
    side, inside = np.uint64(shift), (np.uint64(1) << np.uint64(shift)) - np.uint64(1)
    for t in range(np.uint64(lo), np.uint64(hi)):
        first = t << side
        last = min(np.uint64(lines), (t + one) << side)
        begin, end = np.uint64(indptr[first]), np.uint64(indptr[last])
        least, most = ~zero, zero
        for p in range(begin, end):
            tile = np.uint64(indices[p]) >> side
            place = tile >> six
            seen[place] |= one << (tile & rest)
            summary[place >> six] |= one << (place & rest)
            least, most = min(least, place >> six), max(most, place >> six)
        slot = np.uint64(tile_indptr[t])
        if begin < end:
            for s in range(least, most + one):
                places = summary[s]
                summary[s] = 0
                while places != zero:
                    place = (s << six) + first_bit(places)
                    places &= places - one
                    tiles = seen[place]
                    seen[place] = 0
                    while tiles != zero:
                        tile = (place << six) + first_bit(tiles)
                        tiles &= tiles - one
                        tile_indices[slot] = tile
                        slots[tile] = slot
                        slot += one
        for line in range(first, last):
            row = (line & inside) << side
            for p in range(np.uint64(indptr[line]), np.uint64(indptr[line + one])):
                k = np.uint64(indices[p])
                place = row + (k & inside)
                at = np.uint64(slots[k >> side]) * np.uint64(words_per_tile) + (place >> six)
                words[at] |= one << (place & rest)
