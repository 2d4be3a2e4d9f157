"""Matrix Market: every kind is read right or refused by name; what is written reads back."""

from __future__ import annotations

import io
import re

import numpy as np
import pytest
from scipy.io import mmread, mmwrite
from scipy.sparse import coo_array
from tests.helpers.every import every

from semira.base.errors import FileFormatError
from semira.files import mtx, read_edges, source, write_edges
from semira.files.mtx_fast import try_entries
from semira.formats import EdgeList


@pytest.fixture(autouse=True, params=["by NumPy", "by SciPy where plain"])
def reader(request, monkeypatch):
    """Read small files in both ways."""
    if request.param != "by NumPy":
        monkeypatch.setattr(mtx, "_SMALL", 0)


def read(text: str | bytes, **options):
    data = text.encode() if isinstance(text, str) else text
    edges = read_edges(io.BytesIO(data), format="mtx", **options)
    edges.validate()
    return edges


def dense(edges: EdgeList) -> np.ndarray:
    values = np.ones(edges.nnz) if edges.values is None else edges.values
    return coo_array((values, (edges.rows, edges.cols)), (edges.nrows, edges.ncols)).toarray()


def banner(field="real", symmetry="general", layout="coordinate") -> str:
    return f"%%MatrixMarket matrix {layout} {field} {symmetry}\n"


@pytest.mark.parametrize(
    ("field", "dtype", "value"),
    [
        ("real", np.float64, "2.5e-3"),
        ("double", np.float64, ".5"),
        ("integer", np.int64, "-7"),
        ("unsigned-integer", np.uint64, "18446744073709551615"),
    ],
)
def test_read_field_gives_its_dtype(field, dtype, value):
    edges = read(banner(field) + f"3 4 2\n1 4 {value}\n3 1 1\n")
    assert (edges.nrows, edges.ncols) == (3, 4)
    assert edges.rows.tolist() == [0, 2]
    assert edges.cols.tolist() == [3, 0]
    assert edges.values.dtype == dtype
    assert edges.values[0] == dtype(value)
    assert edges.symmetric is False


def test_read_pattern_has_no_values():
    edges = read(banner("pattern") + "2 2 1\n2 1\n")
    assert edges.values is None
    assert (edges.rows[0], edges.cols[0]) == (1, 0)


def test_read_symmetric_is_mirrored_with_the_diagonal_once():
    edges = read(banner("integer", "symmetric") + "3 3 3\n1 1 5\n3 1 2\n3 2 4\n")
    assert edges.symmetric is True
    assert edges.nnz == 5
    assert dense(edges).tolist() == [[5, 0, 2], [0, 0, 4], [2, 4, 0]]


def test_read_skew_symmetric_negates_the_mirrored_value():
    edges = read(banner("real", "skew-symmetric") + "2 2 1\n2 1 3\n")
    assert dense(edges).tolist() == [[0, -3], [3, 0]]
    assert edges.symmetric is False


@pytest.mark.parametrize("symmetry", ["general", "symmetric", "skew-symmetric"])
def test_read_dense_array_agrees_with_scipy(symmetry):
    count = {"general": 9, "symmetric": 6, "skew-symmetric": 3}[symmetry]
    body = "".join(f"{value}\n" for value in range(1, count + 1))
    text = banner("integer", symmetry, "array") + "3 3\n" + body
    np.testing.assert_array_equal(dense(read(text)), mmread(io.BytesIO(text.encode())))


def test_read_dense_rectangle_agrees_with_scipy():
    text = banner("real", layout="array") + "2 3\n1\n2\n3\n4\n5\n6\n"
    np.testing.assert_array_equal(dense(read(text)), mmread(io.BytesIO(text.encode())))


def test_read_complex_keeps_each_part():
    edges = read(banner("complex") + "2 2 2\n1 2 inf -1\n2 1 nan 2.5\n")
    assert edges.values.dtype == np.complex128
    assert (edges.values[0].real, edges.values[0].imag) == (np.inf, -1)
    assert np.isnan(edges.values[1].real)
    assert edges.values[1].imag == 2.5


