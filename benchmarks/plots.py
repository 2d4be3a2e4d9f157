"""Plots of the bounds of an algorithm, the crossover of push and pull, and scaling."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.studies.blocks import shown_walks, title_of
from benchmarks.studies.frontiers import sweeps
from benchmarks.studies.levels import band_of, first_search, rows_of
from benchmarks.studies.masks import mask_sweeps
from benchmarks.studies.roofline import GATHERS, LEVEL_S, points
from benchmarks.studies.scales import gteps, searches_of
from benchmarks.studies.spmspv import series_of
from benchmarks.studies.spmspv_searches import SEARCH_PARTS, search_parts
from semira.base.errors import InvalidValue
from semira.bench.record import Record
from semira.bench.traffic import ROOF
from semira.cli.plots import COLOURS, OTHER, add_grid, figure, save

#: Matrix bytes read per gather in the roofline: one index.
_INDEX = 4

#: Colours of algorithms (Okabe and Ito, 2008).
_KERNELS = {
    "bfs": "#0072b2", "sssp": "#d55e00", "pagerank": "#009e73", "cc": "#cc79a7", "tc": "#e69f00",
}  # fmt: skip


#: Colours of ways to push, and of the dense product.
_WAYS = {
    "push": COLOURS["push"], "atomics": COLOURS["push"], "scatter": "#cc79a7", "radix": "#009e73",
    "sort": "#e69f00", "dense": COLOURS["pull"],
}  # fmt: skip

#: Colours of the parts of a search with one strategy.
_PARTS = dict(
    zip(SEARCH_PARTS, ("#0072b2", "#e69f00", "#cc79a7", "#009e73", "#bbbbbb"), strict=True)
)

#: Kinds of records listed by an error, most frequent first.
_SHOWN = 5

#: Lists the items of a picture that get a panel each.
_Listed = Callable[[Sequence[Record]], list[Any]]


def stamp_of(records: Iterable[Record]) -> str:
    """Return a hash of records: what was made of them has it, and is stale if theirs differs."""
    digest = hashlib.blake2b(digest_size=12)
    for record in records:
        digest.update(record.to_json().encode())
    return f"records {digest.hexdigest()}"


def _nothing(wanted: str, command: str, records: Sequence[Record]) -> InvalidValue:
    """Return the error that no record has the wanted kind; it lists the kinds present."""
    kinds = Counter(f"{record.kind} {record.kernel}" for record in records)
    shown = [f"{count} of {kind}" for kind, count in kinds.most_common(_SHOWN)]
    more = [f"{len(kinds) - _SHOWN} further kinds"] if len(kinds) > _SHOWN else []
    return InvalidValue(
        f"no record {wanted}; `python -m benchmarks {command}` makes them. There are "
        f"{', '.join((*shown, *more)) or 'no records'}"
    )


def draw_roofline(panel: Any, records: Sequence[Record]) -> None:
    """Plot bytes per second over bytes per iteration, under the memory and latency roofs."""
    found = points(records)
    if not found:
        raise _nothing("with a device's time and bytes", "cuda", records)
    per_iteration = np.array([each.moved_at_once for each in found])
    span = np.geomspace(per_iteration.min() / 2, per_iteration.max() * 2, 200)
    panel.plot(span, np.minimum(span / LEVEL_S, ROOF), color="#333333", label="memory, levels")
    low, high = (rate * _INDEX for rate in GATHERS)
    panel.axhspan(low, high, color="#dddddd", label="gathers, 4 B each")
    for kernel, colour in _KERNELS.items():
        mine = [at for at, each in enumerate(found) if each.kernel == kernel]
        rates = [found[at].moved / found[at].taken_s for at in mine]
        if mine:
            panel.scatter(per_iteration[mine], rates, s=14, color=colour, label=kernel, zorder=3)
    _logarithmic(panel, "bytes of products in an iteration", "bytes a second")
    panel.legend(fontsize=8)


def draw_frontiers(panels: Sequence[Any], records: Sequence[Record]) -> None:
    """Draw the times of push, pull and auto over the frontier, a panel for each sweep."""
    for panel, sweep in zip(panels, sweeps(records), strict=True):
        shares = np.array(sweep.shares)
        for way in ("push", "pull"):
            times = 1e3 * np.array(sweep.times[way])
            panel.plot(shares, times, marker="o", markersize=3, color=COLOURS[way], label=way)
        auto = 1e3 * np.array(sweep.times["auto"])
        panel.plot(shares, auto, linestyle="", marker="x", color=OTHER, label="auto")
        if sweep.crossover is not None:
            panel.axvline(sweep.crossover, color="#dddddd", linewidth=1, zorder=0)
        _logarithmic(panel, "frontier, part of the vertices", "ms")
        panel.set_title(f"{sweep.graph}: {sweep.title}", fontsize=9)
    panels[0].legend(fontsize=8)


def draw_masks(panels: Sequence[Any], records: Sequence[Record]) -> None:
    """Draw the times of every way over the mask, a panel for each graph and frontier."""
    for panel, sweep in zip(panels, mask_sweeps(records), strict=True):
        for way, times in sweep.times.items():
            direction, _, order = way.partition(", ")
            style: dict[str, Any] = {"linestyle": "", "marker": "x", "color": OTHER}
            if order:
                line = "--" if order.endswith("after") else "-"
                style = {"linestyle": line, "marker": "o", "color": COLOURS[direction]}
            panel.plot(sweep.shares, 1e3 * np.array(times), markersize=3, label=way, **style)
        _logarithmic(panel, "let through, part of the rows", "ms")
        panel.set_title(f"{sweep.graph}: frontier {sweep.frontier:.2%}", fontsize=9)
    panels[0].legend(fontsize=8)


def draw_spmspv(panels: Sequence[Any], records: Sequence[Record]) -> None:
    """Draw the times of every strategy and of the dense product over the products, by graph."""
    for panel, each in zip(panels, series_of(records), strict=True):
        edges = np.maximum(1, each.edges)
        for way in (*each.strategies, "dense"):
            times = 1e3 * np.array(each.times[way])
            panel.plot(edges, times, marker="o", markersize=3, color=_WAYS[way], label=way)
        auto = 1e3 * np.array(each.times["auto"])
        panel.plot(edges, auto, linestyle="", marker="x", color="#333333", label="auto")
        _logarithmic(panel, "products", "ms")
        panel.set_title(f"{each.graph}: {each.semiring}", fontsize=9)
    panels[0].legend(fontsize=8)


def _strategies(records: Sequence[Record]) -> list[Any]:
    """Return the strategies whose searches have known parts."""
    return list(search_parts(records).items())


def draw_parts(panels: Sequence[Any], records: Sequence[Record]) -> None:
    """Plot how searches spend their time, a panel for each strategy, a bar for each graph.

    In the manner of Figure 4.1 of C. Yang's thesis of 2019.
    """
    for panel, (way, graphs) in zip(panels, _strategies(records), strict=True):
        names = list(graphs)
        before = np.zeros(len(names))
        whole = np.array([sum(taken.values()) for taken in graphs.values()])
        for part, colour in _PARTS.items():
            shares = np.array([taken[part] for taken in graphs.values()]) / whole
            panel.barh(names, shares, left=before, color=colour, label=part)
            before += shares
        panel.invert_yaxis()
        panel.set_xlim(0, 1)
        panel.set_xlabel("part of the time")
        panel.tick_params(axis="y", labelsize=7)
        panel.set_title(way, fontsize=9)
        if panel is not panels[0]:
            panel.set_yticklabels([])
    panels[0].figure.legend(
        *panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=5, fontsize=8
    )


def draw_blocks(panels: Sequence[Any], records: Sequence[Record]) -> None:
    """Draw the times of a block's products by level, a panel for each graph and algorithm.

    Levels of a backward pass follow behind a line, with both ways to pull.
    """
    for panel, record in zip(panels, shown_walks(records), strict=True):
        rows = record.facts["levels"]
        levels = range(len(rows))
        for way in ("push", "pull"):
            times = [1e3 * row[way]["s"] for row in rows]
            panel.plot(levels, times, marker="o", markersize=3, color=COLOURS[way], label=way)
        auto = [1e3 * row["auto"]["s"] for row in rows]
        panel.plot(levels, auto, linestyle="", marker="x", color=OTHER, label="auto")
        back = [at for at in levels if rows[at].get("part") == "back"]
        if back:
            for way, colour in (("dots", "#cc79a7"), ("block", "#e69f00")):
                times = [1e3 * rows[at][way]["s"] for at in back]
                panel.plot(back, times, marker=".", linestyle=":", color=colour, label=way)
            panel.axvline(back[0] - 0.5, color="#dddddd", linewidth=1, zorder=0)
            panel.legend(fontsize=8)
        _logarithmic(panel, "product", "ms")
        panel.set_xscale("linear")
        panel.set_title(title_of(record), fontsize=9)
    panels[0].legend(fontsize=8)


def draw_scales(panel: Any, records: Sequence[Record]) -> None:
    """Plot edges per second of whole calls and by the device's clock over the vertices."""
    searches = searches_of(records)
    if not searches:
        raise _nothing("of a search on a Kronecker graph", "scales", records)
    curves = {"whole call": COLOURS["push"], "device": COLOURS["pull"]}
    for at, (name, colour) in enumerate(curves.items()):
        pairs = [(each.dataset.n, gteps(each)[at]) for each in searches]
        known = [(n, rate) for n, rate in pairs if rate is not None]
        if known:
            panel.plot(*zip(*known, strict=True), marker="o", color=colour, label=name)
    _logarithmic(panel, "vertices", "GTEPS")
    panel.set_xscale("log", base=2)
    panel.legend(fontsize=8)


