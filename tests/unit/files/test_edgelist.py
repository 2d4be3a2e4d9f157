"""Edge lists: separators, headers, names, weights, and what is refused."""

from __future__ import annotations

import gzip
import io
import logging

import numpy as np
import pytest

from semira.base.errors import FileFormatError, InvalidValue
from semira.files import read_edges, source


def read(text: str | bytes, **options):
    data = text.encode() if isinstance(text, str) else text
    edges = read_edges(io.BytesIO(data), format="edgelist", **options)
    edges.validate()
    return edges


def pairs(edges) -> list[tuple[int, int]]:
    return list(zip(edges.rows.tolist(), edges.cols.tolist(), strict=True))


@pytest.mark.parametrize(
    "text",
    [
        "0 1\n2 0\n",
        "0\t1\n2\t0\n",
        "0,1\n2,0\n",
        "0, 1\n 2 ,0\n",
        "0;1\n2;0",
        "  0   1  \r\n2 0\r\n",
        "0 1\r2 0\r",
        "# SNAP\n# FromNodeId ToNodeId\n0\t1\n\n% KONECT\n2\t0\n",
        "\ufeff0 1\n2 0\n",
        "source,target\n0,1\n2,0\n",
        "Target,Note,Source\n1,x,0\n0,y,2\n",
        'from,to\n"0","1"\n2,0\n',
    ],
)
def test_read_integer_vertices_in_every_layout(text):
    edges = read(text)
    assert pairs(edges) == [(0, 1), (2, 0)]
    assert (edges.nrows, edges.ncols) == (3, 3)
    assert edges.values is None
    assert edges.labels is None
    assert edges.symmetric is False


@pytest.mark.parametrize(
    ("text", "dtype", "values"),
    [
        ("0 1 5\n1 0 -7\n", np.int64, [5, -7]),
        ("0,1,5\n1,0,2.5\n", np.float64, [5, 2.5]),
        ("0 1 nan\n1 0 inf\n", np.float64, [np.nan, np.inf]),
        ("source,target,weight\n0,1,5\n1,0,6\n", np.int64, [5, 6]),
        ("w;u;v\n5;0;1\n6;1;0\n", np.int64, [5, 6]),
        ("a b 5\nb a .5\n", np.float64, [5, 0.5]),
        ("0 1 9223372036854775808\n1 0 1\n", np.uint64, [2**63, 1]),
        ("0 1 18446744073709551615\n1 0 0\n", np.uint64, [2**64 - 1, 0]),
        ("a b 18446744073709551615\nb a +7\n", np.uint64, [2**64 - 1, 7]),
        ('"a",b,18446744073709551615\nb,a,7\n', np.uint64, [2**64 - 1, 7]),
        ("0 1 18446744073709551615\n1 0 -1\n", np.float64, [2.0**64, -1]),
        ("0 1 18446744073709551615\n1 0 0.5\n", np.float64, [2.0**64, 0.5]),
        ("0 1 18446744073709551616.\n1 0 1e30\n", np.float64, [2.0**64, 1e30]),
    ],
)
def test_read_weights_are_integers_if_all_are(text, dtype, values):
    edges = read(text)
    assert edges.values.dtype == dtype
    np.testing.assert_array_equal(edges.values, values)
    assert pairs(edges) == [(0, 1), (1, 0)]


@pytest.mark.parametrize(
    ("blocks", "dtype"),
    [
        (["5", "18446744073709551615", "7"], np.uint64),
        (["18446744073709551615", "7", "-7"], np.float64),
        (["-5", "18446744073709551615"], np.float64),
        (["-5", "7", "18446744073709551615"], np.float64),
        (["9223372036854775807", "18446744073709551615", "0.5"], np.float64),
    ],
)
@pytest.mark.parametrize("ends", ["0 1", "a b"])
def test_read_weights_of_all_blocks_decide_on_the_dtype(monkeypatch, blocks, dtype, ends):
    text = "".join(f"{ends} {weight}\n" * 50 for weight in blocks)
    monkeypatch.setattr(source, "_BLOCK_BYTES", 128)
    edges = read(text)
    assert edges.values.dtype == dtype
    number = int if dtype is np.uint64 else float
    assert edges.values[::50].tolist() == list(map(number, blocks))


