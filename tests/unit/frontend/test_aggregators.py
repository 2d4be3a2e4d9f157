"""Aggregators against python-graphblas, and where they differ from it on purpose."""

from __future__ import annotations

import pickle
from math import isnan

import numpy as np
import pytest
from tests.helpers.every import every
from tests.helpers.pgb import assert_same, suitesparse

import semira as gb
from semira.base.errors import DomainMismatch
from semira.frontend.aggregators import AGGREGATORS

ROWS = [0, 0, 0, 1, 1, 3, 4]
COLS = [1, 2, 3, 0, 3, 2, 4]
VALUES = [5, 2, 5, 7, 1, 4, 0]
NO_MATRIX = ("argmin", "argmax", "first_index", "last_index")


def dtype_for(name):
    return "UINT16" if name.startswith("bitwise") else "FP64"


def matrix(library, dtype):
    return library.Matrix.from_coo(ROWS, COLS, VALUES, dtype=dtype, nrows=5, ncols=5)


def find(library, name):
    return getattr(library.agg.ss if AGGREGATORS[name].space else library.agg, name)


def results(library, name, dtype):
    A, op = matrix(library, dtype), find(library, name)
    v = library.Vector.from_coo([1, 3, 4], [3, 1, 8], dtype=dtype, size=6)
    made = [op(A, rowwise=True).new(), op(A, columnwise=True).new(), op(v).new()]
    if name not in NO_MATRIX:
        made.append(op(A).new())
    return made


@every("name", sorted(AGGREGATORS))
def test_same_as_suitesparse(name, device):
    if name == "any_value":
        pytest.skip("any value will do: tested by membership")
    dtype = dtype_for(name)
    with gb.device(device):
        ours = results(gb, name, dtype)
    # Sums of powers cancel in variances.
    for mine, theirs in zip(ours, results(suitesparse(), name, dtype), strict=True):
        assert_same(mine, theirs, steps=16, scale=10)


@every("dtype", ["INT8", "INT32", "UINT64", "FP32"])
@every("name", sorted(set(AGGREGATORS) - {"bitwise_all", "bitwise_any"}))
def test_result_dtypes(name, dtype):
    v = gb.Vector.from_coo([0, 1], [1, 2], dtype=dtype)
    other = suitesparse().Vector.from_coo([0, 1], [1, 2], dtype=dtype)
    expression = v.reduce(find(gb, name))
    expected = other.reduce(find(suitesparse(), name)).new().dtype.name
    assert expression.dtype.name == expected
    assert expression.new().dtype.name == expected
    assert AGGREGATORS[name].for_operand(gb.dtypes.lookup_dtype(dtype)).return_type.name == expected


def test_any_value_is_one_of_the_values(device):
    with gb.device(device):
        found = matrix(gb, "INT64").reduce_rowwise(gb.agg.any_value).new().to_dict()
    assert set(found) == set(ROWS)
    for row, value in found.items():
        assert value in [v for r, v in zip(ROWS, VALUES, strict=True) if r == row]


def test_without_entries(device):
    with gb.device(device):
        v = gb.Vector(float, 3)
        for name, op in AGGREGATORS.items():
            dtype = dtype_for(name)
            assert gb.Vector(dtype, 3).reduce(op).new().value is None, name
            assert gb.Matrix(dtype, 2, 2).reduce_rowwise(op).new().nvals == 0, name
        assert v.reduce(gb.agg.sum, allow_empty=False).new().value == 0
        with pytest.raises(ValueError, match="allow_empty"):
            v.reduce(gb.agg.mean, allow_empty=False)


def test_narrow_integers_do_not_wrap_on_the_way():
    v = gb.Vector.from_coo(range(300), 100, dtype="INT8")
    assert v.reduce(gb.agg.mean).new().value == 100
    assert v.reduce(gb.agg.count).new().value == 300
    assert v.reduce(gb.agg.varp).new().value == 0
    assert gb.Vector.from_coo([0, 1], [True, False]).reduce("mean").new().value == 0.5


def test_single_entries_have_no_sample_variance():
    assert isnan(gb.Vector.from_coo([0], [3.0]).reduce(gb.agg.vars).new().value)


