"""Shortest augmenting paths over the least costs of each row, for hosts.

A cost is ``sign`` times what is given. `mode` 0: `cost` has all of them. 1: rows of entries, which
are added to the product of `x` and `y`, matrices of `rank` columns. 2: rows of entries, and nothing
else may be chosen.

Each row has a list of its `count` least reduced costs ``c - v``, and `rest`, which no other one is
below. As `v` only falls, that stays true: a search looks at the whole row only if it gets as far as
`rest`, and makes a new list of it then.
"""

import numpy as np

from semira.kernels import helper, kernel


@helper
def load_row(i, mode, cost, indptr, indices, x, y, rank, sign, columns, row):
    """Write the costs of a row; what may not be chosen is infinite."""
    if mode == 0:
        first = i * columns
        for j in range(columns):
            row[j] = sign * np.float64(cost[first + j])
    else:
        for j in range(columns):
            base = 0.0
            for r in range(rank):
                base += x[i * rank + r] * y[j * rank + r]
            row[j] = sign * base if mode == 1 else float("inf")
        for e in range(indptr[i], indptr[i + 1]):
            j = np.int64(indices[e])
            value = sign * np.float64(cost[e])
            row[j] = row[j] + value if mode == 1 else value


@helper
def sink_down(keys, places, costs, first, count):
    """Restore the heap of the greatest keys after its first one has changed."""
    at = np.int64(0)
    while 2 * at + 1 < count:
        child = 2 * at + 1
        if child + 1 < count and keys[child + 1] > keys[child]:
            child += 1
        if keys[at] >= keys[child]:
            break
        key = keys[at]
        place = places[first + at]
        value = costs[first + at]
        keys[at] = keys[child]
        places[first + at] = places[first + child]
        costs[first + at] = costs[first + child]
        keys[child] = key
        places[first + child] = place
        costs[first + child] = value
        at = child


@helper
def make_list(i, row, v, columns, count, places, costs, rest, keys):
    """Keep the least reduced costs of a row, in a heap, and what the others are not below.

    Each row begins at another column: rows with many equal costs have different lists.
    """
    first = i * count
    for t in range(count):
        keys[t] = float("inf")
        places[first + t] = -1
        costs[first + t] = float("inf")
    top = float("inf")
    least = float("inf")
    start = i * 7919 % columns
    for part in range(2):
        begin = start if part == 0 else 0
        end = columns if part == 0 else start
        for j in range(begin, end):
            key = row[j] - v[j]
            if key < top:
                least = min(least, top)
                keys[0] = key
                places[first] = j
                costs[first] = row[j]
                sink_down(keys, places, costs, first, count)
                top = keys[0]
            else:
                least = min(least, key)
    rest[i] = least


@kernel
def nearest(
    low, high, mode, cost, indptr, indices, x, y, rank, sign, columns, v, count, places, costs,
    rest, row, keys,
):  # fmt: skip
    """Make the lists of rows."""
    for i in range(low, high):
        load_row(i, mode, cost, indptr, indices, x, y, rank, sign, columns, row)
        make_list(i, row, v, columns, count, places, costs, rest, keys)


@helper
def two_least(i, count, places, costs, v):
    """Return the places of the two least reduced costs in the list of a row, and these."""
    t1 = np.int64(-1)
    t2 = np.int64(-1)
    x1 = float("inf")
    x2 = float("inf")
    for t in range(i * count, i * count + count):
        j = np.int64(places[t])
        if j >= 0:
            key = costs[t] - v[j]
            if key < x1:
                x2 = x1
                t2 = t1
                x1 = key
                t1 = np.int64(t)
            elif key < x2:
                x2 = key
                t2 = np.int64(t)
    return t1, t2, x1, x2


