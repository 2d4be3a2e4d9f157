"""Every operator against SuiteSparse: its Python text on edge values, its dtypes, its algebra.

One file for all: python-graphblas compiles functions of some operators for every dtype, which takes
eight seconds of a process.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from tests.helpers.every import every
from tests.helpers.pgb import find, same_values, suitesparse, works
from tests.helpers.strategies import DTYPES, edge_values

import semira as gb
from semira.base.dtypes import lookup_dtype, unify
from semira.ops.meaning import cast_array
from semira.ops.registry import NAMESPACES, binary, unary

#: Roundings by which functions of NumPy and of the C library may differ.
ROUNDED_UNARY = (
    "cbrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin",
    "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "erfc", "lgamma",
    "tgamma",
)  # fmt: skip
ROUNDED_BINARY = ("atan2", "hypot", "pow", "rpow")
STEPS = 4

UNARY = [
    (name, dtype)
    for name, row in unary.items()
    for dtype in DTYPES
    if dtype in row and not row.positional and works("unary", name, dtype)
]
BINARY = [
    (name, dtype)
    for name, row in binary.items()
    for dtype in DTYPES
    if dtype in row and not row.is_positional and works("binary", name, dtype)
]


def column(values: Any, dtype: str) -> Any:
    return suitesparse().Vector.from_coo(np.arange(len(values)), values, dtype=dtype)


def test_unary() -> None:
    wrong = {"-".join(case): found for case in UNARY if (found := _wrong_unary(*case))}
    assert not wrong, wrong


def _wrong_unary(name: str, dtype: str) -> list[Any]:
    values, typed = edge_values(lookup_dtype(dtype)), unary[name][dtype]
    theirs = column(values, dtype).apply(find(suitesparse(), "unary", name)).new()
    operands = cast_array(values, typed.type.np_type)
    with np.errstate(all="ignore"):
        ours = np.array([typed.meaning(value, 0, 0) for value in operands])
    expected = theirs.to_coo()[1]
    assert ours.dtype == expected.dtype
    steps = STEPS if name in ROUNDED_UNARY else 0
    # A logarithm near its zero is as exact as the number it is the logarithm of.
    same = same_values(ours, expected, steps=steps, scale=float(name == "lgamma"))
    return list(zip(values[~same], ours[~same], expected[~same], strict=True))[:8]


def test_binary() -> None:
    wrong = {"-".join(case): found for case in BINARY if (found := _wrong_binary(*case))}
    assert not wrong, wrong


def _wrong_binary(name: str, dtype: str) -> list[Any]:
    values, typed = edge_values(lookup_dtype(dtype)), binary[name][dtype]
    a, b = np.repeat(values, len(values)), np.tile(values, len(values))
    if name == "floordiv":
        a, b = defined_floor_divisions(a, b)
    elif name == "rfloordiv":
        b, a = defined_floor_divisions(b, a)
    elif name in DEFINED:
        kept = DEFINED[name](a, b)
        a, b = a[kept], b[kept]
    op = find(suitesparse(), "binary", name)
    if name == "floordiv" and dtype not in op.types:
        # python-graphblas leaves out dtypes for which Numba refuses its Python function. That
        # happened to one that compiles when it is asked for again, as here.
        op = _again(op, name)
    op = op[dtype]
    theirs = column(a, dtype).ewise_mult(column(b, dtype), op).new()
    left, right = (cast_array(side, typed.type.np_type) for side in (a, b))
    with np.errstate(all="ignore"):
        ours = np.array([typed.meaning(x, y, 0, 0, 0) for x, y in zip(left, right, strict=True)])
    expected = theirs.to_coo()[1]
    assert ours.dtype == expected.dtype
    steps = 16 * STEPS if (name, dtype) == ("pow", "FC32") else STEPS
    same = same_values(ours, expected, steps=steps if name in ROUNDED_BINARY else 0)
    if name == "any":
        same |= same_values(a, expected) | same_values(b, expected)
    return list(zip(a[~same], b[~same], ours[~same], expected[~same], strict=True))[:8]


@cache
def _again(op: Any, name: str) -> Any:
    return suitesparse().core.operator.BinaryOp.register_anonymous(op.orig_func, name)


def _defined_rpow(a: Any, b: Any) -> Any:
    """Return where python-graphblas' `rpow`, Python's ``b ** a`` by Numba, is our `pow` swapped.

    It wraps where `pow` saturates, has no value for 0 to a negative power, and takes NaN ** 0
    for 1.
    """
    if a.dtype.kind == "c":
        return np.isfinite(a) & np.isfinite(b) & (b != 0) & (np.abs(a) < 100) & (np.abs(b) < 100)
    with np.errstate(all="ignore"):
        limit = 1e2 if a.dtype.itemsize == 1 else 1e4
        size = np.abs(b.astype(float)) ** a.astype(float)
    if a.dtype.kind == "f":
        return ~np.isnan(a) & ~np.isnan(b)
    return (size < limit) & (np.abs(a.astype(float)) < limit) & ((a >= 0) | (b != 0))


def _moderate_pow(a: Any, b: Any) -> Any:
    """Return where C's ``cpowf``, which works in single precision, keeps some digits."""
    if a.dtype != np.complex64:
        return np.ones(len(a), bool)
    return np.isfinite(a) & np.isfinite(b) & (np.abs(a) < 100) & (np.abs(b) < 100)


