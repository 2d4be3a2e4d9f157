"""Eccentricities where few vertices have more than two edges: by formula, without a search.

A chain is a path of vertices of degree 2 between two other vertices, its ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from semira import Matrix, Vector, binary, device, indexunary, monoid, repeat, select, semiring
from semira.algorithms.neighbours import undirected

#: Graphs of fewer vertices are not looked at. More entries than twice the vertices and this share
#: of them cannot be chains for the most part.
LEAST, _SHARE = 256, 8

#: Ends of chains and chains at most, if the distances from all vertices to all ends are no more.
_ENDS, _CHAINS, _DISTANCES = 64, 256, 1 << 25

#: The distance of vertices that no path connects, to be added up a few times.
_FAR = 1 << 60

_Host: TypeAlias = NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False)
class _Chains:
    """Where each vertex lies in its chain."""

    #: Vector, shape (n,).
    degree: Vector
    #: `first`, `second`: Vector, shape (n,). The ends of its chain: of degree 2 on a cycle alone. A
    #: vertex of degree 3 or more, or 0, is both itself; one of degree 1 is its first.
    first: Vector
    second: Vector
    #: `before`, `after`: Vector, shape (n,). The distances to them along the chain.
    before: Vector
    after: Vector
    #: Vector, shape (n,). The smallest vertex of degree 2 of its chain; n if there is none.
    name: Vector


def eccentricities_of_chains(A: Matrix, symmetric: bool) -> Vector | None:
    """Return the eccentricities of vertices that chains tell, in their components, edges both ways.

    Those are the vertices of paths and cycles, and all others if there are at most 64 ends of
    chains, and 256 chains; elsewhere the INT64 vector has no entry. None: there are fewer than 256
    vertices, or it is seen early that no chains are there. `symmetric`: the caller knows that the
    entries of `A` are. O(n log n) for paths and cycles, and O(n) for each end and each chain.
    """
    n = A.nrows
    if n < LEAST or A.nvals > 2 * n + n // _SHARE:
        return None
    edges: Matrix = undirected(A, symmetric).select(select.offdiag).new()
    with device(A.device):
        own = Vector("INT64", n)
    own << 0
    degree = own.dup()
    own << own.apply(indexunary.index)
    degree(accum=binary.plus) << edges.mxv(own, semiring.plus_pair["INT64"])
    if degree.select(select.valuegt, 2).new().nvals > _ENDS:
        return None
    chains = _chains(edges, own, degree)
    found = _paths_and_cycles(chains)
    _between_branches(edges, chains, found)
    return found


def _chains(edges: Matrix, own: Vector, degree: Vector) -> _Chains:
    """Follow the edges of all vertices of degree 1 and 2 in both directions, by doubling.

    Step v leads from vertex v to its smaller neighbour, step n + v to its greater one.
    """
    n = own.size
    with device(edges.device):
        vertex, ahead, length, least = (Vector("INT64", 2 * n) for _ in range(4))
    least << n
    length << 0
    two, one = (degree.select(select.valueeq, count).new() for count in (2, 1))
    lower, higher = (
        edges.mxv(own, which["INT64"]).new()
        for which in (semiring.min_secondi, semiring.max_secondi)
    )
    vertex[:n] << own
    vertex[n:] << own
    least[:n] << own.dup(mask=two.S)
    least[n:] << own.dup(mask=two.S)
    least(accum=binary.first) << n
    ahead[:n] << lower.dup(mask=two.S)
    ahead[n:] << higher.dup(mask=two.ewise_add(one, binary.first).new().S)
    length(ahead.S) << 1
    # Behind a vertex of degree 2, the way goes on to where it does not come from.
    turned = lower.gather(ahead).ewise_mult(vertex, binary.eq).select(select.valueeq, True).new()
    goes_on = two.gather(ahead).new()
    beside = ahead.apply(binary.plus, right=n).new()
    ahead(turned.dup(mask=goes_on.S).S) << beside
    # At the ends of a chain, it stays.
    stays = vertex.dup(mask=~ahead.S)
    ahead(stays.S) << stays

    def double() -> None:
        far, low, further = (each.gather(ahead).new() for each in (length, least, ahead))
        length(accum=binary.plus) << far
        least(accum=binary.min) << low
        ahead << further

    repeat(double, max_iterations=n.bit_length())
    end = vertex.gather(ahead).new()
    name = least[:n].new().ewise_mult(least[n:].new(), binary.min).new()
    first, second, before, after = (
        each[part].new() for each in (end, length) for part in (slice(n), slice(n, None))
    )
    return _Chains(degree, first, second, before, after, name)


def _paths_and_cycles(chains: _Chains) -> Vector:
    """Return the eccentricities of vertices of components without a branch."""
    degree = chains.degree
    found = degree.dup(clear=True)
    at_first, at_second = (degree.gather(each).new() for each in (chains.first, chains.second))
    # A path ends twice in a vertex of degree 1, or is one of degree 0.
    is_path = at_first.ewise_mult(at_second, binary.max).select(select.valuele, 1).new()
    found(is_path.S) << chains.before.ewise_mult(chains.after, binary.max)
    # A cycle does not end: all its vertices have degree 2.
    on_cycle = at_first.select(select.valueeq, 2).new()
    name = chains.name.dup(mask=on_cycle.S)
    size = degree.dup()
    size << 0
    size.scatter(name, name.apply(binary.pair, right=1).new(), monoid.plus)
    found(on_cycle.S) << size.gather(name).apply(binary.floordiv, right=2)
    return found


def _between_branches(edges: Matrix, chains: _Chains, found: Vector) -> None:
    """Add to `found` the eccentricities in components with branches, if there are few ends."""
    n = found.size
    ends = _ends(chains)
    q = len(ends)
    if q == 0 or q > _ENDS or q * n > _DISTANCES:
        return
    with device(edges.device):
        number = Vector.from_coo(ends, np.arange(q), size=n)
    first, second = (number.gather(each).new() for each in (chains.first, chains.second))
    named, tails, heads, lengths = _listed(chains, first, second)
    if len(named) > _CHAINS:
        return
    D = _distances(edges[ends, ends].new(), tails, heads, lengths)
    # The farthest end, and the distances to each
    to_end = [chains.before.dup(clear=True) for _ in ends]
    for row, distance in zip(D, to_end, strict=True):
        near = np.flatnonzero(row < _FAR)
        with device(edges.device):
            table = Vector.from_coo(near, row[near], size=q)
        ways = (
            side.ewise_mult(table.gather(end).new(), binary.plus).new()
            for side, end in ((chains.before, first), (chains.after, second))
        )
        distance << next(ways).ewise_mult(next(ways), binary.min)
        found(accum=binary.max) << distance
    # The farthest vertex of another chain: paths over both of its ends meet there.
    for name, a, b, m in zip(named, tails, heads, lengths, strict=True):
        mine = chains.name.select(select.valueeq, int(name)).new()
        both = to_end[a].ewise_mult(to_end[b], binary.plus).new()
        middle = both.apply(binary.plus, right=int(m)).apply(binary.floordiv, right=2).new()
        found(~mine.S, accum=binary.max) << middle
    _along_own_chain(chains, found, named, lengths, D[tails, heads])


def _along_own_chain(
    chains: _Chains, found: Vector, named: _Host, lengths: _Host, between: _Host
) -> None:
    """Add the farthest vertex of the own chain, if paths in both directions meet there.

    The chain and the way from end to end besides are a cycle; its far side is in the chain unless
    the vertex is near the chain's middle. There, an end is the farthest.
    """
    n = found.size
    if len(named) == 0:
        return
    with device(found.device):
        far, spare = (
            Vector.from_coo(named, each, size=n).gather(chains.name.select(select.valuelt, n))
            for each in ((lengths + between) // 2, lengths - between)
        )
    nearer = chains.before.ewise_mult(chains.after, binary.min).apply(binary.times, right=2).new()
    meets = nearer.ewise_mult(spare.new(), binary.le).select(select.valueeq, True).new()
    found(meets.S, accum=binary.max) << far.new()


def _ends(chains: _Chains) -> _Host:
    """Return the vertices of degree 3 or more, and those of degree 1 whose chain ends at one."""
    degree = chains.degree
    branches = degree.select(select.valuegt, 2).new()
    leaves = chains.second.dup(mask=degree.select(select.valueeq, 1).new().S)
    loose = degree.gather(leaves).select(select.valuegt, 2).new()
    both: _Host = branches.ewise_add(loose, binary.first).new().to_coo(values=False)[0]
    return both.astype(np.int64)


def _listed(chains: _Chains, first: Vector, second: Vector) -> Iterator[_Host]:
    """Return the chains with a vertex of degree 2: name, numbers of both ends, length."""
    own = chains.name.apply(indexunary.index).new()
    is_named = chains.name.ewise_mult(own, binary.eq).select(select.valueeq, True).new()
    length = chains.before.ewise_mult(chains.after, binary.plus).new()
    named: Any = first.dup(mask=is_named.S)
    places, tails = named.to_coo()
    heads, lengths = (each.dup(mask=named.S).to_coo(indices=False)[1] for each in (second, length))
    return iter((places.astype(np.int64), tails, heads, lengths))


def _distances(direct: Matrix, tails: _Host, heads: _Host, lengths: _Host) -> _Host:
    """Return the distances between all ends, over edges and chains between them."""
    q = direct.nrows
    D = np.full((q, q), _FAR, np.int64)
    rows, cols, _ = direct.to_coo(values=False)
    D[rows.astype(np.int64), cols.astype(np.int64)] = 1
    np.minimum.at(D, (tails, heads), lengths)
    np.minimum.at(D, (heads, tails), lengths)
    np.fill_diagonal(D, 0)
    for k in range(q):
        D = np.minimum(D, D[:, k, None] + D[k])
    return D
