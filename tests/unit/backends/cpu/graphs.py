"""Small graphs and a breadth-first search, as a Program, for tests of this backend."""

from __future__ import annotations

from typing import Any

import numpy as np
from tests.helpers.programs import Bench, method_plan, statement, typed

from semira.base.dtypes import BOOL, INT64
from semira.contract import IndexSpec, Loop, Mask
from semira.formats import MatrixArrays, ScalarArrays, VectorArrays, coo_to_matrix


def grid(side: int) -> MatrixArrays:
    """Return the pattern of a side x side grid."""
    cell = np.arange(side * side).reshape(side, side)
    start = np.concatenate([cell[:, :-1].ravel(), cell[:-1].ravel()])
    end = np.concatenate([cell[:, 1:].ravel(), cell[1:].ravel()])
    rows, cols = np.concatenate([start, end]), np.concatenate([end, start])
    return coo_to_matrix(side * side, side * side, rows, cols, None, dtype=BOOL)


def grid_levels(side: int) -> Any:
    """Return the distance of each cell from the first corner."""
    return np.add.outer(np.arange(side), np.arange(side)).ravel()


class Search:
    """A breadth-first search from vertex 0, to be run and looked at."""

    def __init__(
        self, backend: Any, graph: MatrixArrays, method: str, limit: int = 1_000_000
    ) -> None:
        self.bench = bench = Bench(backend)
        size = graph.nrows
        matrix = bench.object(backend.put(graph), BOOL)
        self.level = bench.object(backend.put(VectorArrays.empty(size, INT64)), INT64, "inout")
        first = VectorArrays.sparse(size, BOOL, np.zeros(1, np.int32), np.ones(1, bool))
        self.frontier = bench.object(backend.put(first), BOOL, "inout")
        self.depth = bench.object(backend.put(ScalarArrays(INT64, np.int64(0))), INT64, "inout")
        count = bench.object(backend.put(ScalarArrays(INT64, None)), INT64, "inout")
        more = bench.object(backend.put(ScalarArrays(BOOL, None)), BOOL, "inout")
        one, zero = bench.slot("scalar", INT64, 1), bench.slot("scalar", INT64, 0)
        body = (
            statement(
                "assign", self.level, [self.depth],
                mask=Mask(self.frontier, True, False), indices=(IndexSpec("all"),),
            ),
            statement("apply", self.depth, [self.depth, one], typed("BinaryOp", "plus", INT64)),
            statement(
                "vxm", self.frontier, [self.frontier, matrix], typed("Semiring", "any_pair", BOOL),
                mask=Mask(self.level, True, True), replace=True, plan=method_plan("vxm", method),
            ),
            statement("nvals", count, [self.frontier]),
            statement("apply", more, [count, zero], typed("BinaryOp", "gt", INT64)),
        )  # fmt: skip
        self.loop = Loop((body,), (more,), bench.slot("scalar", INT64, limit), True)

    def run(self) -> Any:
        """Run to the end; returns the outcome."""
        return self.bench.run(self.loop)

    def get(self, slot: int) -> Any:
        """Return the arrays of one of the slots."""
        return self.bench.backend.get(self.bench.bindings[slot])
