"""Quoted fields that span lines: their line ends are set aside while lines are read one by one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from semira.files.source import MAX_LINE, Block

#: Stands for a line end inside of quotes. No text that is read holds one of its own.
LINE_END = "\0"

_FIELD = rb' *"(?:[^"]|"")*+" *|(?! *")[^,;\t\n]*+'

#: A record of at least two fields, whose quoted ones may hold line ends.
_RECORD = re.compile(rb"(?:(?:%b)[,;\t])++(?:%b)" % (_FIELD, _FIELD))


def join_quoted(blocks: Iterable[Block]) -> Iterator[Block]:
    r"""Yield blocks in which every record is one line.

    Line ends inside of quotes become `LINE_END`. As many blank lines follow the record, so that
    the numbers of later lines stay right. Lines that make no record, because a quote is never
    closed, say, are left as they are.

    Examples
    --------
    >>> [block.data for block in join_quoted([Block(1, b'"a\nb",c\nd,e\n')])]
    [b'"a\x00b",c\n\nd,e\n']
    """
    held: Block | None = None
    for block in blocks:
        data, line = block.data, block.line
        if held is not None:
            follows = line == held.line + held.data.count(b"\n")
            if follows and len(held.data) <= MAX_LINE:
                data, line = held.data + data, held.line
            else:
                yield held
            held = None
        done, rest = _joined(data) if b'"' in data else (data, b"")
        if done:
            yield Block(line, done)
        if rest:
            held = Block(line + done.count(b"\n"), rest)
    if held is not None:
        yield held


def _joined(data: bytes) -> tuple[bytes, bytes]:
    """Return lines with their records joined, and the lines from an open quote on to the end."""
    lines = data.split(b"\n")
    is_odd = [line.count(b'"') % 2 == 1 for line in lines]
    if not any(is_odd):
        return data, b""
    out: list[bytes] = []
    at = 0
    while at < len(lines):
        end = at
        if is_odd[at] and _RECORD.fullmatch(lines[at]) is None:
            # The quote is closed where the number of quotes becomes even.
            end = next((later for later in range(at + 1, len(lines)) if is_odd[later]), -1)
            if end < 0:
                return b"".join(line + b"\n" for line in out), b"\n".join(lines[at:])
            if _RECORD.fullmatch(b"\n".join(lines[at : end + 1])) is None:
                end = at
        out.append(LINE_END.encode().join(lines[at : end + 1]))
        out += [b""] * (end - at)
        at = end + 1
    return b"\n".join(out), b""
