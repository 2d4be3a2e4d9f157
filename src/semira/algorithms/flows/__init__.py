"""Maximum flows and minimum cuts: push-relabel on integers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from semira import Matrix, Vector, device, monoid, select, semiring
from semira.algorithms.flows.network import check_ends
from semira.algorithms.flows.solve import Solved, solve
from semira.algorithms.naming import Tabled, Vertex, takes_graph, vertex
from semira.algorithms.run import Layout, Run
from semira.kernels import array_module

_Made = TypeVar("_Made", Vector, Matrix)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Cut(Run, Tabled):
    """What a maximum flow and a minimum cut have in common."""

    value: int | float
    method: str
    reason: str
    searches: int
    _capacities: Matrix = field(kw_only=True)
    _solved: Solved = field(kw_only=True)
    _made: dict[str, Any] = field(kw_only=True)

    @property
    def source_side(self) -> Vector:
        """Vertices on the source's side of the cut, True: those that arcs with room lead to.

        Of all minimum cuts it is the one with the smallest side of the source. BOOL, shape (n,).
        """
        return self._once("source_side", lambda: self._side(self._solved.reached))

    @property
    def sink_side(self) -> Vector:
        """All other vertices, True. BOOL, shape (n,)."""
        return self._once("sink_side", lambda: self._side(~self._solved.reached))

    @property
    def cut_edges(self) -> Matrix:
        """Entries of the matrix from the source's side to the sink's; they are saturated."""
        return self._once("cut_edges", self._cut_edges)

    @property
    def cut_value(self) -> int | float:
        """Sum of the capacities of `cut_edges`: equal to `value`, up to rounding of floats."""
        found = self.cut_edges.reduce_scalar(monoid.plus, allow_empty=False).value
        return float(found) if self._is_float else int(found)

    @property
    def partition(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Vertices on both sides, by name in a Graph: the source's side first."""
        sides = (self.source_side.to_coo()[0], self.sink_side.to_coo()[0])
        return self._names(sides[0]), self._names(sides[1])

    def facts(self) -> dict[str, Any]:
        """Return the value, that of the cut that proves it, and counts."""
        return {
            "value": self.value,
            "cut_value": self.cut_value,
            "cut_edges": int(self.cut_edges.nvals),
            "source_side": int(self.source_side.nvals),
            "method": self.method,
            "reason": self.reason,
            "iterations": self.iterations,
            "searches": self.searches,
        }

    @property
    def _is_float(self) -> bool:
        return bool(self._capacities.dtype.kind == "F")

    def _once(self, name: str, make: Callable[[], _Made]) -> _Made:
        if name not in self._made:
            where = self._capacities.device
            with device(where), array_module(where):
                self._made[name] = make()
        found: _Made = self._made[name]
        return found

    def _side(self, inside: Any) -> Vector:
        found = Vector.from_dense(inside)
        return found.select(select.valuene, False).new()

    def _cut_edges(self) -> Matrix:
        capacities = self._capacities
        if not self._is_float:
            capacities = capacities.dup("UINT64" if capacities.dtype.kind == "U" else "INT64")
        from_here = self.source_side.diag().mxm(capacities, semiring.any_second).new()
        found: Matrix = from_here.mxm(self.sink_side.diag(), semiring.any_first).new()
        return found


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MaximumFlowResult(_Cut):
    """Result of `maximum_flow`: a flow, and the cut that proves it.

    Attributes
    ----------
    value : int or float
        What gets from the source to the sink.
    iterations : int
        Relabels of ``"highest_label"``, rounds of ``"push_relabel"``.
    method, reason : str
        The algorithm that ran, and why.
    searches : int
        Breadth-first searches that made heights distances.
    """

    layout = Layout("flow", answer=("value",))
    vertex_columns = ("from", "to")

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return a row for each edge: its ends, and what flows over it."""
        rows, cols, flow = self.flow.to_coo()
        return {"from": rows, "to": cols, "flow": flow}

    @property
    def flow(self) -> Matrix:
        """What flows over each entry of the matrix, >= 0: INT64, or FP64 for floats.

        Entry (i, j) is what flows from i to j; of two opposite entries one has 0. What SciPy
        returns is ``flow - flow.T``.
        """
        return self._once("flow", self._flow)

    @property
    def residual(self) -> Matrix:
        """What more could flow over each arc, where that is not 0; also back over used ones.

        INT64, or FP64 for floats.
        """
        return self._once("residual", self._residual)

    def _flow(self) -> Matrix:
        solved = self._solved
        network, xp = solved.network, solved.network.xp
        flow = self._numbers(xp.maximum(network.capacity - solved.room, 0))
        if self._is_float:
            # Of a saturated arc the very number that the matrix has.
            is_full = (solved.room == 0) & (network.capacity > 0)
            is_full &= network.capacity < network.clip
            flow = xp.where(is_full, network.given, flow)
        found: Matrix = self._over_arcs(flow).dup(mask=self._capacities.S)
        return found

    def _residual(self) -> Matrix:
        solved = self._solved
        network, xp = solved.network, solved.network.xp
        left = self._numbers(solved.room)
        # Clipped capacities have more room.
        more = network.given - self._numbers(network.capacity)
        left = xp.where(network.capacity == network.clip, left + more, left)
        found: Matrix = self._over_arcs(left).select(select.valuegt, 0).new()
        return found

    def _numbers(self, units: Any) -> Any:
        """Return units as numbers of the matrix."""
        network = self._solved.network
        if not self._is_float:
            return units
        return network.xp.ldexp(units.astype(network.xp.float64), network.xp.int32(-network.shift))

    def _over_arcs(self, values: Any) -> Matrix:
        network = self._solved.network
        return Matrix.from_csr(
            network.indptr, network.indices, values, nrows=network.n, ncols=network.n
        )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MinimumCutResult(_Cut):
    """Result of `minimum_cut`.

    Attributes
    ----------
    value : int or float
        Sum of the capacities of the edges that are cut.
    iterations, method, reason, searches
        As of `MaximumFlowResult`.
    """

    layout = Layout("source_side", answer=("value",))

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return a row for each vertex: which side of the cut it is on, 0 that of the source."""
        side = self.sink_side.to_dense(False).astype(np.int64)
        return {"vertex": np.arange(len(side)), "side": side}


