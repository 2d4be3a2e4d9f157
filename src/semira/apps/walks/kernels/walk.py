"""Walks: each walker makes all of its moves.

Random numbers are those of (seed, walker, step). The first argument of `philox` tells apart what a
step draws: which neighbour, whether to restart, and what each trial of node2vec draws.
"""

import numpy as np

from semira.algorithms.kernels.rows import entry_at
from semira.apps.sampling.kernels.draw import entry_under, number_below
from semira.kernels import helper, kernel, philox


@helper
def entry_of(begin, end, running, walker, step, seed, draw):
    """Draw an entry by weight: the first whose running total is above a random number; or -1."""
    total = running[end] - running[begin]
    if total == 0:
        return np.int64(-1)
    return entry_under(begin, end, running, number_below(total, draw, walker, step, seed))


@helper
def share(draw, walker, step, seed):
    """Return a random number from 0 to 1, 1 excluded."""
    return np.float64(np.int64(philox(draw, walker, step, seed, 0) >> np.uint64(11))) * (
        1.0 / 9007199254740992.0
    )


@kernel
def best_neighbours(low, high, indptr, indices, scores, best):
    """Find the neighbour with the greatest score, the first of several; -1 in an empty row."""
    for i in range(low, high):
        found = np.int64(-1)
        top = 0.0
        for p in range(indptr[i], indptr[i + 1]):
            score = np.float64(scores[indices[p]])
            if found < 0 or score > top:
                found = np.int64(indices[p])
                top = score
        best[i] = found


@kernel
def walk(
    low, high, first, length, starts, num_starts, indptr, indices, running, best, mode, fallback,
    restart, seed, keep, out, lengths, seen,
):  # fmt: skip
    """Walk by the present vertex alone. Mode 0: uniform, 1: by weight, 2: to the best."""
    for i in range(low, high):
        walker = first + i
        home = np.int64(starts[walker % num_starts])
        at = home
        met = np.int64(0)
        made = np.int64(1)
        if keep:
            out[i * length] = at
        for step in range(1, length):
            begin, end = np.int64(indptr[at]), np.int64(indptr[at + 1])
            chosen = np.int64(-1)
            returns = restart > 0 and share(1 << 40, walker, step, seed) < restart
            if not returns and end > begin:
                if mode == 1:
                    chosen = entry_of(begin, end, running, walker, step, seed, 0)
                    if chosen < 0 and not fallback:
                        begin = end
                if begin < end:
                    met += end - begin
                    if mode == 2:
                        at = np.int64(best[at])
                        chosen = begin
                    else:
                        if chosen < 0:
                            chosen = begin + number_below(end - begin, 0, walker, step, seed)
                        at = np.int64(indices[chosen])
            if chosen < 0:
                # A dead end, or a restart.
                if restart == 0:
                    break
                at = home
            made += 1
            if keep:
                out[i * length + step] = at
        if keep:
            for step in range(made, length):
                out[i * length + step] = -1
        else:
            out[i] = at
        lengths[i] = made
        seen[i] = met


@helper
def neighbour_of_two(
    begin, end, total, last, indptr, indices, running, weighted, to_last, far, walker, step, seed
):
    """Draw a neighbour by its weight and its distance from the last vertex, by rejection.

    A neighbour of the last vertex has factor 1, the last vertex `to_last`, all others `far`. If
    `to_last` is above the two others, what is above them is an area of its own.
    """
    most = max(1.0, far)
    body = np.float64(total) * most
    extra = 0.0
    if last >= 0 and to_last > most:
        place = entry_at(begin, end, indices, last)
        if place >= 0:
            weight = np.int64(1)
            if weighted:
                weight = np.int64(running[place + 1] - running[place])
            extra = np.float64(weight) * (to_last - most)
    area = body + extra
    draw = np.int64(0)
    while True:
        if extra > 0.0 and share(draw + 256, walker, step, seed) * area >= body:
            return last
        if weighted:
            chosen = entry_of(begin, end, running, walker, step, seed, draw)
        else:
            chosen = begin + number_below(total, draw, walker, step, seed)
        tried = np.int64(indices[chosen])
        if last < 0:
            return tried
        height = share(draw + 512, walker, step, seed) * most
        if tried == last:
            taken = height < to_last
        elif (height < 1.0) == (height < far):
            taken = height < far
        else:
            # The two factors differ: which is it?
            near = entry_at(indptr[last], indptr[last + 1], indices, tried) >= 0
            taken = near == (height < 1.0)
        if taken:
            return tried
        draw += 1024


@kernel
def node2vec(
    low, high, first, length, starts, num_starts, indptr, indices, running, weighted, to_last,
    far, restart, seed, keep, out, lengths, seen,
):  # fmt: skip
    """Walk by the present and the last vertex."""
    for i in range(low, high):
        walker = first + i
        home = np.int64(starts[walker % num_starts])
        at, last = home, np.int64(-1)
        met = np.int64(0)
        made = np.int64(1)
        if keep:
            out[i * length] = at
        for step in range(1, length):
            begin, end = np.int64(indptr[at]), np.int64(indptr[at + 1])
            total = np.int64(running[end] - running[begin]) if weighted else end - begin
            returns = restart > 0 and share(1 << 40, walker, step, seed) < restart
            if returns or total == 0:
                if restart == 0:
                    break
                at, last = home, np.int64(-1)
            else:
                met += end - begin
                target = neighbour_of_two(
                    begin, end, total, last, indptr, indices, running, weighted, to_last, far,
                    walker, step, seed,
                )  # fmt: skip
                last, at = at, target
            made += 1
            if keep:
                out[i * length + step] = at
        if keep:
            for step in range(made, length):
                out[i * length + step] = -1
        else:
            out[i] = at
        lengths[i] = made
        seen[i] = met


@kernel
def false_moves(low, high, length, indptr, indices, homes, num_starts, returns, paths, out):
    """Count the moves of each path that are no entry; with `returns`, nor a move to its start."""
    for i in range(low, high):
        wrong = np.int64(0)
        for step in range(1, length):
            a, b = np.int64(paths[i * length + step - 1]), np.int64(paths[i * length + step])
            right = b < 0 or (a >= 0 and entry_at(indptr[a], indptr[a + 1], indices, b) >= 0)
            if not right and not (a >= 0 and returns and b == homes[i % num_starts]):
                wrong += 1
        out[i] = wrong
