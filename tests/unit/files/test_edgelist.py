"""Edge lists: separators, headers, names, weights, and what is refused."""

from __future__ import annotations

import gzip
import io
import time

import numpy as np
import pytest
from tests.helpers.every import every

from semira.base.errors import FileFormatError, InvalidValue
from semira.files import read_edges, source


def read(text: str | bytes, **options):
    data = text.encode() if isinstance(text, str) else text
    edges = read_edges(io.BytesIO(data), format="edgelist", **options)
    edges.validate()
    return edges


def pairs(edges) -> list[tuple[int, int]]:
    return list(zip(edges.rows.tolist(), edges.cols.tolist(), strict=True))


@every(
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


@every(
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


@every(
    ("blocks", "dtype"),
    [
        (["5", "18446744073709551615", "7"], np.uint64),
        (["18446744073709551615", "7", "-7"], np.float64),
        (["-5", "18446744073709551615"], np.float64),
        (["-5", "7", "18446744073709551615"], np.float64),
        (["9223372036854775807", "18446744073709551615", "0.5"], np.float64),
    ],
)
@every("ends", ["0 1", "a b"])
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


def test_read_integers_beside_a_name_are_names_as_written():
    edges = read("007 8\n8 x\n7 +8\n")
    assert edges.labels.tolist() == ["007", "8", "x", "7", "+8"]
    assert pairs(edges) == [(0, 1), (1, 2), (3, 4)]


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


NAMED = {
    "gap": ("1001,1002\n1002,1003\n1001,1003\n", [1001, 1002, 1003], [(0, 1), (1, 2), (0, 2)]),
    "negative": ("5 -1\n-1 9\n", [5, -1, 9], [(0, 1), (1, 2)]),
    "far": ("5000000 9\n9 5000000\n", [5_000_000, 9], [(0, 1), (1, 0)]),
    "most unused": ("".join(f"{k} {3 * k}\n" for k in range(100, 200)), None, None),
    "weighted": ("1001,1002,2.5\n1002,1001,3\n", [1001, 1002], [(0, 1), (1, 0)]),
    "largest": (f"{2**63 - 1} {-(2**63)}\n", [2**63 - 1, -(2**63)], [(0, 1)]),
}


@pytest.mark.parametrize("case", NAMED)
def test_read_integers_with_gaps_are_names(case):
    text, labels, ends = NAMED[case]
    edges = read(text)
    assert edges.labels.dtype == np.int64
    assert edges.meta["ids"] == "name"
    assert "taken as names (ids='index' takes them as numbers)" in edges.meta["guesses"][0]
    if labels is not None:
        assert edges.labels.tolist() == labels
        assert pairs(edges) == ends


INDEXED = {
    "from 0": ("0 1\n1 2\n", 3, 0, {}),
    "from 1": ("1 2\n2 3\n", 4, 1, {}),
    "few missing": ("0 9\n9 5\n", 10, 7, {}),
    "half missing": ("".join(f"{k} {k + 1}\n" for k in range(200, 400)), 401, 200, {}),
    "asked for": ("1001 1002\n", 1003, 1001, {"ids": "index"}),
    "size": ("1001 1002\n", 2000, 1998, {"size": 2000}),
    "base": ("1001 1002\n", 1002, 1000, {"base": 1}),
    "base 0": ("1001 1002\n", 1003, 1001, {"base": 0}),
    "spelled with zeros": ("007 +8\n", 9, 7, {"ids": "index"}),
    "spelled with zeros, quoted": ('"007",-0\n', 8, 6, {"ids": "index"}),
}


@every("case", INDEXED)
def test_read_dense_integers_are_numbers(case):
    text, size, unnamed, options = INDEXED[case]
    edges = read(text, **options)
    assert edges.labels is None
    assert edges.nrows == size
    assert (edges.meta["ids"], edges.meta["unnamed_vertices"]) == ("index", unnamed)
    # What was asked for is no guess.
    assert bool(edges.meta["guesses"]) == (unnamed > 0 and not options)


def test_read_numbers_from_one_hint_at_the_base():
    assert read("1 2\n2 3\n").meta["guesses"] == ["vertex 0 has no edge (base=1 counts from 1)"]
    assert read("1 2\n2 3\n", base=1).meta["guesses"] == []


@every("odd", ["007", "+7", "-0", "00", "-07"])
@every("form", ["{} 1\n1 2\n", "1,{}\n2,1\n", '"{}",1\n2,1\n', "1\t2\n2\t{}\n"])
def test_read_integers_in_a_spelling_of_their_own_are_names(odd, form):
    edges = read(form.format(odd))
    assert set(edges.labels.tolist()) == {odd, "1", "2"}
    assert edges.meta["guesses"] == [f"vertices are names, because of '{odd}' (ids=...)"]


@pytest.mark.parametrize("weight", ["1e-05", "+7", "-0.5", "007", "1.00e+02", "10"])
def test_read_weights_in_any_spelling_leave_integers_alone(weight):
    edges = read(f"0 1 {weight}\n1 10 2\n")
    assert edges.labels is None
    assert edges.values.tolist() == [float(weight), 2]


def test_read_ids_name_numbers_dense_integers_too():
    edges = read("4 2\n2 4\n", ids="name")
    assert edges.labels.tolist() == [4, 2]
    assert pairs(edges) == [(0, 1), (1, 0)]
    assert edges.meta["guesses"] == []


def test_read_one_name_among_integers_is_told(monkeypatch):
    told = "vertices are names, because of 'N/A' (ids=...)"
    assert read("0 1\n1 2\n2 N/A\n").meta["guesses"] == [told]
    monkeypatch.setattr(source, "_BLOCK_BYTES", 16)
    edges = read("0 1\n1 2\n2 3\n3 4\n4 N/A\n")
    assert edges.labels.tolist() == ["0", "1", "2", "3", "4", "N/A"]
    assert edges.meta["guesses"] == [told]
    assert read("ann bob\nbob 7\nann 7\n").meta["guesses"] == []


def test_read_many_names_in_small_blocks(monkeypatch):
    rng = np.random.default_rng(5)
    names = [f"n{k}" * (1 + k % 9) + "ü" * (k % 3 == 0) for k in range(60)]
    ends = rng.integers(0, 60, (500, 2)).tolist()
    lines = [f"{names[u]},{names[v]},{u - v}.5\n" for u, v in ends]
    # Irregular lines in between are read one by one, and get the same numbers.
    for at in (40, 200, 201, 350):
        u, v = ends[at]
        lines[at] = f'"{names[u]}", {names[v]} ,{u - v}.5\n\n# note\n'
    for bytes_at_once in (1 << 22, 512):
        monkeypatch.setattr(source, "_BLOCK_BYTES", bytes_at_once)
        edges = read("".join(lines))
        found = edges.labels[np.stack([edges.rows, edges.cols], axis=1)].tolist()
        assert found == [[names[u], names[v]] for u, v in ends]
        assert edges.values.tolist() == [float(f"{u - v}.5") for u, v in ends]
        order = list(dict.fromkeys(names[end] for pair in ends for end in pair))
        assert edges.labels.tolist() == order


def test_read_base_one_is_subtracted():
    edges = read("1 3\n2 1\n", base=1)
    assert pairs(edges) == [(0, 2), (1, 0)]
    assert edges.nrows == 3


def test_read_columns_are_chosen():
    edges = read("0 1 77 1.5\n1 0 78 2\n", columns=(0, 1, 3))
    assert edges.values.tolist() == [1.5, 2]
    assert read("x 0 1\ny 1 0\n", columns=(1, 2)).labels is None


def test_read_columns_are_chosen_by_name():
    text = "day,origin,destination,km\nmon,Bern,Thun,31\ntue,Thun,Basel,126\n"
    edges = read(text, columns=("origin", "destination", "km"))
    assert edges.labels.tolist() == ["Bern", "Thun", "Basel"]
    assert edges.values.tolist() == [31, 126]
    assert edges.meta["header"] == ["day", "origin", "destination", "km"]
    assert edges.meta["guesses"] == []
    turned = read(text, columns=["Destination", "ORIGIN"])
    assert pairs(turned) == [(0, 1), (2, 0)]
    mixed = read("0,1\n1,0\n", columns=("1", 0))
    assert pairs(mixed) == [(0, 1)]
    with pytest.raises(InvalidValue, match="no column 'miles'; the first line names day, origin"):
        read(text, columns=("origin", "destination", "miles"))
    with pytest.raises(InvalidValue, match="name one column twice"):
        read(text, columns=("origin", "Origin"))


def test_read_header_option_forces_and_forbids():
    assert pairs(read("0 5\n1 2\n", header=True)) == [(1, 2)]
    assert read("source target\n1 2\n", header=False).labels.tolist()[:2] == ["source", "target"]


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16", "utf-8-sig", "mac-roman"])
def test_read_other_encodings(monkeypatch, encoding):
    text = "# Straßen\nZürich,Bern,2\nBern,Genève,3\n" + "Bern,Zürich,4\n" * 50
    monkeypatch.setattr(source, "_BLOCK_BYTES", 64)
    edges = read(text.encode(encoding), encoding=encoding)
    assert edges.labels.tolist() == ["Zürich", "Bern", "Genève"]
    assert edges.meta["comments"] == ["# Straßen"]


def test_read_what_is_not_in_the_encoding_is_refused_with_its_line():
    with pytest.raises(FileFormatError, match=r"line 2: byte 0xfc is not UTF-8.*encoding="):
        read("Bern,Thun\nZürich,Bern\n".encode("latin-1"))
    with pytest.raises(FileFormatError, match=r"line 2: byte 0xc3 is not ascii; give another"):
        read("Bern,Thun\nZürich,Bern\n", encoding="ascii")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "utf-7", "idna", "punycode"])
