"""Type rules: which dtype an operator computes in and which it returns.

A rule takes the (unified) dtype of the operands and returns ``(compute, result)``, or raises
KeyError where the operator has no meaning for the dtype.
"""

from __future__ import annotations

from collections.abc import Callable

from semira.base.dtypes import BOOL, FC32, FC64, FP32, FP64, INT8, INT32, INT64, DataType

TypeRule = Callable[[DataType], tuple[DataType, DataType]]


def same(kinds: str) -> TypeRule:
    """Return the rule "compute and return the operand's dtype" for dtypes of `kinds`."""

    def rule(dtype: DataType) -> tuple[DataType, DataType]:
        if dtype.kind not in kinds:
            raise KeyError(dtype)
        return dtype, dtype

    return rule


def to_bool(kinds: str) -> TypeRule:
    """Return the rule "compute in the operand's dtype, return BOOL"."""

    def rule(dtype: DataType) -> tuple[DataType, DataType]:
        if dtype.kind not in kinds:
            raise KeyError(dtype)
        return dtype, BOOL

    return rule


def as_bool(dtype: DataType) -> tuple[DataType, DataType]:
    """Cast real dtypes to BOOL first and return BOOL (``lxnor``)."""
    if dtype.is_complex:
        raise KeyError(dtype)
    return BOOL, BOOL


def floating(dtype: DataType) -> tuple[DataType, DataType]:
    """Compute in floating point: small integers in FP32, 32- and 64-bit ones in FP64."""
    if dtype.is_complex:
        raise KeyError(dtype)
    if dtype.is_float:
        return dtype, dtype
    wide = FP64 if dtype.itemsize >= 4 else FP32
    return wide, wide


def analytic(dtype: DataType) -> tuple[DataType, DataType]:
    """Compute complex numbers in their own dtype, all others as `floating` does."""
    return (dtype, dtype) if dtype.is_complex else floating(dtype)


def magnitude(dtype: DataType) -> tuple[DataType, DataType]:
    """Compute in the operand's dtype; return that of its parts if it is complex."""
    return dtype, dtype.part


def parts(dtype: DataType) -> tuple[DataType, DataType]:
    """Take complex numbers only and return the dtype of their parts."""
    if not dtype.is_complex:
        raise KeyError(dtype)
    return dtype, dtype.part


def of_parts(dtype: DataType) -> tuple[DataType, DataType]:
    """Take real numbers as floating point and return complex ones."""
    wide, _ = floating(dtype)
    return wide, FC64 if wide is FP64 else FC32


def true_division(dtype: DataType) -> tuple[DataType, DataType]:
    """Compute integers in FP64, floats and complex numbers in their own dtype."""
    wide = dtype if dtype.kind in "FC" else FP64
    return wide, wide


def floor_division(dtype: DataType) -> tuple[DataType, DataType]:
    """Compute in the operand's dtype, BOOL in INT8; complex numbers have no floor."""
    if dtype.is_complex:
        raise KeyError(dtype)
    narrow = INT8 if dtype is BOOL else dtype
    return narrow, narrow


def positional(dtype: DataType) -> tuple[DataType, DataType]:
    """Return positions: INT32 for INT32 operands, else INT64."""
    wide = INT32 if dtype is INT32 else INT64
    return wide, wide


def index_result(dtype: DataType) -> tuple[DataType, DataType]:
    """Index-unary operators on positions: any operand, BOOL result."""
    return dtype, BOOL
