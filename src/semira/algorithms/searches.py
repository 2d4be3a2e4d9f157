"""Many searches at once: a bit of a word for each, or one queue after the other."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira import Matrix, Vector, device, device_traits, free_memory, ss
from semira.algorithms.checks import vertex_dtype
from semira.kernels import ArrayKernel, array_module, placed, rows_of, run_loop, workspace

_PLACE = "semira.algorithms.kernels:hops"
_EXPAND = ArrayKernel(_PLACE, "expand", lanes=8, blocks=4)
_SETTLE = ArrayKernel(_PLACE, "settle", lanes=8, skips_hosts=True)
_DECIDE = ArrayKernel(_PLACE, "decide", lanes=8)
_WALK = ArrayKernel(_PLACE, "walk")
_COUNT = ArrayKernel(_PLACE, "count_levels", lanes=32)
_LIST = ArrayKernel(_PLACE, "list_levels", lanes=32)
_MIRRORED = ArrayKernel("semira.algorithms.kernels:mirrored", "compare_mirrored")

#: Sources of a word, and most words of a block of searches.
_BITS, _WORDS = 64, 4

#: What is kept of searches: nothing but the last level of each; all levels; sums for each vertex.
LAST, LEVELS, SUMS = 0, 1, 2

#: With more levels than this at a vertex for each source of a block, queues cost less than bits.
#: On delaunay_n16, at 0.7, 64 searches take 138 ms of a processor, and 64 queues 72.
_APART = 0.3

#: Vertices whose levels are counted and listed together.
_TILE = 256

#: A longer row is split among warps of a GPU, this many entries each; `kLong` in the kernel.
_LONG = 128

#: Numbers that a loop keeps; `part_of` in the kernel.
_STATE = 44

#: Bytes that are taken to be free.
_LITTLE = 2**26

#: Graphs of more vertices than entries by this factor have products search them.
_SPARSE = 16


@dataclass(slots=True)
class Searches:
    """What searches found.

    Attributes
    ----------
    far : ndarray of int64, shape (k,)
        The last level of each search.
    level : array of uint8, uint16 or int32, shape (k * n,)
        Of `LEVELS`: those of the `width` sources of a block lie vertex by vertex; larger than
        `limit` where there is none. On the device.
    sums : array of int64, shape (2 * n,)
        Of `SUMS`: for each vertex the number of other sources that reach it, then the sum of their
        levels. On the device.
    """

    device: str
    n: int
    far: NDArray[np.int64]
    level: Any
    width: int
    limit: int
    sums: Any
    _matrix: Matrix | None = field(default=None, init=False)

    def matrix(self) -> Matrix:
        """Return the levels as a Matrix, a row for each source; made once."""
        if self._matrix is None:
            self._matrix = self._listed()
        return self._matrix

    def vectors(self) -> tuple[Vector, Vector]:
        """Return how many sources reach each vertex, and the sums of their levels."""
        with device(self.device), array_module(self.device) as xp:
            reached, total = (
                Vector.from_dense(xp.ascontiguousarray(self.sums[part::2]).astype(xp.uint64))
                for part in (0, 1)
            )
        return reached, total

    def _listed(self) -> Matrix:
        n, k = self.n, len(self.far)
        tiles = -(-n // _TILE)
        of = (self.level, n, k, self.width, self.limit, _TILE, tiles)
        with device(self.device), array_module(self.device) as xp:
            counts = xp.empty(k * tiles, xp.int64)
            _COUNT(tiles, *of, counts, device=self.device, work=k * n)
            ends = xp.cumsum(counts)
            count = int(ends[-1])
            indptr = xp.zeros(k + 1, xp.int64)
            indptr[1:] = ends[tiles - 1 :: tiles]
            number = np.dtype(vertex_dtype(n).np_type)
            indices, values = xp.empty(count, number), xp.empty(count, number)
            _LIST(tiles, *of, ends, indices, values, device=self.device, work=k * n)
            made: Matrix = Matrix.ss.import_csr(
                indptr=indptr.astype(number if count < 2**31 else xp.int64), col_indices=indices,
                values=values, nrows=k, ncols=n, sorted_cols=True, take_ownership=True,
            )  # fmt: skip
        return made


def can_search(A: Matrix, sources: int, kept: int) -> bool:
    """Return whether kernels search a graph: it has few empty rows, and what they need fits."""
    n = A.nrows
    if sources == 0 or n == 0 or n >= 2**31 or n > _SPARSE * (A.nvals + sources):
        return False
    needed = memory(n, sources, kept, _threads(A))
    # To ask takes a GPU as long as a small search.
    free = free_memory(A.device) if needed >= _LITTLE else None
    return free is None or needed <= free


def _threads(A: Matrix) -> int:
    """Return how many blocks of searches are worked on at the same time."""
    return 1 if device_traits(A.device).own_memory else int(ss.about["nthreads"])


def memory(n: int, sources: int, kept: int, threads: int = 1) -> int:
    """Return the bytes that searches take at most, where levels are bytes.

    Examples
    --------
    >>> memory(1_000_000, 64, LEVELS)
    108000000
    """
    workers = max(1, min(threads, -(-sources // _BITS)))
    words = min(_WORDS, -(-sources // (_BITS * workers)))
    of_worker = 32 * words + 12 + 16 * (kept == SUMS)
    return n * (workers * of_worker + (sources if kept == LEVELS else 0) + 16 * (kept == SUMS))


def search(A: Matrix, sources: NDArray[np.int64], kept: int, limit: int | None = None) -> Searches:
    """Search from each source.

    Parameters
    ----------
    A : Matrix, shape (n, n)
        Entry (i, j) is the edge from i to j.
    sources : ndarray, shape (k,)
        At least one.
    kept : LAST, LEVELS or SUMS
    limit : int, optional
        No more levels than this.
    """
    n, k = A.nrows, len(sources)
    is_host = not device_traits(A.device).own_memory
    width = min(max(-(-k // _threads(A)), _BITS), _WORDS * _BITS)
    if is_host and _is_spread(A, min(k, width), k):
        width = 1
    most = n if limit is None else min(limit, n)
    # Levels are as narrow as they can be: writing them is much of the work.
    for dtype in (np.uint8, np.uint16, np.int32):
        reach = min(most, int(np.iinfo(dtype).max) - 1)
        if reach == most or kept == LEVELS or width == 1:
            found, is_cut = _search(A, sources, kept, reach, dtype, width)
            if reach == most or not is_cut:
                break
    return found


def _search(
    A: Matrix, sources: NDArray[np.int64], kept: int, limit: int, dtype: Any, width: int
) -> tuple[Searches, bool]:
    """Search up to a level, from `width` sources together; return too whether that ended one."""
    n, k, where = A.nrows, len(sources), A.device
    with array_module(where) as xp:
        level = xp.empty(k * n if kept == LEVELS else 1, dtype)
        # The state, the last levels and the sources: one array, which is sent and read as one.
        told = placed(xp, np.concatenate([np.zeros(_STATE + k, np.int64), sources]))
        state, far, sources = told[:_STATE], told[_STATE : _STATE + k], told[_STATE + k :]
        sums = xp.zeros(2 * n, xp.int64) if kept == SUMS else state
        out = kept, limit, level, sums, far, state
        if width == 1:
            scratch = [
                (dtype, 1 if kept == LEVELS else n, None),
                ("int64", 2 * n if kept == SUMS else 1, 0), ("int32", n + 1, None),
            ]  # fmt: skip
            _WALK(k, *rows_of(A, values=False)[:2], sources, *out, device=where, scratch=scratch,
                  work=k * (n + A.nvals))  # fmt: skip
        else:
            if kept == LEVELS and xp is np:
                level.fill(np.iinfo(dtype).max)
            _search_by_bits(xp, A, sources, width, out)
        told = _on_host(told[: _STATE + k])
    return Searches(where, n, told[_STATE:], level, width, limit, sums), bool(told[1])


def _on_host(array: Any) -> NDArray[np.int64]:
    found: NDArray[np.int64] = array.get() if hasattr(array, "get") else array
    return found


def _search_by_bits(xp: Any, A: Matrix, sources: Any, width: int, out: tuple[Any, ...]) -> None:
    """Write what searches find; `out` are the arguments of the kernel that say what, and where."""
    n, k, where = A.nrows, len(sources), A.device
    words = 1 << (-(-width // _BITS) - 1).bit_length()
    has_own = xp is not np
    edges: list[Any] = []
    several: list[Any] = []
    for matrix in (A, backward(A)):
        found = matrix.derived("edges of searches", partial(_edges, xp, matrix, has_own))
        edges += found.rows
        several += [found.parts, len(found.parts) // 2]
    size = n if has_own else 0
    kind, limit, level, sums, far, state = out
    num_sums = 2 * n if kind == SUMS else 1
    chosen = (
        *edges, *several, sources, n, k, width, words, kind, limit, level, sums, far, state,
        *workspace(
            xp, ((size * words + 1,), np.uint64), ((3 * size * words + 1,), np.uint64),
            ((3 * -(-size // 32) + 1,), np.uint32),
        ),
    )  # fmt: skip

    def of_thread() -> list[tuple[Any, int, Any]]:
        return [
            ("uint64", 2 * n * words, None), ("uint64", n * words, None),
            ("int32", 2 * n + 2, None), ("int64", num_sums, 0), ("uint64", words, None),
        ]  # fmt: skip

    blocks = -(-k // width)
    expand = _EXPAND.launch(
        blocks if not has_own else n, *chosen, work=k * (n + A.nvals), host_scratch=of_thread
    )
    run_loop(state, expand, _SETTLE.beside(expand, 1), _DECIDE.beside(expand, 1), device=where)


@dataclass(frozen=True, slots=True)
class _Edges:
    """The rows of a matrix as arrays, which are its own, and the parts of long ones."""

    rows: tuple[Any, Any]
    parts: Any


def _edges(xp: Any, matrix: Matrix, has_own: bool) -> _Edges:
    rows = rows_of(matrix, values=False)
    return _Edges((rows.indptr, rows.indices), _long_parts(xp, rows.indptr, has_own))


def _long_parts(xp: Any, indptr: Any, has_own: bool) -> Any:
    """Return a vertex and the number of its part for each part of long rows; none on hosts."""
    none = xp.zeros(2, xp.int32)[:0]
    if not has_own:
        return none
    lengths = xp.diff(indptr)
    # An operator between an array of CuPy and a number loads SciPy.
    long = xp.flatnonzero(xp.greater(lengths, _LONG))
    counts = -(-_on_host(lengths[long]) // _LONG)
    vertex = np.repeat(_on_host(long), counts)
    number = np.arange(len(vertex)) - np.repeat(np.cumsum(counts) - counts, counts)
    return xp.asarray(np.column_stack([vertex, number]).astype(np.int32).ravel())


def is_own_transpose(A: Matrix) -> bool:
    """Return whether every edge goes both ways, with one value; known until `A` is written."""
    return A.derived("is its transpose", lambda: _is_mirrored(A))


def _is_mirrored(A: Matrix) -> bool:
    if not device_traits(A.device).compiled_loops or A.dtype.np_type.kind not in "biuf":
        # Not `Matrix.symmetric`, which would drop what was made of the other orientation.
        return bool(A.isequal(A.T))
    # No transpose is made: one that is not needed would double the memory.
    rows, differs = rows_of(A), np.zeros(1, np.int64)
    place = rows.indptr[:-1].astype(np.int64)
    _MIRRORED(1, *rows[:3], place, differs, device=A.device)
    return not differs[0]


def backward(A: Matrix) -> Matrix:
    """Return a matrix whose rows are the in-edges of `A`, which stays with it."""
    return A if is_own_transpose(A) else A.derived("in-edges", A.T.new)


def _is_spread(A: Matrix, together: int, sources: int) -> bool:
    """Return whether searches reach a vertex at so many levels that sharing them gains little.

    The levels of one search, from the vertex with most edges, stand for all others. Searches from
    every vertex have neighbours side by side.
    """
    if sources == A.nrows > together:
        return False
    shares = A.derived("shares of levels", lambda: _shares_of_levels(A))
    distinct = float((1 - (1 - shares) ** together).sum())
    return distinct > _APART * together


def _shares_of_levels(A: Matrix) -> NDArray[np.float64]:
    """Return the share of the vertices that a search finds at each level."""
    n = A.nrows
    rows = rows_of(A, values=False)
    hub = np.array([np.argmax(np.diff(rows.indptr))])
    level, far, state = np.empty(n, np.int32), np.empty(1, np.int64), np.zeros(2, np.int64)
    _WALK(
        1, rows.indptr, rows.indices, hub, LEVELS, n, level, np.zeros(1, np.int64), far, state,
        device=A.device,
        scratch=[(np.int32, 1, None), ("int64", 1, None), ("int32", n + 1, None)],
    )  # fmt: skip
    found = np.bincount(level[level <= n]).astype(np.float64)
    shares: NDArray[np.float64] = found / found.sum()
    return shares
