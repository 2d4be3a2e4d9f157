"""Graphs inside of zip and tar archives."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import lzma
import tarfile
import zipfile

import numpy as np
import pytest
from tests.helpers.every import every

from semira.base import settings
from semira.base.errors import FileFormatError, GraphblasException, OutOfMemory
from semira.files import read_edges

MTX = b"%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 2\n3 1\n"
CSV = b"source,target\n0,1\n1,2\n"


def zipped(**files: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()


def tarred(**files: bytes) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            if name.endswith("/"):
                info.type = tarfile.DIRTYPE
            archive.addfile(info, io.BytesIO(content))
    return out.getvalue()


def tarred_gz(**files: bytes) -> bytes:
    return gzip.compress(tarred(**files))


def zipped_gz(**files: bytes) -> bytes:
    return gzip.compress(zipped(**files))


PACKERS = (zipped, tarred, tarred_gz, zipped_gz)


def npz() -> bytes:
    out = io.BytesIO()
    np.savez(out, row=[0, 1], col=[1, 2], n=3)
    return out.getvalue()


#: What archives hold that are read: the files, the graph's name, its format.
READ = {
    "one file": ({"g.mtx": MTX}, "g", "mtx"),
    "as the SuiteSparse collection": ({"ash/": b"", "ash/ash.mtx": MTX}, "ash", "mtx"),
    "with vectors beside it": ({"a/a_b.mtx": MTX, "a/a.mtx": MTX, "a/a_x.mtx": MTX}, "a", "mtx"),
    "with a note": ({"README.txt": b"hello", "LICENSE": b"x", "d/g.csv": CSV}, "g", "csv"),
    "of macOS": ({"g.csv": CSV, "__MACOSX/._g.csv": b"\0", ".DS_Store": b"\0"}, "g", "csv"),
    "beside other files": ({"g.csv": CSV, "names.pdf": b"%PDF-"}, "g", "csv"),
    "without a suffix": ({"edges": b"0 1\n1 2\n"}, "edges", "edgelist"),
    "compressed once more": ({"g.csv.gz": gzip.compress(CSV)}, "g", "csv"),
    "compressed by bzip2": ({"g.csv.bz2": bz2.compress(CSV)}, "g", "csv"),
    "npz": ({"x/g.npz": npz()}, "g", "npz"),
}

#: What is refused.
REFUSED = {
    "two graphs": ({"a.mtx": MTX, "b.mtx": MTX}, r"holds 2 graphs \(a.mtx, b.mtx\); unpack it"),
    "many": ({f"{k}.csv": CSV for k in range(9)}, r"holds 9 graphs \(0.csv, .*4.csv, \.\.\.\)"),
    "no graph": ({"a.bin": b"x", "b.doc": b"y"}, r"holds no graph \(a.bin, b.doc\)"),
    "nothing": ({}, r"holds no graph \(nothing\)|expected a header|NUL"),
    "one that is not read": ({"g.gml": b"graph [ ]"}, "g.gml: this is GML"),
    "escapes": ({"\x1b[31m.bin": b"x", "y.bin": b""}, r"\(\\x1b\[31m.bin, y.bin\)"),
    "an archive in it": ({"a.zip": b"PK\x03\x04"}, "not a readable"),
}


@every("pack", PACKERS)
@every("case", READ)
def test_the_one_graph_is_read(tmp_path, pack, case):
    files, stem, name = READ[case]
    path = tmp_path / "download"
    path.write_bytes(pack(**files))
    edges = read_edges(path)
    assert (edges.nnz, edges.meta["name"], edges.meta["format"]) == (2, stem, name)


@every("pack", PACKERS)
@every("case", REFUSED)
def test_other_archives_say_what_they_hold(pack, case):
    files, reason = REFUSED[case]
    if not files and pack in (zipped, zipped_gz):
        pytest.skip("an empty zip archive has no mark of one")
    with pytest.raises(FileFormatError, match=reason):
        read_edges(io.BytesIO(pack(**files)))


def test_stated_format_is_that_of_the_graph():
    data = tarred(**{"edges.dat": b"p q\nq r\n"})
    assert read_edges(io.BytesIO(data), format="edgelist").labels.tolist() == ["p", "q", "r"]


@pytest.mark.parametrize("pack", PACKERS)
def test_pipes_are_read(pack):
    data = pack(**{"g.mtx": MTX})

    class Pipe:
        """Reads forward only."""

        def __init__(self):
            self.read = io.BytesIO(data).read

    assert read_edges(Pipe()).nnz == 2


def test_workbooks_are_named_by_their_suffix(tmp_path):
    for suffix, word in ((".xlsx", "an Excel workbook"), (".ods", "an OpenDocument table")):
        path = tmp_path / f"g{suffix}"
        path.write_bytes(zipped(**{"[Content_Types].xml": b"<x/>", "xl/workbook.xml": b"<x/>"}))
        with pytest.raises(FileFormatError, match=f"{word}: pandas.read_excel"):
            read_edges(path)


@pytest.mark.parametrize("pack", PACKERS)
def test_files_beyond_the_limit_are_refused_before_they_are_read(pack):
    data = pack(**{"g.txt": b"\n" * 5_000_000})
    before = settings.override(max_bytes=100_000)
    try:
        if pack is tarred:
            # Nothing is compressed there.
            with pytest.raises(FileFormatError, match="holds no edge"):
                read_edges(io.BytesIO(data))
        else:
            with pytest.raises(OutOfMemory, match="SEMIRA_MAX_BYTES"):
                read_edges(io.BytesIO(data))
    finally:
        settings.restore(before)


def test_encrypted_and_odd_zip_members_are_refused():
    data = bytearray(zipped(**{"g.csv": CSV}))
    for place in (data.index(b"PK\x03\x04") + 6, data.index(b"PK\x01\x02") + 8):
        data[place] |= 1
    with pytest.raises(FileFormatError, match="encrypted"):
        read_edges(io.BytesIO(bytes(data)))


def test_sparse_tar_members_are_left_out():
    info = tarfile.TarInfo("g.csv")
    info.type = tarfile.GNUTYPE_SPARSE
    out = io.BytesIO()
    out.write(info.tobuf(tarfile.GNU_FORMAT))
    out.write(bytes(10240))
    with pytest.raises(FileFormatError, match="holds no graph"):
        read_edges(io.BytesIO(out.getvalue()))


@pytest.mark.parametrize("pack", [zipped, tarred])
def test_mutated_archives_end_in_a_graph_or_an_error_of_ours(pack):
    rng = np.random.default_rng(11)
    data = pack(**{"d/": b"", "d/d.mtx": MTX, "d/x.txt": b"1 2\n"})
    for _ in range(300):
        changed = bytearray(data)
        for place in rng.integers(0, len(data), int(rng.integers(1, 5))):
            changed[place] = int(rng.integers(256))
        if rng.random() < 0.3:
            del changed[int(rng.integers(len(changed))) :]
        with contextlib.suppress(GraphblasException):
            read_edges(io.BytesIO(bytes(changed))).validate()


def test_xz_archive_by_name(tmp_path):
    path = tmp_path / "ash.tar.xz"
    path.write_bytes(lzma.compress(tarred(**{"ash/ash.mtx": MTX})))
    assert read_edges(path).nnz == 2
