"""Products on tiles of bits against SuiteSparse: every one that reads no values of the matrix.

A pairwise cover of products, sides, masks, transposes, aliases, storages and shapes. Kernels of
``cuda`` are compared by tests/unit/methods/b2sr.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.conformance.cases import AXES, PINS, Kind, Situation, draw_case, is_allowed
from tests.conformance.running import check
from tests.conftest import DEFAULT_SEED
from tests.helpers.pairwise import pairwise

#: Operation, semiring, dtype, dtype of the output, accumulator.
_DRAWN = (
    ("vxm", "any_pair", "BOOL", "BOOL", None), ("mxv", "plus_pair", "INT64", "INT64", "plus"),
    ("vxm", "min_first", "FP64", "FP64", "min"), ("mxv", "max_second", "INT8", "FP64", None),
    ("mxm", "any_pair", "BOOL", "BOOL", None), ("mxm", "plus_pair", "INT64", "INT64", "plus"),
    ("mxm", "max_pair", "FP32", "INT8", None), ("mxm", "plus_pair", "INT8", "INT8", None),
    ("mxv", "lxor_pair", "BOOL", "BOOL", "lor"), ("vxm", "times_pair", "INT64", "INT64", "plus"),
    ("mxm", "lxor_pair", "BOOL", "BOOL", None), ("mxm", "times_pair", "FP32", "FP32", None),
)  # fmt: skip
_KINDS = tuple(Kind(*row, steps=0) for row in _DRAWN)

_HINTS = tuple(name for name, (pins, _) in PINS.items() if "bits" in pins)
_SHAPES = tuple(shape for shape in AXES["shape"] if shape != "wide")
_AXES = {"kind": _KINDS, **AXES, "hint": _HINTS, "shape": _SHAPES}


def _rows() -> list[dict[str, Any]]:
    def allowed(row: dict[str, Any]) -> bool:
        given = {name: value for name, value in row.items() if name != "kind"}
        kinds = (row["kind"],) if "kind" in row else _KINDS
        return any(is_allowed(kind, given) for kind in kinds)

    return pairwise(_AXES, DEFAULT_SEED, allowed)


def test_products_on_tiles(device: str) -> None:
    if device in ("cuda", "reference"):
        pytest.skip("kernels that are not listed, or the same for every method")
    rows = _rows()
    assert {(row["kind"], row["hint"]) for row in rows} == {
        (kind, hint) for kind in _KINDS for hint in _HINTS if kind.operation in PINS[hint][1]
    }
    for number, row in enumerate(rows):
        kind = row.pop("kind")
        rng = np.random.default_rng([DEFAULT_SEED, number])
        check(draw_case(f"bits:{number}", kind, Situation(**row), rng), device)
