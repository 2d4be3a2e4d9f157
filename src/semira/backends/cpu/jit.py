"""The decorators of kernel modules: Numba, with compiled code that is kept, checked and reported.

Numba's own cache keeps an index beside the code, trusts both, and fails where it cannot write.
Here each compiled function is one file of `kernel_files`.
"""

from __future__ import annotations

import functools
import pickle
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba.core import caching, entrypoints, serialize
from numba.core.compiler import CompileResult
from numba.core.compiler_lock import global_compiler_lock

from semira.backends import kernel_files
from semira.backends.cpu.cache import PACKAGE, compiled, keep_again
from semira.backends.cpu.codegen import digest_of
from semira.backends.cpu.compiler import front_end, machine
from semira.base import interrupts
from semira.base.compiling import compiling
from semira.base.errors import JitError
from semira.base.log import logger
from semira.base.settings import settings

front_end.let_forks_wait()

# Extensions of Numba that are installed; else the first call loads them, and logs that it does.
entrypoints.init_all()

#: Decorates functions that kernels call, which are compiled into them: Python cannot call them.
helper = numba.njit(nogil=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)

#: What decides about compiled code beside the function, its types and the processor. Of NumPy's
#: version Numba itself reads no more than this.
_VERSIONS = {
    "python": sys.version,
    "numpy": ".".join(np.__version__.split(".")[:2]),
    "numba": numba.__version__,
    "llvmlite": machine.toolchain()["llvmlite"],
    # If ``NUMBA_OPT`` asks for less.
    **({} if numba.config.OPT == 3 else {"optimised": str(int(numba.config.OPT))}),
}
_FOLDER = digest_of(*_VERSIONS.values(), kernel_files.FORMAT)


def kernel(function: Callable[..., Any]) -> Any:
    """Decorate a function that is called from Python and kept on disk once it is compiled.

    Raises JitError when it is called: it does not compile, or ``SEMIRA_NO_COMPILE`` is set and the
    function is not in the cache.
    """
    dispatcher = numba.njit(nogil=True, error_model="numpy", no_cfunc_wrapper=True)(function)
    dispatcher.is_kernel = True
    if hasattr(dispatcher, "py_func"):  # else Numba is switched off
        # Numba has no public hooks for its cache, nor before and after a compilation.
        dispatcher._cache = KernelCache(dispatcher)
        dispatcher.compile = functools.partial(_load_or_compile, dispatcher, dispatcher.compile)
        compiler, name = dispatcher._compiler, _name_of(function)
        compiler.compile = functools.partial(_compile, compiler.compile, name)
    return dispatcher


class KernelCache(caching._Cache):  # type: ignore[misc]
    """The compiled forms of one kernel on disk, one for each combination of argument types."""

    def __init__(self, dispatcher: Any) -> None:
        self._function = dispatcher.py_func

    @property
    def cache_path(self) -> str:
        """Folder of the compiled kernels of these versions of Python and its libraries."""
        return str(_folder())

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the kernel compiled for a signature, None if it is not there or not usable."""
        target = target_context.codegen().magic_tuple()
        path = self._path(sig, target)
        code = kernel_files.read(path)
        if code is None:
            # Slower code in the place of no code: it was compiled ahead of time on purpose.
            path = self._path(sig, (target[0], machine.GENERIC, ""))
            code = kernel_files.read(path)
        if code is None:
            return None
        target_context.refresh()
        try:
            return CompileResult._rebuild(target_context, *pickle.loads(code))  # noqa: S301
        except Exception as error:  # noqa: BLE001 - whatever is wrong: it can be compiled
            kernel_files.reject(path, f"{type(error).__name__}: {error}")
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a compiled kernel; nothing is lost but time where that is not possible."""
        if data.library.has_dynamic_globals or not all(part.can_cache for part in data.lifted):
            logger.info("kernel %s holds addresses: it is not kept", _name_of(self._function))
            return
        path = self._path(sig, data.codegen.magic_tuple())
        kernel_files.write(path, serialize.dumps(data._reduce()))

    def _path(self, signature: Any, target: tuple[str, str, str]) -> Path:
        name = _name_of(self._function)
        digest = digest_of(name, str(signature), repr(target))
        return _folder() / f"{name.replace(':', '.')}-{digest}.nbc"

    def enable(self) -> None:
        """Do nothing: it is always on."""

    def disable(self) -> None:
        """Do nothing: it is always on."""

    def flush(self) -> None:
        """Do nothing: files are replaced one by one."""


def _folder() -> Path:
    return settings().cache_dir / "cpu" / _FOLDER


def toolchain() -> dict[str, str]:
    """Return what compiled code depends on beside the kernel: versions, and the processor."""
    return {**_VERSIONS, **machine.toolchain()}


def _name_of(function: Callable[..., Any]) -> str:
    return f"{function.__module__.removeprefix(f'{PACKAGE}.')}:{function.__name__}"


def _load_or_compile(dispatcher: Any, compile_now: Callable[..., Any], signature: Any) -> Any:
    """Load or compile a kernel, whole: Ctrl-C takes effect before or after it."""
    if global_compiler_lock.is_locked():
        return compile_now(signature)  # inside of another kernel
    with interrupts.deferred():
        keep_again(dispatcher.py_func)
        entry = compile_now(signature)
        _shed(dispatcher)
    return entry


def _shed(dispatcher: Any) -> None:
    """Drop what only the compiler needed: half of what a kernel takes once it is compiled."""
    for signature, made in dispatcher.overloads.items():
        if made.type_annotation is None:
            continue
        dispatcher.overloads[signature] = made._replace(type_annotation=None)
        # It has been written to disk, and no kernel calls another.
        made.library._shared_module = made.library._compiled_object = None


def _compile(compile_now: Callable[..., Any], name: str, args: Any, return_type: Any) -> Any:
    """Compile a kernel that is not in the cache: counted, reported, or refused by name."""
    why = kernel_files.why_missing("cpu", name, toolchain, {"cpu": machine.GENERIC})
    if settings().no_compile:
        raise JitError(
            f"kernel {name} is not compiled for ({', '.join(map(str, args))}) in the cache "
            f"{_folder()} and SEMIRA_NO_COMPILE is set: {why}; unset it, or fill the cache first "
            "by `semira compile`, or by a run without it"
        )
    compiled.append(name)
    try:
        with compiling():
            return compile_now(args, return_type)
    except Exception as error:
        raise JitError(f"kernel {name} does not compile: {error}") from error
