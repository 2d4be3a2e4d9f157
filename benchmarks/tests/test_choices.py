"""Choices of the planner, judged by measured times."""

from __future__ import annotations

from dataclasses import replace

import pytest
from benchmarks.studies.choices import (
    SHORT_S,
    chance_table,
    choices_table,
    policy_ways,
    ratios,
    way_by_policy,
)
from benchmarks.studies.spmspv import DENSE, PULL, Series, series_of
from tests.helpers.every import every

from semira.bench.record import Dataset, Record
from semira.contract import Const
from semira.plan.expressions import fold
from semira.plan.policy import POLICIES
from semira.plan.rules_direction import Situation, direction_rule

GRAPH = Dataset("kron:17", 131_072, 3_729_482, "00")

#: Of kron:17 (H200): entries of the frontier, edges, microseconds pushed, of the dense product and
#: by the planner, and its choice.
MEASURED = (
    (16_384, 477_474, 59.3, 35.5, 58.0, "push"),
    (65_536, 1_851_219, 87.6, 37.5, 88.9, "push"),
    (131_072, 3_729_482, 116.3, 43.3, 41.3, "pull"),
    (256, 5_439, 23.1, 34.7, 22.8, "push"),
    (64, 825, 21.0, 38.7, 23.6, "push"),
)


def records_of(semiring: str, *, pull_us: float | None = None) -> list[Record]:
    """Return records of `MEASURED`, with a separate pull if it has a time."""
    made = []
    for frontier, edges, push, dense, auto, ran in MEASURED:
        ways = [({"merge": "atomics"}, push, "push"), (DENSE, dense, "pull"), ({}, auto, ran)]
        if pull_us is not None:
            ways.append((PULL, pull_us, "pull"))
        made += [
            Record("spmspv", f"vxm {semiring}", GRAPH, "semira", "cuda", plan=plan,
                   options={"frontier": frontier, "edges": edges}, ran={way: 1},
                   device_s=[1e-6 * taken], warm_s=[1e-6 * taken])
            for plan, taken, way in ways
        ]  # fmt: skip
    return made


def series(semiring: str = "min_plus", *, pull_us: float | None = None) -> Series:
    (found,) = series_of(records_of(semiring, pull_us=pull_us))
    return found


#: Graph, n, entries, edges of the frontier, and the way that was faster (min_plus, one H200): the
#: planner takes it.
FASTER = [
    ("ak2010", 45_292, 217_098, 1_242, "push"),
    ("delaunay_n16", 65_536, 393_150, 98_411, "pull"),
    ("luxembourg_osm", 114_599, 239_332, 136_880, "pull"),
    ("soc-Slashdot0902", 82_168, 948_464, 181_894, "pull"),
    ("coAuthorsDBLP", 299_067, 1_955_352, 27_255, "push"),
    ("coAuthorsDBLP", 299_067, 1_955_352, 425_209, "pull"),
    ("kron:16", 65_536, 1_819_412, 463_008, "pull"),
    ("kron:18", 262_144, 7_612_438, 464_657, "push"),
    ("kron:18", 262_144, 7_612_438, 1_926_308, "pull"),
    ("kron:19", 524_288, 15_482_470, 1_945_223, "push"),
    ("kron:19", 524_288, 15_482_470, 7_637_070, "pull"),
    ("kron:21", 2_097_152, 63_537_056, 8_138_267, "push"),
    ("kron:21", 2_097_152, 63_537_056, 31_602_040, "pull"),
]


@every(("graph", "n", "nnz", "edges", "way"), FASTER)
def test_whole_rows_are_pulled_where_that_was_faster(graph, n, nnz, edges, way):
    counts = {"frontier_edges": edges, "nnz": nnz, "n": n, "rows": n}
    assert way_by_policy(Situation(False, False, True, many_threads=True), counts) == way


#: Graph, its size and entries, edges of a frontier, whether pulls leave rows, and which way was the
#: faster by its pin (one H200, of 2026-11-23 and 24), for single products.
ALONE = [
    ("delaunay_n16", 65_536, 393_150, 9, False, "pull"),
    ("luxembourg_osm", 114_599, 239_332, 531, False, "pull"),
    ("ak2010", 45_292, 217_098, 19_103, False, "pull"),
    ("soc-Slashdot0902", 82_168, 948_464, 12, False, "push"),
    ("kron:16", 65_536, 1_819_412, 6_800, False, "push"),
    ("coAuthorsDBLP", 299_067, 1_955_352, 425_209, True, "pull"),
    ("soc-Slashdot0902", 82_168, 948_464, 181_894, True, "pull"),
    ("luxembourg_osm", 114_599, 239_332, 136_880, True, "pull"),
    ("kron:18", 262_144, 7_612_438, 464_657, True, "pull"),
    ("delaunay_n16", 65_536, 393_150, 1_532, True, "push"),
    ("kron:18", 262_144, 7_612_438, 30_000, True, "push"),
]


#: What a mask leaves open.
MASKED = {"open_rows": 40_000, "open_edges": 200_000}


