"""Compile a kernel into the cache, in a process of its own.

    python -m semira.backends.cuda.jit.into_cache SOURCE NAME ARCH PATH

compiles the file SOURCE, which it removes, into the cubin PATH of the cache.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from semira.backends.cuda.jit import cache, compile


def main(given: Path, name: str, arch: str, path: Path) -> None:
    """Compile the text of a file, which is removed."""
    source = given.read_text(encoding="utf-8")
    given.unlink()
    cache.store(path, compile.compile_source(source, name, arch).code)


if __name__ == "__main__":
    # Somebody waits for other kernels meanwhile.
    if hasattr(os, "nice"):
        os.nice(10)
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3], Path(sys.argv[4]))
