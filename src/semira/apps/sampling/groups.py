"""Groups of batches: sampled together, their vertices numbered anew, then laid out one by one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira.apps.arrays import on_host
from semira.apps.sampling.solve import Source, draw
from semira.kernels import ArrayKernel

_PLACE = "semira.apps.sampling.kernels:number"
_meet, _mark, _place, _look_up = (
    ArrayKernel(_PLACE, name) for name in ("meet", "mark", "place", "look_up")
)

#: What the table holds for a vertex that a batch has not met.
_ABSENT = -(2**31)

#: A table is cleared as a whole if it is not much longer than what is in it.
_CLEARED_AT_ONCE = 8


@dataclass(frozen=True, slots=True)
class Group:
    """Batches one after the other, in the memory of the device.

    Attributes
    ----------
    n_id : array of int64
        Vertices: of each batch its seeds, then those first met at each hop,
        in the order in which they were drawn.
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
    """Numbers of the vertices of each batch of a group.

    Parameters
    ----------
    n : int
        Vertices of the graph.
    batches : int
        Of a group, at most.
    """

    def __init__(self, n: int, batches: int, device: str, xp: Any) -> None:
        self._n, self._xp, self._device = n, xp, device
        self.table = xp.full(max(1, n * batches), _ABSENT, xp.int32)

    def hop(
        self, found: Any, entries: Any, k: int, batch: Any, local: Any, held: Any, bounds: Any
    ) -> tuple[_Hop, _Hop, Any]:
        """Give numbers to what the slots of a hop name.

        Parameters
        ----------
        found, entries : arrays, shape (rows * k,)
        batch, local : arrays of int64, shape (rows,)
            Batch and number of each row.
        held : ndarray of int64, shape (batches,)
            Vertices that each batch had before.
        bounds : ndarray of int64, shape (batches + 1,)
            Rows of each batch.

        Returns
        -------
        edges, vertices : _Hop
        local : array
            Numbers of the vertices.
        """
        xp, n, slots = self._xp, self._n, len(found)
        given: tuple[Any, ...] = (k, n, found)
        options: dict[str, Any] = {"device": self._device, "work": 4 * slots}
        _meet(slots, *given, batch, self.table, **options)
        marks = xp.zeros(slots + 1, xp.int64)
        _mark(slots, *given, batch, self.table, marks, **options)
        totals = xp.cumsum(marks)
        ends = on_host(totals[xp.asarray(bounds * k)])
        edges, brought = np.diff(ends & 0xFFFFFFFF), np.diff(ends >> 32)
        shift = xp.asarray(held - (np.cumsum(brought) - brought))
        drawn = xp.empty((4, int(edges.sum())), xp.int64)
        sources, targets, e_id, edge_batch = drawn
        vertices, new_batch, new_local = xp.empty((3, int(brought.sum())), xp.int64)
        made = (targets, e_id, edge_batch, vertices, new_batch, new_local)
        _place(slots, *given, entries, batch, local, shift, totals, self.table, *made, **options)
        _look_up(slots, *given, batch, totals, self.table, sources, **options)
        new = _Hop((vertices,), new_batch, brought)
        return _Hop((sources, targets, e_id), edge_batch, edges), new, new_local

    def clear(self, hops: list[_Hop]) -> None:
        """Forget the numbers of vertices."""
        if len(self.table) <= _CLEARED_AT_ONCE * sum(len(hop.batch) for hop in hops):
            self.table[...] = _ABSENT
            return
        for hop in hops:
            self.table[hop.batch * self._n + hop.columns[0]] = _ABSENT


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
    numbers.table[batch * n + row] = local
    held = np.minimum(batch_size, len(seeds) - batch_size * np.arange(batches))
    nodes, edges = [_Hop((row,), batch, held)], []
    for k, key in zip(fanouts, keys, strict=True):
        last = nodes[-1]
        bounds = np.concatenate([[0], np.cumsum(last.counts)])
        found, entries = draw(source, row, k, key, xp, replace=replace, batches=batch + first)
        given = (found, entries, k, batch, local, held, bounds)
        brought, new, local = numbers.hop(*given)
        edges.append(brought)
        nodes.append(new)
        (row,), batch, held = new.columns, new.batch, held + new.counts
    numbers.clear(nodes)
    (n_id,), (sources, targets, e_id) = _laid_out(nodes, 1, xp), _laid_out(edges, 3, xp)
    return Group(
        n_id,
        xp.stack([sources, targets]),
        e_id,
        np.array([hop.counts for hop in nodes]),
        np.array([hop.counts for hop in edges]),
    )


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
