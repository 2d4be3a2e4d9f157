"""Edge lists from arrays and NetworkX graphs, and the Matrix of an edge list."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira.base.dtypes import lookup_dtype
from semira.base.errors import DimensionMismatch, DomainMismatch, InvalidIndex, InvalidValue
from semira.base.optional import need
from semira.engine.values import Value
from semira.files.numbering import are_names, number_integers
from semira.files.options import IDS
from semira.formats import EdgeList
from semira.frontend import construct
from semira.frontend.objects import Matrix
from semira.frontend.range_check import as_array, as_fitting
from semira.io.givens import not_taken
from semira.ops.registry import find_operator


def from_edges(
    edges: EdgeList, *, dtype: Any = None, dup_op: Any = None, name: str | None = None
) -> Matrix:
    """Return the Matrix of an edge list.

    Parameters
    ----------
    edges : EdgeList
    dtype : optional
        That of the values; BOOL for a pattern. Values must fit into it, fractions included.
    dup_op : binary operator, monoid or str, optional
        Folds repeated edges. If None, ``edges.meta["dup_op"]``: ``"min"`` in shortest-path files
        (``.gr``), where the least of parallel arcs counts; without it the first value is kept.
        In a pattern repeats collapse.

    Examples
    --------
    >>> import numpy as np
    >>> from_edges(EdgeList(3, 3, np.array([0, 1]), np.array([1, 2]))).dtype
    BOOL
    """
    op = _folding(edges, dup_op)
    if edges.values is None:
        if isinstance(op, str):
            find_operator("BinaryOp", op)  # refuses an unknown one, which would not be used
        wanted = lookup_dtype("BOOL" if dtype is None else dtype)
        arrays = construct.matrix_from_coo(
            edges.rows, edges.cols, np.bool_(True), wanted, edges.nrows, edges.ncols, "any"
        )
    else:
        values = edges.values
        if dtype is not None:
            values = as_fitting(values, lookup_dtype(dtype), exact=True)
        arrays = construct.matrix_from_coo(
            edges.rows, edges.cols, values, dtype, edges.nrows, edges.ncols, op
        )
    unmerged = arrays.nvals == edges.nnz
    if edges.symmetric and (unmerged or _folds_symmetrically(edges, op)):
        arrays = replace(arrays, symmetric=True)
    return Matrix._wrap(Value.of(arrays), name)


def _folding(edges: EdgeList, dup_op: Any) -> Any:
    return dup_op or edges.meta.get("dup_op") or "first"


def folding_facts(edges: EdgeList, matrix: Matrix, dup_op: Any = None) -> dict[str, Any]:
    """Return for ``meta`` how many listed entries `from_edges` folded into others, and how.

    ``repeated_edges`` is their number; ``dup_op`` is the name of the operator, None in a pattern.
    """
    op = _folding(edges, dup_op)
    return {
        "repeated_edges": edges.nnz - int(matrix.nvals),
        "dup_op": None if edges.values is None else str(getattr(op, "name", op)),
    }


def _folds_symmetrically(edges: EdgeList, op: Any) -> bool:
    """Whether merging repeats keeps a symmetric list symmetric whatever their order."""
    name = getattr(op, "name", op)
    return edges.values is None or name in ("plus", "times", "min", "max", "lor", "land", "+", "*")


# ------------------------------------------------------------------------------------- arrays


def edges_from_arrays(sources: Any, targets: Any, weights: Any, ids: str) -> EdgeList:
    """Return the edges between named or numbered ends.

    Raises DimensionMismatch if the arrays are not of one length. Raises InvalidValue if an end is
    missing (None, NaN or masked), a weight is not a number, `ids` is unknown or ``"index"`` for
    ends that are not integers, and InvalidIndex if with ``ids="index"`` an end is negative.
    """
    if ids not in IDS:
        raise InvalidValue(f"ids={ids!r}; choose one of {', '.join(IDS)}")
    ends = [_ends(sources, "sources"), _ends(targets, "targets")]
    values = None if weights is None else _numbers(weights)
    shapes = [each.shape for each in (*ends, values) if each is not None]
    if len(set(shapes)) != 1 or len(shapes[0]) != 1:
        raise DimensionMismatch(
            f"sources, targets and weights have shapes {', '.join(map(str, shapes))}; give "
            "one-dimensional arrays with an item for each edge"
        )
    if ends[0].dtype.kind != ends[1].dtype.kind:
        # NumPy would make text of numbers beside text, and floats of integers beside floats.
        ends = [each.astype(object) for each in ends]
    # Source and target of each edge in turn, so that names are numbered as they appear.
    both = np.stack(ends, axis=1).reshape(-1)
    are_integers = both.dtype.kind == "i"
    if ids == "index" and not are_integers:
        raise InvalidValue(f"ids='index', but the vertex {both.tolist()[0]!r} is not an integer")
    if ids == "index" and len(both) and both.min() < 0:
        raise InvalidIndex(f"vertex {both.min()} is negative; ids='name' takes it as a name")
    if are_integers and (ids == "index" or (ids == "auto" and not are_names(both))):
        size, labels = int(both.max()) + 1 if len(both) else 0, None
    else:
        both, labels = number_names(both)
        size = len(labels)
    return EdgeList(size, size, both[::2], both[1::2], values, labels=labels)


def _ends(given: Any, what: str) -> NDArray[Any]:
    """Return one end of each edge; integers as int64, those beyond 64 bits as objects."""
    is_list = isinstance(given, Iterable) and not isinstance(given, (str, bytes))
    is_list = is_list and not hasattr(given, "__array__")
    array = as_labels(given) if is_list else as_array(given, what)
    if array.size == 0:
        return array.astype(np.int64)
    if array.dtype.kind == "u" and int(array.max()) >= 2**63:
        return array.astype(object)
    return array.astype(np.int64, copy=False) if array.dtype.kind in "iu" else array


def _numbers(weights: Any) -> NDArray[Any]:
    values = as_array(weights, "weights")
    if values.dtype.kind not in "biufcV":
        odd = (each for each in values.tolist() if not isinstance(each, (int, float)))
        raise InvalidValue(
            f"weights hold {next(odd, values.dtype)!r}; give numbers of one dtype, or leave out "
            "edges without a weight"
        )
    return values


def number_names(names: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Return a number for each name, in order of first appearance, and the different names.

    Raises InvalidValue if a name is missing (None or NaN), or one cannot be hashed. O(m); uses
    pandas for objects where it is installed.
    """
    if names.dtype == np.int64:
        return number_integers(names)
    if names.dtype.kind != "O":
        found, first, numbers = np.unique(names, return_index=True, return_inverse=True)
        order = np.argsort(first, kind="stable")
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order))
        _check_present(names[np.sort(first)])
        return rank[numbers], found[order]
    try:
        numbers, labels = _factorize(names)
    except TypeError as error:
        raise InvalidValue(f"a source or target cannot be a name: {error}") from None
    _check_present(labels)
    return numbers.astype(np.int64, copy=False), labels


