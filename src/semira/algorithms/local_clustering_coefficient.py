"""Local clustering coefficients by two masked products of oriented edges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Unpack

from semira import Matrix, ProductOptions, Vector, binary, device, dtypes, fused, monoid, semiring
from semira.algorithms.checks import check_square
from semira.algorithms.naming import takes_graph
from semira.algorithms.neighbours import by_rows
from semira.algorithms.oriented_edges import oriented_edges
from semira.algorithms.results import finished
from semira.algorithms.run import Layout, Run
from semira.algorithms.sequential import runs_kernels
from semira.algorithms.triangle_kernels import clustering


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ClusteringResult(Run):
    """Result of `local_clustering_coefficient`.

    Attributes
    ----------
    coefficient : Vector, shape (n,), FP64
        An entry for each vertex.
    """

    layout = Layout("coefficient", answer=("average",), ranked=True)

    coefficient: Vector

    @property
    def average(self) -> float:
        """Mean over all vertices; of none 0. Synchronises."""
        total = self.coefficient.reduce(monoid.plus, allow_empty=False).value
        return float(total) / max(self.coefficient.size, 1)


@takes_graph()
def local_clustering_coefficient(
    A: Matrix, /, *, symmetric: bool = False, **opts: Unpack[ProductOptions]
) -> ClusteringResult:
    """Return the share of pairs of its neighbours that are connected, for every vertex.

    Vertices i and j are connected if entry (i, j) or (j, i) is stored, whatever its value;
    self-loops are ignored. A vertex with fewer than two neighbours has the coefficient 0.

    Parameters
    ----------
    A : Matrix or Graph, shape (n, n), any dtype
        Not modified.
    symmetric : bool
        The caller knows that the entries of `A` are symmetric: they are not added up with their
        mirror images.
    **opts
        Options of the product (``method="dot"``, ...).

    Returns
    -------
    ClusteringResult
        ``coefficient``, ``average``, ``trace``.

    Raises
    ------
    DimensionMismatch
        `A` is not square.

    Notes
    -----
    With L the oriented edges, each connected pair once, ``C<L> = L plus.pair L'`` counts each
    triangle at the edge between its first two vertices, and ``E<L> = L plus.pair L`` at the edge
    from its first to its last vertex: the rows and columns of C and the columns of E add up to the
    triangles of each vertex. Work: two triangle counts, O(nvals ** 1.5) by degree. L stays with
    `A` until that is written, as for `triangle_count`, which makes the same. The body is recorded;
    on ``cuda`` the host starts its parts one by one, because they write matrices. Without `opts`,
    kernels take their place: each triangle is found once, by marks on hosts, where two rows meet on
    ``cuda``, and added to its corners.

    References
    ----------
    D. Watts, S. Strogatz, *Collective dynamics of 'small-world' networks*, Nature 393, 1998;
    A. Azad, A. Buluç, J. Gilbert, *Parallel triangle counting and enumeration using matrix
    algebra*, IPDPSW 2015.

    Examples
    --------
    >>> A = Matrix.from_coo([0, 1, 2, 2], [1, 2, 0, 3], nrows=4, ncols=4)
    >>> found = local_clustering_coefficient(A)
    >>> [round(value, 3) for value in found.coefficient.to_dense().tolist()]
    [1.0, 1.0, 0.333, 0.0]
    >>> round(found.average, 3)
    0.583
    """
    n = check_square(A, "local_clustering_coefficient", opts)
    graph = oriented_edges(A, symmetric=symmetric, order="auto")
    L = graph.edges
    if runs_kernels(A, opts):
        return ClusteringResult(1, (), clustering(graph))
    with device(A.device):
        coefficient, found = Vector(dtypes.FP64, n), Vector(dtypes.FP64, n)
        ones = Vector.from_scalar(1, n, dtypes.INT64)
        count, degree = Vector(dtypes.INT64, n), Vector(dtypes.INT64, n)
    # Rows are what the products make: columns would be sorted for one sum.
    pull, push = by_rows(A, "pull"), by_rows(A, "push")
    plus_pair = semiring.plus_pair["INT64"]
    plus_first, plus_second = semiring.plus_first["INT64"], semiring.plus_second["INT64"]

    def step() -> None:
        # C<L> = L plus.pair L', E<L> = L plus.pair L
        C = L.mxm(L.T, plus_pair).new(mask=L.S, **opts)
        E = L.mxm(L, plus_pair).new(mask=L.S, **opts)
        # count = row sums of C + column sums of C + column sums of E
        count(**pull) << C.mxv(ones, plus_first)
        count(accum=binary.plus, **push) << ones.vxm(C, plus_second)
        count(accum=binary.plus, **push) << ones.vxm(E, plus_second)
        # degree = edges that leave + edges that arrive
        degree(**pull) << L.mxv(ones, plus_pair)
        degree(accum=binary.plus, **push) << ones.vxm(L, plus_pair)
        # coefficient = 2 count / (degree (degree - 1)), 0 where there is no triangle
        pairs = degree.ewise_mult(degree.apply(binary.minus, right=1), binary.times).new()
        twice = count.apply(binary.times, right=2).new()
        found << twice.ewise_mult(pairs, binary.truediv)
        coefficient << 0
        if graph.places is None:
            coefficient(found.S) << found
        else:
            coefficient.scatter(graph.places, found, monoid.plus)

    loop = finished(fused(step))
    return ClusteringResult(1, loop.trace, coefficient)
