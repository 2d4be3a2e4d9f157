"""Building products: mxm, mxv, vxm, inner, and what ``@`` means."""

from __future__ import annotations

from typing import Any

from semira.base.errors import DimensionMismatch
from semira.frontend.call import Deferred, Template, expression
from semira.frontend.checks import bad_type, expect
from semira.frontend.operators import as_semiring
from semira.ops.registry import binary

_DEFAULT = "plus_times"


def _check_inner(left: int, right: int, op: str, a: Any, b: Any) -> None:
    if left != right:
        raise DimensionMismatch(
            f"{op}: inner dimensions differ, {a.kind} {a.shape} and {b.kind} {b.shape}"
        )


def _check_kind(operand: Any, kind: str, op: str, infix: str | None = None) -> None:
    # In a chain such as min_plus(A @ B @ C) an operand may still wait for its operator.
    if infix is None or getattr(operand, "kind", None) != kind:
        expect(operand, (kind,), "other", op)


def _axis(operand: Any, argument: int, axis: int) -> tuple[int, int]:
    return argument, (1 - axis if operand._is_transposed else axis)


def _semiring(op: Any, a: Any, b: Any, infix: str | None) -> tuple[Any, Any]:
    """Return a semiring and its result's dtype; none for ``A @ B`` of BOOL or of records.

    Without arithmetic on them the default says nothing: ``A @ B`` waits for its semiring.
    """
    if infix is not None and op is _DEFAULT:
        kinds = {a.dtype.kind, b.dtype.kind}
        if "V" in kinds or kinds == {"B"}:
            return None, a.dtype
    semiring = as_semiring(op, a.dtype, b.dtype)
    return semiring, semiring.return_type


def _product(name: str, left: Any, right: Any, op: Any, infix: str | None) -> Any:
    _check_kind(right, "vector" if name == "mxv" else "matrix", name, infix)
    outer, inner = left.shape, right.shape
    _check_inner(outer[-1], inner[0], name, left, right)
    semiring, dtype = _semiring(op, left, right, infix)
    dims = () if name == "vxm" else (_axis(left, 0, 0),)
    dims = dims if name == "mxv" else (*dims, _axis(right, 1, 1))
    kind, shape = "matrix" if name == "mxm" else "vector", (*outer[:-1], *inner[1:])
    return expression(
        Template(name, (left, right), kind, dtype, shape, dims, semiring, infix=infix)
    )


def mxm(a: Any, b: Any, op: Any = _DEFAULT, *, infix: str | None = None) -> Any:
    """Return A (+).(*) B."""
    return _product("mxm", a, b, op, infix)


def mxv(a: Any, u: Any, op: Any = _DEFAULT, *, infix: str | None = None) -> Any:
    """Return A (+).(*) u."""
    return _product("mxv", a, u, op, infix)


def vxm(u: Any, a: Any, op: Any = _DEFAULT, *, infix: str | None = None) -> Any:
    """Return u (+).(*) A."""
    return _product("vxm", u, a, op, infix)


#: An inner product multiplies a row by a column, here two vectors entry by entry: position k is
#: the column of the first factor and the row of the second.
_OF_A_ROW = {
    "firsti": "firstj", "firsti1": "firstj1", "firstj": "firsti", "firstj1": "firsti1",
    "secondi": "firsti", "secondi1": "firsti1",
}  # fmt: skip


def inner(u: Any, v: Any, op: Any = _DEFAULT, *, infix: str | None = None) -> Any:
    """Return the scalar u (+).(*) v: multiply the intersection, then reduce."""
    _check_kind(v, "vector", "inner", infix)
    _check_inner(u.shape[0], v.shape[0], "inner", u, v)
    semiring, dtype = _semiring(op, u, v, infix)
    multiply = None if semiring is None else semiring.binaryop
    if multiply is not None and multiply.is_positional and multiply.name in _OF_A_ROW:
        multiply = binary[_OF_A_ROW[multiply.name]][multiply.type]
    met = Deferred.of(
        expression(
            Template(
                "ewise_mult", (u, v), "vector", dtype if multiply is None else multiply.return_type,
                u.shape, ((0, 0),), multiply,
            )
        )
    )  # fmt: skip
    monoid = None if semiring is None else semiring.monoid
    return expression(Template("reduce", (met,), "scalar", dtype, (), (), monoid, infix=infix))


def matmul(left: Any, right: Any, op: Any = _DEFAULT, *, infix: str | None = "matmul") -> Any:
    """Return ``left @ right`` for any combination of matrices and vectors."""
    kinds = (getattr(left, "kind", None), getattr(right, "kind", None))
    table = {
        ("matrix", "matrix"): mxm,
        ("matrix", "vector"): mxv,
        ("vector", "matrix"): vxm,
        ("vector", "vector"): inner,
    }
    if kinds not in table:
        wrong = right if kinds[0] in ("matrix", "vector") else left
        raise bad_type(wrong, "Matrix, Vector", "other", f"{type(left).__name__}.__matmul__")
    return table[kinds](left, right, op, infix=infix)
