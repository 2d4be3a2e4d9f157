"""An auction of columns among rows, by integers: bids of one round, who wins, what comes next.

The value of column j to row i is ``round(sign * cost * scale) * (columns + 1) - price[j]``, so that
an auction that ends with ``eps = 1`` is optimal for the rounded costs [1]_. Equal values go by a
hash of row and column, which keeps rows with equal values apart.

If there are more columns than rows, the others are held as well, by rows to which all columns are
worth the same: those bid together, where no row waits. Each may hold what costs at most eps more
than the cheapest column. So they raise all that they hold to the price of the cheapest column that
they do not hold, and take what costs at most half of eps more than that.

All bids of a round see the prices of the round before. A winner is who raises the price most; its
word is the raise with the complement of the row in the lowest bits, so that the greatest word is
one row's. Words of a column are 0 between rounds.

On a GPU each row has a list: its best columns and their values when it was last read whole, and an
edge, which is the best of all others. Prices only rise, so what is above the edge now is above all
others, and the row is read again only where the best two are not.

The state: whether it is over, the round, how many rows bid, eps, a copy of the round for `close`,
how many bid next, bids so far, whether all rows bid anew, copies of how many bid and of that, an
overflow, how many others hold no column, and how many of these take one now.

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
def load_worths(i, mode, cost, indptr, indices, x, y, rank, factor, columns, row):
    """Write what each column is worth to a row."""
    unit = columns + 1
    if mode == 0:
        for j in range(columns):
            row[j] = worth(np.float64(cost[i * columns + j]), factor, unit)
    else:
        if mode == 1 and rank == 0:
            for j in range(columns):
                row[j] = 0
        else:
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
def best_two(i, columns, row, price):
    """Return the best column for a row, its value and that of the second."""
    never = np.int64(-4611686018427387904)
    first = never
    second = never
    best = np.int64(-1)
    for j in range(columns):
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
    low, high, rows, mode, cost, indptr, indices, x, y, rank, factor, columns, price,
    owner, column_of, queue, target, offer, mine, words, mask, state,
    listed, worths, edges, wants, row,  # noqa: ARG001 - lists of GPUs
):  # fmt: skip
    """Bid for the best column, by its lead over the second one and eps.

    Where all rows bid anew, those that have a column which is nearly best keep it. One bidder alone
    goes on at once, as long as it takes a column from another row.
    """
    number = state[1]
    fresh = state[7] != 0
    eps = state[3]
    if fresh and rows < columns:
        for j in range(low * columns // rows, high * columns // rows):
            if owner[j] == -2:
                owner[j] = -1
    for k in range(low, min(high, state[2])):
        place = (number & 1) * rows + k
        i = np.int64(k) if fresh else np.int64(queue[place])
        for step in range(4096):
            load_worths(i, mode, cost, indptr, indices, x, y, rank, factor, columns, row)
            best, first, second = best_two(i, columns, row, price)
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
    low, high, rows, price, owner, column_of, queue, target, offer, mine, words, state
):  # fmt: skip
    """Give columns to the rows that won them; the others bid again, and those that lost theirs."""
    number = state[1]
    later = (1 - (number & 1)) * rows
    count = state[2]
    fresh = state[7] != 0
    if low == 0:
        state[4] = number
        state[8] = count
        state[9] = state[7]
    for k in range(low, min(high, count)):
        i = np.int64(k) if fresh else np.int64(queue[(number & 1) * rows + k])
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
                elif waits == -2:
                    atomic_add(state, 11, 1)
            if waits >= 0:
                queue[later + atomic_add(state, 5, 1)] = waits


@helper
def span_of(chunk, columns):
    """Return the first and the last column of a chunk of 256."""
    return chunk * 256, min(chunk * 256 + 256, columns)


@kernel
def compare(low, high, columns, price, owner, least, state):
    """Find the cheapest column of each chunk that is not held by others."""
    if low == 0:
        state[12] = state[11] if state[5] == 0 else 0
    for chunk in range(low, high):
        first, last = span_of(chunk, columns)
        found = np.int64(4611686018427387903)
        for j in range(first, last):
            if owner[j] != -2:
                found = min(found, price[j])
        least[chunk] = found


@kernel
def count(low, high, chunks, columns, price, owner, least, fitting, state):
    """Raise what others hold to the cheapest column, and count in each chunk what they may take."""
    if state[12] == 0:
        return
    cheapest = np.int64(4611686018427387903)
    for chunk in range(chunks):
        cheapest = min(cheapest, least[chunk])
    for chunk in range(low, high):
        first, last = span_of(chunk, columns)
        found = 0
        for j in range(first, last):
            if owner[j] == -2:
                price[j] = max(price[j], cheapest)
            elif price[j] <= cheapest + state[3] // 2:
                found += 1
        fitting[chunk] = found


@kernel
def take(
    low, high, rows, chunks, columns, price, owner, column_of, queue, least, fitting, state
):  # fmt: skip
    """Give columns to others, the first ones first; rows that lose theirs bid again."""
    if state[12] == 0:
        return
    later = (1 - (state[1] & 1)) * rows
    cheapest = np.int64(4611686018427387903)
    for chunk in range(chunks):
        cheapest = min(cheapest, least[chunk])
    for chunk in range(low, high):
        left = np.int64(state[12])
        for before in range(chunk):
            left -= fitting[before]
        first, last = span_of(chunk, columns)
        for j in range(first, last):
            if left > 0 and owner[j] != -2 and price[j] <= cheapest + state[3] // 2:
                left -= 1
                waits = np.int64(owner[j])
                owner[j] = -2
                price[j] = cheapest + state[3]
                atomic_add(state, 11, -1)
                if waits >= 0:
                    column_of[waits] = -1
                    queue[later + atomic_add(state, 5, 1)] = waits


@kernel
def close(low, high, rows, columns, divisor, queue, target, words, state):
    """Clear the words, and say who bids next: after the last one all rows, with a lesser eps."""
    number = state[4]
    count = state[8]
    fresh = state[9] != 0
    for k in range(low, min(high, count)):
        i = np.int64(k) if fresh else np.int64(queue[(number & 1) * rows + k])
        if target[i] >= 0:
            words[target[i]] = 0
    if low == 0:
        waiting = state[5]
        state[5] = 0
        state[6] += count
        state[1] = number + 1
        state[7] = 0
        state[2] = waiting
        over = waiting == 0 and state[11] == 0
        if state[10] != 0 or (over and state[3] <= 1):
            state[0] = 1
        elif over:
            state[3] = max(state[3] // divisor, 1)
            state[7] = 1
            state[2] = rows
            state[11] = columns - rows
