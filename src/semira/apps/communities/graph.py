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

    def sums_by(self, labels: Any) -> tuple[Any, Any]:
        """Return the strengths of communities, out and in; labels are below n."""
        sums = self.sum_by(labels, self.strengths)
        return sums, self.sum_by(labels, self.strengths_in) if self.is_directed else sums

    def sum_by(self, labels: Any, values: Any) -> Any:
        """Return the sums of values by label."""
        sums = self.xp.zeros(self.n, values.dtype)
        _add_by_label(self.n, labels, values, sums, device=self.device, work=self.n)
        return sums

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

    def contract(self, labels: Any, count: int) -> Graph:
        """Return the graph of communities, without edges inside of them.

        Parameters
        ----------
        labels : array of int32, shape (n,), below `count`; every number occurs
        """
        keys = self.keys(labels, count, keeps_own=False)
        weights = None if self.is_iso else self.weights
        found, sums = summed(self.xp, keys, weights)
        xp, dtype = self.xp, self.strengths.dtype
        strengths, strengths_in = self.sums_by(labels)
        borders = xp.arange(count + 1, dtype=xp.int64) * count
        return Graph(
            xp, self.device, count,
            xp.searchsorted(found, borders).astype(xp.int64 if len(found) >> 31 else xp.int32),
            (found % count).astype(xp.int32), sums.astype(dtype), False,
            strengths[:count].copy(), strengths_in[:count].copy(), self.is_directed, self.total,
        )  # fmt: skip


def dense(graph: Graph, labels: Any, bound: int) -> tuple[Any, int]:
    """Return labels below a bound as 0, 1, 2, ... in their order, and how many there are; waits."""
    xp = graph.xp
    if not len(labels):
        return labels, 0
    marks = xp.zeros(bound, xp.int32)
    _mark(len(labels), labels, marks, device=graph.device, work=len(labels))
    numbers = xp.cumsum(marks, dtype=xp.int32)
    return (numbers - 1)[labels], int(numbers[-1])


def summed(xp: Any, keys: Any, weights: Any) -> tuple[Any, Any]:
    """Return the different keys in order, and the sum of the weights of each.

    Parameters
    ----------
    weights : array of integers, or None
        None: every key counts 1.
    """
    counts = keys != _NO_KEY
    keys = keys[counts]
    if weights is None:
        keys = xp.sort(keys)
    else:
        order = xp.argsort(keys, kind="stable")
        keys, weights = keys[order], weights[counts][order]
    starts = xp.ones(len(keys) + 1, bool)
    starts[1:-1] = keys[1:] != keys[:-1]
    places = xp.flatnonzero(starts)
    found = keys[places[:-1]]
    if weights is None:
        sums = places[1:] - places[:-1]
    else:
        totals = xp.zeros(len(keys) + 1, xp.int64)
        totals[1:] = xp.cumsum(weights, dtype=xp.int64)
        sums = totals[places[1:]] - totals[places[:-1]]
    return found, sums
