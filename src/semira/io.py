"""The namespace ``semira.io``: files, generators and other libraries in and out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from io import BytesIO, TextIOBase
from typing import Any

import numpy as np

from semira.base.dtypes import lookup_dtype
from semira.base.errors import DomainMismatch, InvalidValue
from semira.engine.values import Value
from semira.files import ReadOptions, read_edges, write_edges, write_vector
from semira.files.clean import clean
from semira.formats import EdgeList, MatrixArrays
from semira.frontend import construct, reading
from semira.frontend.matrix import Matrix
from semira.frontend.vector import Vector

_SCIPY_FORMATS = ("bsr", "coo", "csc", "csr", "dia", "dok", "lil")

__all__ = [
    "Graph",
    "from_edges",
    "from_networkx",
    "from_numpy",
    "from_pandas",
    "from_scipy_sparse",
    "mmread",
    "mmwrite",
    "read",
    "read_graph",
    "to_networkx",
    "to_pandas",
    "to_scipy_sparse",
    "write",
]


@dataclass(frozen=True, slots=True)
class Graph:
    """A matrix with what its source said about it.

    Attributes
    ----------
    matrix : Matrix
    labels : ndarray or None
        Original name of each vertex.
    meta : dict
        Name, format and further facts.
    """

    matrix: Matrix
    labels: Any
    meta: dict[str, Any]


def from_edges(
    edges: EdgeList, *, dtype: Any = None, dup_op: Any = None, name: str | None = None
) -> Matrix:
    """Return the Matrix of an edge list.

    Parameters
    ----------
    edges : EdgeList
    dtype : optional
        That of the values; BOOL for a pattern.
    dup_op : binary operator, monoid or str, optional
        Folds repeated edges; a pattern needs none (repeats collapse), otherwise ``edges.meta``
        may name one, and without either the first value is kept.

    Examples
    --------
    >>> import numpy as np
    >>> from_edges(EdgeList(3, 3, np.array([0, 1]), np.array([1, 2]))).dtype
    BOOL
    """
    op = dup_op or edges.meta.get("dup_op") or "first"
    if edges.values is None:
        wanted = lookup_dtype("BOOL" if dtype is None else dtype)
        arrays = construct.matrix_from_coo(
            edges.rows, edges.cols, np.bool_(True), wanted, edges.nrows, edges.ncols, "any"
        )
    else:
        arrays = construct.matrix_from_coo(
            edges.rows, edges.cols, edges.values, dtype, edges.nrows, edges.ncols, op
        )
    unmerged = arrays.nvals == edges.nnz
    if edges.symmetric and (unmerged or _folds_symmetrically(edges, op)):
        arrays = replace(arrays, symmetric=True)
    return Matrix._wrap(Value.of(arrays), name)  # type: ignore[no-any-return]


def _folds_symmetrically(edges: EdgeList, op: Any) -> bool:
    """Whether merging repeats keeps a symmetric list symmetric whatever their order."""
    name = getattr(op, "name", op)
    return edges.values is None or name in ("plus", "times", "min", "max", "lor", "land", "+", "*")


def read_graph(
    path: Any,
    *,
    format: str | None = None,
    dtype: Any = None,
    dup_op: str | None = None,
    weights: str | None = None,
    device: str | None = None,
    **options: Any,
) -> Graph:
    """Read a file or make a generated graph; like `read`, with labels and facts beside it.

    Raises
    ------
    As `read`.
    """
    from semira.generators import generate, is_generator_spec

    if weights not in (None, "random"):
        raise InvalidValue(f"weights={weights!r}; choose 'random' or leave it out")
    if weights == "random":
        options["random_weights"] = True
    if isinstance(path, str) and is_generator_spec(path):
        edges = clean(generate(path), ReadOptions().changed(options))
    else:
        edges = read_edges(path, format=format, **options)
    matrix = from_edges(edges, dtype=dtype, dup_op=dup_op, name=edges.meta.get("name"))
    if device is not None:
        matrix._value.place(device)
    return Graph(matrix, edges.labels, edges.meta)


def read(
    path: Any,
    *,
    format: str | None = None,
    dtype: Any = None,
    dup_op: str | None = None,
    weights: str | None = None,
    device: str | None = None,
    **options: Any,
) -> Matrix:
    """Read a graph as a Matrix.

    Parameters
    ----------
    path : str, os.PathLike or binary stream
        A ``.mtx``, edge-list, ``.gr`` or ``.npz`` file (gzip too), ``"-"`` for standard input,
        or a generator such as ``"kron:16"`` or ``"road:300x200"``.
    format : str, optional
        Found by content and suffix if None.
    dtype : optional
        Dtype of the entries; BOOL for a graph without weights.
    dup_op : str, optional
        Operator that merges repeated edges; the first one is kept if None.
    weights : {"random"}, optional
        Replace weights by random integers 1..64, the same in both directions.
    device : str, optional
        Place the matrix there.
    **options
        ``symmetrise``, ``drop_self_loops``, ``seed``, ``progress`` and the edge-list options of
        `semira.files.ReadOptions`.

    Returns
    -------
    Matrix, shape (n, n)
        Entry (i, j) is the edge from i to j.

    Raises
    ------
    FileFormatError
        The file does not follow its format; the message has file, line and reason.
    InvalidValue
        An option, a format or a generator is unknown.

    Examples
    --------
    >>> read("grid:2x3").nvals
    14
    """
    return read_graph(
        path, format=format, dtype=dtype, dup_op=dup_op, weights=weights, device=device, **options
    ).matrix


def write(path: Any, obj: Any, *, format: str | None = None, labels: Any = None) -> None:
    """Write a Matrix (``.mtx``, ``.npz``, ``.csv``) or a Vector (``.csv``, ``.npz``).

    Raises
    ------
    FileWriteError
        The file cannot be written; nothing is left behind.
    """
    if isinstance(obj, Vector):
        write_vector(path, reading.vector_arrays(obj, "write"), labels=labels, format=format)
    elif isinstance(obj, Matrix):
        write_edges(path, reading.matrix_arrays(obj, "write"), format=format)
    else:
        raise DomainMismatch(f"write takes a Matrix or a Vector, got {type(obj).__name__}")


def _check_engine(engine: str) -> None:
    if engine not in ("auto", "fmm", "scipy"):
        raise InvalidValue(f"Bad engine value: {engine!r}; choose auto, fmm or scipy")


def mmread(
    source: Any, engine: str = "auto", *, dup_op: Any = None, name: str | None = None
) -> Matrix:
    """Read a Matrix Market file.

    Parameters
    ----------
    source : path, binary stream or text stream
    engine : {"auto", "fmm", "scipy"}
        Kept for python-graphblas' signature: the reader is always ours.
    dup_op : operator or str, optional
        Folds repeated positions.

    Raises
    ------
    InvalidValue
        A position repeats and there is no `dup_op`.
    FileFormatError
        The file does not follow the format.
    """
    _check_engine(engine)
    if isinstance(source, TextIOBase):
        source = BytesIO(source.read().encode())
    edges = read_edges(source, format="mtx")
    matrix = from_edges(edges, dup_op=dup_op, name=name)
    if dup_op is None and matrix.nvals != edges.nnz:
        raise InvalidValue(
            f"Duplicate indices found ({edges.nnz - matrix.nvals} of {edges.nnz} entries repeat a "
            "position); give a `dup_op`, such as 'plus'"
        )
    return matrix


def mmwrite(target: Any, matrix: Matrix, engine: str = "auto") -> None:
    """Write a Matrix Market file; `engine` is kept for python-graphblas' signature."""
    _check_engine(engine)
    write(target, matrix, format="mtx")


