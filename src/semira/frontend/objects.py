"""Matrix, Vector, the transpose and their expressions, with the operations on them.

One file defines them all because each makes the others: ``A.mxv(v)`` is a vector expression,
``v.outer(w)`` a matrix expression, and type checkers see the exact class.
"""

from __future__ import annotations

from types import EllipsisType
from typing import TYPE_CHECKING, Any, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from semira.base.dtypes import DataType
from semira.engine.values import Value
from semira.frontend import compose, construct, products, reading, rowwise
from semira.frontend.aggregators import aggregate
from semira.frontend.call import Template
from semira.frontend.checks import as_diagonal
from semira.frontend.exports import ReadableMatrix, ReadableVector
from semira.frontend.expr import CollectionExpression
from semira.frontend.indexing import extract_expression
from semira.frontend.kinds import EXPRESSIONS, OBJECTS
from semira.frontend.matrix import StoredMatrix
from semira.frontend.operators import SemiringLike, as_monoid
from semira.frontend.scalar import ScalarExpression, ScalarOperand
from semira.frontend.ss import MATRIX, VECTOR
from semira.frontend.vector import StoredVector, check_index_vector

#: An index that removes an axis, and one that keeps it.
Position: TypeAlias = "int | np.integer[Any] | ScalarOperand"
Positions: TypeAlias = "slice | range | list[Any] | NDArray[Any]"


