"""``python -m benchmarks levels, spmspv, spmv, spmm, mxm, ...``: close looks at a choice or a product."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated

import typer

from benchmarks.speed import (
    DeviceOption,
    PlotOption,
    SecondsOption,
    TrialsOption,
    check_plot,
    draw_to,
    named_device,
    numbers_of,
)
from semira.base.errors import InvalidValue
from semira.cli.bench import (
    DataOption,
    GraphsOption,
    OutOption,
    QuickOption,
    check_append,
    finish,
    names_of,
    option,
    progress,
    split_names,
)
from semira.cli.options import Device
from semira.cli.output import note, print_table

if TYPE_CHECKING:
    from collections.abc import Callable


def levels(
    graphs: GraphsOption = None,
    device: DeviceOption = Device.cpu,
    sources: Annotated[int, typer.Option(help="Searches of each graph.", min=1)] = 1,
    most: Annotated[int, typer.Option(help="Levels of a search that are measured.", min=2)] = 64,
    out: OutOption = None,
    plot: PlotOption = None,
    quick: QuickOption = False,
    trials: Annotated[
        int, typer.Option(help="Timed calls in the first search; else 1.", min=1)
    ] = 5,
    budget: Annotated[float, typer.Option("--seconds", help="Of one graph.", min=0.0)] = 20.0,
    data: DataOption = None,
) -> None:
    """Measure push, pull and the planner's choice at each level of breadth-first search.

    From the vertex with most edges, then from others drawn with a seed: entries read, vertices
    found and time of the product in every way, and the planner beside an oracle that tries both
    at every level (C. Yang's thesis of 2019, Figures 5.4 and 5.5).

    Examples
    --------
    python -m benchmarks levels --quick --plot levels.svg
    python -m benchmarks levels --graphs kron:18 --device cuda --sources 1000 --seconds 90 --out l.jsonl
    """
    from benchmarks.studies.levels import (
        LevelsRequest,
        levels_table,
        policy_table,
        quantiles_table,
        run_levels,
    )

    check_plot(plot)
    request = LevelsRequest(
        graphs=split_names(graphs or ("kron:10" if quick else "kron:18")),
        sources=sources,
        most=min(most, 16) if quick else most,
        trials=1 if quick else trials,
        seconds=min(budget, 5.0) if quick else budget,
        device=named_device(device),
        data=data,
    )
    records = run_levels(request, out=out, done=progress)
    print_table(*levels_table(records), title="Level by level")
    if sources > 1:
        print_table(*quantiles_table(records), title="All searches: 10% / 50% / 90%")
    print_table(*policy_table(records), title="Beside an oracle")
    draw_to(plot, "levels", records)
    finish(records, out, tables=False)


def spmspv(
    graphs: GraphsOption = None,
    device: DeviceOption = Device.cpu,
    searches: Annotated[bool, typer.Option(help="Run whole searches by every strategy.")] = True,
    out: OutOption = None,
    plot: PlotOption = None,
    quick: QuickOption = False,
    trials: TrialsOption = 10,
    budget: SecondsOption = 0.5,
    data: DataOption = None,
) -> None:
    """Measure the strategies of a sparse push beside the dense product, by size of the frontier.

    Atomics, scatter, radix sort and merge sort, of columns alone (any_pair) and with values beside
    them (any_first, min_plus); then breadth-first search by each (C. Yang's thesis of 2019, Tables
    4.2 to 4.4, Figure 4.2; ``bench draw parts`` draws Figure 4.1 of the records). With several
    graphs a table answers whether the dense product wins from a size on, or from a fraction of the
    graph. Others say how often the planner comes within a tenth of the best way, what it would
    choose today, and how far two runs of one plan lie apart. A device with one push has that one.

    Examples
    --------
    python -m benchmarks spmspv --quick
    python -m benchmarks spmspv --graphs kron:16,kron:18,kron:20 --device cuda --out spmspv.jsonl
    """
    from benchmarks.studies import spmspv as bench
    from benchmarks.studies.choices import chance_table, choices_table
    from benchmarks.studies.spmspv_searches import search_parts_table

    check_plot(plot)
    request = bench.SpmspvRequest(
        graphs=split_names(graphs or ("kron:8,kron:10" if quick else "kron:14,kron:16,kron:18")),
        trials=3 if quick else trials,
        seconds=0.05 if quick else budget,
        step=16 if quick else 4,
        searches=searches,
        device=named_device(device),
        data=data,
    )
    records = bench.run_spmspv(request, out=out, done=progress)
    found = bench.series_of(records)
    print_table(*bench.times_table(found), title="Strategies, on the device (and whole calls)")
    print_table(*bench.crossings_table(found), title="Where the dense product wins")
    print_table(*bench.verdicts_table(found), title="A size or a fraction?")
    print_table(*choices_table(found), title="What the planner chooses")
    print_table(*chance_table(found), title="Two runs of one plan")
    head, rows = bench.parts_table(records)
    if rows:
        print_table(head, rows, title="What the largest frontier's time goes into")
    if searches:
        print_table(*bench.searches_table(records), title="Breadth-first search")
        head, rows = search_parts_table(records)
        if rows:
            print_table(head, rows, title="What searches spend their time on")
    draw_to(plot, "spmspv", records)
    finish(records, out, tables=False)


def spmv(
    graphs: GraphsOption = None,
    device: DeviceOption = Device.cpu,
    peers: Annotated[bool, typer.Option(help="Run cuSPARSE (SciPy on the host) beside.")] = True,
    out: OutOption = None,
    quick: QuickOption = False,
    trials: TrialsOption = 10,
    budget: SecondsOption = 1.0,
    data: DataOption = None,
) -> None:
    """Measure products with a full vector on every family of matrices, beside cuSPARSE.

    plus_times in FP32, and plus_second of a pattern that has no values; beside the time that the
    bytes take at least. Families: R-MAT, web, road, grid, mesh, random.

    Examples
    --------
    python -m benchmarks spmv --quick
    python -m benchmarks spmv --device cuda --out bench/results/spmv.jsonl
    """
    from benchmarks.studies.spmv import QUICK, SpmvRequest, run_spmv, spmv_table

    given = split_names(graphs) if graphs else None
    request = SpmvRequest(
        graphs=given or (QUICK if quick else SpmvRequest().graphs),
        trials=3 if quick else trials,
        seconds=0.2 if quick else budget,
        device=named_device(device),
        data=data,
        peer=peers,
    )
    records = run_spmv(request, out=out, say=note, done=progress)
    print_table(*spmv_table(records), title="Products with a full vector")
    finish(records, out, tables=False)


def spmm(
    graphs: GraphsOption = None,
    device: DeviceOption = Device.cpu,
    columns: Annotated[str, typer.Option(help="Columns of the dense operand, by commas.")] = "64",
    by_columns: Annotated[bool, typer.Option(help="The dense operand by columns.")] = False,
    peers: Annotated[bool, typer.Option(help="Run cuSPARSE (SciPy on the host) beside.")] = True,
    out: OutOption = None,
    quick: QuickOption = False,
    trials: TrialsOption = 5,
    budget: SecondsOption = 1.0,
    data: DataOption = None,
) -> None:
    """Measure sparse times dense (SpMM) in FP32, beside cuSPARSE.

    On matrices from a few long rows to many short ones (dense:ROWSxCOLUMNS, or with an entry in
    every STEP columns, strided:ROWSxCOLUMNSxSTEP) and on graphs; on the GPU in every way to share
    the work out, with the planner's choice beside an oracle.

    Examples
    --------
    python -m benchmarks spmm --quick
    python -m benchmarks spmm --device cuda --columns 1,8,64,256 --out bench/results/spmm.jsonl
    """
    from benchmarks.studies.spmm import QUICK, SpmmRequest, run_spmm, spmm_table, summary_table

    given = split_names(graphs) if graphs else None
    request = SpmmRequest(
        graphs=given or (QUICK if quick else SpmmRequest().graphs),
        trials=2 if quick else trials,
        seconds=0.2 if quick else budget,
        device=named_device(device),
        data=data,
        columns=parse_columns(columns),
        by_columns=by_columns,
        peer=peers,
    )
    records = run_spmm(request, out=out, say=note, done=progress)
    print_table(*spmm_table(records), title="Sparse times dense")
    print_table(*summary_table(records), title="All products")
    finish(records, out, tables=False)


def mxm(
    graphs: GraphsOption = None,
    device: DeviceOption = Device.cpu,
    products: Annotated[
        str | None, typer.Option(help="Products, by semicolons: A A; C<A> = A A; ...")
    ] = None,
    peers: Annotated[bool, typer.Option(help="Run cuSPARSE (SciPy on the host) beside.")] = True,
    out: OutOption = None,
    quick: QuickOption = False,
    trials: TrialsOption = 3,
    budget: SecondsOption = 0.3,
    data: DataOption = None,
) -> None:
    """Measure products of sparse matrices (SpGEMM) in FP32, beside cuSPARSE.

    A A by rows and in equal shares, through A as a mask and through its complement, dense products
    at the places of A's entries, a Kronecker product and a third power. Every result is checked.

    Examples
    --------
    python -m benchmarks mxm --quick
    python -m benchmarks mxm --device cuda --out bench/results/mxm.jsonl
    """
    from benchmarks.studies.mxm import QUICK, MxmRequest, mxm_summary, mxm_table, run_mxm

    given = split_names(graphs) if graphs else None
    request = MxmRequest(
        graphs=given or (QUICK if quick else MxmRequest().graphs),
        trials=2 if quick else trials,
        seconds=0.1 if quick else budget,
        device=named_device(device),
        data=data,
        products=tuple(each.strip() for each in products.split(";")) if products else (),
        peer=peers,
    )
    records = run_mxm(request, out=out, say=note, done=progress)
    print_table(*mxm_table(records), title="Products of sparse matrices")
    print_table(*mxm_summary(records), title="All products A A")
    finish(records, out, tables=False)


def parse_columns(text: str) -> tuple[int, ...]:
    """Return numbers of columns.

    Raises
    ------
    InvalidValue
        One is no number above 0.

    Examples
    --------
    >>> parse_columns("1, 64")
    (1, 64)
    """
    return parse_counts("--columns", text, "columns")


def parse_counts(option: str, text: str, what: str) -> tuple[int, ...]:
    """Return the numbers between commas that an option was given.

    Raises
    ------
    InvalidValue
        One is no number above 0.
    """
    parts = [part.strip() for part in text.split(",")]
    for part in parts:
        if not part.isdecimal() or int(part) == 0:
            raise InvalidValue(f"{option} {text!r}: {part!r} is no number of {what} above 0")
    return tuple(map(int, parts))


def adaptive(
    graphs: GraphsOption = None,
    device: DeviceOption = Device.cpu,
    out: OutOption = None,
    quick: QuickOption = False,
    trials: TrialsOption = 5,
    budget: SecondsOption = 2.0,
    data: DataOption = None,
) -> None:
    """Measure adaptive PageRank beside the plain one.

    Both run until they converge to the same tolerance; the table has iterations, entries read,
    times, and how far the ranks lie from each other.

    Examples
    --------
    python -m benchmarks adaptive --quick
    python -m benchmarks adaptive --graphs kron21,cnr-2000 --device cuda --out bench/results/adaptive.jsonl
    """
    from benchmarks.studies.adaptive import AdaptiveRequest, adaptive_table, run_adaptive

    given = split_names(graphs) if graphs else None
    request = AdaptiveRequest(
        graphs=given or (("kron:10", "road:20x20") if quick else AdaptiveRequest().graphs),
        trials=2 if quick else trials,
        seconds=0.5 if quick else budget,
        device=named_device(device),
        data=data,
    )
    records = run_adaptive(request, out=out, done=progress)
    print_table(*adaptive_table(records), title="PageRank, adaptive beside plain")
    finish(records, out, tables=False)


def bfs_methods(
    graph: Annotated[
        str | None, typer.Argument(metavar="GRAPH", help="As --graphs; several between commas.")
    ] = None,
    graphs: GraphsOption = None,
    device: DeviceOption = Device.cpu,
    out: OutOption = None,
    quick: QuickOption = False,
    trials: TrialsOption = 10,
    budget: SecondsOption = 5.0,
    data: DataOption = None,
) -> None:
    """Measure breadth-first search by every method of the textbook, and say which wins where.

    Vertex-centric push and pull, edge-centric, a frontier with a global queue, with a queue for
    each block, and one block for small levels (Hwu, Kirk, El Hajj, Programming Massively Parallel
    Processors, chapter 15): one loop each time, under other pins. Every result is checked.

    Examples
    --------
    python -m benchmarks bfs-methods --quick
    python -m benchmarks bfs-methods kron21,USA-road-NE --device cuda --out bench/results/bfs-methods.jsonl
    """
    from benchmarks.studies.bfs_methods import (
        MethodsRequest,
        methods_table,
        run_methods,
        winners_table,
    )

    given = split_names(graph or graphs or "")
    request = MethodsRequest(
        graphs=given or (("kron:10", "road:20x20") if quick else MethodsRequest().graphs),
        trials=3 if quick else trials,
        seconds=0.5 if quick else budget,
        device=named_device(device),
        data=data,
    )
    records = run_methods(request, out=out, done=progress)
    print_table(*methods_table(records), title="One search by every method")
    print_table(*winners_table(records), title="Which wins where")
    finish(records, out, tables=False)


def blocks(
    graphs: GraphsOption = None,
    algorithms: Annotated[
        str | None, option("Some of bfs, bc, apsp. Default: all.", "A,B,...")
    ] = None,
    device: DeviceOption = Device.cpu,
    widths: Annotated[str | None, typer.Option(help="Rows of the blocks, by commas.")] = None,
    limit: Annotated[
        float | None, option("Seconds after which no further case begins.", min=0.0)
    ] = None,
    out: OutOption = None,
    quick: QuickOption = False,
    trials: TrialsOption = 3,
    budget: SecondsOption = 5.0,
    data: DataOption = None,
) -> None:
    """Measure products of low blocks of vectors with a graph, by width and direction.

    Breadth-first search from many sources, betweenness centrality of a batch, and shortest paths
    of all pairs from blocks of sources (graphs of at most 4,096 vertices, at most 32 blocks).
    Whole calls that push, that pull, and by the planner's choice, compared with each other and
    checked by SciPy or by properties; then each level's product by itself in every way (C. Yang's
    thesis of 2019, section 8.1, Figure 8.2).

    Examples
    --------
    python -m benchmarks blocks --quick
    python -m benchmarks blocks --graphs kron:16,road:300x300 --device cuda --algorithms bfs --widths 1,32
    """
    from benchmarks.studies.blocks import BlocksRequest, levels_table, run_blocks, widths_table

    usual = BlocksRequest()
    rows = (1, 4) if quick else usual.widths
    request = BlocksRequest(
        graphs=split_names(graphs or "") or (("kron:8",) if quick else usual.graphs),
        names=names_of(algorithms, usual.names),
        trials=1 if quick else trials,
        seconds=min(budget, 0.5) if quick else budget,
        device=named_device(device),
        data=data,
        widths=parse_counts("--widths", widths, "rows") if widths else rows,
        limit_s=math.inf if limit is None else limit,
    )
    records = run_blocks(request, out=out, say=note, done=progress)
    print_table(*widths_table(records), title="Whole calls")
    print_table(*levels_table(records), title="Level by level")
    finish(records, out, tables=False)


def formats(
    device: DeviceOption = Device.cpu,
    rows: Annotated[str, typer.Option(help="Rows of the matrices, by commas.")] = "1024,2048,4096",
    densities: Annotated[str, typer.Option(help="Shares of places with entries.")] = "0.1,0.01",
    columns: Annotated[
        int, typer.Option(help="Columns of the full operand of SpMM; 0: SpMV alone.", min=0)
    ] = 64,
    peers: Annotated[bool, typer.Option(help="Run NumPy, SciPy, CuPy, cuSPARSE beside.")] = True,
    out: OutOption = None,
    quick: QuickOption = False,
    trials: TrialsOption = 20,
    budget: SecondsOption = 1.0,
) -> None:
    """Measure products of random matrices in every storage, beside dense ones.

    With a vector and with a few columns: csr, csc, COO, ELL, ELL-R, padded and sliced ELL, dense;
    bytes and time of making each copy; dense products on the CPU and on the GPU (Hwu, Kirk,
    El Hajj, Programming Massively Parallel Processors). Every result is checked.

    Examples
    --------
    python -m benchmarks formats --quick
    python -m benchmarks formats --device cuda --out bench/results/formats.jsonl
    """
    from benchmarks.studies import formats_tables as tables
    from benchmarks.studies.formats import FormatsRequest, run_formats

    request = FormatsRequest(
        rows=(64, 128) if quick else parse_counts("--rows", rows, "rows"),
        densities=numbers_of(densities, "--densities"),
        columns=min(columns, 8) if quick else columns,
        trials=3 if quick else trials,
        seconds=0.1 if quick else budget,
        device=named_device(device),
        peers=peers,
    )
    records = run_formats(request, out=out, say=note, done=progress)
    print_table(*tables.formats_table(records), title="Microseconds (on a GPU, the device's)")
    print_table(*tables.calls_table(records), title="Microseconds of whole calls")
    print_table(*tables.copies_table(records), title="Copies")
    for title, table in (
        ("Beside the textbook, microseconds", tables.textbook_table),
        ("Not measured", tables.failures_table),
    ):
        head, found = table(records)
        if found:
            print_table(head, found, title=title)
    finish(records, out, tables=False)


def algorithms(
    graphs: GraphsOption = None,
    only: Annotated[str | None, option("Parts of names of algorithms.", "A,B,...")] = None,
    device: DeviceOption = Device.cpu,
    peers: Annotated[bool, typer.Option(help="Run NetworkX or SciPy beside, 5 s each.")] = True,
    processes: Annotated[
        int, typer.Option(help="Compile first, in so many processes, if above 1.", min=1)
    ] = 1,
    limit: Annotated[
        float | None, option("Seconds after which no further algorithm begins.", min=0.0)
    ] = None,
    out: OutOption = None,
    append: Annotated[bool, typer.Option("--append", help="Keep the records in FILE.")] = False,
    quick: QuickOption = False,
    trials: TrialsOption = 3,
    budget: SecondsOption = 0.5,
    data: DataOption = None,
) -> None:
    """Measure the other algorithms: centralities, cores, colours, trees, paths, embeddings, ...

    All but the five of ``bench cpu`` and ``bench cuda``, in whole calls. SciPy or NumPy checks
    every result by another method, or by properties that decide; what would take too long is not
    checked, and says so. Peers run once each, on small graphs.

    Examples
    --------
    python -m benchmarks algorithms --quick
    python -m benchmarks algorithms --graphs minnesota --out algorithms.jsonl
    python -m benchmarks algorithms --device cuda --processes 12 --limit 130 --append --out algorithms.jsonl
    """
    from semira.bench import algorithms as bench

    check_append(out, append=append)
    parts = split_names(only or "")
    names = [name for name in bench.CASES if not parts or any(part in name for part in parts)]
    if not names:
        raise typer.BadParameter(f"--only {only}: it is part of none of {', '.join(bench.CASES)}")
    request = bench.AlgorithmsRequest(
        graphs=split_names(graphs or "")
        or (("kron:7", "road:12x12") if quick else bench.AlgorithmsRequest().graphs),
        trials=1 if quick else trials,
        seconds=0.05 if quick else budget,
        device=named_device(device),
        data=data,
        names=names,
        peers=peers,
        limit_s=math.inf if limit is None else limit,
        processes=processes,
        append=append,
    )
    records = bench.run_algorithms(request, out=out, say=note, done=progress)
    print_table(*bench.algorithms_table(records), title="Algorithms")
    finish(records, out, tables=False)


#: Further commands of ``semira bench``.
COMMANDS: tuple[Callable[..., None], ...] = (
    levels, spmspv, spmv, spmm, mxm, formats, adaptive, bfs_methods, blocks, algorithms,
)  # fmt: skip
