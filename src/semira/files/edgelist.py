"""Edge lists: one edge a line, two or three columns, any vertex names."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira.base.log import logger
from semira.files.layout import COMMENT, Layout, edge_lines, edge_tokens, find_layout
from semira.files.mtx import is_mtx
from semira.files.options import ReadOptions
from semira.files.source import Block, Source
from semira.files.table import (
    as_integer,
    as_real,
    blank_comments,
    data_lines,
    is_too_wide,
    line_of,
    shorten,
    try_columns,
)
from semira.formats import EdgeList, index_dtype
from semira.formats.index import MAX_SIZE

#: Vertex numbers this far beyond the number of edges are names, not positions.
SPARSE_FACTOR, SPARSE_SLACK = 16, 1_000_000

#: Dtypes that weights are tried in.
_WEIGHTS = ("int64", "uint64", "float64")

#: A number that may be an integer beyond 64 bits.
_LONG = re.compile(rb"[0-9]{19}")


class _EdgeParser:
    """Reads blocks of lines; vertices start as integers and become names when they must."""

    def __init__(self, source: Source, layout: Layout, options: ReadOptions) -> None:
        self._source = source
        self._layout = layout
        self._options = options
        self._weight = _WEIGHTS[0] if len(layout.columns) == 3 else None
        self._ends: list[NDArray[np.int64]] = []
        self._weights: list[NDArray[Any]] = []
        self._has_negative = False
        #: Number of each name in order of first appearance; None while all are integers.
        self._numbers: dict[str, int] | None = None

    def add(self, block: Block) -> None:
        """Read the edges of one block."""
        if self._numbers is None and self._add_fast(block):
            return
        if self._numbers is not None and self._add_tokens(block):
            return
        lines = list(edge_lines(self._source, block, self._layout))
        if not lines:
            return
        names = [name for _, fields in lines for name in fields[:2]]
        ends = self._integers(names) if self._numbers is None else None
        if ends is None:
            ends = self._named(names, lines[0][0])
        else:
            self._check_base(ends, block)
        self._ends.append(ends)
        if self._weight is not None:
            self._add_weights(self._parse_weights(lines))

    def _add_tokens(self, block: Block) -> bool:
        """Read a block of named vertices if it is regular; say whether it was."""
        tokens = edge_tokens(self._source, block, self._layout)
        if tokens is None:
            return False
        if self._weight is not None:
            weights = self._try_weights(tokens[2::3])
            if weights is None:
                return False
            self._add_weights(weights)
            del tokens[2::3]
        self._ends.append(self._named(tokens, block.line))
        return True

    def _add_fast(self, block: Block) -> bool:
        # A quoted field may hold the delimiter; only the slow reader knows quotes.
        if b'"' in block.data:
            return False
        kinds = self._weight_dtypes() if self._weight else (None,)
        layout = self._layout
        # Without `usecols` NumPy insists on the number of columns as well.
        usecols = None if layout.is_whole else layout.columns
        for kind in kinds:
            dtypes = ("int64", "int64") + ((kind,) if kind else ())
            columns = try_columns(block, dtypes, delimiter=layout.delimiter, usecols=usecols)
            if columns is not None:
                if kind and _may_be_too_wide(columns[2], block.data):
                    return False
                ends = np.stack(columns[:2], axis=1).reshape(-1)
                self._check_base(ends, block)
                self._ends.append(ends)
                if kind:
                    self._add_weights(columns[2].copy())
                return True
        return False

    def _weight_dtypes(self) -> tuple[str, ...]:
        """Return what the weights may still turn out to be."""
        rest = _WEIGHTS[_WEIGHTS.index(self._weight or _WEIGHTS[0]) :]
        return tuple(dtype for dtype in rest if dtype != "uint64" or not self._has_negative)

    def _add_weights(self, weights: NDArray[Any]) -> None:
        """Keep the weights of a block; those of all blocks take the dtype of the last one."""
        self._weight = str(weights.dtype)
        self._weights.append(weights)
        if weights.dtype.kind == "i" and not self._has_negative:
            self._has_negative = bool((weights < 0).any())

    @staticmethod
    def _integers(names: list[str]) -> NDArray[np.int64] | None:
        values = [as_integer(name) for name in names]
        return None if None in values else np.array(values, np.int64)

    def _check_base(self, ends: NDArray[np.int64], block: Block) -> None:
        """Refuse numbers below the base if the caller stated what numbers there are."""
        base, relabel = self._options.base, self._options.relabel
        if base == 0 and relabel is not False:
            return
        below = ends < base
        if bool(below.any()):
            position = int(below.argmax())
            raise self._source.error(
                f"vertex {ends[position]} is below the base {base}",
                line_of(self._source, block, position // 2),
            )

    def _named(self, names: Iterable[str], line: int) -> NDArray[np.int64]:
        """Return the numbers of `names`, giving new ones the next number."""
        if self._numbers is None:
            if self._options.relabel is False or self._options.size is not None:
                raise self._source.error(
                    "from here on a vertex is not an integer (of 64 bits); allow names with "
                    "relabel=True (semira --relabel) and without size",
                    line,
                )
            numbers: defaultdict[str, int] = defaultdict()
            numbers.default_factory = numbers.__len__
            self._numbers = numbers
            self._ends = [self._named(map(str, part.tolist()), line) for part in self._ends]
        numbers_of = self._numbers
        return np.fromiter(map(numbers_of.__getitem__, map(_plain, names)), np.int64)

    def _parse_weights(self, lines: list[tuple[int, list[str]]]) -> NDArray[Any]:
        weights = self._try_weights([fields[2] for _, fields in lines])
        if weights is not None:
            return weights
        reals = []
        for number, fields in lines:
            real = as_real(fields[2])
            if real is None:
                raise self._source.error(f"weight {shorten(fields[2])} is not a number", number)
            if is_too_wide(fields[2]):
                raise self._source.error(
                    f"weight {shorten(fields[2])} is an integer beyond 64 bits (-2**63 to "
                    "2**64 - 1); write it with a decimal point to read the nearest float64",
                    number,
                )
            reals.append(real)
        return np.array(reals, np.float64)

    def _try_weights(self, tokens: list[str]) -> NDArray[Any] | None:
        """Return weights in the first dtype that holds them; None: look at each of them."""
        column = Block(1, "\n".join(tokens).encode())
        for dtype in self._weight_dtypes():
            columns = try_columns(column, (dtype,))
            if columns is not None:
                weights = columns[0].copy()
                return None if _may_be_too_wide(weights, column.data) else weights
        return None

    def finish(self) -> tuple[NDArray[np.int64], NDArray[Any] | None, NDArray[Any] | None]:
        """Return the ends of all edges in turn, the weights, and the labels if there are names."""
        ends = np.concatenate([np.empty(0, np.int64), *self._ends])
        weights = None
        if self._weight is not None:
            # Unsafe: the integers of earlier blocks are known to be what uint64 holds.
            parts = [np.empty(0, self._weight), *self._weights]
            weights = np.concatenate(parts, dtype=self._weight, casting="unsafe")
        if self._numbers is None:
            return ends, weights, None
        labels = np.empty(len(self._numbers), object)
        labels[:] = list(self._numbers)
        return ends, weights, labels


def _may_be_too_wide(weights: NDArray[Any], text: bytes) -> bool:
    """Whether reals may stand for integers beyond 64 bits; false for nearly all files."""
    if weights.dtype.kind != "f" or not bool((np.abs(weights) >= 2.0**63).any()):
        return False
    return _LONG.search(text) is not None


def _plain(name: str) -> str:
    """Return one spelling for each integer, so that ``007`` and ``7`` are one vertex."""
    if name[0] in "+-0" and len(name) > 1:
        value = as_integer(name)
        return name if value is None else str(value)
    return name


def _first_line(
    source: Source, blocks: Iterator[Block], notes: list[str]
) -> tuple[int, str, Block] | None:
    """Return number and text of the first line that is no comment, and the block it is in."""
    for block in blocks:
        cleaned = blank_comments(block, COMMENT, notes)
        for number, text in data_lines(source, cleaned):
            return number, text, cleaned
    return None


def _without_line(block: Block, line: int) -> Block:
    """Return `block` with one line emptied."""
    for number, start, end in block.lines():
        if number == line:
            return Block(block.line, block.data[:start] + block.data[end:])
    return block


def _must_relabel(source: Source, ends: NDArray[np.int64], options: ReadOptions) -> bool:
    """Decide whether integer names are positions or only names; says so in the log."""
    if options.relabel is not None or not len(ends):
        return bool(options.relabel)
    low, high, count = int(ends.min()), int(ends.max()), len(ends) // 2
    limit = SPARSE_FACTOR * count + SPARSE_SLACK
    if low >= 0 and (high <= limit or options.size is not None):
        return False
    found = f"vertex {low} is negative" if low < 0 else f"vertex {high} of {count} edges"
    logger.warning(
        "%s: %s; vertices are numbered in order of first appearance and keep their numbers as "
        "labels (relabel=False, semira --no-relabel, takes them as positions)",
        source.name,
        found,
    )
    return True


def _relabel(ends: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return numbers in order of first appearance, and the name of each number."""
    names, first, inverse = np.unique(ends, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return rank[inverse.reshape(-1)], names[order]


def _sized(source: Source, ends: NDArray[np.int64], options: ReadOptions) -> int:
    high = int(ends.max()) if len(ends) else -1
    size = high + 1 if options.size is None else options.size
    if high >= size:
        raise source.error(
            f"vertex {high + options.base} lies outside the size {size}; give a larger one, or none"
        )
    if size > MAX_SIZE:
        raise source.error(
            f"vertex {high} is beyond 2**60; number them with relabel=True (semira --relabel)"
        )
    return size


def read_edgelist(source: Source, options: ReadOptions) -> EdgeList:
    """Read an edge list.

    Lines are ``source target`` or ``source target weight``, separated by blanks, tabs, commas
    or semicolons (the first line shows which); lines that start with ``#`` or ``%`` are
    comments; a first line such as ``source,target,weight`` names the columns, in any order and
    among others.

    Parameters
    ----------
    source : Source
    options : ReadOptions
        ``base``, ``relabel``, ``delimiter``, ``header``, ``columns`` and ``size``.

    Returns
    -------
    EdgeList
        Directed, as listed. Values are int64 if every weight is an integer that fits, uint64 if
        every one is a non-negative integer below 2**64, else float64; None without a third
        column. Vertices:

        - non-negative integers are positions, less ``base``; the size is the largest + 1;
        - integers, some negative or beyond 16 times the number of edges + 1,000,000, are
          numbered in order of first appearance and kept as integer ``labels``, with a warning
          in the log;
        - anything else (one name is enough) is text: numbered in order of first appearance,
          kept as ``labels``, an object array of str. ``007`` and ``7`` are the same vertex.

        ``relabel`` forces (True) or forbids (False) the numbering.

    Raises
    ------
    FileFormatError
        A line has the wrong number of columns, a weight is no number or an integer beyond 64
        bits, a vertex lies below ``base`` or beyond ``size``, or there is no edge at all and
        neither a header nor ``size``.

    Notes
    -----
    O(file) for positions, plus a dictionary of the names otherwise. An edge list does not
    record vertices without edges beyond the largest number: give ``size``.
    """
    if is_mtx(source):
        raise source.error("is a Matrix Market file; read it with format='mtx'", 1)
    notes: list[str] = []
    blocks = source.blocks()
    first = _first_line(source, blocks, notes)
    meta: dict[str, Any] = {"name": source.stem, "directed": True, "comments": notes}
    if first is None:
        if options.size is None:
            raise source.error(
                "holds no edge; give size=... (semira --size N) for a graph without edges"
            )
        nothing = np.empty(0, index_dtype(options.size))
        return EdgeList(options.size, options.size, nothing, nothing, meta=meta)
    number, text, block = first
    layout = find_layout(source, text, number, options)
    if layout.header_line is not None:
        block = _without_line(block, layout.header_line)
    parser = _EdgeParser(source, layout, options)
    for part in chain([block], blocks):
        parser.add(blank_comments(part, COMMENT, notes if part is not block else None))
    ends, weights, labels = parser.finish()
    if labels is None and _must_relabel(source, ends, options):
        ends, labels = _relabel(ends)
    elif labels is None and options.base:
        ends = ends - options.base
    size = _sized(source, ends, options) if labels is None else len(labels)
    pairs = ends.astype(index_dtype(size), copy=False).reshape(-1, 2)
    rows, cols = (np.ascontiguousarray(pairs[:, column]) for column in (0, 1))
    return EdgeList(size, size, rows, cols, weights, labels=labels, meta=meta)
