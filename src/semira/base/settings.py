"""Every option of Semira, and those decided once per process as a frozen object."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path

from semira.base.memory import total_bytes
from semira.base.options import Option, at_least, boolean, collect, folder, one_of, user_folder

DEVICES = ("reference", "cpu", "cuda", "suitesparse")

#: The device of objects that are made of arrays in the memory of a GPU.
GPU = "cuda"


@dataclass(frozen=True, slots=True)
class Settings:
    """What the environment and the user's file decide.

    Every field has a ``SEMIRA_*`` variable and a key in ``semira.toml``
    (see `semira.base.options`).

    Attributes
    ----------
    device : str
        Where unplaced objects go (``SEMIRA_DEVICE``): one of `DEVICES`.
    cache_dir : Path
        Folder of compiled kernels (``SEMIRA_CACHE_DIR``).
    cache_mib : int
        Size to which the folder's CUDA kernels are kept (``SEMIRA_CACHE_MIB``); 0: any size.
    data_dir : Path
        Folder of downloaded graphs (``SEMIRA_DATA_DIR``).
    threads : int
        Worker threads of the cpu backend (``SEMIRA_THREADS``).
    optimise : bool
        Kernels of cpu are optimised (``SEMIRA_OPTIMISE``); ``0`` compiles them in a fifth of the
        time, and they run slower.
    quick : bool
        A long kernel of cuda that is compiled for the first time runs hardly optimised until
        another process has compiled it for good (``SEMIRA_QUICK``); ``0`` waits for that.
    no_compile : bool
        A kernel missing from the cache is an error (``SEMIRA_NO_COMPILE=1``).
    max_iterations : int
        Default limit of ``repeat`` (``SEMIRA_MAX_ITERATIONS``).
    max_bytes : int
        Bytes that compressed input may become (``SEMIRA_MAX_BYTES``); 0: any number.
    """

    device: str
    cache_dir: Path
    cache_mib: int
    data_dir: Path
    threads: int
    optimise: bool
    quick: bool
    no_compile: bool
    max_iterations: int
    max_bytes: int


def _available_cpus() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _half_of_memory() -> int:
    """Return half of the memory of the machine, or of the container; 8 GiB if neither is known."""
    return (total_bytes() or 2**34) // 2


def _cache_folder() -> Path:
    return user_folder("XDG_CACHE_HOME", ".cache")


#: The fields of `Settings`: their defaults and what they accept.
SETTING_OPTIONS = {
    "device": Option("cpu", one_of(*DEVICES)),
    "cache_dir": Option(_cache_folder, folder),
    "cache_mib": Option(1024, at_least(0)),
    "data_dir": Option(lambda: _cache_folder() / "data", folder),
    "threads": Option(_available_cpus, at_least(1)),
    "optimise": Option(True, boolean),
    "quick": Option(True, boolean),
    "no_compile": Option(False, boolean),
    "max_iterations": Option(1_000_000, at_least(1)),
    "max_bytes": Option(_half_of_memory, at_least(0)),
}

#: What a program may change while it runs, see `semira.base.config`.
CONFIG_OPTIONS = {
    "autocompute": Option(True, boolean),
    "mapnumpy": Option(True, boolean),
    "max_rows": Option(60, at_least(2)),
    "min_rows": Option(10, at_least(2)),
    "max_columns": Option(0, at_least(0)),
    "max_width": Option(80, at_least(20)),
    "memory": Option("fast", one_of("fast", "lean")),
    "deterministic": Option(False, boolean),
    "hot_columns": Option("auto", one_of("auto", "off", "on")),
    "diagonals": Option("auto", one_of("auto", "off", "on")),
    "progress": Option(True, boolean),
}

#: Names that ``semira.toml`` may hold.
OPTION_NAMES = (*SETTING_OPTIONS, *CONFIG_OPTIONS)


def read_environment() -> Settings:
    """Return the settings that the environment, the user's file and the defaults give."""
    return Settings(**collect(SETTING_OPTIONS, OPTION_NAMES))


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
