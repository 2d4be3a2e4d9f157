"""Breadth-first search as a Program written by hand: what `repeat` records of the algorithm."""

from __future__ import annotations

from typing import Any

import numpy as np

from semira.base.dtypes import BOOL, INT64
from semira.contract import Arg, IndexSpec, Loop, Mask, Program, Slot, Statement
from semira.contract.backend import Capabilities
from semira.formats import MatrixArrays, VectorArrays
from semira.ops.registry import binary, semiring
from semira.plan import plan_program

LEVEL, FRONTIER, GRAPH, DEPTH, ONE, COUNT, ZERO, GOES_ON, LIMIT = range(9)


def bfs_program(
    capabilities: Capabilities,
    *,
    policy: str | None = None,
    explicit_limit: bool = False,
    graph_dtype: Any = BOOL,
) -> Program:
    """Return the planned program; slots are bound as `bfs_bindings` says."""
    slots = (
        Slot("vector", INT64, "inout"),
        Slot("vector", BOOL, "inout"),
        Slot("matrix", graph_dtype),
        Slot("scalar", INT64, "inout"),
        Slot("scalar", INT64),
        Slot("scalar", INT64, "temp"),
        Slot("scalar", INT64),
        Slot("scalar", BOOL, "temp"),
        Slot("scalar", INT64),
    )
    new = (("new", True),)
    body = (
        Statement(
            "assign", LEVEL, (Arg(DEPTH),), mask=Mask(FRONTIER, structural=True, complement=False),
            indices=(IndexSpec("all"),),
        ),
        Statement("apply", DEPTH, (Arg(DEPTH), Arg(ONE)), binary["plus"].typed(INT64)),
        Statement(
            "vxm", FRONTIER, (Arg(FRONTIER), Arg(GRAPH)), semiring["any_pair"].typed(BOOL),
            mask=Mask(LEVEL, structural=True, complement=True), replace=True,
        ),
        Statement("nvals", COUNT, (Arg(FRONTIER),), params=new),
        Statement("apply", GOES_ON, (Arg(COUNT), Arg(ZERO)), binary["gt"].typed(INT64), params=new),
    )  # fmt: skip
    loop = Loop((body,), (GOES_ON,), LIMIT, explicit_limit)
    return plan_program(Program(slots, (loop,)), capabilities, policy)


def bfs_bindings(backend: Any, graph: Any, size: int, source: int, limit: int) -> list[Any]:
    """Return what `bfs_program`'s slots are bound to, with fresh vectors."""
    one = np.array([source], np.int32)
    return [
        backend.put(VectorArrays.empty(size, INT64)),
        backend.put(VectorArrays.sparse(size, BOOL, one, np.ones(1, bool))),
        graph,
        0, 1, None, 0, None, limit,
    ]  # fmt: skip


def iso_graph(indptr: Any, indices: Any, *, symmetric: bool = True) -> MatrixArrays:
    """Return a square BOOL matrix whose entries are all true."""
    size = len(indptr) - 1
    return MatrixArrays(
        size, size, BOOL, "csr", indptr, indices, np.ones(1, bool), iso=True, symmetric=symmetric
    )


def levels_by_numpy(indptr: Any, indices: Any, source: int) -> Any:
    """Return hops from `source`, -1 where unreachable, by whole-frontier steps."""
    level = np.full(len(indptr) - 1, -1, np.int64)
    level[source] = 0
    frontier, depth = np.array([source]), 0
    while len(frontier):
        depth += 1
        parts = [indices[indptr[v] : indptr[v + 1]] for v in frontier]
        reached = np.unique(np.concatenate(parts)) if parts else frontier[:0]
        frontier = reached[level[reached] < 0]
        level[frontier] = depth
    return level
