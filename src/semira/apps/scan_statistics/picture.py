"""A picture of scan statistics: which vertices have more edges around them than others."""

from __future__ import annotations

from typing import Any

import numpy as np

from semira.apps.pictures import picture, thinned
from semira.apps.scan_statistics.result import LocalScan

#: Vertices that the picture shows.
_MOST = 100_000


def draw(result: LocalScan, A: Any, path: str) -> None:
    """Draw the statistic of each vertex, a row of A, over the number of its entries."""
    degrees, values = np.diff(A.to_csr()[0]), result.values
    shown = thinned(np.flatnonzero((degrees > 0) & (values > 0)), _MOST)
    with picture(path, 6, 4) as panel:
        panel.scatter(degrees[shown], values[shown], s=6, color="#0072b2")
        if result.vertex >= 0 and result.greatest > 0:
            panel.scatter(degrees[result.vertex], result.greatest, s=30, color="#d55e00")
            panel.set_title(f"greatest at vertex {result.vertex}: {result.greatest:,}", loc="left")
            panel.set(xscale="log", yscale="log")
        panel.set(xlabel="entries of the row", ylabel=f"edges within {result.k} steps")
