"""``python -m benchmarks ideas, frontiers, scales, variants, shapes, draw``: why it is fast, or not."""

from __future__ import annotations

import math
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from semira.cli.bench import (
    DataOption,
    FilesArgument,
    GraphsOption,
    OutOption,
    QuickOption,
    finish,
    option,
    progress,
    split_names,
)
from semira.cli.options import Device
from semira.cli.output import note, print_table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from semira.bench.record import Record


class Picture(StrEnum):
    """What can be drawn from records."""

    roofline = "roofline"
    frontiers = "frontiers"
    masks = "masks"
    scales = "scales"
    levels = "levels"
    spmspv = "spmspv"
    parts = "parts"
    blocks = "blocks"


DeviceOption = Annotated[Device, typer.Option(help="Where to compute; not auto.")]
TrialsOption = Annotated[int, typer.Option(help="Warm calls of each case.", min=1)]
SecondsOption = Annotated[float, typer.Option(help="Budget of the warm calls of a case.", min=0.0)]
PlotOption = Annotated[Path | None, option("Draw it there (extra plot).", "FILE.svg")]


def named_device(device: Device) -> str:
    """Return the name of a device; a measurement must name it."""
    if device is Device.auto:
        raise typer.BadParameter("--device auto: a measurement must name its device")
    return device.value


