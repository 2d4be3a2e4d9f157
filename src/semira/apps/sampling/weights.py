"""Weights as running totals of integers: sums that no order of addition changes."""

from __future__ import annotations

import math
from typing import Any

from semira.exceptions import InvalidWeight, NegativeWeight
from semira.kernels import ArrayKernel

#: The largest total of a row is below two to this power. Random numbers below a bound are drawn
#: again with a probability of bound / 2**64.
_TOTAL_BITS = 60

_whole = ArrayKernel("semira.apps.sampling.kernels:weights", "whole")


def running_totals(xp: Any, indptr: Any, weights: Any, what: str, device: str) -> Any:
    """Return running totals of the weights of all entries, as integers.

    Entry p of row i has weight ``totals[p + 1] - totals[p]``. Weights are multiplied by the largest
    power of two with which no row exceeds 2**60, and rounded; positive ones to 1 at least. So they
    are multiples of 2**-59 of (greatest weight x longest row) at the most.

    Parameters
    ----------
    xp : module
        NumPy or CuPy.
    indptr : array of int, shape (n + 1,)
    weights : array, shape (nvals,)
    what : str
        What errors call them.
    device : str
        Where the arrays are.

    Returns
    -------
    array of int64, shape (nvals + 1,)
        Differences within a row are right; the totals of all rows together wrap around.

    Raises
    ------
    NegativeWeight, InvalidWeight
        One is negative, or no finite number.

    Notes
    -----
    O(n + nvals), three passes over the weights. Waits for the device once.

    Examples
    --------
    >>> import numpy as np
    >>> weights = np.array([1.0, 3.0, 2.0])
    >>> totals = running_totals(np, np.array([0, 2, 3]), weights, "weights", "cpu")
    >>> ((totals[1:] - totals[:-1]) // 2**56).tolist()
    [2, 6, 4]
    """
    totals = xp.zeros(len(weights) + 1, xp.int64)
    if not len(weights):
        return totals
    if weights.dtype == bool:
        weights = weights.astype(xp.int8)
    longest = (indptr[1:] - indptr[:-1]).max()
    facts = [each.astype(xp.float64) for each in (weights.min(), weights.max(), longest)]
    least, most, longest = xp.stack(facts).tolist()
    if not (math.isfinite(least) and math.isfinite(most)):
        raise InvalidWeight(
            f"{what} must be finite numbers; they lie between {least} and {most}: select those "
            "that are finite, or replace the others"
        )
    if least < 0:
        raise NegativeWeight(f"{what} must not be negative; the least is {least:g}")
    if most > 0:
        factor = _power_below(2.0**_TOTAL_BITS / most / longest)
        _whole(len(weights), weights, factor, totals[1:], device=device)
        xp.cumsum(totals, out=totals)
    return totals


def _power_below(bound: float) -> float:
    """Return the largest power of two up to a bound."""
    return math.ldexp(1.0, math.frexp(min(bound, 2.0**1000))[1] - 1)
