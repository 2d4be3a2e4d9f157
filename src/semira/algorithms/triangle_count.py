"""Triangle counting: a masked product of oriented edges, a loop over them, or rows of bits."""

from __future__ import annotations

from typing import Any, Unpack

from semira import Kept, Matrix, ProductOptions, Scalar, kept_loop, monoid, semiring
from semira.algorithms.checks import check_square
from semira.algorithms.naming import takes_graph
from semira.algorithms.oriented_edges import oriented_edges
from semira.algorithms.ranked_rows import has_long_rows, triangles_by_bits
from semira.algorithms.results import TriangleResult
from semira.algorithms.sequential import runs_kernels, runs_loops
from semira.algorithms.triangle_kernels import triangles


@takes_graph()
def triangle_count(
    A: Matrix, /, *, symmetric: bool = False, order: str = "auto", **opts: Unpack[ProductOptions]
) -> TriangleResult:
    """Return the number of triangles of the undirected graph behind `A`.

    Vertices i and j are connected if entry (i, j) or (j, i) is stored, whatever its value;
    self-loops are ignored.

    Parameters
    ----------
    A : Matrix or Graph, shape (n, n), any dtype
        Not modified.
    symmetric : bool
        The caller knows that the entries of `A` are symmetric: half of them are not looked at.
    order : {"auto", "degree", "natural"}
        An edge leads to its end of higher degree (``degree``) or smaller number
        (``natural``). ``auto``: by degree if the mean degree is at least 10 and the greatest
        at least 3 times the mean, which bounds the work that hubs make.
    **opts
        Options of the product (``method="dot"``, ...).

    Returns
    -------
    TriangleResult
        ``count``, ``order``, ``trace``.

    Raises
    ------
    DimensionMismatch
        `A` is not square.
    InvalidValue
        Unknown `order`.

    Notes
    -----
    With L the oriented edges, ``count = sum(C)``, ``C<L> = L plus.pair L'``: each triangle is
    met once, at the edge between its first two vertices. Work: the sum over edges of the
    lengths of two rows of L, O(nvals ** 1.5) by degree. C is summed up as it is computed where
    the device can do that. L stays with `A` until that is written (`Matrix.derived`: half of its
    entries, as BOOL or without values), so that only the first call makes it. On a GPU the degrees
    stay there: a call synchronises for the count, and the first one for the number of entries of L,
    and by degree for the greatest degree.

    Where hosts compile loops, and without options, no product runs: the neighbours of a vertex are
    marked, and looked for among those of each. On a GPU, without options and by degree, graphs of
    12 edges a vertex and more have rows of bits (decision 65): vertices are numbered by falling
    degree, and the first ones' rows are ANDed, 128 columns at a time. These rows, 4 to 8 bytes for
    each edge, stay with `A` too.

    References
    ----------
    A. Azad, A. Buluç, J. Gilbert, *Parallel triangle counting and enumeration using matrix
    algebra*, IPDPSW 2015; C. Yang, *High-performance linear algebra-based graph framework on
    the GPU*, 2019, section 7.5.4; S. Beamer, K. Asanović, D. Patterson, *The GAP benchmark
    suite*, 2015.

    Examples
    --------
    >>> A = Matrix.from_coo([0, 1, 2, 2], [1, 2, 0, 3], nrows=4, ncols=4)
    >>> triangle_count(A).count
    1
    """
    check_square(A, "triangle_count", opts)
    graph = oriented_edges(A, symmetric=symmetric, order=order)
    name = "degree" if graph.by_degree else "natural"
    L = graph.edges
    if runs_loops(A, opts):
        return TriangleResult(1, (), triangles(L), name)
    if runs_kernels(A, opts) and has_long_rows(graph):
        return TriangleResult(1, (), triangles_by_bits(L), name)
    loop, (count,) = kept_loop(L, ("triangles", *sorted(opts.items())), lambda: _counting(L, opts))
    return TriangleResult(1, loop.trace, int(count.value), name)


def _counting(L: Matrix, opts: Any) -> Kept:
    """Return the loop that counts once, of edges in one direction."""
    count = Scalar("INT64")

    def step() -> None:
        # C<L> = L plus.pair L', of which only the sum is asked for.
        C = L.mxm(L.T, semiring.plus_pair["INT64"]).new(mask=L.S, **opts)
        count << C.reduce_scalar(monoid.plus, allow_empty=False)

    return Kept(step, (), (count,), 1)
