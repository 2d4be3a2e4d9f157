"""Operators as strings: ``"+"``, ``"min.+"``, ``"col<="``, ``"plus[int32]"``."""

from __future__ import annotations

from semira.base.errors import InvalidValue

_ARITHMETIC = {
    "+": "plus", "-": "minus", "*": "times", "/": "truediv", "//": "floordiv",
    "%": "numpy.mod", "**": "pow",
    "&": "land", "|": "lor", "^": "lxor", "==": "eq", "!=": "ne",
    "<": "lt", "<=": "le", ">": "gt", ">=": "ge",
}  # fmt: skip
_COMPARED = {
    "==": "valueeq", "!=": "valuene", "<": "valuelt", "<=": "valuele", ">": "valuegt",
    ">=": "valuege",
    "row<=": "rowle", "row>": "rowgt", "col<=": "colle", "col>": "colgt",
    "index<=": "indexle", "index>": "indexgt",
}  # fmt: skip

#: Signs and the names they stand for, by class of operators.
SIGNS = {
    "UnaryOp": {"-": "ainv", "~": "lnot"},
    "BinaryOp": _ARITHMETIC,
    "Monoid": _ARITHMETIC,
    "SelectOp": _COMPARED,
    "IndexUnaryOp": _COMPARED,
    "Aggregator": {"+": "sum", "*": "prod", "&": "all", "|": "any"},
}


def split_dtype(text: str) -> tuple[str, str | None]:
    """Return the operator's part of a string and the dtype in brackets, None without brackets.

    Raises InvalidValue if the brackets are not one pair at the end.

    Examples
    --------
    >>> split_dtype("plus[int32]"), split_dtype("min.+")
    (('plus', 'int32'), ('min.+', None))
    """
    if "[" not in text and "]" not in text:
        return text.strip(), None
    closing = text.count("]")
    if text.count("[") > 1 or closing > text.count("[") == 0:
        raise InvalidValue(f"{text!r} has too many brackets; write one dtype, as in 'plus[int32]'")
    name, _, rest = text.partition("[")
    if "]" in name:
        raise InvalidValue(f"{text!r}: ']' is not matched by a '[' before it")
    if not rest.rstrip().endswith("]"):
        raise InvalidValue(f"{text!r} does not end with ']' after the dtype")
    return name.strip(), rest.rstrip()[:-1].strip()


def semiring_key(text: str) -> str:
    """Return the name of a semiring written with signs or a dot: ``"min.+"`` is ``min_plus``.

    Examples
    --------
    >>> semiring_key("min.+"), semiring_key("plus_times")
    ('min_plus', 'plus_times')
    """
    add, _, multiply = text.partition("." if "." in text else "_")
    return f"{_ARITHMETIC.get(add, add)}_{_ARITHMETIC.get(multiply, multiply)}"
