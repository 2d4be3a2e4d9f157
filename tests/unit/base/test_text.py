"""Text that is safe to show."""

from __future__ import annotations

import json
import unicodedata

from tests.helpers.every import every

from semira.base.text import printable, printable_json

UNSAFE = {
    "\x1b[31m": r"\x1b[31m",
    "\a": r"\x07",
    "\x7f": r"\x7f",
    "\x9b31m": r"\x9b31m",
    "\x85": r"\x85",
    "a\tb\nc\rd": r"a\tb\nc\rd",
    "\u202egnp.exe": r"\u202egnp.exe",
    "\u2066x\u2069": r"\u2066x\u2069",
    "\u2028\u2029": r"\u2028\u2029",
    "\udcff": r"\udcff",
}


@every("text", UNSAFE)
def test_what_controls_a_terminal_is_escaped(text):
    shown = printable(text)
    assert shown == UNSAFE[text]
    assert printable(shown) == shown


def test_no_control_character_passes():
    every = "".join(map(chr, range(0x3000)))
    assert not [char for char in printable(every) if unicodedata.category(char) in ("Cc", "Zl")]


def test_names_of_people_and_places_stay():
    for text in ("Zürich", "東京", "O'Brien", "שלום", "🙂\u200d", r"C:\new", "a b"):
        assert printable(text) == text


@every("text", UNSAFE)
def test_json_keeps_its_value(text):
    record = {"label": text, "list": [text]}
    shown = printable_json(json.dumps(record, indent=2, ensure_ascii=False))
    assert json.loads(shown) == record
    assert [line for line in shown.splitlines() if printable(line) != line] == []
    assert shown.count("\n") == json.dumps(record, indent=2).count("\n")