def _factorize(names: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    try:
        from pandas import factorize
    except ImportError:
        index: dict[Any, int] = {}
        numbers = np.fromiter((index.setdefault(each, len(index)) for each in names), np.int64)
        return numbers, object_array(index)
    numbers, labels = factorize(names, use_na_sentinel=False)
    return numbers, labels


def _check_present(labels: NDArray[Any]) -> None:
    """Refuse NaN and None, which stand for missing names."""
    for label in labels if labels.dtype.kind in "fcO" else ():
        if label is None or label != label:  # noqa: PLR0124 - only NaN differs from itself
            raise InvalidValue(f"a source or target is missing ({label}); drop such rows first")


def as_labels(labels: Iterable[Any]) -> NDArray[Any]:
    """Return labels as an array; each element stays one label, a tuple too.

    Examples
    --------
    >>> as_labels(["a", "b"]).dtype.kind, as_labels(["a", 1]).tolist()
    ('U', ['a', 1])
    """
    if isinstance(labels, np.ndarray) and labels.ndim == 1:
        return labels
    listed = list(labels)
    try:
        made = np.array(listed)
    except ValueError:  # tuples of several lengths
        return object_array(listed)
    kind = {"U": str, "S": bytes}.get(made.dtype.kind)
    is_alike = kind is None or all(isinstance(each, kind) for each in listed)
    return made if made.ndim == 1 and is_alike else object_array(listed)


def object_array(items: Iterable[Any]) -> NDArray[Any]:
    """Return a one-dimensional array whose elements are the items, tuples too."""
    listed = list(items)
    made = np.empty(len(listed), object)
    made[:] = listed
    return made


# ------------------------------------------------------------------------------------ NetworkX


def edges_from_networkx(graph: Any, nodelist: Any, weight: str | None, where: str) -> EdgeList:
    """Return the edges of a NetworkX graph, those of an undirected one in both directions.

    Vertex k is the k-th node of `nodelist`, or of all; edges of other nodes are left out. Weights
    are an attribute of edges, 1 where one has none, or for all. Errors name the caller, `where`.
    Raises DomainMismatch if `graph` is no graph of NetworkX, or a weight is no number of at most 64
    bits. Raises InvalidValue, also a NetworkXError, if there are no nodes, or `nodelist` is not
    made of them, each once.
    """
    nx = need("networkx", where, "networkx")
    if not hasattr(graph, "is_multigraph"):
        raise not_taken(graph, where, "a graph of NetworkX")
    nodes = list(graph) if nodelist is None else list(nodelist)
    number = dict(zip(nodes, range(len(nodes)), strict=True))
    problem = None
    if not nodes:
        problem = "the graph has no nodes or edges" if nodelist is None else "nodelist has no nodes"
    elif len(number) != len(nodes):
        problem = "nodelist contains duplicates"
    elif nodelist is not None and (strange := [each for each in nodes if each not in graph]):
        problem = f"node {strange[0]!r} of nodelist is not in the graph"
    if problem is not None:
        # Programs written for NetworkX catch its own exception.
        raise type("InvalidValue", (InvalidValue, nx.NetworkXError), {})(f"{where}: {problem}")
    adjacent = dict(graph.adjacency())
    if nodelist is not None:
        adjacent = {
            node: {other: data for other, data in adjacent[node].items() if other in number}
            for node in nodes
        }
    counts = np.fromiter(map(len, adjacent.values()), np.int64, len(nodes))
    ends = chain.from_iterable(adjacent.values())
    cols = np.fromiter(map(number.__getitem__, ends), np.int64, int(counts.sum()))
    rows = np.repeat(np.arange(len(nodes)), counts)
    data: Any = chain.from_iterable(neighbours.values() for neighbours in adjacent.values())
    if graph.is_multigraph():
        parallel = [list(edges.values()) for edges in data]
        several = np.fromiter(map(len, parallel), np.int64, len(parallel))
        rows, cols = np.repeat(rows, several), np.repeat(cols, several)
        data = chain.from_iterable(parallel)
    values = _weights(graph, data, weight, where)
    labels = None if nodes == list(range(len(nodes))) else object_array(nodes)
    size = len(nodes)
    is_symmetric = not graph.is_directed()
    return EdgeList(size, size, rows, cols, values, labels=labels, symmetric=is_symmetric)


def _weights(
    graph: Any, data: Iterable[Any], weight: str | None, where: str
) -> NDArray[Any] | None:
    """Return the weight of each edge of which `data` yields the attributes; None: none has one."""
    if weight is None:
        return None
    attributes = list(data)
    try:
        found = [each[weight] for each in attributes]
    except KeyError:
        if not any(weight in each for each in attributes):
            return None
        found = [each.get(weight, 1) for each in attributes]
    try:
        values = np.array(found)
    except (TypeError, ValueError, OverflowError) as error:
        raise _odd_weight(graph, weight, where) from error
    if not found:
        return None
    if values.dtype.kind not in "biufc":
        raise _odd_weight(graph, weight, where)
    return values


def _odd_weight(graph: Any, weight: str | None, where: str) -> DomainMismatch:
    """Return the error that names the first edge whose weight is no number of 64 bits."""
    for one, other, value in graph.edges(data=weight, default=1):
        is_number = isinstance(value, (bool, int, float, complex, np.number))
        if not is_number or (isinstance(value, int) and not -(2**63) <= value < 2**64):
            return DomainMismatch(
                f"{where}: the edge {one!r}, {other!r} has {weight}={value!r}; give numbers "
                "of at most 64 bits, or weight=None for a graph without weights"
            )
    return DomainMismatch(f"{where}: the weights {weight!r} are not numbers of one dtype")
