"""The algorithms of the registry as commands: their options, and what these change."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import typer

from semira.algorithms.registry import REGISTRY, View
from semira.algorithms.row import Kind, Parameter, Picture, load
from semira.algorithms.row import Row as Entry
from semira.base.errors import InvalidValue
from semira.cli.graphs import Graph, Reading, find_vertex, source_names
from semira.cli.searches import hyphened
from semira.cli.summaries import Answer

__all__ = ["ASIDE", "CATALOGUE", "Algorithm", "Kind", "Picture", "Row", "check_seed"]

#: The name of an algorithm as it is typed.
Algorithm: TypeAlias = str

#: Options that are not passed on to the function as they are.
ASIDE = ("source", "target", "top")

#: What the reader of a file knows better than its user.
_NOT_TYPED = ("symmetric",)

_NUMBERS = "a number that counts from 0 (vertex k of a .gr or .mtx file is k-1)"
_MOST = "Default: the vertex with most outgoing edges."
_FROM = f"Where to start: a name of the file, or {_NUMBERS}. {_MOST}"
_FROM_MANY = (
    "Where to start, several vertices between commas: names of the file, or numbers that count "
    f"from 0. {_MOST}"
)
_TO = "Also print a shortest path to this vertex, and its length."
_TOP = "How many of the first vertices to print; default 10."
_SEED = "Of what is drawn, and of --weights random; default 0."


@dataclass(frozen=True, slots=True)
class Row:
    """One command.

    Attributes
    ----------
    entry : semira.algorithms.row.Row
        The algorithm.
    given : tuple of str
        Options that are given.
    """

    entry: Entry
    given: tuple[str, ...] = ()

    @property
    def function(self) -> str:
        """Name of the function."""
        return self.entry.name

    @property
    def title(self) -> str:
        """What it computes, as headings have it."""
        return self.entry.title

    @property
    def answers(self) -> str:
        """What it answers, in a few words."""
        return self.entry.summary

    @property
    def kind(self) -> Kind:
        """What the main field of its result is."""
        return self.entry.kind(self.given)

    @property
    def field(self) -> str:
        """Main field of its result."""
        return self.entry.main

    @property
    def beside(self) -> tuple[str, ...]:
        """Further fields that belong to the whole result, vectors as the main one."""
        return self.entry.fields(self.given)[1:]

    @property
    def picture(self) -> Picture:
        """How its result is drawn."""
        return self.entry.drawn()

    @property
    def needs_source(self) -> bool:
        """Whether it starts from one vertex."""
        return bool(self.entry.start)

    @property
    def takes_many(self) -> bool:
        """Whether it may start from several vertices."""
        return self.entry.takes_many

    @property
    def route(self) -> str:
        """The argument that makes the function keep what ``--target`` walks back along."""
        return self.entry.layout.tree[1]  # type: ignore[no-any-return]

    @property
    def others(self) -> dict[str, Entry]:
        """What else the command runs where an option is given, by that option."""
        entries = (each for each in REGISTRY.values() if each.typed == self.entry.typed)
        return {each.when: each for each in entries if each.when}

    @property
    def parameters(self) -> dict[str, Parameter]:
        """What the function takes of the options, by name."""
        found = {
            name: each
            for name, each in self.entry.parameters.items()
            if name not in _NOT_TYPED and (name != "predecessors" or name == self.route)
        }
        return found | {name: each.parameters[name] for name, each in self.others.items()}

    @property
    def options(self) -> dict[str, str]:
        """Help texts of its own options, by name."""
        texts: dict[str, str] = {}
        if self.needs_source:
            texts["source"] = _FROM_MANY if self.takes_many else _FROM
        if self.route:
            texts["target"] = _TO
        if self.entry.named:
            names = ", ".join(map(hyphened, load(self.entry.named)))
            texts["method"] = f"auto (the default: the planner chooses), {names}."
        told = {name: text for each in self.others.values() for name, text in each.texts.items()}
        told |= {"seed": _SEED, **self.entry.texts}
        texts |= {name: told.get(name, each.text) for name, each in self.parameters.items()}
        if self.entry.layout.ranked:
            texts["top"] = _TOP
        return texts

    def under(self, given: Collection[str]) -> Row:
        """Return the row as it is where these options are given."""
        chosen = (each for option, each in self.others.items() if option in given)
        return replace(self, entry=next(chosen, self.entry), given=tuple(given))

    def draws(self, given: Collection[str]) -> bool:
        """Whether the options that are given leave something for a seed to draw."""
        names = self.entry.parameters
        return "seed" in names and ("sources" in given or "sources" not in names)

    def start(self, graph: Graph, text: str | None) -> Any:
        """Return the vertex that ``--source`` names, a list of them if it names several, or None.

        Raises
        ------
        InvalidValue
            It names several, of which this takes one.
        As `find_vertex`.
        """
        if not self.needs_source:
            return None
        names = source_names(graph, text)
        if len(names) > 1 and not self.takes_many:
            others = ", ".join(name for name, row in CATALOGUE.items() if row.takes_many)
            raise InvalidValue(
                f"--source {text} names {len(names)} vertices, but {self.function} starts from "
                f"one; run it for each, or one that takes several: {others}"
            )
        found = [find_vertex(graph, name) for name in names]
        return found if len(found) > 1 else found[0]

    def call(self, matrix: Any, source: Any, options: dict[str, Any]) -> Any:
        """Run it."""
        places = (source,) if self.needs_source else ()
        return self.entry.function(matrix, *places, **options)

    def answer(self, result: Any, top: int = 10) -> Answer:
        """Return the result with its main field; so many of the first vertices are summed up."""
        return Answer(result, getattr(result, self.field), top)


#: The commands by name.
CATALOGUE = View(lambda: {each.typed: Row(each) for each in REGISTRY.values() if not each.when})


def check_seed(reading: Reading, *, is_used: bool = False) -> None:
    """Refuse a seed that nothing uses: neither weights nor, by `is_used`, the algorithm.

    Raises
    ------
    typer.BadParameter
        It would change nothing.
    """
    if reading.seed is None or reading.weights is not None or is_used:
        return
    *names, last = (name for name, row in CATALOGUE.items() if row.draws(()))
    raise typer.BadParameter(
        f"--seed {reading.seed} would change nothing: it is for --weights random, --sources, "
        f"{', '.join(names)} and {last}; a generator has its own, as in "
        f"kron:16,seed={reading.seed}"
    )
