"""All-pairs shortest paths: Floyd-Warshall, Bellman-Ford from blocks, Dijkstra, or hops."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np

from semira import (
    Matrix,
    ProductOptions,
    Vector,
    binary,
    device,
    indexunary,
    monoid,
    repeat,
    semiring,
    ss,
    tracing,
)
from semira.algorithms.checks import (
    check_count,
    check_every,
    check_exact_sums,
    check_lengths,
    check_square,
    distance_dtype,
    has_negative,
    vertex_dtype,
)
from semira.algorithms.naming import Vertex, takes_graph
from semira.algorithms.pairs import check_pairs
from semira.algorithms.renamed import renamed
from semira.algorithms.results import finished
from semira.algorithms.route_trees import route_tree
from semira.algorithms.run import Layout, Run
from semira.algorithms.searches import LEVELS, can_search, search
from semira.algorithms.sequential import distances, is_sequential, runs_loops
from semira.exceptions import InvalidValue, NegativeCycle

_ALGORITHMS = ("auto", "floyd_warshall", "sources", "searches", "dijkstra")

#: Vertices of a block of Floyd-Warshall; entries of a block of sources.
_SIDE, _ENTRIES = 64, 1 << 22

#: From sources, an edge is looked at about so often for each of them on random graphs: 2.5 to 3.1
#: times with 10 to 250 edges a vertex (docs/algorithms/all-pairs-shortest-paths.md).
_LOOKS = 3


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class AllPairsResult(Run):
    """Result of `all_pairs_shortest_paths`.

    Attributes
    ----------
    distance : Matrix, shape (n, n), FP32 or FP64
        Entry (i, j) is the length of a shortest path from i to j; none where there is no path.
    method : {"floyd_warshall", "sources", "searches", "dijkstra"}
    block : int
        Vertices of a block.
    predecessor : Matrix, shape (n, n), or None
        Entry (i, j) is the vertex before j on a shortest path from i (at (i, i): i); none where
        there is no path. None unless asked for.
    """

    layout = Layout("distance", answer=("method",))

    distance: Matrix
    method: str
    block: int
    predecessor: Matrix | None = None

    def path(self, source: Vertex, target: Vertex) -> list[Any]:
        """Return the vertices of a shortest path between two of them, both included.

        Parameters
        ----------
        source, target : int, or a name in a Graph

        Raises
        ------
        InvalidValue
            Paths were not asked for, or there is none.
        InvalidIndex, IndexOutOfBound
            One of them is no vertex.

        Notes
        -----
        O(n).
        """
        if self.predecessor is None:
            raise InvalidValue(
                "no paths were asked for; call all_pairs_shortest_paths with predecessors=True"
            )
        row = self._number(source, self.distance.nrows, "source")
        found = self._route(self.predecessor[row, :].new(), target)
        if not found:
            raise InvalidValue(f"no path leads from {source!r} to {target!r}")
        return found


@renamed("method", "algorithm", _ALGORITHMS)
@takes_graph()
def all_pairs_shortest_paths(
    A: Matrix,
    /,
    *,
    algorithm: str = "auto",
    block: int | None = None,
    dtype: Any = None,
    predecessors: bool = False,
    **opts: Unpack[ProductOptions],
) -> AllPairsResult:
    """Return the length of a shortest path from every vertex to every vertex.

    Parameters
    ----------
    A : Matrix or Graph, shape (n, n), BOOL, integers or floats
        Entry (i, j) is the length of the edge from i to j; zero is a length. Not modified.
    algorithm : {"auto", "floyd_warshall", "sources", "searches", "dijkstra"}
        ``floyd_warshall`` lets paths lead through one block of vertices after the other: n**3
        steps whatever the graph. ``sources`` runs Bellman-Ford from a block of sources at once.
        ``searches`` counts hops, as `multi_source_bfs` does, where every length is 1.
        ``dijkstra`` settles vertices one by one, on hosts, where no length is negative. ``auto``:
        ``searches`` if it may and neither `block` nor an option of products is given, else
        ``floyd_warshall`` where a third of the matrix or more has entries, else, under the same
        conditions, ``dijkstra`` where such loops are compiled, else ``sources``.
    block : int, optional
        Vertices of a block. None: 64 for ``floyd_warshall``; for ``sources`` as many as have
        4,194,304 distances.
    dtype : "FP32" or "FP64", optional
        Of the distances. None: FP32 for FP32 weights, else FP64.
    predecessors : bool
        Also return the vertex before the end of each path, which `AllPairsResult.path` follows.
    **opts
        Options of the products.

    Returns
    -------
    AllPairsResult
        ``distance``, ``predecessor``, ``method``, ``block``, ``iterations`` (blocks of
        ``floyd_warshall``, products of ``sources``, levels of ``searches``; 1 of ``dijkstra``),
        ``trace``.

    Raises
    ------
    DimensionMismatch
        `A` is not square.
    InvalidWeight, NegativeWeight
        A weight is NaN or minus infinity; of ``dijkstra`` also negative.
    NegativeCycle
        A cycle of negative length.
    DomainMismatch
        `dtype` is no floating-point dtype.
    InvalidValue
        Unknown `algorithm`, `block` is not positive, or lengths do not fit into `dtype`; see
        `sssp`. `algorithm` is ``searches``, and a length is not 1; or ``dijkstra``, with options
        of products, or where objects lie in memory of the device.
    OutOfMemory
        The distances do not fit, or there are 2**31 vertices or more. Where those within strong
        components, or around the vertex with most edges, do not fit, no distance is computed; the
        error has the bytes needed and those free. 20,000 connected vertices need 9.6 GB in FP64.

    Notes
    -----
    Memory: an entry takes 12 bytes in FP64 (8 in FP32), so the result has up to 12 n**2 bytes.
    ``floyd_warshall`` needs three times as much while it replaces distances, ``sources`` twice
    while it joins its blocks; a block at work takes about four times its distances.

    ``floyd_warshall``: O(n**3) in n / block steps, each with a few products. ``sources``: as `sssp`
    from n vertices, O(n m) steps for each product at most, in as many products as paths have
    edges, for each block; each also passes over the distances of the block. Its loop is recorded;
    as it writes matrices, the host runs it and reads sizes in each iteration. Its products push or
    pull as the block's active distances fill. ``dijkstra``: O(n (m + n log n)); threads share the
    sources.

    Predecessors are found from the distances afterwards in O(n nvals). A block of sources is as
    large as about 4,194,304 edges allow, all sources taken together.

    References
    ----------
    G. Venkataraman, S. Sahni, S. Mukhopadhyaya, *A blocked all-pairs shortest-paths algorithm*,
    J. Experimental Algorithmics 8, 2003; J. Kepner, J. Gilbert (eds.), *Graph algorithms in the
    language of linear algebra*, SIAM 2011, chapter 5.

    Examples
    --------
    >>> A = Matrix.from_coo([0, 1, 2], [1, 2, 0], [1, 2, 4], nrows=3, ncols=3)
    >>> all_pairs_shortest_paths(A).distance.to_dense().tolist()
    [[0.0, 1.0, 3.0], [6.0, 0.0, 2.0], [4.0, 5.0, 0.0]]
    >>> all_pairs_shortest_paths(A, predecessors=True).path(2, 1)
    [2, 0, 1]
    """
    n = check_square(A, "all_pairs_shortest_paths", opts)
    check_every(n, "a distance from every vertex")
    number = distance_dtype(A, dtype, "all_pairs_shortest_paths")
    if algorithm not in _ALGORITHMS:
        raise InvalidValue(f"algorithm={algorithm!r}; choose one of {', '.join(_ALGORITHMS)}")
    if block is not None and check_count(block, "block") == 0:
        raise InvalidValue(f"block={block!r} must be positive")
    one_by_one = is_sequential(A, algorithm, _ALGORITHMS, opts) and algorithm != "auto"
    check_lengths(A, "all_pairs_shortest_paths", number, allow_negative=not one_by_one)
    check_pairs(A, number, predecessors)
    if algorithm == "auto":
        algorithm = _chosen(A, block, opts)
    elif algorithm == "searches" and not _is_unit(A):
        raise InvalidValue(
            "algorithm='searches' counts edges, but one has another length than 1; choose "
            "'sources', or give all of them the value 1"
        )
    with tracing() as run:
        if algorithm == "searches":
            block = n
            distance, iterations = _from_hops(A, number)
        elif algorithm == "dijkstra":
            block = n
            distance, iterations = distances(A, number) if n else A.dup(number), 1
        elif algorithm == "floyd_warshall":
            block = block or _SIDE
            distance, iterations = _floyd_warshall(A.dup(number), block, opts)
        else:
            block = block or max(_ENTRIES // max(n, 1), 1)
            distance, iterations = _from_sources(A.dup(number), block, opts)
    products = tuple(row for row in run.rows if row.op == "mxm")
    if dtype is None:
        ends, name = (monoid.max, monoid.min), "all_pairs_shortest_paths"
        check_exact_sums(A, lambda: [distance.reduce_scalar(end).get(0) for end in ends], name)
    tree = None
    if predecessors:
        # Blocks add lengths up in another order.
        exact = algorithm in ("sources", "dijkstra") or not A.dtype.is_float
        tree = _predecessors(A, distance, exact=exact and not has_negative(A))
    return AllPairsResult(iterations, products, distance, algorithm, block, tree)


def _chosen(A: Matrix, block: int | None, opts: ProductOptions) -> str:
    """Return the algorithm that ``auto`` stands for."""
    n = A.nrows
    if block is None and not opts and can_search(A, n, LEVELS) and _is_unit(A):
        return "searches"
    if _LOOKS * A.nvals >= n * n:
        return "floyd_warshall"
    is_quick = block is None and runs_loops(A, opts) and not has_negative(A)
    return "dijkstra" if is_quick else "sources"


def _is_unit(A: Matrix) -> bool:
    """Return whether every length is 1. Synchronises, until the matrix is written not again."""
    return all(A.reduce_scalar(end).get(1) == 1 for end in (monoid.min, monoid.max))


def _from_hops(A: Matrix, number: Any) -> tuple[Matrix, int]:
    """Return all distances where every edge has length 1, and the number of levels."""
    if A.nrows == 0:
        return A.dup(number), 0
    found = search(A, np.arange(A.nrows), LEVELS)
    return found.matrix().dup(number), int(found.far.max()) + 1


def _floyd_warshall(A: Matrix, side: int, opts: ProductOptions) -> tuple[Matrix, int]:
    """Return all distances, and the number of blocks."""
    n, min_plus = A.nrows, semiring.min_plus[A.dtype]
    D = A.ewise_add(_zeros(A, 0, n), binary.min).new()
    for start in range(0, n, side):
        K = slice(start, min(start + side, n))
        # P = D[K, K]*: paths inside of the block, of up to 1, 2, 4, ... edges
        P = D[K, K].new()
        for _ in range((P.nrows - 1).bit_length()):
            P(accum=binary.min, **opts) << P.mxm(P, min_plus)
        if P.diag().reduce(monoid.min).value < 0:
            raise NegativeCycle(
                f"a cycle of negative length leads through vertices [{K.start}, {K.stop}). "
                "Shortest paths do not exist"
            )
        # D min= (D[:, K] min.+ P) min.+ (P min.+ D[K, :])
        into = D[:, K].new().mxm(P, min_plus).new(**opts)
        out = P.mxm(D[K, :].new(), min_plus).new(**opts)
        D(accum=binary.min, **opts) << into.mxm(out, min_plus)
    return D, -(-n // side)


def _from_sources(A: Matrix, rows: int, opts: ProductOptions) -> tuple[Matrix, int]:
    """Return all distances, and the number of products."""
    n = A.nrows
    found = [_relaxed(A, start, min(rows, n - start), opts) for start in range(0, n, rows)]
    blocks, counts = zip(*found, strict=True) if found else ((A,), ())
    distance = blocks[0] if len(blocks) == 1 else ss.concat([[block] for block in blocks])
    return distance, sum(counts)


def _relaxed(A: Matrix, first: int, count: int, opts: ProductOptions) -> tuple[Matrix, int]:
    """Return the distances from `count` sources on, and the number of products."""
    n, min_plus = A.nrows, semiring.min_plus[A.dtype]
    active = _zeros(A, first, count)
    selves, D = active.dup(), active.dup()
    with device(A.device):
        reached, worse = Matrix(A.dtype, count, n), Matrix(bool, count, n)

    def step() -> Any:
        # t<not I, replace> = active min.+ A: no path that counts comes back to its source
        reached(~selves.S, replace=True, **opts) << active.mxm(A, min_plus)
        # of t keep what is new or shorter, in `active` and in D
        worse << reached.ewise_mult(D, binary.ge)
        active(~worse.V, replace=True) << reached
        D(active.S) << active
        return active.nvals > 0

    loop = finished(repeat(step, max_iterations=n))
    falls = active.nvals > 0
    if not falls and has_negative(A):
        # A cycle through a source shows at its own entry alone.
        back = D.mxm(A, min_plus).new(mask=selves.S, **opts)
        falls = back.reduce_scalar(monoid.min).get(0) < 0
    if falls:
        raise NegativeCycle(
            f"a cycle of negative length is reachable from vertices [{first}, {first + count}): "
            f"distances still fall after {loop.iterations} iterations. Shortest paths do not exist"
        )
    return D, loop.iterations


def _predecessors(A: Matrix, distance: Matrix, *, exact: bool) -> Matrix:
    """Return the vertex before the end of every path: a search in many copies of the graph."""
    n = A.nrows
    rows = max(min(_ENTRIES // max(n, int(A.nvals), 1), n), 1)
    found = [
        _block_of_predecessors(A, distance, start, min(rows, n - start), exact)
        for start in range(0, n, rows)
    ]
    if not found:
        found = [distance.dup(vertex_dtype(n))]
    joined: Matrix = found[0] if len(found) == 1 else ss.concat([[block] for block in found])
    return joined


def _block_of_predecessors(
    A: Matrix, distance: Matrix, first: int, count: int, exact: bool
) -> Matrix:
    """Return the rows of `count` sources: copy i of the graph has the vertices from i n on."""
    n = A.nrows
    with device(A.device):
        copies = Vector.from_scalar(True, count).diag().kronecker(A, binary.second).new()
        rows = Matrix(vertex_dtype(n), count, n)
    lengths = distance[first : first + count, :].new().ss.flatten()
    starts = np.arange(count) * (n + 1) + first
    tree = route_tree(copies, lengths, starts, exact=exact).ss.reshape(count, n)
    before = tree.apply(indexunary.rowindex).apply(binary.times["INT64"], right=n).new()
    rows << tree.ewise_mult(before, binary.minus["INT64"])
    return rows


def _zeros(A: Matrix, first: int, count: int) -> Matrix:
    """Return a row for each source, with length 0 at itself."""
    with device(A.device):
        return Matrix.from_coo(
            np.arange(count), first + np.arange(count), 0, A.dtype, nrows=count, ncols=A.ncols
        )
