"""Measure graph after graph: what a sweep is asked for, and how its records are kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from semira.base.errors import MissingFile
from semira.bench.device import array_module
from semira.bench.environment import describe_environment
from semira.bench.graphs import BenchGraph, load_bench_graph
from semira.bench.record import Record, keep_records, require_some


@dataclass(frozen=True, slots=True)
class SweepRequest:
    """What to measure.

    Attributes
    ----------
    graphs : sequence of str
    trials : int
    seconds : float
        Budget of the warm calls of one case.
    device : str
    data : Path or None
        Folder of named graphs.
    """

    graphs: Sequence[str] = ("kron:18",)
    trials: int = 10
    seconds: float = 5.0
    device: str = "cpu"
    data: Path | None = None


def keep_graphs(
    request: SweepRequest,
    of_graph: Callable[[BenchGraph], Iterator[Record]],
    out: Path | None,
    done: Callable[[Record], None],
    say: Callable[[str], None] | None = None,
    *,
    append: bool = False,
) -> list[Record]:
    """Measure graph by graph; each record is kept as soon as it is made.

    With `append`, after those that `out` has.

    With `say`, a graph that is absent is left out with a word instead of ending the run, unless
    nothing is left to measure: then it is an error, as everywhere.
    """
    # First: without the device, records that are there stay.
    environment, xp = describe_environment(request.device), array_module(request.device)

    def made() -> Iterator[Record]:
        for name in request.graphs:
            try:
                graph = load_bench_graph(name, request.data, xp)
            except MissingFile as error:
                if say is None:
                    raise
                say(f"graph {error}: left out")
                continue
            for record in of_graph(graph):
                yield replace(record, environment=environment)

    records = keep_records(made(), out, done, append=append)
    return records if say is None else require_some(records, request.graphs)
