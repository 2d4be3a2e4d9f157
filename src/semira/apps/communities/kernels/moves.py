"""Local moves: the best community of each vertex, and the moves themselves.

All vertices of a round look at the same labels and totals, then all move. Half of the vertices take
part in a round, the other half in the next one: by bits of a random number of each vertex.
"""

import numpy as np

from semira.kernels import atomic_add, kernel, philox


@kernel
def draw(low, high, seed, level, ranks):
    """Draw 32 bits for each vertex of a level."""
    for v in range(low, high):
        ranks[v] = np.uint32(philox(level, v, 0, seed, 0) >> np.uint64(32))


@kernel
def choose(
    low, high, indptr, indices, weights, is_iso, labels, totals, strengths, totals_in, strengths_in,
    is_directed, pull, ranks, state, active, targets, keys, sums,
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
        active[v] = 0
        first = indptr[v]
        last = indptr[v + 1]
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
            slot = ((label * 2654435769) >> 8) & (used - 1)
            while keys[slot] != -1 and keys[slot] != label:
                slot = (slot + 1) & (used - 1)
            keys[slot] = label
            sums[slot] += weight
        strength = np.int64(strengths[v])
        share = np.float64(strength) * pull
        most = np.float64(within)
        share_in = np.float64(0)
        if is_directed:
            inwards = np.int64(strengths_in[v])
            share_in = np.float64(inwards) * pull
            most -= np.float64(np.int64(totals_in[own]) - inwards) * share
            most -= np.float64(np.int64(totals[own]) - strength) * share_in
        else:
            most -= np.float64(np.int64(totals[own]) - strength) * share
        best = np.int64(-1)
        for slot in range(used):
            label = np.int64(keys[slot])
            if label == -1:
                continue
            score = np.float64(sums[slot])
            if is_directed:
                score -= np.float64(totals_in[label]) * share
                score -= np.float64(totals[label]) * share_in
            else:
                score -= np.float64(totals[label]) * share
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
    are too few, most rounds.
    """
    for _ in range(low, high):
        state[1] += 1
        if state[1] & 1 == 0:
            if state[2] <= state[4] or state[1] >= state[5]:
                state[0] = 1
            state[3] += state[2]
            state[2] = 0
