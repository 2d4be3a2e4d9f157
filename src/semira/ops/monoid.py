"""Rows of the monoids: identity and terminal value as functions of the dtype."""

from __future__ import annotations

from typing import Any

from semira.base.dtypes import (
    ALL_DTYPES,
    BOOL,
    INT8,
    INT16,
    INT32,
    INT64,
    UINT16,
    UINT32,
    UINT64,
    DataType,
)
from semira.ops.binary import BINARY
from semira.ops.core import Monoid
from semira.ops.typerules import as_bool, same


def zero(dtype: DataType) -> Any:
    """Return 0."""
    return dtype.scalar(0)


def _one(dtype: DataType) -> Any:
    return dtype.scalar(1)


def _all_bits(dtype: DataType) -> Any:
    return dtype.scalar(-1 if dtype.kind == "I" else dtype.largest)


def least(dtype: DataType) -> Any:
    """Return the least value."""
    return dtype.smallest


def greatest(dtype: DataType) -> Any:
    """Return the greatest value."""
    return dtype.largest


def _none(dtype: DataType) -> Any:
    del dtype


def _times_terminal(dtype: DataType) -> Any:
    # 0 * NaN is NaN: floats have no terminal.
    return None if dtype.kind in "FC" else zero(dtype)


def _only_bool(dtype: DataType) -> tuple[DataType, DataType]:
    if dtype is not BOOL:
        raise KeyError(dtype)
    return BOOL, BOOL


#: Where a semiring computes if its monoid has no instance for the dtype of the product.
_TO_BOOL = dict.fromkeys(ALL_DTYPES, BOOL)
_TO_UNSIGNED = {INT8: UINT16, INT16: UINT32, INT32: UINT64, INT64: UINT64}

_ROWS = [
    Monoid("plus", BINARY["plus"], zero, same("IUFC"), _none, counts_pairs=True),
    Monoid("times", BINARY["times"], _one, same("BIUFC"), _times_terminal, counts_pairs=True),
    Monoid(
        "min", BINARY["min"], greatest, same("BIUF"), least,
        is_idempotent=True, counts_pairs=True,
    ),
    Monoid(
        "max", BINARY["max"], least, same("BIUF"), greatest,
        is_idempotent=True, counts_pairs=True,
    ),
    Monoid("any", BINARY["any"], zero, same("BIUFC"), _none, is_idempotent=True, is_any=True),
    Monoid("lor", BINARY["lor"], zero, as_bool, _one, is_idempotent=True, widen=_TO_BOOL),
    Monoid("land", BINARY["land"], _one, as_bool, zero, is_idempotent=True, widen=_TO_BOOL),
    Monoid("lxor", BINARY["lxor"], zero, as_bool, _none, widen=_TO_BOOL),
    Monoid("lxnor", BINARY["lxnor"], _one, as_bool, _none, widen=_TO_BOOL),
    Monoid("eq", BINARY["eq"], _one, _only_bool, _none, widen=_TO_BOOL),
    Monoid(
        "band", BINARY["band"], _all_bits, same("U"), zero,
        is_idempotent=True, widen=_TO_UNSIGNED,
    ),
    Monoid(
        "bor", BINARY["bor"], zero, same("U"), _all_bits,
        is_idempotent=True, widen=_TO_UNSIGNED,
    ),
    Monoid("bxor", BINARY["bxor"], zero, same("U"), _none, widen=_TO_UNSIGNED),
    Monoid("bxnor", BINARY["bxnor"], _all_bits, same("U"), _none, widen=_TO_UNSIGNED),
]  # fmt: skip

MONOID = {row.name: row for row in _ROWS}

for _row in _ROWS:
    _row.claim()
