"""Objects of SuiteSparse:GraphBLAS through python-graphblas, and the arrays they come from."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from semira.base import errors
from semira.base.dtypes import DataType, lookup_dtype
from semira.base.errors import DeviceUnavailable
from semira.contract.backend import Arrays
from semira.formats import MatrixArrays, ScalarArrays, VectorArrays, coo_to_matrix, index_dtype

#: What to say where SuiteSparse gives a code and no words.
_UNSAID = {
    "OutOfMemory": "no memory for the result or for what it is computed from (how much was asked "
    "for it does not say); use smaller objects, fewer entries, or narrower dtypes"
}


@functools.cache
def library() -> Any:
    """Return python-graphblas.

    Raises DeviceUnavailable if it is not installed; the message says how to install it.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import graphblas
            import graphblas.core.operator
    except ImportError as error:
        raise DeviceUnavailable(
            f"device 'suitesparse' needs python-graphblas ({error}); install it with "
            "pip install 'semira[suitesparse]', or use device 'cpu'"
        ) from error
    return graphblas


@contextmanager
def translated() -> Iterator[None]:
    """Turn the library's exceptions into ours of the same name."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except library().exceptions.GraphblasException as error:
        ours = getattr(errors, type(error).__name__, errors.Panic)
        text = str(error).strip() or _UNSAID.get(type(error).__name__, type(error).__name__)
        raise ours(f"SuiteSparse: {text}") from error


def dtype_of(data: Any) -> DataType:
    """Return our dtype of an object."""
    return data.dtype if isinstance(data, ScalarArrays) else lookup_dtype(data.dtype.name)


def empty_object(shape: tuple[int, ...], dtype: DataType) -> Any:
    """Return an object without entries."""
    if not shape:
        return ScalarArrays(dtype, None)
    made = library().Vector if len(shape) == 1 else library().Matrix
    return made(dtype.name, *shape)


def vector_of(size: int, dtype: DataType, indices: Any, values: Any, dup: Any = None) -> Any:
    """Return a vector of entries."""
    return library().Vector.from_coo(
        np.asarray(indices), values, dtype=dtype.name, size=size, dup_op=dup
    )


def from_arrays(arrays: Arrays) -> Any:
    """Return the object that holds `arrays`; scalars stay what they are."""
    if isinstance(arrays, ScalarArrays):
        return arrays
    if isinstance(arrays, VectorArrays):
        return vector_of(
            arrays.size, arrays.dtype, arrays.entry_indices(), arrays.entry_values()
        )  # fmt: skip
    rows, cols, values = arrays.to_coo()
    return library().Matrix.from_coo(
        rows, cols, values, dtype=arrays.dtype.name, nrows=arrays.nrows, ncols=arrays.ncols
    )


def to_arrays(data: Any) -> Arrays:
    """Return the arrays of an object."""
    if isinstance(data, ScalarArrays):
        return data
    dtype = dtype_of(data)
    if data.ndim == 1:
        indices, values = data.to_coo()
        if len(values) == data.size:
            return VectorArrays.full(dtype, values)
        return VectorArrays.sparse(
            data.size, dtype, indices.astype(index_dtype(data.size)), values
        )  # fmt: skip
    rows, cols, values = data.to_coo()
    made: MatrixArrays = coo_to_matrix(
        data.nrows, data.ncols, rows.astype(np.int64), cols.astype(np.int64), values, dtype=dtype
    )
    return made


def lifted(scalar: ScalarArrays) -> Any:
    """Return a vector of size 1 that holds what the scalar holds."""
    filled = [] if scalar.value is None else [0]
    values = np.array([scalar.value][: len(filled)], scalar.dtype.np_type)
    return vector_of(1, scalar.dtype, np.array(filled, np.uint64), values)


def lowered(vector: Any) -> ScalarArrays:
    """Return the scalar that a vector of size 1 holds."""
    dtype = dtype_of(vector)
    _, values = vector.to_coo()
    return ScalarArrays(dtype, values[0] if len(values) else None)
