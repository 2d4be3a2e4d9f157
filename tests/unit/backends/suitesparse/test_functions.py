"""Python functions: their exceptions reach the caller, and they compute as on the cpu."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from operator import attrgetter
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tests.helpers.every import every

import semira as gb
from semira.backends.suitesparse.functions import REMADE
from semira.backends.suitesparse.objects import library
from semira.base.errors import NotImplementedException

pytest.importorskip("graphblas")


@pytest.fixture(autouse=True)
def on_suitesparse() -> Iterator[None]:
    with gb.device("suitesparse"):
        yield


@pytest.fixture(autouse=True)
def few_dtypes(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    # Results of truth values and of INT64 depend on INT8.
    compile_only_for(monkeypatch, "BOOL", "INT8", "INT64", "FP64")
    spaces = [getattr(library(), name) for name in ("unary", "binary", "monoid", "semiring")]
    before = [(space, dict(vars(space)), dict(space._delayed)) for space in spaces]
    yield
    # python-graphblas makes some operators when they are asked for: other tests want all dtypes.
    for space, names, delayed in before:
        for name in vars(space).keys() - names.keys():
            delattr(space, name)
        space._delayed.update(delayed)


def compile_only_for(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Let python-graphblas compile functions for some dtypes; else it takes all, a second each."""
    known = library().core.dtypes._sample_values
    used = {dtype: value for dtype, value in known.items() if dtype.name in names}
    assert len(used) == len(names)
    for name in ("unary", "binary", "indexunary"):
        module = importlib.import_module(f"graphblas.core.operator.{name}")
        monkeypatch.setattr(module, "_sample_values", used)


def picky(x: Any) -> Any:
    if x == 1:
        raise ValueError("one is refused")
    return x


def picky_pair(x: Any, y: Any) -> Any:
    if x == 1:
        raise ValueError("one is refused")
    return x + y


def vector() -> gb.Vector:
    return gb.Vector.from_coo([0, 1, 5], [3, 1, 2], size=6)


REFUSED = pytest.raises(ValueError, match="one is refused")


def test_an_exception_reaches_the_caller_and_nothing_is_written():
    v, w = vector(), gb.Vector.from_coo([0, 1], [8, 9], size=6)
    accum = gb.binary.register_anonymous(picky_pair)
    ones = gb.Vector.from_coo([0], [1], size=6)

    def statements() -> Iterator[Any]:
        yield lambda: w << v.apply(picky)
        yield lambda: w(accum="plus") << v.apply(picky)
        yield lambda: w(v.S, replace=True) << v.apply(picky)
        yield lambda: w << v.ewise_mult(v, picky_pair)
        yield lambda: ones(accum=accum) << v

    before = sys.unraisablehook
    for statement in statements():
        with REFUSED:
            statement()
    assert (w.to_dict(), ones.to_dict()) == ({0: 8, 1: 9}, {0: 1})
    assert sys.unraisablehook is before


def test_every_kind_of_statement():
    A = gb.Matrix.from_coo([0, 1], [1, 0], [1, 2], nrows=2, ncols=2)
    semiring = gb.semiring.register_anonymous(
        gb.monoid.plus, gb.binary.register_anonymous(picky_pair)
    )
    with REFUSED:
        A.mxm(A, semiring).new()
    with REFUSED:
        gb.Vector.from_coo([0, 0], [1, 2], size=1, dup_op=picky_pair)
    with pytest.raises(IndexError, match="tuple index out of range"):
        A.select(gb.select.register_anonymous(lambda x, i, j, t: (1, 3)[x] > t), 0).new()


def test_many_threads_raise():
    values = np.arange(400_000) % 2
    with REFUSED:
        gb.Vector.from_dense(values).apply(picky).new()


def test_a_broken_iteration_is_undone():
    v = gb.Vector.from_coo([0, 1], [5, 6], size=2)

    def step() -> gb.Scalar:
        v << v.apply(gb.binary.minus, right=1)
        v << v.apply(picky)
        return v.nvals > 0

    with REFUSED:
        gb.repeat(step, max_iterations=20)
    assert v.to_dict() == {0: 2, 1: 3}


