"""Two graphs whose vertices have names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from semira.exceptions import InvalidValue
from semira.io import Graph


class Given(NamedTuple):
    """What `graph_match` is given, with numbers for names; None for what is no Graph."""

    matrices: tuple[Any, Any]
    graphs: tuple[Graph | None, Graph | None]
    seeds: Any
    soft_seeds: Any
    initial: Any


def by_number(A: Any, other: Any, seeds: Any, soft_seeds: Any, initial: Any) -> Given:
    """Return both matrices, and numbers for the vertices of the graphs that have names.

    Raises IndexOutOfBound if a name is unknown, and InvalidValue if `initial` is a mapping that
    lacks a vertex of A.
    """
    first, second = (each if isinstance(each, Graph) else None for each in (A, other))
    graphs = first, second
    if first is not None:
        A = first.matrix
    if second is not None:
        other = second.matrix
    if any(each is not None and each.labels is not None for each in graphs):
        seeds, soft_seeds = _pairs(seeds, graphs), _pairs(soft_seeds, graphs)
    if isinstance(initial, Mapping):
        partners = {_number(first, u): _number(second, v) for u, v in initial.items()}
        lacking = sorted({*range(A.nrows)} - {*partners})
        if lacking:
            name = lacking[0] if first is None else first.name(lacking[0])
            raise InvalidValue(f"graph_match: initial has no partner for {name!r}; give all")
        initial = np.array([partners[u] for u in range(len(partners))], np.int64)
    return Given((A, other), graphs, seeds, soft_seeds, initial)


def _pairs(pairs: Any, graphs: tuple[Graph | None, ...]) -> Any:
    if pairs is None:
        return None
    return [[_number(*each) for each in zip(graphs, pair, strict=True)] for pair in pairs]


def _number(graph: Graph | None, name: Any) -> Any:
    return name if graph is None or graph.labels is None else graph.vertex(name)
