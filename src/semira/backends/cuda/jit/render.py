"""One translation unit: the kernel library, then what was generated for a Program."""

from __future__ import annotations

import functools
import re
from pathlib import Path

KERNELS = Path(__file__).resolve().parents[1] / "kernels"

_INCLUDE = re.compile(r'^#include "(.+)"$', re.MULTILINE)


@functools.cache
def kernel_library() -> str:
    """Return every ``.cuh`` file, each once, in the order its includes ask for."""
    seen: set[str] = set()

    def expand(name: str) -> str:
        if name in seen:
            return ""
        seen.add(name)
        text = (KERNELS / name).read_text(encoding="utf-8").replace("#pragma once\n", "")
        body = _INCLUDE.sub(lambda match: expand(match.group(1)), text)
        return f'#line 1 "{name}"\n{body}' if "#include" not in text else body

    return expand("semira.cuh")


def render_source(generated: str, offset_type: str) -> str:
    """Return the source NVRTC compiles: self-contained, no header from outside.

    Parameters
    ----------
    generated : str
        What `lower` wrote for a Program.
    offset_type : {"int", "long long"}
        Type of offsets into matrix entries.
    """
    return f"#define SEMIRA_OFFSET {offset_type}\n{kernel_library()}\n{generated}"