class MatrixOperand(ReadableMatrix["MatrixExpression"]):
    """Operations of Matrix, TransposedMatrix and MatrixExpression."""

    __slots__ = ()

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
        return _reduced_rows(self, op)

    def reduce_columnwise(self, op: Any = "plus") -> VectorExpression:
        """Return the monoid or aggregator over each column."""
        return _reduced_rows(self.T, op)

    def mode_rowwise(
        self,
        keys: VectorOperand,
        *,
        prefer: VectorOperand | None = None,
        seed: Any = None,
        count: bool = False,
    ) -> VectorExpression:
        """Return, for each row, the key with the largest sum: a weighted mode.

        Entry (i, j) adds its value to the sum of key ``keys_j`` in row i. With labels of vertices
        as keys, the result is the label that most neighbours have.

        Parameters
        ----------
        keys : Vector of INT32 or INT64, shape (ncols,)
            Columns without a key do not count.
        prefer : Vector of the same dtype, shape (nrows,), optional
            A key for each row that wins every tie it takes part in.
        seed : int or Scalar, optional
            Other ties are broken at random, by `indexunary.random_bits` of key and row; the same on
            every device. None: the smallest key wins.
        count : bool
            Let every entry count 1, whatever its value.

        Returns
        -------
        VectorExpression, shape (nrows,), dtype of `keys`
            An entry for each row that has an entry in a column with a key.

        Raises
        ------
        DimensionMismatch
            Sizes do not fit.
        DomainMismatch
            Keys are no integers of 32 or 64 bits, or the matrix' values cannot be ordered.
        EmptyObject
            When it runs: `seed` is an empty Scalar.

        Notes
        -----
        O(entries) expected; nothing of the size of (rows x keys) is stored. Integers and truth
        values are summed in INT64, floats in FP64. A sum that is NaN loses against all others.
        On ``cuda``, floats in long rows are added in an order that differs from run to run. With
        column numbers as keys it is an arg-reduction: the position of the largest value of a row.

        Examples
        --------
        >>> A = Matrix.from_coo([0, 0, 0, 1], [0, 1, 2, 2], [1, 1, 3, 1], nrows=2, ncols=3)
        >>> A.mode_rowwise(Vector.from_dense([5, 5, 4])).new().to_dict()
        {0: 4, 1: 4}
        """
        return rowwise.mode_rowwise(self, keys, prefer, seed, count)  # type: ignore[no-any-return]

    def softmax_rowwise(self, *, log: bool = False) -> MatrixExpression:
        """Return the soft-max of each row: exp(A_ij) over the sum of exp over the row's entries.

        Positions without entries do not count. ``reduce_rowwise(agg.logaddexp)`` is the logarithm
        of the sums alone.

        Parameters
        ----------
        log : bool
            Return logarithms, which do not underflow.

        Returns
        -------
        MatrixExpression, shape and structure of the matrix
            FP32 if the matrix is, else FP64.

        Raises
        ------
        DomainMismatch
            The values are no real numbers.
        RecordError
            When it runs: inside of a recorded loop.

        Notes
        -----
        O(nvals), in one launch. The maximum of the row is taken off first, so nothing overflows.
        Sums are FP64, in an order that depends on the row alone: the same for any number of
        threads; devices agree to the last digits. A row with NaN, with infinity, or of minus
        infinity alone becomes NaN.

        Examples
        --------
        >>> A = Matrix.from_coo([0, 0, 1], [0, 2, 1], [1000.0, 1000.0, 3.0])
        >>> A.softmax_rowwise().new().to_dicts()
        {0: {0: 0.5, 2: 0.5}, 1: {1: 1.0}}
        """
        return rowwise.softmax_rowwise(self, log)  # type: ignore[no-any-return]

    def reduce_scalar(self, op: Any = "plus", *, allow_empty: bool = True) -> ScalarExpression:
        """Return the monoid over all entries; see `Vector.reduce`."""
        return _reduced(self, op, "matrix", allow_empty=allow_empty)

    def kronecker(self, other: MatrixOperand, op: Any = "times") -> MatrixExpression:
        """Return the Kronecker product; see `compose.kronecker`."""
        return compose.kronecker(self, other, op)  # type: ignore[no-any-return]

    def power(self, n: Any, op: SemiringLike = "plus_times") -> MatrixExpression:
        """Return the product of `n` copies of this matrix; see `compose.power`."""
        return compose.power(self, n, op)  # type: ignore[no-any-return]

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
        offsets = (row_offset, column_offset)
        return compose.reposition(self, offsets, (nrows, ncols))  # type: ignore[no-any-return]

    def first_per_row(self, k: int) -> MatrixExpression:
        """Return the first `k` entries of each row, in column order.

        Sampling a few neighbours of every vertex this way costs O(nrows * k).

        Raises
        ------
        InvalidValue
            `k` is negative or no integer.
        """
        return rowwise.cut_rows(self, k, largest=False)  # type: ignore[no-any-return]

    def largest_per_row(self, k: int) -> MatrixExpression:
        """Return the `k` largest entries of each row, at their positions.

        Of equal values those of smaller columns are kept, and NaN loses. With a random number for
        each entry this samples k entries of each row without replacement, also within `repeat`: see
        `Sampling <../guide/loops.md#sampling>`_. Costs O(nvals log k).

        Parameters
        ----------
        k : int
            0 or more.

        Raises
        ------
        InvalidValue
            `k` is negative or no integer.
        DomainMismatch
            The values have no order: complex numbers and records.

        Examples
        --------
        >>> import semira as gb
        >>> A = gb.Matrix.from_dense([[3, 9, 5], [4, 4, 4]])
        >>> A.largest_per_row(2).new().to_dicts()
        {0: {1: 9, 2: 5}, 1: {0: 4, 1: 4}}
        """
        return rowwise.cut_rows(self, k, largest=True)  # type: ignore[no-any-return]

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
        shape, params = (length,), (("k", k),)
        template = Template("diag", (self,), "vector", self.dtype, shape, shape, params=params)
        return VectorExpression(template).new(dtype, name=name, **opts)

    @overload
    def __getitem__(self, keys: tuple[Position, Position]) -> ScalarExpression: ...
    @overload
    def __getitem__(
        self, keys: tuple[Position, Positions] | tuple[Positions, Position]
    ) -> VectorExpression: ...
    @overload
    def __getitem__(self, keys: tuple[Positions, Positions] | EllipsisType) -> MatrixExpression: ...

    def __getitem__(self, keys: Any) -> Any:
        return extract_expression(self, keys)

    if TYPE_CHECKING:

        @overload
        def __matmul__(self, other: MatrixOperand) -> MatrixExpression: ...
        @overload
        def __matmul__(self, other: VectorOperand) -> VectorExpression: ...
        def __matmul__(self, other: Any) -> Any: ...


