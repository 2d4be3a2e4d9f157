"""PageRank where loops of hosts are compiled: an iteration is one pass over the vertices."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira import Matrix, Scalar, Vector, device
from semira.algorithms.checks import check_count
from semira.algorithms.pagerank_terms import Personalisation, kept_terms
from semira.algorithms.results import PageRankResult
from semira.algorithms.searches import backward
from semira.algorithms.sequential import runs_loops
from semira.kernels import ArrayKernel, rows_of, run_loop

_PLACE = "semira.algorithms.kernels:ranks"
_RANK = ArrayKernel(_PLACE, "rank_all")
_DECIDE = ArrayKernel(_PLACE, "decide")
_ALONE = ArrayKernel(_PLACE, "rank_alone")

#: Vertices whose changes are added up together, in the same order by any number of threads.
_WIDTH = 512

#: Vertices and entries of all iterations up to which one thread runs them without a pause: some
#: milliseconds.
_SHORT = 1 << 22


def ranks_in_one_pass(A: Matrix, opts: Any) -> bool:
    """Return whether the device has compiled loops, and the graph edges, whose reverse it keeps."""
    return A.nvals > 0 and A.memory != "lean" and runs_loops(A, opts)


def rank_in_one_pass(
    A: Matrix, damping: float, weighted: bool, personalisation: Personalisation, number: Any,
    tol: float, max_iterations: int,
) -> PageRankResult:  # fmt: skip
    """Return the ranks; the arguments are those of `pagerank`.

    Each vertex pulls from its in-edges, which stay with `A`, and says at once how far it moved and
    what it hands on. What blocks of vertices sum up is added in their order.
    """
    n, where, most = A.nrows, A.device, check_count(max_iterations, "max_iterations", 1)
    inward = backward(A)
    rows = rows_of(inward, values=weighted, dtype=number)
    scale, sinks, starts = kept_terms(A, damping, weighted, personalisation, number)
    none = np.empty(0, number.np_type)
    gaps = none if sinks is None else sinks.to_dense(0)
    anew = none if starts is None else starts.to_dense()
    each = 1.0 if len(anew) else 1 / n
    rank = anew.copy() if len(anew) else np.full(n, each, number.np_type)
    share = np.empty(2 * n, number.np_type)
    scales = scale.to_dense()
    np.multiply(rank, scales, out=share[:n])
    blocks = -(-n // _WIDTH)
    sums, state = np.zeros(2 * blocks), np.zeros(3, np.int64)
    lost = float(np.sum(rank * gaps)) if len(gaps) else 0.0
    numbers = np.array([0.0, (lost * damping + (1 - damping)) * each])
    values = none if rows.values is None else rows.values
    given = (
        rows.indptr, rows.indices, values, scales, gaps, anew, rank, share, sums, _WIDTH,
        numbers, state,
    )  # fmt: skip
    if (n + A.nvals) * most <= _SHORT:
        _ALONE(1, *given, damping, each, tol, most, device=where)
    else:
        _repeat(given, rows.indptr, (blocks, damping, each, tol, most), where)
    with device(where):
        change = Scalar.from_value(numbers[0], number)
        ranks = Vector.from_dense(rank)
    return PageRankResult(int(state[1]), (), ranks, bool(state[2]), change)


def _repeat(
    given: tuple[Any, ...], indptr: NDArray[Any], ends: tuple[Any, ...], where: str
) -> None:
    """Run iterations that threads share, until ranks stay or there were enough."""
    sums, numbers, state = given[8], given[10], given[11]
    blocks = ends[0]
    work = indptr[np.minimum(np.arange(blocks + 1) * _WIDTH, len(indptr) - 1)]
    run_loop(
        state,
        _RANK.launch(blocks, *given, work=work),
        _DECIDE.launch(1, sums, *ends, numbers, state),
        device=where,
    )
