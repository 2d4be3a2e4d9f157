"""Finding the format, opening, writing whole or not at all."""

from __future__ import annotations

import gzip
import io
import os
import stat
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.helpers.every import every

from semira.base.dtypes import BOOL, FP64, INT64
from semira.base.errors import (
    FileFormatError,
    FileReadError,
    FileWriteError,
    GraphblasException,
    InvalidObject,
    InvalidValue,
    MissingFile,
)
from semira.files import FORMATS, read_edges, write_edges
from semira.formats import EdgeList, MatrixArrays

EDGES = EdgeList(3, 3, np.array([0, 2]), np.array([1, 0]), np.array([1.5, 2.5]))
BOM = b"\xef\xbb\xbf"
MTX = b"%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 2\n3 1\n"


@every(
    ("name", "data", "expected"),
    [
        ("g.mtx", MTX, "mtx"),
        ("g.txt", MTX, "mtx"),
        ("g", MTX.upper(), "mtx"),
        ("g", BOM + MTX, "mtx"),
        ("g.txt", BOM + MTX, "mtx"),
        ("g.csv", b"\r\n \n" + MTX, "mtx"),
        ("g.mtx", BOM + b"\n" + MTX, "mtx"),
        ("g", BOM + b"p sp 2 1\na 1 2 3\n", "dimacs"),
        ("g.mtx.gz", gzip.compress(MTX, mtime=0), "mtx"),
        ("g.mtx", gzip.compress(MTX, mtime=0), "mtx"),
        ("g.MTX.GZ", MTX, "mtx"),
        ("g.csv", b"0,1\n", "csv"),
        ("g.el", b"0 1\n", "edgelist"),
        ("g.wel", b"0 1 2\n", "edgelist"),
        ("g", b"0 1\n", "edgelist"),
        ("g.gr", b"p sp 2 1\na 1 2 3\n", "dimacs"),
        ("g.dat", b"c x\np sp 2 1\na 1 2 3\n", "dimacs"),
        ("g.txt", b"c x\np sp 2 1\na 1 2 3\n", "dimacs"),
    ],
)
def test_read_finds_the_format(tmp_path, name, data, expected):
    path = tmp_path / name
    path.write_bytes(data)
    edges = read_edges(path)
    assert edges.meta["format"] == expected
    assert edges.meta["name"] == "g"
    assert read_edges(str(path)).nnz == edges.nnz


@pytest.mark.parametrize("above", [b"", BOM, b"\n", BOM + b"\r\n\n"])
def test_a_stream_of_matrix_market_is_no_edge_list(above):
    assert read_edges(io.BytesIO(above + MTX)).meta["format"] == "mtx"
    with pytest.raises(FileFormatError, match="format='mtx'"):
        read_edges(io.BytesIO(above + MTX), format="edgelist")


def test_read_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(MTX)))
    assert read_edges("-").nnz == 2


def test_read_standard_input_of_a_real_process():
    code = "from semira.files import read_edges; print(read_edges('-', format='csv').nnz)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=b"0,1\n1,2\n",
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3] / "src")},
        check=True,
    )
    assert done.stdout.split() == [b"2"]
    assert done.stderr == b""


