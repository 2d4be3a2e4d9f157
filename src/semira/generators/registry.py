"""Generators by name, and the specs that name one together with its parameters: ``kron:16,ef=8``.

A spec is ``name:size[,option=value]...``. A new generator is one row of `GENERATORS`.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

from semira.base.errors import InvalidValue
from semira.formats import EdgeList
from semira.formats.index import MAX_SIZE
from semira.generators.checks import check_count
from semira.generators.erdos_renyi import generate_erdos_renyi
from semira.generators.geometric import generate_geometric
from semira.generators.kronecker import generate_kronecker
from semira.generators.road import generate_road

_WORDS = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}


def _parse_flag(text: str) -> bool:
    try:
        return _WORDS[text.lower()]
    except KeyError:
        raise ValueError("yes or no") from None


def _parse_weights(text: str) -> str | None:
    return None if text.lower() == "none" else text


def _parse_scale(text: str) -> tuple[int]:
    return (int(text),)


def _parse_power(text: str) -> tuple[int]:
    return (1 << check_count("scale", int(text), 0, MAX_SIZE.bit_length() - 1),)


def _parse_grid(text: str) -> tuple[int, int]:
    rows, cols = text.lower().split("x")
    return int(rows), int(cols)


@dataclass(frozen=True, slots=True)
class Option:
    """An option of a spec."""

    #: The generator's parameter.
    parameter: str
    #: Text to value; raises ValueError.
    parse: Callable[[str], Any]


@dataclass(frozen=True, slots=True)
class Generator:
    """A row of the table of generators."""

    #: Returns an EdgeList.
    generate: Callable[..., EdgeList]
    #: What the size means, for messages.
    size: str
    #: Text to the generator's positional arguments; raises ValueError.
    parse_size: Callable[[str], tuple[Any, ...]]
    #: A spec that works.
    example: str
    #: One line for people.
    summary: str
    options: Mapping[str, Option]
    #: Parameters that differ from the function's own defaults.
    defaults: Mapping[str, Any] = field(default_factory=dict)


_COMMON = {
    "seed": Option("seed", int),
    "weights": Option("weights", _parse_weights),
    "symmetric": Option("symmetric", _parse_flag),
}
_KRONECKER = {
    "ef": Option("edge_factor", int),
    "a": Option("a", float),
    "b": Option("b", float),
    "c": Option("c", float),
    "permute": Option("permute", _parse_flag),
    "self_loops": Option("self_loops", _parse_flag),
    **_COMMON,
}
_ROAD = {"removed": Option("removed", float), **_COMMON}

#: Every generator by the name that specs use.
GENERATORS: dict[str, Generator] = {
    "kron": Generator(
        generate_kronecker,
        "binary logarithm of the number of vertices",
        _parse_scale,
        "kron:16,ef=8,seed=3",
        "Kronecker graph of the Graph500 benchmark",
        _KRONECKER,
    ),
    "rmat": Generator(
        generate_kronecker,
        "binary logarithm of the number of vertices",
        _parse_scale,
        "rmat:18,a=0.45,b=0.15,c=0.15",
        "R-MAT graph: the same generator under its other name",
        _KRONECKER,
    ),
    "rgg": Generator(
        generate_geometric,
        "binary logarithm of the number of vertices",
        _parse_power,
        "rgg:15",
        "random geometric graph, as rgg_n_2_15",
        {"radius": Option("radius", float), **_COMMON},
    ),
    "road": Generator(
        generate_road,
        "number of rows x columns",
        _parse_grid,
        "road:300x200,removed=0.3",
        "road-like grid with missing roads (a fifth unless given) and lengths",
        _ROAD,
        {"removed": 0.2},
    ),
    "grid": Generator(
        generate_road,
        "number of rows x columns",
        _parse_grid,
        "grid:100x100",
        "full grid without weights",
        _ROAD,
        {"weights": None},
    ),
    "er": Generator(
        generate_erdos_renyi,
        "number of vertices",
        _parse_scale,
        "er:10000,degree=8",
        "Erdős-Rényi graph of a given average degree",
        {"degree": Option("degree", float), **_COMMON},
    ),
}


def is_generator_spec(text: str) -> bool:
    """Return whether `text` starts like a spec; `generate` tells whether it is a valid one.

    Examples
    --------
    >>> is_generator_spec("kron:16"), is_generator_spec("kron.mtx")
    (True, False)
    """
    name, colon, _ = text.partition(":")
    return bool(colon) and name.lower() in GENERATORS


def nearest_generator(text: str) -> str | None:
    """Return what to say about the generators to somebody who meant one; None if nobody did.

    Parameters
    ----------
    text : str
        What was taken for a file, and is none.

    Examples
    --------
    >>> nearest_generator("krn:14")
    'no generator is called krn; the nearest is kron, as in kron:16,ef=8,seed=3'
    >>> nearest_generator("grid")
    'the generator grid needs a size, as in grid:100x100'
    >>> nearest_generator("grid.mtx")
    """
    name, colon, _ = text.partition(":")
    near = difflib.get_close_matches(name.lower(), GENERATORS, 1)
    if (not near and not colon) or "." in name or "/" in name:
        return None
    if not near:
        return f"no generator is called {name}; there are {', '.join(GENERATORS)}"
    example = GENERATORS[near[0]].example
    if name.lower() in GENERATORS:
        return f"the generator {near[0]} needs a size, as in {example}"
    return f"no generator is called {name}; the nearest is {near[0]}, as in {example}"


def parse_spec(spec: str) -> tuple[Generator, tuple[Any, ...], dict[str, Any]]:
    """Return the generator that `spec` names, its positional arguments and its parameters.

    Raises
    ------
    InvalidValue
        Unknown name, option or value; the message lists the valid ones.

    Examples
    --------
    >>> parse_spec("kron:16,ef=8")[1:]
    ((16,), {'edge_factor': 8})
    """
    name, colon, rest = spec.partition(":")
    row = GENERATORS.get(name.strip().lower())
    if not colon or row is None:
        examples = ", ".join(each.example for each in GENERATORS.values())
        raise InvalidValue(f"{spec!r} is not a generator spec; valid ones: {examples}")
    size, *settings = (part.strip() for part in rest.split(","))
    try:
        arguments = row.parse_size(size)
    except InvalidValue:
        raise
    except ValueError as error:
        _refuse(spec, row, f"the size {size!r} is not the {row.size}", error)
    parameters = dict(row.defaults)
    seen = set()
    for text in settings:
        key, equals, value = (part.strip() for part in text.partition("="))
        option = row.options.get(key)
        if option is None or not equals:
            _refuse(spec, row, f"{text!r} is not one of its options")
        if key in seen:
            _refuse(spec, row, f"{key!r} is given twice")
        seen.add(key)
        try:
            parameters[option.parameter] = option.parse(value)
        except ValueError as error:
            _refuse(spec, row, f"{key!r} cannot be {value!r}", error)
    return row, arguments, parameters


def generate(spec: str) -> EdgeList:
    """Return the graph that `spec` names.

    Parameters
    ----------
    spec : str
        ``name:size[,option=value]...``, see `GENERATORS`.

    Returns
    -------
    EdgeList
        With the spec as ``meta["name"]``.

    Raises
    ------
    InvalidValue
        Unknown name, option or value; the message lists the valid ones.
    OutOfMemory
        The graph would not fit into memory.

    Examples
    --------
    >>> generate("grid:3x2").nnz
    14
    """
    row, arguments, parameters = parse_spec(spec)
    graph = row.generate(*arguments, **parameters)
    graph.meta["name"] = spec
    return graph


def _refuse(spec: str, row: Generator, reason: str, cause: Exception | None = None) -> NoReturn:
    options = ", ".join(f"{key}=" for key in row.options)
    raise InvalidValue(
        f"{spec!r}: {reason}; valid: {row.example}; the size is the {row.size}, the options "
        f"are {options}"
    ) from cause
