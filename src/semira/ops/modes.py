"""Which key of a row has the largest sum, and how ties are broken: what every device means."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from semira.ops.helpers import philox

_WORD = 2**64 - 1


def mode_of(sums: Mapping[int, Any], row: int, preferred: Any, seed: Any) -> int:
    """Return the key with the largest sum; NaN counts as minus infinity.

    `preferred` wins a tie that it takes part in. Others are broken by a random number for each key
    and row, the greatest wins; without a `seed`, and among equal numbers, by the smallest key.

    Examples
    --------
    >>> mode_of({7: 2, 3: 2, 5: 1}, 0, None, None), mode_of({7: 2, 3: 2}, 0, 7, None)
    (3, 7)
    """
    ranked = {key: -math.inf if math.isnan(total) else total for key, total in sums.items()}
    most = max(ranked.values())
    tied = [key for key, total in ranked.items() if total == most]
    if preferred is not None and int(preferred) in tied:
        return int(preferred)
    if seed is None or len(tied) == 1:
        return min(tied)
    with np.errstate(all="ignore"):
        drawn = {key: int(philox(np.uint64(key & _WORD), row, 0, int(seed), 0)) for key in tied}
    return max(tied, key=lambda key: (drawn[key], -key))
