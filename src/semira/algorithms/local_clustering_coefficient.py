"""Local clustering coefficients by one masked product."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Unpack

from semira import (
    Matrix,
    ProductOptions,
    Vector,
    binary,
    device,
    dtypes,
    fused,
    monoid,
    select,
    semiring,
)
from semira.algorithms.checks import check_square
from semira.algorithms.naming import takes_graph
from semira.algorithms.results import finished
from semira.algorithms.run import Layout, Run


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
    With U the connected pairs and L those below the diagonal, ``C<L> = U plus.pair U'`` counts
    the triangles over each edge; the rows and columns of C add up to twice those of each vertex.
    Work: the sum over edges of the degrees of both ends, half of the sum over vertices of their
    squared degrees. The body is recorded; a device
    that runs loops by itself lets the host start its pieces, because it writes a matrix.

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
    U = _undirected(A, symmetric)
    L = U.select(select.tril, -1).new()
    with device(A.device):
        coefficient = Vector(dtypes.FP64, n)
        ones = Vector.from_scalar(True, n)
    number, plus_pair = dtypes.INT64, semiring.plus_pair["INT64"]

    def step() -> None:
        # C<L> = U plus.pair U'
        C = U.mxm(U.T, plus_pair).new(mask=L.S, **opts)
        # twice = row sums of C + column sums of C
        twice = C.mxv(ones, semiring.plus_first[number]).new()
        twice(accum=binary.plus) << ones.vxm(C, semiring.plus_second[number])
        # coefficient = twice / (degree (degree - 1)), 0 where there is no triangle
        degree = U.mxv(ones, plus_pair).new()
        pairs = degree.ewise_mult(degree.apply(binary.minus, right=1), binary.times).new()
        coefficient << 0
        found = twice.ewise_mult(pairs, binary.truediv).new(mask=twice.V)
        coefficient(found.S) << found

    loop = finished(fused(step))
    return ClusteringResult(1, loop.trace, coefficient)


def _undirected(A: Matrix, symmetric: bool) -> Matrix:
    """Return the connected pairs of different vertices, each as two entries."""
    U: Matrix = A.select(select.offdiag).new()
    if not symmetric:
        U << U.ewise_add(U.T, binary.any)
    # Known by construction: the other orientation need not be made.
    U.symmetric = True
    return U
