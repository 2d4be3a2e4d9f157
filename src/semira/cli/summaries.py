"""What is printed of the results of algorithms: the facts that a row of the registry names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira.algorithms.row import Row
from semira.base.locks import cached_property
from semira.cli.graphs import Graph


@dataclass(frozen=True)
class Answer:
    """A result; the entries of its main field are fetched when somebody looks at them."""

    #: What the algorithm returned.
    result: Any
    #: Its main field.
    main: Any
    #: How many of the first vertices a summary has.
    top: int = 10

    @cached_property
    def _entries(self) -> tuple[NDArray[Any], NDArray[Any]]:
        *_, indices, values = self.main.to_coo()
        return indices.astype(np.int64), values

    @property
    def indices(self) -> NDArray[Any]:
        """Vertices with an entry, of a matrix its columns."""
        return self._entries[0]

    @property
    def values(self) -> NDArray[Any]:
        """The values of these entries."""
        return self._entries[1]

    def reduced(self, monoid: str) -> Any:
        """Return all values of the main field as one, in 64 bits; None if there are none."""
        main = self.main
        number = "FP64" if main.dtype.kind == "F" else "INT64"
        reduce = main.reduce_scalar if hasattr(main, "nrows") else main.reduce
        found = reduce(f"{monoid}[{number}]").value
        return 0 if found is None and monoid == "plus" else found


Summary = dict[str, Any]

#: Facts that name a vertex.
VERTEX_FACTS = ("source", "farthest", "vertex", "target")


def group_sizes(labels: NDArray[Any]) -> NDArray[np.int64]:
    """Return how many vertices have each label, the largest number first."""
    sizes = np.unique(labels, return_counts=True)[1]
    return np.sort(sizes)[::-1].astype(np.int64)


def _scope(graph: Graph, _answer: Answer) -> str:
    """Return what the largest and the smallest eccentricity are taken over."""
    sizes = graph.component_sizes()
    scope = "the largest and the smallest eccentricity"
    if len(sizes) > 1:
        scope += " within a component" + ("; a single vertex has 0" if 1 in sizes else "")
    return scope


def _top(graph: Graph, answer: Answer, field: str = "", name: str = "") -> list[Summary]:
    """Return the vertices with the largest values of a field."""
    field = field or answer.result.layout.main
    found = answer.result.top(answer.top, field=field)
    return [{"vertex": graph.label_of(at), name or field: value} for at, value in found]


#: Facts that are no property of a result.
DERIVED: dict[str, Callable[..., Any]] = {
    "entries": lambda graph, answer: int(answer.main.nvals),
    "sum": lambda graph, answer: answer.reduced("plus"),
    "half_sum": lambda graph, answer: answer.reduced("plus") // 2,
    "mean": lambda graph, answer: answer.reduced("plus") / max(int(answer.main.nvals), 1),
    "most": lambda graph, answer: answer.reduced("max"),
    "least": lambda graph, answer: answer.reduced("min"),
    "at_least": lambda graph, answer: graph.label_of(
        answer.indices[np.argmin(answer.values)]
    ),
    "at_most": lambda graph, answer: int(np.count_nonzero(answer.values == answer.values.max())),
    "groups": lambda graph, answer: len(group_sizes(answer.values)),
    "group_sizes": lambda graph, answer: group_sizes(answer.values)[:5],
    "singles": lambda graph, answer: int(np.count_nonzero(group_sizes(answer.values) == 1)),
    "parts": lambda graph, answer: len(graph.component_sizes()),
    "single_parts": lambda graph, answer: int(np.count_nonzero(graph.component_sizes() == 1)),
    "scope": _scope,
    "known": lambda graph, answer: int(
        np.count_nonzero(answer.values == answer.result.upper.to_coo()[1])
    ),
    # Rows with an entry; there is no such fact of a vector.
    "rows": lambda graph, answer: (
        int(answer.main.reduce_rowwise("any").nvals) if hasattr(answer.main, "nrows") else None
    ),
    # Of a matrix of distances, without those from vertices to themselves.
    "pairs": lambda graph, answer: int(answer.main.nvals) - graph.arrays.nrows,
    "largest_residual": lambda graph, answer: answer.result.residuals.max(),
    "top": _top,
}  # fmt: skip


def summarise(row: Row, graph: Graph, answer: Answer) -> Summary:
    """Return the facts that a row names; without any, the answer that the result's layout has."""
    layout = answer.result.layout
    facts = row.facts or (*dict.fromkeys((*layout.answer, "iterations")), *["top"] * layout.ranked)
    found: Summary = {}
    for each in facts:
        key, _, fact = each.rpartition("=")
        fact, *given = fact.split()
        if fact in DERIVED:
            value = DERIVED[fact](graph, answer, *given)
        else:
            value = getattr(answer.result, fact)
            value = graph.label_of(value) if fact in layout.vertices else value
        if value is not None or fact != "rows":
            found[key or fact] = value
    return found


def route(graph: Graph, answer: Answer, target: int) -> Summary:
    """Return the facts of a path to a vertex; no length (or width) and no route: there is none."""
    length = answer.main.get(target)
    found = [] if length is None else answer.result.path_to(target)
    measure = "width" if answer.result.layout.main == "width" else "length"
    return {
        "target": graph.label_of(target),
        measure: length,
        "route": [graph.label_of(vertex) for vertex in found],
    }
