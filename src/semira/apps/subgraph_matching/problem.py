"""What a match is looked for: the pattern checked, the order of its vertices, the rules of each."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import semira as gb
from semira.algorithms.checks import check_count, check_square
from semira.apps.arrays import per_vertex
from semira.exceptions import InvalidValue, NotImplementedException

#: Vertices of a pattern at most.
MOST = 8

#: Bits of rules; see kernels/joins.py.
_TO, _FROM, _NOT_TO, _NOT_FROM, _GREATER, _SMALLER = 1, 2, 4, 8, 16, 32


class Pattern(NamedTuple):
    """A pattern on the host."""

    #: ndarray of bool, shape (k, k).
    edges: NDArray[np.bool_]
    #: ndarray, shape (k, k). 0 without an edge.
    values: NDArray[Any]
    #: None: any label.
    labels: list[int | None]


class Step(NamedTuple):
    """What is asked of the next vertex."""

    label: int | None
    #: Entries of its row at least.
    degree: int
    #: 1 it must have a loop, 2 it must not, 0 whatever.
    loop: int
    #: ndarray of int64, shape (max(1, earlier vertices),).
    rules: NDArray[np.int64]
    #: ndarray, shape (2 * earlier vertices + 1,). Values of the edges to and from each earlier
    #: vertex, then of the loop.
    wanted: NDArray[Any]


def check(A: Any, pattern: Any, labels: Any, pattern_labels: Any, limit: Any) -> None:
    """Check matrices and the limit; raises what `subgraph_match` raises."""
    check_square(A, "subgraph_match")
    check_square(pattern, "subgraph_match(pattern=)")
    if not 1 <= pattern.nrows <= MOST:
        raise InvalidValue(
            f"subgraph_match: the pattern has {pattern.nrows} vertices; pass one of 1 to {MOST}"
        )
    if (labels is None) != (pattern_labels is None):
        has, lacks = ("the graph", "the pattern")[:: 1 if pattern_labels is None else -1]
        raise InvalidValue(
            f"subgraph_match: {has} has labels and {lacks} has none; pass both, or neither"
        )
    if A.nrows >= 2**31:
        raise NotImplementedException(
            f"subgraph_match: the graph has {A.nrows} vertices; less than 2**31 are supported"
        )
    check_count(limit, "limit")


def pattern_of(pattern: Any, labels: Any, dtype: Any) -> Pattern:
    """Return the pattern on the host; `dtype` is that of its values, None if they do not count."""
    k = pattern.nrows
    i, j, x = pattern.to_coo()
    edges = np.zeros((k, k), bool)
    edges[i, j] = True
    values = np.zeros((k, k), np.int64 if dtype is None else dtype)
    if dtype is not None:
        values[i, j] = x
    return Pattern(edges, values, _pattern_labels(labels, k))


def _pattern_labels(labels: Any, k: int) -> list[int | None]:
    if labels is None:
        return [None] * k
    given = per_vertex(
        labels, k, "subgraph_match: pattern_labels", np, "cpu", kinds="biu", missing=0
    )
    each: list[int | None] = [int(label) for label in given]
    if isinstance(labels, gb.Vector):
        found = labels.to_dict()
        each = [found.get(at) for at in range(k)]
    _check_largest(max((label for label in each if label is not None), default=0))
    return each


def _check_largest(label: int) -> None:
    if label >= 2**63:
        raise InvalidValue(f"subgraph_match: a label is {label}; labels are less than 2**63")


def labels_of(labels: Any, A: Any, xp: Any) -> Any:
    """Return the labels of the graph as an array of the device.

    Raises what `subgraph_match` raises.
    """
    given = per_vertex(labels, A.nrows, "subgraph_match: labels", xp, A.device, kinds="biu")
    if given.dtype == np.uint64 and len(given):
        _check_largest(int(given.max()))
    return given.astype(xp.int64)


def automorphisms(pattern: Pattern) -> list[tuple[int, ...]]:
    """Return the permutations of the pattern's vertices that keep labels, edges and values."""
    k = len(pattern.edges)
    found: list[tuple[int, ...]] = []

    def goes(images: list[int], image: int) -> bool:
        own, longer = len(images), [*images, image]
        if image in images or pattern.labels[own] != pattern.labels[image]:
            return False
        return all(
            np.array_equal(table[own, : own + 1], table[image, longer], equal_nan=True)
            and np.array_equal(table[: own + 1, own], table[longer, image], equal_nan=True)
            for table in (pattern.edges, pattern.values)
        )

    def search(images: list[int]) -> None:
        if len(images) == k:
            found.append(tuple(images))
            return
        for image in range(k):
            if goes(images, image):
                search([*images, image])

    search([])
    return found


def order_of(pattern: Pattern, frequency: dict[int | None, int]) -> list[int]:
    """Return the vertices of the pattern in the order in which they are matched.

    First the one with the rarest label, then always one with the most edges to those before;
    ties by rarity, then by degree.
    """
    joined = pattern.edges | pattern.edges.T
    np.fill_diagonal(joined, False)
    order: list[int] = []
    while len(order) < len(joined):
        rest = [v for v in range(len(joined)) if v not in order]
        order.append(
            min(
                rest,
                key=lambda v: (
                    -int(joined[v, order].sum()),
                    frequency.get(pattern.labels[v], 0),
                    -int(joined[v].sum()),
                    v,
                ),
            )
        )
    return order


def smaller_pairs(symmetries: list[tuple[int, ...]], order: list[int]) -> set[tuple[int, int]]:
    """Return pairs (u, v): the match of u must be smaller than that of v.

    Of the matches that differ by a symmetry of the pattern, exactly one obeys (Grochow, Kellis).
    """
    pairs: set[tuple[int, int]] = set()
    left = symmetries
    for vertex in order:
        pairs |= {(vertex, each[vertex]) for each in left if each[vertex] != vertex}
        left = [each for each in left if each[vertex] == vertex]
    return pairs


def steps_of(
    pattern: Pattern, order: list[int], smaller: set[tuple[int, int]], induced: bool
) -> list[Step]:
    """Return what is asked of each vertex, in the order of matching."""
    edges, values = pattern.edges, pattern.values
    absent = (_NOT_TO, _NOT_FROM) if induced else (0, 0)
    steps = []
    for depth, new in enumerate(order):
        rules = np.zeros(max(1, depth), np.int64)
        wanted = np.zeros(2 * depth + 1, values.dtype)
        for j, old in enumerate(order[:depth]):
            rules[j] |= _TO if edges[new, old] else absent[0]
            rules[j] |= _FROM if edges[old, new] else absent[1]
            rules[j] |= _GREATER if (old, new) in smaller else 0
            rules[j] |= _SMALLER if (new, old) in smaller else 0
            wanted[2 * j], wanted[2 * j + 1] = values[new, old], values[old, new]
        wanted[-1] = values[new, new]
        loop = 1 if edges[new, new] else (2 if induced else 0)
        steps.append(Step(pattern.labels[new], int(edges[new].sum()), loop, rules, wanted))
    return steps
