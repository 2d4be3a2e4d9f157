"""Applications as commands of ``semira run``: their options follow from rows, and what they print.

A row of `semira.apps.registry` is all that an application needs here.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from semira.algorithms.registry import View
from semira.algorithms.row import load, summary_of, told_of
from semira.apps import registry
from semira.apps.row import Application
from semira.cli.catalogue import stated, typed
from semira.cli.graphs import Graph, find_vertex
from semira.cli.groups import READING, Group

#: The applications by the name that is typed.
APPLICATIONS = View(lambda: {row.typed: row for row in registry.rows().values()})

#: Flags whose opposite has a name of its own.
_OPPOSITES = {"weighted": "--weighted/--unweighted", "directed": "--directed/--undirected"}

#: Options of all commands that a parameter may be called like.
_TAKEN = {*READING.options, "file", "device", "repeat", "json", "plot", "out"} - {"seed"}

_VERTEX = "A name of the file, or a number that counts from 0"
_VERTICES = "Names of the file, or numbers that count from 0, between commas"


def options_of(row: Application) -> dict[str, str]:
    """Return the help texts of the options of an application, by name: files and vertices first."""
    texts = {name: _file_text(row, name) for name in row.files}
    for name in row.vertices:
        told = texts.get(name, told_of(row.function, name))
        or_file = ", or a file" if name in row.files else ""
        kind = _VERTEX if name in row.single else _VERTICES
        texts[name] = f"{told} {kind}{or_file}.".strip()
    texts |= {name: each.text for name, each in row.parameters.items()}
    return {option_of(row, name): text for name, text in texts.items()}


def option_of(row: Application, name: str) -> str:
    """Return what the option of a parameter is called: another name where its own is taken."""
    if name not in _TAKEN:
        return name
    return f"{name}_file" if name in row.files else f"{row.name}_{name}"


def _file_text(row: Application, name: str) -> str:
    """Return what the function says of a parameter, or what its reader reads."""
    told = told_of(row.function, name)
    if told:
        return told
    reader = summary_of(load(row.files[name]))
    return f"{reader[:1].upper()}{reader[1:]}."


def own_options(row: Application) -> Group:
    """Return the options of an application; a command gets those that were given, as a dict.

    The seed stands with the options of reading.
    """
    texts, parameters, options = options_of(row), row.parameters, {}
    names = dict.fromkeys((*row.files, *row.vertices, *parameters))
    by_option = {option_of(row, name): name for name in names if name != "seed"}
    for option, name in by_option.items():
        kind: Any = str
        vertex = "VERTEX" if name in row.single else "VERTEX,..."
        kinds = [vertex] * (name in row.vertices) + ["FILE"] * (name in row.files)
        limits: dict[str, Any] = {"metavar": "|".join(kinds)}
        spelled = typed(option)
        if each := parameters.get(name):
            kind, limits = each.type, {} if each.least is None else {"min": each.least}
            spelled = _OPPOSITES.get(name, spelled)
            if each.default is True and name not in _OPPOSITES:
                spelled += f"/--no-{typed(option)[2:]}"
        made = typer.Option(spelled, help=texts[option], show_default=False, **limits)
        options[option] = (Annotated[kind | None, made], None)

    def given(**values: Any) -> dict[str, Any]:
        return {by_option[option]: value for option, value in stated(**values).items()}

    return Group(options, given)


def check_given(row: Application, given: Mapping[str, Any]) -> None:
    """Refuse a call that lacks what has no default, before the graph is read.

    Raises typer.BadParameter if it lacks something, or a value is none of those that there are.
    """
    # Options that are no parameters give others.
    several = [name for name in row.files if name not in _parameters(row)]
    if not any(name in given for name in several):
        _check_complete(row, given)
    for name, each in row.parameters.items():
        if each.choices and given.get(name, each.choices[0]) not in each.choices:
            listed = ", ".join(each.choices)
            told = f"{typed(option_of(row, name))} {given[name]!r}"
            raise typer.BadParameter(f"{told} is none of {listed}")


def _check_complete(row: Application, found: Mapping[str, Any]) -> None:
    lacking = [name for name in row.needed if name not in found]
    options = {*row.files, *row.vertices, *row.parameters}
    asked = [name for name in lacking if name in options]
    if lacking:
        names = asked or [name for name in row.files if name not in _parameters(row)] or lacking
        listed = ", ".join(typed(option_of(row, name)) for name in names)
        raise typer.BadParameter(f"{row.typed} needs {listed}")


def arguments_of(row: Application, given: Mapping[str, Any], graph: Graph) -> dict[str, Any]:
    """Return the arguments of the function: files are read, vertices looked up.

    Raises what the readers raise, and IndexOutOfBound if a vertex is unknown.
    """
    found: dict[str, Any] = {}
    for name, value in given.items():
        is_file = name in row.files and (name not in row.vertices or Path(value).exists())
        if is_file:
            read = _read(load(row.files[name]), value, graph, found)
            found |= {name: read} if name in _parameters(row) else read
        elif name in row.single:
            found[name] = find_vertex(graph, value, typed(name))
        elif name in row.vertices:
            found[name] = [find_vertex(graph, each, typed(name)) for each in _names(value, graph)]
        else:
            found[name] = value
    _check_complete(row, found)
    return found


def _read(reader: Callable[..., Any], path: str, graph: Graph, found: Mapping[str, Any]) -> Any:
    known = {"size": graph.arrays.nrows, "labels": graph.labels, "found": found}
    named = {k: v for k, v in known.items() if k in inspect.signature(reader).parameters}
    return reader(path, **named)


def _names(text: str, graph: Graph) -> list[str]:
    """Return what stands between commas; a label that has commas is one name."""
    is_label = graph.labels is not None and text in graph.labels.astype(str)
    return [text] if is_label else text.split(",")


def _parameters(row: Application) -> Mapping[str, inspect.Parameter]:
    return inspect.signature(row.function).parameters
