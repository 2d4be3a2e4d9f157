"""A picture of a projection: how many neighbours vertices have, and how often weights occur."""

from __future__ import annotations

from typing import Any

import numpy as np

from semira.apps.pictures import picture
from semira.apps.projections.result import Projection


def draw(result: Projection, A: Any, path: str) -> None:
    """Draw the distribution of neighbours, and of weights if there are any."""
    del A
    table = result.columns()
    degrees = np.bincount(table["vertex"].astype(np.int64), minlength=result.matrix.nrows)
    shown = {"neighbours": degrees}
    if "weight" in table:
        shown[f"weight ({result.weight})"] = table["weight"].astype(np.float64)
    with picture(path, 7, 3.5, columns=len(shown)) as panels:
        for panel, (name, values) in zip(np.ravel(panels), shown.items(), strict=True):
            ordered = np.sort(values[np.isfinite(values) & (values > 0)])
            share = 1 - np.arange(len(ordered)) / max(len(ordered), 1)
            panel.loglog(ordered, share, color="#0072b2", drawstyle="steps-post")
            panel.set(xlabel=name, ylabel="share with as many or more")
