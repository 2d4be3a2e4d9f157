"""Draws: entries of given rows, chosen at random.

Random numbers are those of (key, number of the row, slot), or, if the rows belong to batches, of
(key, batch, row, slot).
"""

import numpy as np

from semira.kernels import helper, kernel, philox


@helper
def entry_under(begin, end, running, mark):
    """Return the first entry whose running total within the row is above `mark`."""
    base = running[begin]
    low, high = np.int64(begin), np.int64(end) - 1
    while low < high:
        middle = (low + high) // 2
        if running[middle + 1] - base > mark:
            high = middle
        else:
            low = middle + 1
    return low


@kernel
def with_replacement(
    low, high, first, k, rows, batches, in_batches, indptr, indices, running, weighted, itself, key,
    neighbours, entries,
):  # fmt: skip
    """Draw an entry for each (row, slot); -1, or the row itself, if there is nothing to draw."""
    for item in range(low, high):
        place, slot = item // k, item % k
        row = np.int64(rows[place])
        number, stream = np.int64(first + place), np.int64(0)
        if in_batches:
            number, stream = row, np.int64(batches[place]) * 256
        chosen = np.int64(-1)
        if row >= 0:
            begin, end = np.int64(indptr[row]), np.int64(indptr[row + 1])
            if weighted:
                total = np.int64(running[end] - running[begin])
                if total > 0:
                    mark = np.int64(philox(stream, number, slot, key, total))
                    chosen = entry_under(begin, end, running, mark)
            elif end > begin:
                chosen = begin + np.int64(philox(stream, number, slot, key, end - begin))
        if chosen >= 0:
            neighbours[item] = indices[chosen]
        else:
            neighbours[item] = row if itself else -1
        if not itself:
            entries[item] = chosen


@kernel
def without_replacement(
    low, high, first, k, rows, batches, in_batches, indptr, indices, key, neighbours, entries
):
    """Draw k different entries of each row by Floyd's method; all of them if there are no more."""
    for place in range(low, high):
        row = np.int64(rows[place])
        number, stream = np.int64(first + place), np.int64(0)
        if in_batches:
            number, stream = row, np.int64(batches[place]) * 256
        begin, end = np.int64(0), np.int64(0)
        if row >= 0:
            begin, end = np.int64(indptr[row]), np.int64(indptr[row + 1])
        degree = end - begin
        base = place * k
        for slot in range(k):
            chosen = np.int64(-1)
            if degree <= k:
                if slot < degree:
                    chosen = begin + slot
            else:
                last = degree - k + slot
                chosen = begin + np.int64(philox(stream, number, slot, key, last + 1))
                for other in range(slot):
                    if entries[base + other] == chosen:
                        chosen = begin + last
                        break
            entries[base + slot] = chosen
            neighbours[base + slot] = -1 if chosen < 0 else indices[chosen]


@kernel
def weighted_without_replacement(
    low, high, first, k, rows, batches, in_batches, indptr, indices, running, key, neighbours,
    entries,
):  # fmt: skip
    """Draw one entry after the other by the weights of those that are left; sorted by position."""
    for place in range(low, high):
        row = np.int64(rows[place])
        number, stream = np.int64(first + place), np.int64(0)
        if in_batches:
            number, stream = row, np.int64(batches[place]) * 256
        begin, end = np.int64(0), np.int64(0)
        if row >= 0:
            begin, end = np.int64(indptr[row]), np.int64(indptr[row + 1])
        base = place * k
        left = np.int64(running[end] - running[begin])
        drawn = np.int64(0)
        while drawn < k and left > 0:
            mark = np.int64(philox(stream, number, drawn, key, left))
            # The weights of what is drawn already are skipped, in order of position.
            at = np.int64(0)
            while at < drawn:
                taken = np.int64(entries[base + at])
                if mark < running[taken] - running[begin]:
                    break
                mark += np.int64(running[taken + 1] - running[taken])
                at += 1
            chosen = entry_under(begin, end, running, mark)
            left -= np.int64(running[chosen + 1] - running[chosen])
            move = drawn
            while move > at:
                entries[base + move] = entries[base + move - 1]
                move -= 1
            entries[base + at] = chosen
            drawn += 1
        for slot in range(k):
            if slot < drawn:
                neighbours[base + slot] = indices[entries[base + slot]]
            else:
                entries[base + slot] = -1
                neighbours[base + slot] = -1
