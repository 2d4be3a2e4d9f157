"""Kernel modules: rendered once per process; their compiled functions are kept on disk (`jit`)."""

from __future__ import annotations

import linecache
import re
import sys
from types import ModuleType
from typing import Any

from semira.backends.cpu.codegen import Header, digest_of, render
from semira.base import locks

#: Package of the modules; none of them is a file.
PACKAGE = "semira_cpu_kernels"

#: Longest readable part of a name: file systems allow 255 bytes for the whole.
_LONGEST_LABEL = 80

_modules: dict[str, ModuleType] = {}
_flights: dict[str, Any] = {}

#: Names of the kernels this process compiled (rather than found on disk), in order.
compiled: list[str] = []


def load(template: str, header: Header, label: str) -> ModuleType:
    """Return the module of a specialised template.

    Parameters
    ----------
    template : str
        Name of a module of `kernels`, or ``package:name`` of one of a method's folder; several are
        joined by ``+``.
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
    readable = re.sub(r"[^A-Za-z0-9_]+", "_", label)[:_LONGEST_LABEL]
    file = template.rpartition(":")[2]
    name = f"{file}-{readable}-{digest_of(text)}"
    # Threads that ask for one module share it.
    with _flights.setdefault(name, locks.lock()):
        if name not in _modules:
            _modules[name] = _import(name, text)
    return _modules[name]


def kernels_met() -> dict[str, int]:
    """Return the specialised kernels this process asked for: name, and functions compiled in it.

    A kernel is a template with operators and flags filled in; it is counted whether it was
    compiled now or found on disk. Its functions count once per combination of array types.
    """
    return {
        name: sum(len(getattr(part, "signatures", ())) for part in _kernels_in(module))
        for name, module in list(_modules.items())
    }


def _kernels_in(module: ModuleType) -> list[Any]:
    """Return the functions of a kernel module whose compiled code is kept on disk."""
    return [part for part in vars(module).values() if getattr(part, "is_kernel", False)]


def _import(name: str, text: str) -> ModuleType:
    module = ModuleType(f"{PACKAGE}.{name}")
    # Numba's cached code finds its globals through sys.modules.
    sys.modules[module.__name__] = module
    file = f"<{name}>"
    # For tracebacks, and errors of the compiler that show a line.
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    exec(compile(text, file, "exec"), vars(module))  # noqa: S102 - rendered here
    return module
