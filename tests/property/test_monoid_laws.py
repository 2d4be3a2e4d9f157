"""The algebra that planning and early exits rely on, on edge values of every dtype.

Backends reassociate, commute, skip identities and stop at terminal values because a row says
so; a wrong row gives wrong sums only now and then. Here each claim is tried.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.helpers.pgb import examples, same_values
from tests.helpers.strategies import DTYPES, edge_values

from semira.base.dtypes import lookup_dtype
from semira.ops.meaning import cast_array
from semira.ops.registry import binary, monoid

MONOIDS = [(name, dtype) for name, row in monoid.items() for dtype in DTYPES if dtype in row]
BINARY = [(name, dtype) for name, row in binary.items() for dtype in DTYPES if dtype in row]


def name_of(case: tuple[str, str]) -> str:
    return "-".join(case)


def combine(op: Any, a: Any, b: Any) -> Any:
    return op.scalar_function(a, b, 0, 0, 0)


def equal(left: Any, right: Any, *, steps: int = 0, scale: float = 0) -> bool:
    with np.errstate(all="ignore"):
        pair = same_values(np.asarray([left]), np.asarray([right]), steps=steps, scale=scale)
    return bool(pair.all())


def values_of(op: Any, dtype: str) -> list[Any]:
    """Return edge values of `dtype`, cast to what the operator computes in."""
    values = cast_array(edge_values(lookup_dtype(dtype)), op.type.np_type)
    if op.type.is_complex and op.name == "times":
        # inf * (1 + 0j) has the part inf * 0: complex multiplication has no laws beyond numbers.
        values = values[np.isfinite(values)]
    return list(values)


@pytest.mark.parametrize("case", MONOIDS, ids=name_of)
def test_identity_changes_nothing(case: tuple[str, str]) -> None:
    typed = monoid[case[0]][case[1]]
    if typed.is_any:
        return  # any element may be returned: there is no identity to leave out
    for value in values_of(typed.op, case[1]):
        # A NaN loses against every number, so min and max have no identity for it: a fold
        # starts from its first value, never from the identity.
        loses = bool(np.isnan(value)) and typed.name in ("min", "max")
        expected = typed.identity if loses else value
        assert equal(combine(typed.op, typed.identity, value), expected), value
        assert equal(combine(typed.op, value, typed.identity), expected), value


@pytest.mark.parametrize("case", MONOIDS, ids=name_of)
def test_terminal_value_is_final(case: tuple[str, str]) -> None:
    typed = monoid[case[0]][case[1]]
    if typed.terminal is None:
        return
    for value in values_of(typed.op, case[1]):
        assert equal(combine(typed.op, typed.terminal, value), typed.terminal), value
        assert equal(combine(typed.op, value, typed.terminal), typed.terminal), value


@pytest.mark.parametrize("case", MONOIDS, ids=name_of)
def test_commutative(case: tuple[str, str]) -> None:
    typed = monoid[case[0]][case[1]]
    if typed.is_any:
        return
    for a, b in itertools.product(values_of(typed.op, case[1]), repeat=2):
        assert equal(combine(typed.op, a, b), combine(typed.op, b, a)), (a, b)


@pytest.mark.parametrize("case", MONOIDS, ids=name_of)
@examples(60)
@given(data=st.data())
def test_associative(case: tuple[str, str], data: Any) -> None:
    typed = monoid[case[0]][case[1]]
    pool = values_of(typed.op, case[1])
    if typed.type.is_complex:
        pool = [x for x in pool if not abs(x) > 100]
    elif typed.type.is_float and typed.name in ("plus", "times"):
        # Rounding and overflow depend on the order; exact values do not.
        pool = [
            typed.type.np_type.type(x) for x in (0, -0.0, 0.5, -1.5, 2, np.inf, -np.inf, np.nan)
        ]
    a, b, c = (data.draw(st.sampled_from(pool)) for _ in range(3))
    left = combine(typed.op, combine(typed.op, a, b), c)
    right = combine(typed.op, a, combine(typed.op, b, c))
    assert equal(left, right), (a, b, c)


@pytest.mark.parametrize("case", MONOIDS, ids=name_of)
def test_idempotent_exactly_where_the_row_says_so(case: tuple[str, str]) -> None:
    typed = monoid[case[0]][case[1]]
    holds = all(equal(combine(typed.op, x, x), x) for x in values_of(typed.op, case[1]))
    # times and plus on BOOL happen to be idempotent: the row may promise less, never more.
    assert holds or not typed.is_idempotent
    if typed.type.name != "BOOL":
        assert holds == typed.is_idempotent


@pytest.mark.parametrize("case", BINARY, ids=name_of)
def test_commutes_to(case: tuple[str, str]) -> None:
    name, dtype = case
    row = binary[name]
    if row.commutes_to is None or row.is_positional or name == "any":
        return
    typed, swapped = row[dtype], row.commutes_to[dtype]
    assert (row.commutes_to is row) == row.is_commutative
    for a, b in itertools.product(values_of(typed, case[1]), repeat=2):
        left, right = combine(typed, a, b), combine(swapped, b, a)
        assert equal(left, right, steps=4), (a, b, left, right)


@pytest.mark.parametrize("case", BINARY, ids=name_of)
def test_operands_that_are_not_read_do_not_matter(case: tuple[str, str]) -> None:
    name, dtype = case
    typed = binary[name][dtype]
    pool = values_of(typed, case[1])
    if typed.is_positional:
        assert not typed.reads_a
        assert not typed.reads_b
        assert typed.scalar_function(pool[0], pool[0], 3, 4, 5) == typed.scalar_function(
            pool[-1], pool[-1], 3, 4, 5
        )
        return
    if not typed.reads_a:
        for b in pool:
            results = [combine(typed, a, b) for a in pool]
            assert all(equal(results[0], other) for other in results)
    if not typed.reads_b:
        for a in pool:
            results = [combine(typed, a, b) for b in pool]
            assert all(equal(results[0], other) for other in results)


@pytest.mark.parametrize("case", BINARY, ids=name_of)
def test_operands_that_are_read_do_matter(case: tuple[str, str]) -> None:
    name, dtype = case
    typed = binary[name][dtype]
    if typed.is_positional or lookup_dtype(dtype).kind in "BU":
        return
    pool = values_of(typed, case[1])
    table = [[combine(typed, a, b) for b in pool] for a in pool]
    if typed.reads_a:
        assert any(not equal(row[k], table[0][k]) for row in table for k in range(len(pool)))
    if typed.reads_b:
        assert any(not equal(value, row[0]) for row in table for value in row)


@pytest.mark.parametrize("case", BINARY, ids=name_of)
def test_results_have_the_announced_dtype(case: tuple[str, str]) -> None:
    typed = binary[case[0]][case[1]]
    for a, b in itertools.product(values_of(typed, case[1])[:4], repeat=2):
        assert combine(typed, a, b).dtype == typed.return_type.np_type
