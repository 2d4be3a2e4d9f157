"""Products with a vector by lines of tiles; `words.py` comes before it.

`x` has a bit for each position of the vector, `open_lines` one for each line that may have a
result, both in words of a tile's side (bytes for 4 x 4). A tile is read only where the vector has
an entry that meets it; a line of tiles is left when every open line is decided.
"""

import numpy as np

from semira.backends.cpu.kernels.slots import (
    COUNTS,
    EXIT_FIRST,
    EXIT_TERMINAL,
    ISO_RESULT,
    READS_E,
    READS_X,
    TERMINAL,
    add,
    helper,
    kernel,
    multiply,
)
from semira.methods.b2sr.kernels.words import count_bits, first_bit

#: Side of a tile; lines of a word, a bit in each line of a word.
SIDE = LINES = ONES = None


@helper
def bits_at(words, t):
    """Bits of a line of tiles, or of a position of one."""
    if SIDE == 4:
        return (np.uint64(words[t >> np.uint64(1)]) >> ((t & np.uint64(1)) * np.uint64(4))) & (
            np.uint64(15)
        )
    return np.uint64(words[t])


@helper
def lines_of(word):
    """Lines of a word that have a bit, one bit each."""
    if SIDE == 32:
        return np.uint64((word & np.uint64(0xFFFFFFFF)) != np.uint64(0)) | (
            np.uint64((word >> np.uint64(32)) != np.uint64(0)) << np.uint64(1)
        )
    if SIDE == 16:
        word |= word >> np.uint64(8)
    if SIDE >= 8:
        word |= word >> np.uint64(4)
    word |= word >> np.uint64(2)
    word |= word >> np.uint64(1)
    word &= np.uint64(ONES)
    if SIDE == 4:
        return ((word * np.uint64(0x1248)) >> np.uint64(12)) & np.uint64(15)
    if SIDE == 16:
        return ((word * np.uint64(0x0001000200040008)) >> np.uint64(48)) & np.uint64(15)
    return (word * np.uint64(0x0102040810204080)) >> np.uint64(56)


@kernel
def pull(
    lo, hi, size, indptr, indices, words, x, open_lines, e_values, x_values, x_stride,
    out_present, out_values,
):  # fmt: skip
    zero, one, side = np.uint64(0), np.uint64(1), np.uint64(SIDE)
    per_tile = np.uint64((SIDE * SIDE + 63) // 64)
    lines, some = np.uint64(LINES), (np.uint64(1) << np.uint64(LINES)) - np.uint64(1)
    line_bits = (np.uint64(1) << np.uint64(SIDE)) - np.uint64(1)
    num, work = zero, zero
    for t in range(np.uint64(lo), np.uint64(hi)):
        todo = bits_at(open_lines, t)
        found = zero
        if todo != zero:
            base = t * side
            for p in range(np.uint64(indptr[t]), np.uint64(indptr[t + one])):
                across = np.uint64(indices[p])
                mine = bits_at(x, across)
                if mine == zero:
                    continue
                work += one
                spread = mine * np.uint64(ONES)
                for w in range(per_tile):
                    wanted = (todo >> (w * lines)) & some
                    if wanted == zero:
                        continue
                    met = np.uint64(words[p * per_tile + w]) & spread
                    if met == zero:
                        continue
                    if ISO_RESULT:
                        found |= (lines_of(met) & wanted) << (w * lines)
                    else:
                        for r in range(lines):
                            place = w * lines + r
                            bits = (met >> (r * side)) & line_bits
                            if bits == zero or (todo >> place) & one == zero:
                                continue
                            out = base + place
                            if COUNTS:
                                out_values[out] += np.int64(count_bits(bits))
                            else:
                                total = out_values[out]
                                # The first operand starts the sum: the identity may not show.
                                has_sum = (found >> place) & one != zero
                                while bits != zero:
                                    k = across * side + first_bit(bits)
                                    bits &= bits - one
                                    edge = e_values[0] if READS_E else 0
                                    u = x_values[k * np.uint64(x_stride)] if READS_X else 0
                                    term = multiply(edge, u, out, k)
                                    total = add(total, term) if has_sum else term
                                    has_sum = True
                                    if EXIT_FIRST:
                                        bits = zero
                                        todo &= ~(one << place)
                                    if EXIT_TERMINAL and total == TERMINAL:
                                        bits = zero
                                        todo &= ~(one << place)
                                out_values[out] = total
                            found |= one << place
                if ISO_RESULT and EXIT_FIRST:
                    todo &= ~found
                if (EXIT_FIRST or EXIT_TERMINAL) and todo == zero:
                    break
            num += count_bits(found)
            for r in range(min(side, np.uint64(size) - base)):
                out_present[base + r] = (found >> r) & one != zero
    return num, work
