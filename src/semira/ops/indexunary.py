"""Rows of the index-unary and select operators."""

from __future__ import annotations

from semira.base.dtypes import FP64, INT64, UINT64, DataType
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


#: Random numbers, with how they are made of the 64 bits of one draw. The thunk is the seed.
_RANDOM = [
    ("random_bits", "philox(a, i, j, t, 0)", "philox(a, i, j, t)", UINT64, UINT64),
    (
        "random_uniform",
        "np.float64(philox(a, i, j, t, 0) >> np.uint64(11)) * 1.1102230246251565e-16",
        "static_cast<double>(philox(a, i, j, t) >> 11) * 1.1102230246251565e-16",
        UINT64,
        FP64,
    ),
    (
        "random_below",
        "philox(0, i, j, t, a if a > 0 else 1)",
        "philox(0, i, j, t, a > 0 ? static_cast<unsigned long long>(a) : 1)",
        INT64,
        INT64,
    ),
]


def _random_rule(compute: DataType, result: DataType) -> TypeRule:
    def rule(dtype: DataType) -> tuple[DataType, DataType]:
        if dtype.kind not in "BIUF":
            raise KeyError(dtype)
        return compute, result

    return rule


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
}
INDEXUNARY |= {
    name: IndexUnaryOp(name, python, cuda, _any_to_position) for name, python, cuda in _POSITION
}
INDEXUNARY |= {
    name: IndexUnaryOp(name, python, cuda, _random_rule(compute, result), reads_a=True)
    for name, python, cuda, compute, result in _RANDOM
}
