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

#: Side of a tile; lines of a word, a bit in each line of a word; tiles that lanes can count before
#: they overflow.
SIDE = LINES = ONES = ROOM = 0


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


@helper
def counts_of(word):
    """Bits of each line of a word, in lanes as wide as a line (16 bits for 4 x 4 tiles)."""
    if SIDE == 4:
        word = (word | (word << np.uint64(24))) & np.uint64(0x000000FF000000FF)
        word = (word | (word << np.uint64(12))) & np.uint64(0x000F000F000F000F)
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    pairs = word & np.uint64(0x3333333333333333)
    word = pairs + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    if SIDE >= 16:
        word = (word + (word >> np.uint64(8))) & np.uint64(0x00FF00FF00FF00FF)
    if SIDE == 32:
        word = (word + (word >> np.uint64(16))) & np.uint64(0x0000FFFF0000FFFF)
    return word


@helper
def unload(lanes, base, size, out_values):
    """Add what the lanes have counted to the lines, and clear them."""
    width = np.uint64(16 if SIDE == 4 else SIDE)
    mask = (np.uint64(1) << width) - np.uint64(1)
    for w in range(np.uint64((SIDE * SIDE + 63) // 64)):
        counted = lanes[w]
        lanes[w] = 0
        for r in range(np.uint64(LINES)):
            out = base + w * np.uint64(LINES) + r
            if out < size:
                out_values[out] += np.int64((counted >> (r * width)) & mask)


@kernel
def pull(
    lo, hi, size, indptr, indices, words, x, open_lines, e_values, x_values, x_stride, lanes,
    out_present, out_values,
):  # fmt: skip
    zero, one, side = np.uint64(0), np.uint64(1), np.uint64(SIDE)
    per_tile = np.uint64((SIDE * SIDE + 63) // 64)
    lines, some = np.uint64(LINES), (np.uint64(1) << np.uint64(LINES)) - np.uint64(1)
    line_bits = (one << side) - one
    num, work = zero, zero
    for t in range(np.uint64(lo), np.uint64(hi)):
        todo = bits_at(open_lines, t)
        base = t * side
        last = min(side, np.uint64(size) - base)
        found, waiting = zero, zero
        begin = np.uint64(indptr[t])
        end = np.uint64(indptr[t + one]) if todo != zero else begin
        for p in range(begin, end):
            across = np.uint64(indices[p])
            mine = bits_at(x, across)
            if mine == zero:
                continue
            work += one
            spread = mine * np.uint64(ONES)
            if COUNTS:
                for w in range(per_tile):
                    lanes[w] += counts_of(np.uint64(words[p * per_tile + w]) & spread)
                waiting += one
                if waiting == np.uint64(ROOM):
                    unload(lanes, base, np.uint64(size), out_values)
                    waiting = zero
            elif ISO_RESULT:
                for w in range(per_tile):
                    wanted = (todo >> (w * lines)) & some
                    met = np.uint64(words[p * per_tile + w]) & spread
                    found |= (lines_of(met) & wanted) << (w * lines)
                if EXIT_FIRST:
                    todo &= ~found
                    if todo == zero:
                        break
            else:
                for w in range(per_tile):
                    met = np.uint64(words[p * per_tile + w]) & spread
                    if met == zero:
                        continue
                    for r in range(lines):
                        place = w * lines + r
                        bits = (met >> (r * side)) & line_bits
                        if bits == zero or (todo >> place) & one == zero:
                            continue
                        out = base + place
                        total = out_values[out]
                        has_sum = (found >> place) & one != zero
                        while bits != zero:
                            k = across * side + first_bit(bits)
                            bits &= bits - one
                            edge = e_values[0] if READS_E else 0
                            u = x_values[k * np.uint64(x_stride)] if READS_X else 0
                            term = multiply(edge, u, out, k)
                            # The first operand starts the sum: the identity may not show.
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
                if (EXIT_FIRST or EXIT_TERMINAL) and todo == zero:
                    break
        if COUNTS:
            if waiting != zero:
                unload(lanes, base, np.uint64(size), out_values)
            for r in range(last):
                is_in = out_values[base + r] != 0 and (todo >> r) & one != zero
                out_present[base + r] = is_in
                num += np.uint64(is_in)
        else:
            num += count_bits(found)
            for r in range(last):
                out_present[base + r] = (found >> r) & one != zero
    return num, work
