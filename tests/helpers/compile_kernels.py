"""Compile and link the kernels that the conformance suite can ask for; no GPU is needed.

    python -m tests.helpers.compile_kernels --jobs 2

All texts are generated. Those are compiled that are not known to compile (`known_kernels`), and
some of the others; all with ``--all``. ``--record`` makes them known, and ``--compare`` compiles
nothing: it tells which texts differ from the known ones.

What is compiled is compiled for sm_90, and a twelfth of it for each other architecture; for
architectures that are named (``--arch``), all of it. Many programs share one translation unit, each
in a namespace of its own, and the optimiser is told to hurry: what is checked is that every kernel
is accepted without a warning and links, not what it becomes. Only the kernels that must not spill
registers are compiled as users get them; `tests/unit/backends/cuda` does so with samples.
"""

from __future__ import annotations

import argparse
import io
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from multiprocessing import get_context
from pathlib import Path

from tests.helpers import known_kernels
from tests.helpers.kernels import (
    Kernel,
    block_kernels,
    diagonal_kernels,
    full_kernels,
    gathering_kernels,
    hot_kernels,
    merged_kernels,
    refused_programs,
    required_kernels,
)
from tests.helpers.known_kernels import FILE, Known, differences
from tests.helpers.recorded_loops import looping_program

from semira.backends.cuda.jit.compile import STANDARD, compiler_version
from semira.backends.cuda.jit.render import PROGRAM, render_source
from semira.backends.cuda.lower import lower_program

ARCHITECTURES = ("sm_80", "sm_90", "sm_100")

#: The architecture that every kernel is compiled for; the others get one batch in so many, each
#: other ones. What breaks on one architecture alone is a matter of the library that all share.
FULL, SHARE = "sm_90", 12

#: Kernels of one translation unit: reading the kernel library costs as much as compiling a
#: small kernel, so it is read once for all of them.
BATCH = 24

#: Known kernels that are compiled in every run, each for one architecture.
AGAIN = 20

#: Options beside the architecture.
OPTIONS = (f"--std={STANDARD}", "--device-as-default-execution-space")
HURRY = "--Ofast-compile=max"

#: Names without a namespace would meet.
_C_NAMES = 'extern "C" '


@cache
def all_kernels() -> tuple[Kernel, ...]:
    """Return every kernel once."""
    listed = (*required_kernels(), *hot_kernels(), *gathering_kernels(), *diagonal_kernels())
    others = (*full_kernels(), *block_kernels(), *merged_kernels())
    return tuple(dict.fromkeys((*listed, *others)))


@cache
def unspilled_kernels() -> tuple[Kernel, ...]:
    """Return the kernels that keep all values in registers: of searches in deep graphs.

    Those with two blocks on a multiprocessor spill anyway.
    """
    texts = [
        lower_program(looping_program("bfs", parents=parents)).source for parents in (False, True)
    ]
    return tuple(Kernel(PROGRAM, offset, text) for text in texts for offset in ("int", "long long"))


def batches(kernels: Sequence[Kernel]) -> Iterator[list[Kernel]]:
    """Yield kernels that may share a translation unit: of one root and type of offsets."""
    groups: dict[tuple[str, str], list[Kernel]] = {}
    for kernel in kernels:
        groups.setdefault((kernel.root, kernel.offset_type), []).append(kernel)
    for group in groups.values():
        for first in range(0, len(group), BATCH):
            yield group[first : first + BATCH]


def joined_source(kernels: Sequence[Kernel]) -> str:
    """Return one translation unit of several kernels."""
    headers: dict[str, None] = {}
    parts = []
    for number, kernel in enumerate(kernels):
        lines = kernel.source.replace(_C_NAMES, "").splitlines()
        included = [line for line in lines if line.startswith("#include ")]
        headers.update(dict.fromkeys(included))
        body = "\n".join(line for line in lines if line not in included)
        parts.append(f"namespace unit{number} {{\n{body}\n}}\n")
    first = kernels[0]
    return render_source("\n".join([*headers, *parts]), first.offset_type, first.root)


def complaint(source: str, arch: str, *, hurry: bool = True) -> str:
    """Return what the compiler has to say about a source: errors, warnings, or nothing."""
    from cuda.bindings import nvrtc

    options = [f"--gpu-architecture={arch}", *OPTIONS, *([HURRY] if hurry else [])]
    made = nvrtc.nvrtcCreateProgram(source.encode(), b"kernels.cu", 0, None, None)[1]
    (status,) = nvrtc.nvrtcCompileProgram(made, len(options), [one.encode() for one in options])
    log = b" " * nvrtc.nvrtcGetProgramLogSize(made)[1]
    nvrtc.nvrtcGetProgramLog(made, log)
    nvrtc.nvrtcDestroyProgram(made)
    text = log.decode().strip("\0 \n")
    return text if status == nvrtc.nvrtcResult.NVRTC_SUCCESS else f"{status.name}\n{text}"


def complaints(kernels: Sequence[Kernel], arch: str) -> list[str]:
    """Return what is wrong with kernels of one batch, each complaint with its source."""
    if not complaint(joined_source(kernels), arch):
        return []
    alone = ((one, complaint(joined_source([one]), arch)) for one in kernels)
    # A batch may need what none of its kernels does: shared memory of functions that the assembler
    # does not merge.
    return [
        f"{arch}, {one.offset_type} offsets: {text}\n{one.source}" for one, text in alone if text
    ]


