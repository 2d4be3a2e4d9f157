"""What algorithms on undirected graphs begin with: edges in both directions, seeded priorities."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira import (
    Matrix,
    Vector,
    binary,
    device,
    device_traits,
    dtypes,
    fused,
    indexunary,
    select,
    semiring,
)
from semira.algorithms.checks import check_count, vertex_dtype

#: Rounds of the finaliser of MurmurHash3 (A. Appleby): h ^= h >> shift, h *= factor.
_ROUNDS = ((16, 0x85EBCA6B), (13, 0xC2B2AE35), (16, 1))


def undirected(A: Matrix, symmetric: bool) -> Matrix:
    """Return a matrix with the entries of `A` in both directions; `A` itself if it has them.

    It stays with `A` (`Matrix.derived`) and is not to be written. Only its pattern is of use.
    `symmetric`: the caller knows that the entries of `A` are.
    """

    def both_ways() -> Matrix:
        edges: Matrix = A.ewise_add(A.T, binary.any).new()
        # True everywhere: the other orientation is the same, values included.
        with device(A.device):
            pattern = Matrix(dtypes.BOOL, A.nrows, A.ncols)
        pattern(edges.S) << True
        pattern.symmetric = True
        return pattern

    if symmetric:
        return A
    found: Matrix = A.derived("entries in both directions", both_ways)
    return found


def falling_edges(A: Matrix, seed: Any, symmetric: bool) -> Matrix:
    """Return each connected pair as an entry from its vertex of greater priority to the other.

    That of the last seed, which `priorities` takes, stays with `A` (`Matrix.derived`) and is not to
    be written. `symmetric`: the caller knows that the entries of `A` are. Raises InvalidValue if
    `seed` is negative or no integer.
    """
    number = priorities(A, seed)
    kept: list[Any] = A.derived(("falling edges", symmetric), lambda: [None, None])
    if kept[0] != seed:
        kept[:] = seed, compared(undirected(A, symmetric), number, semiring.any_gt)
    found: Matrix = kept[1]
    return found


def compared(edges: Matrix, values: Any, op: Any) -> Matrix:
    """Return the entries (i, j) of a matrix where values i and j compare, as True.

    Each vertex has a value, in a Vector or an expression; `op` is such as `semiring.any_lt`.
    """
    with device(edges.device):
        column = Matrix(values.dtype, edges.nrows, 1)
    column[:, 0] << values
    found = column.mxm(column.T, op).new(mask=edges.S)
    kept: Matrix = found.select(select.valueeq, True).new()
    return kept


def falling_order(A: Matrix, seed: Any) -> NDArray[Any]:
    """Return the vertices in falling order of their `priorities`, on a host.

    That of the last seed stays with `A` (`Matrix.derived`): 4 bytes for each vertex. O(n log n).
    Raises InvalidValue if `seed` is negative or no integer.
    """
    check_count(seed, "seed")
    kept: list[Any] = A.derived("falling order", lambda: [None, None])
    if kept[0] != seed:
        order = np.argsort(priorities(A, seed).to_dense())[::-1]
        kept[:] = seed, order.astype(vertex_dtype(A.nrows).np_type)
    found: NDArray[Any] = kept[1]
    return found


def by_rows(A: Matrix, direction: str) -> dict[str, Any]:
    """Return the options of a product in one direction, where the device of `A` has several.

    A push by rows needs no columns, which nothing else may ask for.
    """
    return {"direction": direction} if direction in device_traits(A.device).directions else {}


def first_word(seed: Any) -> int:
    """Return the word of 32 bits that `priorities` of a seed begin with.

    Raises InvalidValue if `seed` is negative or no integer.
    """
    # NumPy promises the same words for a seed in every version.
    word: int = np.random.SeedSequence(check_count(seed, "seed")).generate_state(1).item()
    return word


def priorities(A: Matrix, seed: Any) -> Vector:
    """Return a different random number for each vertex of `A`, the same ones on every device.

    Every vertex has an entry, of UINT32, on the device of `A`; another seed shuffles them in
    another way. Raises InvalidValue if `seed` is negative or no integer. O(n), one launch that
    nothing waits for. Each round of the hash has an inverse, so no two of the 2**32 numbers become
    equal: no tie has to be broken.
    """
    start = first_word(seed)
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
