"""Mutated files: every reader answers rightly or raises one of Semira's exceptions.

The seed is fixed, so a failure repeats; its file is in the message. ``SEMIRA_FUZZ=full`` feeds
each reader 10,000 files, otherwise 300.
"""

from __future__ import annotations

import gzip
import io
import logging
import os
import re
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pytest
import scipy.sparse

from semira.base.errors import GraphblasException
from semira.files import mtx, read_edges
from semira.formats import EdgeList

logger = logging.getLogger(__name__)

FULL = os.environ.get("SEMIRA_FUZZ") == "full"
COUNT = 10_000 if FULL else 300

#: What files are spliced with: limits, oddities and pieces of other formats.
SPLICES = [
    b"0", b"1", b"-1", b"2", b"99", b"1e9", b"1.5", b"nan", b"-inf", b"0x10", b"1_0", b"+3", b".",
    b"-", b"2147483648", b"4294967297", b"9223372036854775807", b"9223372036854775808",
    b"99999999999999999999999", b"1152921504606846977", b"007", b" ", b"\n", b"\n\n", b"\r\n",
    b"\r", b"\t", b",", b";", b'"', b"#", b"%", b"c", b"a", b"p sp", b"\0", b"\xff",
    b"\xef\xbb\xbf", "é".encode(), "\u00a0".encode(), "٣".encode(), b"\x0b", b"\x1c", b"\x1f\x8b",
    b"PK\x03\x04", b"%%MatrixMarket", b"symmetric", b"general", b"integer", b"pattern", b"array",
    b"7" * 5000, b"source,target", b"x",
]  # fmt: skip


