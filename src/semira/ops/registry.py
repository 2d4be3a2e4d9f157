"""Operators by name: namespaces, strings, and semirings composed on demand."""

from __future__ import annotations

import copyreg
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import FunctionType
from typing import Any

from semira.base.errors import InvalidValue, UdfParseError
from semira.base.text import did_you_mean
from semira.ops.binary import BINARY
from semira.ops.core import BinaryOp, IndexUnaryOp, Monoid, SelectOp, Semiring, UnaryOp
from semira.ops.indexbinary import BoundIndexOp, IndexBinaryOp
from semira.ops.indexunary import INDEXUNARY, SELECT
from semira.ops.monoid import MONOID
from semira.ops.numpy_rows import NUMPY_BINARY, NUMPY_MONOID, NUMPY_UNARY, split_semiring
from semira.ops.operator import Operator
from semira.ops.strings import SIGNS, semiring_key, split_dtype
from semira.ops.typerules import to_bool
from semira.ops.unary import UNARY
from semira.ops.user import Parameterized, is_importable

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
            self._made[name] = Semiring.of(MONOID[add], BINARY[multiply])
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
    # Python functions only: there are none until one is registered.
    "IndexBinaryOp": {},
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


def look_up(opclass: str, name: str) -> Any:
    """Return the operator of exactly this name, ``numpy.`` and registered ones included.

    Raises KeyError if there is none.
    """
    if name in REGISTERED[opclass]:
        return registered(opclass, name)
    if name in PARAMETERIZED.get(opclass, ()):
        return PARAMETERIZED[opclass][name]
    if name.startswith("numpy.") and opclass in NUMPY:
        return NUMPY[opclass][name.removeprefix("numpy.")]
    return NAMESPACES[opclass][name.removeprefix("ss.")]


def registered(opclass: str, name: str) -> Any:
    """Return a registered operator; one registered lazily is made now, or forgotten if it fails."""
    found = REGISTERED[opclass][name]
    if not isinstance(found, Operator) and getattr(found, "is_lazy", False):
        del REGISTERED[opclass][name]
        found = REGISTERED[opclass][name] = found.make()
    return found


def _spellings(opclass: str, key: str) -> Iterator[str]:
    yield key
    yield semiring_key(key) if opclass == "Semiring" else SIGNS[opclass].get(key, key)
    yield key.lower() if opclass in ("SelectOp", "IndexUnaryOp") else f"numpy.{key}"


def find_operator(opclass: str, name: str) -> Operator:
    """Return the operator called `name` in the namespace of `opclass`.

    Accepts ``"min_plus"``, ``"min.plus"``, ``"+"``, ``"+.*"``, names of ``numpy`` that no operator
    outside of it has, and a dtype in brackets (``"plus[int32]"``: the typed operator). Raises
    InvalidValue if there is no such operator, or the brackets are not one pair at the end.
    """
    key, dtype = split_dtype(name)
    for spelling in _spellings(opclass, key):
        try:
            operator: Any = look_up(opclass, spelling)
        except KeyError:
            continue
        found: Operator = operator if dtype is None else operator[dtype]
        return found
    raise unknown_operator(name, opclass)


#: What other libraries call our operators.
_SYNONYMS = {
    "add": "plus", "sum": "plus", "last": "second", "maximum": "max", "minimum": "min",
    "mul": "times", "multiply": "times", "prod": "times", "sub": "minus", "subtract": "minus",
}  # fmt: skip


def unknown_operator(name: str, *opclasses: str, others: Iterable[str] = ()) -> InvalidValue:
    """Return the error for a string that names no operator of some classes.

    The classes would have done, and so would the names `others`.
    """
    spaces = [space for space, opclass in MODULE_CLASSES.items() if opclass in opclasses]
    what = spaces[0] if len(spaces) == 1 else "operator"
    start = "Bad semiring string" if what == "semiring" else f"Unknown {what} string"
    key = name.partition("[")[0].strip()
    hint = near_operator(key, *opclasses, others=others)
    return InvalidValue(f"{start}: {name!r}{hint or f'; see dir(semira.{spaces[0]})'}")


def near_operator(name: str, *opclasses: str, others: Iterable[str] = ()) -> str:
    """Return the end of an error message: where `name` is an operator, or which is near it."""
    elsewhere = [
        f"semira.{space}.{name}"
        for space, opclass in MODULE_CLASSES.items()
        if opclass not in opclasses and is_known(opclass, name)
    ]
    if elsewhere:
        return f"; there is {' and '.join(elsewhere)}"
    tables = (table for opclass in opclasses for table in _names_of(opclass))
    known = [*(each for table in tables for each in table), *others]
    meant = _SYNONYMS.get(name)
    return did_you_mean(meant if meant in known else name, known)


def is_known(opclass: str, name: str) -> bool:
    """Return whether a name is that of an operator."""
    try:
        look_up(opclass, name)
    except KeyError:
        return False
    return True


def _names_of(opclass: str) -> Iterator[Iterable[str]]:
    yield NAMESPACES[opclass]
    yield SIGNS.get(opclass, ())
    yield REGISTERED[opclass]
    if opclass != "Semiring":
        # Their pairs are ten times as many, and the others are near enough.
        yield (f"numpy.{name}" for name in NUMPY.get(opclass, ()))


