"""``semira bench GRAPH...``: the comparison for the graphs and devices at hand."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from semira.bench.graphs import DEFAULT_GRAPHS, QUICK_GRAPHS, at_hand
from semira.bench.libraries import KERNELS
from semira.bench.peers import HOST_PEERS, PEERS
from semira.bench.suite import Request, run_suite
from semira.bench.versus import published_table, read_peers
from semira.cli.bench import (
    AlgorithmsOption,
    DataOption,
    OutOption,
    PeersOption,
    QuickOption,
    SecondsOption,
    TrialsOption,
    finish,
    names_of,
    progress,
)
from semira.cli.graphs import why_unusable
from semira.cli.options import Device, option
from semira.cli.output import note, print_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from semira.bench.record import Record

#: Where a checkout has the times of peers.
_PUBLISHED = Path("bench/peers/h200.json")

GraphsArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="GRAPH",
        help="Generators, files, or names in the folder of --data. Default: generated ones, and "
        "road and web graphs of that folder.",
        show_default=False,
    ),
]
DeviceOption = Annotated[
    Device, typer.Option(help="auto: cuda and cpu where there is a GPU, else cpu.")
]
PublishedOption = Annotated[
    Path | None,
    option("Times of peers to print beside those of a GPU. A checkout has some.", "FILE.json"),
]


def graphs_at_hand(
    graphs: GraphsArgument = None,
    device: DeviceOption = Device.auto,
    algorithms: AlgorithmsOption = None,
    peers: PeersOption = None,
    out: OutOption = None,
    published: PublishedOption = None,
    quick: QuickOption = False,
    trials: TrialsOption = None,
    budget: SecondsOption = None,
    data: DataOption = None,
) -> None:
    """Compare Semira with every peer that is installed, on the graphs and devices at hand.

    What `semira bench` does without the name of a command. With a GPU both are measured, and
    cuGraph and cuSPARSE run beside SuiteSparse, SciPy and NetworkX; every graph then has its edges
    in both directions. Graphs that published times of peers are known of get a table of these.

    Examples
    --------
    semira bench --quick
    semira bench kron:16 roads.gr --out records.jsonl
    semira bench cnr-2000 --device cuda --peers cugraph
    """
    chosen, *beside = _devices(device)
    has_gpu = chosen == Device.cuda
    if published is not None and not has_gpu:
        raise typer.BadParameter(
            f"--published {published}: its times stand beside those of a GPU, and none is "
            "measured; leave it out, or add --device cuda where there is a GPU"
        )
    known = _published(published) if has_gpu else None
    if not graphs:
        graphs, absent = at_hand(QUICK_GRAPHS if quick else DEFAULT_GRAPHS, data)
        if absent:
            note(f"no files of {', '.join(absent)}: name their folder with --data to measure them")
    request = Request(
        graphs=graphs,
        algorithms=names_of(algorithms, KERNELS),
        peers=names_of(peers, tuple(PEERS) if has_gpu else HOST_PEERS),
        preset="quick" if quick else "default",
        trials=trials,
        seconds=budget,
        device=chosen,
        beside=beside,
        data=data,
        both_ways=has_gpu,
        # Peers have made twenty iterations of PageRank, with numbers of 32 bits.
        variants=known is not None,
    )
    records = run_suite(request, out=out, say=note, done=progress)
    if known is not None:
        _print_published(records, known)
    finish(records, out)


def _devices(asked: Device) -> list[str]:
    """Return what is measured, the first one with everything that is there."""
    if asked is not Device.auto:
        return [asked.value]

    why_not = why_unusable("cuda")
    if why_not is None:
        return ["cuda", "cpu"]
    note(f"cuda is not measured: it cannot be used ({why_not})")
    return ["cpu"]


def _published(given: Path | None) -> Any:
    """Return published times, None if none are at hand; says which."""
    checkout = Path(__file__).resolve().parents[3] / _PUBLISHED
    path = given if given is not None else checkout
    if given is None and not checkout.is_file():
        note("no published times of peers are at hand; name a file with --published")
        return None
    return read_peers(path)


def _print_published(records: Sequence[Record], known: Any) -> None:
    head, rows = published_table(records, known)
    if not rows:
        note("peers have published no times of these graphs")
        return
    here_on = records[0].environment.get("gpu", "an unknown GPU")
    about = f"Published {known.about['date']} on {known.about['gpu']}; ours here on {here_on}"
    print_table(head, rows, title=f"{about}; in brackets: divided by Semira's")
