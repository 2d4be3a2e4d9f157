"""`Vector.fixed_point` on every device."""

from __future__ import annotations

import pytest
from tests.helpers.every import every

import semira as gb
from semira.exceptions import (
    DimensionMismatch,
    DomainMismatch,
    InvalidValue,
    IterationLimit,
    RecordError,
)


def matrix(device, dtype="INT64"):
    made = gb.Matrix.from_coo([0, 0, 2, 1], [1, 2, 1, 0], [7, 2, 3, 1], dtype, nrows=4, ncols=4)
    return made.to(device)


def start(device, dtype="INT64"):
    return gb.Vector.from_coo([0], 0, dtype, size=4).to(device)


@every("dtype", ["INT8", "INT32", "UINT64", "FP32", "FP64"])
def test_shortest_paths(device, dtype):
    w = start(device, dtype)
    assert w.fixed_point(matrix(device, dtype), "min_plus") > 0
    assert w.to_dict() == {0: 0, 1: 5, 2: 2}
    assert w.dtype.name == dtype


def test_along_the_transpose(device):
    w = start(device)
    w.fixed_point(matrix(device).T, "min_plus", width=2)
    assert w.to_dict() == {0: 0, 1: 1, 2: 4}


def test_widest_and_narrowest(device):
    w = gb.Vector.from_coo([0], 9, size=4).to(device)
    w.fixed_point(matrix(device), "max_min")
    assert w.to_dict() == {0: 9, 1: 7, 2: 2}
    w = start(device)
    w.fixed_point(matrix(device), "min_max")
    assert w.to_dict() == {0: 0, 1: 3, 2: 2}


def test_a_cycle_that_improves_has_no_fixed_point(device):
    a = gb.Matrix.from_coo([0, 1], [1, 0], [1, -2], nrows=4, ncols=4).to(device)
    w = start(device)
    with pytest.raises(IterationLimit, match="repeat"):
        w.fixed_point(a, "min_plus")
    assert w.to_dict() == {0: 0}


def test_nothing_to_do(device):
    w = gb.Vector("INT64", 4).to(device)
    w.fixed_point(matrix(device), "min_plus")
    assert w.nvals == 0
    assert gb.Vector("INT64", 0).fixed_point(gb.Matrix("INT64", 0, 0), "min_plus") == 0


def test_others_that_share_its_values_are_not_touched(device):
    w = start(device)
    twin = w.dup()
    w.fixed_point(matrix(device), "min_plus")
    assert twin.to_dict() == {0: 0}


def test_what_is_refused(device):
    w, a = start(device), matrix(device)
    with pytest.raises(DomainMismatch, match=r"monoid plus.*repeat"):
        w.fixed_point(a, "plus_times")
    with pytest.raises(DomainMismatch, match=r"dup\('FP64'\)"):
        w.fixed_point(a.dup("FP64"), "min_plus")
    with pytest.raises(DimensionMismatch, match="square"):
        w.fixed_point(gb.Matrix("INT64", 4, 5).to(device), "min_plus")
    for width in (-1, float("nan")):
        with pytest.raises(InvalidValue, match="width"):
            w.fixed_point(a, "min_plus", width=width)
    with pytest.raises(TypeError, match="Matrix"):
        w.fixed_point(w, "min_plus")
    assert w.to_dict() == {0: 0}


def test_it_is_refused_inside_of_a_loop(device):
    w, a = start(device), matrix(device)

    def step():
        w.fixed_point(a, "min_plus")
        return w.nvals > 0

    with pytest.raises(RecordError, match="before the loop"):
        gb.repeat(step, max_iterations=3)
