"""Label propagation, for vertices in a list: what they want, who moves, and who is next."""

from __future__ import annotations

from typing import Any

import numpy as np

from semira.kernels import helper, kernel, philox, prefetch


@helper
def gather_labels(
    begin: Any, stop: Any, active: Any, indptr: Any, indices: Any, label: Any, keys: Any, at: Any
):
    """Write the labels of the neighbours of active vertices; return where the next one begins.

    Nothing else depends on these reads, so that many are under way at once.
    """
    end = np.int64(at)
    k = np.int64(begin)
    while k < stop and end < at + 2048:
        i = np.int64(active[k])
        for p in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            keys[end] = label[np.uint64(indices[p])]
            end += 1
        k += 1
    return k


@helper
def winner(draws: Any, used: Any, first: Any, tied: Any, i: Any, tie: Any):
    """Return the label with the greatest number, of several the smallest label."""
    for k in range(first, first + tied):
        draws[k] = philox(np.int64(used[k]), i, 0, tie, 0)
    best = np.int64(used[first])
    most = draws[first]
    for k in range(first + 1, first + tied):
        key = np.int64(used[k])
        if draws[k] > most or (draws[k] == most and key < best):
            best = key
            most = draws[k]
    return best


@helper
def vote_part(
    block: Any, blocks: Any, begin: Any, count: Any, lists: Any, indptr: Any, indices: Any,
    label: Any, tie: Any, turn: Any, room: Any, best: Any, draw: Any, margin: Any, counts: Any,
    keys: Any, used: Any, draws: Any,
) -> None:  # fmt: skip
    """Vote for each 256 vertices of a list, in turn with other blocks; see `vote`."""
    at = np.int64(len(label)) * block
    first = np.int64(room) * block
    last = np.int64(begin) + count
    low = np.int64(begin) + 256 * block
    while low < last:
        stop = min(low + 256, last)
        k = np.int64(low)
        while k < stop:
            after = gather_labels(k, stop, lists, indptr, indices, label, keys, first)
            q = np.int64(first)
            while k < after:
                i = np.int64(lists[k])
                end = q + np.int64(indptr[i + 1]) - np.int64(indptr[i])
                distinct = np.int64(first)
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
                    tied = np.int64(first)
                    for d in range(first, distinct):
                        key = np.int64(used[d])
                        used[tied] = key
                        tied += np.int64(counts[at + key] == most)
                        counts[at + key] = 0
                    wanted = np.int64(used[first])
                    if tied > first + 1:
                        wanted = winner(draws, used, first, tied - first, i, tie)
                    best[i] = wanted
                    bits = philox(wanted, i, 0, turn, 0)
                    draw[i] = np.float64(bits >> np.uint64(11)) * 1.1102230246251565e-16
                    margin[i] = -(1 << 30)
                else:
                    counts[at + own] = 0
                    others = np.int64(0)
                    for d in range(first, distinct):
                        key = np.int64(used[d])
                        others = max(others, np.int64(counts[at + key]))
                        counts[at + key] = 0
                    best[i] = -1
                    margin[i] = mine - others
                k += 1
        low += 256 * np.int64(blocks)


@helper
def wait_part(
    begin: Any, stop: Any, lists: Any, indptr: Any, indices: Any, share: Any, best: Any, draw: Any,
    waits: Any,
) -> None:  # fmt: skip
    """Let a vertex wait with a number of the share or more, and less than a neighbour's."""
    for k in range(np.int64(begin), np.int64(stop)):
        i = np.int64(lists[k])
        waits[i] = False
        if best[i] >= 0 and draw[i] >= share:
            for p in range(indptr[i], indptr[i + 1]):
                u = np.int64(indices[p])
                if best[u] >= 0 and draw[u] > draw[i]:
                    waits[i] = True
                    break


