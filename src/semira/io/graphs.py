"""Graphs from files and generators, and Matrix Market files."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from semira.base.errors import DimensionMismatch, DomainMismatch, InvalidValue, MissingFile
from semira.datasets import fetch, info
from semira.files import ReadOptions, as_edges, read_edges, show_note, write_edges, write_vector
from semira.files.clean import clean
from semira.files.delimited import write_rows
from semira.files.output import open_output, target_name
from semira.formats import EdgeList, MatrixArrays
from semira.frontend import reading
from semira.frontend.checks import expect
from semira.frontend.objects import Matrix, Vector
from semira.io.edges import folding_facts, from_edges
from semira.io.givens import check_place
from semira.io.labelled import Graph

#: What `read` takes.
_PLACES = "a path, a binary stream or a generator such as 'kron:16'"


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
    r"""Read a file or make a generated graph; like `read`, but keep names and facts.

    Parameters and errors are those of `read`, `device` included.

    Returns
    -------
    Graph
        ``labels`` are the names of the vertices, None where the file numbers them. ``meta`` says
        how the file was read:

        - ``name``, ``file``, ``format``, ``directed`` and, for text formats, ``comments``;
        - ``repeated_edges``, the number of entries that were folded into others, and ``dup_op``,
          the operator that folded them (None where there are no weights);
        - ``dropped_self_loops``, if they were to be dropped;
        - for edge lists ``ids``, ``header``, ``delimiter``, ``unnamed_vertices``,
          ``dropped_missing``, ``replaced_missing``, ``possible_header`` and ``guesses``, see
          `semira.files.edgelist.read_edgelist`.

    Notes
    -----
    On a terminal one line on standard error says what was guessed and what was lost, unless
    ``progress=False``. The same line goes to the log ``semira`` at level INFO.

    Examples
    --------
    >>> import io
    >>> graph = read_graph(io.BytesIO(b"user,friend\n1001,1002\n1001,1002\n"))
    >>> graph.labels.tolist(), graph.meta["header"], graph.meta["repeated_edges"]
    ([1001, 1002], ['user', 'friend'], 1)
    """
    if weights not in (None, "random"):
        raise InvalidValue(f"weights={weights!r}; choose 'random' or leave it out")
    if weights == "random":
        options["random_weights"] = True
    edges = edges_of(path, format=format, **options)
    matrix = from_edges(edges, dtype=dtype, dup_op=dup_op, name=edges.meta.get("name"))
    meta = edges.meta | folding_facts(edges, matrix, dup_op)
    show_note(meta, is_enabled=options.get("progress", True))
    if device is not None:
        matrix._value.place(device)
    return Graph._made(matrix, edges.labels, meta)


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
        Operator that merges repeated edges. If None the first one is kept, in a shortest-path
        file (``.gr``) the least. Without weights repeats collapse.
    weights : "random", optional
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
    """Write a Matrix, a Graph, a Vector, or what an algorithm returned.

    Parameters
    ----------
    path : str, os.PathLike or binary stream
    obj : Matrix, Graph, Vector, dict of str to Vector, or a result of `semira.algorithms`
        A Matrix and a Graph go to ``.mtx``, ``.npz`` and ``.csv``, vectors to ``.csv`` and
        ``.npz``. Vectors in a dict have entries at the same positions and get a column each. A
        result is written as a table of its vectors (csv begins with a column ``vertex`` of names),
        or as a graph if it is a square matrix.
    format : str, optional
        Overrides the suffix.
    labels : ndarray, shape (n,), optional
        Name of each position; for a square matrix, of each row and column. A Graph and a
        result have their own. ``.mtx`` and ``.gr`` have no place for them.

    Raises
    ------
    InvalidValue
        The format is unknown or does not hold the object, the result is one number, or `labels`
        are given beside an object that has its own.
    FileWriteError
        The file cannot be written; nothing is left behind.
    DomainMismatch
        `obj` is none of these, or `path` is neither a path nor a stream.
    """
    is_result = hasattr(obj, "to_columns")
    if labels is not None and (is_result or isinstance(obj, Graph)):
        raise InvalidValue(
            f"labels= beside a {type(obj).__name__}, which has the names of its graph; call the "
            "algorithm with a gb.io.Graph, or leave them out"
        )
    if is_result:
        _write_result(path, obj, format)
        return
    if isinstance(obj, Graph):
        obj, labels = obj.matrix, obj.labels
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
        raise DomainMismatch(
            f"write takes a Matrix, a Graph, a Vector or a result, got {type(obj).__name__}"
        )


def _write_result(path: Any, result: Any, format: str | None) -> None:
    """Write what an algorithm returned; a square matrix is a graph again."""
    fields = result.fields()
    labels = None if result.graph is None else result.graph.labels
    main = next(iter(fields.values()))
    if result.is_graph:
        write(path, main, format=format, labels=labels)
        return
    suffix = target_name(path).removesuffix(".gz").rsplit(".", 1)[-1].lower()
    if (suffix if format is None else format) != "csv":
        is_matrix = isinstance(main, Matrix)
        write(
            path, main if is_matrix else fields, format=format, labels=None if is_matrix else labels
        )
        return
    columns = result.to_columns()
    with open_output(path) as stream:
        write_rows(stream, tuple(columns), list(columns.values()))


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
    >>> from semira.methods.ell.arrays import EllArrays
    >>> A = Matrix.from_coo([0, 0, 2], [1, 2, 0], [1.0, 2.0, 3.0], nrows=3, ncols=3)
    >>> EllArrays.from_matrix(arrays_of(A)).indices.reshape(2, 3).tolist()
    [[1, -1, 0], [2, -1, -1]]
    """
    expect(matrix, ("matrix",), "matrix", "arrays_of")
    return reading.oriented(reading.matrix_arrays(matrix, "arrays_of"), "csr")
