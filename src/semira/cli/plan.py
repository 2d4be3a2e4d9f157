"""``semira plan``: which plan products get, what each way would touch, and why."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

import semira
from semira.backends.registry import preview_of
from semira.cli.catalogue import (
    CATALOGUE,
    Asked,
    ask,
    check_seed,
    options_of,
    own_options,
    starts_of,
    stated,
)
from semira.cli.commands import Algorithms, Line
from semira.cli.graphs import Graph, Reading, choose_device, find_vertex, load_graph, why_unusable
from semira.cli.groups import READING, Group, with_options
from semira.cli.measure import Measurement, measure
from semira.cli.options import Device, DeviceOption, FileArgument, JsonOption, SourceOption, option
from semira.cli.output import note, print_json, print_table, print_text
from semira.cli.plans import SETTLED, PlanFacts, phases_of
from semira.cli.searches import pins_for, take_search

if TYPE_CHECKING:
    from semira.algorithms.row import Row
    from semira.plan import Explanation, ProgramPhases

#: Single products, and what is explained of each.
PRODUCTS = {
    "vxm": "product of a vector that holds --source alone, and the graph",
    "mxv": "product of the graph and a vector that holds --source alone",
    "mxm": "product of the graph with itself, under the mask of its entries",
}

#: What an algorithm prints of its result is no part of its plan.
_RESULT = ("target", "top")

LevelsOption = Annotated[
    int, typer.Option(min=0, help="How many of the products that ran to list.")
]


_PRODUCT = {
    name: (Annotated[str | None, option(text)], None)
    for name, text in {
        "semiring": "Default: any_pair for vxm and mxv, plus_pair for mxm.",
        "policy": "Rule for changing direction: auto, beamer, ligra, gunrock, pushpull18 or "
        "graphblast.",
        "direction": "Pin push or pull.",
    }.items()
}


class Plan(Algorithms):
    """Explain how the products of an algorithm, or a single product, would be computed.

    An algorithm is run once; its products are explained, then listed as they ran. Where the device
    runs compiled loops without products, that is said, and the algorithm is run again with them. A
    single product is explained, not run.

    With --device cuda also the phases of its loops: which statements run together, where blocks
    wait for each other, and why; or the pieces of a loop that the host runs. A machine without a
    GPU plans for it all the same, and runs the algorithm on the cpu.

    Examples
    --------
    semira plan bfs kron:14
    semira plan sssp kron:14 --algorithm delta_stepping
    semira plan pagerank kron:14 --device cuda
    semira plan vxm roads.gr --source 7 --policy beamer
    semira plan mxm kron:10
    """

    kind = "algorithm or product"

    @staticmethod
    def names() -> list[str]:
        """Return the names of the algorithms, then those of the products."""
        return [*CATALOGUE, *PRODUCTS]

    @staticmethod
    def line(name: str) -> Line:
        """Return how the help lists an algorithm or a product."""
        if name in PRODUCTS:
            return Line(PRODUCTS[name], (*["source"] * (name != "mxm"), *_PRODUCT))
        row = CATALOGUE[name]
        return Line(row.summary, [each for each in options_of(row) if each not in _RESULT])

    @staticmethod
    def make(name: str) -> Callable[..., None]:
        """Return the function of a command."""
        return _plan_product(name) if name in PRODUCTS else _plan_algorithm(name)


def _plan_algorithm(algorithm: str) -> Callable[..., None]:
    row = CATALOGUE[algorithm]

    @with_options(own=own_options(row, without=_RESULT), reading=READING)
    def plan(
        file: FileArgument,
        *,
        own: dict[str, Any],
        device: DeviceOption = None,
        levels: LevelsOption = 20,
        json: JsonOption = False,
        reading: Reading,
    ) -> None:
        asked = ask(algorithm, own, reading.seed)
        search = take_search(algorithm, asked.options)
        check_seed(reading, is_used="seed" in asked.options)
        graph = load_graph(file, reading)
        planned, run, loop = _run_once(graph, asked, search, device)
        record = None
        if json:
            record = {
                "algorithm": algorithm, "graph": graph.name, "compiled_loop": loop is not None
            }  # fmt: skip
        elif loop is not None:
            ran = f" ({line})" if (line := loop.plan.line()) else ""
            print_text(
                f"{algorithm} on {planned} runs compiled loops, without products{ran}. What "
                'follows is what options of a product bring, such as policy="auto" in Python.\n'
            )
        loops = phases_of(run.plan.loops, planned)
        nothing = f"no product ran: {SETTLED}" if run.is_settled else "no product ran"
        title = f"{algorithm} on {graph.name}" + ', with policy="auto"' * (loop is not None)
        _tell(title, run.plan, loops, levels, record, nothing)

    plan.__doc__ = f"How the products of {row.title} are computed, and what ran."
    return plan


def _plan_product(name: str) -> Callable[..., None]:
    source = {} if name == "mxm" else {"source": (SourceOption, None)}

    @with_options(own=Group({**source, **_PRODUCT}, stated), reading=READING)
    def plan(
        file: FileArgument,
        *,
        own: dict[str, Any],
        device: DeviceOption = None,
        json: JsonOption = False,
        reading: Reading,
    ) -> None:
        check_seed(reading)
        graph = load_graph(file, reading)
        explanation = explain_product(graph, name, device, **own)
        if json:
            print_json({"graph": graph.name, **explanation_record(explanation)})
        else:
            print_text(str(explanation))

    plan.__doc__ = f"How one product is computed: the {PRODUCTS[name]}."
    return plan


def explain_product(
    graph: Graph,
    name: str,
    device: Device | None,
    source: str | None = None,
    semiring: str | None = None,
    **pins: str,
) -> Explanation:
    """Return the explanation of one product of a graph; nothing is computed."""
    planned, runs_on = _devices(device)
    with semira.device(runs_on):
        matrix = graph.matrix
        if name == "mxm":
            expression = matrix.mxm(matrix, semiring or "plus_pair")
            return semira.explain(expression, mask=matrix.S, device=planned, **pins)  # type: ignore[no-any-return]
        vertex = find_vertex(graph, source)
        size = matrix.nrows if name == "vxm" else matrix.ncols
        vector = semira.Vector.from_coo([vertex], True, size=size)
        chosen = semiring or "any_pair"
        product = vector.vxm(matrix, chosen) if name == "vxm" else matrix.mxv(vector, chosen)
        return semira.explain(product, device=planned, **pins)  # type: ignore[no-any-return]


def _devices(asked: Device | None) -> tuple[str, str]:
    """Return the device to plan for, and the one to run on: the cpu if the other is absent.

    Raises DeviceUnavailable if plans for the device cannot be made without it.
    """
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
    graph: Graph, asked: Asked, search: str | None, device: Device | None
) -> tuple[str, Measurement, Measurement | None]:
    """Return the device planned for, a run that tells the plans made for it, and one without any.

    The last one is what the device runs unless an option of a product is given: loops that have no
    products. None where there are products anyway.
    """
    from semira.engine.explain import plan_for

    start = starts_of(asked.row, graph, asked.source)
    planned, runs_on = _devices(device)
    options = asked.options | pins_for(search, runs_on)
    plans = None
    if planned != runs_on:
        plans = partial(plan_for, device=planned, pins=pins_for(search, planned))
    made = partial(
        measure, graph, asked.row, device=runs_on, source=start, repeat=0, plan_for=plans
    )
    pins: dict[str, Any] = {}
    if "algorithm" not in options and semira.device_traits(runs_on).compiled_loops:
        # Without an option of products, hosts may run loops that have none.
        pins = _usual_pin(asked.row)
    if not pins or planned != runs_on:
        return planned, made(options=pins | options), None
    run = made(options=options)
    if run.plan.explanations:
        return planned, run, None
    other = made(options=pins | options)
    return planned, other, run if other.plan.explanations else None


def _usual_pin(row: Row) -> dict[str, Any]:
    """Return an option of products that says what is so anyway; none where none is taken."""
    takes = inspect.signature(row.function).parameters.values()
    return {"policy": "auto"} if any(each.kind is each.VAR_KEYWORD for each in takes) else {}


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
