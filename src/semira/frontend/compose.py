"""Operations made of others: outer, kronecker, power, reposition, setdiag."""

from __future__ import annotations

from typing import Any

import numpy as np

from semira.base.errors import DimensionMismatch, IndexOutOfBound, InvalidValue, OutOfMemory
from semira.base.memory import require_bytes
from semira.engine import recording
from semira.engine.rearranging import kronecker as engine_kronecker
from semira.formats import VectorArrays, index_dtype
from semira.formats.index import WIDE
from semira.frontend import reading
from semira.frontend.call import Deferred, as_literal, composed
from semira.frontend.checks import as_diagonal, bad_type, expect
from semira.frontend.kinds import OBJECTS
from semira.frontend.mask import Mask, as_mask
from semira.frontend.operators import as_multiplier, as_semiring, without_index_op
from semira.frontend.range_check import as_array
from semira.ops.registry import compose as make_semiring
from semira.ops.registry import monoid


def _any_times(op: Any, left: Any, right: Any) -> Any:
    """Return the semiring that multiplies with `op` and never adds: one pair per result."""
    typed = as_multiplier(op, left.dtype, right.dtype)
    multiply: Any = typed.parent
    return make_semiring(monoid["any"], multiply)[typed.type]


def _refuse(name: str) -> None:
    """Raise RecordError inside a recorded loop body: a composition makes objects on its way."""
    recording.refuse_host_read(f"{name} makes objects of its own", "do it before the loop")


def outer(u: Any, v: Any, op: Any = "times") -> Any:
    """Return the matrix ``C_ij = op(u_i, v_j)``: a product of a column and a row.

    Raises
    ------
    DomainMismatch
        `v` is not a Vector.
    """
    expect(v, ("vector",), "other", "Vector.outer")
    semiring = _any_times(op, u, v)

    def make() -> Any:
        _refuse("outer")
        column = OBJECTS["matrix"](u.dtype, u.size, 1)
        row = OBJECTS["matrix"](v.dtype, 1, v.size)
        column[:, 0] << u
        row[0, :] << v
        return column.mxm(row, semiring).new()

    call = ("outer", (u, v), semiring)
    return composed("matrix", semiring.binaryop.return_type, (u.size, v.size), make, call=call)


def kronecker(a: Any, b: Any, op: Any = "times") -> Any:
    """Return the Kronecker product: ``C_(i nb + k, j mb + l) = op(A_ij, B_kl)``.

    O(nvals(A) nvals(B)). On ``cuda`` the entries are paired on the GPU, unless a side of the result
    is 2**31 or more; else on the host, and `op` runs on the device.

    Raises
    ------
    DomainMismatch
        `b` is not a Matrix.
    DimensionMismatch
        When it runs: the result has more than 2**60 rows or columns.
    """
    expect(b, ("matrix",), "other", "Matrix.kronecker")
    typed = as_multiplier(op, a.dtype, b.dtype)
    typed = without_index_op(typed, "the operator of a Kronecker product")
    shape = (a.nrows * b.nrows, a.ncols * b.ncols)

    def make() -> Any:
        operands = (a._operand(), b._operand())
        made = engine_kronecker(*operands, typed)
        return paired_on_host(*operands) if made is None else OBJECTS["matrix"]._wrap(made)

    def paired_on_host(*operands: tuple[Any, bool]) -> Any:
        (i, j, x), (k, m, y) = (
            reading.sorted_coo(value.read().flipped() if transposed else value.read())
            for value, transposed in operands
        )
        count, index, result = len(x) * len(y), index_dtype(*shape), typed.return_type
        require_bytes(
            count * (2 * index.itemsize + result.array_dtype.itemsize),
            f"a Kronecker product of {count} entries",
            "use smaller factors",
        )
        rows = np.add.outer(i.astype(index) * b.nrows, k.astype(index)).reshape(-1)
        cols = np.add.outer(j.astype(index) * b.ncols, m.astype(index)).reshape(-1)
        vector = OBJECTS["vector"]
        if typed.is_positional:
            # Positions are those of the factors, not of the pairs.
            place, past = typed.name[:-1], 1
            if not typed.name.endswith("1"):
                place, past = typed.name, 0
            positions = {"firsti": i, "firstj": j, "secondi": k, "secondj": m}[place]
            spread = np.repeat if place.startswith("first") else np.tile
            times = len(y) if place.startswith("first") else len(x)
            values = spread(positions.astype(result.array_dtype) + past, times)
        else:
            pairs = vector._of(VectorArrays.full(a.dtype, np.repeat(x, len(y))))
            others = vector._of(VectorArrays.full(b.dtype, np.tile(y, len(x))))
            values = pairs.ewise_mult(others, typed)
            values = values.new().to_dense()
        return OBJECTS["matrix"].from_coo(
            rows, cols, values, typed.return_type, nrows=shape[0], ncols=shape[1]
        )

    return composed("matrix", typed.return_type, shape, make, call=("kronecker", (a, b), typed))


