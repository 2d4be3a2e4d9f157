"""Diffusion from seeds: residual mass is pushed, or FISTA run, on what a seed touches.

A worker keeps the touched vertices in a hash table of `slots` pairs of words: ``vertex + 1`` below
the degree, then a fixed-point sum. Sums of integers have the same bits in every order.
`limit` vertices may be touched. Six facts of each problem: where its entries begin in the pool,
how many there are, 1 if `limit` is too small or 2 if the pool is, rounds, edges walked, and a
sum: all mass, or whether the tolerance was met. An item draws eight problems at most.
"""

import numpy as np

from semira.kernels import atomic_add, helper, kernel


@helper
def slot_of(table, mask, vertex):
    """Return the slot of a vertex, or the free one where it belongs."""
    slot = ((vertex * 2654435761) >> 15) & mask
    while table[2 * slot] != 0 and (table[2 * slot] & 4294967295) != vertex + 1:
        slot = (slot + 1) & mask
    return slot


@helper
def enter(indptr, table, mask, vertex, touched, count):
    """Return the slot of a vertex, which is entered as number `count` if it is new."""
    slot = slot_of(table, mask, vertex)
    if table[2 * slot] == 0:
        degree = np.int64(indptr[vertex + 1]) - np.int64(indptr[vertex])
        table[2 * slot] = (degree << 32) + vertex + 1
        touched[count] = slot
    return slot


@helper
def clear(table, touched, count):
    """Free the slots of a problem."""
    for i in range(count):
        slot = np.int64(touched[i])
        table[2 * slot] = 0
        table[2 * slot + 1] = 0


@helper
def tell(facts, item, place, size, full, rounds, edges, mass):
    """Write the facts of a problem."""
    facts[6 * item] = place
    facts[6 * item + 1] = size
    facts[6 * item + 2] = full
    facts[6 * item + 3] = rounds
    facts[6 * item + 4] = edges
    facts[6 * item + 5] = mass


@helper
def begin(indptr, seeds, first, number, least, table, mask, lists, limit):
    """Share 2**61 units out among the seeds; return how many of them push."""
    ready = np.int64(0)
    for k in range(number):
        slot = enter(indptr, table, mask, np.int64(seeds[first + k]), lists, k)
        mass = 2305843009213693952 // number
        if k < 2305843009213693952 % number:
            mass += 1
        table[2 * slot + 1] = mass
        if np.float64(mass) >= least * np.float64(table[2 * slot] >> 32):
            lists[limit + ready] = slot
            ready += 1
    return ready


@helper
def take(table, slots, kept, lists, now, ready, keep):
    """Keep a part of the residual of each active vertex, and share the rest out."""
    for i in range(ready):
        slot = np.int64(lists[now + i])
        rest = table[2 * slot + 1]
        degree = table[2 * slot] >> 32
        stays = min(np.int64(np.float64(rest) * keep), rest)
        rest -= stays
        kept[slot] += stays
        share = rest // degree
        table[2 * slots + i] = share
        table[2 * slot + 1] = rest - share * degree


@helper
def spread(indptr, indices, least, table, slots, limit, lists, count, now, ready):
    """Add shares to neighbours; return how many are touched, how many push next, and edges.

    More than `limit` are touched if there is no room for them.
    """
    found = np.int64(0)
    edges = np.int64(0)
    other = 3 * limit - now
    for i in range(ready):
        share = table[2 * slots + i]
        v = (table[2 * np.int64(lists[now + i])] & 4294967295) - 1
        edges += np.int64(indptr[v + 1]) - np.int64(indptr[v])
        for e in range(indptr[v], indptr[v + 1]):
            w = np.int64(indices[e])
            slot = slot_of(table, slots - 1, w)
            if table[2 * slot] == 0:
                if count >= limit:
                    return limit + 1, found, edges
                enter(indptr, table, slots - 1, w, lists, count)
                count += 1
            before = table[2 * slot + 1]
            after = before + share
            table[2 * slot + 1] = after
            bound = least * np.float64(table[2 * slot] >> 32)
            if np.float64(before) < bound and np.float64(after) >= bound:
                lists[other + found] = slot
                found += 1
    return count, found, edges