def from_scipy_sparse(A: Any, *, dup_op: Any = None, name: str | None = None) -> Matrix:  # noqa: N803
    """Return the Matrix of a SciPy sparse array.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from_scipy_sparse(sp.csr_array([[0, 2], [1, 0]])).to_dicts()
    {0: {1: 2}, 1: {0: 1}}
    """
    coo = A.tocoo()
    return Matrix.from_coo(
        coo.row, coo.col, coo.data, nrows=A.shape[0], ncols=A.shape[1], dup_op=dup_op, name=name
    )


def to_scipy_sparse(A: Any, format: str = "csr") -> Any:  # noqa: N803
    """Return a SciPy sparse array (``csr_array`` unless `format` says otherwise).

    A Vector becomes a 1 x n array, with ``"csc"`` an n x 1 array.

    Raises
    ------
    InvalidValue
        SciPy has no such format.
    """
    from scipy.sparse import coo_array, csr_array

    if format not in _SCIPY_FORMATS:
        raise InvalidValue(f"Invalid format: {format!r}; choose one of {', '.join(_SCIPY_FORMATS)}")
    if A.kind == "vector":
        vector = reading.vector_arrays(A, "to_scipy_sparse")
        indices, values = vector.entry_indices(), vector.entry_values()
        row = coo_array((values, (np.zeros_like(indices), indices)), shape=(1, A.size))
        return (row.T if format == "csc" else row).asformat(format)
    arrays = reading.as_csr(reading.matrix_arrays(A, "to_scipy_sparse"))
    values = arrays.entry_values().copy()
    made = csr_array((values, arrays.indices.copy(), arrays.indptr.copy()), shape=A.shape)
    return made.asformat(format)


def from_numpy(values: Any, missing_value: Any = None) -> Any:
    """Return the Vector or Matrix of a dense array; `missing_value` marks missing entries."""
    array = np.asarray(values)
    return (Vector if array.ndim == 1 else Matrix).from_dense(array, missing_value)


def from_networkx(
    G: Any,  # noqa: N803 - python-graphblas' name
    nodelist: Any = None,
    dtype: Any = None,
    weight: str | None = "weight",
    name: str | None = None,
) -> Matrix:
    """Return the adjacency Matrix of a NetworkX graph; vertices in `nodelist` order."""
    import networkx as nx

    array = nx.to_scipy_sparse_array(G, nodelist=nodelist, weight=weight)
    made = from_scipy_sparse(array, name=name)
    return made if dtype is None else made.dup(dtype, name=name)


def to_networkx(m: Matrix, edge_attribute: str | None = "weight") -> Any:
    """Return a NetworkX DiGraph; values become the edge attribute."""
    import networkx as nx

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
    rows, cols = frame[source].to_numpy(), frame[target].to_numpy()
    if size is None:
        size = int(max(rows.max(), cols.max())) + 1 if len(rows) else 0
    values: Any = 1.0 if weight is None else frame[weight].to_numpy()
    op = "any" if weight is None and dup_op is None else dup_op
    return Matrix.from_coo(rows, cols, values, nrows=size, ncols=size, dup_op=op)


def to_pandas(m: Any) -> Any:
    """Return a DataFrame of the entries: ``row, col, value`` or ``index, value``."""
    import pandas as pd

    if m.kind == "vector":
        indices, values = m.to_coo()
        return pd.DataFrame({"index": indices, "value": values})
    rows, cols, values = m.to_coo()
    return pd.DataFrame({"row": rows, "col": cols, "value": values})


def arrays_of(matrix: Matrix) -> MatrixArrays:
    """Return the host arrays of a matrix by rows."""
    return reading.as_csr(reading.matrix_arrays(matrix, "arrays_of"))
