"""Label propagation, for vertices in a list: what they want, who moves, and who is next."""

import numpy as np

from semira.kernels import helper, kernel, philox, prefetch


@helper
def gather_labels(begin, stop, active, indptr, indices, label, keys, at):
    """Write the labels of the neighbours of active vertices; return where the next one begins.

    Nothing else depends on these reads, so that many are under way at once.
    """
    end = np.int64(at)
    k = np.int64(begin)
    breaks = np.int64(0)
    for each in range(k + 1, np.int64(stop)):
        breaks += np.int64(active[each] != active[each - 1] + 1)
    low = np.uint64(indptr[np.int64(active[k])])
    high = np.uint64(indptr[np.int64(active[np.int64(stop) - 1]) + 1])
    if breaks == 0 and high - low <= np.uint64(2048):
        # Rows that lie one after the other.
        for p in range(low, high):
            keys[np.int64(at) + np.int64(p - low)] = label[np.uint64(indices[p])]
        return np.int64(stop)
    while k < stop and end < at + 2048:
        i = np.int64(active[k])
        for p in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            keys[end] = label[np.uint64(indices[p])]
            end += 1
        k += 1
    return k


@helper
def list_neighbours(
    begin, stop, at, active, indptr, indices, draw, margin, used, owners, wants
):  # fmt: skip
    """Do for vertices what `count_labels` does where each is its own label: all are candidates.

    Return where the next one begins too.
    """
    free = np.int64(at)
    wanting = np.int64(at)
    k = np.int64(begin)
    while k < stop and free < at + 2048:
        i = np.int64(active[k])
        k += 1
        begun = free
        for p in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            used[free] = indices[p]
            owners[free] = i
            free += 1
        wants[wanting] = i
        wants[wanting + 1] = free
        wanting += 2 * np.int64(free > begun)
        margin[i] = np.int64(-(1 << 30)) if free > begun else np.int64(0)
        draw[i] = -1.0
    return k, (wanting - np.int64(at)) // 2


@helper
def count_labels(
    begin, stop, at, first, lists, indptr, label, draw, margin, counts, keys, used, owners, wants
):
    """Count the labels in `keys`; return how many vertices want another one.

    These are in `wants`, each followed by where its candidates end: `used` has their labels, the
    most frequent ones, and `owners` the vertex of each.
    """
    q = np.int64(first)
    free = np.int64(first)
    wanting = np.int64(first)
    for place in range(np.int64(begin), np.int64(stop)):
        i = np.int64(lists[place])
        end = q + np.int64(indptr[i + 1]) - np.int64(indptr[i])
        distinct = free
        most = np.int64(0)
        while q < end:
            prefetch(counts, at + np.int64(keys[q + 16]))
            key = np.int64(keys[q])
            found = np.int64(counts[at + key]) + 1
            counts[at + key] = found
            most = max(most, found)
            used[distinct] = key
            distinct += np.int64(found == 1)
            q += 1
        own = np.int64(label[i])
        mine = np.int64(counts[at + own])
        if mine != most:
            start = free
            for d in range(start, distinct):
                key = np.int64(used[d])
                used[free] = key
                owners[free] = i
                free += np.int64(counts[at + key] == most)
                counts[at + key] = 0
            wants[wanting] = i
            wants[wanting + 1] = free
            wanting += 2
            margin[i] = -(1 << 30)
        else:
            counts[at + own] = 0
            others = np.int64(0)
            for d in range(free, distinct):
                key = np.int64(used[d])
                others = max(others, np.int64(counts[at + key]))
                counts[at + key] = 0
            margin[i] = mine - others
            draw[i] = -1.0
    return (wanting - np.int64(first)) // 2


@helper
def choose(first, wanting, tie, turn, best, draw, used, owners, wants, draws):
    """Write which candidate each vertex wants, that with the greatest number, and draw one for it.

    Of equal numbers that of the smallest label is the greatest.
    """
    base = np.int64(first)
    free = base
    if wanting > 0:
        free = np.int64(wants[base + 2 * np.int64(wanting) - 1])
    # All at once: several numbers are computed together.
    for c in range(base, free):
        draws[c] = philox(np.int64(used[c]), np.int64(owners[c]), 0, tie, 0)
    c = base
    for w in range(np.int64(wanting)):
        end = np.int64(wants[base + 2 * w + 1])
        wanted = np.int64(used[c])
        most = draws[c]
        c += 1
        while c < end:
            key = np.int64(used[c])
            is_better = (draws[c] > most) | ((draws[c] == most) & (key < wanted))
            wanted = key if is_better else wanted
            most = draws[c] if is_better else most
            c += 1
        i = np.int64(wants[base + 2 * w])
        best[i] = wanted
        used[base + w] = wanted
        owners[base + w] = i
    for c in range(base, base + np.int64(wanting)):
        draws[c] = philox(np.int64(used[c]), np.int64(owners[c]), 0, turn, 0) >> np.uint64(11)
    for c in range(base, base + np.int64(wanting)):
        draw[np.int64(owners[c])] = np.float64(draws[c]) * 1.1102230246251565e-16


@helper
def vote_part(
    is_first, block, blocks, begin, count, lists, indptr, indices, label, tie, turn, room, best,
    draw, margin, counts, keys, used, owners, wants, draws,
):  # fmt: skip
    """Vote for each 256 vertices of a list, in turn with other blocks; see `vote`."""
    at = np.int64(len(label)) * block
    first = np.int64(room) * block
    last = np.int64(begin) + count
    low = np.int64(begin) + 256 * block
    while low < last:
        stop = min(low + 256, last)
        k = np.int64(low)
        while k < stop:
            if is_first:
                after, wanting = list_neighbours(
                    k, stop, first, lists, indptr, indices, draw, margin, used, owners, wants
                )
            else:
                after = gather_labels(k, stop, lists, indptr, indices, label, keys, first)
                wanting = count_labels(
                    k, after, at, first, lists, indptr, label, draw, margin, counts, keys, used,
                    owners, wants,
                )  # fmt: skip
            choose(first, wanting, tie, turn, best, draw, used, owners, wants, draws)
            k = after
        low += 256 * np.int64(blocks)


