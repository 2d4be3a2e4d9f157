"""Local moves and refinement on one graph: loops of kernels, on a GPU one launch each."""

from __future__ import annotations

from typing import Any

from semira.apps.communities.graph import STATE, Graph, Workspace
from semira.kernels import ArrayKernel, run_loop

_MOVES = "semira.apps.communities.kernels:moves"
_MERGES = "semira.apps.communities.kernels:merges"
_GRAPHS = "semira.apps.communities.kernels:graphs"
#: Rows are walked by warps; what is chosen for long ones, by blocks.
_WARP, _BLOCK = 32, 256
_move_in_order = ArrayKernel("semira.apps.communities.kernels:serial", "move_in_order")
_begin_moves = ArrayKernel(_MOVES, "begin_moves")
_choose = ArrayKernel(_MOVES, "choose", lanes=_BLOCK)
_choose_long = ArrayKernel(_MOVES, "choose_long", skips_hosts=True)
_move = ArrayKernel(_MOVES, "move", lanes=_WARP)
_decide = ArrayKernel(_MOVES, "decide", lanes=0)
_begin_merges = ArrayKernel(_MERGES, "begin_merges", lanes=_WARP)
_choose_merges = ArrayKernel(_MERGES, "choose_merges", lanes=_BLOCK)
_choose_long_merges = ArrayKernel(_MERGES, "choose_long_merges", skips_hosts=True)
_merge = ArrayKernel(_MERGES, "merge", lanes=_WARP)
_unite = ArrayKernel(_GRAPHS, "unite", lanes=_WARP)
_flatten = ArrayKernel(_GRAPHS, "flatten")

#: Rounds that rows of more than 1,024 entries wait where every vertex is alone at first.
_HUBS_WAIT = 4


def tables(graph: Graph) -> list[tuple[str, int, int]]:
    """Return the hash table that a host's thread sums in: labels, and sums of weights."""
    # Kernels double 2 until it is enough for a row.
    places = max(2, 1 << (2 * graph.longest() - 1).bit_length())
    return [("int64", places, -1), ("int64", places, 0)]


def move_vertices(
    space: Workspace,
    graph: Graph,
    labels: Any,
    pull: float,
    rule: tuple[int, int, int, int],
    *,
    alone: bool,
) -> tuple[Any, Any]:
    """Move vertices, writing `labels`, until a pair of rounds has few moves.

    Parameters
    ----------
    rule : (seed, number, few, most)
        Of the random numbers, and of `decide`.
    alone : bool
        Begin with every vertex alone, whatever is in `labels`.

    Returns
    -------
    totals, totals_in : array, shape (n,)
        Strengths of the communities, in the workspace.
    """
    xp, n, device = graph.xp, graph.n, graph.device
    totals, totals_in = space.sums("totals")
    state = space.next_state()
    ranks, active = space.take("ranks", xp.uint32), space.take("active", xp.int8)
    targets, (queue, *parts) = space.take("targets", xp.int32), space.queues()
    strengths, strengths_in, is_directed = graph.strengths, graph.strengths_in, graph.is_directed
    wait = _HUBS_WAIT if alone and graph.waits else 0
    begin = _begin_moves.launch(
        n, rule[0], rule[1], alone, *rule[2:], wait, strengths, strengths_in, is_directed, labels,
        totals, totals_in, ranks, active, targets, state, work=n,
    )  # fmt: skip
    # The same text with and without them.
    adds = graph.additions(labels, totals, totals_in, none=alone)
    sums = totals, strengths, totals_in, strengths_in, is_directed
    chosen = (*graph.edges, labels, *sums, pull, ranks, state, active, targets, queue)
    run_loop(
        state,
        _choose.launch(n, *chosen, work=graph.indptr, host_scratch=lambda: tables(graph)),
        _choose_long.launch(1, *chosen, n, *parts),
        _move.launch(
            n, graph.indptr, graph.indices, labels, *sums, state, active, targets,
            work=graph.indptr,
        ),
        _decide.launch(1, state),
        device=device,
        before=(begin, *adds),
        most_blocks=graph.most_blocks,
    )  # fmt: skip
    return totals, totals_in


