"""Operators by name: namespaces, strings, and semirings composed on demand."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from semira.base.errors import DomainMismatch, UdfParseError
from semira.ops.binary import BINARY
from semira.ops.core import BinaryOp, IndexUnaryOp, Monoid, Operator, Semiring, UnaryOp
from semira.ops.indexunary import INDEXUNARY, SELECT
from semira.ops.monoid import MONOID
from semira.ops.numpy_rows import NUMPY_BINARY, NUMPY_MONOID, NUMPY_UNARY, split_semiring
from semira.ops.parameterized import PARAMETERIZED
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


#: Multiplications that python-graphblas lists with every monoid that takes integers or BOOL.
_WITHOUT_FLOATS = (
    "equal", "greater", "greater_equal", "less", "less_equal", "not_equal", "bitwise_and",
    "bitwise_or", "bitwise_xor",
)  # fmt: skip


class _NumpySemirings(Mapping[str, Semiring]):
    """Every pair of NumPy's names; pairs of our own operators are our semirings."""

    def __init__(self) -> None:
        self._made: dict[str, Semiring] = {}

    def __getitem__(self, name: str) -> Semiring:
        parts = split_semiring(name)
        if parts is None:
            raise KeyError(name)
        add, multiply = NUMPY_MONOID[parts[0]], NUMPY_BINARY[parts[1]]
        if f"{add.name}_{multiply.name}" in semiring:
            return semiring[f"{add.name}_{multiply.name}"]
        return self._made.setdefault(name, Semiring(f"numpy.{name}", add, multiply))

    def _is_listed(self, add: str, multiply: str) -> bool:
        if multiply in _WITHOUT_FLOATS and add not in ("hypot", "logaddexp", "logaddexp2"):
            return add != "gcd" or multiply.startswith("bitwise")
        made = self[f"{add}_{multiply}"]
        return bool(made.types or made.coercions)

    def __iter__(self) -> Iterator[str]:
        return (
            f"{add}_{multiply}"
            for add in NUMPY_MONOID
            for multiply in NUMPY_BINARY
            if self._is_listed(add, multiply)
        )

    def __len__(self) -> int:
        return sum(1 for _ in self)


semiring: Mapping[str, Semiring] = _Semirings()

NAMESPACES: dict[str, Mapping[str, Any]] = {
    "UnaryOp": unary,
    "BinaryOp": binary,
    "Monoid": monoid,
    "Semiring": semiring,
    "SelectOp": select,
    "IndexUnaryOp": indexunary,
}

#: What the sub-namespaces ``numpy`` hold.
NUMPY: dict[str, Mapping[str, Any]] = {
    "UnaryOp": NUMPY_UNARY,
    "BinaryOp": NUMPY_BINARY,
    "Monoid": NUMPY_MONOID,
    "Semiring": _NumpySemirings(),
}

#: User-defined operators by full name (``"my.own"``), and operators made by a factory.
REGISTERED: dict[str, dict[str, Any]] = {opclass: {} for opclass in NAMESPACES}

