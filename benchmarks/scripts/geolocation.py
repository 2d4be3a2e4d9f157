"""Geolocation of a geometric graph with true positions, beside the same in NumPy.

Half of the positions are known, a fifth of these is hidden; the graph has 6.9 neighbours a vertex,
as one of 24 M vertices and 83 M edges. Every device that is named gives its least seconds of some
calls, the median error, and the worst difference from the first device.

    python -m benchmarks.scripts.geolocation 1e6 --device cpu --numpy
"""

from __future__ import annotations

import argparse
import math
import time
from typing import Any

import numpy as np

import semira as gb
from semira.generators import generate_geometric, geometric_points

_DEGREE, _CALLS = 6.917, 5


def case(n: int, seed: int = 0) -> tuple[Any, np.ndarray, np.ndarray]:
    """Return the edges, and latitudes and longitudes, half of them NaN."""
    radius = math.sqrt(_DEGREE / (math.pi * n))
    x, y = geometric_points(n, radius, seed=seed)
    is_known = np.random.default_rng(seed + 1).random(n) < 0.5
    lat, lon = (np.where(is_known, each, np.nan) for each in (120 * y - 60, 360 * x - 180))
    return generate_geometric(n, radius, seed=seed), lat, lon


def by_numpy(
    indptr: np.ndarray, indices: np.ndarray, lat: np.ndarray, lon: np.ndarray, iterations: int = 10
) -> tuple[np.ndarray, np.ndarray]:
    """Locate in whole arrays; no neighbours lie across the date line of this graph."""
    lat, lon = lat.copy(), lon.copy()
    for _ in range(iterations):
        known = ~np.isnan(lat)
        rows = np.repeat(np.arange(len(lat)), np.diff(indptr))
        kept = known[indices] & ~known[rows]
        rows, cols = rows[kept], indices[kept]
        if not len(rows):
            break
        vertices, starts, counts = np.unique(rows, return_index=True, return_counts=True)
        places = np.column_stack([lat[cols], lon[cols]])
        found = np.add.reduceat(places, starts) / counts[:, None]
        pairs = counts == 2
        found[pairs] = _midpoints(places[starts[pairs]], places[starts[pairs] + 1])
        many = np.flatnonzero(counts > 2)
        found[many] = _medians(places, starts[many], counts[many], found[many])
        lat[vertices], lon[vertices] = found.T
    return lat, lon


def _midpoints(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    (lat1, lon1), (lat2, lon2) = np.radians(p).T, np.radians(q).T
    x, y = np.cos(lat2) * np.cos(lon2 - lon1), np.cos(lat2) * np.sin(lon2 - lon1)
    lat = np.arctan2(np.sin(lat1) + np.sin(lat2), np.hypot(np.cos(lat1) + x, y))
    return np.degrees(np.column_stack([lat, lon1 + np.arctan2(y, np.cos(lat1) + x)]))


def _medians(
    places: np.ndarray, starts: np.ndarray, counts: np.ndarray, found: np.ndarray
) -> np.ndarray:
    active = np.arange(len(starts))
    for _ in range(1000):
        if not len(active):
            break
        count = counts[active]
        first = np.cumsum(count) - count
        owner = np.repeat(np.arange(len(active)), count)
        at = np.arange(len(owner)) - first[owner] + starts[active][owner]
        x, y = places[at], found[active][owner]
        (lat1, lon1), (lat2, lon2) = np.radians(x).T, np.radians(y).T
        a = np.sin((lat2 - lat1) / 2) ** 2
        a += np.cos(lat1) * np.cos(lat2) * np.sin((lon2 - lon1) / 2) ** 2
        distance = 2 * 6371 * np.arcsin(np.sqrt(a))
        weight = np.divide(1, distance, out=np.zeros_like(distance), where=distance > 0)
        total = np.add.reduceat(weight, first)
        pull = np.add.reduceat(weight[:, None] * (x - y), first)
        here = count - np.add.reduceat((weight > 0).astype(int), first)
        size = np.hypot(*pull.T)
        held = np.divide(here, size, out=np.ones(len(size)), where=size > 0)
        share = np.where(here > 0, np.maximum(0, 1 - held), 1) / np.where(total > 0, total, 1)
        step = share[:, None] * pull
        found[active] += step
        active = active[np.hypot(*step.T) >= 1e-3]
    return found


def main() -> None:
    """Print a line for each device."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("vertices", type=float)
    parser.add_argument("--device", action="append", default=[])
    parser.add_argument("--numpy", action="store_true")
    asked = parser.parse_args()
    edges, lat, lon = case(int(asked.vertices))
    print(f"{edges.nrows:,} vertices, {edges.nnz:,} entries")
    first = None
    for device in asked.device or ["cpu"]:
        with gb.device(device):
            graph = gb.io.from_edges(edges)
        times, found = [], None
        for _ in range(_CALLS):
            start_s = time.perf_counter()
            found = gb.apps.geolocate(graph, lat, lon, hide=0.2)
            found.located  # noqa: B018 - the result is there
            times.append(time.perf_counter() - start_s)
        assert found is not None
        print(f"{device}: {min(times):.4f} s, {found.facts()}")
        places = np.column_stack(found.to_arrays())
        first = places if first is None else first
        print(f"  worst difference {np.nanmax(np.abs(places - first)):.1e} degrees")
        if asked.numpy:
            shown = np.isin(np.arange(len(lat)), found.hidden, invert=True)
            given = (np.where(shown, each, np.nan) for each in (lat, lon))
            indptr, indices, _ = graph.to_csr()
            start_s = time.perf_counter()
            other = np.column_stack(by_numpy(indptr.astype(int), indices.astype(int), *given))
            print(f"numpy: {time.perf_counter() - start_s:.4f} s")
            print(f"  worst difference {np.nanmax(np.abs(places - other)):.1e} degrees")


if __name__ == "__main__":
    main()
