"""How many pairs of vertices paths certainly connect, and whether their distances fit."""

from __future__ import annotations

from typing import Any

import numpy as np

from semira import Matrix, Vector, device, free_memory, semiring
from semira.algorithms.strongly_connected_components import strongly_connected_components
from semira.exceptions import OutOfMemory

#: Bytes that are not worth asking about.
_SMALL = 1 << 26

#: How far one vertex is followed to see how many pairs there are for certain.
_HOPS = 1000

#: Bytes of an index in a row of the distances, and of a predecessor's number.
_INDEX = 4


def check_pairs(A: Matrix, number: Any, predecessors: bool) -> None:
    """Check that the distances that certainly exist fit into memory.

    With `predecessors` there is one with each. Raises OutOfMemory if they do not, counting the
    blocks that the result is assembled from. Nothing is asked unless n**2 distances would be too
    many; then O(n + nvals) for the pairs.
    """
    n, entry = A.nrows, _INDEX + number.itemsize
    # The blocks and the result that they are joined to; first of distances, then of predecessors.
    width = max(2 * entry, entry + 4 * _INDEX if predecessors else 0)
    room = free_memory(A.device) if n * n * width > _SMALL else None
    if room is None or n * n * width <= room:
        return
    pairs = _around_the_middle(A)
    if pairs * width <= room:
        # All vertices of a strong component reach each other.
        pairs = int((strongly_connected_components(A).sizes ** 2).sum())
    if pairs * width > room:
        needed = pairs * width
        raise OutOfMemory(
            f"distances of {n} vertices need at least {needed} bytes ({needed / 2**30:,.1f} GiB: "
            f"{pairs} pairs of {width} bytes while blocks are joined), but {room} bytes "
            f"({room / 2**30:,.1f} GiB) are available on {A.device!r}; use sssp or "
            "multi_source_bfs from the vertices in question, fewer vertices, or dtype='FP32'"
        )


def _around_the_middle(A: Matrix) -> int:
    """Return the pairs with a path over the vertex of most edges, within `_HOPS` of it."""
    vertices, degrees = A.reduce_rowwise("count").new().to_coo()
    if len(vertices) == 0:
        return 0
    middle = int(vertices[np.argmax(degrees)])
    reached, reaching = (_count_reached(each, middle, A.device) for each in (A, A.T))
    return reached * reaching


def _count_reached(A: Any, source: int, where: str) -> int:
    """Return how many vertices `source` leads to within `_HOPS` edges, itself included."""
    with device(where):
        frontier = Vector.from_coo([source], [True], size=A.nrows)
    found = frontier.dup()
    for _ in range(_HOPS):
        frontier(~found.S, replace=True) << frontier.vxm(A, semiring.any_pair)
        if frontier.nvals == 0:
            break
        found(frontier.S) << True
    return int(found.nvals)
