"""``semira plan``: which plan products get, what each way would touch, and why."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from semira.cli.catalogue import CATALOGUE, Algorithm
from semira.cli.graphs import Graph, Reading, choose_device, find_vertex, load_graph
from semira.cli.options import (
    BaseOption,
    ColumnsOption,
    Device,
    DeviceOption,
    DropLoopsOption,
    FileArgument,
    FormatOption,
    JsonOption,
    SeedOption,
    SourceOption,
    SymmetriseOption,
    WeightsOption,
)
from semira.cli.output import print_json, print_table

if TYPE_CHECKING:
    from semira.plan import Explanation


class Subject(StrEnum):
    """What can be explained: an algorithm, or one product."""

    bfs = "bfs"
    sssp = "sssp"
    pagerank = "pagerank"
    cc = "cc"
    tc = "tc"
    vxm = "vxm"
    mxv = "mxv"
    mxm = "mxm"


_PRODUCT = "Single products"


def plan(
    subject: Annotated[
        Subject,
        typer.Argument(
            metavar="WHAT", help="An algorithm (bfs, sssp, ...) or a product: vxm, mxv, mxm."
        ),
    ],
    file: FileArgument,
    source: SourceOption = None,
    device: DeviceOption = None,
    levels: Annotated[
        int, typer.Option(min=0, help="How many of the products that ran to list.")
    ] = 20,
    json: JsonOption = False,
    semiring: Annotated[
        str | None,
        typer.Option(
            help="Default: any_pair for vxm and mxv, plus_pair for mxm.",
            rich_help_panel=_PRODUCT,
            show_default=False,
        ),
    ] = None,
    policy: Annotated[
        str | None,
        typer.Option(
            help="Rule for changing direction: auto, beamer, ligra, gunrock, pushpull18 or "
            "graphblast.",
            rich_help_panel=_PRODUCT,
            show_default=False,
        ),
    ] = None,
    direction: Annotated[
        str | None,
        typer.Option(help="Pin push or pull.", rich_help_panel=_PRODUCT, show_default=False),
    ] = None,
    format: FormatOption = None,
    symmetrise: SymmetriseOption = False,
    drop_self_loops: DropLoopsOption = False,
    weights: WeightsOption = None,
    seed: SeedOption = 0,
    columns: ColumnsOption = None,
    base: BaseOption = 0,
) -> None:
    """Explain how the products of an algorithm, or a single product, would be computed.

    An algorithm is run once; its products are explained, then listed as they ran. A product
    vxm or mxv is explained, not run, for a vector that holds --source alone; mxm for A @ A
    under the mask A.

    Examples
    --------
    semira plan bfs kron:14
    semira plan vxm roads.gr --source 7 --policy beamer
    semira plan mxm kron:10
    """
    asked = {"policy": policy, "direction": direction}
    pins = {name: value for name, value in asked.items() if value is not None}
    reading = Reading(format, symmetrise, drop_self_loops, weights, seed, columns, base)
    if subject.value in list(Algorithm):
        if pins or semiring:
            raise typer.BadParameter("--semiring, --policy and --direction are for vxm, mxv, mxm")
        _explain_algorithm(
            Algorithm(subject), load_graph(file, reading), source, device, levels, json=json
        )
        return
    graph = load_graph(file, reading)
    explanation = explain_product(graph, subject, source, device, semiring, pins)
    if json:
        print_json({"graph": graph.name, **explanation_record(explanation)})
    else:
        typer.echo(str(explanation))


def explain_product(
    graph: Graph,
    subject: Subject,
    source: str | None,
    device: Device | None,
    semiring: str | None,
    pins: dict[str, str],
) -> Explanation:
    """Return the explanation of one product of a graph; nothing is computed."""
    import semira

    with semira.device(choose_device(device)):
        matrix = graph.matrix
        if subject is Subject.mxm:
            expression = matrix.mxm(matrix, semiring or "plus_pair")
            return semira.explain(expression, mask=matrix.S, **pins)  # type: ignore[no-any-return]
        size = matrix.nrows if subject is Subject.vxm else matrix.ncols
        vertex = find_vertex(graph, source)
        vector = semira.Vector.from_coo([vertex], True, size=size)
        chosen = semiring or "any_pair"
        if subject is Subject.vxm:
            return semira.explain(vector.vxm(matrix, chosen), **pins)  # type: ignore[no-any-return]
        return semira.explain(matrix.mxv(vector, chosen), **pins)  # type: ignore[no-any-return]


def explanation_record(explanation: Explanation) -> dict[str, Any]:
    """Return an explanation for JSON."""
    chosen = explanation.chosen
    return {
        "formula": explanation.formula,
        "policy": explanation.plan.policy,
        "methods": [method.name for method in explanation.plan.methods],
        "chosen": None if chosen is None else chosen.name,
        "rule": explanation.rule,
        "touched": {way.name: way.entries for way in explanation.touched},
        "reasons": list(explanation.reasons),
    }


def _explain_algorithm(
    algorithm: Algorithm,
    graph: Graph,
    source: str | None,
    device: Device | None,
    levels: int,
    *,
    json: bool,
) -> None:
    from semira.cli.measure import measure

    row = CATALOGUE[algorithm]
    if source is not None and not row.needs_source:
        raise typer.BadParameter(f"{algorithm} has no --source")
    start = find_vertex(graph, source) if row.needs_source else None
    facts = measure(graph, row, device=choose_device(device), source=start, repeat=0).plan
    shown = facts.rows[:levels]
    columns = ("product", "op", "method", "frontier", "touched", "produced")
    table = [
        (at, each.op, each.method, each.frontier, each.touched, each.produced)
        for at, each in enumerate(shown)
    ]
    if json:
        print_json(
            {
                "algorithm": str(algorithm),
                "graph": graph.name,
                "products": [explanation_record(each) for each in facts.explanations],
                "ran": [dict(zip(columns, line, strict=True)) for line in table],
                "not_listed": len(facts.rows) - len(shown),
            }
        )
        return
    for explanation in facts.explanations:
        typer.echo(f"{explanation}\n")
    title = f"{algorithm} on {graph.name}: {len(facts.rows)} products ran, {facts.line()}"
    print_table(columns, table, title=title)
    if len(facts.rows) > len(shown):
        typer.echo(f"... {len(facts.rows) - len(shown)} more; --levels shows more of them")
