"""A row of the registry: what it states, and what follows from the function it names."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from typing import Any

from semira.exceptions import InvalidValue

#: Types of values that can be typed on a command line.
_TYPES: dict[str, type] = {"bool": bool, "int": int, "float": float, "str": str}


class Kind(StrEnum):
    """What the main field of a result is."""

    vector = "vector"
    square = "square"  #: a matrix of vertices by vertices
    matrix = "matrix"  #: any other
    number = "number"


class Picture(StrEnum):
    """How a result is drawn."""

    none = "none"
    top = "top"  #: the first vertices by name, and all values
    sizes = "sizes"  #: the sizes of groups of vertices with equal values
    counts = "counts"  #: how many vertices, or pairs, have each value


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of an algorithm whose value is a number, a text or a flag."""

    #: bool, int, float or str.
    type: type
    #: `inspect.Parameter.empty` if there is none.
    default: Any
    #: The first sentence of its documentation, and what None means.
    text: str = ""
    #: The values it may have, if the documentation lists them.
    choices: tuple[str, ...] = ()
    #: Smallest value, if the documentation states one.
    least: int | None = None


@dataclass(frozen=True, slots=True)
class Peer:
    """A function of another library that computes the same."""

    #: ``"networkx:core_number"``, ``"scipy:dijkstra"`` for `scipy.sparse.csgraph`,
    #: ``"igraph:coreness"`` for a method of the graph, ``"networkit:distance.APSP"`` for a class
    #: that is given the graph, with ``()`` behind it if its ``run`` is.
    name: str
    #: Its keyword arguments. ``"$sources"``, ``"$source"``, ``"$count"``, ``"$shares"`` and
    #: ``"$edges"`` stand for the list of the sources, the first one, their number, a dict of equal
    #: shares, and the edges of the graph; with ``"$each"`` there is a call for every source.
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def library(self) -> str:
        """Name of the library."""
        return self.name.partition(":")[0]


