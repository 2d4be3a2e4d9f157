"""Arrays out and in again, and scans against a Python loop."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.helpers.pgb import examples
from tests.helpers.strategies import DTYPES, matrices, vectors

import semira as gb

MATRIX_FORMATS = (
    "csr", "csc", "hypercsr", "hypercsc", "coo", "coor", "cooc", "bitmapr", "bitmapc", None,
)  # fmt: skip
SCANNED = (
    "any", "band", "bor", "bxnor", "bxor", "eq", "land", "lor", "lxnor", "lxor", "max", "min",
    "plus", "times",
)  # fmt: skip


@pytest.mark.parametrize("form", MATRIX_FORMATS)
@examples(15)
@given(data=st.data())
def test_matrix_arrays_go_out_and_in(form: str | None, data: Any) -> None:
    A = data.draw(st.sampled_from(DTYPES).flatmap(matrices)).build(gb)
    raw, give, take = (data.draw(st.booleans()) for _ in range(3))
    before = A.dup()
    given_away = A.ss.export(form, raw=raw, give_ownership=give)
    back = gb.Matrix.ss.import_any(**given_away, take_ownership=take)
    assert back.isequal(before, check_dtype=True)
    assert back.ss.is_iso == before.ss.is_iso
    assert A.nvals == (0 if give else before.nvals)
    A.ss.pack_any(**back.ss.unpack(form, raw=raw))
    assert A.isequal(before, check_dtype=True)
    assert A.ss.deserialize(A.ss.serialize()).isequal(before, check_dtype=True)


@pytest.mark.parametrize("form", ["sparse", "bitmap", None])
@examples(15)
@given(data=st.data())
def test_vector_arrays_go_out_and_in(form: str | None, data: Any) -> None:
    v = data.draw(st.sampled_from(DTYPES).flatmap(vectors)).build(gb)
    raw, give, take = (data.draw(st.booleans()) for _ in range(3))
    before = v.dup()
    given_away = v.ss.export(form, raw=raw, give_ownership=give)
    back = gb.Vector.ss.import_any(**given_away, take_ownership=take)
    assert back.isequal(before, check_dtype=True)
    assert back.ss.is_iso == before.ss.is_iso
    v.ss.pack_any(**back.ss.unpack(form, raw=raw))
    assert v.isequal(before, check_dtype=True)
    assert v.ss.deserialize(v.ss.serialize()).isequal(before, check_dtype=True)


@pytest.mark.parametrize("name", SCANNED)
@examples(12)
@given(data=st.data())
def test_scan_is_a_loop(name: str, data: Any) -> None:
    monoid = getattr(gb.monoid, name)
    dtype = data.draw(st.sampled_from([known for known in DTYPES if known in monoid]))
    A = data.draw(matrices(dtype, special=True)).build(gb)
    order = data.draw(st.sampled_from(("rowwise", "columnwise")))
    scanned = A.ss.scan(monoid, order)
    by_rows, result = (x if order == "rowwise" else x.T for x in (A, scanned))
    typed = monoid[dtype]
    assert scanned.dtype == typed.return_type
    indptr, indices, values = by_rows.to_csr(dtype=typed.op.type)
    expected = np.empty(len(values), typed.return_type.np_type)
    with np.errstate(all="ignore"):
        for start, end in zip(indptr[:-1].tolist(), indptr[1:].tolist(), strict=True):
            for at in range(start, end):
                before = None if at == start else expected[at - 1]
                expected[at] = values[at] if before is None else _folded(typed, before, values[at])
    assert result.to_csr()[1].tolist() == indices.tolist()
    np.testing.assert_array_equal(result.to_csr()[2], expected)


def _folded(typed: Any, before: Any, value: Any) -> Any:
    return before if typed.is_any else typed.op.scalar_function(before, value, 0, 0, 0)
