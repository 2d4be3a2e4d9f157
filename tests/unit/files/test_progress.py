"""The bar: on a terminal, after a second, and never otherwise."""

from __future__ import annotations

import io
import sys

import pytest

from semira.files import progress, read_edges


class Terminal(io.StringIO):
    """A standard error that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("is_terminal", "patience_s", "is_wanted", "is_shown"),
    [
        (True, 0, True, True),
        (True, 60, True, False),
        (True, 0, False, False),
        (False, 0, True, False),
    ],
)
def test_bar_is_shown_only_when_it_should(
    monkeypatch, tmp_path, is_terminal, patience_s, is_wanted, is_shown
):
    stderr = Terminal() if is_terminal else io.StringIO()
    monkeypatch.setattr(sys, "stderr", stderr)
    monkeypatch.setattr(progress, "PATIENCE_S", patience_s)
    path = tmp_path / "[red]graph.el"
    path.write_text("0 1\n" * 1000)
    assert read_edges(path, progress=is_wanted).nnz == 1000
    assert ("reading" in stderr.getvalue()) is is_shown


def test_bar_survives_a_process_without_standard_error(monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    assert read_edges(io.BytesIO(b"0 1\n")).nnz == 1
