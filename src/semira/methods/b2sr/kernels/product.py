"""Where a product has an entry, by tiles of bits: rows of tiles of A meet those of B.

`words.py` comes before it. `seen` has a bit for each tile of a line, `listed` the tiles in order,
`held` the lines of each tile of the result, all 0 between lines of tiles.
"""

import numpy as np

from semira.backends.cpu.kernels.slots import helper, kernel
from semira.methods.b2sr.kernels.words import count_bits, first_bit


@helper
def list_tiles(seen, listed):
    """List the tiles that were seen, in order, and forget them; how many they are."""
    zero, one, num = np.uint64(0), np.uint64(1), np.uint64(0)
    for place in range(seen.shape[0]):
        tiles = seen[place]
        seen[place] = 0
        while tiles != zero:
            listed[num] = (np.uint64(place) << np.uint64(6)) + first_bit(tiles)
            num += one
            tiles &= tiles - one
    return num


@kernel
def multiply_tiles(
    lo, hi, side, a_starts, a_tiles, a_lines, b_starts, b_tiles, b_lines,
    m_starts, m_tiles, m_lines, nrows, seen, listed, held, counts, indices,
):  # fmt: skip
    """Write rows of tiles `lo` to `hi` while `indices` has room.

    ``*_lines`` have a word for each line of a tile. Bits of the mask's tiles, of which there may be
    none, are left out. Returns where it stopped, the entries written, those of the row of tiles
    that did not fit, and the pairs of tiles that met.
    """
    zero, one, num, work = np.uint64(0), np.uint64(1), np.uint64(0), np.uint64(0)
    width, room = np.uint64(side), np.uint64(indices.shape[0])
    masked = m_starts.shape[0] > 1
    for t in range(np.uint64(lo), np.uint64(hi)):
        for p in range(np.uint64(a_starts[t]), np.uint64(a_starts[t + one])):
            k = np.uint64(a_tiles[p])
            begin, end = np.uint64(b_starts[k]), np.uint64(b_starts[k + one])
            work += end - begin
            for q in range(begin, end):
                j = np.uint64(b_tiles[q])
                seen[j >> np.uint64(6)] |= one << (j & np.uint64(63))
            for q in range(begin, end):
                into = np.uint64(b_tiles[q]) * width
                for r in range(width):
                    bits = np.uint64(a_lines[p * width + r])
                    found = zero
                    while bits != zero:
                        found |= np.uint64(b_lines[q * width + first_bit(bits)])
                        bits &= bits - one
                    if found != zero:
                        held[into + r] = np.uint64(held[into + r]) | found
        num_tiles = list_tiles(seen, listed)
        if masked:
            for p in range(np.uint64(m_starts[t]), np.uint64(m_starts[t + one])):
                for r in range(width):
                    place = np.uint64(m_tiles[p]) * width + r
                    held[place] = np.uint64(held[place]) & ~np.uint64(m_lines[p * width + r])
        more = zero
        for s in range(num_tiles):
            for r in range(width):
                more += count_bits(np.uint64(held[np.uint64(listed[s]) * width + r]))
        fits = num + more <= room
        for r in range(width):
            before = num
            for s in range(num_tiles):
                place = np.uint64(listed[s]) * width + r
                bits = np.uint64(held[place])
                held[place] = 0
                while fits and bits != zero:
                    indices[num] = np.uint64(listed[s]) * width + first_bit(bits)
                    bits &= bits - one
                    num += one
            if fits and t * width + r < np.uint64(nrows):
                counts[t * width + r + one] = num - before
        if not fits:
            return t, num, more, work
    return np.uint64(hi), num, zero, work
