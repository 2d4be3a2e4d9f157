"""Compiling programs and sources as users get them, without the cache."""

from __future__ import annotations

import multiprocessing
import os
import re
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from itertools import chain
from typing import Any

from semira.backends.cuda.jit import compile
from semira.backends.cuda.jit.render import PROGRAM, render_source, render_text
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


def assert_all_compile(
    programs: Mapping[Any, Program | str],
    arch: str,
    offset_type: str = "int",
    root: str = PROGRAM,
) -> None:
    """Compile Programs, or generated sources, by their names, without any warning.

    They share one reading of the kernel library, which takes longer than all that most of them
    make of it: each has a namespace of its own, with what it includes. Where all is asked for they
    are compiled one by one.

    Raises
    ------
    JitError
        One does not compile; the compiler's log has its name.
    """
    texts = {
        str(name): one if isinstance(one, str) else lower_program(one).source
        for name, one in programs.items()
    }
    if FULL:
        logs = {
            name: compile_only(text, arch, offset_type, root).log for name, text in texts.items()
        }
    else:
        logs = {"of one": compile_only(_joined(texts, root), arch, offset_type, root).log}
    logs = {name: log for name, log in logs.items() if log.strip("\0 \n")}
    assert not logs, logs


def _joined(texts: Mapping[str, str], root: str) -> str:
    """Return texts in namespaces, whose kernels may have the same names; errors name the text."""
    split = [
        re.split(r"^(?!#include )", text, maxsplit=1, flags=re.MULTILINE) for text in texts.values()
    ]
    # What all include may say what a template of the library is, which a namespace cannot.
    named = [includes.splitlines() for includes, _ in split]
    shared = [line for line in dict.fromkeys(chain(*named)) if all(line in each for each in named)]
    rooms = []
    for number, (name, lines, (_, rest)) in enumerate(zip(texts, named, split, strict=True)):
        own = "\n".join(line for line in lines if line not in shared)
        text = render_text(f'{own}\n#line 1 "{name}"\n{rest}', root)
        text = re.sub(r'^extern "C" (?=__global__)', "", text, flags=re.MULTILINE)
        rooms.append(f"namespace text_{number} {{\n{text}\n}}")
    return "\n".join([*shared, *rooms])


def compile_apart(
    program: Program, arch: str, offset_type: str = "int", **kind: str
) -> compile.Compiled:
    """Do the same in a process of its own, where NVRTC takes a gigabyte and keeps it."""
    source = lower_program(program).source
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(compile_only, source, arch, offset_type, **kind).result()
