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

from semira.algorithms.row import Kind, Picture, Row
from semira.base.errors import FileWriteError, InvalidValue
from semira.base.text import printable
from semira.cli.catalogue import CATALOGUE
from semira.cli.graphs import Graph
from semira.cli.output import capital, seconds
from semira.cli.summaries import group_sizes
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

#: Groups and values up to which each has a bar of its own, bars of a histogram, and characters of
#: a name that are shown.
_MOST_GROUPS, _MOST_VALUES, _BINS, _MOST_CHARACTERS = 20, 40, 30, 24

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

    Raises InvalidValue if the suffix is none of `SUFFIXES`, or Matplotlib is not installed. Raises
    FileWriteError if the folder does not exist.
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


def draw_frontier(panel: Any, rows: Sequence[TraceRow], *, has_legend: bool = True) -> None:
    """Draw the entries of the driving vector of every product, coloured by method.

    The axis says how many are not there, because a long trace has lost their rows.
    """
    places, shown, what = _places(rows, lost_rows(rows))
    heights = np.array([row.frontier for row in shown])
    panel.plot(places, heights, color=_FAINT, zorder=1)
    for method, mine in _methods(shown):
        size = 24 if len(shown) <= _MOST_BARS else 5
        panel.scatter(places[mine], heights[mine], s=size, color=_colour(method), label=method)
    panel.set_yscale("log")
    _label(panel, what, "frontier entries", "Frontier")
    if has_legend:
        add_legend(panel)


def draw_times(panel: Any, rows: Sequence[TraceRow]) -> None:
    """Draw how long after the one before it every product was done, coloured by method.

    After lost rows nobody knows when the first one began: it is left out.
    """
    known = rows[1:] if lost_rows(rows) else rows
    places, shown, what = _places(known, lost_rows(rows) + len(rows) - len(known))
    heights = np.array([row.elapsed_ns / 1e6 for row in shown])
    for method, mine in _methods(shown):
        if len(shown) <= _MOST_BARS:
            panel.bar(places[mine], heights[mine], 0.8, color=_colour(method), label=method)
        else:
            panel.scatter(places[mine], heights[mine], s=5, color=_colour(method), label=method)
    panel.set_ylim(bottom=0)
    _label(panel, what, "ms", "Time of each product")
    add_legend(panel)


def add_legend(panel: Any) -> None:
    """Explain the colours of a panel, to the right of it."""
    if panel.get_legend_handles_labels()[1]:
        panel.legend(title="method", loc="upper left", bbox_to_anchor=(1.01, 1), borderaxespad=0)


