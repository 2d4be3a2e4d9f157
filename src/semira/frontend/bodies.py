"""Loop bodies that depend on nothing but what they are closed over: such a body is recorded once.

A function's code says whether it can change anything that outlives its call, or look at anything
that may change in between. One that cannot does the same again to whatever is alike: same kinds,
dtypes and shapes, same operators, equal numbers. `describe` writes down what it is closed over, or
returns None, and then the body is recorded each time.
"""

from __future__ import annotations

import builtins
import dis
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from inspect import CO_ASYNC_GENERATOR, CO_COROUTINE, CO_GENERATOR
from operator import itemgetter
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from semira.base.config import config
from semira.base.dtypes import DataType
from semira.base.recent import Recent
from semira.engine.remembered import Described
from semira.frontend.mask import Mask
from semira.frontend.namespaces import Namespace
from semira.frontend.objects import Matrix, TransposedMatrix, Vector
from semira.frontend.operators import LASTING
from semira.frontend.scalar import Scalar
from semira.frontend.updater import Replace
from semira.ops import IndexUnaryOp
from semira.ops.core import SelectOp

#: Codes looked at that are kept; the oldest go first.
_KEPT = 1024

#: Functions within functions that are followed.
_DEPTH = 4

#: Instructions that change what outlives a call, or make functions, whose cells nobody describes.
_CHANGING = (
    "STORE_", "DELETE_", "IMPORT_", "MAKE_", "YIELD_", "SEND", "LOAD_BUILD_", "LOAD_LOCALS",
)  # fmt: skip
_LOCAL = ("STORE_FAST", "DELETE_FAST")

#: Instructions that read an attribute.
_ASKING = frozenset(("LOAD_ATTR", "LOAD_METHOD"))

#: Functions that do not run when they are called.
_PAUSING = CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR

#: Attributes whose answers a description does not hold, and methods that change more than contents.
_UNSEEN = frozenset((
    "name", "device", "ss", "memory_usage", "to", "wait", "is_cscalar", "is_grbscalar", "config",
    "register_new", "register_anonymous",
))  # fmt: skip

#: Methods of a dict that change it.
_DICT_CHANGING = frozenset(("clear", "pop", "popitem", "setdefault", "update"))

#: Functions of Python that answer the same to the same.
_PURE = frozenset(
    getattr(builtins, name)
    for name in ("abs", "bool", "dict", "enumerate", "float", "int", "len", "max", "min", "range",
                 "reversed", "sum", "tuple", "zip")
)  # fmt: skip

#: Classes of objects, of which a key holds what they are and not what they hold.
_OBJECTS: frozenset[type] = frozenset((Matrix, Vector, Scalar))

#: Classes of what a key holds as it is.
_PLAIN: frozenset[type] = frozenset((int, bool, str, type(None)))

#: Modules of operators and dtypes: a name in them means the same for as long as it is there.
_SPACES = frozenset(
    f"semira.{name}" for name in ("agg", "binary", "dtypes", "indexunary", "monoid", "op", "select",
                                  "semiring", "unary")
)  # fmt: skip

#: What a body may use of the package itself.
_OF_PACKAGE = {name.removeprefix("semira.") for name in _SPACES} | {"fused", "repeat", "replace"}

#: Functions that record what they are given.
_RECORDERS = (("semira.frontend.repeat", "repeat"), ("semira.frontend.fused", "fused"))

#: Options that a recording depends on.
OPTIONS = itemgetter(
    "autocompute", "mapnumpy", "memory", "deterministic", "hot_columns", "diagonals"
)


@dataclass(frozen=True, slots=True, eq=False)
class _Looked:
    """A code that changes nothing but its own variables."""

    #: Kept, so that its id stays its own.
    code: CodeType
    #: Global names it reads.
    names: tuple[str, ...]
    #: Attributes it asks for, of whatever.
    attributes: frozenset[str]


_looked: Recent[int, tuple[CodeType, _Looked | None]] = Recent(_KEPT)


def describe(step: Callable[[], Any]) -> Described | None:
    """Return what a loop body depends on; None if that cannot be told."""
    if step.__class__ is not FunctionType:
        return None
    found = _Description()
    if not found.add_function(step) or not found.is_whole():
        return None
    found.key.append(config.read(OPTIONS))
    return Described(found.key, found.values, found.kept)


def _look_at(code: CodeType) -> _Looked | None:
    known = _looked.get(id(code))
    if known is None:
        known = _looked[id(code)] = (code, _facts(code))
    return known[1]


def _facts(code: CodeType) -> _Looked | None:
    """Return what a code reads; None if it changes more than its own variables."""
    instructions = list(dis.get_instructions(code))
    if code.co_flags & _PAUSING or any(map(_changes, instructions)):
        return None
    names = {one.argval: None for one in instructions if one.opname == "LOAD_GLOBAL"}
    asked = {one.argval for one in instructions if one.opname in _ASKING}
    if any(name in _UNSEEN or name.startswith("_") for name in asked):
        return None
    return _Looked(code, tuple(names), frozenset(asked))


def _changes(one: dis.Instruction) -> bool:
    if one.opname.startswith(_CHANGING):
        return not one.opname.startswith(_LOCAL)
    # ``x += y`` of a dict changes it.
    return one.opname == "BINARY_OP" and one.argrepr.endswith("=")


