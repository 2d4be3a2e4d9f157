"""A map of locations."""

from __future__ import annotations

from typing import Any

import numpy as np

from semira.apps.geolocation.result import Locations

#: Vertices that a map shows; of more, every second, third, ...
_MOST = 100_000


def draw(result: Locations, A: Any, path: str) -> None:
    """Draw the locations that were given and those that were found.

    Parameters
    ----------
    result : Locations
    A : Matrix
        Not read.
    path : str
        A name that Matplotlib knows the suffix of.
    """
    del A
    from matplotlib.figure import Figure

    lat, lon = result.to_arrays()
    iteration: Any = result.columns()["iteration"]
    figure = Figure((7, 4.5), layout="constrained")
    panel = figure.subplots()
    for name, chosen, colour, size in (
        ("given", iteration == 0, "#0072b2", 9), ("found", iteration > 0, "#d55e00", 5)
    ):  # fmt: skip
        at = np.flatnonzero(chosen)
        at = at[:: -(-len(at) // _MOST) or 1]
        panel.scatter(lon[at], lat[at], s=size if len(at) < 2000 else 1, color=colour, label=name)
    error = result.median_error_km
    told = "" if error is None else f"; median error of what was hidden {error:,.1f} km"
    panel.set_title(f"{np.count_nonzero(iteration >= 0):,} locations{told}", loc="left")
    panel.set(xlabel="longitude in degrees", ylabel="latitude in degrees")
    panel.spines[["top", "right"]].set_visible(False)
    panel.legend(frameon=False, loc="lower right", bbox_to_anchor=(1, 1), ncols=2, borderpad=0)
    figure.savefig(path, metadata={"Date": None} if path.endswith(".svg") else None)
