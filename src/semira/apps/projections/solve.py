"""Projections as products."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from semira import Matrix
from semira.apps.products.filtered import filtered_product, product_blocks
from semira.apps.projections.problem import Problem
from semira.apps.projections.result import Projection
from semira.kernels import array_module, rows_of


def whole_of(problem: Problem) -> Projection:
    """Return the projection of a checked call."""
    # H = A' A, or A A', less its diagonal
    made = filtered_product(problem.left, problem.right, **problem.options)
    if problem.is_symmetric:
        made.symmetric = True
    lost = partial(_lost_pairs, problem, made) if problem.is_whole else None
    return Projection(made, problem.onto, problem.weight, problem.left.nvals, lost)


def blocks_of(problem: Problem) -> Iterator[tuple[int, Matrix]]:
    """Return the blocks of the projection of a checked call."""
    return product_blocks(problem.left, problem.right, **problem.options)


def _lost_pairs(problem: Problem, made: Matrix) -> int:
    """Return how many pairs of entries the weights do not count: 0."""
    with array_module(made.device):
        rows = rows_of(problem.right, values=False)
        degrees = (rows.indptr[1:] - rows.indptr[:-1]).astype("int64")
        less = 1 if problem.options["drop_diagonal"] else 0
        pairs = int((degrees * (degrees - less)).sum())
        return pairs - int(rows_of(made).values.sum())
