"""The fields of regular lines, found by array operations: no Python object for each of them."""

from __future__ import annotations

import re
from operator import eq

import numpy as np
from numpy.typing import NDArray

from semira.files.layout import Layout
from semira.files.numbering import number_rows
from semira.files.quoted import LINE_END
from semira.files.source import Block

#: Bytes of the longest field that is read this way.
MAX_FIELD = 64

_NEWLINE, _QUOTE = ord("\n"), ord('"')
_TABS_AS_BLANKS = bytes.maketrans(b"\t", b" ")


class RegularLines:
    """Lines that all have the same number of fields, none of them with a quote inside."""

    def __init__(self, block: Block, stops: NDArray[np.int64], layout: Layout) -> None:
        #: The lines without quotes, blank lines and blanks beyond single ones; its line numbers are
        #: wrong.
        self.block = block
        #: Number of lines.
        self.count = len(stops)
        self._layout = layout
        starts = np.zeros(stops.size, np.int64)
        starts[1:] = stops.reshape(-1)[:-1] + 1
        self._starts = starts.reshape(stops.shape)
        self._sizes = stops - self._starts

    @classmethod
    def find(cls, block: Block, layout: Layout) -> RegularLines | None:
        """Return the lines of a block without comments, or None if they are not regular."""
        mark = layout.delimiter or " "
        data = _unquoted(block.data, layout.delimiter) if mark.isascii() else None
        if data is None:
            return None
        data = _squeezed(data, layout.delimiter)
        text = np.frombuffer(data, np.uint8)
        is_end = text == _NEWLINE
        stops = np.flatnonzero(is_end | (text == ord(mark)))
        if len(stops) % layout.width:
            return None
        table = stops.reshape(-1, layout.width)
        expected = np.arange(layout.width) == layout.width - 1
        if not np.array_equal(is_end[table], np.broadcast_to(expected, table.shape)):
            return None
        return cls(Block(block.line, data), table, layout)

    def names(
        self, kept: NDArray[np.bool_] | None = None
    ) -> tuple[list[str], NDArray[np.int64]] | None:
        """Return the different names of vertices, and which one each end of an edge has.

        Names come in order of first appearance; of each line, or of those `kept`, source and target
        in turn have the position of their name.
        """
        ends = list(self._layout.columns[:2])
        starts, sizes = self._starts[:, ends], self._sizes[:, ends]
        if kept is not None:
            starts, sizes = starts[kept], sizes[kept]
        if not sizes.size:
            return [], np.empty(0, np.int64)
        if sizes.min() == 0:
            return None
        columns = self._words(starts.reshape(-1), sizes.reshape(-1))
        if columns is None:
            return None
        numbers, firsts = number_rows(columns)
        names = self._texts([column[firsts] for column in columns])
        return None if names is None else (names, numbers)

    def texts(self, column: int) -> list[str] | None:
        """Return all fields of a column; None if one needs a closer look, as in `names`."""
        columns = self._words(self._starts[:, column], self._sizes[:, column])
        return None if columns is None else self._texts(columns)

    def _words(
        self, starts: NDArray[np.int64], sizes: NDArray[np.int64]
    ) -> list[NDArray[np.uint64]] | None:
        """Return the bytes of fields in columns of 64 bits, NUL beyond their sizes."""
        longest = int(sizes.max(initial=1))
        if longest > MAX_FIELD:
            return None
        width = -(-longest // 8) * 8
        padded = np.frombuffer(self.block.data + bytes(width), np.uint8)
        cells = np.lib.stride_tricks.sliding_window_view(padded, width)[starts]
        cells *= np.arange(width) < sizes[:, np.newaxis]
        words = cells.view(np.uint64)
        return [np.ascontiguousarray(column) for column in words.T]

    def _texts(self, columns: list[NDArray[np.uint64]]) -> list[str] | None:
        # NUL bytes at the end are padding: no text holds one.
        padded = np.stack(columns, axis=1).view(f"S{8 * len(columns)}")
        found: list[bytes] = padded.reshape(-1).tolist()
        try:
            texts = b"\n".join(found).decode().split("\n") if found else []
        except UnicodeDecodeError:
            return None
        # As the line reader sees them, for which other characters than blank and tab are blank too.
        if self._layout.delimiter is None:
            is_plain = "\n".join(texts).split() == texts
        else:
            is_plain = all(map(eq, texts, map(str.strip, texts)))
        return texts if is_plain else None


def _unquoted(data: bytes, delimiter: str | None) -> bytes | None:
    """Return lines without the quotes around fields; None if one is more than that.

    Such a field holds a delimiter, a newline or another quote, or there are blanks around it.
    """
    if delimiter is None or b'"' not in data:
        return data
    if LINE_END.encode() in data:
        return None
    text = np.frombuffer(b"\n" + data + b"\n", np.uint8)
    is_stop = (text == _NEWLINE) | (text == ord(delimiter))
    quotes = np.flatnonzero(text == _QUOTE)
    opened, closed = quotes[::2], quotes[1::2]
    if len(opened) != len(closed) or not (is_stop[opened - 1] & is_stop[closed + 1]).all():
        return None
    stops = np.flatnonzero(is_stop)
    if not np.array_equal(np.searchsorted(stops, opened), np.searchsorted(stops, closed)):
        return None
    return data.replace(b'"', b"")


def _squeezed(data: bytes, delimiter: str | None) -> bytes:
    """Return lines without blank ones among them; where blanks separate, with single blanks."""
    if delimiter is None:
        data = data.translate(_TABS_AS_BLANKS)
        if b"  " in data:
            data = re.sub(rb"  +", b" ", data)
        data = data.replace(b" \n", b"\n").replace(b"\n ", b"\n").removeprefix(b" ")
    while b"\n\n" in data:
        data = data.replace(b"\n\n", b"\n")
    data = data.removeprefix(b"\n")
    return data if data.endswith(b"\n") or not data else data + b"\n"