def test_read_what_has_no_mark_of_its_encoding_is_refused(encoding):
    with pytest.raises(FileFormatError, match=r"give another encoding="):
        read("Zürich,Bern,2\nBern,Thun,3\n".encode("latin-1"), encoding=encoding)


def test_read_column_that_is_no_weight_is_left_out_by_columns():
    text = "user,item,day\nu1,i1,2020-01-01\n"
    with pytest.raises(FileFormatError, match=r"columns=\(0, 1\) \(semira --columns 0,1\) leaves"):
        read(text, header=True)
    assert read(text, header=True, columns=(0, 1)).nnz == 1


@pytest.mark.parametrize("ends", ["0;1 1;0", "ann;bob bob;ann", 'ann;"bob" bob;ann'])
def test_read_decimal_commas(ends):
    first, second = ends.split()
    edges = read(f"{first};2,5\n{second};-1,25e1\n", decimal=",")
    assert edges.values.tolist() == [2.5, -12.5]
    assert edges.meta["delimiter"] == ";"
    integers = read(f"{first};2\n{second};3\n", decimal=",").values
    assert integers.dtype == np.int64
    with pytest.raises(FileFormatError, match=r"line 2: weight '1\.5' is not a number"):
        read(f"{first};2,5\n{second};1.5\n", decimal=",")
    with pytest.raises(FileFormatError, match=r"weight '2,5' is not a number; decimal=','"):
        read(f"{first};2,5\n{second};1\n")


