"""Greedy colours where objects lie in memory of the device: one launch, no products."""

from __future__ import annotations

from typing import Any

from semira import Matrix, Vector
from semira.algorithms.checks import check_count, vertex_dtype
from semira.algorithms.neighbours import first_word
from semira.kernels import ArrayKernel, Rows, array_module, rows_of, run_loop

_PLACE = "semira.algorithms.kernels:turns"
#: A multiprocessor has room for four blocks: each class of vertices needs one.
_BEGIN = ArrayKernel(_PLACE, "begin_colours", blocks=4, skips_hosts=True)
_KEYS = ArrayKernel(_PLACE, "falling_keys", skips_hosts=True)
_COLOUR = ArrayKernel(_PLACE, "colour_in_turn", lanes=32, skips_hosts=True)
_END = ArrayKernel(_PLACE, "end_colours", lanes=0, skips_hosts=True)


def colours_in_turn(edges: Matrix, seed: int) -> Vector:
    """Return the colours of a greedy scan in falling order of `priorities`.

    The order stays with `edges`, that of the last seed. O(n + nvals), besides sorting n numbers for
    another seed; 4 bytes for each vertex, and 8 that stay.

    Parameters
    ----------
    edges : Matrix, shape (n, n), n > 0
        Of both directions.
    seed : int >= 0

    Raises
    ------
    InvalidValue
        `seed` is negative or no integer.

    References
    ----------
    M. Jones, P. Plassmann, *A parallel graph coloring heuristic*, SIAM J. Scientific Computing
    14, 1993 (who waits for whom); W. Liu, A. Li, J. Hogg, I. Duff, B. Vinter, *A
    synchronization-free algorithm for parallel sparse triangular solves*, Euro-Par 2016 (waiting
    without barriers).
    """
    check_count(seed, "seed")
    n = edges.nrows
    with array_module(edges.device) as xp:
        rows = rows_of(edges, values=False)
        kept: list[Any] = edges.derived("order of turns", lambda: [None, None])
        if kept[0] != seed:
            kept[:] = seed, _order(xp, rows, seed, edges.device)
        start, order, counts = kept[1]
        colour, state = xp.empty(n, vertex_dtype(n).np_type), xp.empty(5, xp.int64)
        run_loop(
            state,
            _COLOUR.launch(n, start, rows.indptr, rows.indices, order, counts, colour, state),
            _END.launch(1, state),
            device=edges.device,
            before=[_BEGIN.launch(n, colour, state)],
        )
        return Vector.from_dense(colour)


def _order(xp: Any, rows: Rows, seed: int, device: str) -> tuple[int, Any, Any]:
    """Return the word of a seed, the vertices by classes and numbers, the sizes of classes."""
    n, start = rows.shape[0], first_word(seed)
    keys, counts = xp.empty(n, xp.uint64), xp.zeros(4, xp.int64)
    _KEYS(n, start, rows.indptr, keys, counts, device=device)
    return start, xp.argsort(keys), counts