@kernel
def bid_once(
    low, high, mode, cost, indptr, indices, x, y, rank, sign, columns, v, count, places, costs,
    rest, row, keys, free, row_of, column_of, chosen, state,
):  # fmt: skip
    """Reduce augmenting rows: each free row takes its least cost, and lowers it to the second.

    ``state[1]`` rows are free. Jonker and Volgenant's second step, twice.
    """
    for _ in range(low, high):
        most = 4 * state[1]
        for _pass in range(2):
            at = np.int64(0)
            waiting = state[1]
            left = np.int64(0)
            while at < waiting:
                i = np.int64(free[at])
                at += 1
                t1, t2, x1, x2 = two_least(i, count, places, costs, v)
                if x2 > rest[i]:
                    load_row(i, mode, cost, indptr, indices, x, y, rank, sign, columns, row)
                    make_list(i, row, v, columns, count, places, costs, rest, keys)
                    t1, t2, x1, x2 = two_least(i, count, places, costs, v)
                if t2 < 0 or x2 == float("inf"):
                    free[left] = i
                    left += 1
                    continue
                j = np.int64(places[t1])
                other = np.int64(row_of[j])
                if x1 < x2:
                    v[j] -= x2 - x1
                elif other >= 0:
                    t1 = t2
                    j = np.int64(places[t1])
                    other = np.int64(row_of[j])
                row_of[j] = i
                column_of[i] = j
                chosen[i] = costs[t1]
                if other >= 0:
                    column_of[other] = -1
                    most -= 1
                    if x1 < x2 and most > 0:
                        at -= 1
                        free[at] = other
                    else:
                        free[left] = other
                        left += 1
            state[1] = left


