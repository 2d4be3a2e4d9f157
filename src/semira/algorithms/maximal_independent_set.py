"""Maximal independent sets: Luby's algorithm with one random number for each vertex."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Unpack

from semira import Matrix, ProductOptions, Vector, binary, dtypes, repeat, semiring, unary
from semira.algorithms.checks import check_square
from semira.algorithms.naming import takes_graph
from semira.algorithms.neighbours import falling_order, priorities, undirected
from semira.algorithms.results import finished
from semira.algorithms.run import Layout, Run
from semira.algorithms.sequential import independent, runs_loops


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class IndependentSetResult(Run):
    """Result of `maximal_independent_set`.

    Attributes
    ----------
    member : Vector, shape (n,), BOOL
        True at the vertices of the set; no entry elsewhere.
    """

    layout = Layout("member", answer=("count",))

    member: Vector

    @property
    def count(self) -> int:
        """Number of vertices of the set. Synchronises."""
        return int(self.member.nvals)


@takes_graph()
def maximal_independent_set(
    A: Matrix, /, *, seed: int = 0, symmetric: bool = False, **opts: Unpack[ProductOptions]
) -> IndependentSetResult:
    """Return a set of vertices of which no two are connected, and to which none can be added.

    Vertices i and j are connected if entry (i, j) or (j, i) is stored, whatever its value;
    self-loops are ignored.

    Parameters
    ----------
    A : Matrix or Graph, shape (n, n), any dtype
        Not modified.
    seed : int >= 0
        Of the order of the vertices. The set is the one that a greedy scan in falling order of
        `semira.algorithms.neighbours.priorities` finds: the same on every device.
    symmetric : bool
        The caller knows that the entries of `A` are symmetric: spares a copy of the edges.
    **opts
        Options of the products.

    Returns
    -------
    IndependentSetResult
        ``member``; ``count``, ``iterations``, ``trace``.

    Raises
    ------
    DimensionMismatch
        `A` is not square.
    InvalidValue
        `seed` is negative or no integer.

    Notes
    -----
    O(n + nvals) to begin with; an iteration looks at the edges of the vertices still undecided.
    O(log n) iterations with high probability (Fischer and Noever). It waits for the end of its
    loop.

    Where hosts compile loops, and without options, one scan in that order finds the set: one
    iteration, no products. It reads the rows of members. The order stays with `A`, of the last
    seed.

    References
    ----------
    M. Luby, *A simple parallel algorithm for the maximal independent set problem*, SIAM J.
    Computing 15, 1986; G. Blelloch, J. Fineman, J. Shun, *Greedy sequential maximal independent
    set and matching are parallel on average*, SPAA 2012, section 3 (numbers drawn once);
    M. Fischer, A. Noever, *Tight analysis of parallel randomized greedy MIS*, SODA 2018.

    Examples
    --------
    >>> A = Matrix.from_coo([0, 0, 0, 3], [1, 2, 3, 4], nrows=5, ncols=5)
    >>> maximal_independent_set(A).member.to_dict()
    {0: True, 4: True}
    """
    n = check_square(A, "maximal_independent_set", opts)
    if runs_loops(A, opts):
        member = independent(undirected(A, symmetric), falling_order(A, seed))
        return IndependentSetResult(1, (), member)
    # Priorities of the vertices that may still join.
    undecided = priorities(A, seed)
    edges = undirected(A, symmetric)
    member, joining, leaving = (Vector(dtypes.BOOL, n) for _ in range(3))
    max_second = semiring.max_second[undecided.dtype]

    def step() -> Any:
        # best<undecided> = the greatest priority among undecided neighbours
        best = edges.mxv(undecided, max_second).new(mask=undecided.S, **opts)
        # joining<not (undecided < best)> = 1: a self-loop compares a vertex with itself
        lower = undecided.ewise_mult(best, binary.lt).new()
        joining(~lower.V, replace=True) << undecided.apply(unary.one)
        member(joining.S) << True
        # leaving<undecided> = joining or next to one that is
        leaving(undecided.S, replace=True, **opts) << edges.mxv(joining, semiring.any_pair)
        leaving(joining.S) << True
        undecided(~leaving.S, replace=True) << undecided
        return undecided.nvals > 0

    loop = finished(repeat(step, max_iterations=max(n, 1)))
    return IndependentSetResult(loop.iterations, loop.trace, member)
