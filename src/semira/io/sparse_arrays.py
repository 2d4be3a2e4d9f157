"""Sparse arrays of SciPy and PyData Sparse."""

from __future__ import annotations

from typing import Any

import numpy as np

from semira.base.errors import DimensionMismatch, DomainMismatch, InvalidValue
from semira.base.memory import tells_shortage
from semira.base.optional import need
from semira.frontend import reading
from semira.frontend.objects import Matrix, Vector
from semira.io.givens import check_object, not_taken

_PYDATA_FORMATS = ("coo", "dok", "gcxs")
_SCIPY_FORMATS = ("bsr", "coo", "csc", "csr", "dia", "dok", "lil")


@tells_shortage("io.from_scipy_sparse")
def from_scipy_sparse(A: Any, *, dup_op: Any = None, name: str | None = None) -> Matrix:  # noqa: N803
    """Return the Matrix of a SciPy sparse array, or of a sparse matrix.

    Raises
    ------
    DimensionMismatch
        It has not two dimensions.
    DomainMismatch
        `A` is no sparse array of SciPy.
    InvalidValue
        Its indices lie outside of its shape.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from_scipy_sparse(sp.csr_array([[0, 2], [1, 0]])).to_dicts()
    {0: {1: 2}, 1: {0: 1}}
    """
    if not hasattr(A, "tocoo"):
        raise not_taken(A, "from_scipy_sparse", "a sparse array of SciPy")
    try:
        coo = _without_slack(A).tocoo()
    except ValueError as error:
        raise InvalidValue(f"from_scipy_sparse: the array is broken: {error}") from error
    if len(A.shape) == 1:
        raise DimensionMismatch(
            f"from_scipy_sparse makes a Matrix of two dimensions, got shape {A.shape}; for a "
            "Vector write `a = A.tocoo()` and "
            "`gb.Vector.from_coo(*a.coords, a.data, size=a.shape[0])`"
        )
    if len(A.shape) != 2:
        raise DimensionMismatch(
            f"from_scipy_sparse makes a Matrix of two dimensions, got shape {A.shape}; reshape it"
        )
    return Matrix.from_coo(
        coo.row, coo.col, coo.data, nrows=A.shape[0], ncols=A.shape[1], dup_op=dup_op, name=name
    )


def _without_slack(A: Any) -> Any:  # noqa: N803
    """Return a sparse array of SciPy without what its arrays hold beyond the last offset.

    SciPy allows that and does not always stop there in conversions; nor does it look at offsets
    that decrease, with which it writes outside of its arrays. Raises ValueError if offsets are
    none.
    """
    if getattr(A, "format", None) not in ("bsr", "csc", "csr"):
        return A
    if A.indptr[0] != 0 or bool(np.any(A.indptr[1:] < A.indptr[:-1])):
        raise ValueError("indptr must start at 0 and not decrease")
    end = int(A.indptr[-1])
    if end == len(A.indices) == len(A.data):
        return A
    return type(A)((A.data[:end], A.indices[:end], A.indptr), shape=A.shape)


@tells_shortage("io.to_scipy_sparse")
def to_scipy_sparse(A: Any, format: str = "csr") -> Any:  # noqa: N803
    """Return a SciPy sparse array (``csr_array`` unless `format` says otherwise).

    A Vector becomes a 1 x n array, with ``"csc"`` an n x 1 array.

    Raises
    ------
    InvalidValue
        SciPy has no such format.
    OutOfMemory
        The matrix has 2**31 rows or more, and the format is not ``"coo"``.
    DomainMismatch
        `A` is neither a Matrix nor a Vector, or its dtype is user-defined: SciPy computes with
        numbers.
    """
    check_object(A, "to_scipy_sparse")
    if A.dtype.kind == "V":
        raise DomainMismatch(
            f"SciPy's sparse arrays hold numbers, not {A.dtype}; take a field with an operator "
            "made with is_udt=True"
        )
    from scipy.sparse import coo_array, csr_array

    if format not in _SCIPY_FORMATS:
        raise InvalidValue(f"Invalid format: {format!r}; choose one of {', '.join(_SCIPY_FORMATS)}")
    if A.kind == "vector":
        vector = reading.vector_arrays(A, "to_scipy_sparse")
        indices, values = vector.entry_indices().copy(), vector.entry_values().copy()
        row = coo_array((values, (np.zeros_like(indices), indices)), shape=(1, A.size))
        return (row.T if format == "csc" else row).asformat(format)
    arrays = reading.matrix_arrays(A, "to_scipy_sparse")
    if format == "coo":
        # Without offsets of the rows, of which there may be very many.
        rows, cols, values = (part.copy() for part in reading.sorted_coo(arrays))
        return coo_array((values, (rows, cols)), shape=A.shape)
    arrays = reading.oriented(arrays, "csr")
    values = arrays.entry_values().copy()
    made = csr_array(
        (values, arrays.indices.copy(), arrays.ordinary().indptr.copy()), shape=A.shape
    )
    return made.asformat(format)


@tells_shortage("io.from_pydata_sparse")
def from_pydata_sparse(s: Any, *, dup_op: Any = None, name: str | None = None) -> Any:
    """Return the Vector or Matrix of a ``sparse.SparseArray``.

    Parameters
    ----------
    s : sparse.SparseArray
        Of one or two dimensions, in any format. Positions without a stored element have no
        entry, whatever ``s.fill_value`` is.
    dup_op : operator or str, optional
        Folds repeated positions.
    name : str, optional

    Raises
    ------
    DomainMismatch
        `s` is no sparse array, or has more dimensions.
    MissingLibrary
        The library ``sparse`` is not installed.
    """
    sparse = need("sparse", "from_pydata_sparse", "sparse")
    if not isinstance(s, sparse.SparseArray):
        raise DomainMismatch(
            f"expected a SparseArray of PyData Sparse (sparse.pydata.org), got {type(s).__name__}"
        )
    if s.ndim not in (1, 2):
        raise DomainMismatch(f"an array of {s.ndim} dimensions is neither a Vector nor a Matrix")
    coo = s.asformat("coo")
    if s.ndim == 1:
        return Vector.from_coo(coo.coords[0], coo.data, size=s.shape[0], dup_op=dup_op, name=name)
    rows, cols = coo.coords
    nrows, ncols = s.shape
    return Matrix.from_coo(rows, cols, coo.data, nrows=nrows, ncols=ncols, dup_op=dup_op, name=name)


@tells_shortage("io.to_pydata_sparse")
def to_pydata_sparse(A: Any, format: str = "coo") -> Any:  # noqa: N803 - upstream's name
    """Return a ``sparse.COO`` array, or one in another `format`.

    Parameters
    ----------
    A : Matrix, TransposedMatrix or Vector
    format : {"coo", "dok", "gcxs"}

    Raises
    ------
    InvalidValue
        There is no such format.
    DomainMismatch
        `A` is neither a Matrix nor a Vector.
    MissingLibrary
        The library ``sparse`` is not installed.
    """
    check_object(A, "to_pydata_sparse")
    if format not in _PYDATA_FORMATS:
        choices = ", ".join(_PYDATA_FORMATS)
        raise InvalidValue(f"Invalid format: {format!r}; choose one of {choices}")
    sparse = need("sparse", "to_pydata_sparse", "sparse")
    *indices, values = A.to_coo()
    made = sparse.COO(np.array(indices), values, shape=A.shape, has_duplicates=False)
    return made if format == "coo" else made.asformat(format)
