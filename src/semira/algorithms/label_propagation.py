"""Label propagation: every vertex joins the community that most of its neighbours are in."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from semira import (
    Matrix,
    ProductOptions,
    Scalar,
    Vector,
    binary,
    device,
    device_traits,
    dtypes,
    indexunary,
    monoid,
    repeat,
    select,
    semiring,
)
from semira.algorithms.ballots import vote_in_rounds
from semira.algorithms.checks import check_count, check_square, vertex_dtype
from semira.algorithms.naming import takes_graph
from semira.algorithms.neighbours import undirected
from semira.algorithms.results import Chained, finished, sizes_of
from semira.algorithms.run import Layout, Run
from semira.algorithms.sequential import runs_loops
from semira.algorithms.voting import vote_and_move
from semira.exceptions import InvalidValue

#: Shares of the vertices that want to move which do, in turn, and for how many iterations. If all
#: did, neighbours could swap labels for ever; with 3/4 alone, cnr-2000 does so.
_SHARES, _AT_RANDOM = (0.75, 0.5), 32


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CommunityResult(Run):
    """Result of `label_propagation`.

    Attributes
    ----------
    label : Vector, shape (n,)
        Community of each vertex, named after one of the vertices it began at.
    converged : bool
        Whether no vertex wanted another label at the end; at most ``tolerance`` of them, if given.
    edges : Matrix, shape (n, n)
        The edges in both directions, without self-loops.
    """

    layout = Layout("label", (), ("label",), ("count", "sizes", "converged"))

    label: Vector
    converged: bool
    edges: Matrix = field(kw_only=True)

    @property
    def count(self) -> int:
        """Number of communities. Reads the labels."""
        return len(self.sizes)

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Vertices of each community, the largest first. Reads the labels."""
        return sizes_of(self.label)

    @property
    def unsettled(self) -> int:
        """Number of vertices whose label is not among the most frequent of their neighbours.

        Computed from the labels and the edges. O(nvals).
        """
        best = self.edges.mode_rowwise(self.label, prefer=self.label, count=True).new()
        wanted = best.ewise_mult(self.label, binary.ne).new(dtypes.INT64)
        return int(wanted.reduce(monoid.plus).get(0))

    @property
    def modularity(self) -> float:
        """Share of edges within communities, less that expected with the same degrees at random.

        O(nvals). 0 without edges.

        References
        ----------
        M. Newman, M. Girvan, *Finding and evaluating community structure in networks*, Physical
        Review E 69, 2004.
        """
        total = self.edges.nvals
        if total == 0:
            return 0.0
        # Entry (i, j) of the product is whether i and j have one label.
        mine = self.label.diag()
        same = mine.mxm(self.edges, semiring.any_first).new().mxm(mine, semiring.any_eq)
        within = int(same.new().reduce_scalar(monoid.plus[dtypes.INT64]).get(0))
        ones = Vector.from_scalar(1, self.edges.nrows, dtypes.INT64)
        degrees = Vector(dtypes.FP64, self.edges.nrows)
        degrees.scatter(self.label, self.edges.mxv(ones, semiring.plus_second).new(), monoid.plus)
        expected = float(degrees.apply(binary.pow, right=2).reduce(monoid.plus).get(0))
        return float(within / total - expected / total**2)


