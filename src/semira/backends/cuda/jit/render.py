"""One translation unit: the kernel library, then what was generated for a Program."""

from __future__ import annotations

import functools
import re
from pathlib import Path

KERNELS = Path(__file__).resolve().parents[1] / "kernels"

_INCLUDE = re.compile(r'^#include "(.+)"$', re.MULTILINE)


#: What a Program's kernel may call; staged statements and the base kernels have their own.
PROGRAM, STAGED, BASE = "semira.cuh", "staged.cuh", "matrix/base.cuh"
BUILD, FULL, BLOCK, SHARES = "build/values.cuh", "full.cuh", "block.cuh", "shares.cuh"
SPMSPV, SORTS = "spmspv.cuh", "spmspv/sorts.cuh"


#: Macros of everything compiled from now on: testing aids, such as ``SEMIRA_PERMUTED``.
defines: list[str] = []


@functools.cache
def kernel_library(root: str = PROGRAM) -> str:
    """Return the files `root` includes, each once, in the order their includes ask for."""
    seen: set[str] = set()

    def expand(name: str) -> str:
        if name in seen:
            return ""
        seen.add(name)
        text = (KERNELS / name).read_text(encoding="utf-8").replace("#pragma once\n", "")
        body = _INCLUDE.sub(lambda match: expand(match.group(1)), text)
        return f'#line 1 "{name}"\n{body}' if "#include" not in text else body

    return expand(root)


def render_source(generated: str, offset_type: str, root: str = PROGRAM) -> str:
    """Return the source NVRTC compiles: self-contained, no header from outside.

    Parameters
    ----------
    generated : str
        What `lower` wrote for a Program.
    offset_type : "int" or "long long"
        Type of offsets into matrix entries.
    root : str
        File that includes what is called.
    """
    macros = "".join(f"#define {name}\n" for name in defines)
    return f"{macros}#define SEMIRA_OFFSET {offset_type}\n{kernel_library(root)}\n{generated}"
