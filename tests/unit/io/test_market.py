"""`mmread` and `mmwrite`: what goes out comes back, and what does not fit is refused."""

from __future__ import annotations

from io import BytesIO, StringIO

import numpy as np
import pytest

import semira as gb
from semira.base.errors import DomainMismatch, InvalidValue

A = gb.Matrix.from_coo([0, 1, 2], [1, 0, 2], [1.5, 1.5, -2.0], nrows=3, ncols=3, name="A")
B = gb.Matrix.from_coo([0, 1], [2, 0], [3, 4], nrows=2, ncols=3, name="B")


def written(matrix, **options) -> str:
    stream = BytesIO()
    gb.io.mmwrite(stream, matrix, **options)
    return stream.getvalue().decode()


def back(text: str):
    return gb.io.mmread(StringIO(text))


@pytest.mark.parametrize("engine", ["auto", "fmm", "fast_matrix_market", "scipy"])
def test_engines_of_upstream_are_accepted(engine):
    stream = BytesIO()
    gb.io.mmwrite(stream, A, engine, parallelism=2)
    stream.seek(0)
    assert gb.io.mmread(stream, engine, name="C", spmatrix=False).isequal(A, check_dtype=True)


@pytest.mark.parametrize("options", [{"engine": "bad"}, {"speed": 3}])
def test_unknown_engines_and_options(options):
    with pytest.raises(InvalidValue, match=r"engine|option"):
        gb.io.mmwrite(BytesIO(), A, **options)
    with pytest.raises(InvalidValue, match=r"engine|option"):
        gb.io.mmread(StringIO(written(A)), **options)


def test_comment():
    text = written(A, comment="first\nsecond")
    assert text.splitlines()[1:3] == ["%first", "%second"]
    assert back(text).isequal(A)


def test_transpose_is_written_as_such():
    assert back(written(B.T)).isequal(B.T.new())


@pytest.mark.parametrize(
    ("field", "dtype"), [("real", "FP64"), ("integer", "INT64"), ("unsigned-integer", "UINT64")]
)
def test_field(field, dtype):
    text = written(B, field=field)
    assert f"coordinate {field} general" in text
    assert back(text).isequal(B.dup(dtype), check_dtype=True)


def test_field_pattern_leaves_the_values_out():
    text = written(B, field="pattern")
    assert text.split("\n")[-2].split() == ["2", "1"]
    assert back(text).dtype == "BOOL"


def test_field_of_a_pattern():
    assert back(written(gb.Matrix.from_coo([0], [1]), field="real")).to_dicts() == {0: {1: 1.0}}


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ([1.5], "integer"),
        ([-1], "unsigned-integer"),
        ([2**53 + 1], "real"),
        ([float("nan")], "integer"),
    ],
)
def test_values_that_do_not_fit_the_field(values, field):
    matrix = gb.Matrix.from_coo([0], [0], values)
    with pytest.raises(InvalidValue, match=f"do not fit the field '{field}'"):
        written(matrix, field=field)


def test_unsigned_values_that_do_not_fit_int64():
    matrix = gb.Matrix.from_coo([0], [0], [2**63], dtype="UINT64")
    with pytest.raises(InvalidValue, match="do not fit"):
        written(matrix, field="integer")
    assert back(written(matrix)).get(0, 0) == 2**63


def test_precision():
    third = gb.Matrix.from_coo([0], [0], [1 / 3])
    assert float(written(third, precision=4).split()[-1]) == 0.3333
    assert back(written(third)).get(0, 0) == 1 / 3


def test_symmetry():
    text = written(A, symmetry="symmetric")
    assert "real symmetric" in text
    assert text.splitlines()[-3] == "3 3 2"
    assert back(text).isequal(A)
    assert "real general" in written(back(text), symmetry="general")
    assert "real symmetric" in written(back(text))


@pytest.mark.parametrize(
    "matrix",
    [
        B,
        gb.Matrix.from_coo([0], [1], [1], nrows=2, ncols=2),
        gb.Matrix.from_coo([0, 1], [1, 0], [1, 2]),
        gb.Matrix.from_coo([0, 1, 1], [1, 0, 2], [1, 1, 1], nrows=3, ncols=3),
    ],
)
def test_asymmetric_matrices_are_not_halved(matrix):
    with pytest.raises(InvalidValue, match="not symmetric"):
        written(matrix, symmetry="symmetric")


@pytest.mark.parametrize("options", [{"field": "float"}, {"symmetry": "upper"}, {"precision": 0}])
def test_other_mistakes(options):
    with pytest.raises(InvalidValue, match=next(iter(options))):
        written(A, **options)


def test_a_vector_is_no_matrix():
    with pytest.raises(DomainMismatch, match="got Vector"):
        gb.io.mmwrite(BytesIO(), gb.Vector(int, 3))


def test_refused_options_leave_the_file(tmp_path):
    path = tmp_path / "A.mtx"
    gb.io.mmwrite(path, A)
    before = path.read_bytes()
    with pytest.raises(InvalidValue):
        gb.io.mmwrite(path, A, field="integer")
    assert path.read_bytes() == before


def test_repeated_positions_need_a_dup_op():
    text = "%%MatrixMarket matrix coordinate integer general\n2 2 2\n1 1 3\n1 1 4\n"
    with pytest.raises(InvalidValue, match="Duplicate indices"):
        back(text)
    assert gb.io.mmread(StringIO(text), dup_op="plus").to_dicts() == {0: {0: 7}}
    assert np.isclose(gb.io.mmread(StringIO(text), dup_op=gb.binary.max).get(0, 0), 4)