@dataclass(frozen=True, slots=True)
class Case:
    """A call of an algorithm that ``python -m benchmarks algorithms`` measures and checks."""

    #: As records and tables have it.
    name: str
    #: Keyword arguments.
    options: Mapping[str, Any] = field(default_factory=dict)
    #: Number of vertices it starts from; None: one, or as many as a block of searches has if the
    #: function takes several.
    sources: int | None = None
    #: Every edge is given in both directions, although the algorithm reads directions.
    symmetrised: bool = False
    #: Vertices up to which it is tried, where the result is dense.
    most: int | None = None
    #: None: those of the row.
    peers: tuple[Peer, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One algorithm. What its signature, docstring and result class tell is not stated again."""

    #: Of the function.
    name: str
    #: Name of what it computes, as headings have it.
    title: str
    #: Of the documentation.
    section: str
    #: Class of its result.
    result: str
    #: Where function and class are found; by default a module of `semira.algorithms` that is called
    #: as the function.
    module: str = ""
    #: Name on the command line; by default that of the function.
    command: str = ""
    #: Option of that command that chooses this row in place of the first one.
    when: str = ""
    #: Main field of the result, if it is not that of its `Layout`.
    answer: str = ""
    #: What a summary tells: properties of the result and derived facts (`semira.cli.summaries`),
    #: ``"key=fact"`` under another name. Empty: the answer of the `Layout`.
    facts: tuple[str, ...] = ()
    #: None: the first vertices of what is ranked, else how many vertices have each value.
    picture: Picture | None = None
    #: ``"module:name"`` of options of the product by name, among which ``--method`` chooses.
    named: str = ""
    #: Whether the result has a value for every vertex; it is then refused where there are more than
    #: memory has room for.
    every_vertex: bool = False
    #: Whether it reads the direction of edges.
    directed: bool = True
    #: Whether it reads the values of edges by default.
    weighted: bool = False
    #: Help texts of options that the documentation of the function does not suit.
    texts: Mapping[str, str] = field(default_factory=dict)
    #: (vertices, entries) to about how many matrix entries a call reads.
    cost: Callable[[int, int], float]
    #: ``"module:function"`` that checks a result (`benchmarks.algorithm_checks`). Empty: it is
    #: compared with that of the first of `peers`.
    oracle: str = ""
    peers: tuple[Peer, ...] = ()
    #: None: one call with its default options.
    cases: tuple[Case, ...] | None = None
    #: Arguments of further calls that the table of what runs on ``cuda`` lists.
    calls: tuple[str, ...] = ()

    @property
    def home(self) -> str:
        """Full name of the module."""
        return self.module or f"semira.algorithms.{self.name}"

    @property
    def typed(self) -> str:
        """Name on the command line."""
        return self.command or self.name

    @property
    def page(self) -> str:
        """Name of its page in the documentation."""
        return f"{self.home.rpartition('.')[2].replace('_', '-')}.md"

    @property
    def function(self) -> Callable[..., Any]:
        """The function; its module is loaded now."""
        return load(f"{__package__}:{self.name}")  # type: ignore[no-any-return]

    @property
    def layout(self) -> Any:
        """`Layout` of its result."""
        return self._result.layout

    @property
    def _result(self) -> Any:
        return load(f"{self.home}:{self.result}")

    @property
    def main(self) -> str:
        """Main field of the result."""
        return self.answer or self.layout.main

    @property
    def summary(self) -> str:
        """What it returns, in a few words: the first line of its docstring."""
        return summary_of(self.function)

    @property
    def parameters(self) -> dict[str, Parameter]:
        """Parameters that have simple values, by name."""
        return parameters_of(self.function)

    @property
    def needed(self) -> list[str]:
        """Names of the arguments that have no default, without the matrix."""
        return needed_of(self.function)

    @property
    def start(self) -> str:
        """``"source"`` or ``"sources"``: the vertices that it has to be given; else empty."""
        return next((name for name in self.needed if name in {"source", "sources"}), "")

    def kind(self, given: Collection[str] = ()) -> Kind:
        """Return what the main field is under the options that are given."""
        declared = str(self._result.__annotations__.get(self.main, ""))
        if declared.startswith("Vector") or self.layout.vector_if in given:
            return Kind.vector
        if not declared.startswith("Matrix"):
            return Kind.number
        return Kind.matrix if self.layout.rows or self.layout.wide else Kind.square

    def fields(self, given: Collection[str] = ()) -> tuple[str, ...]:
        """Return the main field, and further Vectors that belong to it under the given options."""
        tree, option = self.layout.tree
        if self.main != self.layout.main:
            return (self.main,)
        beside = (each for each in self.layout.beside if each != tree or option in given)
        return (self.main, *beside)

    def drawn(self) -> Picture:
        """Return how the result is drawn."""
        if self.picture is not None or self.kind() is Kind.number:
            return self.picture or Picture.none
        return Picture.top if self.layout.ranked else Picture.counts

    def measured(self) -> tuple[Case, ...]:
        """Return the calls that are measured."""
        return (Case(self.title),) if self.cases is None else self.cases


def needed_of(function: Callable[..., Any]) -> list[str]:
    """Return the names of the arguments that have no default, without the first one."""
    parameters = list(inspect.signature(function).parameters.values())[1:]
    variable = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [p.name for p in parameters if p.default is p.empty and p.kind not in variable]


def load(path: str) -> Any:
    """Return what ``"module:name"`` names.

    Raises InvalidValue if there is no such thing.

    Examples
    --------
    >>> load("semira.algorithms.row:load") is load
    True
    """
    module, _, name = path.partition(":")
    try:
        return getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise InvalidValue(f"{path!r} names nothing that can be loaded: {error}") from error


def summary_of(function: Callable[..., Any]) -> str:
    """Return the first line of a docstring in a few words.

    Examples
    --------
    >>> summary_of(load)
    'what "module:name" names'
    """
    line = (inspect.getdoc(function) or "").partition("\n")[0]
    return line.rstrip(".").replace("`", "").removeprefix("Return ").removeprefix("the ")


def told_of(function: Callable[..., Any], name: str) -> str:
    """Return the first sentence that a docstring has on a parameter; "" without one.

    Examples
    --------
    >>> told_of(load("semira.algorithms:bfs"), "parents")
    'Also return, for each vertex reached, some vertex of the level before with an edge to it.'
    """
    documented = _documented(inspect.getdoc(function) or "")
    return _help(documented.get(name, ("", ""))[1], inspect.Parameter.empty, ())


@cache
def parameters_of(function: Callable[..., Any]) -> dict[str, Parameter]:
    """Return the parameters of a function that have simple values, by name.

    Its docstring is in the style of NumPy.
    """
    documented = _documented(inspect.getdoc(function) or "")
    found = {}
    for each in inspect.signature(function).parameters.values():
        declared = each.annotation
        name = declared if isinstance(declared, str) else getattr(declared, "__name__", "")
        kind = _TYPES.get(name.split(" | ")[0])
        if kind is not None and each.kind is not inspect.Parameter.VAR_KEYWORD:
            told, text = documented.get(each.name, ("", ""))
            choices = tuple(re.findall(r'"(\w+)"', told)) if told.startswith("{") else ()
            least = re.search(r"int >= (\d+)|int, (\d+) <=", told)
            found[each.name] = Parameter(
                kind,
                each.default,
                _help(text, each.default, choices),
                choices,
                int(least[1] or least[2]) if least else None,
            )
    return found


def _documented(text: str) -> dict[str, tuple[str, str]]:
    """Return type and description of the parameters in a docstring, by name."""
    section = text.partition("Parameters\n----------\n")[2]
    section = re.split(r"\n\n[^\n]+\n-{3,}\n", section)[0]
    found: dict[str, tuple[str, str]] = {}
    for block in re.split(r"\n(?=\S)", section):
        head, _, body = block.partition("\n")
        names, _, kind = head.partition(" : ")
        found |= dict.fromkeys(names.split(", "), (kind, " ".join(body.split())))
    return found


def _help(text: str, default: Any, choices: tuple[str, ...]) -> str:
    """Return one sentence on a parameter, and its default.

    Examples
    --------
    >>> _help("Most searches. None: go on until all is known, which may take long.", None, ())
    'Most searches. Default: go on until all is known.'
    >>> _help("``a`` is quick.", "a", ("a", "b"))
    'One of a, b; default a.'
    >>> _help("", 3, ())
    'Default 3.'
    """
    text = text.replace("`", "")
    without = re.search(r"(?:None|Default): (.+?)(?:, which|\.(?: |$))", text)
    first = re.split(r"\. |\.$|[;.]? ?(?:None|Default): ", text)[0]
    if choices:
        first = f"One of {', '.join(choices)}"
    if default is None:
        told = f"Default: {without[1]}" if without else ""
        return " ".join(f"{part}." for part in (first, told) if part)
    if default is inspect.Parameter.empty or isinstance(default, bool):
        return f"{first}." if first else ""
    spelled = f"{default:g}" if isinstance(default, float) else str(default)
    told = f"{first}; default" if first else "Default"
    return f"{told} {spelled.replace('e-0', 'e-')}."