def test_read_names_are_numbered_by_first_appearance():
    edges = read("bob ann\nann Zoë\nbob 7\n")
    assert edges.labels.tolist() == ["bob", "ann", "Zoë", "7"]
    assert pairs(edges) == [(0, 1), (1, 2), (0, 3)]


def test_read_quoted_names_may_hold_the_delimiter_and_hash():
    edges = read('"#a, b",c\nc,"say ""hi"""\n')
    assert edges.labels.tolist() == ["#a, b", "c", 'say "hi"']


def test_read_tab_separated_names_may_hold_blanks():
    edges = read("New York\tBoston\nBoston\tSan Jose\n")
    assert edges.labels.tolist() == ["New York", "Boston", "San Jose"]


def test_read_integers_before_a_name_become_names():
    edges = read("007 8\n8 x\n7 +8\n")
    assert edges.labels.tolist() == ["7", "8", "x"]
    assert pairs(edges) == [(0, 1), (1, 2), (0, 1)]


@pytest.mark.parametrize("delimiter", [" ", ","])
def test_read_in_small_blocks_gives_the_same(monkeypatch, delimiter):
    rng = np.random.default_rng(3)
    ends = rng.integers(0, 50, (400, 2))
    for number_of_names in (0, 1):
        lines = [f"{u}{delimiter}{v}{delimiter}{u + v}" for u, v in ends.tolist()]
        lines += [delimiter.join(("x", "3", "1.5"))] * number_of_names
        lines += lines[:100]
        text = "# top\n" + "\n".join(lines)
        whole = read(text)
        monkeypatch.setattr(source, "_BLOCK_BYTES", 256)
        parts = read(text)
        monkeypatch.undo()
        assert pairs(parts) == pairs(whole)
        np.testing.assert_array_equal(parts.values, whole.values)
        assert parts.values.dtype == whole.values.dtype
        if number_of_names:
            assert parts.labels.tolist() == whole.labels.tolist()
            named = [(whole.labels[u], whole.labels[v]) for u, v in pairs(whole)[:400]]
            assert named == [(str(u), str(v)) for u, v in ends.tolist()]
        else:
            assert pairs(whole)[:400] == list(map(tuple, ends.tolist()))


def test_read_negative_integers_are_names_and_warned_about(caplog):
    with caplog.at_level(logging.WARNING, "semira"):
        edges = read("5 -1\n-1 9\n")
    assert edges.labels.tolist() == [5, -1, 9]
    assert pairs(edges) == [(0, 1), (1, 2)]
    assert "vertex -1 is negative" in caplog.text


def test_read_far_integers_are_names_unless_told_otherwise(caplog):
    text = "5000000 9\n9 5000000\n"
    with caplog.at_level(logging.WARNING, "semira"):
        edges = read(text)
    assert edges.labels.tolist() == [5_000_000, 9]
    assert "relabel=False" in caplog.text
    assert read(text, relabel=False).nrows == 5_000_001
    assert read(text, size=6_000_000).nrows == 6_000_000


def test_read_relabel_true_numbers_near_integers_too():
    edges = read("4 2\n2 4\n", relabel=True)
    assert edges.labels.tolist() == [4, 2]
    assert pairs(edges) == [(0, 1), (1, 0)]


def test_read_base_one_is_subtracted():
    edges = read("1 3\n2 1\n", base=1)
    assert pairs(edges) == [(0, 2), (1, 0)]
    assert edges.nrows == 3


def test_read_columns_are_chosen():
    edges = read("0 1 77 1.5\n1 0 78 2\n", columns=(0, 1, 3))
    assert edges.values.tolist() == [1.5, 2]
    assert read("x 0 1\ny 1 0\n", columns=(1, 2)).labels is None


def test_read_header_option_forces_and_forbids():
    assert pairs(read("0 5\n1 2\n", header=True)) == [(1, 2)]
    assert read("source target\n1 2\n", header=False).labels.tolist()[:2] == ["source", "target"]


def test_read_size_gives_vertices_without_edges():
    assert read("0 1\n", size=10).nrows == 10
    assert read("# nothing\n", size=10).nrows == 10


def test_read_header_only_is_an_empty_graph():
    edges = read("source,target,weight\n")
    assert (edges.nrows, edges.nnz, len(edges.values)) == (0, 0, 0)


def test_read_comments_are_kept():
    assert read("# Nodes: 2\n0 1\n# end\n").meta["comments"] == ["# Nodes: 2", "# end"]