def _reduced(x: Any, op: Any, over: str, *, allow_empty: bool) -> ScalarExpression:
    aggregated: ScalarExpression | None = aggregate(op, x, over, allow_empty=allow_empty)
    if aggregated is not None:
        return aggregated
    monoid = as_monoid(op, x.dtype)
    params = () if allow_empty else (("identity", True),)
    return ScalarExpression(
        Template("reduce", (x,), "scalar", monoid.type, (), (), monoid, params=params)
    )


def _reduced_rows(matrix: Any, op: Any) -> VectorExpression:
    aggregated: VectorExpression | None = aggregate(op, matrix, "rows")
    if aggregated is not None:
        return aggregated
    monoid = as_monoid(op, matrix.dtype)
    axis = 1 if matrix._is_transposed else 0
    shape, dims = (matrix.shape[0],), ((0, axis),)
    return VectorExpression(
        Template("reduce_rows", (matrix,), "vector", monoid.type, shape, dims, monoid)
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

    def _copy(self) -> MatrixExpression:
        dims = ((0, 1), (0, 0))
        return MatrixExpression(Template("copy", (self,), "matrix", self.dtype, self.shape, dims))

    def new(
        self, dtype: Any = None, *, mask: Any = None, name: str | None = None, **opts: Any
    ) -> Matrix:
        """Return the transpose as a Matrix of its own."""
        if opts.get("input_mask") is not None:
            raise TypeError("`input_mask` argument may only be used for extract")
        return self._copy().new(dtype, mask=mask, name=name, **opts)

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
        return self._copy().dup(dtype, clear=clear, mask=mask, name=name, **opts)

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


class Matrix(MatrixOperand, StoredMatrix["MatrixExpression"]):
    """A sparse matrix; as a graph, entry (i, j) is the edge from i to j.

    Parameters
    ----------
    dtype : DataType, str or type
        Default FP64.
    nrows, ncols : int
    name : str, optional
    memory : {"fast", "lean"}, optional
        See `Matrix.memory`; that of ``semira.config`` if None.

    Examples
    --------
    >>> A = Matrix.from_coo([0, 0, 1], [1, 2, 2], [1, 2, 3], nrows=3, ncols=3)
    >>> A.nvals, A.reduce_rowwise().new().to_dict()
    (3, {0: 3, 1: 3})
    """

    __slots__ = ()

    #: Import, export, order, pieces: see `semira.frontend.ss.matrix.MatrixExtensions`.
    ss = MATRIX


class MatrixExpression(CollectionExpression[Matrix], MatrixOperand):
    """A matrix that will be computed."""

    __slots__ = ()


class VectorOperand(ReadableVector["VectorExpression"]):
    """Operations of Vector and VectorExpression."""

    __slots__ = ()

    def vxm(self, other: MatrixOperand, op: SemiringLike = "plus_times") -> VectorExpression:
        """Return ``w = u (+).(*) A``: w_j is the sum over i of u_i (*) A_ij.

        Parameters
        ----------
        other : Matrix, shape (size, m)
        op : Semiring or str

        Returns
        -------
        VectorExpression, shape (m,)

        Raises
        ------
        DimensionMismatch
            ``other.nrows`` is not the size of this vector.
        """
        return products.vxm(self, other, op)  # type: ignore[no-any-return]

    def inner(self, other: VectorOperand, op: SemiringLike = "plus_times") -> ScalarExpression:
        """Return the scalar ``u (+).(*) v``."""
        return products.inner(self, other, op)  # type: ignore[no-any-return]

    def outer(self, other: VectorOperand, op: Any = "times") -> MatrixExpression:
        """Return the matrix ``C_ij = op(u_i, v_j)``; see `compose.outer`."""
        return compose.outer(self, other, op)  # type: ignore[no-any-return]

    def reposition(self, offset: Any, *, size: Any = None) -> VectorExpression:
        """Return the vector with every entry moved by `offset`; what leaves it is dropped."""
        return compose.reposition(self, (offset,), (size,))  # type: ignore[no-any-return]

    def reduce(self, op: Any = "plus", *, allow_empty: bool = True) -> ScalarExpression:
        """Return the monoid over all entries.

        Parameters
        ----------
        op : Monoid, binary operator with a monoid, Aggregator, or str
        allow_empty : bool
            Without entries: an empty Scalar if true, else the identity.
        """
        return _reduced(self, op, "vector", allow_empty=allow_empty)

    def gather(self, index: VectorOperand) -> VectorExpression:
        """Return ``w_i = self[index_i]``.

        Parameters
        ----------
        index : Vector of integers, any size
            Positions; the result has its size, and an entry wherever ``index`` has one and
            this vector has an entry at that position.

        Returns
        -------
        VectorExpression, shape (index.size,)

        Raises
        ------
        IndexOutOfBound
            When it runs: a position lies outside this vector.

        Examples
        --------
        >>> parent = Vector.from_dense([1, 2, 2])
        >>> parent.gather(parent).new().to_dense().tolist()
        [2, 2, 2]
        """
        check_index_vector(index)
        return VectorExpression(
            Template("gather", (self, index), "vector", self.dtype, (index.size,), ((1, 0),))
        )

    def diag(self, k: int = 0, *, name: str | None = None) -> Matrix:
        """Return the matrix with this vector on its k-th diagonal.

        Raises
        ------
        TypeError
            `k` is not an integer.
        """
        k = as_diagonal(k)
        size = construct.check_size(self.size + abs(k), "nrows")
        shape, params = (size, size), (("k", k),)
        template = Template("diag", (self,), "matrix", self.dtype, shape, shape, params=params)
        return MatrixExpression(template).new(name=name)

    def one_hot(self, ncols: int) -> MatrixExpression:
        """Return the matrix of true entries (i, value of entry i).

        Of labels this is the assignment S of vertices to groups, also within `repeat`: ``A S`` sums
        the entries of each row by the label of their column, ``S' A S`` contracts groups. Costs
        O(nvals).

        Parameters
        ----------
        ncols : int
            The values, of INT32 or INT64, are columns from 0 to ``ncols - 1``.

        Returns
        -------
        MatrixExpression, shape (size, ncols), BOOL

        Raises
        ------
        DomainMismatch
            The values are no such integers.
        IndexOutOfBound
            When it runs: a value is no column.

        Examples
        --------
        >>> import semira as gb
        >>> S = gb.Vector.from_dense([1, 0, 1]).one_hot(2)
        >>> A = gb.Matrix.from_coo([0, 1, 2], [1, 2, 0], [1, 2, 4])
        >>> S.new().T.mxm(A.mxm(S).new()).new().to_dicts()
        {0: {1: 2}, 1: {0: 1, 1: 4}}
        """
        return rowwise.one_hot(self, ncols)  # type: ignore[no-any-return]

    @overload
    def __getitem__(self, keys: Position | tuple[Position]) -> ScalarExpression: ...
    @overload
    def __getitem__(self, keys: Positions | tuple[Positions]) -> VectorExpression: ...

    def __getitem__(self, keys: Any) -> Any:
        return extract_expression(self, keys)

    if TYPE_CHECKING:

        @overload
        def __matmul__(self, other: MatrixOperand) -> VectorExpression: ...
        @overload
        def __matmul__(self, other: VectorOperand) -> ScalarExpression: ...
        def __matmul__(self, other: Any) -> Any: ...


class Vector(VectorOperand, StoredVector["VectorExpression"]):
    """A sparse vector.

    Parameters
    ----------
    dtype : DataType, str or type
        Default FP64.
    size : int
        Number of positions, up to 2**60.
    name : str, optional

    Examples
    --------
    >>> v = Vector.from_coo([1, 3], [2.0, 4.0], size=5)
    >>> (v + v).new().to_dict()
    {1: 4.0, 3: 8.0}
    """

    __slots__ = ()

    #: Import, export, order, pieces: see `semira.frontend.ss.vector.VectorExtensions`.
    ss = VECTOR


class VectorExpression(CollectionExpression[Vector], VectorOperand):
    """A vector that will be computed."""

    __slots__ = ()


EXPRESSIONS |= {"matrix": MatrixExpression, "vector": VectorExpression}
OBJECTS |= {"matrix": Matrix, "vector": Vector}
