"""Checks of vertex nomination: sets of seeds, lengths, weights."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira import Matrix, dtypes
from semira.algorithms.checks import (
    check_lengths,
    check_square,
    check_vertices,
    distance_dtype,
    vertex_dtype,
)
from semira.apps.arrays import per_vertex
from semira.apps.sampling.problem import check_int
from semira.exceptions import InvalidValue, NegativeWeight


@dataclass(frozen=True, slots=True)
class Problem:
    """A checked call."""

    graph: Matrix
    #: List of ndarray of int64. Seeds of each set, ascending.
    sets: list[NDArray[np.int64]]
    #: 0: all.
    top: int
    #: Whether every edge has length 1.
    by_hops: bool
    #: Of distances.
    dtype: Any
    #: ndarray of float64, or None.
    weights: NDArray[np.float64] | None
    #: ndarray of float64, or None.
    content: NDArray[np.float64] | None
    memory: int | None


def checked(
    A: Any, seeds: Any, top: Any, weighted: Any, weights: Any, content: Any, memory: Any
) -> Problem:
    """Return the problem of a call of `nominate`, which says what is raised."""
    n = check_square(A, "nominate")
    sets = _sets(seeds, n)
    by_hops = not weighted or A.dtype is dtypes.BOOL
    number = vertex_dtype(n) if by_hops else distance_dtype(A, None, "nominate")
    if not by_hops:
        check_lengths(
            A, "nominate", number, instead="remove such edges, or count edges with weighted=False"
        )
    kept = 0 if top is None else check_int(top, "top", 1)
    most = None if memory is None else check_int(memory, "memory", 1, 2**63 - 1)
    given = (
        None if weights is None else _numbers(A, weights, len(sets), "weights", of="sets of seeds")
    )
    if given is not None and (given < 0).any():
        raise NegativeWeight(f"weights: {given.min():g} is negative; weights are 0 or greater")
    known = None if content is None else _numbers(A, content, n, "content")
    return Problem(A, sets, kept, by_hops, number, given, known, most)


def _sets(seeds: Any, n: int) -> list[NDArray[np.int64]]:
    if not isinstance(seeds, Iterable) or isinstance(seeds, (str, bytes)):
        seeds = check_vertices(seeds, n, "seeds")
    listed = list(seeds)
    if {*map(type, listed)} == {int}:
        # An array is checked at once, which counts where the search is short.
        groups: list[Any] = [np.array(listed)]
    else:
        several = any(isinstance(each, Iterable) for each in listed)
        groups = listed if several else [listed]
    found = [np.unique(check_vertices(each, n, "seeds")).astype(np.int64) for each in groups]
    for number, each in enumerate(found):
        if len(each) == 0:
            raise InvalidValue(
                f"nominate: set {number} of seeds is empty; name at least one vertex"
            )
    return found


def _numbers(A: Matrix, given: Any, length: int, name: str, of: str = "vertices") -> Any:
    return per_vertex(given, length, name, np, A.device, of=of, finite=True)
