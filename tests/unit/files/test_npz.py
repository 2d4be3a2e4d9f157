"""NumPy archives: SciPy's layout, the plain layout, and damaged ones."""

from __future__ import annotations

import gzip
import io
import zipfile

import numpy as np
import pytest
import scipy.sparse
from tests.helpers.every import every

from semira.base.errors import FileFormatError, FileWriteError
from semira.files import npz, read_edges, write_edges
from semira.formats import EdgeList


def archive(**members) -> io.BytesIO:
    out = io.BytesIO()
    np.savez_compressed(out, **members)
    out.seek(0)
    return out


def read(**members) -> EdgeList:
    edges = read_edges(archive(**members), format="npz")
    edges.validate()
    return edges


def dense(edges: EdgeList) -> np.ndarray:
    values = np.ones(edges.nnz, int) if edges.values is None else edges.values
    shape = (edges.nrows, edges.ncols)
    return scipy.sparse.coo_array((values, (edges.rows, edges.cols)), shape).toarray()


@every("kind", ["csr", "csc", "coo", "bsr", "dia"])
@every("family", ["array", "matrix"])
@every("dtype", [np.int8, np.float32, np.float64, np.bool_, np.complex64, np.complex128])
def test_read_save_npz_of_every_layout(kind, family, dtype):
    plain = (np.arange(24).reshape(4, 6) % 5 == 1) * np.arange(24).reshape(4, 6)
    plain = plain * (1 + 2j) if np.dtype(dtype).kind == "c" else plain
    matrix = getattr(scipy.sparse, f"{kind}_{family}")(plain.astype(dtype))
    out = io.BytesIO()
    scipy.sparse.save_npz(out, matrix)
    edges = read_edges(io.BytesIO(out.getvalue()))
    edges.validate()
    assert edges.values.dtype == dtype
    assert (edges.nrows, edges.ncols, edges.symmetric) == (4, 6, False)
    np.testing.assert_array_equal(dense(edges), plain.astype(dtype))


def test_read_plain_directed():
    edges = read(row=np.uint32([0, 1]), col=np.uint32([1, 1]), n=3, directed=True)
    assert (edges.nrows, edges.ncols, edges.values, edges.symmetric) == (3, 3, None, False)
    assert edges.rows.dtype == np.int32


def test_read_plain_undirected_is_mirrored_with_the_diagonal_once():
    edges = read(row=[0, 1], col=[1, 1], n=3, directed=False, weight=np.float32([2, 5]))
    assert edges.symmetric is True
    assert dense(edges).tolist() == [[0, 2, 0], [2, 5, 0], [0, 0, 0]]
    assert edges.values.dtype == np.float32


def test_read_plain_bipartite_has_its_shape_and_extras_in_meta():
    edges = read(
        row=[0, 1], col=[4, 0], n=7, nrows=2, ncols=5, directed=True, bipartite=True,
        is_test=np.uint8([0, 1]), source=3,
    )  # fmt: skip
    assert (edges.nrows, edges.ncols) == (2, 5)
    assert edges.meta["is_test"].tolist() == [0, 1]
    assert edges.meta["source"] == 3


def test_read_other_byte_order_and_half_precision():
    edges = read(
        row=np.array([0], ">i4"), col=np.array([1], ">u2"), n=2, weight=np.array([2], ">f4")
    )
    assert edges.values.dtype == np.float32
    assert read(row=[0], col=[1], n=2, weight=np.float16([0.5])).values.dtype == np.float32


def test_read_plain_complex_weights_of_any_byte_order():
    edges = read(row=[0], col=[1], n=2, weight=np.array([1 + 2j], ">c8"))
    assert edges.values.dtype == np.complex64
    assert edges.values.tolist() == [1 + 2j]


@pytest.mark.parametrize("dtype", [np.longdouble, np.clongdouble])
def test_read_values_too_wide_are_refused(dtype):
    if np.finfo(dtype).bits == 64:
        pytest.skip("long doubles are doubles here")
    with pytest.raises(FileFormatError, match=f"{np.dtype(dtype)}.*complex64 and complex128"):
        read(row=[0], col=[1], n=2, weight=np.ones(1, dtype))


def test_read_from_gzip_and_pipe_like_streams(tmp_path):
    data = archive(row=[0], col=[1], n=2).getvalue()
    path = tmp_path / "g.npz.gz"
    path.write_bytes(gzip.compress(data))
    assert read_edges(path).nnz == 1

    class Pipe:
        """Reads forward only."""

        def __init__(self):
            self.read = io.BytesIO(data).read

    assert read_edges(Pipe()).nnz == 1


