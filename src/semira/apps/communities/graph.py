"""A graph with integer weights on its device, and its contraction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from semira.kernels import ArrayKernel

_PLACE = "semira.apps.communities.kernels:graphs"
#: A group of 32 threads takes 32 rows, or one where there are few.
_pair_keys = ArrayKernel(_PLACE, "pair_keys", lanes=32)
_inner_weights = ArrayKernel(_PLACE, "inner_weights", lanes=32)
_add_by_label = ArrayKernel(_PLACE, "add_by_label")
_mark = ArrayKernel(_PLACE, "mark")
_renumber = ArrayKernel(_PLACE, "renumber")
_gather_totals = ArrayKernel(_PLACE, "gather_totals")
_begin_groups = ArrayKernel(_PLACE, "begin_groups")
_fill_groups = ArrayKernel(_PLACE, "fill_groups")

#: The key of entries that contraction leaves out: the greatest of int64.
_NO_KEY = (1 << 63) - 1


@dataclass(frozen=True, slots=True)
class Graph:
    """The adjacency of a level, symmetric; weights are integers.

    Attributes
    ----------
    xp : module
        NumPy or CuPy.
    device : str
    n : int
    indptr, indices : array of int32 or int64
    weights : array of int32 or int64
        A single 1 for all entries if `is_iso`.
    is_iso : bool
    strengths, strengths_in : array, shape (n,)
        Sums of weights; of edges out and in if directed, else the same array.
    is_directed : bool
    total : int
        Of all strengths.
    waits : bool
        Whether long rows wait for communities to grow (not of a contracted graph).
    """

    xp: Any
    device: str
    n: int
    indptr: Any
    indices: Any
    weights: Any
    is_iso: bool
    strengths: Any
    strengths_in: Any
    is_directed: bool
    total: int
    waits: bool = True

    @property
    def nvals(self) -> int:
        """Entries."""
        return len(self.indices)

    @property
    def edges(self) -> tuple[Any, Any, Any, bool]:
        """What kernels walk."""
        return self.indptr, self.indices, self.weights, self.is_iso

    def longest(self) -> int:
        """Return the entries of the longest row; waits."""
        return int((self.indptr[1:] - self.indptr[:-1]).max()) if self.n else 0

    def add_strengths(self, labels: Any, totals: Any, totals_in: Any) -> None:
        """Add the strength of each vertex to the total of its label."""
        n, device = self.n, self.device
        _add_by_label(n, labels, self.strengths, totals, device=device, work=n)
        if self.is_directed:
            _add_by_label(n, labels, self.strengths_in, totals_in, device=device, work=n)

    def inner(self, labels: Any) -> int:
        """Return the weights of entries between vertices of one community; waits."""
        sums = self.xp.zeros(1, self.xp.int64)
        _inner_weights(self.n, *self.edges, labels, sums, device=self.device, work=self.indptr)
        return int(sums[0])

    def between(self) -> int:
        """Return the weights of entries between the vertices of a contracted graph; waits."""
        found = int(self.weights.sum(dtype=self.xp.int64)) if self.nvals else 0
        # Of a directed graph both directions are there, each with the weights of both.
        return found // 2 if self.is_directed else found

    def keys(self, labels: Any, count: int, *, keeps_own: bool) -> Any:
        """Return ``row label * count + column label`` of each entry."""
        keys = self.xp.empty(self.nvals, self.xp.int64)
        _pair_keys(
            self.n, self.indptr, self.indices, labels, count, keeps_own, keys,
            device=self.device, work=self.indptr,
        )  # fmt: skip
        return keys


@dataclass(frozen=True, slots=True)
class Numbering:
    """Labels as 0, 1, 2, ..., in their order.

    Attributes
    ----------
    labels : array of int32
    count : int
    """

    labels: Any
    count: int
    _marks: Any
    _numbers: Any

    def gathered(self, graph: Graph, totals: tuple[Any, Any]) -> tuple[Any, Any]:
        """Return totals by label as totals by number."""
        xp, dtype = graph.xp, graph.strengths.dtype
        strengths = xp.empty(self.count, dtype)
        strengths_in = xp.empty(self.count, dtype) if graph.is_directed else strengths
        bound = len(self._marks)
        _gather_totals(
            bound, self._marks, self._numbers, *totals, graph.is_directed, strengths, strengths_in,
            device=graph.device, work=bound,
        )  # fmt: skip
        return strengths, strengths_in


def numbering(graph: Graph, labels: Any, bound: int) -> Numbering:
    """Return the numbering of labels below a bound; waits."""
    xp, length, device = graph.xp, len(labels), graph.device
    if length == 0:
        return Numbering(labels, 0, labels, labels)
    marks = xp.zeros(bound, xp.int32)
    _mark(length, labels, marks, device=device, work=length)
    numbers = xp.cumsum(marks, dtype=xp.int32)
    dense = xp.empty(length, xp.int32)
    _renumber(length, labels, numbers, dense, device=device, work=length)
    return Numbering(dense, int(numbers[-1]), marks, numbers)


def contract(graph: Graph, numbers: Numbering, totals: tuple[Any, Any]) -> Graph:
    """Return the graph of communities, without edges inside of them.

    Parameters
    ----------
    totals : (array, array)
        Strengths of communities by the labels that were numbered.
    """
    keys = graph.keys(numbers.labels, numbers.count, keeps_own=False)
    rows = grouped(graph, keys, graph.weights, numbers.count, graph.strengths.dtype)
    return Graph(
        graph.xp, graph.device, numbers.count, *rows, False, *numbers.gathered(graph, totals),
        graph.is_directed, graph.total, waits=False,
    )  # fmt: skip


def grouped(graph: Graph, keys: Any, weights: Any, count: int, dtype: Any) -> tuple[Any, Any, Any]:
    """Return the rows that keys ``row * count + column`` are entries of; equal keys are summed.

    Parameters
    ----------
    weights : array of integers
        Of each key, or one for all.
    dtype : dtype
        Of the sums.

    Returns
    -------
    indptr, indices, sums : array
    """
    xp, device = graph.xp, graph.device
    is_iso = len(weights) == 1
    if is_iso:
        # Most entries of a graph without weights are inside of communities.
        keys = xp.sort(keys[keys != _NO_KEY])
        order = weights
    else:
        order = xp.argsort(keys, kind="stable")
        keys = keys[order]
    length = len(keys)
    begins = xp.empty(length, xp.int64 if length >> 31 else xp.int32)
    _begin_groups(length, keys, begins, device=device, work=length)
    groups = xp.cumsum(begins, dtype=begins.dtype)
    found = int(groups[-1]) if length else 0
    indptr = xp.zeros(count + 1, begins.dtype)
    indices, sums = xp.empty(found, xp.int32), xp.zeros(found, dtype)
    _fill_groups(
        length, keys, groups, order, not is_iso, weights, is_iso, count, indptr, indices, sums,
        device=device, work=length,
    )  # fmt: skip
    return indptr, indices, sums
