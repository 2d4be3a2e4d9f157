"""Kernels for the host: the translation unit for NVRTC, its few lines of PTX put into C++."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import platform
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from tests.helpers.emulated import operators

from semira.backends.cuda.array_kernels import ROOT
from semira.backends.cuda.jit.cache import cache_path, digest, load
from semira.backends.cuda.jit.compile import STANDARD, Compiled
from semira.backends.cuda.jit.render import PROGRAM, STAGED, kernel_library
from semira.backends.cuda.lower.program import KERNEL
from semira.base.errors import JitError

HERE = Path(__file__).parent
HEADER = HERE / "gpu.hpp"
OPTIONS = (
    "-std=c++17", "-O0", "-fPIC", "-w", "-ffp-contract=off", "-fwrapv", "-fno-strict-aliasing",
    # Variables of one name in two kernels are two.
    "-fno-gnu-unique",
    # Nothing is thrown in a kernel.
    "-fno-exceptions", "-fno-asynchronous-unwind-tables",
)  # fmt: skip
#: The emulator, which is loaded before, has brought all libraries but the compiler's own: to name
#: them again would take as long as assembling a kernel.
LINKED = ("-shared", "-s", "-Wl,-Bsymbolic", "-nostdlib")
LIBRARIES = ("-lgcc",)

EMULATOR_OPTIONS = (
    "-std=c++17", "-O2", "-fPIC", "-shared", "-pthread", "-ftls-model=initial-exec",
    # What is below the end of a fibre's stack is lost when another one goes on.
    "-mno-red-zone",
)  # fmt: skip

#: What kernels write in PTX, and the same in C++.
_TRANSLATED = (
    (r'asm volatile\("red\.release[^;]*;"::"l"\((\w+)\):"memory"\);', r"emulated_arrive(\1);"),
    (
        r'asm volatile\("ld\.(?:relaxed|acquire)[^;]*;":"=r"\((\w+)\):"l"\((\w+)\):"memory"\);',
        r"\1 = emulated_look(\2);",
    ),
    (r'asm volatile\("fence\.acq_rel[^;]*;":::"memory"\);', "__threadfence();"),
    (
        r'asm\("ld\.global\.nc\.L1::no_allocate\.v4\.s32[^;]*;".*?"l"\(place\)\);',
        "p = *place;",
    ),
    (r'asm volatile\("mov\.u64 %0, %globaltimer;":"=l"\((\w+)\)\);', r"\1 = emulated_clock_ns();"),
    (
        r'asm\("mov\.u32 %0, %dynamic_smem_size;":"=r"\((\w+)\)\);',
        r"\1 = emulated::here->dynamic_bytes;",
    ),
    # Keeps the compiler from knowing a value, no more.
    (r'asm volatile\("":"\+r"\((\w+)\)\);', ";"),
)
#: A testing aid that the driver here gives: it needs no kernels of its own.
PERMUTED = "SEMIRA_PERMUTED"
_EITHER = re.compile(r"#define SEMIRA_LOAD_EITHER(?:.*\\\n)+.*\n")
#: Tells where the shared variables of the library are.
_VARIABLES = """
static thread_local unsigned char emulated_variable;
extern "C" void* emulated_variables() { return &emulated_variable; }
"""
_DYNAMIC = re.compile(r"extern __shared__ __align__\(16\) unsigned char (\w+)\[\];")


def has_compiler() -> bool:
    """Whether this machine has what the emulation needs."""
    machine = platform.system(), platform.machine()
    return machine == ("Linux", "x86_64") and shutil.which("g++") is not None


def translate(source: str) -> tuple[str, str]:
    """Return the text of a header for the host, which many kernels share, and of what follows.

    Raises
    ------
    JitError
        It has PTX that is not known here.
    """
    libraries = map(kernel_library, (PROGRAM, STAGED, ROOT))
    shared = next((each for each in libraries if each in source), "")
    before, _, after = source.partition(shared) if shared else ("", "", source)
    lines = [_translated(after), _VARIABLES, operators.definitions(source)]
    if f"{KERNEL}(" in after:
        lines.append(
            f'extern "C" void emulated_entry(void* const* given) {{ '
            f"emulated_call(&{KERNEL}, given); }}"
        )
    return _translated(before + shared), "\n".join(lines) + "\n"


@functools.lru_cache(16)
def _translated(source: str) -> str:
    text = _EITHER.sub(
        "#define SEMIRA_LOAD_EITHER(letter, kind, bits) "
        "emulated_load_either(bits, column, table, array)\n",
        source,
    )
    text = _DYNAMIC.sub(r"\n#define \1 (emulated::here->dynamic)\n", text)
    return re.sub(r"asm(?: volatile)?\(.*?\);", _in_cpp, text, flags=re.DOTALL)


def _in_cpp(found: re.Match[str]) -> str:
    """Return one statement of PTX in C++."""
    text = re.sub(r"\s+", " ", found.group())
    flat = re.sub(r'\s*(::|:)\s*(?=["\w])', r"\1", text)
    flat = re.sub(r'(?<=[")])\s*(:+)', r"\1", flat)
    for pattern, made in _TRANSLATED:
        match = re.fullmatch(pattern, flat)
        if match:
            return match.expand(made)
    raise JitError(f"the emulation does not know this PTX: {text}")


def compile_for_host(
    source: str, name: str, arch: str, kind: str = "cubin", hurry: str | None = None
) -> Compiled:
    """Return a shared library in place of a cubin; takes the place of the compiler.

    It is always in a hurry.

    Raises
    ------
    JitError
        It does not compile; the message has the compiler's log.
    """
    plain = source.replace(f"#define {PERMUTED}\n", "")
    if plain != source:
        key = digest(plain, STANDARD, arch, compiler_version())
        if (known := load(cache_path(name, key))) is not None:
            return Compiled(known, "", was_cached=False)
    header, text = translate(plain)
    with tempfile.TemporaryDirectory() as folder:
        unit, library = Path(folder) / "kernel.cpp", Path(folder) / "kernel.so"
        unit.write_text(f'#include "kernels.hpp"\n{text}')
        command = ["g++", *OPTIONS, *LINKED, f"-I{_headers(header)}", str(unit), *LIBRARIES]
        command += ["-o", str(library)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            log = "\n".join(done.stderr.splitlines()[:60])
            raise JitError(f"kernel {name} does not compile for {arch}:\n{log}")
        return Compiled(library.read_bytes(), "", was_cached=False)


@functools.cache
def compiler_version() -> str:
    """Return what decides about the bytes of a kernel, beside its source."""
    asked = ["g++", "-dumpfullversion"]
    version = subprocess.run(asked, capture_output=True, text=True, check=True)
    texts = b"".join((HERE / name).read_bytes() for name in ("build.py", "operators.py", "gpu.hpp"))
    return f"g++ {version.stdout.strip()} {hashlib.sha256(texts).hexdigest()}"


@functools.cache
def _headers(text: str) -> Path:
    """Return the folder of a header of many kernels and its compiled form, made if not there.

    Reading the header, and what it includes, would take half of the time of most kernels.
    """
    path = cache_path("headers", digest(compiler_version(), text, *OPTIONS)).with_suffix("")
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=path.parent) as folder:
            made = Path(folder) / "made"
            made.mkdir()
            header = made / "kernels.hpp"
            header.write_text(HEADER.read_text() + text)
            command = ["g++", *OPTIONS, "-x", "c++-header", str(header), "-o", f"{header}.gch"]
            subprocess.run(command, check=True)
            with contextlib.suppress(OSError):  # another process was faster
                made.replace(path)
    return path


@functools.cache
def emulator() -> Path:
    """Return the library that runs kernels, compiled if it is not there."""
    texts = b"".join(path.read_bytes() for path in (HERE / "gpu.cpp", HEADER))
    key = digest(hashlib.sha256(texts).hexdigest(), *EMULATOR_OPTIONS)
    path = cache_path("emulator", key).with_suffix(".so")
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=path.parent) as folder:
            made = Path(folder) / "emulator.so"
            command = ["g++", *EMULATOR_OPTIONS, str(HERE / "gpu.cpp"), "-o", str(made)]
            subprocess.run(command, check=True)
            made.replace(path)
    return path