@every("symmetry", ["general", "symmetric", "skew-symmetric", "hermitian"])
@every("layout", ["coordinate", "array"])
def test_read_complex_agrees_with_scipy(symmetry, layout):
    rng = np.random.default_rng(3)
    square = rng.integers(-9, 9, (6, 6)) + 1j * rng.integers(-9, 9, (6, 6))
    mirror = {"symmetric": square.T, "skew-symmetric": -square.T, "hermitian": square.T.conj()}
    square = square + mirror.get(symmetry, 0)
    out = io.BytesIO()
    given = coo_array(square) if layout == "coordinate" else square
    mmwrite(out, given, field="complex", symmetry=symmetry)
    edges = read(out.getvalue())
    np.testing.assert_array_equal(dense(edges), square)
    assert edges.symmetric is (symmetry == "symmetric")


@pytest.mark.parametrize("symmetry", ["general", "symmetric", "skew-symmetric"])
@pytest.mark.parametrize("field", ["real", "integer"])
def test_read_agrees_with_scipy_on_random_matrices(symmetry, field):
    rng = np.random.default_rng(7)
    square = rng.integers(-9, 9, (40, 40)) * (rng.random((40, 40)) < 0.2)
    if symmetry != "general":
        lower = np.tril(square, -1)
        square = lower + lower.T if symmetry == "symmetric" else lower - lower.T
    out = io.BytesIO()
    mmwrite(out, coo_array(square), field=field, symmetry=symmetry)
    np.testing.assert_array_equal(dense(read(out.getvalue())), square)


def test_read_accepts_comments_blank_lines_crlf_and_no_last_newline():
    text = banner() + "% by J\xf6rg\n\n% more\n2 2 2\n\n1 1 1\r\n  2 2 2 "
    edges = read(text.encode("latin-1"))
    assert edges.values.tolist() == [1, 2]
    assert edges.meta["comments"][1] == "% more"


def test_read_keeps_nan_and_infinity():
    edges = read(banner() + "1 3 3\n1 1 nan\n1 2 inf\n1 3 -Inf\n")
    np.testing.assert_array_equal(edges.values, [np.nan, np.inf, -np.inf])


@pytest.mark.parametrize("sizes", ["0 1152921504606846976", "1152921504606846976 0"])
def test_read_dense_array_without_entries_allocates_nothing(sizes):
    assert read(banner(layout="array") + sizes + "\n").nnz == 0


def test_read_repeated_entries_are_all_kept():
    edges = read(banner() + "1 1 2\n1 1 1\n1 1 2\n", dup_op="plus")
    assert edges.values.tolist() == [1, 2]
    assert edges.meta["dup_op"] == "plus"


def test_read_sizes_beyond_31_bits_use_wide_indices():
    size = 3_000_000_000
    edges = read(banner("pattern") + f"{size} {size} 1\n{size} 1\n")
    assert edges.rows.dtype == np.int64
    assert edges.rows[0] == size - 1


def test_read_empty_matrix_has_no_entries():
    edges = read(banner() + "0 5 0\n")
    assert (edges.nrows, edges.ncols, edges.nnz) == (0, 5, 0)


