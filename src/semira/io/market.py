"""Matrix Market files under python-graphblas' names."""

from __future__ import annotations

from dataclasses import replace
from io import BytesIO, TextIOBase
from typing import Any

import numpy as np

from semira.base.errors import DomainMismatch, InvalidValue
from semira.files import as_edges, read_edges
from semira.files.mtx import write_mtx
from semira.files.output import open_output
from semira.formats import EdgeList
from semira.frontend import reading
from semira.frontend.objects import Matrix
from semira.io.edges import from_edges
from semira.io.givens import check_place

_ENGINES = ("auto", "fmm", "fast_matrix_market", "scipy")

#: What the engines of python-graphblas accept and no result depends on.
_WITHOUT_EFFECT = ("parallelism", "spmatrix")

#: The kinds of NumPy dtypes whose values each field holds, and the dtype to write.
_FIELDS: dict[str, tuple[str, str]] = {
    "integer": ("biu", "int64"),
    "unsigned-integer": ("biu", "uint64"),
    "real": ("biuf", "float64"),
    "complex": ("biufc", "complex128"),
}
_SYMMETRIES = ("general", "symmetric")


def _check_engine(engine: str, options: dict[str, Any]) -> None:
    if engine not in _ENGINES:
        raise InvalidValue(f"Bad engine value: {engine!r}; choose one of {', '.join(_ENGINES)}")
    for name in options:
        if name not in _WITHOUT_EFFECT:
            raise InvalidValue(f"unknown option {name!r}; options: {', '.join(_WITHOUT_EFFECT)}")


def mmread(
    source: Any, engine: str = "auto", *, dup_op: Any = None, name: str | None = None, **kwargs: Any
) -> Matrix:
    """Read a Matrix Market file.

    Parameters
    ----------
    source : path, binary stream or text stream
    engine : {"auto", "fmm", "fast_matrix_market", "scipy"}
        Kept for python-graphblas' signature: the reader is always ours.
    dup_op : operator or str, optional
        Folds repeated positions.
    name : str, optional
    **kwargs
        ``parallelism`` and ``spmatrix`` of those engines; without effect.

    Raises
    ------
    InvalidValue
        A position repeats and there is no `dup_op`; an engine or option is unknown.
    FileFormatError
        The file does not follow the format.
    DomainMismatch
        `source` is neither a path nor a stream.
    """
    _check_engine(engine, kwargs)
    check_place(source, "mmread", "a path or a stream")
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


def mmwrite(
    target: Any,
    matrix: Any,
    engine: str = "auto",
    *,
    comment: str = "",
    field: str | None = None,
    precision: int | None = None,
    symmetry: str | None = None,
    **kwargs: Any,
) -> None:
    """Write a Matrix Market file of coordinates.

    Parameters
    ----------
    target : path or binary stream
    matrix : Matrix or TransposedMatrix
    engine : {"auto", "fmm", "fast_matrix_market", "scipy"}
        Kept for python-graphblas' signature: the writer is always ours.
    comment : str
        Text below the first line of the file.
    field : "real", "integer", "unsigned-integer", "complex" or "pattern", optional
        Of the values; found by the dtype if None. ``"pattern"`` leaves the values out.
    precision : int, optional
        Significant digits of floats; as many as reading them back exactly takes if None.
    symmetry : "general" or "symmetric", optional
        ``"symmetric"`` writes the lower triangle of a matrix that equals its transpose. If
        None that is done where the matrix is known to be symmetric.
    **kwargs
        ``parallelism`` and ``spmatrix`` of those engines; without effect.

    Raises
    ------
    InvalidValue
        An option is unknown, the values do not fit the field, or the matrix is not symmetric
        although `symmetry` says so.
    FileWriteError
        The file cannot be written; nothing is left behind.

    Examples
    --------
    >>> from io import BytesIO
    >>> stream = BytesIO()
    >>> mmwrite(stream, Matrix.from_coo([0, 1], [1, 0], [2, 2]), comment="a", symmetry="symmetric")
    >>> print(stream.getvalue().decode().strip())
    %%MatrixMarket matrix coordinate integer symmetric
    %a
    2 2 1
    2 1 2
    """
    _check_engine(engine, kwargs)
    if getattr(matrix, "kind", None) != "matrix":
        raise DomainMismatch(f"mmwrite takes a Matrix, got {type(matrix).__name__}")
    if precision is not None and precision < 1:
        raise InvalidValue(f"precision={precision} must be at least 1")
    edges = as_edges(reading.matrix_arrays(matrix, "mmwrite"))
    edges = _in_symmetry(_in_field(edges, field), matrix, symmetry)
    with open_output(target) as stream:
        write_mtx(stream, edges, comment=comment, precision=precision)


def _in_field(edges: EdgeList, field: str | None) -> EdgeList:
    if field is None:
        return edges
    if field == "pattern":
        return replace(edges, values=None)
    if field not in _FIELDS:
        choices = ", ".join((*_FIELDS, "pattern"))
        raise InvalidValue(f"field={field!r}; choose one of {choices}")
    kinds, dtype = _FIELDS[field]
    values = np.ones(edges.nnz, np.int64) if edges.values is None else edges.values
    if values.dtype.kind not in kinds or not _holds(dtype, values):
        raise InvalidValue(
            f"values of dtype {values.dtype} do not fit the field {field!r}; cast the matrix "
            "first, or leave `field` out"
        )
    return replace(edges, values=values.astype(dtype))


def _holds(dtype: str, values: Any) -> bool:
    """Whether casting to `dtype` keeps every value: the sign, and the last digit too."""
    cast = values.astype(dtype)
    if values.dtype.kind in "fc":
        return bool(np.array_equal(cast, values, equal_nan=True))
    return np.array_equal(cast, values) and np.array_equal(cast.astype(values.dtype), values)


def _in_symmetry(edges: EdgeList, matrix: Any, symmetry: str | None) -> EdgeList:
    if symmetry is None:
        return edges
    if symmetry not in _SYMMETRIES:
        raise InvalidValue(f"symmetry={symmetry!r}; choose one of {', '.join(_SYMMETRIES)}")
    if symmetry == "symmetric" and not (edges.symmetric or _is_symmetric(edges)):
        raise InvalidValue(
            f"{matrix.name} is not symmetric: one triangle does not hold it; use symmetry='general'"
        )
    return replace(edges, symmetric=symmetry == "symmetric")


def _is_symmetric(edges: EdgeList) -> bool:
    """Whether the list of distinct positions equals its mirror image."""
    if edges.nrows != edges.ncols:
        return False
    by_row = np.lexsort((edges.cols, edges.rows))
    by_col = np.lexsort((edges.rows, edges.cols))
    if not np.array_equal(edges.rows[by_row], edges.cols[by_col]):
        return False
    if not np.array_equal(edges.cols[by_row], edges.rows[by_col]):
        return False
    return edges.values is None or np.array_equal(edges.values[by_row], edges.values[by_col])
