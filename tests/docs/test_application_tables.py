"""The table of applications reads its numbers from their pages."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.docs.application_tables import CASES, cell, command_of, shown

from semira import apps


def test_cells_are_found_by_first_cells_and_header(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "| a | n | ms |\n|---|---|---|\n| x | 1 | 2 |\n| x | 5 | | \n\n| a | s |\n| x | 9 |\n"
    )
    assert cell(page, ("x", "1"), "ms") == "2"
    assert cell(page, ("x",), "s") == "9"
    with pytest.raises(LookupError, match="no cell 'ms'"):
        cell(page, ("y",), "ms")
    page.write_text("`semira run`, `python -m benchmarks.scripts.it --all`")
    assert command_of(page) == "python -m benchmarks.scripts.it --all"


@pytest.mark.parametrize(
    ("text", "unit", "expected"),
    [
        ("5.2 s", "ms", "5,200"),
        ("1,937", "ms", "1,937"),
        ("2,306 (SciPy)", "ms", "2,306"),
        ("0.77", "s", "770"),
        ("0.32 (igraph)", "steps", "0.32 steps"),
    ],
)
def test_times_are_milliseconds(text: str, unit: str, expected: str) -> None:
    assert shown(text, unit) == expected


def test_every_application_has_a_row() -> None:
    # A minimum cut is a maximum flow.
    assert {case.name for case in CASES} == {*apps.rows()} - {"minimum_cut"}
