"""Rows of the binary operators."""

from __future__ import annotations

import re

from semira.base.dtypes import BOOL, INT8, INT64, DataType
from semira.ops.core import BinaryOp
from semira.ops.typerules import (
    as_bool,
    floating,
    floor_division,
    magnitude,
    of_parts,
    positional,
    same,
    to_bool,
    true_division,
)

_OR = ("a or b", "a || b")
_AND = ("a and b", "a && b")
_XOR = ("a != b", "a != b")

_CDIV = {
    "C": "complex_div(a, b)",
    "F": "a / b",
    "I": "int_div(a, b, {lo}, {hi})",
    "U": "uint_div(a, b, {hi})",
    "B": "a",
}
_CDIV_C = {"FC": "a / b", "I": "int_div<T>(a, b)", "U": "uint_div<T>(a, b)", "B": "a"}
_RDIV = {
    "C": "complex_div(b, a)",
    "F": "b / a",
    "I": "int_div(b, a, {lo}, {hi})",
    "U": "uint_div(b, a, {hi})",
    "B": "b",
}
_RDIV_C = {"FC": "b / a", "I": "int_div<T>(b, a)", "U": "uint_div<T>(b, a)", "B": "b"}
_FLOORDIV = {"F": "np.floor(a / b)", "I": "int_floordiv(a, b)", "U": "uint_floordiv(a, b)"}
_FLOORDIV_C = {"F": "floor(a / b)", "I": "int_floordiv<T>(a, b)", "U": "uint_floordiv<T>(a, b)"}

_RFLOORDIV = {"F": "np.floor(b / a)", "I": "int_floordiv(b, a)", "U": "uint_floordiv(b, a)"}
_RFLOORDIV_C = {"F": "floor(b / a)", "I": "int_floordiv<T>(b, a)", "U": "uint_floordiv<T>(b, a)"}
# As SuiteSparse: a NaN in either place wins, also over an exponent of 0.
_POW = {
    "C": "complex_pow(a, b)",
    "F": "a + b if (a != a or b != b) else a ** b",
    "I": "int_pow(a, b, {lo}, {hi})",
    "U": "uint_pow(a, b, {hi})",
    "B": "a or not b",
}
_INT_POW_C = "cast<T>(pow(static_cast<double>(a), static_cast<double>(b)))"
_POW_C = {
    "C": "complex_pow(a, b)",
    "F": "(a != a || b != b) ? a + b : pow(a, b)",
    "IU": _INT_POW_C,
    "B": "a || !b",
}
_SWAP = str.maketrans("ab", "ba", "")


def _swapped(text: str) -> str:
    """Return an expression with the variables ``a`` and ``b`` exchanged."""
    return re.sub(r"\b[ab]\b", lambda found: found[0].translate(_SWAP), text)


_ABS = {"BU": "a", "I": "-a if a < 0 else a", "FC": "abs(a)"}
_QUOTIENT = {"F": "a / b", "C": "complex_div(a, b)"}
_ABS_C = {"BU": "a", "I": "a < 0 ? -a : a", "F": "fabs(a)", "C": "magnitude(a)"}


_BINOM_C = (
    "[&]() -> long long {{ if (b < 0 || b > a) return 0; "
    "const long long steps = b < a - b ? b : a - b; long long ways = 1; "
    "for (long long s = 0; s < steps; ++s) {{ "
    "if (ways > 9223372036854775807ll / (a - s)) return 0; "
    "ways = ways * (a - s) / (s + 1); }} return ways; }}()"
)


def _rpow_rule(dtype: DataType) -> tuple[DataType, DataType]:
    return dtype, INT8 if dtype is BOOL else dtype


def _not_float(dtype: DataType) -> tuple[DataType, DataType]:
    if dtype.is_float:
        raise KeyError(dtype)
    return floating(dtype)


def _counting(dtype: DataType) -> tuple[DataType, DataType]:
    if not dtype.is_integer:
        raise KeyError(dtype)
    return INT64, INT64


