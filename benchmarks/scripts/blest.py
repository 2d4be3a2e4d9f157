"""Searches by BLEST (github.com/delbek/blest) beside ours, from the same vertices of one GPU.

    python -m benchmarks.scripts.blest FOLDER NAME.npz ...

FOLDER is a checkout of BLEST, which is built there: nvcc and OpenMP are needed. What it downloads
graphs with is left out. Prints milliseconds: of BLEST's kernels, which it times itself when it has
ordered the vertices (``prepare`` does that alone, without a GPU), and of our calls and what they
run on the GPU.
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from benchmarks.scripts.bits_paper import finished

import semira as gb

SOURCES = 16

STUB = """#pragma once
#include <string>
#include <vector>
struct SuiteSparseDownloader {
  struct MatrixFilter { std::vector<std::string> names; };
  struct MatrixInfo {
    bool isValid, isReal, isBinary, is2d3d, isPosDef, patternSymmetry, numericSymmetry;
    unsigned id, rows, cols, nonzeros;
    std::string groupName, name, kind, downloadLink, installationPath;
  };
  std::vector<MatrixInfo> getMatrices(const MatrixFilter&) { return {}; }
  void downloadMatrices(const std::string&, const std::vector<MatrixInfo>&) {}
};
"""

MAIN = """#include "Benchmark.cuh"
int main(int, char** given) {
  JACKARD_ON = true;
  WINDOW_SIZE = 65536;
  std::cout << "Mean: " << Benchmark().run(Matrix(given[1], given[2], false, true)) << std::endl;
}
"""


def build(folder: Path) -> None:
    """Build BLEST for files, unless it is there."""
    if (folder / "of_files").exists():
        return
    (folder / "SuiteSparseMatrixDownloader.hpp").write_text(STUB)
    (folder / "of_files.cu").write_text(MAIN)
    parts = [
        f"-I{folder / part}" for part in (".", "DataStructures", "BFS", "CC", "MBFS", "Gorder")
    ]
    texts = [str(folder / f"Gorder/{part}.cpp") for part in ("Graph", "Util", "UnitHeap")]
    command = ["nvcc", "-O3", "-std=c++20", "-arch=sm_90", "-Xcompiler", "-fopenmp", *parts,
               str(folder / "of_files.cu"), *texts, "-o", str(folder / "of_files")]  # fmt: skip
    subprocess.run(command, check=True)  # noqa: S603 - BLEST's own build


def theirs(folder: Path, A: gb.Matrix, name: str, sources: list[int]) -> str:  # noqa: N803
    """Return BLEST's mean time; of ``prepare``, what it says where there is no GPU."""
    graph, starts = folder / f"{name}.mtx", folder / f"{name}.txt"
    rows, cols, _ = A.to_coo(values=False)
    if not graph.exists():
        with graph.open("w") as lines:
            lines.write(f"{A.nrows} {A.ncols} {len(rows)}\n")
            np.savetxt(lines, np.column_stack([rows, cols]) + 1, fmt="%d")
    starts.write_text("\n".join(map(str, sources)) + "\n")
    command = [str(folder / "of_files"), str(graph), str(starts)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    found = re.findall(r"Mean: (\S+)|(GPUassert.*)", done.stdout + done.stderr)
    return "".join(found[-1]) if found else f"ended with {done.returncode}"


def ours(A: gb.Matrix, sources: list[int]) -> tuple[float, float]:  # noqa: N803
    """Return the mean time of a call, and of what it runs on the GPU."""
    from torch.profiler import ProfilerActivity, profile

    moved = A.to("cuda")
    for source in sources[:3]:
        finished(lambda at=source: gb.algorithms.bfs(moved, at).level)  # type: ignore[misc]
    start = time.perf_counter()
    for source in sources:
        finished(lambda at=source: gb.algorithms.bfs(moved, at).level)  # type: ignore[misc]
    whole = 1e3 * (time.perf_counter() - start) / len(sources)
    with profile(activities=[ProfilerActivity.CUDA]) as seen:
        for source in sources:
            finished(lambda at=source: gb.algorithms.bfs(moved, at).level)  # type: ignore[misc]
    spent = sum(each.self_device_time_total for each in seen.key_averages())
    return whole, spent / 1e3 / len(sources)


def main() -> None:
    """Print a line for each graph."""
    alone = "prepare" in sys.argv
    folder, *names = (Path(each) for each in sys.argv[1:] if each != "prepare")
    build(folder)
    for path in names:
        with gb.device("cpu"):
            given = gb.io.read(path).select("offdiag").new()
            A = given.apply("one").new(dtype=bool)  # noqa: N806
        drawn = np.random.default_rng(0).choice(A.nrows, SOURCES, replace=False).tolist()
        line = f"{path.stem}: BLEST {theirs(folder, A, path.stem, drawn)}"
        if not alone:
            whole, spent = ours(A, drawn)
            line += f", ours {spent:.3f} on the GPU, {whole:.3f} a call"
        print(line, flush=True)


if __name__ == "__main__":
    main()
