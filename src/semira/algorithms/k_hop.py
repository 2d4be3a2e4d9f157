"""The vertices within k hops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Unpack

from semira import Matrix, ProductOptions, Vector
from semira.algorithms.checks import check_count, check_square, check_vertices
from semira.algorithms.multi_source_bfs import from_all
from semira.algorithms.naming import Vertex, takes_graph, vertices
from semira.algorithms.run import Layout, Run


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class KHopResult(Run):
    """Result of `k_hop`.

    Attributes
    ----------
    level : Vector, shape (n,)
        Hops from the nearest source, at most k; no entry at vertices farther away.
    """

    layout = Layout("level", answer=("count",))

    level: Vector

    @property
    def count(self) -> int:
        """Number of vertices within k hops, the sources included. Synchronises."""
        return int(self.level.nvals)


@takes_graph(sources=vertices)
def k_hop(
    A: Matrix, /, sources: Vertex | Sequence[Vertex], k: int = 1, **opts: Unpack[ProductOptions]
) -> KHopResult:
    """Return the vertices within k hops of a vertex, or of any one of a set.

    Parameters
    ----------
    A : Matrix or Graph, shape (n, n), any dtype
        Entry (i, j), whatever its value, is the edge from i to j. Not modified.
    sources : int or sequence of ints, each in [0, n); names in a Graph with labels
    k : int >= 0
        How many hops.
    **opts
        Options of the product (``direction="pull"``, ...).

    Returns
    -------
    KHopResult
        ``level``: INT32 (INT64 from 2**31 vertices), whose entries are the vertices;
        ``count``, ``iterations``, ``trace``.

    Raises
    ------
    DimensionMismatch
        `A` is not square.
    InvalidIndex, IndexOutOfBound
        A source is no vertex.
    InvalidValue
        `k` is negative or no integer.

    Notes
    -----
    The first k levels of a breadth-first search from all sources together: at most k products,
    O(vertices within k hops + edges of those within k - 1) work where it pushes. No
    synchronisation. Hosts search as `bfs` does.

    References
    ----------
    C. Yang, *High-performance linear algebra-based graph framework on the GPU*, 2019, section
    7.5.1: its search, ended after k levels.

    Examples
    --------
    >>> A = Matrix.from_coo([0, 1, 2, 4], [1, 2, 3, 2], nrows=5, ncols=5)
    >>> k_hop(A, [0, 4], 1).level.to_dict()
    {0: 0, 1: 1, 2: 1, 4: 0}
    """
    n = check_square(A, "k_hop", opts)
    hops = min(check_count(k, "k"), n)
    # To make an array of one vertex takes a tenth of a small search.
    is_one = sources.__class__ is int and 0 <= sources < n
    starts: Any = sources if is_one else check_vertices(sources, n)
    level, iterations, trace = from_all(A, starts, hops, opts)
    return KHopResult(iterations, trace, level)
