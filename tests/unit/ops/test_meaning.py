"""Casts and helper functions that operator texts rely on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.helpers.every import every

from semira.ops.helpers import int_div, int_floordiv, uint_div, uint_floordiv
from semira.ops.meaning import cast_array, cast_scalar

LOW, HIGH = -128, 127


@every(
    ("value", "target", "expected"),
    [
        (1e30, "int64", 2**63 - 1),
        (-1e30, "int64", -(2**63)),
        (float(2**63), "int64", 2**63 - 1),
        (float(2**64), "uint64", 2**64 - 1),
        (-1.0, "uint8", 0),
        (300.7, "uint8", 255),
        (-3.9, "int8", -3),
        (float("nan"), "int32", 0),
        (float("nan"), "bool", True),
        (-0.0, "bool", False),
        (np.int64(300), "int8", 44),
        (np.int64(-1), "uint16", 65535),
        (True, "float32", 1.0),
    ],
)
def test_casts(value: Any, target: str, expected: Any) -> None:
    result = cast_scalar(np.asarray(value)[()], np.dtype(target))
    assert result.dtype == np.dtype(target)
    assert result == expected


def test_casting_to_the_same_dtype_copies_nothing() -> None:
    values = np.arange(3)
    assert cast_array(values, values.dtype) is values


@every(
    ("a", "b", "expected"),
    [
        (7, 2, 3),
        (-7, 2, -3),
        (7, -2, -3),
        (-7, -2, 3),
        (5, 0, HIGH),
        (-5, 0, LOW),
        (0, 0, 0),
        (6, -1, -6),
        (-6, 3, -2),
    ],
)
def test_signed_division_rounds_towards_zero(a: int, b: int, expected: int) -> None:
    assert int_div(a, b, LOW, HIGH) == expected


@pytest.mark.parametrize(
    ("a", "b", "expected"), [(7, 2, 3), (-7, 2, -4), (7, -2, -4), (5, 0, 0), (6, -1, -6)]
)
def test_floor_division_rounds_down(a: int, b: int, expected: int) -> None:
    assert int_floordiv(a, b) == expected


def test_unsigned_division() -> None:
    assert [uint_div(7, 2, 255), uint_div(7, 0, 255), uint_div(0, 0, 255)] == [3, 255, 0]
    assert [uint_floordiv(7, 2), uint_floordiv(7, 0)] == [3, 0]
