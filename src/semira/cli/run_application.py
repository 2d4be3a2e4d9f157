"""``semira run`` of an application: what it computes on a graph, with times kept apart."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

import semira
from semira.algorithms.naming import tell
from semira.algorithms.row import load
from semira.base.status import StatusLine
from semira.cli import plots
from semira.cli.application_output import check_out, write_table
from semira.cli.applications import APPLICATIONS, arguments_of, check_given, own_options
from semira.cli.graphs import Graph, Reading, choose_device, load_graph
from semira.cli.groups import READING, with_options
from semira.cli.measure import Timed, time_calls
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
from semira.cli.output import capital, cell, note, print_json, print_pairs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from semira.apps.row import Application

OutOption = Annotated[
    str | None,
    option(
        "Write the table of the result: .csv (also .gz), .npz or .parquet; - for standard output.",
        "FILE",
        panel=OUTPUT,
    ),
]


def make_command(name: str) -> Callable[..., None]:
    """Return the function of the command of an application; its docstring is the help."""
    row = APPLICATIONS[name]

    @with_options(own=own_options(row), reading=READING)
    def run(
        file: FileArgument,
        *,
        own: dict[str, Any],
        device: DeviceOption = None,
        repeat: RepeatOption = 1,
        json: JsonOption = False,
        plot: PlotOption = None,
        out: OutOption = None,
        reading: Reading,
    ) -> None:
        targets = Targets(json=json, plot=plot, out=out)
        run_application(row, own, file, device, repeat, targets, reading)

    run.__doc__ = f"{capital(row.title)}: {row.summary}."
    return run


def _check(row: Application, given: dict[str, Any], file: str, targets: Targets) -> None:
    """Refuse before the work what is lacking, or cannot be written after it."""
    check_given(row, given)
    targets.check()
    if targets.out is not None:
        check_out(targets.out, file, *(given[name] for name in row.files if name in given))
    if targets.plot is not None:
        if not row.plot:
            raise typer.BadParameter(f"{row.typed} has no picture; leave out --plot")
        plots.check_target(targets.plot)


def run_application(
    row: Application, given: dict[str, Any], file: str, device: Device | None, repeat: int,
    targets: Targets, reading: Reading,
) -> None:  # fmt: skip
    """Run an application on a graph; print and write what was asked for."""
    _check(row, given, file, targets)
    chosen = choose_device(device)
    options = dict(given)
    if reading.seed is not None:
        if "seed" in row.parameters:
            options["seed"] = reading.seed
        elif reading.weights is None:
            raise typer.BadParameter(
                f"--seed {reading.seed} would change nothing: {row.typed} draws no numbers"
            )
    graph = load_graph(file, reading)
    with semira.device(chosen):
        arguments = arguments_of(row, options, graph)

    def call(matrix: Any) -> Any:
        with _progress(row) as shown:
            result = row.function(matrix, **arguments, **shown)
        _wait(chosen)
        return result

    _, result, times = time_calls(graph, chosen, call, repeat)
    timed = Timed(**times)
    facts = result.facts()
    if targets.json:
        print_json({"application": row.name, **timed.record(graph), "result": facts})
    elif targets.out != "-":
        pairs = _pairs_of(graph, chosen)
        pairs += [(name.replace("_", " "), _text(fact)) for name, fact in facts.items()]
        print_pairs(pairs + timed.lines(graph), title=f"{capital(row.title)} on {graph.name}")
    if targets.out is not None:
        tell(result, semira.io.Graph(graph.matrix, graph.labels))
        count = write_table(targets.out, result)
        if targets.out != "-":
            note(f"{count:,} rows written to {targets.out}")
    if targets.plot is not None:
        load(row.plot)(result, graph.matrix, str(targets.plot))


def _pairs_of(graph: Graph, device: str) -> list[tuple[str, Any]]:
    """Return what is printed of the graph, and the device."""
    nrows, ncols = graph.arrays.nrows, graph.arrays.ncols
    columns = [] if nrows == ncols else [("columns", ncols)]
    return [("n", nrows), *columns, ("entries", graph.arrays.nvals), ("device", device)]


def _wait(device: str) -> None:
    """Wait until the device has done what it was given."""
    with semira.kernels.array_module(device) as xp:
        if hasattr(xp, "cuda"):
            xp.cuda.get_current_stream().synchronize()


@contextmanager
def _progress(row: Application) -> Iterator[dict[str, Any]]:
    """Give the argument that shows what is done on a terminal, where the application takes one."""
    if not row.takes_progress:
        yield {}
        return
    line, title = StatusLine(), capital(row.title)
    try:
        yield {"progress": lambda done, total: line.show(f"{title}: {done:,} of {total:,}")}
    finally:
        line.clear()


def _text(fact: Any) -> Any:
    if isinstance(fact, dict):
        return ", ".join(f"{name} {cell(value)}" for name, value in fact.items())
    return ", ".join(map(cell, fact)) if isinstance(fact, (list, tuple)) else fact
