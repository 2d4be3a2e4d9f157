"""The weight of edges within neighbourhoods, one neighbourhood after the other."""

import numpy as np

from semira.kernels import atomic_add, helper, kernel


@helper
def collect(item, indptr, indices, k, closed, marks, queue):
    """Mark and list a vertex and what is within `k` steps, or the entries of a row."""
    count = np.int64(0)
    begin = np.int64(0)
    if closed:
        marks[item] = 1
        queue[0] = item
        count += 1
    else:
        for p in range(indptr[item], indptr[item + 1]):
            c = np.int64(indices[p])
            marks[c] = 1
            queue[count] = c
            count += 1
    for _ in range(k if closed else 0):
        end = count
        if begin == end:
            break
        for i in range(begin, end):
            a = np.int64(queue[i])
            for p in range(indptr[a], indptr[a + 1]):
                c = np.int64(indices[p])
                if marks[c] == 0:
                    marks[c] = 1
                    queue[count] = c
                    count += 1
        begin = end
    return count


@kernel
def scan(
    low, high, order, indptr, indices, k, closed, indptr2, indices2, values, step, twice, out,  # noqa: ARG001 - of GPUs
    sizes, width, workers, room, bits, marks, queue, stop,  # noqa: ARG001
):  # fmt: skip
    """Add up the values of entries whose row and column are in the neighbourhood of an item.

    A neighbourhood is a vertex and what is within `k` steps, or a row of the matrix if it is not
    `closed`. `step` is 0 if all values are one. Each edge may be stored `twice`, but loops are not.
    """
    for item in range(low, high):
        if atomic_add(stop, 0, 0) != 0:
            break
        count = collect(item, indptr, indices, k, closed, marks, queue)
        total = np.int64(0)
        for i in range(count):
            a = np.int64(queue[i])
            for p in range(indptr2[a], indptr2[a + 1]):
                c = np.int64(indices2[p])
                # No branch: half of the entries may be inside.
                total += np.int64(marks[c]) * values[p * step]
                if twice and c == a:
                    total += values[p * step]
        for i in range(count):
            marks[queue[i]] = 0
        out[item] = total >> 1 if twice else total
        sizes[item] = count
