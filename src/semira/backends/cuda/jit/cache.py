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


def store(path: Path, code: bytes) -> None:
    """Keep a cubin, and remove old ones; a folder that cannot be written costs only a warning."""
    if kernel_files.write(path, code):
        drop_oldest(path.parent, settings().cache_mib << 20)


def drop_oldest(folder: Path, limit: int) -> None:
    """Remove the cubins that were not used for longest until the rest takes `limit` bytes.

    0 keeps all. Another process may remove files meanwhile; a cubin in use is in memory.
    """
    found = []
    for path in folder.glob("*.cubin") if limit else ():
        with suppress(OSError):
            status = path.stat()
            found.append((status.st_mtime_ns, status.st_size, path))
    excess = sum(size for _, size, _ in found) - limit
    for _, size, path in sorted(found):
        if excess <= 0:
            return
        with suppress(OSError):
            path.unlink(missing_ok=True)
        excess -= size