def _places(rows: Sequence[TraceRow], missing: int) -> tuple[Any, Sequence[TraceRow], str]:
    """Return x positions (after `missing` absent rows), the rows drawn, and the axis label."""
    step = max(1, -(-len(rows) // _MOST_POINTS))
    # Some algorithms have several products an iteration.
    is_each = all(row.iteration == at for at, row in enumerate(rows, missing))
    what = "iteration" if is_each else "product"
    notes = [] if step == 1 else [f"one of {step} is shown"]
    notes += [f"the first {missing:,} are not known"] if missing else []
    shown = rows[::step]
    places = missing + step * np.arange(len(shown))
    return places, shown, f"{what} ({', '.join(notes)})" if notes else what


def _methods(rows: Sequence[TraceRow]) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    for method in dict.fromkeys(row.method for row in rows):
        yield method, np.array([row.method == method for row in rows], bool)


def _colour(method: str) -> str:
    return COLOURS.get(method, OTHER)


def _label(panel: Any, across: str, up: str, title: str = "") -> None:
    panel.set_xlabel(across)
    panel.set_ylabel(up)
    panel.set_title(title, weight="normal")
    if panel.get_xscale() == "linear":
        panel.xaxis.get_major_locator().set_params(integer=True)
    else:
        panel.xaxis.set_minor_formatter("")
    add_grid(panel)


def _count_up(panel: Any) -> None:
    """Mark whole numbers on the axis that goes up."""
    panel.yaxis.get_major_locator().set_params(integer=True)
    panel.yaxis.set_major_formatter("{x:,.0f}")


def draw_top(panel: Any, facts: Sequence[dict[str, Any]], name: str) -> None:
    """Draw the first vertices by name, a bar for the value of each."""
    names, values = zip(*(each.values() for each in facts), strict=True)
    places = np.arange(len(facts))
    panel.barh(places, values, 0.7, color=COLOURS["push"])
    panel.set_yticks(places, [_name(each) for each in names])
    for text in panel.get_yticklabels():
        text.set_parse_math(False)  # dollars in names are dollars
    panel.invert_yaxis()
    panel.set_xlim(left=min(0, *values))
    panel.locator_params(axis="x", nbins=5)
    panel.set_xlabel(name)
    panel.set_title("First vertices", weight="normal")
    panel.grid(visible=True, axis="x", color=_FAINT, linewidth=0.6)


def _name(vertex: Any) -> str:
    text = printable(str(vertex))
    return text if len(text) <= _MOST_CHARACTERS else f"{text[: _MOST_CHARACTERS - 1]}…"


def draw_counts(panel: Any, values: NDArray[Any], name: str, what: str) -> None:
    """Draw how often values occur: a bar for each of a few whole numbers, else a histogram."""
    finite = values[np.isfinite(values)].astype(np.float64)
    distinct, counts = np.unique(finite, return_counts=True)
    is_whole = np.array_equal(distinct, np.floor(distinct))
    if is_whole and len(distinct) and distinct[-1] - distinct[0] < _MOST_VALUES:
        panel.bar(distinct, counts, 0.8, color=COLOURS["push"])
    else:
        bins: Any = _BINS
        if is_whole and len(distinct):
            # As many whole numbers in each: bars of one and of two in turn would show waves.
            width = np.ceil((distinct[-1] - distinct[0] + 1) / _BINS)
            bins = np.arange(distinct[0], distinct[-1] + width + 1, width) - 0.5
        panel.hist(finite, bins, color=COLOURS["push"], rwidth=0.95)
    _count_up(panel)
    _label(panel, name, what, f"{what.capitalize()} by {name}")


def draw_ranks(panel: Any, ranks: NDArray[Any], name: str = "rank") -> None:
    """Draw values from the largest to the smallest."""
    ordered = np.sort(ranks)[::-1]
    shown = np.unique(np.geomspace(1, max(len(ordered), 1), 400).astype(np.int64))
    panel.plot(shown, ordered[shown - 1], color=COLOURS["push"])
    panel.set_xscale("log")
    panel.set_yscale("log")
    _label(panel, "vertices, the first one at the left", name, "All vertices")


def draw_sizes(panel: Any, labels: NDArray[Any], what: str) -> None:
    """Draw the sizes of groups, a bar each; of many how many there are of each size."""
    sizes = group_sizes(labels)
    title = f"{len(sizes):,} {what if len(sizes) != 1 else what.removesuffix('s')}"
    if len(sizes) <= _MOST_GROUPS:
        panel.bar(np.arange(1, len(sizes) + 1), sizes, 0.8, color=COLOURS["push"])
        _count_up(panel)
        _label(panel, f"{what}, the largest at the left", "vertices", title)
        return
    distinct, counts = np.unique(sizes, return_counts=True)
    panel.scatter(distinct, counts, s=18, color=COLOURS["push"])
    panel.set_xscale("log")
    panel.set_yscale("log")
    _label(panel, "vertices in one of them", what, f"{title} by size")


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
        _count_up(panel)
    _label(panel, "degree", "vertices", "Degrees")


def plot_run(path: Path, algorithm: str, graph: Graph, measured: Measurement) -> None:
    """Draw a run and write it to `path`.

    The result first: the first vertices by name, the sizes of groups, or how many vertices have
    each value. Then, of what runs in iterations, the frontier, the direction and the time of each
    product. Degrees where there is none of these. Raises FileWriteError if the file cannot be
    written.
    """
    row = CATALOGUE[algorithm]
    draws = [*_result_panels(row, measured), *_trace_panels(row, measured.trace)]
    if not draws:
        draws.append(lambda panel: draw_degrees(panel, graph.degrees))
    rows = 2 if len(draws) > 3 else 1
    columns = -(-len(draws) // rows)
    size = (6.8 if columns == 1 else 4.6 * columns + 0.8, 4.0 if rows == 1 else 7.4)
    with figure(*size, columns, rows) as (drawing, panels):
        made = np.atleast_1d(panels)
        for draw, panel in zip(draws, made[: len(draws)], strict=True):
            draw(panel)
        # One title for all, which names the run.
        title = drawing.suptitle(_title(row, graph, measured), x=0.01, ha="left", weight="bold")
        title.set_parse_math(False)
        save(drawing, path)


def _title(row: Row, graph: Graph, measured: Measurement) -> str:
    runs = len(measured.runs_s)
    time = f"{seconds(measured.first_s)} (the first call)"
    if runs:
        how = f"median of {runs} warm calls" if runs > 1 else "a warm call"
        time = f"{seconds(measured.median_s)} ({how})"
    return f"{capital(row.title)} on {_name(graph.name)}, {measured.device}, {time}"


def _result_panels(row: Row, measured: Measurement) -> list[Callable[[Any], None]]:
    """Return what draws the result of an algorithm; nothing where it is no picture."""
    answer = measured.answer
    picture = row.drawn()
    if picture is Picture.none or not len(answer.values):
        return []
    if picture is Picture.sizes:
        what = next(name for name in measured.summary)
        return [lambda panel: draw_sizes(panel, answer.values, what)]
    if picture is Picture.top:
        facts = next(facts for facts in measured.summary.values() if isinstance(facts, list))
        draws: list[Callable[[Any], None]] = [
            lambda panel: draw_top(panel, facts[:_MOST_GROUPS], row.main)
        ]
        if len(facts) < len(answer.values):
            draws.append(lambda panel: draw_ranks(panel, answer.values, row.main))
        return draws
    what = "vertices" if row.kind() is Kind.vector else "pairs"
    return [lambda panel: draw_counts(panel, answer.values, row.main, what)]


def _trace_panels(row: Row, rows: Sequence[TraceRow]) -> list[Callable[[Any], None]]:
    if not (len(rows) > 1 or (rows and row.start)):
        return []
    if not any(each.elapsed_ns for each in rows):
        return [lambda panel: draw_frontier(panel, rows)]
    return [
        lambda panel: draw_frontier(panel, rows, has_legend=False),
        lambda panel: draw_times(panel, rows),
    ]


def save(drawing: Any, path: Path, *, about: str | None = None) -> None:
    """Write a figure; equal figures make equal files. Metadata of an .svg say what it is `about`.

    Raises FileWriteError if the file cannot be written.
    """
    metadata = {"Date": None, "Description": about} if path.suffix.lower() == ".svg" else None
    try:
        drawing.savefig(path, dpi=150, metadata=metadata)
    except OSError as error:
        raise FileWriteError(f"{path}: cannot be written: {error.strerror}") from error
