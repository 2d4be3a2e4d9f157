"""Shortest paths with a moving window: only vertices near to the nearest open one are relaxed."""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np

from semira import (
    LoopResult,
    Matrix,
    ProductOptions,
    Scalar,
    Vector,
    binary,
    dtypes,
    monoid,
    repeat,
    select,
    semiring,
)
from semira.algorithms.checks import check_lengths, check_number
from semira.algorithms.results import SSSPResult, finished
from semira.exceptions import InvalidValue

#: Factor of mean weight / mean degree in the default width (Davidson et al. 2014: a warp's width).
_BREADTH = 32


def moving_window(
    A: Matrix, near: Vector, distance: Vector, delta: float | None, **opts: Unpack[ProductOptions]
) -> SSSPResult:
    """Return shortest-path lengths, from where a search stands on; see `sssp`, which checks.

    Parameters
    ----------
    A : Matrix, shape (n, n)
        Lengths of edges, none negative.
    near : Vector, shape (n,), FP32 or FP64
        Distances of the vertices to go on from. Changed.
    distance : Vector of the same shape and dtype
        Of all vertices reached so far. Becomes the result's.
    delta : float or None
        Width of the window. None: 32 mean weights / mean degree.
    **opts
        Options of the product.

    Raises
    ------
    InvalidWeight, NegativeWeight
        A weight is negative or NaN.
    InvalidValue
        `delta` is not positive.

    Notes
    -----
    An iteration relaxes the open vertices that lie at most `delta` beyond the one that was nearest
    an iteration before, so that the nearest one need not be known before the vertices are chosen.
    If there is none, the next iteration has one; each that has one settles the nearest vertex. So
    there are at most 2 n iterations, of O(vertices and edges they look at, plus open vertices).
    An infinite `delta` is Bellman-Ford.

    References
    ----------
    X. Dong, Y. Gu, Y. Sun, Y. Zhang, *Efficient stepping algorithms and implementations for
    parallel shortest paths*, SPAA 2021, section 3 (without buckets); A. Davidson, S. Baxter, M.
    Garland, J. Owens, *Work-efficient parallel GPU methods for single-source shortest paths*,
    IPDPS 2014 (its piles near and far).

    Examples
    --------
    >>> A = Matrix.from_coo([0, 0, 2], [1, 2, 1], [7, 2, 3], nrows=4, ncols=4)
    >>> start = Vector.from_coo([0], 0.0, size=4)
    >>> moving_window(A, start, start.dup(), 2.5).distance.to_dict()
    {0: 0.0, 1: 5.0, 2: 2.0}
    """
    n, dtype = A.nrows, distance.dtype
    check_lengths(A, "moving_window", dtype)
    # A number of the dtype of distances: then `end` is rounded like them.
    delta = window_width(A, delta, dtype)
    min_plus = semiring.min_plus[dtype]
    waiting, shorter = Vector(dtype, n), Vector(dtype, n)
    end = Scalar.from_value(delta, dtype)

    def step() -> Any:
        _relax(A, near, distance, shorter, waiting, min_plus, opts)
        near << waiting.select(select.valuele, end)
        end << waiting.reduce(monoid.min) + delta
        return waiting.nvals > 0

    loop = finished(repeat(step, max_iterations=2 * n))
    return SSSPResult(loop.iterations, loop.trace, distance, "window", float(delta))


def begin_near(
    A: Matrix, near: Vector, distance: Vector, iterations: int, **opts: Unpack[ProductOptions]
) -> tuple[LoopResult, Vector]:
    """Return how a search begins whose first steps take near vertices alone, and what is open then.

    Lengths of edges are checked, none is negative. `near` and `distance` are as in `moving_window`;
    both are changed. What is open are the distances of the vertices still to relax: none if the
    search ends within `iterations`.

    The window is as narrow as mean weight / mean degree, and begins at the vertex that is nearest
    now: each iteration relaxes somebody. Where a few vertices have most of the edges these are
    near, and all others get short paths over them before they are relaxed themselves: Kronecker
    graphs have every edge read once in place of three times, in an iteration more at most.

    Examples
    --------
    >>> A = Matrix.from_coo([0, 0, 2], [1, 2, 1], [7.0, 2.0, 3.0], nrows=4, ncols=4)
    >>> start = Vector.from_coo([0], 0.0, size=4)
    >>> loop, waiting = begin_near(A, start, start.dup(), 2)
    >>> waiting.to_dict()
    {1: 5.0}
    """
    dtype = distance.dtype
    delta = window_width(A, None, dtype, breadth=1)
    min_plus = semiring.min_plus[dtype]
    waiting, shorter = Vector(dtype, A.nrows), Vector(dtype, A.nrows)
    end = Scalar(dtype)
    # A pull would read every edge, in each iteration.
    opts.setdefault("direction", "push")

    def step() -> Any:
        _relax(A, near, distance, shorter, waiting, min_plus, opts)
        end << waiting.reduce(monoid.min) + delta
        near << waiting.select(select.valuele, end)
        return waiting.nvals > 0

    return finished(repeat(step, max_iterations=iterations)), waiting


def _relax(
    A: Matrix,
    near: Vector,
    distance: Vector,
    shorter: Vector,
    waiting: Vector,
    min_plus: Any,
    opts: Any,
) -> None:
    # t = near min.+ A; of t keep what is new or shorter
    reached = near.vxm(A, min_plus).new(**opts)
    worse = reached.ewise_mult(distance, binary.ge).new()
    shorter(~worse.V, replace=True) << reached
    distance(shorter.S) << shorter
    # Open are those that wait, less those just relaxed, plus those that got shorter.
    waiting(~near.S, replace=True) << waiting
    waiting(shorter.S) << shorter


def window_width(A: Matrix, delta: float | None, dtype: Any, breadth: int = _BREADTH) -> Any:
    """Return the width of a window or bucket: the one asked for, or one from means over the graph.

    Its dtype is that of distances. One beyond its largest number is infinite, as wide as the number
    asked for is among such distances; one below its least number is that number. Mean weight / mean
    degree is multiplied by `breadth`. Raises InvalidValue if `delta` is not positive.
    """
    width = _mean_width(A, breadth) if delta is None else check_number(delta, "delta")
    if width == 0:
        raise InvalidValue(f"delta={delta!r} must be positive")
    number = dtype.np_type.type
    with np.errstate(over="ignore", under="ignore"):
        return max(number(width), np.finfo(number).smallest_subnormal)


def _mean_width(A: Matrix, breadth: int) -> float:
    total = A.reduce_scalar(monoid.plus[dtypes.FP64], allow_empty=False).value
    mean_degree = A.nvals / A.nrows
    mean_weight = total / max(A.nvals, 1)
    return float(breadth * mean_weight / max(mean_degree, 1)) or 1.0
