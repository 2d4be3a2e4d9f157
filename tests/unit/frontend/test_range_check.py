"""Numbers that do not fit into a dtype, and arrays of unusual kinds."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from tests.helpers.every import every

import semira as gb
from semira.exceptions import InvalidValue

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
    "Vector.from_scalar, of NumPy": lambda x, t: gb.Vector.from_scalar(np.array(x)[()], 2, t),
    "Matrix.from_scalar, of NumPy": lambda x, t: gb.Matrix.from_scalar(np.array(x)[()], 1, 1, t),
    "Scalar.from_value, of NumPy": lambda x, t: gb.Scalar.from_value(np.array(x)[()], t),
}


@every("make", MAKERS.values(), ids=MAKERS)
@every(
    ("value", "dtype", "limits"),
    [(300, "INT8", "-128 .. 127"), (-1, "UINT8", "0 .. 255"), (2**31, "INT32", "2147483647")],
)
def test_constructors_refuse_integers_that_do_not_fit(make, value, dtype, limits):
    with pytest.raises(InvalidValue, match=f"{value} does not fit into {dtype} .*{limits}"):
        make(value, dtype)


@every("make", MAKERS.values(), ids=MAKERS)
@every("value", [float("nan"), float("inf"), 1e30], ids=str)
def test_constructors_refuse_floats_that_are_no_integers(make, value):
    with pytest.raises(InvalidValue, match="does not fit into INT64"):
        make(value, "INT64")


@every("make", MAKERS.values(), ids=MAKERS)
@every(("value", "dtype"), [(-128, "INT8"), (255, "UINT8"), (2**31 - 1, "INT32")])
def test_limits_fit(make, value, dtype):
    assert make(value, dtype).dtype == dtype


#: What makes an object of an array of values.
ARRAYS = {
    "Vector.from_coo": lambda x, t: gb.Vector.from_coo(range(len(x)), x, t),
    "Vector.from_dense": lambda x, t: gb.Vector.from_dense(x, dtype=t),
    "Vector.build": lambda x, t: built(gb.Vector(t, len(x)), range(len(x)), x),
    "Matrix.from_coo": lambda x, t: gb.Matrix.from_coo(range(len(x)), range(len(x)), x, t),
    "Matrix.from_csr": lambda x, t: gb.Matrix.from_csr([0, len(x)], range(len(x)), x, t),
    "Matrix.from_dcsc": lambda x, t: gb.Matrix.from_dcsc([1], [0, len(x)], range(len(x)), x, t),
    "Matrix.from_edgelist": lambda x, t: gb.Matrix.from_edgelist(pairs(len(x)), x, t),
    "Matrix.from_dense": lambda x, t: gb.Matrix.from_dense(np.array([x]), dtype=t),
    "Matrix.build": lambda x, t: built(
        gb.Matrix(t, len(x), len(x)), range(len(x)), range(len(x)), x
    ),
    "ss.import_full": lambda x, t: gb.Vector.ss.import_full(x, dtype=t),
}


def built(made, *given):
    made.build(*given)
    return made


def pairs(count):
    return np.arange(2 * count).reshape(count, 2)


@every("make", ARRAYS.values(), ids=ARRAYS)
@every(
    ("values", "dtype", "said"),
    [
        (np.array([1, 300]), "INT8", r"300 does not fit into INT8 \(limits -128 .. 127\)"),
        (np.array([1, -1], np.int8), "UINT64", "-1 does not fit into UINT64"),
        (np.array([1, 2**63], np.uint64), "INT64", f"{2**63} does not fit into INT64"),
        (np.array([1, np.nan]), "INT64", r"nan does not fit into INT64 \(integers only\)"),
        (np.array([1, np.inf]), "UINT8", "inf does not fit into UINT8"),
        (np.array([1, -np.inf], np.float32), "INT16", "-inf does not fit into INT16"),
        (np.array([1, 2.0**63]), "INT64", "9.22.*e.18 does not fit into INT64"),
        (np.array([1, 1e300]), "FP32", "1e.300 does not fit into FP32"),
        (np.array([1, 2j]), "FP64", r"2j does not fit into FP64 \(no imaginary part\)"),
    ],
)
def test_arrays_that_do_not_fit_are_refused_with_the_place(make, values, dtype, said):
    with pytest.raises(InvalidValue, match=f"{said}.* at position (0, )?1; "):
        make(values, dtype)


@every("make", ARRAYS.values(), ids=ARRAYS)
@every(
    ("values", "dtype", "expected"),
    [
        (np.array([-128.9, 127.9]), "INT8", [-128, 127]),
        (np.array([-(2.0**63), 2.0**62]), "INT64", [-(2**63), 2**62]),
        (np.array([0, 2**64 - 1], np.uint64), "UINT64", [0, 2**64 - 1]),
        (np.array([np.nan, np.inf]), "FP32", [np.nan, np.inf]),
        (np.array([3 + 0j, -1]), "INT8", [3, -1]),
        (np.array([300, 0]), "BOOL", [True, False]),
        (np.array([1.5, 2], np.float16), "FP64", [1.5, 2]),
        (np.array([1.5, 2], np.longdouble), "FP64", [1.5, 2]),
        (np.array([2**70, 1], object), "FP64", [2.0**70, 1]),
        ([Fraction(1, 2), Decimal("2.5")], "FP32", [0.5, 2.5]),
        ([Fraction(7, 2), Decimal(300)], "INT16", [3, 300]),
    ],
)
def test_arrays_that_fit_are_cast(make, values, dtype, expected):
    made = make(values, dtype)
    assert made.dtype == dtype
    np.testing.assert_array_equal(made.to_coo()[-1], expected)


UNUSUAL = {
    "big-endian": np.array([1.5, 2, 3], ">f8"),
    "read-only": np.frombuffer(np.array([1.5, 2, 3]).tobytes()),
    "backwards": np.array([3, 2, 1.5])[::-1],
    "every other": np.array([1.5, 0, 2, 0, 3])[::2],
    "16 bits": np.array([1.5, 2, 3], np.float16),
    "nothing masked": np.ma.array([1.5, 2, 3]),
}


@every("values", UNUSUAL.values(), ids=UNUSUAL)
@every("make", ARRAYS.values(), ids=ARRAYS)
def test_arrays_of_unusual_layout_are_read(make, values):
    for dtype in ("FP64", "FP32", "INT8"):
        expected = [1.5, 2, 3] if dtype[0] == "F" else [1, 2, 3]
        assert make(values, dtype).to_coo()[-1].tolist() == expected
    for array in (values, values.reshape(1, 3)):
        made = gb.io.from_numpy(array)
        assert made.to_coo()[-1].tolist() == [1.5, 2, 3]
        assert made.dtype == ("FP32" if values.dtype == np.float16 else "FP64")
    assert gb.io.from_dlpack(values).isequal(gb.io.from_numpy(values), check_dtype=True)


@pytest.mark.parametrize("kind", [">i4", ">u2", "<i8", ">i8", "u1"])
def test_indices_of_any_byte_order_and_width_are_read(kind):
    at = np.array([2, 0, 1], kind)
    assert gb.Vector.from_coo(at, [1, 2, 3]).to_dict() == {0: 2, 1: 3, 2: 1}
    assert gb.Matrix.from_coo(at, at, 1).nvals == 3
    assert gb.Matrix.from_csr(np.array([0, 1, 3], kind), at, [5, 6, 7]).to_dicts() == {
        0: {2: 5}, 1: {0: 6, 1: 7},
    }  # fmt: skip
    v = gb.Vector(int, 3)
    v[at] = np.array([4, 5, 6], kind)
    assert v.to_dict() == {0: 5, 1: 6, 2: 4}


def test_dtypes_of_foreign_byte_order_are_those_of_this_machine():
    assert gb.dtypes.lookup_dtype(np.dtype(">i4")) is gb.dtypes.INT32
    assert gb.Vector(np.dtype(">f8"), 2).dtype == "FP64"
    assert gb.Scalar.from_value(np.float16(1.5)).dtype == "FP32"


def test_numbers_of_more_digits_need_a_dtype():
    if np.dtype(np.longdouble).itemsize == 8:
        pytest.skip("longdouble is FP64 here")
    for kind, remedy in ((np.longdouble, "FP64"), (np.clongdouble, "FC64")):
        values = np.array([1, 2], kind)
        for make in (gb.io.from_numpy, lambda x: gb.Vector.from_coo([0, 1], x)):
            with pytest.raises(gb.exceptions.UnknownDtype, match=f"pass dtype='{remedy}'"):
                make(values)


def test_masked_elements_have_no_entry():
    x = np.ma.array([1.0, 2, 3], mask=[0, 1, 0])
    for make in (gb.Vector.from_dense, gb.io.from_numpy, gb.io.from_dlpack):
        assert make(x).to_dict() == {0: 1, 2: 3}
    assert gb.Vector.from_dense(x, 3).to_dict() == {0: 1}
    # What is hidden fits whatever it is.
    y = np.ma.array([[1, np.nan], [3, 400.0]], mask=[[0, 1], [0, 1]])
    assert gb.Matrix.from_dense(y, dtype="INT8").to_dicts() == {0: {0: 1}, 1: {0: 3}}
    assert gb.io.from_numpy(np.ma.masked_all((2, 2))).nvals == 0


@every("make", [make for name, make in ARRAYS.items() if "dense" not in name])
def test_masked_values_are_refused_elsewhere(make):
    with pytest.raises(InvalidValue, match="1 masked elements, the first at position 1; from_de"):
        make(np.ma.array([1.0, 2, 3], mask=[0, 1, 0]), "FP64")


@pytest.mark.filterwarnings("ignore:Warning. converting a masked element")
def test_masked_lists_and_indices_are_refused():
    at = np.ma.array([0, 1, 2], mask=[0, 1, 0])
    for call in (
        lambda: gb.Vector.from_coo([0, 1], [1.0, np.ma.masked]),
        lambda: gb.Vector.from_coo(at, 1.0),
        lambda: gb.Matrix.from_csr(at, [0, 1], 1.0),
        lambda: gb.Matrix.from_edgelist(np.ma.array([[0, 1], [1, 2]], mask=[[0, 0], [0, 1]])),
        lambda: gb.Vector(int, 3).__setitem__(slice(None), at),
        lambda: gb.Matrix(int, 3, 3).setdiag(at),
    ):
        with pytest.raises(ValueError, match="masked elements, the first at position"):
            call()


def test_a_missing_value_need_not_fit():
    x = [1.0, float("nan"), 3.0]
    assert gb.Vector.from_dense(x, np.nan, dtype="INT8").to_dict() == {0: 1, 2: 3}
    assert gb.Matrix.from_dense([x], np.nan, dtype="INT8").to_dicts() == {0: {0: 1, 2: 3}}
    assert gb.Vector.from_dense([1, 300], 300, dtype="INT8").to_dict() == {0: 1}


def test_values_to_fill_in_must_fit():
    v = gb.Vector.from_coo([0], [1], size=2)
    for value, dtype in ((float("nan"), "INT64"), (-1, "UINT8"), (1e300, "FP32")):
        with pytest.raises(InvalidValue, match=f"does not fit into {dtype}"):
            v.to_dense(value, dtype=dtype)
    assert v.to_dense(-1.9, dtype="INT8").tolist() == [1, -1]


@every(
    ("weight", "dtype", "expected"),
    [
        (300, "INT8", None), (-1, "UINT8", None), (float("nan"), "INT64", None),
        (float("inf"), "INT32", None), (1e300, "FP32", None),
        (300, "INT16", 300), (2.7, "INT8", 2), (5, "BOOL", True), (5, "FP32", 5.0),
    ],
)  # fmt: skip
def test_weights_of_networkx_must_fit(weight, dtype, expected):
    graph = nx.DiGraph([(0, 1, {"weight": weight}), (1, 0, {"weight": 1})])
    if expected is None:
        with pytest.raises(InvalidValue, match=f"does not fit into {dtype}"):
            gb.io.from_networkx(graph, dtype=dtype)
    else:
        made = gb.io.from_networkx(graph, dtype=dtype)
        assert made.dtype == dtype
        assert made[0, 1].value == expected


@pytest.mark.parametrize("reader", [gb.io.read, lambda *a, **k: gb.io.read_graph(*a, **k).matrix])
def test_weights_of_a_file_must_fit_exactly(reader, tmp_path: Path):
    path = tmp_path / "edges.txt"
    for text, dtype in (("300", "INT8"), ("2.7", "INT8"), ("-1", "UINT32"), ("1e300", "FP32")):
        path.write_text(f"0 1 1\n1 2 {text}\n")
        with pytest.raises(InvalidValue, match=f"does not fit into {dtype} .* at position 1;"):
            reader(path, dtype=dtype)
    path.write_text("0 1 1\n1 2 2.0\n")
    assert reader(path, dtype="INT8").to_dicts() == {0: {1: 1}, 1: {2: 2}}


def test_numbers_without_a_dtype_of_their_own():
    with pytest.raises(InvalidValue, match="object dtype for values is not allowed; give numbers"):
        gb.Vector.from_coo([0], [2**70])
    with pytest.raises(InvalidValue, match=f"{2**70} does not fit into INT64"):
        gb.Vector.from_coo([0], [2**70], dtype="INT64")
    with pytest.raises(InvalidValue, match="does not fit into FP64"):
        gb.Vector.from_coo([0], [10**400], dtype="FP64")
    with pytest.raises(InvalidValue, match="None at position 1 is no number"):
        gb.Vector.from_coo([0, 1], [1.0, None], dtype="FP64")


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
