"""Graphs whose vertices have names: what readers return and every algorithm takes."""

from __future__ import annotations

import difflib
from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira.base.errors import DimensionMismatch, IndexOutOfBound, InvalidIndex, InvalidValue
from semira.base.text import printable
from semira.files.clean import symmetrise as mirrored
from semira.formats import EdgeList
from semira.frontend.objects import Matrix
from semira.io.edges import (
    as_labels,
    edges_from_arrays,
    edges_from_networkx,
    folding_facts,
    from_edges,
)
from semira.io.givens import check_column, not_taken, weight_column

#: Labels shown in one line, and characters of each.
_SHOWN, _WIDEST = 3, 40


class Graph:
    """A square adjacency Matrix with the names of its vertices.

    Every algorithm takes a Graph in place of a Matrix: vertices are then given by name, and the
    result knows the names.

    Parameters
    ----------
    matrix : Matrix, shape (n, n)
        Entry (i, j) is the edge from vertex i to vertex j.
    labels : array_like, shape (n,), optional
        Name of each vertex, each once; None: vertices are their numbers.
    meta : dict, optional
        What the source said about the graph: ``name``, ``format``, ``repeated_edges``, ...

    Attributes
    ----------
    matrix : Matrix
    labels : ndarray or None
    meta : dict

    Raises
    ------
    DimensionMismatch
        The number of labels differs from that of the vertices, or a matrix with labels is not
        square.
    InvalidValue
        Two vertices have the same label.

    Examples
    --------
    >>> cities = Graph.from_edges(["Bern", "Bern"], ["Thun", "Basel"], [31, 95])
    >>> cities
    Graph: 3 vertices ('Bern', 'Thun', 'Basel'), 2 edges, INT64
    >>> cities.vertex("Basel"), cities.name(1)
    (2, 'Thun')
    >>> cities.matrix[0, 2].value
    95
    """

    __slots__ = ("_numbers", "labels", "matrix", "meta")

    def __init__(
        self, matrix: Matrix, labels: Any = None, meta: dict[str, Any] | None = None
    ) -> None:
        if not isinstance(matrix, Matrix):
            raise not_taken(matrix, "Graph", "a Matrix")
        self.matrix = matrix
        self.labels: NDArray[Any] | None = None if labels is None else as_labels(labels)
        self.meta = {} if meta is None else dict(meta)
        self._numbers: dict[Any, int] | None = None
        if self.labels is not None and not len(self.labels) == matrix.nrows == matrix.ncols:
            raise DimensionMismatch(
                f"{len(self.labels)} labels for a matrix of shape {matrix.nrows} x {matrix.ncols}; "
                "each vertex of a square matrix has one"
            )
        if self.labels is not None:
            _ = self._numbering  # refuses equal labels

    # ------------------------------------------------------------------------ from other data

    @classmethod
    def from_edges(
        cls,
        sources: Any,
        targets: Any,
        weights: Any = None,
        *,
        dtype: Any = None,
        dup_op: Any = "first",
        symmetrise: bool = False,
        ids: str = "auto",
        name: str | None = None,
    ) -> Graph:
        """Return the graph of an edge list in arrays.

        Parameters
        ----------
        sources, targets : array_like, shape (m,)
            Names or numbers of the ends of each edge.
        weights : array_like, shape (m,), optional
            Without them the matrix is a pattern (BOOL).
        dtype : optional
            Of the entries.
        dup_op : binary operator, monoid or str
            Folds repeated edges; the first is kept by default. ``meta["repeated_edges"]`` counts
            those that were folded.
        symmetrise : bool
            Add the reverse of every edge.
        ids : {"auto", "index", "name"}
            Whether integers are vertex numbers or names; see `semira.io.read_graph`.
        name : str, optional

        Raises
        ------
        DimensionMismatch
            The arrays differ in length.
        InvalidValue
            An end is missing, a weight is not a number or does not fit `dtype`.

        Notes
        -----
        Names are numbered in order of first appearance. O(m).

        Examples
        --------
        >>> Graph.from_edges(["a", "a"], ["b", "b"], [5, 2], dup_op="min").matrix.to_dicts()
        {0: {1: 2}}
        """
        edges = edges_from_arrays(sources, targets, weights, ids)
        return cls._of(mirrored(edges) if symmetrise else edges, dtype, dup_op, name)

    @classmethod
    def from_pandas(
        cls,
        frame: Any,
        source: str = "source",
        target: str = "target",
        weight: str | None = None,
        *,
        dtype: Any = None,
        dup_op: Any = "first",
        symmetrise: bool = False,
        ids: str = "auto",
        name: str | None = None,
    ) -> Graph:
        """Return the graph of a table with a row for each edge.

        Parameters
        ----------
        frame : pandas.DataFrame
        source, target : str
            Columns of names or numbers of vertices.
        weight : str, optional
            Column of weights.
        dtype, dup_op, symmetrise, ids, name
            As in `from_edges`.

        Raises
        ------
        As `from_edges`; InvalidValue also if a column or a weight is missing.

        Examples
        --------
        >>> import pandas
        >>> roads = pandas.DataFrame({"from": ["a", "b"], "to": ["b", "c"], "km": [3, 4]})
        >>> Graph.from_pandas(roads, "from", "to", "km").labels.tolist()
        ['a', 'b', 'c']
        """
        if not hasattr(frame, "columns"):
            raise not_taken(frame, "Graph.from_pandas", "a DataFrame")
        for column in (source, target):
            check_column(column, frame.columns)
        return cls.from_edges(
            frame[source].to_numpy(),
            frame[target].to_numpy(),
            None if weight is None else weight_column(frame, weight),
            dtype=dtype,
            dup_op=dup_op,
            symmetrise=symmetrise,
            ids=ids,
            name=name,
        )

    @classmethod
    def from_networkx(
        cls,
        graph: Any,
        weight: str | None = "weight",
        *,
        dtype: Any = None,
        dup_op: Any = "first",
        name: str | None = None,
    ) -> Graph:
        """Return a NetworkX graph with its nodes as labels.

        Parameters
        ----------
        graph : networkx.Graph, DiGraph, MultiGraph or MultiDiGraph
            An undirected graph becomes a symmetric matrix.
        weight : str or None
            Edge attribute; an edge without it has weight 1. None: the graph has no weights.
        dtype, dup_op, name
            As in `from_edges`; `dup_op` folds parallel edges of a multigraph.

        Raises
        ------
        InvalidValue
            The graph has no nodes, or no edge has the attribute that was asked for.
        DomainMismatch
            `graph` is no graph of NetworkX, or a weight is no number of at most 64 bits.

        Examples
        --------
        >>> import networkx as nx
        >>> Graph.from_networkx(nx.Graph([("x", "y"), ("y", "z")])).labels.tolist()
        ['x', 'y', 'z']
        """
        edges = edges_from_networkx(graph, None, weight, "Graph.from_networkx")
        if edges.values is None and edges.nnz and weight not in (None, "weight"):
            known = ", ".join(map(str, next(iter(graph.edges(data=True)))[2])) or "none"
            raise InvalidValue(
                f"Graph.from_networkx: no edge has the attribute {weight!r}; attributes of the "
                f"first edge: {known}"
            )
        return cls._of(edges, dtype, dup_op, name)

    @classmethod
    def _of(cls, edges: EdgeList, dtype: Any, dup_op: Any, name: str | None) -> Graph:
        matrix = from_edges(edges, dtype=dtype, dup_op=dup_op, name=name)
        meta = {"name": name, "ids": "index" if edges.labels is None else "name"}
        return cls._made(matrix, edges.labels, meta | folding_facts(edges, matrix, dup_op))

    @classmethod
    def _made(cls, matrix: Matrix, labels: NDArray[Any] | None, meta: dict[str, Any]) -> Graph:
        """Return the graph of a square matrix with labels that are known to differ."""
        graph = cls(matrix, None, meta)
        graph.labels = labels
        return graph

    # ------------------------------------------------------------------------------ its names

    @property
    def size(self) -> int:
        """Number of vertices."""
        return int(self.matrix.nrows)

    def vertex(self, name: Hashable) -> int:
        """Return the number of the vertex with a name; without labels, names are numbers.

        Raises
        ------
        IndexOutOfBound
            No vertex has it; the message gives the nearest names.
        InvalidIndex
            `name` cannot be a name.
        """
        if self.labels is None:
            return self._checked(name)
        try:
            found = self._numbering.get(name)
        except TypeError:
            raise InvalidIndex(f"{name!r} is no vertex: a name must be hashable") from None
        if found is None:
            raise IndexOutOfBound(f"no vertex is called {name!r}; {self._nearest(name)}")
        return found

    def vertices(self, names: Iterable[Hashable]) -> NDArray[np.int64]:
        """Return the numbers of the vertices with `names`, as `vertex` does for one."""
        return np.array([self.vertex(each) for each in names], np.int64)

    def name(self, vertex: int) -> Any:
        """Return the name of a vertex: its label, or its number where there are none.

        Raises
        ------
        IndexOutOfBound
            There is no vertex of that number.
        InvalidIndex
            `vertex` is not an integer.
        """
        number = self._checked(vertex)
        return number if self.labels is None else self.labels[[number]].tolist()[0]

    def names(self, vertices: Any) -> list[Any]:
        """Return the names of an array of vertex numbers.

        Raises
        ------
        IndexOutOfBound
            There is no vertex of such a number.
        """
        found = np.asarray(vertices)
        for end in (found.min(), found.max()) if found.size else ():
            self._checked(end)
        return list((found if self.labels is None else self.labels[found]).tolist())

    def __contains__(self, name: object) -> bool:
        if self.labels is None:
            is_number = isinstance(name, (int, np.integer)) and not isinstance(name, bool)
            return is_number and 0 <= int(name) < self.size  # type: ignore[call-overload]
        try:
            return name in self._numbering
        except TypeError:
            return False

    @property
    def _numbering(self) -> dict[Any, int]:
        if self._numbers is None:
            assert self.labels is not None
            names = self.labels.tolist()
            try:
                self._numbers = dict(zip(names, range(len(names)), strict=True))
            except TypeError as error:
                raise InvalidValue(f"a label cannot be a name: {error}") from None
            if len(self._numbers) != len(names):
                twice = next(each for i, each in enumerate(names) if self._numbers[each] != i)
                raise InvalidValue(f"two vertices are called {twice!r}; a label names one vertex")
        return self._numbers

    def _checked(self, vertex: Any) -> int:
        if isinstance(vertex, (bool, np.bool_)) or not isinstance(vertex, (int, np.integer)):
            reason = "the graph has no labels; " if self.labels is None else ""
            raise InvalidIndex(
                f"{vertex!r} is no vertex: {reason}give a number in [0, {self.size})"
            )
        if not 0 <= vertex < self.size:
            raise IndexOutOfBound(f"vertex {vertex} is outside [0, {self.size})")
        return int(vertex)

    def _nearest(self, name: Any) -> str:
        assert self.labels is not None
        names = [str(each) for each in self.labels.tolist()]
        if str(name) in names:
            kind = type(self.name(names.index(str(name)))).__name__
            return f"there is one whose name is of type {kind}"
        close = difflib.get_close_matches(str(name), names[:100_000], 3)
        return (
            f"nearest: {', '.join(map(_short, close))}"
            if close
            else f"names are like {self._sample()}"
        )

    def _sample(self) -> str:
        names = self.names(np.arange(min(self.size, _SHOWN)))
        return ", ".join(
            [*(_short(repr(each)) for each in names), *(["..."] if self.size > _SHOWN else [])]
        )

    def __repr__(self) -> str:
        name = self.meta.get("name")
        title = "Graph" if not name else f"Graph {name!r}"
        names = "" if self.labels is None or not self.size else f" ({self._sample()})"
        nrows, ncols = self.matrix.shape
        shape = f"{nrows:,} vertices" if nrows == ncols else f"{nrows:,} x {ncols:,}"
        return f"{title}: {shape}{names}, {self.matrix.nvals:,} edges, {self.matrix.dtype}"


def _short(name: str) -> str:
    """Return a name for a message of one line, cut if it is long."""
    return printable(name if len(name) <= _WIDEST else f"{name[: _WIDEST - 3]}...")