@helper
def left_over(table, kept, touched, count, least):
    """Return how many vertices kept mass, all mass, and the greatest residual against `least`."""
    size = np.int64(0)
    mass = np.int64(0)
    most = 0.0
    for i in range(count):
        slot = np.int64(touched[i])
        mass += table[2 * slot + 1] + kept[slot]
        ratio = np.float64(table[2 * slot + 1]) / (least * np.float64(table[2 * slot] >> 32))
        # The language of kernels has no maximum of floats.
        if ratio > most:  # noqa: PLR1730
            most = ratio
        if kept[slot] > 0:
            size += 1
    return size, mass, most


@kernel
def push(
    low, high, indptr, indices, seed_ptr, seeds, keep, least, slots, limit, most,
    pool_v, pool_x, cursor, problems, facts, residual, table, kept, lists, stop,
):  # fmt: skip
    """Push residual mass in rounds, each round wherever there are `least` units an edge or more.

    `keep` is the part that stays; a unit is 2**-61. The pool of `most` entries, of which `cursor`
    are taken, gets the vertices that kept mass.
    After the table stand the shares; in `lists` the slots that are touched, those that push, and
    those that push next.
    """
    for _ in range(8 * low, 8 * high):
        item = atomic_add(cursor, 1, 1)
        if item >= problems:
            return
        first = seed_ptr[item]
        count = seed_ptr[item + 1] - first
        ready = begin(indptr, seeds, first, count, least, table, slots - 1, lists, limit)
        edges = np.int64(0)
        rounds = np.int64(0)
        now = np.int64(limit)
        while ready > 0:
            if atomic_add(stop, 0, 0) != 0:
                return
            rounds += 1
            take(table, slots, kept, lists, now, ready, keep)
            count, ready, walked = spread(
                indptr, indices, least, table, slots, limit, lists, count, now, ready
            )
            edges += walked
            now = 3 * limit - now
            if count > limit:
                break
        full = np.int64(1 if count > limit else 0)
        count = min(count, limit)
        size, mass, highest = left_over(table, kept, lists, count, least)
        place = atomic_add(cursor, 0, size if full == 0 else 0)
        if full == 0 and place + size > most:
            full = np.int64(2)
        tell(facts, item, place, size, full, rounds, edges, mass)
        residual[item] = highest
        for i in range(count):
            slot = np.int64(lists[i])
            if full == 0 and kept[slot] > 0:
                pool_v[place] = (table[2 * slot] & 4294967295) - 1
                pool_x[place] = np.float64(kept[slot]) * 4.336808689942018e-19
                place += 1
            kept[slot] = 0
        clear(table, lists, count)


@helper
def send(indptr, indices, table, slots, limit, touched, count, known):
    """Add the units of each vertex to its neighbours; return how many are touched, and edges.

    More than `limit` are touched if there is no room for them.
    """
    edges = np.int64(0)
    for i in range(known):
        units = table[2 * slots + i]
        if units != 0:
            v = (table[2 * np.int64(touched[i])] & 4294967295) - 1
            edges += np.int64(indptr[v + 1]) - np.int64(indptr[v])
            for e in range(indptr[v], indptr[v + 1]):
                w = np.int64(indices[e])
                slot = slot_of(table, slots - 1, w)
                if table[2 * slot] == 0:
                    if count >= limit:
                        return limit + 1, edges
                    enter(indptr, table, slots - 1, w, touched, count)
                    count += 1
                table[2 * slot + 1] += units
    return count, edges


@helper
def slope(table, slot, y, alpha, shared):
    """Return the gradient per root of the degree, at `y` per root of the degree."""
    degree = np.float64(table[2 * slot] >> 32)
    around = np.float64(table[2 * slot + 1]) * 1.734723475976807e-18 / degree
    return (1.0 + alpha) * 0.5 * y - (1.0 - alpha) * 0.5 * around - shared / degree


@helper
def slopes_of(table, touched, known, count, alpha, shared, number, vectors, limit):
    """Compute the gradient of each touched vertex, and return the greatest."""
    steepest = 0.0
    for i in range(count):
        slot = np.int64(touched[i])
        if i >= known:
            vectors[i] = 0.0
            vectors[limit + i] = 0.0
        found = slope(table, slot, vectors[limit + i], alpha, shared if i < number else 0.0)
        vectors[2 * limit + i] = found
        table[2 * slot + 1] = 0
        if abs(found) > steepest:  # noqa: PLR1730
            steepest = abs(found)
    return steepest


