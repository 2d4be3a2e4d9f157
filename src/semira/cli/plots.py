"""Pictures of runs and graphs, drawn with Matplotlib where it is installed."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from semira.base.errors import FileWriteError, InvalidValue
from semira.cli.catalogue import CATALOGUE, Algorithm
from semira.cli.graphs import Graph
from semira.cli.summaries import component_sizes
from semira.contract import lost_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from semira.cli.measure import Measurement
    from semira.contract import TraceRow

SUFFIXES = (".png", ".svg", ".pdf")

#: Colours that people with colour blindness tell apart (Okabe and Ito, 2008).
COLOURS = {"push": "#0072b2", "pull": "#d55e00"}
OTHER = "#009e73"
_INK, _FAINT = "#333333", "#dddddd"

#: More iterations than this become points instead of bars, and of more than the second number
#: only every second, third, ... is drawn.
_MOST_BARS, _MOST_POINTS = 60, 600

_STYLE: Any = {
    "svg.fonttype": "none",  # text stays text: small, searchable, in the page's font
    "svg.hashsalt": "semira",  # equal figures make equal files
    "font.family": "sans-serif",
    "font.size": 10,
    "axes.edgecolor": _INK,
    "axes.labelcolor": _INK,
    "xtick.color": _INK,
    "ytick.color": _INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.axisbelow": True,
    "legend.frameon": False,
}


def has_matplotlib() -> bool:
    """Return whether figures can be drawn."""
    return find_spec("matplotlib") is not None


def check_target(path: Path) -> None:
    """Check that a figure can be drawn and written to `path`.

    Raises
    ------
    InvalidValue
        The suffix is none of `SUFFIXES`, or Matplotlib is not installed.
    FileWriteError
        The folder does not exist.
    """
    if path.suffix.lower() not in SUFFIXES:
        raise InvalidValue(f"--plot {path}: the name must end in one of {', '.join(SUFFIXES)}")
    if not has_matplotlib():
        raise InvalidValue("--plot needs Matplotlib: pip install 'semira[plot]'")
    if not path.parent.is_dir():
        raise FileWriteError(f"{path}: the folder {path.parent} does not exist; create it first")


@contextmanager
def figure(
    width: float = 6.4, height: float = 3.2, columns: int = 1, rows: int = 1
) -> Iterator[tuple[Any, Any]]:
    """Yield a figure and its panel (an array of several), in the house style; sizes in inches.

    No window system is touched and no global state of Matplotlib changes.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(_STYLE):
        drawing = Figure((width, height), layout="constrained")
        panels = drawing.subplots(rows, columns)
        yield drawing, panels if rows == 1 else panels.ravel()


def svg_of(draw: Callable[[Any], None], width: float = 5.2, height: float = 2.8) -> str:
    """Return what `draw` puts on a panel as an ``<svg>`` element without fixed size."""
    with figure(width, height) as (drawing, panel):
        draw(panel)
        text = io.StringIO()
        drawing.savefig(text, format="svg", transparent=True, metadata={"Date": None})
    element = text.getvalue()
    element = element[element.index("<svg") :]
    # The view box is enough; the page decides how wide a figure is.
    head, body = element.split(">", 1)
    return re.sub(r' (width|height)="[^"]*"', "", head) + ">" + body


def add_grid(panel: Any) -> None:
    """Draw faint lines across a panel."""
    panel.grid(visible=True, axis="y", color=_FAINT, linewidth=0.6)


def draw_frontier(panel: Any, rows: Sequence[TraceRow]) -> None:
    """Draw the entries of the driving vector of every product, coloured by method.

    The axis says how many are not there, because a long trace has lost their rows.
    """
    _draw_rows(panel, rows, [row.frontier for row in rows], "frontier entries", lost_rows(rows))
    panel.set_yscale("log")
    methods = panel.get_legend_handles_labels()[1]
    if methods:
        is_dotted = len(rows) > _MOST_BARS
        panel.legend(title="direction", ncols=len(methods), markerscale=4 if is_dotted else 1)


def draw_times(panel: Any, rows: Sequence[TraceRow]) -> None:
    """Draw how long after the one before it every product was done, coloured by method.

    After lost rows nobody knows when the first one began: it is left out.
    """
    known = rows[1:] if lost_rows(rows) else rows
    times = [row.elapsed_ns / 1e6 for row in known]
    _draw_rows(panel, known, times, "ms", lost_rows(rows) + len(rows) - len(known))