def test_read_gzip_of_several_members(tmp_path):
    path = tmp_path / "g.txt.gz"
    path.write_bytes(gzip.compress(b"0 1\n") + gzip.compress(b"1 2\n"))
    assert pairs(read_edges(path)) == [(0, 1), (1, 2)]


BAD = {
    "empty": ("", {}, "empty"),
    "comments only": ("# a\n% b\n", {}, "holds no edge.*size="),
    "one column": ("5\n6\n", {}, "line 1: 1 columns"),
    "four columns": ("# c\n0 1 2 3\n", {}, "line 2: 4 columns.*columns="),
    "comment after an edge": ("0 1\n1 2 # why\n", {}, "line 2: 4 columns"),
    "ragged": ("0 1\n\n1 2 3\n", {}, "line 3: 3 columns where the first line has 2"),
    "ragged names": ("a b\nb\n", {}, "line 2: 1 columns"),
    "weight no number": ("0 1 5\n0 1 x\n", {}, "line 2: weight 'x' is not a number"),
    "weight no number, named": ("a b 5\nb a 5x\n", {}, "line 2: weight '5x'"),
    "weight too wide": (
        f"0 1 5\n0 1 {2**64}\n",
        {},
        r"line 2: weight '18446744073709551616'.*2\*\*64 - 1.*point",
    ),
    "weight too wide, negative": (f"0 1 -{2**63 + 1}\n", {}, "line 1.*beyond 64 bits"),
    "weight too wide, named": (f"a b 5\nb a {2**64}\n", {}, "line 2.*beyond 64 bits"),
    "weight too wide beside reals": (f"0 1 .5\n0 1 {2**64}\n", {}, "line 2.*beyond 64 bits"),
    "weight far too wide": (f"0 1 {'9' * 2000}\n", {}, "line 1.*beyond 64 bits"),
    "empty field": ("0,1\n1,\n", {}, "line 2: an empty field"),
    "quote left open": ('0,1\n"1,2\n', {}, "line 2.*quoted"),
    "below the base": ("1 2\n1 0\n", {"base": 1}, "line 2: vertex 0 is below the base 1"),
    "negative": ("1 2\n1 -2\n", {"relabel": False}, "line 2: vertex -2 is below"),
    "name forbidden": ("1 2\n1 b\n", {"relabel": False}, "relabel=True"),
    "beyond the size": ("0 5\n", {"size": 5}, "vertex 5 lies outside the size 5"),
    "column missing": ("0 1\n", {"columns": (0, 2)}, r"line 1: columns=\(0, 2\)"),
    "Matrix Market": ("%%MatrixMarket matrix\n3 3 1\n1 1 1\n", {}, "format='mtx'"),
    "beyond 2**60": (f"0 {2**62}\n", {"relabel": False}, "beyond"),
    "NUL": ("0 1\n1\0 2\n", {}, "line 2.*NUL"),
}


@pytest.mark.parametrize("case", BAD)
def test_read_bad_file_is_refused_with_line_and_reason(case):
    text, options, reason = BAD[case]
    with pytest.raises(FileFormatError, match=reason):
        read(text, **options)


def test_read_bytes_that_are_not_utf8_are_refused():
    with pytest.raises(FileFormatError, match="line 2: byte 0xff is not UTF-8"):
        read(b"ann bob\nann \xff\n")


def test_read_utf16_is_refused():
    with pytest.raises(FileFormatError, match="NUL byte"):
        read("0 1\n".encode("utf-16"))


def test_read_gigantic_line_is_refused():
    with pytest.raises(FileFormatError, match="line 2: no line end within"):
        read(b"0 1\n" + b"7" * (source.MAX_LINE + 5))


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"base": 2}, "base=2"),
        ({"seed": -1}, "seed=-1"),
        ({"size": -1}, "size=-1"),
        ({"delimiter": "::"}, "delimiter"),
        ({"columns": (0,)}, "columns"),
        ({"columns": (0, 0)}, "columns"),
        ({"size": 3, "relabel": True}, "leave out size"),
        ({"colums": (0, 1)}, "unknown option 'colums'; options: drop_self_loops"),
    ],
)
def test_bad_options_are_refused(options, reason):
    with pytest.raises(InvalidValue, match=reason):
        read("0 1\n", **options)