@helper
def rise(heap, place, key, at):
    """Restore the heap of least keys after one of them has fallen."""
    moved = heap[at]
    while at > 0 and key[moved] < key[heap[(at - 1) // 2]]:
        heap[at] = heap[(at - 1) // 2]
        place[heap[at]] = at
        at = (at - 1) // 2
    heap[at] = moved
    place[moved] = at


@helper
def take_first(heap, place, key, size):
    """Take the item of least key out of a heap of `size`; return it."""
    first = np.int64(heap[0])
    place[first] = -1
    moved = np.int64(heap[size - 1])
    if size > 1:
        at = np.int64(0)
        while 2 * at + 1 < size - 1:
            child = 2 * at + 1
            if child + 1 < size - 1 and key[heap[child + 1]] < key[heap[child]]:
                child += 1
            if key[moved] <= key[heap[child]]:
                break
            heap[at] = heap[child]
            place[heap[at]] = at
            at = child
        heap[at] = moved
        place[moved] = at
    return first


@helper
def put(item, new, heap, place, key, size):
    """Put an item into a heap, or lower its key; return the size of the heap."""
    key[item] = new
    at = np.int64(place[item])
    if at < 0:
        at = np.int64(size)
        heap[at] = item
        size += 1
    rise(heap, place, key, at)
    return size


@helper
def relax(
    i, j, value, far, v, row_of, heap, place, key, size, best, sink, before, carried, done,
    touched, met,
):  # fmt: skip
    """Reach column j from row i; return the heap's size, the nearest free column, columns met."""
    d = value - v[j] - far
    if d < best and d < key[j] and done[j] == 0:
        if key[j] == float("inf"):
            touched[met] = j
            met += 1
        before[j] = i
        carried[j] = value
        if row_of[j] < 0:
            key[j] = d
            best = d
            sink = np.int64(j)
        else:
            size = put(j, d, heap, place, key, size)
    return size, best, sink, met


@helper
def search_all(
    root, mode, cost, indptr, indices, x, y, rank, sign, columns, v, row, row_of, chosen, key,
    before, carried, done, touched,
):  # fmt: skip
    """Search from a row over whole rows, without lists; return the free column and how far it is.

    `touched` has the columns, those in front that are not settled.
    """
    for j in range(columns):
        touched[j] = j
    left = np.int64(columns)
    i = np.int64(root)
    far = 0.0
    while left > 0:
        if mode != 0:
            load_row(i, mode, cost, indptr, indices, x, y, rank, sign, columns, row)
        least = float("inf")
        at = np.int64(-1)
        for t in range(left):
            j = np.int64(touched[t])
            value = sign * np.float64(cost[i * columns + j]) if mode == 0 else row[j]
            d = value - v[j] - far
            nearest = key[j]
            if d < nearest:
                nearest = d
                key[j] = d
                before[j] = i
                carried[j] = value
            if nearest < least or (nearest == least and row_of[j] < 0):
                least = nearest
                at = np.int64(t)
        if least == float("inf"):
            break
        j = np.int64(touched[at])
        if row_of[j] < 0:
            return j, least
        left -= 1
        touched[at] = touched[left]
        touched[left] = j
        done[j] = 1
        i = np.int64(row_of[j])
        far = chosen[i] - v[j] - least
    return np.int64(-1), float("inf")


@helper
def search_lists(
    root, mode, cost, indptr, indices, x, y, rank, sign, columns, v, count, places, costs, rest,
    row, keys, row_of, chosen, state, heap, place, key, before, carried, done, touched, far_of,
):  # fmt: skip
    """Search from a row over lists; return the free column, how far it is, and columns met.

    Items of the heap are columns, and rows behind them: what is not in the list of a row.
    """
    size = np.int64(0)
    met = np.int64(0)
    best = float("inf")
    sink = np.int64(-1)
    i = np.int64(root)
    far = 0.0
    while i >= 0:
        state[3] += 1
        for t in range(i * count, i * count + count):
            j = np.int64(places[t])
            if j >= 0:
                size, best, sink, met = relax(
                    i, j, costs[t], far, v, row_of, heap, place, key, size, best, sink, before,
                    carried, done, touched, met,
                )  # fmt: skip
        far_of[i] = far
        if rest[i] - far < best:
            size = put(columns + i, rest[i] - far, heap, place, key, size)
        i = np.int64(-1)
        while i < 0 and size > 0 and key[heap[0]] < best:
            item = take_first(heap, place, key, size)
            size -= 1
            if item < columns:
                done[item] = 1
                i = np.int64(row_of[item])
                far = chosen[i] - v[item] - key[item]
                continue
            other = item - columns
            state[4] += 1
            load_row(other, mode, cost, indptr, indices, x, y, rank, sign, columns, row)
            make_list(other, row, v, columns, count, places, costs, rest, keys)
            for j in range(columns):
                if row[j] - v[j] - far_of[other] < best:
                    size, best, sink, met = relax(
                        other, np.int64(j), row[j], far_of[other], v, row_of, heap, place, key,
                        size, best, sink, before, carried, done, touched, met,
                    )  # fmt: skip
    for t in range(size):
        place[heap[t]] = -1
    return sink, best, met


@kernel
def augment(
    low, high, mode, cost, indptr, indices, x, y, rank, sign, columns, v, count, places, costs,
    rest, row, keys, free, row_of, column_of, chosen, state,
    begin, end, most, heap, place, key, before, carried, done, touched, far_of,
):  # fmt: skip
    """Give free rows from `begin` to `end` columns, by a shortest path each.

    ``state[2]`` is 1 if a row cannot be given one. ``state[3]`` and ``state[4]`` count rows that
    were looked at, in their lists and as a whole: after `most` of the latter lists are left alone.
    """
    for _ in range(low, high):
        for number in range(begin, end):
            root = np.int64(free[number])
            met = np.int64(columns)
            if state[4] < most:
                sink, best, met = search_lists(
                    root, mode, cost, indptr, indices, x, y, rank, sign, columns, v, count, places,
                    costs, rest, row, keys, row_of, chosen, state, heap, place, key, before,
                    carried, done, touched, far_of,
                )  # fmt: skip
            else:
                sink, best = search_all(
                    root, mode, cost, indptr, indices, x, y, rank, sign, columns, v, row, row_of,
                    chosen, key, before, carried, done, touched,
                )  # fmt: skip
            for t in range(met):
                j = np.int64(touched[t])
                if done[j] == 1 and sink >= 0:
                    v[j] += key[j] - best
                key[j] = float("inf")
                done[j] = 0
            if sink < 0:
                state[2] = 1
                return
            j = np.int64(sink)
            while j >= 0:
                i = np.int64(before[j])
                later = np.int64(column_of[i])
                column_of[i] = j
                row_of[j] = i
                chosen[i] = carried[j]
                j = later if i != root else np.int64(-1)