def power(a: Any, n: Any, op: Any = "plus_times") -> Any:
    """Return ``A (+).(*) A ... A`` with `n` factors, by repeated squaring: O(log n) products.

    ``n = 0`` gives the identity matrix of the semiring's multiplication.

    Raises
    ------
    TypeError
        `n` is not an integer.
    InvalidValue
        `n` is negative, or zero with a multiplication that has no identity.
    DimensionMismatch
        The matrix is not square.
    """
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)):
        raise TypeError(f"n must be a nonnegative integer, got {n!r}")
    if n < 0:
        raise InvalidValue(f"n must be a nonnegative integer, got {n}")
    if a.nrows != a.ncols:
        raise DimensionMismatch(f"power needs a square Matrix, got shape {a.shape}")
    semiring = as_semiring(op, a.dtype, a.dtype)
    if n == 0:
        return _identity_matrix(a, semiring)
    return composed(
        "matrix", semiring.return_type, a.shape, lambda: _raised(a, int(n), semiring),
        call=("power", (a, n), semiring),
    )  # fmt: skip


def _identity_matrix(a: Any, semiring: Any) -> Any:
    adding = semiring.binaryop.parent.monoid
    if adding is None:
        raise InvalidValue(
            f"power(0): binaryop must be associated with a monoid to have an identity; "
            f"{semiring.binaryop!r} is not"
        )
    one = adding[semiring.binaryop.type].identity

    def make() -> Any:
        _refuse("power(0)")
        return OBJECTS["vector"].from_scalar(one, a.nrows, a.dtype).diag()

    return composed("matrix", a.dtype, a.shape, make)


def _raised(a: Any, n: int, semiring: Any) -> Any:
    square, result = a, None
    while True:
        if n & 1:
            result = square if result is None else result.mxm(square, semiring).new()
        n >>= 1
        if not n:
            return result.dup() if result is a else result
        square = square.mxm(square, semiring).new()


def _window(offset: int, size: int, target: int) -> tuple[slice, slice]:
    """Return where an axis moved by `offset` is read, and where it is written."""
    first, last = max(0, -offset), min(size, target - offset)
    if last <= first:
        return slice(0, 0), slice(0, 0)
    return slice(first, last), slice(first + offset, last + offset)


def reposition(x: Any, offsets: tuple[Any, ...], shape: tuple[Any, ...]) -> Any:
    """Return `x` with every entry moved by `offsets`; what leaves `shape` is dropped."""
    sizes = tuple(old if new is None else int(new) for new, old in zip(shape, x.shape, strict=True))
    windows = [
        _window(int(offset), size, target)
        for offset, size, target in zip(offsets, x.shape, sizes, strict=True)
    ]

    def make() -> Any:
        _refuse("reposition")
        moved = OBJECTS[x.kind](x.dtype, *sizes)
        source = tuple(read for read, _ in windows)
        target = tuple(written for _, written in windows)
        if any(window.stop == window.start for window in source):
            return moved
        if x.kind == "vector":
            moved[target[0]] << x[source[0]].new()
        else:
            moved[target] << x[source].new()
        return moved

    return composed(x.kind, x.dtype, sizes, make, call=("reposition", (x, *offsets), None))


def _diagonal_length(a: Any, k: Any) -> int:
    if isinstance(k, bool):
        raise TypeError(f"k must be an integer, got {k!r}")
    k = as_diagonal(k)
    if not -a.nrows < k < a.ncols and k != 0:
        raise IndexOutOfBound(
            f"k={k}: the diagonal is out of range for a Matrix of shape {a.shape}"
        )
    return int(max(0, min(a.nrows + min(k, 0), a.ncols - max(k, 0))))


