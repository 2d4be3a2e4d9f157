"""Greedy colours in waves, where objects lie in memory of the device: one launch, no products."""

from __future__ import annotations

from semira import Matrix, Vector, device_traits
from semira.algorithms.checks import vertex_dtype
from semira.kernels import ArrayKernel, array_module, rows_of, run_loop

_PLACE = "semira.algorithms.kernels:waves"
_COUNT = ArrayKernel(_PLACE, "count_greater", lanes=8)
_COLOUR = ArrayKernel(_PLACE, "colour_wave", lanes=32)
_NEXT = ArrayKernel(_PLACE, "next_wave", lanes=0)


def colours_in_waves(edges: Matrix, numbers: Vector) -> tuple[Vector, int]:
    """Return the colours of a greedy scan in falling order of numbers, and how many waves it takes.

    In a wave are the vertices none of whose neighbours of a greater number is left: as many waves
    as the longest path of falling numbers has vertices. O(n + nvals), 12 bytes for each vertex.

    Parameters
    ----------
    edges : Matrix, shape (n, n)
        Of both directions.
    numbers : Vector, shape (n,)
        A different one for each vertex.

    References
    ----------
    M. Jones, P. Plassmann, *A parallel graph coloring heuristic*, SIAM J. Scientific Computing
    14, 1993.
    """
    n, lends = edges.nrows, device_traits(edges.device).lends_arrays
    with array_module(edges.device) as xp:
        rows, dtype = rows_of(edges, values=False), vertex_dtype(n).np_type
        waits, colour, queue = (xp.empty(n, dtype) for _ in range(3))
        state = xp.zeros(8, xp.int64)
        edge = rows.indptr, rows.indices
        given = numbers.to_dense(device=edges.device if lends else None)
        run_loop(
            state,
            _COLOUR.launch(n, *edge, waits, colour, queue, state),
            _NEXT.launch(1, state),
            device=edges.device,
            before=[_COUNT.launch(n, *edge, given, waits, colour, queue, state, work=rows.indptr)],
        )
        # The first round finds who begins.
        return Vector.from_dense(colour), int(state[1]) - 1
