"""Labels with line ends, tabs, quotes and formulas, written and read back."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest
from tests.helpers.every import every

from semira.base.dtypes import INT64
from semira.base.errors import FileFormatError, FileWriteError
from semira.files import read_edges, write_edges, write_vector
from semira.files.quoted import join_quoted
from semira.files.source import MAX_LINE, Block
from semira.formats import EdgeList, VectorArrays

LABELS = [
    "plain", "a\tb", "\tx", "x\t", " blank ", 'say "hi"', '"', '""', "a, b", "a;b", "line\nend",
    "\n", "two\n\nends", "a\n#b", "% c\n% d", '"\n"', 'x"\n', "=cmd|' /C calc'!A0", "+1+1", "-1-1",
    "@SUM(1)", "'=1", "#first", "\x1b[31m", "\u2028", "ü", "a\nb,c\nd",
]  # fmt: skip


def read_back(labels: list[str], **options: object) -> EdgeList:
    """Write a cycle through these labels, and read it."""
    n = len(labels)
    named = np.empty(n, object)
    named[:] = labels
    edges = EdgeList(n, n, np.arange(n), np.roll(np.arange(n), -1), np.arange(n), labels=named)
    out = io.BytesIO()
    write_edges(out, edges, format="csv")
    rows = list(csv.reader(io.StringIO(out.getvalue().decode(), newline="")))
    assert [row[0] for row in rows[1:]] == labels
    return read_edges(io.BytesIO(out.getvalue()), format="csv", **options)


def test_labels_of_every_kind_come_back():
    edges = read_back(LABELS)
    assert edges.labels.tolist() == LABELS
    assert edges.cols.tolist() == np.roll(np.arange(len(LABELS)), -1).tolist()
    assert edges.values.tolist() == list(range(len(LABELS)))


@every("label", LABELS)
def test_each_label_comes_back(label):
    assert read_back([label, "other"]).labels.tolist() == [label, "other"]


def test_labels_across_blocks_come_back(monkeypatch):
    monkeypatch.setattr("semira.files.source._BLOCK_BYTES", 1 << 16)
    labels = [f"{'x' * 3000}\n{number}\n\ny" for number in range(100)]
    assert read_back(labels).labels.tolist() == labels


@pytest.mark.parametrize("label", ["", "a\rb", "a\r\n", "\0"])
def test_labels_that_would_not_come_back_are_refused(label):
    with pytest.raises(FileWriteError, match="could not be read back from csv; write npz"):
        read_back([label, "b"])


def test_lines_after_a_joined_record_keep_their_numbers():
    data = b'source,target\n"a\nb\n\nc",d\ne,f\ng\n'
    with pytest.raises(FileFormatError, match="line 7: 1 column "):
        read_edges(io.BytesIO(data), format="csv")


@pytest.mark.parametrize(
    "data",
    [
        b'a,"b\nc,d\n',
        b'a"b,c\nd"e,f\n',
        b'"a\nb"\nc\n',
        b'"a" b\n"c d\n',
        b'x,"y\n"z",w\n',
        b'5" pipe,a\n6" pipe,b\n',
        b'"' * 9 + b"\n",
    ],
)
def test_what_is_no_record_stays_as_it_is(data):
    blocks = list(join_quoted([Block(1, data)]))
    assert b"".join(block.data for block in blocks) == data
    assert blocks[0].line == 1


def test_an_open_quote_does_not_swallow_the_file():
    lines = b'a,"open\n' + b"c,d\n" * 300_000
    assert len(lines) > MAX_LINE
    blocks = list(join_quoted([Block(1, lines), Block(300_002, lines), Block(9_000_000, lines)]))
    assert b"".join(block.data for block in blocks) == 3 * lines
    with pytest.raises(FileFormatError, match="line 1"):
        read_edges(io.BytesIO(lines))


def test_blank_separated_names_may_begin_with_a_quote():
    edges = read_edges(io.BytesIO(b'"a b\nc" d\n'))
    assert edges.labels.tolist() == ['"a', "b", 'c"', "d"]


def test_names_of_columns_are_quoted_where_they_must_be():
    vector = VectorArrays.full(INT64, np.array([4, 2]))
    out = io.BytesIO()
    write_vector(out, {'a,"b"\n': vector, "=1+1": vector}, format="csv")
    rows = list(csv.reader(io.StringIO(out.getvalue().decode(), newline="")))
    assert rows == [["index", 'a,"b"\n', "=1+1"], ["0", "4", "4"], ["1", "2", "2"]]
