"""Operators made of Python functions."""

from __future__ import annotations

import math
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import semira as gb
from semira.base.errors import (
    DomainMismatch,
    InvalidValue,
    NotImplementedException,
    UdfParseError,
)
from semira.ops.registry import REGISTERED
from semira.ops.user import describe


@pytest.fixture(autouse=True)
def _forget_registered():
    before = {opclass: dict(table) for opclass, table in REGISTERED.items()}
    yield
    for opclass, table in REGISTERED.items():
        table.clear()
        table.update(before[opclass])


def vector(dtype="INT64"):
    return gb.Vector.from_coo([0, 2, 3], [1, 5, 3], dtype=dtype, size=5)


def plus_twice(x, y):
    return x + 2 * y


def test_functions_are_accepted_where_operators_are(device):
    with gb.device(device):
        v = vector()
        assert v.apply(lambda x: x * x + 1).new().to_dict() == {0: 2, 2: 26, 3: 10}
        assert v.apply(plus_twice, right=10).new().to_dict() == {0: 21, 2: 25, 3: 23}
        assert v.apply(plus_twice, left=10).new().to_dict() == {0: 12, 2: 20, 3: 16}
        assert v.ewise_mult(v, plus_twice).new().to_dict() == {0: 3, 2: 15, 3: 9}
        assert v.ewise_add(v, lambda x, y: max(x, y + 0)).new().isequal(v)
        positions = v.apply(lambda x, i, j, t: x + 10 * i + t, right=1000).new()
        assert positions.to_dict() == {0: 1001, 2: 1025, 3: 1033}


def test_matrices_and_products(device):
    with gb.device(device):
        A = gb.Matrix.from_coo([0, 0, 1], [0, 1, 1], [1, 2, 3])
        moved = A.apply(lambda x, i, j, t: 100 * x + 10 * i + j).new()
        assert moved.to_dicts() == {0: {0: 100, 1: 201}, 1: {1: 311}}
        distance = gb.binary.register_anonymous(lambda x, y: abs(x - y), "distance")
        farthest = gb.semiring.register_anonymous(gb.monoid.max, distance)
        assert farthest(A @ A).new().to_dicts() == {0: {0: 0, 1: 1}, 1: {1: 0}}


def test_select_takes_registered_functions_only(device):
    with gb.device(device):
        odd = gb.select.register_anonymous(lambda x, i, j, theta: x % 2 == theta)
        kept = gb.Vector.from_coo([0, 2, 3], [1, 4, 3]).select(odd, 1).new()
        assert kept.to_dict() == {0: 1, 3: 3}
        with pytest.raises(TypeError, match="Invalid mask"):
            vector().select(lambda x, i, j, theta: x > theta)
        with pytest.raises(InvalidValue, match="BOOL"):
            gb.select.register_anonymous(lambda x, i, j, theta: x + 1)


@pytest.mark.parametrize("dtype", ["INT8", "UINT16", "FP32"])
def test_results_stay_in_the_dtype_and_wrap(device, dtype):
    with gb.device(device):
        made = vector(dtype).apply(lambda x: x * 100).new()
    assert made.dtype.name == dtype
    assert (
        made.to_coo()[1].tolist() == (np.array([100, 500, 300]).astype(made.dtype.np_type)).tolist()
    )


def test_integers_made_of_truth_values_do_not_wrap(device):
    with gb.device(device):
        v = gb.Vector.from_coo([0, 2], [True, False], size=4)
    assert v.apply(lambda x: x + 200).new().to_dict() == {0: 201, 2: 200}
    assert v.ewise_mult(v, lambda x, y: 200 * x + y).new().to_dict() == {0: 201, 2: 0}


def test_inferred_dtypes():
    doubled = gb.unary.register_anonymous(lambda x: x * 2)
    assert doubled["BOOL"].return_type == "INT64"
    assert doubled["UINT8"].return_type == "UINT8"
    assert doubled["FP32"].return_type == "FP32"
    assert gb.unary.register_anonymous(lambda x: x > 2)["INT8"].return_type == "BOOL"
    sine = gb.unary.register_anonymous(lambda x: math.sin(x + 1))
    assert sine["INT64"].return_type == "FP64"
    bits = gb.binary.register_anonymous(lambda x, y: x & ~y)
    assert "FP64" not in bits
    assert bits["INT8"].return_type == "INT8"


