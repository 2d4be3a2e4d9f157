"""What a Matrix, its transpose and a matrix expression can all do; the transpose."""

from __future__ import annotations

from collections.abc import Iterator
from types import EllipsisType
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from semira.base.dtypes import DataType
from semira.base.errors import InvalidValue
from semira.base.memory import tells_shortage
from semira.base.record_dtypes import visible
from semira.engine.values import Value
from semira.frontend import construct, lending, products, reading
from semira.frontend.aggregators import aggregate
from semira.frontend.checks import as_diagonal, check_key
from semira.frontend.expr import Template, expression
from semira.frontend.infix import Operand
from semira.frontend.kinds import EXPRESSIONS
from semira.frontend.operators import as_monoid
from semira.frontend.updater import extract_expression
from semira.ops.meaning import cast_array

if TYPE_CHECKING:
    from semira.frontend.indexing import Position, Positions
    from semira.frontend.matrix import Matrix, MatrixExpression
    from semira.frontend.operators import SemiringLike
    from semira.frontend.scalar import ScalarExpression
    from semira.frontend.vector import Vector, VectorExpression, VectorOperand


class MatrixOperand(Operand["MatrixExpression"]):
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
    def T(self) -> TransposedMatrix:  # noqa: N802 - GraphBLAS' name
        """The transpose, without copying."""
        if hasattr(self, "_require_usable"):
            self._require_usable("self", f"{type(self).__name__}.T")
        return TransposedMatrix(self)

    def mxm(self, other: MatrixOperand, op: SemiringLike = "plus_times") -> MatrixExpression:
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
        return products.mxm(self, other, op)  # type: ignore[no-any-return]

    def mxv(self, other: VectorOperand, op: SemiringLike = "plus_times") -> VectorExpression:
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
        return products.mxv(self, other, op)  # type: ignore[no-any-return]

    def reduce_rowwise(self, op: Any = "plus") -> VectorExpression:
        """Return the monoid or aggregator over each row; rows without entries stay empty."""
        return _reduce(self, op)

    def reduce_columnwise(self, op: Any = "plus") -> VectorExpression:
        """Return the monoid or aggregator over each column."""
        return _reduce(self.T, op)

    def reduce_scalar(self, op: Any = "plus", *, allow_empty: bool = True) -> ScalarExpression:
        """Return the monoid over all entries; see `Vector.reduce`."""
        aggregated: ScalarExpression | None = aggregate(op, self, "matrix", allow_empty=allow_empty)
        if aggregated is not None:
            return aggregated
        monoid = as_monoid(op, self.dtype)
        params = () if allow_empty else (("identity", True),)
        return expression(  # type: ignore[no-any-return]
            Template("reduce", (self,), "scalar", monoid.type, (), (), monoid, params=params)
        )

    def kronecker(self, other: MatrixOperand, op: Any = "times") -> MatrixExpression:
        """Return the Kronecker product; see `compose.kronecker`."""
        from semira.frontend.compose import kronecker

        return kronecker(self, other, op)  # type: ignore[no-any-return]

    def power(self, n: Any, op: SemiringLike = "plus_times") -> MatrixExpression:
        """Return the product of `n` copies of this matrix; see `compose.power`."""
        from semira.frontend.compose import power

        return power(self, n, op)  # type: ignore[no-any-return]

    def reposition(
        self, row_offset: Any, column_offset: Any, *, nrows: Any = None, ncols: Any = None
    ) -> MatrixExpression:
        """Return the matrix with every entry moved; what leaves the shape is dropped.

        Parameters
        ----------
        row_offset, column_offset : int
        nrows, ncols : int, optional
            Shape of the result; that of this matrix if None.
        """
        from semira.frontend.compose import reposition

        offsets = (row_offset, column_offset)
        return reposition(self, offsets, (nrows, ncols))  # type: ignore[no-any-return]

    def first_per_row(self, k: int) -> MatrixExpression:
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
        return expression(  # type: ignore[no-any-return]
            Template(
                "select_k", (source,), "matrix", self.dtype, self.shape, ((0, 0), (0, 1)),
                params=(("k", k),),
            )
        )  # fmt: skip

    def diag(
        self, k: int = 0, dtype: Any = None, *, name: str | None = None, **opts: Any
    ) -> Vector:
        """Return the k-th diagonal as a Vector.

        Raises
        ------
        TypeError
            `k` is not an integer.
        """
        k = as_diagonal(k)
        rows, cols = self.shape
        length = max(0, min(rows - max(-k, 0), cols - max(k, 0)))
        return expression(  # type: ignore[no-any-return]
            Template(
                "diag", (self,), "vector", self.dtype, (length,), (length,),
                params=(("k", k),),
            )
        ).new(dtype, name=name, **opts)  # fmt: skip

    def get(self, row: Any, col: Any, default: Any = None) -> Any:
        """Return the value at (row, col), or `default` without an entry there."""
        i = reading.check_position(row, self.nrows, "row")
        j = reading.check_position(col, self.ncols, "column")
        value = self[i, j].new().value
        return default if value is None else value

    @overload
    def __getitem__(self, keys: tuple[Position, Position]) -> ScalarExpression: ...
    @overload
    def __getitem__(
        self, keys: tuple[Position, Positions] | tuple[Positions, Position]
    ) -> VectorExpression: ...
    @overload
    def __getitem__(self, keys: tuple[Positions, Positions] | EllipsisType) -> MatrixExpression: ...

    def __getitem__(self, keys: Any) -> Any:
        return extract_expression(self, keys, "scalar")

    def __contains__(self, index: Any) -> bool:
        if not isinstance(index, tuple) or len(index) != 2:
            raise TypeError(f"Invalid index for `in`: {index!r}; a Matrix takes (row, column)")
        check_key(index)
        i = reading.check_position(index[0], self.nrows, "row")
        j = reading.check_position(index[1], self.ncols, "column")
        return self[i, j].new().value is not None

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        rows, cols, _ = self.to_coo(values=False)
        return zip(rows, cols, strict=True)

    def _coo(self, what: str) -> tuple[Any, Any, Any]:
        return reading.sorted_coo(reading.matrix_arrays(self, what))

    @tells_shortage("Matrix.to_coo")
    def to_coo(
        self,
        dtype: Any = None,
        *,
        rows: bool = True,
        columns: bool = True,
        values: bool = True,
        sort: bool = True,
        device: str | None = None,
        copy: bool = True,
    ) -> tuple[Any, Any, Any]:
        """Return (rows, columns, values) as NumPy arrays; a part not wanted is None.

        Indices are uint64, sorted by row, then column (those of a transpose by the rows and
        columns of its matrix).

        Parameters
        ----------
        dtype : optional
            That of the values.
        rows, columns, values : bool
            Which parts are wanted.
        device : "cuda", optional
            Give CuPy arrays in the memory of that device instead, with indices as they are stored.
        copy : bool
            On a device, False gives the object's own memory where it can; nobody may write to it.

        Raises
        ------
        DeviceMismatch, InvalidValue
            The matrix is placed elsewhere; `device` has no memory of its own.
        """
        del sort
        if device is not None:
            lent = lending.lend(self, "coo", device, dtype, copy=copy)
            parts = zip((*lent.indices, lent.values), (rows, columns, values), strict=True)
            return tuple(part if wanted else None for part, wanted in parts)  # type: ignore[return-value]
        i, j, x = self._coo("to_coo")
        return (
            i.astype(np.uint64) if rows else None,
            j.astype(np.uint64) if columns else None,
            reading.cast_values(x, dtype) if values else None,
        )

    @tells_shortage("Matrix.to_csr or to_csc")
    def _compressed(
        self, layout: str, dtype: Any, device: str | None, copy: bool
    ) -> tuple[Any, Any, Any]:
        if device is not None:
            lent = lending.lend(self, layout, device, dtype, copy=copy)
            return (*lent.indices, lent.values)
        operand = self if layout == "csr" else self.T
        return operand._compressed_rows(dtype)

    def _compressed_rows(self, dtype: Any) -> tuple[Any, Any, Any]:
        arrays = reading.as_csr(reading.matrix_arrays(self, "export")).ordinary()
        values = reading.cast_values(arrays.entry_values(), dtype)
        return arrays.indptr.astype(np.uint64), arrays.indices.astype(np.uint64), values

    def to_csr(
        self,
        dtype: Any = None,
        *,
        sort: bool = True,
        device: str | None = None,
        copy: bool = True,
    ) -> tuple[Any, Any, Any]:
        """Return (indptr, column indices, values); `device` and `copy` as in `to_coo`.

        Raises
        ------
        OutOfMemory
            There are 2**31 rows or more: `to_dcsr` lists those that have entries.

        Examples
        --------
        >>> import semira as gb
        >>> A = gb.Matrix.from_coo([0, 0, 1], [1, 2, 0], [1.0, 2.0, 3.0])
        >>> [part.tolist() for part in A.to_csr()]
        [[0, 2, 3], [1, 2, 0], [1.0, 2.0, 3.0]]
        """
        del sort
        return self._compressed("csr", dtype, device, copy)

    def to_csc(
        self,
        dtype: Any = None,
        *,
        sort: bool = True,
        device: str | None = None,
        copy: bool = True,
    ) -> tuple[Any, Any, Any]:
        """Return (indptr, row indices, values); `device`, `copy` and errors as of `to_csr`."""
        del sort
        return self._compressed("csc", dtype, device, copy)

    @tells_shortage("Matrix.to_dcsr or to_dcsc")
    def _hypersparse(self, dtype: Any) -> tuple[Any, Any, Any, Any]:
        arrays = reading.as_csr(reading.matrix_arrays(self, "export")).hyper()
        assert arrays.majors is not None
        positions = (arrays.majors, arrays.indptr, arrays.indices)
        majors, indptr, indices = (part.astype(np.uint64) for part in positions)
        return majors, indptr, indices, reading.cast_values(arrays.entry_values(), dtype)

    def to_dcsr(self, dtype: Any = None, *, sort: bool = True) -> tuple[Any, Any, Any, Any]:
        """Return (rows that have entries, indptr, column indices, values)."""
        del sort
        return self._hypersparse(dtype)

    def to_dcsc(self, dtype: Any = None, *, sort: bool = True) -> tuple[Any, Any, Any, Any]:
        """Return (columns that have entries, indptr, row indices, values)."""
        del sort
        return self.T._hypersparse(dtype)

    @tells_shortage("Matrix.to_edgelist")
    def to_edgelist(self, dtype: Any = None, *, values: bool = True, sort: bool = True) -> Any:
        """Return (edges of shape (nvals, 2), values)."""
        rows, cols, stored = self.to_coo(dtype, values=values, sort=sort)
        return np.column_stack((rows, cols)), stored

    @tells_shortage("Matrix.to_dense")
    def to_dense(
        self,
        fill_value: Any = None,
        dtype: Any = None,
        *,
        device: str | None = None,
        **opts: Any,
    ) -> Any:
        """Return a 2-D NumPy array, missing entries replaced by `fill_value`.

        On `device` ``"cuda"`` a CuPy array.

        Raises
        ------
        TypeError
            Entries are missing and there is no `fill_value`.
        DeviceMismatch, InvalidValue
            As `to_coo`.
        OutOfMemory
            The dense array does not fit on the device.
        """
        del opts
        if device is not None:
            return lending.lend_dense(self, device, fill_value, dtype)
        rows, cols, values = reading.matrix_arrays(self, "to_dense").to_coo()
        complete = len(rows) == self.nrows * self.ncols
        dense = reading.empty_dense(self, fill_value, dtype, complete=complete)
        dense[rows, cols] = cast_array(values, dense.dtype)
        return visible(dense)

    @tells_shortage("Matrix.to_dicts")
    def to_dicts(self, order: str = "rowwise") -> dict[int, dict[int, Any]]:
        """Return ``{row: {column: value}}`` (``{column: {row: value}}`` if columnwise)."""
        source = self if construct.is_rowwise(order) else self.T
        nested: dict[int, dict[int, Any]] = {}
        rows, cols, values = reading.sorted_coo(reading.matrix_arrays(source, "to_dicts"))
        listed = visible(values).tolist()
        for i, j, value in zip(rows.tolist(), cols.tolist(), listed, strict=True):
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


