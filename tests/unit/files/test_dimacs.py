"""DIMACS shortest-path graphs."""

from __future__ import annotations

import gzip
import io

import pytest
from tests.helpers.every import every

from semira.base.errors import FileFormatError
from semira.files import read_edges

GOOD = "c a road\nc\np sp 3 2\nc more\na 1 2 10\na 3 1 -4\n"


def read(text: str, **options):
    edges = read_edges(io.BytesIO(text.encode()), format="dimacs", **options)
    edges.validate()
    return edges


def test_read_arcs_are_zero_based_and_directed():
    edges = read(GOOD)
    assert (edges.nrows, edges.ncols, edges.symmetric) == (3, 3, False)
    assert edges.rows.tolist() == [0, 2]
    assert edges.cols.tolist() == [1, 0]
    assert edges.values.tolist() == [10, -4]
    assert edges.meta["comments"] == ["a road", ""]
    assert edges.meta["directed"] is True


def test_read_is_recognised_by_content():
    assert read_edges(io.BytesIO(GOOD.encode())).meta["format"] == "dimacs"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("p sp 3\na 1 2 3\n", "line 1: expected the problem line.*'p sp 3'"),
        ("c x\n\np sp x y\n", "line 3: a size in 'p sp x y'"),
        ("c roads\np 3 2\na 1 2 3\na 1 3 2\n", "line 2: expected the problem line"),
        ("p sp\n", "line 1: expected the problem line"),
    ],
)
def test_wrong_problem_line_is_recognised_by_content_too(text, reason):
    with pytest.raises(FileFormatError, match=reason):
        read_edges(io.BytesIO(text.encode()))


def test_wrong_problem_line_is_no_matter_of_columns_in_a_text_file(tmp_path):
    path = tmp_path / "roads.txt"
    path.write_text("p sp x 3\na 1 2 3\n")
    with pytest.raises(FileFormatError, match="line 1: a size in 'p sp x 3'"):
        read_edges(path)


@pytest.mark.parametrize("text", ["p q\nq a\n", "p max\nmax p\n", "p 5 2\nb 1 2\n", "p a\na p\n"])
def test_vertices_called_p_are_no_problem(text):
    edges = read_edges(io.BytesIO(text.encode()))
    assert edges.meta["format"] == "edgelist"
    assert edges.labels[0] == "p"


def test_read_long_preambles_take_no_time():
    edges = read_edges(
        io.BytesIO(b"c\n" + b"\n" * (1 << 23) + b"c x\np sp 2 1\na 1 2 3\n"), format="dimacs"
    )
    assert edges.values.tolist() == [3]
    assert edges.meta["comments"] == ["", "x"]
    with pytest.raises(FileFormatError, match="line 1048578: expected the problem line 'p sp"):
        read("c\n" + "\n" * (1 << 20) + "q\n")


def test_read_parallel_arcs_ask_for_the_least():
    edges = read("p sp 2 2\na 1 2 9\na 1 2 3\n")
    assert (edges.nnz, edges.meta["dup_op"]) == (2, "min")
    assert read("p sp 2 1\na 1 2 9\n", dup_op="plus").meta["dup_op"] == "plus"


def test_read_gzip_suffix_and_content(tmp_path):
    path = tmp_path / "road.gr.gz"
    path.write_bytes(gzip.compress(GOOD.encode()))
    assert read_edges(path).values.tolist() == [10, -4]


def test_read_without_arcs_is_an_empty_graph():
    edges = read("p sp 4 0\n")
    assert (edges.nrows, edges.nnz, str(edges.values.dtype)) == (4, 0, "int64")


def test_read_accepts_tabs_and_indentation():
    assert read("p\tsp 2 1\n a\t1\t2  3\n").values.tolist() == [3]


BAD = {
    "empty": ("", "empty"),
    "comments only": ("c hello\nc\n", "ends before its problem line"),
    "other problem": ("p max 3 2\n", "line 1.*p sp"),
    "arc first": ("a 1 2 3\np sp 3 1\n", "line 1.*problem line"),
    "short problem": ("p sp 3\n", "line 1.*problem line"),
    "negative size": ("p sp -3 1\n", "line 1.*outside"),
    "huge size": ("p sp 99999999999999999999 1\n", "line 1.*outside"),
    "cut short": ("p sp 3 2\na 1 2 3\n", "ends after 1 of the 2 arcs"),
    "petabytes claimed": ("p sp 3 999999999999999\na 1 2 3\n", "ends after 1 of"),
    "too many": ("p sp 3 1\na 1 2 3\na 1 3 3\n", "line 3: more arcs"),
    "vertex 0": ("p sp 3 1\na 0 2 3\n", r"line 2: the tail lies outside 1\.\.3"),
    "vertex beyond": ("p sp 3 2\na 1 2 3\nc\na 1 4 3\n", r"line 4: the head lies outside"),
    "no weight": ("p sp 3 1\na 1 2\n", "line 2: 3 columns where 4"),
    "fraction": ("p sp 3 1\na 1 2 1.5\n", "line 2: weight '1.5' is not"),
    "other line": ("p sp 3 1\ne 1 2 3\n", "line 2: this is not an arc"),
    "longer mark": ("p sp 3 1\nabc 1 2 3\n", "line 2: this is not an arc"),
    "second problem": ("p sp 3 1\np sp 3 1\n", "line 2"),
}


@every("case", BAD)
def test_read_bad_file_is_refused_with_line_and_reason(case):
    text, reason = BAD[case]
    with pytest.raises(FileFormatError, match=reason):
        read(text)
