"""Pictures of results, drawn with Matplotlib."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

#: How a legend stands above the right end of a panel.
ABOVE: dict[str, Any] = {
    "frameon": False, "loc": "lower right", "bbox_to_anchor": (1, 1), "borderpad": 0
}  # fmt: skip


@contextmanager
def picture(
    path: str, width: float, height: float, *, columns: int = 1, framed: bool = False
) -> Iterator[Any]:
    """Yield the panel of a new figure, or a list of several; the figure is written at the end.

    Equal figures make equal files, of a suffix that Matplotlib knows. Sizes are in inches; columns
    of panels stand side by side, with an upper and a right border if `framed`.
    """
    from matplotlib.figure import Figure

    figure = Figure((width, height), layout="constrained")
    panels = figure.subplots(1, columns, squeeze=False)[0].tolist()
    for panel in panels:
        panel.spines[["top", "right"]].set_visible(framed)
    yield panels[0] if columns == 1 else panels
    figure.savefig(path, metadata={"Date": None} if path.endswith(".svg") else None)


def thinned(places: Any, most: int) -> Any:
    """Return at most `most` of the places, evenly spaced: all of them, every second, third, ...

    Examples
    --------
    >>> thinned([1, 2, 3, 4, 5], 2)
    [1, 4]
    """
    return places[:: -(-len(places) // most) or 1]
