"""Rows of a product of sparse matrices, filtered before they are written.

A row has a sum and a bit for each column, and a bit for each word of bits that is not 0: what is
there is found in order, without a sort.
"""

import numpy as np

from semira.kernels import helper, kernel


@helper
def lowest(word, table):
    """Return the number of the lowest bit of a word that is not 0."""
    alone = word & (~word + np.uint64(1))
    return np.int64(table[np.int64((alone * np.uint64(0x03F79D71B4CB0A89)) >> np.uint64(58))])


@helper
def finish(weigh, acc, c, row, left, right):
    """Put the weight of an entry in the place of its sum."""
    if weigh == 1:
        acc[c] = acc[c] / min(left[row], right[c])
    elif weigh == 2:
        acc[c] = acc[c] / (left[row] + right[c] - acc[c])
    elif weigh == 3:
        acc[c] = acc[c] / (left[row] * right[c])


@helper
def push(heap, size, most, value):
    """Enter a value into a heap that keeps the `most` greatest, the least of them first."""
    if size < most:
        at = size
        while at > 0 and heap[(at - 1) // 2] > value:
            heap[at] = heap[(at - 1) // 2]
            at = (at - 1) // 2
        heap[at] = value
    elif value > heap[0]:
        at = np.int64(0)
        while 2 * at + 1 < most:
            child = 2 * at + 1
            if child + 1 < most and heap[child + 1] < heap[child]:
                child += 1
            if heap[child] >= value:
                break
            heap[at] = heap[child]
            at = child
        heap[at] = value


@helper
def mark(c, bits, groups):
    """Mark a column, without a branch that depends on whether it is new."""
    word = c >> 6
    bits[word] = bits[word] | np.uint64(1) << np.uint64(c & 63)
    bit = np.uint64(1) << np.uint64(word & 63)
    if groups[word >> 6] & bit == 0:
        groups[word >> 6] = groups[word >> 6] | bit


@helper
def population(word):
    """Count the bits of a word."""
    pairs = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    fours = (pairs & np.uint64(0x3333333333333333)) + (
        (pairs >> np.uint64(2)) & np.uint64(0x3333333333333333)
    )
    bytes_ = (fours + (fours >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((bytes_ * np.uint64(0x0101010101010101)) >> np.uint64(56))


@kernel
def count_rows(
    low, high, task, order, indptr, indices, indptr2, indices2, sizes, marks, bits, groups,  # noqa: ARG001 - of GPUs
):  # fmt: skip
    """Count the entries of rows of a product; `task` is that of `multiply_rows`."""
    first, diagonal, width = task[0], task[5], task[8]
    for item in range(low, high):
        row = np.int64(first + item)
        count = np.int64(0)
        for p in range(indptr[row], indptr[row + 1]):
            w = np.int64(indices[p])
            for q in range(indptr2[w], indptr2[w + 1]):
                mark(np.int64(indices2[q]), bits, groups)
        own = row + diagonal
        if 0 <= own < width:
            bits[own >> 6] = bits[own >> 6] & ~(np.uint64(1) << np.uint64(own & 63))
        for group in range(width // 4096 + 1):
            if groups[group] != 0:
                groups[group] = 0
                for word in range(64 * group, min(64 * (group + 1), width // 64 + 1)):
                    if bits[word] != 0:
                        count += population(bits[word])
                        bits[word] = 0
        sizes[item] = count


@helper
def add_row(task, row, indptr, indices, values, indptr2, indices2, values2, acc, bits, groups):
    """Add up the products of a row."""
    kind, step, step2 = task[1], task[3], task[4]
    for p in range(indptr[row], indptr[row + 1]):
        w = np.int64(indices[p])
        x = values[p * step]
        if kind == 0:
            for q in range(indptr2[w], indptr2[w + 1]):
                c = np.int64(indices2[q])
                mark(c, bits, groups)
                acc[c] += 1
            continue
        for q in range(indptr2[w], indptr2[w + 1]):
            c = np.int64(indices2[q])
            y = values2[q * step2]
            mark(c, bits, groups)
            if kind == 1:
                acc[c] += x * y
            elif kind == 2:
                acc[c] += x
            elif kind == 3:
                acc[c] += y
            elif kind == 4:
                acc[c] += x / y
            elif kind == 5:
                acc[c] += x / (x + y)
            else:
                acc[c] += min(x, y)


@helper
def rank_row(task, row, left, right, threshold, table, acc, bits, groups, heap):
    """Weigh a row, drop entries of it, enter the rest into the heap; return how many there are."""
    weigh, diagonal, top = task[2], task[5], task[6]
    found = np.int64(0)
    for group in range(task[8] // 4096 + 1):
        words = groups[group]
        while words != 0:
            at = group * 64 + lowest(words, table)
            words = words & (words - np.uint64(1))
            rest = bits[at]
            while rest != 0:
                c = at * 64 + lowest(rest, table)
                bit = rest & (~rest + np.uint64(1))
                rest = rest ^ bit
                finish(weigh, acc, c, row, left, right)
                if c - row == diagonal or not acc[c] >= threshold:
                    bits[at] = bits[at] ^ bit
                    acc[c] = 0
                else:
                    push(heap, found, top, acc[c])
                    found += 1
    return found


@helper
def equals_kept(heap, top):
    """Return how many of the greatest values equal the last of them."""
    equal = top
    for k in range(top):
        if heap[k] > heap[0]:
            equal -= 1
    return equal


@kernel
def multiply_rows(
    low, high, task, order, indptr, indices, values, indptr2, indices2, values2, left, right,  # noqa: ARG001 - of GPUs
    threshold, place, columns, results, sizes, table, room, marks, acc, bits, groups, heap,  # noqa: ARG001
):  # fmt: skip
    """Multiply rows, drop entries of each, and write the rest where it belongs.

    The task is: the first row, kind of products, way to weigh, steps from value to value (0 if all
    are one), diagonal, top, writes, columns, blocks of threads. Kinds are 0: 1, 1: x y, 2: x, 3: y,
    4: x / y, 5: x / (x + y), 6: the smaller one; ways to weigh are those of `finish`. Entries
    `diagonal` to the right of the row's number are left out. With `writes` 0 rows are only counted,
    with 1 columns are written, with 2 values too.
    """
    first, weigh, diagonal, top, writes = task[0], task[2], task[5], task[6], task[7]
    for item in range(low, high):
        row = np.int64(first + item)
        add_row(task, row, indptr, indices, values, indptr2, indices2, values2, acc, bits, groups)
        equal = np.int64(-1)
        if (
            top > 0
            and rank_row(task, row, left, right, threshold, table, acc, bits, groups, heap) > top
        ):
            # Of the values that equal the last one, the first columns are kept.
            equal = equals_kept(heap, top)
        at = np.int64(place[item]) if writes > 0 else np.int64(0)
        start = at
        for group in range(task[8] // 4096 + 1):
            words = groups[group]
            groups[group] = 0
            while words != 0:
                word = group * 64 + lowest(words, table)
                words = words & (words - np.uint64(1))
                rest = bits[word]
                bits[word] = 0
                while rest != 0:
                    c = word * 64 + lowest(rest, table)
                    rest = rest & (rest - np.uint64(1))
                    if top == 0:
                        finish(weigh, acc, c, row, left, right)
                    total = acc[c]
                    acc[c] = 0
                    if equal >= 0:
                        if total < heap[0] or (total == heap[0] and equal == 0):
                            continue
                        if total == heap[0]:
                            equal -= 1
                    elif top == 0 and (c - row == diagonal or total < threshold):
                        continue
                    if writes >= 1:
                        columns[at] = c
                    if writes == 2:
                        results[at] = total
                    at += 1
        sizes[item] = at - start


@kernel
def row_work(low, high, indptr, indices, indptr2, work):
    """Count the products of each row."""
    for row in range(low, high):
        total = np.int64(0)
        for p in range(indptr[row], indptr[row + 1]):
            w = indices[p]
            total += np.int64(indptr2[w + 1]) - np.int64(indptr2[w])
        work[row] = total


@kernel
def row_squares(low, high, indptr, values, sums):
    """Add up the squares of the values of each row, in their order."""
    for row in range(low, high):
        total = 0.0
        for p in range(indptr[row], indptr[row + 1]):
            total += values[p] * values[p]
        sums[row] = total


@kernel
def pack_rows(low, high, place, columns, results, valued, indptr, new_columns, new_results):
    """Move rows from where they have room to where they stand behind one another."""
    for item in range(low, high):
        shift = place[item] - indptr[item]
        for at in range(indptr[item], indptr[item + 1]):
            new_columns[at] = columns[at + shift]
            if valued:
                new_results[at] = results[at + shift]
