"""Connected components: FastSV with gather and scatter, after sampling."""

from __future__ import annotations

from typing import Any

from semira import Matrix, Vector, binary, indexunary, monoid, repeat, select, semiring
from semira.algorithms.checks import check_count, check_square, vertex_dtype
from semira.algorithms.results import ComponentsResult, finished

#: Vertices looked at to guess the largest component.
_VOTES = 1024


def connected_components(
    A: Matrix, *, symmetric: bool = False, sample: int = 2, **opts: Any
) -> ComponentsResult:
    """Label every vertex with the smallest vertex of its component.

    Edges count in both directions: the components of a directed graph are the weak ones.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Entry (i, j), whatever its value, connects i and j. Not modified.
    symmetric : bool
        The caller knows that the entries of `A` are symmetric: saves every second product.
    sample : int
        Components are first found on so many edges of each vertex; then only the vertices
        outside of the largest one look at all of their edges. 0: no sampling.
    **opts
        Options of the products.

    Returns
    -------
    ComponentsResult
        ``label``: INT32 (INT64 from 2**31 vertices), an entry for each vertex; ``count``,
        ``iterations``, ``trace``.

    Raises
    ------
    DimensionMismatch
        `A` is not square.
    InvalidValue
        `sample` is negative.

    Notes
    -----
    Each iteration costs O(n + edges of the vertices whose label changed); the number of
    iterations is logarithmic in practice. No synchronisation.

    References
    ----------
    Y. Zhang, A. Azad, A. Buluç, *Parallel algorithms for finding connected components using
    linear algebra*, J. Parallel and Distributed Computing 144, 2020 (FastSV); M. Sutton,
    T. Ben-Nun, A. Barak, *Optimizing parallel graph connectivity computation via subgraph
    sampling*, IPDPS 2018 (Afforest).

    Examples
    --------
    >>> A = Matrix.from_coo([4, 2], [1, 3], nrows=5, ncols=5)
    >>> found = connected_components(A)
    >>> found.label.to_dense().tolist(), found.count
    ([0, 1, 2, 2, 1], 3)
    """
    n = check_square(A, "connected_components")
    sample = check_count(sample, "sample")
    number = vertex_dtype(n)
    label = Vector.from_scalar(0, n, number).apply(indexunary.index).new(number)
    # `grand` is the label's label; a vertex tells its neighbours when that has changed.
    grand, changed, offer = label.dup(), label.dup(), Vector(number, n)
    min_first, min_second = semiring.min_first[number], semiring.min_second[number]

    def tell(edges: Matrix, both_ways: bool) -> None:
        # offer = changed min.first edges: the smallest label told to each vertex
        offer(**opts) << changed.vxm(edges, min_first)
        if both_ways:
            offer(accum=binary.min, **opts) << edges.mxv(changed, min_second)

    def accept() -> None:
        # Hook grandparents, then vertices, onto their offers; point every vertex at `grand`.
        label.scatter(grand, offer, monoid.min)
        label(accum=binary.min) << offer
        label(accum=binary.min) << grand
        # changed = grandparents that are new
        fresh = label.gather(label).new()
        moved = fresh.ewise_mult(grand, binary.ne).new()
        changed(moved.V, replace=True) << fresh
        grand << fresh

    def spread(edges: Matrix, both_ways: bool) -> Any:
        def step() -> Any:
            tell(edges, both_ways)
            accept()
            return changed.nvals > 0

        return finished(repeat(step))

    loops = []
    if sample and n:
        loops.append(spread(A.first_per_row(sample).new(), True))
        # Vertices outside of the component seen most often tell their neighbours ...
        votes = Vector("INT64", n)
        seen = label[:: max(1, n // _VOTES)].new()
        votes.scatter(seen, Vector.from_scalar(1, seen.size), monoid.plus)
        winners = votes.select(select.valueeq, votes.reduce(monoid.max)).apply(indexunary.index)
        changed << label.select(select.valuene, winners.reduce(monoid.min))
        tell(A, not symmetric)
        # ... and ask them: that covers every edge but those inside the component.
        offer(changed.S, binary.min, **opts) << A.mxv(label, min_second)
        if not symmetric:
            offer(changed.S, binary.min, **opts) << label.vxm(A, min_first)
        accept()
    loops.append(spread(A, not symmetric))
    trace = tuple(row for loop in loops for row in loop.trace)
    return ComponentsResult(sum(loop.iterations for loop in loops), trace, label)
