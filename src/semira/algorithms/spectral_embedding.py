"""Spectral embedding: LOBPCG on the normalised Laplacian, by sparse times tall dense matrices."""

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
    monoid,
    select,
    semiring,
    tracing,
    unary,
)
from semira.algorithms.checks import (
    check_count,
    check_number,
    check_square,
    check_sums,
    check_weights,
)
from semira.algorithms.naming import takes_graph
from semira.algorithms.run import Layout, Run
from semira.exceptions import InvalidValue

#: Vectors iterated beyond those asked for: the last ones wanted converge as fast as the gap to
#: the first one left out is wide.
_GUARD = 4

#: Directions of the basis whose squared length is below this share of the longest are left out.
_DEPENDENT = 1e-12

#: Images under S are combined as the vectors are; every so many iterations they are made anew,
#: because otherwise rounding adds up, and residuals stop falling at about 1e-9.
_ANEW = 10

_plus_times = semiring.plus_times[dtypes.FP64]

Block = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SpectralResult(Run):
    """Result of `spectral_embedding`.

    Attributes
    ----------
    vectors : Matrix, shape (n, dimensions), FP64
        Row i is the position of vertex i; columns are orthonormal eigenvectors, every entry stored.
    values : ndarray, shape (dimensions,)
        Eigenvalues, rising.
    residuals : ndarray, shape (dimensions,)
        ``norm(L x - value x)`` of each pair, from a product made after the last iteration.
    converged : bool
        Whether all residuals are within the tolerance.
    """

    layout = Layout("vectors", answer=("values", "converged"), wide=True)

    vectors: Matrix
    values: Block
    residuals: Block
    converged: bool


@takes_graph()
def spectral_embedding(
    A: Matrix,
    /,
    dimensions: int = 2,
    *,
    tol: float = 1e-6,
    max_iterations: int = 500,
    seed: int = 0,
    **opts: Unpack[ProductOptions],
) -> SpectralResult:
    """Return the smallest eigenpairs of the normalised Laplacian.

    ``L = I - D^(-1/2) W D^(-1/2)`` with ``W = A + A'`` without self-loops, and D the sums of its
    rows. A vertex without edges has a row of zeros in L, as in SciPy.

    Parameters
    ----------
    A : Matrix or Graph, shape (n, n), BOOL, integers or floats
        Entry (i, j) is the weight of the edge between i and j; both directions are added up, which
        for a symmetric matrix changes nothing. Not modified.
    dimensions : int, 1 <= dimensions <= n
        Eigenpairs wanted. The first one is trivial: value 0, and square roots of the degrees in
        every component. There are as many values 0 as components.
    tol : float >= 0
        Stop when ``norm(L x - value x) <= tol`` for every pair wanted.
    max_iterations : int >= 1
        Maximum number of iterations.
    seed : int >= 0
        Of the vectors to begin with.
    **opts
        Options of the sparse products.

    Returns
    -------
    SpectralResult
        ``vectors``, ``values``, ``residuals``, ``converged``, ``iterations``, ``trace``. Signs, and
        rotations among equal values, are free.

    Raises
    ------
    DimensionMismatch
        `A` is not square.
    InvalidWeight, NegativeWeight
        A weight is negative or NaN.
    InvalidValue
        `dimensions`, `tol`, `max_iterations` or `seed` is out of range, or a weight is infinite.
    DomainMismatch
        Values of the dtype have no order (complex numbers, records).

    Notes
    -----
    With b = dimensions + 4 an iteration costs one product of the graph with a dense n by b matrix,
    O(nvals b), and dense ones of O(n b**2). Matrices of n rows stay on the device; their inner
    products come to the host, thirteen blocks of b by b. There NumPy solves an eigenproblem of 3 b
    by 3 b, and its vectors go back. About 15 matrices of n b entries are alive, 12 bytes an entry,
    and transposes of three.

    The number of iterations grows as the gap behind the last value wanted shrinks; there is no
    preconditioner, so graphs that are long and thin (roads, large meshes) need many.

    References
    ----------
    A. Knyazev, *Toward the optimal preconditioned eigensolver: locally optimal block
    preconditioned conjugate gradient method*, SIAM J. Scientific Computing 23, 2001; A.
    Stathopoulos, K. Wu, *A block orthogonalization procedure with constant synchronization
    requirements*, SIAM J. Scientific Computing 23, 2002 (dependent directions left out); U. von
    Luxburg, *A tutorial on spectral clustering*, Statistics and Computing 17, 2007.

    Examples
    --------
    >>> A = Matrix.from_coo([0, 1, 2, 3], [1, 2, 3, 0], nrows=4, ncols=4)
    >>> found = spectral_embedding(A, 4)
    >>> found.values.round(6).tolist(), found.vectors.shape
    ([0.0, 1.0, 1.0, 2.0], (4, 4))
    """
    n = check_square(A, "spectral_embedding", opts)
    k, most = check_count(dimensions, "dimensions"), check_count(max_iterations, "max_iterations")
    tol, seed = check_number(tol, "tol"), check_count(seed, "seed")
    if not 1 <= k <= n:
        raise InvalidValue(f"dimensions={k} is outside [1, {n}], the number of vertices")
    if most == 0:
        raise InvalidValue(f"max_iterations={max_iterations!r} must be positive")
    with tracing() as run:
        S, trivial = _similarity(A)
        start = np.random.default_rng(seed).standard_normal((n, min(k + _GUARD, n)))
        start[:, 0] = trivial
        X, iterations = _lobpcg(S, _dense(start, A), k, tol, most, opts)
        # Once more, from a fresh product: values and residuals of the vectors that are returned.
        X, SX, theta = _rotated(X, S.mxm(X, _plus_times).new(**opts), k)
        R = _residual(X, SX, theta)
        residuals = np.sqrt(np.diagonal(_gram([R], [R])))
    products = tuple(row for row in run.rows if row.op == "mxm")
    converged = bool(residuals.max() <= tol)
    return SpectralResult(iterations, products, X, 1 - theta, residuals, converged)


