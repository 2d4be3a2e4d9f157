"""Arrays in and out: import, export, pack, unpack."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest
from tests.helpers.every import every

import semira as gb
from semira.exceptions import IndexOutOfBound, InvalidObject, InvalidValue

MATRIX_FORMATS = (
    "csr", "csc", "hypercsr", "hypercsc", "coo", "coor", "cooc", "bitmapr", "bitmapc",
)  # fmt: skip


@pytest.fixture
def matrix() -> Any:
    return gb.Matrix.from_coo([2, 0, 0, 1], [0, 1, 3, 2], [4.0, 1, 2, 3], nrows=3, ncols=4)


@pytest.fixture
def vector() -> Any:
    return gb.Vector.from_coo([1, 3, 4], [5, 6, 7], size=6)


@pytest.mark.parametrize("raw", [False, True])
@pytest.mark.parametrize("form", MATRIX_FORMATS)
def test_matrix_survives_export_and_import(matrix: Any, form: str, raw: bool) -> None:
    given = matrix.ss.export(form, raw=raw)
    assert given["format"] == form
    assert gb.Matrix.ss.import_any(**given).isequal(matrix, check_dtype=True)
    assert getattr(gb.Matrix.ss, f"import_{form}")(**given).isequal(matrix, check_dtype=True)


@pytest.mark.parametrize("form", ["fullr", "fullc"])
def test_full_matrix_survives_export_and_import(form: str) -> None:
    full = gb.Matrix.from_dense([[1, 2, 3], [4, 5, 6]])
    for raw in (False, True):
        assert gb.Matrix.ss.import_any(**full.ss.export(form, raw=raw)).isequal(full)
    iso = gb.Matrix.ss.import_fullr(7, nrows=2, ncols=2)
    assert iso.ss.is_iso
    assert iso.ss.export(form)["values"].tolist() == [7]


@pytest.mark.parametrize("form", ["sparse", "bitmap"])
def test_vector_survives_export_and_import(vector: Any, form: str) -> None:
    for raw in (False, True):
        given = vector.ss.export(form, raw=raw)
        assert gb.Vector.ss.import_any(**given).isequal(vector, check_dtype=True)
        assert getattr(gb.Vector.ss, f"import_{form}")(**given).isequal(vector)
    assert gb.Vector.ss.import_full([1, 2]).ss.format == "full"


def test_exported_arrays_belong_to_the_caller(matrix: Any) -> None:
    before = matrix.dup()
    for form in MATRIX_FORMATS:
        for part in matrix.ss.export(form).values():
            if isinstance(part, np.ndarray):
                part[...] = 1
    assert matrix.isequal(before)


def test_imported_arrays_are_copied_unless_they_are_taken() -> None:
    indptr, cols = np.array([0, 2, 3], np.int32), np.array([0, 2, 1], np.int32)
    values = np.array([1.0, 2.0, 3.0])
    arrays = {"indptr": indptr, "col_indices": cols, "values": values, "nrows": 2, "ncols": 3}
    copied = gb.Matrix.ss.import_csr(**arrays)
    values[0] = 99
    assert copied[0, 0].new().value == 1
    taken = gb.Matrix.ss.import_csr(**arrays, take_ownership=True, sorted_cols=True)
    assert not any(part.flags.writeable for part in (indptr, cols, values))
    given = taken.ss.export("csr", give_ownership=True)
    assert np.shares_memory(given["values"], values)
    assert np.shares_memory(given["col_indices"], cols)
    assert np.shares_memory(given["indptr"], indptr)
    assert taken.nvals == 0
    assert taken.shape == (2, 3)


def test_taken_arrays_stay_shared_after_a_call_on_the_cpu() -> None:
    values = np.array([1.0, 2.0, 3.0])
    indices = np.array([0, 2, 5], np.int32)
    with gb.device("cpu"):
        v = gb.Vector.ss.import_sparse(
            size=6, indices=indices, values=values, take_ownership=True, sorted_index=True
        )
        assert v.reduce().new().value == 6
        given = v.ss.unpack("sparse")
    assert np.shares_memory(given["values"], values)
    assert np.shares_memory(given["indices"], indices)


def test_changing_an_object_leaves_taken_arrays_alone() -> None:
    values = np.array([1.0, 2.0, 3.0])
    v = gb.Vector.ss.import_full(values, take_ownership=True)
    v << v + v
    v[0] = 50
    assert values.tolist() == [1, 2, 3]


def test_unpack_and_pack_are_inverse(matrix: Any, vector: Any) -> None:
    for item in (matrix, vector):
        before, name = item.dup(), item.name
        given = item.ss.unpack()
        assert item.nvals == 0
        item.ss.pack_any(**given, take_ownership=True)
        assert item.isequal(before, check_dtype=True)
        assert item.name == name


def test_pack_keeps_shape_and_dtype() -> None:
    v = gb.Vector("FP32", 3)
    v.ss.pack_full(np.array([1, 2, 3, 4]))
    assert v.dtype == "FP32"
    assert v.to_dict() == {0: 1.0, 1: 2.0, 2: 3.0}
    with pytest.raises(InvalidValue, match="2 values for 3 entries"):
        v.ss.pack_full(np.array([1, 2]))
    assert v.nvals == 3


def test_unsorted_lines_are_sorted_and_false_claims_refused() -> None:
    arrays: dict[str, Any] = {
        "indptr": [0, 2, 3], "col_indices": [2, 0, 1], "values": [20, 10, 30],
        "nrows": 2, "ncols": 3,
    }  # fmt: skip
    made = gb.Matrix.ss.import_csr(**arrays)
    assert made.to_dicts() == {0: {0: 10, 2: 20}, 1: {1: 30}}
    with pytest.raises(InvalidObject, match="strictly increasing"):
        gb.Matrix.ss.import_csr(**arrays, sorted_cols=True)
    with pytest.raises(InvalidValue, match="Duplicate"):
        gb.Matrix.ss.import_csr(**{**arrays, "col_indices": [2, 2, 1]})
    unsorted = gb.Vector.ss.import_sparse(size=9, indices=[7, 1], values=[1, 2])
    assert unsorted.to_dict() == {1: 2, 7: 1}


@every(
    ("changes", "error", "words"),
    [
        ({"col_indices": [0, 7, 1]}, IndexOutOfBound, "7"),
        ({"col_indices": np.array([0, 2**32 + 1, 1])}, IndexOutOfBound, str(2**32 + 1)),
        ({"col_indices": [0, -1, 1]}, IndexOutOfBound, "-1"),
        ({"col_indices": [0]}, InvalidValue, "1 indices, indptr ends at 3"),
        ({"values": [1]}, InvalidValue, "1 values for 3 entries"),
        ({"values": [object()] * 3}, InvalidValue, "object dtype"),
        ({"indptr": [0, 3]}, InvalidValue, "indptr must hold 3 offsets"),
        ({"indptr": [0, 4, 3]}, InvalidValue, "not decrease"),
        ({"indptr": [1, 2, 3]}, InvalidValue, "start at 0"),
        ({"format": "csc"}, InvalidValue, "Invalid format: 'csc'"),
        ({"frmat": "csr"}, InvalidValue, "option 'frmat'"),
        ({"nrows": 2**61}, InvalidValue, "2\\*\\*60"),
    ],
)
@every("secure", [False, True])
def test_arrays_that_do_not_fit_are_refused(
    changes: dict[str, Any], error: Any, words: str, secure: bool
) -> None:
    arrays: dict[str, Any] = {
        "indptr": [0, 2, 3], "col_indices": [0, 2, 1], "values": [1, 2, 3], "nrows": 2, "ncols": 3,
    }  # fmt: skip
    with pytest.raises(error, match=words):
        gb.Matrix.ss.import_csr(**{**arrays, **changes}, secure_import=secure)


def test_refused_arrays_stay_writeable() -> None:
    cols = np.array([0, 9, 1], np.int32)
    with pytest.raises(IndexOutOfBound):
        gb.Matrix.ss.import_csr(
            indptr=[0, 2, 3], col_indices=cols, values=[1, 2, 3], nrows=2, ncols=3,
            take_ownership=True,
        )  # fmt: skip
    assert cols.flags.writeable


def test_hypersparse_import_may_list_empty_rows_and_spare_room() -> None:
    made = gb.Matrix.ss.import_hypercsr(
        nrows=2**40, ncols=2**40, rows=[5, 2**33, 2**35, 0], indptr=[0, 1, 1, 3, 0],
        col_indices=[7, 1, 2**39, 0, 0], values=[1, 2, 3, 0, 0], nvec=3, sorted_cols=True,
    )  # fmt: skip
    assert made.ss.format == "hypercsr"
    rows, cols, values = made.to_coo()
    assert rows.tolist() == [5, 2**35, 2**35]
    assert cols.tolist() == [7, 1, 2**39]
    assert values.tolist() == [1, 2, 3]
    assert gb.Matrix.ss.import_any(**made.ss.export("hypercsc")).isequal(made)
    with pytest.raises(MemoryError, match="hypersparse"):
        made.ss.export("csr")


def test_bitmap_is_checked() -> None:
    bits = np.eye(2, dtype=bool)
    made = gb.Matrix.ss.import_bitmapr(bitmap=bits, values=np.arange(4).reshape(2, 2), nvals=2)
    assert made.to_dicts() == {0: {0: 0}, 1: {1: 3}}
    with pytest.raises(InvalidValue, match="nvals=3, and the bitmap has 2"):
        gb.Matrix.ss.import_bitmapr(bitmap=bits, values=np.ones(4), nvals=3)
    with pytest.raises(InvalidValue, match="not float64"):
        gb.Matrix.ss.import_bitmapr(bitmap=np.eye(2), values=np.ones(4))
    with pytest.raises(InvalidValue, match="nrows and ncols"):
        gb.Matrix.ss.import_bitmapr(bitmap=bits.ravel(), values=np.ones(4))
    with pytest.raises(InvalidValue, match="3 bits of a bitmap for 4 positions"):
        gb.Vector.ss.import_bitmap(bitmap=[1, 0, 1], values=np.ones(4), size=4)


def test_import_any_tells_which_arrays_do_not_go_together() -> None:
    a = np.array([0, 1, 2])
    for names, words in [
        (("indptr", "bitmap"), "both `indptr` and `bitmap`"),
        (("indptr",), "row_indices"),
        (("indptr", "row_indices", "col_indices"), "not both"),
        (("indptr", "col_indices", "cols"), "both `col_indices` and `cols`"),
        (("bitmap", "rows"), "both `bitmap` and `rows`"),
    ]:
        with pytest.raises(TypeError, match=words):
            gb.Matrix.ss.import_any(nrows=3, ncols=3, values=a, **dict.fromkeys(names, a))
    with pytest.raises(ValueError, match="coo requires both"):
        gb.Matrix.ss.import_any(nrows=3, ncols=3, values=a, rows=a)
    with pytest.raises(TypeError, match="needs `indptr`"):
        gb.Matrix.ss.import_any(nrows=3, ncols=3, values=a, col_indices=a, format="csr")
    with pytest.raises(TypeError, match="has no `bitmap`"):
        gb.Matrix.ss.import_any(nrows=3, ncols=1, values=a, bitmap=a, format="fullr")
    with pytest.raises(ValueError, match="Invalid format"):
        gb.Vector.ss.import_any(values=a, format="csr")


def test_full_export_needs_every_entry(matrix: Any, vector: Any) -> None:
    with pytest.raises(InvalidValue, match="4 of 12"):
        matrix.ss.export("fullr")
    with pytest.raises(InvalidValue, match="3 of 6"):
        vector.ss.export("full")
    with pytest.raises(InvalidValue, match="Invalid format: csd"):
        matrix.ss.export("csd")


def test_sides_name_the_format_of_that_orientation(matrix: Any) -> None:
    assert matrix.ss.export("rowwise")["format"] == "csr"
    assert matrix.ss.export("columnwise")["format"] == "csc"


def test_iso_stays_iso() -> None:
    A = gb.Matrix.from_coo([0, 1], [1, 0], 3)
    assert A.ss.is_iso
    assert A.ss.iso_value == 3
    for form in MATRIX_FORMATS:
        given = A.ss.export(form)
        assert given["values"].tolist() == [3]
        assert gb.Matrix.ss.import_any(**given).ss.is_iso
    assert not gb.Matrix(int, 2, 2).ss.is_iso
    with pytest.raises(InvalidValue, match="Vector is not iso-valued"):
        _ = gb.Vector.from_coo([0, 1], [1, 2]).ss.iso_value


def test_signatures_are_those_of_python_graphblas() -> None:
    signature = inspect.signature(gb.Matrix.ss.import_csr)
    assert list(signature.parameters) == [
        "indptr", "values", "col_indices", "nrows", "ncols", "sorted_cols", "is_iso",
        "take_ownership", "secure_import", "dtype", "format", "name", "opts",
    ]  # fmt: skip
    with pytest.raises(TypeError, match="nrows"):
        gb.Matrix.ss.import_csr(indptr=[0], values=[], col_indices=[])
    coo = inspect.signature(gb.Matrix(int).ss.pack_coor)
    assert coo.parameters["sorted_rows"].default is True
    assert coo.parameters["rows"].kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
