"""What is kept beside a matrix: made once, shared by copies, dropped with what it depends on."""

from __future__ import annotations

import gc
import weakref
from types import SimpleNamespace

import numpy as np
import pytest

import semira as gb
from semira.backends.companions import Companions, Kind
from semira.backends.cpu.compressed import CASTS, DEGREES, ENTRY_ROWS, Compressed
from semira.base.dtypes import FP32, FP64
from semira.methods.dense.cpu import ACROSS, DENSE

ROWS = Kind("rows", lambda matrix, variant, *how: [matrix, variant, *how], depends_on="pattern")
SUMS = Kind("sums", lambda matrix, variant: np.zeros(3))
FOUND = Kind("found")


def test_a_kind_is_its_name():
    kept = Companions({(FOUND, "csr"): 5})
    assert kept.get("found", "csr") == kept.get(FOUND, "csr") == 5
    assert kept.get("found", "csc") is None
    assert kept.of("found") == {"csr": 5}


def test_what_is_needed_is_made_once_for_each_variant():
    kept = Companions()
    first = kept.need(ROWS, "A", "csr", 7)
    assert first == ["A", "csr", 7]
    assert kept.need(ROWS, "B", "csr") is first
    assert kept.need(ROWS, "B", "csc") == ["B", "csc"]
    with pytest.raises(AssertionError, match="found"):
        kept.need(FOUND, "A")


def test_copies_share_and_other_values_keep_what_depends_on_positions():
    kept = Companions()
    rows, sums = kept.need(ROWS, "A"), kept.need(SUMS, "A")
    kept.products["hot", "csr"] = 2
    copied, other = kept.copy(), kept.of_pattern()
    assert copied.get("rows") is other.get("rows") is rows
    assert (copied.get("sums"), other.get("sums")) == (pytest.approx(sums), None)
    assert (copied.products, other.products) == ({("hot", "csr"): 2}, {})
    kept.drop("rows")
    copied.products.clear()
    assert (kept.get("rows"), kept.products) == (None, {("hot", "csr"): 2})
    assert copied.any_of("rows") is other.any_of("rows") is rows


def test_bytes_are_counted_once():
    kept, shared = Companions(), np.zeros(4, np.int32)
    kept.keep(FOUND, "csr", shared)
    kept.keep(FOUND, "csc", shared)
    kept.need(SUMS, "A")
    assert kept.memory_usage() == {"found": 16, "sums": 24}
    assert kept.nbytes == 40


def an_orientation(values):
    indptr, indices = np.array([0, 2, 3], np.int32), np.array([0, 1, 1], np.int32)
    return Compressed(2, 2, indptr, indices, values, len(values) == 1)


def test_values_of_another_dtype_have_no_old_casts_and_the_same_degrees():
    runs = an_orientation(np.array([1.5, 2.5, 3.5]))
    assert runs.values_as(FP32) is runs.values_as(FP32)
    runs.kept_majors()
    other = runs.replaced(np.array([4.0, 5.0, 6.0]), iso=False)
    assert other.degrees() is runs.degrees()
    assert other.kept_majors() is runs.kept_majors()
    assert other.companions.get(CASTS, FP32) is None
    assert other.values_as(FP32).tolist() == [4, 5, 6]
    assert set(other.memory_usage()) >= {"indptr", "indices", "values", "degrees", "casts"}


@pytest.mark.parametrize("values", [np.array([1.5, 2.5, 3.5]), np.array([1.5])])
def test_a_place_for_every_position_is_freed_with_the_matrix(values):
    runs, walk = an_orientation(values), SimpleNamespace(matrix=SimpleNamespace(dtype=FP64))
    for variant in ("", ACROSS):
        made = runs.companions.need(DENSE, runs, variant, walk)
        assert made.values_as(FP32).dtype == np.float32
        assert runs.companions.need(DENSE, runs, variant, walk) is made
    kept = runs.companions.of(DENSE)
    assert set(kept) == {"", ACROSS}
    refs = [weakref.ref(each.present) for each in kept.values()]
    gc.disable()
    try:
        del runs, made, kept
        assert [each() for each in refs] == [None, None]
    finally:
        gc.enable()


def test_a_matrix_tells_what_it_keeps():
    with gb.device("cpu"):
        A = gb.Matrix.from_coo([0, 0, 1], [0, 1, 1], [1.0, 2.0, 3.0])
        before = set(A.memory_usage())
        w = gb.Vector(float, 2)
        w(matrix_storage="coo") << A.mxv(gb.Vector.from_dense([1.0, 1.0]), "plus_times")
    assert {f"csr.{DEGREES}", f"csr.{ENTRY_ROWS}"} == set(A.memory_usage()) - before


def test_explain_tells_what_is_kept_of_what_a_method_reads():
    with gb.device("cpu"):
        A = gb.Matrix.from_coo([0, 0, 1], [0, 1, 1], [1.0, 2.0, 3.0])
        v, w = gb.Vector.from_dense([1.0, 1.0]), gb.Vector(float, 2)
        assert gb.explain(A.mxv(v, "plus_times"), matrix_storage="ell").kept == {}
        w(matrix_storage="ell") << A.mxv(v, "plus_times")
        found = gb.explain(A.mxv(v, "plus_times"), matrix_storage="ell")
        other = gb.explain(A.mxv(v, "plus_times"), matrix_storage="coo")
    assert found.kept == {"ell": A.memory_usage()["csr.ell"]}
    assert f"  kept     ell, {found.kept['ell']} bytes" in str(found).splitlines()
    assert other.kept == {}
