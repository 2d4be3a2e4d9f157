"""Commands that read records: pictures, and comparisons with peers."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from benchmarks.plots import plot_records
from benchmarks.studies.goals import render_goals
from benchmarks.studies.roofline import roofline_table
from benchmarks.studies.versus import render_operations, render_versus
from semira.bench.record import read_records
from semira.bench.report import markdown_table
from semira.bench.sources import sources_table
from semira.bench.versus import read_peers
from semira.cli.bench import FilesArgument, split_names
from semira.cli.options import option
from semira.cli.output import note, print_table
from semira.cli.plots import check_target


class Picture(StrEnum):
    """Pictures of records."""

    roofline = "roofline"
    frontiers = "frontiers"
    masks = "masks"
    scales = "scales"
    levels = "levels"
    spmspv = "spmspv"
    parts = "parts"
    blocks = "blocks"


def draw(
    what: Annotated[Picture, typer.Argument(help="What to draw.")],
    files: FilesArgument,
    to: Annotated[Path, typer.Option(help="Write it there.", metavar="FILE.svg")],
    graphs: Annotated[str | None, option("Only records of these graphs.", "A,B,...")] = None,
) -> None:
    """Draw records: the roofline of algorithms on a GPU, or the records of the study so named.

    roofline takes records of ``semira bench cuda``: bytes per second over bytes per iteration,
    under the bandwidth of the memory and the latency of nearly empty levels; its table names the
    bound of each case. parts takes records of the study spmspv: how searches with one strategy
    spend their time.

    Examples
    --------
    python -m benchmarks draw roofline bench/results/cuda.jsonl --to docs/assets/roofline.svg
    python -m benchmarks draw scales bench/results/scales.jsonl --to docs/assets/scales.svg
    python -m benchmarks draw spmspv spmspv.jsonl --graphs kron:16,kron:21 --to strategies.svg
    """
    check_target(to)
    records = [record for path in files for record in read_records(path)]
    if graphs is not None:
        wanted = split_names(graphs)
        missing = set(wanted) - {record.dataset.name for record in records}
        if missing:
            raise typer.BadParameter(f"--graphs: no record of {', '.join(sorted(missing))}")
        records = [record for record in records if record.dataset.name in wanted]
    if what is Picture.roofline:
        print_table(*roofline_table(records))
    plot_records(to, what.value, records)
    note(f"drawn to {to}")


def versus(
    files: FilesArgument,
    peers: Annotated[
        Path | None, option("Times of peers on the same GPU, for algorithms.", "FILE.json")
    ] = None,
) -> None:
    """Compare records of ``semira bench cuda`` with times of peers, or list those of cuda-micro.

    Device times are compared with device times, whole calls with whole calls, and both with the
    least time for the bytes of the products; then registers, occupancy and memory of kernels, and
    the goals met.
    Without peers: single operations, and calls on tiny objects.

    Examples
    --------
    python -m benchmarks versus bench/results/cuda.jsonl --peers bench/peers/h200.json
    """
    records = [record for path in files for record in read_records(path)]
    found = None if peers is None else read_peers(peers)
    typer.echo(render_operations(records) if found is None else render_versus(records, found))
    head, rows = sources_table(records)
    parts = [markdown_table(head, rows)] if rows else []
    parts.append("" if found is None else render_goals(records, found))
    for text in filter(None, parts):
        typer.echo("\n" + text)
