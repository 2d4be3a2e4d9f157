"""Descriptions of graphs, and the searches measured on them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from benchmarks.__main__ import app
from benchmarks.algorithm_checks import levels_from
from benchmarks.studies.shapes import STUDY, ShapesOptions, _is_reached, shapes_table
from benchmarks.studies.spmspv_searches import SEARCH_PARTS, search_parts_table, studied_table
from typer.testing import CliRunner

from semira.bench.graphs import load_bench_graph
from semira.bench.record import Dataset, Record, append_records
from semira.bench.versus import Peers


@pytest.fixture(scope="module")
def shapes() -> list[Record]:
    return STUDY.run(ShapesOptions(("kron:6", "road:9x5")))


def test_shapes_are_those_of_the_graph(shapes: list[Record]) -> None:
    for each in shapes:
        graph = load_bench_graph(each.dataset.name).undirected
        assert each.verified, each.note
        assert each.dataset == graph.dataset
        assert each.facts["longest_row"] == graph.degrees.max()
        farthest = int(levels_from(graph, range(graph.n)).max())
        assert each.facts["diameter"] == [farthest, farthest]
    head, rows = shapes_table(shapes)
    assert [row[0] for row in rows] == ["kron:6", "road:9x5"]
    assert len(head) == len(rows[0])


def test_bounds_that_do_not_hold_are_found() -> None:
    class Wrong:
        diameter = (99, 0)

    graph = load_bench_graph("grid:4x4").undirected
    assert all(_is_reached(graph, Wrong(), [0]).values())


def test_a_few_searches_bound_the_diameter() -> None:
    (record,) = STUDY.run(ShapesOptions(("road:30x30,removed=0.3",), searches=1))
    least, most = record.facts["diameter"]
    assert record.facts["searches"] == 1
    assert 0 < least < most
    assert shapes_table([record])[1][0][4] == f"{least} to {most}"


# searches ----------------------------------------------------------------------------------------
RING = Dataset("ring", 8, 16, "aa")
SEARCH = Record(
    "algorithm", "bfs", RING, "semira", "cuda", plan={"merge": "radix"}, iterations=5,
    warm_s=[0.004], device_s=[0.002],
    kernels=[
        {"name": name, "device_ms": device_ms}
        for name, device_ms in {
            "vxm-1:p_gather": 0.5, "sorts:semira_place_digits0": 1.0, "program-1": 0.25,
            "matrix_base:semira_scan32_few": 0.25,
        }.items()
    ],
)  # fmt: skip


def shape(**facts: Any) -> Record:
    known = {"longest_row": 2, "diameter": [4, 4], "searches": 2}
    return Record("shape", "diameter", RING, "semira", "cpu", facts=known | facts)


def cells(
    records: list[Record], shapes: list[Record], peers: Peers | None = None
) -> dict[str, str]:
    head, (row,) = studied_table(records, shapes, peers or Peers({}, {}))
    return dict(zip(head, row, strict=True))


def test_a_graph_stands_with_the_searches_on_it() -> None:
    auto = replace(SEARCH, plan={}, device_s=[0.001], kernels=[])
    peers = Peers({}, {"ring": {"n": 8, "entries": 16}})
    peers.times["ring", "bfs"] = [
        {"peer": "slow", "device_ms": 9.0},
        {"peer": "fast", "device_ms": 3},
    ]
    found = cells([SEARCH, auto], [shape()], peers)
    assert (found["longest row"], found["diameter"], found["levels of the search"]) == (
        "2",
        "4",
        "5",
    )
    assert (found["radix ms"], found["auto ms"], found["sort ms"]) == ("2", "1", "-")
    assert found["faster peer, ms"] == "fast 3"
    # The same name, but another graph.
    other = Peers({}, {"ring": {"n": 9, "entries": 16}}, peers.times)
    assert cells([SEARCH], [shape()], other)["faster peer, ms"] == "-"


def test_of_an_unknown_graph_the_search_bounds_the_diameter() -> None:
    found = cells([SEARCH], [replace(shape(), dataset=replace(RING, checksum="bb"))])
    assert (found["longest row"], found["diameter"]) == ("-", "at least 4")
    assert cells([SEARCH], [shape(diameter=[4, 7])])["diameter"] == "4 to 7"


def test_kernels_are_added_up_by_part() -> None:
    head, rows = search_parts_table([SEARCH, replace(SEARCH, plan={"merge": "atomics"})])
    (row,) = rows
    assert row[:2] == ["ring", "radix"]
    parts = dict(zip(SEARCH_PARTS, row[2:], strict=False))
    assert parts == {
        "gather": "0.5", "sort": "1", "scatter and fold": "0", "running sums": "0.25",
        "write and others": "0.25",
    }  # fmt: skip
    assert (head[-1], row[-1]) == ("all ms", "2")
    assert search_parts_table([replace(SEARCH, kernels=[])])[1] == []


def test_parts_of_searches_are_drawn(tmp_path: Path) -> None:
    file, picture = tmp_path / "records.jsonl", tmp_path / "parts.svg"
    append_records(file, [SEARCH, replace(SEARCH, plan={"merge": "sort"})])
    arguments = ["draw", "parts", str(file), "--to", str(picture)]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    assert picture.read_text().count("</svg>") == 1
    file.unlink()
    append_records(file, [replace(SEARCH, kernels=[])])
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 1
    assert "python -m benchmarks spmspv" in done.stderr