CSR = {
    "format": np.bytes_("csr"),
    "shape": [2, 3],
    "data": [1.0, 2.0],
    "indices": [0, 2],
    "indptr": [0, 1, 2],
}
DIA = {
    "format": np.bytes_("dia"),
    "shape": [3, 3],
    "data": [[1.0, 2.0, 3.0], [0.0, 4.0, 5.0]],
    "offsets": [0, 1],
}
PLAIN = {"row": [0, 1], "col": [1, 1], "n": 3, "directed": True}
BAD = {
    "nothing known": ({"x": [1]}, "member 'n' is missing; it holds x"),
    "no row": ({"n": 3, "col": [1]}, "member 'row' is missing"),
    "row too large": (PLAIN | {"row": [0, 3]}, r"row\[1\] = 3 lies outside \[0, 3\)"),
    "negative column": (PLAIN | {"col": [-1, 0]}, r"col\[0\] = -1"),
    "lengths differ": (PLAIN | {"col": [1]}, "2 rows, 1 columns"),
    "weights differ": (PLAIN | {"weight": [1.0]}, "do not match"),
    "float rows": (PLAIN | {"row": [0.0, 1.0]}, "member 'row' has dtype float64"),
    "two-dimensional": (PLAIN | {"row": [[0, 1]]}, "member 'row' has dtype"),
    "negative n": (PLAIN | {"n": -3}, "n=-3 lies outside"),
    "huge n": (PLAIN | {"n": 2**61}, "lies outside"),
    "n is text": (PLAIN | {"n": "three"}, "member 'n' has dtype"),
    "text for weights": (PLAIN | {"weight": ["1", "2"]}, "<U1.*float"),
    "text for values": (CSR | {"data": ["1", "2"]}, "'data' has dtype <U1"),
    "rectangle undirected": (
        PLAIN | {"nrows": 2, "ncols": 5, "directed": False},
        "not square",
    ),
    "equal labels": (PLAIN | {"labels": ["a", "b", "a"]}, "two vertices have the label 'a'"),
    "labels of another length": (PLAIN | {"labels": ["a"]}, "1 labels for 3"),
    "python objects": (PLAIN | {"weight": np.array([{}, 1], object)}, "Object arrays|pickled"),
    "unknown layout": (CSR | {"format": np.bytes_("lil")}, "'lil' is unknown; known: csr"),
    "no data": ({k: v for k, v in CSR.items() if k != "data"}, "member 'data' is missing"),
    "three sizes": (CSR | {"shape": [2, 3, 4]}, "not two sizes"),
    "negative size": (CSR | {"shape": [2, -3]}, "not two sizes"),
    "index beyond": (CSR | {"indices": [0, 3]}, r"indices\[1\] = 3"),
    "index negative": (CSR | {"indices": [0, -1]}, r"indices\[1\] = -1"),
    "falling offsets": (CSR | {"shape": [3, 3], "indptr": [0, 2, 1, 2]}, "falls"),
    "offsets start late": (CSR | {"indptr": [1, 1, 2]}, "rise from 0"),
    "offsets end early": (CSR | {"indptr": [0, 1, 1]}, "rise from 0"),
    "no offsets": (CSR | {"indptr": np.empty(0, int)}, "0 offsets"),
    "too few offsets": (CSR | {"shape": [5, 3]}, "3 offsets where"),
    "values missing": (CSR | {"data": [1.0]}, "1 values"),
    "blocks do not tile": (
        CSR | {"format": np.bytes_("bsr"), "data": np.ones((2, 2, 2))},
        "do not tile",
    ),
    "not Unicode": (
        PLAIN | {"labels": np.array([1, 2**31, 3], np.uint32).view("U1")},
        "not Unicode",
    ),
    "offsets repeat": (DIA | {"offsets": [1, 1]}, "2 diagonals need as many different offsets"),
    "offset missing": (DIA | {"offsets": [1]}, "2 diagonals"),
    "offset beyond": (DIA | {"offsets": [0, -(2**63)]}, "offsets"),
    "coo beyond": (
        {**PLAIN, "format": np.bytes_("coo"), "shape": [1, 2], "data": [1, 2]},
        r"row\[1\] = 1",
    ),
}


@every("case", BAD)
def test_read_bad_members_are_refused_by_name(case):
    members, reason = BAD[case]
    with pytest.raises(FileFormatError, match=reason):
        read(**members)


def test_read_diagonals_of_a_huge_claimed_shape_allocate_nothing_for_it():
    edges = read(**(DIA | {"shape": [2**50, 3]}))
    assert edges.nrows == 2**50
    found = np.c_[edges.rows, edges.cols, edges.values].tolist()
    assert found == [[0, 0, 1], [1, 1, 2], [2, 2, 3], [0, 1, 4], [1, 2, 5]]


def _with_member(header: bytes, info: dict | None = None) -> io.BytesIO:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("row.npy", b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)
    out.seek(0)
    return out


