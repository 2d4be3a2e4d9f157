"""Breadth-first searches from many sources, a bit for each.

A block has `width` sources, up to 64 for each of its `words`. Of a vertex, `seen` words have the
bits of the searches that found it, and those beyond the last source; `fresh` ones of those that
find it now. A level pushes from the vertices of the frontier, or pulls into those that a search
misses.

A thread of a host makes all levels of a block in `expand`, with both kinds of words side by side in
`pairs`. On a GPU all threads make one level of one block after the other; see hops.cuh.

`kind` is what is kept: 1, the level of each source at each vertex; 2, for each vertex the number of
sources that found it and the sum of their levels; 0, neither. `far` is the last level of each
source. In ``state[1]``: whether levels beyond `limit` may be missing.
"""

import numpy as np

from semira.kernels import atomic_add, atomic_max, helper, kernel


@helper
def bits_in(x):
    """Return how many bits of a word are set (H. Warren, *Hacker's delight*, section 5-1)."""
    one = np.uint64(1)
    two = np.uint64(2)
    x = x - ((x >> one) & np.uint64(0x5555555555555555))
    x = (x & np.uint64(0x3333333333333333)) + ((x >> two) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((x * np.uint64(0x0101010101010101)) >> np.uint64(56))


@helper
def bits_from(count):
    """Return the word whose bits are set from number `count` on."""
    ones = ~np.uint64(0)
    if count >= 64:
        return np.uint64(0)
    if count <= 0:
        return ones
    return ones << np.uint64(count)


@helper
def clear(pairs, front, n, words, bits):
    """Let no search have found a vertex; those beyond the last one miss none."""
    for j in range(words):
        absent = bits_from(bits - 64 * j)
        for v in range(n):
            pairs[2 * words * v + j] = absent
            pairs[2 * words * v + words + j] = 0
            front[words * v + j] = 0


@helper
def seed(sources, first, many, words, pairs, queue):
    """Let each source be found by its search; return how many vertices that are."""
    count = np.int64(0)
    for s in range(many):
        v = np.int64(sources[first + s])
        known = np.uint64(0)
        for j in range(words):
            known |= pairs[(2 * v + 1) * words + j]
        if known == 0:
            queue[count] = v
            count += 1
        pairs[(2 * v + 1) * words + s // 64] |= np.uint64(1) << np.uint64(s % 64)
    return count


@helper
def push_1(low, high, indices, front, pairs, u, queue, count):
    """Pass a vertex' searches on to its neighbours; return how many are queued."""
    mine = front[u]
    for e in range(low, high):
        w = np.int64(indices[e])
        fresh = mine & ~pairs[2 * w]
        old = pairs[2 * w + 1]
        pairs[2 * w + 1] = old | fresh
        # Without branches, which nobody could foretell.
        queue[count] = w
        count += np.int64((old == 0) & (fresh != 0))
    return count


@helper
def push_2(low, high, indices, front, pairs, u, queue, count):
    """Do as `push_1` with 128 searches."""
    f0 = front[2 * u]
    f1 = front[2 * u + 1]
    for e in range(low, high):
        w = np.int64(indices[e])
        x0 = f0 & ~pairs[4 * w]
        x1 = f1 & ~pairs[4 * w + 1]
        y0 = pairs[4 * w + 2]
        y1 = pairs[4 * w + 3]
        pairs[4 * w + 2] = y0 | x0
        pairs[4 * w + 3] = y1 | x1
        queue[count] = w
        count += np.int64(((y0 | y1) == 0) & ((x0 | x1) != 0))
    return count


@helper
def push_4(low, high, indices, front, pairs, u, queue, count):
    """Do as `push_1` with 256 searches."""
    f0 = front[4 * u]
    f1 = front[4 * u + 1]
    f2 = front[4 * u + 2]
    f3 = front[4 * u + 3]
    for e in range(low, high):
        w = np.int64(indices[e])
        x0 = f0 & ~pairs[8 * w]
        x1 = f1 & ~pairs[8 * w + 1]
        x2 = f2 & ~pairs[8 * w + 2]
        x3 = f3 & ~pairs[8 * w + 3]
        y0 = pairs[8 * w + 4]
        y1 = pairs[8 * w + 5]
        y2 = pairs[8 * w + 6]
        y3 = pairs[8 * w + 7]
        pairs[8 * w + 4] = y0 | x0
        pairs[8 * w + 5] = y1 | x1
        pairs[8 * w + 6] = y2 | x2
        pairs[8 * w + 7] = y3 | x3
        queue[count] = w
        count += np.int64(((y0 | y1 | y2 | y3) == 0) & ((x0 | x1 | x2 | x3) != 0))
    return count


@helper
def push(indptr, indices, front, pairs, words, queue, here, ready, there):
    """Push from the vertices queued from `here` on; return how many are queued from `there` on."""
    end = there
    for i in range(here, here + ready):
        u = np.int64(queue[i])
        low = np.int64(indptr[u])
        high = np.int64(indptr[u + 1])
        if words == 1:
            end = push_1(low, high, indices, front, pairs, u, queue, end)
        elif words == 2:
            end = push_2(low, high, indices, front, pairs, u, queue, end)
        else:
            end = push_4(low, high, indices, front, pairs, u, queue, end)
    return end - there


@helper
def pull_1(low, high, indices, front, pairs, v, alive):
    """Gather the searches that a vertex misses; return the entries looked at, and if one came."""
    wanted = ~pairs[2 * v] & alive[0]
    left = wanted
    at = low
    while at < high and left != 0:
        left &= ~front[np.int64(indices[at])]
        at += 1
    pairs[2 * v + 1] = wanted ^ left
    return at - low, left != wanted


@helper
def pull_2(low, high, indices, front, pairs, v, alive):
    """Do as `pull_1` with 128 searches."""
    w0 = ~pairs[4 * v] & alive[0]
    w1 = ~pairs[4 * v + 1] & alive[1]
    x0 = w0
    x1 = w1
    at = low
    while at < high and (x0 | x1) != 0:
        u = np.int64(indices[at])
        x0 &= ~front[2 * u]
        x1 &= ~front[2 * u + 1]
        at += 1
    pairs[4 * v + 2] = w0 ^ x0
    pairs[4 * v + 3] = w1 ^ x1
    return at - low, x0 != w0 or x1 != w1


@helper
def pull_4(low, high, indices, front, pairs, v, alive):
    """Do as `pull_1` with 256 searches."""
    w0 = ~pairs[8 * v] & alive[0]
    w1 = ~pairs[8 * v + 1] & alive[1]
    w2 = ~pairs[8 * v + 2] & alive[2]
    w3 = ~pairs[8 * v + 3] & alive[3]
    x0 = w0
    x1 = w1
    x2 = w2
    x3 = w3
    at = low
    while at < high and (x0 | x1 | x2 | x3) != 0:
        u = np.int64(indices[at])
        x0 &= ~front[4 * u]
        x1 &= ~front[4 * u + 1]
        x2 &= ~front[4 * u + 2]
        x3 &= ~front[4 * u + 3]
        at += 1
    pairs[8 * v + 4] = w0 ^ x0
    pairs[8 * v + 5] = w1 ^ x1
    pairs[8 * v + 6] = w2 ^ x2
    pairs[8 * v + 7] = w3 ^ x3
    return at - low, x0 != w0 or x1 != w1 or x2 != w2 or x3 != w3


@helper
def pull(indptr, indices, front, pairs, words, queue, there, alive):
    """Pull what is alive into every vertex; return how many are queued, and entries looked at."""
    end = there
    looked = np.int64(0)
    for v in range(len(indptr) - 1):
        low = np.int64(indptr[v])
        high = np.int64(indptr[v + 1])
        if words == 1:
            read, came = pull_1(low, high, indices, front, pairs, v, alive)
        elif words == 2:
            read, came = pull_2(low, high, indices, front, pairs, v, alive)
        else:
            read, came = pull_4(low, high, indices, front, pairs, v, alive)
        looked += read
        queue[end] = v
        end += np.int64(came)
    return end - there, looked


@helper
def record(x, level, at, depth):
    """Write the level of each search of a word."""
    while x != 0:
        level[at + bits_in(~x & (x - np.uint64(1)))] = depth
        x &= x - np.uint64(1)


@helper
def settle_some(
    indptr, in_indptr, front, pairs, words, queue, there, ready, depth, kind, level, at, many, sums,
    alive,
):  # fmt: skip
    """Make what was found the frontier; return its edges, and those that nobody will pull along."""
    edges = np.int64(0)
    done = np.int64(0)
    for i in range(there, there + ready):
        v = np.int64(queue[i])
        missed = np.uint64(0)
        for j in range(words):
            x = pairs[(2 * v + 1) * words + j]
            known = pairs[2 * v * words + j] | x
            pairs[2 * v * words + j] = known
            pairs[(2 * v + 1) * words + j] = 0
            front[words * v + j] = x
            missed |= ~known
            alive[j] |= x
            if kind == 1:
                record(x, level, at + many * v + 64 * j, depth)
            elif kind == 2:
                came = bits_in(x)
                sums[2 * v] += came
                sums[2 * v + 1] += came * depth
        edges += np.int64(indptr[v + 1]) - np.int64(indptr[v])
        if missed == 0:
            done += np.int64(in_indptr[v + 1]) - np.int64(in_indptr[v])
    return edges, done


@helper
def settle_level(
    indptr, in_indptr, front, pairs, words, queue, there, ready, depth, kind, level, at, many, sums,
    alive, far, first,
):  # fmt: skip
    """Settle what a level found, and note whose last level it may be; return as `settle_some`."""
    for j in range(words):
        alive[j] = 0
    if words == 1:
        edges, done = settle_some(
            indptr, in_indptr, front, pairs, 1, queue, there, ready, depth, kind, level, at, many,
            sums, alive,
        )  # fmt: skip
    else:
        edges, done = settle_some(
            indptr, in_indptr, front, pairs, words, queue, there, ready, depth, kind, level, at,
            many, sums, alive,
        )  # fmt: skip
    for j in range(words):
        record(alive[j], far, first + 64 * j, depth)
    return edges, done


@helper
def walk_from(indptr, indices, source, limit, level, at, n, queue):
    """Search from one vertex; return its last level, and whether more of them are missing."""
    for v in range(n):
        level[at + v] = limit + 1
    level[at + source] = 0
    queue[0] = source
    begin = np.int64(0)
    end = np.int64(1)
    depth = np.int64(0)
    while begin < end and depth < limit:
        depth += 1
        stop = end
        for i in range(begin, stop):
            u = np.int64(queue[i])
            for e in range(indptr[u], indptr[u + 1]):
                w = np.int64(indices[e])
                old = np.int64(level[at + w])
                level[at + w] = min(old, depth)
                queue[end] = w
                end += np.int64(old > depth)
        begin = stop
    # The last round may have found nothing.
    return depth - np.int64(begin == end), begin < end


@kernel
def expand(
    low, high, indptr, indices, in_indptr, in_indices,
    rows, num_rows, columns, num_columns,  # noqa: ARG001 - GPUs alone
    sources, n, k, width, words, kind, limit, level, counts, far, state,
    seen, fresh, sets,  # noqa: ARG001 - GPUs alone
    pairs, front, queue, sums, alive,
):  # fmt: skip
    """Search from blocks of sources."""
    for block in range(low, high):
        first = width * block
        many = min(width, k - first)
        clear(pairs, front, n, words, many)
        here = np.int64(0)
        ready = seed(sources, first, many, words, pairs, queue)
        depth = np.int64(0)
        left = np.int64(len(in_indices))
        share = 0.25
        while True:
            edges, done = settle_level(
                indptr, in_indptr, front, pairs, words, queue, here, ready, depth,
                0 if kind == 2 and depth == 0 else kind, level, first * n, many, sums, alive, far,
                first,
            )  # fmt: skip
            left -= done
            if ready == 0:
                break
            if depth == limit:
                atomic_max(state, 1, 1)
                break
            depth += 1
            there = n + 1 - here
            # A push changes what a pull only reads, which costs about twice as much an entry.
            if np.float64(edges) > np.float64(left) * share * 0.5 + np.float64(n) * 0.25:
                found, looked = pull(
                    in_indptr, in_indices, front, pairs, words, queue, there, alive
                )
                share = np.float64(looked) / np.float64(left + 1)
            else:
                found = push(indptr, indices, front, pairs, words, queue, here, ready, there)
            for i in range(here, here + ready):
                u = np.int64(queue[i])
                for j in range(words):
                    front[words * u + j] = 0
            here = there
            ready = found
    if kind == 2:
        for i in range(2 * n):
            if sums[i] != 0:
                atomic_add(counts, i, sums[i])


@kernel
def decide(
    low, high,
    indptr, indices, in_indptr, in_indices, rows, num_rows, columns, num_columns,  # noqa: ARG001
    sources, n, k, width, words, kind, limit, level, counts, far, state,  # noqa: ARG001
    seen, fresh, sets,  # noqa: ARG001
):  # fmt: skip
    """End the loop, which has one round on hosts."""
    for _ in range(low, high):
        state[0] = 1


@kernel
def walk(
    low, high, indptr, indices, sources, kind, limit, level, counts, far, state, row, sums, queue
):
    """Search from sources one by one, each along a queue; rows of `level` if that is kept."""
    n = len(indptr) - 1
    for s in range(low, high):
        at = n * s if kind == 1 else np.int64(0)
        if kind == 1:
            depth, over = walk_from(indptr, indices, sources[s], limit, level, at, n, queue)
        else:
            depth, over = walk_from(indptr, indices, sources[s], limit, row, at, n, queue)
            for v in range(n):
                if kind == 2 and row[v] <= limit:
                    sums[2 * v] += np.int64(row[v] > 0)
                    sums[2 * v + 1] += row[v]
        far[s] = depth
        if over:
            atomic_max(state, 1, 1)
    if kind == 2:
        for i in range(2 * n):
            if sums[i] != 0:
                atomic_add(counts, i, sums[i])


@kernel
def count_levels(low, high, level, n, k, width, limit, tile, tiles, counts):
    """Count the levels of each source in a tile of vertices."""
    for t in range(low, high):
        for s in range(k):
            first = s // width * width
            step = min(width, k - first)
            count = np.int64(0)
            for v in range(t * tile, min(t * tile + tile, n)):
                count += np.int64(level[first * n + v * step + s - first] <= limit)
            counts[s * tiles + t] = count


@kernel
def list_levels(low, high, level, n, k, width, limit, tile, tiles, ends, indices, values):
    """List the levels of each source in a tile of vertices, which are counted in `ends`."""
    for t in range(low, high):
        for s in range(k):
            first = s // width * width
            step = min(width, k - first)
            begin = t * tile
            end = min(begin + tile, n)
            place = np.int64(0)
            if s + t > 0:
                place = ends[s * tiles + t - 1]
            at = first * n + s - first
            if ends[s * tiles + t] - place == end - begin:
                # All are there: no place depends on another one.
                for v in range(begin, end):
                    indices[place + v - begin] = v
                    values[place + v - begin] = level[at + v * step]
            else:
                for v in range(begin, end):
                    if level[at + v * step] <= limit:
                        indices[place] = v
                        values[place] = level[at + v * step]
                        place += 1
