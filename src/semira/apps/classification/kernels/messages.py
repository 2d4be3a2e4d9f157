"""Belief propagation between vertices of a graph and of a pattern.

Tables have a row for each vertex of the graph and `width` columns, one for each edge, or vertex, of
the pattern. `features` have rows of `length`; `pattern` is the transpose of the pattern's features.
"""

import numpy as np

from semira.kernels import helper, kernel, prefetch


@helper
def measure(row, length, width, features, pattern, apart):
    """Write the distances of a row of features to those of the pattern."""
    row *= length
    for c in range(width):
        apart[c] = 0.0
    # Four features at a time: what is added up is read and written a quarter as often.
    for four in range(length // 4):
        f = 4 * four
        x0, x1 = np.float64(features[row + f]), np.float64(features[row + f + 1])
        x2, x3 = np.float64(features[row + f + 2]), np.float64(features[row + f + 3])
        for c in range(width):
            at = f * width + c
            d0, d1 = x0 - pattern[at], x1 - pattern[at + width]
            d2, d3 = x2 - pattern[at + 2 * width], x3 - pattern[at + 3 * width]
            apart[c] += (d0 * d0 + d1 * d1) + (d2 * d2 + d3 * d3)
    for f in range(length - length % 4, length):
        x = np.float64(features[row + f])
        for c in range(width):
            step = x - pattern[f * width + c]
            apart[c] += step * step
    for c in range(width):
        apart[c] = np.sqrt(apart[c])


@helper
def fetch(array, first, count):
    """Fetch a row of a table that is read soon: rows are read in no order."""
    for k in range((count + 7) // 8):
        prefetch(array, first + 8 * k)


@kernel
def distances(low, high, length, width, features, pattern, out, apart):
    """Write the distances of vertices to those of the pattern, negative."""
    for i in range(low, high):
        measure(i, length, width, features, pattern, apart)
        for c in range(width):
            out[i * width + c] = -apart[c]


@kernel
def pull(
    low, high, length, width, indptr, near, edges, is_listed, features, pattern, messages,
    has_messages, out, apart,
):  # fmt: skip
    """Raise `out` to the greatest of message of the neighbour - distance of the edge."""
    for u in range(low, high):
        for p in range(indptr[u], indptr[u + 1]):
            ahead = p + 8
            if ahead < indptr[high]:
                edge = np.int64(edges[ahead]) if is_listed else np.int64(ahead)
                fetch(features, edge * length, length)
                if has_messages:
                    fetch(messages, np.int64(near[ahead]) * width, width)
            edge = np.int64(edges[p]) if is_listed else np.int64(p)
            measure(edge, length, width, features, pattern, apart)
            if has_messages:
                sender = np.int64(near[p]) * width
                for c in range(width):
                    value = messages[sender + c] - apart[c]
                    old = out[u * width + c]
                    out[u * width + c] = value if value > old else old  # noqa: FURB136 - floats
            else:
                for c in range(width):
                    value, old = -apart[c], out[u * width + c]
                    out[u * width + c] = value if value > old else old  # noqa: FURB136


@kernel
def weigh(
    low, high, length, width, indptr, edges, is_listed, features, pattern, nearest, unit, sums,
    apart,
):  # fmt: skip
    """Add up exp(-distance) / exp(nearest) of the edges of each vertex, in units."""
    for u in range(low, high):
        for p in range(indptr[u], indptr[u + 1]):
            edge = np.int64(edges[p]) if is_listed else np.int64(p)
            measure(edge, length, width, features, pattern, apart)
            for c in range(width):
                at = u * width + c
                sums[at] += np.int64(np.exp(-apart[c] - nearest[at]) * unit + 0.5)


@kernel
def close(low, high, nearest, sums, unit, out):
    """Write the logarithm of the sum of exp(-distance) of the edges of each vertex."""
    for i in range(low, high):
        out[i] = nearest[i] + np.log(sums[i] / unit) if sums[i] > 0 else -np.inf


@kernel
def clear(low, high, out):
    """Make everything minus infinity."""
    for i in range(low, high):
        out[i] = -np.inf


@helper
def max_of(a, b):
    return a if a > b else b  # noqa: FURB136 - floats


@helper
def include(partial, at, below, x):
    """Count one more x in a maximum, and in the sum of exp(x - maximum) below it."""
    most = partial[at]
    if x > most:
        partial[at + below] = partial[at + below] * np.exp(most - x) + 1.0
        partial[at] = x
    elif x > -np.inf:
        partial[at + below] += np.exp(x - most)


@kernel
def columns(low, high, span, rows, width, pieces, table, partial):
    """Write the maximum of each column, and its sum of exp(x - maximum), of `span` rows.

    Maxima of the pieces of a column stand together; sums follow after those of all columns.
    """
    below = width * pieces
    for piece in range(low, high):
        for c in range(width):
            partial[c * pieces + piece] = -np.inf
            partial[c * pieces + piece + below] = 0.0
        for u in range(piece * span, min(rows, (piece + 1) * span)):
            for c in range(width):
                include(partial, c * pieces + piece, below, table[u * width + c])


@helper
def greatest_of(partial, first, pieces):
    """Return the maximum of a column over all pieces."""
    most = -np.inf
    for at in range(first, first + pieces):
        most = max_of(partial[at], most)
    return most


@helper
def joined(partial, first, below, pieces):
    """Return the logarithm of the sum of exponentials of all pieces; 0 if there are none."""
    most, total = greatest_of(partial, first, pieces), 0.0
    if most == -np.inf:
        return 0.0
    for at in range(first, first + pieces):
        total += partial[at + below] * np.exp(partial[at] - most)
    return most + np.log(total)


@kernel
def total(low, high, pieces, width, partial, totals):
    """Write the maximum of each column, and the logarithm of its sum of exponentials."""
    for c in range(low, high):
        totals[c] = greatest_of(partial, c * pieces, pieces)
        totals[width + c] = joined(partial, c * pieces, width * pieces, pieces)


@kernel
def send(
    low, high, span, rows, width, pieces, is_first, count, mu, totals, sources, targets, own, other,
    forward, reverse, partial,
):  # fmt: skip
    """Turn what vertices received into what they send; sum it up in pieces, as `columns` does.

    There are six rows of pieces: the maxima of what is sent forward over edges that weigh `own`, of
    what is sent back over edges that weigh `other`, and of what is sent forward; the sums of the
    first two; the maxima of what is sent back. `forward` holds what was received forward, and
    becomes what is sent back.
    """
    row = width * pieces
    for piece in range(low, high):
        for c in range(width):
            at = c * pieces + piece
            for k in range(6):
                partial[at + k * row] = 0.0 if k == 3 or k == 4 else -np.inf  # noqa: PLR1714
        for u in range(piece * span, min(rows, (piece + 1) * span)):
            for c in range(width):
                at, first = u * width + c, c * pieces + piece
                ahead, back = 0.0, 0.0
                if not is_first:
                    p, r = sources[c], targets[c]
                    ahead = mu[u * count + p] - totals[count + p] - reverse[at]
                    back = mu[u * count + r] - totals[count + r] - forward[at]
                reverse[at] = ahead
                forward[at] = back
                include(partial, first, 3 * row, ahead + own[at])
                include(partial, first + row, 3 * row, back + other[at])
                partial[first + 2 * row] = max_of(partial[first + 2 * row], ahead)
                partial[first + 5 * row] = max_of(partial[first + 5 * row], back)


@kernel
def settle(
    low, high, pieces, width, is_first, penalty, count, totals, sources, targets, partial, terms
):  # fmt: skip
    """Write the terms of each pattern edge: log sums and null messages, forward and back."""
    row = width * pieces
    for c in range(low, high):
        first = c * pieces
        terms[c] = joined(partial, first, 3 * row, pieces)
        terms[2 * width + c] = joined(partial, first + row, 3 * row, pieces)
        if is_first:
            p, r = sources[c], targets[c]
            ahead, back = totals[p] - totals[count + p], totals[r] - totals[count + r]
        else:
            ahead = greatest_of(partial, first + 2 * row, pieces)
            back = greatest_of(partial, first + 5 * row, pieces)
        terms[width + c] = ahead - penalty
        terms[3 * width + c] = back - penalty


@kernel
def receive(
    low, high, width, is_first, count, sources, targets, terms, is_given, nearest, raw, forward,
    reverse, mu,
):  # fmt: skip
    """Turn greatest messages into those received, and add them to the scores.

    `raw` holds the greatest message over the edges that enter, and is made minus infinity;
    `reverse` that of the edges that leave, if `is_given`: else it is what was sent back, in
    `forward`, + that of the nearest edge.
    """
    for u in range(low, high):
        for c in range(width):
            at = u * width + c
            over = reverse[at] if is_given else forward[at] + nearest[at]
            ahead = max_of(raw[at] - terms[c], terms[width + c])
            back = max_of(over - terms[2 * width + c], terms[3 * width + c])
            raw[at] = -np.inf
            forward[at] = ahead
            reverse[at] = back
            if not is_first:
                mu[u * count + targets[c]] += ahead
                mu[u * count + sources[c]] += back


@kernel
def advance(low, high, last, state):  # noqa: ARG001 - one item
    """Count an iteration; end the loop with the last one."""
    state[1] += 1
    if state[1] >= last:
        state[0] = 1
