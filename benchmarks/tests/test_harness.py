"""The harness, tested on a toy study."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest
import typer
from benchmarks.__main__ import Studies, app
from benchmarks.harness import Options, Study, command_of, counts_of, option
from tests.helpers.every import every
from typer.testing import CliRunner

from semira.algorithms.row import load
from semira.bench.graphs import BenchGraph
from semira.bench.record import Record, read_records
from semira.exceptions import DeviceUnavailable, InvalidValue


@dataclass(frozen=True, slots=True)
class ToyOptions(Options):
    graphs: Sequence[str] = option(("kron:4", "kron:5"), quick=("kron:3",))
    trials: int = option(7)
    widths: Sequence[int] = option((1, 2), "Widths.", quick=(3,))
    deep: bool = option(False, "Whether it is.")
    secret: int = option(5, hidden=True)


def trial(options: ToyOptions, graph: BenchGraph) -> Iterator[Record]:
    for width in options.widths:
        yield Record(
            "toy", f"width {width}", graph.dataset, "semira", options.device,
            warm_s=[1.0] * options.trials, verified=width != 13,
            note="odd" if width == 13 else "", facts={"deep": options.deep},
        )  # fmt: skip


def table(records: Sequence[Record]) -> tuple[list[str], list[list[str]]]:
    return ["graph", "width"], [[each.dataset.name, each.kernel] for each in records]


TOY = Study(
    "Measure nothing.", ToyOptions, trial, {"All toys": table, "None": lambda _: (["a"], [])}
)


def invoke(*args: Any, study: Study = TOY) -> Any:
    single = typer.Typer()
    single.command()(command_of(study))
    return CliRunner().invoke(single, [*map(str, args)])


def names(records: Sequence[Record]) -> list[str]:
    return [f"{each.dataset.name} {each.kernel}" for each in records]


def test_every_point_is_tried_and_every_record_kept(tmp_path: Path) -> None:
    out, done = tmp_path / "toy.jsonl", []
    records = TOY.run(ToyOptions(), out=out, done=done.append)
    assert names(records) == [
        f"{graph} width {k}" for graph in ("kron:4", "kron:5") for k in (1, 2)
    ]
    assert read_records(out) == records == done
    assert all(each.environment["device"] == "cpu" for each in records)
    again = TOY.run(ToyOptions(("kron:4",), widths=(9,)), out=out, append=True)
    assert read_records(out) == records + again


def test_the_command_line_is_made_of_the_options(tmp_path: Path) -> None:
    out = tmp_path / "toy.jsonl"
    result = invoke("--graphs", "kron:4", "--widths", "5, 6", "--trials", 2, "--deep", "--out", out)
    assert result.exit_code == 0, result.output
    assert "All toys" in result.stdout
    assert "None" not in result.stdout
    found = read_records(out)
    assert names(found) == ["kron:4 width 5", "kron:4 width 6"]
    assert [len(each.warm_s) for each in found] == [2, 2]
    assert found[0].facts == {"deep": True}
    assert "--secret" not in invoke("--help").stdout


def test_a_quick_run_leaves_what_is_given(tmp_path: Path) -> None:
    out = tmp_path / "toy.jsonl"
    assert invoke("--quick", "--graphs", "kron:4", "--out", out).exit_code == 0
    (record,) = read_records(out)
    # The number of trials of a quick run is that of all studies.
    assert (record.dataset.name, record.kernel, len(record.warm_s)) == ("kron:4", "width 3", 3)


@every(
    ("args", "code", "said"),
    [
        (("--graphs", "no-such-graph"), 1, "none of no-such-graph is there"),
        (("--widths", "2,x"), 2, "--widths '2,x'"),
        (("--limit", "nan"), 2, "--limit"),
        (("--limit", "-1"), 2, "--limit"),
        (("--device", "gpu"), 2, "--device"),
        (("--device", "auto"), 2, "must name its device"),
        (("--append",), 2, "name it with --out"),
        (("--widths", "13"), 1, "wrong: odd"),
    ],
)
def test_errors_name_the_fault(args: tuple[str, ...], code: int, said: str) -> None:
    result = CliRunner().invoke(made_app(), ["toy", *args])
    assert result.exit_code == code, result.output
    assert said in " ".join(result.stderr.replace("│", " ").split())


def made_app() -> typer.Typer:
    """Return the program with the toy study added."""

    class WithToy(Studies):
        panels: ClassVar = {"Studies": {"toy": "json:dumps"}}

        def make(self, _found: Any) -> Any:
            return command_of(TOY)

    program = typer.Typer(cls=WithToy)
    program.callback()(lambda: None)
    return program


def test_absent_graphs_are_left_out_with_a_word() -> None:
    said: list[str] = []
    records = TOY.run(ToyOptions(("no-such-graph", "kron:3"), widths=(1,)), say=said.append)
    assert names(records) == ["kron:3 width 1"]
    assert len(said) == 1
    assert "no-such-graph" in said[0]


def test_no_point_begins_after_the_limit() -> None:
    said: list[str] = []
    records = TOY.run(ToyOptions(limit=0.0, widths=(1,)), say=said.append)
    assert names(records) == ["kron:4 width 1"]
    assert said == ["0 s are over: what would follow is left out"]
    assert ToyOptions().limit == math.inf


def test_without_memory_it_ends_with_what_there_is() -> None:
    def full(options: ToyOptions, graph: BenchGraph) -> Iterator[Record]:
        if graph.name == "kron:5":
            raise MemoryError
        yield from trial(options, graph)

    said: list[str] = []
    records = Study("", ToyOptions, full).run(ToyOptions(widths=(1,)), say=said.append)
    assert names(records) == ["kron:4 width 1"]
    assert said == ["what would follow is left out: out of memory"]


@pytest.mark.parametrize("wrong", ["device", "points"])
def test_records_that_are_there_stay_if_nothing_can_be_measured(
    wrong: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def absent(*_: Any) -> Any:
        raise DeviceUnavailable("no GPU") if wrong == "device" else InvalidValue("no such case")

    if wrong == "device":
        monkeypatch.setattr("benchmarks.harness.describe_environment", absent)
    study = TOY if wrong == "device" else Study("", ToyOptions, trial, points=absent)
    out = tmp_path / "toy.jsonl"
    out.write_text("kept\n")
    with pytest.raises((DeviceUnavailable, InvalidValue)):
        study.run(out=out)
    assert out.read_text() == "kept\n"


def test_objections_exit_with_one() -> None:
    study = Study("", ToyOptions, trial, objections=lambda _options, _records: ["too large"])
    result = invoke("--quick", study=study)
    assert result.exit_code == 1
    assert "too large" in result.stderr


@pytest.mark.parametrize("text", ["4,x", "0", "", "1.5"])
def test_counts_are_whole_numbers_above_zero(text: str) -> None:
    with pytest.raises(InvalidValue, match="no whole number above 0"):
        counts_of(text)


@every("name", Studies.panels["Studies"])
def test_every_study_has_help_with_examples(name: str) -> None:
    study = load(Studies.panels["Studies"][name])
    assert isinstance(study, Study)
    result = CliRunner().invoke(app, [name, "--help"], env={"COLUMNS": "200"})
    assert result.exit_code == 0, result.output
    assert f"python -m benchmarks {name} --quick" in result.stdout or name == "scales"
    assert "--out" in result.stdout


def test_the_command_that_made_them_stands_in_records(tmp_path: Path) -> None:
    out = tmp_path / "toy.jsonl"
    assert invoke("--quick", "--out", out).exit_code == 0
    assert json.loads(out.read_text().splitlines()[0])["environment"]["command"]
