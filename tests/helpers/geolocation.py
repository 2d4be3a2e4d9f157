"""Geolocation as the HIVE report states it, one vertex after the other, for comparison."""

import math

import numpy as np

#: The sample of the report on chesapeake: vertices from 1, latitudes, longitudes.
SAMPLE = (
    (1, 37.7449063493, -122.009432884), (2, 37.8668048274, -122.257973253),
    (4, 37.869112506, -122.25910604), (6, 37.6431858915, -121.816156983),
    (11, 37.8652346572, -122.250634008), (19, 38.2043433677, -114.300341275),
    (21, 36.7582225593, -118.167916598), (22, 33.9774659389, -114.886512278),
    (30, 39.2598884729, -106.804662071), (31, 37.880443573, -122.230147039),
    (39, 9.4276164485, -110.640705659),
)  # fmt: skip


def sample() -> tuple[np.ndarray, np.ndarray]:
    """Return latitudes and longitudes of the sample, NaN if unknown."""
    lat, lon = np.full(39, np.nan), np.full(39, np.nan)
    for vertex, x, y in SAMPLE:
        lat[vertex - 1], lon[vertex - 1] = x, y
    return lat, lon


def haversine(p, q):
    """Return the distance in km."""
    (lat1, lon1), (lat2, lon2) = map(math.radians, p), map(math.radians, q)
    a = math.sin((lat2 - lat1) / 2) ** 2
    a += math.cos(lat1) * math.cos(lat2) * math.sin((lon2 - lon1) / 2) ** 2
    return 2 * 6371 * math.asin(math.sqrt(min(1.0, a)))


def midpoint(p, q):
    """Return the middle of the great circle."""
    (lat1, lon1), (lat2, lon2) = map(math.radians, p), map(math.radians, q)
    x, y = math.cos(lat2) * math.cos(lon2 - lon1), math.cos(lat2) * math.sin(lon2 - lon1)
    reach = math.hypot(math.cos(lat1) + x, y)
    lat = math.atan2(math.sin(lat1) + math.sin(lat2), reach)
    return np.degrees([lat, lon1 + math.atan2(y, math.cos(lat1) + x)])


def median(points, steps, tolerance):
    """Return the spatial median by Weiszfeld, Vardi and Zhang."""
    points = np.array(points)
    y = points.mean(0)
    for _ in range(steps):
        distances = np.array([haversine(p, y) for p in points])
        near = distances == 0
        weights = np.where(near, 0, 1 / np.where(near, 1, distances))
        if near.all():
            return y
        total = weights.sum()
        moved = (weights[:, None] / total * points).sum(0)
        if near.any():
            r = np.linalg.norm((moved - y) * total)
            g = near.sum() / r if r else 1.0
            moved = max(0.0, 1 - g) * moved + min(1.0, g) * y
        if np.linalg.norm(moved - y) < tolerance:
            return moved
        y = moved
    return y


def geolocate(neighbours, lat, lon, iterations=10, steps=1000, tolerance=1e-3):
    """Return latitudes, longitudes and iterations; -1 where there is none."""
    lat, lon = lat.copy(), lon.copy()
    located = np.where(np.isnan(lat), -1, 0)
    for now in range(1, iterations + 1):
        before_lat, before_lon = lat.copy(), lon.copy()
        for v in np.flatnonzero(np.isnan(before_lat)):
            known = [u for u in neighbours[v] if not np.isnan(before_lat[u])]
            points = [[before_lat[u], before_lon[u]] for u in known]
            for point in points:
                point[1] += 360 * round((points[0][1] - point[1]) / 360)
            if not points:
                continue
            if len(points) == 1:
                place = points[0]
            elif len(points) == 2:
                place = midpoint(*points)
            else:
                place = median(points, steps, tolerance)
            lat[v], lon[v] = place[0], (place[1] + 180) % 360 - 180
            located[v] = now
        if not (located == now).any():
            break
    return lat, lon, located