def _lobpcg(
    S: Matrix, X: Matrix, k: int, tol: float, most: int, opts: ProductOptions
) -> tuple[Matrix, int]:
    """Return vectors whose first `k` come close to those of the greatest values of S."""
    b = X.ncols
    X, SX, theta = _rotated(X, S.mxm(X, _plus_times).new(**opts), b)
    P: list[Matrix] = []
    SP: list[Matrix] = []
    for iteration in range(most):
        # The basis [X R P]: vectors, residuals, and the directions of the last step
        if P:
            P, SP = _apart(P, SP, X, SX)
        R = _residual(X, SX, theta)
        G = _gram([X, R, *P], [X, R, *P])
        if np.sqrt(np.diagonal(G)[b : b + k]).max() <= tol:
            return X, iteration
        SR = S.mxm(R, _plus_times).new(**opts)
        theta, C = _ritz(G, _gram([X, R, *P], [SX, SR, *SP]), b)
        # P = [R P] C', X = X C + P; the same of their images, which saves two products with S
        P, SP = [_combined([R, *P], C[b:])], [_combined([SR, *SP], C[b:])]
        X = _combined([X], C[:b]).ewise_add(P[0], binary.plus).new()
        SX = _combined([SX], C[:b]).ewise_add(SP[0], binary.plus).new()
        if iteration % _ANEW == _ANEW - 1:
            SX, SP = S.mxm(X, _plus_times).new(**opts), [S.mxm(P[0], _plus_times).new(**opts)]
    return X, most


