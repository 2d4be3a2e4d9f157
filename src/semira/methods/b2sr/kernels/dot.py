"""Dot products of lines of tiles at the bits of a mask's; `words.py` comes before it."""

import numpy as np

from semira.backends.cpu.kernels.slots import kernel
from semira.methods.b2sr.kernels.words import count_bits, first_bit


@kernel
def dot_tiles(
    lo, hi, side, m_starts, m_tiles, m_lines, a_starts, a_tiles, a_lines,
    b_starts, b_tiles, b_lines, indptr, nrows, left, right, cursor, totals,
):  # fmt: skip
    """Count what line i of A and line j of B share, for each (i, j) of the mask.

    ``*_lines`` have a word for each line of a tile. Tiles that meet are listed once for all bits of
    a tile of the mask, which come in the order of its entries, line by line.
    """
    one, work = np.uint64(1), np.uint64(0)
    width = np.uint64(side)
    for t in range(np.uint64(lo), np.uint64(hi)):
        for r in range(min(width, np.uint64(nrows) - t * width)):
            cursor[r] = indptr[t * width + r]
        a_begin, a_end = np.uint64(a_starts[t]), np.uint64(a_starts[t + one])
        for m in range(np.uint64(m_starts[t]), np.uint64(m_starts[t + one])):
            across = np.uint64(m_tiles[m])
            p, q = a_begin, np.uint64(b_starts[across])
            b_end, num = np.uint64(b_starts[across + one]), np.uint64(0)
            while p < a_end and q < b_end:
                a, b = a_tiles[p], b_tiles[q]
                left[num], right[num] = p, q
                num += np.uint64(a == b)
                p += np.uint64(a <= b)
                q += np.uint64(b <= a)
            work += num
            for r in range(width):
                bits = np.uint64(m_lines[m * width + r])
                while bits != np.uint64(0):
                    c = first_bit(bits)
                    bits &= bits - one
                    total = np.uint64(0)
                    for s in range(num):
                        here = np.uint64(a_lines[np.uint64(left[s]) * width + r])
                        total += count_bits(
                            here & np.uint64(b_lines[np.uint64(right[s]) * width + c])
                        )
                    totals[np.uint64(cursor[r])] = total
                    cursor[r] += 1
    return work
