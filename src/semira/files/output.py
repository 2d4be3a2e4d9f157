"""Writing files whole or not at all."""

from __future__ import annotations

import contextlib
import os
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from semira.base.errors import FileWriteError, GraphblasException, InvalidValue
from semira.base.text import printable
from semira.files.compression import split_suffix
from semira.files.source import path_text

#: What a writer accepts as a place to write to; "-" is standard output.
Writable = str | os.PathLike[str] | BinaryIO

#: Paths of files that are being written; they get their names when they are complete.
PARTS: set[str] = set()


def target_name(path: Writable) -> str:
    """Return what error messages call `path`, and where its suffix is looked up."""
    if hasattr(path, "write"):
        return str(getattr(path, "name", "<stream>"))
    return path_text(path)


@contextmanager
def open_output(path: Writable) -> Iterator[BinaryIO]:
    """Open `path` for writing; the file appears, complete, when the block ends without error.

    ``"-"`` is standard output. A name ending in ``.gz``, ``.bz2`` or ``.xz`` is compressed. An
    existing file is replaced in one step and keeps its permissions; devices and pipes are written
    to. Raises FileWriteError if the folder is missing, the place is not writable, the device is
    full, ...; nothing is left behind.
    """
    name = target_name(path)
    try:
        with _open_raw(path, name) as raw:
            compression = split_suffix(name)[1]
            if compression is None:
                yield raw
            else:
                with compression.writer(raw) as stream:
                    yield _Sink(stream)  # type: ignore[misc]
    except GraphblasException:
        raise
    except OSError as error:
        raise _unwritable(name, error) from error


class _Sink:
    """A stream that is written from front to back: SciPy seeks in one that has a ``seek``.

    NumPy takes what has no ``read`` for a path.
    """

    def __init__(self, stream: Any) -> None:
        self.read = stream.read
        self.write = stream.write
        self.flush = stream.flush


@contextmanager
def _open_raw(path: Writable, name: str) -> Iterator[Any]:
    if hasattr(path, "write"):
        yield path
    elif name == "-":
        stdout = getattr(sys.stdout, "buffer", None)
        if stdout is None:
            raise FileWriteError("-: this process has no binary standard output")
        yield stdout
        stdout.flush()
    else:
        with _open_path(name) as file:
            yield file


def check_output(path: str | os.PathLike[str], *reads: str | os.PathLike[str]) -> None:
    """Refuse before the work what `open_output` would refuse after it; leaves nothing behind.

    Raises FileWriteError if the folder is missing, the place is not writable, ..., or it is one of
    the files that are read; among `reads` may be names of none.
    """
    name = os.fspath(path)
    if name == "-":
        return
    try:
        target, mode = _resolve(name)
        if any(Path(each).exists() and target.samefile(each) for each in reads if target.exists()):
            raise FileWriteError(f"{printable(name)}: is read as well; write to another file")
        if stat.S_ISREG(mode):
            with tempfile.TemporaryFile(dir=target.parent):
                pass
    except GraphblasException:
        raise
    except OSError as error:
        raise _unwritable(name, error) from error


def _unwritable(name: str, error: OSError) -> FileWriteError:
    return FileWriteError(f"{printable(name)}: cannot be written: {error.strerror or error}")


def _resolve(name: str) -> tuple[Path, int]:
    """Return the file that `name` means and its mode, of a new one the mode it will have."""
    try:
        # Through links, so that the file they name is replaced and not the link.
        target = Path(name).resolve()
        mode = target.stat().st_mode
    except FileNotFoundError:
        mode = stat.S_IFREG | (0o666 & ~_umask())
    except (ValueError, RuntimeError) as error:
        raise InvalidValue(f"{name!r} is not a path: {error}") from error
    if stat.S_ISDIR(mode):
        raise FileWriteError(f"{printable(name)}: is a directory; name a file in it")
    if not target.parent.is_dir():
        folder = printable(str(target.parent))
        raise FileWriteError(
            f"{printable(name)}: the folder {folder} does not exist; create it first"
        )
    return target, mode


@contextmanager
def _open_path(name: str) -> Iterator[Any]:
    target, mode = _resolve(name)
    if not stat.S_ISREG(mode):
        with target.open("wb") as file:
            yield file
        return
    handle, part = tempfile.mkstemp(dir=target.parent, prefix=".semira-", suffix=".part")
    PARTS.add(part)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
        Path(part).chmod(stat.S_IMODE(mode))
        Path(part).replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(part).unlink()
        raise
    finally:
        PARTS.discard(part)


def _umask() -> int:
    # Reading the mask means setting it; there is no other call.
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
