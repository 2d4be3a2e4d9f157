"""Registering Semira under the name ``graphblas``.

The alias is the real package: ``graphblas.Matrix is semira.Matrix``. Only the sub-modules that
upstream's tests import from its private package ``graphblas.core`` are stand-ins, filled with
our objects of the same meaning.
"""

from __future__ import annotations

import importlib
import importlib.machinery
import importlib.util
import sys
from functools import partial
from operator import attrgetter
from pathlib import Path
from types import ModuleType
from typing import Any

import semira
from semira.base.errors import GraphblasException

#: Public modules that exist under both names. Those we lack are empty: a test that uses one
#: fails, the other tests of its file run.
_PUBLIC = (
    "agg", "binary", "dtypes", "exceptions", "indexbinary", "indexunary", "io", "monoid", "op",
    "select", "semiring", "ss", "unary", "viz",
)  # fmt: skip

#: Sub-modules some of the public modules have.
_NESTED = ("numpy", "ss")

#: stand-in module -> the names it offers, each with the module of ours that has it
#: (``module:name`` where ours has another name).
_PRIVATE: dict[str, dict[str, str]] = {
    "core": {},
    "core.automethods": {},
    "core.descriptor": {},
    "core.dtypes": {"lookup_dtype": "semira.base.dtypes", "unify": "semira.base.dtypes"},
    "core.expr": {"Updater": "semira.frontend.updater"},
    "core.formatting": {},
    "core.infix": {},
    "core.infixmethods": {},
    "core.mask": {"Mask": "semira.frontend.mask"},
    "core.matrix": {
        "Matrix": "semira.frontend.objects",
        "MatrixExpression": "semira.frontend.objects",
        "TransposedMatrix": "semira.frontend.objects",
    },
    "core.operator": {
        "BinaryOp": "semira.ops",
        "IndexUnaryOp": "semira.ops",
        "Monoid": "semira.ops",
        "OpBase": "semira.ops.core:Operator",
        "OpPath": "semira.frontend.namespaces:SubNamespace",
        "ParameterizedBinaryOp": "semira.ops.user:Parameterized",
        "ParameterizedMonoid": "semira.frontend.composed_operators",
        "ParameterizedSemiring": "semira.frontend.composed_operators",
        "ParameterizedUdf": "semira.ops.user:Parameterized",
        "SelectOp": "semira.ops.core",
        "Semiring": "semira.ops",
        "UnaryOp": "semira.ops",
    },
    "core.scalar": {"Scalar": "semira.frontend.scalar"},
    "core.ss": {},
    "core.utils": {},
    "core.vector": {
        "Vector": "semira.frontend.objects",
        "VectorExpression": "semira.frontend.objects",
    },
}


#: namespace -> class of its operators
_OPCLASSES = {
    "unary": "UnaryOp",
    "binary": "BinaryOp",
    "monoid": "Monoid",
    "semiring": "Semiring",
    "select": "SelectOp",
    "indexunary": "IndexUnaryOp",
}


class WrongModuleError(GraphblasException, ModuleNotFoundError):
    """The module under test is not Semira."""


def find_tests() -> Path:
    """Return the folder of upstream's installed tests, without importing upstream.

    Raises
    ------
    WrongModuleError
        python-graphblas is not installed.
    """
    spec = importlib.machinery.PathFinder.find_spec("graphblas")
    if spec is None or spec.origin is None:
        raise WrongModuleError(
            "python-graphblas is not installed here; `make conformance` makes an environment "
            "that has it"
        )
    return Path(spec.origin).parent / "tests"


def register(backend: str = "semira") -> None:
    """Make ``import graphblas`` mean Semira in this process.

    Parameters
    ----------
    backend : {"semira", "suitesparse"}
        What tests read as ``graphblas.backend``: upstream runs the tests of SuiteSparse's
        operators, options and dtypes only where it is ``"suitesparse"``.

    Raises
    ------
    WrongModuleError
        The real python-graphblas was imported before.
    """
    loaded = sys.modules.get("graphblas")
    if loaded is semira:
        return
    if loaded is not None:
        raise WrongModuleError(
            f"graphblas was imported from {loaded.__file__} before the alias could be made; "
            "load the plugin first: pytest -p tests.pgb.plugin"
        )
    sys.modules["graphblas"] = semira
    vars(semira)["backend"] = backend
    for name in _PUBLIC:
        _alias(name, _ours(f"semira.{name}") or _missing(name))
    for name, contents in _PRIVATE.items():
        _stand_in(name, contents)
    _add_facts()
    tests = ModuleType("graphblas.tests")
    tests.__path__ = [str(find_tests())]
    sys.modules["graphblas.tests"] = tests


