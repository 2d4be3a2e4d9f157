"""What the namespaces list and find, against python-graphblas, and NumPy's operators."""

from __future__ import annotations

import importlib
import pickle

import numpy as np
import pytest
from tests.helpers.every import every
from tests.helpers.pgb import suitesparse
from tests.helpers.strategies import edge_values

import semira as gb
from semira.base.dtypes import lookup_dtype
from semira.ops.registry import NUMPY

SPACES = ("unary", "binary", "monoid", "semiring", "select", "indexunary", "agg", "op")
#: Operators on complex numbers, and registration of C source.
ABSENT = {"carg", "cimag", "cmplx", "conj", "conjugate", "creal", "register_new"}


def public(space):
    return {name for name in dir(space) if not name.startswith("_")}


@every("path", ["", "numpy", "ss"])
@every("space", SPACES)
def test_every_upstream_name_is_listed_and_found(space, path):
    theirs, ours = getattr(suitesparse(), space), getattr(gb, space)
    if path:
        if not hasattr(theirs, path):
            pytest.skip("upstream has no such sub-namespace")
        theirs, ours = getattr(theirs, path), getattr(ours, path)
    missing = public(theirs) - public(ours)
    assert missing <= ABSENT
    for name in public(theirs) - missing:
        assert getattr(ours, name) is not None


def test_sub_namespaces_are_importable_and_hold_the_same_operators():
    module = importlib.import_module("semira.binary.numpy")
    assert module.add is gb.binary.plus
    assert gb.binary.ss.firsti is gb.binary.firsti
    assert gb.semiring.numpy.add_multiply is gb.semiring.plus_times
    assert gb.semiring.numpy.maximum_add is gb.semiring.numpy.maximum_add
    assert not hasattr(gb.binary.ss, "plus")


def test_numpy_names_of_complex_operators():
    assert gb.unary.numpy.conj is gb.unary.numpy.conjugate is gb.unary.conj
    assert {"conj", "creal", "cimag", "carg"} <= set(dir(gb.unary))


@pytest.mark.parametrize(
    "operator",
    [gb.unary.numpy.square, gb.semiring.numpy.maximum_add, gb.monoid.numpy.gcd["INT8"]],
    ids=repr,
)
def test_numpy_operators_survive_pickling(operator):
    assert pickle.loads(pickle.dumps(operator)) is operator


#: Where Numba, through which python-graphblas compiles, differs from NumPy.
INEXACT = {
    "logaddexp",
    "logaddexp2",
    "hypot",
    "spacing",
    "deg2rad",
    "rad2deg",
    "degrees",
    "radians",
}


def own_rows(opclass):
    return [
        (name, dtype)
        for name, row in NUMPY[opclass].items()
        if row.name.startswith("numpy.") and name != "float_power"
        for dtype in ("INT8", "UINT8", "INT64", "UINT64", "FP32", "FP64")
        if dtype in row.types and dtype not in row.coercions
    ]


def compare(ours, expected, name):
    if ours.dtype.kind == "f":
        steps = 4 * np.finfo(ours.dtype).eps if name in INEXACT else 0
        # Logarithms of sums near 1 are as exact as the operands.
        least = steps if name.startswith("logaddexp") else 0
        np.testing.assert_allclose(ours, expected.astype(ours.dtype), rtol=steps, atol=least)
    else:
        np.testing.assert_array_equal(ours, expected.astype(ours.dtype))


@every(("name", "dtype"), own_rows("UnaryOp"))
def test_numpy_unary_means_what_numpy_means(name, dtype):
    op = NUMPY["UnaryOp"][name][dtype]
    values = edge_values(lookup_dtype(dtype))
    if name == "reciprocal" and values.dtype.kind != "f":
        values = values[values != 0]  # NumPy leaves 1 // 0 open
    with np.errstate(all="ignore"):
        operand = values if values.dtype.kind == "f" or name != "signbit" else values.astype(float)
        expected = getattr(np, name)(operand)
    compare(np.array([op.scalar_function(value, 0, 0) for value in values]), expected, name)


