"""Matrix Market files.

References
----------
Boisvert, Pozo, Remington: The Matrix Market Exchange Formats: Initial Design, NISTIR 5935, 1996.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from semira.base.errors import FileWriteError
from semira.base.log import logger
from semira.files.clean import symmetrise
from semira.files.mtx_fast import try_entries
from semira.files.source import Block, Source
from semira.files.table import (
    Comments,
    as_integer,
    blank_comments,
    keep_notes,
    line_of,
    read_columns,
    shorten,
)
from semira.formats import EdgeList, index_dtype
from semira.formats.index import MAX_SIZE

BANNER = b"%%MatrixMarket"

#: Dtype of the values of each field; None: no values are listed.
FIELDS: dict[str, str | None] = {
    "pattern": None,
    "integer": "int64",
    "unsigned-integer": "uint64",
    "real": "float64",
    "double": "float64",
    "complex": "complex128",
}
#: Sign of the mirrored value of each symmetry; 0: nothing is mirrored.
SYMMETRIES = {"general": 0, "symmetric": 1, "skew-symmetric": -1, "hermitian": 1}
LAYOUTS = ("coordinate", "array")

_COMMENT = Comments.after(b"%")

#: Bytes of a block that NumPy reads in 40 ms; to import SciPy's reader takes 100 to 250.
_SMALL = 1 << 21


@dataclass(frozen=True, slots=True)
class _Header:
    layout: str
    field: str
    symmetry: str
    nrows: int
    ncols: int
    count: int

    @property
    def sign(self) -> int:
        return SYMMETRIES[self.symmetry]


def is_mtx(source: Source) -> bool:
    """Return whether a file begins with the banner, its first bytes still unread."""
    return source.text_head()[: len(BANNER)].lower() == BANNER.lower()


def _parse_banner(source: Source, text: str, number: int) -> tuple[str, str, str]:
    words = text.lower().split()
    if len(words) != 5 or words[0] != BANNER.decode().lower() or words[1] != "matrix":
        raise source.error(
            f"the banner {shorten(text)} is not "
            f"'%%MatrixMarket matrix <layout> <field> <symmetry>'",
            number,
        )
    known = (("layout", LAYOUTS), ("field", tuple(FIELDS)), ("symmetry", tuple(SYMMETRIES)))
    for word, (part, choices) in zip(words[2:], known, strict=True):
        if word not in choices:
            choice = ", ".join(choices)
            raise source.error(f"{part} {shorten(word)} is not read; known: {choice}", number)
    layout, field, symmetry = words[2:]
    if field == "pattern" and (layout == "array" or symmetry == "skew-symmetric"):
        raise source.error(f"a pattern cannot be {layout} {symmetry}: it has no values", number)
    if symmetry == "hermitian" and field != "complex":
        raise source.error(f"a Hermitian matrix must be complex, not {field}", number)
    return layout, field, symmetry


def _parse_sizes(source: Source, text: str, number: int, banner: tuple[str, str, str]) -> _Header:
    layout, field, symmetry = banner
    expected = 3 if layout == "coordinate" else 2
    sizes = [as_integer(token) for token in text.split()]
    if len(sizes) != expected or None in sizes:
        raise source.error(
            f"the size line {shorten(text)} must hold {expected} integers "
            f"(rows, columns{', entries' if expected == 3 else ''})",
            number,
        )
    checked = [size for size in sizes if size is not None and 0 <= size <= MAX_SIZE]
    if len(checked) != expected:
        raise source.error(f"a size in {shorten(text)} lies outside [0, 2**60]", number)
    nrows, ncols = checked[:2]
    if symmetry != "general" and nrows != ncols:
        raise source.error(f"a {nrows} x {ncols} matrix cannot be {symmetry}", number)
    header = _Header(layout, field, symmetry, nrows, ncols, checked[-1])
    return header if layout == "coordinate" else replace(header, count=_dense_count(header))


def _dense_count(header: _Header) -> int:
    nrows, ncols = header.nrows, header.ncols
    if header.symmetry == "general":
        return nrows * ncols
    return nrows * (nrows + header.sign) // 2


def _read_header(
    source: Source, blocks: Iterator[Block], notes: list[str]
) -> tuple[_Header, Iterator[Block]]:
    """Return the header and the blocks after it; comments go to `notes`."""
    banner: tuple[str, str, str] | None = None
    for block in blocks:
        for number, start, end in block.lines():
            line = block.data[start:end].strip()
            if banner is None:
                # Some editors and scripts leave blank lines above it.
                if line:
                    banner = _parse_banner(source, line.decode("utf-8", "replace"), number)
            elif line.startswith(b"%"):
                keep_notes(notes, [line])
            elif line:
                text = line.decode("utf-8", "replace")
                header = _parse_sizes(source, text, number, banner)
                rest = block.after(number, end)
                return header, chain([rest] if rest.data else [], blocks)
    raise source.error("ends inside the header: the line of sizes is missing; fetch it again")


class _Body:
    """Collects the entries of a body and checks them against its header."""

    def __init__(self, source: Source, header: _Header) -> None:
        value = FIELDS[header.field]
        # A complex number is written as two.
        listed = ("float64",) * 2 if value == "complex128" else (value,) if value else ()
        positions = 2 if header.layout == "coordinate" else 0
        self._source = source
        self._header = header
        self._positions = positions
        self._dtypes = ("int64",) * positions + listed
        self._names = ("row", "column")[:positions] + ("value", "imaginary part")[: len(listed)]
        self._parts: list[tuple[NDArray[Any], ...]] = []
        self._seen = 0

    def add(self, block: Block) -> None:
        block = blank_comments(block, _COMMENT)
        columns = self._columns(block)
        count, header = len(columns[0]), self._header
        if self._seen + count > header.count:
            line = line_of(self._source, block, header.count - self._seen)
            raise self._source.error(f"more entries than the {header.count} of the header", line)
        self._seen += count
        limits = (header.nrows, header.ncols)[: self._positions]
        narrow = index_dtype(header.nrows, header.ncols)
        shifted = []
        for name, column, limit in zip(self._names, columns, limits, strict=False):
            outside = (column < 1) | (column > limit)
            if bool(outside.any()):
                position = int(outside.argmax())
                raise self._source.error(
                    f"{name} {column[position]} lies outside 1..{limit}",
                    line_of(self._source, block, position),
                )
            shifted.append((column - 1).astype(narrow))
        # A copy lets the record array that the column is a view of go.
        values = [column.copy() for column in columns[self._positions :]]
        self._parts.append((*shifted, *values))

    def _columns(self, block: Block) -> tuple[NDArray[Any], ...]:
        header = self._header
        if self._positions and len(block.data) >= _SMALL:
            columns = try_entries(block.data, header.field, header.nrows, header.ncols)
            if columns is not None:
                return columns
        return read_columns(self._source, block, self._dtypes, self._names)

    def finish(self) -> tuple[NDArray[Any], ...]:
        if self._seen != self._header.count:
            raise self._source.error(
                f"ends after {self._seen} of the {self._header.count} entries that its header "
                f"announces; the file is cut short, fetch it again"
            )
        narrow = index_dtype(self._header.nrows, self._header.ncols)
        empty = [np.empty(0, narrow)] * self._positions
        empty += [np.empty(0, dtype) for dtype in self._dtypes[self._positions :]]
        columns = zip(empty, *self._parts, strict=True)
        return tuple(np.concatenate(column).astype(column[0].dtype) for column in columns)


def _dense_positions(header: _Header) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return row and column of each listed value: by columns, lower triangle if mirrored."""
    narrow = index_dtype(header.nrows, header.ncols)
    if header.count == 0:
        # One size may be huge if the other is 0.
        return np.empty(0, narrow), np.empty(0, narrow)
    if header.symmetry == "general":
        rows = np.tile(np.arange(header.nrows, dtype=narrow), header.ncols)
        return rows, np.repeat(np.arange(header.ncols, dtype=narrow), header.nrows)
    first_row = 0 if header.sign == 1 else 1
    size = header.nrows
    lengths = np.maximum(size - first_row - np.arange(size), 0)
    cols = np.repeat(np.arange(size), lengths)
    starts = np.cumsum(lengths) - lengths
    rows = np.arange(len(cols)) - starts[cols] + cols + first_row
    return rows.astype(narrow), cols.astype(narrow)


