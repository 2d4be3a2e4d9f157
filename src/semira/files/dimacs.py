"""DIMACS shortest-path graphs (``.gr``).

References
----------
9th DIMACS Implementation Challenge: Shortest Paths, file formats, 2006.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

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

_COMMENT = Comments.after(b"c", line=rb"(?:[ \t].*)?")
#: The first line that is neither blank nor a comment.
_PROBLEM_LINE = re.compile(rb"^(?![^\S\n]*$)(?![^\S\n]*c(?:[ \t].*)?$).+", re.MULTILINE)
_DTYPES = ("S2", "int64", "int64", "int64")
_NAMES = ("mark", "tail", "head", "weight")


def looks_like_dimacs(head: bytes) -> bool:
    r"""Return whether the first bytes of a file are comments and then a problem line.

    The line may be a wrong one if an arc follows.

    Examples
    --------
    >>> [looks_like_dimacs(head) for head in (b"c\np sp 3", b"p 2\na 1 2 5\n", b"p q\nq a\n")]
    [True, True, False]
    """
    lines = [words for words in map(bytes.split, head.splitlines()) if words and words[0] != b"c"]
    if not lines or lines[0][0] != b"p":
        return False
    if lines[0][1:2] == [b"sp"]:
        return True
    follows = lines[1] if len(lines) > 1 else []
    return follows[:1] == [b"a"] and len(follows) == 4 and all(map(bytes.isdigit, follows[1:]))


def _parse_problem(source: Source, text: str, number: int) -> tuple[int, int]:
    words = text.split()
    if words[:2] != ["p", "sp"] or len(words) != 4:
        raise source.error(
            f"expected the problem line 'p sp <vertices> <arcs>', found {shorten(text)}; "
            f"other problems are not read",
            number,
        )
    sizes = [as_integer(word) for word in words[2:]]
    checked = [size for size in sizes if size is not None and 0 <= size <= MAX_SIZE]
    if len(checked) != 2:
        raise source.error(f"a size in {shorten(text)} lies outside [0, 2**60]", number)
    return checked[0], checked[1]


def _read_problem(
    source: Source, blocks: Iterator[Block], notes: list[str]
) -> tuple[int, int, Block]:
    for block in blocks:
        found = _PROBLEM_LINE.search(block.data)
        end = len(block.data) if found is None else found.start()
        comments = _COMMENT.pattern.findall(block.data[:end])
        keep_notes(notes, [line.strip()[1:] for line in comments])
        if found is not None:
            number = block.line + block.data.count(b"\n", 0, end)
            text = found.group().decode("utf-8", "replace").strip()
            return *_parse_problem(source, text, number), block.after(number, found.end())
    raise source.error("ends before its problem line 'p sp <vertices> <arcs>'")


def _arcs(
    source: Source, block: Block, size: int, room: int
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    block = blank_comments(block, _COMMENT)
    marks, tails, heads, weights = read_columns(source, block, _DTYPES, _NAMES)
    if len(marks) > room:
        raise source.error(
            "more arcs than its problem line announces", line_of(source, block, room)
        )
    checks = (
        (marks != b"a", "this is not an arc line 'a <tail> <head> <weight>'"),
        ((tails < 1) | (tails > size), f"the tail lies outside 1..{size}"),
        ((heads < 1) | (heads > size), f"the head lies outside 1..{size}"),
    )
    for bad, reason in checks:
        if bool(bad.any()):
            raise source.error(reason, line_of(source, block, int(bad.argmax())))
    narrow = index_dtype(size)
    return (tails - 1).astype(narrow), (heads - 1).astype(narrow), weights.copy()


def read_dimacs(source: Source) -> EdgeList:
    """Read a DIMACS shortest-path graph (``p sp``, arcs ``a tail head weight``).

    It is directed, with an entry for each arc and int64 values. Road networks list both arcs of a
    road. ``meta["dup_op"]`` is ``"min"``: of parallel arcs the least one counts. Raises
    FileFormatError if the problem line is missing or of another problem, a line is no arc, a vertex
    lies outside 1..n, or there are more or fewer arcs than announced.
    """
    notes: list[str] = []
    blocks = source.blocks()
    size, count, rest = _read_problem(source, blocks, notes)
    narrow = index_dtype(size)
    parts = [(np.empty(0, narrow), np.empty(0, narrow), np.empty(0, np.int64))]
    seen = 0
    for block in chain([rest] if rest.data else [], blocks):
        parts.append(_arcs(source, block, size, count - seen))
        seen += len(parts[-1][0])
    if seen != count:
        raise source.error(
            f"ends after {seen} of the {count} arcs that its problem line announces; "
            f"the file is cut short, fetch it again"
        )
    tails, heads, weights = (np.concatenate(column) for column in zip(*parts, strict=True))
    # Of parallel arcs the shortest path takes the least.
    meta = {"name": source.stem, "directed": True, "comments": notes, "dup_op": "min"}
    return EdgeList(size, size, tails, heads, weights, meta=meta)
