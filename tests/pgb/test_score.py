"""The score: counting outcomes, the table, the page."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.pgb import score as scoring
from tests.pgb.score import BEGIN, END, check_page, replace_between_markers, score_of, table

OUTCOMES = {
    "test_a.py::test_1": {"outcome": "passed", "reason": ""},
    "test_a.py::test_2": {"outcome": "failed", "reason": "12: it\nbroke"},
    "test_a.py::test_3": {"outcome": "xfailed", "reason": "private"},
    "test_a.py::test_4": {"outcome": "skipped", "reason": "ss"},
}


def test_outcomes_are_counted_and_failures_are_problems() -> None:
    score = score_of("test_a.py", OUTCOMES)
    assert score.ran == 3
    assert score.counts["passed"] == score.counts["xfailed"] == score.counts["skipped"] == 1
    assert score.problems == ("test_a.py::test_2: 12: it broke",)
    assert score.reasons == {"private": 1}


def test_table_has_a_row_per_file_a_total_and_the_reasons() -> None:
    lines = list(table([score_of("test_a.py", OUTCOMES), score_of("test_b.py", {})]))
    assert "| `test_a.py` | 3 | 1 | 1 | 1 | 0 | 1 |" in lines
    assert "| `test_b.py` | 0 | 0 | 0 | 0 | 0 | 0 |" in lines
    assert "| **all** | 3 | 1 | 1 | 1 | 0 | 1 |" in lines
    assert "| 1 | private |" in lines


def test_only_what_stands_between_the_markers_changes() -> None:
    page = f"before\n{BEGIN}\nold\n{END}\nafter\n"
    assert replace_between_markers(page, "new") == f"before\n{BEGIN}\nnew\n{END}\nafter\n"


def test_a_page_without_markers_is_refused() -> None:
    with pytest.raises(ValueError, match="no markers"):
        replace_between_markers("page", "new")


def test_a_page_that_does_not_agree_is_named_and_can_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scoring, "find_spec", lambda name: object())
    page = tmp_path / "page.md"
    page.write_text(f"{BEGIN}\n635 of 734\n{END}\n")
    wrong = check_page(page, "631 of 734", write=False)
    assert wrong is not None
    assert "631 of 734" in wrong
    assert "ARGS=--write" in wrong
    assert "635" in page.read_text()
    assert check_page(page, "631 of 734", write=True) is None
    assert page.read_text() == f"{BEGIN}\n631 of 734\n{END}\n"
    assert check_page(page, "631 of 734", write=False) is None


def test_a_page_is_not_compared_where_tests_are_skipped_for_want_of_a_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(scoring, "find_spec", lambda name: None)
    page = tmp_path / "page.md"
    page.write_text(f"{BEGIN}\n635 of 734\n{END}\n")
    assert check_page(page, "633 of 732", write=False) is None
    assert "fast_matrix_market" in capsys.readouterr().out
