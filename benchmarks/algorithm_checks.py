"""Checks of the algorithms by SciPy and NumPy: another method, or sufficient properties.

Each takes the graph, the result of the algorithm, its sources, and the options that the check
names. Each row of `semira.algorithms.registry` names its check. A check that would take too long
raises `TooLarge`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira.bench.graphs import BenchGraph
from semira.bench.ours import semira_library
from semira.bench.triangles import count_flops
from semira.bench.verify import DAMPING, TOLERANCE, Verdict, verify

#: Most multiplications in a product by SciPy; more take too long.
MOST_PRODUCTS = 150_000_000

#: Most vertices for which all eigenvalues are recomputed.
MOST_EIGEN = 3_000

#: Tolerance of floating-point sums in another order.
_ROUNDING = 1e-9


class TooLarge(Exception):  # noqa: N818 - an outcome, not an error
    """A check would take too long on this graph."""


#: (graph, result, sources, options) -> possible faults, each with whether it occurs.
Check = Callable[..., dict[str, bool]]


def judge(
    check: Check, method: str, graph: BenchGraph, result: Any, sources: Sequence[int]
) -> Verdict:
    """Run a check and return its verdict.

    Examples
    --------
    >>> def check(graph, result, sources):
    ...     return {"it is not three": result != 3}
    >>> judge(check, "counting", None, 3, []).ok, judge(check, "counting", None, 4, []).finding
    (True, 'it is not three')
    """
    try:
        wrong = [text for text, is_violated in check(graph, result, sources).items() if is_violated]
    except TooLarge as reason:
        return Verdict(None, "", str(reason))
    return Verdict(not wrong, method, "; ".join(wrong))


def method_of(check: Check) -> str:
    """Return the method of a check, taken from the first line of its docstring.

    Examples
    --------
    >>> method_of(check_cores)
    'peeling in NumPy'
    """
    line = (check.__doc__ or "").partition("\n")[0].rstrip(".")
    return re.sub("^(Compare with|Check that|Check) (the )?", "", line)


def by_kernel(kernel: str, oracle: Callable[..., Any]) -> Check:
    """Return the check that ``semira bench`` makes of one of its algorithms."""

    def check(graph: BenchGraph, result: Any, sources: Sequence[int]) -> dict[str, bool]:
        answer = semira_library().entries[kernel].answer(result, graph)
        found = verify(kernel, graph, sources[0], {"semira": answer})["semira"]
        if found.ok is None:
            raise TooLarge(found.finding)
        wrong = {found.finding: not found.ok}
        if kernel == "cc":
            is_later = bool(((answer < 0) | (answer > np.arange(graph.n))).any())
            wrong["a label is no vertex of its component, or not the smallest"] = is_later or bool(
                (answer[answer] != answer).any()
            )
        return wrong

    by_product = "Compare with an unmasked product in SciPy."
    check.__doc__ = by_product if kernel == "tc" else oracle.__doc__
    return check


def pattern_of(graph: BenchGraph) -> Any:
    """Return the entries of a graph, each 1, as a SciPy array of FP64."""
    from scipy.sparse import csr_array

    whole = graph.weighted
    return csr_array((np.ones(whole.nnz), whole.indices, whole.indptr), whole.shape)


def _squared(pattern: Any) -> Any:
    """Return the product of a pattern and its transpose where the pattern has entries."""
    flops = count_flops(pattern)
    if flops > MOST_PRODUCTS:
        raise TooLarge(f"{flops:,} products would check it")
    # `multiply` keeps common entries and drops products that are 0.
    return (pattern @ pattern.T).multiply(pattern).tocsr()


@lru_cache(maxsize=1)
def _common(graph: BenchGraph) -> Any:
    """Return the common neighbours of the ends of every edge; cached for several checks."""
    return _squared(pattern_of(graph))


def _sorted_entries(matrix: Any, n: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return sorted linear positions and values of a Semira or SciPy matrix."""
    if hasattr(matrix, "to_coo"):
        rows, cols, values = matrix.to_coo()
    else:
        found = matrix.tocoo()
        rows, cols, values = found.row, found.col, found.data
    places = rows.astype(np.int64) * n + cols.astype(np.int64)
    order = np.argsort(places)
    return places[order], values[order]


