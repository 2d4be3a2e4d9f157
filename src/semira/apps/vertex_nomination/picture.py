"""A picture of a nomination: how many vertices are within a distance."""

from __future__ import annotations

from typing import Any

import numpy as np

from semira.apps.pictures import picture
from semira.apps.vertex_nomination.result import Nomination

#: Rankings that the picture shows.
_MOST = 8


def draw(result: Nomination, A: Any, path: str) -> None:
    """Draw how many vertices each ranking has within a score."""
    del A
    with picture(path, 6, 4) as panel:
        for number in range(min(len(result), _MOST)):
            scores = result.scores(number)
            panel.step(scores, np.arange(1, len(scores) + 1), where="post", label=str(number))
        panel.set(xlabel="score", ylabel="vertices with it or less")
        if len(result) > 1:
            panel.legend(frameon=False, title="ranking")
