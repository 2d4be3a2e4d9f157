"""Compiled kernels on disk: one file a kernel, written whole or not at all."""

from __future__ import annotations

import hashlib
import os
import tempfile
from contextlib import suppress
from pathlib import Path

from semira.base.log import logger
from semira.base.settings import settings


def digest(*parts: str) -> str:
    """Return the key of a compiled kernel: everything that decides about its bytes."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]


def cache_path(name: str, key: str) -> Path:
    """Return the file of a kernel."""
    return settings().cache_dir / "cuda" / f"{name}-{key}.cubin"


def load(path: Path) -> bytes | None:
    """Return a cached cubin, or None; notes that it was used."""
    try:
        code = path.read_bytes()
        # Times of access are often switched off. A cache of somebody else's stays as it is.
        with suppress(OSError):
            os.utime(path)
        return code
    except FileNotFoundError:
        return None
    except OSError as error:
        logger.warning("cannot read the kernel cache %s: %s", path, error)
        return None


def store(path: Path, code: bytes) -> None:
    """Write a cubin atomically; a folder that cannot be written costs only the next compile."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, partial = tempfile.mkstemp(dir=path.parent, suffix=".part")
        with os.fdopen(handle, "wb") as file:
            file.write(code)
        Path(partial).replace(path)
        drop_oldest(path.parent, settings().cache_mib << 20)
    except OSError as error:
        logger.warning(
            "cannot write the kernel cache %s (%s); set SEMIRA_CACHE_DIR to a folder that can be "
            "written",
            path.parent,
            error,
        )


def drop_oldest(folder: Path, limit: int) -> None:
    """Remove the cubins that were not used for longest until the rest takes `limit` bytes.

    0 keeps all. Another process may remove files meanwhile; a cubin in use is in memory.
    """
    found = []
    for path in folder.glob("*.cubin") if limit else ():
        with suppress(FileNotFoundError):
            status = path.stat()
            found.append((status.st_mtime_ns, status.st_size, path))
    excess = sum(size for _, size, _ in found) - limit
    for _, size, path in sorted(found):
        if excess <= 0:
            return
        path.unlink(missing_ok=True)
        excess -= size
