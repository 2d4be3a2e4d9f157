"""Sweeps: entries in order, and the prefix of least conductance of each problem."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira.apps.arrays import on_host
from semira.apps.local_clustering.solve import Diffusion, copy_entries
from semira.kernels import ArrayKernel, Rows

_PLACE = "semira.apps.local_clustering.kernels:sweep"
_ORDER = ArrayKernel(_PLACE, "order", lanes=512, threads=512)
_SWEEP = ArrayKernel(_PLACE, "sweep", lanes=512, threads=512)
_EARLIER = ArrayKernel("semira.apps.local_clustering.kernels:whole", "earlier", lanes=32)

#: Entries that a worker sorts; more take the whole device.
MOST_ROOM = 1 << 18

#: Most bytes of scratch of a launch.
_BYTES = 4 << 30


@dataclass(frozen=True, slots=True)
class Sweep:
    """The best prefixes, and the conductance of each prefix."""

    #: Array of the device, float64.
    profile: Any
    #: `sizes`, `volumes`, `cuts`, `cuts_again`: ndarray of int64.
    sizes: NDArray[np.int64]
    volumes: NDArray[np.int64]
    cuts: NDArray[np.int64]
    cuts_again: NDArray[np.int64]


class Sweeper:
    """Orders and sweeps the diffusions of one graph."""

    def __init__(self, found: Diffusion, rows: Rows, device: str, xp: Any) -> None:
        self.found, self.rows, self.device, self.xp = found, rows, device, xp
        self.sizes = np.diff(found.ptr)
        self.ptr = xp.asarray(found.ptr)

    def groups(self, entry_bytes: int) -> list[tuple[int, int, int]]:
        """Return ranges of problems for one launch each, with the room that each needs.

        Problems with more than `MOST_ROOM` entries stand alone.
        """
        made: list[tuple[int, int, int]] = []
        low, room = 0, 1
        for at, size in enumerate(self.sizes.tolist()):
            needed = 1 << max(size - 1, 0).bit_length()
            wider = max(room, needed)
            if at > low and (needed > MOST_ROOM or (at + 1 - low) * wider * entry_bytes > _BYTES):
                made.append((low, at, room))
                low, wider = at, needed
            room = wider
            if room > MOST_ROOM:
                made.append((low, at + 1, room))
                low, room = at + 1, 1
        if low < len(self.sizes):
            made.append((low, len(self.sizes), room))
        return made

    def ordered(self, by_degree: bool) -> tuple[Any, Any]:
        """Return vertices and values of each problem in falling order, ties by vertex."""
        xp, found = self.xp, self.found
        vertices, values = xp.empty_like(found.vertices), xp.empty_like(found.values)
        for low, high, room in self.groups(32):
            if room > MOST_ROOM:
                part = slice(int(found.ptr[low]), int(found.ptr[high]))
                vertices[part], values[part] = self._sorted(part, by_degree)
                continue
            _ORDER(
                high - low, self.ptr[low : high + 1], found.vertices, found.values,
                self.rows.indptr, by_degree, room, vertices, values, device=self.device,
                scratch=[("float64", 2 * room, None), ("int64", 2 * room, None)],
                work=8 * int(found.ptr[high] - found.ptr[low]),
            )  # fmt: skip
        return vertices, values

    def top(self, k: int) -> tuple[Any, Any]:
        """Return the `k` vertices of greatest value of each problem, and their values, in rows."""
        xp, count = self.xp, len(self.sizes)
        ordered = self.ordered(by_degree=False)
        vertices, values = xp.full(count * k, -1, xp.int32), xp.zeros(count * k)
        copy_entries(
            xp, self.device, self.found.ptr[:-1], np.minimum(self.sizes, k), np.arange(count) * k,
            ordered, (vertices, values),
        )  # fmt: skip
        return vertices.reshape(count, k), values.reshape(count, k)

    def _sorted(self, part: slice, by_degree: bool) -> tuple[Any, Any]:
        xp = self.xp
        vertices, keys = self.found.vertices[part], self.found.values[part]
        if by_degree:
            indptr = self.rows.indptr
            keys = keys / (indptr[vertices + 1] - indptr[vertices]).astype(xp.float64)
        places = xp.argsort(vertices)
        places = places[xp.argsort(-keys[places], kind="stable")]
        return vertices[places], self.found.values[part][places]

    def swept(self, vertices: Any) -> Sweep:
        """Return the sweep of ordered vertices."""
        xp, ptr = self.xp, self.found.ptr
        profile = xp.empty(len(vertices))
        facts = xp.empty((len(self.sizes), 4), xp.int64)
        total = len(self.rows.indices)
        for low, high, room in self.groups(36):
            if room > MOST_ROOM:
                part = slice(int(ptr[low]), int(ptr[high]))
                profile[part], facts[low] = self._swept_everywhere(vertices[part], total)
                continue
            _SWEEP(
                high - low, self.ptr[low : high + 1], vertices, self.rows.indptr,
                self.rows.indices, total, profile, facts[low:high].ravel(), device=self.device,
                scratch=[("int64", 4 * room, None), ("int32", room, None)],
                work=16 * int(ptr[high] - ptr[low]),
            )  # fmt: skip
        told = on_host(facts)
        return Sweep(profile, told[:, 0], told[:, 1], told[:, 2], told[:, 3])

    def _swept_everywhere(self, vertices: Any, total: int) -> tuple[Any, Any]:
        xp, rows, size = self.xp, self.rows, len(vertices)
        rank = xp.full(rows.shape[0], rows.shape[0], xp.int64)
        rank[vertices] = xp.arange(size)
        degrees = (rows.indptr[vertices + 1] - rows.indptr[vertices]).astype(xp.int64)
        inner = xp.empty(size, xp.int64)

        def count(first: int, bound: int) -> Any:
            _EARLIER(
                first, vertices, rows.indptr, rows.indices, rank, bound, inner,
                device=self.device, work=total,
            )  # fmt: skip
            return inner[:first]

        volumes = xp.cumsum(degrees)
        cuts = xp.cumsum(degrees - 2 * count(size, 0))
        others = total - volumes
        # All vertices are cut off from nothing.
        profile = xp.where(others > 0, cuts / xp.maximum(xp.minimum(volumes, others), 1), 2.0)
        best = int(profile.argmin())
        volume, cut = int(volumes[best]), int(cuts[best])
        inside = int(count(best + 1, best + 1).sum())
        return profile, xp.asarray([best + 1, volume, cut, volume - inside])
