"""Tables of records."""

from __future__ import annotations

from dataclasses import replace

from semira.bench.record import Dataset, Record
from semira.bench.report import means_of, render_report, table_of

OURS = Record(
    "algorithm", "bfs", Dataset("ring", 3, 1234, "00"), "semira", "cpu",
    ran={"push": 2}, compile_s=0.5, first_s=0.75, warm_s=[0.002], edges=[4000], verified=True,
    environment={"cpu": "Some|CPU", "threads": 2, "commit": "0123456789abcdef", "dirty": True},
)  # fmt: skip
PEER = replace(OURS, library="scipy", backend="", warm_s=[0.005], ran={})


def test_row_has_our_time_and_the_ratio_of_the_peer() -> None:
    head, rows = table_of([PEER, OURS], "algorithm")
    assert head == ["graph", "kernel", "semira", "MTEPS", "verified", "scipy"]
    assert rows == [["ring", "bfs", "2", "2", "yes", "5 (2.50x)"]]


def test_wrong_and_missing_results_are_said_in_place_of_times() -> None:
    wrong = replace(OURS, verified=False)
    absent = replace(PEER, warm_s=[], verified=None, note="not tried: too large")
    bad = replace(PEER, library="networkx", verified=False, note="3 triangles")
    _, rows = table_of([wrong, absent, bad], "algorithm")
    assert rows[0][-3:] == ["**no**", "not tried: too large", "wrong: 3 triangles"]


def test_report_names_the_machine_and_keeps_runs_apart() -> None:
    later = replace(OURS, environment={**OURS.environment, "commit": "f" * 40, "dirty": False})
    text = render_report([OURS, PEER, later])
    assert text.count("### Algorithms") == 2
    assert "commit `0123456789ab` with local changes on Some|CPU with 2 threads" in text
    assert "commit `ffffffffffff` on" in text
    assert "| ring | bfs | 3 | 1,234 |" in text
    assert "push x2" in text


def test_overhead_is_in_microseconds() -> None:
    _, rows = table_of([replace(OURS, kind="overhead", edges=[], warm_s=[0.000021])], "overhead")
    assert rows[0][2] == "21"


def test_means_are_geometric_over_the_graphs_both_ran() -> None:
    other = replace(OURS, dataset=Dataset("star", 3, 1234, "01"))
    slow = replace(PEER, warm_s=[0.008])
    fast = replace(PEER, dataset=other.dataset, warm_s=[0.001])
    alone = replace(PEER, dataset=Dataset("path", 3, 1234, "02"), warm_s=[9.0])
    head, rows = means_of([OURS, other, slow, fast, alone])
    # 8/2 and 1/2: the square root of their product.
    assert head == ["kernel", "scipy"]
    assert rows == [["bfs", "1.41"], ["all", "1.41"]]