MISSING = {
    "empty": "0,1,5\n1,2,\n2,0,7\n",
    "NA": "0,1,5\n1,2,NA\n2,0,7\n",
    "n/a, quoted": '0,1,5\n1,2,"n/a"\n2,0,7\n',
    "null at blanks": "0 1 5\n1 2 null\n2 0 7\n",
    "None at tabs": "0\t1\t5\n1\t2\tNone\n2\t0\t7\n",
    "empty at tabs": "0\t1\t5\n1\t2\t\n2\t0\t7\n",
    "in the first line": "1,2,\n0,1,5\n2,0,7\n",
}


@every("case", MISSING)
@every("prefix", ["", "v"])
def test_read_missing_weights(case, prefix):
    text = MISSING[case]
    if prefix:
        text = "".join(f"{prefix}{line}\n" for line in text.splitlines())
    line = 1 if case == "in the first line" else 2
    with pytest.raises(FileFormatError, match=rf"line {line}: the weight .*missing='drop'.*=0 "):
        read(text)
    dropped = read(text, missing="drop")
    assert dropped.values.tolist() == [5, 7]
    assert dropped.values.dtype == np.int64
    assert dropped.meta["dropped_missing"] == 1
    replaced = read(text, missing=9)
    assert sorted(replaced.values.tolist()) == [5, 7, 9]
    assert replaced.values.dtype == np.int64
    assert replaced.meta["replaced_missing"] == 1
    assert sorted(read(text, missing=2.5).values.tolist()) == [2.5, 5, 7]


