"""What a host computes by loops over edges, where these are compiled: from components to searches.

The algorithms in linear algebra say what is computed; these give the same on devices whose objects
lie in the host's memory. They take one pass where those take an iteration for each distance, and on
two cores a tenth to a half of the time (docs/algorithms/index.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira import Matrix, Vector, binary, device, device_traits, select
from semira.algorithms.checks import vertex_dtype
from semira.exceptions import InvalidValue
from semira.kernels import ArrayKernel, Rows, array_module, rows_of, vector_of

_UNITE = ArrayKernel("semira.algorithms.kernels:trees", "unite")
_FLATTEN = ArrayKernel("semira.algorithms.kernels:trees", "flatten")
_JOIN = ArrayKernel("semira.algorithms.kernels:trees", "join_in_order")
_PEEL = ArrayKernel("semira.algorithms.kernels:cores", "peel_in_order")
_SEARCH = ArrayKernel("semira.algorithms.kernels:strong", "search_in_depth")
_DEPEND = ArrayKernel("semira.algorithms.kernels:queues", "depend")
_COLOUR = ArrayKernel("semira.algorithms.kernels:greedy", "colour_in_order")
_SCAN = ArrayKernel("semira.algorithms.kernels:greedy", "join_in_scan")
_SETTLE = ArrayKernel("semira.algorithms.kernels:heaps", "settle_paths")
_LIST = ArrayKernel("semira.algorithms.kernels:heaps", "list_paths")

#: Entries of each row that components begin with, on matrices of so many entries and twice as many
#: a row: nearly all vertices then lie in one component, and those of others alone are looked at.
#: And vertices that are asked which one that is.
_FEW, _SAMPLED, _ASKED, _ALL = 2, 1 << 16, 1024, 1 << 62

#: Most vertices: several numbers are kept of each.
_MOST = 2**30

#: Distances that are listed together.
_DISTANCES = 1 << 24

#: Vertices up to which a row for each costs nothing, and then most for each entry.
_FEW_ROWS, _SPARSE = 1 << 20, 16

#: Most blocks of searches whose sums are kept apart, and most sums: those of a block are added up
#: in the order of the sources, so that threads do not decide about the last digits.
_BLOCKS, _SUMS = 32, 1 << 25


def runs_loops(A: Matrix, opts: Any = ()) -> bool:
    """Return whether loops over edges take the place of products, which have no options then."""
    return not opts and device_traits(A.device).compiled_loops and _has_room(A)


def runs_kernels(A: Matrix, opts: Any = ()) -> bool:
    """Return whether kernels over arrays take the place of products, on hosts and on a GPU."""
    traits = device_traits(A.device)
    return not opts and (traits.compiled_loops or traits.own_memory) and _has_room(A)


def _has_room(A: Matrix) -> bool:
    """Return whether several numbers may be kept of each vertex."""
    n = A.nrows
    return n <= _FEW_ROWS or (n <= _MOST and n <= _SPARSE * A.nvals)


def is_sequential(A: Matrix, algorithm: str, names: Sequence[str], opts: Any = ()) -> bool:
    """Return whether the sequential algorithm is to be run, asked for or chosen by ``"auto"``.

    It is the last one of `names`. Raises InvalidValue if `algorithm` is unknown, or the sequential
    one is asked for with options of products, of which it has none, or where objects lie in memory
    of the device.
    """
    if algorithm not in names:
        raise InvalidValue(f"algorithm={algorithm!r}; choose {', '.join(names)}")
    if algorithm == "auto":
        return runs_loops(A, opts)
    if algorithm != names[-1]:
        return False
    if device_traits(A.device).own_memory:
        raise InvalidValue(
            f"algorithm={algorithm!r} runs on the host, and the matrix is on {A.device}; move it "
            "by .to('cpu'), or choose 'auto'"
        )
    if opts:
        raise InvalidValue(f"algorithm={algorithm!r} has no product that takes {sorted(opts)}")
    return True


def components(A: Matrix, symmetric: bool) -> Vector:
    """Return the smallest vertex of each one's component; entries count in both directions.

    O(nvals) in practice: trees over the vertices are joined entry by entry.
    """
    n, rows = A.nrows, rows_of(A, values=False)
    parents = np.arange(n, dtype=vertex_dtype(n).np_type)
    if symmetric and len(rows.indices) >= max(_SAMPLED, 2 * _FEW * n):
        _unite(A, rows, parents, few=_FEW)
        answers = parents[np.linspace(0, n - 1, min(n, _ASKED)).astype(np.int64)]
        _unite(A, rows, parents, without=int(np.bincount(answers).argmax()))
    else:
        _unite(A, rows, parents, half=symmetric)
    return _vector(A, parents)


def _unite(
    A: Matrix,
    rows: Rows,
    parents: NDArray[Any],
    few: int = _ALL,
    half: bool = False,
    without: int = -1,
) -> None:
    """Join trees by entries of the rows, and hang all vertices below their roots."""
    n, given = A.nrows, (rows.indptr, rows.indices, few, half, without, parents)
    _UNITE(n, *given, device=A.device, work=rows.indptr)
    _FLATTEN(n, parents, device=A.device, work=n)


def strong_components(A: Matrix) -> Vector:
    """Return the smallest vertex of each one's strongly connected component. O(n + nvals).

    References
    ----------
    R. Tarjan, *Depth-first search and linear graph algorithms*, SIAM J. Computing 1(2), 1972;
    D. Pearce, *A space-efficient algorithm for finding strongly connected components*, Information
    Processing Letters 116(1), 2016.
    """
    n, rows = A.nrows, rows_of(A, values=False)
    label, rank, *paths = (np.zeros(n, vertex_dtype(n).np_type) for _ in range(5))
    edge = np.empty(n, np.int64)
    _SEARCH(1, rows.indptr, rows.indices, label, rank, *paths, edge, device=A.device)
    return _vector(A, label)


def cores(A: Matrix) -> Vector:
    """Return the core numbers of a symmetric matrix, whose self-loops do not count. O(n + nvals).

    References
    ----------
    V. Batagelj, M. Zaversnik, *An O(m) algorithm for cores decomposition of networks*, 2003.
    """
    n, rows = A.nrows, rows_of(A, values=False)
    core = np.diff(rows.indptr).astype(vertex_dtype(n).np_type)
    order, place = np.empty_like(core), np.empty_like(core)
    begins = np.zeros(int(core.max(initial=0)) + 3, np.int64)
    _PEEL(1, rows.indptr, rows.indices, core, order, place, begins, device=A.device)
    return _vector(A, core)


def forest(A: Matrix) -> Matrix:
    """Return the edges of least weight that join all vertices they can, below the diagonal.

    Edges are sorted by weight, then ends, and stay with `A`: 12 bytes each, and their matrix. Then
    O(nvals) in practice.

    References
    ----------
    J. Kruskal, *On the shortest spanning subtree of a graph and the traveling salesman problem*,
    Proc. AMS 7(1), 1956.
    """
    n, number = A.nrows, vertex_dtype(A.nrows).np_type
    lower, heads, tails, places = A.derived("edges in order", lambda: _edges_in_order(A))
    parents, keep = np.arange(n, dtype=number), np.zeros(len(places), np.bool_)
    _JOIN(1, heads, tails, places, n - 1, parents, keep, device=A.device)
    return entries_of(lower, keep)


def entries_of(A: Matrix, keep: Any, values: Any = None, dtype: Any = None) -> Matrix:
    """Return the entries of a matrix that are marked, with its values or with others.

    Marks and values lie where the matrix does. The dtype is that of the matrix by default.
    """
    with device(A.device), array_module(A.device) as xp:
        rows, kept = rows_of(A, values=values is None), xp.flatnonzero(keep)
        values = rows.values if values is None else values
        indptr = xp.searchsorted(kept, rows.indptr)
        return Matrix.from_csr(
            indptr, rows.indices[kept], values[kept], dtype or A.dtype, nrows=A.nrows, ncols=A.ncols
        )


def _edges_in_order(A: Matrix) -> tuple[Matrix, NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return edges below the diagonal, the lighter of both directions; ends and places by weight.

    A place is that of the edge among the entries of the matrix.
    """
    below, above = A.select(select.tril, -1).new(), A.select(select.triu, 1).new()
    lower: Matrix = below.ewise_add(above.T, binary.min).new()
    rows = rows_of(lower)
    order = np.argsort(rows.values, kind="stable")
    heads = np.repeat(np.arange(A.nrows, dtype=rows.indices.dtype), np.diff(rows.indptr))
    places = order.astype(np.int32 if len(order) < 2**31 else np.int64)
    return lower, heads[order], rows.indices[order], places