@helper
def wait_part(begin, stop, lists, indptr, indices, share, draw, waits):
    """Let a vertex wait with a number of the share or more, and less than a neighbour's."""
    for k in range(np.int64(begin), np.int64(stop)):
        i = np.int64(lists[k])
        waits[i] = False
        if draw[i] >= share:
            for p in range(indptr[i], indptr[i + 1]):
                if draw[np.int64(indices[p])] > draw[i]:
                    waits[i] = True
                    break


@helper
def tell_neighbours(i, old, new, end, lists, indptr, indices, label, margin):
    """Lower the lead of labels of neighbours; list those who lost it, and return the list's end.

    Nothing makes the margin of a vertex that is listed 0 again.
    """
    for p in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
        u = np.uint64(indices[p])
        own = np.int64(label[u])
        before = np.int64(margin[u])
        left = before - np.int64(own == old) + 2 * np.int64(own == new) - 1
        is_new = np.int64(before >= 0) & np.int64(left < 0)
        margin[u] = left - (is_new << 30)
        lists[end] = u
        end += is_new
    return end


@helper
def move_all(begin, count, lists, after, indptr, indices, best, draw, waits, label, margin, state):
    """Move those that do not wait, and list from `after` on who may want to move then.

    These are those that wanted to, and their neighbours whose label no longer leads by enough
    neighbours to be kept whatever those that moved have now; if most vertices wanted to, all.
    """
    n = np.int64(len(label))
    first = np.int64(begin)
    movers = first
    end = np.int64(after)
    for k in range(first, first + np.int64(count)):
        i = np.int64(lists[k])
        is_wanting = np.int64(draw[i] >= 0.0)
        lists[end] = i
        end += is_wanting
        lists[movers] = i
        movers += is_wanting & np.int64(waits[i] == 0)
    wanted = end - np.int64(after)
    state[0] = wanted
    if 4 * wanted > 3 * n:
        for k in range(first, movers):
            i = np.int64(lists[k])
            label[i] = best[i]
        for i in range(n):
            lists[after + i] = i
            margin[i] = -(1 << 30)
        state[1] = n
        state[2] = len(indices)
    else:
        for k in range(first, movers):
            i = np.int64(lists[k])
            old = np.int64(label[i])
            new = np.int64(best[i])
            label[i] = new
            end = tell_neighbours(i, old, new, end, lists, indptr, indices, label, margin)
        edges = np.int64(0)
        for k in range(np.int64(after), end):
            i = np.int64(lists[k])
            edges += np.int64(indptr[i + 1]) - np.int64(indptr[i])
        state[1] = end - np.int64(after)
        state[2] = edges


@kernel
def vote(
    low, high, is_first, blocks, begin, count, lists, indptr, indices, label, tie, turn, room, best,
    draw, margin, counts, keys, used, owners, wants, draws,
):  # fmt: skip
    """Write the label that each active vertex wants, and a number of those that want one.

    That number is -1 if its own label is among the most frequent ones: `margin` is by how many
    neighbours it then leads. In the first iteration each vertex is its own label. A block takes 256
    vertices in turn; `counts`, which is 0 between vertices, has a place for each vertex and block;
    what is behind has `room` for each block.
    """
    for block in range(low, high):
        vote_part(
            is_first, block, blocks, begin, count, lists, indptr, indices, label, tie, turn, room,
            best, draw, margin, counts, keys, used, owners, wants, draws,
        )  # fmt: skip


@kernel
def wait(low, high, begin, lists, indptr, indices, share, draw, waits):
    """Let vertices wait, so that neighbours do not swap labels for ever."""
    at = np.int64(begin)
    wait_part(at + low, at + high, lists, indptr, indices, share, draw, waits)


@kernel
def move(
    low, high, begin, count, lists, after, indptr, indices, best, draw, waits, label, margin, state
):
    """Move, and list who may want to next.

    In `state` are the vertices that wanted to move, those that are listed, and their edges.
    """
    for _ in range(low, high):
        move_all(
            begin, count, lists, after, indptr, indices, best, draw, waits, label, margin, state,
        )  # fmt: skip


@kernel
def settle_few(
    low, high, limit, few, most, shares, lists, indptr, indices, label, tie, turn, room, best, draw,
    margin, counts, keys, used, owners, wants, draws, waits, state,
):  # fmt: skip
    """Run iterations by one thread, until one has more than `most` edges or it took long.

    ``state[3]`` is the iteration, ``state[4]`` where its list begins.
    """
    half = np.int64(len(lists)) // 2
    for _ in range(low, high):
        done = np.int64(0)
        while state[0] > few and state[3] < limit and state[2] <= most and done < (1 << 24):
            at = np.int64(state[4])
            count = np.int64(state[1])
            now = np.int64(state[3])
            done += np.int64(state[2]) + count
            vote_part(
                now == 0, 0, 1, at, count, lists, indptr, indices, label, tie + now, turn + now,
                room, best, draw, margin, counts, keys, used, owners, wants, draws,
            )  # fmt: skip
            share = 0.0
            if now < len(shares):
                share = shares[now]
            wait_part(at, at + count, lists, indptr, indices, share, draw, waits)
            move_all(
                at, count, lists, half - at, indptr, indices, best, draw, waits, label, margin,
                state,
            )  # fmt: skip
            state[3] = now + 1
            state[4] = half - at
