"""Vertices that batches meet get numbers, in the order of the slots that first name them.

A table has a place for each (batch, vertex): its number, -2**31 if the batch has not met it, and
while a hop is numbered -1 - slot of the first slot that names it.
"""

import numpy as np

from semira.kernels import atomic_max, kernel


@kernel
def meet(low, high, k, n, found, batch, table):
    """Let the first slot that names a new vertex stand in its place."""
    for slot in range(low, high):
        if found[slot] >= 0:
            place = np.int64(batch[slot // k]) * n + np.int64(found[slot])
            atomic_max(table, place, -1 - slot)


@kernel
def mark(low, high, k, n, found, batch, table, marks):
    """Mark slots that hold an edge by 1, and those that are the first of a vertex by 2**32 more."""
    for slot in range(low, high):
        value = np.int64(0)
        if found[slot] >= 0:
            place = np.int64(batch[slot // k]) * n + np.int64(found[slot])
            value = np.int64(1)
            if table[place] == -1 - slot:
                value += np.int64(4294967296)
        marks[slot + 1] = value


@kernel
def place(
    low, high, k, n, found, entries, batch, local, shift, totals, table, targets, e_id,
    edge_batch, vertices, new_batch, new_local,
):  # fmt: skip
    """Write what a hop brought, without its empty slots; `totals` are running totals of marks."""
    for slot in range(low, high):
        if found[slot] >= 0:
            row = slot // k
            edge = totals[slot] & np.int64(4294967295)
            targets[edge] = local[row]
            e_id[edge] = entries[slot]
            edge_batch[edge] = batch[row]
            new = totals[slot] >> np.int64(32)
            if totals[slot + 1] >> np.int64(32) > new:
                number = new + shift[batch[row]]
                vertices[new] = found[slot]
                new_batch[new] = batch[row]
                new_local[new] = number
                table[np.int64(batch[row]) * n + np.int64(found[slot])] = number


@kernel
def look_up(low, high, k, n, found, batch, totals, table, sources):
    """Write the numbers of the vertices that slots name."""
    for slot in range(low, high):
        if found[slot] >= 0:
            place = np.int64(batch[slot // k]) * n + np.int64(found[slot])
            sources[totals[slot] & np.int64(4294967295)] = table[place]
