"""Reading matrices and vectors: entries, arrays on the host or a device, dicts, comparisons."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from semira.base.dtypes import infer_dtype, lookup_dtype, unify
from semira.base.memory import tells_shortage
from semira.base.record_dtypes import visible
from semira.contract import part_of
from semira.engine import recording
from semira.formats import RawArrays
from semira.frontend import construct, reading
from semira.frontend.checks import check_key
from semira.frontend.indexing import extract_expression
from semira.frontend.infix import Made_co, Operand
from semira.frontend.range_check import as_fitting
from semira.ops.meaning import cast_array

if TYPE_CHECKING:
    from semira.methods.b2sr.profile import BitsProfile


class _Readable(Operand[Made_co]):
    """Methods that matrices and vectors share."""

    __slots__ = ()

    @property
    def nvals(self) -> Any:
        """Number of entries: an int (synchronises), or a symbolic Scalar while recording."""
        return reading.count_entries(self)

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

    def _entries(self, what: str) -> tuple[Any, Any]:
        """Return positions, as they index a dense array, and values."""
        raise NotImplementedError

    @tells_shortage("to_dense")
    def to_dense(
        self, fill_value: Any = None, dtype: Any = None, *, device: str | None = None, **opts: Any
    ) -> Any:
        """Return a NumPy array of the same shape, missing entries replaced by `fill_value`.

        On `device` ``"cuda"`` a CuPy array.

        Raises
        ------
        TypeError
            Entries are missing and there is no `fill_value`.
        DeviceMismatch, InvalidValue
            As `to_coo`.
        OutOfMemory
            The dense array does not fit.
        """
        del opts
        if device is not None:
            return _device_dense(self, device, fill_value, dtype)
        positions, values = self._entries("to_dense")
        complete = len(values) == math.prod(self.shape)
        dense = reading.empty_dense(self, fill_value, dtype, complete=complete)
        dense[positions] = cast_array(values, dense.dtype)
        return visible(dense)


class ReadableMatrix(_Readable[Made_co]):
    """Base of `MatrixOperand`: its sizes, and its contents as arrays."""

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
    def T(self) -> ReadableMatrix[Any]:  # noqa: N802 - GraphBLAS' name
        """The transpose."""
        raise NotImplementedError

    def get(self, row: Any, col: Any, default: Any = None) -> Any:
        """Return the value at (row, col), or `default` without an entry there."""
        i = reading.check_position(row, self.nrows, "row")
        j = reading.check_position(col, self.ncols, "column")
        value = extract_expression(self, (i, j)).new().value
        return default if value is None else value

    def __contains__(self, index: Any) -> bool:
        if not isinstance(index, tuple) or len(index) != 2:
            raise TypeError(f"Invalid index for `in`: {index!r}; a Matrix takes (row, column)")
        check_key(index)
        i = reading.check_position(index[0], self.nrows, "row")
        j = reading.check_position(index[1], self.ncols, "column")
        return extract_expression(self, (i, j)).new().value is not None

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
            lent = _device_arrays(self, "coo", device, dtype, copy=copy)
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
        self, layout: str, dtype: Any, device: str | None, copy: bool, **how: Any
    ) -> tuple[Any, Any, Any]:
        if device is not None:
            lent = _device_arrays(self, layout, device, dtype, copy=copy, **how)
            return (*lent.indices, lent.values)
        operand = self if layout == "csr" else self.T
        return operand._compressed_rows(dtype)

    def _compressed_rows(self, dtype: Any) -> tuple[Any, Any, Any]:
        arrays = reading.oriented(reading.matrix_arrays(self, "export"), "csr").ordinary()
        values = reading.cast_values(arrays.entry_values(), dtype)
        return arrays.indptr.astype(np.uint64), arrays.indices.astype(np.uint64), values

    def to_csr(
        self, dtype: Any = None, *, sort: bool = True, device: str | None = None, copy: bool = True
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
        self, dtype: Any = None, *, sort: bool = True, device: str | None = None, copy: bool = True
    ) -> tuple[Any, Any, Any]:
        """Return (indptr, row indices, values); `device`, `copy` and errors as of `to_csr`."""
        del sort
        return self._compressed("csc", dtype, device, copy)

    def bits_profile(self, *, bands: int | None = None, seed: int = 0) -> BitsProfile:
        """Return what tiles of bits (``method="b2sr"``) would take for this matrix.

        Parameters
        ----------
        bands : int >= 2, optional
            Random bands of 32 rows to look at. None: all of a matrix of at most 2**23 entries, else
            4096 of them.
        seed : int
            Of the sample.

        Returns
        -------
        BitsProfile
            For tiles of 4, 8, 16 and 32 bits a side ``sizes`` has their number (an estimate with
            half the width of its 95 % confidence interval, if it was sampled), bytes beside
            compressed rows with and without values, the share of all tiles that they are, and how
            full they are; ``smallest``, ``auto`` and ``classes`` of the pattern. ``str`` of it is
            a table.

        Raises
        ------
        InvalidValue
            `bands` is less than 2, or `seed` less than 0.
        OutOfMemory
            There are 2**31 rows or more.

        Notes
        -----
        Copies the matrix from a GPU. Sorts the entries it looks at, for each size.

        References
        ----------
        J.-A. Chen, H.-H. Sung, X. Shen, N. Tallent, K. Barker, A. Li, *Bit-GraphBLAS: bit-level
        optimizations of matrix-centric graph processing on GPU*, IPDPS 2022, section III.

        Examples
        --------
        >>> import semira as gb
        >>> A = gb.Matrix.from_coo(range(64), range(64), 1.0)
        >>> found = A.bits_profile()
        >>> [each.tiles for each in found.sizes], found.smallest, found.classes["diagonal"]
        ([16, 8, 4, 2], 8, True)
        """
        arrays = reading.oriented(reading.matrix_arrays(self, "bits_profile"), "csr")
        found: BitsProfile = part_of("b2sr", "profile").profile(arrays, bands, seed)
        return found

    @tells_shortage("Matrix.to_dcsr or to_dcsc")
    def _hypersparse(self, dtype: Any) -> tuple[Any, Any, Any, Any]:
        arrays = reading.oriented(reading.matrix_arrays(self, "export"), "csr").hyper()
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

    def _entries(self, what: str) -> tuple[Any, Any]:
        rows, cols, values = reading.matrix_arrays(self, what).to_coo()
        return (rows, cols), values

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


class ReadableVector(_Readable[Made_co]):
    """Base of `VectorOperand`: its size, and its contents as arrays."""

    __slots__ = ()

    kind = "vector"
    ndim = 1

    @property
    def size(self) -> int:
        """Number of positions."""
        return self.shape[0]

    def get(self, index: Any, default: Any = None) -> Any:
        """Return the value at `index`, or `default` without an entry there."""
        position = reading.check_position(index, self.size, "vector")
        value = extract_expression(self, position).new().value
        return default if value is None else value

    def __contains__(self, index: Any) -> bool:
        if isinstance(index, tuple):
            raise TypeError(f"Invalid index for `in`: {index!r}; a Vector takes one position")
        check_key(index)
        position = reading.check_position(index, self.size, "vector")
        return extract_expression(self, position).new().value is not None

    def __iter__(self) -> Iterator[Any]:
        return iter(self.to_coo(values=False)[0])

    @tells_shortage("Vector.to_coo")
    def to_coo(
        self,
        dtype: Any = None,
        *,
        indices: bool = True,
        values: bool = True,
        sort: bool = True,
        device: str | None = None,
    ) -> tuple[Any, Any]:
        """Return (indices, values) as NumPy arrays; a part not wanted is None.

        Indices are uint64 and increasing. On `device` ``"cuda"`` both are CuPy arrays, with
        indices of 32 bits.

        Raises
        ------
        DeviceMismatch, InvalidValue
            The vector is placed elsewhere; `device` has no memory of its own.
        """
        del sort
        if device is not None:
            lent = _device_arrays(self, "coo", device, dtype)
            return lent.indices[0] if indices else None, lent.values if values else None
        arrays = reading.vector_arrays(self, "to_coo")
        positions = arrays.entry_indices().astype(np.uint64) if indices else None
        stored = reading.cast_values(arrays.entry_values(), dtype) if values else None
        return positions, stored

    def _entries(self, what: str) -> tuple[Any, Any]:
        arrays = reading.vector_arrays(self, what)
        return arrays.entry_indices(), arrays.entry_values()

    @tells_shortage("Vector.to_dict")
    def to_dict(self) -> dict[int, Any]:
        """Return ``{index: value}`` with Python numbers."""
        arrays = reading.vector_arrays(self, "to_dict")
        values = visible(arrays.entry_values())
        pairs = zip(arrays.entry_indices().tolist(), values.tolist(), strict=True)
        return dict(pairs)


def _device_arrays(
    operand: Any, layout: str, device: str, dtype: Any = None, **how: Any
) -> RawArrays:
    """Return the entries of an operand on a device; `how` is as in `DeviceBackend.export`.

    Raises RecordError inside a recorded loop body, DeviceMismatch if the object is placed
    elsewhere, and InvalidValue if the device has no memory of its own.
    """
    recording.refuse_host_read(
        "an export needs the number of entries", "export after the loop what it has written"
    )
    value, transposed = operand._operand()
    wanted = None if dtype is None else lookup_dtype(dtype)
    return value.export(layout, device, transposed=transposed, dtype=wanted, **how)  # type: ignore[no-any-return]


def _device_dense(operand: Any, device: str, fill_value: Any, dtype: Any) -> Any:
    complete = operand.nvals == math.prod(operand.shape)
    if not complete and fill_value is None:
        raise TypeError("fill_value must be given in `to_dense` when there are missing values")
    wanted = operand.dtype if dtype is None else lookup_dtype(dtype)
    if complete:
        return _device_arrays(operand, "dense", device, wanted).values
    if dtype is None:
        wanted = unify(infer_dtype(fill_value), wanted)
    fill = as_fitting(fill_value, wanted)[()]
    return _device_arrays(operand, "dense", device, wanted, fill=fill).values
