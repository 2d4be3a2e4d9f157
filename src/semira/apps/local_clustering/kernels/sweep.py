"""The order of a diffusion, and the prefix of it that is cut off best."""

import numpy as np

from semira.kernels import helper, kernel


@helper
def comes_first(key, word, i, j):
    """Compare two entries: the greater key, then the smaller vertex."""
    return key[i] > key[j] or (key[i] == key[j] and word[i] < word[j])


@helper
def merge(key, word, at, to, low, middle, high):
    """Merge two ordered runs, from the half that begins at `at` to the one at `to`."""
    i = at + low
    j = at + middle
    for k in range(to + low, to + high):
        if j >= at + high or (i < at + middle and comes_first(key, word, i, j)):
            key[k] = key[i]
            word[k] = word[i]
            i += 1
        else:
            key[k] = key[j]
            word[k] = word[j]
            j += 1


@kernel
def order(low, high, ptr, vertices, values, indptr, by_degree, room, new_v, new_x, key, word):
    """Order the entries of each problem by value, or value per degree; ties by vertex.

    Scratch has two halves of `room` entries; `room` is a power of 2 that no problem exceeds.
    """
    for item in range(low, high):
        first = ptr[item]
        size = ptr[item + 1] - first
        for k in range(size):
            v = np.int64(vertices[first + k])
            key[k] = values[first + k]
            if by_degree:
                key[k] = values[first + k] / np.float64(indptr[v + 1] - indptr[v])
            word[k] = (v << 32) + k
        width = np.int64(1)
        at = np.int64(0)
        while width < size:
            start = np.int64(0)
            while start < size:
                middle = min(start + width, size)
                merge(key, word, at, room - at, start, middle, min(middle + width, size))
                start += 2 * width
            width *= 2
            at = room - at
        for k in range(size):
            source = first + (word[at + k] & 4294967295)
            new_v[first + k] = vertices[source]
            new_x[first + k] = values[source]


@helper
def slot_in(table, mask, vertex):
    """Return the slot of a vertex, or the free one where it belongs."""
    slot = ((vertex * 2654435761) >> 15) & mask
    while table[2 * slot] != 0 and table[2 * slot] != vertex + 1:
        slot = (slot + 1) & mask
    return slot


@helper
def before(indptr, indices, table, mask, v, rank):
    """Return how many neighbours of a vertex have a smaller rank."""
    found = np.int64(0)
    for e in range(indptr[v], indptr[v + 1]):
        slot = slot_in(table, mask, np.int64(indices[e]))
        if table[2 * slot] != 0 and table[2 * slot + 1] < rank:
            found += 1
    return found


@kernel
def sweep(low, high, ptr, vertices, indptr, indices, total, profile, facts, table, inner):  # noqa: ARG001 - the GPU's counts
    """Cut off each prefix of each problem; find the first of least conductance.

    Facts are its length, its volume, its cut, and its cut again, counted from the set.
    """
    for item in range(low, high):
        first = ptr[item]
        size = ptr[item + 1] - first
        mask = np.int64(1)
        while mask < 2 * size:
            mask *= 2
        mask -= 1
        for k in range(2 * (mask + 1)):
            table[k] = 0
        for k in range(size):
            v = np.int64(vertices[first + k])
            slot = slot_in(table, mask, v)
            table[2 * slot] = v + 1
            table[2 * slot + 1] = k
        volume = np.int64(0)
        cut = np.int64(0)
        best = np.int64(-1)
        for k in range(size):
            v = np.int64(vertices[first + k])
            degree = np.int64(indptr[v + 1]) - np.int64(indptr[v])
            volume += degree
            cut += degree - 2 * before(indptr, indices, table, mask, v, k)
            # All vertices are cut off from nothing.
            profile[first + k] = 2.0
            if volume < total:
                profile[first + k] = np.float64(cut) / np.float64(min(volume, total - volume))
            if best < 0 or profile[first + k] < profile[first + best]:
                best = np.int64(k)
                facts[4 * item + 1] = volume
                facts[4 * item + 2] = cut
        facts[4 * item] = best + 1
        again = np.int64(0)
        for k in range(best + 1):
            v = np.int64(vertices[first + k])
            degree = np.int64(indptr[v + 1]) - np.int64(indptr[v])
            again += degree - before(indptr, indices, table, mask, v, best + 1)
        facts[4 * item + 3] = again
