"""Refusing a graph that cannot fit, before anything is allocated."""

from __future__ import annotations

import os
from pathlib import Path

from semira.base.errors import OutOfMemory

_CGROUP = Path("/sys/fs/cgroup")

#: Bytes an entry takes while the matrix is built from the list (see `semira.formats.build`).
BUILD_BYTES = 20


def _read_number(path: Path) -> int | None:
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return None


def _machine_bytes() -> int | None:
    """Return what the system could hand out without swapping."""
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def available_bytes() -> int | None:
    """Return the bytes this process may still take, or None if the system does not tell.

    A container's limit (control groups, version 2) counts as well as the machine's free memory.
    """
    limits = [_machine_bytes()]
    limit, used = _read_number(_CGROUP / "memory.max"), _read_number(_CGROUP / "memory.current")
    if limit is not None and used is not None:
        limits.append(max(limit - used, 0))
    known = [each for each in limits if each is not None]
    return min(known, default=None)


def require_bytes(needed: int, what: str) -> None:
    """Check that `needed` bytes are to be had for `what`.

    Raises
    ------
    OutOfMemory
        They are not; the message has both figures.
    """
    available = available_bytes()
    if available is not None and needed > available:
        raise OutOfMemory(
            f"{what} needs {needed} bytes ({needed / 2**30:.3g} GiB) with the matrix built from "
            f"it, but {available} bytes ({available / 2**30:.3g} GiB) are available; "
            f"ask for a smaller graph"
        )
