"""Labels as 0, 1, 2, ..., groups of equal keys, cells of a square: all count marks.

Kernels of one loop, of a single round. `sum_marks` and `number_marks` have one item: on a GPU all
blocks share it, each a part of the marks.
"""

import numpy as np

from semira.kernels import atomic_add, kernel


@kernel
def clear_marks(low, high, marks, has_groups, others, state):
    """Write 0 to the marks of labels, and of groups if there are any."""
    for i in range(low, high):
        marks[i] = 0
        if has_groups:
            others[i] = 0
        if i == 0:
            state[0] = 0


@kernel
def mark(low, high, labels, marks, has_groups, groups, others):
    """Write 1 at each label, and at each group."""
    for v in range(low, high):
        marks[labels[v]] = 1
        if has_groups:
            others[groups[v]] = 1


@kernel
def number_marks(low, high, length, marks, has_groups, others, parts, state):  # noqa: ARG001 - of GPUs
    """Write over each mark the number of marks up to it; ``state[1]`` is the number of all."""
    for _ in range(low, high):
        count = np.int64(0)
        other = np.int64(0)
        for i in range(length):
            count += np.int64(marks[i])
            marks[i] = count
            if has_groups:
                other += np.int64(others[i])
                others[i] = other
        state[1] = count


@kernel
def renumber(
    low, high, labels, numbers, dense, has_totals, totals, totals_in, is_directed, strengths,
    strengths_in, has_groups, groups, group_numbers, dense_groups, state,
):  # fmt: skip
    """Write the number of each label, counted from 1 in `numbers`, from 0 on, and what it has.

    Vertices of one label write the same: its totals, and the number of its group.
    """
    for v in range(low, high):
        label = np.int64(labels[v])
        number = np.int64(numbers[label]) - 1
        dense[v] = number
        if has_totals:
            strengths[number] = totals[label]
            if is_directed:
                strengths_in[number] = totals_in[label]
        if has_groups:
            dense_groups[number] = group_numbers[groups[v]] - 1
        if v == 0:
            state[0] = 1


@kernel
def begin_groups(low, high, keys, begins, sums, state):
    """Write 1 where a group of equal keys begins, 0 elsewhere and at what is left out."""
    for i in range(low, high):
        sums[i] = 0
        begins[i] = 0
        if keys[i] != np.int64(0x7FFFFFFFFFFFFFFF) and (i == 0 or keys[i] != keys[i - 1]):
            begins[i] = 1
        if i == 0:
            state[0] = 0


@kernel
def fill_groups(low, high, keys, groups, order, is_ordered, weights, is_iso, count, indptr, indices,
                sums, state):  # fmt: skip
    """Write rows: a column for each group of keys ``row * count + column``, and sums of weights.

    `groups` is the number of the group of each key, from 1 on; `sums` are 0 at first.
    """
    for i in range(low, high):
        key = keys[i]
        if i == 0:
            state[0] = 1
            if key == np.int64(0x7FFFFFFFFFFFFFFF):
                # There are no groups.
                for r in range(count + 1):
                    indptr[r] = 0
        if key == np.int64(0x7FFFFFFFFFFFFFFF):
            continue
        place = np.int64(groups[i]) - 1
        row = key // count
        before = np.int64(-1)
        if i > 0:
            before = keys[i - 1] // count
        if i == 0 or keys[i - 1] != key:
            indices[place] = key % count
            for r in range(before + 1, row + 1):
                indptr[r] = place
        is_last = i + 1 == len(keys)
        if not is_last:
            is_last = keys[i + 1] == np.int64(0x7FFFFFFFFFFFFFFF)
        if is_last:
            for r in range(row + 1, count + 1):
                indptr[r] = place + 1
        at = np.int64(0)
        if not is_iso:
            at = np.int64(order[i]) if is_ordered else np.int64(i)
        atomic_add(sums, place, np.int64(weights[at]))


@kernel
def clear_cells(low, high, marks, sums, state):
    """Write 0 to the marks and sums of all cells."""
    for i in range(low, high):
        marks[i] = 0
        sums[i] = 0
        if i == 0:
            state[0] = 0


@kernel
def add_pairs(low, high, indptr, indices, weights, is_iso, labels, count, marks, sums):
    """Mark the cell ``row label * count + column label`` of each entry, and add its weight.

    Entries of equal labels are left out.
    """
    for i in range(low, high):
        row = np.int64(labels[i])
        for p in range(indptr[i], indptr[i + 1]):
            column = np.int64(labels[indices[p]])
            if row != column:
                marks[row * count + column] = 1
                atomic_add(sums, row * count + column, np.int64(weights[0 if is_iso else p]))


@kernel
def fill_cells(low, high, numbers, sums, count, indptr, indices, weights, state):
    """Write rows: a column for each marked cell, and its sum; `numbers` counts marks from 1 on."""
    for i in range(low, high):
        if i == 0:
            state[0] = 1
            indptr[0] = 0
        number = np.int64(numbers[i])
        if number != (np.int64(numbers[i - 1]) if i > 0 else 0):
            indices[number - 1] = i % count
            weights[number - 1] = sums[i]
        if i % count == count - 1:
            indptr[i // count + 1] = number