def test_read_without_standard_input_is_refused(monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(FileReadError, match="no standard input"):
        read_edges("-")


def test_read_missing_file_is_a_file_not_found_error(tmp_path):
    with pytest.raises(MissingFile, match=r"nothing\.mtx: no such file") as caught:
        read_edges(tmp_path / "nothing.mtx")
    assert isinstance(caught.value, FileNotFoundError)


def test_read_directory_is_refused(tmp_path):
    with pytest.raises(FileReadError, match="is a directory"):
        read_edges(tmp_path)


def test_read_unreadable_file_is_refused(tmp_path):
    looped = tmp_path / "loop.mtx"
    looped.symlink_to(looped)
    with pytest.raises(FileReadError, match="cannot be opened"):
        read_edges(looped)


def test_read_path_with_nul_is_refused():
    with pytest.raises(InvalidValue, match="not a path"):
        read_edges("a\0b.mtx")


def test_read_failing_device_is_refused():
    class Broken(io.RawIOBase):
        """Fails after some bytes."""

        def read(self, _size=-1):
            raise OSError(5, "Input/output error")

    with pytest.raises(FileReadError, match="Input/output error"):
        read_edges(Broken(), format="mtx")


def test_read_text_stream_is_refused():
    with pytest.raises(InvalidValue, match="binary mode"):
        read_edges(io.StringIO("0 1\n"))


@pytest.mark.parametrize("cut", [15, 30, -9, -1])
def test_read_cut_gzip_is_refused(tmp_path, cut):
    path = tmp_path / "g.mtx.gz"
    path.write_bytes(gzip.compress(MTX, mtime=0)[:cut])
    with pytest.raises(FileFormatError, match="damaged or ends early"):
        read_edges(path)


def test_read_gzip_with_a_flipped_byte_is_refused(tmp_path):
    data = bytearray(gzip.compress(MTX, mtime=0))
    data[-6] ^= 0xFF
    path = tmp_path / "g.mtx.gz"
    path.write_bytes(data)
    with pytest.raises(FileFormatError, match="damaged"):
        read_edges(path)


def test_read_unknown_format_lists_the_known():
    with pytest.raises(InvalidValue, match="choose one of mtx, npz, csv, dimacs, edgelist"):
        read_edges(io.BytesIO(b""), format="gml")


def test_read_options_of_another_format_are_refused():
    with pytest.raises(InvalidValue, match="base: mtx files have no such option"):
        read_edges(io.BytesIO(MTX), base=1)


def test_read_options_clean_the_edges():
    edges = read_edges(io.BytesIO(b"0 0\n0 1\n"), drop_self_loops=True, symmetrise=True)
    assert edges.rows.tolist() == [0, 1]
    assert edges.symmetric is True


@pytest.mark.parametrize("suffix", [".mtx", ".npz", ".csv", ".mtx.gz", ".csv.gz"])
def test_write_then_read_by_suffix(tmp_path, suffix):
    path = tmp_path / f"g{suffix}"
    write_edges(path, EDGES)
    back = read_edges(path)
    assert (back.rows.tolist(), back.cols.tolist()) == ([0, 2], [1, 0])
    assert back.values.tolist() == [1.5, 2.5]
    assert (path.read_bytes()[:2] == b"\x1f\x8b") == suffix.endswith(".gz")
    assert [child.name for child in tmp_path.iterdir()] == [path.name]


def matrix(values, *, iso=False, dtype=FP64) -> MatrixArrays:
    return MatrixArrays(
        2, 3, dtype, "csr", np.int32([0, 1, 3]), np.int32([2, 0, 1]),
        np.asarray(values, dtype.np_type), iso,
    )  # fmt: skip


@pytest.mark.parametrize("flip", [False, True])
def test_write_matrix_arrays_by_rows_and_columns(flip):
    stored = matrix([1.0, 2.0, 3.0])
    stored = stored.flipped() if flip else stored
    out = io.BytesIO()
    write_edges(out, stored, format="mtx")
    back = read_edges(io.BytesIO(out.getvalue()))
    expected = {(0, 2): 1.0, (1, 0): 2.0, (1, 1): 3.0}
    found = zip(back.rows.tolist(), back.cols.tolist(), strict=True)
    if flip:
        expected = {(col, row): value for (row, col), value in expected.items()}
    assert dict(zip(found, back.values.tolist(), strict=True)) == expected


def test_write_iso_matrix_of_one_is_a_pattern_and_of_two_is_not():
    out = io.BytesIO()
    write_edges(out, matrix([True], iso=True, dtype=BOOL), format="npz")
    assert read_edges(io.BytesIO(out.getvalue())).values is None
    out = io.BytesIO()
    write_edges(out, matrix([2], iso=True, dtype=INT64), format="npz")
    assert read_edges(io.BytesIO(out.getvalue())).values.tolist() == [2, 2, 2]


def test_write_csv_uses_labels_and_reads_back():
    labels = np.array(['say "hi"', "a, b", "#c"], object)
    edges = EdgeList(3, 3, EDGES.rows, EDGES.cols, np.array([1, 2]), labels=labels)
    out = io.BytesIO()
    write_edges(out, edges, format="csv")
    back = read_edges(io.BytesIO(out.getvalue()), format="csv")
    assert back.labels.tolist() == ['say "hi"', "a, b", "#c"]
    assert back.values.tolist() == [1, 2]


def test_write_csv_keeps_unsigned_weights_of_64_bits():
    edges = EdgeList(3, 3, EDGES.rows, EDGES.cols, np.array([2**64 - 1, 2**53 + 1], np.uint64))
    out = io.BytesIO()
    write_edges(out, edges, format="csv")
    back = read_edges(io.BytesIO(out.getvalue()), format="csv")
    assert back.values.dtype == np.uint64
    assert back.values.tolist() == [2**64 - 1, 2**53 + 1]


def test_write_csv_warns_of_vertices_it_cannot_record(caplog):
    edges = EdgeList(9, 9, EDGES.rows, EDGES.cols)
    out = io.BytesIO()
    write_edges(out, edges, format="csv")
    assert "size=9" in caplog.text
    assert read_edges(io.BytesIO(out.getvalue()), format="csv", size=9).nrows == 9


def test_write_csv_of_a_rectangle_is_refused():
    with pytest.raises(InvalidValue, match="cannot hold 2 x 3; choose one of mtx, npz"):
        write_edges(io.BytesIO(), matrix([1.0, 2.0, 3.0]), format="csv")


def test_write_csv_of_complex_weights_is_refused():
    edges = EdgeList(3, 3, EDGES.rows, EDGES.cols, np.array([1j, 2]))
    with pytest.raises(FileWriteError, match="complex128; write mtx or npz"):
        write_edges(io.BytesIO(), edges, format="csv")


def test_write_standard_output(capfdbinary):
    write_edges("-", EDGES, format="csv")
    assert capfdbinary.readouterr().out == b"source,target,weight\n0,1,1.5\n2,0,2.5\n"


@pytest.mark.parametrize(
    ("path", "format", "reason"),
    [
        (
            "g.gml",
            None,
            "the name 'g.gml' is not a format that can be written; choose one of mtx, npz",
        ),
        ("g.txt", None, "not a format that can be written"),
        ("-", None, "not a format that can be written"),
        ("g.mtx", "gml", "unknown format 'gml'"),
        ("g.mtx", "edgelist", "format 'edgelist' is not a format that can be written"),
    ],
)
def test_write_unknown_format_is_refused(path, format, reason):
    with pytest.raises(InvalidValue, match=reason):
        write_edges(path, EDGES, format=format)


def test_write_invalid_edges_are_refused_and_leave_nothing(tmp_path):
    with pytest.raises(InvalidObject):
        write_edges(tmp_path / "g.mtx", EdgeList(1, 1, np.array([5]), np.array([0])))
    assert list(tmp_path.iterdir()) == []


def test_write_failure_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "g.csv"
    path.write_text("old")
    lone_surrogate = np.array(["a", "b", "\ud800"], object)
    edges = EdgeList(3, 3, EDGES.rows, EDGES.cols, labels=lone_surrogate)
    with pytest.raises(FileWriteError, match="not valid text"):
        write_edges(path, edges)
    assert path.read_text() == "old"
    assert [child.name for child in tmp_path.iterdir()] == ["g.csv"]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("", "is a directory"),
        ("no/g.mtx", "does not exist"),
        ("file/g.mtx", "does not exist|Not a"),
    ],
)
def test_write_bad_places_are_refused(tmp_path, name, reason):
    (tmp_path / "file").write_text("")
    with pytest.raises(FileWriteError, match=reason):
        write_edges(tmp_path / name, EDGES, format="mtx")
    assert [child.name for child in tmp_path.iterdir()] == ["file"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("format", ["mtx", "csv", "npz"])
def test_write_to_a_full_device_is_refused(format):
    with pytest.raises(FileWriteError, match="No space left"):
        write_edges("/dev/full", EDGES, format=format)
    assert stat.S_ISCHR(Path("/dev/full").stat().st_mode)


def test_write_keeps_permissions_and_follows_links(tmp_path):
    real, link = tmp_path / "real.csv", tmp_path / "link.csv"
    real.write_text("old")
    real.chmod(0o640)
    link.symlink_to(real)
    write_edges(link, EDGES)
    assert link.is_symlink()
    assert real.read_text().startswith("source")
    assert stat.S_IMODE(real.stat().st_mode) == 0o640


def test_write_new_file_has_the_usual_permissions(tmp_path):
    before = os.umask(0o027)
    try:
        write_edges(tmp_path / "g.csv", EDGES)
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "g.csv").stat().st_mode) == 0o640


def test_every_format_with_a_writer_reads_what_it_writes():
    for row in FORMATS.values():
        if row.writer is None:
            continue
        # DIMACS files hold whole numbers.
        values = EDGES.values * (2 if row.name == "dimacs" else 1)
        out = io.BytesIO()
        write_edges(out, replace(EDGES, values=values), format=row.name)
        back = read_edges(io.BytesIO(out.getvalue()), format=row.name)
        assert back.values.tolist() == values.tolist()


def test_every_error_is_ours():
    for error in (FileFormatError, FileReadError, FileWriteError, MissingFile):
        assert issubclass(error, GraphblasException)
