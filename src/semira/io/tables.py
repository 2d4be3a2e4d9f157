"""Edge tables: NetworkX, pandas, Arrow."""

from __future__ import annotations

from typing import Any

import numpy as np

from semira.base.dtypes import lookup_dtype
from semira.base.errors import DimensionMismatch, InvalidValue
from semira.base.memory import require_bytes, tells_shortage
from semira.base.optional import need
from semira.frontend.objects import Matrix
from semira.frontend.range_check import as_fitting
from semira.io.edges import edges_from_networkx
from semira.io.givens import check_column, check_object, not_taken, weight_column
from semira.io.labelled import Graph


@tells_shortage("io.from_networkx")
def from_networkx(
    G: Any,  # noqa: N803 - python-graphblas' name
    nodelist: Any = None,
    dtype: Any = None,
    weight: str | None = "weight",
    name: str | None = None,
) -> Matrix:
    """Return the adjacency Matrix of a NetworkX graph; vertices in `nodelist` order.

    Edges of equal weight, as those of a graph without weights are, share one stored value; parallel
    edges of a multigraph add up. `Graph.from_networkx` keeps the nodes as labels.

    Raises
    ------
    DomainMismatch
        `G` is no graph of NetworkX, or a weight no number of at most 64 bits.
    InvalidValue
        It has no vertices, or `nodelist` is not made of them, each once. Also a NetworkXError.
    """
    edges = edges_from_networkx(G, nodelist, weight, "from_networkx")
    values: Any = 1 if edges.values is None else edges.values
    if dtype is not None:
        values = as_fitting(np.asarray(values), lookup_dtype(dtype))
    dup_op = "plus" if G.is_multigraph() else None
    if dup_op is None and edges.nnz and edges.values is not None:
        first = values[0]
        values = first if (values == first).all() else values
    return Matrix.from_coo(
        edges.rows,
        edges.cols,
        values,
        dtype,
        nrows=edges.nrows,
        ncols=edges.ncols,
        dup_op=dup_op,
        name=name,
    )


@tells_shortage("io.to_networkx")
def to_networkx(m: Matrix | Graph, edge_attribute: str | None = "weight") -> Any:
    """Return a NetworkX DiGraph; values become the edge attribute, the labels of a Graph the nodes.

    Raises
    ------
    DomainMismatch
        `m` is neither a Matrix nor a Graph.
    DimensionMismatch
        It is not square: row i and column i are the same vertex.
    OutOfMemory
        There is not so much memory.
    """
    nx = need("networkx", "to_networkx", "networkx")
    labels = m.labels if isinstance(m, Graph) else None
    m = m.matrix if isinstance(m, Graph) else m
    check_object(m, "to_networkx", ("matrix",))
    if m.nrows != m.ncols:
        raise DimensionMismatch(
            f"to_networkx takes a square Matrix, whose row i and column i are vertex i, got shape "
            f"{m.shape}; for a bipartite graph move the columns behind the rows with reposition"
        )
    # Of each vertex three dictionaries are kept, of 64 bytes if they are empty.
    require_bytes(192 * m.nrows, f"a NetworkX graph of {m.nrows} vertices")
    graph = nx.DiGraph()
    rows, cols, values = m.to_coo()
    nodes: Any = range(m.nrows)
    if labels is not None:
        nodes, rows, cols = labels.tolist(), labels[rows], labels[cols]
    graph.add_nodes_from(nodes)
    if edge_attribute is None:
        graph.add_edges_from(zip(rows.tolist(), cols.tolist(), strict=True))
    else:
        graph.add_weighted_edges_from(
            zip(rows.tolist(), cols.tolist(), values.tolist(), strict=True), weight=edge_attribute
        )
    return graph


