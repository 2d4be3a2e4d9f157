"""A picture of scan statistics: which vertices have more edges around them than others."""

from __future__ import annotations

from typing import Any

import numpy as np

from semira.apps.scan_statistics.result import LocalScan

#: Vertices that the picture shows; of more, every second, third, ...
_MOST = 100_000


def draw(result: LocalScan, A: Any, path: str) -> None:
    """Draw the statistic of each vertex over the number of its entries.

    Parameters
    ----------
    result : LocalScan
    A : Matrix
        Whose rows are the vertices.
    path : str
        A name that Matplotlib knows the suffix of.
    """
    from matplotlib.figure import Figure

    indptr = A.to_csr()[0]
    degrees, values = np.diff(indptr), result.values
    shown = np.flatnonzero((degrees > 0) & (values > 0))
    shown = shown[:: -(-len(shown) // _MOST) or 1]
    figure = Figure((6, 4), layout="constrained")
    panel = figure.subplots()
    panel.scatter(degrees[shown], values[shown], s=6, color="#0072b2")
    if result.vertex >= 0 and result.greatest > 0:
        panel.scatter(degrees[result.vertex], result.greatest, s=30, color="#d55e00")
        panel.set_title(f"greatest at vertex {result.vertex}: {result.greatest:,}", loc="left")
        panel.set(xscale="log", yscale="log")
    panel.set(xlabel="entries of the row", ylabel=f"edges within {result.k} steps")
    panel.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, metadata={"Date": None} if path.endswith(".svg") else None)