def test_strings_and_typed_aggregators():
    v = gb.Vector.from_coo([0, 1], [1, 2])
    assert v.reduce("mean").new().value == 1.5
    assert v.reduce("mean[fp32]").dtype == "FP32"
    assert v.reduce("min").new().value == 1
    assert gb.agg.from_string("mean") is gb.agg.mean
    assert gb.op.from_string("mean") is gb.agg.mean
    assert gb.agg.mean["INT8"] is gb.agg.mean["INT8"]
    assert "BOOL" not in gb.agg.sum
    assert gb.agg.L2norm is gb.agg.hypot
    assert repr(gb.agg.ss.first) == "agg.ss.first"
    for op in (gb.agg.mean, gb.agg.mean["INT8"]):
        assert pickle.loads(pickle.dumps(op)) is op


def test_a_result_can_be_masked_and_accumulated(device):
    with gb.device(device):
        A = matrix(gb, "FP64")
        w = gb.Vector.from_coo([0, 1], [10.0, 20.0], size=5)
        mask = gb.Vector.from_coo([1, 3], [True, True], size=5)
        w(mask.S, accum=gb.binary.plus) << A.reduce_rowwise(gb.agg.mean)
        assert w.to_dict() == {0: 10.0, 1: 24.0, 3: 4.0}


def test_it_runs_in_a_recorded_loop(device):
    with gb.device(device):
        A, w = matrix(gb, "FP64"), gb.Vector(float, 5)

        def step():
            w << A.reduce_rowwise(gb.agg.mean)

        gb.repeat(step, max_iterations=2)
        np.testing.assert_allclose(w.to_coo()[1], [4, 4, 4, 0])


@every("name", NO_MATRIX)
@every("lines", ["rowwise", "columnwise"])
def test_positions_of_truth_values(name, lines, device):
    def found(library):
        A = library.Matrix.from_coo([0, 1, 1, 2], [1, 1, 0, 2], [True, False, True, True], ncols=4)
        return find(library, name)(A, **{lines: True}).new()

    with gb.device(device):
        ours = found(gb)
    assert_same(ours, found(suitesparse()))


def test_misuse_is_explained():
    v, A = gb.Vector(bool, 2), gb.Matrix(float, 2, 2)
    with pytest.raises(DomainMismatch, match="does not work with BOOL"):
        v.reduce(gb.agg.sum)
    with pytest.raises(ValueError, match="reduce_scalar"):
        A.reduce_scalar(gb.agg.argmin)
    with pytest.raises(ValueError, match="both"):
        gb.agg.sum(A, rowwise=True, columnwise=True)
    with pytest.raises(ValueError, match="Vector"):
        gb.agg.sum(gb.Vector(float, 2), rowwise=True)
    with pytest.raises(TypeError, match="Bad type"):
        gb.agg.sum(3)
    with pytest.raises(AttributeError, match="nothing"):
        gb.agg.nothing  # noqa: B018


def test_counts_take_the_dtype_that_is_asked_for_and_do_not_wrap_by_default() -> None:
    v = gb.Vector.from_coo(range(200), 1, dtype="INT8")
    for name in ("count", "exists"):
        found = v.reduce(getattr(gb.agg, name)).new()
        assert found.dtype == gb.dtypes.INT64
    assert v.reduce(gb.agg.count["INT16"]).new().dtype == gb.dtypes.INT16


def test_an_aggregator_of_aggregators() -> None:
    product = gb.agg.Aggregator(
        "product",
        composite=[gb.agg.varp, gb.agg.stdp],
        finalize=lambda x, y, opts: gb.binary.times(x & y),
        types=[gb.agg.varp],
    )
    v = gb.Vector.from_coo([0, 1, 2], [1, 1, 4])
    assert v.reduce(product).new().isclose(2.0**1.5)
    A = gb.Matrix.from_coo([0, 0, 0], [0, 1, 2], [1, 1, 4])
    assert A.reduce_rowwise(product).new()[0].new().isclose(2.0**1.5)
    with pytest.raises(TypeError, match="needs"):
        gb.agg.Aggregator("nothing")


