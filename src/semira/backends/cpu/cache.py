"""Kernel modules: rendered once per process; their compiled functions are kept on disk (`jit`)."""

from __future__ import annotations

import functools
import linecache
import re
import sys
from collections import deque
from contextlib import suppress
from types import ModuleType
from typing import Any, cast

from semira.backends.cpu.codegen import Header, digest_of, render
from semira.backends.cpu.compiler import arguments
from semira.backends.cpu.compiler.kernels import Kernels
from semira.base import locks
from semira.base.compiling import quiet_numba
from semira.base.recent import Recent

#: Package of the modules; none of them is a file.
PACKAGE = "semira_cpu_kernels"

#: Longest readable part of a name: file systems allow 255 bytes for the whole.
_LONGEST_LABEL = 80

#: Kernels kept by the module that asks for them, for each kind of operation.
KEPT_BY_HOST = 256

#: Compiled code dropped last: another thread may be running it.
_gone: deque[list[Any]] = deque(maxlen=64)


def _forget(name: str, module: ModuleType) -> None:
    """Drop what a module left elsewhere; a program that still has it loads it again."""
    sys.modules.pop(module.__name__, None)
    linecache.cache.pop(_file_of(name), None)
    _flights.pop(name, None)
    for part in list(vars(module).values()):
        if hasattr(part, "overloads"):
            _release(part)


def _release(function: Any) -> None:
    """Let Numba forget compiled functions: they hold their globals where no collector looks."""
    dropped = list(function.overloads.values())
    _gone.append(dropped)
    for made in dropped:
        with suppress(KeyError):
            function.targetctx.remove_user_function(made.entry_point)
    function._reset_overloads()


#: A kernel takes about half a megabyte. One that went is found on disk.
_modules: Recent[str, Any] = Recent(1024, _forget)
_flights: dict[str, Any] = {}

#: How texts show constants that are records, whose kernels Numba compiles.
_RECORDS = re.compile(r"np\.frombuffer")

#: Names of the kernels this process compiled (rather than found on disk), in order.
compiled: list[str] = []


def load(template: str, header: Header, label: str) -> ModuleType:
    """Return the module of a specialised template.

    That is the name of a module of `kernels`, or ``package:name`` of one of a method's folder;
    several are joined by ``+``. `label` is the readable part of the module's name. Raises JitError
    later, when a kernel of the module is first called: it does not compile, or it is not in the
    cache and ``SEMIRA_NO_COMPILE`` is set.
    """
    text = render(template, header)
    readable = re.sub(r"[^A-Za-z0-9_]+", "_", label)[:_LONGEST_LABEL]
    file = template.rpartition(":")[2]
    name = f"{file}-{readable}-{digest_of(text)}"
    # Threads that ask for one module share it.
    with _flights.setdefault(name, locks.lock()):
        found: ModuleType | None = _modules.get(name)
        if found is None:
            found = _import(name, text)
    return found


def kernels_met() -> dict[str, int]:
    """Return the specialised kernels this process asked for: name, and functions compiled in it.

    A kernel is a template with operators and flags filled in; it is counted whether it was
    compiled now or found on disk. Its functions count once per combination of array types.
    """
    return {
        name: sum(
            len(getattr(part, "signatures", ()))
            for part in list(vars(module).values())
            if getattr(part, "is_kernel", False)
        )
        for name, module in list(_modules.items())
    }


def _file_of(name: str) -> str:
    return f"<{name}>"


def _import(name: str, text: str) -> ModuleType:
    if arguments.is_usable() and not _RECORDS.search(text):
        other = functools.partial(_with_numba, f"{name}-numba", text)
        made = Kernels(name, text, digest_of, compiled, other)
        _modules[name] = made
        # Callers read its attributes alone.
        return cast("ModuleType", made)
    return _with_numba(name, text)


def _with_numba(name: str, text: str) -> ModuleType:
    """Return a module whose functions Numba compiles; a package of its own has it."""
    found = sys.modules.get(f"{PACKAGE}.{name}")
    if found is not None:
        return found
    module = ModuleType(f"{PACKAGE}.{name}")
    vars(module)["this_module"] = module
    file = _file_of(name)
    # For tracebacks, and errors of the compiler that show a line.
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    with quiet_numba():
        exec(compile(text, file, "exec"), vars(module))  # noqa: S102 - rendered here
    _keep(module)
    return module


def _keep(module: ModuleType) -> None:
    # Numba's cached code finds its globals through sys.modules.
    sys.modules[module.__name__] = module
    _modules[module.__name__.removeprefix(f"{PACKAGE}.")] = module


def keep_again(function: Any) -> None:
    """Keep the module of a kernel that a program uses, if it was dropped."""
    if function.__module__ not in sys.modules and "this_module" in function.__globals__:
        _keep(function.__globals__["this_module"])
