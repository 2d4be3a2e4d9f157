"""Applications on graphs whose vertices have names: `takes_graph`, and results that tell them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Concatenate, ParamSpec, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from semira import Matrix
from semira.algorithms.naming import by_number

if TYPE_CHECKING:
    from semira.io import Graph

_P = ParamSpec("_P")
_R = TypeVar("_R")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Named:
    """A result whose vertices have names if the application was given a `semira.io.Graph`.

    Attributes
    ----------
    graph : Graph or None
        What the application was given; None if that was a Matrix.
    """

    #: Columns of the table that are vertices.
    vertex_columns: ClassVar[tuple[str, ...]] = ("vertex",)

    graph: Graph | None = field(default=None, kw_only=True, repr=False, compare=False)

    def columns(self) -> dict[str, NDArray[np.generic]]:
        """Return the table with numbers for vertices."""
        raise NotImplementedError

    def table(self) -> dict[str, NDArray[Any]]:
        """Return `columns`, with the names of vertices if the graph has names."""
        found: dict[str, NDArray[Any]] = self.columns()
        named = {each: self.names(found[each]) for each in self.vertex_columns if each in found}
        return found | named

    def names(self, vertices: Any) -> NDArray[Any]:
        """Return the names of vertices in an array of the same shape; None for -1.

        Without a graph that has names, the numbers are returned.
        """
        numbers = np.asarray(vertices)
        labels = None if self.graph is None else self.graph.labels
        if labels is None or not numbers.size:
            return numbers
        known: NDArray[Any] = labels[np.maximum(numbers, 0)]
        return np.where(numbers < 0, None, known) if np.any(numbers < 0) else known  # type: ignore[call-overload]


def takes_graph(
    **numberings: Callable[[Graph, Any], Any],
) -> Callable[
    [Callable[Concatenate[Matrix, _P], _R]], Callable[Concatenate[Matrix | Graph, _P], _R]
]:
    """Let an application on a Matrix take a `semira.io.Graph` too, with its vertices by name.

    Parameters
    ----------
    **numberings : callable
        As of `semira.algorithms.naming.takes_graph`.

    Returns
    -------
    decorator
        Of a function whose first parameter is the adjacency matrix ``A``. A `Named` result, and
        each one of a tuple, knows the graph.

    Examples
    --------
    >>> from semira import apps, io
    >>> cities = io.Graph.from_edges(["Bern", "Thun"], ["Thun", "Brig"])
    >>> walks = apps.random_walks(cities, "Bern", 3)
    >>> walks.names(walks.paths).tolist()
    [['Bern', 'Thun', 'Brig']]
    """

    def decorate(
        function: Callable[Concatenate[Matrix, _P], _R],
    ) -> Callable[Concatenate[Matrix | Graph, _P], _R]:
        numbered = by_number(function, numberings)

        @functools.wraps(function)
        def call(A: Any, *args: Any, **kwargs: Any) -> Any:
            if isinstance(A, Matrix):
                return function(A, *args, **kwargs)
            matrix, args, kwargs, graph = numbered(A, args, kwargs)
            found = function(matrix, *args, **kwargs)
            for each in found if isinstance(found, tuple) else (found,):
                if isinstance(each, Named):
                    object.__setattr__(each, "graph", graph)
            return found

        return cast("Callable[Concatenate[Matrix | Graph, _P], _R]", call)

    return decorate