def over_all(values, dtype="FP64"):
    """Return each reduction of values: of a vector, a row, a column, and a matrix as a whole."""
    v = gb.Vector.from_coo(range(len(values)), values, dtype=dtype)
    A = gb.Matrix.from_coo([1] * len(values), range(len(values)), values, dtype=dtype, nrows=3)
    return [
        lambda op: v.reduce(op).new().value,
        lambda op: A.reduce_rowwise(op).new()[1].value,
        lambda op: A.T.reduce_columnwise(op).new()[1].value,
        lambda op: A.reduce_scalar(op).new().value,
    ]


@every(
    ("values", "dtype"),
    [
        ([1e9, 1e9 + 1, 1e9 + 2], "FP64"),
        ([-1e15, -1e15 + 1, -1e15 + 2, -1e15], "FP64"),
        ([2**40, 2**40 + 1, 2**40 + 5], "INT64"),
        ([16777210, 16777212, 16777214], "FP32"),
        ([1e300, 1e300], "FP64"),
    ],
)
def test_variances_do_not_cancel(device, values, dtype):
    # Shifted to zero, where nothing cancels.
    shifted = np.array(values, "g") - values[0]
    with gb.device(device):
        for reduced in over_all(values, dtype):
            assert reduced("varp") == pytest.approx(float(shifted.var()), rel=1e-6)
            assert reduced("vars") == pytest.approx(float(shifted.var(ddof=1)), rel=1e-6)
            assert reduced("stdp") == pytest.approx(float(shifted.std()), rel=1e-6)
            assert reduced("stds") == pytest.approx(float(shifted.std(ddof=1)), rel=1e-6)


def test_variances_of_rows_use_the_mean_of_each(device):
    with gb.device(device):
        rows = [0, 0, 1, 1, 1, 3]
        A = gb.Matrix.from_coo(rows, [0, 1, 0, 1, 2, 2], [1e9, 1e9 + 2, 1, 2, 6, 7.0], nrows=5)
        assert A.reduce_rowwise("varp").new().to_dict() == {0: 1, 1: 14 / 3, 3: 0}
        found = A.reduce_columnwise("vars").new().to_dict()
        assert found[0] == pytest.approx((1e9 - 1) ** 2 / 2)


@every(
    ("values", "expected"),
    [
        ([3e200, -4e200], 5e200),
        ([3e-200, 4e-200], 5e-200),
        ([3e-310, 4e-310], 5e-310),
        ([1e308, 1e308], 1e308 * 2**0.5),
        ([0.0, 0.0], 0),
        ([-3.0], 3),
        ([float("inf"), 1], float("inf")),
        ([1, 2, 2, 4.0], 5),
    ],
)
def test_norms_do_not_overflow(device, values, expected):
    with gb.device(device):
        for reduced in over_all(values):
            assert reduced("hypot") == pytest.approx(expected, rel=1e-14)
            mean = expected / len(values) ** 0.5
            assert reduced("root_mean_square") == pytest.approx(mean, rel=1e-14)
        x, y = gb.Vector.from_dense([values[0]]), gb.Vector.from_dense([values[-1]])
        pair = x.ewise_mult(y, "hypot").new()[0].value
        assert pair == pytest.approx(float(np.hypot(values[0], values[-1])), rel=1e-15)


def test_norms_of_fp32_are_computed_in_fp64(device):
    with gb.device(device):
        for reduced in over_all([1e30, 1e30], "FP32"):
            assert reduced("root_mean_square") == pytest.approx(1e30, rel=1e-6)
            assert reduced("hypot") == pytest.approx(2**0.5 * 1e30, rel=1e-6)


@pytest.mark.parametrize("dtype", ["FP64", "INT32", "FP32"])
def test_sums_of_exponentials_do_not_overflow(device, dtype):
    with gb.device(device):
        for reduced in over_all([1000, 1000, -5], dtype):
            assert reduced("logaddexp") == pytest.approx(1000 + np.log(2))
            assert reduced("logaddexp2") == pytest.approx(1001)
        for reduced in over_all([-1000, -1000], dtype):
            assert reduced("logaddexp") == pytest.approx(-1000 + np.log(2))
