"""Searches from many sources by width and direction: what is measured and what the tables say."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from semira.bench.blocks import BlocksRequest, levels_table, run_blocks, widths_table
from semira.bench.record import Record, read_records
from semira.cli.main import app


@pytest.fixture(scope="module")
def measured() -> list[Record]:
    request = BlocksRequest(graphs=("kron:7",), trials=1, seconds=0.1, widths=(1, 4, 1000))
    return run_blocks(request)


def test_every_width_that_fits_in_every_way(measured):
    ways = [(each.options["width"], each.plan.get("direction")) for each in measured]
    assert ways == [(width, way) for width in (1, 4) for way in ("push", "pull", None)]
    assert all(each.verified for each in measured), [each.note for each in measured]
    assert [set(each.ran) for each in measured[:2]] == [{"push"}, {"pull"}]


def test_levels_stand_with_the_planners_record_and_agree(measured):
    for record in measured:
        levels = record.facts["levels"]
        assert len(levels) == (0 if record.plan else record.iterations)
        assert all(row["agree"] for row in levels)
        assert all(row["push"]["ran"] == "push" for row in levels)
        assert all(row["pull"]["ran"] == "pull" for row in levels)


def test_a_level_where_the_ways_differ_is_said(measured, monkeypatch):
    from semira.bench import blocks

    walked = blocks.walk

    def differing(*given):
        rows = walked(*given)
        return [{**row, "agree": row["level"] != 1} for row in rows]

    monkeypatch.setattr(blocks, "walk", differing)
    (record, *_) = run_blocks(BlocksRequest(("kron:6",), 1, 0.1, widths=(2,)))
    assert record.verified is False
    assert record.note == "the ways differ at level 1"


def test_tables(measured):
    head, rows = widths_table(measured)
    assert [dict(zip(head, row, strict=True))["way"] for row in rows[:3]] == [
        "push", "pull", "planner"
    ]  # fmt: skip
    timed = replace(measured[3], warm_s=[8e-3])
    head, (row,) = widths_table([timed])
    found = dict(zip(head, row, strict=True))
    assert (found["ms"], found["ms a source"], found["pulled"]) == ("8", "2", "0")
    head, rows = levels_table(measured)
    assert len(rows) == sum(len(each.facts["levels"]) for each in measured)
    first = dict(zip(head, rows[0], strict=True))
    assert (first["level"], first["frontier"], first["search ran"]) == ("0", "1", "push")


def test_command_writes_what_it_prints(tmp_path: Path) -> None:
    out = tmp_path / "blocks.jsonl"
    args = ["bench", "blocks", "--graphs", "kron:5", "--widths", "2", "--quick", "--out", str(out)]
    result = CliRunner().invoke(app, args)
    assert result.exit_code == 0, result.output
    assert "Searches from many sources" in result.stdout
    assert [each.options for each in read_records(out)] == [{"width": 2}] * 3


def test_a_width_that_is_no_number_is_refused() -> None:
    result = CliRunner().invoke(app, ["bench", "blocks", "--widths", "2,x"])
    assert result.exit_code != 0
    assert "is no number" in result.output
