"""Predecessors of shortest paths: by products, or where loops are compiled by one pass."""

from __future__ import annotations

from typing import Any

import numpy as np

from semira import Matrix, Vector
from semira.algorithms import routes
from semira.algorithms.checks import vertex_dtype
from semira.algorithms.sequential import lengths_of, runs_loops
from semira.kernels import ArrayKernel, rows_of, vector_of

_FIND = ArrayKernel("semira.algorithms.kernels:heaps", "find_parents")


def route_tree(A: Matrix, distance: Vector, starts: Any, *, exact: bool) -> Vector:
    """Return what `semira.algorithms.routes.predecessors` does, on hosts by one loop."""
    found = by_loop(A, distance, starts) if exact and runs_loops(A) else None
    return routes.predecessors(A, distance, starts, exact=exact) if found is None else found


def by_loop(A: Matrix, distance: Vector, starts: Any) -> Vector | None:
    """Return for each vertex the smallest one before it, if that is nearer. O(nvals).

    None where a vertex has none of these: its edges have length 0, or infinite ones.
    """
    n = A.nrows
    far = distance.to_dense(-1)
    parent = np.full(n, -1, vertex_dtype(n).np_type)
    parent[starts] = starts
    _FIND(
        1, *rows_of(A, values=False)[:2], lengths_of(A, far.dtype), far, parent,
        device=A.device, work=n + A.nvals, stops=True,
    )  # fmt: skip
    places = (parent >= 0).nonzero()[0]
    if len(places) < distance.nvals:
        return None
    is_whole = len(places) == n
    found: Vector = vector_of(
        parent if is_whole else parent[places], None if is_whole else places, size=n,
        device=A.device,
    )  # fmt: skip
    return found