@every(("graph", "n", "nnz", "edges", "leaves", "way"), ALONE)
def test_products_by_themselves_are_weighed_by_numbers_of_their_own(
    graph, n, nnz, edges, leaves, way
):
    counts = {"frontier_edges": edges, "nnz": nnz, "n": n, "rows": n}
    alone = Situation(False, leaves, True, many_threads=True, alone=True)
    assert way_by_policy(alone, counts) == way
    # In a loop nothing of it counts, nor where a mask closes rows.
    assert way_by_policy(replace(alone, alone=False), counts) == "push"
    masked = replace(alone, masked=True)
    ways = {way_by_policy(each, counts | MASKED) for each in (masked, replace(masked, alone=False))}
    assert len(ways) == 1


def test_small_matrices_are_pulled_without_asking_what_a_push_would_touch() -> None:
    alone = Situation(False, False, True, many_threads=True, alone=True)
    rule = direction_rule(POLICIES["auto"], alone)
    assert fold(rule, {"nnz": 400_000, "rows": 60_000}, 0) == Const(1)
    assert not isinstance(fold(rule, {"nnz": 600_000, "rows": 60_000}, 0), Const)


def test_a_direction_stays_in_between() -> None:
    situation = Situation(False, False, True, many_threads=True)
    counts = {"frontier_edges": 400_000, "nnz": 3_729_482, "rows": 131_072}
    assert way_by_policy(situation, counts) == "push"
    assert way_by_policy(situation, counts, previous=1) == "pull"


def test_ways_follow_from_the_counts_of_a_record() -> None:
    assert series().frontiers == [64, 256, 16_384, 65_536, 131_072]
    assert series().ran == ["push", "push", "push", "push", "pull"]
    # 271,814 edges, counted twice, are as dear as the pull.
    assert policy_ways(series()) == ["push", "push", "pull", "pull", "pull"]
    # Another device keeps a half, and a product that leaves rows its own rule.
    assert policy_ways(replace(series(), device="cpu")) == ["push", "push", "push", "push", "pull"]
    assert policy_ways(series("any_pair")) == ["push", "push", "pull", "pull", "pull"]


def test_a_way_has_the_time_of_its_pin() -> None:
    taken = ratios(series(), ["push", "push", "push", "pull", "pull"])
    assert taken == pytest.approx([1, 1, 59.3 / 35.5, 1, 1])


def test_an_early_exit_has_no_time_without_a_pull() -> None:
    assert ratios(series("any_pair"), ["pull"] * 5) == [None] * 4 + [pytest.approx(41.3 / 43.3)]
    beside = ratios(series("any_pair", pull_us=30.0), ["pull"] * 5)
    assert beside == pytest.approx([30 / 21.0, 30 / 23.1, 1, 1, 1])


def test_a_pull_of_whole_rows_took_what_the_dense_product_took() -> None:
    found = series("any_pair", pull_us=30.0)
    assert ratios(found, ["whole"] * 5) == pytest.approx(
        [38.7 / 21.0, 34.7 / 23.1, 35.5 / 30, 37.5 / 30, 43.3 / 30]
    )
    # Rows as short as those of a road network are read to their ends.
    road = replace(found, n=114_599, nvals=239_332, frontiers=[64] * 5, edges=[130] * 5)
    assert policy_ways(road) == ["whole"] * 5
    assert policy_ways(replace(road, device="cpu")) == ["push"] * 5


def test_misses_are_wrong_ways_or_slow_ones() -> None:
    head, (row,) = choices_table([series()])
    cells = dict(zip(head, row, strict=True))
    assert cells["points"] == "5"
    # 58.0 and 88.9 are pushes where pulls are better; 23.6 is a push that took 21.0 by its pin.
    assert cells["auto within 10%"] == "2 of 5"
    assert (cells["misses: another way"], cells["misses: slower than its pin"]) == ("2", "1")
    assert cells["its choices within 10%"] == "3 of 5"
    assert cells["today's policy within 10%"] == "5 of 5"
    assert [row[0] for row in choices_table([series(), series("any_pair")])[1]] == [
        "any_pair",
        "min_plus",
        "all",
    ]


def test_what_was_not_measured_is_not_counted() -> None:
    found = series("any_pair")
    found.ran[0] = "pull"
    found.times["auto"][0] = 21e-6
    assert ratios(found, found.ran)[0] == pytest.approx(1)
    # No pull was measured where today's policy pulls: two points fewer.
    found.ran[3] = "push"
    head, (row,) = choices_table([found])
    assert row[head.index("today's policy within 10%")].endswith("of 3")


def test_runs_of_one_plan_lie_apart_by_chance() -> None:
    short, long = series(), series()
    # The dense product of next to no frontier is the same work each time: 64 and 256 entries here.
    short.times["dense"][:2] = [20e-6, 23e-6]
    assert min(short.times["dense"][:2]) < SHORT_S
    head, rows = chance_table([short, long])
    cells = [dict(zip(head, row, strict=True)) for row in rows]
    assert [each["times"] for each in cells] == ["below 25 us", "others"]
    # Of 20 and 23 either may be the planner's; 34.7 and 38.7 are apart by 11.5 %.
    assert [each["pairs of runs"] for each in cells] == ["1", "1"]
    assert [each["one is not within 10%"] for each in cells] == ["50.0%", "50.0%"]
    assert [each["apart by (median)"] for each in cells] == ["15.0%", "11.5%"]


def test_no_repetition_is_no_row() -> None:
    found = series()
    found.edges[:] = [found.nvals] * 5
    assert chance_table([found])[1] == []
