"""Linear assignment: pairs of rows and columns with the least sum of costs."""

from __future__ import annotations

from typing import Any

import numpy as np

from semira import Matrix
from semira.apps.arrays import on_host
from semira.apps.assignment.problem import checked, device_of
from semira.apps.assignment.result import AssignmentResult
from semira.apps.assignment.solve import Found, assign, check_method, memory
from semira.kernels import array_module

__all__ = ["AssignmentResult", "linear_sum_assignment", "memory"]


def linear_sum_assignment(
    cost: Matrix | Any, maximize: bool = False, *, absent: str = "zero", method: str = "auto"
) -> AssignmentResult:
    """Return pairs of rows and columns that have the least sum of costs.

    Every row is given a column of its own; if there are more rows than columns, every column a row.
    The result has dual values too, which prove that no other assignment is better.

    Parameters
    ----------
    cost : Matrix or array_like, shape (rows, columns), real numbers
        Costs of pairs. A Matrix or an array of CuPy is solved where it lies, other arrays on the
        device where new objects go. ``inf`` (``-inf`` with `maximize`) must not be chosen.
        Not modified.
    maximize : bool
        Find the greatest sum instead.
    absent : {"zero", "forbidden"}
        What a pair without an entry in a Matrix means: it costs 0, or must not be chosen, as in
        SciPy's ``min_weight_full_bipartite_matching``.
    method : {"auto", "paths", "auction"}
        ``"paths"`` finds shortest augmenting paths [1]_ among the least costs of each row, and is
        for hosts. ``"auction"`` raises prices until every row has a column that is best for it
        [2]_; the rows bid at the same time. Both end only when the sum is optimal. ``"auto"`` takes
        paths on hosts. On ``cuda`` it takes the auction, and leaves costs that this would round too
        far to paths on the host: ``method`` of the result tells.

    Returns
    -------
    AssignmentResult
        Unpacks into ``row_ind, col_ind`` like SciPy's result. Also ``cost``, ``gap`` and the dual
        values ``u``, ``v``.

    Raises
    ------
    DomainMismatch
        Costs are no real numbers.
    DimensionMismatch
        They have other than two dimensions.
    InvalidValue
        There is NaN, or an infinite cost of the wrong sign; no assignment avoids what must not be
        chosen; an option is unknown, or ``"paths"`` is asked for on a GPU; the sum is infinite.
        ``"auction"`` is asked for, and would round costs too far beside the largest one.
    OutOfMemory
        It does not fit.

    Notes
    -----
    ``"paths"`` reads the costs about twice, then little: most searches end within the 16 least
    costs of the rows they meet. At worst O(n^3). ``"auction"`` reads a row, on a GPU
    a list of its 64 best columns, for each bid; the number of bids grows little faster than n on
    random costs. It computes with integers of 58 bits: costs that are integers are exact. Others
    are rounded to 2**-32 of the largest, finer for n above 1,000, and, if the proof fails, again to
    all bits, about 2**-44 at n = 5,000. If that is more than 1e-8 of their median, or the proof
    fails again, it ends. `memory` tells the bytes beside the costs. Neither waits for
    the other rows in an order that depends on threads: the same call returns the same pairs, on
    ``reference`` and ``cpu`` the same ones too. Where several assignments are best, paths and
    auction may find different ones.

    The proof is computed from the costs as given: ``u[i]`` is the least ``cost[i, j] - v[j]``, and
    the sum of all ``u`` and ``v`` is a lower bound.

    References
    ----------
    .. [1] R. Jonker, A. Volgenant, *A shortest augmenting path algorithm for dense and sparse
       linear assignment problems*, Computing 38, 1987; A. Volgenant, *Linear and semi-assignment
       problems: a core oriented approach*, Computers and Operations Research 23, 1996.
    .. [2] D. P. Bertsekas, *The auction algorithm: a distributed relaxation method for the
       assignment problem*, Annals of Operations Research 14, 1988.

    Examples
    --------
    >>> from semira.algorithms import linear_sum_assignment
    >>> found = linear_sum_assignment([[4, 1, 3], [2, 0, 5], [3, 2, 2]])
    >>> row_ind, col_ind = found
    >>> col_ind.tolist(), found.cost, found.gap
    ([1, 0, 2], 5.0, 0.0)

    Benefits of a sparse matrix, where other pairs are worth nothing:

    >>> from semira import Matrix
    >>> benefits = Matrix.from_coo([0, 1, 2], [1, 1, 0], [5, 7, 1], nrows=3, ncols=3)
    >>> linear_sum_assignment(benefits, maximize=True).col_ind.tolist()
    [2, 1, 0]
    """
    device = device_of(cost)
    with array_module(device) as xp:
        costs, turned = checked(cost, maximize, absent, xp)
        if not costs.rows:
            check_method(method, device)
            return _result(_nothing(costs.columns, method), costs.sign, turned)
        return _result(assign(costs, method, device, xp), costs.sign, turned)


def _nothing(columns: int, method: str) -> Found:
    none = np.zeros(0)
    return Found(np.zeros(0, np.int32), np.zeros(columns), none, none, method, 0)


def _result(found: Found, sign: float, turned: bool) -> AssignmentResult:
    columns = on_host(found.column_of)
    row_ind, col_ind = np.arange(len(columns)), columns.astype(np.int64)
    u, v, taken = sign * found.u, sign * found.v, sign * found.taken
    if turned:
        order = np.argsort(col_ind)
        row_ind, col_ind, taken, u, v = col_ind[order], row_ind[order], taken[order], v, u
    return AssignmentResult(row_ind, col_ind, taken + 0.0, u, v + 0.0, found.method, found.steps)