def _diagonal_mask(mask: Any, k: int, length: int, shape: tuple[int, ...]) -> Any:
    given = as_mask(mask)
    parent = given.parent
    if parent.kind == "matrix":
        if parent.shape != shape:
            raise DimensionMismatch(
                f"Matrix mask in setdiag is the wrong shape: {parent.shape}, not {shape}"
            )
        parent = parent.diag(k)
    elif parent.shape != (length,):
        raise DimensionMismatch(
            f"Vector mask in setdiag is the wrong size: {parent.shape[0]}, not {length}"
        )
    return Mask(parent, structure=given.structure, complement=given.complement)


def _diagonal_values(values: Any, length: int) -> Any:
    """Return what is written on the diagonal: a scalar, or a Vector of its length."""
    if getattr(values, "kind", None) == "scalar":
        return values
    if getattr(values, "kind", None) != "vector":
        if np.ndim(values) == 0:
            try:
                return as_literal(values).value
            except TypeError:
                raise bad_type(
                    values, "Vector, list, Scalar", "values", "Matrix.setdiag", literals=True
                ) from None
        array = as_array(values)
        values = OBJECTS["vector"].from_dense(array if array.size else array.astype(bool))
    if values.size != length:
        raise DimensionMismatch(
            f"Dimensions not compatible: {values.size} values for a diagonal of {length} positions"
        )
    return values


def setdiag(
    a: Any, values: Any, k: Any = 0, *, mask: Any = None, accum: Any = None, **opts: Any
) -> None:
    """Write `values` on the k-th diagonal of `a`; the rest stays."""
    _refuse("setdiag")
    length = _diagonal_length(a, k)
    given = _diagonal_values(values, length)
    checked = None if mask is None else _diagonal_mask(mask, int(k), length, a.shape)
    if length == 0:
        return
    before = a.diag(k)
    diagonal = before.dup()
    diagonal(mask=checked, accum=accum, **opts) << given
    # Only where there is an entry before or after: the diagonal may be 2**60 positions long.
    where = before.ewise_add(diagonal, "any").new().diag(int(k))
    rows, cols = a.shape
    fitted = where.reposition(0, 0, nrows=rows, ncols=cols).new()
    a(fitted.S) << diagonal.diag(int(k)).reposition(0, 0, nrows=rows, ncols=cols).new()


def broadcast(left: Any, right: Any, op: str) -> tuple[Any, Any]:
    """Return the operands with the Vector spread over the Matrix' shape.

    For an intersection only the Matrix' own entries count, so the Vector is spread over those:
    O(nvals). For a union it is spread over all, one entry of it over a whole row or column. Raises
    DimensionMismatch if the Vector's size is not the number of rows (Vector on the left) or
    columns.
    """
    vector_first = left.kind == "vector"
    vector, matrix = (left, right) if vector_first else (right, left)
    axis = 0 if vector_first else 1
    if vector.size != matrix.shape[axis]:
        raise DimensionMismatch(
            f"{op}: a Vector {'left' if vector_first else 'right'} of a Matrix needs its "
            f"{('nrows', 'ncols')[axis]} = {matrix.shape[axis]} positions, it has {vector.size}"
        )

    def spread() -> Any:
        recording.refuse_host_read(
            f"{op} of a Vector and a Matrix makes objects of its own",
            "spread the Vector before the loop: `v.outer(ones, 'first')`",
        )
        if op == "ewise_mult":
            diagonal = vector.diag() if hasattr(vector, "diag") else vector.new().diag()
            product = (
                diagonal.mxm(matrix, "any_first")
                if vector_first
                else matrix.mxm(diagonal, "any_second")
            )
            return product.new(vector.dtype)
        return _everywhere(vector, matrix.shape, axis)

    wide = Deferred("matrix", vector.dtype, tuple(matrix.shape), spread)
    return (wide, matrix) if vector_first else (matrix, wide)


def _everywhere(vector: Any, shape: tuple[int, ...], axis: int) -> Any:
    """Return the Vector in every row or column; OutOfMemory for 2**31 of them or more."""
    copies = shape[1 - axis]
    if copies >= WIDE:
        # The row of all ones below cannot be listed. Nothing spread everywhere is nothing.
        if vector.nvals:
            raise OutOfMemory(
                f"a Vector beside a Matrix of shape {shape} has an entry at each of {copies} "
                f"{('columns', 'rows')[axis]} for each of its own (limit: fewer than 2**31); use "
                "ewise_mult, which needs it only where the Matrix has entries"
            )
        return OBJECTS["matrix"](vector.dtype, *shape)
    full = OBJECTS["vector"].from_scalar(True, copies)
    pair = (vector, full, "first") if axis == 0 else (full, vector, "second")
    return outer(*pair).new(vector.dtype)
