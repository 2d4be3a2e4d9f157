"""Numbers of Python that do not fit into a dtype."""

from __future__ import annotations

import numpy as np
import pytest

import semira as gb
from semira.exceptions import InvalidValue
from semira.frontend.fits import as_fitting

MAKERS = {
    "Vector.from_coo": lambda x, t: gb.Vector.from_coo([0, 1], [0, x], t),
    "one value": lambda x, t: gb.Vector.from_coo([0], x, t),
    "one entry of a known size": lambda x, t: gb.Vector.from_coo([0], [x], t, size=3),
    "Vector.from_scalar": lambda x, t: gb.Vector.from_scalar(x, 2, t),
    "Vector.from_dict": lambda x, t: gb.Vector.from_dict({0: x}, t),
    "Vector.from_pairs": lambda x, t: gb.Vector.from_pairs([(0, x)], t),
    "Vector.from_dense": lambda x, t: gb.Vector.from_dense([x], dtype=t),
    "Matrix.from_coo": lambda x, t: gb.Matrix.from_coo([0], [0], [x], t),
    "Matrix.from_scalar": lambda x, t: gb.Matrix.from_scalar(x, 1, 1, t),
    "Matrix.from_dicts": lambda x, t: gb.Matrix.from_dicts({0: {0: x}}, t),
    "Matrix.from_edgelist": lambda x, t: gb.Matrix.from_edgelist([(0, 0, x)], dtype=t),
    "Matrix.from_dense": lambda x, t: gb.Matrix.from_dense([[x]], dtype=t),
    "Matrix.from_csr": lambda x, t: gb.Matrix.from_csr([0, 1], [0], [x], t),
    "Scalar.from_value": gb.Scalar.from_value,
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
@pytest.mark.parametrize(
    ("value", "dtype", "limits"),
    [(300, "INT8", "-128 .. 127"), (-1, "UINT8", "0 .. 255"), (2**31, "INT32", "2147483647")],
)
def test_constructors_refuse_integers_that_do_not_fit(make, value, dtype, limits):
    with pytest.raises(InvalidValue, match=f"{value} does not fit into {dtype} .*{limits}"):
        make(value, dtype)


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
@pytest.mark.parametrize(("value", "dtype"), [(-128, "INT8"), (255, "UINT8"), (2**31 - 1, "INT32")])
def test_limits_fit(make, value, dtype):
    assert make(value, dtype).dtype == dtype


def test_arrays_wrap_and_other_numbers_are_cast():
    assert gb.Vector.from_coo([0], np.array([300]), dtype="INT8").to_dict() == {0: 44}
    assert as_fitting(np.int64(300), gb.dtypes.INT8) == 300
    assert gb.Vector.from_coo([0], [2.5], dtype="INT8").to_dict() == {0: 2}
    assert gb.Vector.from_coo([0], [300], dtype="FP32").to_dict() == {0: 300.0}
    assert gb.Vector.from_coo([0], [300], dtype="BOOL").to_dict() == {0: True}
    assert gb.Vector.from_coo([], [], dtype="INT8", size=1).nvals == 0


def into(dtype: str, kind: str):
    """Return an object with room for a value, and what reads it back."""
    if kind == "scalar":
        made = gb.Scalar(dtype)
        return made, lambda: made.value
    made = gb.Vector.from_coo([0], [0], dtype, size=1)
    return made, lambda: made[0].new().value


WRITERS = {
    "s.value": ("scalar", lambda x, value: setattr(x, "value", value)),
    "s <<": ("scalar", lambda x, value: x << value),
    "v <<": ("vector", lambda x, value: x << value),
    "v[0] =": ("vector", lambda x, value: x.__setitem__(0, value)),
    "v[:] =": ("vector", lambda x, value: x.__setitem__(slice(None), value)),
    "v(mask) <<": ("vector", lambda x, value: x(x.S) << value),
    "accum": ("vector", lambda x, value: x(accum="plus") << value),
}


@pytest.mark.parametrize(("kind", "write"), WRITERS.values(), ids=WRITERS)
def test_integers_beyond_int64_are_written_where_they_fit(kind, write):
    for dtype, value in (("INT8", 2**63), ("UINT8", 2**63), ("INT64", 2**63)):
        x, read = into(dtype, kind)
        with pytest.raises(InvalidValue, match=f"{value} does not fit into {dtype} .limits"):
            write(x, value)
        assert not read()
    for value in (2**64, -(2**63) - 1):
        with pytest.raises(InvalidValue, match=f"{value} (does not fit|is beyond)"):
            write(into("INT16", kind)[0], value)
    for dtype, value, expected in (("UINT64", 2**63, 2**63), ("INT8", 300, 44), ("BOOL", 2**63, 1)):
        x, read = into(dtype, kind)
        write(x, value)
        assert read() == expected


def test_none_needs_a_dtype():
    with pytest.raises(TypeError, match=r"from_value\(None\) has no dtype"):
        gb.Scalar.from_value(None)
    assert gb.Scalar.from_value(None, "INT8").is_empty


def test_numbers_beyond_64_bits_are_named():
    v = gb.Vector.from_coo([0], [1.5], size=1)
    for use in (lambda x: v + x, lambda x: v.apply("plus", right=x), lambda x: v.select(">", x)):
        with pytest.raises(InvalidValue, match="18446744073709551616 is beyond 64 bits"):
            use(2**64)
