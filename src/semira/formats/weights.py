"""Random weights of edges that depend on the edge alone, not on where it is listed."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from semira.base.errors import InvalidValue

#: Range of random weights unless told otherwise (Yang's thesis: uniform integers from 1 to 64).
WEIGHT_LOW, WEIGHT_HIGH = 1, 64


def _mix(state: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Scramble 64-bit words so that each output bit depends on every input bit."""
    state = state + np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        state ^= state >> np.uint64(shift)
        state *= np.uint64(factor)
    state ^= state >> np.uint64(31)
    return state


def hash_weights(
    rows: NDArray[Any],
    cols: NDArray[Any],
    seed: int,
    *,
    low: int = WEIGHT_LOW,
    high: int = WEIGHT_HIGH,
    dtype: DTypeLike = np.int32,
) -> NDArray[Any]:
    """Return a uniform integer in ``[low, high]`` for each edge, the same for (u, v) and (v, u).

    Parameters
    ----------
    rows, cols : ndarray of integers, shape (nnz,)
        Ends of the edges, at least 0. Not modified.
    seed : int
        0 <= seed < 2**64.
    low, high : int
        Bounds, both included; at most 2**32 different values.
    dtype : integer dtype
        Dtype of the result.

    Returns
    -------
    ndarray, shape (nnz,)
        A function of the unordered pair and the seed, so repeats of an edge agree as well.

    Raises
    ------
    InvalidValue
        The range is empty or too wide, or does not fit into `dtype`.

    Notes
    -----
    O(nnz).

    References
    ----------
    Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014, figure 14:
    the mixing function of SplitMix64.

    Examples
    --------
    >>> there = hash_weights(np.array([0, 1]), np.array([5, 2]), seed=1)
    >>> back = hash_weights(np.array([5, 2]), np.array([0, 1]), seed=1)
    >>> bool((there == back).all())
    True
    """
    span, limits = high - low + 1, np.iinfo(dtype)
    if not 1 <= span <= 2**32 or low < limits.min or high > limits.max:
        raise InvalidValue(
            f"weights {low}..{high}: need 1 to 2**32 different values within {limits.dtype}"
        )
    smaller = np.minimum(rows, cols).astype(np.uint64)
    larger = np.maximum(rows, cols).astype(np.uint64)
    # A number, not an array: the ends may be arrays of a device.
    key = _mix(np.array([seed], np.uint64))[0]
    words = _mix(_mix(smaller ^ key) ^ larger) >> np.uint64(32)
    weights: NDArray[Any] = ((words * np.uint64(span)) >> np.uint64(32)).astype(dtype)
    weights += low
    return weights