@helper
def step(known, steps, ends, threshold, beta, vectors, limit, table, tail):
    """Take a proximal step with momentum; at the end only return to `x`."""
    for i in range(known):
        y = vectors[i]
        if not ends:
            z = vectors[limit + i] - vectors[2 * limit + i]
            new = 0.0
            if z >= threshold:
                new = z - threshold
            elif z <= -threshold:
                new = z + threshold
            y = new if steps == 0 else new + beta * (new - vectors[i])
            vectors[i] = new
        vectors[limit + i] = y
        table[tail + i] = np.int64(y * 576460752303423488.0)


@helper
def distance(table, touched, known, count, alpha, shared, number, threshold, vectors):
    """Return how many values are not zero, and the greatest violation of what holds at the end.

    The gradient is the threshold, with the other sign, where a value is not zero; else less.
    """
    size = np.int64(0)
    worst = 0.0
    for i in range(count):
        if i >= known:
            vectors[i] = 0.0
        g = slope(table, np.int64(touched[i]), vectors[i], alpha, shared if i < number else 0.0)
        off = abs(g) - threshold
        if vectors[i] != 0.0:
            off = abs(g + threshold) if vectors[i] > 0.0 else abs(g - threshold)
            size += 1
        if off > worst:  # noqa: PLR1730
            worst = off
    return size, worst


@kernel
def fista(
    low, high, indptr, indices, seed_ptr, seeds, alpha, threshold, tolerance, most_steps, slots,
    limit, most, pool_v, pool_x, cursor, problems,
    facts, residual, table, touched, vectors, stop,
):  # fmt: skip
    """Minimise by accelerated proximal gradients; vectors are kept per root of the degree.

    Sums over neighbours are those of multiples of 2**-59, which stand after the table. `vectors`
    are the minimiser x, then y with momentum, then the gradient.
    """
    beta = (1.0 - np.sqrt(alpha)) / (1.0 + np.sqrt(alpha))
    for _ in range(8 * low, 8 * high):
        item = atomic_add(cursor, 1, 1)
        if item >= problems:
            return
        first = seed_ptr[item]
        number = seed_ptr[item + 1] - first
        shared = alpha / np.float64(number)
        count = number
        for k in range(number):
            enter(indptr, table, slots - 1, np.int64(seeds[first + k]), touched, k)
        known = np.int64(0)
        steps = np.int64(0)
        edges = np.int64(0)
        stopped = np.int64(0)
        # One more round than steps: the last one measures how far from optimal `x` is.
        while True:
            if atomic_add(stop, 0, 0) != 0:
                return
            steepest = slopes_of(
                table, touched, known, count, alpha, shared, number, vectors, limit
            )
            known = count
            if steps > 1 and steepest <= threshold * (1.0 + tolerance):
                stopped = np.int64(1)
            ends = stopped == 1 or steps == most_steps
            step(known, steps, ends, threshold, beta, vectors, limit, table, 2 * slots)
            count, walked = send(indptr, indices, table, slots, limit, touched, count, known)
            edges += walked
            if ends or count > limit:
                break
            steps += 1
        full = np.int64(1 if count > limit else 0)
        count = min(count, limit)
        size, worst = distance(
            table, touched, known, count, alpha, shared, number, threshold, vectors
        )
        place = atomic_add(cursor, 0, size if full == 0 else 0)
        if full == 0 and place + size > most:
            full = np.int64(2)
        tell(facts, item, place, size, full, steps, edges, stopped)
        residual[item] = worst / threshold
        for i in range(count):
            if full == 0 and vectors[i] != 0.0:
                key = table[2 * np.int64(touched[i])]
                pool_v[place] = (key & 4294967295) - 1
                pool_x[place] = abs(vectors[i]) * np.float64(key >> 32)
                place += 1
        clear(table, touched, count)


@kernel
def gather(low, high, starts, sizes, targets, vertices, values, new_v, new_x):
    """Copy the entries of each problem from its start to its target."""
    for item in range(low, high):
        start = starts[item]
        target = targets[item]
        for k in range(sizes[item]):
            new_v[target + k] = vertices[start + k]
            new_x[target + k] = values[start + k]
