"""What is given to a matching, checked: two graphs of one size, and who corresponds already."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira import Matrix, dtypes, monoid, unary
from semira.algorithms.checks import check_count, check_square, has_nan
from semira.apps.arrays import as_given, check_room, on_host
from semira.apps.assignment import memory as assignment_memory
from semira.exceptions import (
    DeviceMismatch,
    DimensionMismatch,
    DomainMismatch,
    IndexOutOfBound,
    InvalidIndex,
    InvalidValue,
    InvalidWeight,
)

NAME = "graph_match"

#: Entries at most: products of two are added up.
_LARGEST = 1e150

PADDINGS = ("naive", "adopted")

Pairs = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Problem:
    """Two graphs, padded to the same size."""

    #: `A`, `B`: Matrix, shape (n, n), FP64.
    A: Matrix
    B: Matrix
    #: Matrix, shape (n, n), FP64, or None.
    similarity: Matrix | None
    #: Vertices of the graphs as given.
    sizes: tuple[int, int]
    #: ndarray, shape (k, 2). Pairs that stay.
    seeds: Pairs
    #: ndarray, shape (l, 2). Pairs that the first step starts from.
    soft: Pairs
    #: `rest_a`, `rest_b`: ndarray, shape (n - k,). Vertices that are matched.
    rest_a: Pairs
    rest_b: Pairs
    #: Whether both graphs are undirected.
    symmetric: bool
    #: Whether pairs without an edge count as -1.
    adopted: bool

    @property
    def n(self) -> int:
        """Vertices of each graph, the padding included."""
        return int(self.A.nrows)

    @property
    def device(self) -> str:
        """Where the graphs lie."""
        return self.A.device

    def full(self, of_rest: Any) -> Pairs:
        """Return the vertex of B for each vertex of A; -1 where `of_rest`, a position, is."""
        found = np.full(self.n, -1, np.int64)
        found[self.seeds[:, 0]] = self.seeds[:, 1]
        known = of_rest >= 0
        found[self.rest_a[known]] = self.rest_b[of_rest[known]]
        return found


def checked(
    A: Any, other: Any, seeds: Any, num_seeds: Any, soft_seeds: Any, similarity: Any, padding: str
) -> Problem:
    """Return the problem.

    Raises DomainMismatch or DimensionMismatch if a graph is no square Matrix, or complex, or the
    similarity has another shape; DeviceMismatch if the matrices are on several devices;
    InvalidWeight if a weight is NaN, or infinite; InvalidIndex, IndexOutOfBound or InvalidValue if
    a seed is no pair of vertices, or a vertex has two partners.
    """
    sizes = check_square(A, NAME), check_square(other, NAME)
    if padding not in PADDINGS:
        raise InvalidValue(f"{NAME}: padding={padding!r} is none of {', '.join(PADDINGS)}")
    _check_matrices(A, other, similarity, sizes)
    n = max(sizes)
    fixed = _pairs(seeds, sizes, "seeds")
    leading = check_count(num_seeds, "num_seeds")
    if leading:
        if len(fixed):
            raise InvalidValue(f"{NAME}: give seeds or num_seeds, not both")
        if leading > min(sizes):
            raise InvalidValue(f"{NAME}: num_seeds={leading} of {min(sizes)} vertices")
        fixed = np.repeat(np.arange(leading)[:, None], 2, 1)
    soft = _pairs(soft_seeds, sizes, "soft_seeds")
    _check_once(np.concatenate((fixed, soft)))
    padded = [_padded(each, n) for each in (A, other)]
    _check_room(padded[0], padded[1], n - len(fixed))
    first, second = padded
    return Problem(
        first, second, None if similarity is None else _padded(similarity, n), sizes, fixed, soft,
        np.setdiff1d(np.arange(n), fixed[:, 0]), np.setdiff1d(np.arange(n), fixed[:, 1]),
        all(bool(each.isequal(each.T.new())) for each in padded), padding == "adopted",
    )  # fmt: skip


def _check_matrices(A: Any, other: Any, similarity: Any, sizes: tuple[int, int]) -> None:
    given = [("A", A), ("other", other)]
    if similarity is not None:
        given.append(("similarity", similarity))
        if getattr(similarity, "shape", None) != sizes or not isinstance(similarity, Matrix):
            raise DimensionMismatch(
                f"{NAME}: similarity is a Matrix of {sizes[0]} x {sizes[1]}, vertices of A by "
                f"vertices of the other graph, not {getattr(similarity, 'shape', similarity)}"
            )
    for name, each in given:
        if each.device != A.device:
            raise DeviceMismatch(
                f"{NAME}: A is on {A.device}, {name} on {each.device}; move one with .to(device)"
            )
        if each.dtype in (dtypes.FC32, dtypes.FC64):
            raise DomainMismatch(f"{NAME}: entries of {name} are {each.dtype.name}; use real ones")
        if has_nan(each):
            raise InvalidWeight(f"{NAME}: an entry of {name} is NaN; give it a number or drop it")
        largest = float(each.dup("FP64").apply(unary.abs).reduce_scalar(monoid.max).get(0.0))
        if largest > _LARGEST:
            told = "infinite" if largest == np.inf else f"{largest:g}, and its products infinite"
            raise InvalidWeight(
                f"{NAME}: an entry of {name} is {told}; use numbers up to {_LARGEST:g}"
            )


def _padded(A: Matrix, n: int) -> Matrix:
    made: Matrix = A.dup("FP64")
    if made.shape != (n, n):
        made.resize(n, n)
    return made


def _pairs(given: Any, sizes: tuple[int, int], what: str) -> Pairs:
    """Return pairs of vertices as an array.

    Raises InvalidIndex, IndexOutOfBound or DimensionMismatch if they are none.
    """
    pairs = on_host(as_given([] if given is None else given, f"{NAME}: {what}"))
    if not pairs.size:
        return np.zeros((0, 2), np.int64)
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise DimensionMismatch(
            f"{NAME}: {what} are pairs (vertex of A, vertex of the other graph), an array of shape "
            f"(k, 2), not {pairs.shape}"
        )
    if pairs.dtype.kind not in "iu":
        raise InvalidIndex(f"{NAME}: {what} are vertex numbers, not {pairs.dtype}")
    for side, size in enumerate(sizes):
        bad = pairs[(pairs[:, side] < 0) | (pairs[:, side] >= size)]
        if len(bad):
            graph = "the other graph" if side else "A"
            raise IndexOutOfBound(
                f"{NAME}: {what} {tuple(bad[0].tolist())}: {graph} has the vertices 0 to {size - 1}"
            )
    return pairs.astype(np.int64)


def _check_once(pairs: Pairs) -> None:
    for side, graph in enumerate(("A", "the other graph")):
        vertices, counts = np.unique(pairs[:, side], return_counts=True)
        if (counts > 1).any():
            raise InvalidValue(
                f"{NAME}: vertex {vertices[counts > 1][0]} of {graph} is in {counts.max()} pairs "
                "of seeds and soft_seeds; it can have one partner"
            )


def memory(n: int, entries_a: int, entries_b: int) -> int:
    """Return about how many bytes a matching takes beside the graphs.

    Three gradients of as many entries as edges that meet, at most n * n, and an assignment.

    Examples
    --------
    >>> memory(2000, 200_000, 200_000)
    192650000
    """
    meet = min(n * n, 2 * entries_a * entries_b // max(n, 1))
    return 4 * 12 * meet + assignment_memory(n, n)


def _check_room(A: Matrix, B: Matrix, n: int) -> None:
    entries = int(A.nvals), int(B.nvals)
    what = f"{NAME}: {n:,} vertices with {entries[0]:,} and {entries[1]:,} entries"
    remedy = "match parts of the graphs, or give more seeds"
    check_room(memory(n, *entries), A.device, what, remedy, least=0)