# searches ----------------------------------------------------------------------------------------
@lru_cache(maxsize=1)
def _steps(
    graph: BenchGraph, sources: tuple[int, ...]
) -> tuple[NDArray[np.int64], list[tuple[Any, Any, Any]]]:
    """Return levels, a row for each source (-1: unreached), and positions and paths of each.

    Cached: several checks use the same searches.
    """
    from scipy.sparse import csr_array

    pattern = pattern_of(graph)
    shape = (len(sources), pattern.shape[0])
    level = np.full(shape, -1, np.int64)
    front = csr_array((np.ones(shape[0]), (range(shape[0]), list(sources))), shape)
    found: list[tuple[Any, Any, Any]] = []
    while front.nnz:
        at = front.tocoo()
        level[at.row, at.col] = len(found)
        found.append((at.row, at.col, at.data))
        nearest = (front @ pattern).tocoo()
        new = level[nearest.row, nearest.col] < 0
        front = csr_array((nearest.data[new], (nearest.row[new], nearest.col[new])), shape)
    return level, found


def levels_from(graph: BenchGraph, sources: Sequence[int]) -> NDArray[Any]:
    """Return hops from each source, -1 where unreachable."""
    return _steps(graph, tuple(sources))[0]


def check_many_levels(graph: BenchGraph, result: Any, sources: Sequence[int]) -> dict[str, bool]:
    """Compare with levels by products in SciPy."""
    rows, cols, values = result.level.to_coo()
    found = np.full((len(sources), graph.n), -1, np.int64)
    found[rows.astype(np.int64), cols.astype(np.int64)] = values
    return {"levels differ": not np.array_equal(found, levels_from(graph, sources))}


def check_hops(graph: BenchGraph, result: Any, sources: Sequence[int], k: int) -> dict[str, bool]:
    """Compare with levels by products in SciPy."""
    level = levels_from(graph, sources[:1])[0]
    expected = np.where(level <= k, level, -1)
    found = np.full(graph.n, -1, np.int64)
    indices, values = result.level.to_coo()
    found[indices.astype(np.int64)] = values
    return {"hops differ": not np.array_equal(found, expected)}


def check_closeness(graph: BenchGraph, result: Any, sources: Sequence[int]) -> dict[str, bool]:
    """Compare with the definition, on levels by products in SciPy."""
    level = levels_from(graph, sources)
    reaching = np.count_nonzero(level > 0, axis=0)
    total = np.where(level > 0, level, 0).sum(axis=0)
    others = len(sources) - np.isin(np.arange(graph.n), sources)
    expected = reaching**2 / np.maximum(total, 1) / np.maximum(others, 1)
    found = result.centrality.to_dense(np.nan)
    return {"closeness differs": not np.allclose(found, expected, rtol=1e-12, atol=0)}


def check_betweenness(graph: BenchGraph, result: Any, sources: Sequence[int]) -> dict[str, bool]:
    """Compare with Brandes' sums by products in SciPy."""
    from scipy.sparse import csr_array

    level, found = _steps(graph, tuple(sources))
    depends, arrived = np.zeros(level.shape), np.zeros(level.shape)
    backwards = pattern_of(graph).T.tocsr()
    for (rows, cols, paths), (to_rows, to_cols, to_paths) in zip(
        found[:0:-1], found[-2::-1], strict=True
    ):
        shares = (1 + depends[rows, cols]) / paths
        back = (csr_array((shares, (rows, cols)), level.shape) @ backwards).tocoo()
        arrived[back.row, back.col] = back.data
        depends[to_rows, to_cols] = to_paths * arrived[to_rows, to_cols]
        arrived[back.row, back.col] = 0
    depends[np.arange(len(sources)), list(sources)] = 0
    # Only searches from other vertices count for a vertex.
    others = len(sources) - np.bincount(list(sources), minlength=graph.n)
    pairs = max(graph.n - 2, 1) * np.maximum(others, 1)
    expected = np.where(others > 0, depends.sum(axis=0) / pairs, 0)
    scores = result.centrality.to_dense(np.nan)
    close = np.allclose(scores, expected, rtol=_ROUNDING, atol=_ROUNDING * expected.max(initial=0))
    return {"scores differ": not close}


