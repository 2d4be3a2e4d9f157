"""Label propagation, for vertices in a list: what they want, who moves, and who is next."""

from __future__ import annotations

from typing import Any

import numpy as np

from semira.kernels import helper, kernel, philox


@helper
def winner(used: Any, first: Any, distinct: Any, counts: Any, at: Any, most: Any, i: Any, tie: Any):
    """Return the label that was counted most; of several the one with the greatest number."""
    best = np.int64(-1)
    best_draw = np.uint64(0)
    is_drawn = False
    for k in range(first, first + distinct):
        key = np.int64(used[k])
        if counts[at + key] != most:
            continue
        if best < 0:
            best = key
            continue
        if not is_drawn:
            best_draw = philox(best, i, 0, tie, 0)
            is_drawn = True
        mine = philox(key, i, 0, tie, 0)
        if mine > best_draw or (mine == best_draw and key < best):
            best = key
            best_draw = mine
    return best


@kernel
def vote(
    low: Any, high: Any, blocks: Any, count: Any, active: Any, indptr: Any, indices: Any,
    label: Any, tie: Any, turn: Any, longest: Any, best: Any, draw: Any, counts: Any, used: Any,
) -> None:  # fmt: skip
    """Write the label that each active vertex wants, or -1, and a number of those that want one.

    A block takes 256 vertices in turn; `counts`, which is 0 between vertices, and `used` have room
    for each block.
    """
    n = np.int64(len(label))
    for block in range(low, high):
        at = n * block
        first = np.int64(longest) * block
        begin = np.int64(256) * block
        while begin < count:
            for k in range(begin, min(begin + 256, count)):
                i = np.int64(active[k])
                distinct = np.int64(0)
                most = np.int64(0)
                for p in range(indptr[i], indptr[i + 1]):
                    key = np.int64(label[indices[p]])
                    found = np.int64(counts[at + key]) + 1
                    counts[at + key] = found
                    most = max(most, found)
                    used[first + distinct] = key
                    distinct += np.int64(found == 1)
                best[i] = -1
                if distinct > 0 and counts[at + np.int64(label[i])] != most:
                    best[i] = winner(used, first, distinct, counts, at, most, i, tie)
                    bits = philox(np.int64(best[i]), i, 0, turn, 0)
                    draw[i] = np.float64(bits >> np.uint64(11)) * 1.1102230246251565e-16
                for d in range(first, first + distinct):
                    counts[at + np.int64(used[d])] = 0
            begin += 256 * blocks


@kernel
def wait(
    low: Any, high: Any, active: Any, indptr: Any, indices: Any, share: Any, best: Any, draw: Any,
    waits: Any,
) -> None:  # fmt: skip
    """Let a vertex wait with a number of the share or more, and less than a neighbour's."""
    for k in range(low, high):
        i = np.int64(active[k])
        waits[k] = False
        if best[i] >= 0 and draw[i] >= share:
            for p in range(indptr[i], indptr[i + 1]):
                u = np.int64(indices[p])
                if best[u] >= 0 and draw[u] > draw[i]:
                    waits[k] = True
                    break


@kernel
def move(
    low: Any, high: Any, count: Any, turn: Any, active: Any, indptr: Any, indices: Any, best: Any,
    waits: Any, label: Any, seen: Any, after: Any, state: Any,
) -> None:  # fmt: skip
    """Move those that do not wait, and list those that wanted to and the neighbours of the moved.

    `seen` has the turn in which a vertex was last listed. In `state` are the vertices that wanted
    to move, those that are listed, and their edges.
    """
    for _ in range(low, high):
        wanted = np.int64(0)
        end = np.int64(0)
        for k in range(count):
            i = np.int64(active[k])
            if best[i] < 0:
                continue
            wanted += 1
            after[end] = i
            end += np.int64(seen[i] != turn)
            seen[i] = turn
            if not waits[k]:
                label[i] = best[i]
                for p in range(indptr[i], indptr[i + 1]):
                    u = np.int64(indices[p])
                    after[end] = u
                    end += np.int64(seen[u] != turn)
                    seen[u] = turn
        edges = np.int64(0)
        for k in range(end):
            i = np.int64(after[k])
            edges += np.int64(indptr[i + 1]) - np.int64(indptr[i])
        state[0] = wanted
        state[1] = end
        state[2] = edges
