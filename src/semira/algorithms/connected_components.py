"""Connected components: FastSV, labels spread along edges by gather and scatter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Unpack

from semira import Matrix, VectorProductOptions, binary, monoid, semiring
from semira.algorithms.components_choice import ALGORITHMS, checked, choose, jump
from semira.algorithms.components_search import Forest
from semira.algorithms.naming import takes_graph
from semira.algorithms.renamed import renamed
from semira.algorithms.results import ComponentsResult


@renamed("method", "algorithm", ALGORITHMS)
@takes_graph()
def connected_components(
    A: Matrix,
    /,
    *,
    symmetric: bool = False,
    algorithm: str = "auto",
    sample: int | None = None,
    **opts: Unpack[VectorProductOptions],
) -> ComponentsResult:
    """Return the component of every vertex, which has the number of its smallest vertex.

    Edges count in both directions: the components of a directed graph are the weak ones.

    Parameters
    ----------
    A : Matrix or Graph, shape (n, n), any dtype
        Entry (i, j), whatever its value, connects i and j. Not modified.
    symmetric : bool
        The caller knows that the entries of `A` are symmetric: saves every second product.
    algorithm : {"auto", "spread", "sample", "search", "union"}
        ``spread`` hands labels along all edges at once. ``sample`` does so on a few edges of each
        vertex first: nearly all vertices then lie in one component, and only edges of the others
        are looked at. ``search`` finds the component of a vertex of most edges by a breadth-first
        search, then spreads labels among the others. ``union`` joins trees over the vertices, edge
        by edge, on devices in the host's memory. ``auto``: ``union`` there, unless there are
        options; elsewhere a search where the mean degree is 24 or more and there are 16,777,216
        entries, else ``spread``; if the search is not over after 64 levels, a sample.
    sample : int, optional
        Edges of each vertex that ``sample`` begins with, 1 or more; None: two.
    **opts
        Options of the products.

    Returns
    -------
    ComponentsResult
        ``label``: INT32 (INT64 from 2**31 vertices), an entry for each vertex; ``count``,
        ``iterations``, ``trace`` (1 and empty for ``union``).

    Raises
    ------
    DimensionMismatch
        `A` is not square.
    InvalidValue
        Unknown `algorithm`, or ``union`` with options or in memory of a device; `sample` is no
        positive integer, or given to another one.

    Notes
    -----
    Each iteration costs O(n + nvals); their number is logarithmic in practice. A search costs
    O(n + nvals) in all, and less where it may pull. Labels begin with any neighbour of each vertex,
    and spread until no vertex has a neighbour with a smaller one. It waits for the end of its loops
    (two with a sample or a search); ``auto`` asks for the number of entries. The first search on a
    matrix asks where to begin, which is kept with the matrix. ``union`` is O(nvals) in practice.

    References
    ----------
    Y. Zhang, A. Azad, A. Buluç, *Parallel algorithms for finding connected components using
    linear algebra*, J. Parallel and Distributed Computing 144, 2020 (FastSV); M. Sutton,
    T. Ben-Nun, A. Barak, *Optimizing parallel graph connectivity computation via subgraph
    sampling*, IPDPS 2018 (Afforest); G. Slota, S. Rajamanickam, K. Madduri, *BFS and
    coloring-based parallel algorithms for strongly connected components and related problems*,
    IPDPS 2014 (a search for the largest component first).

    Examples
    --------
    >>> A = Matrix.from_coo([4, 2], [1, 3], nrows=5, ncols=5)
    >>> found = connected_components(A)
    >>> found.label.to_dense().tolist(), found.count
    ([0, 1, 2, 2, 1], 3)
    """
    few = checked(A, algorithm, sample, opts)
    return choose(A, symmetric, algorithm, few, opts, fastsv)


def fastsv(
    edges: Matrix, forest: Forest, both_ways: bool, opts: VectorProductOptions
) -> Callable[[], Any]:
    """Return the body of the loop that hands labels along edges until no neighbour's is smaller."""
    label, grand, offer = forest
    min_first, min_second = semiring.min_first[label.dtype], semiring.min_second[label.dtype]

    def step() -> Any:
        # grand = label[label], or further towards the root
        jump(label, grand)
        # offer min= edges min.second grand, and against the edges
        offer(accum=binary.min, **opts) << edges.mxv(grand, min_second)
        if both_ways:
            offer(accum=binary.min, **opts) << grand.vxm(edges, min_first)
        # Stochastic hooking, of parents: label[grand] min= offer
        label.scatter(grand, offer, monoid.min)
        # Aggressive hooking and shortcutting, of vertices: label min= offer, grand
        least = offer.ewise_add(grand, binary.min).new()
        label(accum=binary.min) << least
        # Without an offer better than what its vertex has, both ends of every edge have the same.
        return offer.ewise_mult(grand, binary.lt).new().reduce(monoid.lor)

    return step