def _ours(name: str) -> ModuleType | None:
    """Return a module of ours, None if it does not exist (yet)."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not error.name.startswith("semira"):
            raise
        return None


def _missing(name: str) -> ModuleType:
    module = ModuleType(f"graphblas.{name}", "Semira has no module of this name.")
    setattr(semira, name, module)
    return module


def _alias(name: str, module: ModuleType) -> None:
    sys.modules[f"graphblas.{name}"] = module
    for nested in _NESTED:
        found = getattr(module, nested, None)
        if isinstance(found, ModuleType):
            sys.modules[f"graphblas.{name}.{nested}"] = found


def _stand_in(name: str, contents: dict[str, str]) -> None:
    """Register a module with those of our names that exist."""
    module = ModuleType(f"graphblas.{name}", "Stand-in of a private module of upstream.")
    module.__path__ = []
    for attribute, home in contents.items():
        place, _, own_name = home.partition(":")
        source, wanted = _ours(place), own_name or attribute
        if hasattr(source, wanted):
            setattr(module, attribute, getattr(source, wanted))
    sys.modules[module.__name__] = module
    parent, _, own = module.__name__.rpartition(".")
    setattr(sys.modules[parent], own, module)


def _add_facts() -> None:
    """Add the switches upstream's tests read before they decide what to run."""
    core: Any = sys.modules["graphblas.core"]
    core._supports_udfs = True
    core.lib = _CNames("graphblas.core.lib")
    core.ffi = ModuleType("graphblas.core.ffi")
    utils: Any = sys.modules["graphblas.core.utils"]
    utils._NP2 = True
    utils.ensure_type = None
    utils.normalize_chunks = importlib.import_module("semira.frontend.ss.tiles").chunk_sizes
    formatting: Any = sys.modules["graphblas.core.formatting"]
    formatting.CSS_STYLE = importlib.import_module("semira.frontend.display").CSS_STYLE
    ss: Any = sys.modules["graphblas.core.ss"]
    ss._IS_SSGB7 = False
    ss.version_major = 9
    dtypes: Any = importlib.import_module("semira.dtypes")
    dtypes._supports_complex = hasattr(dtypes, "FC64")
    _add_operator_classes()
    dtypes.DataType._is_udt = property(lambda dtype: dtype.kind == "V")
    table: Any = importlib.import_module("semira.base.dtypes")
    dtypes.DataType._deserialize = staticmethod(table.rebuilt)
    dtypes.DataType._is_anonymous = property(attrgetter("is_anonymous"))
    dtypes.DataType.gb_obj = property(attrgetter("gb_name"))
    dtypes._INDEX = dtypes.UINT64
    for name, listed in (
        ("unary", "_unary_names"),
        ("binary", "_binary_names"),
        ("monoid", "_monoid_identities"),
    ):
        numpy: Any = sys.modules[f"graphblas.{name}.numpy"]
        setattr(numpy, listed, dict.fromkeys(dir(numpy)).keys() | set())
    numpy._monoid_identities = dict.fromkeys(numpy._monoid_identities)
    known: Any = sys.modules["graphblas.core.dtypes"]
    known._registry = table._BY_NAME | table.BY_NUMPY | table._BY_PYTHON | table._BY_WORD
    known._default_name = table.name_of
    matrix: Any = sys.modules["graphblas.core.matrix"]
    matrix.MatrixExpression._as_vector = lambda self: self._result()._as_vector()
    mask: Any = sys.modules["graphblas.core.mask"]
    for name, structure, complement in (
        ("StructuralMask", True, False),
        ("ValueMask", False, False),
        ("ComplementedStructuralMask", True, True),
        ("ComplementedValueMask", False, True),
    ):
        setattr(mask, name, partial(mask.Mask, structure=structure, complement=complement))
    for name in ("unary", "binary", "monoid", "semiring", "op"):
        module: Any = importlib.import_module(f"semira.{name}")
        for table in ("_delayed", "_deprecated"):
            if table not in vars(module):
                setattr(module, table, {})


def _add_operator_classes() -> None:
    """Give ``core.operator`` the classes upstream's tests register through."""
    operator: Any = sys.modules["graphblas.core.operator"]
    operator.get_semiring = getattr(
        importlib.import_module("semira.semiring"), "get_semiring", None
    )
    for name in ("unary", "binary", "monoid", "semiring", "select", "indexunary"):
        module: Any = importlib.import_module(f"semira.{name}")
        opclass = getattr(operator, _OPCLASSES[name])
        for function in ("register_new", "register_anonymous"):
            if hasattr(module, function):
                setattr(opclass, function, staticmethod(getattr(module, function)))
        opclass._initialize = staticmethod(_nothing)
    operator.find_opclass = _find_opclass
    operator.UNKNOWN_OPCLASS = "UnknownOpClass"
    operator.get_typed_op = _get_typed_op
    typed: Any = importlib.import_module("semira.ops.typed")
    for one in (typed.TypedOp, typed.TypedMonoid, typed.TypedSemiring):
        one.gb_obj = property(attrgetter("gb_name"))
    typed.TypedOp._numba_func = property(attrgetter("orig_func"))
    operator.OpBase._numba_func = property(attrgetter("orig_func"))


class _CNames(ModuleType):
    """The C library as far as tests compare with it: each constant is its own name.

    So ``op.gb_obj == lib.GrB_PLUS_INT32`` asks whether ``op.gb_name`` is right.
    """

    def __getattr__(self, name: str) -> str:
        if not name.startswith(("GrB_", "GxB_")):
            raise AttributeError(name)
        return name


def _nothing() -> None:
    """Stand for upstream's filling of its tables, which ours need not."""


def _find_opclass(op: Any) -> tuple[Any, str]:
    return op, getattr(op, "opclass", "UnknownOpClass")


def _get_typed_op(op: Any, dtype: Any, dtype2: Any = None, *, kind: str | None = None) -> Any:
    """Type an operator as ours are typed: by a string of one of the kinds, by dtypes."""
    if isinstance(op, str):
        op = _from_string(op, kind)
    if not hasattr(op, "opclass"):
        raise TypeError(f"Unable to get typed operator from {op!r}")
    if hasattr(op, "parent"):
        return op
    if dtype2 is None:
        return op[dtype]
    return op[dtype.name, dtype2.name]


def _from_string(text: str, kind: str | None) -> Any:
    if kind is None:
        raise ValueError(f"Unable to get op from string {text!r} without its kind")
    modules = {"aggregator": "agg"}
    for one in kind.split("|"):
        module: Any = importlib.import_module(f"semira.{modules.get(one, one)}")
        try:
            return module.from_string(text)
        except ValueError:
            continue
    raise ValueError(f"Unknown {' or '.join(kind.split('|'))} string: {text!r}")
