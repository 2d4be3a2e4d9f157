"""Recorder: what ran, what it took, as text and as tables."""

from __future__ import annotations

import pytest

import semira as gb
from semira.exceptions import OutOfMemory


@pytest.fixture
def A():
    return gb.Matrix.from_coo([0, 0, 1], [1, 2, 2], [1, 4, 2], nrows=3, ncols=3)


def test_every_operation_has_its_operator_methods_time_and_bytes(A):
    with gb.Recorder() as recorder:
        made = A.mxm(A).new()
    (row,) = recorder.rows
    assert row.cells[:2] == ("mxm", "semiring.plus_times[INT64]")
    assert row.cells[2]
    assert row.elapsed_ms > 0
    assert row.num_bytes == sum(A.memory_usage().values()) + sum(made.memory_usage().values())
    assert 0 < row.new_bytes <= row.num_bytes
    assert recorder.data == [str(row)]
    assert str(row).startswith("mxm semiring.plus_times[INT64] via ")


def test_the_second_use_of_a_matrix_makes_nothing_but_the_result(A):
    v = gb.Vector.from_coo([0], [1], size=3)
    v.vxm(A).new()
    with gb.Recorder() as recorder:
        w = v.vxm(A).new()
    assert recorder.rows[-1].new_bytes == sum(w.memory_usage().values())


def test_pausing_and_clearing(A):
    recorder = gb.Recorder(start=False)
    A.dup(dtype=float)
    assert not recorder.is_recording
    assert recorder.data == []
    recorder.start()
    recorder.start()
    A.dup(dtype=float)
    recorder.stop()
    A.dup(dtype=float)
    assert len(list(recorder)) == 1
    recorder.clear()
    assert recorder.data == []


def test_a_failed_call_is_recorded():
    big = gb.Vector(int, 2**55)
    big[:] = 1
    small = gb.Vector.from_coo([0], [2], size=2**55)
    with gb.Recorder() as recorder, pytest.raises(OutOfMemory):
        big.ewise_add(small).new()
    assert "ERROR: OutOfMemory" in recorder.data[-1]
    assert recorder.rows[-1].error == "OutOfMemory"
    assert "OutOfMemory" in recorder._repr_markdown_()


def test_lines_added_by_hand(A):
    recorder = gb.Recorder(start=False)
    recorder.record("f", [A, 3])
    recorder.record("g", [], exc=ValueError("no"))
    recorder.record_raw("<b>")
    assert recorder.data == [f"f({A.name}, 3);", "g(); /* ERROR: ValueError */", "<b>"]
    assert "&lt;b&gt;" in recorder._repr_html_()


def test_long_recordings_are_shortened():
    recorder = gb.Recorder(start=False, max_rows=3)
    for number in range(10):
        recorder.record_raw(f"line {number}")
    note = "7 rows not shown; set `recorder.max_rows` attribute to show more (or less)"
    assert repr(recorder).split("\n") == [
        "gb.Recorder (not recording)", "-" * 27, "  line 0", "  line 1", "", f"  // {note}", "",
        "  line 9",
    ]  # fmt: skip
    assert recorder._repr_markdown_().count("line ") == 3
    assert note in recorder._repr_markdown_()
    assert recorder._repr_html_().count("<tr>") == 5


def test_tables_have_a_cell_for_everything(A):
    with gb.Recorder() as recorder:
        A.mxm(A).new()
    assert repr(recorder).startswith("gb.Recorder (not recording)")
    header, rule, row = recorder._repr_markdown_().split("\n")[2:]
    assert header == "| operation | operator | methods | ms | bytes | new bytes |"
    assert rule.count("|") == header.count("|") == row.replace("\\|", "").count("|") == 7
    assert recorder._repr_html_().count("<td>") == 6
