"""An auction of columns among rows, by integers: bids of one round, who wins, what comes next.

The value of column j to row i is ``round(sign * cost * scale) * (items + 1) - price[j]``, so that
an auction that ends with ``eps = 1`` is optimal for the rounded costs [1]_. Rows from `rows` on
make a problem square: to them all columns are worth the same. Equal values go by a hash of row and
column, which keeps rows with equal values apart.

All bids of a round see the prices of the round before. A winner is who raises the price most; its
word is the raise with the complement of the row in the lowest bits, so that the greatest word is
one row's. Words of a column are 0 between rounds.

The state: whether it is over, the round, how many rows bid, eps, copies of round and number for
`close`, how many bid next, bids so far, whether all rows bid anew, a copy of that, an overflow.

.. [1] D. P. Bertsekas, *The auction algorithm*, Annals of Operations Research 14, 1988.
"""

import numpy as np

from semira.kernels import atomic_add, atomic_max, helper, kernel


@helper
def mixed(i, j):
    """Return a hash of row and column, 31 bits."""
    h = (i * 2654435761 + j * 2246822519) & 4294967295
    h = ((h ^ (h >> 15)) * 3266489917) & 4294967295
    return (h ^ (h >> 13)) & 2147483647


@helper
def worth(given, factor, unit):
    """Return a cost as a value; what may not be chosen is worth least."""
    found = np.floor(factor * given + 0.5)
    if not abs(found) < 4611686018427387904.0:
        return np.int64(-4611686018427387904)
    return np.int64(found) * unit


@helper
def load_worths(i, rows, mode, cost, indptr, indices, x, y, rank, factor, columns, items, row):
    """Write what each column is worth to a row."""
    unit = items + 1
    for j in range(items):
        row[j] = 0
    if i < rows and mode == 0:
        for j in range(columns):
            row[j] = worth(np.float64(cost[i * columns + j]), factor, unit)
    elif i < rows:
        if mode == 2 or rank > 0:
            for j in range(columns):
                base = float("inf") if mode == 2 else 0.0
                for r in range(rank):
                    base += x[i * rank + r] * y[j * rank + r]
                row[j] = worth(base, factor, unit)
        for e in range(indptr[i], indptr[i + 1]):
            j = np.int64(indices[e])
            base = np.float64(cost[e])
            for r in range(rank):
                base += x[i * rank + r] * y[j * rank + r]
            row[j] = worth(base, factor, unit)


@helper
def best_two(i, items, row, price):
    """Return the best column for a row, its value and that of the second."""
    never = np.int64(-4611686018427387904)
    first = never
    second = never
    best = np.int64(-1)
    for j in range(items):
        if row[j] != never:
            value = row[j] - price[j]
            if value > first:
                second = first
                first = value
                best = np.int64(j)
            elif value == first:
                second = value
                if mixed(i, j) > mixed(i, best):
                    best = np.int64(j)
            elif value > second:
                second = value
    return best, first, second


@kernel
def bid(
    low, high, rows, mode, cost, indptr, indices, x, y, rank, factor, columns, items,
    price, owner, column_of, queue, target, offer, mine, words, mask, state, row,
):  # fmt: skip
    """Bid for the best column, by its lead over the second one and eps.

    Where all rows bid anew, those that have a column which is nearly best keep it. One bidder alone
    goes on at once, as long as it takes a column from another row.
    """
    number = state[1]
    fresh = state[7] != 0
    eps = state[3]
    for k in range(low, min(high, state[2])):
        place = (number & 1) * items + k
        i = np.int64(k) if fresh else np.int64(queue[place])
        for step in range(4096):
            load_worths(
                i, rows, mode, cost, indptr, indices, x, y, rank, factor, columns, items, row
            )
            best, first, second = best_two(i, items, row, price)
            target[i] = -1
            if fresh:
                held = np.int64(column_of[i])
                if held >= 0:
                    if row[held] - price[held] >= first - eps:
                        break
                    owner[held] = -1
                    column_of[i] = -1
            # A row that may have one column alone has no lead.
            raised = np.int64(eps)
            if second > -4611686018427387904:
                raised = first - second + eps
            if best < 0 or raised > 4611686018427387903 - price[best]:
                state[10] = 1
                break
            other = np.int64(owner[best])
            if state[2] > 1 or fresh or other < 0 or step == 4095:
                target[i] = best
                offer[i] = price[best] + raised
                mine[i] = (raised & (-1 - mask)) | (mask - i)
                atomic_max(words, best, mine[i])
                break
            price[best] += raised
            owner[best] = i
            column_of[i] = best
            column_of[other] = -1
            queue[place] = other
            i = other
            state[6] += 1


@kernel
def settle(
    low, high, items, price, owner, column_of, queue, target, offer, mine, words, state
):  # fmt: skip
    """Give columns to the rows that won them; the others bid again, and those that lost theirs."""
    number = state[1]
    later = (1 - (number & 1)) * items
    count = state[2]
    fresh = state[7] != 0
    if low == 0:
        state[4] = number
        state[8] = count
        state[9] = state[7]
    for k in range(low, min(high, count)):
        i = np.int64(k) if fresh else np.int64(queue[(number & 1) * items + k])
        j = np.int64(target[i])
        if j >= 0:
            waits = i
            if words[j] == mine[i]:
                waits = np.int64(owner[j])
                owner[j] = i
                column_of[i] = j
                price[j] = offer[i]
                if waits >= 0:
                    column_of[waits] = -1
            if waits >= 0:
                queue[later + atomic_add(state, 5, 1)] = waits


@kernel
def close(low, high, items, divisor, queue, target, words, state):
    """Clear the words, and say who bids next: after the last one all rows, with a lesser eps."""
    number = state[4]
    count = state[8]
    fresh = state[9] != 0
    for k in range(low, min(high, count)):
        i = np.int64(k) if fresh else np.int64(queue[(number & 1) * items + k])
        if target[i] >= 0:
            words[target[i]] = 0
    if low == 0:
        waiting = state[5]
        state[5] = 0
        state[6] += count
        state[1] = number + 1
        state[7] = 0
        state[2] = waiting
        if state[10] != 0 or (waiting == 0 and state[3] <= 1):
            state[0] = 1
        elif waiting == 0:
            state[3] = max(state[3] // divisor, 1)
            state[7] = 1
            state[2] = items
