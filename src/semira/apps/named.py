"""Applications on graphs whose vertices have names: `takes_graph`, and results that tell them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar, cast

from semira import Matrix
from semira.algorithms.naming import Tabled, by_name, tell

if TYPE_CHECKING:
    from semira.io import Graph

_P = ParamSpec("_P")
_R = TypeVar("_R")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Named(Tabled):
    """A result whose vertices have names if the application was given a `semira.io.Graph`.

    Attributes
    ----------
    graph : Graph or None
        What the application was given; None if that was a Matrix.
    """

    graph: Graph | None = field(default=None, kw_only=True, repr=False, compare=False)

    def facts(self) -> dict[str, Any]:
        """Return what a summary tells; see `semira.apps.row.Answer`."""
        raise NotImplementedError

    def __repr__(self) -> str:
        told = ", ".join(
            f"{name}={value:.6g}" if isinstance(value, float) else f"{name}={value}"
            for name, value in self.facts().items()
        )
        return f"{type(self).__name__}({told})"


def takes_graph(
    **numberings: Callable[[Graph, Any], Any],
) -> Callable[
    [Callable[Concatenate[Matrix, _P], _R]], Callable[Concatenate[Matrix | Graph, _P], _R]
]:
    """Let an application on a Matrix take a `semira.io.Graph` too, with its vertices by name.

    The first parameter of the function is the adjacency matrix ``A``; `numberings` are as those of
    `semira.algorithms.naming.takes_graph`. A `Named` result, and each one of a tuple, knows the
    graph.

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
        call = by_name(function, numberings, _told)
        return cast("Callable[Concatenate[Matrix | Graph, _P], _R]", call)

    return decorate


def _told(found: Any, graph: Graph | None) -> Any:
    for each in found if isinstance(found, tuple) else (found,):
        if graph is not None and isinstance(each, Named):
            tell(each, graph)
    return found