#: Signs accepted in strings, by namespace.
_SIGNS = {
    "BinaryOp": {
        "+": "plus", "-": "minus", "*": "times", "/": "truediv", "//": "floordiv",
        "%": "numpy.mod", "**": "pow",
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


def look_up(opclass: str, name: str) -> Any:
    """Return the operator of exactly this name, ``numpy.`` and registered ones included.

    Raises
    ------
    KeyError
        There is none.
    """
    if name in REGISTERED[opclass]:
        return registered(opclass, name)
    if name in PARAMETERIZED.get(opclass, ()):
        return PARAMETERIZED[opclass][name]
    if name.startswith("numpy.") and opclass in NUMPY:
        return NUMPY[opclass][name.removeprefix("numpy.")]
    return NAMESPACES[opclass][name.removeprefix("ss.")]


def registered(opclass: str, name: str) -> Any:
    """Return a registered operator; one registered lazily is made now."""
    found = REGISTERED[opclass][name]
    if not isinstance(found, Operator) and getattr(found, "is_lazy", False):
        found = REGISTERED[opclass][name] = found.make()
    return found


def _semiring_key(text: str) -> str:
    add, _, multiply = text.partition("." if "." in text else "_")
    words = _SIGNS["BinaryOp"]
    return f"{words.get(add, add)}_{words.get(multiply, multiply)}"


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
    key = base.strip()
    try:
        operator: Any = look_up(opclass, key)
    except KeyError:
        signs = _SIGNS.get(opclass, {})
        key = _semiring_key(key) if opclass == "Semiring" else signs.get(key, key)
        try:
            operator = look_up(opclass, key)
        except KeyError:
            raise DomainMismatch(
                f"unknown {opclass} {name!r}; some that exist: "
                f"{', '.join(sorted(NAMESPACES[opclass])[:12])}, ..."
            ) from None
    found: Operator = operator[dtype.rstrip("] ")] if bracket else operator
    return found


def monoid_of(operator: BinaryOp) -> Monoid | None:
    """Return the monoid of a binary operator, built-in or registered for it."""
    for table in (MONOID, NUMPY_MONOID, REGISTERED["Monoid"]):
        for found in table.values():
            if getattr(found, "binaryop", None) is operator:
                return found
    return None


#: In a product the entry (i, k) meets (k, j): swapped operands also swap rows and columns.
_COMMUTED_POSITIONS = {
    "firsti": "secondj",
    "firsti1": "secondj1",
    "firstj": "secondi",
    "firstj1": "secondi1",
}
_COMMUTED_POSITIONS |= {swapped: name for name, swapped in _COMMUTED_POSITIONS.items()}


def commuted_semiring(given: Semiring) -> Semiring | None:
    """Return the semiring s with s(A @ B) = given(B.T @ A.T).T, if it has a name."""
    multiply = given.binaryop
    if multiply.is_commutative:
        return given
    name = _COMMUTED_POSITIONS.get(multiply.name, multiply.commutes_to_name)
    return None if name is None else compose(given.monoid, binary[name])


_composed: dict[tuple[Monoid, BinaryOp], Semiring] = {}


def compose(add: Monoid, multiply: BinaryOp, name: str | None = None) -> Semiring:
    """Return the semiring of a monoid and a multiplication; the same one every time.

    Examples
    --------
    >>> compose(monoid["plus"], binary["times"]) is semiring["plus_times"]
    True
    """
    if MONOID.get(add.name) is add and BINARY.get(multiply.name) is multiply:
        return semiring[f"{add.name}_{multiply.name}"]
    made = Semiring(name or f"{add.name}_{multiply.name}", add, multiply)
    return _composed.setdefault((add, multiply), made)


def pickled(operator: Operator) -> tuple[Any, ...]:
    """Return how to find an operator again: by name; an anonymous one by its parts.

    Raises
    ------
    UdfParseError
        An anonymous operator made of a function that cannot be imported by name.
    """
    try:
        if look_up(operator.opclass, operator.name) is operator:
            return find_operator, (operator.opclass, operator.name)
    except KeyError:
        pass
    if isinstance(operator, Semiring):
        return compose, (operator.monoid, operator.binaryop, operator.name)
    raise UdfParseError(
        f"{operator!r} is anonymous and cannot be pickled; give it a name with register_new, in "
        "both processes"
    )


#: Class of operators in each module.
MODULE_CLASSES = {
    "unary": "UnaryOp",
    "binary": "BinaryOp",
    "monoid": "Monoid",
    "semiring": "Semiring",
    "select": "SelectOp",
    "indexunary": "IndexUnaryOp",
}


def namespace_from_string(namespace: str) -> Callable[[str], Any]:
    """Return the function ``from_string`` of a module such as ``semira.binary``."""

    def from_string(text: str) -> Any:
        """Return the operator a string names, such as ``"plus[int32]"``."""
        return find_operator(MODULE_CLASSES[namespace], text)

    return from_string