def read_mtx(source: Source) -> EdgeList:
    """Read a Matrix Market file; symmetric and skew-symmetric matrices come back whole.

    Values are None (pattern), int64 (integer), uint64 (unsigned-integer), float64 (real) or
    complex128 (complex). The mirrored values of a Hermitian matrix are conjugates. ``symmetric`` is
    set for symmetric files. Every value of an ``array`` file is an entry, zeros included. Raises
    FileFormatError if the header is malformed or out of range, a line is not an entry, an index
    lies outside the shape, or there are more or fewer entries than announced.

    O(file) time; nothing is allocated on the word of the header. Large plain blocks go through
    SciPy's C++ reader, the others through `numpy.loadtxt` (see `semira.files.mtx_fast`).
    """
    notes: list[str] = []
    header, blocks = _read_header(source, source.blocks(), notes)
    body = _Body(source, header)
    for block in blocks:
        body.add(block)
    columns = body.finish()
    rows, cols = columns[:2] if header.layout == "coordinate" else _dense_positions(header)
    values = _values(header, columns)
    meta = {"name": source.stem, "directed": header.symmetry != "symmetric", "comments": notes}
    edges = EdgeList(header.nrows, header.ncols, rows, cols, values, meta=meta)
    return _mirrored(source, edges, header)


