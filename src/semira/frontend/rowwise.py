"""What rows of a matrix become: modes, their first or largest entries, soft-max; and one-hot."""

from __future__ import annotations

from typing import Any

import numpy as np

from semira.base.dtypes import BOOL, FP32, FP64, INT32, INT64, DataType
from semira.base.errors import DimensionMismatch, DomainMismatch, InvalidValue
from semira.engine import recording
from semira.engine.calls import Literal
from semira.formats import MatrixArrays
from semira.formats.matrix import is_hypersparse
from semira.frontend import construct
from semira.frontend.array_kernels import ArrayKernel, Rows, array_module, rows_of
from semira.frontend.call import Template, as_literal, composed, expression
from semira.frontend.checks import expect
from semira.frontend.kinds import OBJECTS
from semira.frontend.traits import device_traits
from semira.ops.registry import monoid


def mode_rowwise(matrix: Any, keys: Any, prefer: Any, seed: Any, count: Any) -> Any:
    """Return the expression of `Matrix.mode_rowwise`."""
    _check_keys(keys, "keys", matrix.shape[1], "columns")
    args, params = [matrix, keys], []
    if prefer is not None:
        _check_keys(prefer, "prefer", matrix.shape[0], "rows")
        if prefer.dtype is not keys.dtype:
            raise DomainMismatch(
                f"prefer has dtype {prefer.dtype} and keys {keys.dtype}; give both one dtype"
            )
        args.append(prefer)
        params.append(("prefers", True))
    if seed is not None:
        args.append(_as_seed(seed))
        params.append(("draws", True))
    if not isinstance(count, (bool, np.bool_)):
        raise InvalidValue(f"count={count!r}; give True or False")
    if count:
        params.append(("counts", True))
    dtype = matrix.dtype
    if dtype.kind not in "BIUF" and not count:
        raise DomainMismatch(
            f"mode_rowwise compares sums, and values of {dtype} have no order; "
            "count the entries (count=True), or apply an operator with real results first"
        )
    total = monoid["plus"].typed(FP64 if dtype.kind == "F" and not count else INT64)
    axis = 1 if matrix._is_transposed else 0
    return expression(
        Template(
            "mode_rows", tuple(args), "vector", keys.dtype, (matrix.shape[0],), ((0, axis),),
            total, params=tuple(params),
        )
    )  # fmt: skip


def _check_keys(given: Any, name: str, size: int, what: str) -> None:
    expect(given, ("vector",), name, "Matrix.mode_rowwise")
    if given.dtype not in (INT32, INT64):
        raise DomainMismatch(f"{name} must be of INT32 or INT64, got {given.dtype}")
    if given.size != size:
        raise DimensionMismatch(
            f"{name} has size {given.size}, and the matrix has {size} {what}; they must agree"
        )


def _as_seed(given: Any) -> Any:
    if getattr(given, "kind", None) == "scalar":
        if given.dtype.kind not in "IU":
            raise DomainMismatch(f"seed must be an integer, got a Scalar of {given.dtype}")
        return given
    if isinstance(given, (Literal, bool)):
        raise DomainMismatch(f"seed must be an integer, got {given!r}")
    if not isinstance(given, (int, np.integer)):
        raise DomainMismatch(f"seed must be an integer or a Scalar, got {type(given).__name__}")
    return as_literal(int(given), INT64)


def cut_rows(matrix: Any, k: int, *, largest: bool) -> Any:
    """Return the expression of `Matrix.first_per_row` and `Matrix.largest_per_row`."""
    if largest and matrix.dtype.kind not in "BIUF":
        raise DomainMismatch(
            f"largest_per_row compares values, and those of {matrix.dtype} have no order; apply "
            "an operator with real results first"
        )
    # No row has more entries than columns, and kernels count those of a row in 32 bits.
    k = min(construct.check_size(k, "k"), matrix.shape[1])
    source = matrix.new() if matrix._is_transposed else matrix
    params = (("k", k), ("largest", True)) if largest else (("k", k),)
    dims = (0, 0), (0, 1)
    return expression(
        Template("select_k", (source,), "matrix", matrix.dtype, matrix.shape, dims, params=params)
    )


def one_hot(labels: Any, ncols: int) -> Any:
    """Return the expression of `Vector.one_hot`."""
    if labels.dtype not in (INT32, INT64):
        raise DomainMismatch(f"one_hot takes values of INT32 or INT64, got {labels.dtype}")
    shape = labels.size, construct.check_size(ncols, "ncols")
    dims, params = ((0, 0), shape[1]), (("by_value", True),)
    return expression(Template("diag", (labels,), "matrix", BOOL, shape, dims, params=params))


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
