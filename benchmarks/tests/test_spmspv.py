"""Strategies of a sparse push against the dense product: measurements and conclusions."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from benchmarks.__main__ import app
from benchmarks.plots import plot_records
from benchmarks.studies.spmspv import (
    DENSE,
    MERGES,
    PRODUCTS,
    PULL,
    Series,
    SpmspvOptions,
    crossings_table,
    part_of,
    parts_table,
    searches_table,
    series_of,
    sizes_of,
    times_table,
    verdicts,
    verdicts_table,
    way_of,
)
from benchmarks.studies.spmspv_study import STUDY
from typer.testing import CliRunner

import semira as gb
from semira.bench.record import Dataset, Record, append_records, parse_record

#: On the cpu, in the order in which they are measured.
WAYS = [*MERGES, "pull", "dense", "auto"]


@pytest.fixture(scope="module")
def measured() -> list[Record]:
    return STUDY.run(SpmspvOptions(("kron:6",), trials=1, seconds=0.01, step=16))


def test_ways_agree_and_are_what_they_say(measured: list[Record]) -> None:
    assert all(each.verified for each in measured)
    products = [each for each in measured if each.kind == "spmspv"]
    # Rows are left before their end in two of the products, where a pull is another way, and a
    # scatter one of the pushes.
    always = len(WAYS) - 2
    assert len(products) == (len(PRODUCTS) * always + 2 * 2) * 3
    for each in products:
        if way_of(each) != "auto":
            assert each.ran == {"pull" if each.plan in (PULL, DENSE) else "push": 1}
    searches = [each for each in measured if each.kernel == "bfs"]
    assert [way_of(each) for each in searches] == WAYS
    assert [parse_record(each.to_json()) for each in measured] == measured


def test_edges_are_those_of_the_frontier(measured: list[Record]) -> None:
    (series, *_) = series_of(measured)
    assert series.frontiers == [1, 16, 64]
    assert series.edges[-1] == series.nvals
    assert series.edges == sorted(series.edges)


def test_ways_that_differ_are_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gb.Vector, "isequal", lambda self, other: False)
    request = SpmspvOptions(("kron:4",), trials=1, seconds=0.0, step=16, searches=False)
    assert not any(each.verified for each in STUDY.run(request))


@pytest.mark.parametrize(
    ("n", "sizes"), [(1, [1]), (4, [1, 4]), (64, [1, 4, 16, 64]), (65, [1, 4, 16, 64, 65])]
)
def test_frontiers_are_powers_and_all(n: int, sizes: list[int]) -> None:
    assert sizes_of(n, 4) == sizes


def graph_with(name: str, nvals: int, crosses_at: float) -> Series:
    """Return a strategy that takes 1 s per product, and a dense one of constant time."""
    edges = [4**k for k in range(10)]
    dense = [float(crosses_at)] * len(edges)
    times = {"radix": [float(e) for e in edges], "dense": dense, "auto": dense}
    return Series(name, "min_plus", nvals, nvals, edges, edges, times, times)


def test_crossovers_at_one_fraction_and_at_one_size() -> None:
    scaled = [graph_with("small", 1000, 100), graph_with("large", 8000, 800)]
    (verdict,) = verdicts(scaled)
    assert verdict.answer == "a fraction"
    assert verdict.size_spread == pytest.approx(8)
    assert verdict.fraction_spread == pytest.approx(1)
    assert scaled[0].crossing_edges("radix") == pytest.approx(100)
    (verdict,) = verdicts([graph_with("small", 1000, 100), graph_with("large", 8000, 100)])
    assert (verdict.answer, verdict.size_spread) == ("a size", pytest.approx(1))
    assert verdicts_table(scaled)[1][0][-1] == "a fraction"


def test_one_graph_answers_nothing_nor_do_those_that_never_cross() -> None:
    never = graph_with("never", 10**9, 10**9)
    assert never.crossover("radix") is None
    (verdict,) = verdicts([graph_with("one", 1000, 100), never])
    assert (verdict.graphs, verdict.answer) == (1, "open")
    assert [row[3] for row in crossings_table([never])[1]] == ["never"]


def test_crossovers_far_apart_are_neither_a_size_nor_a_fraction() -> None:
    (verdict,) = verdicts([graph_with("small", 1000, 500), graph_with("large", 100_000, 3000)])
    assert verdict.answer == "a size"
    (verdict,) = verdicts([graph_with("small", 1000, 3), graph_with("large", 1000, 3000)])
    assert (verdict.answer, verdict.graphs) == ("open", 2)  # a size is a fraction here
    (verdict,) = verdicts([graph_with("small", 1000, 3), graph_with("large", 2000, 3000)])
    assert verdict.answer == "neither"


def test_the_crossover_is_unknown_where_the_dense_product_always_wins() -> None:
    always = graph_with("always", 1000, 0.5)
    assert (always.crossover("radix"), always.crosses_inside("radix")) == (1, False)
    (verdict,) = verdicts([always, graph_with("one", 1000, 100), graph_with("two", 1000, 200)])
    assert verdict.graphs == 2
    assert verdict.size_spread == pytest.approx(2)


def test_the_planner_is_compared_with_the_best_way() -> None:
    series = graph_with("g", 1000, 100)
    assert series.losses == pytest.approx([max(1, 100 / edges) for edges in series.edges])
    head, (row,) = crossings_table([series])
    assert row[head.index("within 10%")] == "6 of 10"


def test_tables_have_the_device_s_time_and_the_call_s(measured: list[Record]) -> None:
    timed = [
        replace(each, device_s=[2e-3], warm_s=[5e-3]) for each in measured if each.kind == "spmspv"
    ]
    head, rows = times_table(series_of(timed))
    assert {row[head.index("dense ms")] for row in rows} == {"2 (5)"}
    assert len(rows) == len(PRODUCTS) * 3
    assert [row[2] for row in searches_table(measured)[1]] == WAYS


def test_kernels_are_parts_of_a_push() -> None:
    """Every kernel of a strategy, by its name in the sources, belongs to a part."""
    from semira.backends.cuda.jit.render import kernel_library
    from semira.methods.sorted_push import text
    from semira.methods.sorted_push.sorts import KERNELS

    names = {"gather": [], "sort": [], "scatter and fold": [], "running sums": [], "write": []}
    own = Path(text.__file__).read_text("utf-8")
    for name in re.findall(r'"(p_\w+)"', own):
        names[part_of(f"vxm-0123:{name}")].append(name)
    for name in re.findall(
        r"(semira_(?:count|place|sort|merge)_\w+)(?:##|\()", kernel_library(KERNELS)
    ):
        names[part_of(f"sorts:{name}")].append(name)
    assert names["gather"] == ["p_degrees", "p_gather"]
    assert len(names["sort"]) == 4
    assert len(names["scatter and fold"]) == 7
    assert part_of("matrix_base:semira_scan32_few") == "running sums"
    assert part_of("program-89ab") == "write"
    assert not names["write"]


def test_the_largest_frontier_s_time_is_taken_apart() -> None:
    graph = Dataset("g", 16, 30, "00")
    uses = [{"name": "vxm-01:p_gather", "device_ms": 1.0}, {"name": "program-2", "device_ms": 4.0},
            {"name": "sorts:semira_count_digits", "device_ms": 2.0},
            {"name": "sorts:semira_place_digits4", "device_ms": 3.0}]  # fmt: skip
    made = [
        Record("spmspv", "vxm min_plus", graph, "semira", "cuda", plan={"merge": merge},
               options={"frontier": size, "edges": 10 * size}, kernels=uses)
        for size in (16, 1)
        for merge in ("atomics", "radix")
    ]  # fmt: skip
    head, (row,) = parts_table(made)
    cells = dict(zip(head, row, strict=True))
    assert (cells["strategy"], cells["edges"]) == ("radix", "160")
    assert [cells[f"{part} ms"] for part in ("gather", "sort", "write")] == ["1", "5", "4"]


def test_frontiers_that_one_way_lacks_are_left_out() -> None:
    graph = Dataset("g", 16, 30, "00")
    made = [
        Record("spmspv", "vxm min_plus", graph, "semira", "cuda", plan=plan,
               options={"frontier": size, "edges": size}, warm_s=[1.0])
        for size in (1, 4)
        for plan in ({"merge": "radix"}, DENSE, {})
    ]  # fmt: skip
    (series,) = series_of(made[:-1])
    assert series.frontiers == [1]
    assert series.strategies == ["radix"]
    assert math.isinf(max(map(max, series.times.values()))) is False


def invoke(*args: Any) -> Any:
    return CliRunner().invoke(app, [*map(str, args)])


def test_a_picture_of_some_graphs_has_their_panels_alone(
    measured: list[Record], tmp_path: Path
) -> None:
    records, picture = tmp_path / "records.jsonl", tmp_path / "some.svg"
    others = [replace(each, dataset=replace(each.dataset, name="other")) for each in measured]
    append_records(records, [*measured, *others])
    result = invoke("draw", "spmspv", records, "--graphs", "other", "--to", picture)
    assert result.exit_code == 0, result.output
    drawn = picture.read_text()
    assert drawn.count("other: ") == len(PRODUCTS)
    assert "kron:6" not in drawn
    assert invoke("draw", "spmspv", records, "--graphs", "none", "--to", picture).exit_code == 2


def test_records_of_something_else_are_no_picture(tmp_path: Path) -> None:
    with pytest.raises(gb.exceptions.GraphblasException, match="python -m benchmarks spmspv"):
        plot_records(tmp_path / "none.svg", "spmspv", [])