def test_read_lines_are_right_after_missing_weights():
    text = "0,1,5\n1,2,\n\n2,3,NA\n3,x,1\n"
    with pytest.raises(FileFormatError, match="line 5: vertex 'x'"):
        read(text, missing="drop", ids="index")
    with pytest.raises(FileFormatError, match="line 5: weight 'far' is not"):
        read("0,1,5\n1,2,\n\n2,3,NA\n3,4,far\n", missing="drop")


def test_read_nan_is_missing_only_where_that_was_asked_for():
    text = "0 1 nan\n1 2 5\n2 0 NaN\n"
    assert np.isnan(read(text).values).tolist() == [True, False, True]
    dropped = read(text, missing="drop")
    assert dropped.values.tolist() == [5]
    assert dropped.meta["dropped_missing"] == 2
    assert read(text, missing=0).values.tolist() == [0, 5, 0]
    assert np.isnan(read("a,b,\n", missing=float("nan")).values).all()
    nothing = read("a,b,\n", missing="drop")
    assert (nothing.nrows, nothing.nnz) == (0, 0)


def test_read_millions_of_blank_lines_takes_no_time(monkeypatch):
    # Lines are looked at one by one only in blocks that have others.
    monkeypatch.setattr("semira.files.source._BLOCK_BYTES", 1 << 17)
    blank = b"\n" * (1 << 21)
    start_s = time.process_time()
    for first, last in ((b"", b"0 1"), (b"0 1", b"1 2"), (b"a b", b"b c"), (b'"a",b', b'"b",c')):
        assert read(first + blank + last).nnz == 1 + bool(first)
    assert time.process_time() - start_s < 2


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
    "one column": ("5\n6\n", {}, "line 1: 1 column;"),
    "four columns": ("# c\n0 1 2 3\n", {}, "line 2: 4 columns.*columns="),
    "comment after an edge": ("0 1\n1 2 # why\n", {}, "line 2: 4 columns"),
    "ragged": ("0 1\n\n1 2 3\n", {}, "line 3: 3 columns where the first line has 2"),
    "ragged names": ("a b\nb\n", {}, "line 2: 1 column "),
    "weight no number": ("0 1 5\n0 1 x\n", {}, "line 2: weight 'x' is not a number"),
    "weight and unit": ("0,1,5\n1,2,12 km\n", {}, "line 2: weight '12 km' is not a number"),
    "weights and units": ("a,b,5 km\nb,c,12 km\n", {"header": False}, "line 1: weight '5 km'"),
    "two numbers": ("0;1;12 13\n", {}, "line 1: weight '12 13' is not a number"),
    "neighbours": ("0 1 2 3\n1 2\n2 3 0\n", {}, "4 columns.*read_adjlist"),
    "weight no number, named": ("a b 5\nb a 5x\n", {}, "line 2: weight '5x'"),
    "thousands": ('0,1,"1,200"\n', {}, "line 1: weight '1,200' is not.*thousands are not read$"),
    "thousands or decimals": ("0;1;1,200\n", {}, "line 1.*thousands.*decimal=','"),
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
    "empty field, missing weights": ("0,1,2\n1,,\n", {"missing": 0}, "line 2: an empty field"),
    "ragged tabs": (
        "a\tb\nb c d\n",
        {},
        "line 2: 1 column .*separated by tabs: 'b c d'.*delimiter=' '",
    ),
    "ragged blanks": ("a b\nb c d\n", {}, "line 2: 3 columns.*separated by blanks"),
    "quote left open": ('0,1\n"1,2\n', {}, "line 2.*quoted"),
    "below the base": ("1 2\n1 0\n", {"base": 1}, "line 2: vertex 0 is below the base 1"),
    "negative": ("1 2\n1 -2\n", {"ids": "index"}, "line 2: vertex -2 is below"),
    "negative of a size": ("1 2\n1 -2\n", {"size": 9}, "line 2: vertex -2 is below"),
    "name forbidden": ("1 2\n1 b\n", {"ids": "index"}, "line 2: vertex 'b'.*ids='name'"),
    "name, size given": ("1 2\n# c\n1 2\n2 b\n", {"size": 3}, "line 4: vertex 'b'.*without base"),
    "name, base given": ('1 2\n"b c" 1\n', {"base": 1}, "line 2: 3 columns"),
    "beyond the size": ("0 5\n", {"size": 5}, "vertex 5 lies outside the size 5"),
    "column missing": ("0 1\n", {"columns": (0, 2)}, r"line 1: columns=\(0, 2\)"),
    "Matrix Market": ("%%MatrixMarket matrix\n3 3 1\n1 1 1\n", {}, "format='mtx'"),
    "beyond 2**60": (f"0 {2**62}\n", {"ids": "index"}, "beyond.*ids='name'"),
    "NUL": ("0 1\n1\0 2\n", {}, "line 2.*NUL"),
}