@takes_graph()
def label_propagation(
    A: Matrix,
    /,
    max_iterations: int = 1000,
    *,
    seed: int = 0,
    tolerance: float = 0,
    symmetric: bool = False,
    **opts: Unpack[ProductOptions],
) -> CommunityResult:
    """Return communities: every vertex has a label that is most frequent among its neighbours.

    Each vertex begins with a label of its own. A vertex whose label is not among the most frequent
    ones of its neighbours wants one of these. In an iteration, those move whose random number is
    greater than that of all neighbours that want to; in the first 32 iterations also three in four
    of the others, or one in two, by turns. Which of several labels a vertex wants is random too.
    Random numbers are a function of `seed`. Vertices i and j are neighbours if entry (i, j) or
    (j, i) is stored, whatever its value; self-loops are ignored.

    Parameters
    ----------
    A : Matrix or Graph, shape (n, n), any dtype
        Not modified.
    max_iterations : int >= 1
        Maximum number of iterations.
    seed : int >= 0
        Of the random numbers: `indexunary.random_bits` of vertex, label, seed and iteration.
    tolerance : float, from 0 to 1
        Stop as soon as no more than this share of the vertices want to move.
    symmetric : bool
        The caller knows that the entries of `A` are symmetric: spares a copy of the edges.
    **opts
        Options of the products.

    Returns
    -------
    CommunityResult
        ``label``: INT32 (INT64 from 2**31 vertices), an entry for each vertex, the same ones on
        every device; ``converged``, ``unsettled``, ``modularity``, ``count``, ``iterations``,
        ``trace``.

    Raises
    ------
    DimensionMismatch
        `A` is not square.
    InvalidValue
        `max_iterations` is below 1, `seed` negative, or one of them no integer; `tolerance` is
        not between 0 and 1.

    Notes
    -----
    An iteration costs O(n) and the edges of the vertices that may want to move: those with a
    neighbour that moved, and those that wanted to before. After the first 32 no two neighbours move
    at once, so each move adds to the edges within communities: it ends. It takes 10 to 200
    iterations in practice, of which the later ones are cheap. It waits for the end of its loops
    (two from 32 iterations on), and for the number of self-loops. Where hosts compile loops, and
    without options, lists of these vertices take the place of products, and of the O(n). In a GPU's
    memory, and without options, a loop of kernels does.

    References
    ----------
    U. Raghavan, R. Albert, S. Kumara, *Near linear time algorithm to detect community structures
    in large-scale networks*, Physical Review E 76, 2007; S. Sahu, *GVE-LPA: fast label propagation
    algorithm (LPA) for community detection in shared memory setting*, 2023 (only vertices near a
    change are looked at); M. Luby, *A simple parallel algorithm for the maximal independent set
    problem*, SIAM J. Computing 15, 1986 (the greatest number among neighbours).

    Examples
    --------
    >>> A = Matrix.from_coo([0, 1, 2, 3, 4, 5, 2], [1, 2, 0, 4, 5, 3, 3], nrows=6, ncols=6)
    >>> found = label_propagation(A)
    >>> found.label.to_dense().tolist(), found.count, found.unsettled
    ([1, 1, 1, 3, 3, 3], 2, 0)
    """
    n = check_square(A, "label_propagation", opts)
    if not check_count(max_iterations, "max_iterations"):
        raise InvalidValue("max_iterations=0 must be at least 1")
    keys, few = _first_keys(seed), _share_of(n, tolerance)
    edges = _without_loops(undirected(A, symmetric))
    by_loops = _by_loops(edges, keys, few, max_iterations, opts)
    if by_loops is not None:
        return by_loops
    tie, turn = (Scalar.from_value(key, dtypes.INT64) for key in keys)
    with device(A.device):
        label, best, moved = (Vector(vertex_dtype(n), n) for _ in range(3))
        active = Vector.from_scalar(True, n)
    share, both = Scalar.from_value(_SHARES[0]), Scalar.from_value(sum(_SHARES))
    # Few rows are open, and their neighbours are all that is looked at.
    inwards: Any = opts if "direction" in opts else {**opts, "direction": "pull"}
    label << 0
    label << label.apply(indexunary.index)

    def step() -> Any:
        # best<active> = the most frequent label among neighbours, where it is another
        votes = edges.mode_rowwise(label, prefer=label, seed=tie, count=True)
        best(active.S, replace=True) << votes
        wanted = best.ewise_mult(label, binary.ne).new()
        best(wanted.V, replace=True) << best
        # Who draws no less than the share, and less than a neighbour that wants to move, waits.
        draw = best.apply(indexunary.random_uniform, turn).new()
        rival = edges.mxv(draw, semiring.max_second[dtypes.FP64]).new(mask=best.S, **inwards)
        less = draw.ewise_mult(rival, binary.lt).new()
        waits = draw.apply(binary.ge, right=share).new().ewise_mult(less, binary.land).new()
        moved(~waits.V, replace=True) << best
        label(moved.S) << moved
        # Next time, who has a neighbour that moved, and who wanted to.
        near = edges.mxv(moved, semiring.any_pair[dtypes.BOOL]).new(**opts)
        active << near
        active(best.S) << True
        tie << tie + 1
        turn << turn + 1
        share << both - share
        return best.nvals > few

    loop = finished(repeat(step, min(max_iterations, _AT_RANDOM)))
    iterations, trace = loop.iterations, loop.trace
    if loop.stopped_by == "limit" and iterations < max_iterations:
        share << 0
        both << 0
        loop = finished(repeat(step, max_iterations - iterations))
        iterations, trace = iterations + loop.iterations, Chained(trace, loop.trace)
    converged = loop.stopped_by == "condition"
    return CommunityResult(iterations, trace, label, converged, edges=edges)


def _by_loops(
    edges: Matrix, keys: tuple[int, int], few: int, limit: int, opts: Any
) -> CommunityResult | None:
    """Return what loops of kernels find, the same as products; None where there are none."""
    if runs_loops(edges, opts):
        shares = np.resize(_SHARES, _AT_RANDOM)
        label, iterations, converged = vote_and_move(edges, keys, shares, few, limit)
    elif 0 < edges.nrows < 1 << 31 and not opts and device_traits(edges.device).own_memory:
        label, iterations, converged = vote_in_rounds(edges, keys, few, limit)
    else:
        return None
    return CommunityResult(iterations, (), label, converged, edges=edges)


def _first_keys(seed: int) -> tuple[int, int]:
    """Return keys of the random numbers that break ties and choose who moves, far apart.

    One for both would not do: the label that wins a tie has the greatest of several numbers.
    """
    # NumPy promises the same words for a seed in every version.
    words = np.random.SeedSequence(check_count(seed, "seed")).generate_state(2, np.uint64)
    return int(words[0]) >> 1, int(words[1]) >> 1


def _share_of(n: int, tolerance: float) -> int:
    """Return how many of n vertices may want to move at the end."""
    if isinstance(tolerance, bool) or not isinstance(tolerance, (int, float, np.number)):
        raise InvalidValue(f"tolerance={tolerance!r} must be a number from 0 to 1")
    if not 0 <= tolerance <= 1:
        raise InvalidValue(f"tolerance={tolerance!r} must be from 0 to 1")
    return int(tolerance * n)


def _without_loops(edges: Matrix) -> Matrix:
    """Return the edges without self-loops, which stay with the matrix; itself if it has none."""

    def others() -> Matrix | None:
        if edges.diag().nvals == 0:
            return None
        made: Matrix = edges.select(select.offdiag).new()
        return made

    found = edges.derived("without self-loops", others)
    return edges if found is None else found
