"""Matrices and their transposes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

import numpy as np

from semira.base.dtypes import FP64, DataType, lookup_dtype
from semira.base.errors import InvalidValue, OutputNotEmpty
from semira.engine.values import Value
from semira.formats import MatrixArrays
from semira.frontend import construct, products, reading
from semira.frontend.expr import Expression, Template, expression
from semira.frontend.infix import Operand
from semira.frontend.kinds import EXPRESSIONS, OBJECTS
from semira.frontend.objects import Collection
from semira.frontend.operators import as_monoid
from semira.frontend.updater import Updater, extract_expression
from semira.ops.meaning import cast_array

_numbers = count()


class MatrixOperand(Operand):
    """What a Matrix, a TransposedMatrix and a MatrixExpression can all do."""

    __slots__ = ()

    kind = "matrix"
    ndim = 2

    @property
    def nrows(self) -> int:
        """Number of rows."""
        return self.shape[0]

    @property
    def ncols(self) -> int:
        """Number of columns."""
        return self.shape[1]

    @property
    def nvals(self) -> Any:
        """Number of entries: an int (synchronises), or a symbolic Scalar while recording."""
        return reading.count_entries(self)

    @property
    def T(self) -> Any:  # noqa: N802 - GraphBLAS' name
        """The transpose, without copying."""
        return TransposedMatrix(self)

    def mxm(self, other: Any, op: Any = "plus_times") -> Any:
        """Return ``C = A (+).(*) B``.

        Parameters
        ----------
        other : Matrix, shape (ncols, k)
        op : Semiring or str

        Returns
        -------
        MatrixExpression, shape (nrows, k)

        Raises
        ------
        DimensionMismatch
            Inner dimensions differ.
        """
        return products.mxm(self, other, op)

    def mxv(self, other: Any, op: Any = "plus_times") -> Any:
        """Return ``w = A (+).(*) u``: w_i is the sum over j of A_ij (*) u_j.

        Parameters
        ----------
        other : Vector, shape (ncols,)
        op : Semiring or str

        Returns
        -------
        VectorExpression, shape (nrows,)

        Raises
        ------
        DimensionMismatch
            ``other.size`` is not ``ncols``.
        """
        return products.mxv(self, other, op)

    def reduce_rowwise(self, op: Any = "plus") -> Any:
        """Return the vector of the monoid over each row; rows without entries stay empty."""
        return _reduce(self, op)

    def reduce_columnwise(self, op: Any = "plus") -> Any:
        """Return the vector of the monoid over each column."""
        return _reduce(self.T, op)

    def reduce_scalar(self, op: Any = "plus", *, allow_empty: bool = True) -> Any:
        """Return the monoid over all entries; see `Vector.reduce`."""
        monoid = as_monoid(op, self.dtype)
        params = () if allow_empty else (("identity", True),)
        return expression(
            Template("reduce", (self,), "scalar", monoid.type, (), (), monoid, params=params)
        )

    def first_per_row(self, k: int) -> Any:
        """Return the first `k` entries of each row, in column order.

        Sampling a few neighbours of every vertex this way costs O(nrows * k).

        Raises
        ------
        InvalidValue
            `k` is negative.
        """
        if k < 0:
            raise InvalidValue(f"k={k} must not be negative")
        source = self if not self._is_transposed else self.new()  # type: ignore[attr-defined]
        return expression(
            Template(
                "select_k", (source,), "matrix", self.dtype, self.shape, ((0, 0), (0, 1)),
                params=(("k", int(k)),),
            )
        )  # fmt: skip

    def diag(self, k: int = 0, dtype: Any = None, *, name: str | None = None, **opts: Any) -> Any:
        """Return the k-th diagonal as a Vector."""
        rows, cols = self.shape
        length = max(0, min(rows - max(-k, 0), cols - max(k, 0)))
        return expression(
            Template(
                "diag", (self,), "vector", self.dtype, (length,), (length,),
                params=(("k", int(k)),),
            )
        ).new(dtype, name=name, **opts)  # fmt: skip

    def get(self, row: Any, col: Any, default: Any = None) -> Any:
        """Return the value at (row, col), or `default` without an entry there."""
        i = reading.check_position(row, self.nrows, "row")
        j = reading.check_position(col, self.ncols, "column")
        value = self[i, j].value
        return default if value is None else value

    def __getitem__(self, keys: Any) -> Any:
        return extract_expression(self, keys, "scalar")

    def __contains__(self, index: Any) -> bool:
        row, col = index
        return self.get(row, col) is not None

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        rows, cols, _ = self.to_coo(values=False)
        return zip(rows, cols, strict=True)

    def to_coo(
        self,
        dtype: Any = None,
        *,
        rows: bool = True,
        columns: bool = True,
        values: bool = True,
        sort: bool = True,
    ) -> tuple[Any, Any, Any]:
        """Return (rows, columns, values) as NumPy arrays; a part not wanted is None.

        Indices are uint64, sorted by row, then column.
        """
        del sort
        i, j, x = reading.sorted_coo(reading.matrix_arrays(self, "to_coo"))
        return (
            i.astype(np.uint64) if rows else None,
            j.astype(np.uint64) if columns else None,
            reading.cast_values(x, dtype) if values else None,
        )

    def _compressed(self, dtype: Any) -> tuple[Any, Any, Any]:
        arrays = reading.as_csr(reading.matrix_arrays(self, "export"))
        values = reading.cast_values(arrays.entry_values(), dtype)
        return arrays.indptr.astype(np.uint64), arrays.indices.astype(np.uint64), values

    def to_csr(self, dtype: Any = None, *, sort: bool = True) -> tuple[Any, Any, Any]:
        """Return (indptr, column indices, values)."""
        del sort
        return self._compressed(dtype)

    def to_csc(self, dtype: Any = None, *, sort: bool = True) -> tuple[Any, Any, Any]:
        """Return (indptr, row indices, values)."""
        del sort
        return self.T._compressed(dtype)  # type: ignore[no-any-return]

    def to_edgelist(self, dtype: Any = None, *, values: bool = True, sort: bool = True) -> Any:
        """Return (edges of shape (nvals, 2), values)."""
        rows, cols, stored = self.to_coo(dtype, values=values, sort=sort)
        return np.column_stack((rows, cols)), stored

    def to_dense(self, fill_value: Any = None, dtype: Any = None, **opts: Any) -> Any:
        """Return a 2-D NumPy array, missing entries replaced by `fill_value`.

        Raises
        ------
        TypeError
            Entries are missing and there is no `fill_value`.
        """
        del opts
        rows, cols, values = reading.matrix_arrays(self, "to_dense").to_coo()
        complete = len(rows) == self.nrows * self.ncols
        dense = reading.empty_dense(self, fill_value, dtype, complete=complete)
        dense[rows, cols] = cast_array(values, dense.dtype)
        return dense

    def to_dicts(self, order: str = "rowwise") -> dict[int, dict[int, Any]]:
        """Return ``{row: {column: value}}`` (``{column: {row: value}}`` if columnwise)."""
        if order not in ("rowwise", "columnwise"):
            raise InvalidValue(f"order={order!r}; choose rowwise or columnwise")
        source = self if order == "rowwise" else self.T
        nested: dict[int, dict[int, Any]] = {}
        rows, cols, values = source.to_coo()
        for i, j, value in zip(rows.tolist(), cols.tolist(), values.tolist(), strict=True):
            nested.setdefault(i, {})[j] = value
        return nested

    def isequal(self, other: Any, *, check_dtype: bool = False, **opts: Any) -> bool:
        """Whether both have the same shape, entries and values."""
        del opts
        return reading.equal(self, other, check_dtype=check_dtype)

    def isclose(
        self,
        other: Any,
        *,
        rel_tol: float = 1e-7,
        abs_tol: float = 0.0,
        check_dtype: bool = False,
        **opts: Any,
    ) -> bool:
        """Whether both have the same entries and close values."""
        del opts
        return reading.equal(self, other, check_dtype=check_dtype, rel_tol=rel_tol, abs_tol=abs_tol)

    def __repr__(self) -> str:
        from semira.frontend.display import matrix_text

        return matrix_text(self)


def _reduce(matrix: Any, op: Any) -> Any:
    monoid = as_monoid(op, matrix.dtype)
    axis = 1 if matrix._is_transposed else 0
    return expression(
        Template(
            "reduce_rows",
            (matrix,),
            "vector",
            monoid.type,
            (matrix.shape[0],),
            ((0, axis),),
            monoid,
        )
    )


class TransposedMatrix(MatrixOperand):
    """A read-only view of a matrix as its transpose."""

    __slots__ = ("_matrix",)

    _is_transposed = True

    def __init__(self, matrix: Any) -> None:
        self._matrix = matrix

    @property
    def dtype(self) -> DataType:
        """Dtype of the entries."""
        return self._matrix.dtype  # type: ignore[no-any-return]

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the transpose."""
        return self._matrix.shape[::-1]  # type: ignore[no-any-return]

    @property
    def name(self) -> str:
        """Such as ``M_0.T``."""
        return f"{getattr(self._matrix, 'name', 'expression')}.T"

    @property
    def T(self) -> Any:  # noqa: N802 - GraphBLAS' name
        """The matrix itself."""
        return self._matrix

    @property
    def _value(self) -> Value:
        return self._matrix._operand()[0]  # type: ignore[no-any-return]

    def _operand(self) -> tuple[Value, bool]:
        return self._value, True

    def new(self, dtype: Any = None, *, mask: Any = None, name: str | None = None) -> Any:
        """Return the transpose as a Matrix of its own."""
        template = Template("copy", (self,), "matrix", self.dtype, self.shape, ((0, 1), (0, 0)))
        return MatrixExpression(template).new(dtype, mask=mask, name=name)

    dup = new


