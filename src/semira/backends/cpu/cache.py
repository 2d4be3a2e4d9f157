"""Kernel modules on disk: written once, imported, compiled by Numba, compiled code kept beside.

A second process finds the module and Numba's index, and compiles nothing.
"""

from __future__ import annotations

import importlib.util
import os
import re
import sys
import tempfile
import threading
from pathlib import Path
from types import ModuleType
from typing import Any

from semira.backends.cpu.codegen import Header, digest_of, render
from semira.base.errors import JitError
from semira.base.log import logger
from semira.base.settings import settings

_modules: dict[str, ModuleType] = {}
_lock = threading.Lock()
_flights: dict[str, threading.Lock] = {}
_folders: dict[Path, Path] = {}

#: Names of the kernels this process compiled (rather than found on disk), in order.
compiled: list[str] = []


def _renew_locks() -> None:
    global _lock
    _lock = threading.Lock()
    _flights.clear()


if hasattr(os, "register_at_fork"):
    # Another thread of the parent may have held a lock that nobody in the child releases.
    os.register_at_fork(after_in_child=_renew_locks)


def load(template: str, header: Header, label: str) -> ModuleType:
    """Return the module of a specialised template.

    Parameters
    ----------
    template : str
        Name of a module of `kernels`.
    header : Header
    label : str
        Readable part of the module's name.

    Raises
    ------
    JitError
        Later, when a kernel of the module is first called: it does not compile, or it is not
        in the cache and ``SEMIRA_NO_COMPILE`` is set.
    """
    text = render(template, header)
    name = f"{template}-{re.sub(r'[^A-Za-z0-9_]+', '_', label)}-{digest_of(text)}"
    with _lock:
        flight = _flights.setdefault(name, threading.Lock())
    with flight:
        if name not in _modules:
            _modules[name] = _import(name, _written(name, text))
    return _modules[name]


def kernels_met() -> dict[str, int]:
    """Return the specialised kernels this process asked for: name, and functions compiled in it.

    A kernel is a template with operators and flags filled in; it is counted whether it was
    compiled now or found on disk. Its functions count once per combination of array types.
    """
    return {
        name: sum(len(part.signatures) for part in _entry_points(module))
        for name, module in list(_modules.items())
    }


def _entry_points(module: ModuleType) -> list[Any]:
    """Return the functions of a kernel module whose compiled code is kept on disk."""
    return [
        part
        for part in vars(module).values()
        if hasattr(part, "py_func") and part.targetoptions.get("cache", True)
    ]


def _folder() -> Path:
    """Return the folder of modules, a temporary one if the settings' folder is not writable."""
    import numba
    import numpy as np

    versions = digest_of(sys.version, np.__version__, numba.__version__)
    wanted = settings().cache_dir / "cpu" / versions
    if wanted not in _folders:
        try:
            wanted.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=wanted):
                pass
            _folders[wanted] = wanted
        except OSError as error:
            _folders[wanted] = Path(tempfile.mkdtemp(prefix="semira-kernels-"))
            logger.warning(
                "cannot write kernels to %s (%s); this process keeps them in %s and the next one "
                "compiles them again; set SEMIRA_CACHE_DIR to a writable folder",
                wanted, error, _folders[wanted],
            )  # fmt: skip
    return _folders[wanted]


_REFUSAL = "SEMIRA_NO_COMPILE is set; unset it, or fill the cache first by a run without it"


def _written(name: str, text: str) -> Path:
    """Return the module's path, writing it first if it is not there."""
    path = _folder() / f"{name}.py"
    if not path.exists():
        if settings().no_compile:
            raise JitError(f"kernel {name} is not in the cache {path.parent} and {_REFUSAL}")
        handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".part")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        # Another process may have been faster; both wrote the same text.
        Path(temporary).replace(path)
    return path


def _import(name: str, path: Path) -> ModuleType:
    module_name = f"semira_cpu_kernels.{name}"
    spec = importlib.util.spec_from_file_location(module_name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Numba's cached code finds its globals through sys.modules.
    sys.modules[module_name] = module
    spec.loader.exec_module(module)
    for part in _entry_points(module):
        _watch(part, f"{name}:{part.__name__}")
    return module


def _watch(dispatcher: Any, name: str) -> None:
    """Let compilations of `dispatcher` be counted, refused and reported by name."""
    compiler = dispatcher._compiler  # Numba has no public hook before a compilation
    compile_now = compiler.compile

    def compile_or_refuse(args: Any, return_type: Any) -> Any:
        if settings().no_compile:
            raise JitError(
                f"kernel {name} is not compiled for ({', '.join(map(str, args))}) in the cache "
                f"{_folder()} and {_REFUSAL}"
            )
        compiled.append(name)
        try:
            return compile_now(args, return_type)
        except Exception as error:
            raise JitError(f"kernel {name} does not compile: {error}") from error

    compiler.compile = compile_or_refuse
