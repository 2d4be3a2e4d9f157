"""Compressed files: one row for each compression, and a bound on what comes out of them."""

from __future__ import annotations

import io
import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from semira.base.errors import FileFormatError, GraphblasException, MissingLibrary, OutOfMemory
from semira.base.settings import settings

try:
    from lzma import LZMAError
except ImportError:  # a Python that was built without it
    LZMAError = EOFError  # type: ignore[assignment,misc]

#: The level of the gzip command; the library's own default is three times slower for 1 %.
_GZIP_LEVEL = 6


@dataclass(frozen=True, slots=True)
class Compression:
    """One compression, read by content and written by file name."""

    #: Of file names.
    suffix: str
    #: What compressed data begins with.
    magic: re.Pattern[bytes]
    #: The module of the standard library whose ``open`` reads and writes it.
    module: str

    def reader(self, stream: Any) -> Any:
        """Return what reads the decompressed bytes of `stream`."""
        return self._library().open(stream, "rb")

    def writer(self, stream: Any) -> Any:
        """Return what compresses to `stream`; equal contents give equal bytes."""
        if self.module == "gzip":
            # No time stamp, no file name.
            return self._library().GzipFile("", "wb", _GZIP_LEVEL, stream, mtime=0)
        return self._library().open(stream, "wb")

    def _library(self) -> Any:
        try:
            return import_module(self.module)
        except ImportError as error:
            raise MissingLibrary(
                f"{self.suffix} files need Python's module {self.module}, which this Python was "
                f"built without ({error}); decompress the file first"
            ) from error


COMPRESSIONS = (
    Compression(".gz", re.compile(rb"\x1f\x8b"), "gzip"),
    Compression(".bz2", re.compile(rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)"), "bz2"),
    Compression(".xz", re.compile(rb"\xfd7zXZ\0"), "lzma"),
)


def compression_of(head: bytes) -> Compression | None:
    """Return the compression that the first bytes of a file show."""
    return next((row for row in COMPRESSIONS if row.magic.match(head)), None)


def split_suffix(name: str) -> tuple[str, Compression | None]:
    """Return a file name without the suffix of a compression, and that compression.

    Examples
    --------
    >>> split_suffix("g.mtx.gz")[0], split_suffix("g.mtx")
    ('g.mtx', ('g.mtx', None))
    """
    for row in COMPRESSIONS:
        if name.lower().endswith(row.suffix):
            return name[: -len(row.suffix)], row
    return name, None


def check_expansion(name: str, packed: int, unpacked: int) -> None:
    """Check that compressed data does not become more than the option ``max_bytes`` allows.

    Raises OutOfMemory if it does; the message has both sizes.
    """
    limit = settings().max_bytes
    if limit and unpacked > max(limit, packed):
        raise OutOfMemory(
            f"{name}: {packed} compressed bytes become {unpacked} or more, beyond the limit of "
            f"{limit} bytes; set SEMIRA_MAX_BYTES to a larger one (0: none) if you trust the file"
        )


class Bounded(io.RawIOBase):
    """The decompressed bytes of a stream: at most ``max_bytes``, damage as an error of ours.

    Errors call it `name`. `packed` returns the compressed bytes read so far; `damage` is what
    reading damaged data may raise beside what the compressions do.
    """

    def __init__(
        self,
        name: str,
        stream: Any,
        packed: Callable[[], int],
        damage: tuple[type[Exception], ...] = (),
    ) -> None:
        self._name = name
        self._damage: tuple[type[Exception], ...] = (
            EOFError, zlib.error, LZMAError, OSError, *damage
        )  # fmt: skip
        self._stream = stream
        self._packed = packed
        self._position = 0

    def readable(self) -> bool:
        """Whether it can be read: always."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill `buffer` and return how many bytes there were."""
        data = self._read(len(buffer))
        self._position += len(data)
        check_expansion(self._name, self._packed(), self._position)
        buffer[: len(data)] = data
        return len(data)

    def _read(self, count: int) -> bytes:
        try:
            return bytes(self._stream.read(count))
        except GraphblasException:
            raise
        except self._damage as error:
            # The libraries raise OSError too; only those of the system have a number.
            if isinstance(error, OSError) and error.errno is not None:
                raise
            raise FileFormatError(
                f"{self._name}: compressed data is damaged or ends early ({error}); fetch the "
                "file again"
            ) from error
