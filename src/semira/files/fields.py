"""The fields of regular lines, found by array operations: no Python object for each of them."""

from __future__ import annotations

import re
from operator import eq

import numpy as np
from numpy.typing import NDArray

from semira.files.layout import Layout
from semira.files.numbering import number_rows
from semira.files.source import Block

#: Bytes of the longest name that is read this way.
MAX_NAME = 64

_NEWLINE = ord("\n")
_TABS_AS_BLANKS = bytes.maketrans(b"\t", b" ")


def distinct_names(block: Block, layout: Layout) -> tuple[list[str], NDArray[np.int64]] | None:
    """Return the different names of vertices in a block, and which one each end of an edge has.

    Parameters
    ----------
    block : Block
        Lines without comments.
    layout : Layout

    Returns
    -------
    names : list of str
        In order of first appearance.
    numbers : ndarray of int64, shape (2 * lines,)
        Position in `names`, source and target of each line in turn.

    Or None if a line is not regular and needs a closer look: it has quotes or another number of
    columns, or a name is empty, has blanks around it, is longer than 64 bytes or is not UTF-8.
    """
    if b'"' in block.data or not (layout.delimiter or " ").isascii():
        return None
    data = _squeezed(block.data, layout.delimiter)
    if not data:
        return [], np.empty(0, np.int64)
    spans = _spans(np.frombuffer(data, np.uint8), layout)
    if spans is None:
        return None
    columns = _columns(data, *spans)
    numbers, firsts = number_rows(columns)
    # Names are padded with NUL bytes, which no text holds.
    padded = np.stack([column[firsts] for column in columns], axis=1)
    found: list[bytes] = padded.view(f"S{8 * len(columns)}").reshape(-1).tolist()
    try:
        names = b"\n".join(found).decode().split("\n")
    except UnicodeDecodeError:
        return None
    # As the line reader sees them, for which other characters than blank and tab are blank too.
    if layout.delimiter is None:
        is_plain = "\n".join(names).split() == names
    else:
        is_plain = all(map(eq, names, map(str.strip, names)))
    return (names, numbers) if is_plain else None


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


def _spans(
    text: NDArray[np.uint8], layout: Layout
) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
    """Return where the ends of each edge start, and their sizes; None if a line is not regular."""
    is_end = text == _NEWLINE
    stops = np.flatnonzero(is_end | (text == ord(layout.delimiter or " ")))
    if len(stops) % layout.width:
        return None
    starts = np.empty_like(stops)
    starts[0] = 0
    starts[1:] = stops[:-1] + 1
    table = stops.reshape(-1, layout.width)
    expected = np.arange(layout.width) == layout.width - 1
    if not np.array_equal(is_end[table], np.broadcast_to(expected, table.shape)):
        return None
    ends = list(layout.columns[:2])
    starts = starts.reshape(table.shape)[:, ends].reshape(-1)
    sizes = table[:, ends].reshape(-1) - starts
    return (starts, sizes) if sizes.min() > 0 and sizes.max() <= MAX_NAME else None


def _columns(
    data: bytes, starts: NDArray[np.int64], sizes: NDArray[np.int64]
) -> list[NDArray[np.uint64]]:
    """Return the bytes of each field in columns of 64 bits, NUL beyond its size."""
    width = -(-int(sizes.max()) // 8)
    padded = np.frombuffer(data + bytes(8 * width), np.uint8)
    cells = np.lib.stride_tricks.sliding_window_view(padded, 8 * width)[starts]
    # A block of equal sizes needs no padding.
    if int(sizes.min()) < 8 * width:
        cells *= np.arange(8 * width) < sizes[:, np.newaxis]
    words = cells.view(np.uint64)
    return [np.ascontiguousarray(words[:, column]) for column in range(width)]