@every("case", BAD)
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


@every(
    ("options", "reason"),
    [
        ({"base": 2}, "base=2"),
        ({"seed": -1}, "seed=-1"),
        ({"size": -1}, "size=-1"),
        ({"delimiter": "::"}, "delimiter"),
        ({"columns": (0,)}, "columns"),
        ({"columns": (0, 0)}, "columns"),
        ({"columns": (0, 1.5)}, "columns"),
        ({"columns": (0, True)}, "columns"),
        ({"columns": ("a", "b"), "header": False}, "need a header"),
        ({"size": 3, "ids": "name"}, "leave out size"),
        ({"base": 1, "ids": "name"}, "leave out base"),
        ({"ids": "names"}, "ids='names'; choose one of auto, index, name"),
        ({"relabel": True}, "relabel= is ids= now: ids='name'"),
        ({"missing": "skip"}, "missing='skip'; give 'drop' or the number"),
        ({"missing": True}, "missing=True"),
        ({"encoding": "latin-99"}, "encoding='latin-99' is no text encoding"),
        ({"encoding": "rot13"}, "encoding='rot13' is no text encoding"),
        ({"decimal": ";"}, "decimal=';'; choose"),
        ({"decimal": ",", "delimiter": ","}, "decimal=',' with delimiter=','"),
        ({"colums": (0, 1)}, r"unknown option 'colums'; did you mean 'columns'\?; options: "),
        ({"symmetrize": True}, "did you mean 'symmetrise'"),
        ({"sep": ","}, "did you mean 'delimiter'"),
        ({"header": "no"}, "header='no'; True: the first line names the columns"),
        ({"header": 3}, "header=3; True"),
    ],
)
def test_bad_options_are_refused(options, reason):
    with pytest.raises(InvalidValue, match=reason):
        read("0 1\n", **options)


@pytest.mark.parametrize("token", ["1e400", "-1e400", "1" + "0" * 400 + ".0"])
def test_weights_beyond_the_floats_are_refused(token):
    with pytest.raises(FileFormatError, match=r"line 2: weight .* is beyond the floats of 64 bits"):
        read_edges(io.BytesIO(f"0 1 2.5\n1 2 {token}\n".encode()))
    assert read_edges(io.BytesIO(b"0 1 2.5\n1 2 inf\n")).values.tolist() == [2.5, float("inf")]