@takes_graph(source=vertex, sink=vertex)
def maximum_flow(
    A: Matrix,
    /,
    source: Vertex,
    sink: Vertex,
    *,
    algorithm: str = "auto",
    initial: MaximumFlowResult | Matrix | None = None,
) -> MaximumFlowResult:
    """Return a maximum flow from `source` to `sink`, and the cut that proves it.

    Parameters
    ----------
    A : Matrix or Graph, shape (n, n), BOOL, integers or floats
        Entry (i, j) is the capacity of the edge from i to j, >= 0; entries (i, j) and (j, i) are
        two edges. Infinite capacities are allowed. Parallel edges are one entry: add them up where
        the matrix is made. Self-loops carry nothing. Not modified.
    source : int, 0 <= source < n; a name in a Graph with labels
        Where the flow begins.
    sink : int, 0 <= sink < n; a name in a Graph with labels
        Where it ends.
    algorithm : {"auto", "highest_label", "push_relabel"}
        ``"highest_label"`` is one thread of a host that takes the highest vertex first.
        ``"push_relabel"`` pushes from all vertices at once, in rounds. ``"auto"`` is the first on
        hosts, and for small matrices of a GPU, which are copied; the second for other matrices of
        a GPU. ``result.reason`` tells.
    initial : MaximumFlowResult or Matrix of flows, shape (n, n), optional
        A flow to start from, such as the one before some capacities changed. It need not fit: what
        exceeds a capacity is taken back.

    Returns
    -------
    MaximumFlowResult
        ``value``, ``flow``, ``residual``, ``source_side``, ``sink_side``, ``cut_edges``.

    Raises
    ------
    DimensionMismatch
        `A` or `initial` is not n by n.
    DomainMismatch
        `A` is no Matrix, or has complex numbers or records; `initial` is neither a result nor a
        Matrix.
    InvalidIndex, IndexOutOfBound
        `source` or `sink` is no vertex.
    NegativeWeight, InvalidWeight
        A capacity is negative; one is NaN.
    InvalidValue
        Source and sink are the same vertex; integers leave the source, and reach the sink, whose
        sum is 2**59 or more; a path of infinite capacities has no maximum; there is no such
        algorithm; there are 2**31 vertices or more.
    OutOfMemory
        The arrays do not fit into the memory that is free.

    Notes
    -----
    Push-relabel [1]_ with gaps and breadth-first searches that make heights distances again [2]_,
    from all that leaves the source; what cannot reach the sink then goes back the same way. At most
    O(n**2 sqrt(m)) steps by highest label, in practice far fewer; 48 bytes an arc, counted in both
    directions, and 40 a vertex. A host thread returns to Python now and then, so that Ctrl-C takes
    effect.

    All sums are of 64-bit integers. Capacities that are floats are counted in units of a power of
    two, so small that what leaves the source has about 2**59: sums are rounded less than those of
    FP64, and every algorithm, device and number of threads returns the same value and cut. The flow
    of ``"push_relabel"`` is the same on every device too.

    Before a result is returned, it is checked: every vertex passes on what it gets, no arc exceeds
    its capacity, none leads on from the source's side, and the cut has the value of the flow.

    References
    ----------
    .. [1] A. Goldberg, R. Tarjan, *A new approach to the maximum-flow problem*, J. ACM 35, 1988.
    .. [2] B. Cherkassky, A. Goldberg, *On implementing the push-relabel method for the maximum flow
       problem*, Algorithmica 19, 1997.

    Examples
    --------
    >>> A = Matrix.from_coo([0, 0, 1, 1, 2], [1, 2, 2, 3, 3], [3, 2, 2, 2, 9], nrows=4, ncols=4)
    >>> found = maximum_flow(A, 0, 3)
    >>> found.value, found.flow.to_dicts()[0], found.partition[0].tolist()
    (5, {1: 3, 2: 2}, [0])
    >>> A[0, 1] << 5
    >>> maximum_flow(A, 0, 3, initial=found).value
    6
    """
    ends = check_ends(A, source, sink, "maximum_flow")
    return _result(MaximumFlowResult, A, solve(A, *ends, algorithm, initial, "maximum_flow"))


