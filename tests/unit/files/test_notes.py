"""The line that says what reading guessed and lost."""

from __future__ import annotations

import io
import logging
import sys

import pytest

import semira as gb
from semira.files.notes import reading_note, show_note


def test_everything_is_in_one_line():
    meta = {
        "file": "g.csv",
        "guesses": ["first line taken as a header (id_1, id_2)"],
        "repeated_edges": 3,
        "dup_op": "first",
        "dropped_missing": 1,
        "dropped_self_loops": 1200,
        "replaced_missing": 0,
    }
    assert reading_note(meta) == (
        "g.csv: first line taken as a header (id_1, id_2); 1 edge without a weight left out; "
        "1,200 edges left out that join a vertex to itself; "
        "3 repeated edges, the first kept (dup_op=...)"
    )


def test_nothing_to_say_is_no_line():
    assert reading_note({"file": "g.csv", "repeated_edges": 0, "guesses": []}) == ""
    # Generators have no file.
    assert reading_note({"repeated_edges": 7, "dup_op": None}) == ""


@pytest.mark.parametrize(
    ("op", "words"),
    [
        ("min", "2 repeated edges, the least kept (dup_op=...)"),
        ("plus", "2 repeated edges, folded by plus (dup_op=...)"),
        (None, "2 repeated edges"),
    ],
)
def test_repeats_are_said_with_their_operator(op, words):
    assert reading_note({"file": "a", "repeated_edges": 2, "dup_op": op}) == f"a: {words}"


class Terminal(io.StringIO):
    """A stream that claims to be a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("is_terminal", [True, False])
@pytest.mark.parametrize("progress", [True, False])
def test_a_read_says_it_on_a_terminal_only(monkeypatch, caplog, tmp_path, is_terminal, progress):
    path = tmp_path / "g.csv"
    path.write_text("user,friend\n1,0\n1,0\n")
    stderr = Terminal() if is_terminal else io.StringIO()
    monkeypatch.setattr(sys, "stderr", stderr)
    note = f"{path}: first line taken as a header (user, friend); 1 repeated edge"
    with caplog.at_level(logging.INFO, "semira"):
        gb.io.read(path, progress=progress)
    assert stderr.getvalue() == (f"semira: {note}\n" if is_terminal and progress else "")
    assert note in caplog.messages


def test_control_characters_are_escaped(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    show_note({"file": "\x1b[31m", "guesses": ["a\tb"]})
    assert sys.stderr.getvalue() == "semira: \\x1b[31m: a\\tb\n"
