"""Every operation x mask x accumulator x replace x transpose x aliasing x storage x shape.

A pairwise cover drawn from ``--conformance-seed``, against SuiteSparse. A failure prints the case;
``--conformance-case NAME`` runs it alone. ``python -m tests.conformance`` is the long run.
"""

from __future__ import annotations

import functools
import itertools
from typing import Any

import pytest
from tests.conformance.cases import (
    ALIASES,
    AXES,
    PINS,
    Case,
    cover,
    few_kinds,
    is_allowed,
    listed_cases,
)
from tests.conformance.running import check
from tests.conformance.statements import OPERATIONS
from tests.conftest import DEFAULT_SEED
from tests.helpers.pairwise import pairwise

from semira.base.settings import settings
from semira.contract import INTERSECTIONS, alias_values
from semira.plan.pins import values_of

#: Distinct kernels CI may ask the cpu backend for: each costs about half a second to compile.
MOST_KERNELS = 220
#: Operands drawn for each row of the cover.
DRAWS = 2

_covers = functools.cache(cover)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One test per operation: ids do not depend on the seed or the device."""
    if "operation" in metafunc.fixturenames:
        metafunc.parametrize("operation", OPERATIONS)


@pytest.fixture
def cases(request: pytest.FixtureRequest, operation: str) -> list[Case]:
    seed = request.config.getoption("--conformance-seed")
    only = request.config.getoption("--conformance-case")
    (kind,) = (kind for kind in _covers(seed, DRAWS) if kind.operation == operation)
    found = _covers(seed, DRAWS)[kind]
    return [case for case in found if only is None or case.name == only]


def test_drawn_cases(
    cases: list[Case], device: str, request: pytest.FixtureRequest, kernels_before: set[str]
) -> None:
    if device == "cpu" and not settings().optimise:
        pytest.skip("make conformance runs these, optimised")
    seed = request.config.getoption("--conformance-seed")
    for case in cases:
        try:
            check(case, device)
        except AssertionError as error:
            pytest.fail(
                f"{error}\nagain: pytest tests/conformance/test_cover.py --device {device} "
                f"--conformance-seed {seed} --conformance-case {case.name}",
                pytrace=False,
            )
    if device == "cpu":
        met = set(kernels_met()) - kernels_before
        assert len(met) <= MOST_KERNELS, f"the cover met {len(met)} distinct kernels"


@pytest.fixture(scope="module")
def kernels_before() -> set[str]:
    """Kernels that other tests of this process asked for."""
    return set(kernels_met())


def kernels_met() -> dict[str, int]:
    from semira.backends.cpu import cache

    return cache.kernels_met()


def test_the_cover_shows_every_value_of_every_axis() -> None:
    drawn = _covers(DEFAULT_SEED, DRAWS)
    assert [kind.operation for kind in drawn] == list(OPERATIONS)
    situations = [case.situation for cases in drawn.values() for case in cases]
    for name, values in AXES.items():
        assert {getattr(situation, name) for situation in situations} == set(values), name
    assert {kind.accum for kind in drawn} >= {None, "plus", "min", "second"}
    assert any(kind.out_dtype != kind.dtype for kind in drawn)


def test_formats_and_ways_to_meet_are_all_pinned() -> None:
    pins = [pinned for pinned, _ in PINS.values()]
    formats = {pinned["matrix_storage"] for pinned in pins if "matrix_storage" in pinned}
    # Compressed rows, alone or beside columns, are what is walked where nothing is pinned.
    # Tiles of bits keep no values: test_bits.py.
    assert formats == {*values_of("matrix_storage", "mxv")} - {"csr", "both", "b2sr"}
    ways = {pinned["intersect"] for pinned in pins if "intersect" in pinned}
    assert ways == {*INTERSECTIONS, *alias_values("intersect")}


@pytest.mark.parametrize("first", ["mask", "alias", "replace"])
def test_the_cover_shows_pairs(first: str) -> None:
    drawn = _covers(DEFAULT_SEED, DRAWS)
    mxm = next(kind for kind in drawn if kind.operation == "mxm")
    shown = {(getattr(c.situation, first), c.situation.shape) for c in drawn[mxm]}
    for name, found in ((first, {value for value, _ in shown}), ("shape", {x for _, x in shown})):
        assert found == {value for value in AXES[name] if is_allowed(mxm, {name: value})}


def test_cases_follow_from_the_seed() -> None:
    again = cover(DEFAULT_SEED, DRAWS)
    assert str(again) == str(_covers(DEFAULT_SEED, DRAWS))
    assert few_kinds(DEFAULT_SEED) == list(again)
    assert few_kinds(DEFAULT_SEED) != few_kinds(DEFAULT_SEED + 1)


def test_the_listed_long_run_keeps_the_statements_and_draws_the_operands() -> None:
    kind, rows = next(iter(_covers(DEFAULT_SEED, DRAWS).items()))
    cases = list(itertools.islice(listed_cases(3, rows, 0, 0), 200))
    assert len({case.name for case in cases}) == 200
    assert {case.kind for case in cases} == {kind}

    def written(case: Case) -> tuple[Any, ...]:
        there = case.situation
        return there.mask, there.replace, there.left_transposed, there.alias, there.hint

    assert {written(case) for case in cases} <= {written(case) for case in rows}
    assert len({(case.situation.left, case.situation.shape) for case in cases}) > 15


def test_aliases_name_known_roles() -> None:
    roles: set[str] = set()
    for alias in ALIASES:
        roles.update(alias.split("="))
    assert roles == {"none", "w", "a", "b", "mask"}


def test_pairwise_rows_show_every_pair() -> None:
    axes = {"x": range(5), "y": "abcd", "z": (False, True)}
    rows = pairwise(axes, seed=3)
    assert len(rows) < 30 < 5 * 4 * 2
    assert rows == pairwise(axes, seed=3) != pairwise(axes, seed=4)
    for first, second in itertools.combinations(axes, 2):
        shown = {(row[first], row[second]) for row in rows}
        assert shown == set(itertools.product(axes[first], axes[second]))


def test_pairwise_rows_are_all_allowed() -> None:
    axes = {"x": range(4), "y": range(4)}
    rows = pairwise(axes, seed=3, allowed=lambda row: row.get("x") != row.get("y", -1))
    assert {(row["x"], row["y"]) for row in rows} == set(itertools.permutations(range(4), 2))
