"""The measurement of algorithms: five kernels on several graphs, next to the peers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from semira.base.errors import InvalidValue, MissingFile
from semira.base.settings import settings
from semira.bench.environment import describe_environment
from semira.bench.graphs import load_bench_graph
from semira.bench.libraries import KERNELS
from semira.bench.ours import semira_library
from semira.bench.peers import PEERS, open_peer
from semira.bench.record import Record, append_records, start_file
from semira.bench.runner import PRESETS, run_kernel


@dataclass(frozen=True, slots=True)
class Request:
    """What to measure.

    Attributes
    ----------
    graphs : sequence of str
    algorithms : sequence of str
    peers : sequence of str
    preset : str
        A key of `PRESETS`.
    trials, seconds : optional
        In place of the preset's.
    device : str
    plan : dict
        Options pinned for every product of ours.
    data : Path or None
        Folder of named graphs.
    """

    graphs: Sequence[str]
    algorithms: Sequence[str] = KERNELS
    peers: Sequence[str] = tuple(PEERS)
    preset: str = "default"
    trials: int | None = None
    seconds: float | None = None
    device: str = "cpu"
    plan: dict[str, Any] = field(default_factory=dict)
    data: Path | None = None


def _check(names: Iterable[str], known: Iterable[str], what: str) -> None:
    valid = list(known)
    for name in names:
        if name not in valid:
            raise InvalidValue(f"unknown {what} {name!r}; choose among {', '.join(valid)}")


def run_suite(
    request: Request,
    *,
    out: Path | None = None,
    say: Callable[[str], None] = lambda _text: None,
    done: Callable[[Record], None] = lambda _record: None,
) -> list[Record]:
    """Measure, check and record.

    Parameters
    ----------
    request : Request
    out : Path, optional
        File of JSON lines; written anew, a line as soon as a case is checked.
    say : callable
        Takes remarks: graphs that are absent, peers that are not installed.
    done : callable
        Takes each record.

    Returns
    -------
    list of Record

    Raises
    ------
    InvalidValue
        An algorithm, a peer or a preset is unknown, or no graph was found.
    FileWriteError
        `out` cannot be written.
    DeviceUnavailable
        This machine lacks the device.
    """
    _check(request.algorithms, KERNELS, "algorithm")
    _check(request.peers, PEERS, "peer")
    _check([request.preset], PRESETS, "preset")
    if out is not None:
        start_file(out)
    libraries = [semira_library(request.device, request.plan)]
    for name in request.peers:
        peer = open_peer(name, settings().threads)
        if peer is None:
            say(f"peer {name}: not installed")
        else:
            libraries.append(peer)

    def keep(record: Record) -> None:
        if out is not None:
            append_records(out, [record])
        done(record)

    environment = describe_environment(request.device)
    records: list[Record] = []
    for name in request.graphs:
        try:
            graph = load_bench_graph(name, request.data)
        except MissingFile as error:
            say(f"graph {error}: left out")
            continue
        for kernel in request.algorithms:
            records += run_kernel(
                kernel, graph, libraries, PRESETS[request.preset],
                trials=request.trials, seconds=request.seconds,
                environment=environment, done=keep,
            )  # fmt: skip
    if not records:
        raise InvalidValue(f"nothing was measured: none of {', '.join(request.graphs)} was found")
    return records
