"""Algorithms on graphs whose vertices have names: `takes_graph`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Iterable, Mapping
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, ClassVar, Concatenate, ParamSpec, TypeAlias, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from semira import Matrix, Vector, beside, device
from semira.algorithms.checks import KNOWN
from semira.algorithms.run import Run, asked

if TYPE_CHECKING:
    from semira.io import Graph

#: A vertex: its number, or its name in a Graph.
Vertex: TypeAlias = Hashable

_P = ParamSpec("_P")
_R = TypeVar("_R", bound=Run)

#: Makes numbers of the vertices that an argument names.
_Numbering: TypeAlias = "Callable[[Graph, Any], Any]"


def takes_graph(
    **numberings: _Numbering,
) -> Callable[
    [Callable[Concatenate[Matrix, _P], _R]], Callable[Concatenate[Matrix | Graph, _P], _R]
]:
    """Let an algorithm on a Matrix take a `semira.io.Graph` too, with its vertices by name.

    Each parameter that names vertices is given with what makes numbers of them: `vertex`,
    `vertices`, `count_or_vertices`, `vertices_or_sets`, `pairs_of`, `keys_of` or `values_of`,
    called for graphs with labels only. The first parameter of the function is the adjacency matrix
    ``A``. What is returned knows the algorithm, and the graph if one was given. With a Matrix a
    call costs one check of its type more.

    Examples
    --------
    >>> from semira import algorithms, io
    >>> cities = io.Graph.from_edges(["Bern", "Thun"], ["Thun", "Brig"])
    >>> algorithms.bfs(cities, "Bern").to_dict()
    {'Bern': 0, 'Thun': 1, 'Brig': 2}
    """

    def decorate(
        function: Callable[Concatenate[Matrix, _P], _R],
    ) -> Callable[Concatenate[Matrix | Graph, _P], _R]:
        name = function.__name__
        call = KNOWN[name] = by_name(function, numberings, functools.partial(asked, name))
        return cast("Callable[Concatenate[Matrix | Graph, _P], _R]", call)

    return decorate


def by_name(
    function: Callable[..., Any],
    numberings: Mapping[str, _Numbering],
    told: Callable[[Any, Graph | None], Any],
) -> Callable[..., Any]:
    """Return a function on a Matrix as one that takes a Graph too, with its vertices by name.

    What the function makes lies where the matrix does, whatever device a block around it asks for.
    It says what is wrong with a first parameter that is no Matrix. `numberings` are as those of
    `takes_graph`; `told` makes the result of what it returned, and the Graph or None.
    """
    name, parameters = function.__name__, function.__code__.co_varnames
    places = {parameters.index(each) - 1: each for each in numberings}

    # Not by position alone, so that A may be given by name.
    @functools.wraps(function)
    def call(A: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(A, Matrix):
            block = beside(A, name)
            if block.__class__ is nullcontext:
                # Objects go there anyway: a block would take as long as some algorithms do.
                return told(function(A, *args, **kwargs), None)
            with block:
                return told(function(A, *args, **kwargs), None)
        from semira.io import Graph

        if not isinstance(A, Graph):
            return told(function(A, *args, **kwargs), None)
        given = list(args)
        for place, parameter in places.items() if A.labels is not None else ():
            if parameter in kwargs:
                kwargs[parameter] = numberings[parameter](A, kwargs[parameter])
            elif place < len(given):
                given[place] = numberings[parameter](A, given[place])
        with beside(A.matrix, name):
            return told(function(A.matrix, *given, **kwargs), A)

    return call


def names_of(labels: NDArray[Any] | None, vertices: Any, nobody: Any = None) -> NDArray[Any]:
    """Return an array of the names of vertices, with `nobody` in place of the number -1.

    Without labels vertices are their numbers.

    Examples
    --------
    >>> names_of(np.array(["Bern", "Thun"]), [[1, 0], [1, -1]], "").tolist()
    [['Thun', 'Bern'], ['Thun', '']]
    """
    numbers = np.asarray(vertices)
    if labels is None or not numbers.size:
        return numbers
    known: NDArray[Any] = labels[np.maximum(numbers, 0)]
    return np.where(numbers < 0, nobody, known) if np.any(numbers < 0) else known


class Tabled:
    """A result with a table, which has the names of vertices if its graph has names."""

    __slots__ = ()

    #: Columns of the table that are vertices.
    vertex_columns: ClassVar[tuple[str, ...]] = ("vertex",)

    graph: Graph | None

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the table with numbers for vertices."""
        raise NotImplementedError

    def table(self) -> dict[str, NDArray[Any]]:
        """Return `columns`, with the names of vertices if the graph has names."""
        found = self.columns()
        known = [each for each in self.vertex_columns if each in found]
        return found | {each: names_of(self.labels_of(each), found[each]) for each in known}

    def labels_of(self, column: str) -> NDArray[Any] | None:
        """Return the names of all vertices that a column may have; None: they are numbers."""
        del column  # of one graph
        return None if self.graph is None else self.graph.labels

    def names(self, vertices: Any) -> NDArray[Any]:
        """Return the names of vertices in an array of the same shape; None for -1.

        Without a graph that has names, the numbers are returned.
        """
        return names_of(self.labels_of("vertex"), vertices)


