"""Products whose rows are filtered before they are stored."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import semira as gb
from semira import Matrix
from semira.apps.products.problem import (
    PRODUCTS,
    Product,
    check_filters,
    check_no_nan,
    check_operands,
    check_weigh,
    made_product,
    rows_with_values,
)
from semira.apps.products.solve import Part, Rows, worker_bytes
from semira.exceptions import InvalidValue
from semira.kernels import Rows as Arrays
from semira.kernels import array_module, rows_of


def memory(B: Matrix, *, top: int | None = None) -> int:
    """Return the bytes of a worker of `filtered_product`: a thread of the host, a block of a GPU.

    All workers together take at most a quarter of the free memory, or of ``memory=``, but there is
    always one. The result is not included.

    Examples
    --------
    >>> memory(Matrix(int, 10, 1000))
    8398
    """
    return worker_bytes(B.ncols, 0 if top is None else top, False)


def filtered_product(
    A: Matrix,
    B: Matrix,
    /,
    multiply: str | Callable[[Any, Any], Any] = "times",
    *,
    top: int | None = None,
    threshold: float | None = None,
    drop_diagonal: bool = False,
    weigh: str | None = None,
    left: Any = None,
    right: Any = None,
    memory: int | None = None,
) -> Matrix:
    """Return a product A B of which each row keeps some entries; the others are never stored.

    ``c_ij = sum over k of f(a_ik, b_kj)``, weighed by numbers of the row and the column; then the
    diagonal is dropped, then what is below the threshold, then all but the greatest of each row.

    Parameters
    ----------
    A : Matrix, shape (m, k), real
    B : Matrix, shape (k, n), real
        Not modified.
    multiply : {"times", "pair", "first", "second", "truediv", "share", "min", "exists"} or function
        f: ``x * y``, 1, x, y, ``x / y``, ``x / (x + y)``, the smaller one; with ``"exists"`` the
        result is a pattern, True everywhere. Or a Python function of two numbers, or a binary
        operator.
    top : int >= 1, optional
        The greatest entries that a row keeps; of equal ones the first columns.
    threshold : float, optional
        The least value that is kept.
    drop_diagonal : bool
        Leave out (i, i).
    weigh : "overlap", "jaccard" or "scaled", optional
        Divide ``c_ij`` by ``min(left[i], right[j])``, ``left[i] + right[j] - c_ij``, or
        ``left[i] * right[j]``.
    left, right : array or full Vector, shapes (m,) and (n,), optional
        Of `weigh`.
    memory : int, optional
        Bytes to use beside the operands and the result. None: a quarter of what is free.

    Returns
    -------
    Matrix, shape (m, n)
        FP64 if a value or a quotient is; else INT64, whose sums wrap around.

    Raises
    ------
    DomainMismatch, DimensionMismatch
        An operand is no real Matrix; shapes do not fit.
    InvalidValue
        A parameter is out of range; operands lie on two devices.
    InvalidWeight
        With `top`, a value is NaN.
    OutOfMemory
        The result does not fit; the message says how many bytes it takes.

    Notes
    -----
    O(partial products + entries), twice without `top`: rows are counted first, so that exactly the
    result is allocated. With `top`, room for `top` entries a row. Each thread of a host, or block
    of a GPU, has a sum for each column; rows take 24 bytes each, and values that are not INT64 or
    FP64 are copied. Sums are in the order of k on every device: the same bits.
    With a Python function, blocks of rows are products of their own (`Matrix.mxm`), within
    ``memory=``, and their floats are in the order of the device.

    References
    ----------
    F. Gustavson, *Two fast algorithms for sparse matrices*, ACM TOMS 4, 1978.

    Examples
    --------
    >>> A = Matrix.from_coo([0, 0, 1, 1, 2], [0, 1, 0, 1, 1], [1, 1, 1, 1, 1])
    >>> filtered_product(A, A.T.new(), "pair", drop_diagonal=True, top=1).to_dicts()
    {0: {1: 2}, 1: {0: 2}, 2: {0: 1}}
    """
    checked = _Call(A, B, multiply, top, threshold, drop_diagonal, weigh, left, right, memory)
    with array_module(checked.device):
        return checked.whole()


def product_blocks(
    A: Matrix,
    B: Matrix,
    /,
    multiply: str | Callable[[Any, Any], Any] = "times",
    *,
    top: int | None = None,
    threshold: float | None = None,
    drop_diagonal: bool = False,
    weigh: str | None = None,
    left: Any = None,
    right: Any = None,
    memory: int | None = None,
) -> Iterator[tuple[int, Matrix]]:
    """Yield blocks of rows of a filtered product, of as many rows as fit into a number of bytes.

    For results that fit nowhere: write each block to a file, or reduce it. Parameters and errors
    are those of `filtered_product`.

    Parameters
    ----------
    A, B, multiply, top, threshold, drop_diagonal, weigh, left, right
        As `filtered_product`.
    memory : int, optional
        Bytes of a block and of what computes it. None: a quarter of what is free.

    Yields
    ------
    (int, Matrix)
        The number of the first row, and the rows.

    Raises
    ------
    OutOfMemory
        One row does not fit.

    Examples
    --------
    >>> A = Matrix.from_coo([0, 0, 1, 1, 2], [0, 1, 0, 1, 1], [1, 1, 1, 1, 1])
    >>> sum(rows.nvals for _, rows in product_blocks(A, A.T.new(), "pair", memory=1 << 20))
    9
    """
    checked = _Call(A, B, multiply, top, threshold, drop_diagonal, weigh, left, right, memory)
    return checked.blocks()


class _Call:
    """A checked call of a filtered product."""

    def __init__(
        self, A: Any, B: Any, multiply: Any, top: Any, threshold: Any, drop: bool, weigh: Any,
        left: Any, right: Any, memory: Any,
    ) -> None:  # fmt: skip
        name = "filtered_product"
        self._A, self._B = check_operands(A, B, name)
        self.device = self._A.device
        self._filters = check_filters(top, threshold, memory)
        self._memory, self._drop = self._filters[2], drop
        self._operator: Any = None
        shape = self._A.nrows, self._B.ncols
        with array_module(self.device) as xp:
            self._weigh = check_weigh(weigh, left, right, shape, xp)
            if isinstance(multiply, str):
                if multiply not in PRODUCTS:
                    known = ", ".join(PRODUCTS)
                    raise InvalidValue(
                        f"multiply={multiply!r} must be one of {known}, or a function"
                    )
                if multiply == "exists" and (top, threshold, weigh) != (None, None, None):
                    raise InvalidValue("multiply='exists' leaves nothing to compare or to weigh")
                self._product = self._named(multiply, xp)
            else:
                self._operator = _semiring_of(multiply)

    def _named(self, multiply: str, xp: Any) -> Product:
        reads = multiply not in ("pair", "exists")
        left = rows_with_values(self._A, reads, "filtered_product")
        right = rows_with_values(self._B, reads, "filtered_product")
        if self._filters[0]:
            for each in (left, right):
                check_no_nan(each.values, "filtered_product", xp)
        diagonal = 0 if self._drop else None
        return made_product(
            left, right, multiply, self._filters, xp, weigh=self._weigh, diagonal=diagonal
        )

    def whole(self) -> Matrix:
        """Return the result."""
        with array_module(self.device) as xp:
            if self._operator is None:
                rows = Rows(self._product, self.device, xp, self._memory)
                return matrix_of_part(rows.whole(), rows.width, self.device)
            blocks = [each for _, each in self._multiplied()]
        if not blocks:
            return Matrix("INT64", 0, self._B.ncols)
        return gb.ss.concat([[each] for each in blocks]) if len(blocks) != 1 else blocks[0]

    def blocks(self) -> Iterator[tuple[int, Matrix]]:
        """Yield blocks of rows."""
        if self._operator is not None:
            yield from self._multiplied()
            return
        with array_module(self.device) as xp:
            rows = Rows(self._product, self.device, xp, self._memory)
            parts = rows.parts()
        while True:
            # Not while the caller works: the block has a stream of its own.
            with array_module(self.device):
                part = next(parts, None)
                if part is None:
                    return
                made = matrix_of_part(part, rows.width, self.device)
            yield part.first, made

    def _multiplied(self) -> Iterator[tuple[int, Matrix]]:
        """Yield blocks that `Matrix.mxm` made, filtered."""
        with array_module(self.device) as xp:
            kept = rows_of(self._A, values=False), rows_of(self._B, values=False)
            counted = made_product(kept[0], kept[1], "pair", self._filters, xp)
            bounds = Rows(counted, self.device, xp, self._memory).bounds()
        for first, last in pairwise(bounds):
            made = self._A[first:last, :].new().mxm(self._B, self._operator).new()
            with array_module(self.device) as xp:
                block = self._filtered(made, first, last, xp)
            yield first, block

    def _filtered(self, made: Matrix, first: int, last: int, xp: Any) -> Matrix:
        """Return a block of rows, filtered: its product with the identity."""
        arrays = rows_with_values(made, True, "filtered_product")
        if self._filters[0]:
            check_no_nan(arrays.values, "filtered_product", xp)
        unit = xp.arange(last - first + 1, dtype=xp.int64)
        identity = Arrays(unit, unit[:-1], None, (last - first, last - first))
        number, left, right = self._weigh
        weigh = number, left[first:last] if number else left, right
        diagonal = first if self._drop else None
        product = made_product(
            identity, arrays, "second", self._filters, xp, weigh=weigh, diagonal=diagonal
        )
        rows = Rows(product, self.device, xp, self._memory)
        return matrix_of_part(rows.whole(), rows.width, self.device)


def _semiring_of(function: Any) -> Any:
    """Return the semiring that adds up a function of two values.

    Raises InvalidValue if there is none.
    """
    if hasattr(function, "commutes_to") or type(function).__name__ == "BinaryOp":
        return gb.semiring.register_anonymous(gb.monoid.plus, function)
    if not callable(function):
        raise InvalidValue(f"multiply={function!r} must be a name, a function or a binary operator")
    operator = gb.binary.register_anonymous(function)
    return gb.semiring.register_anonymous(gb.monoid.plus, operator)


def matrix_of_part(part: Part, width: int, device: str) -> Matrix:
    """Return rows as a matrix; True everywhere where there is only a pattern."""
    is_iso = part.values is None
    with gb.device(device):
        made: Matrix = Matrix.ss.import_csr(
            indptr=part.indptr, col_indices=part.indices, values=True if is_iso else part.values,
            nrows=len(part.indptr) - 1, ncols=width, sorted_cols=True, take_ownership=True,
            is_iso=is_iso,
        )  # fmt: skip
    return made
