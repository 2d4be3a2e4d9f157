"""Anomalies in a series of graphs: scan statistics beside those of the times before."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira.apps.scan_statistics.result import ScanSeries


def standardised(value: NDArray[np.float64], before: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return values less the mean before, over the standard deviation, but not over less than 1."""
    if len(before) == 0:
        return value
    deviation = before.std(0, ddof=1) if len(before) > 1 else np.ones_like(value)
    found: NDArray[np.float64] = (value - before.mean(0)) / np.maximum(deviation, 1)
    return found


def over_time(
    graphs: list[Any], scan: Any, tau: int, ell: int, locality: str, progress: Any
) -> ScanSeries:
    """Return the statistic of each time; `scan` counts edges of a graph near vertices of one."""
    times = len(graphs)
    greatest, statistic = np.full(times, np.nan), np.full(times, np.nan)
    vertices = np.full(times, -1)
    earlier: deque[NDArray[np.float64]] = deque(maxlen=tau or 1)
    for t, graph in enumerate(graphs):
        now = scan(graph, None)
        if t >= tau and len(now):
            past = list(earlier)[:tau] if tau else []
            if locality == "them":
                past = [scan(graph, graphs[s]) for s in range(t - tau, t)]
            local = standardised(now, np.array(past))
            vertices[t] = np.argmax(local)
            greatest[t] = local[vertices[t]]
        if t >= tau + ell:
            before = greatest[t - ell : t]
            statistic[t] = standardised(greatest[t : t + 1], before[:, None])[0]
        earlier.append(now)
        if progress is not None:
            progress(t + 1, times)
    return ScanSeries(statistic, greatest, vertices, locality, tau, ell)
