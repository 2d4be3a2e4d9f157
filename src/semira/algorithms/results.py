"""What the algorithms return: the main field, and what happened on the way.

Counts are properties: reading them asks the device, so that calling an algorithm does not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast, overload

import numpy as np
from numpy.typing import NDArray

from semira import LoopResult, Scalar, TraceRow, Vector, indexunary, lost_rows, monoid
from semira.algorithms.run import Layout, Route, Run


def finished(loop: Any) -> LoopResult:
    """Return what `repeat` returned, for the type checker.

    Only inside a recorded loop is it another thing, and there the algorithm's own objects were
    refused.
    """
    return cast("LoopResult", loop)


class Traced(tuple[TraceRow, ...]):
    """Rows of a `tracing` block."""

    #: Products whose rows there was no room for.
    lost = 0


def rows_of(run: Any) -> Traced:
    """Return the rows of a `tracing` block, which know how many others there were."""
    rows = Traced(run.rows)
    rows.lost = run.lost
    return rows


def sizes_of(label: Vector) -> NDArray[np.int64]:
    """Return how many vertices have each label, the largest number first."""
    sizes = np.bincount(label.to_dense())
    return np.sort(sizes[sizes > 0])[::-1].astype(np.int64)


def products_of(trace: Sequence[TraceRow]) -> int:
    """Return how many matrix products ran, those among them whose rows a long trace has lost."""
    return len(trace) + lost_rows(trace)


class Chained(Sequence[TraceRow]):
    """The traces of two loops, one after the other; read when somebody looks at them.

    Iterations of the second are counted on from those of the first. A second one that has lost rows
    leaves none of the first: rows of a trace are the last ones, without a gap.
    """

    def __init__(self, first: Sequence[TraceRow], second: Sequence[TraceRow]) -> None:
        self._first, self._second = first, second

    @property
    def _before(self) -> Sequence[TraceRow]:
        """The rows of the first that are there."""
        return () if lost_rows(self._second) else self._first

    def __len__(self) -> int:
        return len(self._before) + len(self._second)

    @property
    def lost(self) -> int:
        """Older rows of either that there was no room for."""
        return products_of(self._first) + products_of(self._second) - len(self)

    @overload
    def __getitem__(self, place: int) -> TraceRow: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[TraceRow, ...]: ...
    def __getitem__(self, place: int | slice) -> TraceRow | tuple[TraceRow, ...]:
        if isinstance(place, slice):
            return tuple(self[k] for k in range(*place.indices(len(self))))
        here = range(len(self))[place] - len(self._before)
        if here < 0:
            return self._before[here]
        before = self._first[-1].iteration + 1 if len(self._first) else 0
        row = self._second[here]
        return row._replace(iteration=row.iteration + before)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BFSResult(Route):
    """Result of `bfs`.

    Attributes
    ----------
    level : Vector, shape (n,)
        Hops from the source; no entry where unreachable.
    parent : Vector, shape (n,), or None
        The vertex each vertex was found from (the source: itself); None unless asked for.
    """

    layout = Layout(
        "level", ("parent",), ("parent",), ("reached", "depth"), tree=("parent", "parents")
    )

    level: Vector
    parent: Vector | None = None

    @property
    def depth(self) -> int:
        """Largest level."""
        return self.iterations - 1

    @property
    def reached(self) -> int:
        """Number of vertices with a level, the source included. Synchronises."""
        return int(self.level.nvals)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SSSPResult(Route):
    """Result of `sssp`.

    Attributes
    ----------
    distance : Vector, shape (n,), FP32 or FP64
        Length of a shortest path from the source; no entry where unreachable.
    method : {"bellman_ford", "dijkstra", "delta_stepping", "window", "asynchronous"}
        What ran last; ``window`` also if the search was over among its first, near vertices.
    delta : float or None
        Width of a bucket or of the window; None too if only its beginning was near.
    predecessor : Vector, shape (n,), or None
        The vertex before each one on a shortest path (the source: itself); no entry where
        unreachable. None unless asked for.
    """

    layout = Layout(
        "distance",
        ("predecessor",),
        ("predecessor", "farthest"),
        ("reached", "farthest", "largest_distance"),
        tree=("predecessor", "predecessors"),
    )

    distance: Vector
    method: str
    delta: float | None = None
    predecessor: Vector | None = None

    @property
    def reached(self) -> int:
        """Number of vertices with a distance, the source included. Synchronises."""
        return int(self.distance.nvals)

    @property
    def farthest(self) -> Any:
        """Vertex with the largest distance, by its name in a Graph. Reads the distances."""
        return self.top(1)[0][0]

    @property
    def largest_distance(self) -> Any:
        """The largest distance. Synchronises."""
        return self.distance.reduce(monoid.max).value


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PageRankResult(Run):
    """Result of `pagerank`.

    Attributes
    ----------
    rank : Vector, shape (n,), FP32 or FP64
        Every vertex has an entry; they sum to 1.
    converged : bool
        Whether the tolerance was met within the iterations allowed.
    last_change : Scalar
        Sum over the vertices of the last iteration's absolute changes.
    """

    layout = Layout("rank", answer=("converged", "iterations"), ranked=True)

    rank: Vector
    converged: bool
    last_change: Scalar


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ComponentsResult(Run):
    """Result of `connected_components`.

    Attributes
    ----------
    label : Vector, shape (n,)
        Smallest vertex of the component each vertex belongs to.
    """

    layout = Layout("label", (), ("label",), ("count", "sizes"))

    label: Vector

    @property
    def count(self) -> int:
        """Number of components. Synchronises."""
        own: Any = self.label.apply(indexunary.index)
        return int(self.label.ewise_mult(own, "eq").select("==", True).nvals)

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Vertices of each component, the largest first. Reads the labels."""
        return sizes_of(self.label)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CentralityResult(Run):
    """Result of `betweenness_centrality` and `closeness_centrality`.

    Attributes
    ----------
    centrality : Vector, shape (n,), FP64
        An entry for each vertex.
    sources : int
        Number of searches; n if the result is exact.
    """

    layout = Layout("centrality", answer=("sources",), ranked=True)

    centrality: Vector
    sources: int


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TriangleResult(Run):
    """Result of `triangle_count`.

    Attributes
    ----------
    count : int
        Number of triangles, each counted once.
    order : {"natural", "degree"}
        How the edges were oriented.
    """

    layout = Layout("count", answer=("count",))

    count: int
    order: str