@takes_graph(source=vertex, sink=vertex)
def minimum_cut(
    A: Matrix, /, source: Vertex, sink: Vertex, *, algorithm: str = "auto"
) -> MinimumCutResult:
    """Return the edges of least capacity without which no path leads from `source` to `sink`.

    Parameters
    ----------
    A : Matrix or Graph, shape (n, n), BOOL, integers or floats
        Capacities, as of `maximum_flow`.
    source : int, 0 <= source < n; a name in a Graph with labels
        A vertex on one side.
    sink : int, 0 <= sink < n; a name in a Graph with labels
        A vertex on the other side.
    algorithm : {"auto", "highest_label", "push_relabel"}
        As of `maximum_flow`.

    Returns
    -------
    MinimumCutResult
        ``value``, ``source_side``, ``sink_side``, ``cut_edges``, ``partition``.

    Raises
    ------
    As `maximum_flow`.

    Notes
    -----
    A maximum flow, without the matrix of it. Of all minimum cuts the one with the smallest side of
    the source.

    References
    ----------
    L. Ford, D. Fulkerson, *Maximal flow through a network*, Canadian J. Mathematics 8, 1956.

    Examples
    --------
    >>> A = Matrix.from_coo([0, 0, 1, 1, 2], [1, 2, 2, 3, 3], [9, 2, 2, 2, 9], nrows=4, ncols=4)
    >>> found = minimum_cut(A, 0, 3)
    >>> found.value, found.source_side.to_coo()[0].tolist(), found.cut_edges.to_dicts()
    (6, [0, 1], {0: {2: 2}, 1: {2: 2, 3: 2}})
    """
    ends = check_ends(A, source, sink, "minimum_cut")
    return _result(MinimumCutResult, A, solve(A, *ends, algorithm, None, "minimum_cut"))


_Result = TypeVar("_Result", bound=_Cut)


def _result(kind: type[_Result], A: Matrix, found: Solved) -> _Result:
    """Return the result of a flow that was found; of `A` it keeps what it has now."""
    drained = found.drained
    return kind(
        drained.rounds, (), found.value, found.algorithm, found.reason, drained.searches,
        _capacities=A.dup(), _solved=found, _made={},
    )  # fmt: skip