def of_neighbours(pattern: Any, bits: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return for each row of a pattern the rows of packed bits at its columns, joined by or."""
    width = bits.shape[1]
    words = np.pad(bits, ((0, 0), (0, -width % 8))).view(np.uint64)  # eight bytes at once
    joined, rows = np.zeros_like(words), np.flatnonzero(np.diff(pattern.indptr))
    joined[rows] = np.bitwise_or.reduceat(words[pattern.indices], pattern.indptr[rows], axis=0)
    return joined.view(np.uint8)[:, :width]


# sets and numbers of vertices --------------------------------------------------------------------
def _proper(graph: BenchGraph) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the endpoints of all edges except self-loops."""
    rows, cols = graph.arrays.entry_major().astype(np.int64), graph.arrays.ordinary().indices
    kept = rows != cols
    return rows[kept], cols[kept].astype(np.int64)


def check_independent(graph: BenchGraph, result: Any, _sources: Sequence[int]) -> dict[str, bool]:
    """Check both properties: no two members are connected, no vertex could be added."""
    tails, heads = _proper(graph)
    member = result.member.to_dense(False)
    beside = np.zeros(graph.n, bool)
    beside[heads[member[tails]]] = beside[tails[member[heads]]] = True
    return {
        "two members are connected": bool((member & beside).any()),
        "a vertex could be added": not bool((member | beside).all()),
    }


def check_colours(graph: BenchGraph, result: Any, _sources: Sequence[int]) -> dict[str, bool]:
    """Check properties of greedy colours: edges have two, and no lesser one is free."""
    tails, heads = _proper(graph)
    colour = result.colour.to_dense(-1).astype(np.int64)
    lesser = colour[heads] < colour[tails]
    pairs = np.unique(tails[lesser] * (graph.n + 1) + colour[heads[lesser]])
    below = np.bincount(pairs // (graph.n + 1), minlength=graph.n)
    return {
        "an edge has one colour": bool((colour[tails] == colour[heads]).any()),
        "a vertex has no colour": bool((colour < 0).any()),
        "a lesser colour is free": not np.array_equal(below, colour),
    }


def core_numbers(graph: BenchGraph) -> NDArray[Any]:
    """Return the core number of each vertex of an undirected graph, by peeling."""
    tails, heads = _proper(graph)
    core, alive, k = np.zeros(graph.n, np.int64), np.ones(graph.n, bool), 0
    while alive.any():
        degree = np.bincount(tails, minlength=graph.n)
        k = max(k, int(degree[alive].min()))
        gone = alive & (degree <= k)
        core[gone], alive[gone] = k, False
        kept = alive[tails] & alive[heads]
        tails, heads = tails[kept], heads[kept]
    return core


def check_cores(graph: BenchGraph, result: Any, _sources: Sequence[int]) -> dict[str, bool]:
    """Compare with peeling in NumPy."""
    found = result.core.to_dense(-1)
    return {"core numbers differ": not np.array_equal(found, core_numbers(graph))}


def check_core(graph: BenchGraph, result: Any, _sources: Sequence[int], k: int) -> dict[str, bool]:
    """Compare with peeling in NumPy."""
    inside = core_numbers(graph) >= k
    tails, heads = _proper(graph)
    degree = np.bincount(tails[inside[tails] & inside[heads]], minlength=graph.n)
    expected = np.where(inside, degree, -1)
    return {"degrees differ": not np.array_equal(result.degree.to_dense(-1), expected)}


def check_settled(graph: BenchGraph, result: Any, _sources: Sequence[int]) -> dict[str, bool]:
    """Check that labels are among the most frequent ones beside them."""
    if not result.converged:
        raise TooLarge("labels that still change have no property to check")
    tails, heads = _proper(graph)
    label = result.label.to_dense(-1).astype(np.int64)
    pairs, votes = np.unique(tails * graph.n + label[heads], return_counts=True)
    most, own = np.zeros(graph.n, np.int64), np.zeros(graph.n, np.int64)
    voters = pairs // graph.n
    np.maximum.at(most, voters, votes)
    is_own = pairs % graph.n == label[voters]
    own[voters[is_own]] = votes[is_own]
    return {
        "a label is rarer than another": bool((own < most).any()),
        "an isolated vertex is relabelled": bool((label != np.arange(graph.n))[most == 0].any()),
        "a label is not a vertex": bool(((label < 0) | (label >= graph.n)).any()),
    }


def check_strong(graph: BenchGraph, result: Any, _sources: Sequence[int]) -> dict[str, bool]:
    """Compare with SciPy's labels."""
    from scipy.sparse import csgraph

    _, part = csgraph.connected_components(pattern_of(graph), connection="strong")
    _, first, inverse = np.unique(part, return_index=True, return_inverse=True)
    return {"labels differ": not np.array_equal(result.label.to_dense(-1), first[inverse])}


# scores ------------------------------------------------------------------------------------------
def check_hubs(graph: BenchGraph, result: Any, _sources: Sequence[int]) -> dict[str, bool]:
    """Compare with as many iterations in SciPy."""
    pattern = pattern_of(graph)
    backwards = pattern.T.tocsr()
    hub = np.full(graph.n, 1 / max(graph.n, 1))
    authority = np.zeros(graph.n)
    for _ in range(result.iterations):
        authority = backwards @ hub
        authority /= authority.sum() or 1
        hub = pattern @ authority
        hub /= hub.sum() or 1
    found = result.hub.to_dense(np.nan), result.authority.to_dense(np.nan)
    return {
        f"{name} differ": not np.abs(mine - other).sum() <= _ROUNDING
        for name, mine, other in zip(("hubs", "authorities"), found, (hub, authority), strict=True)
    }


def check_personal(graph: BenchGraph, result: Any, sources: Sequence[int]) -> dict[str, bool]:
    """Check the residual of one more iteration."""
    rank, out = result.rank.to_dense(np.nan), graph.degrees
    share = np.zeros(graph.n)
    share[sources[0]] = 1
    arrived = pattern_of(graph).T @ (rank / np.maximum(out, 1))
    after = (1 - DAMPING) * share + DAMPING * (arrived + rank[out == 0].sum() * share)
    return {
        "the ranks do not sum to 1": not abs(rank.sum() - 1) <= TOLERANCE,
        "one more iteration moves the ranks": not np.abs(after - rank).sum() <= TOLERANCE,
    }


def check_widths(graph: BenchGraph, result: Any, sources: Sequence[int]) -> dict[str, bool]:
    """Check tight edges: none widens a path, and every width has a path of them."""
    from scipy.sparse import csgraph, csr_array

    tails, heads = graph.arrays.entry_major(), graph.arrays.ordinary().indices
    indices, values = result.width.to_coo()
    width = np.full(graph.n, -np.inf)
    width[indices.astype(np.int64)] = values.astype(np.float64)
    width[sources[0]] = np.inf
    through = np.minimum(width[tails], graph.arrays.entry_values().astype(np.float64))
    tight = (through == width[heads]) & (through > -np.inf)
    edges = csr_array((np.ones(tight.sum()), (tails[tight], heads[tight])), shape=(graph.n,) * 2)
    order = csgraph.breadth_first_order(edges, sources[0], return_predecessors=False)
    return {
        "an edge widens a path": bool((through > width[heads]).any()),
        "a width has no path": not np.array_equal(np.sort(order), np.sort(indices)),
    }


# edges -------------------------------------------------------------------------------------------
def check_clustering(graph: BenchGraph, result: Any, _sources: Sequence[int]) -> dict[str, bool]:
    """Compare with common neighbours by products in SciPy."""
    closed = np.asarray(_common(graph).sum(axis=1)).ravel()
    pairs = graph.degrees * (graph.degrees - 1)
    expected = closed / np.maximum(pairs, 1)
    found = result.coefficient.to_dense(np.nan)
    return {"coefficients differ": not np.allclose(found, expected, rtol=1e-12, atol=0)}


def check_truss(graph: BenchGraph, result: Any, _sources: Sequence[int], k: int) -> dict[str, bool]:
    """Compare with common neighbours by products in SciPy."""
    edges, before = pattern_of(graph), -1
    while edges.nnz != before:
        counts = _common(graph) if before < 0 else _squared(edges)
        before = edges.nnz
        edges = (counts * (counts >= k - 2)).tocsr()
        edges.eliminate_zeros()
        counts, edges = edges, edges.copy()
        edges.data[:] = 1
    places, values = _sorted_entries(counts, graph.n)
    mine, triangles = _sorted_entries(result.truss, graph.n)
    return {
        "edges differ": not np.array_equal(mine, places),
        "triangles differ": not np.array_equal(triangles, values),
    }


def check_similar(graph: BenchGraph, result: Any, _sources: Sequence[int]) -> dict[str, bool]:
    """Compare with common neighbours by products in SciPy."""
    pattern = pattern_of(graph)
    places, common = _sorted_entries(_common(graph), graph.n)
    rows, cols, degree = places // graph.n, places % graph.n, graph.degrees
    expected = np.zeros(pattern.nnz)
    mine, found = _sorted_entries(result.similarity, graph.n)
    all_places, _ = _sorted_entries(pattern, graph.n)
    expected[np.searchsorted(all_places, places)] = common / (degree[rows] + degree[cols] - common)
    if not np.array_equal(mine, all_places):
        return {"pairs differ": True}
    return {"similarities differ": not np.allclose(found, expected, rtol=1e-12, atol=0)}


def check_forest(graph: BenchGraph, result: Any, _sources: Sequence[int]) -> dict[str, bool]:
    """Compare with SciPy's spanning tree, and look for cycles."""
    from scipy.sparse import csgraph, csr_array, triu

    # Shifted, because SciPy drops edges of weight zero.
    low = float(graph.arrays.entry_values().min(initial=1)) - 1
    rows, cols = graph.arrays.entry_major(), graph.arrays.ordinary().indices
    values = graph.arrays.entry_values().astype(np.float64) - low
    tree = csgraph.minimum_spanning_tree(csr_array(triu(csr_array(
        (values, (rows, cols)), shape=(graph.n,) * 2), 1)))  # fmt: skip
    tails, heads, weights = result.forest.to_coo()
    kept = csr_array((np.ones(len(tails)), (tails, heads)), shape=(graph.n,) * 2)
    parts = csgraph.connected_components(kept, directed=False)[0]
    expected = tree.sum() + low * tree.nnz
    return {
        "edges are missing, or too many": len(tails) != tree.nnz,
        "there is a cycle": graph.n - parts != len(tails),
        "the weight differs": not np.isclose(weights.sum(dtype=np.float64), expected, rtol=1e-9),
    }


@lru_cache(maxsize=1)
def _all_distances(graph: BenchGraph) -> NDArray[Any]:
    """Return SciPy's distances by Dijkstra; cached for several checks."""
    from scipy.sparse import csgraph

    found: NDArray[Any] = csgraph.dijkstra(graph.weighted)
    return found


def check_all_pairs(graph: BenchGraph, result: Any, _sources: Sequence[int]) -> dict[str, bool]:
    """Compare with SciPy's Dijkstra."""
    expected = _all_distances(graph)
    rows, cols, values = result.distance.to_coo()
    found = np.full(expected.shape, np.inf)
    found[rows.astype(np.int64), cols.astype(np.int64)] = values
    # A path has at most n edges, whose lengths are added one by one.
    rounding = graph.n * float(np.finfo(values.dtype).eps)
    return {"distances differ": not np.allclose(found, expected, rtol=rounding, atol=0)}


def check_reached(graph: BenchGraph, result: Any, _sources: Sequence[int]) -> dict[str, bool]:
    """Compare with sets of bits: what neighbours reach is added until nothing is new."""
    from scipy.sparse import csgraph

    pattern = pattern_of(graph)
    if graph.n * pattern.nnz > 8 * 10**9:
        raise TooLarge(f"{graph.n:,} bits for each of {pattern.nnz:,} edges would check it")
    near = np.zeros((graph.n, graph.n), bool)
    near[pattern.nonzero()] = True
    # Vertices of a strong component reach each other, which saves as many rounds as it is long.
    _, part = csgraph.connected_components(pattern, connection="strong")
    large = np.flatnonzero(np.bincount(part)[part] > 1)
    near[np.ix_(large, large)] |= part[large, None] == part[large]
    before, expected = near[:0], np.packbits(near, axis=1)
    while not np.array_equal(expected, before):
        before = expected
        expected = before | of_neighbours(pattern, before)
    rows, cols, values = result.reach.to_coo()
    found = np.zeros((graph.n, graph.n), bool)
    found[rows.astype(np.int64), cols.astype(np.int64)] = values
    return {"pairs differ": not np.array_equal(np.packbits(found, axis=1), expected)}


def check_eigenpairs(graph: BenchGraph, result: Any, _sources: Sequence[int]) -> dict[str, bool]:
    """Check residuals in SciPy, and inner products; of small graphs all eigenvalues too."""
    from scipy.linalg import eigh
    from scipy.sparse import csgraph

    lap = csgraph.laplacian(graph.weighted + graph.weighted.T, normed=True)
    vectors = np.asarray(result.vectors.to_dense(np.nan), np.float64)
    count = len(result.values)
    residuals = np.linalg.norm(lap @ vectors - vectors * result.values, axis=0)
    violated = {
        "the reported residuals are wrong": not np.allclose(
            residuals, result.residuals, rtol=1e-3, atol=1e-9
        ),
        "vectors are not orthonormal": not np.allclose(
            vectors.T @ vectors, np.eye(count), atol=1e-8
        ),
    }
    if graph.n <= MOST_EIGEN and result.converged:
        true = eigh(lap.toarray(), eigvals_only=True, subset_by_index=(0, count - 1))
        # A value lies within its residual of an eigenvalue.
        within = max(float(result.residuals.max()), 1e-9)
        violated["values are not the smallest"] = not np.allclose(result.values, true, atol=within)
    return violated