@tells_shortage("io.from_pandas")
def from_pandas(
    frame: Any,
    source: str = "source",
    target: str = "target",
    weight: str | None = None,
    *,
    size: int | None = None,
    dup_op: Any = None,
) -> Matrix:
    """Return the Matrix of an edge table with integer vertex columns.

    Raises
    ------
    DomainMismatch
        `frame` is no DataFrame.
    InvalidValue
        A column or a weight is missing, or a vertex is no integer.
    """
    if not hasattr(frame, "columns"):
        raise not_taken(frame, "from_pandas", "a DataFrame")
    for name in (source, target):
        check_column(name, frame.columns)
    columns = [frame[name].to_numpy() for name in (source, target)]
    if weight is not None:
        columns.append(weight_column(frame, weight))
    return _from_columns(columns, size, dup_op)


def _from_columns(columns: list[Any], size: int | None, dup_op: Any) -> Matrix:
    """Return the square Matrix of columns of sources, targets and perhaps weights."""
    # Without rows a library does not know what a column would hold.
    columns[:2] = [each if len(each) else each.astype(np.int64) for each in columns[:2]]
    rows, cols = columns[:2]
    for column in (rows, cols):
        if column.dtype.kind not in "iu":
            raise InvalidValue(
                f"vertex columns must be integers without gaps, got {column.dtype}; number the "
                "vertices first (pandas.factorize), drop incomplete rows, or keep names with "
                "gb.io.Graph.from_pandas"
            )
    if size is None:
        size = int(max(rows.max(), cols.max())) + 1 if len(rows) else 0
    if len(columns) == 2:
        op = "any" if dup_op is None else dup_op
        return Matrix.from_coo(rows, cols, 1.0, nrows=size, ncols=size, dup_op=op)
    return Matrix.from_coo(rows, cols, columns[2], nrows=size, ncols=size, dup_op=dup_op)


@tells_shortage("io.to_pandas")
def to_pandas(m: Any) -> Any:
    """Return a DataFrame of the entries: ``row, col, value`` or ``index, value``.

    Raises
    ------
    DomainMismatch
        `m` is neither a Matrix nor a Vector.
    """
    pandas = need("pandas", "to_pandas", "pandas")
    check_object(m, "to_pandas")
    return pandas.DataFrame(_columns(m))


def _columns(m: Any) -> dict[str, Any]:
    names = ("index", "value") if m.kind == "vector" else ("row", "col", "value")
    return dict(zip(names, m.to_coo(), strict=True))


@tells_shortage("io.from_arrow")
def from_arrow(
    table: Any,
    source: str = "source",
    target: str = "target",
    weight: str | None = None,
    *,
    size: int | None = None,
    dup_op: Any = None,
) -> Matrix:
    """Return the Matrix of an Arrow edge table with integer vertex columns.

    Parameters
    ----------
    table : pyarrow.Table or pyarrow.RecordBatch
    source, target : str
        Columns of vertices.
    weight : str, optional
        Column of values; 1.0 for every edge if None.
    size : int, optional
        Number of vertices; the largest one and 1 more if None.
    dup_op : operator or str, optional
        Folds repeated edges.

    Raises
    ------
    InvalidValue
        A column is missing or has gaps, or a vertex is no integer.
    DomainMismatch
        `table` is no table of Arrow.
    """
    if not hasattr(table, "schema"):
        raise not_taken(table, "from_arrow", "a Table or a RecordBatch of Arrow")
    columns = []
    for name in (source, target, weight):
        if name is None:
            continue
        check_column(name, table.schema.names)
        column = table.column(name)
        if column.null_count:
            raise InvalidValue(f"column {name!r} has {column.null_count} gaps; drop those rows")
        columns.append(np.asarray(column))
    return _from_columns(columns, size, dup_op)


@tells_shortage("io.to_arrow")
def to_arrow(m: Any) -> Any:
    """Return a ``pyarrow.Table`` of the entries: ``row, col, value`` or ``index, value``.

    Raises
    ------
    DomainMismatch
        `m` is neither a Matrix nor a Vector.
    MissingLibrary
        The library ``pyarrow`` is not installed.
    """
    arrow = need("pyarrow", "to_arrow", "arrow")
    check_object(m, "to_arrow")
    return arrow.table(_columns(m))
