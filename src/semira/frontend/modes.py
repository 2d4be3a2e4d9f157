"""Modes: for each row of a matrix the key with the largest sum."""

from __future__ import annotations

from typing import Any

import numpy as np

from semira.base.dtypes import FP64, INT32, INT64
from semira.base.errors import DimensionMismatch, DomainMismatch, InvalidValue
from semira.engine.calls import Literal
from semira.frontend.call import Template, as_literal, expression
from semira.frontend.checks import expect
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