#: Most levels drawn as single points.
_POINTS = 500


def draw_levels(panels: Sequence[Any], records: Sequence[Record]) -> None:
    """Plot a search level by level, its entries, and the times of the levels of all searches.

    The third panel is in the manner of Figure 5.5 of C. Yang's thesis of 2019: push over the
    entries of the frontier, pull over the unvisited vertices. For thousands of levels it shows the
    median and the 10-90% band of levels of similar size.
    """
    found = rows_of(records)
    if not found:
        raise _nothing("of a level", "levels", records)
    (name, _), rows = next(iter(found.items()))
    steps, entries, spread = panels
    first = first_search(rows)
    levels = [row["level"] for row in first]
    for way in ("push", "pull"):
        look: Any = {"color": COLOURS[way], "label": way}
        steps.plot(levels, [1e3 * row[way]["s"] for row in first], marker="o", **look)
        entries.plot(levels, [row[way]["touched"] for row in first], marker="o", **look)
        over = "frontier" if way == "push" else "unvisited"
        times = [1e3 * row[way]["s"] for row in rows]
        sizes = [row[over] for row in rows]
        if len(rows) <= _POINTS:
            spread.scatter(sizes, times, s=4, **look)
        else:
            band = band_of(sizes, times)
            low, middle, high = zip(*band.times, strict=True)
            spread.plot(band.sizes, middle, marker="o", markersize=3, **look)
            spread.fill_between(band.sizes, low, high, color=COLOURS[way], alpha=0.25)
    auto = [1e3 * row["auto"]["s"] for row in first]
    steps.plot(levels, auto, linestyle="", marker="x", color=OTHER, label="auto")
    reached = [row["auto"]["found"] for row in first]
    entries.plot(levels, reached, linestyle="", marker="x", color=OTHER, label="vertices found")
    _logarithmic(steps, "level", "ms")
    _logarithmic(entries, "level", "entries read, vertices found")
    _logarithmic(spread, "frontier (push), unvisited (pull)", "ms")
    for panel in (steps, entries):
        panel.set_xscale("linear")
        panel.set_yscale("symlog" if panel is entries else "log")
        panel.legend(fontsize=8)
    steps.set_title(name, fontsize=9)
    searches = len({row["source"] for row in rows})
    spread.set_title(f"{searches:,} search{'es' if searches > 1 else ''}", fontsize=9)
    spread.set_xscale("symlog")