def numbers_of(text: str, name: str) -> list[float]:
    """Return the numbers between commas."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise typer.BadParameter(f"{name} {text}: give numbers between commas") from None


def check_plot(plot: Path | None) -> None:
    """Check that a picture can be drawn there, before anything is measured."""
    if plot is not None:
        from semira.cli.plots import check_target

        check_target(plot)


def draw_to(plot: Path | None, what: str, records: Sequence[Record]) -> None:
    """Draw records into a file, if one is given."""
    if plot is not None:
        from benchmarks.plots import plot_records

        plot_records(plot, what, records)
        note(f"drawn to {plot}")


def ideas(
    graphs: GraphsOption = None,
    device: DeviceOption = Device.cpu,
    out: OutOption = None,
    quick: QuickOption = False,
    trials: TrialsOption = 10,
    budget: SecondsOption = 5.0,
    data: DataOption = None,
) -> None:
    """Measure what each idea adds to breadth-first search, and what the plans of all use.

    From push alone: structure only, change of direction, masking, early exit, operand reuse, one
    after the other (C. Yang's thesis of 2019, Table 5.2), each result checked. Then the plans of
    the five algorithms say which idea each makes use of (Table 7.5).

    Examples
    --------
    python -m benchmarks ideas --quick
    python -m benchmarks ideas --graphs kron21 --device cuda --out bench/results/ideas.jsonl
    """
    from benchmarks.studies.ideas import fired_table, ideas_table, run_ideas
    from semira.bench.sweep import SweepRequest

    request = SweepRequest(
        graphs=split_names(graphs or ("kron:10" if quick else "kron:18")),
        trials=3 if quick else trials,
        seconds=0.5 if quick else budget,
        device=named_device(device),
        data=data,
    )
    records = run_ideas(request, out=out, done=progress)
    print_table(*ideas_table(records), title="One idea after the other")
    print_table(*fired_table(records), title="What plans make use of")
    finish([each for each in records if each.kind != "plans"], out, tables=False)


def frontiers(
    graphs: GraphsOption = None,
    device: DeviceOption = Device.cpu,
    shares: Annotated[
        str | None, option("Parts of the vertices in the frontier.", "0.001,0.1,...")
    ] = None,
    open: Annotated[
        str | None, option("Parts that a mask leaves open; 1: no mask.", "1,0.5,...")
    ] = None,
    out: OutOption = None,
    plot: PlotOption = None,
    quick: QuickOption = False,
    trials: TrialsOption = 10,
    budget: SecondsOption = 0.5,
    data: DataOption = None,
) -> None:
    """Measure push, pull and the planner's choice over random frontiers and masks.

    One product at a time: min_plus without a mask, a step of breadth-first search under one. The
    table says where pull becomes the better way, and how far the planner's choice is from the
    better of both.

    Examples
    --------
    python -m benchmarks frontiers --quick --plot frontiers.svg
    python -m benchmarks frontiers --graphs kron:20 --device cuda --out bench/results/frontiers.jsonl
    """
    from benchmarks.studies.frontiers import (
        OPEN,
        SHARES,
        FrontiersRequest,
        frontiers_table,
        run_frontiers,
    )

    check_plot(plot)
    request = FrontiersRequest(
        graphs=split_names(graphs or ("kron:10" if quick else "kron:18")),
        shares=numbers_of(shares, "--shares") if shares else SHARES[2::3] if quick else SHARES,
        open=numbers_of(open, "--open") if open else OPEN[::2] if quick else OPEN,
        trials=3 if quick else trials,
        seconds=0.1 if quick else budget,
        device=named_device(device),
        data=data,
    )
    records = run_frontiers(request, out=out, done=progress)
    print_table(*frontiers_table(records), title="Push, pull and auto")
    draw_to(plot, "frontiers", records)
    finish(records, out, tables=False)


def masks(
    graphs: GraphsOption = None,
    device: DeviceOption = Device.cpu,
    shares: Annotated[
        str | None, option("Parts of the rows that the mask lets through.", "0.001,0.1,...")
    ] = None,
    out: OutOption = None,
    plot: PlotOption = None,
    quick: QuickOption = False,
    trials: TrialsOption = 10,
    budget: SecondsOption = 0.5,
    data: DataOption = None,
) -> None:
    """Measure push and pull over random masks, looked at before multiplying or after.

    Products of min_plus without early exit, with a sixty-fourth of the vertices and with all (C.
    Yang's thesis of 2019, Figures 7.3 and 7.5). The table says what it saves to look at the mask
    first, and from which mask on push is the better way.

    Examples
    --------
    python -m benchmarks masks --quick --plot masks.svg
    python -m benchmarks masks --graphs kron:20 --device cuda --out bench/results/masks.jsonl
    """
    from benchmarks.studies.frontiers import SHARES
    from benchmarks.studies.masks import MasksRequest, masks_table, run_masks

    check_plot(plot)
    request = MasksRequest(
        graphs=split_names(graphs or ("kron:10" if quick else "kron:18")),
        shares=numbers_of(shares, "--shares") if shares else SHARES[2::3] if quick else SHARES,
        trials=3 if quick else trials,
        seconds=0.1 if quick else budget,
        device=named_device(device),
        data=data,
    )
    records = run_masks(request, out=out, done=progress)
    print_table(*masks_table(records), title="The mask first or last")
    draw_to(plot, "masks", records)
    finish(records, out, tables=False)


def scales(
    scale: Annotated[str, typer.Option("--scales", help="From-to, both included.")] = "12-18",
    device: DeviceOption = Device.cpu,
    edge_factor: Annotated[int, typer.Option(help="Edges drawn for each vertex.", min=1)] = 16,
    sources: Annotated[int, typer.Option(help="Start vertices of each graph.", min=1)] = 16,
    out: OutOption = None,
    plot: PlotOption = None,
    budget: SecondsOption = 20.0,
    limit: Annotated[
        float | None,
        option("Seconds of the whole: graphs that would end later are left out.", min=0.0),
    ] = None,
) -> None:
    """Measure edges a second of breadth-first search on Kronecker graphs of growing size.

    From seeded start vertices, each call timed whole, the result of the first one checked; in the
    manner of Figure 8.1 of C. Yang's thesis of 2019. One graph at a time: each scale takes twice
    the memory and the time of the one before. On the GPU, graphs from scale 20 on are drawn there.

    Examples
    --------
    python -m benchmarks scales --scales 8-12 --sources 4
    python -m benchmarks scales --scales 16-26 --device cuda --limit 120 --out bench/results/scales.jsonl
    """
    from benchmarks.studies.scales import ScalesRequest, run_scales, scales_table

    first, _, last = scale.partition("-")
    if not (first.isdecimal() and (last or first).isdecimal()):
        raise typer.BadParameter(f"--scales {scale}: give a number, or two such as 16-24")
    check_plot(plot)
    request = ScalesRequest(
        scales=range(int(first), int(last or first) + 1),
        edge_factor=edge_factor,
        sources=sources,
        seconds=budget,
        limit=math.inf if limit is None else limit,
        device=named_device(device),
    )
    records = run_scales(request, out=out, say=note, done=progress)
    print_table(*scales_table(records), title="Breadth-first search")
    draw_to(plot, "scales", records)
    finish(records, out, tables=False)


def variants(
    graphs: GraphsOption = None,
    device: DeviceOption = Device.cpu,
    out: OutOption = None,
    quick: QuickOption = False,
    trials: TrialsOption = 10,
    budget: SecondsOption = 5.0,
    data: DataOption = None,
) -> None:
    """Measure bodies that differ a little from breadth-first search, an iteration of each.

    Another semiring, levels as values, one more statement, two frontiers, a Python function as
    multiply: each is written with the public API and checked, and its iteration compared with the
    plain one's. Nothing is fast because it has a name. Two frontiers are two products.

    Examples
    --------
    python -m benchmarks variants --quick
    python -m benchmarks variants --device cuda --out bench/results/variants.jsonl
    python -m benchmarks variants --graphs kron:20,grid4900 --device cuda
    """
    from benchmarks.studies.variants import QUICK, VariantsRequest, run_variants, variants_table

    given = split_names(graphs) if graphs else None
    request = VariantsRequest(
        graphs=given or (QUICK if quick else VariantsRequest().graphs),
        trials=3 if quick else trials,
        seconds=0.5 if quick else budget,
        device=named_device(device),
        data=data,
    )
    records = run_variants(request, out=out, done=progress)
    print_table(*variants_table(records), title="Bodies beside the plain one")
    finish(records, out, tables=False)


def shapes(
    graphs: GraphsOption = None,
    device: DeviceOption = Device.cpu,
    searches: Annotated[int, typer.Option(help="Most of them on each graph.", min=1)] = 64,
    out: OutOption = None,
    quick: QuickOption = False,
    data: DataOption = None,
) -> None:
    """Look at graphs: vertices, entries, the longest row, bounds of the diameter.

    The diameter is bounded by breadth-first searches (`semira.algorithms.diameter`), edges in both
    directions; where the bounds meet it is known. Nothing is timed. The documentation says with it
    what the graphs of other measurements are like (C. Yang's thesis of 2019, Table 4.1).

    Examples
    --------
    python -m benchmarks shapes --quick
    python -m benchmarks shapes --graphs kron:16,coAuthorsDBLP --out bench/results/shapes.jsonl
    """
    from benchmarks.studies.shapes import ShapesRequest, run_shapes, shapes_table

    request = ShapesRequest(
        graphs=split_names(graphs or ("kron:8,road:20x20" if quick else "kron:14")),
        searches=searches,
        device=named_device(device),
        data=data,
    )
    records = run_shapes(request, out=out, done=progress)
    print_table(*shapes_table(records), title="Graphs")
    finish(records, out, tables=False)


def draw(
    what: Annotated[Picture, typer.Argument(help="What to draw.")],
    files: FilesArgument,
    to: Annotated[Path, typer.Option(help="Write it there.", metavar="FILE.svg")],
    graphs: Annotated[str | None, option("Records of these graphs alone.", "A,B,...")] = None,
) -> None:
    """Draw records: the roofline of algorithms on a GPU, or what a command of that name wrote.

    roofline takes records of ``bench cuda``: bytes a second over the bytes of an iteration, below
    what the memory gives and what levels with next to nothing in them take; its table names the
    bound of each case. parts takes those of ``python -m benchmarks spmspv``: what searches by one strategy spend
    their time on.

    Examples
    --------
    python -m benchmarks draw roofline bench/results/cuda.jsonl --to docs/assets/roofline.svg
    python -m benchmarks draw scales bench/results/scales.jsonl --to docs/assets/scales.svg
    python -m benchmarks draw spmspv spmspv.jsonl --graphs kron:16,kron:21 --to strategies.svg
    """
    from semira.bench.record import read_records

    check_plot(to)
    records = [record for path in files for record in read_records(path)]
    if graphs is not None:
        wanted = split_names(graphs)
        missing = set(wanted) - {record.dataset.name for record in records}
        if missing:
            raise typer.BadParameter(f"--graphs: no record of {', '.join(sorted(missing))}")
        records = [record for record in records if record.dataset.name in wanted]
    if what is Picture.roofline:
        from benchmarks.studies.roofline import roofline_table

        print_table(*roofline_table(records))
    draw_to(to, what.value, records)


#: Further commands of ``semira bench``.
COMMANDS: tuple[Callable[..., None], ...] = (
    ideas, frontiers, masks, scales, variants, shapes, draw,
)  # fmt: skip