@pytest.mark.parametrize(
    ("header", "reason"),
    [
        (b"{'descr': '<i8', 'fortran_order': False, 'shape': (999999999999999,)}\n", "claims"),
        (b"{'descr': '<i8', 'fortran_order': False, 'shape': (-1,)}\n", "claims"),
        (b"{'descr': '<U0', 'fortran_order': False, 'shape': (999999999999999,)}\n", "claims"),
        (b"{'descr': '|O', 'fortran_order': False, 'shape': (1,)}\n", "row.npy"),
        (b"{'descr': 'i', 'fortran_order'", "not a readable"),
        (b"[" * 3000, "not a readable"),
    ],
)
def test_read_false_claims_are_refused_before_allocating(header, reason):
    with pytest.raises(FileFormatError, match=reason):
        read_edges(_with_member(header), format="npz")


def test_read_claimed_expansion_beyond_deflate_is_refused():
    data = bytearray(archive(row=[0], col=[1], n=2).getvalue())
    # The central directory holds the sizes that zipfile believes; offset 24 is the expanded one.
    entry = data.index(b"PK\x01\x02")
    data[entry + 24 : entry + 28] = (2**31).to_bytes(4, "little")
    with pytest.raises(FileFormatError, match="claims 2147483648 bytes"):
        read_edges(io.BytesIO(bytes(data)))


def test_read_other_compression_is_refused():
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_LZMA) as file:
        file.writestr("row.npy", b"x" * 100)
    with pytest.raises(FileFormatError, match="neither stored nor deflated"):
        read_edges(io.BytesIO(out.getvalue()))


@pytest.mark.parametrize("cut", [1, 30, 100, -10, -1])
def test_read_cut_archive_is_refused(cut):
    with pytest.raises(FileFormatError):
        read_edges(io.BytesIO(archive(**PLAIN).getvalue()[:cut]), format="npz")


def test_read_empty_or_text_file_is_refused():
    for data in (b"", b"0 1\n"):
        with pytest.raises(FileFormatError, match="not a readable"):
            read_edges(io.BytesIO(data), format="npz")


@every(
    "values",
    [
        None,
        np.array([1.5, np.nan]),
        np.int8([1, 2]),
        np.array([True, False]),
        np.array([1 + 2j, complex(np.inf, -0.0)]),
        np.complex64([1j, 2]),
    ],
)
@every("labels", [None, ["a", "Zoë", ""], [10**12, 5, -1]])
def test_write_then_read_gives_the_same(values, labels):
    names = None if labels is None else np.array(labels, object if labels[0] == "a" else int)
    edges = EdgeList(3, 3, np.array([2, 0]), np.array([0, 1]), values, labels=names)
    out = io.BytesIO()
    write_edges(out, edges, format="npz")
    back = read_edges(io.BytesIO(out.getvalue()))
    assert (back.rows.tolist(), back.cols.tolist(), back.nrows) == ([2, 0], [0, 1], 3)
    assert (None if back.labels is None else back.labels.tolist()) == labels
    if values is None:
        assert back.values is None
    else:
        assert back.values.dtype == values.dtype
        np.testing.assert_array_equal(back.values, values)


def test_write_is_read_by_scipy():
    edges = EdgeList(2, 3, np.array([1]), np.array([2]), np.array([4.5]))
    out = io.BytesIO()
    write_edges(out, edges, format="npz")
    matrix = scipy.sparse.load_npz(io.BytesIO(out.getvalue()))
    assert matrix.toarray().tolist() == [[0, 0, 0], [0, 0, 4.5]]


def test_write_labels_too_wide_for_an_archive_are_refused(monkeypatch):
    monkeypatch.setattr(npz, "_MAX_LABEL_BYTES", 64)
    labels = np.array(["a", "b" * 100], object)
    edges = EdgeList(2, 2, np.array([1]), np.array([0]), labels=labels)
    with pytest.raises(FileWriteError, match="write csv instead"):
        write_edges(io.BytesIO(), edges, format="npz")


def test_members_that_are_no_arrays_are_left_out():
    out = archive(row=[0], col=[1], n=2)
    with zipfile.ZipFile(out, "a") as added:
        added.writestr("note.txt", "hello")
    out.seek(0)
    edges = read_edges(out)
    assert edges.nnz == 1
    assert "note" not in " ".join(edges.meta)


def test_a_member_named_twice_is_refused():
    out = archive(row=[0], col=[1], n=2)
    with zipfile.ZipFile(out) as found:
        data = found.read("row.npy")
    with pytest.warns(UserWarning, match="Duplicate name"), zipfile.ZipFile(out, "a") as added:
        added.writestr("row.npy", data)
    out.seek(0)
    with pytest.raises(FileFormatError, match="names a member twice"):
        read_edges(out)


def test_names_of_members_are_shown_with_escapes():
    with pytest.raises(FileFormatError, match=r"holds \\x1b\[31m$"):
        read_edges(archive(**{"\x1b[31m": [1]}))
