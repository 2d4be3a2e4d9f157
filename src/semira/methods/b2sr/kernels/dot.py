"""Dot products of lines of tiles at the bits of a mask's; `words.py` comes before it."""

import numpy as np

from semira.backends.cpu.kernels.slots import helper, kernel
from semira.methods.b2sr.kernels.words import count_bits, first_bit


@helper
def meet(p, p_end, q, q_end, a_tiles, b_tiles, left, right):
    """List the tiles of two lines that have the same position; how many there are."""
    num = np.uint64(0)
    while p < p_end and q < q_end:
        a, b = a_tiles[p], b_tiles[q]
        left[num], right[num] = p, q
        num += np.uint64(a == b)
        p += np.uint64(a <= b)
        q += np.uint64(b <= a)
    return num


@helper
def collect(lines, tiles, num, line, width, begin, into):
    """Copy a line of the tiles that are listed to where they lie together."""
    for s in range(num):
        into[begin + s] = lines[np.uint64(tiles[s]) * width + line]
    # Pairs of them are read as one word.
    into[begin + num] = 0


@kernel
def dot_tiles(
    lo, hi, side, m_starts, m_tiles, m_lines, a_starts, a_tiles, a_lines,
    b_starts, b_tiles, b_lines, indptr, nrows, left, right, row, row_pairs, columns, column_pairs,
    cursor, totals,
):  # fmt: skip
    """Count what line i of A and line j of B share, for each (i, j) of the mask.

    ``*_lines`` have a word for each line of a tile. Tiles that meet are listed once for all bits of
    a tile of the mask, which come in the order of its entries, line by line. `row` and `columns`
    have room for the lines of those tiles; ``*_pairs`` are the same memory in words of 64 bits.
    """
    zero, one, work = np.uint64(0), np.uint64(1), np.uint64(0)
    width, room = np.uint64(side), np.uint64(row_pairs.shape[0])
    for t in range(np.uint64(lo), np.uint64(hi)):
        for r in range(min(width, np.uint64(nrows) - t * width)):
            cursor[r] = indptr[t * width + r]
        begin, end = np.uint64(a_starts[t]), np.uint64(a_starts[t + one])
        for m in range(np.uint64(m_starts[t]), np.uint64(m_starts[t + one])):
            j = np.uint64(m_tiles[m])
            num = meet(
                begin, end, np.uint64(b_starts[j]), np.uint64(b_starts[j + one]), a_tiles, b_tiles,
                left, right,
            )  # fmt: skip
            work += num
            here = zero
            for r in range(width):
                bits = np.uint64(m_lines[m * width + r])
                if bits != zero:
                    collect(a_lines, left, num, r, width, zero, row)
                while bits != zero:
                    c = first_bit(bits)
                    bits &= bits - one
                    if (here >> c) & one == zero:
                        here |= one << c
                        collect(b_lines, right, num, c, width, c * room * np.uint64(2), columns)
                    total = zero
                    for s in range((num + one) >> one):
                        total += count_bits(row_pairs[s] & column_pairs[c * room + s])
                    totals[np.uint64(cursor[r])] = total
                    cursor[r] += 1
    return work