def _similarity(A: Matrix) -> tuple[Matrix, Block]:
    """Return S = I - L, and a vector of its greatest value: square roots of the degrees.

    Vertices without edges add any number to it; here 1. Raises DomainMismatch, InvalidWeight,
    NegativeWeight or InvalidValue if the weights are no numbers, NaN or negative, or they or their
    sum are no normal numbers.
    """
    check_weights(A, "spectral_embedding")
    edges = A.select(select.offdiag).new().dup(dtypes.FP64)
    W = edges.ewise_add(edges.T, binary.plus).new()
    check_sums(W, "spectral_embedding", dtypes.FP64)
    degree = W.reduce_rowwise(monoid.plus).new().select(select.valuegt, 0).new()
    scale = degree.apply(unary.sqrt).apply(unary.minv).new()
    with device(A.device):
        alone = Vector(dtypes.FP64, A.nrows)
    alone(~degree.S) << 1
    S = scale.diag().mxm(W, _plus_times).new().mxm(scale.diag(), _plus_times).new()
    S = S.ewise_add(alone.diag(), binary.plus).new()
    return S, np.sqrt(degree.to_dense(1.0))


def _dense(values: Block, like: Matrix) -> Matrix:
    """Return a matrix with an entry everywhere, on the device of another one."""
    with device(like.device):
        return Matrix.from_dense(np.ascontiguousarray(values))


def _gram(left: list[Matrix], right: list[Matrix]) -> Block:
    """Return ``[X R P]' [Y ...]`` on the host, known to be symmetric."""
    blocks: list[list[Any]] = [[None] * len(left) for _ in left]
    for i, X in enumerate(left):
        for j, Y in enumerate(right[i:], i):
            blocks[i][j] = X.T.mxm(Y, _plus_times).new().to_dense(0.0)
            blocks[j][i] = blocks[i][j].T
    return np.block(blocks)


def _combined(blocks: list[Matrix], C: Block) -> Matrix:
    """Return ``[X R P] C``."""
    parts = np.split(C, np.cumsum([X.ncols for X in blocks])[:-1])
    first, *others = (
        X.mxm(_dense(part, X), _plus_times).new() for X, part in zip(blocks, parts, strict=True)
    )
    for other in others:
        first(accum=binary.plus) << other
    found: Matrix = first
    return found


def _apart(
    P: list[Matrix], SP: list[Matrix], X: Matrix, SX: Matrix
) -> tuple[list[Matrix], list[Matrix]]:
    """Return P without what it shares with X, and its image; the span of both stays.

    Where P all but lies in X, rounding decides what is left, and residuals stop falling at 1e-9.
    """
    C = -X.T.mxm(P[0], _plus_times).new().to_dense(0.0)
    parts = ((X, P[0]), (SX, SP[0]))
    less, image = (_combined([one], C).ewise_add(own, binary.plus).new() for one, own in parts)
    return [less], [image]


def _residual(X: Matrix, SX: Matrix, theta: Block) -> Matrix:
    """Return X diag(theta) - S X, which is L X - X diag(1 - theta)."""
    found: Matrix = _combined([X], np.diag(theta)).ewise_add(SX, binary.minus).new()
    return found


def _rotated(X: Matrix, SX: Matrix, count: int) -> tuple[Matrix, Matrix, Block]:
    """Return the best `count` vectors in the span of X, their images, and their values."""
    theta, C = _ritz(_gram([X], [X]), _gram([X], [SX]), count)
    return _combined([X], C), _combined([SX], C), theta


def _ritz(G: Block, H: Block, count: int) -> tuple[Block, Block]:
    """Return the `count` greatest values of H c = theta G c, falling, and the vectors as columns.

    G is symmetric and positive semidefinite; directions in which it all but vanishes are left out.
    """
    length = np.sqrt(np.diagonal(G))
    unit = 1 / np.where(length > 0, length, 1)
    share, Q = np.linalg.eigh(unit[:, None] * G * unit)
    kept = share > _DEPENDENT * share[-1]
    T = unit[:, None] * Q[:, kept] / np.sqrt(share[kept])
    theta, V = np.linalg.eigh(T.T @ ((H + H.T) / 2) @ T)
    return theta[::-1][:count], T @ V[:, ::-1][:, :count]
