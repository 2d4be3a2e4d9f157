"""How pulls over all rows of a matrix are shared out: what follows from its size and the device."""

from __future__ import annotations

#: Shares of a matrix for equal work: at most so many, and so many items in one at least: a stripe
#: (kernels/vxm/stripe.cuh), below which a warp's loads are no fewer.
MOST_SLICES = 2**15
LEAST_ITEMS = 128

#: Items of the end of a row, where an entry is one (kernels/common/types.cuh).
ROW_ITEMS = 6

#: Warps that walk shares on one multiprocessor (`LaunchShape`), of large matrices and of others, in
#: which each takes one share. Where each takes as many as every other, none waits for a few that
#: have one more.
WALKING_WARPS, TILING_WARPS = 32, 16

#: Rows and entries of a matrix from which on gathers in flight count for more than registers: of
#: one whose rows have at most so many entries on average, and of others. One H200, 20 iterations of
#: PageRank with one block a multiprocessor, and with two: USA-road-NE (5.4 M, mean 2.5) 1.51 and
#: 1.11 ms, cnr-2000 (3.5 M, mean 10) 0.51 and 0.76 (docs/decisions/0033).
MEAN_SHORT, MANY_IN_SHORT, MANY_GATHERS = 8, 3_000_000, 8_000_000

#: Rows that a lane or two sum, where all are so short; else the longest row where `MEAN_SHORT` is
#: the mean at most; one lane is enough up to a mean of `MEAN_OF_LANE`. Eight lanes for rows of up
#: to 64 entries were slower than equal shares (docs/decisions/0035).
SHORT_ROW, LONGEST_SHORT, MEAN_OF_LANE = 8, 32, 4

#: The longest row of those that are multiplied together and summed one by one (kLongestMiddling of
#: kernels/vxm/middling.cuh).
LONGEST_MIDDLING = 64

#: Shares of a warp: one more for every so many items, and at most so many. Several of large
#: matrices, because shares of equal size do not take equally long.
ITEMS_AT_ONCE, MOST_ROUNDS = 1024, 4


def gathers_many(nrows: int, nvals: int) -> bool:
    """Return whether programs that gather all rows of a matrix get more threads, not registers.

    Examples
    --------
    >>> [gathers_many(n, mean * n) for n, mean in ((1_000_000, 3), (300_000, 20), (900_000, 20))]
    [True, False, True]
    """
    is_short = nvals <= MEAN_SHORT * nrows
    return nrows + nvals >= (MANY_IN_SHORT if is_short else MANY_GATHERS)


def lanes_of_rows(longest: int, nrows: int, nvals: int) -> int:
    """Return how many lanes sum each row of a large matrix; 0 if its rows are not short.

    As kernels decide that may do either (`is_short` in kernels/vxm/short.cuh).

    Examples
    --------
    >>> [lanes_of_rows(longest, 1000, 5000) for longest in (8, 32, 33)]
    [2, 2, 0]
    >>> lanes_of_rows(9, 1000, 4000), lanes_of_rows(9, 1000, 8500)
    (1, 0)
    """
    if longest <= SHORT_ROW or (longest <= LONGEST_SHORT and nvals <= MEAN_SHORT * nrows):
        return 1 if nvals <= MEAN_OF_LANE * nrows else 2
    return 0


def items_of_share(nrows: int, nvals: int, multiprocessors: int) -> int:
    """Return the items in each share of a matrix: an entry is one, the end of a row `ROW_ITEMS`.

    It follows from the device, never from a launch, so that sums of floating-point numbers do not
    depend on the number of blocks.

    Examples
    --------
    >>> [items_of_share(n, 10 * n, 132) for n in (10_000, 200_000, 6_000_000)]
    [128, 1516, 5682]
    """
    path = nvals + ROW_ITEMS * nrows
    if not gathers_many(nrows, nvals):
        shares = min(TILING_WARPS * multiprocessors, MOST_SLICES)
        return max(LEAST_ITEMS, -(-path // shares))
    warps = WALKING_WARPS * multiprocessors
    rounds = min(-(-path // (warps * ITEMS_AT_ONCE)), MOST_ROUNDS, MOST_SLICES // warps)
    shares = min(warps * max(rounds, 1), MOST_SLICES)
    return max(LEAST_ITEMS, -(-path // shares))
