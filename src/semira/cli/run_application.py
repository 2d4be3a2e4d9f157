"""``semira run`` of an application: what it computes on a graph, with times kept apart."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import semira
from semira.algorithms.naming import tell
from semira.algorithms.row import load
from semira.base.status import StatusLine
from semira.cli import plots
from semira.cli.applications import (
    APPLICATIONS,
    arguments_of,
    check_given,
    check_out,
    own_options,
    write_table,
)
from semira.cli.graphs import Graph, Reading, choose_device, load_graph
from semira.cli.groups import READING, with_options
from semira.cli.options import (
    OUTPUT,
    Device,
    DeviceOption,
    FileArgument,
    JsonOption,
    PlotOption,
    RepeatOption,
    option,
)
from semira.cli.output import cell, note, print_json, print_pairs, seconds

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
        asked = _Asked(row, own, json=json, plot=plot, out=out)
        run_application(asked, file, device, repeat, reading)

    run.__doc__ = f"{row.title[0].upper()}{row.title[1:]}: {row.summary}."
    return run


@dataclass(frozen=True, slots=True)
class _Asked:
    """What was asked of an application, and where its result goes."""

    row: Application
    given: dict[str, Any]
    json: bool
    plot: Path | None
    out: str | None

    def check(self) -> None:
        """Refuse before the work what is lacking, or cannot be written after it."""
        check_given(self.row, self.given)
        if self.out == "-" and self.json:
            raise typer.BadParameter("--out - and --json both want standard output; name a file")
        if self.out is not None:
            check_out(self.out)
        if self.plot is not None:
            if not self.row.plot:
                raise typer.BadParameter(f"{self.row.typed} has no picture; leave out --plot")
            plots.check_target(self.plot)


@dataclass(slots=True)
class _Run:
    """The result of the last call, and the seconds of all."""

    result: Any
    device: str
    place_s: float
    first_s: float
    runs_s: list[float] = field(default_factory=list)


def run_application(
    asked: _Asked, file: str, device: Device | None, repeat: int, reading: Reading
) -> None:
    """Run an application on a graph; print and write what was asked for."""
    row = asked.row
    asked.check()
    chosen = choose_device(device)
    options = dict(asked.given)
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
    ran = _run(row, graph, arguments, chosen, repeat)
    record = _record(row, graph, ran)
    if asked.json:
        print_json(record)
    elif asked.out != "-":
        _show(row, graph, record)
    if asked.out is not None:
        tell(ran.result, semira.io.Graph(graph.matrix, graph.labels))
        count = write_table(asked.out, ran.result)
        if asked.out != "-":
            note(f"{count:,} rows written to {asked.out}")
    if asked.plot is not None:
        load(row.plot)(ran.result, graph.matrix, str(asked.plot))


def _run(
    row: Application, graph: Graph, arguments: dict[str, Any], device: str, repeat: int
) -> _Run:
    def call() -> tuple[Any, float]:
        start_s = time.perf_counter()
        with _progress(row) as shown:
            result = row.function(matrix, **arguments, **shown)
        _wait(device)
        return result, time.perf_counter() - start_s

    with semira.device(device):
        start_s = time.perf_counter()
        matrix = graph.matrix.to(device)
        place_s = time.perf_counter() - start_s
        result, first_s = call()
        ran = _Run(result, device, place_s, first_s)
        for _ in range(repeat):
            ran.result, run_s = call()
            ran.runs_s.append(run_s)
    return ran


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
    line = StatusLine()
    try:
        yield {"progress": lambda done, total: line.show(f"{row.title}: {done:,} of {total:,}")}
    finally:
        line.clear()


def _record(row: Application, graph: Graph, ran: _Run) -> dict[str, Any]:
    """Return the object that ``--json`` prints."""
    return {
        "application": row.name,
        "graph": graph.name,
        "n": graph.arrays.nrows,
        "entries": graph.arrays.nvals,
        "device": ran.device,
        "times_s": {
            "read": graph.read_s,
            "place": ran.place_s,
            "first": ran.first_s,
            "runs": ran.runs_s,
        },
        "result": ran.result.facts(),
    }


def _show(row: Application, graph: Graph, record: dict[str, Any]) -> None:
    times = record["times_s"]
    pairs = [(name, record[name]) for name in ("n", "entries", "device")]
    pairs += [(name.replace("_", " "), _text(fact)) for name, fact in record["result"].items()]
    pairs += [("read", seconds(times["read"])), ("first call", seconds(times["first"]))]
    if runs := times["runs"]:
        told = f"median of {len(runs)} warm" if len(runs) > 1 else "warm call"
        pairs.append((told, seconds(statistics.median(runs))))
    print_pairs(pairs, title=f"{row.title} on {graph.name}")


def _text(fact: Any) -> Any:
    """Return a fact on one line."""
    if isinstance(fact, dict):
        return ", ".join(f"{name} {cell(value)}" for name, value in fact.items())
    return ", ".join(map(cell, fact)) if isinstance(fact, (list, tuple)) else fact