def _values(header: _Header, columns: tuple[NDArray[Any], ...]) -> NDArray[Any] | None:
    if header.field != "complex":
        return None if header.field == "pattern" else columns[-1]
    values = np.empty(len(columns[-1]), np.complex128)
    # Not a sum: infinity times 1j has a real part that is no number.
    values.real, values.imag = columns[-2:]
    return values


def _mirrored(source: Source, edges: EdgeList, header: _Header) -> EdgeList:
    sign = header.sign
    if sign == 0:
        return edges
    if sign == -1 and edges.values is not None:
        if bool(np.any(edges.rows == edges.cols)):
            raise source.error("a skew-symmetric matrix has no entries on its diagonal")
        if edges.values.dtype.kind == "u":
            raise source.error("a skew-symmetric matrix cannot be unsigned")
        if edges.values.dtype.kind == "i" and bool(np.any(edges.values == np.iinfo("int64").min)):
            raise source.error(f"the negative of {np.iinfo('int64').min} does not fit 64 bits")
    return symmetrise(edges, sign=sign, conjugate=header.symmetry == "hermitian")


def write_mtx(
    stream: BinaryIO, edges: EdgeList, *, comment: str = "", precision: int | None = None
) -> None:
    """Write a Matrix Market coordinate file; of a symmetric list the lower triangle.

    Labels are not written: the format has no place for them (a warning is logged). The text of
    `comment` stands below the first line. Reading the file back gives the same values: floats are
    written with as many digits as that takes, or with `precision` significant ones. bool and narrow
    integers come back as int64, float32 as float64, complex64 as complex128. Raises FileWriteError
    if the values are not numbers.
    """
    from scipy.io import mmwrite
    from scipy.sparse import coo_array

    rows, cols, values = edges.rows, edges.cols, edges.values
    if edges.labels is not None:
        logger.warning("Matrix Market files hold no labels; write csv or npz to keep them")
    if edges.symmetric:
        keep = rows >= cols
        rows, cols = rows[keep], cols[keep]
        values = None if values is None else values[keep]
    field = _field_of(values)
    if values is None:
        values = np.ones(len(rows), np.int8)
    elif values.dtype.kind == "b":
        values = values.astype(np.int8)
    matrix = coo_array((values, (rows, cols)), shape=(edges.nrows, edges.ncols))
    symmetry = "symmetric" if edges.symmetric else "general"
    mmwrite(stream, matrix, comment=comment, field=field, precision=precision, symmetry=symmetry)


def _field_of(values: NDArray[Any] | None) -> str:
    if values is None:
        return "pattern"
    fields = {"b": "integer", "i": "integer", "u": "unsigned-integer", "f": "real", "c": "complex"}
    if values.dtype.kind not in fields:
        raise FileWriteError(f"values of dtype {values.dtype} are no Matrix Market field")
    return fields[values.dtype.kind]