class _Description:
    __slots__ = ("_depth", "_has_dict", "_met", "_names", "_package", "kept", "key", "values")

    def __init__(self) -> None:
        self.key: list[Any] = []
        #: Objects in the order they were met, each once.
        self.values: list[Any] = []
        #: What must stay alive for as long as the key is remembered, beside the dtypes of the
        #: objects: it holds their ids.
        self.kept: list[Any] = []
        self._met: dict[Any, int] = {}
        self._names: frozenset[str] = frozenset()
        self._depth = 1
        self._has_dict = False
        self._package: ModuleType | None = None

    def add(self, given: Any) -> bool:
        """Add one thing; False if a body that uses it cannot be described."""
        adding = _ADDING.get(given.__class__)
        if adding is not None:
            return adding(self, given)
        if isinstance(given, (np.number, np.bool_)):
            self.key += (given.__class__, given.tobytes())
            return True
        is_function = isinstance(given, (BuiltinFunctionType, type))
        return is_function and given in _PURE and self._add_lasting(given)

    def is_whole(self) -> bool:
        """Whether no function changes a dict, or asks the package for what may change.

        Asked of all functions together: they may pass on what they have.
        """
        if self._has_dict and not self._names.isdisjoint(_DICT_CHANGING):
            return False
        return self._package is None or self._names & _public(self._package) <= _OF_PACKAGE

    def _add_object(self, given: Any) -> bool:
        return self._add_all([given])

    def _add_transposed(self, given: TransposedMatrix) -> bool:
        self.key.append("T")
        return self.add(given.T)

    def _add_mask(self, given: Mask) -> bool:
        self.key += (Mask, given.structure, given.complement)
        return self.add(given.parent)

    def _add_plain(self, given: Any) -> bool:
        self.key += (given.__class__, given)
        return True

    def _add_float(self, given: Any) -> bool:
        # Told apart as floats are not: 0.0 from -0.0, and nan from nothing.
        self.key += (given.__class__, repr(given))
        return True

    def _add_lasting(self, given: Any) -> bool:
        self.key.append(given)
        return True

    def _add_dtype(self, given: DataType) -> bool:
        self.key.append(id(given))
        self.kept.append(given)
        return True

    def _add_tuple(self, given: tuple[Any, ...]) -> bool:
        self.key += (tuple, len(given))
        return self._add_all(list(given))

    def _add_dict(self, given: dict[Any, Any]) -> bool:
        self._has_dict = True
        self.key += (dict, len(given))
        return self._add_all([*given, *given.values()])

    def _add_module(self, given: ModuleType) -> bool:
        self.key.append(given)
        if given.__name__ == "semira":
            self._package = given
            return True
        return given.__name__ in _SPACES

    def _add_inner(self, given: FunctionType) -> bool:
        if (given.__module__, given.__name__) in _RECORDERS:
            # Recording a loop in a loop calls the inner body, which is looked at as well.
            return self._add_lasting(given)
        if given in self._met:
            self.key += (FunctionType, self._met[given])
            return True
        if self._depth == _DEPTH:
            return False
        self._depth += 1
        is_known = self.add_function(given)
        self._depth -= 1
        return is_known

    def add_function(self, given: FunctionType) -> bool:
        """Add a body, or a function that is called in one and was not met yet."""
        looked = _look_at(given.__code__)
        if looked is None or given.__defaults__ is not None or given.__kwdefaults__ is not None:
            return False
        self._met[given] = len(self._met)
        self._names |= looked.attributes
        self.key.append(looked)
        return self._add_all(_reached(given, looked))

    def _add_all(self, things: list[Any]) -> bool:
        """Add each; as `add` does, without a call where the class says it all."""
        key, met = self.key, self._met
        for given in things:
            its_class = given.__class__
            if its_class in _OBJECTS:
                value = given._value
                if value in met:
                    key.append((its_class, met[value]))
                elif value.recording is not None:
                    return False
                else:
                    met[value] = len(met)
                    self.values.append(value)
                    key.append((its_class, id(value.dtype), value.shape, value.lean))
            elif its_class in _PLAIN:
                key.append((its_class, given))
            elif its_class in LASTING:
                key.append(given)
            elif not self.add(given):
                return False
        return True


@cache
def _public(package: ModuleType) -> frozenset[str]:
    return frozenset(dir(package))


def _reached(function: FunctionType, looked: _Looked) -> list[Any]:
    """Return what a function reads from outside: its cells, then its globals."""
    try:
        found = [cell.cell_contents for cell in function.__closure__ or ()]
    except ValueError:
        # A name that has no value yet: nothing that can be described.
        return [Ellipsis]
    if not looked.names:
        return found
    names = function.__globals__
    found += [
        names[name] if name in names else getattr(builtins, name, Ellipsis) for name in looked.names
    ]
    return found


_ADDING: dict[type, Callable[[_Description, Any], bool]] = {
    **dict.fromkeys(_OBJECTS, _Description._add_object),
    **dict.fromkeys(_PLAIN, _Description._add_plain),
    **dict.fromkeys((float, complex), _Description._add_float),
    **dict.fromkeys((ModuleType, Namespace), _Description._add_module),
    **dict.fromkeys((*LASTING, IndexUnaryOp, SelectOp, Replace), _Description._add_lasting),
    TransposedMatrix: _Description._add_transposed,
    Mask: _Description._add_mask,
    DataType: _Description._add_dtype,
    tuple: _Description._add_tuple,
    dict: _Description._add_dict,
    FunctionType: _Description._add_inner,
}
