"""Checks of products, and the arrays that they read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from semira import Matrix
from semira.apps.sampling.problem import check_int, matrix_of
from semira.exceptions import DimensionMismatch, DomainMismatch, InvalidValue, InvalidWeight
from semira.kernels import Rows, rows_of

#: Names of products of two values, as the kernel numbers them; "exists" keeps no values.
PRODUCTS = {
    "exists": 0,
    "pair": 0,
    "times": 1,
    "first": 2,
    "second": 3,
    "truediv": 4,
    "share": 5,
    "min": 6,
}

#: Ways to weigh a sum: by the smaller of two numbers, by both less the sum, by their product.
WEIGHTS = {None: 0, "overlap": 1, "jaccard": 2, "scaled": 3}


@dataclass(slots=True)
class Product:
    """What the kernel of a product is given."""

    left: Rows
    right: Rows
    #: `left_values`, `right_values`: array, one value or as many as there are entries.
    left_values: Any
    right_values: Any
    kind: int
    weigh: int
    #: `left_weights`, `right_weights`: array of float64.
    left_weights: Any
    right_weights: Any
    threshold: float
    #: Entries with ``column - row == diagonal`` are left out.
    diagonal: int | None
    top: int
    #: Columns of the result.
    width: int
    #: Of the result.
    dtype: Any
    #: `counts`, `valued`: whether sums are numbers of pairs, and whether they are kept.
    counts: bool
    valued: bool = True


def check_operands(A: Any, B: Any, name: str) -> tuple[Matrix, Matrix]:
    """Return the operands as matrices.

    Raises DomainMismatch, DimensionMismatch or InvalidValue if they are none, or do not fit.
    """
    left, right = matrix_of(A, name, square=False), matrix_of(B, name, square=False)
    if left.ncols != right.nrows:
        raise DimensionMismatch(
            f"{name}: {left.ncols} columns of the left operand meet {right.nrows} rows of the right"
        )
    if left.device != right.device:
        raise InvalidValue(
            f"{name}: operands on {left.device} and {right.device}: move one of them"
        )
    if right.ncols >= 2**31:
        raise InvalidValue(
            f"{name}: {right.ncols} columns; at most 2**31 - 1, because each worker "
            "has a sum for every column"
        )
    return left, right


def check_filters(top: Any, threshold: Any, memory: Any) -> tuple[int, float, int | None]:
    """Return how many entries a row keeps (0: all), the least value, and the bytes to use.

    Raises InvalidValue if one is out of its range.
    """
    kept = 0 if top is None else check_int(top, "top", 1)
    least = -np.inf if threshold is None else number_of(threshold, "threshold")
    most = None if memory is None else check_int(memory, "memory", 1, 2**63 - 1)
    return kept, least, most


def number_of(value: Any, name: str) -> float:
    """Return a number that is no NaN; raises InvalidValue if it is none."""
    if isinstance(value, (bool, str)) or not np.isscalar(value) or np.iscomplexobj(value):
        raise InvalidValue(f"{name}={value!r} must be a number")
    number = float(value)  # type: ignore[arg-type]
    if np.isnan(number):
        raise InvalidValue(f"{name}={value!r} must be a number")
    return number


def check_weigh(
    weigh: Any, left: Any, right: Any, shape: tuple[int, int], xp: Any
) -> tuple[int, Any, Any]:
    """Return the number of a way to weigh sums, and its arrays.

    Raises InvalidValue or DimensionMismatch if there is no such way, or they do not fit.
    """
    if weigh not in WEIGHTS:
        known = ", ".join(str(each) for each in WEIGHTS if each)
        raise InvalidValue(f"weigh={weigh!r} must be one of {known}, or None")
    if (weigh is None) != (left is None) or (weigh is None) != (right is None):
        raise InvalidValue("weigh=, left= and right= belong together; give all of them or none")
    found = []
    for name, given, length in (("left", left, shape[0]), ("right", right, shape[1])):
        if given is None:
            found.append(xp.ones(1, xp.float64))
            continue
        array = given.to_dense() if hasattr(given, "to_dense") else given
        array = xp.ascontiguousarray(xp.asarray(array, xp.float64))
        if array.shape != (length,):
            raise DimensionMismatch(f"{name} has shape {array.shape}; it needs {length} numbers")
        found.append(array)
    return WEIGHTS[weigh], found[0], found[1]


def made_product(
    left: Rows, right: Rows, kind: str, filters: tuple[int, float, int | None], xp: Any, *,
    weigh: Any = (0, None, None), diagonal: int | None = None,
) -> Product:  # fmt: skip
    """Return what the kernel is given: sums are counts, 64-bit integers or doubles."""
    number = PRODUCTS[kind]
    top, threshold, _ = filters
    reads = {"exists": (), "pair": (), "first": (0,), "second": (1,)}.get(kind, (0, 1))
    given = [rows.values for rows in (left, right)]
    is_float = (
        weigh[0] > 0 or kind in ("truediv", "share")
        or any(given[each].dtype.kind == "f" for each in reads)
    )  # fmt: skip
    counts = kind in ("exists", "pair") and not is_float
    dtype = np.dtype(np.float64 if is_float else np.int64)
    one = xp.ones(1, dtype)
    values = [
        xp.ascontiguousarray(given[each].astype(dtype, copy=False)) if each in reads else one
        for each in (0, 1)
    ]
    ones = xp.ones(1, xp.float64)
    weights = [ones if each is None else each for each in weigh[1:]]
    return Product(
        left, right, values[0], values[1], number, weigh[0], weights[0], weights[1], threshold,
        diagonal, top, right.shape[1], dtype, counts, kind != "exists",
    )  # fmt: skip


def rows_with_values(matrix: Matrix, wanted: bool, name: str) -> Rows:
    """Return the rows of a matrix, with real values if `wanted`.

    Raises DomainMismatch if values are complex numbers or records, and InvalidValue if one is
    beyond INT64.
    """
    if wanted and np.dtype(matrix.dtype.np_type).kind not in "biuf":
        raise DomainMismatch(
            f"{name}: values of dtype {matrix.dtype} have no order; use real numbers"
        )
    rows = rows_of(matrix, values=wanted)
    if rows.values is not None and rows.values.dtype == np.uint64 and len(rows.values):
        most = int(rows.values.max())
        if most >= 2**63:
            raise InvalidValue(
                f"{name}: a value is {most}, but sums of integers are INT64; use FP64"
            )
    return rows


def check_no_nan(values: Any, name: str, xp: Any) -> None:
    """Check that none of the values that are to be compared is NaN.

    Raises InvalidWeight if one is.
    """
    if values is not None and values.dtype.kind == "f" and bool(xp.isnan(values).any()):
        raise InvalidWeight(
            f"{name}: a value is NaN, which has no order; remove it or leave top= out"
        )
