"""The cubins on disk: their names, and how many are kept."""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from pathlib import Path

from semira.backends import kernel_files
from semira.base.settings import settings


def digest(*parts: str) -> str:
    """Return the key of a compiled kernel: everything that decides about its bytes."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]


def cache_path(name: str, key: str) -> Path:
    """Return the file of a kernel."""
    return settings().cache_dir / "cuda" / f"{name}-{key}-{kernel_files.FORMAT}.cubin"


def load(path: Path) -> bytes | None:
    """Return a cached cubin, or None; notes that it was used."""
    code = kernel_files.read(path)
    if code is not None:
        # Times of access are often switched off. A cache of somebody else's stays as it is.
        with suppress(OSError):
            os.utime(path)
    return code


#: Bytes that may be stored before a folder is looked through again, by it and its limit.
_room: dict[tuple[Path, int], int] = {}


def store(path: Path, code: bytes) -> None:
    """Keep a cubin, and remove old ones; a folder that cannot be written costs only a warning."""
    if not kernel_files.write(path, code):
        return
    limit = settings().cache_mib << 20
    known = path.parent, limit
    _room[known] = _room.get(known, 0) - len(code)
    if _room[known] < 0:
        # Not all of the room: other processes store too.
        _room[known] = min(limit - drop_oldest(path.parent, limit), limit // 16)


def drop_oldest(folder: Path, limit: int) -> int:
    """Remove the cubins that were not used for longest until the rest takes `limit` bytes.

    Return how many bytes the rest takes. 0 keeps all. Another process may remove files meanwhile; a
    cubin in use is in memory.
    """
    found = []
    for path in folder.glob("*.cubin") if limit else ():
        with suppress(OSError):
            status = path.stat()
            found.append((status.st_mtime_ns, status.st_size, path))
    excess = sum(size for _, size, _ in found) - limit
    for _, size, path in sorted(found):
        if excess <= 0:
            break
        with suppress(OSError):
            path.unlink(missing_ok=True)
        excess -= size
    return limit + excess
