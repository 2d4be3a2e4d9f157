"""Kernels over arrays that tests run on every device."""

import numpy as np

from semira.kernels import (
    atomic_add,
    atomic_max,
    atomic_min,
    helper,
    kernel,
    philox,
    prefetch,
)


@helper
def scaled(value, factor):
    return value * factor


@kernel
def row_sums(low, high, indptr, indices, values, factor, negate, out):
    """Sum up each row."""
    for i in range(low, high):
        total = 0.0
        for p in range(indptr[i], indptr[i + 1]):
            # Past the end too.
            prefetch(values, p + 100)
            prefetch(indices, p - 1000000)
            total += scaled(values[p], factor) + indices[p]
        out[i] = -total if negate else total


@kernel
def draws(low, high, seed, below, out):
    """Draw a number below a bound for each item."""
    for i in range(low, high):
        out[i] = philox(i, 7, 3, seed, below)


@kernel
def distinct(low, high, indptr, keys, out, stamps):
    """Count the distinct keys of each row; `stamps` holds -1 at first."""
    for i in range(low, high):
        found = 0
        for p in range(indptr[i], indptr[i + 1]):
            if stamps[keys[p]] != i:
                stamps[keys[p]] = np.int64(i)
                found += 1
        out[i] = found


@kernel
def histogram(low, high, keys, counts, least, most, places):
    """Count keys, note where each is first and last, and number its items."""
    for i in range(low, high):
        places[i] = atomic_add(counts, keys[i], 1)
        atomic_min(least, keys[i], i)
        atomic_max(most, keys[i], i)


@kernel
def push_on(low, high, values, state):
    """Add what is left of 10 to each value; count those that are not there yet."""
    open_ones = 0
    for i in range(low, high):
        if values[i] < 10:
            values[i] += 1
            open_ones += 1
    atomic_add(state, 1, open_ones)


@kernel
def endless(low, high, rounds, seen, stop):
    """Go on until somebody says stop."""
    for _ in range(rounds):
        atomic_add(seen, 0, 1)
        if atomic_add(stop, 0, 0) != 0:
            return


@kernel
def close_round(low, high, state):
    """End if nothing was open in this round."""
    for _ in range(low, high):
        state[2] += 1
        if state[1] == 0:
            state[0] = 1
        state[1] = 0


@kernel
def clamped(low, high, values, least, out):
    """Bring numbers into a range, as Python's min and max do."""
    for i in range(low, high):
        out[i] = min(max(values[i], least), 1.0)
