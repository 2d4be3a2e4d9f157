"""NVRTC through cuda.core: needs neither a GPU nor a driver."""

from __future__ import annotations

import contextlib
import functools
import importlib.metadata
import io
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from semira.backends import kernel_files
from semira.backends.cuda.jit import apart, cache, known, linking, quick
from semira.backends.cuda.jit.render import PROGRAM, identity, render_source
from semira.base import interrupts, locks
from semira.base.compiling import compiling
from semira.base.errors import DeviceUnavailable, JitError
from semira.base.settings import settings

#: Options that change the code; part of the cache key.
STANDARD = "c++17"

#: Generated characters from which a kernel that may be quick is: half a second of compilation.
QUICK_FROM = 5_000

#: How a quick kernel is optimised.
QUICK = "max"

#: Threads that compile at a time: no call needs more, and others may use the machine.
MOST_THREADS = 16

_lock = locks.lock()

#: Told of every kernel that is asked for, in the cache or not.
witnesses: list[Callable[[known.Known], None]] = []


@dataclass(frozen=True, slots=True)
class Compiled:
    """A cubin."""

    code: bytes
    #: What the compiler said; empty if it had nothing to complain about.
    log: str
    was_cached: bool
    #: The same kernel, optimised, which another process compiles; None: it is this one.
    better: apart.Apart | None = None


def toolchain(arch: str) -> dict[str, str]:
    """Return what a cubin depends on beside its text: the GPU's architecture, and the compiler."""
    return {"arch": arch, "compiler": compiler_version()}


def named(kind: str, source: str) -> str:
    """Return the name of a kernel in the cache: what it is, and a digest of its text."""
    return f"{kind}-{cache.digest(source)[:12]}"


def compile_cached(
    generated: str,
    name: str,
    arch: str,
    offset_type: str,
    root: str = PROGRAM,
    *,
    may_be_quick: bool = False,
) -> Compiled:
    """Return the cubin of generated source, from the cache if it is there.

    One that `may_be_quick` is hardly optimised where that saves much time, and has a better one.
    Raises JitError if it does not compile, or it is not in the cache and ``SEMIRA_NO_COMPILE`` is
    set.
    """
    text = known.Known(name, root, offset_type, generated)
    for witness in witnesses:
        witness(text)
    path = _file_of(text, arch)
    with _lock:
        code = cache.load(path)
        if code is not None:
            _quick_ones.pop(path, None)
            return Compiled(code, "", was_cached=True)
        why = kernel_files.why_missing("cuda", path.name, lambda: toolchain(arch))
        if settings().no_compile:
            raise JitError(
                f"kernel {path.name} is not in the cache {path.parent} and SEMIRA_NO_COMPILE is "
                f"set: {why}; unset it, or fill the cache first by `semira compile`, or by a run "
                "without it"
            )
        hurried = _quick_ones.get(path)
        if hurried is None:
            with interrupts.deferred(), compiling():
                made = _ahead.take(path, arch, _threads()) or _compile(
                    text, path, arch, may_be_quick=may_be_quick
                )
            if made.better is None:
                return made
            hurried = _quick_ones[path] = made
        if may_be_quick:
            return hurried
        assert hurried.better is not None
        return Compiled(finish(hurried.better), "", was_cached=False)


def expect(algorithm: str, dtype: str, *, is_small: bool) -> None:
    """Note which algorithm runs now, on matrices of which dtype, and whether they are small.

    When the cache lacks a kernel that it is known to ask for, threads compile all of them.
    """
    _ahead.expect(algorithm, dtype, is_small=is_small)


def _threads() -> int:
    return min(MOST_THREADS, settings().threads)


def _file_of(text: known.Known, arch: str) -> Path:
    """Return the file of the cache for a kernel."""
    linked = [linking.compiler_version()] if linking.functions_in(text.source) else []
    parts = identity(text.source, text.offset_type, text.root)
    key = cache.digest(*parts, STANDARD, arch, compiler_version(), *linked)
    return cache.cache_path(text.name, key)


