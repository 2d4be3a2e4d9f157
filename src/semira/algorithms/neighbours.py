"""What algorithms on undirected graphs begin with: edges in both directions, seeded priorities."""

from __future__ import annotations

from typing import Any

import numpy as np

from semira import Matrix, Vector, binary, device, dtypes, fused, indexunary
from semira.algorithms.checks import check_count

#: Rounds of the finaliser of MurmurHash3 (A. Appleby): h ^= h >> shift, h *= factor.
_ROUNDS = ((16, 0x85EBCA6B), (13, 0xC2B2AE35), (16, 1))


def undirected(A: Matrix, symmetric: bool) -> Matrix:
    """Return a matrix with the entries of `A` in both directions; `A` itself if it has them.

    Parameters
    ----------
    A : Matrix, shape (n, n)
    symmetric : bool
        The caller knows that the entries of `A` are symmetric.
    """
    return A if symmetric else A.ewise_add(A.T, binary.any).new()


def priorities(A: Matrix, seed: Any) -> Vector:
    """Return a different random number for each vertex of `A`, the same ones on every device.

    Parameters
    ----------
    A : Matrix, shape (n, n)
    seed : int >= 0
        Another seed shuffles the vertices in another way.

    Returns
    -------
    Vector, shape (n,), UINT32
        Every vertex has an entry, on the device of `A`.

    Raises
    ------
    InvalidValue
        `seed` is negative or no integer.

    Notes
    -----
    O(n), one launch that nothing waits for. Each round of the hash has an inverse, so no two of
    the 2**32 numbers become equal, and a vertex needs nobody else's number to break a tie.
    """
    # NumPy promises the same words for a seed in every version.
    start = np.random.SeedSequence(check_count(seed, "seed")).generate_state(1).item()
    with device(A.device):
        number = Vector(dtypes.UINT32, A.nrows)

    def shuffle() -> None:
        number << 0
        number << number.apply(indexunary.index).apply(binary.bxor, right=start)
        for shift, factor in _ROUNDS:
            high = number.apply(binary.bshift, right=-shift).new()
            number << number.ewise_mult(high, binary.bxor).apply(binary.times, right=factor)

    fused(shuffle)
    return number
