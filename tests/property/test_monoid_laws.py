"""The algebra that planning and early exits rely on, on edge values of every dtype.

Backends reassociate, commute, skip identities and stop at terminal values because a row says
so; a wrong row gives wrong sums only now and then. Here each claim is tried, for every operator and
dtype that makes it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from tests.helpers.pgb import same_values
from tests.helpers.strategies import DTYPES, edge_values

from semira.base.dtypes import lookup_dtype
from semira.ops.meaning import cast_array
from semira.ops.registry import binary, monoid

#: Triples of values for which an operator is tried to be associative.
TRIPLES = 200


def monoids() -> Iterator[tuple[str, Any, np.ndarray]]:
    """Yield what to call each monoid that has laws, the monoid, and edge values for it."""
    for name, row in monoid.items():
        for dtype in DTYPES:
            if dtype in row:
                typed = row[dtype]
                yield f"{name}[{dtype}]", typed, values_of(typed.op, dtype)


def binaries(without: str = "") -> Iterator[tuple[str, Any, np.ndarray]]:
    """Yield the same of each binary operator; leave out some kinds of dtypes."""
    for name, row in binary.items():
        for dtype in DTYPES:
            if dtype in row and lookup_dtype(dtype).kind not in without:
                yield f"{name}[{dtype}]", row[dtype], values_of(row[dtype], dtype)


def values_of(op: Any, dtype: str) -> np.ndarray:
    """Return edge values of `dtype`, cast to what the operator computes in."""
    values = cast_array(edge_values(lookup_dtype(dtype)), op.type.np_type)
    if op.type.is_complex and op.name == "times":
        # inf * (1 + 0j) has the part inf * 0: complex multiplication has no laws beyond numbers.
        values = values[np.isfinite(values)]
    return values


def combine(op: Any, left: Any, right: Any) -> np.ndarray:
    """Return the operator on pairs of values."""
    sides = np.broadcast_arrays(left, right)
    pairs = zip(*(side.reshape(-1) for side in sides), strict=True)
    return np.array([op.scalar_function(a, b, 0, 0, 0) for a, b in pairs])


def table(op: Any, values: np.ndarray) -> np.ndarray:
    """Return the operator on every pair: rows are left operands."""
    size = len(values)
    return combine(op, np.repeat(values, size), np.tile(values, size)).reshape(size, size)


def same(left: Any, right: Any, *, steps: int = 0) -> np.ndarray:
    with np.errstate(all="ignore"):
        left, right = np.broadcast_arrays(left, right)
        return same_values(left, right, steps=steps)


def holds(law: Any, cases: Iterator[tuple[str, Any, np.ndarray]]) -> None:
    """Check a law, which returns where it holds, for every case; name those that break it."""
    checked, wrong = 0, []
    for name, typed, values in cases:
        found = law(typed, values)
        if found is not None:
            checked += 1
            if not np.all(found):
                wrong.append((name, np.argwhere(~np.asarray(found))[:3].tolist()))
    assert checked
    assert not wrong, wrong[:8]


def test_identity_changes_nothing() -> None:
    def law(typed: Any, values: np.ndarray) -> Any:
        if typed.is_any:
            return None  # any element may be returned: there is no identity to leave out
        expected = values.copy()
        if typed.name in ("min", "max"):
            # A NaN loses against every number, so min and max have no identity for it: a fold
            # starts from its first value, never from the identity.
            expected[np.isnan(values)] = typed.identity
        either = (
            combine(typed.op, typed.identity, values),
            combine(typed.op, values, typed.identity),
        )
        return np.stack([same(each, expected) for each in either])

    holds(law, monoids())


def test_terminal_value_is_final() -> None:
    def law(typed: Any, values: np.ndarray) -> Any:
        if typed.terminal is None:
            return None
        last = typed.op.type.np_type.type(typed.terminal)
        both = combine(typed.op, last, values), combine(typed.op, values, last)
        return np.stack([same(each, last) for each in both])

    holds(law, monoids())


def test_commutative() -> None:
    def law(typed: Any, values: np.ndarray) -> Any:
        if typed.is_any:
            return None
        results = table(typed.op, values)
        return same(results, results.T)

    holds(law, monoids())


def test_associative() -> None:
    rng = np.random.default_rng(0)

    def law(typed: Any, values: np.ndarray) -> Any:
        if typed.type.is_complex:
            values = values[~(np.abs(values) > 100)]
        elif typed.type.is_float and typed.name in ("plus", "times"):
            # Rounding and overflow depend on the order; exact values do not.
            exact = (0, -0.0, 0.5, -1.5, 2, np.inf, -np.inf, np.nan)
            values = np.array(exact, typed.type.np_type)
        a, b, c = rng.choice(values, (3, TRIPLES))
        left = combine(typed.op, combine(typed.op, a, b), c)
        return same(left, combine(typed.op, a, combine(typed.op, b, c)))

    holds(law, monoids())


def test_idempotent_exactly_where_the_row_says_so() -> None:
    def law(typed: Any, values: np.ndarray) -> Any:
        is_idempotent = bool(same(combine(typed.op, values, values), values).all())
        # times and plus on BOOL happen to be idempotent: the row may promise less, never more.
        if typed.type.name == "BOOL":
            return is_idempotent or not typed.is_idempotent
        return is_idempotent == typed.is_idempotent

    holds(law, monoids())


def test_commutes_to() -> None:
    def law(typed: Any, values: np.ndarray) -> Any:
        row = typed.parent
        if row.commutes_to is None or row.is_positional or row.name == "any":
            return None
        swapped = row.commutes_to[typed.type]
        is_told = (row.commutes_to is row) == row.is_commutative
        return is_told & same(table(typed, values), table(swapped, values).T, steps=4)

    holds(law, binaries())


def test_operands_that_are_not_read_do_not_matter() -> None:
    def law(typed: Any, values: np.ndarray) -> Any:
        if typed.is_positional:
            first, last = values[0], values[-1]
            found = [typed.scalar_function(x, x, 3, 4, 5) for x in (first, last)]
            return not (typed.reads_a or typed.reads_b) and found[0] == found[1]
        if typed.reads_a and typed.reads_b:
            return None
        results = table(typed, values)
        is_same = [np.True_]
        if not typed.reads_a:
            is_same.append(same(results, results[:1]).all())
        if not typed.reads_b:
            is_same.append(same(results, results[:, :1]).all())
        return np.array(is_same)

    holds(law, binaries())


def test_operands_that_are_read_do_matter() -> None:
    def law(typed: Any, values: np.ndarray) -> Any:
        if typed.is_positional:
            return None
        results = table(typed, values)
        return np.array(
            [
                not typed.reads_a or not same(results, results[:1]).all(),
                not typed.reads_b or not same(results, results[:, :1]).all(),
            ]
        )

    # Without signs and fractions some operators have nothing to read.
    holds(law, binaries(without="BU"))


def test_results_have_the_announced_dtype() -> None:
    def law(typed: Any, values: np.ndarray) -> Any:
        found = [typed.scalar_function(a, b, 0, 0, 0).dtype for a in values[:4] for b in values[:4]]
        return np.array([each == typed.return_type.np_type for each in found])

    holds(law, binaries())


def test_a_broken_law_is_named() -> None:
    wrong = [("minus[INT8]", binary["minus"]["INT8"], np.array([1, 2], np.int8))]

    def commutes(typed: Any, values: np.ndarray) -> Any:
        return same(table(typed, values), table(typed, values).T)

    with pytest.raises(AssertionError, match=r"minus\[INT8\]"):
        holds(commutes, iter(wrong))
