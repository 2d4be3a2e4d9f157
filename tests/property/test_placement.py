"""Where objects live: unplaced ones follow, placed ones never meet across devices."""

from __future__ import annotations

import pytest

import semira as gb
from semira.base.errors import DeviceMismatch, DeviceUnavailable
from semira.base.settings import override, restore

DEVICES = ("reference", "cpu")


def vector() -> gb.Vector:
    return gb.Vector.from_coo([0, 2], [1, 2], size=3)


@pytest.mark.parametrize("name", DEVICES)
def test_context_places_what_is_made_in_it(name: str) -> None:
    with gb.device(name):
        v = vector()
        w = gb.Vector("INT64", 3)
        s = gb.Scalar.from_value(1)
    assert (v.device, w.device, s.device) == (name, name, name)
    assert v.apply("ainv").new().device == name


@pytest.mark.parametrize("name", DEVICES)
def test_to_places_a_copy(name: str) -> None:
    v = vector()
    moved = v.to(name)
    assert moved.device == name
    assert moved.isequal(v, check_dtype=True)
    moved << 7
    assert v.to_dict() == {0: 1, 2: 2}
    assert moved.to(name) is moved


@pytest.mark.parametrize("first", DEVICES)
def test_unplaced_objects_follow_their_first_placed_partner(first: str) -> None:
    other = next(name for name in DEVICES if name != first)
    free, placed = vector(), vector().to(first)
    result = free.ewise_add(placed, "plus").new()
    assert (free.device, result.device) == (first, first)
    with pytest.raises(DeviceMismatch, match=first):
        free.ewise_add(vector().to(other), "plus").new()


@pytest.mark.parametrize("first", DEVICES)
def test_every_role_follows(first: str) -> None:
    out, mask = gb.Vector("INT64", 3), gb.Vector.from_coo([0], True, size=3)
    matrix = gb.Matrix.from_coo([0, 1], [1, 2], nrows=3, ncols=3)
    out(mask.S, accum="plus") << vector().to(first).vxm(matrix)
    assert (out.device, mask.device, matrix.device) == (first, first, first)


def test_unplaced_objects_meet_on_the_default_device_and_stay_free() -> None:
    before = override(device="reference")
    try:
        v = vector()
        result = v.ewise_add(vector(), "plus").new()
        assert result.device == "reference"
    finally:
        restore(before)
    # Work on the default device placed nothing: both still follow a partner.
    partner = vector().to("cpu")
    assert v.ewise_add(partner, "plus").new().device == "cpu"
    assert result.ewise_add(partner, "plus").new().device == "cpu"
    assert v.to_dict() == {0: 1, 2: 2}


def test_results_follow_contents_across_devices() -> None:
    v = vector().to("reference")
    doubled = v.ewise_add(v, "plus").new().to("cpu")
    assert doubled.to_dict() == {0: 2, 2: 4}
    assert doubled.device == "cpu"


@pytest.mark.parametrize("role", ["operand", "mask", "output", "scalar"])
def test_mismatches_change_nothing(role: str) -> None:
    here, there = vector().to("reference"), vector().to("cpu")
    with gb.device("cpu"):
        number = gb.Scalar.from_value(1)
    calls = {
        "operand": lambda: here.ewise_mult(there, "plus").new(),
        "mask": lambda: here(there.S).update(5),
        "output": lambda: here.update(there.apply("ainv")),
        "scalar": lambda: here.apply("plus", right=number).new(),
    }
    with pytest.raises(DeviceMismatch, match=r"\.to\("):
        calls[role]()
    assert here.to_dict() == there.to_dict() == {0: 1, 2: 2}


def test_context_ends_and_nests() -> None:
    with gb.device("reference"):
        with gb.device("cpu"):
            inner = vector()
        outer = vector()
    assert (inner.device, outer.device) == ("cpu", "reference")


def test_unknown_device() -> None:
    with pytest.raises(DeviceUnavailable, match="reference"), gb.device("tpu"):
        pass
    with pytest.raises(DeviceUnavailable):
        vector().to("tpu")
