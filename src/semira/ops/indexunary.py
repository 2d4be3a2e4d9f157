"""Rows of the index-unary and select operators."""

from __future__ import annotations

from semira.base.dtypes import DataType
from semira.ops.core import IndexUnaryOp, SelectOp
from semira.ops.typerules import TypeRule, index_result, positional, to_bool

#: name, Python text, CUDA text, whether the value matters; all return BOOL.
_KEEP = [
    ("tril", "j <= i + t", "j <= i + t", False),
    ("triu", "j >= i + t", "j >= i + t", False),
    ("diag", "j - i == t", "j - i == t", False),
    ("offdiag", "j - i != t", "j - i != t", False),
    ("rowle", "i <= t", "i <= t", False),
    ("rowgt", "i > t", "i > t", False),
    ("colle", "j <= t", "j <= t", False),
    ("colgt", "j > t", "j > t", False),
    ("indexle", "i <= t", "i <= t", False),
    ("indexgt", "i > t", "i > t", False),
    ("valueeq", "a == t", "a == t", True),
    ("valuene", "a != t", "a != t", True),
    ("valuelt", "a < t", "a < t", True),
    ("valuele", "a <= t", "a <= t", True),
    ("valuegt", "a > t", "a > t", True),
    ("valuege", "a >= t", "a >= t", True),
]

_POSITION = [
    ("rowindex", "i + t", "i + t"),
    ("colindex", "j + t", "j + t"),
    ("index", "i + t", "i + t"),
    ("diagindex", "j - i - t", "j - i - t"),
]


def _value_rule(name: str, reads_a: bool) -> TypeRule:
    if not reads_a:
        return index_result
    return to_bool("BIUFC" if name in ("valueeq", "valuene") else "BIUF")


def _any_to_position(dtype: DataType) -> tuple[DataType, DataType]:
    return dtype, positional(dtype)[1]


SELECT = {
    name: SelectOp(name, python, cuda, _value_rule(name, reads), reads, thunk_is_value=reads)
    for name, python, cuda, reads in _KEEP
}

INDEXUNARY = {
    name: IndexUnaryOp(name, python, cuda, _value_rule(name, reads), reads, thunk_is_value=reads)
    for name, python, cuda, reads in _KEEP
} | {name: IndexUnaryOp(name, python, cuda, _any_to_position) for name, python, cuda in _POSITION}
