"""The file formats, one row each, and the two calls that go through the table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np

from semira.base.errors import InvalidValue
from semira.files import foreign
from semira.files.archive import ZIP_MAGIC, unpacked
from semira.files.clean import clean
from semira.files.compression import split_suffix
from semira.files.delimited import write_csv
from semira.files.dimacs import looks_like_dimacs, read_dimacs
from semira.files.dimacs_write import write_dimacs
from semira.files.edgelist import read_edgelist
from semira.files.mtx import is_mtx, read_mtx, write_mtx
from semira.files.npz import read_npz, write_npz
from semira.files.options import ReadOptions
from semira.files.output import Writable, open_output, target_name
from semira.files.source import Readable, Source, open_source
from semira.formats import EdgeList, MatrixArrays


@dataclass(frozen=True, slots=True)
class Format:
    """One file format."""

    #: What ``format=`` calls it.
    name: str
    #: File names that mean it (that of a compression may follow).
    suffixes: tuple[str, ...]
    reader: Callable[[Source, ReadOptions], EdgeList]
    writer: Callable[[BinaryIO, EdgeList], None] | None = None
    #: Whether the edge-list options (``base``, ``columns``, ...) apply.
    is_text_table: bool = False
    #: Whether it records no shape, and so holds square matrices only.
    is_square: bool = False


FORMATS = {
    row.name: row
    for row in (
        Format("mtx", (".mtx", ".mm"), lambda source, options: read_mtx(source), write_mtx),
        Format("npz", (".npz",), lambda source, options: read_npz(source), write_npz),
        Format("csv", (".csv",), read_edgelist, write_csv, is_text_table=True, is_square=True),
        Format(
            "dimacs",
            (".gr",),
            lambda source, options: read_dimacs(source),
            write_dimacs,
            is_square=True,
        ),
        Format(
            "edgelist", (".txt", ".tsv", ".el", ".wel", ".edges"), read_edgelist, is_text_table=True
        ),
    )
}
_BY_SUFFIX = {suffix: row for row in FORMATS.values() for suffix in row.suffixes}


def _named(format: str) -> Format:
    if format not in FORMATS:
        raise InvalidValue(f"unknown format {format!r}; choose one of {', '.join(FORMATS)}")
    return FORMATS[format]


def _by_suffix(name: str) -> Format | None:
    lowered = split_suffix(name)[0].lower()
    return next((row for suffix, row in _BY_SUFFIX.items() if lowered.endswith(suffix)), None)


def _detect(source: Source, options: ReadOptions) -> Format:
    """Return the format by unmistakable first bytes, else by suffix, else by the first lines.

    Text in an encoding that the caller states shows nothing by its bytes. Raises FileFormatError if
    it is one of those that are not read, by content or by suffix.
    """
    if is_mtx(source):
        return FORMATS["mtx"]
    if source.head().startswith(ZIP_MAGIC):
        return FORMATS["npz"]
    named = _by_suffix(source.name)
    found = None if "encoding" in options.text_options_set() else foreign.by_content(source)
    if found is None and named is None:
        found = foreign.by_suffix(split_suffix(source.name)[0])
    if found is not None:
        raise found.error(source)
    # Suffixes such as .txt say little.
    if named in (None, FORMATS["edgelist"]) and looks_like_dimacs(source.text_head()):
        return FORMATS["dimacs"]
    return named or FORMATS["edgelist"]


def _is_graph(name: str) -> bool:
    return _by_suffix(name) is not None


def read_edges(
    path: Readable,
    *,
    format: str | None = None,
    options: ReadOptions | None = None,
    **overrides: Any,
) -> EdgeList:
    r"""Read a graph from a file.

    ``"-"`` reads standard input. Gzip, bzip2 and xz are recognised by content; of a zip or tar
    archive the graph is read if there is one alone. Without a `format`, content and suffix tell it.
    `overrides` are fields of `ReadOptions`, such as ``symmetrise=True``. Every position of the
    result lies inside the shape; values may be NaN. ``meta`` has ``name``, ``format``, ``file``,
    ``directed`` and what else the file says about itself. O(file); see the reader of each format
    for what it accepts.

    Raises MissingFile or FileReadError if the file is absent, a directory or unreadable. Raises
    FileFormatError if it does not follow its format; the message has the file, the line where there
    is one, and the reason. Or it is of a format that is not read (GraphML, JSON, ...); the message
    has the format and a way to read it. Raises InvalidValue if the format or an option is unknown,
    or an option does not apply to the format; DimensionMismatch if self-loops or directions were to
    be changed in a matrix that is not square; OutOfMemory if the contents do not fit into memory,
    or compressed data becomes more than the option ``max_bytes`` allows.

    Examples
    --------
    >>> import io
    >>> edges = read_edges(io.BytesIO(b"ann bob 2\nbob cy 5\n"), symmetrise=True)
    >>> edges.nrows, edges.nnz, edges.labels.tolist()
    (3, 4, ['ann', 'bob', 'cy'])
    """
    chosen = None if format is None else _named(format)
    settings = (options or ReadOptions()).changed(overrides)
    with (
        open_source(path, progress=settings.progress) as opened,
        unpacked(opened, _is_graph) as source,
    ):
        row = _detect(source, settings) if chosen is None else chosen
        unused = settings.text_options_set()
        if unused and not row.is_text_table:
            raise InvalidValue(f"{', '.join(unused)}: {row.name} files have no such option")
        edges = row.reader(source, settings)
        edges.meta.update(format=row.name, file=source.name)
        return clean(edges, settings)


def as_edges(matrix: MatrixArrays) -> EdgeList:
    """Return the entries of `matrix`; an iso matrix of value 1 is a pattern."""
    rows, cols, values = matrix.to_coo()
    is_pattern = matrix.iso and bool(np.all(matrix.values == 1))
    return EdgeList(
        matrix.nrows,
        matrix.ncols,
        rows,
        cols,
        None if is_pattern else values,
        symmetric=matrix.symmetric is True,
    )


def matrix_writer(
    path: Writable, format: str | None = None, *, rectangle: str | None = None
) -> Callable[[BinaryIO, EdgeList], None]:
    """Return what writes a matrix to `path`; both are given as to `write_edges`.

    Messages call a matrix that is not square `rectangle`, such as its shape. Raises InvalidValue if
    the format is unknown, only read, or does not hold the matrix; the message has those that do.
    """
    row = _by_suffix(target_name(path)) if format is None else _named(format)
    writable = {
        each.name: each.writer
        for each in FORMATS.values()
        if each.writer is not None and (rectangle is None or not each.is_square)
    }
    if row is not None and row.name in writable:
        return writable[row.name]
    asked = f"the name {target_name(path)!r}" if format is None else f"format {format!r}"
    reason = "is not a format that can be written"
    if row is not None and row.writer is not None:
        reason = f"records no shape, so it cannot hold {rectangle}"
    raise InvalidValue(f"{asked} {reason}; choose one of {', '.join(writable)}")


def write_edges(
    path: Writable, edges: EdgeList | MatrixArrays, *, format: str | None = None
) -> None:
    r"""Write a graph to a file; `format` overrides its suffix.

    That is ``.mtx``, ``.npz``, ``.csv`` or ``.gr``, text also with ``.gz``, ``.bz2`` or ``.xz``;
    ``"-"`` is standard output and needs a format. Raises InvalidValue if the format is unknown,
    only read, or does not hold the matrix, and FileWriteError if the file cannot be written, or the
    format cannot hold the graph's labels or values; nothing is left behind and an existing file
    stays as it was.

    Examples
    --------
    >>> import io
    >>> out = io.BytesIO()
    >>> write_edges(out, EdgeList(2, 2, np.array([0]), np.array([1])), format="csv")
    >>> out.getvalue()
    b'source,target\n0,1\n'
    """
    shape = None if edges.nrows == edges.ncols else f"{edges.nrows} x {edges.ncols}"
    write = matrix_writer(path, format, rectangle=shape)
    listed = as_edges(edges) if isinstance(edges, MatrixArrays) else edges
    listed.validate()
    with open_output(path) as stream:
        write(stream, listed)
