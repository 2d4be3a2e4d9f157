"""The entries of a matrix, its vertices ordered by community."""

from __future__ import annotations

from typing import Any

import numpy as np

from semira.apps.communities.result import Communities
from semira.apps.pictures import picture

#: Entries that a picture shows, of more a sample; communities with a frame.
_MOST, _FRAMED = 200_000, 100


def draw(result: Communities, A: Any, path: str) -> None:
    """Draw the entries within communities, and those between them, in two colours.

    Vertices are ordered by community, the largest first, so that communities are blocks on the
    diagonal.
    """
    from matplotlib.patches import Rectangle

    labels, sizes = result.host_labels, result.sizes
    by_size = np.argsort(-sizes, kind="stable")
    rank = np.empty_like(by_size)
    rank[by_size] = np.arange(len(by_size))
    place = np.empty(len(labels), np.int64)
    place[np.argsort(rank[labels], kind="stable")] = np.arange(len(labels))
    rows, columns, _ = A.to_coo(values=False)
    shown = np.arange(len(rows))
    if len(shown) > _MOST:
        shown = np.random.default_rng(0).choice(shown, _MOST, replace=False)
    i, j = rows[shown].astype(np.int64), columns[shown].astype(np.int64)
    within = labels[i] == labels[j]
    ends = np.cumsum(sizes[by_size])[:_FRAMED]
    with picture(path, 6, 6, framed=True) as panel:
        for name, chosen, colour in (
            ("between", ~within, "#bbbbbb"), ("within", within, "#0072b2")
        ):  # fmt: skip
            size = 9 if len(labels) < 200 else 1
            at = place[j[chosen]], place[i[chosen]]
            panel.scatter(*at, s=size, color=colour, label=name, linewidths=0)
        for end, size in zip(ends, sizes[by_size][:_FRAMED], strict=True):
            if size > len(labels) / 200:
                corner = end - size - 0.5, end - size - 0.5
                frame = Rectangle(
                    corner, size, size, fill=False, edgecolor="#d55e00", linewidth=0.8
                )
                panel.add_patch(frame)
        panel.set(xlim=(-0.5, len(labels) - 0.5), ylim=(len(labels) - 0.5, -0.5), aspect="equal")
        panel.set(xticks=[], yticks=[])
        panel.set_xlabel("vertices by community", loc="left")
        told = f"{result.num_communities:,} communities, modularity {result.modularity:.3f}"
        panel.set_title(told, loc="left")
        panel.legend(frameon=False, loc="upper right", bbox_to_anchor=(1, 0), ncols=2)
