"""Triangles by kernels over arrays: at vertices, at edges, and edges that leave for want of them.

The algorithms in linear algebra say what is computed; these give the same, and find every triangle
once (docs/algorithms/index.md).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from semira import Matrix, Vector, binary, device, device_traits, dtypes
from semira.algorithms.checks import vertex_dtype
from semira.algorithms.oriented_edges import Oriented, oriented_edges
from semira.algorithms.sequential import entries_of
from semira.kernels import ArrayKernel, Rows, array_module, rows_of, run_loop, workspace

_CORNERS = "semira.algorithms.kernels:corners"
_COUNT = ArrayKernel(_CORNERS, "count_corners")
_WEIGH = ArrayKernel(_CORNERS, "weigh_corners")
_SHARE = ArrayKernel(_CORNERS, "share_pairs")
_ALL = ArrayKernel(_CORNERS, "count_all")
_OVERLAP = ArrayKernel(_CORNERS, "overlap_pairs")
_TRUSS = "semira.algorithms.kernels:truss"
_SUPPORT = ArrayKernel(_TRUSS, "count_support")
_LIST = ArrayKernel(_TRUSS, "list_weak")
_DROP = ArrayKernel(_TRUSS, "drop", lanes=32)
_DECIDE = ArrayKernel(_TRUSS, "decide")

#: Edges of a round that one thread of a host drops without waking others, and entries that it looks
#: at before Ctrl-C takes effect.
_FEW, _BUDGET = 2048, 1 << 26


#: A list of a GPU is merged where it is no longer than this times the other one.
_ALIKE = 32


def add_corners(edges: Matrix, counts: Any, *, times: int = 0, weighted: bool = False) -> None:
    """Add to each vertex what the sides opposite to it weigh in its triangles.

    Edges are oriented without cycles; those at each vertex are added `times` times too. Values, of
    INT64, are weights if `weighted`; else each edge weighs 1. O(edges times the longest row); on
    hosts 12 to 16 bytes for each vertex and thread.
    """
    n = edges.nrows
    mark = np.int64 if weighted else vertex_dtype(n).np_type
    values = (rows_of(edges).values,) if weighted else ()
    _walk(
        _WEIGH if weighted else _COUNT, edges, (*values, times, counts),
        [(mark, n, 0), ("int64", n, 0)],
    )  # fmt: skip


def triangles(edges: Matrix) -> int:
    """Return the number of triangles of a host's edges, oriented without cycles.

    O(edges times the longest row), 4 bytes for each vertex and thread.
    """
    n, rows = edges.nrows, rows_of(edges, values=False)
    total, marks = np.zeros(1, np.int64), (vertex_dtype(n).np_type, n, 0)
    given = rows.indptr, rows.indices, total
    _ALL(n, *given, device=edges.device, work=_work(edges), scratch=[marks], stops=True)
    return int(total[0])


def overlaps(A: Matrix, pairs: Matrix) -> Matrix:
    """Return the share of neighbours that each pair of a host's vertices has in common.

    O(pairs times the longest row), 4 bytes for each vertex and thread.
    """
    n, listed, rows = A.nrows, rows_of(pairs, values=False), rows_of(A, values=False)
    reads = np.append(0, np.cumsum(np.diff(rows.indptr)[listed.indices], dtype=np.int64))
    # What a vertex marks, and looks at.
    work = reads[listed.indptr] + rows.indptr
    out, marks = np.empty(len(listed.indices)), (vertex_dtype(n).np_type, n, 0)
    given = listed.indptr, listed.indices, rows.indptr, rows.indices, out
    _OVERLAP(n, *given, device=A.device, work=work, scratch=[marks], stops=True)
    with device(A.device):
        found: Matrix = Matrix.ss.import_csr(
            indptr=listed.indptr, col_indices=listed.indices, values=out, nrows=n, ncols=n,
            sorted_cols=True, take_ownership=True,
        )  # fmt: skip
    return found


def clustering(graph: Oriented) -> Vector:
    """Return the local clustering coefficients of a graph."""
    edges, where, n = graph.edges, graph.edges.device, graph.edges.nrows
    with device(where), array_module(where) as xp:
        degrees = edges.derived("degrees", lambda: degrees_of(edges, xp))
        counts, out = workspace(xp, ((n,), np.int64), ((n,), np.float64))
        counts.fill(0)
        add_corners(edges, counts)
        _SHARE(n, counts, degrees, out, device=where, work=n)
        return Vector.from_dense(at_vertices(graph, out))


def at_vertices(graph: Oriented, values: Any) -> Any:
    """Return an array with a value for each row of oriented edges in the order of the vertices."""
    if graph.places is None:
        return values
    # Hosts alone number vertices anew.
    placed = np.empty_like(values)
    placed[graph.places.to_dense()] = values
    return placed


def truss(A: Matrix, least: int, symmetric: bool) -> tuple[Matrix, int]:
    """Return the triangles of each edge of a truss, where they are `least` or more, and the rounds.

    O(edges times the longest row) for the triangles; then each edge that leaves costs the shorter
    row of its ends, times a logarithm. 12 bytes for each edge, and 24 that stay with `A`.

    References
    ----------
    J. Wang, J. Cheng, *Truss decomposition in massive networks*, PVLDB 5(9), 2012.
    """
    graph = oriented_edges(A, symmetric=symmetric, order="auto")
    edges, where = graph.edges, A.device
    ways, *ends = edges.derived("numbers of edges", lambda: _numbered(graph))
    with device(where), array_module(where) as xp:
        both, m = rows_of(ways), len(ends[0])
        support, leaves = xp.zeros(m, xp.int32), xp.zeros(m, xp.int32)
        queue, state = xp.empty(m, both.values.dtype), xp.zeros(5, xp.int64)
        scratch = [("int64", A.nrows, 0), ("int64", A.nrows, None)]
        _walk(_SUPPORT, edges, (support,), scratch)
        shared = least, *ends, *both[:3], support, leaves, queue
        run_loop(
            state,
            _DROP.launch(m, *shared, state, work=len(both.indices)),
            _DECIDE.launch(1, *shared, _FEW, _BUDGET, state),
            device=where,
            before=[_LIST.launch(m, least, support, leaves, queue, state, work=m)],
        )
        inside = support[both.values]
        # As an operator it would load SciPy, where arrays are CuPy's.
        found = entries_of(ways, xp.greater_equal(inside, least), inside, dtypes.INT64)
        return found, int(state[4])


def _walk(kernel: ArrayKernel, edges: Matrix, arguments: Any, scratch: list[Any]) -> None:
    """Run a kernel over the vertices of a host's edges, or over the entries of a GPU's."""
    rows, heads = listed_rows(edges)
    lends = device_traits(edges.device).lends_arrays
    kernel(
        len(heads) if lends else edges.nrows, heads, rows.indptr, rows.indices, _ALIKE, *arguments,
        device=edges.device, work=0 if lends else _work(edges), host_scratch=lambda: scratch,
        stops=True,
    )  # fmt: skip


def _work(edges: Matrix) -> Any:
    """Return the running totals of what vertices look at, the rows of their neighbours."""

    def totals() -> Any:
        rows = rows_of(edges, values=False)
        lengths = np.diff(rows.indptr)[rows.indices]
        return np.append(0, np.cumsum(lengths, dtype=np.int64))[rows.indptr]

    return edges.derived("entries of neighbours", totals)


def listed_rows(edges: Matrix) -> tuple[Rows, Any]:
    """Return the rows of a matrix and the row of each entry; they stay with the matrix."""

    def found() -> tuple[Rows, Any]:
        rows = rows_of(edges, values=False)
        if device_traits(edges.device).lends_arrays:
            return rows, edges.to_coo(columns=False, values=False, device=edges.device)[0]
        numbers = np.arange(edges.nrows, dtype=rows.indices.dtype)
        return rows, np.repeat(numbers, np.diff(rows.indptr))

    return edges.derived("rows of entries", found)


def degrees_of(edges: Matrix, xp: Any) -> Any:
    """Return the degrees of the vertices of oriented edges, an array of `xp`."""
    (indptr, indices, *_), n = listed_rows(edges)[0], edges.nrows
    if xp is np:
        return np.diff(indptr) + np.bincount(indices, minlength=n)
    # CuPy's `bincount` would load SciPy.
    begins = xp.searchsorted(xp.sort(indices), xp.arange(n + 1, dtype=indices.dtype))
    return xp.diff(indptr) + xp.diff(begins)


def _numbered(graph: Oriented) -> tuple[Matrix, Any, Any]:
    """Return edges in both directions with the numbers of the oriented ones, and their ends."""
    edges, n, where = graph.edges, graph.edges.nrows, graph.edges.device
    with device(where), array_module(where) as xp:
        rows, heads = listed_rows(edges)
        tails, number = rows.indices, dtypes.INT32 if len(heads) < 2**31 else dtypes.INT64
        numbers = xp.arange(len(heads), dtype=number.np_type)
        one_way = Matrix.from_csr(rows.indptr, tails, numbers, nrows=n, ncols=n)
    both: Matrix = one_way.ewise_add(one_way.T, binary.plus).new()
    if graph.places is not None:
        places = graph.places.to_dense()
        order = at_vertices(graph, np.arange(n))
        both = both[order, order].new()
        heads, tails = (places[each].astype(heads.dtype) for each in (heads, tails))
    return both, heads, tails
