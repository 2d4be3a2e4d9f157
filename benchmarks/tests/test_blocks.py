"""Algorithms on blocks of vectors, by width and direction: measurements and tables."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from benchmarks.studies import blocks
from benchmarks.studies.blocks import STUDY, BlocksOptions, levels_table, widths_table

import semira as gb
from semira.base.errors import InvalidValue
from semira.bench.record import Record
from semira.bench.timer import TooSlow


@pytest.fixture(scope="module")
def measured() -> list[Record]:
    request = BlocksOptions(graphs=("kron:7",), trials=1, seconds=0.1, widths=(1, 4, 1000))
    return STUDY.run(request)


def of(measured: list[Record], function: str) -> list[Record]:
    return [each for each in measured if each.kernel == function]


@pytest.mark.parametrize(
    ("function", "widths", "ways"),
    [
        ("multi_source_bfs", (1, 4), ["push", "pull", None]),
        ("betweenness_centrality", (4,), ["push", "pull", None]),
        ("all_pairs_shortest_paths", (4,), ["push", "pull", None]),
    ],
)
def test_every_width_that_fits_in_every_way(measured, function, widths, ways):
    records = of(measured, function)
    found = [(each.options["width"], each.plan.get("direction")) for each in records]
    assert found == [(width, way) for width in widths for way in ways]
    assert all(each.verified for each in records), [each.note for each in records]
    assert [set(each.ran) for each in records[:2]] == [{"push"}, {"pull"}]
    auto = next(each for each in records[::-1] if not each.plan)
    assert set(auto.ran) == {"push", "pull"}


def test_the_way_back_of_centrality_is_also_taken_by_dots_and_by_column(measured):
    (record,) = (each for each in of(measured, "betweenness_centrality") if not each.plan)
    rows = record.facts["levels"]
    back = [row for row in rows if row["part"] == "back"]
    assert back == [row for row in rows if "dots" in row]
    assert all(row["dots"]["method"] == "dot" and row["block"]["method"] == "pull" for row in back)
    # Few named results are gathered one by one, many by column.
    assert {row["auto"]["method"] for row in back} <= {"dot", "pull"}


def test_levels_stand_with_the_planners_record_and_agree(measured):
    for record in measured:
        levels = record.facts["levels"]
        if record.plan:
            assert levels == []
            continue
        assert all(row["agree"] for row in levels)
        assert all(row["push"]["ran"] == "push" for row in levels)
        assert all(row["pull"]["ran"] == "pull" for row in levels)
        assert all(row["storage"] == row["made"] == "rows" for row in levels)
        if record.kernel == "multi_source_bfs":
            assert len(levels) == record.iterations


def test_a_walk_takes_the_steps_of_the_algorithm(measured):
    """The planner chooses the same for equal frontiers."""
    for record in measured:
        rows = record.facts["levels"]
        went = [row["auto"]["ran"] for row in rows]
        if record.kernel == "all_pairs_shortest_paths":
            # The walk relaxes the first of many blocks.
            assert len(rows) < len(record.facts["directions"])
        else:
            assert len(rows) == (0 if record.plan else len(record.facts["directions"]))
        if rows:
            assert went[0] == record.facts["directions"][0] == "push"


def test_walks_see_the_frontiers_of_calls():
    from benchmarks.studies.block_levels import Levels

    from semira.bench.graphs import load_bench_graph

    graph = load_bench_graph("kron:6").undirected
    matrix = graph.matrix.to("cpu")
    for name, sources in (("bfs", [3, 8]), ("bc", [3, 8]), ("apsp", [0, 1])):
        case = blocks.CASES[name]
        levels = Levels("cpu", 1, case.exact)
        with gb.device("cpu"):
            case.walk(matrix, sources, levels)
            found = case.call(getattr(gb.algorithms, case.function), matrix, sources, {})
        fronts = [row.frontier for row in found.trace]
        assert [row["frontier"] for row in levels.rows] == fronts[: len(levels.rows)]


def test_a_level_where_the_ways_differ_is_said(monkeypatch):
    case = blocks.CASES["bfs"]

    def differing(matrix, sources, levels):
        case.walk(matrix, sources, levels)
        levels.rows[1]["agree"] = False

    monkeypatch.setitem(blocks.CASES, "bfs", replace(case, walk=differing))
    (record, *_) = STUDY.run(BlocksOptions(("kron:6",), 1, 0.1, names=("bfs",), widths=(2,)))
    assert record.verified is False
    assert record.note == "the ways differ at level out 1"


@pytest.mark.parametrize("name", ["bfs", "bc", "apsp"])
def test_a_result_that_differs_by_way_is_said(monkeypatch, name):
    case = blocks.CASES[name]

    def wrong(run, matrix, sources, pins):
        found = case.call(run, matrix, sources, pins)
        if pins.get("direction") == "pull":
            answer = getattr(found, case.result)
            answer << answer.apply("plus", right=1)
        return found

    monkeypatch.setitem(blocks.CASES, name, replace(case, call=wrong))
    records = STUDY.run(BlocksOptions(("kron:6",), 1, 0.1, names=(name,), widths=(2,)))
    assert [each.verified for each in records[:3]] == [True, False, True]
    assert records[1].note == "the result of pull differs from the first way's"


@pytest.mark.parametrize("name", ["bfs", "bc", "apsp"])
def test_ways_that_agree_on_what_is_wrong_are_found_out(monkeypatch, name):
    case = blocks.CASES[name]

    def wrong(run, matrix, sources, pins):
        found = case.call(run, matrix, sources, pins)
        answer = getattr(found, case.result)
        answer << answer.apply("plus", right=1)
        return found

    monkeypatch.setitem(blocks.CASES, name, replace(case, call=wrong))
    records = STUDY.run(BlocksOptions(("kron:6",), 1, 0.1, names=(name,), widths=(2,)))
    assert all(each.verified is False for each in records)


def test_a_call_that_takes_too_long_has_no_time(monkeypatch):
    case = blocks.CASES["bc"]

    def slow(run, matrix, sources, pins):
        if pins.get("direction") == "push":
            raise TooSlow("over 30 s")
        return case.call(run, matrix, sources, pins)

    monkeypatch.setitem(blocks.CASES, "bc", replace(case, call=slow))
    first, *others = STUDY.run(BlocksOptions(("kron:6",), 1, 0.1, names=("bc",), widths=(2,)))
    assert (first.verified, first.warm_s, first.note) == (None, [], "TooSlow: over 30 s")
    assert all(each.verified for each in others)
    _, rows = widths_table([first])
    assert rows[0][-1] == "**failed**: TooSlow: over 30 s"


def test_a_large_graph_has_no_pairs_and_one_source_no_batch():
    fits = {name: case.fits for name, case in blocks.CASES.items()}
    assert [name for name in fits if fits[name](1 << 20, 1)] == ["bfs"]
    assert [name for name in fits if fits[name](1 << 20, 128)] == ["bfs", "bc"]
    assert [fits["apsp"](blocks.MOST_VERTICES, width) for width in (127, 128)] == [False, True]


def test_an_algorithm_that_is_not_there():
    with pytest.raises(InvalidValue, match="choose among bfs, bc, apsp"):
        STUDY.run(BlocksOptions(("kron:5",), names=("cc",)))


def test_as_many_starts_as_the_block_has_rows():
    from semira.bench.graphs import load_bench_graph

    graph = load_bench_graph("kron:5").undirected
    for case in blocks.CASES.values():
        sources = case.starts(graph, graph.n)
        assert sorted(sources) == list(range(graph.n))
    assert blocks.CASES["bfs"].starts(graph, 3)[0] == int(np.argmax(graph.degrees))


def test_tables(measured):
    head, rows = widths_table(measured)
    found = [dict(zip(head, row, strict=True)) for row in rows]
    assert [row["way"] for row in found if row["algorithm"] == "bc"] == [
        "push", "pull", "planner",
    ]  # fmt: skip
    timed = replace(measured[3], warm_s=[8e-3], device_s=[2e-3])
    head, (row,) = widths_table([timed])
    found = dict(zip(head, row, strict=True))
    cells = [found[name] for name in ("device ms", "call ms", "call ms a source", "pulled")]
    assert cells == ["2", "8", "2", "0"]
    pairs = replace(of(measured, "all_pairs_shortest_paths")[0], warm_s=[0.128])
    head, (row,) = widths_table([pairs])
    assert dict(zip(head, row, strict=True))["call ms a source"] == "1"
    head, rows = levels_table(measured)
    assert len(rows) == sum(min(len(each.facts["levels"]), 12) for each in measured)
    first = dict(zip(head, rows[0], strict=True))
    assert (first["level"], first["frontier"], first["call ran"]) == ("0", "1", "push")
    back = [dict(zip(head, row, strict=True)) for row in rows if row[4].startswith("back")]
    assert back
    assert all(
        row["algorithm"] == "bc" and "-" not in (row["dots ms"], row["block ms"]) for row in back
    )


def test_records_of_the_first_kind_have_tables():
    """They have neither the storage of the frontier nor the method."""
    level = {
        "level": 0, "frontier": 1, "agree": True,
        **{way: {"s": 1e-3, "touched": 5, "ran": "push"} for way in ("push", "pull", "auto")},
    }  # fmt: skip
    (record, *_) = STUDY.run(BlocksOptions(("kron:5",), 1, 0.1, names=("bfs",), widths=(2,)))
    facts = {"levels": [level], "directions": ["push"]}
    old = replace(record, plan={}, facts=facts)
    assert widths_table([old])[1][0][11] == "-"
    assert levels_table([old])[1][0][6] == "-"


def test_pages_show_blocks_of_64_rows_or_the_widest(measured):
    (record, *_) = measured
    rows = [{"level": 0}]

    def of_width(width: int, levels: list[dict[str, int]]) -> Record:
        return replace(record, options={"width": width}, facts={"levels": levels})

    def shown(*records: Record) -> list[int]:
        return [each.options["width"] for each in blocks.shown_walks(records)]

    assert shown(*(of_width(width, rows) for width in (32, 64, 128))) == [64]
    assert shown(*(of_width(width, rows) for width in (128, 64, 1))) == [64]
    assert shown(*(of_width(width, rows) for width in (1, 128, 32))) == [128]
    assert shown(of_width(64, []), of_width(8, rows)) == [8]


def test_a_panel_for_each_graph_and_algorithm(measured, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    from benchmarks.plots import plot_records

    plot_records(tmp_path / "blocks.svg", "blocks", measured)
    drawn = (tmp_path / "blocks.svg").read_text("utf-8")
    titles = [blocks.title_of(each) for each in blocks.shown_walks(measured)]
    assert titles == [f"kron:7: {name}, 4 rows" for name in ("bfs", "bc", "apsp")]
    assert all(title in drawn for title in titles)
