"""Comparing objects on the host."""

from __future__ import annotations

import numpy as np
import pytest
from tests.helpers.every import every

import semira as gb


def close(dtype: str, left, right, **tolerances) -> bool:
    v, w = (gb.Vector.from_coo([1], [each], dtype, size=3) for each in (left, right))
    return v.isclose(w, **tolerances)


@every(
    ("dtype", "left", "right", "tolerances", "expected"),
    [
        ("INT64", 2**53, 2**53 + 1, {"rel_tol": 0}, False),
        ("INT64", 2**53, 2**53 + 1, {"rel_tol": 0, "abs_tol": 1}, True),
        ("INT64", -(2**63), 2**63 - 1, {"rel_tol": 0.5}, False),
        ("UINT64", 2**64 - 1, 2**64 - 2, {"rel_tol": 0}, False),
        ("INT8", 100, -100, {"abs_tol": 100}, False),
        # The larger of both tolerances counts, and the larger of both numbers.
        ("FP64", 10.0, 11.0, {"rel_tol": 0.05, "abs_tol": 0.6}, False),
        ("FP64", 1.0, 1.1, {"rel_tol": 0.095}, True),
        ("FP64", 1.1, 1.0, {"rel_tol": 0.095}, True),
        ("FP64", 1e308, -1e308, {}, False),
        ("FP64", np.inf, np.inf, {}, True),
        ("FP64", np.inf, 1.0, {}, False),
        ("FP64", np.nan, np.nan, {}, False),
        ("BOOL", True, False, {}, False),
        ("FC64", 1j, 1.00000001j, {}, True),
    ],
)
@pytest.mark.filterwarnings("error")
def test_close(dtype, left, right, tolerances, expected) -> None:
    assert close(dtype, left, right, **tolerances) is expected


def test_integers_of_two_dtypes_are_close_by_value() -> None:
    v = gb.Vector.from_coo([0], [-1], "INT64", size=1)
    assert not v.isclose(gb.Vector.from_coo([0], [2**64 - 1], "UINT64", size=1))
    assert gb.Scalar.from_value(2**53).isclose(2**53 + 1)
    assert not gb.Scalar.from_value(2**53).isclose(2**53 + 1, rel_tol=0)