def test_registered_operators_are_found_by_name():
    triple = gb.unary.register_new("triple", lambda x: 3 * x)
    nested = gb.binary.register_new("my.own.plus2", plus_twice)
    assert gb.unary.triple is triple
    assert gb.binary.my.own.plus2 is nested
    assert gb.op.triple is triple
    assert "triple" in dir(gb.unary)
    assert "my" in dir(gb.binary)
    assert dir(gb.binary.my) == ["own"]
    assert gb.unary.from_string("triple[int8]") is triple["INT8"]
    assert vector().apply("triple").new().to_dict() == {0: 3, 2: 15, 3: 9}
    assert repr(nested) == "binary.my.own.plus2"
    assert triple.orig_func(5) == 15
    assert pickle.loads(pickle.dumps(triple)) is triple
    assert pickle.loads(pickle.dumps(triple["INT8"])) is triple["INT8"]


@pytest.mark.parametrize("name", ["sqrt", "numpy", "from_string", "mine", "numpy.sin"])
def test_names_are_given_once(name):
    gb.unary.register_new("mine", lambda x: x)
    with pytest.raises(AttributeError, match="already defined"):
        gb.unary.register_new(name, lambda x: x)


def test_an_operator_is_no_path_and_a_path_no_operator():
    gb.unary.register_new("a.b", lambda x: x)
    for name in ("a", "a.b.c", "sqrt.c"):
        with pytest.raises(AttributeError, match="already defined"):
            gb.unary.register_new(name, lambda x: x)
    with pytest.raises(ValueError, match="not a name"):
        gb.unary.register_new("two words", lambda x: x)


def test_lazy_operators_are_made_when_they_are_used():
    assert gb.unary.register_new("later", lambda x: x.nothing, lazy=True) is None
    with pytest.raises(UdfParseError, match="nothing"):
        gb.unary.later  # noqa: B018
    gb.unary.register_new("soon", lambda x: -x, lazy=True)
    assert gb.unary.soon is gb.unary.soon
    assert "soon" in dir(gb.unary)


def test_parameterized_operators(device):
    def scaled(factor=2):
        def inner(x):
            return x * factor

        return inner

    op = gb.unary.register_new("scaled", scaled, parameterized=True)
    with gb.device(device):
        v = vector()
        assert v.apply(op).new().to_dict() == {0: 2, 2: 10, 3: 6}
        assert v.apply(gb.unary.scaled(3)).new().to_dict() == {0: 3, 2: 15, 3: 9}
        assert v.apply(op(2)).new().to_dict() == {0: 2, 2: 10, 3: 6}
        # A factor of another type is another function.
        assert v.apply(op(2.0)).new().dtype == "FP64"
    assert op(factor=3) is op(factor=3)
    assert pickle.loads(pickle.dumps(op)) is op


def test_monoids_and_semirings_of_functions(device):
    biggest = gb.binary.register_new("biggest", lambda x, y: max(y, x))
    monoid = gb.monoid.register_new("biggest", biggest, 0, is_idempotent=True)
    semiring = gb.semiring.register_new("biggest_plus", monoid, "plus")
    assert biggest.monoid is monoid
    assert gb.monoid.biggest["INT8"].identity == 0
    assert monoid.is_idempotent
    assert pickle.loads(pickle.dumps(semiring)) is semiring
    with gb.device(device):
        v = vector()
        assert v.reduce(monoid).new().value == 5
        assert gb.Vector(int, 3).reduce(monoid, allow_empty=False).new().value == 0
        A = gb.Matrix.from_coo([0, 2, 3], [0, 0, 1], [10, 1, 1], nrows=5, ncols=2)
        assert semiring(v @ A).new().to_dict() == {0: 11, 1: 4}
    with pytest.raises(DomainMismatch, match="identity"):
        gb.monoid.register_anonymous(gb.binary.lt, {"FP64": 0})


def test_identities_by_dtype():
    least = gb.binary.register_anonymous(lambda x, y: min(y, x), "least")
    monoid = gb.monoid.register_anonymous(least, {"INT8": 127, "FP32": np.inf})
    assert {dtype.name for dtype in monoid.types} == {"INT8", "FP32"}
    assert monoid["FP32"].identity == np.inf


def test_what_cannot_be_an_operator():
    with pytest.raises(UdfParseError, match="nothing") as caught:
        gb.unary.register_new("bad", lambda x: x.nothing)
    assert "\n" not in str(caught.value)
    assert "\x1b" not in str(caught.value)
    with pytest.raises(UdfParseError, match="no attribute 'nothing'"):
        gb.unary.register_anonymous(lambda x: math.nothing(x) + 1)
    with pytest.raises(UdfParseError, match="2 parameters"):
        gb.binary.register_anonymous(lambda x: x)
    with pytest.raises(UdfParseError, match="3 parameters"):
        vector().apply(lambda x, y, z: x)
    with pytest.raises(UdfParseError, match="by position"):
        gb.unary.register_anonymous(lambda x, *, step=1: x + step)
    with pytest.raises(TypeError, match="must be a function"):
        gb.unary.register_new("bad", 3)
    with pytest.raises(NotImplementedException, match="is_udt"):
        gb.indexbinary.register_new("bad", lambda x, i, j, y, k, m, t: x, is_udt=True)
    with pytest.raises(NotImplementedException, match="no monoid"):
        vector().reduce(plus_twice)
    with pytest.raises(UdfParseError, match="anonymous"):
        pickle.dumps(gb.unary.register_anonymous(lambda x: x))


