"""Closeness centrality: many searches at once, a bit of a word for each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

import numpy as np

from semira import (
    Matrix,
    ProductOptions,
    Scalar,
    Vector,
    binary,
    device,
    dtypes,
    monoid,
    repeat,
    select,
    semiring,
)
from semira.algorithms.checks import check_sources, check_square
from semira.algorithms.naming import Vertex, count_or_vertices, takes_graph
from semira.algorithms.results import CentralityResult, finished
from semira.algorithms.searches import SUMS, can_search, search
from semira.algorithms.sequential import runs_loops
from semira.kernels import vector_of

_WORD = dtypes.UINT64
_BITS = 64


@takes_graph(sources=count_or_vertices)
def closeness_centrality(
    A: Matrix,
    /,
    *,
    sources: int | Sequence[Vertex] | None = None,
    seed: int = 0,
    wf_improved: bool = True,
    **opts: Unpack[ProductOptions],
) -> CentralityResult:
    """Return the closeness centrality of every vertex: one over its mean distance from others.

    ``c_v = r / t``, where r counts the sources other than v from which v can be reached and t is
    the sum of their distances to v in hops; 0 where there are none. For distances away from v,
    pass ``A.T.new()``.

    Parameters
    ----------
    A : Matrix or Graph, shape (n, n), any dtype
        Entry (i, j), whatever its value, is the edge from i to j. Not modified.
    sources : int, sequence of vertices (names in a Graph with labels), or None
        Vertices to search from. None: all vertices, which makes the result exact. A number k: k
        different ones, drawn with `seed`. A sequence: these. Of some sources the result is an
        estimate.
    seed : int >= 0
        Of the draw (`numpy.random.default_rng`).
    wf_improved : bool
        Multiply by the share of the other sources that reach v (Wasserman and Faust), so that
        small components do not look central. NetworkX has it under the same name.
    **opts
        Options of the product.

    Returns
    -------
    CentralityResult
        ``centrality``, ``sources``, ``iterations`` (levels of the longest search; with options
        those of all groups of 64 searches), ``trace`` (of these).

    Raises
    ------
    DimensionMismatch
        `A` is not square.
    InvalidIndex, IndexOutOfBound
        A source is no vertex.
    InvalidValue
        `sources` or `seed` is out of range.

    Notes
    -----
    k sources make k / 256 searches of O(n + nvals) work for each level that a vertex is reached
    at, O(n nvals / 256) in all if distances are small; see `multi_source_bfs`. Memory: O(n) for
    each thread. On a GPU one launch, whose end it waits for. With options, k / 64 searches by
    products are recorded as one loop.

    References
    ----------
    S. Wasserman, K. Faust, *Social network analysis*, 1994, section 5.2 (the correction);
    D. Eppstein, J. Wang, *Fast approximation of centrality*, J. Graph Algorithms and
    Applications 8, 2004 (sampled); M. Then et al., *The more the merrier: efficient multi-source
    graph traversal*, VLDB 2014 (a bit for each search).

    Examples
    --------
    >>> A = Matrix.from_coo([0, 1, 1, 2], [1, 0, 2, 1], nrows=4, ncols=4)
    >>> found = closeness_centrality(A).centrality.to_dense().tolist()
    >>> [round(value, 3) for value in found]
    [0.444, 0.667, 0.444, 0.0]
    """
    n = check_square(A, "closeness_centrality", opts)
    vertices = np.unique(check_sources(sources, n, seed))
    if not opts and can_search(A, len(vertices), SUMS):
        found = search(A, vertices, SUMS)
        if runs_loops(A):
            reached, total = found.sums.reshape(n, 2).T
            values = _score_at_once(vertices, reached, total, wf_improved)
            score = vector_of(values, device=A.device)
        else:
            with device(A.device):
                score = _score(vertices, *found.vectors(), wf_improved)
        return CentralityResult(int(found.far.max()) + 1, (), score, len(vertices))
    with device(A.device):
        reached, total = Vector(_WORD, n), Vector(_WORD, n)
        levels, trace = _search(A, vertices, reached, total, opts) if n else (0, ())
        score = _score(vertices, reached, total, wf_improved)
    return CentralityResult(levels, trace, score, len(vertices))


def _score(vertices: Any, reached: Vector, total: Vector, wf_improved: bool) -> Vector:
    """Return reached / total, times reached / others; 0 where no source comes from."""
    n = reached.size
    met = total.select(select.valuegt, 0).new()
    score: Vector = reached.dup(dtypes.FP64, mask=met.S)
    if wf_improved:
        others = Vector.from_scalar(float(len(vertices)), n)
        others(accum=binary.minus) << Vector.from_coo(vertices, 1.0, size=n)
        score << score.ewise_mult(score).ewise_mult(others, binary.truediv)
    score << score.ewise_mult(met, binary.truediv)
    score(~met.S) << 0
    return score


def _score_at_once(vertices: Any, reached: Any, total: Any, wf_improved: bool) -> Any:
    """Return the same, bit by bit, of arrays of the host."""
    score, others = reached.astype(np.float64), np.full(len(reached), float(len(vertices)))
    others[vertices] -= 1
    if wf_improved:
        score = np.divide(score * score, others, out=np.zeros_like(score), where=total > 0)
    return np.divide(score, total, out=np.zeros_like(score), where=total > 0)


def _search(
    A: Matrix, vertices: Any, reached: Vector, total: Vector, opts: ProductOptions
) -> tuple[int, Any]:
    """Count for each vertex the sources that reach it, and add up their distances."""
    n, count = A.nrows, len(vertices)
    numbers = np.arange(count, dtype=np.uint64)
    bit = Vector.from_coo(vertices, np.uint64(1) << numbers % _BITS, _WORD, size=n)
    group = Vector.from_coo(vertices, numbers // _BITS, _WORD, size=n)
    frontier, unseen = Vector(_WORD, n), Vector(_WORD, n)
    turn, levels, depth = (Scalar.from_value(0, _WORD) for _ in range(3))
    bor_first, plus = semiring.bor_first[_WORD], binary.plus[_WORD]

    def step() -> Any:
        depth << depth + 1
        # frontier<unseen> = (frontier bor.first A) & unseen, without zeros
        found = frontier.vxm(A, bor_first).new(mask=unseen.V, **opts)
        frontier << found.ewise_mult(unseen, binary.band[_WORD]).select(select.valuene, 0)
        unseen(accum=binary.bxor[_WORD]) << frontier
        # reached += number of bits; total += depth * number of bits
        arrived = _bits_set(frontier)
        reached(accum=plus) << arrived
        total(accum=plus) << arrived.apply(binary.times[_WORD], right=depth)
        return frontier.nvals > 0

    def search() -> None:
        # The next 64 sources, each with a bit of its own.
        frontier << bit.ewise_mult(group.select(select.valueeq, turn), binary.first[_WORD])
        unseen << frontier.reduce(monoid.bor[_WORD], allow_empty=False)
        unseen(accum=binary.bxor[_WORD]) << frontier
        depth << 0
        repeat(step, max_iterations=n)
        turn << turn + 1
        levels << levels + depth

    reached << 0
    total << 0
    loop = finished(repeat(search, max_iterations=-(-count // _BITS)))
    return int(levels), loop.trace


def _bits_set(x: Vector) -> Vector:
    """Return how many bits of each word are set (H. Warren, *Hacker's delight*, section 5-1)."""
    band, shift = binary.band[_WORD], binary.bshift[_WORD]
    odd = x.apply(shift, right=-1).apply(band, right=0x5555555555555555)
    pairs = x.ewise_mult(odd, binary.minus[_WORD]).new()
    high = pairs.apply(shift, right=-2).apply(band, right=0x3333333333333333)
    fours = pairs.apply(band, right=0x3333333333333333).ewise_mult(high, binary.plus[_WORD]).new()
    eights = fours.ewise_mult(fours.apply(shift, right=-4), binary.plus[_WORD]).new()
    bytes_ = eights.apply(band, right=0x0F0F0F0F0F0F0F0F)
    # The product adds all bytes up in the highest one.
    added = bytes_.apply(binary.times[_WORD], right=0x0101010101010101)
    counts: Vector = added.apply(shift, right=-56).new()
    return counts
