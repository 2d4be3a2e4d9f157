"""Complex dtypes against SuiteSparse: operators in place, products, masks, casts, scalars."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.helpers.every import every
from tests.helpers.pgb import cover, find, mirror, suitesparse, works
from tests.helpers.strategies import MatrixSpec, VectorSpec

import semira as gb
from semira.base.errors import DomainMismatch
from semira.ops.registry import NAMESPACES

COMPLEX = ("FC32", "FC64")
ROUNDED = (
    "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos",
    "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "sqrt", "abs", "carg", "minv",
    "signum", "cdiv", "rdiv", "truediv", "rtruediv", "pow", "rpow", "absfirst", "abssecond",
)  # fmt: skip

#: Names of modules and of functions inside of namespaces.
SPECIAL = ("get_semiring", "isclose")

UNARY = [
    (name, dtype) for name in NAMESPACES["UnaryOp"] for dtype in COMPLEX
    if works("unary", name, dtype)
]  # fmt: skip
BINARY = [
    (name, dtype) for name in NAMESPACES["BinaryOp"] for dtype in COMPLEX
    if works("binary", name, dtype) and name != "any"  # either operand will do
]  # fmt: skip


def numbers(library: Any, dtype: str, *, shift: complex = 0) -> Any:
    """Return a vector of numbers other than 0, different from each other."""
    values = np.array([1 + 2j, -1.5 + 0.25j, 2 - 3j, -0.5 - 0.75j, 0.25j, 3, -1], dtype="c16")
    return library.Vector.from_coo(np.arange(7), values + shift, dtype=dtype, size=9)


def steps(name: str, dtype: str) -> int:
    if name not in ROUNDED:
        return 0
    return 64 if dtype == "FC32" else 8


@every(("name", "dtype"), cover(UNARY, default=16, seed=1))
def test_unary(name: str, dtype: str, device: str) -> None:
    def program(library: Any) -> Any:
        return numbers(library, dtype).apply(find(library, "unary", name)).new()

    mirror(device, program, steps=steps(name, dtype))


@every(("name", "dtype"), cover(BINARY, default=14, seed=2))
def test_binary(name: str, dtype: str, device: str) -> None:
    def program(library: Any) -> Any:
        x, y = numbers(library, dtype), numbers(library, dtype, shift=0.5 - 0.5j)
        del y[2], x[3]
        op = find(library, "binary", name)
        bound = x.apply(op, right=2 - 1j).new() if name[-1] not in "ij1" else x
        return x.ewise_mult(y, op).new(), bound

    mirror(device, program, steps=steps(name, dtype))


def test_complex_numbers_of_two_parts(device: str) -> None:
    def program(library: Any) -> Any:
        x = library.Vector.from_coo([0, 1, 3], [1.5, -2, np.inf])
        y = library.Vector.from_coo([0, 1, 2], [0.5, 3, 1], size=4)
        made = x.ewise_mult(y, library.binary.cmplx).new()
        narrow = library.Vector.from_coo([0], [3], dtype="INT16", size=4)
        return (
            made, made.apply("creal").new(), made.apply("cimag").new(), made.apply("conj").new(),
            narrow.ewise_mult(narrow, "cmplx").new(),
        )  # fmt: skip

    mirror(device, program)


SEMIRINGS = ("plus_times", "times_plus", "any_second", "plus_pair", "lor_eq", "plus_absfirst")


@every("semiring", SEMIRINGS)
@every("dtype", COMPLEX)
def test_products(semiring: str, dtype: str, device: str) -> None:
    a = MatrixSpec(5, 6, dtype, seed=3)
    b = MatrixSpec(6, 4, dtype, "few", seed=4)
    u = VectorSpec(6, dtype, seed=5)
    if device == "cpu" and dtype == "FC32" and semiring not in SEMIRINGS[:2]:
        return  # one width shows what kernels do

    def program(library: Any) -> Any:
        # SuiteSparse's generic product compares -0.0 and 0.0 by their bytes: no -0.0 here.
        A, B, v = (x.build(library).apply("plus", right=0).new() for x in (a, b, u))
        op = find(library, "semiring", semiring)
        product, pulled = A.mxm(B, op), A.mxv(v, op)
        if semiring == "any_second":  # which one is free: compare the pattern
            return product.new().apply("one").new(), pulled.new().apply("one").new()
        return product.new(), pulled.new(), v.vxm(A.T, op).new()

    mirror(device, program, steps=8 if "times" in semiring or "abs" in semiring else 0, scale=100)


@pytest.mark.parametrize("dtype", COMPLEX)
def test_sums_masks_and_accumulators(dtype: str, device: str) -> None:
    a, b = MatrixSpec(5, 6, dtype, seed=6), MatrixSpec(5, 6, "INT16", seed=7)

    def program(library: Any) -> Any:
        A, B = a.build(library), b.build(library)
        added = A.ewise_add(B, "plus").new()
        masked = A.dup()
        masked(B.V, accum="plus", replace=True) << added
        # SuiteSparse takes -0.0 in a mask for true: no -0.0 here.
        masked((A.apply("plus", right=0).new()).V, accum="times") << A
        assigned = A.dup()
        assigned[1, :] = 2 - 5j
        assigned(~B.S)[:, [0, 2]] << 1j
        united = A.ewise_union(B, "minus", 1j, 2).new()
        return (
            added, masked, assigned, united, A.T.new(), A[1:4, ::2].new(), A.diag(),
            A.reduce_rowwise("plus").new(), A.reduce_columnwise("times").new(),
            A.reduce_scalar().new(), B.dup(dtype),
        )  # fmt: skip

    mirror(device, program, steps=8, scale=100)


def test_selection(device: str) -> None:
    def program(library: Any) -> Any:
        x = numbers(library, "FC64")
        A = MatrixSpec(4, 4, "FC32", seed=8).build(library)
        return (
            x.select("==", 0.25j).new(), x.select("!=", 3).new(), A.select("tril").new(),
            (x == 3).new(), x.apply("rowindex").new(), A.select(A == 0).new(),
        )  # fmt: skip

    mirror(device, program)


@pytest.mark.parametrize("name", ["sum", "prod", "L1norm", "mean", "varp", "hypot", "count",
                                  "geometric_mean", "harmonic_mean", "Linfnorm", "first",
                                  "sum_of_squares", "root_mean_square", "any_value"])  # fmt: skip
def test_aggregators(name: str) -> None:
    def program(library: Any) -> Any:
        op = getattr(library.agg.ss if name == "first" else library.agg, name)
        result = numbers(library, "FC64").reduce(op).new()
        return result.dup(bool) if name == "any_value" else result

    mirror("reference", program, steps=32, scale=10)


@pytest.mark.parametrize(
    "call",
    [
        lambda lib, x: x.reduce("min"),
        lambda lib, x: x.ewise_add(x, "max"),
        lambda lib, x: x.select(">", 1),
        lambda lib, x: x.apply("floor").ewise_mult(x, "lt"),
        lambda lib, x: x.apply("erf"),
        lambda lib, x: x.apply("lnot"),
        lambda lib, x: x.ewise_mult(x, "floordiv"),
        lambda lib, x: x.ewise_mult(x, "cmplx"),
        lambda lib, x: x.ewise_mult(x, "land"),
        lambda lib, x: x.reduce(lib.agg.peak_to_peak),
        lambda lib, x: x.vxm(x.diag(), lib.semiring.min_plus),
    ],
)  # fmt: skip
def test_what_needs_an_order_is_refused(call: Any) -> None:
    with pytest.raises((KeyError, suitesparse().exceptions.DomainMismatch)):
        call(suitesparse(), numbers(suitesparse(), "FC64"))
    with pytest.raises((KeyError, DomainMismatch)):
        call(gb, numbers(gb, "FC64"))


def test_python_numbers_and_scalars(device: str) -> None:
    with gb.device(device):
        x = gb.Vector.from_coo([0, 1], [1 + 2j, 3])
        assert x.dtype is gb.dtypes.lookup_dtype(complex)
        assert (x * (1 - 1j)).new().to_coo()[1].tolist() == [3 + 1j, 3 - 3j]
        total = x.reduce().new()
        assert complex(total) == 4 + 2j
        assert total == 4 + 2j
        assert gb.Scalar.from_value(2j, dtype="FC32").value == 2j
        assert x.dup(float).to_coo()[1].tolist() == [1.0, 3.0]
        assert x.get(0) == 1 + 2j
        assert x.isclose(x.apply("conj").apply("conj").new())
        assert not x.isequal(x.apply("conj").new())
        assert x.to_dense(fill_value=1j).dtype == np.complex128


@pytest.mark.parametrize("namespace", ["unary", "binary", "monoid", "select", "indexunary"])
def test_names_in_the_c_api(namespace: str) -> None:
    theirs = getattr(suitesparse(), namespace)
    compared = 0
    for name in dir(theirs):
        if name.startswith(("_", "numpy", "ss", "from", "register")):
            continue
        if name in SPECIAL or name in theirs._delayed:  # functions in Python
            continue
        if not hasattr(getattr(theirs, name, None), "types") or not works(namespace, name, "FC32"):
            continue
        for dtype in COMPLEX:
            typed = find(suitesparse(), namespace, name)[dtype]
            assert find(gb, namespace, name)[dtype].gb_name == typed.gb_name
            compared += 1
    assert compared > 5
