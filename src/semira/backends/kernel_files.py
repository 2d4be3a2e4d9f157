"""Compiled kernels on disk: one file each, written whole or not at all, checked when it is read.

A file is the kernel followed by a checksum of the file's name and the kernel; the name holds a
digest of all that decides about the kernel. What is damaged, cut short or copied from elsewhere
counts as missing: it is compiled again and replaced. A folder that cannot be read or written costs
compilations, never a result.
"""

from __future__ import annotations

import hashlib
import os
import uuid
from contextlib import suppress
from pathlib import Path

from semira.base.log import logger

#: Part of every name: changes when files of earlier releases cannot be read.
FORMAT = "2"

_CHECKSUM = hashlib.sha256
_CHECKSUM_BYTES = _CHECKSUM().digest_size

#: Folders that a warning named.
_reported: set[Path] = set()


def read(path: Path) -> bytes | None:
    """Return the kernel that `write` kept, None if there is none."""
    try:
        kept = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        _report(path.parent, "read", error)
        return None
    code, checksum = kept[:-_CHECKSUM_BYTES], kept[-_CHECKSUM_BYTES:]
    if checksum != _checksum(path.name, code):
        reject(path, "its checksum is wrong")
        return None
    return code


def write(path: Path, code: bytes) -> bool:
    """Keep a kernel; return whether that was possible.

    The first failure in a folder is a warning: the caller has the kernel and can go on.
    """
    # Not `tempfile`, whose files only their owner may read.
    partial = path.with_name(f"{uuid.uuid4().hex}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with partial.open("xb") as file:
                file.write(code + _checksum(path.name, code))
                file.flush()
                os.fsync(file.fileno())
            # Another process may have been faster; both wrote the same kernel.
            partial.replace(path)
        except BaseException:
            with suppress(OSError):
                partial.unlink(missing_ok=True)
            raise
    except OSError as error:
        _report(path.parent, "write", error)
        return False
    return True


def reject(path: Path, reason: str) -> None:
    """Report a file that cannot be used."""
    logger.warning("the kernel %s is damaged (%s); it is compiled again and replaced", path, reason)


def _checksum(name: str, code: bytes) -> bytes:
    return _CHECKSUM(name.encode() + b"\0" + code).digest()


def _report(folder: Path, verb: str, error: OSError) -> None:
    if folder in _reported:
        return
    _reported.add(folder)
    logger.warning(
        "cannot %s compiled kernels in %s (%s); this process goes on without, and the next one "
        "compiles them again; set SEMIRA_CACHE_DIR to a folder that can be written",
        verb, folder, error.strerror or error,
    )  # fmt: skip
