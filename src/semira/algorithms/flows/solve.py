"""A maximum flow: phases that send excess to the sink, and back to the source; and its proof."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from semira import Matrix, binary, device, device_traits, select
from semira.algorithms.bfs import bfs
from semira.algorithms.flows.drain import Drained, choose, drain
from semira.algorithms.flows.network import ENDLESS, Network, arcs_both_ways, network_of
from semira.exceptions import DimensionMismatch, DomainMismatch, InvalidValue, Panic
from semira.kernels import ArrayKernel, array_module, rows_of

_CHECK = ArrayKernel("semira.algorithms.flows.kernels:arcs", "check")


@dataclass(frozen=True, slots=True)
class Solved:
    """A maximum flow that was checked, as arrays of the device."""

    network: Network
    #: Array of int64. What arcs have left.
    room: Any
    #: Array of bool, shape (n,). The source's side of the cut.
    reached: Any
    #: Value of the flow.
    units: int
    algorithm: str
    reason: str
    drained: Drained

    @property
    def value(self) -> int | float:
        """Value of the flow, in the numbers of the matrix."""
        if self.network.given.dtype.kind != "f":
            return self.units
        return float(np.ldexp(float(self.units), -self.network.shift))


def solve(A: Matrix, source: int, sink: int, algorithm: str, initial: Any, name: str) -> Solved:
    """Return a maximum flow from `source` to `sink`, checked."""
    with array_module(A.device) as xp:
        net = None if initial is None else _net_flow(initial, A, xp, name)
        network = network_of(A, source, sink, xp, name, net)
        chosen, reason = choose(algorithm, A.device, A.nrows, len(network.indices))
        total = Drained()
        if net is None:
            room = network.capacity.copy()
            excess = xp.zeros(A.nrows, xp.int64)
        else:
            room = network.capacity - _units_of(net, network)
            excess = network.imbalance(room)
            _repair(network, room, excess, source, sink, chosen, total)
        _saturate(network, room, excess, source)
        for taker, other in ((sink, source), (source, -1)):
            excess[taker] -= ENDLESS
            _add(total, drain(network, room, excess, chosen, aside=other))
            excess[taker] = 0
        reached = _reached(network, room, source)
        units = _checked(network, room, reached, source, sink, name)
    return Solved(network, room, reached, units, chosen, reason, total)


def _add(total: Drained, more: Drained) -> None:
    total.rounds += more.rounds
    total.searches += more.searches


def _saturate(network: Network, room: Any, excess: Any, source: int) -> None:
    arcs = network.arcs_of(source)
    sent = room[arcs].copy()
    excess[network.indices[arcs]] += sent
    room[network.back[arcs]] += sent
    room[arcs] = 0


def _net_flow(initial: Any, A: Matrix, xp: Any, name: str) -> Any:
    """Return the net flow over each arc that a caller gives, whether it fits or not."""
    flow = getattr(initial, "flow", initial)
    if not isinstance(flow, Matrix):
        kind = type(initial).__name__
        raise DomainMismatch(f"{name}: initial is a {kind}; give a result or a Matrix of flows")
    if flow.shape != A.shape:
        raise DimensionMismatch(f"{name}: initial has the shape {flow.shape}, not {A.shape}")
    number, arcs = "FP64" if A.dtype.kind == "F" else "INT64", arcs_both_ways(A)
    flow = flow.dup(number)
    net = arcs.apply(binary.second, right=0).new(number)
    there = flow.ewise_union(flow.T.new(), binary.minus, 0, 0).new(mask=arcs.S)
    net << net.ewise_add(there, binary.plus)
    values = rows_of(net).values
    if number == "FP64" and not bool(xp.isfinite(values).all()):
        raise InvalidValue(f"{name}: initial has a value that is infinite or nan")
    return values


def _units_of(net: Any, network: Network) -> Any:
    """Return a net flow in units, within the capacities."""
    xp, capacity = network.xp, network.capacity
    if net.dtype.kind == "f":
        most = float(np.ldexp(float(network.clip), -network.shift))
        net = xp.ldexp(xp.clip(net, -most, most), xp.int32(network.shift))
        net = xp.rint(net).astype(xp.int64)
    return xp.maximum(xp.minimum(net, capacity), -capacity[network.back])


def _repair(
    network: Network, room: Any, excess: Any, source: int, sink: int, chosen: str, total: Drained
) -> None:
    """Fill up vertices that send more than they get, along the flow from the ends of it.

    Each end has as much as all lack together: more would only get stuck on the way.
    """
    excess[source] = excess[sink] = 0
    lacking = -int(network.xp.minimum(excess, 0).sum())
    if lacking:
        excess[source] = excess[sink] = lacking
        _add(total, drain(network, room, excess, chosen))
        excess[source] = excess[sink] = 0


def _reached(network: Network, room: Any, source: int) -> Any:
    """Return which vertices arcs with room lead to from the source."""
    n = network.n
    with device(network.device):
        left = Matrix.from_csr(network.indptr, network.indices, room, nrows=n, ncols=n)
        level = bfs(left.select(select.valuegt, 0).new(), source).level
    lends = device_traits(network.device).lends_arrays
    return level.to_dense(-1, device=network.device if lends else None) >= 0


def _checked(network: Network, room: Any, reached: Any, source: int, sink: int, name: str) -> int:
    """Return the value of a flow, if it is one, and as great as the cut that it leaves."""
    xp = network.xp
    found = xp.zeros(5, xp.int64)
    _CHECK(
        network.n, network.indptr, network.indices, network.back, network.capacity, room, reached,
        source, sink, found, device=network.device, work=len(network.indices),
    )  # fmt: skip
    wrong, leaking, crossing, cut, value = found.tolist()
    if network.endless and value >= network.clip - 1:
        raise InvalidValue(
            f"{name}: a path of infinite capacities leads from {source} to {sink}, so the flow has "
            "no maximum; make one of them finite"
        )
    if wrong or leaking or crossing or cut != value or bool(reached[sink]):
        raise Panic(
            f"{name}: no maximum flow: {wrong} arcs beyond their capacity, {leaking} vertices that "
            f"do not pass on what they get, {crossing} arcs with room over the cut, value {value} "
            f"against a cut of {cut} units"
        )
    return int(value)
