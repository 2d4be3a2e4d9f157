"""What the modules ``semira.unary``, ``semira.binary``, ... answer: operators by attribute."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any

from semira.engine.remembered import forget_recordings
from semira.ops.operator import Operator
from semira.ops.registry import (
    MODULE_CLASSES,
    NAMESPACES,
    NUMPY,
    PARAMETERIZED,
    REGISTERED,
    look_up,
    near_operator,
)

_POSITIONAL = (
    "firsti",
    "firsti1",
    "firstj",
    "firstj1",
    "secondi",
    "secondi1",
    "secondj",
    "secondj1",
)
_SS = {
    "UnaryOp": (
        "erf", "erfc", "frexpe", "frexpx", "lgamma", "positioni", "positioni1", "positionj",
        "positionj1", "tgamma",
    ),
    "BinaryOp": _POSITIONAL,
    "Semiring": tuple(
        f"{add}_{multiply}"
        for add in ("any", "max", "min", "plus", "times")
        for multiply in _POSITIONAL
    ),
}  # fmt: skip


def listed(opclass: str, prefix: str = "") -> set[str]:
    """Return the names below `prefix` ("" for the namespace itself, "numpy.", "my.", ...)."""
    names = {
        name.removeprefix(prefix).partition(".")[0]
        for name in REGISTERED[opclass]
        if name.startswith(prefix)
    }
    if prefix == "numpy.":
        return names | set(NUMPY.get(opclass, ()))
    if prefix == "ss.":
        return names | set(_SS.get(opclass, ()))
    if prefix:
        return names
    table = NAMESPACES[opclass]
    if opclass == "Semiring":
        return names | {name for name in table if table[name].types or table[name].coercions}
    return names | set(table) | set(PARAMETERIZED.get(opclass, ()))


def found(opclasses: Iterable[str], name: str, module: str) -> Any:
    """Return the operator or the sub-namespace called `name` in the first class that has it.

    Raises AttributeError if none has.
    """
    space, _, last = name.rpartition(".")
    for opclass in opclasses:
        if space == "ss" and last not in _SS.get(opclass, ()):
            continue
        try:
            return look_up(opclass, name)
        except KeyError:
            pass
    if any(known.startswith(f"{name}.") for opclass in opclasses for known in REGISTERED[opclass]):
        return SubNamespace(module, name, tuple(opclasses))
    inside = f"{module}.{space}" if space else module
    hint = "" if last.startswith("_") or space == "ss" else near_operator(name, *opclasses)
    raise AttributeError(f"module '{inside}' has no attribute {last!r}{hint}")


class SubNamespace(ModuleType):
    """A namespace inside a namespace, such as ``semira.unary.numpy``."""

    def __init__(self, module: str, path: str, opclasses: tuple[str, ...]) -> None:
        super().__init__(f"{module}.{path}", f"Operators of ``{module}`` below ``{path}``.")
        self._parts = (module, path, opclasses)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        module, path, opclasses = self.__dict__["_parts"]
        return found(opclasses, f"{path}.{name}", module)

    def __dir__(self) -> set[str]:
        _, path, opclasses = self._parts
        return set().union(*(listed(opclass, f"{path}.") for opclass in opclasses))


class Namespace(ModuleType):
    """The module of a namespace: deleting an attribute forgets what was registered."""

    def __delattr__(self, name: str) -> None:
        for opclass in self.__dict__.get("_opclasses", ()):
            if REGISTERED[opclass].pop(name, None) is not None:
                # The name may come to mean another operator.
                forget_recordings()
                return
        super().__delattr__(name)


def install(module: str, *opclasses: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of the module of some classes of operators.

    Its sub-namespaces ``numpy`` and ``ss`` become importable as modules.
    """
    vars(sys.modules[module])["_opclasses"] = opclasses
    sys.modules[module].__class__ = Namespace
    inside = {path: SubNamespace(module, path, opclasses) for path in ("numpy", "ss")}
    for path, space in inside.items():
        sys.modules[f"{module}.{path}"] = space
    own = [name for name in vars(sys.modules[module]) if name in _FUNCTIONS]

    # Our own operators: nobody can register another of their names.
    asked: dict[str, Operator] = {}

    def attribute(name: str) -> Any:
        if name in asked:
            return asked[name]
        if name in inside:
            return inside[name]
        answer = found(opclasses, name, module)
        if isinstance(answer, Operator) and not any(name in REGISTERED[each] for each in opclasses):
            asked[name] = answer
        return answer

    def names() -> list[str]:
        here = {name for name in vars(sys.modules[module]) if name in _FUNCTIONS}
        return sorted(here.union(inside, own, *(listed(opclass) for opclass in opclasses)))

    return attribute, names


_FUNCTIONS = (
    "from_string", "register_new", "register_anonymous", "get_semiring", "value", "row", "column",
    "index",
)  # fmt: skip

ALL_CLASSES = tuple(MODULE_CLASSES.values())