def _logarithmic(panel: Any, across: str, up: str) -> None:
    panel.set_xscale("log")
    panel.set_yscale("log")
    panel.yaxis.set_minor_formatter("")
    panel.set_xlabel(across)
    panel.set_ylabel(up)
    add_grid(panel)


#: The study whose records are drawn, where the picture has another name.
_MADE_BY = {"parts": "spmspv"}

#: Panels per row.
_COLUMNS = 3

#: Pictures: the number of panels, or one for each item of a list, and the drawing function.
_PICTURES: dict[str, tuple[int | _Listed, Callable[[Any, Sequence[Record]], None]]] = {
    "roofline": (1, draw_roofline),
    "frontiers": (sweeps, draw_frontiers),
    "masks": (mask_sweeps, draw_masks),
    "spmspv": (series_of, draw_spmspv),
    "parts": (_strategies, draw_parts),
    "blocks": (shown_walks, draw_blocks),
    "scales": (1, draw_scales),
    "levels": (3, draw_levels),
}


def plot_records(path: Path, what: str, records: Sequence[Record]) -> None:
    """Draw a picture and write it to `path`; an .svg names the records it was drawn from.

    Raises
    ------
    InvalidValue
        No record can be drawn.
    FileWriteError
        The file cannot be written.
    """
    wanted, draw = _PICTURES[what]
    is_listed = not isinstance(wanted, int)
    count = wanted if isinstance(wanted, int) else len(wanted(records))
    if count == 0:
        raise _nothing("of a frontier", _MADE_BY.get(what, what), records)
    columns = min(count, _COLUMNS) if is_listed else count
    rows = -(-count // columns)
    width = 6.4 if count == 1 else 3.4 * columns
    with figure(width, 3.6 if rows == 1 else 2.8 * rows, columns, rows) as (drawing, made):
        if is_listed:
            panels = [made] if count == 1 else list(made)
            for rest in panels[count:]:
                rest.set_axis_off()
            draw(panels[:count], records)
        else:
            draw(made, records)
        save(drawing, path, about=stamp_of(records))
