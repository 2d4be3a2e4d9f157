"""``semira bench``: measurements next to other libraries, comparisons, tables."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from semira.base.errors import FileWriteError
from semira.bench.compare import compare as compare_records
from semira.bench.compare import worsened
from semira.bench.graphs import CUDA_GRAPHS, DEFAULT_GRAPHS, QUICK_GRAPHS
from semira.bench.libraries import KERNELS
from semira.bench.peers import GPU_PEERS, HOST_PEERS
from semira.bench.record import failures, read_records
from semira.bench.report import KINDS, MEMORY_NOTE, memory_table_of, render_report, table_of
from semira.bench.sources import sources_table
from semira.bench.suite import Request, run_suite
from semira.cli.groups import Group, with_options
from semira.cli.options import Device, option
from semira.cli.output import note, print_table, say, seconds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from semira.bench.record import Record


class PresetName(StrEnum):
    """How often to measure."""

    default = "default"
    quick = "quick"
    gap = "gap"


def check_append(out: Path | None, *, append: bool) -> None:
    """Check that there is a file to append to."""
    if append and out is None:
        raise typer.BadParameter("--append keeps the records of a file; name it with --out")


GraphsOption = Annotated[
    str | None,
    option("Generators, files, or names in the folder of data, between commas.", "A,B,..."),
]
AlgorithmsOption = Annotated[
    str | None, option("Some of bfs, sssp, pagerank, cc, tc. Default: all.", "A,B,...")
]
PeersOption = Annotated[
    str | None,
    option("Some of suitesparse, scipy, networkx, cugraph, cusparse, or none.", "A,B,..."),
]
OutOption = Annotated[Path | None, option("Write records, one line of JSON each.", "FILE.jsonl")]
DataOption = Annotated[
    Path | None, option("Folder of graphs that are named without a path.", "FOLDER")
]
TrialsOption = Annotated[int | None, option("Warm calls of each case.", min=1)]
SecondsOption = Annotated[float | None, option("Budget of the warm calls of a case.", min=0.0)]
PinOption = Annotated[
    list[str] | None,
    option("Option of every product of ours, such as direction=push.", "NAME=VALUE"),
]
PresetOption = Annotated[PresetName, typer.Option(help="gap: trials of the GAP benchmark suite.")]
QuickOption = Annotated[bool, typer.Option("--quick", help="Small graphs and few calls.")]
DeviceOption = Annotated[Device, typer.Option(help="Where Semira computes; not auto.")]
VariantsOption = Annotated[
    bool, typer.Option(help="Also FP32, twenty iterations of PageRank, and copies of a matrix.")
]
CopiesOption = Annotated[bool, typer.Option(help="With variants: copies of a matrix.")]
StoredOption = Annotated[bool, typer.Option("--as-stored", help="Leave directed graphs directed.")]
FileArgument = Annotated[Path, typer.Argument(metavar="FILE.jsonl", show_default=False)]
FilesArgument = Annotated[list[Path], typer.Argument(metavar="FILE.jsonl", show_default=False)]


def split_names(text: str) -> list[str]:
    """Return the names between commas; options of generators stay with their generator.

    Examples
    --------
    >>> split_names("kron:14,road:9x9,removed=0.1,karate")
    ['kron:14', 'road:9x9,removed=0.1', 'karate']
    """
    names: list[str] = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        if names and "=" in part and ":" not in part:
            names[-1] += f",{part}"
        else:
            names.append(part)
    return names


def names_of(text: str | None, default: Sequence[str]) -> list[str]:
    """Return the names of an option: those of the default if it is not given, none for ``none``."""
    if text is None:
        return list(default)
    return [] if text == "none" else split_names(text)


def _pins(pairs: list[str] | None) -> dict[str, str]:
    pinned = {}
    for pair in pairs or ():
        name, equals, value = pair.partition("=")
        if not (name and equals and value):
            raise typer.BadParameter(f"--pin {pair}: give NAME=VALUE, such as direction=push")
        pinned[name] = value
    return pinned


def progress(record: Record) -> None:
    """Print a line about a record, on a terminal."""
    outcome = {True: "ok", False: "WRONG", None: ""}[record.verified]
    ratio = record.memory_ratio
    figure = seconds(record.median_s) if ratio is None else f"{ratio:.2f} x rows and columns"
    parts = (
        record.dataset.name, record.kernel, record.library, figure, outcome, record.note,
    )  # fmt: skip
    say("  ".join(filter(None, parts)))


def finish(records: Sequence[Record], out: Path | None, *, tables: bool = True) -> None:
    """Print the tables; leave with code 1 if a result is wrong."""
    if tables:
        _print_tables(records)
    if out is not None:
        note(f"{len(records)} records written to {out}")
    wrong = failures(records)
    for record in wrong:
        note(f"{record.dataset.name} {record.kernel} {record.library}: wrong: {record.note}")
    if wrong:
        raise typer.Exit(1)


def _print_tables(records: Sequence[Record]) -> None:
    for kind in KINDS:
        head, rows = table_of(records, kind.name)
        if rows:
            print_table(head, rows, title=f"{kind.unit}; in brackets: divided by Semira's")
    head, rows = memory_table_of(records)
    if rows:
        print_table(head, rows, title=MEMORY_NOTE)
    head, rows = sources_table(records)
    if rows:
        print_table(head, rows, title="From many vertices")


#: What `cpu` and `cuda` share; a command gets it by name.
_MEASURED = Group(
    {
        "graphs": (GraphsOption, None),
        "algorithms": (AlgorithmsOption, None),
        "peers": (PeersOption, None),
        "out": (OutOption, None),
        "quick": (QuickOption, False),
        "preset": (PresetOption, PresetName.default),
        "trials": (TrialsOption, None),
        "budget": (SecondsOption, None),
        "pin": (PinOption, None),
        "data": (DataOption, None),
    },
    dict,
)


@with_options(asked=_MEASURED)
def cpu(*, asked: dict[str, Any], device: DeviceOption = Device.cpu) -> None:
    """Measure the five algorithms next to SuiteSparse, SciPy and NetworkX, if installed.

    Every result is checked by another method than the one that computed it; a wrong one makes
    the exit code 1. Compile, first call and warm calls are separate fields of the records.

    Examples
    --------
    semira bench cpu --quick
    semira bench cpu --graphs kron:14,road:300x300,removed=0.05 --peers scipy
    semira bench cpu --out results/cpu.jsonl
    """
    if device is Device.auto:
        raise typer.BadParameter("--device auto: a measurement must name its device")
    default = QUICK_GRAPHS if asked["quick"] else DEFAULT_GRAPHS
    _measure(asked, default, HOST_PEERS, device=device.value)


@with_options(asked=_MEASURED)
def cuda(
    *,
    asked: dict[str, Any],
    variants: VariantsOption = True,
    copies: CopiesOption = True,
    as_stored: StoredOption = False,
    sources: Annotated[
        int, option("Also search from this many random vertices (drawn with a seed).", min=0)
    ] = 0,
    limit: Annotated[
        float | None, option("Seconds after which no further kernel or graph begins.", min=0.0)
    ] = None,
    append: Annotated[bool, typer.Option("--append", help="Keep the records in FILE.")] = False,
) -> None:
    """Measure the five algorithms on the GPU, graph already there.

    Whole calls by the clock of the host, launches by that of the device; registers, occupancy
    and memory of every kernel; the bytes that the products must move. Graphs have every edge in
    both directions. cuGraph and cuSPARSE run beside if they are installed, those of the host if
    they are named. ``python -m benchmarks versus`` prints the table.

    Examples
    --------
    semira bench cuda --graphs kron:14 --out results/cuda.jsonl
    semira bench cuda --graphs kron21 --algorithms bfs,sssp --sources 64
    semira bench cuda --graphs cnr-2000 --peers cugraph,scipy
    semira bench cuda --graphs kron21,grid4900 --algorithms bfs,pagerank
    """
    check_append(asked["out"], append=append)
    more: Any = {} if limit is None else {"limit": limit}
    more |= {"append": append, "variants": variants, "copies": copies, "sources": sources}
    default = QUICK_GRAPHS if asked["quick"] else CUDA_GRAPHS
    _measure(asked, default, GPU_PEERS, device="cuda", both_ways=not as_stored, **more)


def _measure(
    asked: dict[str, Any], graphs: Sequence[str], peers: Sequence[str], **more: Any
) -> None:
    """Measure what was asked for, by default on these graphs beside these peers."""
    request = Request(
        graphs=names_of(asked["graphs"], graphs),
        algorithms=names_of(asked["algorithms"], KERNELS),
        peers=names_of(asked["peers"], peers),
        preset="quick" if asked["quick"] else asked["preset"].value,
        trials=asked["trials"],
        seconds=asked["budget"],
        plan=_pins(asked["pin"]),
        data=asked["data"],
        **more,
    )
    finish(run_suite(request, out=asked["out"], say=note, done=progress), asked["out"])


def compare(
    before: FileArgument,
    after: FileArgument,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with 1 if a case became slower.")
    ] = False,
) -> None:
    """Compare the records of two files case by case.

    A case is slower or faster if its median moved by more than 5 % and the quartiles of both
    runs lie apart; the band is the ratio of these quartiles. Wrong results exit with 1.

    Examples
    --------
    semira bench compare before.jsonl after.jsonl
    """
    changes = compare_records(read_records(before), read_records(after))
    rows = [
        (
            pair.after.dataset.name, pair.after.kernel, pair.after.library,
            seconds(pair.before.median_s), seconds(pair.after.median_s),
            round(pair.ratio, 3), f"{pair.low:.2f} .. {pair.high:.2f}", pair.verdict,
        )
        for pair in changes.pairs
    ]  # fmt: skip
    print_table(("graph", "kernel", "library", "before", "after", "ratio", "band", ""), rows)
    for where, records in (("before", changes.only_before), ("after", changes.only_after)):
        for record in records:
            note(f"only {where}: {record.dataset.name} {record.kernel} {record.library}")
    bad = [pair for pair in worsened(changes.pairs) if strict or pair.verdict == "wrong"]
    if bad:
        raise typer.Exit(1)


def report(
    files: FilesArgument, out: Annotated[Path | None, option("Write it there.", "FILE.md")] = None
) -> None:
    """Write the records of files as Markdown tables.

    Examples
    --------
    semira bench report results/cpu.jsonl --out docs/measured.md
    """
    text = render_report([record for path in files for record in read_records(path)])
    if out is None:
        typer.echo(text, nl=False)
        return
    try:
        out.write_text(text, encoding="utf-8")
    except OSError as error:
        raise FileWriteError(f"{out}: cannot be written: {error.strerror or error}") from error
