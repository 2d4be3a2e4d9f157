"""The algorithms of the registry as commands: their options, and what is asked by these."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

import typer

from semira.algorithms.registry import REGISTRY, View
from semira.algorithms.row import Kind, Parameter, Row, load
from semira.base.errors import InvalidValue
from semira.cli.graphs import Graph, Reading, find_vertex, source_names
from semira.cli.groups import Group
from semira.cli.searches import hyphened

#: The algorithms by the name that is typed.
CATALOGUE = View(lambda: {row.typed: row for row in REGISTRY.values() if not row.when})

#: Options that are not passed on to the function as they are.
_ASIDE = ("source", "target", "top")

#: Arguments that are not offered: what the reader of a file knows better than its user.
_NOT_OFFERED = ("symmetric",)

#: Flags whose opposite has a name of its own.
_OPPOSITES = {"weighted": "--weighted/--unweighted"}

#: What options were called before; help does not show it.
_BEFORE = {"algorithm": ["--method"]}

#: Type and limits of options that are no argument of the function.
_KINDS: dict[str, tuple[Any, dict[str, Any]]] = {
    "source": (str, {"metavar": "VERTEX"}),
    "target": (str, {"metavar": "VERTEX"}),
    "top": (int, {"min": 1}),
    "method": (str, {}),
}

_NUMBERS = "a number that counts from 0 (vertex k of a .gr or .mtx file is k-1)"
_MOST = "Default: the vertex with most outgoing edges."
_FROM = {
    "source": f"Where to start: a name of the file, or {_NUMBERS}. {_MOST}",
    "sources": "Where to start, several vertices between commas: names of the file, or numbers "
    f"that count from 0. {_MOST}",
}


def others_of(row: Row) -> dict[str, Row]:
    """Return what else a command runs where an option is given, by that option."""
    return {each.when: each for each in REGISTRY.values() if each.when and each.typed == row.typed}


def parameters_of(row: Row) -> dict[str, Parameter]:
    """Return the arguments of an algorithm that are options of its command."""
    route = row.layout.tree[1]
    found = {
        name: each
        for name, each in row.parameters.items()
        if name not in _NOT_OFFERED and (name != "predecessors" or name == route)
    }
    return found | {name: each.parameters[name] for name, each in others_of(row).items()}


def options_of(row: Row) -> dict[str, str]:
    """Return the help texts of the options of a command, by name."""
    texts: dict[str, str] = {}
    if row.start:
        texts["source"] = _FROM[row.start]
    if row.layout.tree[1]:
        texts["target"] = "Also print a shortest path to this vertex, and its length."
    if row.named:
        names = ", ".join(map(hyphened, load(row.named)))
        texts["method"] = f"auto (the default: the planner chooses), {names}."
    told = {"seed": "Of what is drawn, and of --weights random; default 0."}
    for each in (*others_of(row).values(), row):
        told |= each.texts
    texts |= {name: told.get(name, each.text) for name, each in parameters_of(row).items()}
    if row.layout.ranked:
        texts["top"] = "How many of the first vertices to print; default 10."
    return texts


def own_options(row: Row, *, without: tuple[str, ...] = ()) -> Group:
    """Return the options of an algorithm; a command gets those that were given, as a dict.

    The command does not offer those named `without`. The seed stands with the options of reading.
    """
    options, parameters = {}, parameters_of(row)
    for name, text in options_of(row).items():
        if name == "seed" or name in without:
            continue
        spelled = _OPPOSITES.get(name, typed(name))
        kind, limits = _KINDS.get(name, (None, {}))
        if taken := parameters.get(name):
            kind, limits = taken.type, {} if taken.least is None else {"min": taken.least}
            spelled += f"/--no-{typed(name)[2:]}" * (taken.default is True)
        spellings = [spelled, *_BEFORE.get(name, [])]
        option = typer.Option(*spellings, help=text, show_default=False, **limits)
        options[name] = (Annotated[kind | None, option], None)
    return Group(options, stated)


@dataclass(frozen=True, slots=True)
class Asked:
    """What was asked of an algorithm."""

    #: The one that these options choose.
    row: Row
    #: Keyword arguments of the function.
    options: dict[str, Any] = field(default_factory=dict)
    #: `source`, `target`: as typed.
    source: str | None = None
    target: str | None = None
    top: int = 10
    #: Of the main field.
    kind: Kind = Kind.vector
    #: The main field, and those that belong to it.
    fields: tuple[str, ...] = ()


def ask(algorithm: str, given: Mapping[str, Any], seed: int | None) -> Asked:
    """Return what the options of a command ask of an algorithm; `given` has those that were typed.

    The seed is left out where the algorithm draws nothing; reading the graph may use it.
    """
    row = CATALOGUE[algorithm]
    options = {name: value for name, value in given.items() if name not in _ASIDE}
    if seed is not None and _draws(row, given):
        options["seed"] = seed
    row = next((each for name, each in others_of(row).items() if name in options), row)
    kind, fields = row.kind(options), row.fields(options)
    if "target" in given:
        options[row.layout.tree[1]] = True
    aside = {name: given[name] for name in _ASIDE if name in given}
    return Asked(row, options, kind=kind, fields=fields, **aside)


def starts_of(row: Row, graph: Graph, text: str | None) -> Any:
    """Return the vertex that ``--source`` names, a list of them if it names several, or None.

    Raises InvalidValue if it names several, of which the algorithm takes one; else as
    `find_vertex`.
    """
    if not row.start:
        return None
    names = source_names(graph, text)
    if len(names) > 1 and row.start == "source":
        several = ", ".join(name for name, each in CATALOGUE.items() if each.start == "sources")
        raise InvalidValue(
            f"--source {text} names {len(names)} vertices, but {row.name} starts from "
            f"one; run it for each, or one that takes several: {several}"
        )
    found = [find_vertex(graph, name) for name in names]
    return found if len(found) > 1 else found[0]


def _draws(row: Row, given: Collection[str]) -> bool:
    """Whether the options that are given leave something for a seed to draw."""
    names = row.parameters
    return "seed" in names and ("sources" in given or "sources" not in names)


def check_seed(reading: Reading, *, is_used: bool = False) -> None:
    """Refuse a seed that nothing uses: neither weights nor, by `is_used`, the algorithm.

    Raises typer.BadParameter if it would change nothing.
    """
    if reading.seed is None or reading.weights is not None or is_used:
        return
    *names, last = (name for name, row in CATALOGUE.items() if _draws(row, ()))
    raise typer.BadParameter(
        f"--seed {reading.seed} would change nothing: it is for --weights random, --sources, "
        f"{', '.join(names)} and {last}; a generator has its own, as in "
        f"kron:16,seed={reading.seed}"
    )


def stated(**given: Any) -> dict[str, Any]:
    """Return the options that were given.

    Examples
    --------
    >>> stated(k=0, damping=None, weighted=False)
    {'k': 0, 'weighted': False}
    """
    return {name: value for name, value in given.items() if value is not None}


def typed(name: str) -> str:
    """Return an option as it is typed.

    Examples
    --------
    >>> typed("max_depth")
    '--max-depth'
    """
    return f"--{name.replace('_', '-')}"
