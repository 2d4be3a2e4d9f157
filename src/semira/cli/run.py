"""``semira run``: one algorithm on one graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import numpy as np
import typer

import semira
from semira.algorithms.row import Kind, load
from semira.cli import plots
from semira.cli.applications import APPLICATIONS, options_of
from semira.cli.catalogue import CATALOGUE, Asked, ask, check_seed, own_options, starts_of
from semira.cli.commands import Algorithms, Line
from semira.cli.graphs import Graph, Reading, choose_device, find_vertex, load_graph
from semira.cli.groups import READING, with_options
from semira.cli.measure import Measurement, measure
from semira.cli.options import (
    OUTPUT,
    Device,
    DeviceOption,
    FileArgument,
    JsonOption,
    PlotOption,
    RepeatOption,
    Targets,
    option,
)
from semira.cli.output import capital, cell, note, print_json, print_pairs, print_table
from semira.cli.plans import SETTLED
from semira.cli.searches import pins_for, take_search
from semira.cli.summaries import VERTEX_FACTS, route
from semira.contract import TRACE_COLUMNS, lost_rows, trace_cells

#: Vertices shown at each end of a long route.
_ENDS = 8

TraceOption = Annotated[
    bool,
    option(
        "List the products of the last call: levels, directions, times.", None, "--trace",
        panel=OUTPUT,
    ),
]  # fmt: skip
OutOption = Annotated[
    str | None,
    option(
        "Write the whole result; - for standard output. Vectors: .csv or .npz. Matrices: .mtx or "
        ".npz, and .csv if both sides are vertices. Text also .gz.",
        "FILE",
        panel=OUTPUT,
    ),
]


class Run(Algorithms):
    """Run an algorithm or an application on a graph; print a summary of the result and the times.

    Times are kept apart: reading, the first call (which may compile) and the warm calls.
    MTEPS is the sum of the degrees of the visited vertices over the median of the warm calls.

    Examples
    --------
    semira run bfs kron:16 --trace --plot levels.svg
    semira run sssp roads.gr --source 0 --target 29
    semira run pagerank links.txt --top 20 --json
    semira run ppr links.txt --source 5,8
    zcat g.mtx.gz | semira run cc -
    """

    @staticmethod
    def names() -> list[str]:
        """Return the names of the algorithms, then those of the applications."""
        return [*CATALOGUE, *APPLICATIONS]

    @staticmethod
    def line(name: str) -> Line:
        """Return how the help lists an algorithm or an application."""
        if name in CATALOGUE:
            return Algorithms.line(name)
        row = APPLICATIONS[name]
        return Line(row.summary, options_of(row))

    @staticmethod
    def make(name: str) -> Callable[..., None]:
        """Return the function of a command."""
        if name not in CATALOGUE:
            # It imports what files and results need.
            made: Callable[..., None] = load("semira.cli.run_application:make_command")(name)
            return made
        row = CATALOGUE[name]

        @with_options(own=own_options(row), reading=READING)
        def run(
            file: FileArgument,
            *,
            own: dict[str, Any],
            device: DeviceOption = None,
            repeat: RepeatOption = 1,
            json: JsonOption = False,
            trace: TraceOption = False,
            plot: PlotOption = None,
            out: OutOption = None,
            reading: Reading,
        ) -> None:
            asked = ask(name, own, reading.seed)
            targets = Targets(json=json, trace=trace, plot=plot, out=out)
            run_algorithm(name, file, asked, device, repeat, targets, reading)

        run.__doc__ = f"{capital(row.title)}: {row.summary}."
        return run


def run_algorithm(
    algorithm: str,
    file: str,
    asked: Asked,
    device: Device | None,
    repeat: int,
    targets: Targets,
    reading: Reading,
) -> None:
    """Run an algorithm on a graph; print and write what was asked for."""
    row, options = asked.row, asked.options
    search = take_search(algorithm, options)
    targets.check()
    if targets.out is not None:
        _check_out(file, asked, targets.out)
    if targets.plot is not None:
        plots.check_target(targets.plot)
    check_seed(reading, is_used="seed" in options)
    chosen = choose_device(device)
    options |= pins_for(search, chosen)
    graph = load_graph(file, reading)
    start = starts_of(row, graph, asked.source)
    target = None if asked.target is None else find_vertex(graph, asked.target, "--target")

    measured = measure(
        graph, row, device=chosen, source=start, options=options, repeat=repeat, top=asked.top
    )
    if target is not None:
        measured.summary.update(route(graph, measured.answer, target))
    record = make_record(algorithm, graph, measured)
    if targets.json:
        print_json({**record, **(_trace_record(measured) if targets.trace else {})})
    elif targets.out != "-":
        _show(row.title, graph, measured, record)
        if targets.trace:
            _show_trace(measured)
    if targets.out is not None:
        _write(targets.out, graph, asked, measured)
    if targets.plot is not None:
        if measured.is_settled:
            note(f"degrees are drawn in place of products: {SETTLED}")
        plots.plot_run(targets.plot, algorithm, graph, measured)


def _check_out(file: str, asked: Asked, out: str) -> None:
    from semira.files import check_output, matrix_writer, vector_writer

    if asked.kind is Kind.number:
        raise typer.BadParameter(
            f"the result of {asked.row.typed} is numbers, which are printed; leave out --out"
        )
    if asked.kind is Kind.vector:
        vector_writer(out, _format_of(out, asked.kind))
    else:
        is_square = asked.kind is Kind.square
        shape = None if is_square else f"{asked.row.main}, which is not square"
        matrix_writer(out, _format_of(out, asked.kind), rectangle=shape)
    check_output(out, file)


def _format_of(out: str, kind: Kind) -> str | None:
    """Return the format of standard output; None leaves the choice to the name."""
    if out != "-":
        return None
    return "mtx" if kind is Kind.matrix else "csv"


def make_record(algorithm: str, graph: Graph, measured: Measurement) -> dict[str, Any]:
    """Return the object that ``--json`` prints."""
    start: dict[str, Any] = {}
    if measured.source is not None:
        start = {"source": _labels(graph, measured.source)}
    return {
        "algorithm": algorithm,
        **measured.record(graph),
        "plan": measured.plan.record(),
        "result": {**start, **measured.summary},
        "edges_visited": measured.edges,
        "mteps": measured.mteps,
    }


def _labels(graph: Graph, source: Any) -> Any:
    if isinstance(source, list):
        return [graph.label_of(each) for each in source]
    return graph.label_of(source)


def _show(title: str, graph: Graph, measured: Measurement, record: dict[str, Any]) -> None:
    pairs: list[tuple[str, Any]] = [
        ("n", record["n"]),
        ("entries", record["entries"]),
        ("device", measured.device),
    ]
    ranked = {name: facts for name, facts in record["result"].items() if _is_ranked(facts)}
    pairs += [
        (name.replace("_", " "), _result_text(name, value))
        for name, value in record["result"].items()
        if name not in ranked
    ]
    pairs += [("plan", measured.line())]
    if measured.plan.rows:
        pairs.append(("entries touched", _touched(measured)))
    pairs += measured.lines(graph)
    if measured.runs_s:
        pairs.append(("MTEPS", measured.mteps))
    print_pairs(pairs, title=f"{capital(title)} on {graph.name}")
    for name, facts in ranked.items():
        typer.echo()
        lines = [[str(fact["vertex"]), *list(fact.values())[1:]] for fact in facts]
        print_table(tuple(facts[0]), lines, title=name.replace("_", " "))


def _is_ranked(facts: Any) -> bool:
    """Return whether a fact is a list of vertices with their values."""
    return isinstance(facts, list) and len(facts) > 0 and isinstance(facts[0], dict)


def _touched(measured: Measurement) -> Any:
    plan = measured.plan
    return (
        f"{plan.touched:,} by the last {len(plan.rows):,} products" if plan.lost else plan.touched
    )


def _trace_record(measured: Measurement) -> dict[str, Any]:
    rows = [{**row._asdict(), "direction": row.direction} for row in measured.trace]
    return {"trace": rows, "trace_lost": lost_rows(measured.trace)}


def _show_trace(measured: Measurement) -> None:
    if measured.is_settled:
        typer.echo(f"\nno product ran: {SETTLED}")
        return
    if not measured.trace:
        typer.echo("\nno trace: no product ran")
        return
    call = "last warm call" if measured.runs_s else "first call"
    typer.echo()
    print_table(
        TRACE_COLUMNS,
        trace_cells(measured.trace),
        title=f"Products of the {call}; times since the row before",
    )
    if lost := lost_rows(measured.trace):
        typer.echo(f"{lost:,} rows before these are lost; the first time counts from the beginning")


def _result_text(name: str, value: Any) -> Any:
    """Return a fact of a summary on one line."""
    if name == "route":
        return _route_text(value)
    if name in VERTEX_FACTS:
        # A name, even if it is a number: no thousands separators.
        return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    if isinstance(value, tuple):  # bounds, which may have met
        return " to ".join(cell(bound) for bound in dict.fromkeys(value))
    if isinstance(value, (list, np.ndarray)):
        return ", ".join(cell(_result_text("", part)) for part in value)
    return value


def _route_text(vertices: list[Any]) -> str:
    """Return a route on one line, of a long one both ends."""
    names = [str(vertex) for vertex in vertices]
    if not names:
        return "none: the target cannot be reached"
    if len(names) <= 2 * _ENDS:
        return " > ".join(names)
    left_out = f"... {len(names) - 2 * _ENDS:,} more (--json has all) ..."
    return " > ".join([*names[:_ENDS], left_out, *names[-_ENDS:]])


def _write(out: str, graph: Graph, asked: Asked, measured: Measurement) -> None:
    main = written = measured.answer.main
    if len(asked.fields) > 1:
        written = {name: getattr(measured.answer.result, name) for name in asked.fields}
    # Rows of other matrices are no vertices.
    labels = None if asked.kind is Kind.matrix else graph.labels
    semira.io.write(out, written, labels=labels, format=_format_of(out, asked.kind))
    if out == "-":
        return
    what = f"{' and '.join(asked.fields)} of {main.nvals:,} vertices"
    if asked.kind is not Kind.vector:
        what = f"{asked.row.main}, {main.nrows:,} x {main.ncols:,} with {main.nvals:,} entries,"
    note(f"{what} written to {out}")
