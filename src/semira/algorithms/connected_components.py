"""Connected components: FastSV with gather and scatter."""

from __future__ import annotations

from typing import Any

from semira import Matrix, Vector, binary, indexunary, monoid, repeat, select, semiring
from semira.algorithms.checks import check_count, check_square, vertex_dtype
from semira.algorithms.results import ComponentsResult, finished

#: Edges of each vertex that are sampled, and the mean degree from which on that pays.
_SAMPLE, _MEAN_DEGREE = 2, 8


def connected_components(
    A: Matrix, *, symmetric: bool = False, sample: int | None = None, **opts: Any
) -> ComponentsResult:
    """Label every vertex with the smallest vertex of its component.

    Edges count in both directions: the components of a directed graph are the weak ones.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Entry (i, j), whatever its value, connects i and j. Not modified.
    symmetric : bool
        The caller knows that the entries of `A` are symmetric: saves every second product.
    sample : int, optional
        Components are first found on so many edges of each vertex. Nearly all vertices then lie
        in one of them, and only edges of the others are looked at. 0: no sampling. None: two
        edges from a mean degree of 8 on.
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
    if sample is None:
        sample = _SAMPLE if A.nvals >= _MEAN_DEGREE * n else 0
    sample = check_count(sample, "sample")
    number = vertex_dtype(n)
    label = Vector.from_scalar(0, n, number).apply(indexunary.index).new(number)
    # `grand` is the label's label; `offer` the smallest one that the neighbours ever had.
    grand, offer = label.dup(), label.dup()
    min_first, min_second = semiring.min_first[number], semiring.min_second[number]

    def hook() -> Any:
        # Hook grandparents, then vertices, onto their offers; point every vertex at `grand`.
        label.scatter(grand, offer, monoid.min)
        label(accum=binary.min) << offer
        label(accum=binary.min) << grand
        fresh = label.gather(label).new()
        moved = fresh.ewise_mult(grand, binary.ne).new()
        grand << fresh
        return moved.reduce(monoid.lor)

    def spread(edges: Matrix, both_ways: bool) -> Any:
        def step() -> Any:
            # offer min= edges min.second grand, and against the edges
            offer(accum=binary.min, **opts) << edges.mxv(grand, min_second)
            if both_ways:
                offer(accum=binary.min, **opts) << grand.vxm(edges, min_first)
            return hook()

        return finished(repeat(step))

    def join(outside: Vector, told: Vector) -> Any:
        def step() -> Any:
            # The vertices outside hear their neighbours, and tell them:
            # offer<outside> min= A min.second grand, offer min= told min.first A
            told(outside.S) << grand
            offer(mask=outside.S, accum=binary.min, **opts) << A.mxv(grand, min_second)
            offer(accum=binary.min, **opts) << told.vxm(A, min_first)
            if not symmetric:
                offer(mask=outside.S, accum=binary.min, **opts) << grand.vxm(A, min_first)
                offer(accum=binary.min, **opts) << A.mxv(told, min_second)
            return hook()

        return finished(repeat(step))

    if sample and n:
        loops = [spread(A.first_per_row(sample).new(), True)]
        outside = _outside_of_largest(label)
        loops.append(join(outside, outside.dup()))
    else:
        loops = [spread(A, not symmetric)]
    trace = tuple(row for loop in loops for row in loop.trace)
    return ComponentsResult(sum(loop.iterations for loop in loops), trace, label)


def _outside_of_largest(label: Vector) -> Vector:
    """Return the labels of the vertices that do not have the most frequent one."""
    n, number = label.size, label.dtype
    sizes = Vector.from_scalar(0, n, number)
    sizes.scatter(label, Vector.from_scalar(1, n, number), monoid.plus)
    largest = sizes.select(select.valueeq, sizes.reduce(monoid.max)).new()
    chosen = largest.apply(indexunary.index).reduce(monoid.min)
    outside: Vector = label.select(select.valuene, chosen).new()
    return outside