def _draw_rows(
    panel: Any, rows: Sequence[TraceRow], values: Sequence[float], quantity: str, missing: int
) -> None:
    """Draw a number of each row, at the places behind so many that are not there."""
    step = max(1, -(-len(rows) // _MOST_POINTS))
    shown = rows[::step]
    heights = np.array(values[::step])
    # Some algorithms have several products an iteration.
    is_each = all(row.iteration == at for at, row in enumerate(rows, missing))
    what = "iteration" if is_each else "product"
    places = missing + step * np.arange(len(shown))
    for method in dict.fromkeys(row.method for row in shown):
        mine = np.array([row.method == method for row in shown], bool)
        colour = COLOURS.get(method, OTHER)
        if len(rows) <= _MOST_BARS:
            panel.bar(places[mine], heights[mine], 0.8, color=colour, label=method)
        else:
            panel.scatter(places[mine], heights[mine], s=4, color=colour, label=method)
    notes = [] if step == 1 else [f"one of {step} is shown"]
    notes += [f"the first {missing:,} are not known"] if missing else []
    panel.set_xlabel(f"{what} ({', '.join(notes)})" if notes else what)
    panel.set_ylabel(quantity)
    panel.xaxis.get_major_locator().set_params(integer=True)
    add_grid(panel)


def draw_ranks(panel: Any, ranks: NDArray[Any]) -> None:
    """Draw ranks from the largest to the smallest."""
    ordered = np.sort(ranks)[::-1]
    shown = np.unique(np.geomspace(1, max(len(ordered), 1), 400).astype(np.int64))
    panel.plot(shown, ordered[shown - 1], color=COLOURS["push"])
    panel.set_xscale("log")
    panel.set_yscale("log")
    panel.set_xlabel("vertices, by rank")
    panel.set_ylabel("rank")
    add_grid(panel)


def draw_components(panel: Any, labels: NDArray[Any]) -> None:
    """Draw how many components there are of each size."""
    sizes, counts = np.unique(component_sizes(labels), return_counts=True)
    panel.scatter(sizes, counts, s=18, color=COLOURS["push"])
    panel.set_xscale("log")
    panel.set_yscale("log")
    panel.set_xlabel("vertices in the component")
    panel.set_ylabel("components")
    add_grid(panel)


def draw_degrees(panel: Any, degrees: NDArray[Any]) -> None:
    """Draw how many vertices there are of each degree."""
    values, counts = np.unique(degrees, return_counts=True)
    is_wide = len(values) > 0 and values[-1] > 30
    if is_wide:
        # A logarithmic axis has no place for vertices without edges.
        values, counts = values[values > 0], counts[values > 0]
        panel.scatter(values, counts, s=8, color=COLOURS["push"])
        panel.set_xscale("log")
        panel.set_yscale("log")
    else:
        panel.bar(values, counts, 0.8, color=COLOURS["push"])
        panel.yaxis.set_major_formatter("{x:,.0f}")
        panel.xaxis.get_major_locator().set_params(integer=True)
    panel.set_xlabel("degree")
    panel.set_ylabel("vertices")
    add_grid(panel)


#: What the results of algorithms are drawn by.
_RESULTS: dict[Algorithm, Callable[[Any, NDArray[Any]], None]] = {
    **dict.fromkeys(
        (Algorithm.pagerank, Algorithm.ppr, Algorithm.bc, Algorithm.closeness), draw_ranks
    ),
    **dict.fromkeys((Algorithm.cc, Algorithm.scc), draw_components),
}


def plot_run(path: Path, algorithm: Algorithm, graph: Graph, measured: Measurement) -> None:
    """Draw a run and write it to `path`.

    Ranks for pagerank and centralities, component sizes for cc and scc; of what runs in iterations
    the frontier, the direction and the time of each product; degrees where there is none of these.

    Raises
    ------
    FileWriteError
        The file cannot be written.
    """
    rows = measured.trace
    draws: list[Callable[[Any], None]] = []
    if algorithm in _RESULTS:
        draws.append(lambda panel: _RESULTS[algorithm](panel, measured.answer.values))
    if len(rows) > 1 or (rows and CATALOGUE[algorithm].needs_source):
        draws.append(lambda panel: draw_frontier(panel, rows))
        if any(row.elapsed_ns for row in rows):
            draws.append(lambda panel: draw_times(panel, rows))
    if not draws:
        draws.append(lambda panel: draw_degrees(panel, graph.degrees))
    count = len(draws)
    with figure(7.2 if count == 1 else 4.8 * count, 4.2, count) as (drawing, panels):
        for draw, panel in zip(draws, np.atleast_1d(panels), strict=True):
            draw(panel)
        np.atleast_1d(panels)[0].set_title(f"{algorithm} on {graph.name}")
        save(drawing, path)


def save(drawing: Any, path: Path, *, about: str | None = None) -> None:
    """Write a figure; equal figures make equal files.

    Parameters
    ----------
    drawing : Figure
    path : Path
    about : str, optional
        Put into the metadata of an .svg.

    Raises
    ------
    FileWriteError
        The file cannot be written.
    """
    metadata = {"Date": None, "Description": about} if path.suffix.lower() == ".svg" else None
    try:
        drawing.savefig(path, dpi=150, metadata=metadata)
    except OSError as error:
        raise FileWriteError(f"{path}: cannot be written: {error.strerror}") from error
