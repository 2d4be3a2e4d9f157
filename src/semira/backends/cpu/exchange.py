"""Arrays in and out: what a handle's data shares with the host, and what is copied."""

from __future__ import annotations

import numpy as np

from semira.backends.cpu.compressed import Array, Compressed
from semira.backends.cpu.storage import CpuMatrix, CpuVector, sparse_vector, to_dense
from semira.backends.cpu.whole import WholeRuns
from semira.base.dtypes import DataType
from semira.formats import MatrixArrays, ScalarArrays, VectorArrays


def empty_data(shape: tuple[int, ...], dtype: DataType) -> ScalarArrays | CpuVector | CpuMatrix:
    """Return an object without entries."""
    if not shape:
        return ScalarArrays(dtype, None)
    return from_arrays(
        VectorArrays.empty(shape[0], dtype)
        if len(shape) == 1
        else MatrixArrays.empty(shape[0], shape[1], dtype)
    )


def from_arrays(
    arrays: ScalarArrays | VectorArrays | MatrixArrays,
) -> ScalarArrays | CpuVector | CpuMatrix:
    """Take arrays over; only those of bitmap and full vectors, which are written, are copied."""
    if isinstance(arrays, ScalarArrays):
        return arrays
    if isinstance(arrays, VectorArrays):
        return _vector_from(arrays)
    arrays = arrays.ordinary()
    indptr, indices, values = (
        _usable(part) for part in (arrays.indptr, arrays.indices, arrays.values)
    )
    stored = Compressed(arrays.nmajor, arrays.nminor, indptr, indices, values, arrays.iso)
    by_rows = arrays.orientation == "csr"
    return CpuMatrix(
        arrays.nrows, arrays.ncols, arrays.dtype,
        stored if by_rows else None, None if by_rows else stored, arrays.symmetric,
        arrays.orientation if arrays.lean else None,
    )  # fmt: skip


def _vector_from(arrays: VectorArrays) -> CpuVector:
    if arrays.indices is not None:
        indices, values = _usable(arrays.indices), _usable(arrays.values)
        return sparse_vector(arrays.size, arrays.dtype, indices, values, iso=arrays.iso)
    present = None if arrays.present is None else np.array(arrays.present)
    count = None if present is None else np.array([arrays.nvals], np.int64)
    vector = CpuVector(
        arrays.size, arrays.dtype, arrays.storage, np.array(arrays.values), None, present, count,
        arrays.iso,
    )  # fmt: skip
    return to_dense(vector) if arrays.iso and arrays.storage == "bitmap" else vector


def _usable(array: Array) -> Array:
    """Return an array as kernels are compiled for: contiguous, and writeable in name.

    Kernels never write to it, but would be compiled anew for a read-only type. What lies in memory
    that nobody may write (a mapped file) is copied.
    """
    flags = array.flags
    if type(array) is np.ndarray and flags.c_contiguous and flags.writeable:
        return array
    array = np.ascontiguousarray(array)
    if array.flags.writeable:
        return array
    view = array.view()
    try:
        view.flags.writeable = True
    except ValueError:
        return array.copy()
    return view


def to_arrays(
    data: ScalarArrays | CpuVector | CpuMatrix,
) -> ScalarArrays | VectorArrays | MatrixArrays:
    """Return the arrays of an object, read-only; those that may be written later are copies."""
    if isinstance(data, ScalarArrays):
        return data
    if isinstance(data, CpuVector):
        values = data.values if data.indices is not None else data.values.copy()
        present = None if data.present is None else data.present.copy()
        return VectorArrays(
            data.size, data.dtype, data.storage, _frozen(values), _frozen_or_none(data.indices),
            _frozen_or_none(present), data.nvals, data.iso,
        )  # fmt: skip
    if data.csr is None and data.lean is None and isinstance(data.csc, WholeRuns):
        # Columns that a product made are nobody's choice, and readers sort by rows.
        data.rows()
    stored = data.any_orientation()
    return MatrixArrays(
        data.nrows, data.ncols, data.dtype, "csc" if data.csr is None else "csr",
        _frozen(stored.indptr), _frozen(stored.indices), _frozen(stored.values), stored.iso,
        data.symmetric, lean=data.lean is not None,
    )  # fmt: skip


def _frozen(array: Array) -> Array:
    view = array.view()
    view.flags.writeable = False
    return view


def _frozen_or_none(array: Array | None) -> Array | None:
    return None if array is None else _frozen(array)
