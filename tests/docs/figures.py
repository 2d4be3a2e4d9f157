"""Figures of ``docs/textbook-bfs.md``: who works on what while one level of a search is made.

``python -m tests.docs.figures`` writes them to ``docs/assets``, and draws the pictures of records
that are stale (these need Matplotlib); a test fails while a file differs, or is of other records.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from benchmarks.plots import plot_records, stamp_of
from tests.docs.stored import read_records

from semira.bench.record import Record

ROOT = Path(__file__).resolve().parents[2]
ASSETS, RESULTS = ROOT / "docs" / "assets", ROOT / "bench" / "results"

#: Edges of the graph that all figures show, in row order; place and level of each vertex.
EDGES = (
    (0, 1), (0, 2), (1, 3), (1, 4), (2, 0), (2, 4), (3, 5), (4, 1), (4, 6), (5, 7), (6, 7), (7, 3),
)  # fmt: skip
PLACES = ((24, 75), (84, 35), (84, 115), (154, 35), (154, 115), (224, 35), (224, 115), (284, 75))
LEVELS = (0, 1, 1, 2, 2, 3, 3, 4)

#: The figures show how level `LEVEL` + 1 is made.
LEVEL = 1

INK, PALE, GREEN = "#37474f", "#b0bec5", "#00897b"
_FILLS = {0: "#cfd8dc", 1: "#90a4ae", 2: GREEN}
_HEAD = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 {height}" width="640" '
    'height="{height}" font-family="sans-serif" font-size="12">'
    '<rect width="640" height="{height}" fill="white"/>'
    '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" markerHeight="6" '
    'orient="auto-start-reverse"><path d="M0 0L8 4L0 8z" fill="{ink}"/></marker></defs>'
)


def text(x: float, y: float, words: str, *, anchor: str = "start", fill: str = INK) -> str:
    """Return words."""
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" fill="{fill}">{words}</text>'


def arrow(x: float, y: float, to_x: float, to_y: float, *, looked_at: bool = True) -> str:
    """Return an arrow; pale if nobody looks at what it stands for."""
    style = f'stroke="{INK}" stroke-width="1.8"' if looked_at else f'stroke="{PALE}"'
    return (
        f'<line x1="{x:.0f}" y1="{y:.0f}" x2="{to_x:.0f}" y2="{to_y:.0f}" {style} '
        'marker-end="url(#tip)"/>'
    )


def box(x: float, y: float, words: str, *, works: bool = True, width: int = 30) -> str:
    """Return a worker or a place of a list; hollow and pale if it has nothing to do."""
    fill, ink = (GREEN, "white") if works else ("white", INK)
    border = INK if works else PALE
    return (
        f'<rect x="{x:g}" y="{y:g}" width="{width}" height="20" rx="3" fill="{fill}" '
        f'stroke="{border}"/>' + text(x + width / 2, y + 14, words, anchor="middle", fill=ink)
    )


def graph(looked_at: set[tuple[int, int]]) -> str:
    """Return the graph before the step ends, and the edges that somebody looks at."""
    parts = []
    for source, target in EDGES:
        (x, y), (to_x, to_y) = PLACES[source], PLACES[target]
        # Edges there and back lie beside each other.
        shift = 4 if (target, source) in EDGES else 0
        length = ((to_x - x) ** 2 + (to_y - y) ** 2) ** 0.5
        dx, dy = (to_x - x) / length, (to_y - y) / length
        start = (x + 13 * dx - shift * dy, y + 13 * dy + shift * dx)
        end = (to_x - 14 * dx - shift * dy, to_y - 14 * dy + shift * dx)
        parts.append(arrow(*start, *end, looked_at=(source, target) in looked_at))
    for vertex, (x, y) in enumerate(PLACES):
        fill = _FILLS.get(LEVELS[vertex], "white")
        ink = "white" if LEVELS[vertex] == LEVEL + 1 else INK
        parts.append(f'<circle cx="{x}" cy="{y}" r="12" fill="{fill}" stroke="{INK}"/>')
        parts.append(text(x, y + 4, str(vertex), anchor="middle", fill=ink))
    return "".join(parts)


def workers(title: str, labels: list[str], busy: set[int], *, width: int = 30) -> str:
    """Return a row of workers, eight a line."""
    parts = [text(330, 32, title)]
    for at, label in enumerate(labels):
        x, y = 330 + (width + 6) * (at % 8), 42 + 28 * (at // 8)
        parts.append(box(x, y, label, works=at in busy, width=width))
    return "".join(parts)


def _vertices(busy: set[int], title: str) -> str:
    return workers(title, [str(vertex) for vertex in range(len(PLACES))], busy)


def vertex_push() -> str:
    """Return the figure of a thread for each vertex that looks along its edges."""
    active = {vertex for vertex, level in enumerate(LEVELS) if level == LEVEL}
    looked_at = {edge for edge in EDGES if edge[0] in active}
    note = text(330, 100, "Threads of the last level walk their rows (csr).")
    note += text(330, 118, "All others have looked at one bit, and are done.")
    return graph(looked_at) + _vertices(active, "a thread for each vertex") + note


def vertex_pull() -> str:
    """Return the figure of a thread for each vertex that looks for somebody who has reached it."""
    active = {vertex for vertex, level in enumerate(LEVELS) if level > LEVEL}
    looked_at = set()
    for vertex in active:
        for edge in (each for each in EDGES if each[1] == vertex):
            looked_at.add(edge)
            if LEVELS[edge[0]] == LEVEL:
                break
    note = text(330, 100, "Threads of open vertices walk their columns (csc)")
    note += text(330, 118, "until the first neighbour of the last level.")
    return graph(looked_at) + _vertices(active, "a thread for each vertex") + note


def edge_centric() -> str:
    """Return the figure of a thread for each edge."""
    busy = {
        at for at, (source, to) in enumerate(EDGES) if LEVELS[source] == LEVEL < LEVELS[to]
    }  # fmt: skip
    labels = [f"{source},{to}" for source, to in EDGES]
    note = text(330, 120, "Every edge is looked at (coo), whatever the level.")
    note += text(330, 138, "Green: from the last level to an open vertex.")
    return graph(set(EDGES)) + workers("a thread for each edge", labels, busy) + note


def _frontier(title: str) -> str:
    active = [vertex for vertex, level in enumerate(LEVELS) if level == LEVEL]
    looked_at = {edge for edge in EDGES if edge[0] in active}
    return graph(looked_at) + workers(title, [str(vertex) for vertex in active], {0, 1})


def frontier_global() -> str:
    """Return the figure of a frontier that asks one counter for places."""
    parts = [_frontier("a thread for each vertex of the frontier")]
    parts += [arrow(345, 64, 345, 100), arrow(381, 64, 381, 100)]
    parts += [box(330, 104, "3"), box(366, 104, "4"), box(402, 104, "", works=False)]
    parts.append(text(444, 118, "the next frontier"))
    parts.append(text(330, 142, "Whoever finds vertices asks one counter for places."))
    return "".join(parts)


def frontier_block() -> str:
    """Return the figure of a frontier gathered in queues of blocks."""
    parts = [_frontier("a thread for each vertex of the frontier")]
    for x, vertex, name in ((330, "3", "queue of block 0"), (480, "4", "queue of block 1")):
        parts += [box(x, 74, vertex), box(x + 36, 74, "", works=False)]
        parts.append(text(x, 110, name, fill=INK))
    parts += [arrow(345, 64, 345, 72), arrow(381, 64, 478, 80)]
    parts += [arrow(345, 114, 345, 124), arrow(495, 114, 383, 124)]
    parts += [box(330, 127, "3"), box(366, 127, "4")]
    parts.append(text(408, 141, "one request a block"))
    return "".join(parts)


def one_block() -> str:
    """Return the figure of levels that one block runs."""
    parts = [graph(set())]
    parts.append(text(330, 22, "levels, and the blocks at work"))
    for level, blocks in enumerate((1, 1, 1, 6, 6, 1)):
        y = 32 + 19 * level
        parts.append(text(330, y + 13, f"{level}"))
        for at in range(6):
            fill = GREEN if at < blocks else "white"
            parts.append(
                f'<rect x="{348 + 24 * at}" y="{y}" width="18" height="15" rx="3" fill="{fill}" '
                f'stroke="{INK if at < blocks else PALE}"/>'
            )
    parts.append(text(505, 64, "one block, no barrier"))
    parts.append(text(505, 80, "of the grid"))
    parts.append(text(505, 112, "all, once a level"))
    parts.append(text(505, 126, "is large"))
    return "".join(parts)


FIGURES: dict[str, Callable[[], str]] = {
    "vertex-push": vertex_push,
    "vertex-pull": vertex_pull,
    "edge-centric": edge_centric,
    "frontier-global": frontier_global,
    "frontier-block": frontier_block,
    "one-block": one_block,
}


def path_of(name: str) -> Path:
    """Return where a figure lies."""
    return ASSETS / f"textbook-{name}.svg"


def draw(name: str) -> str:
    """Return a figure."""
    return _HEAD.format(height=155, ink=INK) + FIGURES[name]() + "</svg>\n"


#: Pictures of records: what is drawn, the file of the records, and of which graphs if not of all.
_DRAWN: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "roofline": ("roofline", "cuda", ()),
    "frontiers": ("frontiers", "frontiers", ()),
    "masks": ("masks", "masks", ()),
    "levels": ("levels", "levels", ()),
    "level_sources": ("levels", "level_sources", ()),
    "scales": ("scales", "scales", ()),
    "blocks": ("blocks", "blocks", ()),
    "parts": ("parts", "spmspv", ()),
    "strategies": ("spmspv", "spmspv", ("kron:16", "kron:21")),
}
#: Those whose records have been made.
PICTURES = {name: row for name, row in _DRAWN.items() if (RESULTS / f"{row[1]}.jsonl").is_file()}


def records_of(picture: str) -> list[Record]:
    """Return the records that a picture is drawn from."""
    _, file, graphs = PICTURES[picture]
    records = read_records(RESULTS / f"{file}.jsonl")
    return [each for each in records if not graphs or each.dataset.name in graphs]


def is_stale(picture: str) -> bool:
    """Return whether a picture was drawn from other records than there are."""
    path = ASSETS / f"{picture}.svg"
    return not path.is_file() or stamp_of(records_of(picture)) not in path.read_text("utf-8")


if __name__ == "__main__":
    for each in FIGURES:
        path_of(each).write_text(draw(each), "utf-8")
    for each in filter(is_stale, PICTURES):
        plot_records(ASSETS / f"{each}.svg", PICTURES[each][0], records_of(each))
