"""Soft-max over the rows of a matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from semira.base.dtypes import FP32, FP64
from semira.base.errors import DomainMismatch, InvalidValue
from semira.engine import recording
from semira.frontend.array_kernels import ArrayKernel, array_module, rows_of
from semira.frontend.deferred import composed
from semira.frontend.kinds import OBJECTS

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
            return OBJECTS["matrix"].from_csr(
                rows.indptr, rows.indices, out, dtype, nrows=given.nrows, ncols=given.ncols,
                device=given.device,
            )  # fmt: skip

    call = ("softmax_rowwise", (matrix,), None)
    return composed("matrix", dtype, tuple(matrix.shape), make, call=call)
