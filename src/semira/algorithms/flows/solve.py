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

#: Sums of a given flow stay below, in units.
_MOST_GIVEN = 2.0**61


@dataclass(frozen=True, slots=True)
class Solved:
    """A maximum flow that was checked, as arrays of the device.

    Attributes
    ----------
    network : Network
    room : array of int64
        What arcs have left.
    reached : array of bool, shape (n,)
        The source's side of the cut.
    units : int
        Value of the flow.
    algorithm, reason : str
    drained : Drained
    """

    network: Network
    room: Any
    reached: Any
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
        network = network_of(A, source, sink, xp, name)
        chosen, reason = choose(algorithm, A.device, A.nrows, len(network.indices))
        total = Drained()
        if initial is None:
            room = network.capacity.copy()
            excess = xp.zeros(A.nrows, xp.int64)
        else:
            room = network.capacity - _units_of(initial, A, network, name)
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
    """Send all that leaves the source."""
    arcs = network.arcs_of(source)
    sent = room[arcs].copy()
    excess[network.indices[arcs]] += sent
    room[network.back[arcs]] += sent
    room[arcs] = 0


def _units_of(initial: Any, A: Matrix, network: Network, name: str) -> Any:
    """Return the net flow over each arc that a caller gives, within the capacities."""
    flow = getattr(initial, "flow", initial)
    if not isinstance(flow, Matrix):
        raise DomainMismatch(f"{name}: initial is a {type(initial).__name__}; give a result or a "
                             "Matrix of flows")  # fmt: skip
    if flow.shape != A.shape:
        raise DimensionMismatch(f"{name}: initial has the shape {flow.shape}, not {A.shape}")
    xp, arcs = network.xp, arcs_both_ways(A)
    number = "FP64" if network.given.dtype.kind == "f" else "INT64"
    flow = flow.dup(number)
    net = arcs.apply(binary.second, right=0).new(number)
    there = flow.ewise_union(flow.T.new(), binary.minus, 0, 0).new(mask=arcs.S)
    net << net.ewise_add(there, binary.plus)
    units = rows_of(net).values
    if number == "FP64":
        if not bool(xp.isfinite(units).all()):
            raise InvalidValue(f"{name}: initial has a value that is infinite or nan")
        units = xp.rint(xp.ldexp(units, xp.int32(network.shift)))
        units = xp.clip(units, -ENDLESS, ENDLESS).astype(xp.int64)
    units = xp.maximum(xp.minimum(units, network.capacity), -network.capacity[network.back])
    total = float(abs(units).sum(dtype=xp.float64))
    if total >= _MOST_GIVEN:
        raise InvalidValue(f"{name}: initial moves {total:.3g} units in all, at most 2**61 are "
                           "exact; leave it out")  # fmt: skip
    return units


def _repair(
    network: Network, room: Any, excess: Any, source: int, sink: int, chosen: str, total: Drained
) -> None:
    """Fill up vertices that send more than they get, along the flow from the ends of it."""
    excess[source] = excess[sink] = 0
    if bool((excess < 0).any()):
        excess[source] = excess[sink] = ENDLESS
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
    wrong, leaking, crossing, cut, value = (int(each) for each in found)
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
    return value
