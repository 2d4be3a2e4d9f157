"""What classification is given: checked, and as arrays of the device."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

import semira as gb
from semira.algorithms.checks import check_count, check_square
from semira.apps.arrays import as_given, on_host
from semira.exceptions import (
    DimensionMismatch,
    DomainMismatch,
    IndexOutOfBound,
    InvalidValue,
    OutOfMemory,
)
from semira.kernels import rows_of

#: Edges of the pattern whose messages are worked on together at most: lanes of a warp; and where
#: memory is short.
_WIDTH, _NARROW = 32, 8

#: Features at most: distances add up squares.
_LARGEST = 1e150

#: Sums of columns are made of pieces of so many rows at least, and so many pieces at most.
_ROWS, _PIECES = 16, 4096


class EdgeFeatures(NamedTuple):
    """Edges with a row of features each, in any order; edges may be repeated.

    Attributes
    ----------
    sources, targets : array of integers, shape (m,)
    features : array of real numbers, shape (m, f)
    """

    sources: Any
    targets: Any
    features: Any


class Lists(NamedTuple):
    """Edges by one of their ends: what to read of each, on the device."""

    #: Array, shape (n + 1,).
    indptr: Any
    #: Array of integers, shape (m,). The other end.
    near: Any
    #: Array of integers, shape (m,), or (1,). Row of features of each; not read if `is_listed` is
    #: False.
    edges: Any
    #: Else the rows are in this order.
    is_listed: bool


class Pattern(NamedTuple):
    """A pattern on the host: ends of its edges, features of vertices and edges."""

    sources: Any
    targets: Any
    vertices: Any
    edges: Any


class Problem(NamedTuple):
    """A graph and a pattern, in arrays of the device."""

    device: str
    #: `n`, `m`: vertices and edges of the graph.
    n: int
    m: int
    pattern: Pattern
    #: `vertices`, `edges`: array, shape (n, fv) and (m, fe).
    vertices: Any
    edges: Any
    #: `entering`, `leaving`: edges by target and by source. Messages back read what is `near` those
    #: that leave.
    entering: Lists
    leaving: Lists
    #: Whether they walk over these edges: they read the target, or memory is short. Else what the
    #: source sends is known from the nearest edge that leaves it.
    walks_back: bool
    #: Edges of the pattern that are worked on together.
    widths: list[int]


def memory(
    vertices: int,
    edges: int,
    pattern_vertices: int,
    pattern_edges: int,
    *,
    reverse_from: str = "source",
    short: bool = False,
) -> int:
    """Return the bytes that `classify` takes on the device beside the graph and the features.

    Messages both ways and two tables of weights for each vertex and edge of the pattern, one more
    for a block of edges of the pattern; a table of scores; lists of edges by their ends. Nothing is
    stored for each edge and each edge of the pattern. With `short`, where less is free, there is
    one table less with ``"source"``, for twice the walks over edges, and blocks have 8 edges of the
    pattern, not 32.

    Examples
    --------
    >>> memory(262_145, 2_008_660, 10, 21)  # the rmat18 of the HIVE report, whose formula gives
    266147544
    >>> (3 * 2_008_660 * 21 + 3 * 262_145 * 21 + 2 * 262_145 * 10) * 8
    1186428920
    """
    given = "source", "destination"
    if reverse_from not in given:
        raise InvalidValue(_no_such_way(reverse_from))
    is_back = reverse_from != "source"
    width = max(widths_of(pattern_edges, short=short), default=0)
    lists = 2 * 8 * vertices + edges * (12 if is_back or short else 8)
    each = pattern_edges * (3 if short and not is_back else 4)
    tables = 8 * vertices * (each + width + pattern_vertices)
    sorting = 32 * edges
    sums = 8 * pieces_of(vertices)[1] * (6 * pattern_edges + 2 * pattern_vertices)
    return sums + lists + max(tables, sorting)


def pieces_of(n: int) -> tuple[int, int]:
    """Return the rows of a piece, and how many pieces there are."""
    span = max(_ROWS, -(-n // _PIECES))
    return span, -(-n // span)


def widths_of(edges: int, *, short: bool = False) -> list[int]:
    """Return how many edges of the pattern are worked on together: all alike, but for one."""
    blocks = -(-edges // (_NARROW if short else _WIDTH))
    return [edges * (k + 1) // blocks - edges * k // blocks for k in range(blocks)]


def _no_such_way(given: Any) -> str:
    return f"classify: reverse_from is {given!r}; pass 'source' or 'destination'"


def rows_of_names(graph: Any, given: Any) -> Any:
    """Return the features of each vertex from a mapping of names; others are left as they are.

    Raises IndexOutOfBound if a name is unknown, and InvalidValue if one has no features.
    """
    if not isinstance(given, Mapping):
        return given
    graph.vertices(given)
    for name in graph.labels.tolist():
        if name not in given:
            raise InvalidValue(f"classify: vertex {name!r} has no features; give all of them")
    return [given[name] for name in graph.labels.tolist()]


def edges_of(graph: Any, given: Any) -> Any:
    """Return listed edges with numbers for the names of their ends.

    Raises IndexOutOfBound if a name is unknown.
    """
    if not (isinstance(given, tuple) and len(given) == 3):
        return given
    sources, targets, features = given
    return EdgeFeatures(graph.vertices(sources), graph.vertices(targets), features)


def check(A: Any, reverse_from: Any, iterations: Any, null_penalty: Any) -> None:
    """Check the arguments that are no features; raises what `classify` raises."""
    check_square(A, "classify")
    if reverse_from not in ("source", "destination"):
        raise InvalidValue(_no_such_way(reverse_from))
    if iterations is not None:
        check_count(iterations, "iterations")
    if not isinstance(null_penalty, Real) or not np.isfinite(float(null_penalty)):
        raise InvalidValue(f"classify: null_penalty is {null_penalty!r}; pass a finite number")


def pattern_of(vertices: Any, edges: Any) -> Pattern:
    """Return the pattern on the host; raises what `classify` raises."""
    known = on_host(_table(vertices, "pattern_vertices", np))
    count = len(known)
    if not count:
        raise InvalidValue("classify: the pattern has no vertices; give the features of one")
    if not (isinstance(edges, tuple) and len(edges) == 3):
        raise DomainMismatch(
            f"classify: pattern_edges is a {type(edges).__name__}; pass (sources, targets, "
            "features)"
        )
    sources, targets = (_ends(each, count, "pattern_edges", np) for each in edges[:2])
    features = on_host(_table(edges[2], "pattern_edges", np))
    if not len(sources) == len(targets) == len(features):
        raise _uneven("pattern_edges", sources, targets, features)
    return Pattern(sources, targets, known.astype(np.float64), features.astype(np.float64))


def problem_of(A: Any, vertices: Any, edges: Any, pattern: Pattern, both: bool, xp: Any) -> Problem:
    """Return the arrays of the device; call inside of `array_module`.

    Raises what `classify` raises.
    """
    n = A.nrows
    known = _table(vertices, "vertices", xp)
    if len(known) != n:
        raise DimensionMismatch(
            f"classify: vertices has {len(known)} rows, but the graph has {n} vertices; pass one "
            "for each"
        )
    is_tuple = isinstance(edges, tuple)
    features = _table(edges[2] if is_tuple else edges, "edges", xp)
    for name, own, other in (
        ("vertices", known, pattern.vertices), ("edges", features, pattern.edges)
    ):  # fmt: skip
        if own.shape[1] != other.shape[1] and len(other):
            raise DimensionMismatch(
                f"classify: {name} of the graph have {own.shape[1]} features and those of the "
                f"pattern {other.shape[1]}; pass the same features of both"
            )
    way = "destination" if both else "source"
    m = len(features)
    sizes = n, m, len(pattern.vertices), len(pattern.edges)
    short = _is_short(A.device, sizes, way)
    if is_tuple:
        entering, leaving = _listed(A, edges, features, xp, own=not both, near=both or short)
    else:
        entering, leaving = _in_order(A, features, xp, own=short and not both)
    widths = widths_of(len(pattern.edges), short=short)
    return Problem(
        A.device, n, m, pattern, known, features, entering, leaving, both or short, widths
    )


def _is_short(device: str, sizes: tuple[int, int, int, int], way: str) -> bool:
    """Return whether there is only room for what takes less memory and more time."""
    free = gb.free_memory(device)
    if free is None or memory(*sizes, reverse_from=way) <= free:
        return False
    needed = memory(*sizes, reverse_from=way, short=True)
    if needed > free:
        raise OutOfMemory(
            f"classify: {sizes[0]} vertices and {sizes[1]} edges need {needed:,} bytes on "
            f"{device}, of which {free:,} are free; use a smaller pattern, or a device with more "
            "memory"
        )
    return True


def _in_order(A: Any, features: Any, xp: Any, *, own: bool) -> tuple[Lists, Lists]:
    """Return the lists of edges whose features are in the order of A's entries, by rows.

    With `own`, what is near an edge that leaves a vertex is the vertex itself.
    """
    rows = rows_of(A, values=False)
    if len(features) != len(rows.indices):
        raise DimensionMismatch(
            f"classify: edges has {len(features)} rows, but the graph has {len(rows.indices)} "
            "entries; pass one for each, by rows, or (sources, targets, features)"
        )
    none = xp.zeros(1, xp.int32)
    sources = xp.searchsorted(rows.indptr, xp.arange(A.nvals), side="right") - 1
    sources = sources.astype(xp.int32 if A.nrows < 2**31 else xp.int64)
    leaving = Lists(rows.indptr, sources if own else rows.indices, none, False)
    return _by(rows.indices, sources, A.nrows, xp, True), leaving


def _listed(
    A: Any, edges: Any, features: Any, xp: Any, *, own: bool, near: bool
) -> tuple[Lists, Lists]:
    """Return the lists of edges that are given with their ends; `own` as in `_in_order`."""
    n = A.nrows
    sources, targets = (_ends(each, n, "edges", xp) for each in edges[:2])
    if not len(sources) == len(targets) == len(features):
        raise _uneven("edges", sources, targets, features)
    rows = rows_of(A, values=False)
    stored = xp.searchsorted(rows.indptr, xp.arange(A.nvals), side="right") - 1
    stored = stored.astype(xp.int64) * n + rows.indices
    listed = xp.unique(sources.astype(xp.int64) * n + targets)
    if len(listed) != len(stored) or not bool((listed == xp.sort(stored)).all()):
        wrong = np.setxor1d(on_host(listed), on_host(stored))
        i, j = divmod(int(wrong[0]), max(n, 1))
        raise InvalidValue(
            f"classify: edge ({i}, {j}) is {'listed' if wrong[0] in on_host(listed) else 'stored'} "
            f"only in one of A and edges ({len(wrong)} such edges); give the features of the "
            "entries of A"
        )
    leaving = _by(sources, sources if own else targets, n, xp, near)
    return _by(targets, sources, n, xp, True), leaving


def _by(ends: Any, others: Any, n: int, xp: Any, with_near: bool) -> Lists:
    order = xp.argsort(ends, kind="stable")
    indptr = xp.searchsorted(ends[order], xp.arange(n + 1)).astype(xp.int64)
    near = others[order] if with_near else xp.zeros(1, xp.int32)
    width = xp.int32 if len(ends) < 2**31 else xp.int64
    return Lists(indptr, near, order.astype(width), True)


def _table(values: Any, name: str, xp: Any) -> Any:
    values = as_given(values, f"classify: {name}")
    if values.ndim == 2 and values.dtype.kind in "biuf":
        kept = values.dtype if values.dtype in (np.float32, np.float64) else np.float64
        found = xp.ascontiguousarray(
            xp.asarray(on_host(values) if xp is np else values, dtype=kept)
        )
        largest = min(_LARGEST, float(np.finfo(kept).max))
        # Comparisons with NaN are False.
        if found.size and not -largest <= float(found.min()) <= float(found.max()) <= largest:
            at = tuple(int(each[0]) for each in np.nonzero(~(abs(on_host(found)) <= largest)))
            raise InvalidValue(
                f"classify: feature {at[1]} in row {at[0]} of {name} is {on_host(found)[at]}; pass "
                f"finite numbers, at most {_LARGEST:g}, whose squares are finite too"
            )
        return found
    if values.ndim != 2:
        raise DimensionMismatch(
            f"classify: {name} has {values.ndim} dimensions; pass a row of features for each"
        )
    raise DomainMismatch(f"classify: {name} is of {values.dtype}; pass real numbers")


def _ends(values: Any, n: int, name: str, xp: Any) -> Any:
    values = as_given(values, f"classify: {name}")
    if values.size == 0:
        return xp.zeros(0, xp.int32)
    if values.ndim != 1 or values.dtype.kind not in "iu":
        raise DomainMismatch(
            f"classify: an end of {name} is an array of {values.dtype} with {values.ndim} "
            "dimensions; pass a list of integers"
        )
    found = xp.asarray(on_host(values) if xp is np else values)
    if int(found.min()) < 0 or int(found.max()) >= n:
        wrong = int(found.min()) if int(found.min()) < 0 else int(found.max())
        raise IndexOutOfBound(
            f"classify: {name} names vertex {wrong}, which is outside [0, {n}); vertices count "
            "from 0"
        )
    return found.astype(xp.int32 if n < 2**31 else xp.int64)


def _uneven(name: str, sources: Any, targets: Any, features: Any) -> DimensionMismatch:
    return DimensionMismatch(
        f"classify: {name} has {len(sources)} sources, {len(targets)} targets and "
        f"{len(features)} rows of features; pass as many of each"
    )
