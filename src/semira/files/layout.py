"""How an edge list is laid out: separator, header, which column is what."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass

from semira.base.log import logger
from semira.files.options import ReadOptions
from semira.files.source import Block, Source
from semira.files.table import Comments, data_lines, shorten

COMMENT = Comments.after(b"#", b"%")

#: Separators, the most telling first; a line without any of them is split at blanks.
DELIMITERS = (",", "\t", ";")

#: Names by which a header is recognised.
COLUMN_NAMES = {
    "source": {"source", "src", "from", "tail", "u", "row", "node1", "fromnodeid", "source_id"},
    "target": {"target", "dst", "dest", "destination", "to", "head", "v", "col", "column", "node2",
               "tonodeid", "target_id"},
    "weight": {"weight", "w", "value", "val", "cost", "distance", "length", "capacity"},
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Layout:
    """How the lines of an edge list are to be read.

    Attributes
    ----------
    delimiter : str or None
        None: any run of blanks.
    columns : tuple of 2 or 3 int
        Positions of source, target and weight.
    width : int
        Number of columns of each line.
    header_line : int or None
        Number of the line that names the columns.
    """

    delimiter: str | None
    columns: tuple[int, ...]
    width: int
    header_line: int | None = None

    @property
    def is_whole(self) -> bool:
        """Whether every column of a line is read; then all lines must have `width` columns."""
        return self.columns == tuple(range(self.width))


def split_line(source: Source, text: str, number: int, delimiter: str | None) -> list[str]:
    """Return the fields of one line, blanks round them removed.

    Fields may be quoted (``"a, b"``) where a delimiter separates them, but not span lines.

    Raises
    ------
    FileFormatError
        A quoted field does not end on its line.
    """
    if delimiter is None:
        return text.split()
    if '"' not in text:
        return [field.strip() for field in text.split(delimiter)]
    try:
        reader = csv.reader([text], delimiter=delimiter, strict=True, skipinitialspace=True)
        return [field.strip() for field in next(reader)]
    except csv.Error as error:
        raise source.error(f"{shorten(text)} is not quoted as csv: {error}", number) from None


def _named_columns(fields: list[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    for position, field in enumerate(fields):
        for role, names in COLUMN_NAMES.items():
            if field.lower() in names:
                found.setdefault(role, position)
    return found


def _choose_columns(
    source: Source, fields: list[str], number: int, named: dict[str, int], options: ReadOptions
) -> tuple[int, ...]:
    if options.columns is not None:
        if max(options.columns) >= len(fields):
            raise source.error(
                f"columns={options.columns} of a line with {len(fields)} columns", number
            )
        return options.columns
    if named:
        ignored = len(fields) - len(named)
        if ignored:
            logger.info("%s: %d columns beside %s are not read", source.name, ignored, list(named))
        return tuple(named.values())
    if len(fields) not in (2, 3):
        raise source.error(
            f"{len(fields)} columns; an edge has 2 or 3 (source, target, weight). Choose them with "
            f"columns=(0, 1) (semira --columns 0,1), or name the separator with delimiter=';' "
            f"(semira --delimiter ';'); comments stand on lines of their own",
            number,
        )
    return tuple(range(len(fields)))


def find_layout(source: Source, text: str, number: int, options: ReadOptions) -> Layout:
    """Return the layout that the first line that is no comment shows.

    Raises
    ------
    FileFormatError
        It has neither two nor three columns, and no option or header says which to read.
    """
    delimiter = options.delimiter
    if delimiter is None:
        delimiter = next((mark for mark in DELIMITERS if mark in text), None)
    elif delimiter == " ":
        delimiter = None
    fields = split_line(source, text, number, delimiter)
    named = _named_columns(fields) if options.header is not False else {}
    if not {"source", "target"} <= named.keys():
        named = {}
    named = {role: named[role] for role in COLUMN_NAMES if role in named}
    has_header = bool(named) if options.header is None else options.header
    columns = _choose_columns(source, fields, number, named, options)
    return Layout(delimiter, columns, len(fields), number if has_header else None)


def edge_tokens(source: Source, block: Block, layout: Layout) -> list[str] | None:
    """Return the fields of all lines in turn, or None if `edge_lines` must have a closer look.

    Several times faster than `edge_lines`: no list outlives its line, which would keep Python's
    garbage collector busy.
    """
    if not layout.is_whole or b'"' in block.data:
        return None
    lines = [line for line in source.decode(block.data, block.line).split("\n") if line.strip()]
    delimiter = layout.delimiter
    if delimiter is None:
        widths = set(map(len, map(str.split, lines)))
        tokens = " ".join(lines).split()
    else:
        widths = {line.count(delimiter) + 1 for line in lines}
        tokens = (
            [token.strip() for token in delimiter.join(lines).split(delimiter)] if lines else []
        )
    return None if widths - {layout.width} or "" in tokens else tokens


def edge_lines(source: Source, block: Block, layout: Layout) -> Iterator[tuple[int, list[str]]]:
    """Yield the line number and the chosen fields of every edge in `block`.

    Raises
    ------
    FileFormatError
        A line has another number of columns than the first, or an empty field.
    """
    needed = max(layout.columns) + 1
    for number, text in data_lines(source, block):
        fields = split_line(source, text, number, layout.delimiter)
        if len(fields) != layout.width if layout.is_whole else len(fields) < needed:
            raise source.error(
                f"{len(fields)} columns where the first line has {layout.width}: {shorten(text)}",
                number,
            )
        chosen = [fields[position] for position in layout.columns]
        if "" in chosen:
            raise source.error(f"an empty field in {shorten(text)}", number)
        yield number, chosen
