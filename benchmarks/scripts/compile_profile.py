"""Where NVRTC's time goes: front end, optimiser, assembler; by option. Needs no GPU.

    python -m benchmarks.scripts.compile_profile bfs connected_components
    python -m benchmarks.scripts.compile_profile bfs --option=--Ofast-compile=max

Each line is the largest text of an algorithm that those before it do not have, or all base kernels
together.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from cuda.bindings import nvrtc

from semira.backends.cuda.jit.compile import STANDARD
from semira.backends.cuda.jit.render import render_source
from semira.backends.cuda.listing import Text, base_texts
from semira.cli.ahead import texts_for_cuda

PHASES = ("CUDA C++ Frontend", "NVVM Optimizer", "PTX Translation")


def milliseconds(text: Text, arch: str, options: list[str]) -> list[int]:
    """Return the milliseconds of each phase, and the bytes of the cubin."""
    source = render_source(text.source, "int", text.root)
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "time.csv"
        given = [f"--std={STANDARD}", "--device-as-default-execution-space",
                 f"--gpu-architecture={arch}", f"--time={table}", *options]  # fmt: skip
        made = nvrtc.nvrtcCreateProgram(source.encode(), b"text.cu", 0, None, None)[1]
        (status,) = nvrtc.nvrtcCompileProgram(made, len(given), [each.encode() for each in given])
        if status != nvrtc.nvrtcResult.NVRTC_SUCCESS:
            raise SystemExit(f"{text.name}: {status.name}")
        size = nvrtc.nvrtcGetCUBINSize(made)[1]
        nvrtc.nvrtcDestroyProgram(made)
        rows = [line.split(", ") for line in table.read_text().splitlines()[1:]]
    found = {row[1]: int(row[2]) for row in rows}
    return [*(found[phase] for phase in PHASES), size]


def _measured(text: Text, given: argparse.Namespace) -> list[int]:
    """Return the length of a text without its headers, and the numbers of `milliseconds`."""
    return [len(text.source), *milliseconds(text, given.arch, given.option)]


def main() -> None:
    """Print a line for each algorithm."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scripts.compile_profile")
    parser.add_argument("algorithms", nargs="*", default=["bfs", "connected_components"])
    parser.add_argument("--arch", default="sm_90")
    parser.add_argument("--option", action="append", default=[], help="of NVRTC")
    given = parser.parse_args()
    print("text, characters, front end ms, optimiser ms, assembler ms, cubin bytes")
    base = [_measured(text, given) for text in base_texts()]
    print("all base kernels", *map(sum, zip(*base, strict=True)), sep=", ")
    before: set[Text] = set()
    for name in given.algorithms:
        texts = texts_for_cuda(name, ["FP64"], large=False)[0]
        largest = max({*texts} - before, key=lambda text: len(text.source))
        before |= {*texts}
        print(name, *_measured(largest, given), sep=", ")


if __name__ == "__main__":
    main()
