"""Opening what is read: paths, standard input and binary streams, plain or compressed.

A `Source` hands out the decompressed bytes in blocks of whole lines, counts lines for error
messages and turns whatever goes wrong below it into Semira's own exceptions.
"""

from __future__ import annotations

import io
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from semira.base.errors import (
    DomainMismatch,
    FileFormatError,
    FileReadError,
    GraphblasException,
    InvalidValue,
    MissingFile,
    OutOfMemory,
)
from semira.base.text import printable
from semira.files.compression import Bounded, compression_of
from semira.files.progress import ReadProgress

#: What a reader accepts as a place to read from; "-" is standard input.
Readable = str | os.PathLike[str] | BinaryIO

#: Bytes of the longest line that is sure to be accepted.
MAX_LINE = 1 << 20

_BLOCK_BYTES = 1 << 22
_HEAD_BYTES = 4096
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Block:
    """Whole lines of a file."""

    #: Number of the first line, counted from 1.
    line: int
    #: The lines, each ended by ``\n`` (the last one of a file may lack it).
    data: bytes

    def lines(self) -> Iterator[tuple[int, int, int]]:
        """Yield the number, start and end (without newline) of every line."""
        start, number, size = 0, self.line, len(self.data)
        while start < size:
            end = self.data.find(b"\n", start)
            end = size if end < 0 else end
            yield number, start, end
            start, number = end + 1, number + 1

    def after(self, line: int, end: int) -> Block:
        """Return the part that follows the line numbered `line`, which ends at `end`."""
        return Block(line + 1, self.data[end + 1 :])


class Source:
    """The decompressed bytes of one file."""

    def __init__(self, name: str, stream: Any, *, is_compressed: bool = False) -> None:
        #: What error messages call it; control characters are escapes.
        self.name = printable(name)
        #: The bytes; ``peek`` does not consume them.
        self.stream = stream
        #: Whether they are being decompressed on the way.
        self.is_compressed = is_compressed

    @property
    def stem(self) -> str:
        """Name without folders and suffixes."""
        return Path(self.name).name.split(".")[0]

    def head(self) -> bytes:
        """Return the first bytes (at most 4,096) without consuming them."""
        return bytes(self.stream.peek(_HEAD_BYTES))[:_HEAD_BYTES]

    def text_head(self) -> bytes:
        """Return the first bytes of a text: without a byte order mark and leading blank space."""
        return self.head().removeprefix(_BOM).lstrip()

    def error(self, reason: str, line: int | None = None) -> FileFormatError:
        """Return the exception that says what is wrong, and where; control characters escaped."""
        where = self.name if line is None else f"{self.name}, line {line}"
        return FileFormatError(printable(f"{where}: {reason}"))

    def blocks(self) -> Iterator[Block]:
        r"""Yield the contents as text lines.

        ``\r\n`` and ``\r`` become ``\n``, a byte order mark is dropped. Blocks of blank lines are
        left out. Raises FileFormatError if the file is empty, holds a NUL byte (it is no text) or a
        line far longer than `MAX_LINE`.
        """
        line, tail, is_first = 1, b"", True
        while chunk := self.stream.read(_BLOCK_BYTES):
            if is_first:
                chunk, is_first = chunk.removeprefix(_BOM), False
            cut = chunk.rfind(b"\n") + 1
            whole, rest = tail + chunk[:cut], chunk[cut:]
            if cut:
                block = self._as_text(line, whole)
                if not block.data.isspace():
                    yield block
                line += block.data.count(b"\n")
                tail = rest
            else:
                tail = whole + rest
            if len(tail) > MAX_LINE:
                raise self.error(
                    f"no line end within {len(tail)} bytes (limit {MAX_LINE}); "
                    f"is this a text file with one entry a line?",
                    line,
                )
        if tail:
            yield self._as_text(line, tail)
        elif is_first:
            raise self.error("the file is empty; expected a header or at least one entry")

    def _as_text(self, line: int, data: bytes) -> Block:
        if b"\r" in data:
            data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        if (nul := data.find(b"\0")) >= 0:
            raise self.error(
                "holds a NUL byte: a binary or UTF-16 file; expected UTF-8 text",
                line + data.count(b"\n", 0, nul),
            )
        return Block(line, data)

    def decode(self, data: bytes, line: int) -> str:
        """Return UTF-8 `data`, whose first line is numbered `line`, as text.

        Raises FileFormatError if a byte is not UTF-8; the message has its line.
        """
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise self.error(
                f"byte 0x{data[error.start]:02x} is not UTF-8; convert the file to UTF-8 or, for "
                "an edge list, give its encoding=..., such as 'latin-1' (semira --encoding)",
                line + data.count(b"\n", 0, error.start),
            ) from None


