"""Array operations and the line reader find the same names."""

from __future__ import annotations

import numpy as np
import pytest
from tests.helpers.every import every

from semira.files import fields
from semira.files.fields import RegularLines
from semira.files.layout import Layout, edge_lines
from semira.files.source import Block, Source


def distinct_names(block, layout):
    lines = RegularLines.find(block, layout)
    return None if lines is None else lines.names()


LONG = "x" * fields.MAX_FIELD

#: Text, and whether it is regular.
COMMAS = {
    "a,b\nb,a\n": True,
    "a,b\nb,a": True,
    "a,b\n\n\nb,a\n\n": True,
    "\n\na,b\n": True,
    "Zürich,Genève\nGenève,東京\n": True,
    "a b,c\td\n": True,
    f"{LONG},a\n": True,
    f"{LONG}x,a\n": False,
    "12345678,123456789\n123456781,2\n": True,
    "a, b\n": False,
    "a,b \n": False,
    "a,\u00a0b\n": False,
    "a,b\r\x0b\n": False,
    '"a",b\nb,"c"': True,
    '"a b","#c"\n': True,
    '"a",b\n\n"b","a"\n': True,
    '" a",b\n': False,
    '"a, b",c\n': False,
    '"a""b",c\n': False,
    '"",b\n': False,
    'a"b",c\n': False,
    '"a"b,c\n': False,
    'a"b"c,d\n': False,
    '"a","b\n"\n': False,
    '"a,b\nc,d"\n': False,
    "": True,
    "\n": True,
}
BLANKS = {
    "a b\nb a\n": True,
    "a\tb\n  b \t a  \n": True,
    "a  b\n\n   \nb a\n": True,
    "  a b\n": True,
    "a\u00a0b c\n": False,
    "a\x0bb\n": False,
    "a,b c\n": True,
    '"a b" c\n': False,
    '"a" b"\n': True,
    f"{LONG}x a\n": False,
}


@every(
    ("delimiter", "text", "is_regular"),
    [(",", *case) for case in COMMAS.items()] + [(None, *case) for case in BLANKS.items()],
)
def test_names_are_those_of_the_lines(delimiter, text, is_regular):
    block = Block(1, text.encode())
    layout = Layout(delimiter, (0, 1), 2)
    found = distinct_names(block, layout)
    assert (found is not None) is is_regular
    if found is not None:
        names, numbers = found
        lines = edge_lines(Source("t", None), block, layout)
        tokens = [name for _, ends in lines for name in ends]
        assert names == list(dict.fromkeys(tokens))
        assert [names[number] for number in numbers] == tokens


@pytest.mark.parametrize("text", ["a,b,c\nd\ne,f,g\n", "a,b\nc,d,e\n", "a\nb\n", "a,b,c\n,e,f\n"])
def test_lines_of_another_width_are_not_regular(text):
    assert distinct_names(Block(1, text.encode()), Layout(",", (0, 1, 2), 3)) is None


def test_columns_may_stand_anywhere():
    block = Block(1, b"5,ann,x,bob\n6,cy,y,ann\n")
    names, numbers = distinct_names(block, Layout(",", (3, 1), 4))
    assert names == ["bob", "ann", "cy"]
    assert numbers.tolist() == [0, 1, 1, 2]


def test_what_is_no_utf8_is_not_regular():
    assert distinct_names(Block(1, b"a,\xff\n"), Layout(",", (0, 1), 2)) is None


def test_random_names_are_found():
    rng = np.random.default_rng(7)
    alphabet = np.array(list("abcdefgh-. _é東"))
    words = ["".join(rng.choice(alphabet, rng.integers(1, 20))).strip() or "x" for _ in range(300)]
    tokens = rng.choice(words, 4000).tolist()
    pairs = zip(tokens[::2], tokens[1::2], strict=True)
    text = "".join(f"{source}|{target}\n" for source, target in pairs)
    names, numbers = distinct_names(Block(1, text.encode()), Layout("|", (0, 1), 2))
    assert names == list(dict.fromkeys(tokens))
    assert [names[number] for number in numbers] == tokens
