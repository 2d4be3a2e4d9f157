"""Records: round trip, refusals, figures."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from benchmarks.plots import plot_records, stamp_of

from semira.bench.record import (
    SCHEMA,
    Dataset,
    Record,
    append_records,
    failures,
    parse_record,
    read_records,
    start_file,
)
from semira.exceptions import (
    FileFormatError,
    FileReadError,
    FileWriteError,
    InvalidValue,
    MissingFile,
)

FULL = Record(
    kind="algorithm",
    kernel="bfs",
    dataset=Dataset("kron:5", 32, 100, "abc"),
    library="semira",
    backend="cpu",
    dtype="INT32",
    plan={"direction": "push"},
    ran={"push": 3},
    iterations=3,
    load_s=0.1,
    build_s=0.2,
    convert_s=0.3,
    compile_s=0.4,
    compiled=5,
    first_s=0.6,
    warm_s=[0.03, 0.01, 0.02],
    device_s=None,
    sources=[1, 2, 3],
    edges=[300, 100, 200],
    verified=True,
    verified_by="levels",
    note="é",
    environment={"commit": None, "versions": {"numpy": "2"}, "load": [0.5]},
)


def test_record_every_field_survives_a_round_trip() -> None:
    line = FULL.to_json()
    assert "\n" not in line
    assert parse_record(line) == FULL


def test_file_holds_one_record_a_line_and_can_grow(tmp_path: Path) -> None:
    path = tmp_path / "new" / "records.jsonl"
    other = replace(FULL, kernel="sssp", verified=False)
    start_file(path)
    append_records(path, [FULL])
    append_records(path, [other])
    assert read_records(path) == [FULL, other]
    assert failures(read_records(path)) == [other]


def test_median_quartiles_and_rate_are_of_the_warm_calls() -> None:
    assert FULL.median_s == 0.02
    assert FULL.quartiles_s == pytest.approx((0.015, 0.025))
    assert FULL.mteps == pytest.approx(0.01)
    without = replace(FULL, warm_s=[])
    assert (without.median_s, without.quartiles_s, without.mteps) == (None, None, None)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "not JSON"),
        ("[]", "schema"),
        ('{"schema": "other/1"}', "other/1"),
        (f'{{"schema": "{SCHEMA}", "surprise": 1}}', "surprise"),
        (f'{{"schema": "{SCHEMA}", "dataset": {{"name": "x"}}}}', "missing"),
        (FULL.to_json().replace("[0.03", '["0.03"'), "warm_s"),
    ],
)
def test_line_that_is_no_record_is_refused_with_its_place(line: str, reason: str) -> None:
    with pytest.raises(FileFormatError, match=f"here:.*{reason}"):
        parse_record(line, "here")


def test_wrong_line_in_a_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    path.write_text(f"{FULL.to_json()}\n\nnonsense\n")
    with pytest.raises(FileFormatError, match=r"records\.jsonl:3"):
        read_records(path)


def test_absent_file_and_unwritable_folder_are_errors(tmp_path: Path) -> None:
    with pytest.raises(MissingFile, match=r"absent.jsonl: no such file; check the path$"):
        read_records(tmp_path / "absent.jsonl")
    with pytest.raises(FileReadError, match="cannot be read as records: Is a directory"):
        read_records(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(FileWriteError):
        start_file(tmp_path / "file" / "records.jsonl")


def test_number_that_json_cannot_hold_is_refused() -> None:
    with pytest.raises(InvalidValue, match="kron:5"):
        replace(FULL, first_s=float("nan")).to_json()


def test_records_of_before_are_of_the_same_case() -> None:
    """``method`` chose among formulations until it was called ``algorithm``."""
    now, before = (replace(FULL, plan={name: "window"}) for name in ("algorithm", "method"))
    assert now.key == before.key != FULL.key
    # As it was written.
    assert parse_record(before.to_json()).plan == {"method": "window"}
    variants = [replace(FULL, options={name: "search"}).key for name in ("algorithm", "method")]
    assert variants[0] == variants[1]


def test_a_stamp_tells_records_apart():
    one = Record("algorithm", "bfs", Dataset("ring", 3, 3, "00"), "semira", warm_s=[1.0])
    other = replace(one, warm_s=[2.0])
    stamps = [stamp_of(each) for each in ([], [one], [other], [one, other], [other, one])]
    assert len(set(stamps)) == len(stamps)
    assert stamp_of([one]) == stamp_of([parse_record(one.to_json())])


def test_a_picture_has_the_stamp_of_its_records(tmp_path):
    pytest.importorskip("matplotlib")
    made = Record(
        "algorithm",
        "bfs",
        Dataset("kron:4", 16, 60, "00"),
        "semira",
        "cpu",
        warm_s=[1.0],
        edges=[60],
    )
    path = tmp_path / "scales.svg"
    plot_records(path, "scales", [made])
    assert stamp_of([made]) in path.read_text("utf-8")
    plot_records(path.with_suffix(".png"), "scales", [made])
