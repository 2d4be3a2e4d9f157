"""Columns of numbers in text: NumPy's compiled reader, and a slow one that names the line.

Every block of lines first goes through `numpy.loadtxt`, which is strict: it refuses a token
that is not wholly a number and a line with too many or too few columns. What it refuses is
read again line by line, to say which line and why.
"""

from __future__ import annotations

import io
import math
import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira.files.source import Block, Source

_INTEGER = re.compile(r"[+-]?[0-9]{1,1000}")
#: An integer of any length.
DIGITS = re.compile(r"[+-]?[0-9]+")
_REAL = re.compile(
    r"[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|nan|inf|infinity)", re.IGNORECASE
)


def as_integer(token: str, dtype: str = "int64") -> int | None:
    """Return the integer that `token` spells, or None if it spells none that fits `dtype`.

    Examples
    --------
    >>> as_integer("007"), as_integer("1.0"), as_integer("1_000"), as_integer("9" * 19)
    (7, None, None, None)
    """
    if _INTEGER.fullmatch(token) is None:
        return None
    value = int(token)
    limits = np.iinfo(dtype)
    return value if limits.min <= value <= limits.max else None


def is_too_wide(token: str) -> bool:
    """Return whether `token` spells an integer that 64 bits hold neither signed nor unsigned.

    Examples
    --------
    >>> is_too_wide(str(2**64)), is_too_wide(str(2**64 - 1)), is_too_wide("1e30")
    (True, False, False)
    """
    is_spelled = DIGITS.fullmatch(token) is not None
    return is_spelled and as_integer(token) is None and as_integer(token, "uint64") is None


def is_beyond_floats(token: str) -> bool:
    """Return whether `token` spells a number that is larger than every float64."""
    return _REAL.fullmatch(token) is not None and as_real(token) is None


def as_real(token: str) -> float | None:
    """Return the nearest float64 to what `token` spells, or None if it spells none that fits.

    Examples
    --------
    >>> as_real("1e3"), as_real("-inf"), as_real("1e400"), as_real("1_000.5")
    (1000.0, -inf, None, None)
    """
    value = float(token) if _REAL.fullmatch(token) else None
    is_too_large = value is not None and math.isinf(value) and "inf" not in token.lower()
    return None if is_too_large else value


@dataclass(frozen=True, slots=True)
class _Kind:
    parse: Callable[[str], Any]
    noun: str


_KINDS = {
    "int64": _Kind(as_integer, "an integer (of 64 bits)"),
    "uint64": _Kind(lambda token: as_integer(token, "uint64"), "an unsigned integer (of 64 bits)"),
    "float64": _Kind(as_real, "a number (of 64 bits)"),
    # Two characters are kept of a word, enough to tell a one-letter mark from longer words.
    "S2": _Kind(lambda token: token.encode()[:2], "a word"),
}


@dataclass(frozen=True, slots=True)
class Comments:
    """How a format writes comment lines."""

    #: What no comment lacks.
    marks: tuple[bytes, ...]
    #: Matches a whole comment line, without its newline.
    pattern: re.Pattern[bytes]

    @classmethod
    def after(cls, *marks: bytes, line: bytes = rb".*") -> Comments:
        """Return the style of lines that start with one of `marks`, then `line`."""
        start = b"|".join(map(re.escape, marks))
        return cls(marks, re.compile(rb"^[^\S\n]*(?:%b)%b$" % (start, line), re.MULTILINE))


def blank_comments(block: Block, style: Comments, notes: list[str] | None = None) -> Block:
    """Return `block` with its comment lines emptied, so that line numbers stay right.

    The text of the comments goes to `notes` (the first thousand of them).
    """
    # Searching for a byte is far cheaper than for a pattern, and most blocks have no comment.
    if not any(mark in block.data for mark in style.marks):
        return block
    if notes is not None:
        keep_notes(notes, style.pattern.findall(block.data))
    return Block(block.line, style.pattern.sub(b"", block.data))


def keep_notes(notes: list[str], found: list[bytes], limit: int = 1000) -> None:
    """Append comment lines to `notes`, bytes that are no UTF-8 replaced, `limit` in all."""
    room = max(0, limit - len(notes))
    notes += [line.decode("utf-8", "replace").strip() for line in found[:room]]


def data_lines(source: Source, block: Block) -> Iterator[tuple[int, str]]:
    """Yield number and text of every line of `block` that is not blank."""
    # A file may begin with millions of blank lines.
    if block.data.isspace():
        return
    for number, line in enumerate(source.decode(block.data, block.line).split("\n"), block.line):
        if line and not line.isspace():
            yield number, line


def line_of(source: Source, block: Block, position: int) -> int:
    """Return the line number of the entry at `position` (from 0) in `block`."""
    for count, (number, _) in enumerate(data_lines(source, block)):
        if count == position:
            return number
    return block.line


def try_columns(
    block: Block,
    dtypes: tuple[str, ...],
    *,
    delimiter: str | None = None,
    usecols: tuple[int, ...] | None = None,
) -> tuple[NDArray[Any], ...] | None:
    """Return the columns of `block`, or None if any token or line is not as expected.

    Lines have no comments. Dtypes are ``int64``, ``uint64``, ``float64`` or ``S2``. A `delimiter`
    of None is any run of blanks; `usecols` says which columns to read, None: all of them.
    """
    if not block.data.strip():
        return tuple(np.empty(0, dtype) for dtype in dtypes)
    record = np.dtype([(f"f{position}", dtype) for position, dtype in enumerate(dtypes)])
    # What is not ASCII is no number; in columns that are not read it does no harm.
    text = io.StringIO(block.data.decode("ascii", "replace"))
    try:
        with warnings.catch_warnings():
            # Older NumPy only warns when "1.5" stands where an integer is due.
            warnings.simplefilter("error", DeprecationWarning)
            warnings.simplefilter("error", UserWarning)
            table = np.loadtxt(
                text, record, comments=None, delimiter=delimiter, usecols=usecols, ndmin=1
            )
    except (ValueError, OverflowError, Warning):
        return None
    columns = tuple(table[name] for name in record.names or ())
    # Infinity may be written, or a number may be too large: each token is looked at.
    has_infinite = any(each.dtype.kind == "f" and bool(np.isinf(each).any()) for each in columns)
    return None if has_infinite else columns


def read_columns(
    source: Source, block: Block, dtypes: tuple[str, ...], names: tuple[str, ...]
) -> tuple[NDArray[Any], ...]:
    """Return the columns of `block`, separated by blanks.

    Raises FileFormatError if a line has too many or too few columns, or a token is not of its
    column's dtype; the message names line, column and token.
    """
    columns = try_columns(block, dtypes)
    if columns is not None:
        return columns
    kinds = [_KINDS[dtype] for dtype in dtypes]
    table: list[list[Any]] = [[] for _ in dtypes]
    for number, text in data_lines(source, block):
        tokens = text.split()
        if len(tokens) != len(dtypes):
            expected = ", ".join(names)
            raise source.error(
                f"{len(tokens)} columns where {len(dtypes)} belong ({expected})", number
            )
        for column, kind, token, name in zip(table, kinds, tokens, names, strict=True):
            value = kind.parse(token)
            if value is None:
                raise source.error(f"{name} {shorten(token)} is not {kind.noun}", number)
            column.append(value)
    return tuple(np.array(column, dtype) for column, dtype in zip(table, dtypes, strict=True))


def shorten(token: str) -> str:
    """Return `token` quoted for an error message, cut if it is long."""
    return repr(token if len(token) <= 40 else token[:37] + "...")
