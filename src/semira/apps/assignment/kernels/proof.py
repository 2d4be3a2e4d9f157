"""The proof of an assignment: dual values that meet its costs.

An auction ends with prices that miss that by less than eps. While a row has a column that would
cost it less than its own one, the dual value of its own one rises until it does not: the method of
Bellman and Ford in the graph of what rows could exchange.
"""

import numpy as np

from semira.apps.assignment.kernels.paths import load_row
from semira.kernels import kernel


@kernel
def prove(
    low, high, mode, cost, indptr, indices, x, y, rank, sign, columns, column_of, v, u, taken, row
):
    """Write the least ``cost - v`` of each row, and its cost at the column it has."""
    for i in range(low, high):
        load_row(i, mode, cost, indptr, indices, x, y, rank, sign, columns, row)
        least = float("inf")
        for j in range(columns):
            least = min(least, row[j] - v[j])
        u[i] = least
        taken[i] = row[column_of[i]]


@kernel
def tighten(low, high, tolerance, column_of, v, u, taken, state):
    """Raise the duals of columns whose rows would rather have others."""
    for i in range(low, high):
        j = np.int64(column_of[i])
        if taken[i] - v[j] - u[i] > tolerance:
            v[j] = taken[i] - u[i]
            state[1] = 1


@kernel
def judge(low, high, most, state):
    """End when nothing has changed, or after `most` rounds."""
    for _ in range(low, high):
        state[2] += 1
        if state[1] == 0 or state[2] >= most:
            state[0] = 1
        state[1] = 0
