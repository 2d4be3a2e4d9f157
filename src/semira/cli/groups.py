"""Options that several commands share: each group of them reaches a command as one argument."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any

from semira.cli.graphs import Reading
from semira.cli.options import READING_PANEL, option


@dataclass(frozen=True, slots=True)
class Group:
    """Options that belong together."""

    #: By name, in the order of the help.
    options: Mapping[str, tuple[Any, Any]]
    #: What a command gets, from the values by name.
    make: Callable[..., Any]


def with_options(**groups: Group) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator that spreads parameters of a command, by name, out into groups of options.

    Examples
    --------
    >>> @with_options(place=Group({"real": (float, 0.0), "imag": (float, 0.0)}, complex))
    ... def show(name: str, *, place: complex) -> None:
    ...     print(name, place)
    >>> show(name="a", real=1.0, imag=2.0)
    a (1+2j)
    >>> list(inspect.signature(show).parameters)
    ['name', 'real', 'imag']
    """

    def spread(command: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(command)
        def spread_out(**given: Any) -> None:
            made = {
                name: group.make(**{option: given.pop(option) for option in group.options})
                for name, group in groups.items()
            }
            command(**given, **made)

        parameters = list(_parameters(command, groups))
        # What Typer reads.
        spread_out.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        spread_out.__annotations__ = {each.name: each.annotation for each in parameters}
        return spread_out

    return spread


def _parameters(
    command: Callable[..., None], groups: Mapping[str, Group]
) -> Iterator[inspect.Parameter]:
    """Yield what a command takes, with the options of a group in its place."""
    by_name = inspect.Parameter.KEYWORD_ONLY
    for parameter in inspect.signature(command, eval_str=True).parameters.values():
        if parameter.name not in groups:
            yield parameter.replace(kind=by_name)
            continue
        for name, (annotation, default) in groups[parameter.name].options.items():
            yield inspect.Parameter(name, by_name, default=default, annotation=annotation)


class Weights(StrEnum):
    """Which weights to put in place of those of the file."""

    random = "random"


def _reading(
    help_text: str,
    metavar: str | None = None,
    *spellings: str,
    kind: Any = str | None,
    default: Any = None,
    **limits: Any,
) -> tuple[Any, Any]:
    """Return an option of reading, and its default."""
    made = option(help_text, metavar, *spellings, panel=READING_PANEL, **limits)
    return Annotated[kind, made], default


#: How a file is read, the same wherever one is.
READING = Group(
    {
        "format": _reading(
            "Format of FILE: mtx, npz, csv, dimacs or edgelist. Default: by content and name.",
            "NAME",
        ),
        "symmetrise": _reading(
            "Add the reverse of every edge.", None, "--symmetrise", "--symmetrize", kind=bool,
            default=False,
        ),
        "drop_self_loops": _reading(
            "Leave out edges from a vertex to itself.", None, "--drop-self-loops", kind=bool,
            default=False,
        ),
        "weights": _reading(
            "random: integers from 1 to 64 in place of the file's weights.", kind=Weights | None
        ),
        "seed": _reading(
            "Seed of --weights random, of --sources, and of mis, colouring, lpa and embedding, and "
            "of applications that draw; default 0. That of a generator belongs to its name, as in "
            "kron:16,seed=3.",
            kind=int | None, min=0,
        ),
        "dup_op": _reading(
            "What folds repeated edges: first, min, max, plus, ... Default: first; min for .gr.",
            "OPERATOR",
        ),
        "columns": _reading(
            "Edge lists: source, target and weight, by position (from 0) or by name.",
            "I,J[,W]",
        ),
        "base": _reading(
            "Edge lists: the least vertex number, 0 or 1. Default: 0.", kind=int | None, min=0,
            max=1,
        ),
        "ids": _reading(
            "Edge lists: whether vertices are numbers (index) or names, which are kept as labels. "
            "Default: by what they are (auto).",
            "auto|index|name",
        ),
        "delimiter": _reading(
            "Edge lists: what separates columns. Default: found in the first line.",
            "CHARACTER",
        ),
        "header": _reading(
            "Edge lists: whether the first line names the columns. Default: found out.",
            None, "--header/--no-header", kind=bool | None,
        ),
        "size": _reading(
            "Edge lists: number of vertices. Default: the largest one and 1 more.",
            "N", kind=int | None, min=0,
        ),
        "missing": _reading(
            "Edge lists: leave out edges with an empty or NA weight, or give them this weight. "
            "Default: an error.",
            "drop|NUMBER",
        ),
        "encoding": _reading(
            "Edge lists: encoding of the text, such as latin-1. Default: utf-8.", "NAME"
        ),
        "decimal": _reading(
            "Edge lists: decimal separator of weights, a point or a comma. Default: a point.",
            "CHARACTER",
        ),
    },
    Reading,
)  # fmt: skip