def tell(found: Tabled, graph: Graph | None) -> None:
    """Tell a new result what graph it is of."""
    # Results are frozen.
    object.__setattr__(found, "graph", graph)


def vertex(graph: Graph, name: Any) -> int:
    """Return the number of the vertex with a name.

    Raises IndexOutOfBound if no vertex has it, and InvalidIndex if it cannot be a name.
    """
    return graph.vertex(name)


def vertices(graph: Graph, names: Any) -> Any:
    """Return the number of a vertex, or those of several; raises what `vertex` raises."""
    if not isinstance(names, Iterable) or isinstance(names, (str, bytes)):
        return graph.vertex(names)
    # A tuple may be a name.
    if isinstance(names, tuple) and names in graph:
        return graph.vertex(names)
    return graph.vertices(names)


def count_or_vertices(graph: Graph, names: Any) -> Any:
    """Return the numbers of several vertices; None and a count of vertices are left as they are.

    Raises what `vertex` raises.
    """
    is_count = names is None or isinstance(names, (int, np.integer))
    return names if is_count else np.atleast_1d(vertices(graph, names))


def vertices_or_sets(graph: Graph, names: Any) -> Any:
    """Return the numbers of vertices, and of sets of vertices among them; None stays None.

    Raises what `vertex` raises.
    """
    if names is None:
        return None
    is_one = not isinstance(names, Iterable) or isinstance(names, (str, bytes))
    if is_one or (isinstance(names, tuple) and names in graph):
        return [graph.vertex(names)]
    if isinstance(names, np.ndarray):
        return graph.vertices(names)
    return [vertices(graph, each) for each in names]


def values_of(graph: Graph, given: Any) -> Any:
    """Return a mapping from names to numbers as a Vector; others are left as they are.

    Raises what `vertex` raises.
    """
    if not isinstance(given, Mapping):
        return given
    places = graph.vertices(list(given))
    with device(graph.matrix.device):
        return Vector.from_coo(places, list(given.values()), size=graph.matrix.nrows)


def keys_of(graph: Graph, given: Any) -> Any:
    """Return a mapping with numbers for the names that are its keys; others are left as they are.

    Raises what `vertex` raises.
    """
    is_mapping = isinstance(given, Mapping)
    return {graph.vertex(key): value for key, value in given.items()} if is_mapping else given


def pairs_of(graph: Graph, names: Any) -> Any:
    """Return pairs of numbers for pairs of names; None and a Matrix are left as they are.

    Raises what `vertex` raises.
    """
    if not isinstance(names, Iterable) or isinstance(names, Matrix):
        return names
    return [[graph.vertex(end) for end in _ends(pair)] for pair in names]


def _ends(pair: Any) -> Iterable[Any]:
    is_text = isinstance(pair, (str, bytes))
    return pair if isinstance(pair, Iterable) and not is_text else (pair,)
