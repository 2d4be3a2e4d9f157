"""Compiling programs and sources as users get them, without the cache."""

from __future__ import annotations

import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor

from semira.backends.cuda.jit import compile
from semira.backends.cuda.jit.render import PROGRAM, render_source
from semira.backends.cuda.lower import lower_program
from semira.contract import Program

#: Warnings and nearly all errors come before machine code, which `make kernels` makes; so do tests
#: where the GPU runs it.
FULL = os.environ.get("SEMIRA_CONFORMANCE") == "full" or "SEMIRA_REQUIRE_GPU" in os.environ


def compile_only(
    program: Program | str,
    arch: str,
    offset_type: str = "int",
    root: str = PROGRAM,
    kind: str = "cubin" if FULL else "ltoir",
) -> compile.Compiled:
    """Compile a Program, or generated source, without looking at the cache.

    To the linker's input, or to machine code where all is asked for.

    Parameters
    ----------
    program : Program or str
        A str is source as `Lowered.source` has it.
    arch : str
        ``sm_90`` and the like.
    offset_type : {"int", "long long"}
        Type of offsets into matrix entries.
    root : str
        Kernel file that includes what the source calls.
    kind : {"cubin", "ltoir"}

    Raises
    ------
    JitError
        It does not compile; the message has the compiler's log.
    DeviceUnavailable
        There is no NVRTC on this machine.
    """
    generated = program if isinstance(program, str) else lower_program(program).source
    source = render_source(generated, offset_type, root)
    compiled = compile.compile_source(source, "program", arch, kind)
    assert compiled.code
    return compiled


def compile_apart(
    program: Program, arch: str, offset_type: str = "int", **kind: str
) -> compile.Compiled:
    """Do the same in a process of its own, where NVRTC takes a gigabyte and keeps it."""
    source = lower_program(program).source
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(compile_only, source, arch, offset_type, **kind).result()
