"""Transitive closure: searches from every strong component, a bit of a word for each."""

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
    free_memory,
    monoid,
    select,
    semiring,
    ss,
    tracing,
)
from semira.algorithms.checks import check_every, check_square
from semira.algorithms.multi_source_bfs import multi_source_bfs
from semira.algorithms.naming import takes_graph
from semira.algorithms.results import rows_of
from semira.algorithms.run import Layout, Run
from semira.algorithms.strongly_connected_components import strongly_connected_components
from semira.exceptions import OutOfMemory

#: Levels that a block of searches keeps, and the least sources of one: a bit for each.
_LEVELS, _SOURCES = 1 << 26, 256

#: Bytes for each pair of the result, two indices of 4; and for each pair of components, which is
#: held twice while blocks are joined.
_ENTRY, _JOINED = 8, 16

_ANY_PAIR = semiring.any_pair["BOOL"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ClosureResult(Run):
    """Result of `transitive_closure`.

    Attributes
    ----------
    reach : Matrix, shape (n, n), BOOL
        An entry (i, j) where a path leads from i to j.
    components : int
        Strong components.
    """

    layout = Layout("reach", answer=("pairs", "components"))

    reach: Matrix
    components: int

    @property
    def pairs(self) -> int:
        """Number of entries of `reach`. Synchronises."""
        return int(self.reach.nvals)


@takes_graph()
def transitive_closure(
    A: Matrix, /, *, reflexive: bool = False, **opts: Unpack[ProductOptions]
) -> ClosureResult:
    """Return which vertices every vertex reaches by a path of one edge or more.

    Parameters
    ----------
    A : Matrix or Graph, shape (n, n), any dtype
        Entry (i, j), whatever its value, is the edge from i to j. Not modified.
    reflexive : bool
        Every vertex reaches itself, whether it lies on a cycle or not: paths without an edge count.
    **opts
        Options of the products.

    Returns
    -------
    ClosureResult
        ``reach``: BOOL; ``components``, ``pairs``, ``trace``.

    Raises
    ------
    DimensionMismatch
        `A` is not square.
    OutOfMemory
        The pairs do not fit: those within strong components are counted before a search begins, all
        of them before the result is made. Or there are 2**31 vertices or more.

    Notes
    -----
    Vertices of a strong component reach the same ones. So the graph of the c components is searched
    from each of them, 256 at once with one look at an edge (`multi_source_bfs`), in blocks whose
    levels take 64 MB, or 256 c bytes: O(c m / 256) work in all if paths are short, where m edges
    lead from component to component. Two products give their vertices what components reach.
    Memory: 8 bytes for each pair, and up to 16 for each pair of components.

    References
    ----------
    E. Nuutila, *Efficient transitive closure computation in large digraphs*, Acta Polytechnica
    Scandinavica 74, 1995 (strong components first); M. Then et al., *The more the merrier:
    efficient multi-source graph traversal*, VLDB 2014 (a bit for each search).

    Examples
    --------
    >>> A = Matrix.from_coo([0, 1, 2, 2], [1, 2, 1, 3], nrows=4, ncols=4)
    >>> reach = transitive_closure(A).reach
    >>> [sorted(row) for row in reach.to_dicts().values()]
    [[1, 2, 3], [1, 2, 3], [1, 2, 3]]
    >>> transitive_closure(A, reflexive=True).pairs
    11
    """
    n = check_square(A, "transitive_closure", opts)
    check_every(n, "what every vertex reaches")
    with tracing() as run, device(A.device):
        member, sizes = _members(A, opts)
        _check_room(int(sizes @ sizes), n, A.device)
        # D = S' A S: edges between components, and inside of them
        D = member.T.mxm(A, _ANY_PAIR).new(**opts).mxm(member, _ANY_PAIR).new(**opts)
        T = _reached(D, reflexive, A.device, opts)
        weight = Vector.from_dense(sizes)
        ends = T.mxv(weight, semiring.plus_second["INT64"]).new()
        pairs = weight.ewise_mult(ends, binary.times).reduce(monoid.plus)
        _check_room(int(pairs.get(0)), n, A.device)
        # R = S (T S'): what a component reaches is spelled out once, then copied to its vertices
        reach = member.mxm(T.mxm(member.T, _ANY_PAIR).new(**opts), _ANY_PAIR).new(**opts)
    return ClosureResult(1, rows_of(run), reach, len(sizes))


def _members(A: Matrix, opts: ProductOptions) -> tuple[Matrix, Any]:
    """Return S, with an entry (i, c) for each vertex i of component c, and their sizes."""
    label = strongly_connected_components(A, **opts).label.to_dense()
    names, number, sizes = np.unique(label, return_inverse=True, return_counts=True)
    vertices = np.arange(A.nrows)
    member = Matrix.from_coo(vertices, number, True, nrows=A.nrows, ncols=len(names))
    return member, sizes.astype(np.int64)


def _reached(D: Matrix, reflexive: bool, where: str, opts: ProductOptions) -> Matrix:
    """Return T, with an entry (c, d) where a path leads from component c to component d."""
    count = D.nrows
    inside = Vector.from_scalar(True, count) if reflexive else D.diag()
    T: Matrix = inside.diag()
    block = max(_LEVELS // max(count, 1), _SOURCES)
    found, kept = [], 0
    for start in range(0, count, block):
        sources = range(start, min(start + block, count))
        level = multi_source_bfs(D, sources, **opts).level
        # Level 0 is the source itself.
        found.append(level.select(select.valuegt, 0).new().dup("BOOL"))
        kept += found[-1].nvals
        _check_room(kept, count, where, _JOINED)
    if found:
        T(accum=binary.lor) << ss.concat([[rows] for rows in found])
    return T


def _check_room(pairs: int, vertices: int, where: str, width: int = _ENTRY) -> None:
    """Check that `pairs` pairs of `width` bytes fit into memory.

    Raises OutOfMemory if they do not.
    """
    room, needed = free_memory(where), pairs * width
    if room is not None and needed > room:
        raise OutOfMemory(
            f"transitive_closure: paths connect at least {pairs} pairs of {vertices} vertices or "
            f"strong components, which need {needed} bytes ({needed / 2**30:,.1f} GiB), but {room} "
            f"bytes ({room / 2**30:,.1f} GiB) are available on {where!r}; use multi_source_bfs "
            "from the vertices in question, or strongly_connected_components"
        )
