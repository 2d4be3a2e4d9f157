"""Operators by name: namespaces, strings, and semirings composed on demand."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from semira.base.errors import DomainMismatch
from semira.ops.binary import BINARY
from semira.ops.core import BinaryOp, IndexUnaryOp, Monoid, Operator, Semiring, UnaryOp
from semira.ops.indexunary import INDEXUNARY, SELECT
from semira.ops.monoid import MONOID
from semira.ops.unary import UNARY

unary: Mapping[str, UnaryOp] = UNARY
binary: Mapping[str, BinaryOp] = BINARY
monoid: Mapping[str, Monoid] = MONOID
select: Mapping[str, IndexUnaryOp] = SELECT
indexunary: Mapping[str, IndexUnaryOp] = INDEXUNARY


class _Semirings(Mapping[str, Semiring]):
    """Every ``<monoid>_<binary>`` pair, made when first asked for and then kept."""

    def __init__(self) -> None:
        self._made: dict[str, Semiring] = {}

    def __getitem__(self, name: str) -> Semiring:
        if name not in self._made:
            add, _, multiply = name.partition("_")
            if add not in MONOID or multiply not in BINARY:
                raise KeyError(name)
            # setdefault: threads that ask at once must get the same object.
            self._made.setdefault(name, Semiring(name, MONOID[add], BINARY[multiply]))
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return (f"{add}_{multiply}" for add in MONOID for multiply in BINARY)

    def __len__(self) -> int:
        return len(MONOID) * len(BINARY)


semiring: Mapping[str, Semiring] = _Semirings()

NAMESPACES: dict[str, Mapping[str, Any]] = {
    "UnaryOp": unary,
    "BinaryOp": binary,
    "Monoid": monoid,
    "Semiring": semiring,
    "SelectOp": select,
    "IndexUnaryOp": indexunary,
}

#: Signs accepted in strings, by namespace.
_SIGNS = {
    "BinaryOp": {
        "+": "plus", "-": "minus", "*": "times", "/": "truediv", "//": "floordiv",
        "&": "land", "|": "lor", "^": "lxor", "==": "eq", "!=": "ne",
        "<": "lt", "<=": "le", ">": "gt", ">=": "ge",
    },
    "UnaryOp": {"-": "ainv", "~": "lnot"},
    "SelectOp": {
        "==": "valueeq", "!=": "valuene", "<": "valuelt", "<=": "valuele",
        ">": "valuegt", ">=": "valuege",
    },
}  # fmt: skip
_SIGNS["Monoid"] = _SIGNS["BinaryOp"]
_SIGNS["IndexUnaryOp"] = _SIGNS["SelectOp"]


def find_operator(opclass: str, name: str) -> Operator:
    """Return the operator called `name` in the namespace of `opclass`.

    Accepts ``"min_plus"``, ``"min.plus"``, ``"+"``, ``"+.*"`` and a dtype in brackets
    (``"plus[int32]"``, which returns the typed operator).

    Raises
    ------
    DomainMismatch
        There is no such operator.
    """
    base, bracket, dtype = name.partition("[")
    table, signs = NAMESPACES[opclass], _SIGNS.get(opclass, {})
    key = base.strip()
    if opclass == "Semiring":
        separator = "." if "." in key else "_"
        add, _, multiply = key.partition(separator)
        words = _SIGNS["BinaryOp"]
        key = f"{words.get(add, add)}_{words.get(multiply, multiply)}"
    else:
        key = signs.get(key, key)
    try:
        operator: Any = table[key]
    except KeyError:
        raise DomainMismatch(
            f"unknown {opclass} {name!r}; some that exist: {', '.join(sorted(table)[:12])}, ..."
        ) from None
    found: Operator = operator[dtype.rstrip("] ")] if bracket else operator
    return found


_MODULE_CLASSES = {
    "unary": "UnaryOp",
    "binary": "BinaryOp",
    "monoid": "Monoid",
    "semiring": "Semiring",
    "select": "SelectOp",
    "indexunary": "IndexUnaryOp",
}


def namespace_attribute(namespace: str, name: str) -> Any:
    """Return operator `name` of a module such as ``semira.binary``.

    Raises
    ------
    AttributeError
        The namespace has no such operator.
    """
    try:
        return NAMESPACES[_MODULE_CLASSES[namespace]][name]
    except KeyError:
        raise AttributeError(f"module 'semira.{namespace}' has no operator {name!r}") from None


def namespace_from_string(namespace: str) -> Callable[[str], Any]:
    """Return the function ``from_string`` of a module such as ``semira.binary``."""

    def from_string(text: str) -> Any:
        """Return the operator a string names, such as ``"plus[int32]"``."""
        return find_operator(_MODULE_CLASSES[namespace], text)

    return from_string
