"""Label propagation: every vertex joins the community that most of its neighbours are in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from semira import (
    Matrix,
    ProductOptions,
    Vector,
    binary,
    device,
    dtypes,
    indexunary,
    monoid,
    select,
    semiring,
    tracing,
)
from semira.algorithms.checks import check_count, check_square, vertex_dtype
from semira.algorithms.graph_colouring import graph_colouring
from semira.algorithms.naming import takes_graph
from semira.algorithms.neighbours import undirected
from semira.algorithms.results import rows_of, sizes_of
from semira.algorithms.run import Layout, Run
from semira.exceptions import InvalidValue


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CommunityResult(Run):
    """Result of `label_propagation`.

    Attributes
    ----------
    label : Vector, shape (n,)
        Community of each vertex, named after one of the vertices it began at.
    converged : bool
        Whether the last iteration moved no vertex.
    """

    layout = Layout("label", (), ("label",), ("count", "sizes", "converged"))

    label: Vector
    converged: bool

    @property
    def count(self) -> int:
        """Number of communities. Reads the labels."""
        return len(self.sizes)

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Vertices of each community, the largest first. Reads the labels."""
        return sizes_of(self.label)


@takes_graph()
def label_propagation(
    A: Matrix,
    /,
    max_iterations: int = 100,
    *,
    seed: int = 0,
    symmetric: bool = False,
    **opts: Unpack[ProductOptions],
) -> CommunityResult:
    """Return communities: every vertex has a label that is most frequent among its neighbours.

    Each vertex begins with a label of its own. In an iteration every vertex takes, in turn, the
    label of most of its neighbours: its own one if that is among them, else the smallest.
    Vertices i and j are neighbours if entry (i, j) or (j, i) is stored, whatever its value;
    self-loops are ignored.

    Parameters
    ----------
    A : Matrix or Graph, shape (n, n), any dtype
        Not modified.
    max_iterations : int >= 1
        Maximum number of iterations.
    seed : int >= 0
        Of the `graph_colouring` that gives the turns: colour by colour. Vertices of one colour
        are no neighbours and do not hear of each other, so their order does not matter.
    symmetric : bool
        The caller knows that the entries of `A` are symmetric: spares a copy of the edges.
    **opts
        Options of the products.

    Returns
    -------
    CommunityResult
        ``label``: INT32 (INT64 from 2**31 vertices), an entry for each vertex, the same ones on
        every device; ``converged``, ``count``, ``iterations``, ``trace``.

    Raises
    ------
    DimensionMismatch
        `A` is not square.
    InvalidValue
        `max_iterations` is below 1, `seed` negative, or one of them no integer.

    Notes
    -----
    A vertex that moves gains neighbours of its own label, so the number of edges inside of
    communities grows until nobody moves: it ends. An iteration costs O(nvals) for the votes and
    O(n) for each colour. The loop is run by the host: sizes of matrices are read for each colour,
    and one number in each iteration.

    References
    ----------
    U. Raghavan, R. Albert, S. Kumara, *Near linear time algorithm to detect community structures
    in large-scale networks*, Physical Review E 76, 2007; G. Cordasco, L. Gargano, *Community
    detection via semi-synchronous label propagation algorithms*, BASNA 2010 (turns by colour).

    Examples
    --------
    >>> A = Matrix.from_coo([0, 1, 2, 3, 4, 5, 2], [1, 2, 0, 4, 5, 3, 3], nrows=6, ncols=6)
    >>> found = label_propagation(A)
    >>> found.label.to_dense().tolist(), found.count
    ([1, 1, 1, 3, 3, 3], 2)
    """
    n = check_square(A, "label_propagation", opts)
    if not check_count(max_iterations, "max_iterations"):
        raise InvalidValue("max_iterations=0 must be at least 1")
    edges = undirected(A, symmetric)
    with device(A.device):
        # Entry (i, l) is stored if vertex i has label l.
        member = Vector.from_scalar(True, n).diag()
    label, converged, iterations = _labels(member), False, 0
    with tracing() as traced:
        turns = _turns(edges, graph_colouring(edges, seed=seed, symmetric=True, **opts).colour)
        while not converged and iterations < max_iterations:
            for vertices, ballot in turns:
                member[vertices, :] << _elected(ballot, member, opts)
            before, label = label, _labels(member)
            converged = label.isequal(before)
            iterations += 1
    return CommunityResult(iterations, rows_of(traced), label, converged)


def _labels(member: Matrix) -> Vector:
    """Return the column of the one entry of each row."""
    label = Vector(vertex_dtype(member.nrows), member.nrows)
    label << member.apply(indexunary.colindex).reduce_rowwise(monoid.max)
    return label


def _turns(edges: Matrix, colour: Vector) -> list[tuple[Any, Matrix]]:
    """Return, for each colour, its vertices and the votes that they hear.

    A neighbour has two votes and a vertex one for itself: it decides where there is a tie, and
    nowhere else. Votes come as multiples of the number of vertices, see `_elected`.
    """
    n = edges.nrows
    with device(edges.device):
        votes = Matrix(dtypes.INT64, n, n)
        own = Vector.from_scalar(n, n, dtypes.INT64)
    votes(edges.S) << 2 * n
    votes.setdiag(own)
    numbers = colour.to_dense()
    groups = np.split(np.argsort(numbers, kind="stable"), np.bincount(numbers).cumsum())
    return [(group, votes[group, :].new()) for group in groups if len(group)]


def _elected(ballot: Matrix, member: Matrix, opts: ProductOptions) -> Matrix:
    """Return an entry for each row of the ballot: the label with most votes, or the smallest."""
    # merit = n votes - label: no two labels of a row are equal
    votes = ballot.mxm(member, semiring.plus_first[dtypes.INT64]).new(**opts)
    merit = votes.ewise_mult(votes.apply(indexunary.colindex), binary.minus).new()
    best = merit.reduce_rowwise(monoid.max).new()
    is_best = best.diag().mxm(merit, semiring.any_eq).new(mask=merit.S)
    chosen: Matrix = is_best.select(select.valueeq, True).new()
    return chosen
