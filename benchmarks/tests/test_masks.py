"""Products under masks of every size: the ways, their agreement, and the table."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from benchmarks.studies import masks as bench_masks
from benchmarks.studies.masks import STUDY, WAYS, MasksOptions, MaskSweep, mask_sweeps, masks_table

import semira as gb
from semira.bench.record import Dataset, Record, append_records, read_records
from semira.exceptions import PlanError

QUICK = MasksOptions(("kron:8",), trials=1, seconds=0.1, shares=(0.02, 1.0), frontiers=(0.1, 1.0))


@pytest.fixture(scope="module")
def swept() -> list[Record]:
    return STUDY.run(QUICK)


def test_ways_agree_and_run_as_pinned(swept: list[Record], tmp_path: Path) -> None:
    assert len(swept) == 2 * 2 * len(WAYS)
    assert all(each.verified for each in swept)
    for record in swept:
        assert (record.kind, record.dtype) == ("mask", "FP32")
        if record.plan:
            assert record.ran == {record.plan["direction"]: 1}
    n = swept[0].dataset.n
    assert {each.options["open"] for each in swept} == {round(0.02 * n), n}
    append_records(tmp_path / "masks.jsonl", swept)
    assert read_records(tmp_path / "masks.jsonl") == swept


@pytest.mark.parametrize("device", ["reference", "cpu"])
def test_a_pull_that_looks_first_reads_what_the_mask_lets_through(device: str) -> None:
    records = STUDY.run(replace(QUICK, device=device, frontiers=(1.0,)))
    touched = {
        (each.plan["mask_order"], each.options["open"]): each.touched
        for each in records
        if each.plan.get("direction") == "pull"
    }
    few, every = sorted({size for _, size in touched})
    nvals = records[0].dataset.nvals
    # No row ends early: under a full mask, rows are read completely.
    assert touched["before", every] == touched["after", every] == nvals
    assert 0 < touched["before", few] < nvals / 4


def test_ways_that_differ_are_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gb.Vector, "isequal", lambda self, other: False)
    records = STUDY.run(replace(QUICK, shares=(1.0,), frontiers=(1.0,)))
    assert {each.note for each in records} == {"the ways differ"}
    assert not any(each.verified for each in records)


def test_what_a_device_cannot_do_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    measured = bench_masks.measure_product

    def refused(blank: Record, *given: Any) -> Any:
        if blank.plan == WAYS["push, mask before"]:
            raise PlanError("it cannot test the mask before it writes")
        return measured(blank, *given)

    monkeypatch.setattr(bench_masks, "measure_product", refused)
    records = STUDY.run(replace(QUICK, frontiers=(1.0,)))
    (sweep,) = mask_sweeps(records)
    assert list(sweep.times) == [way for way in WAYS if way != "push, mask before"]
    head, (row,) = masks_table(records)
    cells = dict(zip(head, row, strict=True))
    assert cells["push, mask before: ms, least .. largest"] == "-"
    assert " .. " in cells["push, mask after: ms, least .. largest"]


def test_the_table_says_where_push_is_better() -> None:
    blank = Record("mask", "vxm", Dataset("ring", 100, 400, "00"), "semira")
    taken_ms = {
        "push, mask before": (4.0, 4.0), "push, mask after": (5.0, 5.0),
        "pull, mask before": (1.0, 16.0), "pull, mask after": (16.0, 16.0), "auto": (1.2, 4.0),
    }  # fmt: skip
    records = [
        replace(
            blank, plan=WAYS[way], warm_s=[ms / 1e3], options={"frontier": 10, "open": size}
        )
        for way, times in taken_ms.items()
        for size, ms in zip((1, 100), times, strict=True)
    ]  # fmt: skip
    head, (row,) = masks_table(records)
    cells = dict(zip(head, row, strict=True))
    assert (cells["frontier"], cells["masks"]) == ("10.00% of the vertices", "2")
    assert cells["pull, mask before: ms, least .. largest"] == "1 .. 16"
    # Times follow powers of the size: 4 ms halfway between one row and all.
    assert cells["push is better from"] == "10.00% of the rows"
    assert (cells["worst"], cells["within 10%"]) == ("1.2", "1 of 2")


def test_a_sweep_takes_the_better_order() -> None:
    times = {"push, mask before": [2.0, 1.0], "push, mask after": [1.0, 3.0], "auto": [1.0, 1.0]}
    assert MaskSweep("ring", 1.0, [0.1, 1.0], times).best("push") == [1.0, 1.0]
