"""What goes to a terminal, and what goes elsewhere."""

from __future__ import annotations

import json

import numpy as np
import pytest

from semira.cli import output


def test_json_has_no_nan_and_no_numpy(capsys):
    output.print_json({"a": np.int32(3), "b": [np.inf, np.nan, 1.5], "c": np.arange(2), "ü": None})
    text = capsys.readouterr().out
    assert json.loads(text) == {"a": 3, "b": [None, None, 1.5], "c": [0, 1], "ü": None}
    assert "ü" in text


def test_piped_table_is_aligned_text(capsys):
    output.print_table(("name", "count"), [("a", 5), ("bb", 1200)], title="t")
    assert capsys.readouterr().out.splitlines() == [
        "t",
        "name  count",
        "a         5",
        "bb    1,200",
    ]


def test_terminal_gets_boxes_and_keeps_brackets(capsys, monkeypatch):
    monkeypatch.setattr(output, "is_terminal", lambda: True)
    output.print_table(("name", "count"), [("[bold]x", 5)])
    output.print_pairs([("path", "a[b].mtx")])
    text = capsys.readouterr().out
    assert "[bold]x" in text
    assert "a[b].mtx" in text
    assert "┃" in text


def test_progress_is_silent_without_a_terminal(capsys):
    output.say("working")
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("rows", [[], [("a", None)]])
def test_tables_may_be_empty_or_have_gaps(capsys, rows):
    output.print_table(("x", "y"), rows)
    assert len(capsys.readouterr().out.splitlines()) == 1 + len(rows)


@pytest.mark.parametrize("is_terminal", [False, True])
def test_names_cannot_control_the_terminal(capsys, monkeypatch, is_terminal):
    monkeypatch.setattr(output, "is_terminal", lambda: is_terminal)
    monkeypatch.setattr(output.sys.stderr, "isatty", lambda: is_terminal)
    name = "\x1b[31m\x9b\u202e[bold]"
    output.print_table(("name", "count"), [(name, 5)], title=name)
    output.print_pairs([("path", name)], title=name)
    output.print_text(f"{name}\n{name}")
    output.note(name)
    output.say(name)
    captured = capsys.readouterr()
    text = captured.out + captured.err
    assert not {"\x9b", "\u202e"} & set(text)
    assert "\x1b[31m\x9b" not in text
    assert text.count(r"\x1b[31m\x9b\u202e[bold]") == (8 if is_terminal else 7)
