"""Projections of bipartite graphs onto one of their sides."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from semira import Matrix
from semira.apps.named import takes_graph
from semira.apps.products.solve import worker_bytes
from semira.apps.projections.problem import checked
from semira.apps.projections.result import Projection
from semira.apps.projections.solve import blocks_of, whole_of

__all__ = ["Projection", "memory", "project", "project_blocks"]


def memory(A: Matrix, onto: str = "columns", *, top: int | None = None) -> int:
    """Return the bytes that each thread of a host, or block of a GPU, takes beside the result.

    Examples
    --------
    >>> memory(Matrix(int, 30_000, 40_000))
    325970
    """
    return worker_bytes(A.ncols if onto == "columns" else A.nrows, top or 0, False)


@takes_graph()
def project(
    A: Matrix,
    /,
    onto: str = "columns",
    *,
    weight: str = "count",
    function: Callable[[Any, Any], Any] | None = None,
    top: int | None = None,
    threshold: float | None = None,
    keep_diagonal: bool = False,
    memory: int | None = None,
) -> Projection:
    """Connect rows, or columns, that have entries in a common column, or row.

    ``H = A' A`` onto columns, ``A A'`` onto rows: u and v are connected if some w has entries with
    both. With N(u) the entries of u and d their number, their weight is

    - ``"count"``: the number of common w; ``"none"``: no weight, only the pattern;
    - ``"ratio"``: the number of common w over the number of all w;
    - ``"overlap"``: the common w over ``min(d(u), d(v))``; ``"jaccard"``: over those of either one;
    - ``"collaboration"``: the sum of ``1 / (d(w) - 1)`` (Newman);
    - ``"cosine"``: ``sum of a_wu a_wv`` over the lengths of both columns of values;
    - ``"product"``, ``"first"``, ``"quotient"``, ``"share"``, ``"min"``: the sum over w of
      ``a_wu a_wv``, ``a_wu``, ``a_wu / a_wv``, ``a_wu / (a_wu + a_wv)``, the smaller one;
    - with `function`: the sum of ``function(a_wu, a_wv)``.

    Parameters
    ----------
    A : Matrix, shape (m, n), or Graph, real
        Entry (i, j) joins i of the one side and j of the other. Any matrix is allowed: of a
        directed graph, columns that have a common predecessor. Not modified.
    onto : {"columns", "rows"}
    weight : {"count", "none", "ratio", "overlap", "jaccard", "collaboration", "cosine", \
            "product", "first", "quotient", "share", "min"}
        See above.
    function : callable or BinaryOp, optional
        A Python function of two values, in the place of `weight`.
    top : int >= 1, optional
        The neighbours of greatest weight that each vertex keeps; of equal ones the first.
    threshold : float, optional
        The least weight that is kept.
    keep_diagonal : bool
        Keep the entries (u, u), which say how many w there are.
    memory : int, optional
        Bytes to use beside the operands and the result. None: a quarter of what is free.

    Returns
    -------
    Projection
        ``matrix``: of columns (n, n), of rows (m, m), symmetric without `top` if the weight is;
        INT64 for ``count`` and for sums of integers, BOOL for ``none``, else FP64; ``facts()`` and
        ``table()``.

    Raises
    ------
    DomainMismatch
        `A` is no real Matrix.
    InvalidValue
        A parameter is out of range; ``none`` with `top` or `threshold`, which compare weights.
    InvalidWeight
        With `top`, a value is NaN.
    OutOfMemory
        The result does not fit; the message says how many bytes it takes. Ask for less with `top`
        or `threshold`, or take `project_blocks`.

    Notes
    -----
    O(sum over w of d(w)^2 + entries of H), twice without `top`: rows are counted first, exactly the
    result is allocated, and with `top` or `threshold` the rest is never stored. The same bits on
    every device, functions of floats excepted. See `filtered_product`.

    References
    ----------
    M. Newman, *Scientific collaboration networks II*, Phys. Rev. E 64, 2001; J. Johnson et al.,
    *HIVE Year 1 report*, graph projections.

    Examples
    --------
    Three readers, three books:

    >>> A = Matrix.from_coo([0, 0, 1, 1, 2], [0, 1, 0, 1, 1], nrows=3, ncols=3)
    >>> project(A, "rows").matrix.to_dicts()
    {0: {1: 2, 2: 1}, 1: {0: 2, 2: 1}, 2: {0: 1, 1: 1}}
    >>> project(A, "rows", weight="jaccard", top=1).matrix.to_dicts()
    {0: {1: 1.0}, 1: {0: 1.0}, 2: {0: 0.5}}
    """
    return whole_of(checked(A, onto, weight, function, top, threshold, keep_diagonal, memory))


def project_blocks(
    A: Matrix,
    /,
    onto: str = "columns",
    *,
    weight: str = "count",
    function: Callable[[Any, Any], Any] | None = None,
    top: int | None = None,
    threshold: float | None = None,
    keep_diagonal: bool = False,
    memory: int | None = None,
) -> Iterator[tuple[int, Matrix]]:
    """Yield blocks of rows of a projection, each of as many as fit into a number of bytes.

    Parameters
    ----------
    A, onto, weight, function, top, threshold, keep_diagonal
        As `project`.
    memory : int, optional
        Bytes of a block and of what computes it. None: a quarter of what is free.

    Yields
    ------
    (int, Matrix)
        The number of the first row, and the rows.

    Raises
    ------
    OutOfMemory
        One row does not fit. Else as `project`.

    Examples
    --------
    >>> A = Matrix.from_coo([0, 0, 1, 1, 2], [0, 1, 0, 1, 1], nrows=3, ncols=3)
    >>> sum(rows.nvals for _, rows in project_blocks(A, "rows", memory=700))
    6
    """
    return blocks_of(checked(A, onto, weight, function, top, threshold, keep_diagonal, memory))
