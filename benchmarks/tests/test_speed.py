"""Gains of ideas, the crossover of push and pull, speed by size, and the bounds of a run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from benchmarks.__main__ import app
from benchmarks.harness import Options
from benchmarks.plots import plot_records
from benchmarks.studies.frontiers import STUDY as FRONTIERS
from benchmarks.studies.frontiers import FrontiersOptions, Sweep, frontiers_table, sweeps
from benchmarks.studies.ideas import IDEAS, fired_table, ideas_table, steps, timed_statements
from benchmarks.studies.ideas import STUDY as IDEAS_STUDY
from benchmarks.studies.roofline import LEVEL_S, Point, losses_table, points, roofline_table
from benchmarks.studies.scales import STUDY as SCALES
from benchmarks.studies.scales import ScalesOptions, gteps, scales_table, searches_of
from benchmarks.studies.variants import (
    PLAIN,
    VARIANTS,
    VariantsOptions,
    iteration_s,
    variants_table,
)
from benchmarks.studies.variants import STUDY as VARIANTS_STUDY
from typer.testing import CliRunner

import semira as gb
from semira.bench.graphs import load_bench_graph
from semira.bench.record import Dataset, Record, append_records, parse_record, read_records
from semira.bench.traffic import ASYNCHRONOUS, ROOF
from semira.bench.versus import Peers

GRAPH = Dataset("ring", 1000, 4000, "00")
ON_GPU = Record(
    "algorithm", "pagerank", GRAPH, "semira", "cuda",
    iterations=20, least_bytes=20_000, device_s=[1e-3], warm_s=[2e-3], verified=True,
)  # fmt: skip


# ideas -------------------------------------------------------------------------------------------
def test_each_step_takes_one_pin_away() -> None:
    sizes = [len(pins) for pins in steps().values()]
    assert sizes == list(range(len(IDEAS), -1, -1))
    assert steps()["baseline"]["direction"] == "push"


@pytest.fixture(scope="module")
def ladder() -> list[Record]:
    return IDEAS_STUDY.run(Options(("kron:8",), trials=1, seconds=0.1))


def test_every_step_is_checked_and_runs_what_it_says(ladder: list[Record]) -> None:
    searches = [each for each in ladder if each.kind == "algorithm"]
    assert [each.verified for each in searches] == [True] * 6
    assert [each.plan for each in searches] == list(steps().values())
    assert all("pull" not in each.ran for each in searches[:2])
    assert all("pull" in each.ran for each in searches[2:])
    assert [parse_record(each.to_json()) for each in ladder] == ladder


def test_table_of_steps_multiplies_up(ladder: list[Record]) -> None:
    times = iter((8.0, 4.0, 2.0, 1.0, 0.5, 0.25))
    timed = [
        replace(each, device_s=[next(times)]) if each.kind == "algorithm" else each
        for each in ladder
    ]
    head, rows = ideas_table(timed)
    assert [row[2] for row in rows] == ["baseline", *IDEAS]
    assert [row[head.index("times faster")] for row in rows] == ["-", *["2"] * 5]


def test_plans_say_which_algorithm_uses_what(ladder: list[Record]) -> None:
    head, rows = fired_table(ladder)
    marks = {row[2]: {idea for idea in IDEAS if row[head.index(idea)]} for row in rows}
    # Hosts count triangles by a loop, without a product.
    assert marks["tc"] == {"structure only"}
    assert "operand reuse" not in marks["sssp"]
    assert marks["pagerank"] == {"structure only"}
    # On hosts searches and components take none; levels of searches are listed as products are.
    assert marks["bfs"] == set()
    # Loops of hosts are not made of products, whose share of the time would be told.
    assert {row[-1] for row in rows} == {"-"}


def test_statements_are_timed_in_the_block_only() -> None:
    with gb.device("cpu"):
        matrix = load_bench_graph("kron:6").matrix.to("cpu")
        with timed_statements() as times:
            gb.algorithms.bfs(matrix, 0, structure_only=True).level.wait()
        spent = times.products, times.others
        assert min(spent) > 0
        gb.algorithms.bfs(matrix, 0, structure_only=True).level.wait()
    assert (times.products, times.others) == spent


# frontiers ---------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def swept() -> list[Record]:
    request = FrontiersOptions(
        ("kron:8",), trials=1, seconds=0.1, shares=(0.01, 1.0), open=(1.0, 0.5)
    )
    return FRONTIERS.run(request)


def test_ways_agree_and_are_what_they_say(swept: list[Record]) -> None:
    assert len(swept) == 2 * 2 * 3
    assert all(each.verified for each in swept)
    for record in swept:
        if record.plan:
            assert record.ran == {record.plan["direction"]: 1}
    assert [len(sweep.shares) for sweep in sweeps(swept)] == [2, 2]
    assert len(frontiers_table(swept)[1]) == 2


def test_ways_that_differ_are_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gb.Vector, "isequal", lambda self, other: False)
    records = FRONTIERS.run(FrontiersOptions(("kron:6",), trials=1, shares=(0.1,), open=(1.0,)))
    assert [each.verified for each in records] == [False] * 3


def sweep_of(push: list[float], pull: list[float]) -> Sweep:
    times = {"push": push, "pull": pull, "auto": push}
    return Sweep("g", "vxm min_plus", 1.0, [0.01, 0.1, 1.0][: len(push)], times)


def test_ways_cross_where_powers_meet() -> None:
    assert sweep_of([1, 10, 100], [10, 10, 10]).crossover == pytest.approx(0.1)
    assert sweep_of([1, 100], [10, 10]).crossover == pytest.approx(10**-1.5)
    assert sweep_of([1, 2, 3], [10, 10, 10]).crossover is None
    assert sweep_of([20, 30], [10, 10]).crossover == 0.01
    assert sweep_of([1, 10, 100], [10, 10, 10]).losses == [1, 1, 10]


# scales ------------------------------------------------------------------------------------------
def test_scales_are_checked_and_drawn(tmp_path: Path) -> None:
    records = SCALES.run(ScalesOptions(scales=(5, 4), sources=2), out=tmp_path / "scales.jsonl")
    assert [each.verified for each in records] == [True, True]
    assert read_records(tmp_path / "scales.jsonl") == records
    assert [row[1] for row in scales_table(records)[1]] == ["16", "32"]
    plot_records(tmp_path / "scales.svg", "scales", records)
    assert "GTEPS" in (tmp_path / "scales.svg").read_text()


def test_rates_are_of_calls_and_of_the_device() -> None:
    record = replace(ON_GPU, kernel="bfs", edges=[2000, 4000], warm_s=[1e-6, 1e-6])
    whole, device = gteps(record)
    assert whole == pytest.approx(8 / 3)
    assert device == pytest.approx(2000 / 1e-3 / 1e9)


def test_scales_that_do_not_fit_are_left_out_with_a_word(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    records = SCALES.run(ScalesOptions(scales=(4, 5, 6), sources=1, limit=1e-9), say=said.append)
    assert [each.dataset.n for each in records] == [16]
    assert said == ["1e-09 s are over: what would follow is left out"]

    def refuse(spec: str, *args: Any, **options: Any) -> Any:
        if spec.startswith("kron:5"):
            raise gb.exceptions.OutOfMemory("no room")
        return load_bench_graph(spec, *args, **options)

    monkeypatch.setattr("benchmarks.studies.scales.load_bench_graph", refuse)
    records = SCALES.run(ScalesOptions(scales=(4, 5, 6), sources=1), say=said.append)
    assert [each.dataset.n for each in records] == [16]
    assert said[1] == "what would follow is left out: no room"


# variants ----------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def bodies() -> list[Record]:
    return VARIANTS_STUDY.run(VariantsOptions(("kron:6", "road:6x6"), trials=1, seconds=0.1))


def test_every_body_is_checked(bodies: list[Record]) -> None:
    assert [each.kernel for each in bodies] == [*VARIANTS] * 2
    assert [each.note for each in bodies] == [""] * len(bodies)
    assert all(each.verified for each in bodies)
    assert [parse_record(each.to_json()) for each in bodies] == bodies
    # A search from one vertex takes the same number of iterations with every body.
    for name in ("kron:6", "road:6x6"):
        mine = [e for e in bodies if e.dataset.name == name and e.kernel != "two frontiers"]
        assert len({each.iterations for each in mine}) == 1


def test_iterations_are_compared_with_the_plain_ones(bodies: list[Record]) -> None:
    few = [replace(each, device_s=[1e-3], iterations=10) for each in bodies[: len(VARIANTS)]]
    slow = {"parents": 1.6e-3, "two frontiers": 2.9e-3}
    timed = [replace(each, device_s=[slow.get(each.kernel, 1e-3)]) for each in few]
    assert iteration_s(timed[0]) == pytest.approx(1e-4)
    head, rows = variants_table(timed)
    judged = {row[2]: row[head.index("within 1.5")] for row in rows}
    assert judged.pop("two frontiers") == "yes, of 2 x plain"
    assert judged.pop("parents") == "no"
    assert set(judged.values()) == {"yes"}
    without = [each for each in timed if each.kernel != PLAIN]
    assert {row[head.index("times plain")] for row in variants_table(without)[1]} == {"-"}


def test_bodies_with_wrong_results_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    make, products = VARIANTS["parents"]

    def broken(matrix: Any, sources: list[int]) -> Any:
        return replace(make(matrix, sources), check=lambda _graph, _levels: "no parent")

    monkeypatch.setitem(VARIANTS, "parents", (broken, products))
    found = VARIANTS_STUDY.run(VariantsOptions(("kron:4",), trials=1, seconds=0.1))
    wrong = {each.kernel: each.note for each in found if not each.verified}
    assert wrong == {"parents": "no parent"}


# roofline ----------------------------------------------------------------------------------------
def test_the_bound_is_the_longest_floor() -> None:
    point = Point("g", "bfs", "bfs", 1.0, int(ROOF * 0.8), 1, None)
    assert point.bound == ("memory", pytest.approx(0.8))
    assert replace(point, iterations=round(0.9 / LEVEL_S)).bound[0] == "levels"
    assert replace(point, moved=1).bound[0] == "other"


def test_records_without_a_clock_are_no_points() -> None:
    assert points([replace(ON_GPU, device_s=None), replace(ON_GPU, library="cupy")]) == []
    (point,) = points([ON_GPU])
    assert point.touched == 20 * 4000
    assert roofline_table([ON_GPU])[1][0][0] == "ring"


def test_a_run_without_iterations_has_no_levels() -> None:
    record = replace(ON_GPU, kernel="sssp", ran={ASYNCHRONOUS: 1}, iterations=900)
    (point,) = points([record])
    assert (point.iterations, point.moved_at_once) == (None, 20_000)
    assert point.floors == {"memory": 20_000 / ROOF}
    head, (row,) = roofline_table([record])
    cells = dict(zip(head, row, strict=True))
    assert cells["us an iteration"] == cells["MB an iteration"] == "-"
    assert cells["billion entries a second"] == "-"
    assert (cells["TB/s"], cells["bound"]) == ("2e-05", "other")


def test_losses_name_the_faster_peer() -> None:
    peers = Peers({}, {"ring": {"n": 1000, "entries": 4000}})
    peers.times["ring", "pagerank"] = [{"peer": "fast", "device_ms": 0.5, "call_ms": 3.0}]
    (row,) = losses_table([ON_GPU], peers)[1]
    assert row[:5] == ["ring", "pagerank", "device", "1", "fast 0.5"]


# commands ----------------------------------------------------------------------------------------
def invoke(*args: Any) -> Any:
    return CliRunner().invoke(app, [*map(str, args)])


def test_pictures_come_from_records(tmp_path: Path, swept: list[Record]) -> None:
    file = tmp_path / "records.jsonl"
    append_records(file, [ON_GPU, replace(ON_GPU, ran={ASYNCHRONOUS: 1}), *swept])
    for what in ("roofline", "frontiers"):
        result = invoke("draw", what, file, "--to", tmp_path / f"{what}.svg")
        assert result.exit_code == 0, result.output
        assert (tmp_path / f"{what}.svg").read_text().count("</svg>") == 1
    result = invoke("scales", "--scales", "4", "--sources", "1", "--plot", tmp_path / "s.png")
    assert result.exit_code == 0, result.output


def test_nothing_to_draw_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "records.jsonl"
    append_records(file, [replace(ON_GPU, device_s=None)])
    for what in ("roofline", "frontiers", "scales", "levels", "spmspv"):
        result = invoke("draw", what, file, "--to", tmp_path / "none.svg")
        assert result.exit_code == 1
        assert "python -m benchmarks" in result.stderr, what
        assert f"There are 1 of {ON_GPU.kind} {ON_GPU.kernel}" in result.stderr


def test_scales_are_searches_of_one_kind(tmp_path: Path) -> None:
    dataset = replace(ON_GPU.dataset, name="kron:4,ef=16")
    search = replace(ON_GPU, kernel="bfs", dataset=dataset, edges=[8], warm_s=[1.0])
    others = [
        replace(search, kind="memory"), replace(search, library="scipy"),
        replace(search, plan={"direction": "push"}), replace(search, dataset=ON_GPU.dataset),
    ]  # fmt: skip
    assert searches_of([*others, search]) == [search]
    file = tmp_path / "records.jsonl"
    append_records(file, others)
    result = invoke("draw", "scales", file, "--to", tmp_path / "none.svg")
    assert result.exit_code == 1
    assert "There are 3 of algorithm bfs, 1 of memory bfs" in result.stderr
