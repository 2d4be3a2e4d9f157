"""Dtypes made of records and sub-arrays: identity, names, values."""

import json
import pickle
import subprocess
import sys

import numpy as np
import pytest
from tests.helpers.every import every

import semira as gb
from semira import dtypes
from semira.base.dtypes import infer_dtype, lookup_dtype, unify
from semira.base.errors import DimensionMismatch, DomainMismatch, InvalidValue, UnknownDtype
from semira.base.record_dtypes import encode, layout, of_layout, visible

POINT = np.dtype([("x", np.bool_), ("y", np.float64)], align=True)
NESTED = np.dtype([("id", np.int32), ("at", POINT), ("w", np.int16, (2, 2))])


def test_one_layout_is_one_dtype():
    first = dtypes.register_anonymous(POINT)
    again = dtypes.register_anonymous(np.dtype(layout(POINT)))
    assert again is first
    assert lookup_dtype(POINT) is first
    assert lookup_dtype({"x": bool, "y": float}) is first
    assert first == POINT
    assert hash(first) == hash(lookup_dtype(POINT))


def test_facts_of_a_record():
    made = dtypes.register_anonymous(POINT, "FactsPoint")
    assert (made.name, made.kind, made.itemsize) == ("FactsPoint", "V", 16)
    assert made.gb_name is None
    assert made.c_type == "uint8_t[16]"
    assert made.np_type == made.array_dtype == POINT
    assert made.is_anonymous
    assert repr(made.numba_type).startswith("Record")


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ({"x": int, "y": {"a": "FP32"}}, "{'x': INT64, 'y': {'a': FP32}}"),
        ("UINT16[3]", "UINT16[3]"),
        (np.dtype("(3,4)bool"), "BOOL[3, 4]"),
        (np.dtype((np.dtype("(5,)float64"), (6,))), "FP64[5][6]"),
    ],
)
def test_names_tell_the_layout(given, name):
    assert lookup_dtype(given).name == name


def test_subarrays_are_stored_as_records_of_one_field():
    made = lookup_dtype("INT64[3]")
    assert made.np_type == np.dtype("(3,)int64")
    assert np.zeros(4, made.array_dtype).shape == (4,)
    assert made.shape == (3,)


def test_register_new_keeps_a_name():
    made = dtypes.register_new("UnitNamed", np.dtype([("only", np.int8)]))
    assert dtypes.UnitNamed is made
    assert "UnitNamed" in dir(dtypes)
    assert not made.is_anonymous
    assert lookup_dtype("UnitNamed") is made
    with pytest.raises(InvalidValue, match="unavailable"):
        dtypes.register_new("UnitNamed", POINT)


@pytest.mark.parametrize("name", ["a-b", "", "INT8", "lookup_dtype", "float"])
def test_register_new_refuses_names(name):
    with pytest.raises(InvalidValue, match="name"):
        dtypes.register_new(name, POINT)


@every(
    ("dtype", "error", "match"),
    [
        (np.dtype([("x", object)]), InvalidValue, "Python objects"),
        (np.int8, InvalidValue, "builtin"),
        (np.dtype([("x", "S3")]), UnknownDtype, "made of bool"),
        (np.dtype([("x", ">i4")]), UnknownDtype, "byte order"),
        ("S5", UnknownDtype, "neither"),
        ("INT8[", UnknownDtype, "Unknown dtype"),
        ("INT8[x]", UnknownDtype, "INT64\\[3\\]"),
        ("nonsense", UnknownDtype, "Unknown dtype"),
    ],
)
def test_what_makes_no_dtype(dtype, error, match):
    with pytest.raises(error, match=match):
        dtypes.register_anonymous(dtype, "name")


def test_unknown_dtypes_are_value_and_type_errors():
    for error in (ValueError, TypeError):
        with pytest.raises(error, match="Unknown dtype"):
            lookup_dtype("badname")


def test_unify_joins_records_with_nothing_but_scalars():
    made = lookup_dtype(POINT)
    assert unify(made, made) is made
    assert unify(made, "INT8", is_right_scalar=True) is made
    assert unify(bool, made, is_left_scalar=True) is made
    with pytest.raises(DomainMismatch, match="no common dtype"):
        unify(made, "INT8")
    with pytest.raises(DomainMismatch, match="no common dtype"):
        unify(made, "INT64[3]", is_right_scalar=True)


def test_pickles_within_a_process():
    for made in (lookup_dtype(NESTED), lookup_dtype("FP32[2]")):
        assert pickle.loads(pickle.dumps(made)) is made


def test_pickles_into_another_process():
    named = dtypes.register_new("UnitTravels", np.dtype([("t", np.uint8), ("u", np.int16)]))
    sent = pickle.dumps((named, lookup_dtype("INT16[7]"))).hex()
    program = (
        "import pickle, semira; named, other = pickle.loads(bytes.fromhex('" + sent + "')); "
        "assert semira.dtypes.UnitTravels is named; assert other is "
        "semira.dtypes.lookup_dtype('INT16[7]')"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize("dtype", [POINT, NESTED, np.dtype("(2,3)int8"), np.dtype("f4")])
def test_layouts_survive_json(dtype):
    assert of_layout(json.loads(json.dumps(layout(dtype)))) == dtype
    assert np.dtype(layout(dtype)) == dtype


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ((True, 2), (True, 2.0)),
        ({"y": 2, "x": 1}, (True, 2.0)),
        (3, (True, 3.0)),
        (np.array((False, 4.0), POINT)[()], (False, 4.0)),
    ],
)
def test_one_record(value, expected):
    assert lookup_dtype(POINT).scalar(value).item() == expected


def test_a_scalar_shares_no_memory():
    array = np.zeros(2, POINT)
    made = lookup_dtype(POINT).scalar(array[0])
    array[0] = (True, 5.0)
    assert made.item() == (False, 0.0)


def test_nested_records_from_dicts():
    made = lookup_dtype(NESTED)
    value = made.scalar({"id": 1, "at": {"x": 1, "y": 2.5}, "w": [[1, 2], [3, 4]]})
    assert value["at"]["y"] == 2.5
    assert value["w"].tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize("value", [(1, 2, 3), {"x": 1}, {"x": 1, "y": 2, "z": 3}, "text", None])
def test_what_is_no_record(value):
    with pytest.raises((DomainMismatch, InvalidValue)):
        lookup_dtype(POINT).scalar(value)


def test_arrays_of_values():
    made = lookup_dtype("INT64[2]")
    stored = encode(made, [[1, 2], [3, 4], [5, 6]], 1)
    assert stored.shape == (3,)
    assert visible(stored).tolist() == [[1, 2], [3, 4], [5, 6]]
    with pytest.raises(DimensionMismatch, match="include dtype shape"):
        encode(made, [1, 2], 1)
    records = encode(lookup_dtype(POINT), [(1, 2), {"x": 0, "y": 3}], 1)
    assert records.tolist() == [(True, 2.0), (False, 3.0)]


def test_dtypes_are_inferred_from_arrays():
    assert infer_dtype(np.zeros(1, POINT)) is lookup_dtype(POINT)
    assert infer_dtype(np.zeros(1, POINT)[0]) is lookup_dtype(POINT)


@pytest.mark.parametrize("given", [[[1, 2], [3, 4]], (1, 2), np.eye(2), gb.Vector(int, 2)])
def test_values_in_place_of_a_dtype_are_answered_in_one_line(given):
    with pytest.raises(UnknownDtype, match=r"a dtype was expected, got .*from_dense") as caught:
        gb.Matrix(given)
    assert "\n" not in str(caught.value)