def _reduce(matrix: Any, op: Any) -> VectorExpression:
    aggregated: VectorExpression | None = aggregate(op, matrix, "rows")
    if aggregated is not None:
        return aggregated
    monoid = as_monoid(op, matrix.dtype)
    axis = 1 if matrix._is_transposed else 0
    return expression(  # type: ignore[no-any-return]
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

    __slots__ = ("__weakref__", "_matrix")

    _is_transposed = True

    # Each `A.T` is another object.
    __hash__ = None  # type: ignore[assignment]

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
    def T(self) -> Matrix:  # type: ignore[override]  # noqa: N802 - GraphBLAS' name
        """The matrix itself."""
        return self._matrix  # type: ignore[no-any-return]

    @property
    def _value(self) -> Value:
        return self._matrix._operand()[0]  # type: ignore[no-any-return]

    def _operand(self) -> tuple[Value, bool]:
        return self._value, True

    def _coo(self, what: str) -> tuple[Any, Any, Any]:
        rows, cols, values = reading.sorted_coo(reading.matrix_arrays(self._matrix, what))
        return cols, rows, values

    def new(
        self, dtype: Any = None, *, mask: Any = None, name: str | None = None, **opts: Any
    ) -> Matrix:
        """Return the transpose as a Matrix of its own."""
        if opts.get("input_mask") is not None:
            raise TypeError("`input_mask` argument may only be used for extract")
        template = Template("copy", (self,), "matrix", self.dtype, self.shape, ((0, 1), (0, 0)))
        made: MatrixExpression = EXPRESSIONS["matrix"](template)
        return made.new(dtype, mask=mask, name=name, **opts)

    def dup(
        self,
        dtype: Any = None,
        *,
        clear: bool = False,
        mask: Any = None,
        name: str | None = None,
        **opts: Any,
    ) -> Matrix:
        """Return the transpose as a Matrix of its own, without entries if `clear`."""
        template = Template("copy", (self,), "matrix", self.dtype, self.shape, ((0, 1), (0, 0)))
        made: MatrixExpression = EXPRESSIONS["matrix"](template)
        return made.dup(dtype, clear=clear, mask=mask, name=name, **opts)

    def __setitem__(self, keys: Any, given: Any) -> None:
        del keys, given
        raise TypeError("'TransposedMatrix' object does not support item assignment")

    def wait(self, how: str = "materialize") -> TransposedMatrix:
        """Wait until everything that writes the matrix has run; returns the transpose."""
        self._matrix.wait(how)
        return self

    def _require_usable(self, argument: str, where: str) -> None:
        if hasattr(self._matrix, "_require_usable"):
            self._matrix._require_usable(argument, where)
