"""Push, pull and the planner at each level of a search, compared with an oracle."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from benchmarks.plots import plot_records
from benchmarks.studies import levels as bench_levels
from benchmarks.studies.levels import (
    STUDY,
    LevelsOptions,
    band_of,
    choices,
    first_search,
    levels_table,
    open_edges,
    policy_table,
    quantiles_table,
    rows_of,
    to_columns,
    to_rows,
    totals,
    walk,
)

import semira as gb
from semira.bench.graphs import load_bench_graph
from semira.bench.record import Dataset, Record, append_records, read_records
from semira.bench.report import figure

QUICK = LevelsOptions(("kron:7",), sources=3, trials=1)


@pytest.fixture(scope="module")
def walked() -> list[Record]:
    return STUDY.run(QUICK)


def row_of(source: int, push: float, pull: float, auto: float, loop: str) -> dict[str, Any]:
    counts = {"touched": 4, "found": 2, "ran": loop}
    times = {"push": push, "pull": pull, "auto": auto}
    ways = {way: {"s": time_s, **counts} for way, time_s in times.items()}
    return {"source": source, "level": 0, "frontier": 1, "unvisited": 9, "loop": loop,
            "agree": True, **ways}  # fmt: skip


def record_of(*rows: dict[str, Any]) -> Record:
    graph = Dataset("ring", 10, 20, "00")
    return Record("levels", "bfs", graph, "semira", "cuda", facts={"levels": list(rows)})


def test_levels_run_as_pinned_and_are_checked(walked: list[Record], tmp_path: Path) -> None:
    assert [each.verified for each in walked] == [True, True]
    assert [len(each.sources) for each in walked] == [1, 2]
    ((_, rows),) = rows_of(walked).items()
    for row in rows:
        assert (row["push"]["ran"], row["pull"]["ran"]) == ("push", "pull")
        assert row["loop"] in ("push", "pull")
        assert len({row[way]["found"] for way in ("push", "pull", "auto")}) == 1
    append_records(tmp_path / "levels.jsonl", walked)
    assert read_records(tmp_path / "levels.jsonl") == walked


@pytest.mark.parametrize("device", ["reference", "cpu"])
def test_rows_are_those_of_the_search(device: str) -> None:
    graph = load_bench_graph("kron:7")
    with gb.device(device):
        matrix = graph.matrix.dup().to(device)
        source = graph.sources(0)[0]
        level, rows = walk(matrix, source, replace(QUICK, device=device))
        expected = gb.algorithms.bfs(matrix, source)
        assert level.isequal(expected.level)
    assert [row["loop"] for row in rows] == [each.method for each in expected.trace]
    assert [row["frontier"] for row in rows] == [each.frontier for each in expected.trace]
    assert rows[0]["unvisited"] == graph.n - 1
    assert all(row["push"]["s"] > 0 for row in rows)


def test_looks_are_counted_for_each_vertex_found(walked: list[Record]) -> None:
    graph = load_bench_graph("kron:7").undirected
    (rows,) = (first_search(each) for each in rows_of(walked).values())
    level = gb.algorithms.bfs(graph.matrix, rows[0]["source"]).level
    levels = level.to_dense(fill_value=len(rows))
    expected = [int(graph.degrees[levels > row["level"]].sum()) for row in rows]
    assert open_edges(rows, graph.arrays.nvals) == expected
    head, table = levels_table(walked)
    for row, edges, cells in zip(rows, expected, table, strict=False):
        looks = dict(zip(head, cells, strict=True))
        found, read = row["pull"]["found"], row["pull"]["touched"]
        assert read <= edges
        given = [looks["looks for each found, all entries"], looks["with early exit"]]
        assert given == [figure(each / found) if found else "-" for each in (edges, read)]


def test_long_searches_are_sampled_and_still_right() -> None:
    (record,) = STUDY.run(LevelsOptions(("road:15x15",), most=4, trials=1))
    depths = [row["level"] for row in record.facts["levels"]]
    assert record.verified
    assert len(depths) == 4
    assert (depths[0], depths[-1] >= 20) == (0, True)


def test_searches_after_the_first_are_timed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    timed: list[str] = []
    monkeypatch.setattr(bench_levels, "_seconds", lambda device, _call: timed.append(device) or 1.0)
    first, second = STUDY.run(replace(QUICK, sources=2, trials=4))
    (rows,) = rows_of([first, second]).values()
    firsts = len(first_search(rows))
    assert len(timed) == 3 * (4 * firsts + len(rows) - firsts)


def test_no_search_begins_after_the_budget() -> None:
    records = STUDY.run(replace(QUICK, seconds=0.0))
    assert [len(each.sources) for each in records] == [1]


def test_ways_that_differ_are_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gb.Vector, "isequal", lambda self, other: False)
    (record,) = STUDY.run(replace(QUICK, sources=1))
    assert record.verified is False
    assert "the ways differ" in record.note


def test_levels_unlike_those_of_the_whole_search_are_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    search = gb.algorithms.bfs

    def spoiled(*args: Any) -> Any:
        result = search(*args)
        result.level(result.level.S) << 1
        return result

    monkeypatch.setattr(gb.algorithms, "bfs", spoiled)
    (record,) = STUDY.run(replace(QUICK, sources=1))
    assert record.verified is False
    assert record.note.startswith("the ways differ")


def test_sources_are_as_many_as_asked_for_and_different() -> None:
    records = STUDY.run(replace(QUICK, graphs=("kron:6",), sources=30))
    sources = [source for record in records for source in record.sources]
    assert len(sources) == len({*sources}) == 30
    assert [len(record.sources) for record in records] == [1, bench_levels.BATCH, 4]
    assert all(record.verified for record in records)


def test_columns_are_rows_again() -> None:
    rows = [row_of(0, 1.0, 4.0, 1.5, "push"), row_of(1, 3.0, 2.0, 2.5, "pull")]
    columns = to_columns(rows)
    assert to_rows(columns) == rows
    assert columns["push"]["s"] == [1.0, 3.0]
    packed = replace(record_of(), facts={"levels": columns})
    assert rows_of([record_of(*rows), packed]) == {("ring", "cuda"): rows + rows}


def test_quantiles_are_over_searches() -> None:
    rows = [row_of(source, 1e-3 * source, 5e-3, 1e-3, "push") for source in range(11)]
    rows[-1]["loop"] = "pull"
    head, (line,) = quantiles_table([record_of(*rows)])
    cells = dict(zip(head, line, strict=True))
    assert cells["push ms"] == "1 / 5 / 9"
    assert (cells["searches"], cells["frontier"]) == ("11", "1 / 1 / 1")
    assert (cells["loop pushed"], cells["push is better"]) == ("91%", "55%")
    assert quantiles_table([record_of(rows[0])])[1] == [], "one search has no quantiles"


def test_bands_are_of_levels_of_about_a_size() -> None:
    band = band_of([8, 1, 15, 0, 16], [0.3, 0.1, 0.5, 0.2, 0.9])
    assert band.sizes == [0, 1, 11.5, 16]
    assert [middle for _, middle, _ in band.times] == pytest.approx([0.2, 0.1, 0.4, 0.9])
    assert all(low <= middle <= high for low, middle, high in band.times)


def test_many_levels_are_drawn_as_bands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, walked: list[Record]
) -> None:
    points, bands = tmp_path / "points.svg", tmp_path / "bands.svg"
    plot_records(points, "levels", walked)
    monkeypatch.setattr("benchmarks.plots._POINTS", 1)
    plot_records(bands, "levels", walked)
    assert "FillBetween" not in points.read_text()
    assert "FillBetween" in bands.read_text()
    assert "3 searches" in bands.read_text()


def test_wrong_levels_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def spoiled(*args: Any) -> Any:
        level, rows = walk(*args)
        level(level.S) << 1
        return level, rows

    monkeypatch.setattr(bench_levels, "walk", spoiled)
    assert STUDY.run(replace(QUICK, sources=1))[0].verified is False


def test_oracle_takes_the_better_way_of_each_level() -> None:
    rows = [row_of(0, 1.0, 4.0, 1.5, "push"), row_of(0, 3.0, 2.0, 2.5, "push")]
    sums = totals(rows)
    assert (sums["oracle"], sums["auto"], sums["loop"]) == (3.0, 4.0, 4.0)
    head, (line,) = policy_table([record_of(*rows)])
    assert line[head.index("auto, times the oracle")] == "1.33"
    assert line[head.index("within 10%")] == "no"
    head, (line,) = policy_table([record_of(row_of(0, 1.0, 2.0, 1.05, "push"))])
    assert line[head.index("within 10%")] == "yes"


def test_a_policy_is_judged_by_times_that_there_are() -> None:
    graph = Dataset("web", 1_000, 4_000_000, "00")
    row = row_of(0, 1.0, 4.0, 1.0, "push")

    def level(source: int, pushed: int, unvisited: int) -> dict[str, Any]:
        return row | {
            "source": source,
            "unvisited": unvisited,
            "push": {"s": 1.0, "touched": pushed},
        }

    # 500 open rows need two looks each at the second level, and the way back comes later.
    rows = [level(0, 1_000, 999), level(0, 2_000_000, 500), level(0, 60_000, 9), level(0, 5, 0)]
    assert choices(rows, graph, "cpu") == ["push", "pull", "pull", "push"]
    assert choices(rows, graph, "cuda") == ["push", "pull", "pull", "push"]
    # Few enough to be pushed before a pull of the GPU has begun; a search begins with a push.
    rows = [level(0, 90_000, 10), level(0, 80_000, 9), level(1, 1, 999)]
    assert choices(rows, graph, "cpu") == ["pull", "pull", "push"]
    assert choices(rows, graph, "cuda") == ["push", "push", "push"]


def test_table_of_levels_is_about_the_first_search() -> None:
    rows = [row_of(5, 1.0, 4.0, 1.5, "push"), row_of(6, 1.0, 4.0, 1.5, "push")]
    assert first_search(rows) == rows[:1]
    head, table = levels_table([record_of(*rows)])
    assert len(table) == 1
    assert table[0][head.index("auto, times the better")] == "1.5"
