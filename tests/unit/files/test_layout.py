"""How edge lists are laid out: headers, separators, quotes."""

from __future__ import annotations

import io
import re

import numpy as np
import pytest
from tests.helpers.every import every

from semira.base.errors import FileFormatError
from semira.files import read_edges


def read(text: str, **options):
    return read_edges(io.BytesIO(text.encode()), format="edgelist", **options)


def named(edges) -> list[tuple]:
    """Return the ends of each edge as the file calls them, and its weight."""
    names = np.arange(edges.nrows) if edges.labels is None else edges.labels
    columns = [names[edges.rows].tolist(), names[edges.cols].tolist()]
    if edges.values is not None:
        columns.append(edges.values.tolist())
    return list(zip(*columns, strict=True))


#: First line, lines below, and whether the first line is said to be taken as a header.
HEADERS = {
    "underscores over numbers": ("id_1,id_2", "0,2\n2,1\n", True),
    "nodes": ("node_1,node_2", "0,2\n2,1\n", False),
    "SNAP, Twitter": ("Follower,Followee", "0,2\n2,1\n", False),
    "words over numbers": ("user,friend", "1,2\n2,3\n", True),
    "words at tabs": ("User id\tFriend id", "1\t2\n2\t3\n", True),
    "words at blanks": ("user friend", "1 2\n2 3\n", True),
    "words over negative numbers": ("user,friend", "-1,2\n2,-3\n", True),
    "words over 007": ("zip1,zip2", "00745,08001\n08001,00745\n", True),
    "words over quoted numbers": ('"user","friend"', '"1","2"\n"2","3"\n', True),
    "words over one line": ("user,friend", "1,2\n", True),
    "words over weighted numbers": ("gate,stand,km", "1,2,0.5\n2,3,1\n", True),
    "words over weighted names": ("city,town,km", "Bern,Thun,31\nThun,Basel,126\n", True),
    "words over some missing weights": ("city,town,km", "Bern,Thun,31\nThun,Basel,9\n", True),
    "known over names": ("source,target", "ann,bob\nbob,cy\n", False),
    "known, another case": ("From Node ID\tTo_Node_ID", "ann\tbob\nbob\tcy\n", False),
    "known, origin": ("origin,destination", "Bern,Thun\nThun,Basel\n", False),
    "known, neo4j": (":START_ID,:END_ID", "ann,bob\nbob,cy\n", False),
    "known, igraph": ("from,to,weight", "ann,bob,1\nbob,cy,2\n", False),
}


@every("case", HEADERS)
def test_header_is_found(case):
    first, body, is_told = HEADERS[case]
    edges = read(f"# note\n\n{first}\n{body}")
    assert named(edges) == named(read(body, header=False))
    told = [guess for guess in edges.meta["guesses"] if guess.startswith("first line taken")]
    assert bool(told) is is_told
    if is_told:
        assert told == [f"first line taken as a header ({', '.join(edges.meta['header'])})"]


DATA = {
    "names over names": "ann,bob\nbob,cy\n",
    "a name over numbers": "ann,1\n1,2\n",
    "names and a weight over numbers": "ann,bob,5\n1,2,3\n",
    "a known word that comes up again": "from,to\nto,via\nvia,from\n",
    "vertices called u and v": "u v\nv w\nw u\n",
    "one known word": "source,sink\nsink,x\n",
    "names without letters": "1-2,3-4\n1,2\n",
    "infinity": "inf,nan\n1,2\n",
}


@every("case", DATA)
def test_first_line_is_an_edge(case):
    edges = read(DATA[case])
    assert edges.meta["header"] is None
    assert edges.nnz == DATA[case].count("\n")


def test_words_over_names_are_an_edge_and_told():
    text = "user,friend\nann,bob\nbob,cy\ncy,ann\n"
    edges = read(text)
    assert edges.labels.tolist() == ["user", "friend", "ann", "bob", "cy"]
    assert edges.meta["header"] is None
    assert edges.meta["possible_header"] == ["user", "friend"]
    assert edges.meta["guesses"] == ["first line read as an edge (user, friend; header=True?)"]
    asked = read(text, header=True)
    assert asked.meta["header"] == ["user", "friend"]
    assert named(asked) == [("ann", "bob"), ("bob", "cy"), ("cy", "ann")]
    for other in (asked, read(text, header=False), read("user,friend\nann,user\n")):
        assert "possible_header" not in other.meta
        assert other.meta["guesses"] == []


def test_words_in_place_of_a_weight_name_the_option():
    for text in ("ann,bob,km\nann,bob,5\n1,x,far\n", "1,2,km\n2,3,5\n"):
        with pytest.raises(FileFormatError, match=r"line 1: weight 'km' is not.*header=True"):
            read(text)


@pytest.mark.parametrize("sign", ["|", ":"])
def test_separators_that_are_not_found_are_named(sign):
    text = f"ann{sign}bob{sign}5\n"
    with pytest.raises(FileFormatError, match=re.escape(f"delimiter={sign!r}")):
        read(text)
    assert named(read(text, delimiter=sign)) == [("ann", "bob", 5)]


