"""Compile and link every kernel that the conformance suite can ask for; no GPU is needed.

    python -m tests.helpers.compile_kernels --jobs 2

All of them for sm_90; for each other architecture a twelfth, or all with ``--all``.
Many programs share one translation unit, each in a namespace of its own, and the optimiser is
told to hurry: what is checked is that every kernel is accepted without a warning and links, not
what it becomes. `tests/unit/backends/cuda` compiles samples exactly as users get them.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

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

from semira.backends.cuda.jit.compile import STANDARD
from semira.backends.cuda.jit.render import render_source

ARCHITECTURES = ("sm_80", "sm_90", "sm_100")

#: The architecture that every kernel is compiled for; the others get one batch in so many, each
#: other ones. What breaks on one architecture alone is a matter of the library that all share.
FULL, SHARE = "sm_90", 12

#: Kernels of one translation unit: reading the kernel library costs as much as compiling a
#: small kernel, so it is read once for all of them.
BATCH = 24

#: Names without a namespace would meet.
_C_NAMES = 'extern "C" '


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

    options = [
        f"--gpu-architecture={arch}", f"--std={STANDARD}", "--device-as-default-execution-space",
    ]  # fmt: skip
    if hurry:
        options.append("--Ofast-compile=max")
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
    found = [
        f"{arch}, {one.offset_type} offsets: {text}\n{one.source}" for one, text in alone if text
    ]
    return found or [f"{arch}: a batch is refused whose kernels are accepted one by one"]


def chosen(kernels: Sequence[Kernel], arch: str) -> list[list[Kernel]]:
    """Return the batches that are compiled for an architecture unless all are asked for."""
    found = list(batches(kernels))
    return found if arch == FULL else found[ARCHITECTURES.index(arch) % SHARE :: SHARE]


def _work(task: tuple[list[Kernel], str]) -> list[str]:
    return complaints(*task)


def _counts(tasks: Sequence[tuple[list[Kernel], str]]) -> str:
    """Return how many kernels are compiled for each architecture."""
    counted: dict[str, int] = {}
    for batch, arch in tasks:
        counted[arch] = counted.get(arch, 0) + len(batch)
    return ", ".join(f"{count} for {arch}" for arch, count in counted.items())


def main(arguments: list[str] | None = None) -> int:
    """Compile the list; the exit status is 1 if the compiler complains of anything."""
    parser = argparse.ArgumentParser(prog="python -m tests.helpers.compile_kernels")
    parser.add_argument("--arch", action="append", help=f"default: {', '.join(ARCHITECTURES)}")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--all", action="store_true", help="every kernel for each architecture")
    given = parser.parse_args(arguments)
    listed = (*required_kernels(), *hot_kernels(), *gathering_kernels(), *diagonal_kernels())
    kernels = (*listed, *full_kernels()[::2], *block_kernels()[::3], *merged_kernels())
    archs = given.arch or ARCHITECTURES
    started = time.monotonic()
    in_full = given.all or given.arch
    pick = (lambda found, _arch: list(batches(found))) if in_full else chosen
    tasks = [(batch, arch) for arch in archs for batch in pick(kernels, arch)]
    # A compiler that breaks takes its process with it, not this one.
    with ProcessPoolExecutor(given.jobs, get_context("spawn")) as pool:
        wrong = [text for found in pool.map(_work, tasks) for text in found]
    seconds = time.monotonic() - started
    lines = [
        *wrong[:20],
        f"{len(kernels)} kernels, {_counts(tasks)}: {len(wrong)} complaints, {seconds:.0f} s",
        *(f"not compiled: {reason}" for reason in refused_programs()),
    ]
    sys.stdout.write("\n".join(lines) + "\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