def move_in_order(
    space: Workspace,
    graph: Graph,
    labels: Any,
    pull: float,
    rule: tuple[float, int],
    *,
    alone: bool,
) -> tuple[Any, Any, float]:
    """Move one vertex after the other, writing `labels`; on hosts.

    Parameters
    ----------
    rule : (least, most)
        Modularity that a round gains if it is not the last one, and most rounds.

    Returns
    -------
    totals, totals_in : array, shape (n,)
    gained : float
        Modularity.
    """
    xp, n = graph.xp, graph.n
    # Undirected, the sums of weights have each edge once.
    unit = graph.total / (1 if graph.is_directed else 2)
    if alone:
        labels[:] = xp.arange(n)
    totals, totals_in = space.sums("totals")
    totals[:n], totals_in[:n] = 0, 0
    graph.add_strengths(labels, totals, totals_in)
    gains, sums = xp.zeros(1, xp.float64), xp.full(n, -1, xp.int64)
    state = space.next_state()
    given = (
        *graph.edges, labels, totals, graph.strengths, totals_in, graph.strengths_in,
        graph.is_directed, pull, rule[0] * unit, rule[1], state, gains, sums,
        space.take("targets", xp.int32),
    )  # fmt: skip
    # Ctrl-C takes effect between rounds.
    while not state[0]:
        _move_in_order(1, *given, device=graph.device)
    return totals, totals_in, float(gains[0]) / unit


def refine(
    space: Workspace,
    graph: Graph,
    groups: Any,
    within: tuple[Any, Any],
    pull: float,
    rule: tuple[int, int, int, int],
) -> tuple[Any, Any, Any, Any]:
    """Divide groups into connected parts.

    Returns
    -------
    labels : array of int32
        Of each vertex, a vertex of its part; in the workspace.
    totals, totals_in : array
        Strengths of the parts, by label.
    able : array, shape (1,)
        How many vertices have weights to others of their group.
    """
    xp, n = graph.xp, graph.n
    labels, sizes = space.take("parts", xp.int32), space.take("sizes", xp.int32)
    targets, (queue, *parts) = space.take("targets", xp.int32), space.queues()
    ranks, outside = space.take("ranks", xp.uint32), space.take("outside")
    totals, totals_in = space.sums("part_totals")
    state = space.next_state()
    strengths, strengths_in, is_directed = graph.strengths, graph.strengths_in, graph.is_directed
    begin = _begin_merges.launch(
        n, *graph.edges, *rule, groups, strengths, strengths_in, is_directed, labels, sizes,
        totals, totals_in, outside, ranks, state, work=graph.indptr,
    )  # fmt: skip
    chosen = (
        *graph.edges, groups, labels, sizes, within[0], totals, strengths, within[1], totals_in,
        strengths_in, is_directed, pull, outside, ranks, state, targets, queue,
    )  # fmt: skip
    run_loop(
        state,
        _choose_merges.launch(n, *chosen, work=graph.indptr, host_scratch=lambda: tables(graph)),
        _choose_long_merges.launch(1, *chosen, n, *parts),
        _merge.launch(
            n, *graph.edges, groups, labels, sizes, totals, strengths, totals_in, strengths_in,
            is_directed, outside, state, targets, work=graph.indptr,
        ),
        _decide.launch(1, state),
        device=graph.device,
        before=(begin,),
        most_blocks=graph.most_blocks,
    )  # fmt: skip
    return labels, totals, totals_in, state[STATE - 1 :]


def components(graph: Graph, labels: Any) -> Any:
    """Return the connected components of communities, each by its smallest vertex."""
    parents = graph.xp.arange(graph.n, dtype=graph.xp.int32)
    _unite(
        graph.n, graph.indptr, graph.indices, labels, parents,
        device=graph.device, work=graph.indptr,
    )  # fmt: skip
    _flatten(graph.n, parents, device=graph.device, work=graph.n)
    return parents