def equivalent(function: Any, *opclasses: str) -> str:
    """Return the end of an error message: the operator that is a function of NumPy or Python.

    Examples
    --------
    >>> import numpy as np, math
    >>> equivalent(np.add, "UnaryOp", "BinaryOp"), equivalent(math.sqrt, "UnaryOp")
    ('; use semira.binary.plus', '; use semira.unary.sqrt')
    """
    name = getattr(function, "__name__", "")
    for space, opclass in MODULE_CLASSES.items():
        if opclass in opclasses:
            for key in (f"numpy.{name}", name):
                if is_known(opclass, key):
                    return f"; use semira.{space}.{look_up(opclass, key).name}"
    return ""


def compose(add: Monoid, multiply: BinaryOp, name: str | None = None) -> Semiring:
    """Return the semiring of a monoid and a multiplication; the same one every time.

    Examples
    --------
    >>> compose(monoid["plus"], binary["times"]) is semiring["plus_times"]
    True
    """
    is_built_in = MONOID.get(add.name) is add and BINARY.get(multiply.name) is multiply
    return Semiring.of(add, multiply, None if is_built_in else name)


def pickled(operator: Operator) -> tuple[Any, ...]:
    """Return how to find an operator again: by name; an anonymous one by what it was made of.

    Raises UdfParseError for an anonymous operator made of a function that cannot be imported by
    name, or whose recipe is not known.
    """
    try:
        if look_up(operator.opclass, operator.name) is operator:
            return find_operator, (operator.opclass, operator.name)
    except KeyError:
        pass
    if isinstance(operator, Semiring):
        return compose, (operator.monoid, operator.binaryop, operator.name)
    recipe: tuple[Any, ...] | None = operator.__dict__.get("recipe")
    functions = [] if recipe is None else [p for p in recipe[1] if isinstance(p, FunctionType)]
    if recipe is not None and all(map(is_importable, functions)):
        return recipe
    raise UdfParseError(
        f"{operator!r} is anonymous and cannot be pickled: it is not made of a function that can "
        "be imported by name (a lambda or an inner function cannot). Write the function with "
        "`def` in a module, or give the operator a name with register_new in both processes"
    )


def pickled_parameterized(given: Parameterized) -> tuple[Any, ...]:
    """Return how to find an operator with parameters again: by name, or by what it was made of."""
    try:
        is_known = look_up(given.opclass, given.name) is given
    except KeyError:
        is_known = False
    if given.recipe is None or is_known:
        return look_up, (given.opclass, given.name)
    return given.recipe


#: Names are known here alone, above the operators: so this says how each class is pickled.
PICKLED = (
    UnaryOp, BinaryOp, BoundIndexOp, IndexBinaryOp, IndexUnaryOp, SelectOp, Monoid, Semiring,
)  # fmt: skip
for _cls in PICKLED:
    copyreg.pickle(_cls, pickled)
copyreg.pickle(Parameterized, pickled_parameterized)

#: Class of operators in each module.
MODULE_CLASSES = {
    "unary": "UnaryOp",
    "binary": "BinaryOp",
    "monoid": "Monoid",
    "semiring": "Semiring",
    "select": "SelectOp",
    "indexunary": "IndexUnaryOp",
    "indexbinary": "IndexBinaryOp",
}


def namespace_from_string(namespace: str) -> Callable[[str], Any]:
    """Return the function ``from_string`` of a module such as ``semira.binary``."""

    def from_string(text: str) -> Any:
        """Return the operator a string names, such as ``"plus[int32]"``."""
        return find_operator(MODULE_CLASSES[namespace], text)

    return from_string


def _isclose(rel_tol: float = 1e-7, abs_tol: float = 0.0) -> BinaryOp:
    """Return the operator |a - b| <= max(rel_tol * max(|a|, |b|), abs_tol), in double precision."""
    rel, least = float(rel_tol), float(abs_tol)
    if not (rel >= 0 and least >= 0 and math.isfinite(rel + least)):
        raise InvalidValue(
            f"rel_tol={rel_tol} and abs_tol={abs_tol} must be finite and not negative"
        )
    real = (
        "a == b or abs(np.float64(a) - np.float64(b)) <= "
        f"max({rel!r} * max(abs(np.float64(a)), abs(np.float64(b))), {least!r})"
    )
    plain = f"a == b or abs(a - b) <= max({rel!r} * max(abs(a), abs(b)), {least!r})"
    python = {"BIUF": real, "C": plain}
    real_cuda = (
        "a == b || fabs(static_cast<double>(a) - static_cast<double>(b)) <= "
        f"fmax({rel!r} * fmax(fabs(static_cast<double>(a)), fabs(static_cast<double>(b))), "
        f"{least!r})"
    )
    plain_cuda = (
        "a == b || static_cast<double>(magnitude(a - b)) <= "
        f"fmax({rel!r} * static_cast<double>(fmax(magnitude(a), magnitude(b))), {least!r})"
    )
    cuda = {"BIUF": real_cuda, "C": plain_cuda}
    return BinaryOp(f"isclose({rel!r}, {least!r})", python, cuda, to_bool("BIUFC"), True)


PARAMETERIZED = {
    "BinaryOp": {"isclose": Parameterized("BinaryOp", "isclose", _isclose, is_commutative=True)}
}