def _on_other(texts: dict[str, str]) -> dict[str, str]:
    return {kinds: _swapped(text) for kinds, text in texts.items()}


def _arithmetic() -> list[BinaryOp]:
    number, ordered = same("BIUFC"), same("BIUF")
    return [
        BinaryOp("plus", "a + b", "a + b", number, is_commutative=True, on_bool=_OR),
        BinaryOp("times", "a * b", "a * b", number, is_commutative=True, on_bool=_AND),
        BinaryOp("minus", "a - b", "a - b", number, commutes_to_name="rminus", on_bool=_XOR),
        BinaryOp("rminus", "b - a", "b - a", number, commutes_to_name="minus", on_bool=_XOR),
        # fmin and fmax: a NaN loses against a number.
        BinaryOp(
            "min",
            "a if (a < b or b != b) else b",
            "(a < b || b != b) ? a : b",
            ordered,
            is_commutative=True,
            on_bool=_AND,
        ),
        BinaryOp(
            "max",
            "a if (a > b or b != b) else b",
            "(a > b || b != b) ? a : b",
            ordered,
            is_commutative=True,
            on_bool=_OR,
        ),
        BinaryOp("cdiv", _CDIV, _CDIV_C, number, commutes_to_name="rdiv"),
        BinaryOp("rdiv", _RDIV, _RDIV_C, number, commutes_to_name="cdiv"),
        BinaryOp("truediv", _QUOTIENT, "a / b", true_division, commutes_to_name="rtruediv"),
        BinaryOp(
            "rtruediv", _on_other(_QUOTIENT), "b / a", true_division, commutes_to_name="truediv"
        ),
        BinaryOp("floordiv", _FLOORDIV, _FLOORDIV_C, floor_division, commutes_to_name="rfloordiv"),
        BinaryOp(
            "rfloordiv", _RFLOORDIV, _RFLOORDIV_C, floor_division, commutes_to_name="floordiv"
        ),
        BinaryOp("pow", _POW, _POW_C, number, commutes_to_name="rpow"),
        BinaryOp("rpow", _on_other(_POW), _on_other(_POW_C), _rpow_rule, commutes_to_name="pow"),
        BinaryOp("fmod", "np.fmod(a, b)", "fmod(a, b)", floating),
        BinaryOp("remainder", "ieee_remainder(a, b)", "remainder(a, b)", floating),
        BinaryOp("copysign", "np.copysign(a, b)", "copysign(a, b)", floating),
        BinaryOp("ldexp", "scale_power(a, b)", "ldexp(a, cast<int>(b))", _not_float),
        BinaryOp("binom", "binomial(a, b)", _BINOM_C, _counting),
        BinaryOp("cmplx", "complex(a, b)", "R(a, b)", of_parts),
        BinaryOp("atan2", "np.arctan2(a, b)", "atan2(a, b)", floating),
        BinaryOp("hypot", "np.hypot(a, b)", "hypot(a, b)", floating, is_commutative=True),
    ]


def _selection() -> list[BinaryOp]:
    number = same("BIUFC")
    return [
        BinaryOp("first", "a", "a", number, commutes_to_name="second", reads_b=False),
        BinaryOp("second", "b", "b", number, commutes_to_name="first", reads_a=False),
        BinaryOp(
            "absfirst", _ABS, _ABS_C, magnitude, commutes_to_name="abssecond", reads_b=False
        ),
        BinaryOp(
            "abssecond", _on_other(_ABS), _on_other(_ABS_C), magnitude,
            commutes_to_name="absfirst", reads_a=False,
        ),
        BinaryOp("any", "a", "a", number, is_commutative=True, reads_b=False),
        BinaryOp("pair", "1", "1", number, is_commutative=True, reads_a=False, reads_b=False),
    ]  # fmt: skip