def test_equal_functions_are_one_operator_and_others_are_not():
    def adder(amount):
        return lambda x: x + amount

    make = gb.unary.register_anonymous
    assert make(adder(1)) is make(adder(1))
    assert make(adder(1)) is not make(adder(2))
    # Equal as numbers, different as types; -0.0 and 0.0 likewise.
    assert make(lambda x: x * 1) is not make(lambda x: x * 1.0)
    assert make(adder(1)) is not make(adder(True))
    assert make(adder(0.0)) is not make(adder(-0.0))
    assert make(adder(1))["INT8"].key != make(adder(2))["INT8"].key


def test_globals_and_functions_called_are_part_of_the_identity():
    def using(helper):
        scope = {"helper": helper, "limit": 3}
        exec("def f(x): return helper(x) + limit", scope)
        return scope["f"]

    one, two = using(lambda x: x + 1), using(lambda x: x + 2)
    assert describe(one) != describe(two)
    assert describe(one) == describe(using(lambda x: x + 1))
    with pytest.raises(UdfParseError, match="identity"):
        describe(using(object()))


def test_captured_values_reach_the_kernel(device):
    table = np.array([3, 1, 4, 1, 5, 9])
    with gb.device(device):
        for shift in (1, 2):
            made = vector().apply(lambda x: table[x] + shift).new()  # noqa: B023
            assert made.to_dict() == {0: 1 + shift, 2: 9 + shift, 3: 1 + shift}


def test_later_changes_of_what_was_captured_do_not_count(device):
    table, scale = np.array([1, 2, 3, 4, 5, 6]), 10
    op = gb.unary.register_anonymous(lambda x: table[x] * scale)
    table[:] = 0
    scale = 0
    with gb.device(device):
        assert vector().apply(op).new().to_dict() == {0: 20, 2: 60, 3: 40}


PROGRAM = """
import semira as gb
from semira.backends.cpu import cache
v = gb.Vector.from_coo(list(range(1000)), list(range(1000)))
with gb.device("cpu"):
    v = gb.Vector.from_coo(list(range(1000)), list(range(1000)))
    w = v.apply(lambda x: x * 3 + 1).new()
    print(w.reduce().new().value, len(cache.compiled))
    w = v.apply(lambda x: x * {factor} + 1).new()
    print(w.reduce().new().value, len(cache.compiled))
"""


def test_a_second_process_compiles_nothing_and_another_function_is_another_kernel(tmp_path):
    def run(factor):
        (tmp_path / "program.py").write_text(PROGRAM.format(factor=factor))
        environment = os.environ | {
            "SEMIRA_CACHE_DIR": str(tmp_path),
            "PYTHONPATH": str(Path(gb.__file__).resolve().parents[1]),
            "NUMBA_OPT": "3",  # what is not optimised holds addresses, and is not kept
        }
        done = subprocess.run(
            [sys.executable, str(tmp_path / "program.py")],
            check=True, capture_output=True, text=True, env=environment,
        )  # fmt: skip
        return list(map(int, done.stdout.split()))

    total, other = 3 * 499500 + 1000, 4 * 499500 + 1000
    *first, compiled = run(3)
    assert compiled > 0
    assert first == [total, compiled, total]
    second = run(4)
    assert second[:3] == [total, 0, other]
    assert 0 < second[3] <= compiled


def test_kernels_on_disk_serve_equal_functions_of_other_modules(tmp_path):
    source = (
        "import semira as gb\n"
        "def tripled(x):\n"
        "    return x * 3 + 1\n"
        "op = gb.unary.register_anonymous(tripled)\n"
        "with gb.device('cpu'):\n"
        "    v = gb.Vector.from_coo([0, 3], [1, 2], size=4)\n"
        "    print(v.apply(op).new().to_dict())\n"
    )
    environment = {**os.environ, "SEMIRA_CACHE_DIR": str(tmp_path / "cache")}
    for name in ("first_module", "second_module"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / f"{name}.py").write_text(source)
        done = subprocess.run(
            [sys.executable, "-c", f"import sys; sys.path.insert(0, '.'); import {name}"],
            cwd=folder, env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.stdout == "{0: 4, 3: 7}\n", done.stderr
