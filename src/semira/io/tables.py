"""Edge tables: NetworkX, pandas, Arrow."""

from __future__ import annotations

from typing import Any

import numpy as np

from semira.base.errors import InvalidValue
from semira.base.optional import need
from semira.frontend.matrix import Matrix
from semira.io.sparse_arrays import from_scipy_sparse


def from_networkx(
    G: Any,  # noqa: N803 - python-graphblas' name
    nodelist: Any = None,
    dtype: Any = None,
    weight: str | None = "weight",
    name: str | None = None,
) -> Matrix:
    """Return the adjacency Matrix of a NetworkX graph; vertices in `nodelist` order.

    Edges of equal weight, as those of a graph without weights are, share one stored value.
    """
    nx = need("networkx", "from_networkx", "networkx")
    array = nx.to_scipy_sparse_array(G, nodelist=nodelist, weight=weight)
    if array.nnz and (array.data == array.data[0]).all():
        coo = array.tocoo()
        made = Matrix.from_coo(
            coo.row, coo.col, coo.data[0], nrows=array.shape[0], ncols=array.shape[1], name=name
        )
    else:
        made = from_scipy_sparse(array, name=name)
    return made if dtype is None else made.dup(dtype, name=name)


def to_networkx(m: Matrix, edge_attribute: str | None = "weight") -> Any:
    """Return a NetworkX DiGraph; values become the edge attribute."""
    nx = need("networkx", "to_networkx", "networkx")
    graph = nx.DiGraph()
    graph.add_nodes_from(range(m.nrows))
    rows, cols, values = m.to_coo()
    if edge_attribute is None:
        graph.add_edges_from(zip(rows.tolist(), cols.tolist(), strict=True))
    else:
        graph.add_weighted_edges_from(
            zip(rows.tolist(), cols.tolist(), values.tolist(), strict=True), weight=edge_attribute
        )
    return graph


def from_pandas(
    frame: Any,
    source: str = "source",
    target: str = "target",
    weight: str | None = None,
    *,
    size: int | None = None,
    dup_op: Any = None,
) -> Matrix:
    """Return the Matrix of an edge table with integer vertex columns."""
    columns = [frame[name].to_numpy() for name in (source, target, weight) if name is not None]
    return _from_columns(columns, size, dup_op)


def _from_columns(columns: list[Any], size: int | None, dup_op: Any) -> Matrix:
    """Return the square Matrix of columns of sources, targets and perhaps weights."""
    rows, cols = columns[:2]
    for column in (rows, cols):
        if column.dtype.kind not in "iu":
            raise InvalidValue(
                f"vertex columns must be integers without gaps, got {column.dtype}; number the "
                "vertices first (pandas.factorize) or drop incomplete rows"
            )
    if size is None:
        size = int(max(rows.max(), cols.max())) + 1 if len(rows) else 0
    if len(columns) == 2:
        op = "any" if dup_op is None else dup_op
        return Matrix.from_coo(rows, cols, 1.0, nrows=size, ncols=size, dup_op=op)
    return Matrix.from_coo(rows, cols, columns[2], nrows=size, ncols=size, dup_op=dup_op)


def to_pandas(m: Any) -> Any:
    """Return a DataFrame of the entries: ``row, col, value`` or ``index, value``."""
    return need("pandas", "to_pandas", "pandas").DataFrame(_columns(m))


def _columns(m: Any) -> dict[str, Any]:
    names = ("index", "value") if m.kind == "vector" else ("row", "col", "value")
    return dict(zip(names, m.to_coo(), strict=True))


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
    """
    columns = []
    for name in (source, target, weight):
        if name is None:
            continue
        if name not in table.schema.names:
            known = ", ".join(table.schema.names)
            raise InvalidValue(f"the table has no column {name!r}; its columns are {known}")
        column = table.column(name)
        if column.null_count:
            raise InvalidValue(f"column {name!r} has {column.null_count} gaps; drop those rows")
        columns.append(np.asarray(column))
    return _from_columns(columns, size, dup_op)


def to_arrow(m: Any) -> Any:
    """Return a ``pyarrow.Table`` of the entries: ``row, col, value`` or ``index, value``.

    Raises
    ------
    MissingLibrary
        The library ``pyarrow`` is not installed.
    """
    return need("pyarrow", "to_arrow", "arrow").table(_columns(m))
