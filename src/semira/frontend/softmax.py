"""Soft-max over the rows of a matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from semira.base.dtypes import FP32, FP64, DataType
from semira.base.errors import DomainMismatch, InvalidValue
from semira.engine import recording
from semira.formats import MatrixArrays
from semira.formats.matrix import is_hypersparse
from semira.frontend.array_kernels import ArrayKernel, Rows, array_module, rows_of
from semira.frontend.deferred import composed
from semira.frontend.kinds import OBJECTS
from semira.frontend.traits import device_traits

_SOFTMAX = ArrayKernel("semira.frontend.row_kernels:softmax", "softmax", lanes=32)


def softmax_rowwise(matrix: Any, log: Any) -> Any:
    """Return the expression of `Matrix.softmax_rowwise`."""
    if not isinstance(log, (bool, np.bool_)):
        raise InvalidValue(f"log={log!r}; give True or False")
    if matrix.dtype.kind not in "BIUF":
        raise DomainMismatch(
            f"softmax_rowwise takes exponentials of real numbers, and the values are of "
            f"{matrix.dtype}; apply an operator with real results first"
        )
    dtype = FP32 if matrix.dtype is FP32 else FP64

    def make() -> Any:
        recording.refuse_host_read(
            "softmax_rowwise runs a kernel of its own", "compute it before or after the loop"
        )
        given = matrix if isinstance(matrix, OBJECTS["matrix"]) else matrix.new()
        with array_module(given.device) as xp:
            rows = rows_of(given, dtype=dtype)
            values = xp.ascontiguousarray(rows.values)
            out = xp.empty(len(values), dtype.array_dtype)
            _SOFTMAX(
                given.nrows, rows.indptr, values, bool(log), out, device=given.device,
                work=rows.indptr,
            )  # fmt: skip
            return _same_structure(given, rows, out, dtype)

    call = ("softmax_rowwise", (matrix,), None)
    return composed("matrix", dtype, tuple(matrix.shape), make, call=call)


def _same_structure(matrix: Any, rows: Rows, values: Any, dtype: DataType) -> Any:
    made, device = OBJECTS["matrix"], matrix.device
    shape = {"nrows": matrix.nrows, "ncols": matrix.ncols}
    if device_traits(device).own_memory or is_hypersparse(matrix.nrows, len(values)):
        return made.from_csr(rows.indptr, rows.indices, values, dtype, **shape, device=device)
    # The arrays are those of a matrix: there is nothing to check.
    arrays = MatrixArrays(
        **shape, dtype=dtype, orientation="csr", indptr=rows.indptr, indices=rows.indices,
        values=values,
    )  # fmt: skip
    return made._of(arrays, None, device)
