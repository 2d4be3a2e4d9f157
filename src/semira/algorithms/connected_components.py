"""Connected components: FastSV with gather and scatter."""

from __future__ import annotations

from typing import Any

import numpy as np

from semira import Matrix, Vector, binary, device, indexunary, monoid, repeat, select, semiring
from semira.algorithms.checks import check_count, check_square, vertex_dtype
from semira.algorithms.results import Chained, ComponentsResult, finished, products_of

#: Edges of each vertex that are sampled, and vertices asked which component most of them are in.
_SAMPLE, _ASKED = 2, 1024

#: Labels that a vertex follows towards its root in an iteration.
_STEPS = 4

#: Mean degree and number of entries from which on sampling pays.
_MEAN_DEGREE, _ENTRIES = 24, 1 << 26


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
        edges where degrees are high and the graph is large.
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
    Each iteration costs O(n + nvals); their number is logarithmic in practice. It waits for the
    end of its loops (two with a sample); the default `sample` asks for the number of entries.

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
    n = check_square(A, "connected_components", opts)
    if sample is None:
        sample = _SAMPLE if A.nvals >= max(_ENTRIES, _MEAN_DEGREE * n) else 0
    sample = min(check_count(sample, "sample"), n)
    with device(A.device):
        forest = tuple(Vector(vertex_dtype(n), n) for _ in range(3))
    label, ways = forest[0], 1 if symmetric else 2
    if sample and n:
        trace = _spread(A.first_per_row(sample).new(), forest, True, opts)
        joined = _join(A, forest, _largest(label), symmetric, opts)
        iterations = products_of(trace) // 2 + products_of(joined) // (2 * ways)
        trace = Chained(trace, joined)
    else:
        trace = _spread(A, forest, not symmetric, opts)
        iterations = products_of(trace) // ways
    return ComponentsResult(iterations, trace, label)


#: Labels, the labels of those, and the smallest ones that neighbours ever had.
_Forest = tuple[Vector, ...]


def _spread(edges: Matrix, forest: _Forest, both_ways: bool, opts: dict[str, Any]) -> Any:
    """Hand labels along all edges, from every vertex alone until nothing moves; return a trace."""
    label, grand, offer = forest
    min_first, min_second = semiring.min_first[label.dtype], semiring.min_second[label.dtype]

    def step() -> Any:
        # offer min= edges min.second grand, and against the edges
        offer(accum=binary.min, **opts) << edges.mxv(grand, min_second)
        if both_ways:
            offer(accum=binary.min, **opts) << grand.vxm(edges, min_first)
        return _hook(label, grand, offer, None)

    def number_and_spread() -> None:
        label << 0
        label << label.apply(indexunary.index)
        grand << label
        offer << label
        repeat(step)

    # One loop around both: one launch.
    return finished(repeat(number_and_spread, max_iterations=1)).trace


def _join(A: Matrix, forest: _Forest, largest: Any, symmetric: bool, opts: dict[str, Any]) -> Any:
    """Hand labels along the edges that have an end outside, until nothing moves.

    Edges with both ends inside are not looked at. So the vertices inside keep to their root, which
    alone moves for them: on their own they could leave for another tree, and nothing would bring
    the two together again.
    """
    label, grand, offer = forest
    min_first, min_second = semiring.min_first[label.dtype], semiring.min_second[label.dtype]

    with device(A.device):
        outside, kept, told = (Vector(label.dtype, label.size) for _ in range(3))

    def step() -> Any:
        # The vertices outside hear their neighbours, and tell them:
        # offer<outside> min= A min.second grand, offer min= told min.first A
        told(outside.S) << grand
        offer(mask=outside.S, accum=binary.min, **opts) << A.mxv(grand, min_second)
        offer(accum=binary.min, **opts) << told.vxm(A, min_first)
        if not symmetric:
            offer(mask=outside.S, accum=binary.min, **opts) << grand.vxm(A, min_first)
            offer(accum=binary.min, **opts) << A.mxv(told, min_second)
        return _hook(label, grand, offer, kept)

    def join() -> None:
        outside << label.select(select.valuene, largest)
        told << outside
        # The root has the smallest number of its component.
        kept << label.select(select.valueeq, largest)
        kept << kept.select(select.indexgt, largest)
        repeat(step)
        # Those that were kept still point at a root of before.
        label << grand

    return finished(repeat(join, max_iterations=1)).trace


def _hook(label: Vector, grand: Vector, offer: Vector, kept: Vector | None) -> Any:
    """Let grandparents, then vertices, hook onto their offers; point every vertex at `grand`.

    Vertices of `kept` do not hook themselves.
    """
    label.scatter(grand, offer, monoid.min)
    least = offer.ewise_add(grand, binary.min).new()
    if kept is None:
        label(accum=binary.min) << least
    else:
        label(mask=~kept.S, accum=binary.min) << least
    # A few steps towards the root at once: they cost no more than waiting for each other.
    fresh = label.gather(label).new()
    for _ in range(_STEPS - 1):
        fresh = label.gather(fresh).new()
    moved = fresh.ewise_mult(grand, binary.ne).new()
    grand << fresh
    return moved.reduce(monoid.lor)


def _largest(label: Vector) -> Any:
    """Return the label that most vertices of a sample have, as a Scalar."""
    n, number = label.size, label.dtype
    asked = Vector.from_dense(np.linspace(0, n - 1, min(n, _ASKED)).astype(number.np_type))
    answers = label.gather(asked).new()
    sizes = Vector(number, n)
    sizes.scatter(answers, Vector.from_scalar(1, asked.size, number), monoid.plus)
    most = sizes.select(select.valueeq, sizes.reduce(monoid.max)).new()
    return most.apply(indexunary.index).reduce(monoid.min).new()