BAD = {
    "empty file": ("", "empty"),
    "no banner": ("1 1 1\n", "line 1.*banner"),
    "unknown object": ("%%MatrixMarket vector coordinate real general\n1 1 0\n", "banner"),
    "unknown field": (banner("quaternion") + "1 1 0\n", "field 'quaternion'"),
    "unknown symmetry": (banner("real", "skew") + "1 1 0\n", "symmetry 'skew'"),
    "real hermitian": (banner("real", "hermitian") + "1 1 0\n", "must be complex, not real"),
    "no imaginary part": (banner("complex") + "3 3 1\n1 1 1\n", "line 3: 3 columns where 4"),
    "imaginary word": (banner("complex") + "1 1 1\n1 1 1 2i\n", "imaginary part '2i' is not"),
    "skew pattern": (banner("pattern", "skew-symmetric") + "1 1 0\n", "pattern"),
    "header only": (banner() + "% nothing\n", "ends inside the header"),
    "two sizes": (banner() + "3 3\n", "line 2.*3 integers"),
    "word as size": (banner() + "3 x 1\n", "line 2.*3 integers"),
    "negative size": (banner() + "-3 3 1\n", "line 2.*outside"),
    "negative count": (banner() + "3 3 -1\n", "line 2.*outside"),
    "size beyond 64 bits": (banner() + "99999999999999999999 3 1\n", "line 2"),
    "size beyond the limit": (banner() + f"{2**61} 3 1\n", "line 2.*outside"),
    "symmetric rectangle": (banner("real", "symmetric") + "2 3 0\n", "cannot be symmetric"),
    "petabytes claimed": (banner() + "9 9 999999999999999\n1 1 1\n", "ends after 1 of the"),
    "petabytes of dense": (banner(layout="array") + "99999999 99999999\n1\n", "ends after 1 of"),
    "cut short": (banner() + "3 3 3\n1 1 1\n2 2 2\n", "ends after 2 of the 3"),
    "too many": (banner() + "3 3 1\n1 1 1\n\n2 2 2\n", "line 5: more entries than the 1"),
    "row too large": (banner() + "3 3 2\n1 1 1\n4 2 2\n", r"line 4: row 4 lies outside 1\.\.3"),
    "column zero": (banner() + "3 3 2\n1 1 1\n3 0 2\n", "line 4: column 0 lies outside"),
    "negative row": (banner() + "3 3 1\n-1 0 2\n", "line 3: row -1 lies outside"),
    "no value": (banner() + "3 3 1\n1 1\n", "line 3: 2 columns where 3"),
    "value too many": (banner() + "3 3 1\n1 1 1 1\n", "line 3: 4 columns where 3"),
    "value of a pattern": (banner("pattern") + "3 3 1\n1 1 1\n", "line 3: 3 columns where 2"),
    "fraction as integer": (banner("integer") + "3 3 1\n1 1 1.5\n", "line 3: value '1.5' is not"),
    "number and more": (banner() + "3 3 1\n1 1 1.5abc\n", "line 3: value '1.5abc' is not"),
    "integer too large": (banner("integer") + "1 1 1\n1 1 9223372036854775808\n", "line 3.*64"),
    "entries on one line": (banner() + "3 3 2\n1 1 1 2 2 2\n", "line 3: 6 columns"),
    "skew diagonal": (banner("real", "skew-symmetric") + "2 2 1\n1 1 1\n", "diagonal"),
    "NUL": (banner() + "3 3 1\n1 1 \0\n", "line 3.*NUL"),
}


@every("case", BAD)
def test_read_bad_file_is_refused_with_line_and_reason(case):
    text, reason = BAD[case]
    with pytest.raises(FileFormatError, match=reason):
        read(text)


def test_read_body_that_is_not_utf8_is_refused():
    with pytest.raises(FileFormatError, match=r"line 3.*UTF-8"):
        read(banner().encode() + b"1 1 1\n1 1 \xff\n")


def test_read_huge_line_is_refused_without_reading_on():
    class Endless(io.RawIOBase):
        """Never ends its second line."""

        def __init__(self):
            self.first = banner().encode()
            self.given = 0

        def read(self, size=-1):
            data, self.first = self.first or b"1" * size, b""
            self.given += len(data)
            return data

    stream = Endless()
    with pytest.raises(FileFormatError, match="no line end"):
        read_edges(stream, format="mtx")
    assert stream.given < 32 << 20


@every(
    ("text", "field"),
    [
        (b"1 1 1.5.2\n", "real"),
        (b"1 1 1e5e3\n", "real"),
        (b"1 1 1e5.3\n", "real"),
        (b"1 1 1e\n", "real"),
        (b"1.0 1 1\n", "real"),
        (b"1 1 1.5\n", "integer"),
        (b"1 1 1-1\n", "integer"),
        (b"1 1 -\n", "integer"),
        (b"1 1 1 1\n", "integer"),
        (b"1 1\n1 1 1 1\n", "integer"),
        (b"1\n2 2 2\n", "pattern"),
        (b"1 1 1 2 2\n3\n", "integer"),
        (b"1 4\n", "pattern"),
        (b"0 1\n", "pattern"),
    ],
)
def test_fast_reader_leaves_doubtful_blocks_alone(text, field):
    assert try_entries(text, field, 3, 3) is None


