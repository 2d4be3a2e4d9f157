"""Refinement of Leiden: the vertices of each community merge again, along edges only."""

import numpy as np

from semira.apps.communities.kernels.moves import gain, slot_of
from semira.kernels import atomic_add, helper, kernel, philox


@helper
def expected(rest, rest_in, part, part_in, pull, is_directed):
    """Return the weights expected between a part and the rest of its group."""
    share = np.float64(part) * pull
    if is_directed:
        return np.float64(rest_in) * share + np.float64(rest) * (np.float64(part_in) * pull)
    return np.float64(rest) * share


@kernel
def begin_merges(
    low, high, indptr, indices, weights, is_iso, seed, number, few, most, groups, strengths,
    strengths_in, is_directed, labels, sizes, totals, totals_in, outside, ranks, state,
):  # fmt: skip
    """Put each vertex into a part of its own; sum its weights to the rest of its group.

    The state, which is 0 at first, counts the vertices that have some.
    """
    able = 0
    for v in range(low, high):
        ranks[v] = np.uint32(philox(number, v, 0, seed, 0) >> np.uint64(32))
        total = np.int64(0)
        for p in range(indptr[v], indptr[v + 1]):
            u = indices[p]
            if u != v and groups[u] == groups[v]:
                total += np.int64(weights[0 if is_iso else p])
        outside[v] = total
        if total > 0:
            able += 1
        labels[v] = v
        sizes[v] = 1
        totals[v] = strengths[v]
        if is_directed:
            totals_in[v] = strengths_in[v]
        if v == 0:
            state[4] = few
            state[5] = most
    atomic_add(state, 8, able)


@kernel
def choose_merges(
    low, high, indptr, indices, weights, is_iso, groups, labels, sizes, within, totals, strengths,
    within_in, totals_in, strengths_in, is_directed, pull, outside, ranks, state, targets, queue,  # noqa: ARG001 - hosts leave no rows
    keys, sums,
):  # fmt: skip
    """Find the part of its group that each vertex alone gains most from; -1: it stays.

    A vertex may merge if its bit is that of the round, with parts of several vertices or of one
    whose bit is the other one: what it joins does not move, so parts stay connected. Vertices and
    parts must be well connected: ``outside >= pull K (within - K)``, where `outside` are weights to
    the rest of the group and `within` its strength.
    """
    turn = state[1]
    bit = (turn >> 1) % 32
    for v in range(low, high):
        targets[v] = -1
        if labels[v] != v or sizes[v] != 1 or (np.int64(ranks[v]) >> bit) & 1 != turn & 1:
            continue
        group = groups[v]
        first = indptr[v]
        last = indptr[v + 1]
        strength = np.int64(strengths[v])
        inwards = np.int64(strengths_in[v])
        share = np.float64(strength) * pull
        share_in = np.float64(inwards) * pull
        all_out = np.int64(within[group])
        all_in = np.int64(within_in[group])
        least = expected(all_out - strength, all_in - inwards, strength, inwards, pull, is_directed)
        if np.float64(outside[v]) < least:
            continue
        used = 2
        while used < 2 * (last - first):
            used *= 2
        for p in range(first, last):
            u = indices[p]
            if u == v or groups[u] != group:
                continue
            label = np.int64(labels[u])
            if sizes[label] == 1 and (np.int64(ranks[label]) >> bit) & 1 == turn & 1:
                continue
            slot = slot_of(keys, label, used)
            keys[slot] = label
            sums[slot] += np.int64(weights[0 if is_iso else p])
        most = np.float64(0)
        best = np.int64(-1)
        for slot in range(used):
            label = np.int64(keys[slot])
            if label == -1:
                continue
            part = np.int64(totals[label])
            part_in = np.int64(totals_in[label])
            score = gain(sums[slot], part, part_in, share, share_in, is_directed)
            keys[slot] = -1
            sums[slot] = 0
            if score < most or (score == most and best >= 0 and label > best):
                continue
            least = expected(all_out - part, all_in - part_in, part, part_in, pull, is_directed)
            if np.float64(outside[label]) >= least:
                most = score
                best = label
        targets[v] = best


@kernel
def merge(
    low, high, indptr, indices, weights, is_iso, groups, labels, sizes, totals, strengths,
    totals_in, strengths_in, is_directed, outside, state, targets,
):  # fmt: skip
    """Merge vertices into parts; keep strengths, sizes, and weights to the rest of the group."""
    moved = 0
    for v in range(low, high):
        target = np.int64(targets[v])
        if target < 0:
            continue
        moved += 1
        change = np.int64(0)
        for p in range(indptr[v], indptr[v + 1]):
            u = indices[p]
            if u == v or groups[u] != groups[v]:
                continue
            weight = np.int64(weights[0 if is_iso else p])
            if targets[u] >= 0:
                # Its label may be the old one or the new one; of two that join the same part, each
                # would count their edge: neither does.
                change += 0 if targets[u] == target else weight
            else:
                change += -weight if labels[u] == target else weight
        labels[v] = target
        sizes[v] = 0
        atomic_add(sizes, target, 1)
        atomic_add(totals, target, np.int64(strengths[v]))
        if is_directed:
            atomic_add(totals_in, target, np.int64(strengths_in[v]))
        atomic_add(outside, target, change)
    if moved > 0:
        atomic_add(state, 2, moved)
