"""Sparse fused lasso: values that are close to given ones, and equal over most edges."""

from __future__ import annotations

from typing import Any

import numpy as np

from semira import Matrix
from semira.algorithms.checks import check_count, check_number
from semira.algorithms.naming import values_of
from semira.apps.lasso.cuts import split
from semira.apps.lasso.problem import check_graph, memory, problem_of
from semira.apps.lasso.result import FusedLasso
from semira.apps.lasso.solve import certify, choose, descend
from semira.apps.named import takes_graph
from semira.kernels import array_module

__all__ = ["FusedLasso", "fused_lasso", "memory"]


@takes_graph(y=values_of)
def fused_lasso(
    A: Matrix,
    /,
    y: Any,
    *,
    lambda1: float = 0.0,
    lambda2: float = 1.0,
    weighted: bool = True,
    solver: str = "auto",
    tolerance: float = 1e-6,
    max_iterations: int = 20_000,
) -> FusedLasso:
    """Return values near to given ones that jump over few edges, and are 0 at many vertices.

    Minimises ``0.5 |x - y|^2 + lambda1 |x|_1 + lambda2 sum of w_ij |x_i - x_j|`` over the edges:
    the sparse fused lasso, also called graph trend filtering or total variation denoising.

    Parameters
    ----------
    A : Matrix or Graph, shape (n, n), BOOL, integers or floats
        Entry (i, j) is the weight w >= 0 of the edge between i and j. Each edge counts once: of two
        opposite entries the greater one. Self-loops do not count. Not modified.
    y : Vector or array, shape (n,), real, or mapping of names
        A value for each vertex.
    lambda1 : float >= 0
        Price of values other than 0.
    lambda2 : float >= 0
        Price of differences over edges.
    weighted : bool
        Read the weights; else all are 1.
    solver : {"auto", "cuts", "primal_dual"}
        ``"cuts"`` is exact: parts split at minimum cuts. ``"primal_dual"`` takes accelerated
        gradient steps until the gap is small. ``"auto"`` is the first on hosts, the second on
        GPUs; ``result.reason`` tells.
    tolerance : float >= 0
        ``"primal_dual"`` stops when the duality gap is at most so much of the objective.
    max_iterations : int >= 1
        Most steps of ``"primal_dual"``, up to the next multiple of 50.

    Returns
    -------
    FusedLasso
        ``x``, ``objective``, ``gap``, ``relative_gap``, ``converged``, ``facts()``.

    Raises
    ------
    DomainMismatch, DimensionMismatch
        `A` is no Matrix of real numbers, or not square; `y` is of another size or dtype.
    NegativeWeight, InvalidWeight
        A weight is negative, or NaN.
    InvalidValue
        A value of `y` is missing or not finite; a parameter is out of range; there is no such
        solver.
    OutOfMemory
        The arrays do not fit into the memory that is free; `memory` tells the bytes.

    Notes
    -----
    The report calls our `lambda2` lambda1, and our `lambda1` lambda2.

    ``"cuts"`` [1]_: all vertices are one part. A maximum flow sends what vertices exceed the mean
    of their part by to those below it, over edges that carry ``lambda2 w`` at most. What cannot get
    there splits the part along full edges, and both sides go on around their own means. One maximum
    flow for all parts of a level; some 10 to 40 levels. Values are counted in units of
    ``sum |y - mean| / 2**58`` (or ``max |y| / 2**58``), so that every device computes the same x.

    ``"primal_dual"``: two products with the incidence matrix and a clip in each step, O(n + nvals),
    all in one launch of a GPU. The number of steps grows with `lambda2`. Vertices that edges below
    their limits join get the mean of their part, if that is better.

    Drawing the result towards 0 by `lambda1` afterwards is exact [2]_. The duality gap is that of
    x and the flow u over the edges, summed in FP64: no other x has an objective smaller by more.

    References
    ----------
    .. [1] D. Hochbaum, *An efficient algorithm for image segmentation, Markov random fields and
       related problems*, J. ACM 48, 2001; A. Chambolle, J. Darbon, *On total variation minimization
       and surface evolution using parametric maximum flows*, Int. J. Computer Vision 84, 2009.
    .. [2] J. Friedman, T. Hastie, H. Höfling, R. Tibshirani, *Pathwise coordinate optimization*,
       Annals of Applied Statistics 1, 2007.

    Examples
    --------
    A path of six vertices:

    >>> A = Matrix.from_coo(range(5), range(1, 6), 1, nrows=6, ncols=6)
    >>> found = fused_lasso(A, [1, 2, 3, 10, 11, 12], lambda1=0.5, lambda2=1)
    >>> found.to_array().round(6).tolist()
    [1.5, 1.5, 2.5, 9.5, 10.5, 10.5]
    >>> round(found.objective, 6), found.relative_gap < 1e-12
    (28.75, True)
    """
    check_graph(A)
    solver, reason = choose(solver, A.device)
    tolerance = check_number(tolerance, "tolerance")
    most = check_count(max_iterations, "max_iterations", 1)
    with array_module(A.device) as xp:
        problem = problem_of(A, y, lambda1, lambda2, weighted, xp)
        if solver == "cuts":
            levels = split(problem)
            x = levels.x
            x = xp.sign(x) * xp.maximum(abs(x) - problem.threshold, 0)
            found, iterations = certify(problem, x, levels.flow), levels.levels
        else:
            found = descend(problem, tolerance, most)
            iterations = found.steps
        x, given = (xp.ldexp(each, xp.int32(problem.exponent)) for each in (found.x, problem.y))
    gap = max(found.gap, 0.0)
    with np.errstate(over="ignore", under="ignore"):  # of large or small `y` infinite, or 0
        objective, absolute = np.ldexp([found.objective, gap], 2 * problem.exponent).tolist()
    return FusedLasso(
        solver, reason, iterations, objective, absolute,
        gap / found.objective if found.objective else 0.0, gap <= tolerance * found.objective,
        A.device, x, given,
    )  # fmt: skip
