"""Iterations of PageRank, in one pass over the vertices each."""

import numpy as np

from semira.kernels import helper, kernel


@helper
def sum_short(indices, share, at, p, end):
    """Return the sum over a row that has four edges at most, as a rule.

    Four are always read, so that nothing branches: a processor guesses wrong where such rows end,
    which takes as long as four edges.
    """
    last = np.uint64(len(indices) - 1)
    x0 = share[at + np.uint64(indices[min(p, last)])]
    x1 = share[at + np.uint64(indices[min(p + np.uint64(1), last)])]
    x2 = share[at + np.uint64(indices[min(p + np.uint64(2), last)])]
    x3 = share[at + np.uint64(indices[min(p + np.uint64(3), last)])]
    found = x0 if p < end else 0.0
    found += x1 if p + np.uint64(1) < end else 0.0
    found += x2 if p + np.uint64(2) < end else 0.0
    found += x3 if p + np.uint64(3) < end else 0.0
    for q in range(p + np.uint64(4), end):
        found += share[at + np.uint64(indices[q])]
    return found


@helper
def sum_long(indices, share, at, p, end):
    """Return the sum over a row; two sums do not wait for each other."""
    found = 0.0
    more = 0.0
    q = p
    while q + np.uint64(1) < end:
        found += share[at + np.uint64(indices[q])]
        more += share[at + np.uint64(indices[q + np.uint64(1)])]
        q += np.uint64(2)
    if q < end:
        found += share[at + np.uint64(indices[q])]
    return found + more


@helper
def pull_share(indptr, indices, values, share, at, v):
    """Return what neighbours share with a vertex; `share` is read from `at` on."""
    p = np.uint64(indptr[v])
    end = np.uint64(indptr[v + np.uint64(1)])
    found = 0.0
    if len(values) > 0:
        for q in range(p, end):
            found += share[at + np.uint64(indices[q])] * values[q]
    elif len(indices) <= 4 * (len(indptr) - 1):
        found = sum_short(indices, share, at, p, end)
    else:
        found = sum_long(indices, share, at, p, end)
    return found


@helper
def rank_block(
    indptr, indices, values, scale, sinks, starts, rank, share, at, there, anew, sums, block, width
):
    """Rank a block of vertices; sum up how far they moved, and the rank of sinks.

    Positions are counted unsigned: a negative one would count from the end, and be tested for it.
    """
    low = width * block
    high = min(low + width, len(rank))
    moved = 0.0
    lost = 0.0
    for v in range(np.uint64(low), np.uint64(high)):
        fresh = pull_share(indptr, indices, values, share, at, v)
        if len(starts) > 0:
            fresh += anew * starts[v]
        else:
            fresh += anew
        moved += abs(fresh - rank[v])
        if len(sinks) > 0:
            lost += fresh * sinks[v]
        rank[v] = fresh
        share[there + v] = fresh * scale[v]
    sums[2 * block] = moved
    sums[2 * block + 1] = lost


@helper
def settle(sums, blocks, damping, each, tol, most, number, state):
    """Add up what blocks summed; end the loop where ranks moved by no more than `tol`."""
    moved = 0.0
    lost = 0.0
    for b in range(blocks):
        moved += sums[2 * b]
        lost += sums[2 * b + 1]
    number[0] = moved
    number[1] = (lost * damping + (1.0 - damping)) * each
    state[1] += 1
    if not moved > tol:
        state[0] = 1
        state[2] = 1
    elif state[1] >= most:
        state[0] = 1


@kernel
def rank_all(
    low, high, indptr, indices, values, scale, sinks, starts, rank, share, sums, width, number,
    state,
):  # fmt: skip
    """Rank blocks of vertices once; one half of `share` is read, the other one is written.

    In `number` are the sum of the changes, and the rank that a start anew gives.
    """
    at = np.uint64((state[1] & 1) * len(rank))
    there = np.uint64(len(rank)) - at
    for block in range(low, high):
        rank_block(
            indptr, indices, values, scale, sinks, starts, rank, share, at, there,
            number[1], sums, block, width,
        )  # fmt: skip


@kernel
def decide(low, high, sums, blocks, damping, each, tol, most, number, state):
    """End an iteration; `state` says whether it was the last, their number, whether ranks stay."""
    for _ in range(low, high):
        settle(sums, blocks, damping, each, tol, most, number, state)


@kernel
def rank_alone(
    low, high, indptr, indices, values, scale, sinks, starts, rank, share, sums, width, number,
    state, damping, each, tol, most,
):  # fmt: skip
    """Rank the vertices of a small graph until the loop ends."""
    for _ in range(low, high):
        blocks = len(sums) // 2
        while state[0] == 0:
            at = np.uint64((state[1] & 1) * len(rank))
            there = np.uint64(len(rank)) - at
            for block in range(blocks):
                rank_block(
                    indptr, indices, values, scale, sinks, starts, rank, share, at, there,
                    number[1], sums, block, width,
                )  # fmt: skip
            settle(sums, blocks, damping, each, tol, most, number, state)
