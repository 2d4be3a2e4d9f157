"""Graphs from files and generators, and Matrix Market files."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from semira.base.dtypes import lookup_dtype
from semira.base.errors import DimensionMismatch, DomainMismatch, InvalidValue, MissingFile
from semira.datasets import fetch, info
from semira.engine.values import Value
from semira.files import ReadOptions, as_edges, read_edges, write_edges, write_vector
from semira.files.clean import clean
from semira.formats import EdgeList, MatrixArrays
from semira.frontend import construct, reading
from semira.frontend.checks import expect
from semira.frontend.fits import as_fitting
from semira.frontend.matrix import Matrix
from semira.frontend.vector import Vector
from semira.io.givens import check_place

#: What `read` takes.
_PLACES = "a path, a binary stream or a generator such as 'kron:16'"


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
        That of the values; BOOL for a pattern. Values must fit into it, fractions included.
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
        values = edges.values
        if dtype is not None:
            values = as_fitting(values, lookup_dtype(dtype), exact=True)
        arrays = construct.matrix_from_coo(
            edges.rows, edges.cols, values, dtype, edges.nrows, edges.ncols, op
        )
    unmerged = arrays.nvals == edges.nnz
    if edges.symmetric and (unmerged or _folds_symmetrically(edges, op)):
        arrays = replace(arrays, symmetric=True)
    return Matrix._wrap(Value.of(arrays), name)  # type: ignore[no-any-return]


def edges_of(path: Any, *, format: str | None = None, **options: Any) -> EdgeList:
    """Return the edges of a file or of a generated graph.

    Parameters and errors are those of `semira.files.read_edges` and
    `semira.generators.generate`; options of text files are refused for generators.
    """
    from semira.generators import generate, is_generator_spec, nearest_generator

    check_place(path, "read", _PLACES)
    if isinstance(path, str) and is_generator_spec(path):
        chosen = ReadOptions().changed(options)
        unused = [*(["format"] if format is not None else []), *chosen.text_options_set()]
        if unused:
            raise InvalidValue(f"{path}: {', '.join(unused)}: a generator has no such option")
        return clean(generate(path), chosen)
    try:
        return read_edges(path, format=format, **options)
    except MissingFile:
        meant = nearest_generator(str(path))
        if meant is None:
            raise
        raise MissingFile(
            f"{path}: no such file, and {meant}; semira generate --list shows them all"
        ) from None


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

    Parameters and errors are those of `read`, `device` included.
    """
    if weights not in (None, "random"):
        raise InvalidValue(f"weights={weights!r}; choose 'random' or leave it out")
    if weights == "random":
        options["random_weights"] = True
    edges = edges_of(path, format=format, **options)
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
        Dtype of the entries; BOOL for a graph without weights. Weights must fit into it, fractions
        included.
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
        An option, a format or a generator is unknown, or a weight does not fit into `dtype`.
    DomainMismatch
        `path` is neither a path nor a stream, but a graph of another library, say.

    Examples
    --------
    >>> read("grid:2x3").nvals
    14
    """
    return read_graph(
        path, format=format, dtype=dtype, dup_op=dup_op, weights=weights, device=device, **options
    ).matrix


def load_dataset(name: str, *, progress: bool = True, **options: Any) -> Matrix:
    """Return the Matrix of a named graph, downloading it the first time.

    Parameters
    ----------
    name : str
        Such as ``"karate"`` or ``"SNAP/web-Google"``, see `semira.datasets.names`.
    progress : bool
        Show bars (on a terminal) for what takes long.
    **options
        Those of `read`, such as ``dtype`` or ``device``.

    Raises
    ------
    As `semira.datasets.fetch` and `read`.
    """
    found = info(name)
    path = fetch(name, progress=progress)
    return read(path, progress=progress, **(found.options | options))


def write(path: Any, obj: Any, *, format: str | None = None, labels: Any = None) -> None:
    """Write a Matrix (``.mtx``, ``.npz``, ``.csv``) or a Vector (``.csv``, ``.npz``).

    Parameters
    ----------
    path : str, os.PathLike or binary stream
    obj : Matrix, Vector or dict of str to Vector
        Vectors in a dict have entries at the same positions and get a column each.
    format : str, optional
        Overrides the suffix.
    labels : ndarray, shape (n,), optional
        Name of each position, of a square matrix that of each row and column.

    Raises
    ------
    InvalidValue
        The format is unknown or does not hold the object.
    FileWriteError
        The file cannot be written; nothing is left behind.
    DomainMismatch
        `obj` is none of these, or `path` is neither a path nor a stream.
    """
    if isinstance(obj, Vector):
        obj = {"value": obj}
    if isinstance(obj, dict):
        for column, each in obj.items():
            if getattr(each, "kind", None) != "vector":
                raise DomainMismatch(
                    f"write takes a dict of Vectors, got {type(each).__name__} as {column!r}"
                )
        vectors = {name: reading.vector_arrays(each, "write") for name, each in obj.items()}
        write_vector(path, vectors, labels=labels, format=format)
    elif isinstance(obj, Matrix):
        edges = as_edges(reading.matrix_arrays(obj, "write"))
        write_edges(path, replace(edges, labels=_checked(labels, edges)), format=format)
    else:
        raise DomainMismatch(f"write takes a Matrix or a Vector, got {type(obj).__name__}")


def _checked(labels: Any, edges: EdgeList) -> Any:
    if labels is not None and not len(labels) == edges.nrows == edges.ncols:
        raise DimensionMismatch(
            f"{len(labels)} labels for a matrix of shape {edges.nrows} x {edges.ncols}"
        )
    return labels


def arrays_of(matrix: Matrix) -> MatrixArrays:
    """Return the arrays of a matrix on the host, by rows: what `semira.formats` makes others of.

    Parameters
    ----------
    matrix : Matrix, shape (n, m), any dtype
        Or its transpose, ``A.T``.

    Returns
    -------
    MatrixArrays
        ``indptr`` and ``indices``, INT32 while they fit, ``values`` of the matrix' dtype: one for
        all where ``iso``. They may be those of the matrix: do not write to them.

    Raises
    ------
    DomainMismatch
        `matrix` is no Matrix.

    Notes
    -----
    Nothing is copied where the matrix lies on the host by rows; else O(n + nvals). From a GPU it
    waits.

    Examples
    --------
    >>> from semira.formats import EllArrays
    >>> A = Matrix.from_coo([0, 0, 2], [1, 2, 0], [1.0, 2.0, 3.0], nrows=3, ncols=3)
    >>> EllArrays.from_matrix(arrays_of(A)).indices.reshape(2, 3).tolist()
    [[1, -1, 0], [2, -1, -1]]
    """
    expect(matrix, ("matrix",), "matrix", "arrays_of")
    return reading.as_csr(reading.matrix_arrays(matrix, "arrays_of"))