#: Where python-graphblas' own meaning is defined (elsewhere C or Numba leaves it open).
DEFINED = {
    "rpow": _defined_rpow,
    "pow": _moderate_pow,
    # The exponent is converted to a C int.
    "ldexp": lambda a, b: np.abs(b.astype(float)) < 2**31,
}


def defined_floor_divisions(a: Any, b: Any) -> tuple[Any, Any]:
    """Return the pairs for which python-graphblas' own `floordiv` is defined.

    It is Python's ``//`` compiled by Numba, whose error for a zero divisor is lost; for floats
    ours is ``floor(a / b)``, so only exact quotients are compared.
    """
    kept = b != 0
    if a.dtype.kind == "i":
        kept &= ~((b == -1) & (a == np.iinfo(a.dtype).min))
    if a.dtype.kind == "f":
        with np.errstate(all="ignore"):
            kept &= np.isfinite(a) & np.isfinite(b) & np.isfinite(a / b)
            kept &= (
                (np.abs(a) < 100) & (np.abs(b) >= 0.5) & (np.abs(b) < 100) & (a != np.float32(1e-5))
            )
    return a[kept], b[kept]


@pytest.mark.parametrize("dtype", ["INT8", "INT32", "INT64", "UINT8", "UINT64"])
def test_floor_division_by_zero_is_zero(dtype: str) -> None:
    typed = binary["floordiv"][dtype]
    for value in edge_values(lookup_dtype(dtype)):
        assert typed.scalar_function(value, typed.type.np_type.type(0), 0, 0, 0) == 0


# dtypes and algebra -------------------------------------------------------------------------------
NAMES = {
    "unary": "UnaryOp",
    "binary": "BinaryOp",
    "monoid": "Monoid",
    "select": "SelectOp",
    "indexunary": "IndexUnaryOp",
}
#: Where we have instances that python-graphblas lacks, on purpose.
OURS_ONLY = {("indexunary", "diagindex")}

#: Operators that python-graphblas lacks.
OURS_ALONE = {("indexunary", f"random_{what}") for what in ("bits", "uniform", "below")}


def return_dtype(op: Any, dtype: str) -> str | None:
    try:
        return op[dtype].return_type.name  # type: ignore[no-any-return]
    except KeyError:
        return None


@every(
    ("namespace", "name"),
    [(space, name) for space, opclass in NAMES.items() for name in NAMESPACES[opclass]],
)
def test_return_dtypes(namespace: str, name: str) -> None:
    theirs = find(suitesparse(), namespace, name)
    if (namespace, name) in OURS_ALONE:
        assert theirs is None
        return
    assert theirs is not None
    ours = getattr(getattr(gb, namespace), name)
    for dtype in DTYPES:
        expected = return_dtype(theirs, dtype)
        if expected is None and (namespace, name) in OURS_ONLY:
            continue
        assert return_dtype(ours, dtype) == expected, dtype


def test_return_dtypes_of_semirings() -> None:
    compared = 0
    for name in dir(suitesparse().semiring):
        ours = NAMESPACES["Semiring"].get(name)
        if ours is None:
            continue
        theirs = find(suitesparse(), "semiring", name)
        for dtype in DTYPES:
            expected = return_dtype(theirs, dtype)
            if expected is not None:
                assert return_dtype(ours, dtype) == expected, (name, dtype)
                compared += 1
    assert compared > 1500


@every("name", sorted(NAMESPACES["Monoid"]))
def test_identities(name: str) -> None:
    theirs = getattr(suitesparse().monoid, name)
    ours = NAMESPACES["Monoid"][name]
    identities = {dtype.name: value for dtype, value in theirs.identities.items()}
    for dtype, value in ours.identities.items():
        assert value == identities[dtype.name], dtype
    assert ours.is_idempotent == theirs.is_idempotent


@every("name", sorted(NAMESPACES["BinaryOp"]))
def test_algebra_of_binary_operators(name: str) -> None:
    theirs = find(suitesparse(), "binary", name)
    ours = NAMESPACES["BinaryOp"][name]
    assert ours.is_commutative == theirs.is_commutative
    assert ours.is_positional == theirs.is_positional
    assert (ours.monoid is None) == (theirs.monoid is None)
    if ours.commutes_to is not None:
        assert ours.commutes_to.name == theirs.commutes_to.name.removeprefix("ss.")


def test_unification_of_dtypes() -> None:
    pgb = suitesparse()
    for left in DTYPES:
        for right in DTYPES:
            theirs = pgb.dtypes.unify(pgb.dtypes.lookup_dtype(left), pgb.dtypes.lookup_dtype(right))
            assert unify(left, right).name == theirs.name
