"""A picture of sweeps: conductance by the length of the prefix."""

from __future__ import annotations

from typing import Any

import numpy as np

from semira.apps.local_clustering.result import LocalClusters
from semira.apps.pictures import ABOVE, picture

#: Sweeps that have a colour of their own; more are drawn in grey.
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")

#: Longer sweeps, and lower conductances, have logarithmic axes.
_LONG, _LOW = 100, 0.05

#: Sweeps that are drawn, those of least conductance.
_MOST = 200


def draw(result: LocalClusters, A: Any, path: str) -> None:
    """Draw the conductance of every prefix of each sweep, and mark the clusters."""
    del A
    shown = np.argsort(result.conductance, kind="stable")[:_MOST].tolist()
    are_few, longest = 0 < len(shown) <= len(_COLOURS), 0
    with picture(path, 7, 4.5) as panel:
        for place, number in enumerate(shown):
            profile = result.profile(number)
            profile = np.where(profile > 1, np.nan, profile)
            longest = max(longest, len(profile))
            colour = _COLOURS[place] if are_few else "#999999"
            sizes = np.arange(1, len(profile) + 1)
            panel.plot(sizes, profile, color=colour, lw=1.4 if are_few else 0.5)
            if len(profile):
                size, least = int(np.asarray(result.sizes)[number]), result.conductance[number]
                told = f"{size} vertices, {least:.3g}"
                panel.plot([size], [least], "o", ms=5, color=colour, label=told)
        panel.set(
            xscale="log" if longest > _LONG else "linear",
            yscale="log" if 0 < result.conductance[shown[0]] < _LOW else "linear",
            xlabel="vertices in the prefix", ylabel="conductance",
        )  # fmt: skip
        panel.set_title(f"{len(result):,} sweeps" if len(result) > 1 else "Sweep", loc="left")
        if are_few:
            panel.legend(ncols=3, **ABOVE)
