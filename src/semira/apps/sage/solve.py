"""Two hops of GraphSAGE: gathers by kernels, products by the array library."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from semira import free_memory
from semira.apps.arrays import check_room, on_host
from semira.apps.sage.problem import MODES, Network
from semira.apps.sampling.solve import Source, draw_or_stay
from semira.exceptions import DimensionMismatch, InvalidValue
from semira.kernels import ArrayKernel

_PLACE = "semira.apps.sage.kernels:gather"
_pool = ArrayKernel(_PLACE, "pool", lanes=16)
_pool_halves = ArrayKernel(_PLACE, "pool_halves", lanes=16)
_join = ArrayKernel(_PLACE, "join", lanes=32)

#: Rows of float16 that are multiplied at once.
_ROWS = 1 << 16

#: Share of the free memory that tables of products may take.
_TABLES = 0.5


def batch_bytes(network: Network, children: int, leaves: int, batch: int) -> int:
    """Return the bytes that a batch takes."""
    each = network.X.shape[1] + network.Wa1.shape[1] + 1 + leaves
    if callable(network.aggregator):
        each += leaves * network.X.shape[1] + network.hidden
    return 4 * batch * int(children * each + 3 * network.hidden + 2 * network.width)


class Embedding:
    """The tables that all batches read, and the steps of a batch.

    With `tables` there is room for X Wf1 of all vertices, and X Wa1 if that is gathered.
    """

    def __init__(self, network: Network, device: str, xp: Any, *, tables: bool) -> None:
        self._network, self._device, self._xp = network, device, xp
        self._mode = -1 if callable(network.aggregator) else MODES[str(network.aggregator)]
        self._own = _times(network.X, network.Wf1, xp) if tables else None
        # A mean of products is the product of the mean: the narrower rows are gathered.
        linear = self._mode > 0 and network.is_narrow
        self._others = _times(network.X, network.Wa1, xp) if tables and linear else None
        # What each word of float16 stands for.
        words = np.arange(1 << 16, dtype=np.uint16)
        is_half = network.X.dtype == np.float16
        self._halves = xp.asarray(words.view(np.float16), np.float32) if is_half else None

    def batch(self, sources: Any, children: Any, leaves: Any, out: Any) -> None:
        """Write the embeddings of `sources`; samples are flat lists."""
        xp, network = self._xp, self._network
        size = len(sources)
        wide = len(children) // max(1, size)
        deep = len(leaves) // max(1, len(children))
        own, places = self._firsts(children)
        others = self._neighbours(leaves, deep)
        if self._mode < 0:
            hidden = self._joined(places, own, others, 1, 1).reshape(size, wide, -1)
            around = self._called(hidden)
        else:
            around = self._joined(places, own, others, wide, self._mode)
        own, places = self._firsts(sources)
        mine = self._joined(places, own, self._neighbours(children, wide), 1, 1)
        left, right = mine @ network.Wf2, self._product(around, network.Wa2, "Wa2")
        self._joined(xp.arange(size, dtype=xp.int32), left, right, 1, 1, out)

    def _firsts(self, vertices: Any) -> tuple[Any, Any]:
        """Return rows of X Wf1, and which of them belong to `vertices`."""
        if self._own is not None:
            return self._own, vertices
        xp = self._xp
        own = _times(self._network.X[vertices], self._network.Wf1, xp)
        return own, xp.arange(len(vertices))

    def _neighbours(self, samples: Any, k: int) -> Any:
        """Return aggregate(X[samples]) Wa1, of k samples each."""
        network = self._network
        if self._mode < 0:
            gathered = network.X[samples].astype(np.float32, copy=False)
            gathered = gathered.reshape(-1, k, network.X.shape[1])
            return self._product(self._called(gathered), network.Wa1, "Wa1")
        if self._others is not None:
            return self._pooled(samples, k, self._others)
        return self._pooled(samples, k, network.X) @ network.Wa1

    def _pooled(self, samples: Any, k: int, table: Any) -> Any:
        items, width = len(samples) // k, table.shape[1]
        out = self._xp.empty((items, width), self._xp.float32)
        rows, work = (k, width, self._mode, samples), items * k * width // 4
        if table.dtype == np.float16:
            given = table.view(np.uint16).reshape(-1), self._halves, out.reshape(-1)
            _pool_halves(items, *rows, *given, device=self._device, work=work)
        else:
            _pool(items, *rows, table.reshape(-1), out.reshape(-1), device=self._device, work=work)
        return out

    def _joined(self, places: Any, own: Any, other: Any, k: int, mode: int, out: Any = None) -> Any:
        items, widths = len(places) // k, (own.shape[1], other.shape[1])
        if out is None:
            out = self._xp.empty((items, sum(widths)), self._xp.float32)
        given = (k, *widths, mode, places, own.reshape(-1), other.reshape(-1), out.reshape(-1))
        _join(items, *given, device=self._device, work=items * k * sum(widths) // 4)
        return out

    def _called(self, gathered: Any) -> Any:
        found = self._network.aggregator(gathered)  # type: ignore[operator]
        if getattr(found, "ndim", 0) != 2 or len(found) != len(gathered):
            raise InvalidValue(
                f"the aggregator made {getattr(found, 'shape', type(found).__name__)} of "
                f"{gathered.shape}: it must return ({len(gathered)}, columns)"
            )
        return self._xp.asarray(found, self._xp.float32)

    def _product(self, left: Any, right: Any, name: str) -> Any:
        if left.shape[1] != right.shape[0]:
            raise DimensionMismatch(
                f"{name} has {right.shape[0]} rows; the aggregator made {left.shape[1]} columns"
            )
        return self._xp.ascontiguousarray(left @ right)


def _times(rows: Any, weights: Any, xp: Any) -> Any:
    """Return the product in float32; rows of float16 are widened some at a time."""
    if rows.dtype == np.float32:
        return rows @ weights
    out = xp.empty((len(rows), weights.shape[1]), np.float32)
    for first in range(0, len(rows), _ROWS):
        part = rows[first : first + _ROWS].astype(np.float32)
        out[first : first + _ROWS] = part @ weights
    return out


def embed(
    network: Network,
    source: Source,
    samples: tuple[Any, Any] | None,
    children: int,
    leaves: int,
    batch: int,
    keys: list[int],
    xp: Any,
    progress: Callable[[int, int], None] | None,
) -> Any:
    """Return the embeddings of all vertices."""
    n, device = len(network.X), source.device
    tables, out = _rooms(network, n, batch_bytes(network, children, leaves, batch), device, xp)
    made = Embedding(network, device, xp, tables=tables)
    vertices = xp.arange(n, dtype=source.indices.dtype)
    for first in range(0, n, batch):
        own = vertices[first : first + batch]
        if samples is None:
            near = draw_or_stay(source, own, children, keys[0], xp, first=first)
            far = draw_or_stay(source, near, leaves, keys[1], xp, first=first * children)
        else:
            near, far = (part[first : first + batch].reshape(-1) for part in samples)
        place = out[first : first + batch]
        if isinstance(place, xp.ndarray):
            made.batch(own, near, far, place)
        else:
            kept = xp.empty(place.shape, xp.float32)
            made.batch(own, near, far, kept)
            place[...] = on_host(kept)
        if progress is not None:
            progress(min(n, first + batch), n)
    return out


def _rooms(network: Network, n: int, needed: int, device: str, xp: Any) -> tuple[bool, Any]:
    """Return whether tables of products fit, and an array for the result, maybe on the host."""
    result, products = 4 * n * network.width, 4 * n * network.Wf1.shape[1]
    if network.is_narrow:
        products += 4 * n * network.Wa1.shape[1]
    shape = n, network.width
    if result + products + needed < 2**28:
        return True, xp.empty(shape, xp.float32)
    free = free_memory(device)
    room = needed + result + products if free is None else free
    what = "sage_embedding: a batch"
    if device == "cuda" and result + needed > room * _TABLES:
        check_room(needed, device, what, "pass a smaller batch")
        check_room(result, "cpu", "sage_embedding: the result", "pass fewer output columns")
        return needed + products < room, np.empty(shape, np.float32)
    check_room(needed + result, device, what, "pass a smaller batch")
    return needed + result + products < room, xp.empty(shape, xp.float32)
