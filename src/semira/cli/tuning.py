"""Options of single algorithms: what the command line shows of them, and what becomes of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

import typer

from semira.cli.catalogue import ASIDE, CATALOGUE, Algorithm, Row
from semira.cli.groups import Group

#: Type of the value and what limits it, of options that are no argument of the function.
_KINDS: dict[str, tuple[Any, dict[str, Any]]] = {
    "source": (str, {"metavar": "VERTEX"}),
    "target": (str, {"metavar": "VERTEX"}),
    "top": (int, {"min": 1}),
    "method": (str, {}),
}

#: Flags whose opposite has a name of its own.
_OPPOSITES = {"weighted": "--weighted/--unweighted"}


def own_options(row: Row, *, without: tuple[str, ...] = ()) -> Group:
    """Return the options of an algorithm; a command gets those that were given, as a dict.

    Parameters
    ----------
    row : Row
    without : tuple of str
        Names that the command does not offer. The seed stands with the options of reading.
    """
    options, parameters = {}, row.parameters
    for name, text in row.options.items():
        if name == "seed" or name in without:
            continue
        taken = parameters.get(name)
        kind, limits = _KINDS.get(name, (str, {}))
        spelled = _OPPOSITES.get(name, typed(name))
        if taken is not None:
            kind = taken.type
            limits = {} if taken.least is None else {"min": taken.least}
            spelled += f"/--no-{typed(name)[2:]}" * (taken.default is True)
        option = typer.Option(spelled, help=text, show_default=False, **limits)
        options[name] = (Annotated[kind | None, option], None)
    return Group(options, stated)


@dataclass(frozen=True, slots=True)
class Asked:
    """What was asked of an algorithm.

    Attributes
    ----------
    row : Row
        As it is with these options.
    options : dict
        Keyword arguments of the function.
    source, target : str or None
        As typed.
    top : int
    """

    row: Row
    options: dict[str, Any] = field(default_factory=dict)
    source: str | None = None
    target: str | None = None
    top: int = 10


def ask(algorithm: Algorithm, given: Mapping[str, Any], seed: int | None) -> Asked:
    """Return what the options of a command ask of an algorithm.

    Parameters
    ----------
    algorithm : Algorithm
    given : mapping
        The options that were given, by name.
    seed : int or None
        Left out where the algorithm draws nothing; reading the graph may use it.
    """
    row = CATALOGUE[algorithm]
    options = {name: value for name, value in given.items() if name not in ASIDE}
    if seed is not None and row.draws(given):
        options["seed"] = seed
    row = row.under(options)
    if "target" in given:
        options[row.route] = True
    return Asked(row, options, **{name: given[name] for name in ASIDE if name in given})


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
