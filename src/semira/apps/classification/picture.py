"""A picture of probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np

from semira.apps.classification.result import Classification
from semira.apps.pictures import picture

#: Vertices that are shown for each vertex of the pattern.
_BEST = 10


def draw(result: Classification, A: Any, path: str) -> None:
    """Draw the probabilities of the most likely vertices for each vertex of the pattern."""
    del A
    top = result.top(min(_BEST, len(result.scores))).T
    chances = np.take_along_axis(result.probabilities, top, axis=0)
    ranks, count = top.shape
    with picture(path, 1.5 + 0.7 * count, 1.2 + 0.35 * ranks, framed=True) as panel:
        image = panel.imshow(chances, cmap="Blues", vmin=0, vmax=1, aspect="auto")
        for (i, j), vertex in np.ndenumerate(top):
            colour = "white" if chances[i, j] > 0.6 else "black"
            panel.text(j, i, str(vertex), ha="center", va="center", fontsize=8, color=colour)
        panel.set(xlabel="vertex of the pattern", ylabel="rank", xticks=range(count))
        panel.set_yticks(range(ranks), [str(rank + 1) for rank in range(ranks)])
        panel.set_title("most likely vertices", loc="left")
        panel.figure.colorbar(image, label="probability")
