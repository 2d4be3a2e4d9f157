"""Graph colouring: the greedy one as a fixed point, with colours as bits of a word."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Unpack

from semira import (
    Matrix,
    ProductOptions,
    Scalar,
    Vector,
    binary,
    device,
    device_traits,
    dtypes,
    monoid,
    repeat,
    select,
    semiring,
    unary,
)
from semira.algorithms.checks import check_square, vertex_dtype
from semira.algorithms.naming import takes_graph
from semira.algorithms.neighbours import by_rows, falling_edges, falling_order, undirected
from semira.algorithms.results import finished
from semira.algorithms.run import Layout, Run
from semira.algorithms.sequential import colours, runs_loops
from semira.algorithms.turns import colours_in_turn

#: Colours that are looked at together: bits of a word.
_WORD = 64


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ColouringResult(Run):
    """Result of `graph_colouring`.

    Attributes
    ----------
    colour : Vector, shape (n,)
        Colour of each vertex, from 0 on; connected vertices have different ones.
    """

    layout = Layout("colour", answer=("count",))

    colour: Vector

    @property
    def count(self) -> int:
        """Number of colours. Synchronises."""
        return int(self.colour.reduce(monoid.max).get(-1)) + 1


@takes_graph()
def graph_colouring(
    A: Matrix, /, *, seed: int = 0, symmetric: bool = False, **opts: Unpack[ProductOptions]
) -> ColouringResult:
    """Return a colour for every vertex that no neighbour has.

    Vertices i and j are connected if entry (i, j) or (j, i) is stored, whatever its value;
    self-loops are ignored.

    Parameters
    ----------
    A : Matrix or Graph, shape (n, n), any dtype
        Not modified.
    seed : int >= 0
        Of the order of the vertices. The colouring is the one that a greedy scan in falling
        order of `semira.algorithms.neighbours.priorities` makes, where each vertex takes the
        least colour that its neighbours leave: the same on every device.
    symmetric : bool
        The caller knows that the entries of `A` are symmetric: spares a copy of the edges.
    **opts
        Options of the products.

    Returns
    -------
    ColouringResult
        ``colour``: INT32 (INT64 from 2**31 vertices), an entry for each vertex; ``count`` (at
        most the greatest degree + 1), ``iterations``, ``trace``.

    Raises
    ------
    DimensionMismatch
        `A` is not square.
    InvalidValue
        `seed` is negative or no integer.

    Notes
    -----
    Each vertex takes the smallest colour that no neighbour with a greater number has, and again
    whenever the colour of one of these changes, until no colour changes. Colours are tried 64 at a
    time; a vertex that finds none among them waits for the next 64. An iteration looks at the edges
    of the vertices that choose again, and of those whose colour changed. For each 64 colours there
    are at most as many iterations as the longest path of falling numbers has vertices: O(log n)
    where degrees are bounded; and at least one fewer than the largest clique in these colours has
    vertices. The edges, each from the greater number to the smaller one, stay with `A` until that
    is written (`Matrix.derived`; of the last seed). It waits for the end of its loop.

    Where hosts compile loops, and without options, one scan in that order makes the colours: one
    iteration, no products, O(n + nvals). The order stays with `A`, of the last seed.

    Where objects lie in a GPU's memory, and without options, one launch makes the same colours: a
    vertex waits until its neighbours of greater numbers have theirs, and reads its row once. One
    iteration, O(n + nvals); the order stays with the edges, of the last seed.

    References
    ----------
    M. Jones, P. Plassmann, *A parallel graph coloring heuristic*, SIAM J. Scientific Computing
    14, 1993 (the order); M. Osama, M. Truong, C. Yang, A. Buluç, J. Owens, *Graph coloring on the
    GPU*, GrAPL 2019 (in GraphBLAS; reference 57 of C. Yang, *High-performance linear algebra-based
    graph framework on the GPU*, 2019).

    Examples
    --------
    >>> A = Matrix.from_coo([0, 1, 2, 2], [1, 2, 0, 3], nrows=4, ncols=4)
    >>> found = graph_colouring(A)
    >>> found.colour.to_dict(), found.count
    ({0: 0, 1: 1, 2: 2, 3: 0}, 3)
    """
    n = check_square(A, "graph_colouring", opts)
    if runs_loops(A, opts):
        return ColouringResult(1, (), colours(undirected(A, symmetric), falling_order(A, seed)))
    if n and not opts and device_traits(A.device).own_memory:
        return ColouringResult(1, (), colours_in_turn(undirected(A, symmetric), seed))
    later, number = falling_edges(A, seed, symmetric), vertex_dtype(n)
    # The vertices without a colour, those who have to look again, and colours as bits of a word.
    with device(A.device):
        waiting, frontier = Vector(dtypes.BOOL, n), Vector(dtypes.BOOL, n)
        used, bit = Vector(dtypes.UINT64, n), Vector(dtypes.UINT64, n)
        colour = Vector(number, n)
    first, rounds = Scalar.from_value(0), Scalar.from_value(0)
    bor_second, exponent = semiring.bor_second[used.dtype], unary.frexpe[dtypes.FP64]
    # Those who have moved are few, and so are those whom they tell.
    out: Any = by_rows(A, "push") | opts
    back: Any = by_rows(A, "pull") | opts

    def choose() -> Any:
        # used<frontier> = the bits of the neighbours before
        used(frontier.S, replace=True) << 0
        used(mask=frontier.S, accum=binary.bor, **back) << later.T.mxv(bit, bor_second)
        # lowest<frontier> = the lowest bit that none of them has, 0 if none is left
        free = used.apply(unary.bnot).new()
        lowest = free.ewise_mult(free.apply(unary.ainv), binary.band).new()
        moved = lowest.ewise_mult(bit, binary.ne).new()
        moved << moved.select(select.valueeq, True)
        bit(lowest.S) << lowest
        # frontier<waiting> = the neighbours behind those who have moved
        frontier(waiting.S, replace=True, **out) << moved.vxm(later, semiring.any_pair)
        rounds << rounds + 1
        return frontier.nvals > 0

    def next_word() -> Any:
        bit(waiting.S, replace=True) << 1
        frontier << waiting
        repeat(choose, max_iterations=max(n, 1))
        bit << bit.select(select.valuene, 0)
        # 2**k = 0.5 * 2**(k + 1)
        colour(bit.S) << bit.apply(exponent).apply(binary.plus, right=first - 1)
        first << first + _WORD
        waiting(~bit.S, replace=True) << waiting
        return waiting.nvals > 0

    waiting << True
    loop = finished(repeat(next_word, max_iterations=max(n, 1)))
    return ColouringResult(int(rounds), loop.trace, colour)
