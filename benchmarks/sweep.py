"""Measure graph after graph: the request of a sweep, and the file of its records."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from semira.base.errors import MissingFile
from semira.bench.device import array_module
from semira.bench.environment import describe_environment
from semira.bench.graphs import BenchGraph, load_bench_graph
from semira.bench.record import Record, append_records, require_some, start_file


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


def graphs_of(
    names: Sequence[str],
    data: Path | None,
    xp: Any,
    say: Callable[[str], None] | None,
    load: Callable[[str, Path | None, Any], Any] = load_bench_graph,
) -> Iterator[Any]:
    """Yield the graphs of some names; with `say`, skip and report missing ones.

    Parameters
    ----------
    names : sequence of str
    data : Path or None
        Folder of named graphs.
    xp : module
        NumPy, or its equivalent on the device.
    say : callable or None
    load : callable
        Loads one graph.

    Raises
    ------
    MissingFile
        A graph is missing and `say` is None.
    """
    for name in names:
        try:
            yield load(name, data, xp)
        except MissingFile as error:
            if say is None:
                raise
            say(f"graph {error}: left out")


def keep_graphs(
    request: SweepRequest,
    of_graph: Callable[[BenchGraph], Iterator[Record]],
    out: Path | None,
    done: Callable[[Record], None],
    say: Callable[[str], None] | None = None,
    *,
    append: bool = False,
) -> list[Record]:
    """Measure graph by graph; write each record as soon as it is made.

    With `append`, keep the records already in `out`.

    Raises
    ------
    MissingFile
        A graph is missing and `say` is None.
    InvalidValue
        No graph was measured and `say` is given.
    """
    # First: if the device is missing, existing records stay.
    environment, xp = describe_environment(request.device), array_module(request.device)
    made = (
        replace(record, environment=environment)
        for graph in graphs_of(request.graphs, request.data, xp, say)
        for record in of_graph(graph)
    )
    records = keep_records(made, out, done, append=append)
    return records if say is None else require_some(records, request.graphs)


def keep_records(
    made: Iterable[Record],
    out: Path | None,
    done: Callable[[Record], None] = lambda _record: None,
    *,
    append: bool = False,
) -> list[Record]:
    """Write records to a new file as they are made, and pass each to `done`; return them.

    `append` keeps the records already in the file.

    Raises
    ------
    FileWriteError
        `out` cannot be written.
    """
    if out is not None:
        start_file(out, append=append)
    records = []
    for record in made:
        if out is not None:
            append_records(out, [record])
        done(record)
        records.append(record)
    return records