def test_other_reports_go_where_they_went(monkeypatch):
    from semira.backends.suitesparse.functions import reaching_the_caller

    seen: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", seen.append)
    report = SimpleNamespace(object="a generator", exc_value=ValueError(), exc_type=ValueError)
    with reaching_the_caller():
        sys.unraisablehook(report)
    assert seen == [report]


def test_divisions_by_zero_are_those_of_ieee_754(monkeypatch):
    compile_only_for(monkeypatch, "FP64")
    v = gb.Vector.from_coo([0, 1, 2], [-1.0, 0.0, 2.0], size=3)
    for function in (lambda x: x / 0, lambda x: x // 0, lambda x: x % 0):
        found = v.apply(function).new().to_dense()
        with gb.device("cpu"):
            wanted = v.to("cpu").apply(function).new().to_dense()
        np.testing.assert_array_equal(found, wanted)
    compile_only_for(monkeypatch, "INT64")
    assert gb.Vector.from_coo([0], [3], size=1).apply(lambda x: x / 0).new()[0].value == np.inf


def test_positions_are_signed():
    A = gb.Matrix.from_coo([0, 1], [1, 0], [4, 5], nrows=2, ncols=2)
    above = gb.select.register_anonymous(lambda x, i, j, t: i - j < 0)
    assert A.select(above, 0).new().to_dicts() == {0: {1: 4}}
    halved = gb.indexunary.register_anonymous(lambda x, i, j, t: (i - j) / 2)
    assert A.apply(halved, 0).new().to_dicts() == {0: {1: -0.5}, 1: {0: 0.5}}


def test_what_a_function_captures_is_frozen():
    offset = 3
    op = gb.unary.register_anonymous(lambda x: x + offset)
    offset = 100
    assert gb.Vector.from_coo([0], [1], size=1).apply(op).new()[0].value == 4


LEFT, RIGHT = (grid.ravel() for grid in np.meshgrid([-3, -1, 0, 1, 3, 70, 100], [-7, 0, 2, 9, 64]))


# Random numbers have tests of their own, on every device.
OPERATORS = sorted(name for name in REMADE if not name.startswith("random_"))


@every(
    ("name", "dtype"),
    [
        (name, "INT64" if "shift" in name else ("INT64", "UINT8", "FP64")[k % 3])
        for k, name in enumerate(OPERATORS)
    ],
)
def test_operators_of_python_graphblas_alone_mean_what_they_mean_elsewhere(
    name, dtype, monkeypatch
):
    compile_only_for(monkeypatch, dtype)
    space = gb.unary if name in ("numpy.reciprocal", "numpy.sign") else gb.binary
    op, found = attrgetter(name)(space), []
    for device in ("reference", "suitesparse"):
        with gb.device(device):
            left, right = (
                gb.Vector.from_dense(values.astype(gb.dtypes.lookup_dtype(dtype).np_type))
                for values in (LEFT, RIGHT)
            )
            result = left.apply(op) if space is gb.unary else left.ewise_mult(right, op)
            found.append(result.new().to_dense())
    np.testing.assert_array_equal(*found)


def test_a_semiring_of_such_an_operator():
    A = gb.Matrix.from_coo([0, 1, 2], [0, 1, 2], [3, 0, -7])
    product = gb.semiring.register_anonymous(gb.monoid.plus, gb.binary.floordiv)
    assert A.mxv(gb.Vector.from_dense([2, 5, 0]), product).new().to_dense().tolist() == [1, 0, 0]


def test_integers_of_truth_values_are_not_cut_to_8_bits():
    v = gb.Vector.from_coo([0, 1], [True, False], size=3)
    A = gb.Matrix.from_coo([0, 1], [1, 0], True, nrows=3, ncols=3)
    assert v.apply(lambda x: x + 200).new().to_dict() == {0: 201, 1: 200}
    assert v.ewise_mult(v, lambda x, y: 200 * x + y).new().to_dict() == {0: 201, 1: 0}
    op = gb.binary.register_anonymous(lambda x, y: 200 * x + y)
    with pytest.raises(NotImplementedException, match=r"\.to\('cpu'\)"):
        v.vxm(A, gb.semiring.register_anonymous(gb.monoid.plus, op)).new()
