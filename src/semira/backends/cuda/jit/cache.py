"""Compiled kernels on disk: one file a kernel, written whole or not at all."""

from __future__ import annotations

import hashlib
import os
import tempfile
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
    """Return a cached cubin, or None."""
    try:
        return path.read_bytes()
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
    except OSError as error:
        logger.warning(
            "cannot write the kernel cache %s (%s); set SEMIRA_CACHE_DIR to a folder that can be "
            "written",
            path.parent,
            error,
        )