def spills(kernels: Sequence[Kernel], arch: str) -> list[str]:
    """Return which kernels spill registers, each with what the assembler says of it."""
    from cuda.core import Program as Unit
    from cuda.core import ProgramOptions

    found = []
    for kernel in kernels:
        log = io.StringIO()
        options = ProgramOptions(name="unspilled", std=STANDARD, arch=arch, ptxas_options=["-v"])
        unit = Unit(render_source(kernel.source, kernel.offset_type, kernel.root), "c++", options)
        unit.compile("cubin", logs=log)
        unit.close()
        spilled = re.findall(r"(\d+) bytes spill", log.getvalue())
        if spilled != ["0", "0"]:
            said = log.getvalue() or "the assembler says nothing of spills"
            found.append(f"{arch}, {kernel.offset_type} offsets: {said}\n{kernel.source}")
    return found


def chosen(kernels: Sequence[Kernel], arch: str) -> list[list[Kernel]]:
    """Return the batches that are compiled for an architecture unless all are asked for."""
    found = list(batches(kernels))
    return found if arch == FULL else found[ARCHITECTURES.index(arch) % SHARE :: SHARE]


def accepted(kernel: Kernel) -> str:
    """Return the heading of a kernel among those that compile."""
    library = known_kernels.library_digest(kernel.root, " ".join((*OPTIONS, HURRY)))
    return f"{kernel.root}, {kernel.offset_type} offsets: {library}"


def unspilled(kernel: Kernel) -> str:
    """Return the heading of a kernel among those that do not spill; compilers differ in that."""
    library = known_kernels.library_digest(kernel.root, f"{STANDARD} {compiler_version()}")
    return f"no spills, {kernel.root}, {kernel.offset_type} offsets: {library}"


def _work(task: tuple[str, list[Kernel], str]) -> list[str]:
    check, kernels, arch = task
    return (complaints if check == "compiles" else spills)(kernels, arch)


def _tasks(
    new: Sequence[Kernel], again: Sequence[Kernel], alone: Sequence[Kernel], archs: Sequence[str]
) -> list[tuple[str, list[Kernel], str]]:
    """Return what is compiled: batches for each architecture, those that may spill one by one.

    Those that are compiled again are shared out among the architectures, if none is named.
    """
    pick = (lambda found, _arch: list(batches(found))) if archs else chosen
    found = [("spills", [kernel], FULL) for kernel in alone]
    for at, arch in enumerate(archs or ARCHITECTURES):
        share = again if archs else again[at :: len(ARCHITECTURES)]
        found += [("compiles", batch, arch) for batch in (*pick(new, arch), *batches(share))]
    return found


def _counts(tasks: Sequence[tuple[str, list[Kernel], str]]) -> str:
    """Return how many kernels are compiled for each architecture."""
    counted: dict[str, int] = {}
    for _, batch, arch in tasks:
        counted[arch] = counted.get(arch, 0) + len(batch)
    return ", ".join(f"{count} for {arch}" for arch, count in counted.items()) or "none"


def _write_texts(folder: Path) -> None:
    """Write every text into a file of its own, in the order of the list, to be compared."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, kernel in enumerate(all_kernels()):
        head = f"// {kernel.root}, {kernel.offset_type} offsets\n"
        (folder / f"{number:04}.cu").write_text(head + kernel.source)


def _compare(now: Known, before: Known) -> int:
    """Print what differs from the known kernels; the exit status is 1 if anything does."""
    found = list(differences(before, now))
    same = f"{len(all_kernels())} texts are the same as the known ones"
    sys.stdout.write("\n".join(found or [same]) + "\n")
    return 1 if found else 0


def _parsed(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.helpers.compile_kernels")
    parser.add_argument("--arch", action="append", help=f"default: {', '.join(ARCHITECTURES)}")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--all", action="store_true", help="compile those known to compile, too")
    parser.add_argument("--record", action="store_true", help="what compiles is known from now on")
    parser.add_argument(
        "--compare", nargs="?", const="", metavar="REVISION",
        help="compile nothing; tell which texts differ from the known ones, here or at a revision",
    )  # fmt: skip
    parser.add_argument("--texts", type=Path, metavar="FOLDER", help="only write all texts there")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    """Compile what is new; the exit status is 1 if the compiler complains of anything."""
    given = _parsed(arguments)
    if given.texts:
        _write_texts(given.texts)
        return 0
    kernels, alone = all_kernels(), unspilled_kernels()
    now = Known.of(kernels, accepted) | Known.of(alone, unspilled)
    if given.compare is not None:
        before = Known.parse(_recorded_at(given.compare)) if given.compare else Known.read()
        return _compare(now, before)
    known = Known({}) if given.all else Known.read()
    new = [kernel for kernel in kernels if not known.holds(kernel, accepted(kernel))]
    again = known_kernels.some([each for each in kernels if each not in {*new}], AGAIN)
    may_spill = [kernel for kernel in alone if not known.holds(kernel, unspilled(kernel))]
    tasks = _tasks(new, again, may_spill, given.arch or ())
    started = time.monotonic()
    # A compiler that breaks takes its process with it, not this one.
    with ProcessPoolExecutor(given.jobs, get_context("spawn")) as pool:
        wrong = [text for found in pool.map(_work, tasks) for text in found]
    seconds = time.monotonic() - started
    report = f"{len(kernels)} texts, {len(new)} of them new; compiled: {_counts(tasks)}"
    lines = [
        *wrong[:20],
        f"{report}: {len(wrong)} complaints, {seconds:.0f} s",
        *(f"not compiled: {reason}" for reason in refused_programs()),
    ]
    if given.record and not wrong:
        now.write()
    elif new or may_spill:
        lines.append("make kernels ARGS=--record makes the new ones known")
    sys.stdout.write("\n".join(lines) + "\n")
    return 1 if wrong else 0


def _recorded_at(revision: str) -> str:
    """Return the digests that were recorded at a revision."""
    folder, name = FILE.parent, FILE.name
    command = ["git", "-C", str(folder), "show", f"{revision}:./{name}"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    raise SystemExit(main())
