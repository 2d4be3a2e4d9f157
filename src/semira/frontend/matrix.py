"""Constructors of matrices, what is cached with them, and changes of the whole matrix."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from itertools import count
from typing import Any, Self

from semira.base.dtypes import FP64, lookup_dtype
from semira.base.errors import InvalidValue, OutputNotEmpty
from semira.base.memory import tells_shortage
from semira.engine import recording
from semira.engine.values import Value
from semira.frontend import construct, raw, reading
from semira.frontend.collection import Collection
from semira.frontend.compose import setdiag
from semira.frontend.exports import ReadableMatrix
from semira.frontend.facts import Result, cached, derived_usage
from semira.frontend.indexing import extract_expression
from semira.frontend.infix import Made_co


class StoredMatrix(ReadableMatrix[Made_co], Collection[Made_co]):
    """Base of `Matrix`: constructors, storage, and changes of the whole matrix."""

    __slots__ = ()

    _letter, _name_counter = "M", count()

    def __init__(
        self,
        dtype: Any = FP64,
        nrows: Any = 0,
        ncols: Any = 0,
        *,
        name: str | None = None,
        memory: str | None = None,
    ) -> None:
        wanted = lookup_dtype(dtype)
        shape = (construct.check_size(nrows, "nrows"), construct.check_size(ncols, "ncols"))
        self._value = Value("matrix", wanted, shape)
        self.name = name or self._new_name()
        if memory is not None:
            self.memory = memory

    @property
    def memory(self) -> str:
        """``"fast"`` stores rows and columns once both were needed, ``"lean"`` one of them.

        Products with a lean matrix are planned for the orientation that it stores (that of its
        arrays when it became lean; rows for an empty one); where there is no such method they
        raise PlanError, and ``matrix_storage="both"`` lets that one call transpose. Operations
        without a plan of their own (``A.T`` in an element-wise operation, columns of a matrix
        stored by rows) transpose for the call and cache nothing.

        Examples
        --------
        >>> import semira as gb
        >>> A = gb.Matrix.from_coo([0, 1], [1, 0], [1.0, 2.0])
        >>> A.memory = "lean"
        >>> sorted(A.memory_usage())
        ['csr.indices', 'csr.indptr', 'csr.values']
        """
        return "fast" if self._value.lean is None else "lean"

    @memory.setter
    def memory(self, memory: str) -> None:
        if memory not in ("fast", "lean"):
            raise InvalidValue(f"memory={memory!r}; choose 'fast' or 'lean'")
        self._value.set_lean(lean=memory == "lean")

    @property
    def symmetric(self) -> bool:
        """Whether the matrix equals its transpose, values included.

        The first access compares exactly, O(nvals), and caches the answer until the matrix is
        written; a symmetric matrix stores one orientation. Setting the property skips the check:
        results are wrong if the matrix is not symmetric.

        Raises
        ------
        InvalidValue
            Set to True for a matrix that is not square.
        """
        known = reading.known_symmetry(self)
        if known is None:
            known = self.nrows == self.ncols and bool(self.isequal(self.T))
            self._value.set_symmetric(known)
        return known

    @symmetric.setter
    def symmetric(self, symmetric: bool) -> None:
        if symmetric and self.nrows != self.ncols:
            raise InvalidValue(f"a matrix of shape {self.shape} is not symmetric")
        self._value.set_symmetric(bool(symmetric))

    def derived(self, key: Hashable, make: Callable[[], Result]) -> Result:
        """Return what `make` computes from this matrix, cached until the matrix is written.

        Algorithms use it for what they need on each call and what follows from the graph alone,
        such as a triangle of the matrix or its rows in another order.

        Parameters
        ----------
        key : hashable
            Names the result, with everything that it depends on besides the matrix.
        make : callable
            Takes no arguments. It must not return the matrix itself, and the objects that it
            returns must not be written; items of a list may be replaced. An exception propagates,
            and nothing is cached then.

        Returns
        -------
        object
            The cached result, or a new one. A matrix whose memory is ``"lean"`` caches nothing.

        Notes
        -----
        `memory_usage` counts cached matrices and vectors, also those in a tuple or a list, as
        ``derived``. ``A.memory = "lean"`` drops them.

        Raises
        ------
        RecordError
            Inside a recorded loop, where no matrix has contents yet.

        Examples
        --------
        >>> import semira as gb
        >>> A = gb.Matrix.from_coo([0, 1, 1], [1, 0, 1], nrows=2, ncols=2)
        >>> lower = A.derived("lower", lambda: A.select("tril", -1).new())
        >>> A.derived("lower", lambda: A.select("tril", -1).new()) is lower
        True
        >>> A[0, 1] << 5
        >>> A.derived("lower", lambda: A.select("tril", -1).new()) is lower
        False
        """
        recording.refuse_host_read("derived makes something at once", "do it before the loop")
        return cached(self._value, key, make)

    def memory_usage(self) -> dict[str, int]:
        """Return the bytes of each array it holds, by name; see `Vector.memory_usage`.

        ``derived`` counts what `Matrix.derived` caches.

        Examples
        --------
        >>> import semira as gb
        >>> A = gb.Matrix.from_coo([0, 1], [1, 0], [1.0, 2.0])
        >>> sorted(A.memory_usage())
        ['csr.indices', 'csr.indptr', 'csr.values']
        """
        return super().memory_usage() | derived_usage(self._value)

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
        device: str | None = None,
    ) -> Self:
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
        device : "reference", "cpu" or "cuda", optional
            Place the object there. Arrays in the memory of a GPU place it on ``"cuda"``.

        Raises
        ------
        IndexOutOfBound
            An index lies outside the shape.
        InvalidValue
            A position repeats and there is no `dup_op`, or a value does not fit into `dtype`.
        DeviceMismatch
            Arrays are in the memory of a GPU, the object should be elsewhere.
        """
        arrays = raw.matrix_from_coo(rows, columns, values, dtype, nrows, ncols, dup_op, device)
        return cls._of(arrays, name, device)

    @classmethod
    @tells_shortage("Matrix.from_edgelist")
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
    ) -> Self:
        """Return the matrix of edges: an array (n, 2), or pairs or triples (with a value)."""
        rows, cols, values = construct.edges_of(edgelist, values)
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
        device: str | None = None,
    ) -> Self:
        """Return the matrix of compressed rows; `device` as in `from_coo`.

        Raises
        ------
        InvalidValue, InvalidObject
            `indptr` does not fit `col_indices`, or a position repeats; an index lies outside.

        Examples
        --------
        >>> import semira as gb
        >>> gb.Matrix.from_csr([0, 2, 3], [1, 2, 0], [1, 2, 3]).to_dicts()
        {0: {1: 1, 2: 2}, 1: {0: 3}}
        """
        return cls._of(
            raw.matrix_from_compressed(
                "csr", indptr, col_indices, values, dtype, nrows, ncols, device
            ),
            name,
            device,
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
        device: str | None = None,
    ) -> Self:
        """Return the matrix of compressed columns; `device` and errors as of `from_csr`."""
        return cls._of(
            raw.matrix_from_compressed(
                "csc", indptr, row_indices, values, dtype, ncols, nrows, device
            ),
            name,
            device,
        )

    @classmethod
    @tells_shortage("Matrix.from_dcsr")
    def from_dcsr(
        cls,
        compressed_rows: Any,
        indptr: Any,
        col_indices: Any,
        values: Any = 1.0,
        dtype: Any = None,
        *,
        nrows: Any = None,
        ncols: Any = None,
        name: str | None = None,
    ) -> Self:
        """Return the matrix of compressed rows of which only `compressed_rows` are listed."""
        arrays = construct.matrix_from_hypersparse(
            "csr", compressed_rows, indptr, col_indices, values, dtype, nrows, ncols
        )
        return cls._of(arrays, name)

    @classmethod
    @tells_shortage("Matrix.from_dcsc")
    def from_dcsc(
        cls,
        compressed_cols: Any,
        indptr: Any,
        row_indices: Any,
        values: Any = 1.0,
        dtype: Any = None,
        *,
        nrows: Any = None,
        ncols: Any = None,
        name: str | None = None,
    ) -> Self:
        """Return the matrix of compressed columns of which only `compressed_cols` are listed."""
        arrays = construct.matrix_from_hypersparse(
            "csc", compressed_cols, indptr, row_indices, values, dtype, ncols, nrows
        )
        return cls._of(arrays, name)

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
    ) -> Self:
        """Return the matrix with `value` everywhere."""
        given = construct.as_value(value, "Matrix.from_scalar", dtype)
        made = cls(given.dtype if dtype is None else dtype, nrows, ncols, name=name)
        made(**opts) << given
        return made

    @classmethod
    @tells_shortage("Matrix.from_dicts")
    def from_dicts(
        cls,
        nested_dicts: dict[int, dict[int, Any]],
        dtype: Any = None,
        *,
        order: str = "rowwise",
        nrows: Any = None,
        ncols: Any = None,
        name: str | None = None,
    ) -> Self:
        """Return the matrix of ``{row: {column: value}}``, or of a list of one dict per row."""
        rows, cols, values, nrows, ncols = construct.triples_of(nested_dicts, order, nrows, ncols)
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
        reading.refuse_recorded(self, "build")
        if not clear and self.nvals:
            raise OutputNotEmpty(f"{self.name} holds {self.nvals} entries; pass clear=True")
        nrows = self.nrows if nrows is None else nrows
        ncols = self.ncols if ncols is None else ncols
        arrays = raw.matrix_from_coo(
            rows, columns, values, self.dtype, nrows, ncols, dup_op, self._value.device
        )
        reading.replace_contents(self, arrays)

    def _as_vector(self, *, name: str | None = None) -> Any:
        if self.ncols != 1:
            raise InvalidValue(f"Matrix must have a single column, it has {self.ncols}")
        return extract_expression(self, (slice(None), 0)).new(name=name)

    def _as_matrix(self, *, name: str | None = None) -> Any:
        return self if name is None else self.dup(name=name)

    def setdiag(
        self, values: Any, k: Any = 0, *, mask: Any = None, accum: Any = None, **opts: Any
    ) -> None:
        """Write `values` (a scalar, or as many as it has positions) on the k-th diagonal.

        Raises
        ------
        IndexOutOfBound
            There is no such diagonal.
        DimensionMismatch
            `values` or `mask` do not have its length.
        """
        setdiag(self, values, k, mask=mask, accum=accum, **opts)

    def resize(self, nrows: Any, ncols: Any) -> None:
        """Change the shape; entries beyond it are removed."""
        reading.refuse_recorded(self, "resize")
        nrows, ncols = construct.check_size(nrows, "nrows"), construct.check_size(ncols, "ncols")
        rows, cols, values = reading.matrix_arrays(self, "resize").to_coo()
        keep = (rows < nrows) & (cols < ncols)
        arrays = construct.matrix_from_coo(
            rows[keep], cols[keep], values[keep], self.dtype, nrows, ncols, None
        )
        reading.replace_contents(self, arrays)
