"""Graphs inside of zip and tar archives: the one graph of an archive is read, nothing unpacked."""

from __future__ import annotations

import re
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import PurePosixPath
from typing import Any

from semira.base.errors import FileFormatError
from semira.base.text import printable
from semira.files.compression import Bounded, check_expansion
from semira.files.foreign import by_suffix
from semira.files.source import Source, decompressed, seekable

ZIP_MAGIC = b"PK\x03\x04"

#: Where a tar archive says that it is one.
_TAR_MARK = slice(257, 262)

#: Files of a tar archive that are listed; those of a graph are a few.
_MAX_MEMBERS = 10_000

#: Files that are no data: hidden ones, those of macOS, and what comes with a download.
_SPARED = re.compile(r"(^|/)(\.|__MACOSX/|readme|licen[cs]e)[^/]*$|^__MACOSX/", re.IGNORECASE)

#: What zipfile and tarfile raise on damaged archives.
_DAMAGE = (
    zipfile.BadZipFile,
    tarfile.TarError,
    zlib.error,
    EOFError,
    ValueError,
    KeyError,
    IndexError,
    OverflowError,
    RuntimeError,
    NotImplementedError,
)


@dataclass(frozen=True, slots=True)
class _Member:
    """A file of an archive: its name, its sizes, and how to open it."""

    name: str
    packed: int
    unpacked: int
    open: Callable[[], Any]


def _is_archive(source: Source) -> bool:
    """Return whether a file is a zip or a tar archive, by its first bytes."""
    head = source.head()
    return head.startswith(ZIP_MAGIC) or head[_TAR_MARK] == b"ustar"


@contextmanager
def unpacked(source: Source, is_graph: Callable[[str], bool]) -> Iterator[Source]:
    """Yield the graph in an archive as a source; a file that is no archive as it is.

    A name for which `is_graph` is true is that of a graph that can be read. Of a folder's files one
    that has its name is the graph: the archives of the SuiteSparse collection hold
    ``name/name.mtx`` and vectors beside it. ``.npz`` files are archives that are formats, and pass
    as they are. Raises FileFormatError if the archive is damaged, or holds no graph or several: the
    message lists what it holds. Raises OutOfMemory if the graph is larger than the option
    ``max_bytes`` allows.
    """
    if not _is_archive(source):
        yield source
        return
    is_zip = source.head().startswith(ZIP_MAGIC)
    with seekable(source) as file:
        try:
            members = list(_zip(file) if is_zip else _tar(file))
        except _DAMAGE as error:
            raise _damaged(source, is_zip, error) from error
        if is_zip and any(member.name.endswith(".npy") for member in members):
            file.seek(0)
            yield Source(source.name, file)
            return
        member = _chosen(source, members, is_graph, "zip" if is_zip else "tar")
        name = printable(f"{source.name}/{member.name}")
        check_expansion(name, member.packed, member.unpacked)
        try:
            stream = member.open()
        except _DAMAGE as error:
            raise _damaged(source, is_zip, error) from error
        inner = Bounded(name, stream, lambda: member.packed, _DAMAGE)
        yield decompressed(name, inner, lambda _count: None)


def _damaged(source: Source, is_zip: bool, error: Exception) -> FileFormatError:
    kind = "zip archive, such as .npz files are" if is_zip else "tar archive"
    return source.error(f"not a readable {kind}: {error}")


def _zip(file: Any) -> Iterator[_Member]:
    archive = zipfile.ZipFile(file)
    for info in archive.infolist():
        if not info.is_dir():
            yield _Member(
                info.filename, info.compress_size, info.file_size, partial(archive.open, info)
            )


def _tar(file: Any) -> Iterator[_Member]:
    archive = tarfile.open(fileobj=file, mode="r:")  # noqa: SIM115 - closed with its file
    for count, info in enumerate(archive):
        if count == _MAX_MEMBERS:
            raise tarfile.ReadError(f"it lists more than {_MAX_MEMBERS} files")
        # A sparse file claims more bytes than the archive has.
        if info.isreg() and not info.issparse():
            yield _Member(info.name, info.size, info.size, partial(archive.extractfile, info))


def _chosen(
    source: Source, members: list[_Member], is_graph: Callable[[str], bool], kind: str
) -> _Member:
    files = [member for member in members if not _SPARED.search(member.name)]
    graphs = [member for member in files if is_graph(member.name)]
    if not graphs and len(files) == 1:
        graphs = files
    named = [member for member in graphs if _is_named_as_folder(PurePosixPath(member.name))]
    found = named if len(named) == 1 else graphs
    if len(found) == 1:
        return found[0]
    if not found and (known := by_suffix(source.name)) is not None:
        raise known.error(source)
    few = ", ".join(member.name for member in (found or members)[:5])
    held = f"holds {len(found)} graphs ({few})" if found else f"holds no graph ({few or 'nothing'})"
    more = ", ..." if len(found or members) > 5 else ""
    raise source.error(
        f"this is a {kind} archive that {held[:-1]}{more}); unpack it and read the file that is "
        "meant (graphs of the SuiteSparse collection: gb.io.load_dataset)"
    )


def _is_named_as_folder(path: PurePosixPath) -> bool:
    return path.parent.name == path.name.split(".")[0]