def colours(edges: Matrix, order: NDArray[Any]) -> Vector:
    """Return greedy colours of the vertices of a symmetric matrix in an order. O(n + nvals).

    References
    ----------
    D. Welsh, M. Powell, *An upper bound for the chromatic number of a graph and its application to
    timetabling problems*, The Computer Journal 10(1), 1967 (a greedy scan in an order).
    """
    n, rows = edges.nrows, rows_of(edges, values=False)
    number = vertex_dtype(n).np_type
    colour, mark = np.full(n, -1, number), np.zeros(n + 2, number)
    given = rows.indptr, rows.indices, order, colour, mark
    _COLOUR(1, *given, device=edges.device, work=edges.nvals, stops=True)
    return _vector(edges, colour)


def independent(edges: Matrix, order: NDArray[Any]) -> Vector:
    """Return the vertices of a symmetric matrix that join in an order. O(n + nvals) at most."""
    n, rows = edges.nrows, rows_of(edges, values=False)
    near, member = np.zeros(n, np.bool_), np.zeros(n, np.bool_)
    given = rows.indptr, rows.indices, order, near, member
    _SCAN(1, *given, device=edges.device, work=edges.nvals, stops=True)
    return _vector(edges, member, member.copy())


def dependencies(A: Matrix, sources: NDArray[Any]) -> tuple[NDArray[np.float64], int, bool]:
    """Return what paths from sources depend on each vertex, all levels, and whether paths are few.

    O(n + nvals) for each source; 8 bytes for each vertex and each of up to 32 blocks of sources,
    24 for each vertex and thread.

    References
    ----------
    U. Brandes, *A faster algorithm for betweenness centrality*, J. Mathematical Sociology 25, 2001.
    """
    n, k, rows = A.nrows, len(sources), rows_of(A, values=False)
    many = -(-k // max(1, min(_BLOCKS, _SUMS // n)))
    blocks = -(-k // many)
    score, state = np.zeros(blocks * n), np.zeros(2, np.int64)
    number = vertex_dtype(n).np_type
    _DEPEND(
        blocks, rows.indptr, rows.indices, np.asarray(sources, np.int64), many, score, state,
        device=A.device, work=k * (n + A.nvals), stops=True,
        scratch=[(number, n, 0), (number, n, None), ("float64", n, None), ("float64", n, None)],
    )  # fmt: skip
    return score.reshape(blocks, n).sum(axis=0), int(state[0]), not state[1]


def _settled(
    A: Matrix, starts: NDArray[Any], begins: NDArray[Any], few: int
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the distances from sets of `few` vertices, -1 where no path leads, and how many do.

    Lengths are not negative. O(n log n + nvals) for each set; threads share them.

    References
    ----------
    E. Dijkstra, *A note on two problems in connexion with graphs*, Numerische Mathematik 1, 1959.
    """
    n, count, kept = A.nrows, len(starts) // few, begins.dtype
    rows, index = rows_of(A, values=False), vertex_dtype(n).np_type
    found, bounds = np.empty(count * n, kept), np.arange(count + 1) * few
    reached = np.empty(count, np.int64)
    _SETTLE(
        count, *rows[:2], lengths_of(A, kept), bounds, starts, begins, found, reached,
        device=A.device,
        work=count * (n + A.nvals), stops=True,
        scratch=[(index, n, None), (kept, n, None), (index, n, None)],
    )  # fmt: skip
    return found, reached


def lengths_of(A: Matrix, kept: np.dtype[Any]) -> NDArray[Any]:
    """Return the values of a matrix in a dtype; a copy, if that is another one, stays with it."""
    if A.dtype.np_type == kept:
        return rows_of(A).values  # type: ignore[no-any-return]
    return A.derived(("values as", kept), lambda: rows_of(A, dtype=kept).values)


def distance(A: Matrix, sources: Any, number: Any) -> Vector:
    """Return the distances from the nearest source, in a dtype, over lengths not negative."""
    count = len(sources)
    found, reached = _settled(A, np.asarray(sources), np.zeros(count, number.np_type), count)
    if reached[0] == A.nrows:
        return _vector(A, found)
    places = (found >= 0).nonzero()[0]
    return _vector(A, found[places], places)


def distances(A: Matrix, number: Any) -> Matrix:
    """Return the distances between all vertices over lengths that are not negative, in a dtype."""
    n = A.nrows
    few, index = max(1, _DISTANCES // n), vertex_dtype(n).np_type
    parts: list[tuple[NDArray[Any], ...]] = []
    for first in range(0, n, few):
        count = min(few, n - first)
        found, reached = _settled(A, first + np.arange(count), np.zeros(count, number.np_type), 1)
        ends = np.append(0, np.cumsum(reached))
        indices, values = np.empty(ends[-1], index), np.empty(ends[-1], number.np_type)
        _LIST(count, n, found, ends, indices, values, device=A.device, work=count * n)
        parts.append((reached, indices, values))
    lengths, indices, values = (
        part[0] if len(parts) == 1 else np.concatenate(part) for part in zip(*parts, strict=True)
    )
    ends = np.append(0, np.cumsum(lengths))
    offset = index if ends[-1] < 2**31 else np.int64
    with device(A.device):
        made: Matrix = Matrix.ss.import_csr(
            indptr=ends.astype(offset), col_indices=indices, values=values, nrows=n, ncols=n,
            sorted_cols=True, take_ownership=True,
        )  # fmt: skip
    return made


def _vector(A: Matrix, values: NDArray[Any], places: NDArray[Any] | None = None) -> Vector:
    found: Vector = vector_of(values, places, size=A.nrows, device=A.device)
    return found
