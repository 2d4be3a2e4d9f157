"""What a measurement was taken on: commit, versions, processor, command line."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from semira import __version__
from semira.backends.registry import backend_for
from semira.base.settings import settings

#: Distributions whose versions explain a time.
PACKAGES = (
    "semira",
    "numpy",
    "scipy",
    "numba",
    "llvmlite",
    "python-graphblas",
    "suitesparse-graphblas",
    "networkx",
    "igraph",
    "networkit",
    "cuda-core",
    "cupy-cuda13x",
    "numba-cuda",
    "pylibcugraph-cu13",
)


def version_of(distribution: str) -> str | None:
    """Return the installed version, None if it is not installed."""
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None


def _git(*args: str) -> str | None:
    """Return what git says about the folder of this package; None outside of a checkout."""
    command = ["git", "-C", str(Path(__file__).parent), *args]
    try:
        done = subprocess.run(  # noqa: S603 - no user input
            command, capture_output=True, text=True, check=True, timeout=10
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def processor_name() -> str:
    """Return the name of the processor, or the machine type where the system does not tell."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or platform.machine())


def _command_line() -> list[str]:
    """Return the words that started the process, without the folder of the program."""
    module = getattr(sys.modules["__main__"], "__spec__", None)
    if module is None:
        return [Path(sys.argv[0]).name, *sys.argv[1:]]
    return ["python", "-m", module.name.removesuffix(".__main__"), *sys.argv[1:]]


def describe_environment(device: str = "cpu") -> dict[str, Any]:
    """Return the block that every record of a run on `device` carries.

    Raises DeviceUnavailable if this machine lacks the device.
    """
    describe = getattr(backend_for(device), "describe", dict)

    found = {name: version_of(name) for name in PACKAGES}
    changes = _git("status", "--porcelain", "--untracked-files=no")
    return {
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": _git("rev-parse", "HEAD"),
        "dirty": None if changes is None else bool(changes),
        "command": _command_line(),
        "versions": {
            "python": platform.python_version(),
            **{name: version for name, version in found.items() if version is not None},
            "semira": __version__,
        },
        "device": device,
        **describe(),
        "cpu": processor_name(),
        "cpus": os.cpu_count(),
        "threads": settings().threads,
        # How OpenMP waits decides what SuiteSparse can do on a busy machine.
        "openmp": {
            name: value
            for name, value in sorted(os.environ.items())
            if name.startswith(("OMP_", "GOMP_"))
        },
        "system": platform.platform(),
        "load": list(os.getloadavg()) if hasattr(os, "getloadavg") else None,
    }
