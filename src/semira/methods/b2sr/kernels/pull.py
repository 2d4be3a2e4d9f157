"""Products with a vector by lines of tiles; `words.py` comes before it.

`x` has a bit for each position of the vector, `open_lines` one for each line that may have a
result, both in words of a tile's side (bytes for 4 x 4). A tile is read only where the vector has
an entry that meets it; a line of tiles is left when every open line is decided.
"""

import numpy as np

from semira.backends.cpu.kernels.slots import (
    EXIT_FIRST,
    EXIT_TERMINAL,
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
def pull_bits(lo, hi, size, indptr, indices, words, x, open_lines, out_present):
    """Find the lines that meet an entry: all values of the result are one."""
    zero, one, side = np.uint64(0), np.uint64(1), np.uint64(SIDE)
    per_tile = np.uint64((SIDE * SIDE + 63) // 64)
    lines, some = np.uint64(LINES), (np.uint64(1) << np.uint64(LINES)) - np.uint64(1)
    num, work = zero, zero
    for t in range(np.uint64(lo), np.uint64(hi)):
        todo, found = bits_at(open_lines, t), zero
        begin = np.uint64(indptr[t])
        end = np.uint64(indptr[t + one]) if todo != zero else begin
        for p in range(begin, end):
            mine = bits_at(x, np.uint64(indices[p]))
            if mine == zero:
                continue
            work += one
            spread = mine * np.uint64(ONES)
            for w in range(per_tile):
                wanted = (todo >> (w * lines)) & some
                met = np.uint64(words[p * per_tile + w]) & spread
                found |= (lines_of(met) & wanted) << (w * lines)
            if EXIT_FIRST:
                todo &= ~found
                if todo == zero:
                    break
        num += count_bits(found)
        base = t * side
        for r in range(min(side, np.uint64(size) - base)):
            out_present[base + r] = (found >> r) & one != zero
    return num, work


@kernel
def pull_counts(lo, hi, size, indptr, indices, words, x, open_lines, lanes, present, out_values):
    """Count the entries that each line meets, which are 0 before."""
    zero, one, side = np.uint64(0), np.uint64(1), np.uint64(SIDE)
    per_tile = np.uint64((SIDE * SIDE + 63) // 64)
    num, work = zero, zero
    for t in range(np.uint64(lo), np.uint64(hi)):
        todo, base, waiting = bits_at(open_lines, t), t * side, zero
        begin = np.uint64(indptr[t])
        end = np.uint64(indptr[t + one]) if todo != zero else begin
        for p in range(begin, end):
            mine = bits_at(x, np.uint64(indices[p]))
            if mine == zero:
                continue
            work += one
            spread = mine * np.uint64(ONES)
            for w in range(per_tile):
                lanes[w] += counts_of(np.uint64(words[p * per_tile + w]) & spread)
            waiting += one
            if waiting == np.uint64(ROOM):
                unload(lanes, base, np.uint64(size), out_values)
                waiting = zero
        if waiting != zero:
            unload(lanes, base, np.uint64(size), out_values)
        for r in range(min(side, np.uint64(size) - base)):
            is_in = out_values[base + r] != 0 and (todo >> r) & one != zero
            present[base + r] = is_in
            num += np.uint64(is_in)
    return num, work


@helper
def fold(bits, has_sum, first, out, e_values, x_values, x_stride, total):
    """Add the products of a line's bits to its sum; whether it has one, and it."""
    one = np.uint64(1)
    while bits != np.uint64(0):
        k = first + first_bit(bits)
        bits &= bits - one
        edge = e_values[0] if READS_E else 0
        u = x_values[k * np.uint64(x_stride)] if READS_X else 0
        term = multiply(edge, u, out, k)
        # The first operand starts the sum: the identity may not show.
        total = add(total, term) if has_sum else term
        has_sum = True
        if EXIT_FIRST:
            break
        if EXIT_TERMINAL and total == TERMINAL:
            break
    return total


@kernel
def pull_values(
    lo, hi, size, indptr, indices, words, x, open_lines, e_values, x_values, x_stride, out_present,
    out_values,
):  # fmt: skip
    """Add up the products of each line, from its first position to its last."""
    zero, one, side = np.uint64(0), np.uint64(1), np.uint64(SIDE)
    per_tile, lines = np.uint64((SIDE * SIDE + 63) // 64), np.uint64(LINES)
    line_bits, num, work = (one << side) - one, zero, zero
    for t in range(np.uint64(lo), np.uint64(hi)):
        todo, found, base = bits_at(open_lines, t), zero, t * side
        begin = np.uint64(indptr[t])
        end = np.uint64(indptr[t + one]) if todo != zero else begin
        for p in range(begin, end):
            across = np.uint64(indices[p])
            mine = bits_at(x, across)
            if mine == zero:
                continue
            work += one
            spread = mine * np.uint64(ONES)
            for w in range(per_tile):
                met = np.uint64(words[p * per_tile + w]) & spread
                if met == zero:
                    continue
                for r in range(lines):
                    place = w * lines + r
                    bits = (met >> (r * side)) & line_bits
                    if bits == zero or (todo >> place) & one == zero:
                        continue
                    out, has_sum = base + place, (found >> place) & one != zero
                    total = fold(
                        bits, has_sum, across * side, out, e_values, x_values, x_stride,
                        out_values[out],
                    )  # fmt: skip
                    out_values[out] = total
                    found |= one << place
                    if EXIT_FIRST:
                        todo &= ~(one << place)
                    if EXIT_TERMINAL and total == TERMINAL:
                        todo &= ~(one << place)
            if (EXIT_FIRST or EXIT_TERMINAL) and todo == zero:
                break
        num += count_bits(found)
        for r in range(min(side, np.uint64(size) - base)):
            out_present[base + r] = (found >> r) & one != zero
    return num, work
