"""NVRTC through cuda.core: needs neither a GPU nor a driver."""

from __future__ import annotations

import contextlib
import functools
import importlib.metadata
import io
from collections.abc import Callable
from dataclasses import dataclass

from semira.backends import kernel_files
from semira.backends.cuda.jit import cache, linking
from semira.backends.cuda.jit.render import PROGRAM, render_source
from semira.base import interrupts, locks
from semira.base.compiling import compiling
from semira.base.errors import DeviceUnavailable, JitError
from semira.base.settings import settings

#: Options that change the code; part of the cache key.
STANDARD = "c++17"

_lock = locks.lock()

#: Told of every kernel that is asked for, in the cache or not: root, type of offsets, source.
witnesses: list[Callable[[str, str, str], None]] = []


@dataclass(frozen=True, slots=True)
class Compiled:
    """A cubin."""

    code: bytes
    #: What the compiler said; empty if it had nothing to complain about.
    log: str
    was_cached: bool


def toolchain(arch: str) -> dict[str, str]:
    """Return what a cubin depends on beside its text: the GPU's architecture, and the compiler."""
    return {"arch": arch, "compiler": compiler_version()}


def named(kind: str, source: str) -> str:
    """Return the name of a kernel in the cache: what it is, and a digest of its text."""
    return f"{kind}-{cache.digest(source)[:12]}"


def compile_cached(
    generated: str, name: str, arch: str, offset_type: str, root: str = PROGRAM
) -> Compiled:
    """Return the cubin of generated source, from the cache if it is there.

    Raises JitError if it does not compile, or it is not in the cache and ``SEMIRA_NO_COMPILE`` is
    set.
    """
    for witness in witnesses:
        witness(root, offset_type, generated)
    source = render_source(generated, offset_type, root)
    linked = [linking.compiler_version()] if linking.functions_in(generated) else []
    key = cache.digest(source, STANDARD, arch, compiler_version(), *linked)
    path = cache.cache_path(name, key)
    with _lock:
        code = cache.load(path)
        if code is not None:
            return Compiled(code, "", was_cached=True)
        why = kernel_files.why_missing("cuda", path.name, lambda: toolchain(arch))
        if settings().no_compile:
            raise JitError(
                f"kernel {path.name} is not in the cache {path.parent} and SEMIRA_NO_COMPILE is "
                f"set: {why}; unset it, or fill the cache first by `semira compile`, or by a run "
                "without it"
            )
        with interrupts.deferred(), compiling():
            compiled = compile_source(source, name, arch)
        cache.store(path, compiled.code)
    return compiled


@functools.cache
def compiler_version() -> str:
    """Return the version of NVRTC: of its wheel, so that no library is loaded to find a cubin."""
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        return f"nvrtc {importlib.metadata.version('nvidia-cuda-nvrtc')}"
    try:
        from cuda.bindings import nvrtc

        status, major, minor = nvrtc.nvrtcVersion()
    except (ImportError, RuntimeError) as error:
        raise DeviceUnavailable(_NO_NVRTC) from error
    if status != nvrtc.nvrtcResult.NVRTC_SUCCESS:
        raise DeviceUnavailable(f"{_NO_NVRTC} (NVRTC says {status.name})")
    return f"nvrtc {major}.{minor}"


_NO_NVRTC = "no CUDA run-time compiler (NVRTC) was found; pip install 'semira[cuda13]'"


def compile_source(source: str, name: str, arch: str, kind: str = "cubin") -> Compiled:
    """Compile and link a rendered source, without looking at the cache.

    The kind ``ltoir`` is what the linker makes a ``cubin`` of: checked, in half of the time.
    Raises JitError if it does not compile; the message has the compiler's log. Raises
    DeviceUnavailable if there is no NVRTC on this machine.
    """
    compiler_version()
    from cuda.core import Program as Unit
    from cuda.core import ProgramOptions

    functions = linking.functions_in(source)
    log = io.StringIO()
    options = ProgramOptions(
        name=name,
        std=STANDARD,
        arch=arch,
        # NVRTC 13.0 takes lambdas with ``auto`` parameters for functions of the host otherwise.
        device_as_default_execution_space=True,
        link_time_optimization=True if functions or kind == "ltoir" else None,
    )
    unit = Unit(source, "c++", options)
    try:
        made = unit.compile("ltoir" if functions else kind, logs=log)
    except Exception as error:
        raise JitError(f"kernel {name} does not compile for {arch}:\n{error}") from error
    finally:
        unit.close()
    if functions:
        parts = [linking.compile_function(function, arch) for function in functions]
        made = linking.link(made, parts, name, arch)
    assert isinstance(made.code, bytes)
    return Compiled(made.code, log.getvalue().strip(), was_cached=False)
