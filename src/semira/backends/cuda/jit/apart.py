"""Processes that compile optimised kernels into the cache: whoever asked may end before."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: What that process runs.
_PROGRAM = "semira.backends.cuda.jit.into_cache"


@dataclass(frozen=True, slots=True)
class Apart:
    """A kernel that another process compiles."""

    #: Its source, name and architecture, and the file of the cache.
    source: str
    name: str
    arch: str
    path: Path
    _process: subprocess.Popen[bytes]

    def is_done(self) -> bool:
        """Return whether that process has ended."""
        return self._process.poll() is not None

    def wait(self) -> None:
        """Wait for its end. It may have failed: then the cache lacks the kernel."""
        self._process.wait()


def is_possible() -> bool:
    """Return whether there is an interpreter that can be started."""
    return bool(sys.executable) and not getattr(sys, "frozen", False)


def begin(source: str, name: str, arch: str, path: Path) -> Apart | None:
    """Let another process compile a source into a file of the cache.

    None if its folder cannot be written or the process cannot be started.
    """
    given = path.with_suffix(f".{os.getpid()}.cu")
    command = [sys.executable, "-m", _PROGRAM, str(given), name, arch, str(path)]
    # The package may have been found where this process alone looks.
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    nothing: Any = subprocess.DEVNULL
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        given.write_text(source, encoding="utf-8")
        # In a session of its own neither Ctrl-C nor the end of a terminal reaches it.
        process = subprocess.Popen(  # noqa: S603 - this interpreter, and a module of the package
            command, stdin=nothing, stdout=nothing, stderr=nothing, env=environment,
            start_new_session=True,
        )  # fmt: skip
    except OSError:
        with suppress(OSError):
            given.unlink(missing_ok=True)
        return None
    _running.append(process)
    return Apart(source, name, arch, path, process)


#: Processes that were started. They need not be waited for.
_running: list[subprocess.Popen[bytes]] = []


def wait_for_all() -> None:
    """Wait for all that this process has begun: what starts next then finds its kernels."""
    while _running:
        _running.pop().wait()
