"""SuiteSparse:GraphBLAS, through python-graphblas, as the oracle of the conformance tests.

A test writes one program and runs it in both libraries with `mirror`; what it returns is
compared: shape, dtype, positions, values.
"""

from __future__ import annotations

import functools
import importlib
import os
import warnings
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, settings

import semira as gb

#: Whether every operator and many examples are run (``SEMIRA_CONFORMANCE=full``).
FULL = os.environ.get("SEMIRA_CONFORMANCE", "") == "full"


#: Whether only what is asked of a device matters, since the reference computes in its place
#: (``--kernels``): the other library does not compute, and our objects are only read.
only_ours = False

#: Python functions that python-graphblas compiles with Numba, not operators of SuiteSparse: a
#: zero divisor leaves garbage behind, and `rpow` wraps where SuiteSparse's `pow` saturates.
UNDEFINED = ("floordiv", "rfloordiv", "rpow")


def examples(default: int) -> settings:
    """Return hypothesis settings: the same examples every time, ten times as many if full.

    Else half of them: all conformance tests together have minutes.
    """
    return settings(
        max_examples=default * 10 if FULL else max(1, default // 2),
        # Descriptions are small as drawn; shrinking thousands of runs takes minutes.
        phases=(Phase.explicit, Phase.generate),
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    )


@functools.cache
def suitesparse() -> Any:
    """Return python-graphblas, set up to be exact and quiet; skip without it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pgb = pytest.importorskip("graphblas")
        try:
            pgb.init("suitesparse", blocking=False)
        except pgb.exceptions.GraphblasException:
            # Another test file of this process has started it, with the same defaults.
            assert pgb.backend == "suitesparse"
        # Tests must not start a C compiler, nor many threads for eight entries.
        pgb.ss.config["jit_c_control"] = "off"
        pgb.ss.config["nthreads"] = 1
        for name in ("unary", "binary", "monoid", "semiring", "select", "indexunary"):
            getattr(pgb, name)
    # Compiled for the dtypes it meets, not for all: three seconds for each tolerance.
    pgb.binary.isclose._is_udt = True
    # Python runs them at once; Numba takes a second for each to compile, for a few entries.
    scalar = importlib.import_module("graphblas.core.scalar")
    scalar._has_numba, scalar.isclose = False, pgb.binary.isclose.func
    module = importlib.import_module("graphblas.core.ss.matrix")
    for name, function in [*vars(module).items()]:
        setattr(module, name, getattr(function, "py_func", function))
    return pgb


def find(library: Any, namespace: str, name: str) -> Any:
    """Return an operator by name; python-graphblas keeps some in a sub-namespace ``ss``."""
    table = getattr(library, namespace)
    if library is gb:
        return getattr(table, name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return getattr(table, name, None) or getattr(getattr(table, "ss", None), name, None)


def works(namespace: str, name: str, *dtypes: str) -> bool:
    """Whether SuiteSparse has the operator for the dtypes."""
    if _is_uncompiled(namespace, name):
        return all(dtype in find(gb, namespace, name) for dtype in dtypes)
    op = find(suitesparse(), namespace, name)
    if op is None:
        return False
    if op._udt_types is not None:
        # The same for dtypes that it has no function for yet.
        found = find(gb, namespace, name)
        return all(dtype in op.types or dtype in found for dtype in dtypes)
    try:
        for dtype in dtypes:
            op[dtype]
    except KeyError:
        return False
    return True


def _is_uncompiled(namespace: str, name: str) -> bool:
    """Whether asking for the operator lets Numba compile a function for every dtype.

    `tests/property/test_meanings.py` does ask, and compares the dtypes with ours.
    """
    library = suitesparse()
    multiply = name.partition("_")[2] if namespace == "semiring" else name
    return multiply in library.binary._delayed and name in getattr(library, namespace)._delayed


def result_dtype(namespace: str, name: str, dtype: str) -> str:
    """Return the dtype SuiteSparse gives a result."""
    return find(suitesparse(), namespace, name)[dtype].return_type.name  # type: ignore[no-any-return]


def mirror(device: str, program: Callable[[Any], Any], *, steps: int = 0, scale: float = 0) -> None:
    """Run `program` with both libraries and compare every object it returns.

    Parameters
    ----------
    program : callable
        Takes the library; returns one object or a tuple of them.
    steps : int
        Rounded floating-point operations behind one value; 0 demands equality.
    scale : float
        Largest term of a sum that may cancel.
    """
    with gb.device(device):
        ours = _as_tuple(program(gb))
    theirs = ours if only_ours else _as_tuple(program(suitesparse()))
    assert len(ours) == len(theirs)
    for number, (mine, other) in enumerate(zip(ours, theirs, strict=True)):
        assert_same(mine, other, steps=steps, scale=scale, what=f"result {number}")


def _as_tuple(result: Any) -> tuple[Any, ...]:
    return result if isinstance(result, tuple) else (result,)


def assert_same(
    ours: Any, theirs: Any, *, steps: int = 0, scale: float = 0, what: str = "result"
) -> None:
    """Compare an object of ours with one of python-graphblas."""
    assert ours.dtype.name == theirs.dtype.name, f"{what}: {ours.dtype} for {theirs.dtype}"
    if ours.ndim == 0:
        _assert_same_scalar(ours, theirs.value, what, steps, scale)
        return
    assert ours.shape == tuple(theirs.shape), what
    mine, other = ours.to_coo(), by_row(theirs.to_coo())
    for a, b in zip(mine[:-1], other[:-1], strict=True):
        assert a.tolist() == b.tolist(), f"{what}: pattern {mine[:-1]} for {other[:-1]}"
    close = same_values(mine[-1], other[-1], steps=steps, scale=scale)
    assert close.all(), f"{what}: {mine[-1][~close]} for {other[-1][~close]}, all {mine} {other}"


def by_row(coo: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return entries by row, then column (SuiteSparse keeps some matrices by column)."""
    order = np.lexsort(coo[-2::-1])
    return tuple(part[order] for part in coo)


def _assert_same_scalar(ours: Any, other: Any, what: str, steps: int, scale: float) -> None:
    mine = ours.value
    if mine is None or other is None:
        assert mine is None, f"{what}: {mine} for an empty Scalar"
        assert other is None, f"{what}: empty for {other}"
        return
    # Roundings are those of the dtype, which a number of Python no longer has.
    both = (np.array([value], ours.dtype.np_type) for value in (mine, other))
    close = same_values(*both, steps=steps, scale=scale)
    assert close.all(), f"{what}: {mine} for {other}"


def same_values(mine: Any, other: Any, *, steps: int = 0, scale: Any = 0) -> Any:
    """Return where values are equal; NaN equals NaN, floats may differ by `steps` roundings.

    Complex numbers are equal if both parts are; roundings count from the larger part.
    """
    if mine.dtype.kind == "c":
        with np.errstate(invalid="ignore"):
            size = np.nan_to_num(np.abs(other), nan=0.0, posinf=0.0)
        both = [(mine.real, other.real), (mine.imag, other.imag)]
        real, imag = (same_values(*pair, steps=steps, scale=size + scale) for pair in both)
        return real & imag
    if mine.dtype.kind != "f":
        return np.asarray(mine == other)
    with np.errstate(invalid="ignore"):
        same = (mine == other) | (np.isnan(mine) & np.isnan(other))
        if steps:
            eps = float(np.finfo(mine.dtype).eps)
            same |= np.isclose(mine, other, rtol=steps * eps, atol=steps * eps * scale)
    return same


def cover(rows: Iterable[tuple[str, ...]], default: int, seed: int) -> list[tuple[str, ...]]:
    """Return rows that together show every value of each column, then pairs of columns.

    Greedy and seeded: the row that shows most that was not seen comes next. All rows if full.
    """
    left = sorted(set(rows))
    if FULL:
        return left
    np.random.default_rng(seed).shuffle(left)
    rows_left = [tuple(row) for row in left]
    seen: set[Any] = set()
    chosen: list[tuple[str, ...]] = []
    while rows_left and len(chosen) < default:
        best = max(rows_left, key=lambda row: _novelty(row, seen))
        rows_left.remove(best)
        chosen.append(best)
        seen.update(_features(best))
    return sorted(chosen)


def _features(row: tuple[str, ...]) -> list[Any]:
    singles = list(enumerate(row))
    pairs = [(a, b) for i, a in enumerate(singles) for b in singles[i + 1 :]]
    return [*singles, *pairs]


def _novelty(row: tuple[str, ...], seen: set[Any]) -> int:
    singles = len(row)
    fresh = [feature not in seen for feature in _features(row)]
    return 100 * sum(fresh[:singles]) + sum(fresh[singles:])
