"""Iterations of PageRank, in one pass over the vertices each."""

from __future__ import annotations

from typing import Any

import numpy as np

from semira.kernels import helper, kernel


@helper
def pull_share(indptr: Any, indices: Any, values: Any, share: Any, at: Any, v: Any) -> Any:
    """Return what neighbours share with a vertex; `share` is read from `at` on."""
    found = 0.0
    begin = np.uint64(indptr[v])
    end = np.uint64(indptr[v + np.uint64(1)])
    if len(values) > 0:
        for p in range(begin, end):
            found += share[at + np.uint64(indices[p])] * values[p]
    else:
        for p in range(begin, end):
            found += share[at + np.uint64(indices[p])]
    return found


@helper
def rank_block(
    indptr: Any, indices: Any, values: Any, scale: Any, sinks: Any, starts: Any, rank: Any,
    share: Any, at: Any, there: Any, anew: Any, sums: Any, block: Any, width: Any,
) -> None:  # fmt: skip
    """Rank a block of vertices; sum up how far they moved, and what sinks have of rank.

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
def settle(sums: Any, blocks: Any, damping: Any, each: Any, tol: Any, most: Any, number: Any,
           state: Any) -> None:  # fmt: skip
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
    low: Any, high: Any,
    indptr: Any, indices: Any, values: Any, scale: Any, sinks: Any, starts: Any, rank: Any,
    share: Any, sums: Any, width: Any, number: Any, state: Any,
) -> None:  # fmt: skip
    """Rank blocks of vertices once. Shares are read from one half of `share`, written to the other.

    In `number` are the sum of the changes, and the rank that a start anew gives.
    """
    at = np.uint64((state[1] & 1) * len(rank))
    for block in range(low, high):
        rank_block(
            indptr, indices, values, scale, sinks, starts, rank, share, at, np.uint64(len(rank)) - at,
            number[1], sums, block, width,
        )  # fmt: skip


@kernel
def decide(
    low: Any, high: Any, sums: Any, blocks: Any, damping: Any, each: Any, tol: Any, most: Any,
    number: Any, state: Any,
) -> None:  # fmt: skip
    """End an iteration; `state` says whether it was the last, their number, whether ranks stay."""
    for _ in range(low, high):
        settle(sums, blocks, damping, each, tol, most, number, state)


@kernel
def rank_alone(
    low: Any, high: Any,
    indptr: Any, indices: Any, values: Any, scale: Any, sinks: Any, starts: Any, rank: Any,
    share: Any, sums: Any, width: Any, number: Any, state: Any,
    damping: Any, each: Any, tol: Any, most: Any,
) -> None:  # fmt: skip
    """Rank the vertices of a small graph until the loop ends."""
    for _ in range(low, high):
        blocks = len(sums) // 2
        while state[0] == 0:
            at = np.uint64((state[1] & 1) * len(rank))
            for block in range(blocks):
                rank_block(
                    indptr, indices, values, scale, sinks, starts, rank, share, at, np.uint64(len(rank)) - at,
                    number[1], sums, block, width,
                )  # fmt: skip
            settle(sums, blocks, damping, each, tol, most, number, state)