@every(("name", "dtype"), own_rows("BinaryOp"))
def test_numpy_binary_means_what_numpy_means(name, dtype):
    op = NUMPY["BinaryOp"][name][dtype]
    values = edge_values(lookup_dtype(dtype))
    a, b = np.repeat(values, len(values)), np.tile(values, len(values))
    if name == "lcm":
        # Where the result overflows NumPy's depends on the order of its steps.
        kept = np.abs(a.astype(float) * b.astype(float)) < 100
        a, b = a[kept], b[kept]
    with np.errstate(all="ignore"):
        expected = getattr(np, name)(a, b)
    ours = [op.scalar_function(x, y, 0, 0, 0) for x, y in zip(a, b, strict=True)]
    compare(np.array(ours), expected, name)


@pytest.mark.parametrize("name", ["gcd", "hypot", "logaddexp", "logaddexp2", "maximum", "minimum"])
def test_numpy_monoids_have_their_identity(name):
    monoid = gb.monoid.numpy.__getattr__(name)
    assert monoid.types
    for dtype, identity in monoid.identities.items():
        one = dtype.np_type.type(1)
        result = monoid[dtype].op.scalar_function(identity, one, 0, 0, 0)
        assert result == one, dtype


def test_isclose_takes_tolerances():
    v = gb.Vector.from_coo([0, 1, 2], [1.0, 100.0, np.inf])
    w = gb.Vector.from_coo([0, 1, 2], [1.0, 101.0, np.inf])
    assert v.ewise_mult(w, gb.binary.isclose).new().to_dict() == {0: True, 1: False, 2: True}
    loose = gb.binary.isclose(rel_tol=0.1)
    assert v.ewise_mult(w, loose).new().to_dict() == {0: True, 1: True, 2: True}
    assert gb.binary.isclose(rel_tol=0.1) is loose
    assert loose["FP32"].key != gb.binary.isclose()["FP32"].key
    with pytest.raises(ValueError, match="not negative"):
        gb.binary.isclose(rel_tol=-1)


def test_selecting_by_a_comparison():
    A = gb.Matrix.from_coo([0, 1, 2], [2, 0, 1], [5, 1, 7])
    assert gb.select.value(A > 4).new().to_dicts() == {0: {2: 5}, 2: {1: 7}}
    assert gb.select.row(A < 1).new().to_dicts() == {0: {2: 5}}
    assert gb.select.column(A >= 1).new().to_dicts() == {0: {2: 5}, 2: {1: 7}}
    v = gb.Vector.from_coo([0, 3], [5, 1])
    assert gb.select.index(v > 1).new().to_dict() == {3: 1}
    with pytest.raises(ValueError, match="coleq"):
        gb.select.column(A == 1)
    with pytest.raises(TypeError, match="comparison"):
        gb.select.value(A)


def test_facts_of_operators():
    plus, minus = gb.binary.plus, gb.binary.minus
    assert plus.is_commutative
    assert plus.monoid is gb.monoid.plus
    assert plus["INT8"].monoid is gb.monoid.plus["INT8"]
    assert plus["BOOL"].monoid is None
    assert minus.commutes_to is gb.binary.rminus
    assert minus["FP32"].commutes_to is gb.binary.rminus["FP32"]
    assert gb.semiring.plus_minus.commutes_to is gb.semiring.plus_rminus
    assert gb.semiring.any_firsti.commutes_to is gb.semiring.any_secondj
    assert gb.unary.positioni.is_positional
    assert not gb.unary.sqrt.is_positional
    assert gb.select.tril.is_positional
    assert gb.semiring.any_firsti.is_positional
    assert gb.monoid.min["INT8"].binaryop is gb.binary.min["INT8"]
    assert gb.monoid.min["INT8"].identity == 127
    assert gb.semiring.min_plus["FP32"].monoid is gb.monoid.min["FP32"]
    assert plus["INT8"].opclass == "BinaryOp"
    assert plus["INT8"].gb_name == "GrB_PLUS_INT8"
    assert gb.semiring.get_semiring("min", "plus") is gb.semiring.min_plus


@every("name", ["minus", "truediv", "floordiv", "pow", "absfirst", "lt", "isge"])
@every("dtype", ["INT8", "UINT64", "FP32"])
def test_commuted_operators_agree_with_swapped_operands(name, dtype):
    op = getattr(gb.binary, name)
    values = edge_values(lookup_dtype(dtype)).astype(op[dtype].type.np_type)
    straight, swapped = op[dtype].scalar_function, op.commutes_to[dtype].scalar_function
    for a in values:
        for b in values:
            np.testing.assert_equal(straight(a, b, 0, 0, 0), swapped(b, a, 0, 0, 0))