@pytest.mark.parametrize("text", [b"1 2 -1.5e-7\n3 3 .25\n", b" 1 2 1\n 3 3 -2E5", b"2 2 0.1\n"])
def test_fast_reader_takes_plain_blocks(text):
    rows, cols, values = try_entries(text, "real", 3, 3)
    expected = np.loadtxt(io.BytesIO(text), ndmin=2)
    np.testing.assert_array_equal(np.c_[rows, cols, values], expected)


@pytest.mark.parametrize("odd", ["1 1 5.", "% note", "", "1 1 nan"])
def test_read_in_small_blocks_gives_the_same(monkeypatch, odd):
    rng = np.random.default_rng(11)
    lines = [
        f"{u} {v} {w!r}"
        for u, v, w in zip(*rng.integers(1, 9, (2, 300)), rng.random(300).tolist(), strict=True)
    ]
    lines.insert(150, odd)
    text = banner() + f"8 8 {300 + odd.startswith('1')}\n" + "\n".join(lines)
    whole = read(text)
    monkeypatch.setattr(source, "_BLOCK_BYTES", 128)
    parts = read(text)
    np.testing.assert_array_equal(parts.rows, whole.rows)
    np.testing.assert_array_equal(parts.cols, whole.cols)
    np.testing.assert_array_equal(parts.values, whole.values)
    listed = [line.split() for line in lines if line[:1] not in ("", "%")]
    np.testing.assert_array_equal(parts.values, [float(value) for _, _, value in listed])
    assert (parts.rows + 1).tolist() == [int(row) for row, _, _ in listed]


def edge_list(values, *, symmetric=False) -> EdgeList:
    return EdgeList(3, 3, np.array([0, 1, 2]), np.array([1, 0, 2]), values, symmetric)


@every("symmetric", [False, True])
@every(
    "values",
    [
        None,
        np.array([True, True, False]),
        np.array([-3, -3, 127], np.int8),
        np.array([5, 5, 2**64 - 1], np.uint64),
        np.array([0.1, 0.1, np.nan]),
        np.array([0.1, 0.1, np.inf], np.float32),
        np.array([1e-308, 1e-308, 1.7976931348623157e308]),
        np.array([0.1 - 3j, 0.1 - 3j, 1e-308j]),
        np.array([0.1 - 3j, 0.1 - 3j, 2], np.complex64),
    ],
    ids=[
        "pattern", "bool", "int8", "uint64", "float64", "float32", "extremes", "complex",
        "complex64",
    ],
)  # fmt: skip
def test_write_then_read_gives_the_same_entries(values, symmetric):
    out = io.BytesIO()
    write_edges(out, edge_list(values, symmetric=symmetric), format="mtx")
    back = read(out.getvalue())
    assert back.symmetric is symmetric
    order = np.lexsort((back.cols, back.rows))
    assert back.rows[order].tolist() == [0, 1, 2]
    assert back.cols[order].tolist() == [1, 0, 2]
    if values is None:
        assert back.values is None
    else:
        np.testing.assert_array_equal(back.values[order].astype(values.dtype), values)


def test_write_agrees_with_scipy():
    out = io.BytesIO()
    write_edges(out, edge_list(np.array([1.5, 2.5, -3.0])), format="mtx")
    np.testing.assert_array_equal(
        mmread(io.BytesIO(out.getvalue()), spmatrix=False).toarray(),
        [[0, 1.5, 0], [2.5, 0, 0], [0, 0, -3]],
    )


@pytest.mark.parametrize("number", ["1.5D+02", "1.5d2", "1.5+2", "1,5"])
def test_numbers_of_fortran_are_refused_by_name(number):
    text = f"%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 {number}\n"
    with pytest.raises(FileFormatError, match=f"line 3: value '{re.escape(number)}' is not"):
        read_edges(io.BytesIO(text.encode()))


def test_values_beyond_the_floats_are_refused():
    head = b"%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 0.5\n"
    with pytest.raises(FileFormatError, match=r"line 4: .*'1e400' is not a number \(of 64 bits\)"):
        read_edges(io.BytesIO(head + b"2 2 1e400\n"))
    assert read_edges(io.BytesIO(head + b"2 2 -inf\n")).values.tolist() == [0.5, -float("inf")]
