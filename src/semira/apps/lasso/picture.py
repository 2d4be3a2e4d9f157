"""Pictures of fits: two images where the graph is a grid, else values in order."""

from __future__ import annotations

from typing import Any

import numpy as np

from semira.apps.lasso.result import FusedLasso
from semira.apps.pictures import picture, thinned

#: Vertices that a curve shows.
_MOST = 20_000


def width_of(A: Any) -> int:
    """Return the columns of the grid that a graph is, row by row, with four neighbours; 0 if none.

    Examples
    --------
    >>> from semira import Matrix
    >>> width_of(Matrix.from_coo([0, 1, 3, 4, 0, 1, 2], [1, 2, 4, 5, 3, 4, 5], nrows=6, ncols=6))
    3
    """
    rows, cols = (part.astype(np.int64) for part in A.to_coo(values=False)[:2])
    low, high = np.minimum(rows, cols), np.maximum(rows, cols)
    edges = np.unique((low * A.nrows + high)[low < high])
    steps = edges % max(A.nrows, 1) - edges // max(A.nrows, 1)
    width = int(steps.max(initial=0))
    if width < 2 or A.nrows % width or not np.isin(steps, (1, width)).all():
        return 0
    height = A.nrows // width
    return width if len(edges) == height * (width - 1) + width * (height - 1) else 0


def draw(result: FusedLasso, A: Any, path: str) -> None:
    """Draw what was given and what was fitted.

    A grid whose vertices are pixels, row by row, is drawn as two heat maps.
    """
    table = result.columns()
    given, fitted = np.asarray(table["given"]), np.asarray(table["fitted"])
    told = f"{result.levels:,} levels, relative gap {result.relative_gap:.1e}"
    if width := width_of(A):
        with picture(path, 8, 4, columns=2) as panels:
            low, high = given.min(), given.max()
            for panel, name, values in zip(panels, ("given", told), (given, fitted), strict=True):
                shown = panel.imshow(
                    values.reshape(-1, width), vmin=low, vmax=high, cmap="viridis",
                    interpolation="nearest",
                )  # fmt: skip
                panel.set_title(name, loc="left")
                panel.set_axis_off()
            panels[0].figure.colorbar(shown, ax=panels, shrink=0.8)
        return
    order = thinned(np.argsort(fitted, kind="stable"), _MOST)
    place = np.arange(len(order))
    with picture(path, 7, 4.5) as panel:
        panel.plot(place, given[order], ".", ms=2, color="#999999", label="given")
        panel.plot(place, fitted[order], color="#0072b2", lw=1.4, label="fitted")
        panel.set(xlabel="vertices, by fitted value", ylabel="value")
        panel.set_title(told, loc="left")
        panel.legend(frameon=False)
