"""``semira plan``: which plan products get, what each way would touch, and why."""

from __future__ import annotations

from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from semira.cli.catalogue import CATALOGUE, Algorithm
from semira.cli.graphs import Graph, Reading, choose_device, find_vertex, load_graph, why_unusable
from semira.cli.groups import READING, with_options
from semira.cli.options import Device, DeviceOption, FileArgument, JsonOption, SourceOption
from semira.cli.output import note, print_json, print_table, print_text
from semira.cli.plans import SETTLED, PlanFacts, phases_of
from semira.cli.searches import pins_for, take_search
from semira.cli.tuning import TUNING, applicable, stated

if TYPE_CHECKING:
    from semira.cli.measure import Measurement
    from semira.plan import Explanation, ProgramPhases


class Subject(StrEnum):
    """What can be explained: an algorithm, or one product."""

    bfs = "bfs"
    sssp = "sssp"
    pagerank = "pagerank"
    cc = "cc"
    tc = "tc"
    mis = "mis"
    colouring = "colouring"
    kcore = "kcore"
    ktruss = "ktruss"
    hits = "hits"
    ppr = "ppr"
    lpa = "lpa"
    msbfs = "msbfs"
    khop = "khop"
    bc = "bc"
    closeness = "closeness"
    diameter = "diameter"
    ecc = "ecc"
    lcc = "lcc"
    jaccard = "jaccard"
    widest = "widest"
    scc = "scc"
    msf = "msf"
    apsp = "apsp"
    embedding = "embedding"
    vxm = "vxm"
    mxv = "mxv"
    mxm = "mxm"


_PRODUCT = "Single products"


def _product(help_text: str) -> Any:
    return typer.Option(help=help_text, rich_help_panel=_PRODUCT, show_default=False)


SubjectArgument = Annotated[
    Subject,
    typer.Argument(
        metavar="WHAT", help="An algorithm (bfs, sssp, ...) or a product: vxm, mxv, mxm."
    ),
]
LevelsOption = Annotated[
    int, typer.Option(min=0, help="How many of the products that ran to list.")
]
SemiringOption = Annotated[
    str | None, _product("Default: any_pair for vxm and mxv, plus_pair for mxm.")
]
PolicyOption = Annotated[
    str | None,
    _product(
        "Rule for changing direction: auto, beamer, ligra, gunrock, pushpull18 or graphblast."
    ),
]
DirectionOption = Annotated[str | None, _product("Pin push or pull.")]


@with_options(tuning=TUNING, reading=READING)
def plan(
    subject: SubjectArgument,
    file: FileArgument,
    source: SourceOption = None,
    device: DeviceOption = None,
    levels: LevelsOption = 20,
    json: JsonOption = False,
    *,
    tuning: dict[str, Any],
    semiring: SemiringOption = None,
    policy: PolicyOption = None,
    direction: DirectionOption = None,
    reading: Reading,
) -> None:
    """Explain how the products of an algorithm, or a single product, would be computed.

    An algorithm is run once; its products are explained, then listed as they ran. A product
    vxm or mxv is explained, not run, for a vector that holds --source alone; mxm for A @ A
    under the mask A.

    With --device cuda also the phases of its loops: which statements run together, where blocks
    wait for each other, and why; or the pieces of a loop that the host runs. A machine without a
    GPU plans for it all the same, and runs the algorithm on the cpu.

    Examples
    --------
    semira plan bfs kron:14
    semira plan sssp kron:14 --method delta_stepping
    semira plan pagerank kron:14 --device cuda
    semira plan vxm roads.gr --source 7 --policy beamer
    semira plan mxm kron:10
    """
    asked = {"policy": policy, "direction": direction}
    pins = {name: value for name, value in asked.items() if value is not None}
    given = {"source": source, **tuning, "seed": reading.seed}
    if subject.value in list(Algorithm):
        if pins or semiring:
            raise typer.BadParameter("--semiring, --policy and --direction are for vxm, mxv, mxm")
        algorithm = Algorithm(subject)
        options = applicable(algorithm, given)
        search = take_search(algorithm, options)
        reading.check_seed(is_used="seed" in options)
        graph = load_graph(file, reading)
        planned, run = _run_once(algorithm, graph, source, options, search, device)
        record = {"algorithm": str(algorithm), "graph": graph.name} if json else None
        loops = phases_of(run.plan.loops, planned)
        nothing = f"no product ran: {SETTLED}" if run.is_settled else "no product ran"
        _tell(f"{algorithm} on {graph.name}", run.plan, loops, levels, record, nothing)
        return
    _refuse_options(subject, given)
    reading.check_seed()
    graph = load_graph(file, reading)
    explanation = explain_product(graph, subject, source, device, semiring, pins)
    if json:
        print_json({"graph": graph.name, **explanation_record(explanation)})
    else:
        print_text(str(explanation))


