"""``semira demo``: five algorithms on two generated graphs, and on the user's own."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

import semira
from semira.backends.registry import backend_for
from semira.base.errors import GraphblasException
from semira.base.settings import settings
from semira.bench.environment import processor_name
from semira.cli.catalogue import CATALOGUE
from semira.cli.graphs import Graph, Reading, choose_device, find_vertex, load_graph
from semira.cli.measure import Measurement, measure
from semira.cli.options import DeviceOption, option
from semira.cli.output import capital, print_table, print_text, say, seconds
from semira.cli.plots import draw_degrees, draw_frontier, draw_ranks, has_matplotlib, svg_of
from semira.cli.report import Figure, Section, prepare_report, render
from semira.files.output import open_output


@dataclass(frozen=True, slots=True)
class _Subject:
    """A graph of the demo."""

    path: str
    title: str
    text: str
    reading: Reading


SUBJECTS = (
    _Subject(
        "kron:17",
        "Kronecker graph",
        "Few hubs with very many neighbours, as in social networks and the web: a handful of "
        "levels, the middle ones huge.",
        Reading(weights="random"),
    ),
    _Subject(
        "road:500x500,removed=0.3",
        "Road-like graph",
        "A grid with a third of its roads missing: no hubs, hundreds of levels, every one small.",
        Reading(),
    ),
)

#: What it runs: each takes moments on every graph.
ALGORITHMS = ("bfs", "sssp", "pagerank", "cc", "tc")

#: Warm calls of each algorithm.
REPEAT = 3

COLUMNS = ("algorithm", "n", "entries", "time", "first call", "MTEPS", "plan")


@dataclass(frozen=True, slots=True)
class _Done:
    """What the demo measured on one graph; the reason in place of what could not be."""

    subject: _Subject
    graph: Graph
    measured: dict[str, Measurement | str]

    def rows(self) -> list[tuple[Any, ...]]:
        """Return the lines of the table; an algorithm without result has only its reason."""
        arrays = self.graph.arrays
        lines: list[tuple[Any, ...]] = []
        for algorithm, got in self.measured.items():
            if isinstance(got, str):
                lines.append((algorithm, got))
                continue
            times = (seconds(got.median_s), seconds(got.first_s))
            rate = None if got.mteps is None else f"{got.mteps:,.1f}"
            lines.append((algorithm, arrays.nrows, arrays.nvals, *times, rate, got.line()))
        return lines


def _measure_all(subject: _Subject, device: str) -> _Done:
    say(f"reading {subject.path}")
    graph = load_graph(subject.path, subject.reading)
    measured: dict[str, Measurement | str] = {}
    for algorithm in ALGORITHMS:
        row = CATALOGUE[algorithm]
        say(f"{capital(row.title)} on {subject.path}")
        try:
            source = find_vertex(graph, None) if row.start else None
            measured[algorithm] = measure(graph, row, device=device, source=source, repeat=REPEAT)
        except GraphblasException as error:
            # The others may still have a result; the table and the report say why this has none.
            measured[algorithm] = f"{type(error).__name__}: {error}"
    return _Done(subject, graph, measured)


def _facts(done: _Done) -> list[tuple[str, Any]]:
    arrays, measured = done.graph.arrays, done.measured.items()
    summaries = {name: got.summary for name, got in measured if not isinstance(got, str)}
    facts: list[tuple[str, Any]] = [
        ("graph", done.graph.name),
        ("vertices", arrays.nrows),
        ("entries", arrays.nvals),
    ]
    named = (
        ("bfs", "reached", "reached from the largest hub"),
        ("bfs", "depth", "levels to the farthest"),
        ("cc", "components", "components"),
        ("tc", "triangles", "triangles"),
    )
    facts += [
        (title, summaries[algorithm][key])
        for algorithm, key, title in named
        if algorithm in summaries
    ]
    return facts


def _figures(done: _Done) -> list[Figure]:
    figures = [
        Figure("Degree distribution", svg_of(lambda panel: draw_degrees(panel, done.graph.degrees)))
    ]
    for algorithm in ("bfs", "sssp"):
        got = done.measured[algorithm]
        if isinstance(got, str) or not got.plan.rows:
            continue
        rows = got.plan.rows
        figures.append(
            Figure(
                f"{capital(CATALOGUE[algorithm].title)}: frontier and direction",
                svg_of(lambda panel, rows=rows: draw_frontier(panel, rows)),  # type: ignore[misc]
            )
        )
    ranked = done.measured["pagerank"]
    if not isinstance(ranked, str):
        drawing = svg_of(lambda panel: draw_ranks(panel, ranked.answer.values))
        figures.append(Figure("PageRank, largest first", drawing))
    return figures


def _section(done: _Done) -> Section:
    return Section(
        title=done.subject.title,
        text=done.subject.text,
        facts=_facts(done),
        columns=COLUMNS,
        rows=done.rows(),
        figures=_figures(done) if has_matplotlib() else [],
    )


def _environment(device: str) -> list[tuple[str, Any]]:
    describe = getattr(backend_for(device), "describe", dict)
    return [
        ("machine", f"{processor_name()}, {settings().threads} threads"),
        *((name.replace("_", " "), value) for name, value in describe().items()),
        ("device", device),
        ("Semira", semira.__version__),
        ("Python", platform.python_version()),
        ("system", platform.platform()),
        ("warm calls each", REPEAT),
    ]


def demo(
    graph: Annotated[str | None, option("Also run on this graph.", "FILE")] = None,
    out: Annotated[Path, typer.Option(help="Folder for report.html.")] = Path("demo"),
    device: DeviceOption = None,
) -> None:
    """Run the five algorithms on a Kronecker and a road-like graph; write a report with figures.

    Examples
    --------
    semira demo
    semira demo --graph mine.mtx --out demo
    """
    chosen = choose_device(device)
    subjects = list(SUBJECTS)
    if graph is not None:
        subjects.insert(0, _Subject(graph, Path(graph).name, "Your own graph.", Reading()))
    target = prepare_report(out)
    done = []
    for subject in subjects:
        done.append(_measure_all(subject, chosen))
        _print_section(done[-1])
    sections = [_section(each) for each in done]
    text = render(sections, _environment(chosen), can_draw=has_matplotlib())
    with open_output(target) as stream:
        stream.write(text.encode())
    print_text(f"report: {target}")


def _print_section(done: _Done) -> None:
    lines = done.rows()
    complete = [line for line in lines if len(line) == len(COLUMNS)]
    print_table(COLUMNS, complete, title=f"{done.subject.title} ({done.graph.name})")
    for line in lines:
        if len(line) != len(COLUMNS):
            typer.echo(f"{line[0]}: {line[1]}")
    typer.echo("")