def _may_be_quick(text: known.Known) -> bool:
    return text.root == PROGRAM and can_be_quick(text.source)


def _compile_text(text: known.Known, arch: str) -> Compiled:
    return _compile(text, _file_of(text, arch), arch, may_be_quick=_may_be_quick(text))


def _compile(text: known.Known, path: Path, arch: str, *, may_be_quick: bool) -> Compiled:
    """Compile a kernel that the cache lacks; the cache gets the optimised one."""
    source = render_source(text.source, text.offset_type, text.root)
    if may_be_quick and (hurried := _quick(source, text.name, arch, path)):
        return hurried
    compiled = compile_source(source, text.name, arch)
    cache.store(path, compiled.code)
    return compiled


def new_ahead(
    texts_of: Callable[[str, str], list[known.Known]] = known.known_texts,
) -> known.Ahead[Compiled]:
    """Return what compiles the known texts of announced algorithms, of which there are none yet."""
    return known.Ahead(_file_of, _compile_text, _may_be_quick, texts_of)


_ahead = new_ahead()

#: Quick kernels whose optimised kernel is not in the cache yet, by the file of the latter.
_quick_ones: dict[Path, Compiled] = {}


def can_be_quick(generated: str) -> bool:
    """Return whether a quick kernel may be made of generated source: it is long, and all C++."""
    is_long = settings().quick and len(generated) >= QUICK_FROM
    return is_long and not linking.functions_in(generated)


def _quick(source: str, name: str, arch: str, path: Path) -> Compiled | None:
    """Return a kernel that is hardly optimised, while a process compiles the better one."""
    if not apart.is_possible():
        return None
    try:
        made = compile_source(quick.without_copies(source), name, arch, hurry=QUICK)
    except JitError:
        # A block's shared memory may be too small for functions that are not merged.
        return None
    # Begun earlier it would have taken processors from the threads of the quick one.
    better = apart.begin(source, name, arch, path)
    return None if better is None else replace(made, better=better)


def finish(better: apart.Apart) -> bytes:
    """Wait for an optimised kernel; return it. It is compiled here if the other process failed.

    Raises JitError if it does not compile.
    """
    with interrupts.deferred(), compiling():
        better.wait()
        code = cache.load(better.path)
        if code is None:
            code = compile_source(better.source, better.name, better.arch).code
            cache.store(better.path, code)
    return code


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


def compile_source(
    source: str, name: str, arch: str, kind: str = "cubin", hurry: str | None = None
) -> Compiled:
    """Compile and link a rendered source, without looking at the cache.

    The kind ``ltoir`` is what the linker makes a ``cubin`` of: checked, in a part of the time; with
    Python functions it is linked, but not optimised. In a hurry (``min``, ``mid``, ``max``) it
    leaves optimisations out.
    Raises JitError if it does not compile; the message has the compiler's log. Raises
    DeviceUnavailable if there is no NVRTC on this machine.
    """
    compiler_version()
    from cuda.core import Program as Unit
    from cuda.core import ProgramOptions

    functions = linking.functions_in(source)
    log = io.StringIO()
    threads = _threads()
    options = ProgramOptions(
        name=name,
        std=STANDARD,
        arch=arch,
        # NVRTC 13.0 takes lambdas with ``auto`` parameters for functions of the host otherwise.
        device_as_default_execution_space=True,
        link_time_optimization=True if functions or kind == "ltoir" else None,
        # No textures, and nothing of the host's interface: their headers take as long as ours.
        minimal=True,
        ofast_compile=hurry,
        # A kernel that is optimised is one function, which threads cannot share out.
        split_compile=threads if hurry else None,
        ptxas_options=f"--split-compile={threads}" if hurry else None,
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
        made = linking.link(made, parts, name, arch, kind)
    assert isinstance(made.code, bytes)
    return Compiled(made.code, log.getvalue().strip(), was_cached=False)
