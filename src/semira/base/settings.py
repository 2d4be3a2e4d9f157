"""Settings: the environment, read once, as a frozen object."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path

from semira.base.errors import InvalidValue

DEVICES = ("reference", "cpu", "cuda")


@dataclass(frozen=True, slots=True)
class Settings:
    """What the environment decides; every field has a ``SEMIRA_*`` variable.

    Attributes
    ----------
    device : str
        Where unplaced objects go (``SEMIRA_DEVICE``): ``reference``, ``cpu`` or ``cuda``.
    cache_dir : Path
        Folder of compiled kernels (``SEMIRA_CACHE_DIR``).
    threads : int
        Worker threads of the cpu backend (``SEMIRA_THREADS``).
    no_compile : bool
        A kernel missing from the cache is an error (``SEMIRA_NO_COMPILE=1``).
    max_iterations : int
        Default limit of ``repeat`` (``SEMIRA_MAX_ITERATIONS``).
    """

    device: str
    cache_dir: Path
    threads: int
    no_compile: bool
    max_iterations: int


def _integer(name: str, default: int) -> int:
    text = os.environ.get(name)
    if text is None:
        return default
    try:
        value = int(text)
    except ValueError:
        raise InvalidValue(f"{name}={text!r} is not an integer") from None
    if value < 1:
        raise InvalidValue(f"{name}={value} must be at least 1")
    return value


def _available_cpus() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def read_environment() -> Settings:
    """Read every ``SEMIRA_*`` variable and return the settings they give."""
    device = os.environ.get("SEMIRA_DEVICE", "cpu")
    if device not in DEVICES:
        raise InvalidValue(f"SEMIRA_DEVICE={device!r}; choose one of {', '.join(DEVICES)}")
    cache_root = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Settings(
        device=device,
        cache_dir=Path(os.environ.get("SEMIRA_CACHE_DIR") or Path(cache_root) / "semira"),
        threads=_integer("SEMIRA_THREADS", _available_cpus()),
        no_compile=os.environ.get("SEMIRA_NO_COMPILE", "") not in ("", "0"),
        max_iterations=_integer("SEMIRA_MAX_ITERATIONS", 1_000_000),
    )


_current: Settings | None = None


def settings() -> Settings:
    """Return the settings in force (the environment is read on the first call)."""
    global _current
    if _current is None:
        _current = read_environment()
    return _current


def override(**fields: object) -> Settings:
    """Replace fields of the settings in force and return the settings before the change."""
    global _current
    before = settings()
    _current = replace(before, **fields)  # type: ignore[arg-type]
    return before


def restore(before: Settings) -> None:
    """Put back what `override` returned."""
    global _current
    _current = before
