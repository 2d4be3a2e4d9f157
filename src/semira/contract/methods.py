"""Ways to multiply that have folders of their own: their rows, and where the rest is found.

A folder is a package with a module ``plan`` that holds `MethodRow` objects in ``ROWS``, and a
module for each back end that can run them. Packages are known by name; a module is imported when a
plan first asks for it.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields
from types import ModuleType
from typing import Any

from semira.base import locks
from semira.base.errors import InvalidValue
from semira.contract.hints import WORDS, Hints
from semira.contract.program import CORE_METHODS, PRODUCTS, Statement
from semira.contract.rule import Rule
from semira.formats import MatrixArrays

#: What sparse times full walks where only the left operand's columns may be there.
COLUMNS = "columns"

#: Packages under `semira.methods`, and the methods that each of them brings. One line a folder.
FOLDERS: dict[str, tuple[str, ...]] = {
    "b2sr": ("b2sr",),
    "coo": ("coo",),
    "dense": ("dense",),
    "ell": ("ell", "ellr", "pell", "sell"),
    "equal_shares": ("equal_shares",),
    "sets": ("sets",),
    "sorted_push": ("sorted_push",),
}


@dataclass(frozen=True, slots=True, eq=False)
class Features:
    """What a cost may ask of a matrix."""

    nrows: int
    ncols: int
    nvals: int
    #: Bytes of a value.
    itemsize: int
    #: Whether all entries have one value.
    iso: bool
    #: Returns the `MatrixArrays` on the host; copies them from a device.
    arrays: Callable[[], MatrixArrays]


#: Entries that a product counts for, read in order as compressed rows are; None: not of use.
Cost = Callable[[Features], float | None]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MethodRow:
    """One way to run products of one kind, as the planner sees it.

    Attributes
    ----------
    name : str
        What the pin ``method`` calls it.
    ops : tuple of str
        The products it serves: ``mxv``, ``vxm``, ``mxm``.
    instead_of : tuple of str
        Core methods whose place it takes: ``push`` or ``pull`` of a product with a vector;
        ``dense`` and ``hash`` of ``mxm``.
    walks : str
        What it walks, in words.
    balance, because : str
        How it shares its work out (see `Method.balance`), and why.
    beside : tuple of str
        Core methods that keep their place beside it, for the planner to choose between: ``push``
        of a method that takes the place of ``pull``.
    parameters : dict of str to tuple
        Values that each parameter of the pin may take, the default first. One that no other method
        has asks for this one.
    is_oriented : bool
        Whether what it walks has lines; else entries lie in any order.
    masks_late : bool
        Whether it multiplies before it looks at the mask.
    aliases : dict of (str, object) to dict
        Other pins, each with a value, that ask for it, and the parameters that they mean.
    keeps : tuple of str or None
        Names of what it keeps with a matrix; None: one of its own name. Empty: it walks the arrays
        of the matrix, so that a pinned orientation holds for it.
    only_on : tuple of str
        Back ends that run it; empty: those of which the folder has a module.
    fused : bool
        Whether it is part of a kernel with other statements; else its ``cuda`` module brings
        launches of its own, and the host runs loops around it.
    unordered : callable, optional
        Takes a statement; returns the devices on which the order of a sum differs from run to run.
        None: those on which that of the core method differs.
    obstacle : callable
        Takes a statement; returns why it cannot be run this way, or nothing.
    cost : callable or Rule, optional
        A function of `Features` is evaluated once for each matrix and device. A `Rule` is evaluated
        each time, and only where it pulls. None: only a pin asks for the method.
    costed_on : tuple of str
        Back ends that a function of `Features` is about; empty: all.
    from_product : int
        A function of `Features` is evaluated at this product of a matrix, counted from 1: before,
        what is to be made would not pay.
    pays : callable
        Takes a statement and whether it is in a loop; returns whether the cost holds there. Without
        a pin the method is not chosen elsewhere.
    """

    name: str
    ops: tuple[str, ...]
    instead_of: tuple[str, ...]
    walks: str
    balance: str
    because: str
    beside: tuple[str, ...] = ()
    parameters: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    is_oriented: bool = True
    masks_late: bool = False
    aliases: dict[tuple[str, Any], dict[str, Any]] = field(default_factory=dict)
    keeps: tuple[str, ...] | None = None
    only_on: tuple[str, ...] = ()
    fused: bool = True
    unordered: Callable[[Statement], frozenset[str]] | None = None
    obstacle: Callable[[Statement], str] = lambda _statement: ""
    cost: Cost | Rule | None = None
    costed_on: tuple[str, ...] = ()
    from_product: int = 1
    pays: Callable[[Statement, bool], bool] = lambda _statement, _in_loop: True


#: Package of each method, by name.
_packages: dict[str, str] = {
    name: f"semira.methods.{folder}" for folder, names in FOLDERS.items() for name in names
}
#: The same with those that were forgotten, whose plans stay valid.
_homes = dict(_packages)
#: Rows of packages that were loaded, by operation and name.
_rows: dict[tuple[str, str], tuple[MethodRow, str]] = {}
_loaded: set[str] = set()

#: Names of the methods that may be chosen without a pin. Calls look whether there are any.
COSTED: list[str] = ["b2sr"]

#: Counts the times that methods were registered or forgotten.
VERSION = [0]


def register(package: str) -> tuple[str, ...]:
    """Add the methods of a package, which has a module ``plan``; return their names.

    Registering it again changes nothing. Raises InvalidValue if ``ROWS`` is not a tuple of
    `MethodRow`, or a row has the name of another package's or a cost that cannot be compared.
    """
    rows = _rows_in(package)
    for row in rows:
        other = _packages.get(row.name, package)
        if other != package:
            raise InvalidValue(f"method {row.name!r} of {package} is already one of {other}")
    for known in (_packages, _homes):
        known.update({row.name: package for row in rows})
    _load(package)
    VERSION[0] += 1
    return tuple(dict.fromkeys(row.name for row in rows))


def unregister(package: str) -> None:
    """Forget the methods of a package; plans made with them stay valid."""
    VERSION[0] += 1
    for name in [name for name, found in _packages.items() if found == package]:
        del _packages[name]
        COSTED[:] = [each for each in COSTED if each != name]
    for key in [key for key, (_, found) in _rows.items() if found == package]:
        del _rows[key]
    _loaded.discard(package)


def _rows_in(package: str) -> tuple[MethodRow, ...]:
    if not package:
        raise InvalidValue("package=''; give the name of a package, as in an import statement")
    rows: Any = getattr(importlib.import_module(f"{package}.plan"), "ROWS", ())
    if not (isinstance(rows, tuple) and rows and all(isinstance(row, MethodRow) for row in rows)):
        raise InvalidValue(f"{package}.plan: ROWS={rows!r}; give a tuple of MethodRow objects")
    for row in rows:
        fault = _fault_of(row)
        if fault:
            raise InvalidValue(f"method {row.name!r} of {package}: {fault}")
    return (*rows,)


def _fault_of(row: Any) -> str:
    """Return which field of a row is wrong, and what it may be; empty if none is."""
    core = [CORE_METHODS[op] for op in row.ops if op in CORE_METHODS]
    pins = {item.name for item in fields(Hints)} - {pin for pin, _ in row.aliases}
    if not isinstance(row.name, str) or not row.name.isidentifier():
        return "name: give one that is a Python identifier"
    if not (isinstance(row.ops, tuple) and row.ops and len(core) == len(row.ops)):
        return f"ops={row.ops!r}; give a tuple of some of {', '.join(PRODUCTS)}"
    if any(row.name in names for names in core):
        return "the core has a method of this name; give another one"
    if not (isinstance(row.instead_of, tuple) and row.instead_of) or any(
        not {*row.instead_of} <= {*names} for names in core
    ):
        return f"instead_of={row.instead_of!r}; give a tuple of some of {', '.join(core[0])}"
    if any(not {*row.beside} <= {*names} - {*row.instead_of} for names in core):
        return f"beside={row.beside!r}; give core methods other than instead_of"
    if row.balance not in WORDS["balance"]:
        return f"balance={row.balance!r}; choose one of {', '.join(WORDS['balance'])}"
    for name, values in row.parameters.items():
        if name in pins or not (isinstance(values, tuple) and values):
            return f"parameters[{name!r}]={values!r}; give a tuple of values, and no name of a pin"
    return _cost_fault(row)


def _cost_fault(row: Any) -> str:
    if not (row.cost is None or isinstance(row.cost, Rule) or callable(row.cost)):
        return f"cost={row.cost!r}; give a function of Features, a Rule or None"
    if isinstance(row.cost, Rule) and (row.instead_of != ("pull",) or not row.fused):
        return (
            f"cost is a Rule, instead_of={row.instead_of!r} and fused={row.fused}: rules weigh "
            "pulls that are part of a kernel; give a function of Features"
        )
    return ""


#: Held while a package is imported: a forked child could never import what was half imported.
_loading = locks.rlock()
locks.wait_at_fork(_loading, is_outer=True)


def _load(package: str) -> None:
    if package in _loaded:
        return
    with _loading:
        for row in _rows_in(package):
            for op in row.ops:
                _rows[op, row.name] = row, package
            if row.cost is not None and row.name not in COSTED:
                COSTED.append(row.name)
        _loaded.add(package)


def method_names() -> tuple[str, ...]:
    """Return the names of all methods that have folders."""
    return tuple(_packages)


def no_values(name: str) -> str:
    """Return why a method without values cannot run a product that reads those of its matrix."""
    return (
        f"method={name!r} keeps no values, and the operator reads those of a matrix whose entries "
        "differ; take one that ignores them (pair, or second of mxv and first of vxm), or no pin"
    )


def format_names() -> tuple[str, ...]:
    """Return the names of the methods that keep something of their own with a matrix."""
    rows = ((name, row_of(op, name)) for name in _packages for op in PRODUCTS)
    made = (name for name, row in rows if row is not None and row.keeps != ())
    return tuple(dict.fromkeys(made))


def parameters_of(name: str | None) -> dict[str, tuple[Any, ...]]:
    """Return the parameters of a method and the values of each, for all operations together."""
    return _parameters(name, VERSION[0])


@functools.lru_cache
def _parameters(name: str | None, _version: int) -> dict[str, tuple[Any, ...]]:
    found: dict[str, tuple[Any, ...]] = {}
    for row in (row_of(op, name) for op in PRODUCTS):
        for key, values in ({} if row is None else row.parameters).items():
            found[key] = tuple(dict.fromkeys((*found.get(key, ()), *values)))
    return found


def method_with(parameter: str) -> str | None:
    """Return the only method that has a parameter, or None.

    Examples
    --------
    >>> method_with("bits"), method_with("width")
    ('b2sr', None)
    """
    return _method_with(parameter, VERSION[0])


@functools.lru_cache
def _method_with(parameter: str, _version: int) -> str | None:
    found = [name for name in _packages if parameter in parameters_of(name)]
    return found[0] if len(found) == 1 else None


def row_of(op: str, name: str | None) -> MethodRow | None:
    """Return the row of a method for an operation, or None."""
    package = None if name is None else _packages.get(name)
    if package is None or name is None:
        return None
    _load(package)
    found = _rows.get((op, name))
    return None if found is None else found[0]


def row_with_alias(op: str, pin: str, value: object) -> MethodRow | None:
    """Return the row of a method that a value of another pin asks for, or None."""
    if value is None:
        return None
    rows = (row_of(op, name) for name in _packages)
    return next((row for row in rows if row is not None and (pin, value) in row.aliases), None)


def alias_values(pin: str) -> tuple[Any, ...]:
    """Return the values of a pin that ask for methods, for all operations together."""
    rows = (row_of(op, name) for name in _packages for op in PRODUCTS)
    aliases = (alias for row in rows if row is not None for alias in row.aliases)
    return tuple(dict.fromkeys(value for name, value in aliases if name == pin))


def rows_with_cost() -> Iterator[tuple[str, MethodRow]]:
    """Yield operation and row of the methods that are chosen without a pin."""
    for name in COSTED:
        _load(_homes[name])
    for (op, _), (row, _) in _rows.items():
        if row.cost is not None:
            yield op, row


def has_part(name: str, backend: str) -> bool:
    """Return whether a method can be run by a back end."""
    package = _packages.get(name)
    return package is not None and importlib.util.find_spec(f"{package}.{backend}") is not None


@functools.cache
def _part(package: str, backend: str) -> ModuleType:
    return importlib.import_module(f"{package}.{backend}")


def part_of(name: str, backend: str) -> ModuleType:
    """Return the module by which a back end runs a method."""
    return _part(_homes[name], backend)