@helper
def move_all(
    begin: Any, count: Any, lists: Any, after: Any, indptr: Any, indices: Any, best: Any,
    waits: Any, label: Any, margin: Any, state: Any,
) -> None:  # fmt: skip
    """Move those that do not wait, and list from `after` on who may want to move then.

    These are those that wanted to, and their neighbours whose label no longer leads by enough
    neighbours to be kept whatever those that moved have now. Who is listed has a margin that
    nothing makes 0 again.
    """
    first = np.int64(begin)
    movers = first
    end = np.int64(after)
    for k in range(first, first + np.int64(count)):
        i = np.int64(lists[k])
        is_wanting = np.int64(best[i] >= 0)
        lists[end] = i
        end += is_wanting
        lists[movers] = i
        movers += is_wanting & np.int64(waits[i] == 0)
    state[0] = end - np.int64(after)
    for k in range(first, movers):
        i = np.int64(lists[k])
        old = np.int64(label[i])
        new = np.int64(best[i])
        label[i] = new
        for p in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            u = np.uint64(indices[p])
            own = np.int64(label[u])
            before = np.int64(margin[u])
            left = before - np.int64(own == old) + 2 * np.int64(own == new) - 1
            is_new = np.int64(before >= 0) & np.int64(left < 0)
            margin[u] = left - (is_new << 30)
            lists[end] = u
            end += is_new
    edges = np.int64(0)
    for k in range(np.int64(after), end):
        i = np.int64(lists[k])
        edges += np.int64(indptr[i + 1]) - np.int64(indptr[i])
    state[1] = end - np.int64(after)
    state[2] = edges


@kernel
def vote(
    low: Any, high: Any, blocks: Any, begin: Any, count: Any, lists: Any, indptr: Any,
    indices: Any, label: Any, tie: Any, turn: Any, room: Any, best: Any, draw: Any, margin: Any,
    counts: Any, keys: Any, used: Any, draws: Any,
) -> None:  # fmt: skip
    """Write the label that each active vertex wants, and a number of those that want one.

    That is -1 if its own label is among the most frequent ones: `margin` is by how many neighbours
    it then leads. A block takes 256 vertices in turn; `counts`, which is 0 between vertices, has
    a place for each vertex and block; `keys`, `used` and `draws` have `room` for each block.
    """
    for block in range(low, high):
        vote_part(
            block, blocks, begin, count, lists, indptr, indices, label, tie, turn, room, best,
            draw, margin, counts, keys, used, draws,
        )  # fmt: skip


@kernel
def wait(
    low: Any, high: Any, begin: Any, lists: Any, indptr: Any, indices: Any, share: Any, best: Any,
    draw: Any, waits: Any,
) -> None:  # fmt: skip
    """Let vertices wait, so that neighbours do not swap labels for ever."""
    at = np.int64(begin)
    wait_part(at + low, at + high, lists, indptr, indices, share, best, draw, waits)


@kernel
def move(
    low: Any, high: Any, begin: Any, count: Any, lists: Any, after: Any, indptr: Any,
    indices: Any, best: Any, waits: Any, label: Any, margin: Any, state: Any,
) -> None:  # fmt: skip
    """Move, and list who may want to next.

    In `state` are the vertices that wanted to move, those that are listed, and their edges.
    """
    for _ in range(low, high):
        move_all(
            begin, count, lists, after, indptr, indices, best, waits, label, margin, state
        )  # fmt: skip


@kernel
def settle_few(
    low: Any, high: Any, limit: Any, few: Any, most: Any, shares: Any, lists: Any, indptr: Any,
    indices: Any, label: Any, tie: Any, turn: Any, room: Any, best: Any, draw: Any, margin: Any,
    counts: Any, keys: Any, used: Any, draws: Any, waits: Any, state: Any,
) -> None:  # fmt: skip
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
                0, 1, at, count, lists, indptr, indices, label, tie + now, turn + now, room, best,
                draw, margin, counts, keys, used, draws,
            )  # fmt: skip
            share = 0.0
            if now < len(shares):
                share = shares[now]
            wait_part(at, at + count, lists, indptr, indices, share, best, draw, waits)
            move_all(
                at, count, lists, half - at, indptr, indices, best, waits, label, margin, state
            )  # fmt: skip
            state[3] = now + 1
            state[4] = half - at
