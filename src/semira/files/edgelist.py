"""Edge lists: one edge a line, two or three columns, any vertex names."""

from __future__ import annotations

import codecs
from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import chain, compress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira.files.fields import RegularLines
from semira.files.layout import COMMENT, Layout, edge_lines, find_layout, is_word
from semira.files.mtx import is_mtx
from semira.files.numbering import are_names, count_used, number_integers
from semira.files.options import ReadOptions
from semira.files.quoted import join_quoted
from semira.files.source import Block, Source
from semira.files.table import (
    DIGITS,
    as_integer,
    blank_comments,
    data_lines,
    line_of,
    shorten,
    try_columns,
)
from semira.files.weights import Weights, with_points
from semira.formats import EdgeList, index_dtype
from semira.formats.index import MAX_SIZE

#: Bytes of named vertices that are read at a time: names that many blocks share are then looked
#: up once for all of them.
_NAMED_BYTES = 1 << 24

#: Names that show whether most are integers.
_FEW = 100


class _EdgeParser:
    """Reads blocks of lines; vertices start as integers and become names when they must."""

    def __init__(self, source: Source, layout: Layout, options: ReadOptions) -> None:
        self._source = source
        self._layout = layout
        self._options = options
        self._weights = Weights(source, layout, options) if len(layout.columns) == 3 else None
        self._ends: list[NDArray[np.int64]] = []
        #: Number of each name in order of first appearance; None while all are integers.
        self._numbers: defaultdict[str, int] | None = None
        self.guesses = list(layout.guesses)

    def read(self, blocks: Iterator[Block]) -> None:
        """Read the edges of all blocks."""
        for parts in _grouped(blocks, lambda: self._numbers is not None):
            if len(parts) > 1 and self._add_regular(_joined(parts)):
                continue
            for block in parts:
                if self._numbers is None and self._add_integers(block):
                    continue
                if not self._add_regular(block):
                    self._add_lines(block)

    # ------------------------------------------------------------------------ ways to read

    def _add_integers(self, block: Block) -> bool:
        """Read a block of integers by NumPy; say whether all of it was plainly that."""
        layout = self._layout
        # A quoted field may hold the delimiter; only the slow reader knows quotes.
        if b'"' in block.data:
            return False
        # Without `usecols` NumPy insists on the number of columns as well.
        usecols = None if layout.is_whole else layout.columns
        numbers = with_points(block, self._options.decimal)
        for kind in self._weights.dtypes() if self._weights else (None,):
            dtypes = ("int64", "int64") + ((kind,) if kind else ())
            columns = try_columns(numbers, dtypes, delimiter=layout.delimiter, usecols=usecols)
            if columns is None:
                continue
            if self._weights and not self._weights.are_right(columns[2], block.data):
                return False
            if self._options.ids != "index" and self._has_other_spelling(block):
                return False
            ends = np.stack(columns[:2], axis=1).reshape(-1)
            self._check_base(ends, lambda edge: line_of(self._source, block, edge))
            self._ends.append(ends)
            if self._weights:
                self._weights.add(columns[2].copy())
            return True
        return False

    def _add_regular(self, block: Block) -> bool:
        """Read a block whose lines are alike by array operations; say whether they were."""
        lines = RegularLines.find(block, self._layout)
        if lines is None:
            return False

        weights: NDArray[Any] | None = None
        kept: NDArray[np.bool_] | None = None

        def line(edge: int) -> int:
            place = edge if kept is None else int(np.flatnonzero(kept)[edge])
            return line_of(self._source, block, place)

        if self._weights:
            weights = self._weights.try_block(lines.block)
            if weights is None or len(weights) != lines.count:
                texts = lines.texts(self._layout.columns[2])
                if texts is None:
                    return False
                weights, kept = self._weights.parse(texts, line)
        found = lines.names(kept)
        if found is None:
            return False
        self._add_edges(*found, weights, line)
        return True

    def _add_lines(self, block: Block) -> None:
        """Read a block line by line; what is wrong has its line in the message."""
        # Lists of strings only: Python's garbage collector walks lists of lists again and again.
        places: list[int] = []
        tokens: list[str] = []
        texts: list[str] = []
        for number, fields in edge_lines(self._source, block, self._layout):
            places.append(number)
            tokens += fields[:2]
            texts += fields[2:]
        weights = None
        if self._weights:
            weights, kept = self._weights.parse(texts, places.__getitem__)
            if kept is not None:
                tokens = list(compress(tokens, np.repeat(kept, 2).tolist()))
                places = list(compress(places, kept.tolist()))
        number_of = {name: number for number, name in enumerate(dict.fromkeys(tokens))}
        numbers = np.fromiter(map(number_of.__getitem__, tokens), np.int64, len(tokens))
        self._add_edges(list(number_of), numbers, weights, places.__getitem__)

    # ---------------------------------------------------------------------------- vertices

    def _add_edges(
        self,
        names: list[str],
        numbers: NDArray[np.int64],
        weights: NDArray[Any] | None,
        line: Callable[[int], int],
    ) -> None:
        """Keep edges: the names of their ends, which one each end has, weights and lines."""
        if self._weights and weights is not None:
            self._weights.add(weights)
        if self._numbers is None:
            odd = next((at for at, name in enumerate(names) if self._integer(name) is None), None)
            if odd is None:
                ends = np.array(list(map(int, names)), np.int64)[numbers]
                self._check_base(ends, line)
                self._ends.append(ends)
                return
            edge = int((numbers == odd).argmax()) // 2
            self._start_names(names[odd], names[:_FEW], lambda: line(edge))
        assert self._numbers is not None
        known = np.fromiter(map(self._numbers.__getitem__, names), np.int64, len(names))
        self._ends.append(known[numbers])

    def _integer(self, name: str) -> int | None:
        """Return the integer that a name is; in a spelling of its own it is one of the names."""
        value = as_integer(name)
        return value if self._options.ids == "index" or str(value) == name else None

    def _start_names(self, odd: str, few: list[str], line: Callable[[], int]) -> None:
        """Take all vertices as names from here on, and those of earlier blocks too.

        Because of `odd`, which is in a line of its own; `few` names show whether it is the odd one.
        """
        options = self._options
        if options.ids == "index" or options.base is not None or options.size is not None:
            raise self._source.error(
                f"vertex {shorten(odd)} is not an integer (of 64 bits); ids='name' "
                "(semira --ids name), without base and size, takes names",
                line(),
            )
        num_integers = sum(self._integer(name) is not None for name in few)
        is_odd = self._ends or 2 * num_integers > len(few) or DIGITS.fullmatch(odd)
        if options.ids == "auto" and is_odd:
            self.guesses.append(f"vertices are names, because of {shorten(odd)} (ids=...)")
        self._numbers = defaultdict()
        self._numbers.default_factory = self._numbers.__len__
        for at, part in enumerate(self._ends):
            old, found = number_integers(part)
            known = map(self._numbers.__getitem__, map(str, found.tolist()))
            self._ends[at] = np.fromiter(known, np.int64, len(found))[old]

    def _check_base(self, ends: NDArray[np.int64], line: Callable[[int], int]) -> None:
        """Refuse numbers below the base if the caller stated what numbers there are."""
        options = self._options
        if options.ids != "index" and options.base is None and options.size is None:
            return
        base = options.base or 0
        below = ends < base
        if bool(below.any()):
            position = int(below.argmax())
            raise self._source.error(
                f"vertex {ends[position]} is below the base {base}", line(position // 2)
            )

    def _has_other_spelling(self, block: Block) -> bool:
        """Whether a vertex may be an integer in another spelling, such as 007, +7 or -0."""
        text = np.frombuffer(b" " + block.data + b" ", np.uint8)
        is_digit = (text - np.uint8(ord("0"))) < 10
        is_lead = (text[1:-1] == ord("0")) & is_digit[2:] & ~is_digit[:-2]
        is_lead &= text[:-2] != ord(".")
        if not (bool(is_lead.any()) or b"+" in block.data or b"-0" in block.data):
            return False
        # It may be a weight such as 1e-05.
        lines = RegularLines.find(block, self._layout)
        found = None if lines is None else lines.names()
        return found is None or None in map(self._integer, found[0])

    def finish(self) -> tuple[NDArray[np.int64], NDArray[Any] | None, NDArray[Any] | None]:
        """Return the ends of all edges in turn, the weights, and the labels if there are names."""
        ends = np.concatenate([np.empty(0, np.int64), *self._ends])
        weights = None if self._weights is None else self._weights.finish()
        if self._numbers is None:
            return ends, weights, None
        labels = np.empty(len(self._numbers), object)
        labels[:] = list(self._numbers)
        return ends, weights, labels

    @property
    def num_missing(self) -> int:
        """Number of weights that were missing."""
        return 0 if self._weights is None else self._weights.num_missing


def _grouped(blocks: Iterator[Block], is_due: Callable[[], bool]) -> Iterator[list[Block]]:
    """Yield blocks one by one, once `is_due` several that follow each other."""
    parts: list[Block] = []
    size = 0
    for block in blocks:
        # Blank lines may be left out between blocks.
        if parts and block.line != parts[-1].line + parts[-1].data.count(b"\n"):
            yield parts
            parts, size = [], 0
        parts.append(block)
        size += len(block.data)
        if size >= _NAMED_BYTES or not is_due():
            yield parts
            parts, size = [], 0
    if parts:
        yield parts


def _joined(parts: list[Block]) -> Block:
    return Block(parts[0].line, b"".join(part.data for part in parts))


# ------------------------------------------------------------------------------- the whole file


def _recoded(source: Source, encoding: str) -> Iterator[Block]:
    """Yield the blocks of a file in another encoding as UTF-8."""
    stream = codecs.EncodedFile(source.stream, "utf-8", encoding)
    line = 1
    try:
        for block in Source(source.name, stream).blocks():
            line = block.line + block.data.count(b"\n")
            yield block
    except UnicodeError as error:
        if not isinstance(error, UnicodeDecodeError):
            raise source.error(
                f"is not text in {encoding} ({error}); give another encoding=... "
                "(semira --encoding)"
            ) from None
        at, seen = error.start, error.object[: error.start]
        raise source.error(
            f"byte 0x{error.object[at]:02x} is not {encoding}; give another encoding=... "
            "(semira --encoding)",
            line + seen.count(b"\n"),
        ) from None


def _first_block(source: Source, blocks: Iterator[Block], notes: list[str]) -> Block | None:
    """Return the first block with a line that is no comment, from that line on."""
    for block in blocks:
        cleaned = blank_comments(block, COMMENT, notes)
        number, _ = next(data_lines(source, cleaned), (None, ""))
        if number == block.line:
            return cleaned
        if number is not None:
            breaks = np.flatnonzero(np.frombuffer(cleaned.data, np.uint8) == ord("\n"))
            return cleaned.after(number - 1, int(breaks[number - block.line - 1]))
    return None


def _decide(
    ends: NDArray[np.int64], options: ReadOptions, guesses: list[str]
) -> tuple[NDArray[np.int64], NDArray[np.int64] | None]:
    """Return integer ends as vertex numbers, with labels if they are names."""
    is_free = options.ids == "auto" and options.base is None and options.size is None
    if options.ids == "name" or (is_free and are_names(ends)):
        numbers, labels = number_integers(ends)
        if is_free:
            few = ", ".join(map(str, labels[:3].tolist()))
            guesses.append(
                f"integers such as {few} taken as names (ids='index' takes them as numbers)"
            )
        return numbers, labels
    return (ends - options.base if options.base else ends), None


def _sized(source: Source, ends: NDArray[np.int64], options: ReadOptions) -> int:
    high = int(ends.max()) if len(ends) else -1
    size = high + 1 if options.size is None else options.size
    if high >= size:
        raise source.error(
            f"vertex {high + (options.base or 0)} lies outside the size {size}; give a larger one, "
            "or none"
        )
    if size > MAX_SIZE:
        raise source.error(
            f"vertex {high} is beyond 2**60; ids='name' (semira --ids name) numbers the vertices"
        )
    return size


def read_edgelist(source: Source, options: ReadOptions) -> EdgeList:
    """Read an edge list: directed, as listed.

    Lines are ``source target`` or ``source target weight``, separated by blanks, tabs, commas or
    semicolons (the first lines show which); lines that start with ``#`` or ``%`` are comments; a
    first line may name the columns. Values are int64 if every weight is an integer that fits,
    uint64 if every one is a non-negative integer below 2**64, else float64; None without a third
    column.

    Vertices are numbers or names. With ``ids="auto"`` they are:

    - text, if one of them is no integer, or an integer in a spelling of its own such as ``007``:
      numbered in order of first appearance, with ``labels``, an object array of str as the file
      has them;
    - names that are integers, if one is negative, or if most of the numbers from 0 to the largest
      are not used (more than are used, and more than 100): numbered in the same way, ``labels`` is
      an int64 array;
    - numbers else, less ``base``: the size is the largest + 1.

    The first line is a header if its words are known (``source,target``, ``from,to``, ``FromNodeId
    ToNodeId``, ...) and no vertex further down is called so, or if words stand above integers, or
    above names and a weight.

    ``meta`` has ``name``, ``directed``, ``comments``, ``ids`` (``"index"`` or ``"name"``),
    ``header`` (names of the columns, or None), ``delimiter`` (``" "`` for any blanks),
    ``unnamed_vertices`` (numbers below the size that no line names, where vertices are numbers),
    ``dropped_missing`` or ``replaced_missing`` (weights, where ``missing`` was given),
    ``possible_header`` (fields of the first line, if it was read as an edge of names that come up
    nowhere else) and ``guesses`` (what may be wrong, for people).

    Raises FileFormatError if a line has the wrong number of columns, a weight is missing, no number
    or an integer beyond 64 bits, a vertex lies below ``base`` or beyond ``size``, text is not in
    the encoding, or there is no edge at all and neither a header nor ``size``. Raises InvalidValue
    if ``columns`` names a column that there is not. O(file). An edge list does not record vertices
    without edges beyond the largest number: give ``size``.
    """
    if is_mtx(source):
        raise source.error("is a Matrix Market file; read it with format='mtx'", 1)
    notes: list[str] = []
    is_utf8 = codecs.lookup(options.encoding).name == "utf-8"
    blocks = source.blocks() if is_utf8 else _recoded(source, options.encoding)
    if options.delimiter != " ":
        blocks = join_quoted(blocks)
    first = _first_block(source, blocks, notes)
    meta: dict[str, Any] = {"name": source.stem, "directed": True, "comments": notes}
    if first is None:
        if options.size is None:
            raise source.error(
                "holds no edge; give size=... (semira --size N) for a graph without edges"
            )
        nothing = np.empty(0, index_dtype(options.size))
        meta |= {"ids": "index", "unnamed_vertices": options.size, "guesses": []}
        return EdgeList(options.size, options.size, nothing, nothing, meta=meta)
    layout = find_layout(source, first, options)
    parser = _EdgeParser(source, layout, options)
    others = (blank_comments(block, COMMENT, notes) for block in blocks)
    parser.read(chain([layout.body(first)], others))
    ends, weights, labels = parser.finish()
    if labels is None:
        ends, labels = _decide(ends, options, parser.guesses)
    size = _sized(source, ends, options) if labels is None else len(labels)
    meta |= _facts(layout, options, parser, ends, labels, size)
    pairs = ends.astype(index_dtype(size), copy=False).reshape(-1, 2)
    rows, cols = (np.ascontiguousarray(pairs[:, column]) for column in (0, 1))
    return EdgeList(size, size, rows, cols, weights, labels=labels, meta=meta)


def _facts(
    layout: Layout,
    options: ReadOptions,
    parser: _EdgeParser,
    ends: NDArray[np.int64],
    labels: NDArray[Any] | None,
    size: int,
) -> dict[str, Any]:
    """Return what is to be known of how a file was read."""
    guesses = parser.guesses
    facts: dict[str, Any] = {
        "ids": "index" if labels is None else "name",
        "header": layout.header,
        "delimiter": layout.delimiter or " ",
        "guesses": guesses,
    }
    if options.missing is not None:
        how = "dropped" if options.missing == "drop" else "replaced"
        facts[f"{how}_missing"] = parser.num_missing
    if labels is None:
        unnamed = facts["unnamed_vertices"] = size - count_used(ends)
        if unnamed and options.ids == "auto" and options.base is None and options.size is None:
            if unnamed == 1 and bool((ends != 0).all()):
                guesses.append("vertex 0 has no edge (base=1 counts from 1)")
            else:
                words = f"{unnamed:,} of {size:,} vertices have no edge"
                guesses.append(f"{words} (ids='name' leaves them out)")
    elif layout.header is None and options.header is None and len(layout.columns) == 2:
        # The first line's vertices are 0 and 1, or both 0.
        fields = list(map(str, labels[ends[:2]]))
        if all(map(is_word, fields)) and (ends[2:] >= len(set(fields))).all() and len(ends) > 2:
            facts["possible_header"] = fields
            guesses.append(f"first line read as an edge ({', '.join(fields)}; header=True?)")
    return facts
