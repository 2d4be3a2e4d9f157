"""``semira bench`` without a command: what it measures where, and what it prints beside."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from semira.bench.graphs import DEFAULT_GRAPHS, QUICK_GRAPHS, at_hand
from semira.bench.peers import GPU_PEERS, HOST_PEERS, PEERS
from semira.bench.record import Dataset, Record, read_records
from semira.bench.report import table_of
from semira.bench.suite import Request, run_suite
from semira.bench.versus import Peers, published_table
from semira.cli import bench, comparison
from semira.cli.main import app

RING = Record(
    "algorithm", "bfs", Dataset("ring", 3, 3, "00"), "semira", "cuda", "INT32", warm_s=[0.002],
    verified=True, environment={"gpu": "a small GPU"},
)  # fmt: skip
TIMES = {
    "schema": "semira-peers/1", "date": "a day", "gpu": "a large GPU", "how": "somehow",
    "peers": {"a": "A"}, "graphs": {"ring": {"n": 3, "entries": 3}},
    "times": [{"graph": "ring", "kernel": "bfs", "peer": "a", "call_ms": 8.0}], "goals": [],
}  # fmt: skip


GENERATED = tuple(name for name in DEFAULT_GRAPHS if ":" in name)


@pytest.fixture
def invoke() -> Callable[..., Any]:
    runner = CliRunner()
    return lambda *args: runner.invoke(app, ["bench", *map(str, args)])


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Request]:
    """What would be measured; every measurement answers with one record."""
    found: list[Request] = []

    def answer(request: Request, **_how: Any) -> list[Record]:
        found.append(request)
        return [RING]

    for module in (bench, comparison):
        monkeypatch.setattr(module, "run_suite", answer)
    return found


@pytest.fixture
def has_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparison, "why_unusable", lambda device: None)


def test_without_a_gpu_the_cpu_alone_is_measured_and_that_is_said(
    invoke: Any, asked: list[Request], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comparison, "why_unusable", lambda device: f"no {device} here")
    monkeypatch.setenv("SEMIRA_TEST_DATA", "no/folder")
    result = invoke()
    assert result.exit_code == 0, result.output
    (request,) = asked
    assert (request.device, tuple(request.beside)) == ("cpu", ())
    assert (tuple(request.graphs), tuple(request.peers)) == (GENERATED, HOST_PEERS)
    absent = ", ".join(name for name in DEFAULT_GRAPHS if name not in GENERATED)
    assert f"no files of {absent}: name their folder with --data" in result.stderr
    assert not request.both_ways
    assert "cuda is not measured: it cannot be used (no cuda here)" in result.stderr


@pytest.mark.parametrize("where", ["auto", "cpu"])
def test_published_times_need_a_gpu_to_stand_beside(
    invoke: Any, asked: list[Request], monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    monkeypatch.setattr(comparison, "why_unusable", lambda device: f"no {device} here")
    result = invoke("--device", where, "--published", "times.json")
    assert result.exit_code == 2
    assert "--published times.json" in result.stderr
    assert asked == []


@pytest.mark.usefixtures("has_gpu")
def test_with_a_gpu_both_are_measured_beside_all_peers(invoke: Any, asked: list[Request]) -> None:
    assert invoke("--quick").exit_code == 0
    (request,) = asked
    assert (request.device, tuple(request.beside)) == ("cuda", ("cpu",))
    assert (tuple(request.graphs), tuple(request.peers)) == (QUICK_GRAPHS, tuple(PEERS))
    assert request.both_ways


@pytest.mark.usefixtures("has_gpu")
def test_a_device_that_is_named_is_the_only_one(invoke: Any, asked: list[Request]) -> None:
    for device in ("cpu", "cuda"):
        assert (
            invoke("kron:4", "er:9,degree=2", "--device", device, "--peers", "none").exit_code == 0
        )
        request = asked.pop()
        assert (request.device, tuple(request.beside)) == (device, ())
        assert (list(request.graphs), list(request.peers)) == (["kron:4", "er:9,degree=2"], [])


def test_the_gpu_has_its_installed_peers_by_default(invoke: Any, asked: list[Request]) -> None:
    assert invoke("cuda").exit_code == 0
    assert tuple(asked[0].peers) == GPU_PEERS
    assert invoke("cuda", "--peers", "none").exit_code == 0
    assert tuple(asked[1].peers) == ()


def test_a_gpu_that_is_not_there_is_an_error(invoke: Any) -> None:
    if comparison.why_unusable("cuda") is None:
        pytest.skip("there is one")
    result = invoke("kron:4", "--device", "cuda")
    assert result.exit_code == 1
    assert "DeviceUnavailable" in result.stderr
    assert result.stdout == ""


def test_it_prints_the_comparison_and_writes_records(invoke: Any, tmp_path: Path) -> None:
    out = tmp_path / "here.jsonl"
    result = invoke(
        "kron:4", "--device", "reference", "--algorithms", "bfs,cc", "--trials", 1,
        "--peers", "scipy", "--out", out,
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "scipy" in result.stdout
    assert [(each.library, each.verified) for each in read_records(out)] == [
        ("semira", True), ("scipy", True), ("semira", True), ("scipy", True),
    ]  # fmt: skip


def test_another_device_of_ours_stands_in_the_same_table() -> None:
    request = Request(
        ["kron:4"], ["bfs"], peers=(), trials=1, device="reference", beside=["cpu"], both_ways=True
    )
    records = run_suite(request)
    assert [(each.library, each.backend) for each in records] == [
        ("semira", "reference"), ("semira on cpu", "cpu"),
    ]  # fmt: skip
    assert all(each.verified and each.compile_s is not None for each in records)
    head, (row,) = table_of(records, "algorithm")
    assert head == ["graph", "kernel", "semira", "MTEPS", "verified", "semira on cpu"]
    assert row[-1].endswith("x)")


def test_cases_with_options_are_not_compared() -> None:
    other = replace(RING, options={"dtype": "FP32"}, warm_s=[9.0])
    peer = replace(RING, library="a", warm_s=[0.004])
    assert table_of([RING, peer, other], "algorithm")[1][0][2:] == ["2", "yes", "4 (2.00x)"]


# published times ---------------------------------------------------------------------------------
@pytest.mark.usefixtures("has_gpu", "asked")
def test_published_times_stand_beside_those_of_a_gpu(invoke: Any, tmp_path: Path) -> None:
    path = tmp_path / "peers.json"
    path.write_text(json.dumps(TIMES))
    result = invoke("ring", "--device", "cuda", "--published", path)
    assert result.exit_code == 0, result.output
    assert "Published a day on a large GPU; ours here on a small GPU" in result.stdout
    assert "a 8 (4.00x)" in result.stdout
    assert "Published" not in invoke("ring", "--device", "cpu", "--published", path).stdout


@pytest.mark.usefixtures("has_gpu", "asked")
def test_what_nobody_published_is_said(
    invoke: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "peers.json"
    path.write_text(json.dumps({**TIMES, "graphs": {}}))
    result = invoke("ring", "--device", "cuda", "--published", path)
    assert "no times of these graphs" in result.stderr
    monkeypatch.setattr(comparison, "_PUBLISHED", Path("absent.json"))
    assert "name a file with --published" in invoke("ring", "--device", "cuda").stderr
    assert invoke("ring", "--device", "cuda", "--published", "absent.json").exit_code == 1


def test_the_checkout_has_published_times() -> None:
    assert (Path(comparison.__file__).resolve().parents[3] / comparison._PUBLISHED).is_file()


def test_only_cases_with_published_times_are_listed() -> None:
    peers = Peers({}, TIMES["graphs"], {("ring", "bfs"): TIMES["times"]})
    others = [replace(RING, kernel="cc"), replace(RING, dataset=Dataset("star", 3, 3, "00"))]
    head, rows = published_table([*others, RING], peers)
    assert rows == [["ring", "bfs", "INT32", "-", "2", "-", "a 8 (4.00x)", "-"]]
    assert len(head) == len(rows[0])


def test_named_graphs_are_measured_where_their_files_are(
    invoke: Any, asked: list[Request], tmp_path: Path
) -> None:
    (tmp_path / "cnr-2000.npz").touch()
    result = invoke("--device", "cpu", "--data", tmp_path)
    assert result.exit_code == 0, result.output
    assert tuple(asked[0].graphs) == (*GENERATED, "cnr-2000")
    assert "web-NotreDame" in result.stderr


def test_quick_graphs_need_no_files() -> None:
    assert at_hand(QUICK_GRAPHS, Path("no/folder")) == (list(QUICK_GRAPHS), [])


def test_a_graph_without_file_is_an_error_that_names_the_option(invoke: Any) -> None:
    result = invoke("no-such-graph", "--device", "reference", "--peers", "none")
    assert "no-such-graph: no generator and no file of this name" in result.output
    assert "SEMIRA_TEST_DATA" not in result.output
