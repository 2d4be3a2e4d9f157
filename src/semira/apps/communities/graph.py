"""A graph with integer weights on its device, and its contraction."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from semira.kernels import ArrayKernel, run_loop

_PLACE = "semira.apps.communities.kernels:graphs"
#: A group of 32 threads takes 32 rows, or one where there are few.
_pair_keys = ArrayKernel(_PLACE, "pair_keys", lanes=32)
_inner_weights = ArrayKernel(_PLACE, "inner_weights", lanes=32)
_add_by_label = ArrayKernel(_PLACE, "add_by_label")
_NUMBERS = "semira.apps.communities.kernels:numbers"
_clear_marks = ArrayKernel(_NUMBERS, "clear_marks")
_mark = ArrayKernel(_NUMBERS, "mark")
_sum_marks = ArrayKernel(_NUMBERS, "sum_marks", skips_hosts=True)
_number_marks = ArrayKernel(_NUMBERS, "number_marks")
_renumber = ArrayKernel(_NUMBERS, "renumber")
_begin_groups = ArrayKernel(_NUMBERS, "begin_groups")
_fill_groups = ArrayKernel(_NUMBERS, "fill_groups")
_clear_cells = ArrayKernel(_NUMBERS, "clear_cells")
_add_pairs = ArrayKernel(_NUMBERS, "add_pairs", lanes=32)
_fill_cells = ArrayKernel(_NUMBERS, "fill_cells")

#: Sums of marks of the blocks of a GPU, of two arrays: twice `kCounters` of kernels/numbers.cuh.
_PARTS = 2048

#: Words of the state of a loop: see `decide` in kernels/moves.py.
STATE = 9
#: Loops whose states are kept on the device together.
_STATES = 512
#: Entries of a row for each part of it that waits in a queue, at least: of kernels/tables.cuh.
_LONG_ROW = 100
#: Pairs of communities of which each has a cell of its own: so many, or so many for each entry.
#: They take no more memory than sorting the entries.
_CELLS, _CELLS_EACH = 300**2, 6

#: Vertices or entries that one block of a GPU does in less time than all, which have to wait for
#: each other.
_FEW = 2048

#: The key of entries that contraction leaves out: the greatest of int64.
_NO_KEY = (1 << 63) - 1


@dataclass(frozen=True, slots=True)
class Graph:
    """The adjacency of a level, symmetric; weights are integers.

    Attributes
    ----------
    xp : module
        NumPy or CuPy.
    device : str
    n : int
    indptr, indices : array of int32 or int64
    weights : array of int32 or int64
        A single 1 for all entries if `is_iso`.
    is_iso : bool
    strengths, strengths_in : array, shape (n,)
        Sums of weights; of edges out and in if directed, else the same array.
    is_directed : bool
    total : int
        Of all strengths.
    waits : bool
        Whether long rows wait for communities to grow (not of a contracted graph).
    """

    xp: Any
    device: str
    n: int
    indptr: Any
    indices: Any
    weights: Any
    is_iso: bool
    strengths: Any
    strengths_in: Any
    is_directed: bool
    total: int
    waits: bool = True

    @property
    def nvals(self) -> int:
        """Entries."""
        return len(self.indices)

    @property
    def most_blocks(self) -> int | None:
        """Blocks of a GPU for a loop over rows, at most."""
        return 1 if max(self.n, self.nvals) <= _FEW else None

    @property
    def edges(self) -> tuple[Any, Any, Any, bool]:
        """What kernels walk."""
        return self.indptr, self.indices, self.weights, self.is_iso

    def longest(self) -> int:
        """Return the entries of the longest row; waits."""
        return int((self.indptr[1:] - self.indptr[:-1]).max()) if self.n else 0

    def add_strengths(self, labels: Any, totals: Any, totals_in: Any) -> None:
        """Add the strength of each vertex to the total of its label."""
        n, device = self.n, self.device
        _add_by_label(n, labels, self.strengths, totals, device=device, work=n)
        if self.is_directed:
            _add_by_label(n, labels, self.strengths_in, totals_in, device=device, work=n)

    def additions(
        self, labels: Any, totals: Any, totals_in: Any, *, none: bool = False
    ) -> tuple[Any, ...]:
        """Return the launches of `add_strengths`, of no vertex if `none`."""
        n = 0 if none else self.n
        first = _add_by_label.launch(n, labels, self.strengths, totals)
        if not self.is_directed:
            return (first,)
        return first, _add_by_label.launch(n, labels, self.strengths_in, totals_in)

    def inner(self, labels: Any) -> int:
        """Return the weights of entries between vertices of one community; waits."""
        sums = self.xp.zeros(1, self.xp.int64)
        _inner_weights(self.n, *self.edges, labels, sums, device=self.device, work=self.indptr)
        return int(sums[0])

    def between(self) -> int:
        """Return the weights of entries between the vertices of a contracted graph; waits."""
        found = int(self.weights.sum(dtype=self.xp.int64)) if self.nvals else 0
        # Of a directed graph both directions are there, each with the weights of both.
        return found // 2 if self.is_directed else found

    def keys(self, labels: Any, count: int, *, keeps_own: bool) -> Any:
        """Return ``row label * count + column label`` of each entry."""
        keys = self.xp.empty(self.nvals, self.xp.int64)
        _pair_keys(
            self.n, self.indptr, self.indices, labels, count, keeps_own, keys,
            device=self.device, work=self.indptr,
        )  # fmt: skip
        return keys


@dataclass(slots=True)
class Workspace:
    """Arrays that all levels of a run work in, made for the first one, and the states of its loops.

    Attributes
    ----------
    graph : Graph
        The first one, whose vertices and entries are at least as many as those of the others.
    states : list of array of int64, shape (_STATES, STATE)
    num_states : int
    """

    graph: Graph
    states: list[Any] = field(default_factory=list)
    num_states: int = 0
    _arrays: dict[str, Any] = field(default_factory=dict)

    def take(self, name: str, dtype: Any = None, length: int = 0) -> Any:
        """Return an array of that name, of `length` items or more; anything is in it.

        Without a dtype it is for strengths, without a length it has an item for each vertex.
        """
        found = self._arrays.get(name)
        if found is None or len(found) < length:
            dtype = self.graph.strengths.dtype if dtype is None else dtype
            found = self._arrays[name] = self.graph.xp.empty(length or self.graph.n, dtype)
        return found

    def sums(self, name: str) -> tuple[Any, Any]:
        """Return arrays for sums of strengths, of edges out and in."""
        out = self.take(name)
        return out, self.take(f"{name}_in") if self.graph.is_directed else out

    def queues(self) -> tuple[Any, Any, Any]:
        """Return queues of rows and of parts of long rows, picks of parts, and their counters."""
        name, most = "queue", self.graph.nvals // _LONG_ROW + 1
        if name not in self._arrays:
            xp = self.graph.xp
            self._arrays[name] = (
                xp.empty(self.graph.n + most, xp.int32),
                xp.empty(2 * most, xp.int64),
                xp.zeros(most, xp.int32),
            )
        found: tuple[Any, Any, Any] = self._arrays[name]
        return found

    def next_state(self) -> Any:
        """Return the state of one more loop."""
        at = self.num_states % _STATES
        if at == 0:
            self.states.append(self.graph.xp.zeros((_STATES, STATE), self.graph.xp.int64))
        self.num_states += 1
        return self.states[-1][at]


@dataclass(frozen=True, slots=True)
class Numbering:
    """Labels as 0, 1, 2, ..., in their order.

    Attributes
    ----------
    labels : array of int32
    count : int
    strengths, strengths_in : array, shape (count,)
        Totals by number; None unless asked for.
    groups : array of int32, shape (count,)
        The groups of labels, numbered in their order; None unless asked for.
    """

    labels: Any
    count: int
    strengths: Any = None
    strengths_in: Any = None
    groups: Any = None


def numbering(
    space: Workspace, graph: Graph, labels: Any, *, totals: tuple[Any, Any] | None = None,
    groups: Any = None,
) -> Numbering:  # fmt: skip
    """Return the numbering of labels of vertices, which are vertices; waits.

    Parameters
    ----------
    totals : (array, array), optional
        Strengths by label.
    groups : array of int32, shape (n,), optional
        Of each vertex, a vertex; the same one for all vertices of a label.
    """
    xp, n, device = graph.xp, graph.n, graph.device
    if n == 0:
        return Numbering(labels, 0, graph.strengths, graph.strengths_in, labels)
    has_totals, has_groups = totals is not None, groups is not None
    marks, parts = space.take("marks", xp.int32), space.take("mark_parts", xp.int32, _PARTS)
    dense = xp.empty(n, xp.int32)
    # What is not asked for is not read or written: any array of the type stands for it.
    others = space.take("others", xp.int32) if has_groups else marks
    inner = xp.empty(n, xp.int32) if has_groups else dense
    given = groups if has_groups else labels
    sums = totals if totals is not None else (graph.strengths, graph.strengths_in)
    out = inwards = xp.empty(n, graph.strengths.dtype) if has_totals else graph.strengths
    if has_totals and graph.is_directed:
        inwards = xp.empty(n, graph.strengths.dtype)
    state = space.take("count", xp.int64, 2)
    run_loop(
        state,
        _mark.launch(n, labels, marks, has_groups, given, others, work=n),
        _sum_marks.launch(1, n, marks, has_groups, others, parts),
        _number_marks.launch(1, n, marks, has_groups, others, parts, state),
        _renumber.launch(
            n, labels, marks, dense, has_totals, *sums, graph.is_directed, out, inwards, has_groups,
            given, others, inner, state, work=n,
        ),
        device=device,
        before=(_clear_marks.launch(n, marks, has_groups, others, state, work=n),),
        most_blocks=1 if n <= _FEW else None,
    )  # fmt: skip
    count = int(state[1])
    return Numbering(dense, count, out[:count], inwards[:count], inner[:count])


def contract(space: Workspace, graph: Graph, numbers: Numbering) -> Graph:
    """Return the graph of communities, without edges inside of them."""
    count = numbers.count
    if count**2 <= max(_CELLS, min(_CELLS_EACH * graph.nvals, 1 << 30)):
        rows = _in_cells(space, graph, numbers.labels, count)
    else:
        keys = graph.keys(numbers.labels, count, keeps_own=False)
        rows = grouped(graph, keys, graph.weights, count, graph.strengths.dtype)
    return Graph(
        graph.xp, graph.device, numbers.count, *rows, False, numbers.strengths,
        numbers.strengths_in, graph.is_directed, graph.total, waits=False,
    )  # fmt: skip


def _in_cells(space: Workspace, graph: Graph, labels: Any, count: int) -> tuple[Any, Any, Any]:
    """Return the rows of a contraction, summed in a square of cells: no sort."""
    xp, cells = graph.xp, count**2
    marks, sums = space.take("cells", xp.int32, cells), space.take("cell_sums", None, cells)
    parts, state = space.take("mark_parts", xp.int32, _PARTS), space.take("count", xp.int64, 2)
    most = min(cells, graph.nvals)
    indptr, indices = xp.empty(count + 1, xp.int32), xp.empty(most, xp.int32)
    weights = xp.empty(most, graph.strengths.dtype)
    run_loop(
        state,
        _sum_marks.launch(1, cells, marks, False, marks, parts),
        _number_marks.launch(1, cells, marks, False, marks, parts, state),
        _fill_cells.launch(cells, marks, sums, count, indptr, indices, weights, state, work=cells),
        device=graph.device,
        before=(
            _clear_cells.launch(cells, marks, sums, state, work=cells),
            _add_pairs.launch(graph.n, *graph.edges, labels, count, marks, sums, work=graph.indptr),
        ),
    )
    return _shortened(indptr, indices, weights, int(state[1]))


def _shortened(indptr: Any, indices: Any, sums: Any, found: int) -> tuple[Any, Any, Any]:
    """Return rows with arrays of the entries found; graphs of all levels are kept."""
    shorter = indices[:found], sums[:found]
    if 2 * found < len(indices):
        shorter = shorter[0].copy(), shorter[1].copy()
    return indptr, *shorter


def grouped(graph: Graph, keys: Any, weights: Any, count: int, dtype: Any) -> tuple[Any, Any, Any]:
    """Return the rows that keys ``row * count + column`` are entries of; equal keys are summed.

    Parameters
    ----------
    weights : array of integers
        Of each key, or one for all.
    dtype : dtype
        Of the sums.

    Returns
    -------
    indptr, indices, sums : array
    """
    xp, device = graph.xp, graph.device
    is_iso = len(weights) == 1
    if is_iso:
        # Most entries of a graph without weights are inside of communities.
        keys = xp.sort(keys[keys != _NO_KEY])
        order = weights
    else:
        order = xp.argsort(keys, kind="stable")
        keys = keys[order]
    length = len(keys)
    if length == 0:
        return xp.zeros(count + 1, xp.int32), xp.empty(0, xp.int32), xp.empty(0, dtype)
    indptr = xp.empty(count + 1, xp.int64 if length >> 31 else xp.int32)
    begins, parts = xp.empty(length, indptr.dtype), xp.empty(_PARTS, indptr.dtype)
    indices, sums = xp.empty(length, xp.int32), xp.empty(length, dtype)
    state = xp.empty(2, xp.int64)
    run_loop(
        state,
        _sum_marks.launch(1, length, begins, False, begins, parts),
        _number_marks.launch(1, length, begins, False, begins, parts, state),
        _fill_groups.launch(
            length, keys, begins, order, not is_iso, weights, is_iso, count, indptr, indices, sums,
            state, work=length,
        ),
        device=device,
        before=(_begin_groups.launch(length, keys, begins, sums, state, work=length),),
    )  # fmt: skip
    return _shortened(indptr, indices, sums, int(state[1]))
