"""What every result has: its values by the names of vertices, and a text to look at."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from semira import Matrix, TraceRow, Vector, lost_rows
from semira.algorithms.checks import check_count, check_vertex
from semira.algorithms.shown import best_entries, html_of, text_of
from semira.exceptions import InvalidValue, MissingLibrary

if TYPE_CHECKING:
    from semira.io import Graph


@dataclass(frozen=True, slots=True)
class Layout:
    """What the fields of a result are, from which it is shown and exported."""

    #: The field that answers: a Vector, a Matrix or a number.
    main: str
    #: More Vectors, with entries where the main one has them; one may be None.
    beside: tuple[str, ...] = ()
    #: Fields and properties whose values are vertices.
    vertices: tuple[str, ...] = ()
    #: Properties that sum the answer up.
    answer: tuple[str, ...] = ()
    #: Whether the largest values are of interest first.
    ranked: bool = False
    #: Field with the vertices that the rows of a main Matrix belong to; empty: row i is vertex i.
    rows: str = ""
    #: Columns of the main Matrix are no vertices.
    wide: bool = False
    #: Field of the predecessors, and the option that asks for them.
    tree: tuple[str, str] = ("", "")
    #: Option under which a main Matrix is a Vector instead.
    vector_if: str = ""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Run:
    """What every result has: how the algorithm ran, and its values by the names of vertices.

    Vertices are names if the algorithm was given a `semira.io.Graph` with labels, and numbers
    otherwise.

    Attributes
    ----------
    iterations : int
        Iterations of all loops together.
    trace : tuple of TraceRow
        One row per matrix product, in order: iteration, direction (``method``), entries of the
        frontier, matrix entries touched, entries produced, nanoseconds since the row before. Long
        loops keep the last 65,536.
    graph : Graph or None
        The graph that the algorithm was given; None if that was a Matrix.
    algorithm : str
        Name of the function that returned this.
    """

    layout: ClassVar[Layout]

    iterations: int
    # Thousands of rows, where loops are long.
    trace: Sequence[TraceRow]
    graph: Graph | None = field(default=None, kw_only=True)
    algorithm: str = field(default="", kw_only=True)

    @property
    def lost(self) -> int:
        """Number of earlier products that the trace had no room for."""
        return lost_rows(self.trace)

    def fields(self) -> dict[str, Vector | Matrix]:
        """Return the Vectors of the result, or its main Matrix, by the name of the field.

        Raises
        ------
        InvalidValue
            The answer is one number.
        """
        main = getattr(self, self.layout.main)
        if not isinstance(main, (Vector, Matrix)):
            raise InvalidValue(
                f"{type(self).__name__} has no values of vertices: its answer is "
                f"{self.layout.main} = {main}"
            )
        found = {self.layout.main: main}
        if isinstance(main, Vector):
            beside = {each: getattr(self, each) for each in self.layout.beside}
            found |= {name: each for name, each in beside.items() if each is not None}
        return found

    @property
    def is_graph(self) -> bool:
        """Whether the main field is a Matrix whose rows and columns are the vertices."""
        is_matrix = isinstance(getattr(self, self.layout.main), Matrix)
        return is_matrix and not (self.layout.rows or self.layout.wide)

    def to_dict(self, field: str | None = None) -> dict[Any, Any]:
        """Return the values of a field by vertex.

        Parameters
        ----------
        field : str, optional
            A Vector of the result, such as ``"parent"``; None: the main field.

        Returns
        -------
        dict
            ``{vertex: value}`` for each entry; for a Matrix ``{row: {column: value}}``. Values that
            are vertices (``parent``, ``label``) are names too.

        Raises
        ------
        InvalidValue
            The result has no such field, or its answer is one number.

        Examples
        --------
        >>> from semira import algorithms, io
        >>> cities = io.Graph.from_edges(["Bern", "Thun"], ["Thun", "Brig"])
        >>> found = algorithms.bfs(cities, "Bern", parents=True)
        >>> found.to_dict()
        {'Bern': 0, 'Thun': 1, 'Brig': 2}
        >>> found.to_dict("parent")
        {'Bern': 'Bern', 'Thun': 'Bern', 'Brig': 'Thun'}
        """
        name, chosen = self._chosen(field)
        *positions, values = chosen.to_coo()
        *keys, answers = (part.tolist() for part in self._named(name, positions, values))
        if len(keys) == 1:
            return dict(zip(keys[0], answers, strict=True))
        found: dict[Any, Any] = {}
        for row, column, value in zip(*keys, answers, strict=True):
            found.setdefault(row, {})[column] = value
        return found

    def to_columns(self) -> dict[str, NDArray[Any]]:
        """Return the result as columns of equal length: vertices by name, then the fields.

        Returns
        -------
        dict of str to ndarray
            ``vertex`` and each Vector; for a Matrix ``row``, ``col`` and ``value``, or ``vertex``
            and a column for each of its columns if these are not vertices.

        Raises
        ------
        InvalidValue
            The answer is one number.
        """
        fields = self.fields()
        first, main = next(iter(fields.items()))
        if isinstance(main, Matrix):
            *positions, values = main.to_coo()
            parts = self._named(first, positions, values)
            if not self.layout.wide:
                return dict(zip(("row", "col", "value"), parts, strict=True))
            table = values.reshape(main.shape)
            wide = {str(each): table[:, each] for each in range(main.ncols)}
            return {"vertex": self._names(np.arange(main.nrows)), **wide}
        columns: dict[str, NDArray[Any]] = {}
        vector: Any
        for name, vector in fields.items():
            indices, values = vector.to_coo()
            columns.setdefault("vertex", self._names(indices))
            columns[name] = self._named(name, [], values)[0]
        return columns

    def to_pandas(self) -> Any:
        """Return the result as a ``pandas.DataFrame``.

        Returns
        -------
        DataFrame
            Indexed by ``vertex``, with a column for each Vector; for a Matrix a row for each entry,
            with the columns ``row``, ``col`` and ``value``.

        Raises
        ------
        MissingLibrary
            pandas is not installed.
        InvalidValue
            The answer is one number.

        Examples
        --------
        >>> from semira import algorithms, io
        >>> cities = io.Graph.from_edges(["Bern", "Thun"], ["Thun", "Brig"])
        >>> frame = algorithms.bfs(cities, "Bern").to_pandas()
        >>> frame.loc["Brig", "level"].item()
        2
        """
        columns = self.to_columns()
        try:
            import pandas as pd
        except ImportError as error:
            raise MissingLibrary(
                f"to_pandas needs pandas, which cannot be imported ({error}); install it with "
                "pip install 'semira[pandas]'"
            ) from error
        frame = pd.DataFrame(columns)
        return frame.set_index("vertex") if "vertex" in columns else frame

    def top(
        self, k: int = 10, *, smallest: bool = False, field: str | None = None
    ) -> list[tuple[Any, Any]]:
        """Return the vertices with the largest values.

        Parameters
        ----------
        k : int >= 0
            How many at most.
        smallest : bool
            Return those with the smallest values instead.
        field : str, optional
            A Vector of the result; None: the main field.

        Returns
        -------
        list of (vertex, value)
            The best first; ties in the order of the vertices. For a Matrix
            ``((row, column), value)``.

        Raises
        ------
        InvalidValue
            `k` is negative or no integer, the result has no such field, or its answer is one
            number.

        Notes
        -----
        O(n). Only values as good as the k-th one are copied from a GPU; a Matrix is copied whole.

        Examples
        --------
        >>> from semira import algorithms, io
        >>> cities = io.Graph.from_edges(["Bern", "Thun", "Brig"], ["Thun", "Brig", "Thun"])
        >>> [name for name, rank in algorithms.pagerank(cities).top(2)]
        ['Thun', 'Brig']
        """
        name, chosen = self._chosen(field)
        *positions, values = best_entries(chosen, check_count(k, "k"), smallest=smallest)
        *keys, answers = (part.tolist() for part in self._named(name, positions, values))
        places = keys[0] if len(keys) == 1 else list(zip(*keys, strict=True))
        return list(zip(places, answers, strict=True))

    def __repr__(self) -> str:
        return text_of(self)

    def _repr_html_(self) -> str:
        return html_of(self)

    def _chosen(self, name: str | None) -> tuple[str, Any]:
        """Return a field that holds values of vertices, and its name."""
        fields = self.fields()
        chosen = self.layout.main if name is None else name
        if chosen not in fields:
            raise InvalidValue(
                f"{type(self).__name__} has no field {name!r} with values of vertices; choose "
                f"{', '.join(map(repr, fields))}"
            )
        return chosen, fields[chosen]

    def _names(self, vertices: NDArray[Any]) -> NDArray[Any]:
        labels = None if self.graph is None else self.graph.labels
        return vertices.astype(np.int64) if labels is None else labels[vertices]

    def _named(
        self, name: str, positions: Sequence[NDArray[Any]], values: NDArray[Any]
    ) -> list[NDArray[Any]]:
        """Return positions and values of a field, with names where these are vertices."""
        layout, parts = self.layout, list(positions)
        if layout.rows and len(parts) == 2:
            parts[0] = np.asarray(getattr(self, layout.rows))[parts[0]]
        named = [self._names(part) for part in parts[: 1 if layout.wide else 2]]
        named += [part.astype(np.int64) for part in parts[len(named) :]]
        return [*named, self._names(values) if name in layout.vertices else values]

    def _name(self, vertex: Any) -> Any:
        return self._names(np.array([vertex])).tolist()[0]

    def _number(self, name: Any, size: int, what: str) -> int:
        return check_vertex(name, size, what) if self.graph is None else self.graph.vertex(name)

    def _route(self, predecessor: Vector, target: Any) -> list[Any]:
        """Return the vertices from the root of a tree to `target`; none if it is not in it."""
        from semira.algorithms.routes import followed

        found = followed(predecessor, self._number(target, predecessor.size, "target"))
        return list(self._names(np.array(found, np.int64)).tolist())


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Route(Run):
    """A result that has paths from one vertex, if these were asked for."""

    def path_to(self, target: Hashable) -> list[Any]:
        """Return the vertices of a path from the source to `target`, both included.

        Parameters
        ----------
        target : int, or a name in a Graph

        Raises
        ------
        InvalidValue
            Paths were not asked for, or none leads to `target`.
        InvalidIndex, IndexOutOfBound
            `target` is no vertex.

        Notes
        -----
        O(n): the tree is copied to the host once for each call.
        """
        option = self.layout.tree[1]
        tree = getattr(self, self.layout.tree[0])
        if tree is None:
            raise InvalidValue(
                f"no paths were asked for; call {self.algorithm or 'the algorithm'} with "
                f"{option}=True"
            )
        found = self._route(tree, target)
        if not found:
            raise InvalidValue(f"no path leads to {target!r}: the search did not reach it")
        return found


_Found = TypeVar("_Found", bound=Run)

#: What sets these fields of a result.
_NOTE_ALGORITHM, _NOTE_GRAPH = (Run.__dict__[each].__set__ for each in ("algorithm", "graph"))


def asked(algorithm: str, found: _Found, graph: Graph | None) -> _Found:
    """Record in a new result which algorithm made it, and of which graph; return the result.

    Cheaper than `dataclasses.replace`; algorithms do not have to pass them on.
    """
    # Results are frozen, and new ones are of no graph.
    _NOTE_ALGORITHM(found, algorithm)
    if graph is not None:
        _NOTE_GRAPH(found, graph)
    return found
