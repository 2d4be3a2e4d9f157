"""Connected components: FastSV with gather and scatter."""

from __future__ import annotations

from typing import Any

from semira import Matrix, Vector, binary, indexunary, monoid, repeat, semiring
from semira.algorithms.checks import check_count, check_square, vertex_dtype
from semira.algorithms.results import ComponentsResult, finished


def connected_components(
    A: Matrix, *, symmetric: bool = False, sample: int = 0, **opts: Any
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
        Components are first found on so many edges of each vertex, so that all edges together
        have little left to join. It pays where degrees are high and the device is wide. 0: no
        sampling.
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
    Each iteration costs O(n + nvals); their number is logarithmic in practice. No
    synchronisation.

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
    # `grand` is the label's label; `offer` the smallest one that the neighbours ever had.
    grand, offer = label.dup(), label.dup()
    min_first, min_second = semiring.min_first[number], semiring.min_second[number]

    def spread(edges: Matrix, both_ways: bool) -> Any:
        def step() -> Any:
            # offer min= edges min.second grand, and against the edges
            offer(accum=binary.min, **opts) << edges.mxv(grand, min_second)
            if both_ways:
                offer(accum=binary.min, **opts) << grand.vxm(edges, min_first)
            # Hook grandparents, then vertices, onto their offers; point every vertex at `grand`.
            label.scatter(grand, offer, monoid.min)
            label(accum=binary.min) << offer
            label(accum=binary.min) << grand
            fresh = label.gather(label).new()
            moved = fresh.ewise_mult(grand, binary.ne).new()
            grand << fresh
            return moved.reduce(monoid.lor)

        return finished(repeat(step))

    loops = [spread(A.first_per_row(sample).new(), True)] if sample else []
    loops.append(spread(A, not symmetric))
    trace = tuple(row for loop in loops for row in loop.trace)
    return ComponentsResult(sum(loop.iterations for loop in loops), trace, label)