@pytest.fixture(autouse=True)
def small_blocks_as_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the lenient reader of large files read these, after the look that makes it strict."""
    monkeypatch.setattr(mtx, "_SMALL", 0)


Mutator = Callable[[np.random.Generator, bytes], bytes]


def mutate(rng: np.random.Generator, data: bytes) -> bytes:
    """Return `data` after one to three small changes."""
    for _ in range(int(rng.integers(1, 4))):
        start, end = np.sort(rng.integers(0, len(data) + 1, 2)).tolist()
        end = min(end, start + 12)
        piece = SPLICES[int(rng.integers(len(SPLICES)))]
        kind = int(rng.integers(7))
        if kind == 0:
            data = data[:start]
        elif kind == 1:
            data = data[:start] + data[end:]
        elif kind == 2:
            data = data[:end] + data[start:]
        elif kind == 3:
            data = data[:start] + piece + data[start:]
        elif kind == 4:
            data = data[:start] + piece + data[end:]
        elif kind == 5:
            data = data[:start] + bytes(rng.integers(0, 256, 1, np.uint8)) + data[start + 1 :]
        else:
            lines = data.split(b"\n")
            rng.shuffle(lines)
            data = b"\n".join(lines)
    return data


def mutate_below(num_lines: int) -> Mutator:
    """Return a mutator that spares the first lines of three files in four."""

    def mutate_rest(rng: np.random.Generator, data: bytes) -> bytes:
        kept = 0 if rng.random() < 0.25 else num_lines
        lines = data.split(b"\n")
        head = b"".join(line + b"\n" for line in lines[:kept])
        return head + mutate(rng, b"\n".join(lines[kept:]))

    return mutate_rest


def mutate_gzip(rng: np.random.Generator, data: bytes) -> bytes:
    """Mutate the text within, or what it was compressed to."""
    if rng.random() < 0.5:
        return gzip.compress(mutate(rng, data), 1)
    return mutate(rng, gzip.compress(data, 1))


def _odd_array(rng: np.random.Generator, array: np.ndarray) -> np.ndarray:
    """Return `array` with an odd value, dtype, shape or length."""
    kind = int(rng.integers(5))
    if kind == 0 and array.size and array.dtype.kind in "iu":
        array = array.astype(np.int64).reshape(-1)
        odd = rng.choice([-1, 0, 3, 2**31, 2**62, -(2**63), 2**63 - 1])
        array[int(rng.integers(array.size))] = odd
        return array if array.size > 1 else array[0]
    if kind == 1:
        dtype = rng.choice(["i1", "u8", ">i4", "f2", "f8", "c16", "U3", "S1", "?", "M8[s]", "g"])
        try:
            return array.astype(dtype)
        except (TypeError, ValueError):
            return array
    if kind == 2:
        return array.reshape((1, *array.shape))
    if kind == 3:
        return array.reshape(-1)[:-1]
    return np.concatenate((array.reshape(-1), array.reshape(-1)))


def mutate_npz(rng: np.random.Generator, data: bytes) -> bytes:
    """Mutate the archive, a member behind a right checksum, or the arrays themselves."""
    kind = int(rng.integers(4))
    if kind == 0:
        return mutate(rng, data)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = str(rng.choice(sorted(members)))
    if kind == 1:
        members[name] = mutate(rng, members[name])
    elif rng.random() < 0.1:
        members.pop(name)
    else:
        out = io.BytesIO()
        array = np.load(io.BytesIO(members[name]), allow_pickle=False)
        np.save(out, _odd_array(rng, array))
        members[name] = out.getvalue()
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for member, content in members.items():
            archive.writestr(member, content)
    return out.getvalue()


def _npz(**members: object) -> bytes:
    out = io.BytesIO()
    np.savez(out, **members)
    return out.getvalue()


def _scipy_npz(kind: str) -> bytes:
    out = io.BytesIO()
    plain = np.array([[0, 1, 0, 2], [3, 0, 0, 0], [0, 0, 4, 0], [0, 5, 0, 6]])
    scipy.sparse.save_npz(out, getattr(scipy.sparse, f"{kind}_array")(plain), compressed=False)
    return out.getvalue()


def _mtx(kind: str, sizes: str, *lines: str) -> bytes:
    return "\n".join([f"%%MatrixMarket matrix {kind}", "% note", sizes, *lines, ""]).encode()


MTX = [
    _mtx("coordinate real general", "4 5 4", "1 1 1.5", "2 5 -2e3", "4 4 .5", "3 1 nan"),
    _mtx("coordinate integer symmetric", "4 4 3", "1 1 7", "3 2 -4", "4 1 12"),
    _mtx("coordinate pattern general", "4 4 5", "1 2", "2 3", "3 4", "4 1", "1 1"),
    _mtx("coordinate real skew-symmetric", "3 3 2", "2 1 5", "3 1 2.5"),
    _mtx("coordinate unsigned-integer general", "3 3 2", "2 1 5", "3 1 2"),
    _mtx("array real general", "2 3", "1", "2", "3", "4.5", "5", "6"),
    _mtx("array integer symmetric", "3 3", "1", "2", "3", "4", "5", "6"),
]
TEXT = [
    b"# Nodes: 4\n0 1\n1 2\n2 3\n3 0\n",
    b"0\t1\t5\n1\t2\t6\n2\t0\t7.5\n",
    b"source,target,weight\n0,1,5\n1,2,6\n2,0,-7\n",
    b'ann,bob\nbob,"c, d"\n"c, d",ann\n',
    b"% sym\na b 1\nb c 2\nc d 3\nd a 4\n",
    b"10 -20\n-20 30\n123456789 10\n",
]
DIMACS = [b"c road\np sp 4 4\na 1 2 10\na 2 3 20\nc mid\na 3 4 30\na 4 1 40\n"]
NPZ = [
    _npz(row=np.uint32([0, 1, 2]), col=np.uint32([1, 2, 2]), n=4, directed=False),
    _npz(row=[0, 1], col=[4, 0], n=7, nrows=2, ncols=5, directed=True, weight=np.float32([1, 2])),
    _npz(row=[0, 1], col=[1, 0], n=3, labels=["a", "b", "c"], extra=np.arange(3)),
    *(_scipy_npz(kind) for kind in ("csr", "csc", "coo", "bsr", "dia")),
]


@dataclass(frozen=True)
class Target:
    """One reader under test: its good files, how they are mutated, what its header errors say."""

    format: str | None
    seeds: list[bytes]
    mutate: Mutator
    header_errors: str


TEXT_HEADER = r"an edge has 2 or 3|holds no edge|file is empty|Matrix Market file"
MTX_HEADER = (
    r"the banner|is not read; known|size line|a size in|inside the header|file is empty|"
    r"cannot be|, line [123]: (holds a NUL|byte)"
)
DIMACS_HEADER = r"problem line 'p|a size in|file is empty|other problems"
GZIP_HEADER = r"compressed data|file is empty|an edge has|holds no edge|the banner|size line|NUL"
TARGETS = {
    "mtx": Target("mtx", MTX, mutate_below(3), MTX_HEADER),
    "edgelist": Target("edgelist", TEXT, mutate, TEXT_HEADER),
    "csv": Target("csv", TEXT[2:4], mutate, TEXT_HEADER),
    "dimacs": Target("dimacs", DIMACS, mutate_below(2), DIMACS_HEADER),
    "npz": Target("npz", NPZ, mutate_npz, r"not a readable|claims|neither stored"),
    "gzip": Target(None, MTX + TEXT + DIMACS, mutate_gzip, GZIP_HEADER),
    "unknown": Target(None, MTX + TEXT + DIMACS + NPZ, mutate, GZIP_HEADER + "|not a readable"),
}


def check_answer(edges: EdgeList, data: bytes) -> None:
    """Check an accepted file against its lines, read in the simplest way."""
    edges.validate()
    kind = edges.meta["format"]
    if data.startswith((b"\x1f\x8b", b"PK")) or b'"' in data:
        return
    text = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
    lines = [line.strip(" \t\v\f") for line in re.split("\r\n|\r|\n", text)]
    if kind == "dimacs":
        assert edges.nnz == sum(line[:2].split() == ["a"] for line in lines)
    elif kind in ("csv", "edgelist"):
        entries = [line for line in lines if line.strip() and line[0] not in "#%"]
        assert edges.nnz == len(entries) - (edges.meta.get("header") is not None)
    elif kind == "mtx":
        values = np.ones(edges.nnz) if edges.values is None else edges.values
        found = zip(edges.rows.tolist(), edges.cols.tolist(), values.tolist(), strict=True)
        assert sorted(map(as_text, found)) == sorted(map(as_text, expected_entries(lines)))


def as_text(entry: tuple[int, int, float]) -> tuple[int, int, str]:
    """Return an entry that can be compared even if its value is NaN or a zero with a sign."""
    return entry[0], entry[1], str(float(entry[2]) + 0.0)


def expected_entries(lines: list[str]) -> Iterator[tuple[int, int, float]]:
    """Read a Matrix Market file in the simplest way. SciPy is no judge: it can crash on these."""
    banner, *rest = filter(None, lines)
    _, _, layout, _, symmetry = banner.lower().split()
    sizes, *body = (line.split() for line in rest if line[0] != "%")
    if layout == "coordinate":
        entries = [(int(row) - 1, int(col) - 1, *value) for row, col, *value in body]
    else:
        nrows, ncols = map(int, sizes)
        skip = {"general": None, "symmetric": 0, "skew-symmetric": 1}[symmetry]
        positions = [
            (row, col)
            for col in range(ncols)
            for row in range(0 if skip is None else col + skip, nrows)
        ]
        entries = [(*place, *value) for place, value in zip(positions, body, strict=True)]
    for row, col, *value in entries:
        number = float(value[0]) if value else 1.0
        yield row, col, number
        if symmetry != "general" and row != col:
            yield col, row, number if symmetry == "symmetric" else -number


@pytest.mark.fuzz
@pytest.mark.parametrize("name", TARGETS)
def test_mutated_files_are_read_or_refused_by_name(name):
    target = TARGETS[name]
    rng = np.random.default_rng(20240229)
    num_parsed, reasons = 0, []
    for number in range(COUNT):
        data = target.mutate(rng, target.seeds[number % len(target.seeds)])
        try:
            edges = read_edges(io.BytesIO(data), format=target.format)
            check_answer(edges, data)
            num_parsed += 1
        except GraphblasException as error:
            reasons.append(str(error))
        except Exception as error:  # noqa: BLE001 - whatever else comes out is the bug sought
            pytest.fail(f"file {number} of {name}: {error!r} for {data[:2000]!r}")
    assert all(reason.startswith("<stream>") for reason in reasons)
    num_past_header = sum(re.search(target.header_errors, reason) is None for reason in reasons)
    logger.info("%s: %d parsed, %d refused after the header", name, num_parsed, num_past_header)
    assert num_parsed + num_past_header >= COUNT / 5
    assert num_parsed < COUNT


def test_unmutated_files_are_read():
    for target in TARGETS.values():
        for data in target.seeds:
            assert read_edges(io.BytesIO(data), format=target.format).nnz > 0
