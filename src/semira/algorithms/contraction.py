"""Graphs made smaller for strongly connected components: by pairs, chains, trees and loose ends.

A step returns a smaller graph with the same vertices, most of which have no edge any more, and a
function that turns its labels into those of the graph before.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from semira import Matrix, Vector, binary, device, indexunary, monoid, repeat, select, semiring
from semira.algorithms.checks import vertex_dtype
from semira.algorithms.connected_components import connected_components
from semira.algorithms.neighbours import compared

#: Labels of a smaller graph to labels of the one before: vertices of equal labels are a component.
Expand: TypeAlias = Callable[[Vector], Vector]


def contracted(A: Matrix) -> tuple[Matrix, Expand]:
    """Return a graph with the strong components of `A`, in which chains are single vertices.

    Beside it, what takes a component's label for every vertex of the smaller graph, one of its
    vertices, and returns such labels for `A`.

    Vertices that lead to each other by an edge become one; then the trees and cycles along the only
    edge out of a vertex; then those along the only edge into one. As long as half of the edges go,
    it begins anew. O((n + nvals) log n). Of what is left, vertices that nothing leads to are taken
    off until there is none: O(n + nvals) in as many iterations as paths are long.
    """
    left: Matrix = A.select(select.offdiag).new()
    steps: list[Expand] = []
    before, edges = 2 * left.nvals, left.nvals
    while 0 < edges <= before // 2:
        before = edges
        left, back = _join_pairs(left)
        steps.append(back)
        for _ in range(2):
            if left.nvals:
                left, back = _follow_single_edges(left)
                steps.append(back)
                # The edges into a vertex are next. Components are the same against the edges.
                left = left.T.new()
        edges = left.nvals

    def expand(label: Vector) -> Vector:
        for back in reversed(steps):
            label = back(label)
        return label

    return _trimmed(left), expand


def vertices(A: Matrix) -> Vector:
    """Return the number of each vertex, on the device of `A`."""
    with device(A.device):
        own = Vector(vertex_dtype(A.nrows), A.nrows)
    own << 0
    own << own.apply(indexunary.index)
    return own


def _join_pairs(A: Matrix) -> tuple[Matrix, Expand]:
    """Make one vertex of those that are connected by edges in both directions."""
    both = A.ewise_mult(A.T, binary.pair).new()
    group = connected_components(both, symmetric=True).label
    return _merged(A, group), lambda label: label.gather(group).new()


def _follow_single_edges(A: Matrix) -> tuple[Matrix, Expand]:
    """Make one vertex of those that lead to each other by the only edge out of each.

    A vertex with one edge out is in a component with others only if that is the one of its edge's
    end: paths from it to elsewhere lead over that end. So the tree that leads to a vertex becomes
    one with it, and so does a cycle of such vertices with all that leads there.
    """
    n, own = A.nrows, vertices(A)
    degree = A.mxv(own, semiring.plus_pair[own.dtype]).new()
    single = degree.select(select.valueeq, 1).new()
    ahead, least = own.dup(), own.dup()
    ahead(single.S) << A.mxv(own, semiring.any_secondi[own.dtype])
    far = ahead.dup()

    def double() -> None:
        # The least vertex among the next 1, 2, 4, ... ones, and the one after them.
        further = least.gather(far).new()
        least(accum=binary.min) << further
        further << far.gather(far)
        far << further

    repeat(double, max_iterations=n.bit_length())
    # As many steps as there are vertices end in a root, or on a cycle, all of which are reached.
    ends = far.dup(clear=True)
    ends.scatter(far, own)
    group = least.gather(far).new()

    def back(label: Vector) -> Vector:
        found: Vector = label.gather(group).new()
        alone = own.dup(mask=~ends.S)
        alone << _off_cycles(A, found, ends, alone, ahead)
        found(alone.S) << alone
        return found

    return _merged(A, group), back


def _off_cycles(A: Matrix, label: Vector, ends: Vector, tree: Vector, ahead: Vector) -> Vector:
    """Return those vertices of trees which the component of their root does not reach.

    It reaches those to which one of its vertices outside of trees has an edge, and all after them.
    """
    n = A.nrows
    with device(A.device):
        outside, inside = Matrix(label.dtype, n, 1), Matrix(label.dtype, n, 1)
        reached = Vector(bool, n)
    outside[:, 0] << label.dup(mask=ends.S)
    inside[:, 0] << label.dup(mask=tree.S)
    same = outside.mxm(inside.T, semiring.any_eq).new(mask=A.S)
    reached << same.select(select.valueeq, True).reduce_columnwise(monoid.lor)
    far = ahead.dup()

    def double() -> None:
        told, further = reached.dup(), far.gather(far).new()
        reached.scatter(far, told, monoid.lor)
        far << further

    repeat(double, max_iterations=n.bit_length())
    missed: Vector = tree.dup(mask=~reached.S)
    return missed


def _trimmed(A: Matrix) -> Matrix:
    """Return the edges among vertices that lie on a cycle or behind one: others are on their own.

    Vertices without an edge into them are taken off, and those that have none any more then.
    """
    if A.nvals == 0:
        return A
    degree, count = vertices(A), semiring.plus_pair[vertex_dtype(A.nrows)]
    into = degree.vxm(A, count).new()
    degree << 0
    degree(into.S) << into
    first = degree.select(select.valueeq, 0).new()

    def trim() -> Any:
        lost = first.vxm(A, count).new()
        degree(accum=binary.minus) << lost
        first(lost.S, replace=True) << degree
        first << first.select(select.valueeq, 0)
        return first.nvals > 0

    repeat(trim, max_iterations=A.nrows)
    rest = degree.select(select.valuene, 0).new().diag()
    left: Matrix = rest.mxm(A, semiring.any_pair).new()
    return left


def _merged(A: Matrix, group: Vector) -> Matrix:
    """Return the edges between groups of vertices; each is named after one of its vertices."""
    n = A.nrows
    # Edges with ends in two groups
    between = compared(A, group, semiring.any_ne)
    if between.nvals == 0:
        return between
    with device(A.device):
        member = Matrix.from_csr(np.arange(n + 1), group.to_dense(), True, ncols=n)
    joined: Matrix = member.T.mxm(between, semiring.any_pair).new()
    joined << joined.mxm(member, semiring.any_pair)
    return joined
