"""A map of locations."""

from __future__ import annotations

from typing import Any

import numpy as np

from semira.apps.geolocation.result import Locations
from semira.apps.pictures import ABOVE, picture, thinned

#: Vertices that a map shows.
_MOST = 100_000


def draw(result: Locations, A: Any, path: str) -> None:
    """Draw the locations that were given and those that were found."""
    del A
    lat, lon = result.to_arrays()
    iteration: Any = result.columns()["iteration"]
    with picture(path, 7, 4.5) as panel:
        for name, chosen, colour, size in (
            ("given", iteration == 0, "#0072b2", 9), ("found", iteration > 0, "#d55e00", 5)
        ):  # fmt: skip
            at = thinned(np.flatnonzero(chosen), _MOST)
            s = size if len(at) < 2000 else 1
            panel.scatter(lon[at], lat[at], s=s, color=colour, label=name)
        error = result.median_error_km
        told = "" if error is None else f"; median error of what was hidden {error:,.1f} km"
        panel.set_title(f"{np.count_nonzero(iteration >= 0):,} locations{told}", loc="left")
        panel.set(xlabel="longitude in degrees", ylabel="latitude in degrees")
        panel.legend(ncols=2, **ABOVE)