class Matrix(MatrixOperand, Collection):
    """A sparse matrix; as a graph, entry (i, j) is the edge from i to j.

    Parameters
    ----------
    dtype : DataType, str or type
        Default FP64.
    nrows, ncols : int
    name : str, optional

    Examples
    --------
    >>> A = Matrix.from_coo([0, 0, 1], [1, 2, 2], [1, 2, 3], nrows=3, ncols=3)
    >>> A.nvals, A.reduce_rowwise().new().to_dict()
    (3, {0: 3, 1: 3})
    """

    __slots__ = ()

    def __init__(
        self, dtype: Any = FP64, nrows: Any = 0, ncols: Any = 0, *, name: str | None = None
    ) -> None:
        shape = (construct.check_size(nrows, "nrows"), construct.check_size(ncols, "ncols"))
        self._value = Value("matrix", lookup_dtype(dtype), shape)
        self.name = name or self._next_name()

    @classmethod
    def _next_name(cls) -> str:
        return f"M_{next(_numbers)}"

    @classmethod
    def _of(cls, arrays: MatrixArrays, name: str | None = None) -> Matrix:
        return cls._wrap(Value.of(arrays), name)  # type: ignore[no-any-return]

    @classmethod
    def from_coo(
        cls,
        rows: Any,
        columns: Any,
        values: Any = 1.0,
        dtype: Any = None,
        *,
        nrows: Any = None,
        ncols: Any = None,
        dup_op: Any = None,
        name: str | None = None,
    ) -> Matrix:
        """Return the matrix with `values` at (rows, columns).

        Parameters
        ----------
        rows, columns : arrays of integers, shape (nvals,)
            In any order.
        values : array, shape (nvals,), or scalar
            A scalar makes an iso matrix: one value is stored.
        dtype : optional
            That of `values` if None.
        nrows, ncols : int, optional
            Largest index + 1 if None.
        dup_op : binary operator, monoid or str, optional
            Folds the values of a repeated position.

        Raises
        ------
        IndexOutOfBound
            An index lies outside the shape.
        InvalidValue
            A position repeats and there is no `dup_op`.
        """
        arrays = construct.matrix_from_coo(rows, columns, values, dtype, nrows, ncols, dup_op)
        return cls._of(arrays, name)

    @classmethod
    def from_edgelist(
        cls,
        edgelist: Any,
        values: Any = None,
        dtype: Any = None,
        *,
        nrows: Any = None,
        ncols: Any = None,
        dup_op: Any = None,
        name: str | None = None,
    ) -> Matrix:
        """Return the matrix of ``(row, column)`` or ``(row, column, value)`` rows."""
        table = np.asarray(edgelist)
        if table.ndim != 2 or table.shape[1] not in (2, 3):
            raise InvalidValue(f"edgelist must have 2 or 3 columns, got shape {table.shape}")
        if table.shape[1] == 3 and values is None:
            values = table[:, 2]
        rows, cols = table[:, 0].astype(np.int64), table[:, 1].astype(np.int64)
        values = 1.0 if values is None else values
        return cls.from_coo(
            rows, cols, values, dtype, nrows=nrows, ncols=ncols, dup_op=dup_op, name=name
        )

    @classmethod
    def from_csr(
        cls,
        indptr: Any,
        col_indices: Any,
        values: Any = 1.0,
        dtype: Any = None,
        *,
        nrows: Any = None,
        ncols: Any = None,
        name: str | None = None,
    ) -> Matrix:
        """Return the matrix of compressed rows."""
        return cls._of(
            construct.matrix_from_compressed(
                "csr", indptr, col_indices, values, dtype, nrows, ncols
            ),
            name,
        )

    @classmethod
    def from_csc(
        cls,
        indptr: Any,
        row_indices: Any,
        values: Any = 1.0,
        dtype: Any = None,
        *,
        nrows: Any = None,
        ncols: Any = None,
        name: str | None = None,
    ) -> Matrix:
        """Return the matrix of compressed columns."""
        return cls._of(
            construct.matrix_from_compressed(
                "csc", indptr, row_indices, values, dtype, ncols, nrows
            ),
            name,
        )

    @classmethod
    def from_dense(
        cls,
        values: Any,
        missing_value: Any = None,
        *,
        dtype: Any = None,
        name: str | None = None,
        **opts: Any,
    ) -> Matrix:
        """Return the matrix of a dense array; `missing_value` marks positions without entry."""
        del opts
        return cls._of(construct.matrix_from_dense(values, missing_value, dtype), name)

    @classmethod
    def from_scalar(
        cls,
        value: Any,
        nrows: Any,
        ncols: Any,
        dtype: Any = None,
        *,
        name: str | None = None,
        **opts: Any,
    ) -> Matrix:
        """Return the matrix with `value` everywhere."""
        wanted = np.asarray(value).dtype if dtype is None else lookup_dtype(dtype).np_type
        made = cls(wanted, nrows, ncols, name=name)
        made(**opts) << value
        return made

    @classmethod
    def from_dicts(
        cls,
        nested_dicts: dict[int, dict[int, Any]],
        dtype: Any = None,
        *,
        order: str = "rowwise",
        nrows: Any = None,
        ncols: Any = None,
        name: str | None = None,
    ) -> Matrix:
        """Return the matrix of ``{row: {column: value}}``."""
        triples = [(i, j, x) for i, row in nested_dicts.items() for j, x in row.items()]
        major, minor = [i for i, _, _ in triples], [j for _, j, _ in triples]
        rows, cols = (major, minor) if order == "rowwise" else (minor, major)
        values = np.array([x for _, _, x in triples])
        return cls.from_coo(rows, cols, values, dtype, nrows=nrows, ncols=ncols, name=name)

    def build(
        self,
        rows: Any,
        columns: Any,
        values: Any,
        *,
        dup_op: Any = None,
        clear: bool = False,
        nrows: Any = None,
        ncols: Any = None,
    ) -> None:
        """Fill an empty matrix with `values` at (rows, columns).

        Raises
        ------
        OutputNotEmpty
            There are entries already and `clear` is false.
        """
        if not clear and self.nvals:
            raise OutputNotEmpty(f"{self.name} holds {self.nvals} entries; pass clear=True")
        nrows = self.nrows if nrows is None else nrows
        ncols = self.ncols if ncols is None else ncols
        arrays = construct.matrix_from_coo(rows, columns, values, self.dtype, nrows, ncols, dup_op)
        reading.replace_contents(self, arrays)

    def clear(self) -> None:
        """Remove every entry."""
        reading.replace_contents(self, MatrixArrays.empty(self.nrows, self.ncols, self.dtype))

    def resize(self, nrows: Any, ncols: Any) -> None:
        """Change the shape; entries beyond it are removed."""
        nrows, ncols = construct.check_size(nrows, "nrows"), construct.check_size(ncols, "ncols")
        rows, cols, values = reading.matrix_arrays(self, "resize").to_coo()
        keep = (rows < nrows) & (cols < ncols)
        arrays = construct.matrix_from_coo(
            rows[keep], cols[keep], values[keep], self.dtype, nrows, ncols, None
        )
        reading.replace_contents(self, arrays)

    def __delitem__(self, keys: Any) -> None:
        row, col = keys
        i = reading.check_position(row, self.nrows, "row")
        j = reading.check_position(col, self.ncols, "column")
        removed = Matrix.from_coo([i], [j], True, nrows=self.nrows, ncols=self.ncols)
        self(~removed.S, replace=True) << self


class MatrixExpression(Expression, MatrixOperand):
    """A matrix that will be computed."""

    __slots__ = ("_computed", "_target", "_template")

    def __init__(self, template: Template) -> None:
        self._template = template
        self._computed = None
        self._target: Any = None

    @property
    def S(self) -> Any:  # noqa: N802 - GraphBLAS' name
        """The structural mask of the result."""
        return self._result().S

    @property
    def V(self) -> Any:  # noqa: N802 - GraphBLAS' name
        """The value mask of the result."""
        return self._result().V

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Choose mask and accumulator for writing ``A[rows, cols](mask) << x``."""
        return Updater(self._target[0], axes=self._target[1])(*args, **kwargs)

    def __lshift__(self, given: Any) -> None:
        if self._target is None:
            raise TypeError("only an object or ``x[...]`` can be written, not a computed matrix")
        Updater(self._target[0], axes=self._target[1]).update(given)


EXPRESSIONS["matrix"] = MatrixExpression
OBJECTS["matrix"] = Matrix