class _CountedFile(io.RawIOBase):
    """A binary stream that reports the bytes read from it."""

    def __init__(self, file: Any, report: Callable[[int], None]) -> None:
        self.count = 0
        self._file = file
        self._report = report

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        try:
            return bool(self._file.seekable())
        except AttributeError:
            return False

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        return int(self._file.seek(offset, whence))

    def tell(self) -> int:
        return int(self._file.tell())

    def readinto(self, buffer: Any) -> int:
        data = self._file.read(len(buffer))
        if not isinstance(data, (bytes, bytearray)):
            raise InvalidValue("the stream yields text; open it in binary mode ('rb')")
        buffer[: len(data)] = data
        self.count += len(data)
        self._report(len(data))
        return len(data)


def path_text(path: Any) -> str:
    """Return a path as text; raises DomainMismatch if it is no path."""
    try:
        return os.fsdecode(path)
    except TypeError:
        raise DomainMismatch(
            f"expected a path or a binary stream, got {type(path).__name__}; give a str or an "
            "open file"
        ) from None


def _open_path(path: str) -> BinaryIO:
    try:
        return open(path, "rb", buffering=0)  # noqa: PTH123 - unbuffered, closed by `open_source`
    except FileNotFoundError:
        raise MissingFile(f"{printable(path)}: no such file; check the path") from None
    except IsADirectoryError:
        raise FileReadError(f"{printable(path)}: is a directory; name a file in it") from None
    except OSError as error:
        raise FileReadError(f"{printable(path)}: cannot be opened: {error.strerror}") from error
    except ValueError as error:
        raise InvalidValue(f"{path!r} is not a path: {error}") from error


def _open(path: Readable) -> tuple[str, Any, bool]:
    """Return the name and stream of `path`, and whether it is ours to close."""
    if hasattr(path, "read"):
        return str(getattr(path, "name", "<stream>")), path, False
    text = path_text(path)
    if text != "-":
        return text, _open_path(text), True
    stdin = getattr(sys.stdin, "buffer", None)
    if stdin is None:
        raise FileReadError("-: this process has no standard input")
    return "<stdin>", stdin, False


def _size(file: Any) -> int | None:
    try:
        return os.fstat(file.fileno()).st_size or None
    except (AttributeError, OSError):
        return None


def decompressed(name: str, file: Any, report: Callable[[int], None]) -> Source:
    """Return a source of `file`, decompressed if its first bytes are those of a compression.

    `report` is told how many bytes were read from `file`.
    """
    counted = _CountedFile(file, report)
    stream = io.BufferedReader(counted, MAX_LINE)
    found = compression_of(stream.peek(_HEAD_BYTES))
    if found is None:
        return Source(name, stream)
    inner = Bounded(printable(name), found.reader(stream), lambda: counted.count)
    return Source(name, io.BufferedReader(inner, MAX_LINE), is_compressed=True)


@contextmanager
def seekable(source: Source) -> Iterator[Any]:
    """Yield the bytes of a source as a file that can be sought quickly: archives need one.

    A pipe and compressed data are copied first, to disk beyond 64 MiB.
    """
    if source.stream.seekable() and not source.is_compressed:
        source.stream.seek(0)
        yield source.stream
        return
    with tempfile.SpooledTemporaryFile(max_size=1 << 26) as copy:
        shutil.copyfileobj(source.stream, copy)
        copy.seek(0)
        yield io.BufferedReader(_CountedFile(copy, lambda _count: None))


@contextmanager
def open_source(path: Readable, *, progress: bool = True) -> Iterator[Source]:
    """Open `path` for reading; compressions are recognised by the first bytes, not by the name.

    ``"-"`` reads standard input. With `progress` a bar is shown if reading takes longer than a
    second and standard error is a terminal. Raises MissingFile or FileReadError if the file is
    absent, a directory, or cannot be read, FileFormatError if compressed data is damaged or ends
    early, and OutOfMemory if the contents do not fit into memory, or compressed data becomes more
    than the option ``max_bytes`` allows.
    """
    name, file, is_ours = _open(path)
    shown = printable(name)
    try:
        with ReadProgress(name, _size(file), is_enabled=progress) as bar:
            yield decompressed(name, file, bar.advance)
    except GraphblasException:
        raise
    except OSError as error:
        raise FileReadError(f"{shown}: cannot be read: {error.strerror or error}") from error
    except MemoryError as error:
        raise OutOfMemory(f"{shown}: its contents do not fit into memory") from error
    finally:
        if is_ours:
            file.close()
