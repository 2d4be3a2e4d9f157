"""How an edge list is laid out: separator, header, which column is what."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice

from semira.base.errors import FileFormatError, InvalidValue
from semira.files.options import ReadOptions
from semira.files.quoted import LINE_END
from semira.files.source import Block, Source
from semira.files.table import DIGITS, Comments, as_real, data_lines, shorten

COMMENT = Comments.after(b"#", b"%")

#: Separators, the most telling first; a line without any of them is split at blanks.
DELIMITERS = (",", "\t", ";")

#: How messages call separators.
DELIMITER_NAMES = {None: "blanks", ",": "commas", "\t": "tabs", ";": "semicolons"}

#: Names by which a header is recognised, in small letters and without other signs. A first line
#: needs one for the source and one for the target.
COLUMN_NAMES = {
    "source": {"source", "src", "sourceid", "from", "fromid", "fromnode", "fromnodeid", "tail",
               "u", "row", "node1", "vertex1", "startid", "start", "origin",
               "follower", "sender"},
    "target": {"target", "dst", "dest", "targetid", "destination", "to", "toid", "tonode",
               "tonodeid", "head", "v", "col", "column", "node2", "vertex2",
               "endid", "end", "followee", "receiver"},
    "weight": {"weight", "w", "wgt", "value", "val", "cost", "distance", "length", "capacity"},
}  # fmt: skip

#: Names of columns that number the lines, as pandas' index does: not weights.
_LINE_NUMBERS = {"", "id", "edgeid", "index", "unnamed0"}

#: Lines that are looked at to find the separator and a header.
_SAMPLE = 100

_NO_LETTER = re.compile(r"[^a-z0-9]")
_MISSING = {"", "na", "n/a", "null", "none"}

#: Exchanges the separators of decimals: a number with a comma becomes one with a point, and one
#: with a point becomes none.
_EXCHANGED = str.maketrans(",.", ".,")


@dataclass(frozen=True, slots=True)
class Layout:
    """How the lines of an edge list are to be read."""

    #: None: any run of blanks.
    delimiter: str | None
    #: Positions of source, target and weight.
    columns: tuple[int, ...]
    #: Number of columns of each line.
    width: int
    #: Number of the first line.
    line: int = 1
    #: The names of the columns, if they are in that line.
    header: list[str] | None = None
    #: What was found out and may be wrong, for people.
    guesses: tuple[str, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Whether every column of a line is read; then all lines must have `width` columns."""
        return self.columns == tuple(range(self.width))

    def body(self, block: Block) -> Block:
        """Return what follows the header in a block that starts with it; all if there is none."""
        if self.header is None:
            return block
        end = block.data.find(b"\n")
        return block.after(self.line, len(block.data) if end < 0 else end)


def with_point(number: str, decimal: str) -> str:
    """Return the text of a number with a decimal point in place of `decimal`."""
    return number if decimal == "." else number.translate(_EXCHANGED)


def is_missing(weight: str, *, or_nan: bool = False) -> bool:
    """Return whether a weight says that there is none.

    Examples
    --------
    >>> [is_missing(each) for each in ("", "NA", "nan", "0")], is_missing("nan", or_nan=True)
    ([True, True, False, False], True)
    """
    word = weight.lower()
    return word in _MISSING or (or_nan and word == "nan")


# -------------------------------------------------------------------------------------- lines


