"""Groups of batches: sampled together, their vertices numbered anew, then laid out one by one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira.apps.sampling.result import on_host
from semira.apps.sampling.solve import Source, draw

#: What a table of numbers holds for a vertex that no batch has met, and for one just met.
_ABSENT, _MET = -1, -2

#: Sorting what was met costs as much as looking through so many numbers of the table for each.
_LOOKS = 32


@dataclass(frozen=True, slots=True)
class Group:
    """Batches one after the other, in the memory of the device.

    Attributes
    ----------
    n_id : array of int64
        Vertices: of each batch its seeds, then those first met at each hop, sorted.
    edge_index : array of int64, shape (2, edges)
        Neighbour and vertex, numbered by their place in the batch's part of `n_id`.
    e_id : array of int64
        Positions of the entries.
    nodes, edges : array of int, shape (hops + 1, batches), (hops, batches)
        How many of them each hop brought, on the host.
    """

    n_id: Any
    edge_index: Any
    e_id: Any
    nodes: NDArray[np.int64]
    edges: NDArray[np.int64]


@dataclass(slots=True)
class _Hop:
    """What one hop brought: arrays sorted by batch, and the batch of each item."""

    columns: tuple[Any, ...]
    batch: Any
    counts: NDArray[np.int64]


class Numbers:
    """Numbers of the vertices of each batch of a group; -1 of those that it has not met.

    Parameters
    ----------
    n : int
        Vertices of the graph.
    batches : int
        Of a group, at most.
    """

    def __init__(self, n: int, batches: int, xp: Any) -> None:
        self._n, self._xp = n, xp
        self._table = xp.full(n * batches, _ABSENT, xp.int32)
        self._used: list[Any] = []

    def enter(self, keys: Any, numbers: Any) -> None:
        """Give numbers to vertices; a key is batch * n + vertex."""
        self._table[keys] = numbers
        self._used.append(keys)

    def of(self, keys: Any) -> Any:
        """Return the numbers of vertices."""
        return self._table[keys]

    def new_among(self, keys: Any) -> Any:
        """Return the keys without a number, each once, sorted."""
        xp, table = self._xp, self._table
        known = table[keys]
        if len(keys) * _LOOKS < len(table):
            return xp.unique(keys[known < 0])
        # All who write to a place write the same.
        table[keys] = xp.where(known < 0, _MET, known)
        return xp.flatnonzero(table == _MET)

    def clear(self) -> None:
        """Forget all numbers."""
        for keys in self._used:
            self._table[keys] = _ABSENT
        self._used.clear()


def sample_group(
    source: Source,
    seeds: Any,
    batch_size: int,
    fanouts: Sequence[int],
    keys: Sequence[int],
    first: int,
    numbers: Numbers,
    xp: Any,
    *,
    replace: bool,
) -> Group:
    """Sample the neighbourhoods of consecutive batches of seeds.

    In each hop, entries of the vertices first met in the hop before are drawn.

    Parameters
    ----------
    seeds : array of int
        Different within each batch of `batch_size`; the last batch may be shorter.
    keys : sequence of int
        Of the random numbers of each hop.
    first : int
        Number of the first batch.
    """
    n, batches = len(source.indptr) - 1, -(-len(seeds) // batch_size)
    places = xp.arange(len(seeds))
    batch = places // batch_size
    row, local = seeds.astype(xp.int64), places - batch * batch_size
    numbers.enter(batch * n + row, local)
    held = _counts_of(batch, batches, xp)
    nodes, edges = [_Hop((row,), batch, held)], []
    for k, key in zip(fanouts, keys, strict=True):
        found, entries = draw(source, row, k, key, xp, replace=replace, batches=batch + first)
        drawn = xp.flatnonzero(found >= 0)
        origin = drawn // k
        of_edge = batch[origin]
        met = of_edge * n + found[drawn]
        new = numbers.new_among(met)
        batch = new // n
        row = new - batch * n
        brought = _counts_of(batch, batches, xp)
        # The number in its batch: those before it among all, less those of earlier batches.
        shift = xp.asarray(held - (np.cumsum(brought) - brought))
        target = local[origin]
        local = xp.arange(len(new)) + shift[batch]
        numbers.enter(new, local)
        columns = (numbers.of(met), target, entries[drawn])
        edges.append(_Hop(columns, of_edge, _counts_of(of_edge, batches, xp)))
        nodes.append(_Hop((row,), batch, brought))
        held = held + brought
    numbers.clear()
    (n_id,), (sources, targets, e_id) = _laid_out(nodes, 1, xp), _laid_out(edges, 3, xp)
    return Group(
        n_id,
        xp.stack([sources, targets]),
        e_id,
        np.array([hop.counts for hop in nodes]),
        np.array([hop.counts for hop in edges]),
    )


def _counts_of(batch: Any, batches: int, xp: Any) -> NDArray[np.int64]:
    """Return how many items each batch has, of sorted batch numbers; waits for the device."""
    if batches == 1:
        return np.array([len(batch)])
    bounds = xp.searchsorted(batch, xp.arange(batches + 1))
    return np.diff(on_host(bounds)).astype(np.int64)


def _laid_out(hops: list[_Hop], columns: int, xp: Any) -> list[Any]:
    """Return columns in which the items of a batch stand together, those of each hop in turn."""
    counts = np.array([hop.counts for hop in hops])
    total = int(counts.sum())
    out = [xp.empty(total, xp.int64) for _ in range(columns)]
    # Where the items of (hop, batch) begin in the result, and in the arrays of the hop.
    ends = np.cumsum(counts.T.reshape(-1)).reshape(counts.T.shape).T
    begins = ends - counts
    own = np.cumsum(counts, axis=1) - counts
    for hop, shift in zip(hops, begins - own, strict=True):
        if counts.shape[1] == 1:
            start = int(shift[0])
            places: Any = slice(start, start + len(hop.batch))
        else:
            places = xp.arange(len(hop.batch)) + xp.asarray(shift)[hop.batch]
        for whole, part in zip(out, hop.columns, strict=True):
            whole[places] = part
    return out
