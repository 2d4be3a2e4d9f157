"""Local moves and refinement on one graph: loops of kernels, on a GPU one launch each."""

from __future__ import annotations

from typing import Any

from semira.apps.communities.graph import Graph
from semira.kernels import ArrayKernel, run_loop

_MOVES = "semira.apps.communities.kernels:moves"
_MERGES = "semira.apps.communities.kernels:merges"
_GRAPHS = "semira.apps.communities.kernels:graphs"
#: A warp for each row of long ones.
_WARP = 32
_draw = ArrayKernel(_MOVES, "draw")
_choose = ArrayKernel(_MOVES, "choose", lanes=_WARP)
_move = ArrayKernel(_MOVES, "move", lanes=_WARP)
_decide = ArrayKernel(_MOVES, "decide")
_begin_merges = ArrayKernel(_MERGES, "begin_merges", lanes=_WARP)
_choose_merges = ArrayKernel(_MERGES, "choose_merges", lanes=_WARP)
_merge = ArrayKernel(_MERGES, "merge", lanes=_WARP)
_unite = ArrayKernel(_GRAPHS, "unite", lanes=_WARP)
_flatten = ArrayKernel(_GRAPHS, "flatten")


def draw(graph: Graph, seed: int, number: int) -> Any:
    """Return 32 random bits for each vertex."""
    ranks = graph.xp.empty(graph.n, graph.xp.uint32)
    _draw(graph.n, seed, number, ranks, device=graph.device, work=graph.n)
    return ranks


def state_of(graph: Graph, few: int, most: int) -> Any:
    """Return the state of a loop: see `decide` in kernels/moves.py."""
    return graph.xp.asarray([0, 0, 0, 0, few, most], dtype=graph.xp.int64)


def tables(graph: Graph) -> list[tuple[str, int, int]]:
    """Return the hash table that a host's thread sums in: labels, and sums of weights."""
    # Kernels double 2 until it is enough for a row.
    places = max(2, 1 << (2 * graph.longest() - 1).bit_length())
    return [("int64", places, -1), ("int64", places, 0)]


def move_vertices(
    graph: Graph, labels: Any, pull: float, ranks: Any, few: int, most: int
) -> tuple[Any, Any, Any]:
    """Move vertices, writing `labels`, until a pair of rounds has few moves.

    Returns
    -------
    totals, totals_in : array, shape (n,)
        Strengths of the communities.
    state : array
        Of the loop, as it ended.
    """
    xp, n = graph.xp, graph.n
    totals, totals_in = graph.sums_by(labels)
    state = state_of(graph, few, most)
    active, targets = xp.ones(n, xp.int8), xp.full(n, -1, xp.int32)
    sums = (totals, graph.strengths, totals_in, graph.strengths_in, graph.is_directed)
    run_loop(
        state,
        _choose.launch(
            n, *graph.edges, labels, *sums, pull, ranks, state, active, targets,
            work=graph.indptr, host_scratch=lambda: tables(graph),
        ),
        _move.launch(
            n, graph.indptr, graph.indices, labels, *sums, state, active, targets,
            work=graph.indptr,
        ),
        _decide.launch(1, state),
        device=graph.device,
    )  # fmt: skip
    return totals, totals_in, state


def refine(
    graph: Graph, groups: Any, within: tuple[Any, Any], pull: float, ranks: Any, few: int, most: int
) -> Any:
    """Return connected parts of the groups, by labels that are vertices of the parts."""
    xp, n = graph.xp, graph.n
    labels, sizes, targets = (xp.empty(n, xp.int32) for _ in range(3))
    outside = xp.empty(n, graph.strengths.dtype)
    _begin_merges(
        n, *graph.edges, groups, labels, sizes, outside, device=graph.device, work=graph.indptr
    )
    totals = graph.strengths.copy()
    totals_in = graph.strengths_in.copy() if graph.is_directed else totals
    sums = totals, graph.strengths
    sums_in = totals_in, graph.strengths_in
    state = state_of(graph, few, most)
    run_loop(
        state,
        _choose_merges.launch(
            n, *graph.edges, groups, labels, sizes, within[0], *sums, within[1], *sums_in,
            graph.is_directed, pull, outside, ranks, state, targets,
            work=graph.indptr, host_scratch=lambda: tables(graph),
        ),
        _merge.launch(
            n, *graph.edges, groups, labels, sizes, *sums, *sums_in, graph.is_directed, outside,
            state, targets, work=graph.indptr,
        ),
        _decide.launch(1, state),
        device=graph.device,
    )  # fmt: skip
    return labels


def components(graph: Graph, labels: Any) -> Any:
    """Return the connected components of communities, each by its smallest vertex."""
    parents = graph.xp.arange(graph.n, dtype=graph.xp.int32)
    _unite(
        graph.n, graph.indptr, graph.indices, labels, parents,
        device=graph.device, work=graph.indptr,
    )  # fmt: skip
    _flatten(graph.n, parents, device=graph.device, work=graph.n)
    return parents
