"""Sends excess to takers: by one thread of a host, or by all threads in rounds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from semira import device_traits
from semira.algorithms.flows.network import Network
from semira.exceptions import InvalidValue
from semira.kernels import ArrayKernel, run_loop

_DRAIN = ArrayKernel("semira.algorithms.flows.kernels:serial", "drain")
_ROUNDS = "semira.algorithms.flows.kernels:rounds"
_ACT = ArrayKernel(_ROUNDS, "act")
_SETTLE = ArrayKernel(_ROUNDS, "settle")
_COMMIT = ArrayKernel(_ROUNDS, "commit")

ALGORITHMS = ("highest_label", "push_relabel")

#: Relabels of a call of the kernel, so that Ctrl-C takes effect.
_BUDGET = 1 << 21

#: Arcs of a network that a GPU leaves to a thread of its host. That takes 21 ms for a grid of
#: 128 x 128 (65 thousand arcs), and 77 ms for one of 200 x 200. Rounds take 2,800 and 4,600 turns,
#: of three barriers of the whole GPU each.
_FEW_ARCS = 1 << 16

#: Work of a host for each vertex and arc, until heights are distances again. With 4, 8, 16 a grid
#: of 1000 x 1000 takes 12.8, 9.0, 8.8 s, and a fused lasso of 200 x 200 pixels 0.22, 0.23, 0.27 s.
_OFTEN = 8

#: Rounds for four levels of the search before, until heights are distances again: the fewest turns
#: on grids of 200 x 200 and 500 x 500.
_PACE = 1


@dataclass(slots=True)
class Drained:
    """What happened on the way."""

    #: Rounds of push-relabel; by one thread: relabels.
    rounds: int = 0
    #: Times that heights became distances.
    searches: int = 0
    #: Array of int32, shape (n,). Arcs to the nearest taker; n or more where there is no way to
    #: one.
    height: Any = None


def choose(algorithm: str, device: str, n: int, arcs: int) -> tuple[str, str]:
    """Return the algorithm for a network, and why.

    Raises InvalidValue if there is no such algorithm.
    """
    if algorithm not in ("auto", *ALGORITHMS):
        raise InvalidValue(f"algorithm={algorithm!r} must be one of auto, {', '.join(ALGORITHMS)}")
    if algorithm != "auto":
        return algorithm, "as asked for"
    what = f"{n:,} vertices, {arcs:,} arcs"
    if not device_traits(device).own_memory:
        return "highest_label", f"{what}: one thread of a host needs the fewest pushes"
    if arcs <= _FEW_ARCS:
        return "highest_label", f"{what}: too few for a GPU; its host is expected to be quicker"
    return "push_relabel", f"{what}: a GPU pushes from all vertices at once"


def drain(network: Network, room: Any, excess: Any, algorithm: str, *, aside: int = -1) -> Drained:
    """Send positive excess to vertices with negative excess, until no more can reach one.

    `room`, what arcs have left, and `excess` are changed. What cannot reach a taker stays on its
    way. Nothing is sent to the vertex `aside`; -1: there is none.
    """
    if algorithm == "push_relabel":
        return _in_rounds(network, room, excess, aside)
    if not device_traits(network.device).own_memory:
        return _by_one_thread(network, room, excess, aside)
    arrays = {name: getattr(network, name).get() for name in ("indptr", "indices", "back")}
    mine = room.get(), excess.get()
    found = _by_one_thread(replace(network, xp=np, device="cpu", **arrays), *mine, aside)
    for array, copy in zip((room, excess), mine, strict=True):
        array[:] = network.xp.asarray(copy)
    found.height = network.xp.asarray(found.height)
    return found


def _by_one_thread(network: Network, room: Any, excess: Any, aside: int) -> Drained:
    xp, n = network.xp, network.n
    lists = [xp.empty(n, xp.int32) for _ in range(5)]
    height, after, following, preceding, queue = lists
    active, layer = xp.empty(n + 1, xp.int32), xp.empty(n + 1, xp.int32)
    current = xp.empty(n, network.indptr.dtype)
    state = xp.zeros(8, xp.int64)
    often = _OFTEN * (12 * n + len(network.indices))
    while not state[0]:
        _DRAIN(
            1, n, aside, network.indptr, network.indices, network.back, room, excess, height,
            current, active, after, layer, following, preceding, queue, state, often, _BUDGET,
            device=network.device,
        )  # fmt: skip
    told = state.tolist()
    return Drained(told[4], told[5], height)


def _in_rounds(network: Network, room: Any, excess: Any, aside: int) -> Drained:
    xp, n = network.xp, network.n
    height, fresh, mark = xp.zeros(n, xp.int32), xp.empty(n, xp.int32), xp.zeros(n, xp.int32)
    lists, incoming = xp.empty(2 * n, xp.int32), xp.zeros(n, xp.int64)
    state = xp.zeros(16, xp.int64)
    state[14] = _PACE
    run_loop(
        state,
        _ACT.launch(
            n, n, aside, network.indptr, network.indices, network.back, room, excess, incoming,
            height, mark, lists, state,
        ),
        _SETTLE.launch(
            n, n, aside, network.indptr, network.indices, network.back, room, excess, incoming,
            height, fresh, lists, state,
        ),
        _COMMIT.launch(n, n, height, fresh, lists, state),
        device=network.device,
    )  # fmt: skip
    told = state.tolist()
    return Drained(told[11], told[10], height)
