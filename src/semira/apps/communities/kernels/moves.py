"""Local moves: the best community of each vertex, and the moves themselves.

All vertices of a round look at the same labels and totals, then all move. Half of the vertices take
part in a round, the other half in the next one: by bits of a random number of each vertex.
"""

import numpy as np

from semira.kernels import atomic_add, helper, kernel, philox


@kernel
def begin_moves(
    low, high, seed, number, alone, few, most, delay, strengths, strengths_in, is_directed, labels,
    totals, totals_in, ranks, active, targets, state,
):  # fmt: skip
    """Draw 32 bits for each vertex, and fill the state and the arrays that moves work in.

    Vertices are put into communities of their own if `alone`; else totals are 0 at first.
    """
    for v in range(low, high):
        ranks[v] = np.uint32(philox(number, v, 0, seed, 0) >> np.uint64(32))
        active[v] = 1
        targets[v] = -1
        totals[v] = 0
        if is_directed:
            totals_in[v] = 0
        if alone:
            labels[v] = v
            totals[v] = strengths[v]
            if is_directed:
                totals_in[v] = strengths_in[v]
        if v == 0:
            for k in range(9):
                state[k] = 0
            state[4] = few
            state[5] = most
            state[7] = delay
            state[8] = alone


@helper
def slot_of(keys, label, used):
    """Return the place of a label in a table, or the free one where it belongs."""
    slot = ((label * 2654435769) >> 8) & (used - 1)
    while keys[slot] != -1 and keys[slot] != label:
        slot = (slot + 1) & (used - 1)
    return slot


@helper
def gain(weight, total, total_in, share, share_in, is_directed):
    """Return weights less those expected; every operation is rounded by itself."""
    if is_directed:
        least = np.float64(weight) - np.float64(total_in) * share
        return least - np.float64(total) * share_in
    return np.float64(weight) - np.float64(total) * share


@kernel
def choose(
    low, high, indptr, indices, weights, is_iso, labels, totals, strengths, totals_in, strengths_in,
    is_directed, pull, ranks, state, active, targets, queue, keys,  # noqa: ARG001 - hosts leave no rows
    sums,
):  # fmt: skip
    """Find the community that each vertex of the round gains most from; -1: it stays.

    The gain of community c is ``W(v, c) - K(c) k(v) pull``, without v itself: W are the weights
    between v and c, k and K strengths of vertices and communities. The own community wins ties,
    then the smallest. Directed graphs have strengths of edges out and in.
    """
    turn = state[1]
    bit = (turn >> 1) % 32
    for v in range(low, high):
        targets[v] = -1
        if active[v] == 0 or (np.int64(ranks[v]) >> bit) & 1 != turn & 1:
            continue
        first = indptr[v]
        last = indptr[v + 1]
        if turn < state[7] and last - first > 1024:
            # The neighbours of hubs are in fewer communities later.
            continue
        active[v] = 0
        own = np.int64(labels[v])
        used = 2
        while used < 2 * (last - first):
            used *= 2
        within = np.int64(0)
        for p in range(first, last):
            u = indices[p]
            if u == v:
                continue
            weight = np.int64(weights[0 if is_iso else p])
            label = np.int64(labels[u])
            if label == own:
                within += weight
                continue
            slot = slot_of(keys, label, used)
            keys[slot] = label
            sums[slot] += weight
        strength = np.int64(strengths[v])
        share = np.float64(strength) * pull
        # Those of edges in are the same arrays unless directed.
        inwards = np.int64(strengths_in[v])
        share_in = np.float64(inwards) * pull
        rest = np.int64(totals[own]) - strength
        rest_in = np.int64(totals_in[own]) - inwards
        most = gain(within, rest, rest_in, share, share_in, is_directed)
        best = np.int64(-1)
        for slot in range(used):
            label = np.int64(keys[slot])
            if label == -1:
                continue
            total = np.int64(totals[label])
            total_in = np.int64(totals_in[label])
            score = gain(sums[slot], total, total_in, share, share_in, is_directed)
            if score > most or (score == most and best >= 0 and label < best):
                most = score
                best = label
            keys[slot] = -1
            sums[slot] = 0
        targets[v] = best


@kernel
def move(
    low, high, indptr, indices, labels, totals, strengths, totals_in, strengths_in, is_directed,
    state, active, targets,
):  # fmt: skip
    """Move vertices, keep the totals, and look again at the neighbours in other communities."""
    moved = 0
    for v in range(low, high):
        target = np.int64(targets[v])
        if target < 0:
            continue
        moved += 1
        own = np.int64(labels[v])
        atomic_add(totals, own, -np.int64(strengths[v]))
        atomic_add(totals, target, np.int64(strengths[v]))
        if is_directed:
            atomic_add(totals_in, own, -np.int64(strengths_in[v]))
            atomic_add(totals_in, target, np.int64(strengths_in[v]))
        labels[v] = target
        for p in range(indptr[v], indptr[v + 1]):
            u = indices[p]
            # A neighbour that moves now may have its new label, or not.
            there = np.int64(targets[u])
            if there < 0:
                there = np.int64(labels[u])
            if there != target:
                active[u] = 1
    if moved > 0:
        atomic_add(state, 2, moved)


@kernel
def decide(low, high, state):
    """End after a pair of rounds with few moves.

    The state: whether it is done, rounds, moves of this pair of rounds, moves in all, moves that
    are too few, most rounds, rows in the queue of long ones, rounds without hubs; whether vertices
    were alone at first, or how many can merge.
    """
    for _ in range(low, high):
        state[1] += 1
        state[6] = 0
        if state[1] & 1 == 0:
            if (state[2] <= state[4] and state[1] > state[7]) or state[1] >= state[5]:
                state[0] = 1
            state[3] += state[2]
            state[2] = 0
