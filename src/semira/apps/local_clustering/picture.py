"""A picture of sweeps: conductance by the length of the prefix."""

from __future__ import annotations

from typing import Any

import numpy as np

from semira.apps.local_clustering.result import LocalClusters

#: Sweeps that have a colour of their own; more are drawn in grey.
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")

#: Sweeps that are drawn, those of least conductance.
_MOST = 200


def draw(result: LocalClusters, A: Any, path: str) -> None:
    """Draw the conductance of every prefix of each sweep, and mark the clusters.

    Parameters
    ----------
    result : LocalClusters
    A : Matrix
        Not read.
    path : str
        A name that Matplotlib knows the suffix of.
    """
    del A
    from matplotlib.figure import Figure

    figure = Figure((7, 4.5), layout="constrained")
    panel = figure.subplots()
    shown = np.argsort(result.conductance, kind="stable")[:_MOST].tolist()
    for place, number in enumerate(shown):
        profile = result.profile(number)
        profile = np.where(profile > 1, np.nan, profile)
        colour = _COLOURS[place] if len(shown) <= len(_COLOURS) else "#999999"
        sizes = np.arange(1, len(profile) + 1)
        panel.plot(sizes, profile, color=colour, lw=1.4 if len(shown) <= len(_COLOURS) else 0.5)
        if len(profile):
            size, least = int(np.asarray(result.sizes)[number]), result.conductance[number]
            panel.plot(
                [size], [least], "o", ms=5, color=colour, label=f"{size} vertices, {least:.3g}"
            )
    panel.set(xscale="log", yscale="log", xlabel="vertices in the prefix", ylabel="conductance")
    panel.set_title(f"{len(result):,} sweeps" if len(result) > 1 else "Sweep", loc="left")
    panel.spines[["top", "right"]].set_visible(False)
    if 0 < len(shown) <= len(_COLOURS):
        panel.legend(frameon=False, loc="lower right", bbox_to_anchor=(1, 1), ncols=3, borderpad=0)
    figure.savefig(path, metadata={"Date": None} if path.endswith(".svg") else None)