# Bits are counted from 1; numbers outside of the word leave it, or read 0.
_BIT_C = "(b < 1 || b > {{bits}}) ? static_cast<T>({}) : static_cast<T>({})"
_SHIFT_C = (
    "[&]() -> T {{{{ const int by = static_cast<signed char>(b); "
    "if (by >= {{bits}}) return 0; "
    "if (by >= 0) return static_cast<T>(static_cast<unsigned long long>(a) << by); "
    "if (by <= -{{bits}}) return {}; "
    "return static_cast<T>(a >> -by); }}}}()"
)


def _logical() -> list[BinaryOp]:
    number, whole = same("BIUF"), same("IU")
    return [
        BinaryOp(
            "lor", "(a != 0) or (b != 0)", "(a != 0) || (b != 0)", number, is_commutative=True
        ),
        BinaryOp(
            "land", "(a != 0) and (b != 0)", "(a != 0) && (b != 0)", number, is_commutative=True
        ),
        BinaryOp(
            "lxor", "(a != 0) != (b != 0)", "(a != 0) != (b != 0)", number, is_commutative=True
        ),
        BinaryOp("lxnor", "a == b", "a == b", as_bool, is_commutative=True),
        BinaryOp("band", "a & b", "a & b", same("IU"), is_commutative=True),
        BinaryOp("bor", "a | b", "a | b", same("IU"), is_commutative=True),
        BinaryOp("bxor", "a ^ b", "a ^ b", same("IU"), is_commutative=True),
        BinaryOp("bxnor", "~(a ^ b)", "~(a ^ b)", same("IU"), is_commutative=True),
        BinaryOp("bget", "bit_get(a, b, {bits})", _BIT_C.format("0", "(a >> (b - 1)) & 1"), whole),
        BinaryOp(
            "bset", "bit_set(a, b, {bits})", _BIT_C.format("a", "a | (1ull << (b - 1))"), whole
        ),
        BinaryOp(
            "bclr", "bit_clear(a, b, {bits})", _BIT_C.format("a", "a & ~(1ull << (b - 1))"), whole
        ),
        BinaryOp(
            "bshift",
            {"I": "int_shift(a, b, {bits})", "U": "uint_shift(a, b, {bits})"},
            {"I": _SHIFT_C.format("a < 0 ? -1 : 0"), "U": _SHIFT_C.format("0")},
            whole,
        ),
    ]


_COMPARISONS = [
    ("eq", "==", "eq"),
    ("ne", "!=", "ne"),
    ("lt", "<", "gt"),
    ("gt", ">", "lt"),
    ("le", "<=", "ge"),
    ("ge", ">=", "le"),
]


def _comparisons() -> list[BinaryOp]:
    rows = []
    for name, sign, swapped in _COMPARISONS:
        text, symmetric = f"a {sign} b", name == swapped
        kinds = "BIUFC" if symmetric else "BIUF"
        for prefix, rule in (("", to_bool(kinds)), ("is", same(kinds))):
            other = None if symmetric else f"{prefix}{swapped}"
            rows.append(BinaryOp(f"{prefix}{name}", text, text, rule, symmetric, other))
    return rows


def _positional() -> list[BinaryOp]:
    # Entry (i, k) of the first operand meets entry (k, j) of the second.
    return [
        BinaryOp(name + suffix, text + plus, text + plus, positional, is_positional=True)
        for name, text in [("firsti", "i"), ("firstj", "k"), ("secondi", "k"), ("secondj", "j")]
        for suffix, plus in [("", ""), ("1", " + 1")]
    ]


BINARY = {
    row.name: row
    for rows in (_arithmetic(), _selection(), _logical(), _comparisons(), _positional())
    for row in rows
}

#: Positions that swapped operands of a product have in it.
_SWAPPED_POSITIONS = {"firsti": "secondj", "firstj": "secondi"}
_SWAPPED_POSITIONS |= {f"{name}1": f"{other}1" for name, other in _SWAPPED_POSITIONS.items()}
_SWAPPED_POSITIONS |= {other: name for name, other in _SWAPPED_POSITIONS.items()}

for _row in BINARY.values():
    _row.swap_with(
        BINARY.get(_row.commutes_to_name or ""), BINARY.get(_SWAPPED_POSITIONS.get(_row.name, ""))
    )
