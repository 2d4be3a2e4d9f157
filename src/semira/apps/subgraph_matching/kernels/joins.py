"""Matches of part of a pattern, made longer by one vertex.

A rule of a vertex of the pattern has bits for each earlier one: 1 an edge to it, 2 an edge from it,
4 and 8 the same edges forbidden; 16 the vertex must be greater than the match of the earlier one,
32 smaller. `wanted` are the values of the edges to and from each earlier vertex, then of the loop.
"""

import numpy as np

from semira.algorithms.kernels.rows import entry_at
from semira.kernels import helper, kernel


@helper
def is_as_wanted(indptr, indices, values, has_values, i, j, needs, forbids, value):
    """Return whether edge (i, j) is there, with its value, or is not there, as asked."""
    if not needs and not forbids:
        return True
    at = entry_at(indptr[i], indptr[i + 1], indices, j)
    if forbids:
        return at < 0
    return at >= 0 and (not has_values or values[at] == value)


@helper
def fits(indptr, indices, values, has_values, labels, label, has_label, degree, loop, wanted, x):
    """Return whether a vertex may be one of the pattern, whatever its neighbours."""
    if has_label and labels[x] != label:
        return False
    if indptr[x + 1] - indptr[x] < degree:
        return False
    return is_as_wanted(indptr, indices, values, has_values, x, x, loop == 1, loop == 2, wanted)


@kernel
def begin(
    low, high, indptr, indices, values, has_values, labels, label, has_label, degree, loop, wanted,
    out,
):  # fmt: skip
    """Say which vertices may be the first of the pattern."""
    for x in range(low, high):
        out[x] = fits(
            indptr, indices, values, has_values, labels, label, has_label, degree, loop,
            wanted[0], x,
        )  # fmt: skip


@helper
def is_match(
    indptr, indices, values, has_values, table, first, depth, rules, wanted, anchor, is_row, x
):
    """Return whether a vertex goes with those that are matched already."""
    for j in range(depth):
        y, rule = np.int64(table[first + j]), rules[j]
        if x == y or ((rule & 16) != 0 and x < y) or ((rule & 32) != 0 and x > y):
            return False
        # The edge that led here is there; its value may be another one.
        led = j == anchor and not has_values
        if not is_as_wanted(
            indptr, indices, values, has_values, x, y, (rule & 1) != 0 and not (led and not is_row),
            (rule & 4) != 0, wanted[2 * j],
        ) or not is_as_wanted(
            indptr, indices, values, has_values, y, x, (rule & 2) != 0 and not (led and is_row),
            (rule & 8) != 0, wanted[2 * j + 1],
        ):  # fmt: skip
            return False
    return True


@kernel
def extend(
    low, high, depth, n, table, indptr, indices, columns_ptr, columns, has_columns, values,
    has_values, labels, label, has_label, degree, loop, rules, wanted, starts, is_writing, out,
):  # fmt: skip
    """Count the vertices that go with each match, or write the longer matches from its start."""
    for i in range(low, high):
        first = i * depth
        # The shortest list of neighbours that the vertex must be in.
        anchor, is_row, length, begins = -1, True, np.int64(n), np.int64(0)
        for j in range(depth):
            y = np.int64(table[first + j])
            if (rules[j] & 2) != 0 and indptr[y + 1] - indptr[y] < length:
                begins, length = np.int64(indptr[y]), np.int64(indptr[y + 1] - indptr[y])
                anchor, is_row = j, True
            is_open = has_columns and (rules[j] & 1) != 0
            if is_open and columns_ptr[y + 1] - columns_ptr[y] < length:
                begins = np.int64(columns_ptr[y])
                length = np.int64(columns_ptr[y + 1] - columns_ptr[y])
                anchor, is_row = j, False
        found = np.int64(0)
        for p in range(begins, begins + length):
            x = np.int64(p)
            if anchor >= 0:
                x = np.int64(indices[p]) if is_row else np.int64(columns[p])
            if fits(
                indptr, indices, values, has_values, labels, label, has_label, degree, loop,
                wanted[2 * depth], x,
            ) and is_match(
                indptr, indices, values, has_values, table, first, depth, rules, wanted, anchor,
                is_row, x,
            ):  # fmt: skip
                if is_writing:
                    at = (starts[i] + found) * (depth + 1)
                    for j in range(depth):
                        out[at + j] = table[first + j]
                    out[at + depth] = x
                found += 1
        if not is_writing:
            starts[i] = found