@cache
def _patterns(delimiter: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return what matches a line, and its fields: inside of quotes, without them, what follows."""
    mark = re.escape(delimiter)
    blank = rf"(?:(?!{mark})\s)*+"
    field = rf'{blank}(?:"((?:[^"]|"")*+)"{blank}|(?!")([^{mark}]*))'
    return re.compile(f"(?:{field}{mark})*{field}"), re.compile(f"{field}({mark}|$)")


def split_line(source: Source, text: str, number: int, delimiter: str | None) -> list[str]:
    """Return the fields of one line, blanks round them removed.

    Fields may be quoted (``"a, b"``) where a delimiter separates them; what is inside of quotes
    stays as it is, line ends included (see `semira.files.quoted`). Raises FileFormatError if a
    quoted field does not end, or more than a delimiter follows it.
    """
    if delimiter is None:
        return text.split()
    if '"' not in text:
        return [field.strip() for field in text.split(delimiter)]
    line, field = _patterns(delimiter)
    if line.fullmatch(text) is None:
        raise source.error(f"{shorten(text.strip())} is not quoted as csv", number)
    fields = []
    for quoted, plain, mark in field.findall(text):
        fields.append(quoted.replace('""', '"').replace(LINE_END, "\n") or plain.strip())
        if not mark:
            break
    return fields


def edge_lines(source: Source, block: Block, layout: Layout) -> Iterator[tuple[int, list[str]]]:
    """Yield the line number and the chosen fields of every edge in `block`.

    Raises FileFormatError if a line has another number of columns than the first, or a vertex
    without a name.
    """
    needed = max(layout.columns) + 1
    for number, text in data_lines(source, block):
        fields = split_line(source, text, number, layout.delimiter)
        if len(fields) != layout.width if layout.is_whole else len(fields) < needed:
            raise source.error(_ragged(fields, text, layout), number)
        chosen = [fields[position] for position in layout.columns]
        if not (chosen[0] and chosen[1]):
            raise source.error(f"an empty field in {shorten(text.strip())}", number)
        yield number, chosen


def _columns(fields: list[str]) -> str:
    return f"{len(fields)} column{'s' * (len(fields) != 1)}"


def _ragged(fields: list[str], text: str, layout: Layout) -> str:
    words = f"{_columns(fields)} where the first line has {layout.width}"
    taken = DELIMITER_NAMES.get(layout.delimiter, repr(layout.delimiter))
    other = "','" if layout.delimiter is None else "' '"
    return (
        f"{words}, separated by {taken}: {shorten(text.strip())}; name another separator with "
        f"delimiter={other} (semira --delimiter {other})"
    )


# ----------------------------------------------------------------------------- finding it out


def find_layout(source: Source, block: Block, options: ReadOptions) -> Layout:
    """Return the layout that the first lines show: the first one is neither blank nor a comment.

    Raises FileFormatError if it has neither two nor three columns, and no option or header says
    which to read. Raises InvalidValue if ``columns`` names a column that there is not.
    """
    lines = list(islice(data_lines(source, block), _SAMPLE))
    delimiter, guesses = _find_delimiter(source, lines, options)
    number, text = lines[0]
    fields = split_line(source, text, number, delimiter)
    rows = _split_all(source, lines[1:], delimiter)
    known = _known_columns(fields, rows) if options.header is not False else {}
    columns = _choose_columns(source, fields, rows, number, known, options)
    has_header = options.header or options.names_columns or bool(known)
    if options.header is None and not has_header and _is_header(fields, rows, columns, options):
        has_header = True
        guesses.append(f"first line taken as a header ({_listed(fields)})")
    if not has_header:
        return Layout(delimiter, columns, len(fields), number, guesses=tuple(guesses))
    if options.columns is None and known:
        if len(columns) > len(known):
            guesses.append(f"weights from column {fields[columns[2]]}")
        unread = [name for at, name in enumerate(fields) if at not in columns and name]
        if unread:
            guesses.append(f"columns not read: {_listed(unread)} (columns=...)")
    return Layout(delimiter, columns, len(fields), number, fields, tuple(guesses))


def _listed(names: list[str], limit: int = 5) -> str:
    return ", ".join(names[:limit]) + ", ..." * (len(names) > limit)


def _split_all(
    source: Source, lines: Sequence[tuple[int, str]], delimiter: str | None
) -> list[list[str]]:
    """Return the fields of lines; those of a line that cannot be split are none."""
    rows = []
    for number, text in lines:
        try:
            rows.append(split_line(source, text, number, delimiter))
        except FileFormatError:
            rows.append([])
    return rows


def _find_delimiter(
    source: Source, lines: list[tuple[int, str]], options: ReadOptions
) -> tuple[str | None, list[str]]:
    """Return the separator by which the lines are plainly edges, else one that splits all alike.

    Blanks are tried last, and separate whether they are tabs or not. Also returned is what to
    say where it is not the most telling one.
    """
    if options.delimiter is not None:
        return None if options.delimiter == " " else options.delimiter, []
    present = [mark for mark in DELIMITERS if mark in lines[0][1] and mark != options.decimal]
    if not present:
        return None, []
    chosen, is_even = None, {}
    for mark in (*present, None):
        rows = _split_all(source, lines, mark)
        widths = set(map(len, rows))
        is_even[mark] = len(widths) == 1 and 1 not in widths
        if _are_edges(rows[1:] or rows, may_be_names=mark is not None):
            chosen = mark
            break
    else:
        chosen = next((mark for mark in is_even if is_even[mark]), present[0])
    other = f"separated by {DELIMITER_NAMES[chosen]}, not {DELIMITER_NAMES[present[0]]}"
    return chosen, [] if chosen == present[0] else [f"{other} (delimiter=...)"]


def _are_edges(rows: list[list[str]], *, may_be_names: bool) -> bool:
    """Whether rows are plainly edges: integers, or names too where there are weights.

    Weights may have decimal commas.
    """
    if set(map(len, rows)) not in ({2}, {3}):
        return False
    weights = [row[2].replace(",", ".") for row in rows if len(row) == 3]
    are_known = _are_integers(rows, (0, 1)) or (may_be_names and bool(weights))
    return are_known and all(map(_is_number_or_missing, weights))


def _are_integers(rows: list[list[str]], columns: Sequence[int]) -> bool:
    """Whether there are rows, and all have integers in these columns."""
    return bool(rows) and all(
        len(row) > max(columns) and all(DIGITS.fullmatch(row[each]) for each in columns)
        for row in rows
    )


def _is_number_or_missing(text: str) -> bool:
    return as_real(text) is not None or is_missing(text)


def is_word(text: str) -> bool:
    """Return whether a field has letters and is no number: it may name a column."""
    return any(map(str.isalpha, text)) and not _is_number_or_missing(text)


def _are_weights(rows: list[list[str]], column: int, decimal: str) -> bool:
    """Whether a column is meant to hold weights: most of it are numbers, in either notation.

    What else is in it is then an error, rather than a reason to leave all weights unread.
    """
    texts = [row[column] for row in rows if len(row) > column and not is_missing(row[column])]
    marks = {decimal, ","}
    numbers = (any(as_real(with_point(text, mark)) is not None for mark in marks) for text in texts)
    return 2 * sum(numbers) > len(texts)


def _is_header(
    fields: list[str], rows: list[list[str]], columns: tuple[int, ...], options: ReadOptions
) -> bool:
    """Whether words above integers, or above names and a number, can only be a header."""
    if not all(map(is_word, (fields[column] for column in columns))):
        return False
    if _are_integers(rows, columns[:2]):
        return True
    return len(columns) == 3 and _are_weights(rows, columns[2], options.decimal)


def _known_columns(fields: list[str], rows: list[list[str]]) -> dict[str, int]:
    """Return the positions of columns with known names by role, if both ends are among them.

    A line of known words is an edge where one of them is a vertex further down.
    """
    found: dict[str, int] = {}
    for position, field in enumerate(fields):
        word = _NO_LETTER.sub("", field.lower())
        for role, names in COLUMN_NAMES.items():
            if word in names:
                found.setdefault(role, position)
    if not {"source", "target"} <= found.keys():
        return {}
    ends = found["source"], found["target"]
    below = {row[end] for row in rows if len(row) > max(ends) for end in ends}
    return {} if any(fields[end] in below for end in ends) else found


def _choose_columns(
    source: Source,
    fields: list[str],
    rows: list[list[str]],
    number: int,
    known: dict[str, int],
    options: ReadOptions,
) -> tuple[int, ...]:
    if options.columns is not None:
        return _given_columns(source, fields, number, options.columns)
    if known:
        columns = tuple(known[role] for role in COLUMN_NAMES if role in known)
        others = [
            position
            for position, field in enumerate(fields)
            if position not in columns and _NO_LETTER.sub("", field.lower()) not in _LINE_NUMBERS
        ]
        # As without a header, the third of three columns is the weight, if it can be.
        is_weight = len(columns) == 2 and len(others) == 1
        if is_weight and _are_weights(rows, others[0], options.decimal):
            return (*columns, others[0])
        return columns
    if len(fields) not in (2, 3):
        remedy = "choose them with columns=(0, 1) (semira --columns 0,1)"
        if len(fields) == 1:
            other = next((sign for sign in "|:" if sign in fields[0]), ";")
            remedy = f"name the separator with delimiter={other!r} (semira --delimiter {other!r})"
        elif len({len(row) for row in rows}) > 1 and _are_integers(rows, (0,)):
            remedy += ". Lines of a vertex and its neighbours: networkx.read_adjlist, then "
            remedy += "gb.io.Graph.from_networkx"
        raise source.error(
            f"{_columns(fields)}; an edge has 2 or 3 (source, target, weight): {remedy}; comments "
            "stand on lines of their own",
            number,
        )
    return tuple(range(len(fields)))


def _given_columns(
    source: Source, fields: list[str], number: int, columns: tuple[int | str, ...]
) -> tuple[int, ...]:
    """Return the positions of columns given by position or name."""
    places = []
    lowered = [field.lower() for field in fields]
    for column in columns:
        if not isinstance(column, str):
            places.append(int(column))
        elif column in fields:
            places.append(fields.index(column))
        elif lowered.count(column.lower()) == 1:
            places.append(lowered.index(column.lower()))
        else:
            raise InvalidValue(
                f"{source.name}: there is no column {column!r}; the first line names "
                f"{', '.join(fields)}"
            )
    if max(places) >= len(fields):
        raise source.error(f"columns={columns} of a line with {len(fields)} columns", number)
    if len(set(places)) < len(places):
        raise InvalidValue(f"columns={columns} name one column twice")
    return tuple(places)
