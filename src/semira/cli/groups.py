"""Options that several commands share: each group of them reaches a command as one argument."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from semira.cli.graphs import Reading
from semira.cli.options import (
    BaseOption,
    ColumnsOption,
    DecimalOption,
    DelimiterOption,
    DropLoopsOption,
    DupOpOption,
    EncodingOption,
    FormatOption,
    HeaderOption,
    IdsOption,
    MissingOption,
    SeedOption,
    SizeOption,
    SymmetriseOption,
    WeightsOption,
)


@dataclass(frozen=True, slots=True)
class Group:
    """Options that belong together.

    Attributes
    ----------
    options : mapping of str to (annotation, default)
        By name, in the order of the help.
    make : callable
        What a command gets, from the values by name.
    """

    options: Mapping[str, tuple[Any, Any]]
    make: Callable[..., Any]


def with_options(**groups: Group) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator that spreads parameters of a command out into options.

    Parameters
    ----------
    **groups
        By the name of the parameter that they become.

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


#: How a file is read, the same wherever one is.
READING = Group(
    {
        "format": (FormatOption, None),
        "symmetrise": (SymmetriseOption, False),
        "drop_self_loops": (DropLoopsOption, False),
        "weights": (WeightsOption, None),
        "seed": (SeedOption, None),
        "dup_op": (DupOpOption, None),
        "columns": (ColumnsOption, None),
        "base": (BaseOption, None),
        "ids": (IdsOption, None),
        "delimiter": (DelimiterOption, None),
        "header": (HeaderOption, None),
        "size": (SizeOption, None),
        "missing": (MissingOption, None),
        "encoding": (EncodingOption, None),
        "decimal": (DecimalOption, None),
    },
    Reading,
)
