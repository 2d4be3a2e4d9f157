"""Local moves one vertex after the other: the order that the method was published with."""

import numpy as np

from semira.apps.communities.kernels.moves import gain
from semira.kernels import kernel


@kernel
def move_in_order(
    low, high, indptr, indices, weights, is_iso, labels, totals, strengths, totals_in, strengths_in,
    is_directed, pull, least, most, state, gains, sums, met,
):  # fmt: skip
    """Move each vertex to the community it gains most from: one round, over all of them.

    A move counts at once. The own community wins ties, then the one that the row names first. The
    last round gains less than `least`, or is the last of `most`. `sums` has a place for each
    community, -1 at first, and `met` for each community of a row; `gains` is what all moves gained.
    """
    for _ in range(low, high):
        gained = np.float64(0)
        for v in range(len(labels)):
            own = np.int64(labels[v])
            count = 0
            for p in range(indptr[v], indptr[v + 1]):
                u = indices[p]
                if u == v:
                    continue
                label = np.int64(labels[u])
                if sums[label] < 0:
                    sums[label] = 0
                    met[count] = label
                    count += 1
                sums[label] += np.int64(weights[0 if is_iso else p])
            strength = np.int64(strengths[v])
            share = np.float64(strength) * pull
            # Those of edges in are the same arrays unless directed.
            inwards = np.int64(strengths_in[v])
            share_in = np.float64(inwards) * pull
            rest = np.int64(totals[own]) - strength
            rest_in = np.int64(totals_in[own]) - inwards
            within = max(np.int64(sums[own]), np.int64(0))
            stays = gain(within, rest, rest_in, share, share_in, is_directed)
            best = own
            highest = stays
            for k in range(count):
                label = np.int64(met[k])
                total = np.int64(totals[label])
                total_in = np.int64(totals_in[label])
                score = gain(sums[label], total, total_in, share, share_in, is_directed)
                sums[label] = -1
                if label != own and score > highest:
                    highest = score
                    best = label
            if best == own:
                continue
            gained += highest - stays
            state[3] += 1
            labels[v] = best
            totals[own] = totals[own] - strength
            totals[best] = totals[best] + strength
            if is_directed:
                totals_in[own] = totals_in[own] - inwards
                totals_in[best] = totals_in[best] + inwards
        gains[0] += gained
        state[1] += 1
        if gained < least or state[1] >= most:
            state[0] = 1
