"""Compressions by content and by name, damage, and the bound on what comes out."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
import sys
import zipfile

import numpy as np
import pytest
from tests.helpers.every import every

from semira.base import memory, settings
from semira.base.dtypes import INT64
from semira.base.errors import FileFormatError, InvalidValue, MissingLibrary, OutOfMemory
from semira.files import read_edges, write_edges, write_vector
from semira.formats import EdgeList, VectorArrays

EDGES = b"source,target\n0,1\n1,2\n"
COMPRESS = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}


@pytest.fixture
def limit():
    """Return a function that sets ``max_bytes``."""
    before = settings.settings()
    yield lambda size: settings.override(max_bytes=size)
    settings.restore(before)


@every("suffix", COMPRESS)
@every("name", ["g.csv{}", "g.CSV{}", "g.csv", "g"])
def test_compressions_are_read_by_content(tmp_path, suffix, name):
    path = tmp_path / name.format(suffix.upper())
    path.write_bytes(COMPRESS[suffix](EDGES))
    assert read_edges(path).nnz == 2
    assert read_edges(io.BytesIO(COMPRESS[suffix](EDGES))).nnz == 2


@pytest.mark.parametrize("suffix", COMPRESS)
def test_empty_contents_are_named(suffix):
    with pytest.raises(FileFormatError, match="the file is empty"):
        read_edges(io.BytesIO(COMPRESS[suffix](b"")))


@pytest.mark.parametrize("suffix", COMPRESS)
def test_every_cut_and_changed_byte_ends_in_an_error_of_ours(suffix):
    data = COMPRESS[suffix](EDGES)
    for end in range(12, len(data)):
        with pytest.raises(FileFormatError):
            read_edges(io.BytesIO(data[:end]))
    for place in range(12, len(data)):
        changed = bytearray(data)
        changed[place] ^= 0x55
        try:
            assert read_edges(io.BytesIO(bytes(changed))).nnz == 2
        except FileFormatError as error:
            assert "damaged or ends early" in str(error)  # noqa: PT017 - both are right


@pytest.mark.parametrize("suffix", COMPRESS)
def test_writing_compresses_by_name_and_repeats_itself(tmp_path, suffix):
    graph = EdgeList(3, 3, np.array([0, 1]), np.array([1, 2]))
    first, second = tmp_path / f"a.mtx{suffix}", tmp_path / f"b.mtx{suffix}"
    write_edges(first, graph)
    write_edges(second, graph)
    assert first.read_bytes() == second.read_bytes()
    assert first.read_bytes()[:3] == COMPRESS[suffix](b"x")[:3]
    assert read_edges(first).nnz == 2
    write_edges(tmp_path / f"g.npz{suffix}", graph)
    assert read_edges(tmp_path / f"g.npz{suffix}").nnz == 2
    write_vector(tmp_path / f"v.csv{suffix}", VectorArrays.full(INT64, np.arange(2)))
    assert (tmp_path / f"v.csv{suffix}").read_bytes()[:3] == COMPRESS[suffix](b"x")[:3]


def test_a_python_without_lzma_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "lzma", None)
    with pytest.raises(MissingLibrary, match="built without"):
        read_edges(io.BytesIO(lzma.compress(EDGES)))


@pytest.mark.parametrize("suffix", COMPRESS)
@pytest.mark.parametrize("fill", [b"\n", b"0 1\n", b"# x\n", b"\0", b"a"])
def test_what_grows_beyond_the_limit_is_refused_with_both_sizes(limit, suffix, fill):
    limit(500_000)
    data = COMPRESS[suffix](b"0 1\n" + fill * (600_000 // len(fill)))
    with pytest.raises((OutOfMemory, FileFormatError)) as caught:
        read_edges(io.BytesIO(data))
    if fill in (b"\n", b"0 1\n", b"# x\n"):
        text = str(caught.value)
        packed, limited = re.search(
            r"(\d+) compressed bytes become \d+ or more, beyond the limit of (\d+)", text
        ).groups()
        assert 0 < int(packed) <= len(data)
        assert limited == "500000"
        assert "SEMIRA_MAX_BYTES" in text


def test_limit_is_for_compressed_input_only(limit):
    limit(100)
    plain = b"0 1\n" * 1000
    assert read_edges(io.BytesIO(plain)).nnz == 1000
    out = io.BytesIO()
    np.savez(out, row=np.arange(100), col=np.arange(100), n=100)
    assert read_edges(io.BytesIO(out.getvalue())).nnz == 100
    with pytest.raises(OutOfMemory):
        read_edges(io.BytesIO(gzip.compress(plain)))
    limit(0)
    assert read_edges(io.BytesIO(gzip.compress(plain))).nnz == 1000


def test_default_limit_is_half_of_some_memory(monkeypatch, tmp_path):
    limits = tmp_path / "memory.max"
    monkeypatch.setattr(memory, "_groups", lambda: ((tmp_path, memory._VERSION_2),))
    whole = settings.read_environment().max_bytes
    assert whole > 2**26
    for text, expected in (("max\n", whole), ("1000000\n", 500_000), (str(2**62), whole)):
        limits.write_text(text)
        assert settings.read_environment().max_bytes == expected


def test_limit_from_the_environment(monkeypatch):
    monkeypatch.setenv("SEMIRA_MAX_BYTES", "12345")
    assert settings.read_environment().max_bytes == 12345
    monkeypatch.setenv("SEMIRA_MAX_BYTES", "-1")
    with pytest.raises(InvalidValue, match="SEMIRA_MAX_BYTES=-1 must be at least 0"):
        settings.read_environment()


def test_blank_lines_are_skipped_in_blocks_and_counted(monkeypatch):
    monkeypatch.setattr("semira.files.source._BLOCK_BYTES", 1 << 18)
    data = b"0 1\n" + b"\n" * (9 << 16) + b"1 2\n" + b" \r\n" * (2 << 16) + b"1 x 3 4\n"
    with pytest.raises(FileFormatError, match=f"line {(9 << 16) + (2 << 16) + 3}: 4 columns"):
        read_edges(io.BytesIO(gzip.compress(data, 1)))


def bomb(**members: np.ndarray) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in members.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array)
    return out.getvalue()


@pytest.mark.parametrize(
    ("names", "error", "reason"),
    [
        (("row", "col"), FileFormatError, "member 'n' is missing"),
        (("row", "n"), FileFormatError, "member 'col' is missing"),
        (("row", "col", "n"), OutOfMemory, "beyond the limit"),
        (("x",), FileFormatError, "member 'n' is missing"),
    ],
)
def test_members_are_looked_at_before_they_are_loaded(limit, monkeypatch, names, error, reason):
    zeros = np.zeros(1_500_000, np.int64)
    data = bomb(**{name: np.int64(3) if name == "n" else zeros for name in names})
    assert len(data) < 1_000_000
    limit(10_000_000 if error is OutOfMemory else 0)

    def refuse(member, **_):
        array = read_array(member, **_)
        assert array.nbytes < 100, "a large member was loaded"
        return array

    read_array = np.lib.format.read_array
    monkeypatch.setattr(np.lib.format, "read_array", refuse)
    with pytest.raises(error, match=reason):
        read_edges(io.BytesIO(data))
