"""``python -m benchmarks micro, cuda-micro, memory, versus``: single operations, and tables."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from semira.cli.bench import (
    DataOption,
    DeviceOption,
    FilesArgument,
    GraphsOption,
    OutOption,
    QuickOption,
    finish,
    names_of,
    option,
    progress,
)
from semira.cli.options import Device
from semira.cli.output import note


def micro(
    graphs: GraphsOption = None,
    only: Annotated[str | None, option("Parts of names of operations.", "A,B,...")] = None,
    out: OutOption = None,
    quick: QuickOption = False,
    peers: Annotated[bool, typer.Option(help="Run python-graphblas beside.")] = True,
    overhead: Annotated[bool, typer.Option(help="Measure calls on eight entries.")] = True,
    trials: Annotated[int, option("Warm calls of each case.", min=1)] = 7,
    budget: Annotated[float, option("Budget of the warm calls of a case.", min=0.0)] = 1.0,
    data: DataOption = None,
) -> None:
    """Measure single operations next to python-graphblas, also on objects of eight entries.

    Examples
    --------
    python -m benchmarks micro --quick
    python -m benchmarks micro --graphs kron:16 --only mxm,mxv
    """
    from benchmarks.studies.micro import MicroRequest, run_micro

    request = MicroRequest(
        graphs=names_of(graphs, ("kron:10",) if quick else ("kron:14", "kron:16")),
        only=names_of(only, ()),
        peer=peers,
        overhead=overhead,
        trials=3 if quick else trials,
        seconds=0.2 if quick else budget,
        data=data,
    )
    finish(run_micro(request, out=out, say=note, done=progress), out)


def cuda_micro(
    graphs: GraphsOption = None,
    only: Annotated[str | None, option("Parts of names of operations.", "A,B,...")] = None,
    out: OutOption = None,
    quick: QuickOption = False,
    peers: Annotated[bool, typer.Option(help="Run CuPy beside.")] = True,
    check: Annotated[bool, typer.Option(help="Compute everything again on the cpu.")] = True,
    overhead: Annotated[bool, typer.Option(help="Measure calls on eight entries.")] = True,
    trials: Annotated[int, option("Warm calls of each case.", min=1)] = 10,
    budget: Annotated[float, option("Budget of the warm calls of a case.", min=0.0)] = 1.0,
    device: DeviceOption = Device.cuda,
    data: DataOption = None,
) -> None:
    """Measure single operations on the GPU: device times, bytes, CuPy, and the host's share.

    Calls on eight entries are made without waiting: what a call costs Python.

    Examples
    --------
    python -m benchmarks cuda-micro --quick
    python -m benchmarks cuda-micro --graphs kron:20 --only mxv,vxm --out results/cuda_micro.jsonl
    """
    from benchmarks.studies.device_micro import DeviceRequest, run_device_micro

    if device is Device.auto:
        raise typer.BadParameter("--device auto: a measurement must name its device")
    request = DeviceRequest(
        graphs=names_of(graphs, ("kron:12",) if quick else ("kron:16", "kron:20")),
        only=names_of(only, ()),
        peer=peers,
        check=check,
        overhead=overhead,
        trials=3 if quick else trials,
        seconds=0.2 if quick else budget,
        device=device.value,
        data=data,
    )
    finish(run_device_micro(request, out=out, say=note, done=progress), out)


def memory(
    graphs: GraphsOption = None,
    only: Annotated[str | None, option("Parts of names of cases.", "A,B,...")] = None,
    out: OutOption = None,
    quick: QuickOption = False,
    limit: Annotated[
        float | None,
        option("Exit with 1 if a peak exceeds so many times rows and columns.", min=0.0),
    ] = None,
    data: DataOption = None,
) -> None:
    """Measure the peak memory of building, transposing and multiplying.

    The peak counts everything Semira allocates and the operands, not the arrays that a caller
    passes; it is compared with the arrays of the matrix by rows and by columns.

    Examples
    --------
    python -m benchmarks memory --quick
    python -m benchmarks memory --graphs kron:18 --only build,transpose --limit 1.6
    """
    from benchmarks.studies.memory import MemoryRequest, run_memory

    request = MemoryRequest(
        graphs=names_of(graphs, ("kron:12",) if quick else ("kron:16", "kron:18")),
        only=names_of(only, ()),
        data=data,
    )
    records = run_memory(request, out=out, done=progress)
    finish(records, out)
    over = [each for each in records if limit is not None and (each.memory_ratio or 0) > limit]
    for record in over:
        note(f"{record.dataset.name} {record.kernel}: {record.memory_ratio:.2f} exceeds {limit}")
    if over:
        raise typer.Exit(1)


def versus(
    files: FilesArgument,
    peers: Annotated[
        Path | None, option("Times of peers on the same GPU, for algorithms.", "FILE.json")
    ] = None,
) -> None:
    """Write the records of ``bench cuda`` beside times of peers, or those of ``python -m benchmarks cuda-micro``.

    Device time stands beside device time and whole call beside whole call, with the time that
    the bytes of the products take at least; then registers, occupancy and memory of kernels, and
    which goals are met.
    Without peers: single operations, and calls on tiny objects.

    Examples
    --------
    python -m benchmarks versus bench/results/cuda.jsonl --peers bench/peers/h200.json
    """
    from benchmarks.studies.goals import render_goals
    from benchmarks.studies.versus import render_operations, render_versus
    from semira.bench.record import read_records
    from semira.bench.report import markdown_table
    from semira.bench.sources import sources_table
    from semira.bench.versus import read_peers

    records = [record for path in files for record in read_records(path)]
    found = None if peers is None else read_peers(peers)
    typer.echo(render_operations(records) if found is None else render_versus(records, found))
    head, rows = sources_table(records)
    parts = [markdown_table(head, rows)] if rows else []
    parts.append("" if found is None else render_goals(records, found))
    for text in filter(None, parts):
        typer.echo("\n" + text)


#: Further commands.
COMMANDS: tuple[Callable[..., None], ...] = (micro, cuda_micro, memory, versus)
