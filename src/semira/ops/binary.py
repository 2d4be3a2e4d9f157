"""Rows of the binary operators."""

from __future__ import annotations

from semira.ops.core import BinaryOp
from semira.ops.typerules import (
    as_bool,
    floating,
    floor_division,
    positional,
    same,
    to_bool,
    true_division,
)

_OR = ("a or b", "a || b")
_AND = ("a and b", "a && b")
_XOR = ("a != b", "a != b")

_CDIV = {
    "F": "a / b",
    "I": "int_div(a, b, {lo}, {hi})",
    "U": "uint_div(a, b, {hi})",
    "B": "a",
}
_CDIV_C = {"F": "a / b", "I": "int_div<T>(a, b)", "U": "uint_div<T>(a, b)", "B": "a"}
_RDIV = {
    "F": "b / a",
    "I": "int_div(b, a, {lo}, {hi})",
    "U": "uint_div(b, a, {hi})",
    "B": "b",
}
_RDIV_C = {"F": "b / a", "I": "int_div<T>(b, a)", "U": "uint_div<T>(b, a)", "B": "b"}
_FLOORDIV = {"F": "np.floor(a / b)", "I": "int_floordiv(a, b)", "U": "uint_floordiv(a, b)"}
_FLOORDIV_C = {"F": "floor(a / b)", "I": "int_floordiv<T>(a, b)", "U": "uint_floordiv<T>(a, b)"}


def _arithmetic() -> list[BinaryOp]:
    number = same("BIUF")
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
            number,
            is_commutative=True,
            on_bool=_AND,
        ),
        BinaryOp(
            "max",
            "a if (a > b or b != b) else b",
            "(a > b || b != b) ? a : b",
            number,
            is_commutative=True,
            on_bool=_OR,
        ),
        BinaryOp("cdiv", _CDIV, _CDIV_C, number, commutes_to_name="rdiv"),
        BinaryOp("rdiv", _RDIV, _RDIV_C, number, commutes_to_name="cdiv"),
        BinaryOp("truediv", "a / b", "a / b", true_division, commutes_to_name="rtruediv"),
        BinaryOp("rtruediv", "b / a", "b / a", true_division, commutes_to_name="truediv"),
        BinaryOp("floordiv", _FLOORDIV, _FLOORDIV_C, floor_division),
        BinaryOp("atan2", "np.arctan2(a, b)", "atan2(a, b)", floating),
        BinaryOp("hypot", "np.hypot(a, b)", "hypot(a, b)", floating, is_commutative=True),
    ]


def _selection() -> list[BinaryOp]:
    number = same("BIUF")
    return [
        BinaryOp("first", "a", "a", number, commutes_to_name="second", reads_b=False),
        BinaryOp("second", "b", "b", number, commutes_to_name="first", reads_a=False),
        BinaryOp("any", "a", "a", number, is_commutative=True, reads_b=False),
        BinaryOp("pair", "1", "1", number, is_commutative=True, reads_a=False, reads_b=False),
    ]


def _logical() -> list[BinaryOp]:
    number = same("BIUF")
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
        rows.append(
            BinaryOp(name, text, text, to_bool("BIUF"), symmetric, None if symmetric else swapped)
        )
        rows.append(
            BinaryOp(
                f"is{name}",
                text,
                text,
                same("BIUF"),
                symmetric,
                None if symmetric else f"is{swapped}",
            )
        )
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