def test_third_column_of_a_known_header_is_the_weight_if_it_holds_numbers():
    edges = read("from,to,km\nBern,Thun,31\n")
    assert named(edges) == [("Bern", "Thun", 31)]
    assert edges.meta["guesses"] == ["weights from column km"]
    edges = read("from,to,road\nBern,Thun,A6\n")
    assert named(edges) == [("Bern", "Thun")]
    assert edges.meta["guesses"] == ["columns not read: road (columns=...)"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("from,to,km\na,b,3\nb,c,4\nc,d,foo\n", "line 4: weight 'foo' is not a number"),
        ("from;to;km\na;b;3,5\nb;c;4,5\n", "line 2: weight '3,5'.*decimal=','"),
    ],
)
def test_a_third_column_of_numbers_but_for_a_few_is_refused(text, message):
    with pytest.raises(FileFormatError, match=message):
        read(text)
    assert len(named(read(text, columns=(0, 1)))) == text.count("\n") - 1


def test_tables_of_pandas_and_gephi():
    pandas = ",origin,destination,km\n0,Bern,Thun,31\n1,Thun,Basel,126\n"
    assert named(read(pandas)) == [("Bern", "Thun", 31), ("Thun", "Basel", 126)]
    assert read(pandas).meta["guesses"] == ["weights from column km"]
    for name in ("", "Unnamed: 0", "id", "Edge_ID", "index"):
        numbered = read(f"{name},from,to\n0,Bern,Thun\n1,Thun,Basel\n")
        assert named(numbered) == [("Bern", "Thun"), ("Thun", "Basel")]
        unread = [f"columns not read: {name} (columns=...)"] if name else []
        assert numbered.meta["guesses"] == unread
    gephi = "Source,Target,Type,Id,Label,timeset,Weight\nann,bob,Directed,0,,,2.5\n"
    assert named(read(gephi)) == [("ann", "bob", 2.5)]


SEPARATED = {
    "tab, then blank": ("0\t1\n0 2\n", [(0, 1), (0, 2)], " "),
    "blank and tab in one line": ("1 2\t5\n2 3\t7\n", [(1, 2, 5), (2, 3, 7)], " "),
    "tab and blanks beside it": ("0 \t1\n0\t 2\n", [(0, 1), (0, 2)], "\t"),
    "under a header at tabs": ("Node A\tNode B\n1\t2\n", [(1, 2)], "\t"),
    "under a header, mixed": ("node\tother\n1 2\n2\t3\n", [(1, 2), (2, 3)], " "),
    "names, mixed": ("ann\tbob\nbob cy\n", [("ann", "bob"), ("bob", "cy")], " "),
    "semicolon in a name": ("a;x b\nb c\n", [("a;x", "b"), ("b", "c")], " "),
    "names with blanks": ("New York\tBoston\n", [("New York", "Boston")], "\t"),
    "names with blanks, weight": ("New York\tBoston\t5\n", [("New York", "Boston", 5)], "\t"),
    "names with blanks to numbers": ("Main St\t5\nLow Rd\t7\n", None, "\t"),
    "decimal commas": ("0;1;2,5\n1;0;3,5\n", None, ";"),
    "commas in names": ("a;b,c;d\nb;x,c;y\n", [("a;b", "c;d"), ("b;x", "c;y")], ","),
    "blanks in commas": ("New York,Boston\n", [("New York", "Boston")], ","),
    "semicolons": ("a;b\nb;c\n", [("a", "b"), ("b", "c")], ";"),
}


@every("case", SEPARATED)
def test_separator_is_found(case):
    text, expected, delimiter = SEPARATED[case]
    if case == "decimal commas":
        with pytest.raises(FileFormatError, match="weight '2,5' is not a number; decimal=','"):
            read(text)
        return
    edges = read(text)
    assert edges.meta["delimiter"] == delimiter
    if expected is not None:
        assert named(edges) == expected
    told = any("separated by blanks, not " in guess for guess in edges.meta["guesses"])
    assert told is (delimiter == " " and any(mark in text.splitlines()[0] for mark in "\t;"))


def test_separator_that_was_chosen_is_named():
    edges = read("1 2\t5\n2 3\t7\n", delimiter="\t")
    assert named(edges) == [("1 2", "5"), ("2 3", "7")]
    lines = "ann\tbob\n" * 200 + "bob cy\n"
    with pytest.raises(FileFormatError, match=r"line 201.*separated by tabs.*delimiter=' '"):
        read(lines)
    assert named(read(lines, delimiter=" "))[-1] == ("bob", "cy")


QUOTED = {
    'a,"\tx"': ["a", "\tx"],
    'a," x "': ["a", " x "],
    '  "a, b" , c ': ["a, b", "c"],
    '"say ""hi""",b': ['say "hi"', "b"],
    'say "hi",b': ['say "hi"', "b"],
    '"",b': None,
    '"a" x,b': None,
    ' "a,b': None,
    '"a""",b': ['a"', "b"],
}


@every("line", QUOTED)
def test_quotes_keep_what_is_inside(line):
    expected = QUOTED[line]
    if expected is None:
        with pytest.raises(
            FileFormatError, match=r"line 1: (.*is not quoted as csv|an empty field)"
        ):
            read(line + "\n")
    else:
        assert read(line + "\n").labels.tolist() == expected


def test_quoted_fields_at_tabs():
    assert read('"a\tb"\t"c"\n').labels.tolist() == ["a\tb", "c"]
