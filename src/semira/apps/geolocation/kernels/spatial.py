"""Locations of vertices from those of their neighbours; angles are in degrees."""

import numpy as np

from semira.kernels import helper, kernel, philox


@helper
def haversine(lat, lon, other_lat, other_lon):
    """Return the great-circle distance in km."""
    half = 0.008726646259971648  # pi / 360
    cosines = np.cos(2.0 * half * lat) * np.cos(2.0 * half * other_lat)
    sin_lat = np.sin(half * (other_lat - lat))
    sin_lon = np.sin(half * (other_lon - lon))
    square = sin_lat * sin_lat + cosines * sin_lon * sin_lon
    square = 1.0 if square > 1.0 else square  # noqa: FURB136 - the compiler has no min of floats
    return 2.0 * 6371.0 * np.arcsin(np.sqrt(square))


@helper
def closeness(dlat, dlon, cosines):
    """Return 1 / haversine distance in km, 0 at no distance.

    Sines and arc sines of small angles are their power series, to 14 digits.
    """
    half = 0.008726646259971648
    u, v = half * dlat * (half * dlat), half * dlon * (half * dlon)
    if u < 0.0025 and v < 0.0025:
        sin_u = u * (1.0 + u * (-1.0 / 3.0 + u * (2.0 / 45.0 + u * (-1.0 / 315.0))))
        sin_v = v * (1.0 + v * (-1.0 / 3.0 + v * (2.0 / 45.0 + v * (-1.0 / 315.0))))
        a = sin_u + cosines * sin_v
        if a == 0.0:
            return 0.0
        # The ratio of the square root of a and its arc sine.
        ratio = 1.0 + a * (
            -1.0 / 6.0
            + a * (-17.0 / 360.0 + a * (-367.0 / 15120.0 + a * (-27859.0 / 1814400.0
            + a * (-1295803.0 / 119750400.0))))
        )  # fmt: skip
        return ratio / (2.0 * 6371.0 * np.sqrt(a))
    sin_lat, sin_lon = np.sin(half * dlat), np.sin(half * dlon)
    a = sin_lat * sin_lat + cosines * sin_lon * sin_lon
    a = 1.0 if a > 1.0 else a  # noqa: FURB136
    return 1.0 / (2.0 * 6371.0 * np.arcsin(np.sqrt(a)))


@helper
def midpoint(near):
    """Return the middle of the great circle between two places."""
    degree = 0.017453292519943295
    lat, lon, other = near[0] * degree, near[1] * degree, near[3] * degree
    dlon = near[4] * degree - lon
    x, y = near[5] * np.cos(dlon), near[5] * np.sin(dlon)
    reach = np.sqrt((near[2] + x) * (near[2] + x) + y * y)
    middle = np.arctan2(np.sin(lat) + np.sin(other), reach)
    return middle / degree, (lon + np.arctan2(y, near[2] + x)) / degree


@helper
def median(near, known, tolerance, steps):
    """Return the spatial median: Weiszfeld's iteration as Vardi and Zhang corrected it."""
    lat, lon = 0.0, 0.0
    for k in range(known):
        lat += near[3 * k]
        lon += near[3 * k + 1]
    lat, lon = lat / known, lon / known
    for _ in range(steps):
        cosine = np.cos(0.017453292519943295 * lat)
        total, pull_lat, pull_lon, here = 0.0, 0.0, 0.0, 0
        for k in range(known):
            dlat, dlon = near[3 * k] - lat, near[3 * k + 1] - lon
            weight = closeness(dlat, dlon, cosine * near[3 * k + 2])
            if weight == 0.0:
                here += 1
            total += weight
            pull_lat += weight * dlat
            pull_lon += weight * dlon
        if here == known:
            break
        share = 1.0 / total
        if here > 0:
            size = np.sqrt(pull_lat * pull_lat + pull_lon * pull_lon)
            # Of what the others pull, as much as those that are here do not hold.
            share = 0.0 if size <= here else share * (1.0 - here / size)
        step_lat, step_lon = share * pull_lat, share * pull_lon
        lat += step_lat
        lon += step_lon
        if np.sqrt(step_lat * step_lat + step_lon * step_lon) < tolerance:
            break
    return lat, lon


@kernel
def begin(low, high, given_lat, given_lon, seed, hide, lat, lon, located, bad):
    """Copy what is known and not hidden; `located` is 0 there, else the largest number."""
    for v in range(low, high):
        x, y = given_lat[v], given_lon[v]
        is_known = not np.isnan(x)
        if is_known == np.isnan(y) or abs(x) > 90.0 or abs(y) > 180.0:
            bad[0] = 1
        if is_known and hide > 0.0:
            bits = np.int64(philox(0, v, 0, seed, 0) >> np.uint64(11))
            is_known = bits * 1.1102230246251565e-16 >= hide  # 2**-53
        lat[v] = x if is_known else np.nan
        lon[v] = y if is_known else np.nan
        located[v] = 0 if is_known else 2147483647


@kernel
def locate(
    low, high, is_listed, vertices, indptr, indices, now, tolerance, steps, lat, lon, located,
    level, walked, cap, waiting, left, lengths, near,  # noqa: ARG001 - some are for GPUs
):  # fmt: skip
    """Locate vertices by their neighbours that were located before `now`.

    What other workers write here is of `now`: nobody reads it. From `level` on, what GPUs need.
    """
    for i in range(low, high):
        v = vertices[i] if is_listed else i
        if located[v] < now:
            continue
        known = 0
        for p in range(indptr[v], indptr[v + 1]):
            u = indices[p]
            if located[u] < now:
                x, y = lat[u], lon[u]
                # The shorter way round from the first one.
                if known > 0 and y - near[1] > 180.0:
                    y -= 360.0
                elif known > 0 and y - near[1] < -180.0:
                    y += 360.0
                near[3 * known] = x
                near[3 * known + 1] = y
                near[3 * known + 2] = np.cos(0.017453292519943295 * x)
                known += 1
        if known > 0:
            x, y = near[0], near[1]
            if known == 2:
                x, y = midpoint(near)
            elif known > 2:
                x, y = median(near, known, tolerance, steps)
            if y > 180.0:
                y -= 360.0
            elif y < -180.0:
                y += 360.0
            lat[v] = x
            lon[v] = y
            located[v] = now


@kernel
def distances(low, high, vertices, true_lat, true_lon, lat, lon, out):
    """Measure how far locations are from the true ones; NaN if there is none."""
    for i in range(low, high):
        v = vertices[i]
        out[i] = haversine(true_lat[i], true_lon[i], lat[v], lon[v])
