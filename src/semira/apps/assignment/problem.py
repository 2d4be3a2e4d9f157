"""What is given to an assignment, checked: costs of rows and columns, as arrays for kernels."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira import Matrix, Vector
from semira.apps.arrays import as_given, on_host
from semira.exceptions import DimensionMismatch, DomainMismatch, InvalidValue
from semira.kernels import rows_of

NAME = "linear_sum_assignment"

#: What the kernels call the kinds of costs.
DENSE, ADDED, ALONE = 0, 1, 2

#: What an entry that is not there means.
ABSENT = {"zero": ADDED, "forbidden": ALONE}


@dataclass(frozen=True, slots=True)
class Costs:
    """Costs of at most as many rows as columns, in memory of their device."""

    rows: int
    columns: int
    #: DENSE: `values` has all costs. ADDED: rows of entries, added to the product of `x` and the
    #: transpose of `y`. ALONE: rows of entries; nothing else may be chosen.
    mode: int
    values: Any
    #: `indptr`, `indices`: of one element each if all costs are there.
    indptr: Any
    indices: Any
    #: 1 to find the least sum of costs, -1 to find the greatest.
    sign: float
    #: No finite cost is farther from 0.
    largest: float
    #: Whether there are costs that may not be chosen.
    forbids: bool
    #: `x`, `y`: array, shape (rows * rank,), (columns * rank,), FP64.
    x: Any
    y: Any
    rank: int = 0

    @property
    def given(self) -> tuple[Any, ...]:
        """The first arguments of the kernels."""
        return self.mode, self.values, self.indptr, self.indices, self.x, self.y, self.rank

    def sample(self) -> NDArray[np.float64]:
        """Return costs of about a thousand pairs, on the host."""
        return on_host(self.values[:: max(1, len(self.values) // 1024)]).astype(np.float64)

    def are_whole(self, sample: NDArray[np.float64], xp: Any) -> bool:
        """Whether all costs are integers that a double holds; most fractions are in the sample."""
        if self.rank or self.largest >= 2**52 or (sample != np.floor(sample)).any():
            return False
        values = self.values
        return values.dtype.kind in "biu" or bool((values == xp.floor(values)).all())


def device_of(cost: Any) -> str:
    """Return where costs lie: a Matrix and an array of CuPy where they are, others by default."""
    if isinstance(cost, Matrix):
        return cost.device
    if hasattr(cost, "__cuda_array_interface__"):
        return "cuda"
    return Vector(bool, 1).device


def checked(cost: Any, maximize: bool, absent: str, xp: Any) -> tuple[Costs, bool]:
    """Return costs as arrays, and whether they are those of columns and rows.

    Raises DomainMismatch if they are no numbers, or complex, DimensionMismatch if they are not
    those of a matrix, and InvalidValue if there is NaN, or an infinite cost of the wrong sign, or
    `absent` is unknown.
    """
    if absent not in ABSENT:
        raise InvalidValue(f"{NAME}: absent={absent!r} is none of {', '.join(ABSENT)}")
    if hasattr(cost, "kind") and not isinstance(cost, Matrix):
        raise DomainMismatch(
            f"{NAME} needs a Matrix or an array; make a Matrix of an expression with .new()"
        )
    sign = -1.0 if maximize else 1.0
    if not isinstance(cost, Matrix):
        if hasattr(cost, "tocsr"):
            raise DomainMismatch(
                f"{NAME}: costs are a {type(cost).__name__} of SciPy; make a Matrix of it with "
                "semira.io.from_scipy_sparse"
            )
        array = xp.asarray(as_given(cost, f"{NAME}: costs"))
        if array.ndim != 2:
            raise DimensionMismatch(
                f"{NAME}: costs are a matrix, of two dimensions; these have {array.ndim}"
            )
        turned = array.shape[0] > array.shape[1]
        return _dense(xp.ascontiguousarray(array.T if turned else array), sign, xp), turned
    turned = cost.nrows > cost.ncols
    rows = rows_of(cost.T.new() if turned else cost)
    if len(rows.indices) == rows.shape[0] * rows.shape[1]:
        return _dense(rows.values.reshape(rows.shape), sign, xp), turned
    return sparse(rows, ABSENT[absent], sign, xp), turned


def _dense(array: Any, sign: float, xp: Any) -> Costs:
    values = _numbers(array).reshape(-1)
    largest, forbids = _bounds(values, sign, xp)
    none, zero = xp.zeros(1, xp.int64), xp.zeros(1)
    if not len(values):
        values = zero
    rows, columns = array.shape
    return Costs(rows, columns, DENSE, values, none, none, sign, largest, forbids, zero, zero)


def sparse(rows: Any, mode: int, sign: float, xp: Any) -> Costs:
    """Return the costs of a sparse matrix."""
    values, indices, zero = _numbers(rows.values), rows.indices, xp.zeros(1)
    largest, forbids = _bounds(values, sign, xp)
    if not len(values):
        values, indices = zero, xp.zeros(1, xp.int64)
    forbids |= mode == ALONE
    nrows, ncols = rows.shape
    return Costs(
        nrows, ncols, mode, values, rows.indptr, indices, sign, largest, forbids, zero, zero
    )


def with_product(costs: Costs, x: Any, y: Any, xp: Any) -> Costs:
    """Return costs that are added to ``x @ y.T``, which is never made."""
    rank = x.shape[1]
    if not rank:
        return costs
    bound = float((abs(x).max(0) * abs(y).max(0)).sum())
    return replace(
        costs, x=xp.ascontiguousarray(x).reshape(-1), y=xp.ascontiguousarray(y).reshape(-1),
        rank=rank, largest=costs.largest + bound,
    )  # fmt: skip


def _numbers(array: Any) -> Any:
    """Return numbers of a dtype that kernels take.

    Raises DomainMismatch if they are something else.
    """
    if array.dtype.kind not in "biuf":
        raise DomainMismatch(f"{NAME}: costs are real numbers, not {array.dtype}")
    if array.dtype.kind == "b":
        return array.astype(np.int8)
    if array.dtype.kind == "f" and array.dtype.itemsize not in (4, 8):
        return array.astype(np.float32 if array.dtype.itemsize == 2 else np.float64)
    return array


def _bounds(values: Any, sign: float, xp: Any) -> tuple[float, bool]:
    """Return the greatest finite absolute cost, and whether there are infinite ones.

    Raises InvalidValue if there is NaN, or a cost that every assignment would take.
    """
    if not len(values):
        return 0.0, False
    least, greatest = sorted((sign * float(values.min()), sign * float(values.max())))
    has_nan = bool(np.isnan(least) or np.isnan(greatest))
    if has_nan or least == -np.inf:
        what = "NaN" if has_nan else f"{-np.inf * sign}"
        raise InvalidValue(
            f"{NAME}: the matrix contains invalid numeric entries ({what}); only {np.inf * sign} "
            "may stand for what must not be chosen"
        )
    if greatest < np.inf:
        return max(abs(least), abs(greatest)), False
    return float(abs(xp.where(xp.isfinite(values), values, 0)).max()), True