def _refuse_options(subject: Subject, given: dict[str, Any]) -> None:
    """Refuse what is given for a single product and means nothing there."""
    takes = {"seed"} if subject is Subject.mxm else {"seed", "source"}
    for name in stated(given):
        if name not in takes:
            users = "vxm, mxv and algorithms" if name == "source" else "algorithms"
            raise typer.BadParameter(
                f"{subject} has no --{name.replace('_', '-')}; it is for {users}"
            )


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

    planned, runs_on = _devices(device)
    with semira.device(runs_on):
        matrix = graph.matrix
        if subject is Subject.mxm:
            expression = matrix.mxm(matrix, semiring or "plus_pair")
            return semira.explain(expression, mask=matrix.S, device=planned, **pins)  # type: ignore[no-any-return]
        size = matrix.nrows if subject is Subject.vxm else matrix.ncols
        vertex = find_vertex(graph, source)
        vector = semira.Vector.from_coo([vertex], True, size=size)
        chosen = semiring or "any_pair"
        if subject is Subject.vxm:
            product = vector.vxm(matrix, chosen)
        else:
            product = matrix.mxv(vector, chosen)
        return semira.explain(product, device=planned, **pins)  # type: ignore[no-any-return]


def _devices(asked: Device | None) -> tuple[str, str]:
    """Return the device to plan for, and the one to run on: the cpu if the other is absent.

    Raises
    ------
    DeviceUnavailable
        Plans for the device cannot be made without it.
    """
    from semira.backends.registry import preview_of

    name = None if asked is None or asked is Device.auto else asked.value
    if name is None or preview_of(name) is None:
        chosen = choose_device(asked)
        return chosen, chosen
    why_not = why_unusable(name)
    if why_not is None:
        return name, name
    note(f"planned for {name}, run on cpu, because {name} cannot be used ({why_not})")
    return name, "cpu"


def explanation_record(explanation: Explanation) -> dict[str, Any]:
    """Return an explanation for JSON."""
    chosen, phases = explanation.chosen, explanation.phases
    return {
        "formula": explanation.formula,
        "policy": explanation.plan.policy,
        "methods": [method.name for method in explanation.plan.methods],
        "chosen": None if chosen is None else chosen.name,
        "rule": explanation.rule,
        "touched": {way.name: way.entries for way in explanation.touched},
        "reasons": list(explanation.reasons),
        **({} if phases is None else phases_record(phases)),
    }


def phases_record(phases: ProgramPhases) -> dict[str, Any]:
    """Return phases for JSON."""
    from semira.plan import phases_to_data

    steps = phases.steps or ()
    return {"statements": phases.statements, "phases": phases_to_data(steps)}


def _run_once(
    algorithm: Algorithm,
    graph: Graph,
    source: str | None,
    options: dict[str, Any],
    search: str | None,
    device: Device | None,
) -> tuple[str, Measurement]:
    """Return the device planned for, and a run that tells the plans made for it."""
    from semira.cli.measure import measure
    from semira.engine.explain import plan_for

    row = CATALOGUE[algorithm].under(options)
    start = row.start(graph, source)
    planned, runs_on = _devices(device)
    options |= pins_for(search, runs_on)
    plans = None
    if planned != runs_on:
        plans = partial(plan_for, device=planned, pins=pins_for(search, planned))
    run = measure(
        graph, row, device=runs_on, source=start, options=options, repeat=0, plan_for=plans
    )
    return planned, run


def _tell(
    title: str,
    facts: PlanFacts,
    loops: list[ProgramPhases],
    levels: int,
    record: dict[str, Any] | None,
    nothing: str,
) -> None:
    """Print what is planned and what ran; as JSON beside what `record` holds.

    Where no product ran, `nothing` says so.
    """
    shown = facts.rows[:levels]
    columns = ("product", "op", "method", "frontier", "touched", "produced")
    table = [
        (facts.lost + at, each.op, each.method, each.frontier, each.touched, each.produced)
        for at, each in enumerate(shown)
    ]
    if record is not None:
        print_json(
            {
                **record,
                "products": [explanation_record(each) for each in facts.explanations],
                "loops": [phases_record(each) for each in loops],
                "ran": [dict(zip(columns, line, strict=True)) for line in table],
                "not_listed": len(facts.rows) - len(shown),
                "lost": facts.lost,
            }
        )
        return
    for explanation in facts.explanations:
        print_text(f"{explanation}\n")
    for each in loops:
        print_text(f"{each}\n")
    heading = f"{title}: {len(facts.rows) + facts.lost} products ran, {facts.line()}"
    if not facts.rows:
        print_text(f"{title}: {nothing}")
        return
    print_table(columns, table, title=heading)
    if len(facts.rows) > len(shown):
        typer.echo(f"... {len(facts.rows) - len(shown)} more; --levels shows more of them")
