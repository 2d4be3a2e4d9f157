"""Dot products, rows, or a pull into a block: the plan's rule with the counts of a product."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from semira.backends.cuda.staged.blocks import Weighing
from semira.backends.cuda.staged.full import is_full
from semira.backends.cuda.staged.job import Job
from semira.backends.cuda.staged.pieces import Pieces
from semira.contract import SHARED


def chosen_method(job: Job) -> int:
    """Return the index of the plan's method for what is bound; waits where it has to count.

    A full operand has products of its own under a mask, which are dot products; so has a block of
    vectors for which there is no memory.
    """
    plan = job.statement.plan
    if plan is None or len(plan.methods) == 1 or is_full(job, 0) or is_full(job, 1):
        return 0
    chosen = int(job.stage.executable.rule(_counts(job), -1))
    if plan.methods[chosen].name == "pull" and not Weighing(job).fits():
        return 0
    return chosen


def _counts(job: Job) -> Callable[[str], float]:
    """Return what tells the counts that the rule of a masked product names.

    Those of the mask and of B are bounds where only the device knows.
    """
    work = cache(lambda: dict(zip(("open_edges", "frontier_edges"), _work(job), strict=True)))
    rows, cols = job.shape
    sizes = {
        "block": rows, "shared": max(1, min(rows, SHARED)), "cols": cols,
        "nnz": job.matrix(1).most, "open_rows": job.stage.operands["mask"].most,
    }  # fmt: skip
    return lambda name: float(sizes[name] if name in sizes else work()[name])


def _work(job: Job) -> list[int]:
    """Return looks of dot products, and pairs multiplied row by row; waits."""
    stage, (nrows, _) = job.stage, job.shape
    a = job.operand(0, "a", with_rows=False)
    mask: Pieces = stage.operands["mask"]
    totals = stage.scratch.zeros(16)
    stage.primitives.module.launch(
        stage.offset_type, "semira_count_masked_work", 32 * nrows, a.indptr, a.indices,
        mask.indptr, mask.indices, nrows, *_lengths(job), totals,
    )  # fmt: skip
    return [int(n) for n in stage.runtime.download(totals, np.int64, 2)]


def _lengths(job: Job) -> tuple[Any, Any]:
    """Return the lengths of B's columns and rows; no orientation is made for them."""
    matrix, is_turned = job.matrix(1), job.statement.args[1].transposed
    matrix.need(next(iter(matrix.orientations)))
    of_columns, of_rows = (matrix.line_lengths(name) for name in ("csr", "csc"))
    return (of_rows, of_columns) if is_turned else (of_columns, of_rows)
